//! Fields that are numbers over time.

use crate::dial9::{Annotation, FieldDefs};

/// The numbers of a runtime: as they are called now, and as they were.
const RUNTIME: [&str; 4] = ["global_queue_depth", "alive_tasks", "global_queue", "active_tasks"];

/// The place of a runtime's number, by its name.
pub(super) fn runtime_number(name: &str) -> Option<u16> {
    (0_u16..).zip(RUNTIME).find(|(_, known)| *known == name).map(|(place, _)| place)
}

/// The name of a runtime's number.
pub(super) fn runtime_name(place: u16) -> &'static str {
    RUNTIME.get(usize::from(place)).copied().unwrap_or_default()
}

/// Units that annotations have, and how they are written.
const UNITS: [(&str, &str); 5] = [("ns", "ns"), ("us", "\u{b5}s"), ("ms", "ms"), ("s", "s"), ("bytes", "B")];

/// Fields of a class of which each value is one of a counter: of its first fields, the others are not looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    fields: u64,
    /// The number of a unit and 1, or 0.
    units: [u8; Self::MOST],
}

impl Counters {
    /// The number of fields that are looked at.
    pub(super) const MOST: usize = 64;

    pub(super) const NONE: Self = Self { fields: 0, units: [0; Self::MOST] };

    /// The numbers of a runtime.
    pub(super) fn of_runtime(fields: FieldDefs<'_>) -> Self {
        let mut counters = Self::NONE;
        for (place, field) in (0_u16..).zip(fields) {
            if runtime_number(field.name()).is_some() {
                counters.add(place);
            }
        }
        counters
    }

    /// Learns what is said of a field.
    pub(super) fn learn(&mut self, said: &Annotation<'_>) {
        match (said.key(), said.value()) {
            ("kind", "gauge" | "counter" | "updown-counter") => self.add(said.field()),
            ("unit", unit) => {
                let number = (1_u8..).zip(UNITS).find(|(_, (name, _))| *name == unit);
                if let (Some((number, _)), Some(slot)) =
                    (number, self.units.get_mut(usize::from(said.field())))
                {
                    *slot = number;
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, place: u16) {
        self.fields |= 1_u64.checked_shl(place.into()).unwrap_or(0);
    }

    /// True if there is any.
    pub(super) const fn any(&self) -> bool {
        self.fields != 0
    }

    /// True if the field at this place is one.
    pub(super) fn has(&self, place: u16) -> bool {
        1_u64.checked_shl(place.into()).is_some_and(|bit| self.fields & bit != 0)
    }

    /// The number of nanoseconds in the unit of the field at this place; 1 if it has none.
    pub(super) fn nanoseconds(&self, place: u16) -> u64 {
        match self.unit(place) {
            Some("\u{b5}s") => 1_000,
            Some("ms") => 1_000_000,
            Some("s") => 1_000_000_000,
            _ => 1,
        }
    }

    /// The unit of the field at this place.
    pub(super) fn unit(&self, place: u16) -> Option<&'static str> {
        let number = self.units.get(usize::from(place))?.checked_sub(1)?;
        UNITS.get(usize::from(number)).map(|(_, unit)| *unit)
    }
}
