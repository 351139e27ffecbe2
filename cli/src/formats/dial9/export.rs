//! A recording as tracks and events. All segments are in memory: their batches overlap in time.

use super::Dial9;
use crate::output::{bytes, shown};
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Outcome};
use traceglass::Format;
use traceglass::event::dial9::{Storage, Timeline};
use traceglass::event::{EventKind, Item, Source as _, Window};

impl Dial9<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Dial9, error);
        let loaded = self.segments.iter().map(|segment| segment.load()).collect::<Result<Vec<_>>>()?;
        let name = |number: usize| {
            let path = self.segments.get(number).and_then(|segment| segment.path());
            path.map(|path| format!("{}: ", shown(path))).unwrap_or_default()
        };
        let mut damage: Vec<String> = Vec::new();
        for (number, (_, error)) in loaded.iter().enumerate() {
            damage.extend(error.map(|error| format!("{}{error}", name(number))));
        }
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        timeline.set_window(window);
        for (number, (data, _)) in loaded.iter().enumerate() {
            timeline.add(number, data.as_ref()).map_err(content)?;
        }
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item
                && let EventKind::Gap(gap) = event.kind()
            {
                damage.push(format!("{}{}; {} lost", name(event.input()), gap.cause(), bytes(gap.len())));
            }
            events.item(&item)?;
        }
        events.advance(crate::trace::Trace::bytes(self));
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
