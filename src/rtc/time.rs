//! Times.

use crate::rtc::Decimal;
use core::fmt;
use core::ops::{Add, Neg, Sub};
use core::time::Duration;

/// A time on some clock, or a difference of two.
///
/// # Units
///
/// Exact in attoseconds (10^-18 seconds), which hold all integral clocks with a decimal gain. Sums and differences that do
/// not fit are the latest or earliest time.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use traceglass::rtc::Time;
///
/// let start = Time::new(1_700_000_000, 250_000_000);
/// let end = start + Time::from(Duration::from_millis(750));
/// assert_eq!(end.to_string(), "1700000001");
/// assert_eq!((end - start).to_duration(), Some(Duration::from_millis(750)));
/// assert_eq!((start - end).to_duration(), None);
/// assert_eq!(start - end, Time::from_attoseconds(-750_000_000_000_000_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i128);

/// 10^-18 seconds in a second.
const SECOND: i128 = 1_000_000_000_000_000_000;
/// 10^-18 seconds in a nanosecond.
const NANOSECOND: i128 = 1_000_000_000;

impl Time {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);
    /// The earliest time.
    pub const MIN: Self = Self(i128::MIN);
    /// The latest time.
    pub const MAX: Self = Self(i128::MAX);

    /// Seconds and nanoseconds; these may exceed a second.
    pub fn new(seconds: u64, nanoseconds: u32) -> Self {
        let seconds = i128::from(seconds).saturating_mul(SECOND);
        Self(seconds.saturating_add(i128::from(nanoseconds).saturating_mul(NANOSECOND)))
    }

    /// A number of attoseconds.
    pub const fn from_attoseconds(attoseconds: i128) -> Self {
        Self(attoseconds)
    }

    /// raw · gain + offset, in seconds, rounded to the nearest attosecond.
    pub fn from_raw(raw: i128, gain: Decimal, offset: Decimal) -> Self {
        let exact = gain.attos(raw).and_then(|time| time.checked_add(offset.attos(1)?));
        match exact {
            Some(time) => Self(time),
            None => Self::from_f64(to_f64(raw) * gain.to_f64() + offset.to_f64()),
        }
    }

    /// The time that `seconds` is, exact down to attoseconds; zero for what is not a number.
    #[allow(clippy::as_conversions)] // Saturates, and there is no other way from a float to an integer.
    pub fn from_f64(seconds: f64) -> Self {
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
        u32::try_from(self.0.rem_euclid(SECOND) / NANOSECOND).unwrap_or(0)
    }

    /// The number of attoseconds.
    pub const fn attoseconds(&self) -> i128 {
        self.0
    }

    /// Whether it lies before the start of the clock.
    pub const fn is_negative(&self) -> bool {
        self.0 < 0
    }

    /// The duration, rounded down to nanoseconds; `None` if it is negative or does not fit.
    pub fn to_duration(&self) -> Option<Duration> {
        let seconds = u64::try_from(self.0.div_euclid(SECOND)).ok()?;
        Some(Duration::new(seconds, self.nanoseconds()))
    }

    /// The sum, as `+` gives it.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Seconds as the nearest `f64`.
    #[allow(clippy::as_conversions, clippy::arithmetic_side_effects)]
    // Shifts by less than 128, a division by a constant, and there is no other way from an integer to a float.
    pub fn to_f64(&self) -> f64 {
        let size = self.0.unsigned_abs();
        if size == 0 {
            return 0.0;
        }
        // At least 67 bits of the quotient; the lowest one says whether there were more.
        let shift = size.leading_zeros();
        let scaled = size << shift;
        let second = SECOND.unsigned_abs();
        let quotient = (scaled / second) | u128::from(!scaled.is_multiple_of(second));
        // A power of two of a magnitude that keeps the product exact.
        let power = f64::from_bits(u64::from(1023 - shift) << 52);
        let value = quotient as f64 * power;
        if self.0 < 0 { -value } else { value }
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Time {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Time {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        Self::new(duration.as_secs(), duration.subsec_nanos())
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
