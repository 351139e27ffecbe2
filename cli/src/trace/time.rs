//! Times as people and scripts write them, and ranges of them.

use crate::status::{Failure, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

pub use traceglass_open::time::rfc3339;

/// A time on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Nanoseconds since the Unix epoch.
    Absolute(i128),
    /// Nanoseconds since the first record.
    SinceStart(i128),
    /// A value of the trace's own clock, in its unit.
    Clock(i128),
    /// Nanoseconds since midnight (UTC) of the day in which the trace begins.
    OfDay(i128),
}

/// Nanoseconds in a day.
const DAY: i128 = SECOND.saturating_mul(86_400);

/// With so many digits before the point, a number is seconds since the Unix epoch: a year has fewer.
const EPOCH_DIGITS: usize = 9;

impl Time {
    /// Reads `2026-11-21T01:41:54.5Z`, `2026-11-21 01:41:54.5`, `2026-11-21`, `01:41:54.5`, `1795225314.5`, `+1.5s` or
    /// `@123`. Without an offset a time is UTC.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(duration) = text.strip_prefix('+') {
            return parse_duration(duration).map(Self::SinceStart);
        }
        if let Some(value) = text.strip_prefix('@') {
            return value.parse().map(Self::Clock).map_err(|_| "an integer follows the @".to_owned());
        }
        let whole = text.split('.').next().unwrap_or_default();
        if whole.len() >= EPOCH_DIGITS && whole.bytes().all(|byte| byte.is_ascii_digit()) {
            return parse_duration(&format!("{text}s")).map(Self::Absolute);
        }
        let of_civil = |time: jiff::civil::DateTime| {
            let time = jiff::tz::Offset::UTC.to_timestamp(time).map_err(|_| "not a time".to_owned())?;
            Ok(Self::Absolute(time.as_nanosecond()))
        };
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            Ok(Self::Absolute(time.as_nanosecond()))
        } else if let Ok(time) = text.parse::<jiff::civil::DateTime>() {
            of_civil(time)
        } else if let (true, Ok(time)) = (text.contains(':'), text.parse::<jiff::civil::Time>()) {
            let minutes = i128::from(time.hour()).saturating_mul(60).saturating_add(time.minute().into());
            let seconds = minutes.saturating_mul(60).saturating_add(time.second().into());
            Ok(Self::OfDay(seconds.saturating_mul(SECOND).saturating_add(time.subsec_nanosecond().into())))
        } else {
            Err("none of 2026-11-21T01:41:54.5Z, 2026-11-21, 01:41:54.5, 1795225314.5 (since 1970), +1.5s (since the \
                 start) and @123 (of the trace's clock)"
                .to_owned())
        }
    }

    /// A time of day as a time of a trace that begins at `start`: in its first day, or in the next one if that is more than
    /// half a day before its start.
    pub fn in_trace(self, start: i128) -> Self {
        let Self::OfDay(since) = self else { return self };
        let time = start.saturating_sub(start.rem_euclid(DAY)).saturating_add(since);
        let is_before = time < start.saturating_sub(DAY / 2);
        Self::Absolute(if is_before { time.saturating_add(DAY) } else { time })
    }
}

/// A duration with its unit, in nanoseconds; it is exact.
pub fn parse_duration(text: &str) -> Result<i128, String> {
    let units: [(&str, i128); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", SECOND),
        ("m", SECOND.saturating_mul(60)),
        ("h", SECOND.saturating_mul(3600)),
    ];
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    let found = units.iter().find(|(name, _)| *name == unit);
    let &(_, unit) = found.ok_or("a unit follows the number: ns, us, ms, s, m or h")?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.is_empty() || digits.ends_with('.') {
        return Err("not a number".to_owned());
    }
    let whole: i128 = whole.parse().map_err(|_| "too large".to_owned())?;
    let mut total = whole.checked_mul(unit);
    let mut scale = unit;
    for digit in fraction.bytes() {
        let digit = i128::from(digit.wrapping_sub(b'0'));
        if digit > 0 && (scale == 0 || scale % 10 != 0) {
            return Err("finer than a nanosecond".to_owned());
        }
        scale /= 10;
        total = total.and_then(|total| total.checked_add(digit.checked_mul(scale)?));
    }
    total.filter(|&total| total <= i128::from(u64::MAX)).ok_or_else(|| "too large".to_owned())
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(nanoseconds) => match rfc3339(*nanoseconds) {
                Some(text) => f.write_str(&text),
                None => write!(f, "{nanoseconds} ns"),
            },
            Self::SinceStart(since) => {
                let (seconds, rest) = (since / SECOND, format!("{:09}", since % SECOND));
                match rest.trim_end_matches('0') {
                    "" => write!(f, "+{seconds}s"),
                    rest => write!(f, "+{seconds}.{rest}s"),
                }
            }
            Self::Clock(value) => write!(f, "@{value}"),
            Self::OfDay(since) => {
                let seconds = since / SECOND;
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                write!(f, "{hours:02}:{minutes:02}:{:02}.{:09}", seconds % 60, since % SECOND)
            }
        }
    }
}

/// The times that are wanted.
#[derive(clap::Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[group(id = "window")]
pub struct Window {
    /// From this time on: 2026-11-21T01:41:54.5Z, 2026-11-21, 01:41:54.5 or 1795225314.5 (UTC), +1.5s since the first
    /// record, or @VALUE of the trace's own clock
    #[arg(long, value_name = "TIME", value_parser = Time::parse, allow_hyphen_values = true)]
    pub from: Option<Time>,
    /// Up to this time, which is not included
    #[arg(long, value_name = "TIME", value_parser = Time::parse, allow_hyphen_values = true)]
    pub to: Option<Time>,
}

impl Window {
    /// True if all times are wanted.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// True if a time is counted from the first record.
    pub fn needs_start(&self) -> bool {
        [self.from, self.to].iter().any(|time| matches!(time, Some(Time::SinceStart(_) | Time::OfDay(_))))
    }

    /// Refuses a range, for what has no times.
    pub fn refuse(&self, why: &str) -> Result<()> {
        if self.is_everything() { Ok(()) } else { Err(Failure::usage(format!("--from and --to: {why}"))) }
    }

    /// Refuses a range that ends before it begins, as far as the options tell.
    pub fn refuse_reversed(&self) -> Result<()> {
        let is_reversed = match (self.from, self.to) {
            (Some(Time::Absolute(from)), Some(Time::Absolute(to)))
            | (Some(Time::SinceStart(from)), Some(Time::SinceStart(to)))
            | (Some(Time::Clock(from)), Some(Time::Clock(to))) => from > to,
            _ => false,
        };
        if is_reversed { Err(Failure::usage(REVERSED)) } else { Ok(()) }
    }
}

const REVERSED: &str = "--from is after --to";

/// Widens a span of time by another one.
pub fn widen<T: PartialOrd + Copy>(span: &mut Option<(T, T)>, first: T, last: T) {
    match span {
        Some((least, greatest)) => {
            *least = if first < *least { first } else { *least };
            *greatest = if last > *greatest { last } else { *greatest };
        }
        None => *span = Some((first, last)),
    }
}

/// The first and the last of some times, of which some may count from the Unix epoch and others from elsewhere: these
/// cannot be compared, and where some are dates, it is theirs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent<T = i128> {
    pub times: Option<(T, T)>,
    pub is_absolute: bool,
}

impl<T: PartialOrd + Copy> Extent<T> {
    pub fn meet(&mut self, first: T, last: T, is_absolute: bool) {
        if is_absolute && !self.is_absolute {
            *self = Self { times: None, is_absolute };
        }
        if is_absolute == self.is_absolute {
            widen(&mut self.times, first, last);
        }
    }
}

/// A range of time, in nanoseconds of a clock if nothing else is said; half open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds<T = i128> {
    pub from: Option<T>,
    pub to: Option<T>,
}

impl<T: PartialOrd + Copy> Bounds<T> {
    /// The same in another unit.
    pub fn map<U>(self, to: impl Fn(T) -> U) -> Bounds<U> {
        Bounds { from: self.from.map(&to), to: self.to.map(to) }
    }

    /// True if all times are wanted, and what has none.
    pub fn is_everything(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// True if a record of this time is wanted. One without a time is in no range.
    pub fn wants(&self, time: Option<T>) -> bool {
        match time {
            Some(time) => self.from.is_none_or(|from| time >= from) && !self.is_past(time),
            None => self.is_everything(),
        }
    }

    /// True if a time is at the end of the range or after it.
    pub fn is_past(&self, time: T) -> bool {
        self.to.is_some_and(|to| time >= to)
    }

    /// True if it holds no time: it ends where it begins.
    fn is_empty(&self) -> bool {
        self.from.zip(self.to).is_some_and(|(from, to)| from >= to)
    }

    /// True if what lies from one time up to another reaches into the range. Without times it is in no range.
    pub fn meets(&self, span: Option<(T, T)>) -> bool {
        match span {
            Some(_) if self.is_empty() => false,
            Some((first, last)) => self.from.is_none_or(|from| last >= from) && !self.is_past(first),
            None => self.is_everything(),
        }
    }
}

/// The extent before a range that is read to find slices that are open at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookBack {
    /// Nanoseconds.
    Time(i128),
    Bytes(u64),
    All,
}

impl LookBack {
    /// Reads `5s`, `16MiB` or `all`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let size =
            |digits: &str, unit: u64| digits.parse().ok().and_then(|count: u64| count.checked_mul(unit));
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
        match units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))) {
            _ if text == "all" => Ok(Self::All),
            Some((digits, unit)) => {
                size(digits, unit).map(Self::Bytes).ok_or_else(|| "not a size".to_owned())
            }
            None => parse_duration(text)
                .map(Self::Time)
                .map_err(|why| format!("{why}; or KiB, MiB or GiB, or else all of it: all")),
        }
    }
}

impl Default for LookBack {
    /// As much as is read in about a second.
    fn default() -> Self {
        Self::Bytes(64 << 20)
    }
}

/// The begin of the last pieces that have so many bytes before a time; `None` if all of them are needed for that. Each
/// piece is given as its begin and its size.
pub fn begin_before(pieces: impl Iterator<Item = (i128, u64)>, time: i128, bytes: u64) -> Option<i128> {
    let (mut last, mut total, mut are_all) = (BinaryHeap::new(), 0_u64, true);
    for (begin, size) in pieces.filter(|(begin, _)| *begin < time) {
        last.push(Reverse((begin, size)));
        total = total.saturating_add(size);
        // Without the first of them, enough is left.
        while let Some(Reverse((_, size))) = last.peek()
            && total.saturating_sub(*size) >= bytes
        {
            total = total.saturating_sub(*size);
            last.pop();
            are_all = false;
        }
    }
    last.peek().filter(|_| !are_all).map(|Reverse((begin, _))| *begin)
}

/// The facts of a trace that give times on the command line their meaning.
pub struct Reference<'r> {
    /// True if the trace's clock is absolute.
    pub is_absolute: &'r dyn Fn() -> Result<bool>,
    /// The time of the first record.
    pub start: &'r dyn Fn() -> Result<Option<i128>>,
    /// The time that a value of the trace's own clock stands for.
    pub of_clock: &'r dyn Fn(i128) -> Result<i128>,
}

impl Window {
    /// The range in nanoseconds of the trace's clock.
    pub fn resolve(&self, reference: &Reference<'_>) -> Result<Bounds> {
        let resolve = |time: Option<Time>| match time {
            None => Ok(None),
            Some(Time::Absolute(_) | Time::OfDay(_)) if !(reference.is_absolute)()? => Err(Failure::usage(
                "--from and --to: this trace's clock does not tell the date: count from the first record as +1.5s, or in \
                 the clock's own unit as @VALUE",
            )),
            Some(Time::Absolute(nanoseconds)) => Ok(Some(nanoseconds)),
            Some(time @ Time::OfDay(_)) => match (reference.start)()?.map(|start| time.in_trace(start)) {
                Some(Time::Absolute(nanoseconds)) => Ok(Some(nanoseconds)),
                _ => Err(Failure::unreadable("no record from which time could count")),
            },
            Some(Time::SinceStart(nanoseconds)) => match (reference.start)()? {
                Some(start) => Ok(Some(start.saturating_add(nanoseconds))),
                None => Err(Failure::unreadable("no record from which time could count")),
            },
            Some(Time::Clock(value)) => (reference.of_clock)(value).map(Some),
        };
        let (from, to) = (resolve(self.from)?, resolve(self.to)?);
        // They may be said in different ways.
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(Failure::usage(REVERSED));
        }
        Ok(Bounds { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_before_a_time_is_found() {
        let pieces = [(30, 5), (0, 5), (10, 5), (20, 5), (20, 1), (40, 5)];
        let before = |time, bytes| begin_before(pieces.into_iter(), time, bytes);
        assert_eq!((before(35, 1), before(35, 5), before(35, 6)), (Some(30), Some(30), Some(20)));
        assert_eq!((before(30, 6), before(35, 16), before(35, 17)), (Some(20), Some(10), None));
        assert_eq!((before(30, 100), before(0, 1), begin_before([].into_iter(), 1, 1)), (None, None, None));
    }

    #[test]
    fn an_extent_has_a_unit() {
        assert_eq!(LookBack::parse("1.5s"), Ok(LookBack::Time(1_500_000_000)));
        assert_eq!(LookBack::parse("64MiB"), Ok(LookBack::default()));
        assert_eq!(LookBack::parse("all"), Ok(LookBack::All));
        for wrong in ["", "5", "MiB", "1.5MiB", "-1KiB", "99999999999999999GiB", "everything"] {
            assert!(LookBack::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_written_and_read() {
        let at = 1_795_225_315_215_309_000;
        assert_eq!(rfc3339(at).as_deref(), Some("2026-11-21T01:41:55.215309000Z"));
        assert_eq!(rfc3339(-1).as_deref(), Some("1969-12-31T23:59:59.999999999Z"));
        assert_eq!(rfc3339(i128::MAX), None);
        assert_eq!(rfc3339(i128::from(u64::MAX) * 1000), None);
        for at in [at, -1, 951_782_400_000_000_001, 4_107_542_399_999_999_999] {
            assert_eq!(Time::parse(&rfc3339(at).unwrap()), Ok(Time::Absolute(at)));
        }
        assert_eq!(Time::parse("2026-11-21T01:41:54.5Z"), Ok(Time::Absolute(1_795_225_314_500_000_000)));
        for text in [
            "2026-11-21 01:41:54.5",
            "2026-11-21T01:41:54.5",
            "2026-11-21T03:41:54.5+02:00",
            "1795225314.5",
            "1795225314.500000000",
        ] {
            assert_eq!(Time::parse(text), Ok(Time::Absolute(1_795_225_314_500_000_000)), "{text}");
        }
        assert_eq!(Time::parse("1970-01-02"), Ok(Time::Absolute(DAY)));
        assert_eq!(Time::parse("100000000"), Ok(Time::Absolute(100_000_000 * SECOND)));
        assert_eq!(Time::parse("00:01"), Ok(Time::OfDay(60 * SECOND)));
        assert_eq!(Time::parse("21:36:36.5"), Ok(Time::OfDay(77_796_500_000_000)));
        assert_eq!(Time::OfDay(77_796_500_000_001).to_string(), "21:36:36.500000001");
        assert_eq!(Time::parse("@-5"), Ok(Time::Clock(-5)));
        for (text, expected) in [
            ("+1.5s", 1_500_000_000),
            ("+0.001us", 1),
            ("+7ns", 7),
            ("+2m", 120 * SECOND),
            ("+1h", 3600 * SECOND),
        ] {
            assert_eq!(Time::parse(text), Ok(Time::SinceStart(expected)), "{text}");
        }
        let bounds = Bounds { from: Some(5), to: Some(8) };
        assert_eq!([4, 5, 7, 8].map(|time| bounds.wants(Some(time))), [false, true, true, false]);
        assert!(!bounds.wants(None) && Bounds::<i128>::default().wants(None));
        assert_eq!(
            [(0, 4), (0, 5), (7, 9), (8, 9)].map(|span| bounds.meets(Some(span))),
            [false, true, true, false]
        );
        assert!(!bounds.meets(None) && Bounds::<i128>::default().meets(None));
        let empty = Bounds { from: Some(5), to: Some(5) };
        assert!(!empty.meets(Some((0, 9))) && !empty.meets(Some((5, 5))) && !empty.wants(Some(5)));
        for wrong in [
            "",
            "-1",
            "+",
            "+1",
            "+1.5",
            "+0.0001us",
            "+0.00000000001s",
            "+0.0000000000001m",
            "1795225314.03000000000001",
            "+1.+5s",
            "+xs",
            "1.5",
            "@",
            "@x",
            "+99999999999h",
            "+.5s",
            "+1.s",
            "2026",
            "12345678",
            "2026-13-01",
            "24:00:01",
        ] {
            assert!(Time::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_of_day_are_near_the_trace() {
        let start = 10 * DAY + 20 * 3600 * SECOND;
        let hour = |hour: i128| Time::OfDay(hour * 3600 * SECOND).in_trace(start);
        // Just before the start, well after it, and after midnight.
        assert_eq!(hour(19), Time::Absolute(start - 3600 * SECOND));
        assert_eq!(hour(23), Time::Absolute(start + 3 * 3600 * SECOND));
        assert_eq!(hour(1), Time::Absolute(start + 5 * 3600 * SECOND));
        // Half a day before it still is the first day.
        assert_eq!(hour(8), Time::Absolute(start - 12 * 3600 * SECOND));
        assert_eq!(hour(7), Time::Absolute(start + 11 * 3600 * SECOND));
        assert_eq!(Time::Clock(5).in_trace(start), Time::Clock(5));
    }

    #[test]
    fn ranges_do_not_end_before_they_begin() {
        let is_refused = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|text| Time::parse(text).ok());
            Window { from, to }.refuse_reversed().is_err()
        };
        assert!(is_refused("+2s", "+1s") && is_refused("@2", "@1") && is_refused("2026-11-21", "2026-11-20"));
        // Nothing lies in an empty one; of others only the trace can tell.
        assert!(!is_refused("+1s", "+1s") && !is_refused("@2", "+1s") && !is_refused("23:00", "01:00"));
    }
}
