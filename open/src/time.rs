//! Times as they are printed: RFC 3339 where the clock is absolute, else seconds since its origin.

const SECOND: i128 = 1_000_000_000;

/// Traces of up to this many bytes are read as a whole for a range: whatever their clocks do and their headers state, each
/// record is asked for its time. Of larger ones, what headers and indices place far outside of the range is skipped.
pub const READ_WHOLE: u64 = 16 << 20;

/// A time as RFC 3339 has it, with nine digits; none before the year 0 or after 9999.
pub fn rfc3339(nanoseconds: i128) -> Option<String> {
    let (seconds, fraction) = (nanoseconds.div_euclid(SECOND), nanoseconds.rem_euclid(SECOND));
    let time = jiff::Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    let time = jiff::tz::Offset::UTC.to_datetime(time);
    (time.year() >= 0).then(|| {
        let (date, hour) = (time.date(), time.hour());
        let (year, month, day) = (date.year(), date.month(), date.day());
        let (minute, second) = (time.minute(), time.second());
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:09}Z")
    })
}

/// The number of characters of RFC 3339 that stand before the fraction: `2026-11-21T01:41:54.`
const FRONT: usize = 20;

/// Writes times, of which many lie in the same second: its text is made once.
#[derive(Default)]
pub struct Stamps {
    /// The second that `text` was made for, if it has the usual length.
    second: Option<i64>,
    /// A time with nine digits.
    text: String,
    /// The second in decimal digits.
    digits: String,
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
            self.digits = second.to_string();
        }
        Some(&self.text)
    }

    /// The second of a time after the Unix epoch in digits, its text up to the fraction, and that: nanoseconds. Any
    /// other time has none.
    pub fn parts(&mut self, nanoseconds: i128) -> Option<(&str, &str, u32)> {
        let (second, rest) = split(nanoseconds)?;
        if self.second != Some(second) {
            self.rfc3339(nanoseconds)?;
        }
        self.second.filter(|known| *known == second && second > 0)?;
        Some((&self.digits, self.text.get(..FRONT)?, rest))
    }

    /// Appends a time: RFC 3339 if it is of an absolute clock and has such a form, else seconds and their fraction.
    pub fn push(&mut self, to: &mut String, nanoseconds: i128, is_absolute: bool) {
        match is_absolute.then(|| self.rfc3339(nanoseconds)).flatten() {
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
