//! Times, as they are shown.

use crate::trace::rfc3339;
use traceglass::event::Time;

/// A time, as it is shown of a record.
pub fn shown_time(time: Time) -> String {
    let day = if time.is_absolute() { rfc3339(time.ns()) } else { None };
    match day.as_deref().and_then(|day| day.get(11..29)) {
        Some(hour) => hour.to_owned(),
        None => seconds(time.ns()),
    }
}

/// Nanoseconds as seconds.
pub fn seconds(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A time, in full.
pub fn moment(ns: i128, absolute: bool) -> String {
    let date = if absolute { rfc3339(ns) } else { None };
    date.unwrap_or_else(|| format!("{} s", seconds(ns)))
}

/// A span of time in the unit that suits it.
pub fn duration(ns: i128) -> String {
    #[allow(clippy::cast_precision_loss)] // Four digits are shown.
    let value = ns as f64;
    match ns {
        ..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.3} s", value / 1e9),
    }
}
