//! A recording, looked at piece by piece: batches, and the events in them.

use super::Dial9;
use super::segments::{Data, Rooms, Segment};
use crate::record::row;
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Fields, FileEntry, Level, Lost, Marks, Node, Plain};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use traceglass::dial9::{Frame, Frames};
use traceglass::event::Time;
use traceglass::{Error, Format};

/// The number of bytes of unpacked segments after which no more are unpacked: they are held.
const UNPACKED: u64 = 1 << 30;

type Loaded<'v> = Result<(Data<'v>, Option<Error>), String>;

struct View<'v> {
    dial9: &'v Dial9<'v>,
    entries: Vec<FileEntry>,
    /// The segments that have been opened.
    data: &'v [OnceLock<Loaded<'v>>],
    /// The number of bytes that have been unpacked, and of those that may be.
    unpacked: AtomicU64,
    most: u64,
    /// The starts of batches, and their numbers from 1 on.
    marks: Mutex<Marks<u64>>,
}

/// Looks at a recording at `path`.
pub fn browse(dial9: &Dial9<'_>, path: &Path, look: &mut dyn FnMut(&dyn Browse)) {
    browse_up_to(UNPACKED, dial9, path, look);
}

fn browse_up_to(most: u64, dial9: &Dial9<'_>, path: &Path, look: &mut dyn FnMut(&dyn Browse)) {
    let entry = |segment: &Segment<'_>| {
        let path = segment.path().unwrap_or(path).to_owned();
        FileEntry { path, size: segment.size(), times: None }
    };
    let entries = dial9.segments.iter().map(entry).collect();
    let data: Vec<_> = dial9.segments.iter().map(|_| OnceLock::new()).collect();
    let (unpacked, marks) = (AtomicU64::new(0), Mutex::new(Marks::new()));
    look(&View { dial9, entries, data: &data, unpacked, most, marks });
}

impl<'v> View<'v> {
    fn marks(&self) -> MutexGuard<'_, Marks<u64>> {
        // The places are sound even if a thread panicked.
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self, segment: &'v Segment<'v>) -> Loaded<'v> {
        if self.unpacked.load(Ordering::Relaxed) > self.most {
            return Err("more than 1 GiB of segments has been unpacked: view this one by itself".to_owned());
        }
        let loaded = segment.load().map_err(|failure| failure.to_string())?;
        if let Data::Unpacked(data) = &loaded.0 {
            self.unpacked.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        Ok(loaded)
    }

    /// The bytes of a segment, and why not all of it could be unpacked.
    fn bytes(&self, file: usize) -> Result<(&'v [u8], Option<Error>), String> {
        let (Some(segment), Some(slot)) = (self.dial9.segments.get(file), self.data.get(file)) else {
            return Err("there is no such file".to_owned());
        };
        match slot.get_or_init(|| self.load(segment)) {
            Ok((data, damage)) => Ok((data.as_ref(), *damage)),
            Err(why) => Err(why.clone()),
        }
    }

    /// Walks through frames; `note` keeps marks.
    fn pass(&self, file: usize, from: u64, note: bool, each: Each<'_>) {
        let (data, damage) = match self.bytes(file) {
            Ok(read) => read,
            Err(text) => {
                each(&lost(0, &Plain { name: "(lost)", text, field: None }));
                return;
            }
        };
        let begin = if note { None } else { self.marks().before(file, from).copied() };
        let mut rooms = Rooms::new();
        let (mut frames, mut number) = match begin {
            Some((offset, number)) => {
                (Frames::at_batch(data, offset, rooms.lend()), number.saturating_sub(1))
            }
            None => (Frames::new(data, rooms.lend()), 0),
        };
        loop {
            match frames.next_frame() {
                Ok(Some(frame)) => {
                    let (level, time) = match &frame {
                        Frame::Header(header) => {
                            number = number.saturating_add(1);
                            if note {
                                self.marks().note(header.offset(), number);
                            }
                            (Level::Part, None)
                        }
                        Frame::Event(event) => (Level::Record, event.moment()),
                        _ => (Level::Filling, None),
                    };
                    let about = Seen { frames: &frames, frame: &frame, number };
                    let (offset, end) = (frame.offset(), frames.offset());
                    let time = time.map(|ns| Time::since_origin(ns.into()));
                    if !each(&Node::new(level, offset, end, &about).at(time)) {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    let Some(gap) = frames.recover() else { break };
                    if !each(&Lost::new(gap).node()) {
                        return;
                    }
                }
            }
        }
        if note {
            self.marks().done = data.len() as u64;
        }
        if let Some(error) = damage {
            let about = Plain { name: "(lost)", text: error.to_string(), field: None };
            each(&lost(data.len() as u64, &about));
        }
    }
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        Format::Dial9
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn data(&self, file: usize) -> Result<&[u8], String> {
        self.bytes(file).map(|(data, _)| data)
    }

    fn walk(&self, file: usize, from: u64, depth: Depth, each: Each<'_>) {
        // The batches that are known, if none was dropped.
        let known = self.marks().all(file, 0).filter(|_| depth == Depth::Parts).map(<[_]>::to_vec);
        let Some(all) = known else {
            return self.pass(file, from, false, &mut |node| {
                (depth == Depth::Parts && node.level != Level::Part) || each(node)
            });
        };
        let size = self.bytes(file).map_or(0, |(data, _)| data.len() as u64);
        let first = all.partition_point(|(offset, _)| *offset <= from).saturating_sub(1);
        for (place, &(offset, number)) in all.iter().enumerate().skip(first) {
            let end = all.get(place.saturating_add(1)).map_or(size, |(next, _)| *next);
            let about = Plain { name: &named(number), text: String::new(), field: None };
            if !each(&Node::new(Level::Part, offset, end, &about)) {
                return;
            }
        }
    }

    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool) {
        self.marks().reset(file);
        self.pass(file, 0, true, &mut |node| going(node.end));
    }

    fn file_of_input(&self, input: usize) -> Option<usize> {
        (input < self.entries.len()).then_some(input)
    }
}

/// A place from which on there is nothing to read.
fn lost<'n>(at: u64, about: &'n Plain<'n>) -> Node<'n> {
    Node::new(Level::Gap, at, at, about)
}

fn named(batch: u64) -> String {
    format!("batch {batch}")
}

/// A frame that was met, with what its batch says by then.
struct Seen<'s, 'a, 'r> {
    frames: &'s Frames<'a, 'r>,
    frame: &'s Frame<'a>,
    /// The number of the batch.
    number: u64,
}

impl About for Seen<'_, '_, '_> {
    fn text(&self) -> (String, String) {
        match self.frame {
            Frame::Header(_) => (named(self.number), String::new()),
            Frame::Event(event) => (event.name().to_owned(), row(&self.frames.record(event), event.name())),
            other => (other.kind_name().to_owned(), String::new()),
        }
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        super::hex::show(self.frames, self.frame, fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, read::GzEncoder};
    use std::io::Read as _;

    /// Of two packed segments, one may be held; the other one says why it is not shown.
    #[test]
    fn unpacked_segments_are_held_up_to_a_bound() {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/trace.0.bin");
        let data = std::fs::read(sample).unwrap();
        let mut packed = Vec::new();
        GzEncoder::new(&data[..], Compression::fast()).read_to_end(&mut packed).unwrap();
        let segments = || vec![Segment::Given(&packed), Segment::Given(&packed)];
        for (most, gaps) in [(0, 1), (UNPACKED, 0)] {
            let dial9 = Dial9 { segments: segments(), unreadable: Vec::new(), is_folder: true };
            browse_up_to(most, &dial9, Path::new("recording"), &mut |browse| {
                assert_eq!(browse.data(0).unwrap(), data);
                let mut found = Vec::new();
                browse.walk(1, 0, Depth::All, &mut |node| {
                    if node.level == Level::Gap {
                        found.push(node.about.text().1);
                    }
                    true
                });
                assert_eq!(found.len(), gaps);
                assert!(found.iter().all(|why| why.contains("view this one by itself")), "{found:?}");
            });
        }
    }
}
