//! The records of all streams, in the order of the file.

use super::Rtc;
use super::scan::{Event, LONGEST, Pass};
use crate::output::bytes;
use crate::status::{Failure, Result};
use crate::trace::{Damage, Events, Outcome, READ_WHOLE, Untold};
use traceglass::event::{EventKind, Item, Source, Window, rtc};
use traceglass::{ErrorKind, Format, Severity};

/// The number of bytes that are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 16;

impl Rtc<'_> {
    pub(super) fn export_events(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        let mut damage = Damage::default();
        // Memory that is not touched costs nothing.
        let mut buffer = vec![0; self.data.len().saturating_mul(2).min(LONGEST)];
        let mut timeline = rtc::Timeline::new(0, self.data, Vec::new(), Vec::new(), &mut buffer);
        timeline.set_window(window);
        if self.data.len() as u64 <= READ_WHOLE {
            timeline.read_all();
        }
        let mut read = 0;
        while let Some(item) = timeline.next_item().map_err(|error| Failure::content(Format::Rtc, error))? {
            if let Item::Event(event) = &item {
                if let EventKind::Gap(gap) = event.kind() {
                    damage.add(format!("{}; {} lost", gap.cause(), bytes(gap.len())));
                }
                let ahead = event.offset().saturating_sub(read);
                if ahead >= STEP {
                    events.advance(ahead);
                    read = event.offset();
                }
            }
            events.item(&item)?;
        }
        events.advance((self.data.len() as u64).saturating_sub(read));
        Ok(damage.into())
    }

    /// Checksums that differ, and declarations that cannot be read.
    pub(super) fn tell_untold(&self, tell: &mut Untold<'_>) -> Result<()> {
        let mut lost = None;
        self.scan(&Pass::default(), |event| {
            match event {
                Event::Gap(gap, _) => lost = Some(gap.cause()),
                Event::Finding(finding) if finding.severity() == Severity::Error => {
                    let cause = finding.cause();
                    // Of gaps there are events.
                    if !matches!(cause.kind(), ErrorKind::Lost { .. }) && lost != Some(cause) {
                        tell(None, cause);
                    }
                }
                _ => {}
            }
            Ok(())
        })
        .map(drop)
    }
}
