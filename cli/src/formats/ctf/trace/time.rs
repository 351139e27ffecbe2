//! Times as people read them.

use std::fmt::Write;

/// A time in nanoseconds since the Unix epoch, in UTC: as RFC 3339 has it. `None` before the year 0 or after 9999.
pub fn rfc3339(nanoseconds: i128) -> Option<String> {
    let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).ok()?;
    let nanos = nanoseconds.rem_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March, in eras of 400 years: the leap day is the last one.
    let days = days.checked_add(719_468)?;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z"))
}

/// Times that follow each other closely: the date is made anew only with each second.
#[derive(Default)]
pub struct Clock {
    second: Option<i128>,
    text: String,
}

impl Clock {
    /// As [`rfc3339`].
    pub fn rfc3339(&mut self, nanoseconds: i128) -> Option<&str> {
        let second = nanoseconds.div_euclid(1_000_000_000);
        if self.second == Some(second) {
            self.text.truncate("2026-11-21T01:41:54.".len());
            // A string takes all that is written to it.
            let _ = write!(self.text, "{:09}Z", nanoseconds.rem_euclid(1_000_000_000));
        } else {
            self.second = None;
            self.text = rfc3339(nanoseconds)?;
            self.second = Some(second);
        }
        Some(&self.text)
    }
}

/// Seconds since a clock's origin.
pub fn seconds(nanoseconds: i128) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let nanoseconds = nanoseconds.unsigned_abs();
    format!("{sign}{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

/// A span of time in the unit that suits it.
pub fn duration(nanoseconds: i128) -> String {
    #[allow(clippy::cast_precision_loss)]
    let value = nanoseconds as f64;
    match nanoseconds {
        ..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.3} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_gregorian_calendar() {
        assert_eq!(rfc3339(0).unwrap(), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(rfc3339(951_782_400_000_000_001).unwrap(), "2000-02-29T00:00:00.000000001Z");
        assert_eq!(rfc3339(-1).unwrap(), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(rfc3339(i128::MAX), None);
        let mut clock = Clock::default();
        for nanoseconds in [1, 2, 1_000_000_000, 999_999_999, -5, i128::MIN, 7] {
            assert_eq!(clock.rfc3339(nanoseconds).map(str::to_owned), rfc3339(nanoseconds));
        }
        assert_eq!((seconds(-1).as_str(), seconds(1_500_000_000).as_str()), ("-0.000000001", "1.500000000"));
    }
}
