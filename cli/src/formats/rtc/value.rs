//! Names and times of units and streams.

use crate::output::{hex, printable};
use serde_json::{Map, Value};
use traceglass::JsonString;
use traceglass::rtc::Time;

/// A name that may not be UTF-8.
#[derive(Clone, Default)]
pub(super) struct Text {
    pub(super) text: Option<String>,
    pub(super) raw: Option<Vec<u8>>,
}

impl Text {
    pub(super) fn of(name: Option<JsonString<traceglass::Text<'_>>>) -> Self {
        match name {
            Some(name) if name.is_utf8() => Self { text: Some(name.to_string()), raw: None },
            Some(name) => Self { text: None, raw: Some(name.raw().bytes().collect()) },
            None => Self::default(),
        }
    }

    pub(super) fn insert(&self, object: &mut Map<String, Value>, key: &str) {
        object.insert(key.into(), self.text.clone().into());
        if let Some(raw) = &self.raw {
            object.insert(format!("{key}_hex"), hex(raw).into());
        }
    }

    pub(super) fn shown(&self) -> String {
        match (&self.text, &self.raw) {
            (Some(text), _) => printable(text),
            (None, Some(raw)) => raw.escape_ascii().to_string(),
            (None, None) => String::new(),
        }
    }
}

/// A time that is said in nanoseconds.
pub(super) fn of_ns(ns: i128) -> Time {
    Time::from_attoseconds(ns.saturating_mul(1_000_000_000))
}

/// A time in nanoseconds, rounded down.
pub(super) fn in_ns(time: Time) -> i128 {
    const NANOSECOND: i64 = 1_000_000_000;
    // Seconds first: most fit in 64 bits then, of which a division is much faster.
    match i64::try_from(time.attoseconds()) {
        Ok(short) => short.div_euclid(NANOSECOND).into(),
        Err(_) => time.attoseconds().div_euclid(NANOSECOND.into()),
    }
}
