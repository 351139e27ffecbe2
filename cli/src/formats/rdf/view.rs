//! A file, looked at piece by piece: chunks by where they stand, and the records in them.

use super::contents;
use super::decoder::Decoder;
use super::loaded::{Loaded, is_known};
use super::walk::{self, Open, Step};
use super::{Rdf, entry_fields, name};
use crate::output::grouped;
use crate::record::{ROW, Text};
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Field, Fields, FileEntry, Level, Lost, Node, Plain};
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use traceglass::event::Time;
use traceglass::rdf::contents::ChunkRecord;
use traceglass::rdf::contents::rmt::PieceOf;
use traceglass::rdf::{Entry, File, Header, Index};
use traceglass::record::Record as _;
use traceglass::{Format, Gap};

/// The number of records of a chunk that are shown.
const MOST: usize = 1 << 20;

/// Of how many chunks the records are kept, and with how many bytes of text: those on a screen, and as many around
/// them.
const KEPT: usize = 128;
const KEPT_TEXT: usize = 64 << 20;

/// Looks at a file.
pub fn browse(rdf: &Rdf<'_>, path: &Path, look: &mut dyn FnMut(&dyn Browse)) {
    let file = &rdf.file;
    let entry = FileEntry { path: path.to_owned(), size: file.data().len() as u64, times: None };
    let chunks = file.chunks(walk::TOKENS);
    let streams = chunks.filter_map(|chunk| {
        let stream = match PieceOf::of(&chunk) {
            PieceOf::Stream(fields) => Some(fields.stream()),
            PieceOf::Any => None,
            PieceOf::None => return None,
        };
        Some((chunk.entry().number() as u64, stream))
    });
    look(&View {
        file,
        gap: rdf.gap,
        entries: [entry],
        places: places(file),
        cpu_hz: walk::cpu_hz(file, &mut Decoder::new()),
        streams: streams.collect(),
        loads: Mutex::default(),
    });
}

struct View<'a> {
    file: &'a File<'a>,
    /// The part of the index that is lost.
    gap: Option<Gap>,
    entries: [FileEntry; 1],
    /// The places of the file, by where they begin.
    places: Vec<Place>,
    /// The rate of the CPU's clock.
    cpu_hz: Option<u64>,
    /// The streams of chunks with tokens, by the numbers of their entries; `None` for one that may be of any.
    streams: Vec<(u64, Option<u32>)>,
    loads: Mutex<Loads>,
}

/// The records of the chunks that were wanted last, and the number of each chunk's entry.
#[derive(Default)]
struct Loads {
    chunks: VecDeque<(u64, Arc<Rows>)>,
    text: usize,
    /// The states of streams of tokens, after the chunk of an entry.
    open: HashMap<u64, Open>,
}

/// The records of a chunk, as rows.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    text: String,
}

/// A record.
struct Row {
    /// Offset in the chunk's data.
    offset: u64,
    time: Option<Time>,
    is_lost: bool,
    /// The end of its text.
    end: usize,
}

impl Rows {
    /// The text of a row, which begins with the name of its kind.
    fn text(&self, number: usize) -> &str {
        let end = |number: usize| self.rows.get(number).map_or(0, |row| row.end);
        let start = number.checked_sub(1).map_or(0, end);
        self.text.get(start..end(number)).unwrap_or_default()
    }

    fn push(&mut self, offset: u64, time: Option<Time>, is_lost: bool, text: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(text.strip_suffix(b"\n").unwrap_or(text)));
        self.rows.push(Row { offset, time, is_lost, end: self.text.len() });
    }
}

impl Loads {
    fn find(&self, number: u64) -> Option<Arc<Rows>> {
        self.chunks.iter().find(|(known, _)| *known == number).map(|(_, records)| Arc::clone(records))
    }

    fn keep(&mut self, number: u64, records: Arc<Rows>) {
        self.text = self.text.saturating_add(records.text.len());
        self.chunks.push_back((number, records));
        // The last one stays, however large.
        while self.chunks.len() > 1 && (self.chunks.len() > KEPT || self.text > KEPT_TEXT) {
            let Some((_, oldest)) = self.chunks.pop_front() else { break };
            self.text = self.text.saturating_sub(oldest.text.len());
        }
    }
}

/// Something in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    offset: u64,
    end: u64,
    what: What,
    entry: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    FileHeader,
    Index,
    Header,
    Data,
}

/// The places of the file. The entries of the index are found by their numbers.
fn places(file: &File<'_>) -> Vec<Place> {
    let header = file.header();
    let index = header.index_offset().max(0).unsigned_abs();
    let count = file.index().len() as u64;
    let entries_end = index.saturating_add(count.saturating_mul(Index::ENTRY_SIZE as u64));
    let mut places = vec![
        Place { offset: 0, end: Header::SIZE as u64, what: What::FileHeader, entry: 0 },
        Place { offset: index, end: entries_end, what: What::Index, entry: 0 },
    ];
    for entry in file.entries() {
        let ranges = [(What::Header, entry.header_range()), (What::Data, entry.stored_range())];
        for (what, range) in ranges {
            let Ok(range) = range else { continue };
            if what == What::Data || range.end > range.start {
                places.push(Place {
                    offset: range.start,
                    end: range.end,
                    what,
                    entry: entry.number() as u64,
                });
            }
        }
    }
    places.sort_unstable();
    places
}

impl View<'_> {
    fn entry(&self, number: u64) -> Option<Entry<'_>> {
        self.file.index().get(usize::try_from(number).ok()?)
    }

    /// The records of a chunk, which are kept for the next frame.
    fn records(&self, entry: &Entry<'_>) -> Arc<Rows> {
        let number = entry.number() as u64;
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(records) = loads.find(number) {
            return records;
        }
        let rows = Arc::new(self.read(entry, &mut loads));
        loads.keep(number, Arc::clone(&rows));
        rows
    }

    fn read(&self, entry: &Entry<'_>, loads: &mut Loads) -> Rows {
        let mut rows = Rows::default();
        let mut lines = Text::rows(ROW);
        let mut add = |step: Step<'_>| {
            match step {
                Step::Record(_, record) => {
                    lines.buffer.clear();
                    let time = record.ns().map(Time::since_origin);
                    match record.tell(&mut lines) {
                        Ok(()) => rows.push(record.offset(), time, false, lines.buffer.text()),
                        Err(error) => rows.push(record.offset(), time, true, error.to_string().as_bytes()),
                    }
                }
                Step::Lost(_, error) | Step::Unread(_, error) => {
                    let last = rows.rows.last().map_or(0, |row| row.offset);
                    rows.push(last, None, true, error.to_string().as_bytes());
                }
                _ => {}
            }
            Ok(rows.rows.len() < MOST)
        };
        let place = chunk_place(entry);
        let Some(chunk) = self.file.chunk_at(entry.number()) else { return rows };
        let mut decoder = Decoder::new();
        if !is_known(entry.identifier()) {
            // Nothing can be said of what is in it: the bytes are in the pane beside.
            let size = u64::try_from(entry.data_size()).unwrap_or(0);
            let record = ChunkRecord::unknown(size, chunk.header().unwrap_or_default());
            let _: Result<bool> = add(Step::Record(place, record));
            return rows;
        }
        let open = self.open(entry, loads, &mut decoder);
        // Only the list of rows can end it.
        let _: Result<bool> = match (Loaded::read(chunk, &mut decoder), open) {
            (Ok(loaded), Some(mut open)) => {
                let told = open.chunk(self.file, &loaded, place, &mut add);
                loads.open.insert(place.entry, open);
                told
            }
            (Ok(loaded), None) => walk::records(chunk, &loaded, place, self.cpu_hz, &mut add),
            (Err(error), _) => add(Step::Unread(place, error)),
        };
        rows
    }

    /// The state of the stream of a chunk before it, if it is one of tokens.
    fn open(&self, entry: &Entry<'_>, loads: &mut Loads, decoder: &mut Decoder) -> Option<Open> {
        let number = entry.number() as u64;
        let stream = self.streams.iter().find(|(known, _)| *known == number)?.1?;
        let before = self.streams.iter().take_while(|(known, _)| *known < number);
        let before = before.filter(|(_, of)| of.is_none_or(|of| of == stream));
        let before: Vec<u64> = before.map(|(known, _)| *known).collect();
        // Goes on after the last chunk whose state is known.
        let known = before.iter().rposition(|known| loads.open.contains_key(known));
        let mut open = known.and_then(|at| loads.open.get(before.get(at)?)).cloned();
        for &number in before.iter().skip(known.map_or(0, |known| known.saturating_add(1))) {
            let chunk = self.file.chunk_at(usize::try_from(number).ok()?)?;
            let place = chunk_place(&chunk.entry());
            let Some(piece) = PieceOf::of(&chunk).fields() else {
                // It may be a piece of this stream.
                open.iter_mut().for_each(Open::lose);
                continue;
            };
            let reached = open.get_or_insert_with(|| Open::new(piece, place));
            match Loaded::read(chunk, decoder) {
                Ok(loaded) => {
                    let _: Result<bool> = reached.chunk(self.file, &loaded, place, &mut |_| Ok(true));
                }
                Err(_) => reached.lose(),
            }
            loads.open.insert(number, reached.clone());
        }
        let chunk = self.file.chunk_at(entry.number())?;
        open.or_else(|| Some(Open::new(PieceOf::of(&chunk).fields()?, chunk_place(entry))))
    }

    fn place(&self, place: Place, depth: Depth, from: u64, each: Each<'_>) -> bool {
        match place.what {
            What::FileHeader => {
                let about = Head { file: self.file };
                tell(Level::Filling, place, &about, each)
            }
            What::Index => self.index_entries(place, depth, from, each),
            What::Header => self.entry(place.entry).is_none_or(|entry| {
                let about = Part { view: self, entry, place };
                tell(Level::Filling, place, &about, each)
            }),
            What::Data => {
                let Some(entry) = self.entry(place.entry) else { return true };
                let about = Part { view: self, entry, place };
                if !tell(Level::Part, place, &about, each) {
                    return false;
                }
                depth == Depth::Parts || place.end < from || self.chunk(&entry, place, each)
            }
        }
    }

    fn chunk(&self, entry: &Entry<'_>, place: Place, each: Each<'_>) -> bool {
        let is_raw = entry.compression() == traceglass::rdf::Compression::None;
        let records = self.records(entry);
        let mut before = None;
        for (number, row) in records.rows.iter().enumerate() {
            let next = records.rows.get(number.saturating_add(1));
            let (offset, end) = match is_raw {
                true => {
                    let at = |inside: u64| place.offset.saturating_add(inside).min(place.end);
                    let offset = at(row.offset);
                    // A header's record stands before its data, and one that began in another chunk has its offset.
                    (
                        offset.max(before.unwrap_or(0)),
                        next.map_or(place.end, |next| at(next.offset)).max(offset),
                    )
                }
                false => (place.offset, place.end),
            };
            let level = if row.is_lost { Level::Gap } else { Level::Record };
            // Records at the same place are told apart by their numbers; who goes to the place comes to the first one.
            let sub = match is_raw {
                true if before.replace(offset) != Some(offset) => 0,
                true => (number as u64).saturating_add(1),
                false => number as u64,
            };
            let about = Said { rows: &records, number };
            if !each(&Node { level, offset, sub, end, time: row.time, about: &about }) {
                return false;
            }
        }
        true
    }

    fn index_entries(&self, place: Place, depth: Depth, from: u64, each: Each<'_>) -> bool {
        let text = format!("{} entries", grouped(self.file.index().len() as u64));
        let about = Plain { name: "index", text, field: None };
        if !tell(Level::Part, place, &about, each) {
            return false;
        }
        if let (Some(gap), true) = (&self.gap, depth == Depth::All)
            && !each(&Lost::new(*gap).node())
        {
            return false;
        }
        if depth == Depth::Parts {
            return true;
        }
        // Skips the entries before the one that is looked at.
        let first = from.saturating_sub(place.offset).checked_div(Index::ENTRY_SIZE as u64).unwrap_or(0);
        let first = first.saturating_sub(64);
        for number in first..self.file.index().len() as u64 {
            let Some(entry) = self.entry(number) else { break };
            let about = Indexed { entry };
            let offset = entry.offset();
            let end = offset.saturating_add(Index::ENTRY_SIZE as u64);
            if !each(&Node::new(Level::Filling, offset, end, &about)) {
                return false;
            }
        }
        true
    }
}

fn tell(level: Level, place: Place, about: &dyn About, each: Each<'_>) -> bool {
    each(&Node::new(level, place.offset, place.end, about))
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        Format::Rdf
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn data(&self, _file: usize) -> Result<&[u8], String> {
        Ok(self.file.data())
    }

    fn walk(&self, _file: usize, from: u64, depth: Depth, each: Each<'_>) {
        // Chunks may overlap: a long one may begin far before `from`.
        let next = self.places.partition_point(|place| place.offset <= from);
        let mut first = next;
        while let Some(before) = first.checked_sub(1) {
            first = before;
            // A few more, to include chunks that begin at the same place or enclose it.
            let enough = next.saturating_sub(first) >= 4;
            if enough && self.places.get(first).is_some_and(|place| place.offset < from) {
                break;
            }
        }
        for place in self.places.iter().skip(first) {
            if !self.place(*place, depth, from, each) {
                return;
            }
        }
    }

    fn index(&self, _file: usize, _going: &dyn Fn(u64) -> bool) {}
}

struct Head<'h> {
    file: &'h File<'h>,
}

impl About for Head<'_> {
    fn text(&self) -> (String, String) {
        ("file header".to_owned(), String::new())
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        for field in self.file.header().fields() {
            fields.field(&Field::new(field.offset(), field.size(), field.name(), field.value()))?;
        }
        Ok(())
    }
}

struct Indexed<'e> {
    entry: Entry<'e>,
}

impl About for Indexed<'_> {
    fn text(&self) -> (String, String) {
        (format!("entry {}", self.entry.number()), name(self.entry.identifier()))
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        entry_fields(self.entry).try_for_each(|field| fields.field(&field))
    }
}

/// A chunk's header or data.
struct Part<'p> {
    view: &'p View<'p>,
    entry: Entry<'p>,
    place: Place,
}

impl About for Part<'_> {
    fn text(&self) -> (String, String) {
        let entry = &self.entry;
        let text = format!(
            "entry {}, {}, {} bytes stored, {} of data",
            entry.number(),
            entry.compression(),
            grouped(entry.stored_size()),
            grouped(entry.data_size())
        );
        (name(entry.identifier()), text)
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        let (what, range) = match self.place.what {
            What::Header => ("header", self.place.offset..self.place.end),
            _ => ("data", self.place.offset..self.place.end),
        };
        let known = contents::hex_fields(self.view.file, self.entry, &fields.range());
        let mut end = range.start;
        for field in known.iter().filter(|field| range.contains(&field.offset)) {
            fields.field(field)?;
            end = end.max(field.offset.saturating_add(field.len));
        }
        let label = format!("entry {} {what}", self.entry.number());
        fields.field(&Field::new(end, range.end.saturating_sub(end), label, name(self.entry.identifier())))
    }
}

/// A record of a chunk.
struct Said<'r> {
    rows: &'r Rows,
    number: usize,
}

impl About for Said<'_> {
    fn text(&self) -> (String, String) {
        let (text, row) = (self.rows.text(self.number), self.rows.rows.get(self.number));
        if row.is_some_and(|row| row.is_lost) {
            return ("(lost)".to_owned(), text.to_owned());
        }
        let (name, text) = text.split_once("  ").unwrap_or((text, ""));
        let at = row.map_or(0, |row| row.offset);
        (name.to_owned(), format!("{text}  +{at:#x}"))
    }
}

/// The place of a chunk; which one of its identifier it is does not matter here.
fn chunk_place(entry: &Entry<'_>) -> walk::Place {
    walk::Place { id: entry.identifier(), entry: entry.number() as u64, index: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(len: usize) -> Arc<Rows> {
        let mut rows = Rows::default();
        rows.push(0, None, false, "x".repeat(len).as_bytes());
        Arc::new(rows)
    }

    #[test]
    fn records_are_kept_by_number_and_by_size() {
        let mut loads = Loads::default();
        (0..1000).for_each(|number| loads.keep(number, records(10)));
        assert_eq!(loads.chunks.len(), KEPT);
        assert!(loads.find(999).is_some() && loads.find(0).is_none());
        loads.keep(1000, records(KEPT_TEXT));
        assert!(loads.find(1000).is_some() && loads.find(999).is_none());
        loads.keep(1001, records(1));
        assert_eq!((loads.chunks.len(), loads.text), (1, 1));
    }
}
