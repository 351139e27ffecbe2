//! The records of all streams, in the order of the file.

use super::Rtc;
use super::scan::LONGEST;
use super::session::STREAMS;
use crate::output::bytes;
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Outcome};
use traceglass::Format;
use traceglass::event::{EventKind, Item, Source, Window, rtc};

/// How many bytes are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 16;

impl Rtc<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let mut damage = Vec::new();
        // Memory that is not touched costs nothing.
        let mut buffer = vec![0; self.data.len().saturating_mul(2).min(LONGEST)];
        let mut timeline = Box::new(rtc::Timeline::<STREAMS>::new(0, self.data, &mut buffer));
        timeline.set_window(window);
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
        events.advance((self.data.len() as u64).saturating_sub(read));
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
