//! The chunks of a file that tell of events, merged by time.

use super::Rdf;
use crate::output::bytes;
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Growing, Outcome, no_events};
use traceglass::Format;
use traceglass::event::rdf::{Lane, Timeline, TrackSlot, needed};
use traceglass::event::{EventKind, Item, Source};
use traceglass::zstd::Workspace;

/// So much may be lent to decompressed chunks in any case, and so many times the size of the file.
const BUFFER: u64 = 256 << 20;
const TIMES: u64 = 32;

impl Rdf<'_> {
    pub(super) fn export_events(&self, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Rdf, error);
        let limit = self.size().saturating_mul(TIMES).max(BUFFER);
        // A claim is not believed beyond all measure; zeros that nothing is written to take no memory.
        let mut buffer = vec![0; usize::try_from(needed(&self.file).min(limit)).unwrap_or(usize::MAX)];
        let (tracks, lanes) = (Growing::new(TrackSlot::EMPTY), Growing::new(Lane::EMPTY));
        let mut decoder = Workspace::new();
        let mut timeline =
            Timeline::new(0, self.file.data(), &mut buffer, &mut decoder, tracks, lanes).map_err(content)?;
        if timeline.is_empty() {
            return Err(no_events(Format::Rdf));
        }
        let mut damage = Vec::new();
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item
                && let EventKind::Gap(gap) = event.kind()
            {
                damage.push(format!("{}; {} lost", gap.cause(), bytes(gap.len())));
            }
            events.item(&item)?;
        }
        damage.dedup();
        events.advance(self.size());
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
