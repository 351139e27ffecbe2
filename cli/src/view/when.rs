//! Times, as they are shown.

use crate::trace::rfc3339;
pub use crate::trace::shown_time as moment;
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
fn seconds(ns: i128) -> String {
    moment(ns, false).trim_end_matches(" s").to_owned()
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
