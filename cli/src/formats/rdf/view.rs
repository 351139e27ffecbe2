//! A file, looked at piece by piece: chunks by where they stand, and the records in them.

use super::contents::{self, Loaded, Said};
use super::decoder::Decoder;
use super::{entry_fields, name};
use crate::output::grouped;
use crate::status::{Result, Unreadable};
use crate::trace::{About, Browse, Depth, Each, Field, Fields, FileEntry, Level, Node};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use traceglass::rdf::{Entry, File, Header, Index};
use traceglass::{Format, Gap};

/// The largest chunk whose records are shown here, in bytes.
const LARGEST: u64 = 16 << 20;

/// How many records of a chunk are shown.
const MOST: usize = 50_000;

/// Of how many chunks the records are kept, and with how many bytes of text: those on a screen, and as many around them.
const KEPT: usize = 128;
const KEPT_TEXT: usize = 4 << 20;

/// Looks at a file.
pub fn browse(data: &[u8], path: &Path, look: &mut dyn FnMut(&dyn Browse)) -> Result<(), Unreadable> {
    let (file, gap) = File::recover(data).map_err(|error| Unreadable {
        format: Some(Format::Rdf),
        error: Some(error),
        message: error.to_string(),
    })?;
    let entry = FileEntry { path: path.to_owned(), size: data.len() as u64, times: None };
    look(&View { file, gap, entries: [entry], places: places(&file), loaded: Mutex::default() });
    Ok(())
}

struct View<'a> {
    file: File<'a>,
    /// What of the index is lost.
    gap: Option<Gap>,
    entries: [FileEntry; 1],
    /// What stands where, by where it begins.
    places: Vec<Place>,
    loaded: Mutex<Loads>,
}

/// The records of the chunks that were wanted last, and the number of each chunk's entry.
#[derive(Default)]
struct Loads {
    chunks: VecDeque<(u64, Arc<Vec<Said>>)>,
    text: usize,
}

impl Loads {
    fn find(&self, number: u64) -> Option<Arc<Vec<Said>>> {
        self.chunks.iter().find(|(known, _)| *known == number).map(|(_, records)| Arc::clone(records))
    }

    fn keep(&mut self, number: u64, records: Arc<Vec<Said>>) {
        let size = |records: &[Said]| records.iter().map(|said| said.text.len()).sum::<usize>();
        self.text = self.text.saturating_add(size(&records));
        self.chunks.push_back((number, records));
        // The last one stays, however large.
        while self.chunks.len() > 1 && (self.chunks.len() > KEPT || self.text > KEPT_TEXT) {
            let Some((_, oldest)) = self.chunks.pop_front() else { break };
            self.text = self.text.saturating_sub(size(&oldest));
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

/// What stands where. The entries of the index are found by their numbers.
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
    fn records(&self, entry: &Entry<'_>) -> Arc<Vec<Said>> {
        let number = entry.number() as u64;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(records) = loaded.find(number) {
            return records;
        }
        let mut records = Vec::new();
        let size = entry.output_size().unwrap_or(u64::MAX);
        match self.file.chunk_at(entry.number()) {
            // Nothing can be said of what is in it: the bytes are in the pane beside.
            _ if !contents::is_known(entry.identifier()) => {
                let text = format!("bytes={}", entry.data_size());
                records.push(Said { offset: None, kind: entry.identifier().to_string(), text });
            }
            _ if size > LARGEST => {
                let text = format!(
                    "{} bytes: `traceglass cat --entry {number} --records` prints them",
                    grouped(size)
                );
                records.push(Said { offset: None, kind: "(large)".to_owned(), text });
            }
            Some(chunk) => match Loaded::read(chunk, &mut Decoder::new()) {
                Ok(chunk) => contents::say(&chunk, MOST, &mut records),
                Err(error) => {
                    let kind = "(lost)".to_owned();
                    records.push(Said { offset: None, kind, text: error.to_string() });
                }
            },
            None => {}
        }
        let records = Arc::new(records);
        loaded.keep(number, Arc::clone(&records));
        records
    }

    fn place(&self, place: Place, depth: Depth, from: u64, each: Each<'_>) -> bool {
        match place.what {
            What::FileHeader => {
                let about = Head { file: &self.file };
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
        let (mut last, mut before) = (0, None);
        for (number, said) in (1_u64..).zip(records.iter()) {
            let inside = said.offset.unwrap_or(last);
            last = inside;
            let next =
                usize::try_from(number).ok().and_then(|next| records.get(next)).and_then(|next| next.offset);
            let (offset, end) = match is_raw {
                true => {
                    let at = |inside: u64| place.offset.saturating_add(inside).min(place.end);
                    (at(inside), next.map_or(place.end, at))
                }
                false => (place.offset, place.end),
            };
            let level = if said.kind == "(lost)" { Level::Gap } else { Level::Record };
            // Records at the same place are told apart by their numbers.
            let sub = if is_raw && before.replace(offset) != Some(offset) { 0 } else { number };
            if !each(&Node { level, offset, sub, end, time: None, about: said }) {
                return false;
            }
        }
        true
    }

    fn index_entries(&self, place: Place, depth: Depth, from: u64, each: Each<'_>) -> bool {
        let about = Whole { count: self.file.index().len() as u64 };
        if !tell(Level::Part, place, &about, each) {
            return false;
        }
        if let (Some(gap), true) = (&self.gap, depth == Depth::All) {
            let about = Lost(*gap);
            let (offset, end) = (gap.offset(), gap.end());
            if !each(&Node { level: Level::Gap, offset, sub: 0, end, time: None, about: &about }) {
                return false;
            }
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
            if !each(&Node { level: Level::Filling, offset, sub: 0, end, time: None, about: &about }) {
                return false;
            }
        }
        true
    }
}

fn tell(level: Level, place: Place, about: &dyn About, each: Each<'_>) -> bool {
    each(&Node { level, offset: place.offset, sub: 0, end: place.end, time: None, about })
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

struct Whole {
    count: u64,
}

impl About for Whole {
    fn text(&self) -> (String, String) {
        ("index".to_owned(), format!("{} entries", grouped(self.count)))
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
        let known = contents::hex_fields(&self.view.file, self.entry, &fields.range());
        let mut end = range.start;
        for field in known.iter().filter(|field| range.contains(&field.offset)) {
            fields.field(field)?;
            end = end.max(field.offset.saturating_add(field.len));
        }
        let label = format!("entry {} {what}", self.entry.number());
        fields.field(&Field::new(end, range.end.saturating_sub(end), label, name(self.entry.identifier())))
    }
}

struct Lost(Gap);

impl About for Lost {
    fn text(&self) -> (String, String) {
        ("(lost)".to_owned(), self.0.cause().to_string())
    }
}

impl About for Said {
    fn text(&self) -> (String, String) {
        let text = match self.offset {
            Some(offset) => format!("{}  +{offset:#x}", self.text),
            None => self.text.clone(),
        };
        (self.kind.clone(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(len: usize) -> Arc<Vec<Said>> {
        Arc::new(vec![Said { offset: None, kind: String::new(), text: "x".repeat(len) }])
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
