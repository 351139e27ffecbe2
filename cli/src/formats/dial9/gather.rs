//! Counts of events, and what a recorder says of itself.

use crate::trace::widen;
use std::collections::BTreeMap;
use traceglass::dial9::{Event, Order, Schema, Value, tokio};

/// The events of a class: what schemas with one name and the same fields are in a segment.
struct Class {
    name: String,
    says: Says,
    count: u64,
}

/// The meaning of an event for what is known of a recording.
#[derive(Clone, Copy)]
enum Says {
    Clock,
    Metadata,
    Nothing,
}

/// The facts about a recording that need no order.
#[derive(Default)]
pub struct Gather {
    /// Of the segment that is read, by their numbers.
    classes: Vec<Class>,
    pub batches: u64,
    pub events: u64,
    pub counts: BTreeMap<String, u64>,
    /// The first and last time of the segment that is read, and of all. Symbols have none.
    segment_times: Option<(u64, u64)>,
    pub times: Option<(u64, u64)>,
    /// The first time of day that is known, and the time of the writer's clock then.
    pub clock: Option<(u64, u64)>,
    pub metadata: BTreeMap<String, String>,
}

impl Gather {
    /// Takes an event, which an order has just read.
    pub fn take(&mut self, event: &Event<'_>, order: &Order<'_, '_>) {
        self.events = self.events.saturating_add(1);
        let number = order.class(event.schema().type_id()).map_or(0, |class| class as usize);
        while self.classes.len() <= number {
            let of = u32::try_from(self.classes.len()).ok().and_then(|class| order.schema(class));
            self.classes.push(Class::of(of.as_ref()));
        }
        let Some(class) = self.classes.get_mut(number) else { return };
        class.count = class.count.saturating_add(1);
        let says = class.says;
        let Some(time) = event.nanoseconds() else { return };
        if event.moment().is_some() {
            widen(&mut self.segment_times, time, time);
        }
        match says {
            Says::Nothing => {}
            Says::Clock => {
                let day = || event.get("realtime_ns")?.unsigned();
                self.clock = self.clock.or_else(|| Some((day()?, time)));
            }
            Says::Metadata => {
                if let Some(Value::StringMap(map)) = event.get("entries") {
                    for (key, value) in map.pairs() {
                        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                        self.metadata.insert(text(key), text(value));
                    }
                }
            }
        }
    }

    /// Ends a segment: when its first event was, and whether anything was recorded in it.
    pub fn end_segment(&mut self) -> (Option<u64>, bool) {
        let mut is_recorded = false;
        for class in self.classes.drain(..).filter(|class| class.count > 0) {
            is_recorded |= !tokio::is_about_the_recorder(&class.name);
            let count = self.counts.entry(class.name).or_default();
            *count = count.saturating_add(class.count);
        }
        let times = self.segment_times.take();
        if let Some((first, last)) = times {
            widen(&mut self.times, first, last);
        }
        (times.map(|(first, _)| first), is_recorded)
    }
}

impl Class {
    fn of(schema: Option<&Schema<'_>>) -> Self {
        let name = schema.map_or("", |schema| schema.name());
        let says = match name {
            "ClockSyncEvent" => Says::Clock,
            "SegmentMetadataEvent" => Says::Metadata,
            _ => Says::Nothing,
        };
        Self { name: name.to_owned(), says, count: 0 }
    }
}
