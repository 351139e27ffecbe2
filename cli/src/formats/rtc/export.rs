//! The records of all streams, in the order of the file.

use super::scan::LONGEST;
use super::session::{Rtc, STREAMS};
use crate::output::bytes;
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Outcome};
use traceglass::Format;
use traceglass::event::{EventKind, Item, Source, rtc};

/// Progress is told about so often that it costs nothing.
const STEP: u64 = 1 << 16;

impl Rtc<'_> {
    pub(super) fn export_events(&self, events: &mut dyn Events) -> Result<Outcome> {
        let mut damage = Vec::new();
        // Memory that is not touched costs nothing.
        let mut buffer = vec![0; self.data.len().saturating_mul(2).min(LONGEST)];
        let mut timeline = Box::new(rtc::Timeline::<STREAMS>::new(0, self.data, &mut buffer));
        let mut read = 0;
        while let Some(item) = timeline.next_item().map_err(|error| Failure::content(Format::Rtc, error))? {
            if let Item::Event(event) = &item {
                if let EventKind::Gap(gap) = event.kind() {
                    damage.push(format!("{}; {} lost", gap.cause(), bytes(gap.len())));
                }
                let ahead = event.offset().saturating_sub(read);
                if ahead >= STEP {
                    events.advance(ahead);
                    read = event.offset();
                }
            }
            events.item(&item)?;
        }
        damage.dedup();
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
