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

/// A number divided by ten, and the digit that is left.
pub(super) fn tenth(n: u128) -> (u128, u32) {
    let mut all = words(n);
    let digit = divide(&mut all, 10);
    (number(all), digit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_multiplied_and_divided_as_numbers_are() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 31
        };
        for _ in 0..4000 {
            let n = (u128::from(random()) << 64 | u128::from(random())) >> (random() % 128);
            let by = low(random() >> (random() % 32)).max(1);
            let mut all = words(n);
            assert_eq!(number(all), n);
            assert_eq!(tenth(n), (n / 10, low((n % 10) as u64)));
            let rest = divide(&mut all, by);
            assert_eq!((number(all), u128::from(rest)), (n / u128::from(by), n % u128::from(by)));
            let carry = multiply(&mut all, by);
            assert_eq!((number(all), carry), (n - n % u128::from(by), 0));
            let mut all = words(n);
            let carry = multiply(&mut all, by);
            let high = (n >> 64) * u128::from(by) + (((n & u128::from(u64::MAX)) * u128::from(by)) >> 64);
            assert_eq!((number(all), u128::from(carry)), (n.wrapping_mul(by.into()), high >> 64));
        }
    }
}
