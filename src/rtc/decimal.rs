//! Exact decimals: gains and offsets.

use crate::record::POWERS;
use crate::rtc::{float, wide};
use crate::text::Text;

/// The number of digits that are kept: none beyond them makes a difference to a time.
const MAX_DIGITS: u32 = 34;
/// No `f64` has more digits before the point.
const LARGEST: i32 = 309;

/// A decimal number as JSON writes it: digits · 10^exponent.
///
/// A gain like 1e-6 is exact as a decimal, and is not as an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// 1.
    pub const ONE: Self = Self { digits: 1, exponent: 0 };
    /// 0.
    pub const ZERO: Self = Self { digits: 0, exponent: 0 };

    /// A number of JSON; `None` if it is too large for an `f64`.
    pub(crate) fn parse(text: Text<'_>) -> Option<Self> {
        let (mut digits, mut exponent, mut count, mut zeros) = (0_i128, 0_i32, 0_u32, 0_u32);
        let (mut negative, mut fraction) = (false, false);
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' => negative = true,
                b'.' => fraction = true,
                b'0'..=b'9' => {
                    let digit = byte.wrapping_sub(b'0');
                    exponent = exponent.checked_sub(i32::from(fraction))?;
                    if count < MAX_DIGITS {
                        // At most 34 digits.
                        digits = digits.wrapping_mul(10).wrapping_add(digit.into());
                        count = count.wrapping_add(u32::from(digits != 0));
                        zeros = if digit == 0 { zeros.wrapping_add(1) } else { 0 };
                    } else {
                        exponent = exponent.checked_add(1)?;
                        // That something was cut off decides a tie.
                        if digit != 0 && zeros > 0 {
                            (digits, zeros) = (digits.wrapping_add(1), 0);
                        }
                    }
                }
                b'e' | b'E' => exponent = exponent.checked_add(power(&mut bytes)?)?,
                _ => return None,
            }
        }
        if digits == 0 {
            return Some(Self::ZERO);
        }
        // As many zeros as the writer likes may follow: 0.00000010000000000000 is 1e-7.
        while zeros > 0 && exponent < 0 {
            digits = wide::tenth(digits.unsigned_abs()).0.cast_signed();
            (zeros, exponent, count) =
                (zeros.wrapping_sub(1), exponent.wrapping_add(1), count.wrapping_sub(1));
        }
        let digits = if negative { digits.wrapping_neg() } else { digits };
        (exponent.checked_add_unsigned(count)? <= LARGEST).then_some(Self { digits, exponent })
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
    pub fn to_f64(&self) -> f64 {
        let size = float::nearest(self.digits.unsigned_abs(), self.exponent);
        if self.digits < 0 { -size } else { size }
    }

    /// In units of 10^-18; what does not fit is the largest or smallest.
    pub(crate) fn whole_attos(&self) -> i128 {
        self.attos(1).unwrap_or(if self.digits < 0 { i128::MIN } else { i128::MAX })
    }

    /// The number times `factor`, in units of 10^-18, rounded to the nearest; `None` if it does not fit.
    #[inline]
    pub(crate) fn attos(&self, factor: i128) -> Option<i128> {
        // Mostly there is nothing to round, and all fits.
        let exponent = self.exponent.checked_add(18)?;
        if let (Ok(digits), Ok(factor)) = (i64::try_from(self.digits), i64::try_from(factor))
            && let Ok(product) = i64::try_from(i128::from(digits).wrapping_mul(factor.into()))
            && let Some(&power) = usize::try_from(exponent).ok().and_then(|exponent| POWERS.get(exponent))
        {
            // Two integers of 64 bits have a product of 128.
            return Some(i128::from(product).wrapping_mul(power.into()));
        }
        self.times(factor, exponent)
    }

    /// digits · factor · 10^exponent, rounded to the nearest; `None` if it does not fit.
    #[inline(never)]
    pub(crate) fn times(&self, factor: i128, mut exponent: i32) -> Option<i128> {
        if self.digits == 0 || factor == 0 {
            return Some(0);
        }
        let negative = (self.digits < 0) != (factor < 0);
        let (mut digits, factor) = (self.digits.unsigned_abs(), factor.unsigned_abs());
        // A gain has more digits than a product holds only if it has more than an `f64`.
        let mut size = loop {
            match digits.checked_mul(factor) {
                Some(size) => break size,
                None if digits == 0 => return None,
                None => (digits, exponent) = (wide::tenth(digits).0, exponent.checked_add(1)?),
            }
        };
        let mut last = 0;
        while exponent != 0 && size != 0 {
            if exponent < 0 {
                (size, last) = wide::tenth(size);
                exponent = exponent.wrapping_add(1);
            } else {
                size = size.checked_mul(10)?;
                exponent = exponent.wrapping_sub(1);
            }
        }
        // Of what is far less than one, nothing is left.
        let up = exponent == 0 && last >= 5;
        let size = i128::try_from(size).ok()?.checked_add(i128::from(up))?;
        Some(if negative { size.wrapping_neg() } else { size })
    }
}

/// The power of ten after an `e`.
fn power(bytes: &mut impl Iterator<Item = u8>) -> Option<i32> {
    let (mut power, mut down) = (0_i32, false);
    for byte in bytes {
        match byte {
            b'-' => down = true,
            b'+' => {}
            _ => power = power.checked_mul(10)?.checked_add(i32::from(byte.wrapping_sub(b'0')))?,
        }
    }
    if down { power.checked_neg() } else { Some(power) }
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
            let decimal = Decimal { digits, exponent: (random() % 80) as i32 - 60 };
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
}
