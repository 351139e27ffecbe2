//! An RTC file, looked at piece by piece.

use super::session::{Frames, Rtc, Slots};
use super::window::AROUND;
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Fields, FileEntry, Level, Lost, Marks, Node, Plain};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use traceglass::Format;
use traceglass::rtc::recover::Records;
use traceglass::rtc::{self, Frame, Grid, NamedRecord, Names, Step, Stream, Unit};

/// Room for the pieces of records that are joined.
const ROOM: usize = 1 << 20;

/// The number of bytes after the wanted place that a screen looks at: in damaged input, a search for the next unit would go
/// on to the end of the file. What lies before a unit of 1 MiB is read with its help.
const AHEAD: u64 = 2 << 20;

/// The largest distance of a place from where reading can begin for a frame to be read there: units are shorter.
const REACH: u64 = 4 << 20;

/// Looks at a file.
pub fn browse(data: &[u8], path: &Path, look: &mut dyn FnMut(&dyn Browse)) {
    let entry = FileEntry { path: path.to_owned(), size: data.len() as u64, times: None };
    look(&View { rtc: Rtc { data }, entries: [entry], marks: Mutex::new(Marks::new()) });
}

struct View<'a> {
    rtc: Rtc<'a>,
    entries: [FileEntry; 1],
    /// The starts of units, as they are found, in a file whose grid is damaged.
    marks: Mutex<Marks<()>>,
}

/// The start of a walk.
#[derive(Clone, Copy)]
enum Begin {
    /// At the start of the file.
    Start,
    /// At the Marker there.
    Unit(u64),
    /// In the minor unit in which this is, as far as the grid leads there; else at the Marker before.
    Within(u64, u64),
}

impl<'a> View<'a> {
    /// The Marker from which what is at `offset` is read; 0 is the start of the file. And whether the grid has it.
    fn marker(&self, offset: u64) -> (u64, bool) {
        let grid = Unit::parse(self.rtc.data, 0).ok().and_then(|first| {
            let size = first.major_size().max(1);
            let at = offset.saturating_sub(offset.checked_rem(size)?);
            Unit::parse(self.rtc.data, at).is_ok().then_some(at)
        });
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = marks.before(0, offset).map(|(at, ())| *at).unwrap_or(0);
        match grid {
            Some(grid) if grid >= mark => (grid, true),
            _ => (mark, false),
        }
    }

    /// The place to begin from, so that `offset` is read.
    fn begin(&self, offset: u64) -> Begin {
        match self.marker(offset) {
            (at, true) => Begin::Within(at, offset),
            (0, _) => Begin::Start,
            (at, false) => Begin::Unit(at),
        }
    }

    fn frames(data: &'a [u8], begin: Begin) -> Frames<'a> {
        match begin {
            Begin::Start => Frames::new(data, Slots::new()),
            Begin::Unit(at) => Frames::at_unit(data, at, Slots::new()),
            Begin::Within(at, offset) => {
                // The first unit is at the start of the file, or there were no grid.
                let grid = Grid::new(data).and_then(|grid| grid.frames(offset, Slots::new()));
                match grid {
                    Ok(frames) => Frames::from_strict(frames),
                    Err(_) => Frames::at_unit(data, at, Slots::new()),
                }
            }
        }
    }

    /// Units, and minor units, by what their Markers say.
    ///
    /// The start of the first unit that cannot be read so; `None` if all of them can, or if `each` wants no more.
    fn units(&self, from: u64, each: Each<'_>) -> Option<u64> {
        let (mut at, _) = self.marker(from);
        while at < self.rtc.data.len() as u64 {
            let Ok(unit) = Unit::parse(self.rtc.data, at) else { return Some(at) };
            let about = Major(unit);
            let end = unit.end().min(self.rtc.data.len() as u64);
            if !each(&Node::new(Level::Part, at, end, &about)) {
                return None;
            }
            let origin = unit.index().map_or(unit.offset(), |index| index.offset());
            for number in 0..unit.minor_count() {
                let start = origin.saturating_add(number.saturating_mul(unit.minor_size()));
                let end = start.saturating_add(unit.minor_size()).min(end);
                let (level, about) = (Level::Inner, Minor { number, start });
                if start < end && !each(&Node::new(level, start, end, &about)) {
                    return None;
                }
            }
            at = at.saturating_add(unit.major_size().max(1));
        }
        None
    }

    /// Hands out frames and records from `from` on, or from somewhere before; all of them, if `each` is told that what
    /// follows a little later is not read, and still goes on.
    fn read(&self, from: u64, each: Each<'_>) {
        if let Some(rest) = self.pass(self.begin(from), Some(from), each) {
            // A record that ends in the rest may begin that much before it.
            let begin = self.begin(rest.saturating_sub(ROOM as u64));
            self.pass(begin, None, &mut |node| node.offset < rest || each(node));
        }
    }

    /// Reads frames and records, all of them or up to a little after `to`. The offset from which nothing was read, if there
    /// is such and `each` goes on.
    fn pass(&self, begin: Begin, to: Option<u64>, each: Each<'_>) -> Option<u64> {
        let whole = self.rtc.data;
        let from = match begin {
            Begin::Start => 0,
            Begin::Unit(at) | Begin::Within(at, _) => at,
        };
        let end = to.map_or(u64::MAX, |to| to.saturating_add(AHEAD).min(from.saturating_add(REACH)));
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(whole.len());
        let data = whole.get(..end).unwrap_or(whole);
        let unread = |from: u64, each: Each<'_>| {
            let about = Plain {
                name: "(unread)",
                text: "what follows is not looked at from here".into(),
                field: None,
            };
            let (level, end) = (Level::Unread, whole.len() as u64);
            each(&Node::new(level, from, end, &about)).then_some(from)
        };
        let mut buffer = vec![0; ROOM.min(data.len().saturating_mul(2))];
        let mut records = Records::of(Self::frames(data, begin), &mut buffer);
        if matches!(begin, Begin::Within(..)) {
            // The indices have what clocks said before.
            if let Ok(grid) = Grid::new(data) {
                records.prime(&grid.clocks_before(records.frames().offset(), &mut Slots::new()));
            }
        }
        let mut names = Names::new(Vec::new());
        let mut unit = u64::MAX;
        loop {
            let order = records.frames().byte_order();
            let gap = match records.next_frame_or_record() {
                Step::Frame(frame) => {
                    let frames = records.frames();
                    if frame.id() == rtc::id::MARKER
                        && let Some(found) = frames.unit()
                        && found.offset() != unit
                    {
                        unit = found.offset();
                        let about = Major(*found);
                        let end = found.end().min(whole.len() as u64).max(frame.end());
                        if !each(&Node::new(Level::Part, frame.offset(), end, &about)) {
                            return None;
                        }
                    }
                    let stream = frame.slot().and_then(|slot| frames.streams().at(slot));
                    let about = Said { order, frame: &frame, stream, record: None };
                    if !each(&Node::new(Level::Filling, frame.offset(), frame.end(), &about)) {
                        return None;
                    }
                    continue;
                }
                Step::Record(record) => {
                    // Its vector grows.
                    let Ok(named) = names.record(&record) else { continue };
                    let frame = record.frame();
                    let about = Said { order, frame, stream: Some(record.stream()), record: Some(named) };
                    let node = Node::new(Level::Record, frame.offset(), frame.end(), &about);
                    if !each(&node.at(named.time())) {
                        return None;
                    }
                    continue;
                }
                Step::Gap(gap) => Some(gap),
                _ => None,
            };
            if end < whole.len() && gap.is_none_or(|gap| gap.end() >= end as u64) {
                return unread(gap.map_or(end as u64, |gap| gap.offset()), each);
            }
            let gap = gap?;
            let reason = records.frames().gap_reason().map(|reason| reason.name());
            if !each(&Lost::because(gap, reason).node()) {
                return None;
            }
        }
    }
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        Format::Rtc
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn data(&self, _file: usize) -> Result<&[u8], String> {
        Ok(self.rtc.data)
    }

    fn walk(&self, _file: usize, from: u64, depth: Depth, each: Each<'_>) {
        if depth == Depth::All {
            return self.read(from, each);
        }
        let mut stopped = false;
        let rest = self.units(from, &mut |node| {
            stopped = !each(node);
            !stopped
        });
        if let (false, Some(rest)) = (stopped, rest) {
            // If the grid does not lead there, all is read.
            self.read(rest, &mut |node| node.end <= rest || each(node));
        }
    }

    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool) {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).reset(file);
        self.pass(Begin::Start, None, &mut |node| {
            if node.level == Level::Part {
                self.marks.lock().unwrap_or_else(PoisonError::into_inner).note(node.offset, ());
            }
            going(node.end)
        });
    }

    fn near(&self, _file: usize, ns: i128) -> u64 {
        self.rtc.seek(ns).map_or(0, |place| place.saturating_sub(AROUND))
    }
}

/// A major unit.
struct Major<'a>(Unit<'a>);

impl About for Major<'_> {
    fn text(&self) -> (String, String) {
        let unit = &self.0;
        let text = format!("{} bytes, minor units of {}", unit.major_size(), unit.minor_size());
        (format!("unit {}", unit.number()), text)
    }
}

struct Minor {
    number: u64,
    start: u64,
}

impl About for Minor {
    fn text(&self) -> (String, String) {
        (format!("minor unit {}", self.number), format!("at {:#x}", self.start))
    }
}

/// A frame, and the record that ends with it.
struct Said<'s, 'a> {
    order: traceglass::ByteOrder,
    frame: &'s Frame<'a>,
    stream: Option<&'s Stream<'a>>,
    record: Option<NamedRecord<'s, 'a>>,
}

impl About for Said<'_, '_> {
    fn text(&self) -> (String, String) {
        match &self.record {
            Some(record) => super::hex::row(record),
            None => (super::hex::name(self.frame, self.stream), super::hex::piece(self.frame, self.stream)),
        }
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        super::hex::show(self.frame, self.stream, self.order, fields)
    }
}
