//! Integers of many words of 32 bits, the lowest first: multiplied and divided without routines of 128 bits, which are large
//! on small processors.

/// Multiplies, and gives what does not fit.
#[inline(never)] // Once in an image, not at every call.
pub(super) fn multiply(words: &mut [u32], by: u32) -> u32 {
    let mut carry = 0_u64;
    for word in words {
        let product = u64::from(*word).wrapping_mul(by.into()).wrapping_add(carry);
        *word = low(product);
        carry = product >> 32;
    }
    low(carry)
}

/// Divides by what is not 0, and gives the remainder.
#[inline(never)]
pub(super) fn divide(words: &mut [u32], by: u32) -> u32 {
    let mut rest = 0_u64;
    for word in words.iter_mut().rev() {
        let whole = rest << 32 | u64::from(*word);
        *word = low(whole.checked_div(by.into()).unwrap_or(0));
        rest = whole.checked_rem(by.into()).unwrap_or(0);
    }
    low(rest)
}

/// The words of a number.
#[allow(clippy::as_conversions)] // The words of it.
pub(super) const fn words(n: u128) -> [u32; 4] {
    [n as u32, (n >> 32) as u32, (n >> 64) as u32, (n >> 96) as u32]
}

/// The number that the words are.
pub(super) fn number([a, b, c, d]: [u32; 4]) -> u128 {
    u128::from(d) << 96 | u128::from(c) << 64 | u128::from(b) << 32 | u128::from(a)
}

/// The low half.
#[allow(clippy::as_conversions)] // What it cuts is meant to be cut.
pub(super) const fn low(value: u64) -> u32 {
    (value & 0xffff_ffff) as u32
}
