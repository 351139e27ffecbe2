//! Spans that are told by one event, when they end: since when they lasted.

use super::counters::Counters;
use crate::dial9::{Annotation, Event, FieldDefs, Value};

/// The fields that say since when something lasted, by their places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasts {
    duration: Option<u16>,
    start: Option<u16>,
    name: Option<u16>,
}

impl Lasts {
    pub(super) const NONE: Self = Self { duration: None, start: None, name: None };

    /// The meaning of the names of fields.
    pub(super) fn of(fields: FieldDefs<'_>) -> Self {
        let duration = (0_u16..).zip(fields).find(|(_, field)| field.name() == "dial9.span.duration_ns");
        Self { duration: duration.map(|(place, _)| place), ..Self::NONE }
    }

    /// Learns what is said of a field.
    pub(super) fn learn(&mut self, said: &Annotation<'_>) {
        if said.key() == "dial9.role" {
            match said.value() {
                "span.duration" => self.duration = Some(said.field()),
                "span.start" => self.start = Some(said.field()),
                "span.name" => self.name = Some(said.field()),
                _ => {}
            }
        }
    }

    /// True if events of the class last.
    pub(super) const fn any(&self) -> bool {
        self.duration.is_some() || self.start.is_some()
    }

    /// The begin of an event that ended at this time, if it says so.
    pub(super) fn start(&self, event: &Event<'_>, counters: &Counters, end: u64) -> Option<u64> {
        let number = |place: Option<u16>| {
            let place = place?;
            let value = event.fields().nth(place.into())?.value()?.unsigned()?;
            value.checked_mul(counters.nanoseconds(place))
        };
        number(self.start).filter(|start| *start <= end).or_else(|| end.checked_sub(number(self.duration)?))
    }

    /// The field with the name of an event.
    pub(super) fn name<'a>(&self, event: &Event<'a>) -> Option<Value<'a>> {
        event.fields().nth(self.name?.into())?.value()
    }
}
