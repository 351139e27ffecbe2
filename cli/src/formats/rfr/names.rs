//! What ids stand for, for people.

use super::files::{Files, Kind};
use super::scan::{self, Damage};
use crate::output::printable;
use crate::status::Result;
use std::collections::HashMap;
use traceglass::rfr::{Callsite, Callsites, Object};

/// Tasks and spans by instrumentation id, and places in the source by callsite id.
#[derive(Default)]
pub struct Names {
    objects: HashMap<u64, (String, u64)>,
    callsites: HashMap<u64, Place>,
}

/// What is known of a callsite.
struct Place {
    place: String,
    fields: Vec<String>,
}

impl Names {
    /// The callsites of a recording; damage in them is told by those who read them for their own sake.
    pub fn of(files: &Files<'_>) -> Result<Self> {
        let mut names = Self::default();
        for part in files.of(Kind::Callsites) {
            let data = part.data()?;
            if let Ok(callsites) = Callsites::parse(data.bytes()) {
                scan::callsites(&callsites, None, &mut Damage::default(), |callsite| {
                    names.add_callsite(&callsite);
                    Ok(())
                })?;
            }
        }
        Ok(names)
    }

    pub fn add_callsite(&mut self, callsite: &Callsite<'_>) {
        let place = match (callsite.file(), callsite.line()) {
            (Some(file), Some(line)) => format!("{}:{line}", printable(short(file))),
            (Some(file), None) => printable(short(file)),
            _ => printable(callsite.name().unwrap_or_default()),
        };
        let fields = || callsite.split_field_names().map(printable).collect();
        self.callsites.entry(callsite.id()).or_insert_with(|| Place { place, fields: fields() });
    }

    pub fn add_object(&mut self, object: &Object<'_>) {
        let name = match object {
            Object::Task(task) if !task.name().is_empty() => printable(task.name()),
            Object::Task(task) => format!("task {}", task.task_id()),
            _ => format!("span {}", object.iid()),
        };
        self.objects.insert(object.iid(), (name, object.callsite_id()));
    }

    /// Forgets the objects: those of the next chunk come.
    pub fn forget_objects(&mut self) {
        self.objects.clear();
    }

    /// The name of a task or span; its id if it has none.
    pub fn object(&self, iid: u64) -> String {
        self.objects.get(&iid).map_or_else(|| format!("#{iid}"), |(name, _)| name.clone())
    }

    /// Where a task or span comes from.
    pub fn place_of(&self, iid: u64) -> &str {
        self.objects.get(&iid).map_or("", |&(_, callsite)| self.place(callsite))
    }

    pub fn place(&self, callsite: u64) -> &str {
        self.callsites.get(&callsite).map_or("", |callsite| &callsite.place)
    }

    /// The names of the values that a callsite's events have.
    pub fn fields(&self, callsite: u64) -> &[String] {
        self.callsites.get(&callsite).map_or(&[], |callsite| &callsite.fields)
    }
}

/// The path of a source file from the crate on, where it lies in Cargo's registry.
pub fn short(file: &str) -> &str {
    let Some((_, behind)) = file.split_once("/registry/src/") else { return file };
    behind.split_once('/').map_or(behind, |(_, path)| path)
}

/// A time since the Unix epoch in UTC, with microseconds.
pub fn clock(micros: u64) -> String {
    let (secs, micros) = (micros / 1_000_000, micros % 1_000_000);
    let (days, second) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

/// Year, month and day of a day since the Unix epoch, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years that begin in March, in eras of 400 years: the leap day is the last one.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// A duration in the unit that suits it.
pub fn duration(micros: u64) -> String {
    #[allow(clippy::cast_precision_loss)]
    let value = micros as f64;
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", value / 1e3),
        _ => format!("{:.3} s", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_knows_leap_years() {
        assert_eq!(clock(0), "1970-01-01 00:00:00.000000");
        assert_eq!(clock(951_782_400_000_001), "2000-02-29 00:00:00.000001");
        assert_eq!(clock(1_795_225_315_215_309), "2026-11-21 01:41:55.215309");
        assert_eq!(clock(4_107_542_399_999_999), "2100-02-28 23:59:59.999999");
        assert_eq!(clock(4_107_542_400_000_000), "2100-03-01 00:00:00.000000");
        assert!(clock(u64::MAX).starts_with("586524-"));
    }

    #[test]
    fn places_in_the_registry_are_short() {
        assert_eq!(
            short("/home/a/.cargo/registry/src/index-123/tokio-1.44.1/src/lib.rs"),
            "tokio-1.44.1/src/lib.rs"
        );
        assert_eq!(short("src/main.rs"), "src/main.rs");
    }
}
