//! Times.

use crate::rtc::{Decimal, wide};
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
/// 10^9: nanoseconds in a second, and attoseconds in a nanosecond.
const BILLION: u32 = 1_000_000_000;

impl Time {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);
    /// The earliest time.
    pub const MIN: Self = Self(i128::MIN);
    /// The latest time.
    pub const MAX: Self = Self(i128::MAX);

    /// Seconds and nanoseconds; these may exceed a second.
    pub fn new(seconds: u64, nanoseconds: u32) -> Self {
        // The largest are 1.9 · 10^37.
        let seconds = i128::from(seconds).wrapping_mul(SECOND);
        Self(seconds.wrapping_add(i128::from(nanoseconds).wrapping_mul(NANOSECOND)))
    }

    /// A number of attoseconds.
    pub const fn from_attoseconds(attoseconds: i128) -> Self {
        Self(attoseconds)
    }

    /// raw · gain + offset, in seconds, rounded to the nearest attosecond.
    pub fn from_raw(raw: i128, gain: Decimal, offset: Decimal) -> Self {
        Self::scaled(gain.attos(raw), (raw < 0) != (gain.digits() < 0)).plus(Self(offset.whole_attos()))
    }

    /// The product of gain and raw number; the earliest or latest time if it does not fit.
    pub(super) const fn scaled(attoseconds: Option<i128>, negative: bool) -> Self {
        match attoseconds {
            Some(attoseconds) => Self(attoseconds),
            None if negative => Self::MIN,
            None => Self::MAX,
        }
    }

    /// The time that `seconds` is, exact down to attoseconds; zero for what is not a number.
    pub fn from_f64(seconds: f64) -> Self {
        match parts(seconds) {
            Some((whole, rest)) => {
                let whole = Decimal::ONE.attos(whole);
                Self::scaled(whole.and_then(|whole| whole.checked_add(rest)), seconds < 0.0)
            }
            None if seconds.is_nan() => Self::ZERO,
            None => Self::scaled(None, seconds < 0.0),
        }
    }

    /// Whole seconds, rounded down.
    pub fn seconds(&self) -> i64 {
        i64::try_from(self.split().0).unwrap_or(if self.0 < 0 { i64::MIN } else { i64::MAX })
    }

    /// The nanoseconds beyond the seconds, rounded down.
    pub fn nanoseconds(&self) -> u32 {
        self.split().1
    }

    /// Seconds and nanoseconds, rounded down.
    fn split(self) -> (i128, u32) {
        // Of a negative number, one less is as far from -1 as it is from 0.
        let size = if self.0 < 0 { !self.0 } else { self.0 };
        let mut words = wide::words(size.unsigned_abs());
        wide::divide(&mut words, BILLION);
        let nanoseconds = wide::divide(&mut words, BILLION);
        let seconds = wide::number(words).cast_signed();
        if self.0 < 0 { (!seconds, (BILLION - 1).wrapping_sub(nanoseconds)) } else { (seconds, nanoseconds) }
    }

    /// The number of attoseconds.
    pub const fn attoseconds(&self) -> i128 {
        self.0
    }

    /// The duration, rounded down to nanoseconds; `None` if it is negative or does not fit.
    pub fn to_duration(&self) -> Option<Duration> {
        let (seconds, nanoseconds) = self.split();
        // `Duration::new` panics if there are too many nanoseconds, which the compiler cannot rule out.
        Duration::from_secs(u64::try_from(seconds).ok()?)
            .checked_add(Duration::from_nanos(nanoseconds.into()))
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

/// The whole seconds of a number, and the attoseconds beyond them, both of its sign; `None` if it is none, or has more than 75
/// bits.
///
/// By its bits: the routines for floats of 64 bits are large where there are no such floats.
#[inline(never)] // Of rare clocks.
pub(super) fn parts(seconds: f64) -> Option<(i128, i128)> {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = seconds.to_bits();
    let exponent = u32::try_from(bits >> 52 & 0x7ff).ok()?;
    let mantissa = bits & FRACTION | (FRACTION + 1);
    let (whole, rest) = match exponent {
        // The point is so many bits from the end. What is less than 2^-64 is nothing.
        ..1075 => {
            let places = 1075_u32.wrapping_sub(exponent);
            let whole = mantissa.checked_shr(places).unwrap_or(0);
            let beyond = mantissa ^ whole.checked_shl(places).unwrap_or(0);
            let rest = i128::from(beyond).wrapping_mul(SECOND).checked_shr(places);
            (whole.into(), rest.unwrap_or(0))
        }
        1075..1098 => (i128::from(mantissa).wrapping_shl(exponent.wrapping_sub(1075)), 0),
        _ => return None,
    };
    let is_negative = seconds.is_sign_negative();
    Some(if is_negative { (whole.wrapping_neg(), rest.wrapping_neg()) } else { (whole, rest) })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;

    fn random() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        }
    }

    /// By all the digits that the number has, as the standard library writes them.
    fn expected(seconds: f64) -> Time {
        let shown = std::format!("{seconds:.130}");
        let places = shown.find('.').map(|point| (shown[..point].to_owned(), &shown[point + 1..point + 19]));
        match places.map(|(whole, fraction)| (whole + fraction).parse()) {
            Some(Ok(attoseconds)) => Time(attoseconds),
            _ if seconds.is_nan() => Time::ZERO,
            _ if seconds < 0.0 => Time::MIN,
            _ => Time::MAX,
        }
    }

    #[test]
    fn floats_become_the_times_that_conversions_give() {
        let extremes =
            [0.0, -0.0, 1.0, -1.0, 0.5, 1e-18, 1e-19, 5e-324, 4503599627370495.5, 9007199254740991.0];
        let large =
            [9.2e18, 1.7e20, 1.71e20, -1.71e20, 1e300, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY];
        for value in extremes.into_iter().chain(large).chain([f64::NAN, -f64::NAN]) {
            assert_eq!(Time::from_f64(value), expected(value), "{value:e}");
        }
        let mut random = random();
        for _ in 0..10_000 {
            let any = f64::from_bits(random());
            let near = f64::from_bits(random() & !(0x7ff << 52) | (1023 - 70 + random() % 150) << 52);
            for value in [any, near] {
                assert_eq!(Time::from_f64(value), expected(value), "{value:e}");
            }
        }
    }

    #[test]
    fn seconds_and_nanoseconds_are_rounded_down() {
        let mut random = random();
        let any = (0..20_000)
            .map(|_| ((u128::from(random()) << 64 | u128::from(random())) >> (random() % 128)).cast_signed());
        let near = (-3..=3).flat_map(|k| (-2..=2).flat_map(move |n| [k * SECOND + n, k * NANOSECOND + n]));
        for value in any.flat_map(|value| [value, !value]).chain(near).chain([i128::MIN, i128::MAX]) {
            let (time, seconds) = (Time(value), value.div_euclid(SECOND));
            let clamped = seconds.clamp(i64::MIN.into(), i64::MAX.into());
            assert_eq!(i128::from(time.seconds()), clamped, "{value}");
            assert_eq!(i128::from(time.nanoseconds()), value.rem_euclid(SECOND) / NANOSECOND, "{value}");
            let whole = time.to_duration().map(|time| time.as_secs());
            assert_eq!(whole, u64::try_from(seconds).ok(), "{value}");
        }
    }
}
