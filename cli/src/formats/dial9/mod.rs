//! dial9 for each verb: a segment, or a folder of rotated ones, which are read one after the other.

mod cat;
mod export;
mod gather;
mod hex;
mod info;
mod ls;
mod redact;
mod rewrite;
mod segments;
mod summary;
#[cfg(feature = "tables")]
mod tables;
#[cfg(feature = "view")]
mod view;
mod waits;

use crate::input::slice;
use crate::output::Out;
use crate::progress::Progress;
use crate::status::{Result, Status, Unreadable};
use crate::trace::{
    Bounds, Cursor, Damage, DamageExt as _, Events, Fields, Findings, Info, Inquiry, Listing, NewTrace,
    Outcome, Private, Reference, Rewritten, Selection, Trace, Wanted, Window,
};
pub use rewrite::merge;
use segments::{Folder, Reached, Rooms, Segment};
use std::path::{Path, PathBuf};
use traceglass::dial9::{self, Frames, Trace as Checked};
use traceglass::{Finding, Format, Severity};

/// A recording.
pub struct Dial9<'a> {
    segments: Vec<Segment<'a>>,
    /// The files of segments that cannot be read, and why.
    unreadable: Vec<(PathBuf, String)>,
    /// True if it is a folder.
    is_folder: bool,
}

/// Opens a segment, or several one after the other.
pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    match Checked::parse(data) {
        Ok(_) => Ok(Box::new(Dial9::of_file(data))),
        Err(error) => Err(Unreadable::content(Format::Dial9, error)),
    }
}

/// Opens a segment that is packed; `None` if it is none.
pub fn open_packed(data: &[u8]) -> Option<Box<dyn Trace + '_>> {
    segments::packing(data).map(|_| Box::new(Dial9::of_file(data)) as _)
}

/// Opens the segments of a folder; `None` if there are none.
pub fn open_directory(path: &Path) -> Option<Box<dyn Trace>> {
    let Folder { segments, unreadable } = segments::of_folder(path)?;
    Some(Box::new(Dial9 { segments, unreadable, is_folder: true }))
}

impl<'a> Dial9<'a> {
    fn of_file(data: &'a [u8]) -> Self {
        Self { segments: vec![Segment::Given(data)], unreadable: Vec::new(), is_folder: false }
    }

    /// The damage that is known before a segment is read.
    fn damage(&self) -> Damage {
        let mut damage = Damage::default();
        self.unreadable.iter().for_each(|(path, why)| damage.add_in(Some(path), why));
        damage
    }

    /// The range that is asked for, in nanoseconds of the writer's clock.
    fn range(&self, window: &Window) -> Result<Bounds> {
        Self::range_from(window, &|| self.first_time())
    }

    /// The same, if it is known where a recording starts.
    fn range_from(window: &Window, start: &dyn Fn() -> Result<Option<i128>>) -> Result<Bounds> {
        window.resolve(&Reference { is_absolute: &|| Ok(false), start, of_clock: &|value| Ok(value) })
    }

    /// The earliest time of an event of the first segment that has any; symbols have none.
    fn first_time(&self) -> Result<Option<i128>> {
        for segment in &self.segments {
            let first = segment.open(|segment| {
                let mut rooms = Rooms::new();
                let mut frames = Frames::new(&segment.data, rooms.lend());
                let mut first: Option<u64> = None;
                loop {
                    match frames.next_event() {
                        Ok(Some(event)) => {
                            first = [first, event.moment()].into_iter().flatten().min();
                        }
                        Ok(None) => return Ok(first),
                        Err(_) => drop(frames.recover()),
                    }
                }
            })?;
            if let Some(first) = first {
                return Ok(Some(first.into()));
            }
        }
        Ok(None)
    }
}

impl Trace for Dial9<'_> {
    fn format(&self) -> Format {
        Format::Dial9
    }

    #[cfg(feature = "view")]
    fn browse(&self, path: &Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self, path, look);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(Segment::size).fold(0, u64::saturating_add)
    }

    fn bounds(&self, window: &crate::trace::Window) -> Result<crate::trace::Bounds> {
        self.range(window)
    }

    #[cfg(feature = "tables")]
    fn tables(
        &self,
        name: &str,
        _: &crate::states::Pairs,
        read: &mut crate::trace::ReadTables<'_>,
    ) -> Result<()> {
        self.lend_segments(name, read)
    }

    fn events_in(&self, window: traceglass::event::Window, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, events)
    }

    fn is_written_as_folder(&self) -> bool {
        self.is_folder
    }

    /// Batches may follow each other: one file has them all.
    fn is_merged_into_folder(&self) -> bool {
        false
    }

    #[cfg(not(target_family = "wasm"))]
    fn private(&self, private: &mut Private<'_>) -> Result<()> {
        self.tell_private(private)
    }

    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        self.write(wanted, to)
    }

    fn info(&self, args: &Inquiry) -> Result<Info> {
        self.summarise(args)
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.refuse_sha256("batches of dial9 have no bytes of their own")?;
        self.list(args, out)
    }

    fn cat(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        self.print(args, cursor, out)
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        let mut status = Status::damaged_if(!self.unreadable.is_empty());
        self.unreadable.iter().for_each(|(path, why)| findings.unreadable(Some(path), why));
        let mut events = 0_u64;
        let (only_errors, progress) = (findings.are_only_errors(), Progress::new(self.bytes()));
        for segment in &self.segments {
            segment.open(|segment| {
                let _reached = Reached::new(&progress, segment);
                let mut report = |finding: Finding| {
                    status = status.max(Status::damaged_if(finding.severity() == Severity::Error));
                    findings.report_in(segment.path, finding);
                };
                let read = if only_errors {
                    rewrite::count_all(&segment.data, &mut report)
                } else {
                    // Rooms that grow are never too small.
                    let mut rooms = Rooms::new();
                    dial9::check(&segment.data, rooms.lend(), &mut report).map_or(0, |read| read.items())
                };
                events = events.saturating_add(read);
                if let Some(error) = segment.damage {
                    report(Finding::new(Severity::Error, error));
                }
                for part in findings.hashed_parts(segment.path) {
                    let part = slice(&segment.data, part.start, part.end.min(segment.data.len() as u64));
                    findings.digest().into_iter().for_each(|digest| rewrite::hash_all(part, digest));
                }
                Ok(())
            })?;
        }
        findings.count(events, 0);
        Ok(status)
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        self.dump(fields)
    }
}
