//! Events, in the order in which they stand.

use super::Dial9;
use super::segments::{Rooms, name_of};
use crate::output::{Out, bytes, shown};
use crate::record::{Lines, Place};
use crate::status::{Result, Status};
use crate::trace::{Cursor, Selection};
use traceglass::dial9::Records;
use traceglass::record::{Nobody, Source as _};

impl Dial9<'_> {
    pub(super) fn print(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        let bounds = self.range(&args.window)?;
        let mut status = Status::Clean;
        for segment in &self.segments {
            segment.open(|segment| {
                // Classes are numbered in each segment anew.
                let mut lines = Lines::new(&args.shape(), out);
                if let Some(path) = segment.path {
                    let mut json = b",\"path\":".to_vec();
                    json.extend(serde_json::Value::from(path.to_string_lossy()).to_string().bytes());
                    lines.set_place(&Place { shown: shown(path), json });
                }
                // The recorder renames it when it is full, and when it is packed.
                let file = segment.path.map(name_of).unwrap_or_default();
                let place = cursor.places.entry(file).or_default();
                let (printed, mut end) = (*place, *place);
                let mut rooms = Rooms::new();
                let mut records = Records::new(&segment.data, rooms.lend());
                loop {
                    let told = match records.peek() {
                        Ok(None) => break,
                        Ok(Some(head)) => {
                            let is_wanted =
                                bounds.wants(head.time.map(|time| time.ns())) && head.offset >= printed;
                            if is_wanted { lines.next_of(&mut records) } else { records.tell(&mut Nobody) }
                        }
                        Err(error) => Err(error),
                    };
                    match told {
                        Ok(()) => end = records.frames().offset(),
                        // What is cut may be going on to be written.
                        Err(error) if cursor.follows && error.is_truncation() => break,
                        Err(error) => {
                            lines.settle(out)?;
                            let lost = records.take_gap().map_or(0, |gap| gap.len());
                            if error.offset() >= printed {
                                out.warn(&args.path, format_args!("{error}; {} lost", bytes(lost)));
                            }
                            status = Status::Damaged;
                        }
                    }
                    lines.pass(out)?;
                }
                *place = end;
                lines.settle(out)?;
                if let Some(error) = segment.damage {
                    out.warn(&args.path, error);
                    status = Status::Damaged;
                }
                Ok(())
            })?;
        }
        Ok(status)
    }
}
