//! Exact decimals and times.

use crate::json::{Event, Number, Parser};
use crate::rtc::{META, Text};
use core::fmt;

/// A decimal number as JSON writes it: digits · 10^exponent.
///
/// A gain like 1e-6 is exact as a decimal, and is not as an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal {
    digits: i64,
    exponent: i32,
    value: f64,
}

impl Decimal {
    /// 1.
    pub const ONE: Self = Self { digits: 1, exponent: 0, value: 1.0 };
    /// 0.
    pub const ZERO: Self = Self { digits: 0, exponent: 0, value: 0.0 };

    pub(crate) fn parse(text: Text<'_>) -> Option<Self> {
        let mut digits = 0_i64;
        let mut exponent = 0_i32;
        let (mut negative, mut fraction) = (false, false);
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' => negative = true,
                b'.' => fraction = true,
                b'0'..=b'9' => {
                    let digit = i64::from(byte.wrapping_sub(b'0'));
                    digits = digits.checked_mul(10)?.checked_add(digit)?;
                    exponent = exponent.checked_sub(i32::from(fraction))?;
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
        let mut parser = Parser::new(text, META);
        let Ok(Some(Event::Number(number))) = parser.next_event() else { return None };
        let digits = if negative { digits.checked_neg()? } else { digits };
        Some(Self { digits, exponent, value: Number::as_f64(number) })
    }

    /// The digits, as an integer.
    pub const fn digits(&self) -> i64 {
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

    /// Whether it is 1, however that is written.
    pub(crate) fn is_one(&self) -> bool {
        self.scaled(1) == Some(SECOND)
    }

    /// The number times `factor`, in units of 10^-18; `None` if that is not whole or does not fit.
    fn scaled(&self, factor: i128) -> Option<i128> {
        let mut value = i128::from(self.digits).checked_mul(factor)?;
        let mut exponent = self.exponent.checked_add(18)?;
        while exponent < 0 {
            if value == 0 {
                return Some(0);
            }
            let tenth = value.checked_div(10)?;
            if tenth.checked_mul(10)? != value {
                return None;
            }
            value = tenth;
            exponent = exponent.checked_add(1)?;
        }
        while exponent > 0 && value != 0 {
            value = value.checked_mul(10)?;
            exponent = exponent.checked_sub(1)?;
        }
        Some(value)
    }
}

/// A time on some clock, or a difference of two.
///
/// Exact in units of 10^-18 seconds, which hold all integral clocks with a decimal gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i128);

/// 10^-18 seconds in a second.
const SECOND: i128 = 1_000_000_000_000_000_000;

impl Time {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);

    /// Seconds and nanoseconds; these may exceed a second.
    pub fn new(seconds: u64, nanoseconds: u32) -> Self {
        let seconds = i128::from(seconds).saturating_mul(SECOND);
        Self(seconds.saturating_add(i128::from(nanoseconds).saturating_mul(SECOND / 1_000_000_000)))
    }

    /// raw · gain + offset, in seconds.
    pub fn of_raw(raw: i128, gain: Decimal, offset: Decimal) -> Self {
        let exact = gain.scaled(raw).and_then(|time| time.checked_add(offset.scaled(1)?));
        match exact {
            Some(time) => Self(time),
            None => Self::of_f64(to_f64(raw) * gain.to_f64() + offset.to_f64()),
        }
    }

    /// The time that is nearest to `seconds`; zero for what is not a number.
    #[allow(clippy::as_conversions)] // Saturates, and there is no other way from a float to an integer.
    pub fn of_f64(seconds: f64) -> Self {
        // The whole part alone: a product with 10^18 would round it.
        let whole = seconds as i128;
        let fraction = ((seconds - to_f64(whole)) * 1e18) as i128;
        Self(whole.saturating_mul(SECOND).saturating_add(fraction))
    }

    /// Whole seconds, rounded down.
    pub fn seconds(&self) -> i64 {
        i64::try_from(self.0.div_euclid(SECOND)).unwrap_or(if self.0 < 0 { i64::MIN } else { i64::MAX })
    }

    /// The nanoseconds beyond the seconds, rounded down.
    pub fn nanoseconds(&self) -> u32 {
        u32::try_from(self.0.rem_euclid(SECOND) / (SECOND / 1_000_000_000)).unwrap_or(0)
    }

    /// In units of 10^-18 seconds.
    pub const fn attoseconds(&self) -> i128 {
        self.0
    }

    /// Seconds as the nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        to_f64(self.0) / 1e18
    }

    /// The sum; the earliest or latest time if it does not fit.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

#[allow(clippy::as_conversions)] // There is no other way from an integer to a float.
pub(crate) const fn to_f64(n: i128) -> f64 {
    n as f64
}

impl fmt::Display for Time {
    /// Seconds as an exact decimal, with as many places as it has.
    #[allow(clippy::arithmetic_side_effects)] // A second is a constant that is not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.unsigned_abs();
        let second = SECOND.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let whole = size / second;
        // The largest are beyond 64 bits; what is not is written faster.
        match u64::try_from(whole) {
            Ok(whole) => write!(f, "{whole}")?,
            Err(_) => write!(f, "{whole}")?,
        }
        let mut rest = u64::try_from(size % second).unwrap_or(0);
        if rest == 0 {
            return Ok(());
        }
        let mut places = 18_usize;
        while rest % 10 == 0 {
            rest /= 10;
            places = places.saturating_sub(1);
        }
        write!(f, ".{rest:0places$}")
    }
}
