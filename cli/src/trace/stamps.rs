//! Times as they are printed: RFC 3339 where the clock is absolute, else seconds since its origin.

use super::rfc3339;

const SECOND: i128 = 1_000_000_000;

/// How many characters of RFC 3339 stand before the fraction: `2026-11-21T01:41:54.`
const FRONT: usize = 20;

/// Writes times, of which many lie in the same second: its text is made once.
#[derive(Default)]
pub struct Stamps {
    /// The second that `text` was made for, if it has the usual length.
    second: Option<i64>,
    /// A time with nine digits.
    text: String,
}

impl Stamps {
    /// A time as RFC 3339 has it, with nine digits; none before the year 0 or after 9999.
    pub fn rfc3339(&mut self, nanoseconds: i128) -> Option<&str> {
        let (second, rest) = split(nanoseconds)?;
        if self.second == Some(second) {
            self.text.truncate(FRONT);
            push_digits(&mut self.text, rest, 9);
            self.text.push('Z');
        } else {
            self.second = None;
            self.text = rfc3339(nanoseconds)?;
            // The digits are replaced in place, which needs the usual length.
            self.second = (self.text.len() == 30).then_some(second);
        }
        Some(&self.text)
    }

    /// Appends a time: RFC 3339 if it is of an absolute clock and has such a form, else seconds and their fraction.
    pub fn push(&mut self, to: &mut String, nanoseconds: i128, is_absolute: bool) {
        match self.rfc3339(nanoseconds).filter(|_| is_absolute) {
            Some(text) => to.push_str(text),
            None => push_seconds(to, nanoseconds),
        }
    }

    /// Appends a time in microseconds since the Unix epoch, with six digits.
    pub fn push_micros(&mut self, to: &mut String, micros: u64) {
        match self.rfc3339(i128::from(micros).saturating_mul(1000)) {
            Some(text) => {
                to.push_str(text.get(..FRONT.saturating_add(6)).unwrap_or(text));
                to.push('Z');
            }
            None => {
                to.push_str(itoa::Buffer::new().format(micros / 1_000_000));
                to.push('.');
                push_digits(to, u32::try_from(micros % 1_000_000).unwrap_or(0), 6);
                to.push_str(" s");
            }
        }
    }
}

/// Seconds and the nanoseconds beyond them.
fn split(nanoseconds: i128) -> Option<(i64, u32)> {
    // Most fit in 64 bits, of which a division is much faster.
    let (second, rest) = match i64::try_from(nanoseconds) {
        Ok(short) => (short.div_euclid(1_000_000_000), short.rem_euclid(1_000_000_000)),
        Err(_) => (
            i64::try_from(nanoseconds.div_euclid(SECOND)).ok()?,
            i64::try_from(nanoseconds.rem_euclid(SECOND)).ok()?,
        ),
    };
    Some((second, u32::try_from(rest).ok()?))
}

/// Appends a number with leading zeros.
fn push_digits(to: &mut String, mut number: u32, digits: usize) {
    let mut text = [b'0'; 10];
    for place in text.iter_mut().take(digits).rev() {
        *place = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0));
        number /= 10;
    }
    to.push_str(text.get(..digits).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default());
}

/// Appends seconds since a clock's origin, with nine digits.
fn push_seconds(to: &mut String, nanoseconds: i128) {
    if nanoseconds < 0 {
        to.push('-');
    }
    let nanoseconds = nanoseconds.unsigned_abs();
    let (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    to.push_str(itoa::Buffer::new().format(seconds));
    to.push('.');
    push_digits(to, u32::try_from(rest).unwrap_or(0), 9);
}

/// A time for people, on its own.
pub fn shown_time(nanoseconds: i128, is_absolute: bool) -> String {
    let mut text = String::new();
    Stamps::default().push(&mut text, nanoseconds, is_absolute);
    if !text.ends_with('Z') {
        text.push_str(" s");
    }
    text
}

/// A time in microseconds since the Unix epoch for people, on its own.
pub fn shown_micros(micros: u64) -> String {
    let mut text = String::new();
    Stamps::default().push_micros(&mut text, micros);
    text
}

/// A span of time in the unit that suits it, exact to the nanosecond, or to the microsecond from a second on. All have
/// three digits, so that in a column their points line up if [`aligned`].
pub fn duration(nanoseconds: i128) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let nanoseconds = nanoseconds.unsigned_abs();
    let (name, thousandths) = match nanoseconds {
        ..1_000_000 => ("µs", nanoseconds),
        1_000_000..1_000_000_000 => ("ms", nanoseconds / 1_000),
        _ => ("s", nanoseconds / 1_000_000),
    };
    let whole = i128::try_from(thousandths / 1000).unwrap_or(i128::MAX);
    format!("{sign}{}.{:03} {name}", crate::output::grouped(whole), thousandths % 1000)
}

/// The same, for a column.
pub fn aligned(nanoseconds: i128) -> String {
    let mut text = duration(nanoseconds);
    if text.ends_with(" s") {
        text.push(' ');
    }
    text
}

/// A time as a JSON number, or as a string where it takes more than 64 bits.
pub fn time_json(nanoseconds: Option<i128>) -> serde_json::Value {
    match nanoseconds.map(|time| (i64::try_from(time), u64::try_from(time), time)) {
        Some((Ok(time), ..)) => time.into(),
        Some((_, Ok(time), _)) => time.into(),
        Some((.., time)) => time.to_string().into(),
        None => serde_json::Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_as_rfc3339_has_them() {
        let mut stamps = Stamps::default();
        for nanoseconds in [1, 2, 1_000_000_000, 999_999_999, -5, i128::MIN, 7, 253_402_300_800 * SECOND] {
            assert_eq!(stamps.rfc3339(nanoseconds).map(str::to_owned), rfc3339(nanoseconds));
        }
        assert_eq!(shown_micros(951_782_400_000_001), "2000-02-29T00:00:00.000001Z");
        assert_eq!(shown_micros(4_107_542_399_999_999), "2100-02-28T23:59:59.999999Z");
        assert_eq!(shown_micros(u64::MAX), "18446744073709.551615 s");
        assert_eq!(shown_time(-1, false), "-0.000000001 s");
        assert_eq!(shown_time(1_500_000_000, true), "1970-01-01T00:00:01.500000000Z");
        assert_eq!(shown_time(i128::MAX, true), "170141183460469231731687303715.884105727 s");
    }

    #[test]
    fn spans_have_three_digits() {
        for (span, text) in [
            (0, "0.000 µs"),
            (30_001, "30.001 µs"),
            (-999_999, "-999.999 µs"),
            (450_000_000, "450.000 ms"),
            (2 * SECOND, "2.000 s"),
            (1_234_567_891_234, "1,234.567 s"),
        ] {
            assert_eq!(duration(span), text);
        }
        assert_eq!(aligned(SECOND), "1.000 s ");
    }
}
