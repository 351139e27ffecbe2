//! A recording as tracks and events. All segments are in memory: their batches overlap in time.

use super::Dial9;
use super::segments::share;
use crate::output::bytes;
use crate::status::{Failure, Result};
use crate::trace::{DamageExt as _, Events, Outcome};
use traceglass::Format;
use traceglass::event::dial9::{Storage, Timeline};
use traceglass::event::{EventKind, Item, Source as _, Window};

/// The number of bytes that are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 16;

impl Dial9<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Dial9, error);
        let loaded = self.segments.iter().map(|segment| segment.load()).collect::<Result<Vec<_>>>()?;
        let path = |number: usize| self.segments.get(number).and_then(|segment| segment.path());
        let mut damage = self.damage();
        for (number, (_, error)) in loaded.iter().enumerate() {
            error.iter().for_each(|error| damage.add_in(path(number), error));
        }
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        timeline.set_window(window);
        for (number, (data, _)) in loaded.iter().enumerate() {
            timeline.add(number, data.as_ref()).map_err(content)?;
        }
        // Of what is unpacked, the part that is read is told as a part of the files.
        let size = crate::trace::Trace::bytes(self);
        let unpacked: u64 = loaded.iter().map(|(data, _)| data.as_ref().len() as u64).sum();
        let mut read = 0_u64;
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item {
                read = read.saturating_add(event.len());
                if read >= STEP {
                    events.advance(share(read, unpacked, size));
                    read = 0;
                }
            }
            if let Item::Event(event) = &item
                && let EventKind::Gap(gap) = event.kind()
            {
                let lost = format_args!("{}; {} lost", gap.cause(), bytes(gap.len()));
                damage.add_in(path(event.input()), lost);
            }
            events.item(&item)?;
        }
        events.advance(size);
        Ok(damage.into())
    }
}
