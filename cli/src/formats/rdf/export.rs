//! The chunks of a file that have events, merged by time.

use super::Rdf;
use super::plan::overlap;
use crate::output::bytes;
use crate::status::{Failure, Result};
use crate::trace::{Damage, Events, Outcome, no_events};
use traceglass::event::rdf::Timeline;
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::zstd::{Detected, Workspace};
use traceglass::{ErrorKind, Format};
use traceglass_open::rdf;

impl Rdf<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let content = |error| Failure::content(Format::Rdf, error);
        if let Some(error) = overlap(&self.file) {
            return Err(content(error));
        }
        let mut buffer = rdf::buffer(&self.file).map_err(|(needed, limit)| {
            let [needed, limit] = [needed, limit].map(bytes);
            Failure::unreadable(format!(
                "its chunks with events take {needed} at a time; at most {limit} are read"
            ))
        })?;
        let (tracks, lanes) = (Vec::new(), Vec::new());
        let mut decoder = Workspace::on(Detected::new());
        let mut timeline =
            Timeline::new(0, self.file.data(), &mut buffer, &mut decoder, tracks, lanes).map_err(content)?;
        if timeline.is_empty() {
            return Err(no_events(Format::Rdf));
        }
        timeline.set_window(window);
        let mut damage = Damage::default();
        while let Some(item) = timeline.next_item().map_err(content)? {
            if let Item::Event(event) = &item
                && let EventKind::Gap(gap) = event.kind()
            {
                // A version that is not known is no damage: `check` warns of it.
                if !matches!(gap.cause().kind(), ErrorKind::UnsupportedVersion { .. }) {
                    damage.add(format!("{}; {} lost", gap.cause(), bytes(gap.len())));
                }
            }
            events.item(&item)?;
        }
        events.advance(self.size());
        Ok(damage.into())
    }
}
