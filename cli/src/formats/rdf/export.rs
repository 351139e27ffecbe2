//! The chunks of a file that have events, merged by time.

use super::Rdf;
use super::plan::overlap;
use crate::output::bytes;
use crate::status::{Failure, Result, Status};
use crate::trace::{Events, Outcome, no_events};
use traceglass::event::rdf::{Timeline, needed};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::zstd::{Detected, Workspace};
use traceglass::{ErrorKind, Format};

/// Decompressed chunks may take this many bytes in any case.
const BUFFER: u64 = 256 << 20;
/// The decompressed chunks of a large file may take this many times its size.
const TIMES: u64 = 32;

impl Rdf<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Rdf, error);
        if let Some(error) = overlap(&self.file) {
            return Err(content(error));
        }
        let limit = self.size().saturating_mul(TIMES).max(BUFFER);
        // A claim is believed up to the limit only; zeros that are never written to take no memory.
        let mut buffer = vec![0; usize::try_from(needed(&self.file).min(limit)).unwrap_or(usize::MAX)];
        let (tracks, lanes) = (Vec::new(), Vec::new());
        let mut decoder = Workspace::on(Detected::new());
        let mut timeline =
            Timeline::new(0, self.file.data(), &mut buffer, &mut decoder, tracks, lanes).map_err(content)?;
        if timeline.is_empty() {
            return Err(no_events(Format::Rdf));
        }
        timeline.set_window(window);
        let mut damage = Vec::new();
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item
                && let EventKind::Gap(gap) = event.kind()
            {
                // A version that is not known is no damage: `check` warns of it.
                if !matches!(gap.cause().kind(), ErrorKind::UnsupportedVersion { .. }) {
                    damage.push(format!("{}; {} lost", gap.cause(), bytes(gap.len())));
                }
            }
            events.item(&item)?;
        }
        damage.dedup();
        events.advance(self.size());
        Ok(Outcome { status: Status::damaged_if(!damage.is_empty()), damage })
    }
}
