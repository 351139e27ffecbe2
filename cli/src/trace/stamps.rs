//! Times as they are printed: RFC 3339 where the clock is absolute, else seconds since its origin.

pub use traceglass_open::time::{Stamps, rfc3339};

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
    let mut text = String::new();
    push_duration(&mut text, nanoseconds);
    text
}

/// Appends it to a text.
fn push_duration(to: &mut String, nanoseconds: i128) {
    if nanoseconds < 0 {
        to.push('-');
    }
    let nanoseconds = nanoseconds.unsigned_abs();
    let (name, thousandths) = match nanoseconds {
        ..1_000_000 => (" µs", nanoseconds),
        1_000_000..1_000_000_000 => (" ms", nanoseconds / 1_000),
        _ => (" s", nanoseconds / 1_000_000),
    };
    let mut digits = itoa::Buffer::new();
    let rest = match u32::try_from(thousandths) {
        // Most have no group of digits, and fit a division of 32 bits.
        Ok(thousandths @ ..1_000_000) => {
            to.push_str(digits.format(thousandths / 1000));
            thousandths % 1000
        }
        _ => {
            to.push_str(&crate::output::grouped(i128::try_from(thousandths / 1000).unwrap_or(i128::MAX)));
            u32::try_from(thousandths % 1000).unwrap_or(0)
        }
    };
    // Three digits, with zeros in front.
    let rest = digits.format(rest.saturating_add(1000));
    to.push('.');
    to.push_str(rest.get(1..).unwrap_or_default());
    to.push_str(name);
}

/// The same, for a column.
pub fn aligned(nanoseconds: i128) -> String {
    let mut text = String::new();
    push_aligned(&mut text, nanoseconds);
    text
}

/// Appends it to a text, for a column.
pub fn push_aligned(to: &mut String, nanoseconds: i128) {
    push_duration(to, nanoseconds);
    if to.ends_with(" s") {
        to.push(' ');
    }
}

/// Puts what a whole or a part covers into its object: times, and as dates where they are absolute.
pub fn insert_span(
    object: &mut serde_json::Map<String, serde_json::Value>,
    span: [Option<i128>; 2],
    is_absolute: bool,
) {
    for (front, ns) in ["", "end_"].into_iter().zip(span) {
        object.insert(format!("{front}time_ns"), time_json(ns));
        object.insert(format!("{front}time"), ns.filter(|_| is_absolute).and_then(rfc3339).into());
    }
}

/// A time, or another integer, as a JSON number, or as a string where it takes more than 64 bits.
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
    use traceglass_open::time::rfc3339;

    const SECOND: i128 = 1_000_000_000;

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
