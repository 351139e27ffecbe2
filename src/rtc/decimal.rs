//! Exact decimals: gains and offsets.

use crate::record::POWERS;
use crate::rtc::{float, wide};
use crate::text::Text;

/// More digits than these are dropped: none of them makes a difference to a time.
const MAX_DIGITS: i128 = 1_000_000_000_000_000_000_000_000_000_000_000;

/// A decimal number as JSON writes it: digits · 10^exponent.
///
/// A gain like 1e-6 is exact as a decimal, and is not as an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal {
    digits: i128,
    exponent: i32,
    value: f64,
}

impl Decimal {
    /// 1.
    pub const ONE: Self = Self { digits: 1, exponent: 0, value: 1.0 };
    /// 0.
    pub const ZERO: Self = Self { digits: 0, exponent: 0, value: 0.0 };

    pub(crate) fn parse(text: Text<'_>) -> Option<Self> {
        let mut digits = 0_i128;
        let mut exponent = 0_i32;
        let (mut negative, mut fraction, mut more) = (false, false, false);
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' => negative = true,
                b'.' => fraction = true,
                b'0'..=b'9' if digits < MAX_DIGITS => {
                    // At most 34 digits.
                    digits = digits.wrapping_mul(10).wrapping_add(byte.wrapping_sub(b'0').into());
                    exponent = exponent.checked_sub(i32::from(fraction))?;
                }
                b'0'..=b'9' => {
                    more |= byte != b'0';
                    exponent = exponent.checked_add(i32::from(!fraction))?;
                }
                b'e' | b'E' => {
                    let mut scale = 0_i32;
                    let mut down = false;
                    for byte in bytes.by_ref() {
                        match byte {
                            b'-' => down = true,
                            b'+' => {}
                            _ => {
                                let digit = i32::from(byte.wrapping_sub(b'0'));
                                scale = scale.checked_mul(10)?.checked_add(digit)?;
                            }
                        }
                    }
                    exponent = exponent.checked_add(if down { scale.checked_neg()? } else { scale })?;
                }
                _ => return None,
            }
        }
        let size = float::nearest(digits.unsigned_abs(), exponent, more);
        let value = if negative { -size } else { size };
        // As many zeros as the writer likes may follow: 0.00000010000000000000 is 1e-7.
        while digits != 0 && exponent < 0 {
            let mut fewer = wide::words(digits.unsigned_abs());
            if wide::divide(&mut fewer, 10) != 0 {
                break;
            }
            digits = wide::number(fewer).cast_signed();
            exponent = exponent.checked_add(1)?;
        }
        let digits = if negative { digits.wrapping_neg() } else { digits };
        value.is_finite().then_some(Self { digits, exponent, value })
    }

    /// The digits, as an integer: at most 34 of them, without zeros at the end of a fraction.
    pub const fn digits(&self) -> i128 {
        self.digits
    }

    /// The power of ten that they are multiplied with.
    pub const fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The nearest `f64`.
    pub const fn to_f64(&self) -> f64 {
        self.value
    }

    /// The number times 10^-9.
    pub(crate) fn nano(self) -> Self {
        Self { exponent: self.exponent.saturating_sub(9), value: self.value * 1e-9, ..self }
    }

    /// The number times `factor`, in units of 10^-18, rounded to the nearest; `None` if it does not fit.
    pub(crate) fn attos(&self, factor: i128) -> Option<i128> {
        if self.digits == 0 || factor == 0 {
            return Some(0);
        }
        // Mostly there is nothing to round, and all fits.
        let exponent = self.exponent.checked_add(18)?;
        if let (Ok(digits), Ok(factor)) = (i64::try_from(self.digits), i64::try_from(factor))
            && let Ok(product) = i64::try_from(i128::from(digits).wrapping_mul(factor.into()))
            && let Some(&power) = usize::try_from(exponent).ok().and_then(|exponent| POWERS.get(exponent))
        {
            // Two integers of 64 bits have a product of 128.
            return Some(i128::from(product).wrapping_mul(power.into()));
        }
        let negative = (self.digits < 0) != (factor < 0);
        let mut words = product(self.digits.unsigned_abs(), factor.unsigned_abs());
        // The product has at most 78 digits: beyond them, all is 0 or does not fit.
        let mut last = 0;
        for _ in 0..exponent.unsigned_abs().min(80) {
            if exponent < 0 {
                last = wide::divide(&mut words, 10);
            } else if wide::multiply(&mut words, 10) != 0 {
                return None;
            }
        }
        let [a, b, c, d, 0, 0, 0, 0] = words else { return None };
        let value = i128::try_from(wide::number([a, b, c, d])).ok()?.checked_add(i128::from(last >= 5))?;
        Some(if negative { value.wrapping_neg() } else { value })
    }
}

/// The product of two, of 256 bits.
#[inline(never)]
fn product(left: u128, right: u128) -> [u32; 8] {
    let mut sum = [0; 8];
    // From the highest word on: what has been summed up moves up by a word.
    for word in wide::words(right).into_iter().rev() {
        let [a, b, c, d, e, f, g, _] = sum;
        sum = [0, a, b, c, d, e, f, g];
        let mut part = [0; 5];
        part.iter_mut().zip(wide::words(left)).for_each(|(to, word)| *to = word);
        wide::multiply(&mut part, word);
        let mut carry = 0;
        for (at, to) in sum.iter_mut().enumerate() {
            let total =
                u64::from(*to).wrapping_add(part.get(at).copied().unwrap_or(0).into()).wrapping_add(carry);
            *to = wide::low(total);
            carry = total >> 32;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against integers of 128 bits, wherever these hold all that is between.
    #[test]
    fn products_are_exact_and_rounded_to_the_nearest() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        let mut found = [0; 3];
        for _ in 0..100_000 {
            let digits = i128::from((random() >> (random() % 64)).cast_signed());
            let factor = i128::from((random() >> (random() % 64)).cast_signed());
            let decimal = Decimal { digits, exponent: (random() % 80) as i32 - 60, value: 0.0 };
            let product = digits * factor;
            let by = decimal.exponent + 18;
            let expected = match by {
                _ if product == 0 => Some(0),
                0.. => 10_i128.checked_pow(by.unsigned_abs()).and_then(|power| product.checked_mul(power)),
                -37..0 => {
                    let power = 10_i128.pow(by.unsigned_abs());
                    let size = product.abs() / power + i128::from(product.abs() % power / (power / 10) >= 5);
                    Some(size * product.signum())
                }
                _ => continue,
            };
            found[if by < 0 { 0 } else { 1 + usize::from(expected.is_none()) }] += 1;
            assert_eq!(decimal.attos(factor), expected, "{digits}e{} * {factor}", decimal.exponent);
        }
        assert!(found.iter().all(|&count| count > 1000), "{found:?}");
    }

    #[test]
    fn large_factors_have_large_products() {
        for (left, right) in [(u128::MAX, u128::MAX), (u128::MAX, 1), (1, u128::MAX), (1 << 64 | 7, 3 << 70)]
        {
            let (high, low) = (|n: u128| n >> 64, |n: u128| n & u128::from(u64::MAX));
            let middle = high(left) * low(right) + high(low(left) * low(right));
            let other = low(left) * high(right) + low(middle);
            let top = high(left) * high(right) + high(middle) + high(other);
            let [a, b, c, d, e, f, g, h] = product(left, right);
            assert_eq!(wide::number([a, b, c, d]), left.wrapping_mul(right));
            assert_eq!(wide::number([e, f, g, h]), top);
        }
    }
}
