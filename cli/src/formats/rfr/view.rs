//! A recording, looked at piece by piece.

use super::Rfr;
use super::files::{Data, Kind};
use super::sites::{Names, Sites, names};
use crate::record;
use crate::status::Result;
use crate::trace::{About, Browse, Depth, Each, Field, Fields, FileEntry, Level, Lost, Marks, Node};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use traceglass::Format;
use traceglass::event::Time;
use traceglass::rfr::{
    Callsite, Callsites, Chunk, ChunkHeader, Item, Items, LayoutFields, Meta, NamedRecord, Object,
    StreamData, StreamRecord, Streaming,
};

/// The smallest distance in bytes between two places at which reading can begin.
const STEP: u64 = 4096;

/// The number of tasks and spans that are known by name.
const NAMED: usize = 1 << 16;

/// Looks at a recording, or at one of its files.
pub fn browse(rfr: &Rfr<'_>, path: &Path, look: &mut dyn FnMut(&dyn Browse)) -> Result<()> {
    let (sites, mut entries) = (Sites::open(&rfr.files)?, Vec::new());
    let table = sites.table(&mut entries)?;
    let entry = |part: &super::Part<'_>| {
        let times = part.header().and_then(|header| {
            let at = |micros| header.unix_micros(micros).ok().map(|micros| nanoseconds(micros).ns());
            at(header.start()).zip(at(header.end()))
        });
        FileEntry { path: part.path.clone().unwrap_or_else(|| path.to_owned()), size: part.size, times }
    };
    let files: Vec<FileEntry> = rfr.files.parts.iter().map(entry).collect();
    let data: Vec<_> = rfr.files.parts.iter().map(|_| OnceLock::new()).collect();
    let names = names(table);
    let state = Mutex::new(State { marks: Marks::new(), parts: Marks::new(), names, count: 0 });
    look(&View { rfr, entries: files, data: &data, state });
    Ok(())
}

fn nanoseconds(micros: u64) -> Time {
    Time::since_epoch(i128::from(micros).saturating_mul(1000))
}

struct View<'v> {
    rfr: &'v Rfr<'v>,
    entries: Vec<FileEntry>,
    /// The files that have been opened.
    data: &'v [OnceLock<Result<Data<'v>, String>>],
    state: Mutex<State<'v>>,
}

/// The results of the pass in the background.
struct State<'v> {
    /// The places at which reading a chunk or a stream can go on; callsites are always read from the start.
    marks: Marks<Mark<'v>>,
    /// The offsets of sequences.
    parts: Marks<Items<'v>>,
    names: Names<'v>,
    /// The number of objects of the file that have been named.
    count: usize,
}

#[derive(Clone)]
enum Mark<'v> {
    Chunk(Box<Items<'v>>),
    /// A place in a stream.
    Place,
}

impl<'v> View<'v> {
    fn state(&self) -> MutexGuard<'_, State<'v>> {
        // The state is sound even if a thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bytes(&self, file: usize) -> Result<&'v [u8], String> {
        let (Some(part), Some(slot)) = (self.rfr.files.parts.get(file), self.data.get(file)) else {
            return Err("there is no such file".to_owned());
        };
        match slot.get_or_init(|| part.data().map_err(|failure| failure.to_string())) {
            Ok(data) => Ok(data.bytes()),
            Err(why) => Err(why.clone()),
        }
    }

    fn learn(&self, object: &Object<'v>) {
        let mut state = self.state();
        if state.count < NAMED {
            state.count = state.count.saturating_add(1);
            // There is room for all.
            let _ = state.names.meet(object);
        }
    }

    /// Walks through a chunk; `note` keeps marks.
    fn chunk(&self, file: usize, from: u64, depth: Depth, note: bool, each: Each<'_>) {
        let Ok(data) = self.bytes(file) else { return };
        let Ok(chunk) = Chunk::parse(data) else { return };
        let header = chunk.header();
        let mut begin = None;
        if !note {
            let state = self.state();
            begin = match depth {
                Depth::Parts => {
                    state.parts.before(file, from).map(|(offset, items)| (*offset, items.clone()))
                }
                Depth::All => match state.marks.before(file, from) {
                    Some((offset, Mark::Chunk(items))) => Some((*offset, (**items).clone())),
                    _ => None,
                },
            };
            if let (Depth::Parts, Some(all)) = (depth, state.parts.all(file, data.len() as u64)) {
                let all: Vec<(u64, Items<'v>)> = all.to_vec();
                drop(state);
                return self.sequences(data, &all, from, each);
            }
        }
        let (mut last, mut items) = match begin {
            Some(begin) => begin,
            None => {
                let items = chunk.items();
                let (end, layout) = (items.offset(), Some(chunk.fields()));
                let about = Seen { view: self, end, met: Met::Header("chunk"), layout };
                let level = Level::Filling;
                if depth == Depth::All && !each(&Node::new(level, 0, end, &about)) {
                    return;
                }
                (items.offset(), items)
            }
        };
        let mut due = 0;
        loop {
            let before = items.clone();
            match items.next_item() {
                Ok(Some(item)) => {
                    let (offset, end) = (offset_of(&item), items.offset());
                    let is_part = matches!(item, Item::Sequence(_));
                    if note && (is_part || offset >= due) {
                        due = offset.saturating_add(STEP);
                        let mut state = self.state();
                        if is_part {
                            state.parts.note(offset, before.clone());
                        }
                        state.marks.note(offset, Mark::Chunk(Box::new(before)));
                    }
                    if let (Item::Object(object), true) = (&item, note) {
                        self.learn(object);
                    }
                    if offset > last {
                        let about = Seen { view: self, end: offset, met: Met::Count(last), layout: None };
                        let filling = Level::Filling;
                        if depth == Depth::All && !each(&Node::new(filling, last, offset, &about)) {
                            return;
                        }
                    }
                    last = end;
                    let (level, time) = match &item {
                        Item::Sequence(sequence) => {
                            (Level::Part, header.unix_micros(sequence.earliest()).ok().map(nanoseconds))
                        }
                        Item::Record(record) => {
                            (Level::Record, record.unix_micros(&header).ok().map(nanoseconds))
                        }
                        _ => (Level::Record, None),
                    };
                    let layout = Some(chunk.fields_of(&item));
                    let about = Seen { view: self, end, met: Met::Item(item, header), layout };
                    if !each(&Node::new(level, offset, end, &about).at(time)) {
                        return;
                    }
                }
                Ok(None) => {
                    if note {
                        self.state().parts.done = data.len() as u64;
                    }
                    return;
                }
                Err(_) => {
                    let Some(gap) = items.recover() else { return };
                    last = gap.end();
                    if !each(&Lost::new(gap).node()) {
                        return;
                    }
                }
            }
        }
    }

    /// The sequences, all of which are known.
    fn sequences(&self, data: &'v [u8], all: &[(u64, Items<'v>)], from: u64, each: Each<'_>) {
        let Ok(header) = Chunk::parse(data).map(|chunk| chunk.header()) else { return };
        let first = all.partition_point(|(offset, _)| *offset <= from).saturating_sub(1);
        for (place, (offset, items)) in all.iter().enumerate().skip(first) {
            let Some(Ok(item)) = items.clone().next() else { continue };
            let Item::Sequence(sequence) = &item else { continue };
            let end = all.get(place.saturating_add(1)).map_or(data.len() as u64, |(next, _)| *next);
            let time = header.unix_micros(sequence.earliest()).ok().map(nanoseconds);
            let about = Seen { view: self, end, met: Met::Item(item, header), layout: None };
            if !each(&Node::new(Level::Part, *offset, end, &about).at(time)) {
                return;
            }
        }
    }

    fn stream(&self, file: usize, from: u64, note: bool, each: Each<'_>) {
        let Ok(data) = self.bytes(file) else { return };
        let Ok(stream) = Streaming::parse(data) else { return };
        let begin =
            if note { None } else { self.state().marks.before(file, from).map(|(offset, _)| *offset) };
        let mut records = match begin {
            Some(offset) => stream.records_from(offset),
            None => {
                let records = stream.records();
                let (end, layout) = (records.offset(), Some(stream.fields()));
                let about = Seen { view: self, end, met: Met::Header("stream"), layout };
                if !each(&Node::new(Level::Part, 0, end, &about)) {
                    return;
                }
                records
            }
        };
        let mut due = 0;
        loop {
            match records.next_record() {
                Ok(Some(record)) => {
                    let (offset, end) = (record.offset(), records.offset());
                    if note && offset >= due {
                        due = offset.saturating_add(STEP);
                        self.state().marks.note(offset, Mark::Place);
                    }
                    match record.data() {
                        StreamData::Callsite(callsite) if note => {
                            // There is room for all.
                            let _ = self.state().names.meet_callsite(&callsite);
                        }
                        StreamData::Span(span) if note => self.learn(&Object::Span(span)),
                        StreamData::Task(task) if note => self.learn(&Object::Task(task)),
                        StreamData::Record(data) if note => self.state().names.follow(&data),
                        _ => {}
                    }
                    let time = record.unix_micros().ok().map(nanoseconds);
                    let layout = Some(stream.fields_at(offset));
                    let about = Seen { view: self, end, met: Met::Stream(record), layout };
                    if !each(&Node::new(Level::Record, offset, end, &about).at(time)) {
                        return;
                    }
                }
                Ok(None) => return,
                Err(_) => {
                    let Some(gap) = records.recover() else { return };
                    if !each(&Lost::new(gap).node()) {
                        return;
                    }
                }
            }
        }
    }

    fn callsites(&self, file: usize, each: Each<'_>) {
        let Ok(data) = self.bytes(file) else { return };
        let Ok(mut callsites) = Callsites::parse(data) else { return };
        let (end, layout) = (callsites.offset(), Some(callsites.fields()));
        let about = Seen { view: self, end, met: Met::Header("callsites"), layout };
        if !each(&Node::new(Level::Part, 0, end, &about)) {
            return;
        }
        loop {
            match callsites.next_callsite() {
                Ok(Some(callsite)) => {
                    let (offset, end) = (callsite.offset(), callsites.offset());
                    let layout = Some(callsites.fields_at(offset));
                    let about = Seen { view: self, end, met: Met::Callsite(callsite), layout };
                    if !each(&Node::new(Level::Record, offset, end, &about)) {
                        return;
                    }
                }
                Ok(None) => return,
                Err(_) => {
                    let Some(gap) = callsites.recover() else { return };
                    if !each(&Lost::new(gap).node()) {
                        return;
                    }
                }
            }
        }
    }

    fn pass(&self, file: usize, from: u64, depth: Depth, note: bool, each: Each<'_>) {
        match self.rfr.files.parts.get(file).map(|part| part.kind) {
            Some(Kind::Chunk(_)) => self.chunk(file, from, depth, note, each),
            Some(Kind::Stream) => self.stream(file, from, note, each),
            Some(Kind::Callsites) => self.callsites(file, each),
            Some(Kind::Meta) => {
                let Ok(data) = self.bytes(file) else { return };
                let (end, layout) = (data.len() as u64, Meta::parse(data).ok().map(|meta| meta.fields()));
                let about = Seen { view: self, end, met: Met::Header("meta"), layout };
                each(&Node::new(Level::Part, 0, end, &about));
            }
            None => {}
        }
    }
}

impl Browse for View<'_> {
    fn format(&self) -> Format {
        Format::Rfr
    }

    fn files(&self) -> &[FileEntry] {
        &self.entries
    }

    fn first(&self) -> usize {
        let has_records = |kind: Kind| matches!(kind, Kind::Chunk(_) | Kind::Stream);
        self.rfr.files.parts.iter().position(|part| has_records(part.kind)).unwrap_or(0)
    }

    fn data(&self, file: usize) -> Result<&[u8], String> {
        self.bytes(file)
    }

    fn walk(&self, file: usize, from: u64, depth: Depth, each: Each<'_>) {
        self.pass(file, from, depth, false, each);
    }

    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool) {
        {
            let mut state = self.state();
            let State { marks, parts, names, count } = &mut *state;
            marks.reset(file);
            parts.reset(file);
            names.clear();
            *count = 0;
        }
        self.pass(file, 0, Depth::All, true, &mut |node| going(node.end));
    }

    fn near(&self, file: usize, ns: i128) -> u64 {
        // Sequences of a chunk overlap; the records of a stream mostly ascend.
        let Some(Kind::Stream) = self.rfr.files.parts.get(file).map(|part| part.kind) else { return 0 };
        let Ok(Ok(stream)) = self.bytes(file).map(Streaming::parse) else { return 0 };
        let state = self.state();
        let is_before = |&(offset, _): &(u64, Mark<'_>)| {
            let record = stream.records_from(offset).next().and_then(Result::ok);
            let time = record.and_then(|record| record.unix_micros().ok());
            time.is_some_and(|micros| nanoseconds(micros).ns() < ns)
        };
        let marks = state.marks.of(file);
        let last = marks.partition_point(is_before).checked_sub(1);
        last.and_then(|last| marks.get(last)).map_or(0, |(offset, _)| *offset)
    }
}

fn offset_of(item: &Item<'_>) -> u64 {
    match item {
        Item::Sequence(header) => header.offset(),
        Item::Object(object) => object.offset(),
        Item::Record(record) => record.offset(),
        _ => 0,
    }
}

/// Something in a file.
struct Seen<'s, 'v> {
    view: &'s View<'v>,
    end: u64,
    met: Met<'v>,
    /// The fields of it, and of what follows.
    layout: Option<LayoutFields<'v>>,
}

/// An item that was met.
enum Met<'v> {
    /// The bytes before the first item of a file, of this kind.
    Header(&'static str),
    /// With the header of its chunk.
    Item(Item<'v>, ChunkHeader),
    /// The number of the records that follow.
    Count(u64),
    Stream(StreamRecord<'v>),
    Callsite(Callsite<'v>),
}

/// The name of a record's kind, and what it says.
fn row(record: &NamedRecord<'_, '_>) -> (String, String) {
    let name = record.kind().name();
    (name.to_owned(), record::row(record, name))
}

impl About for Seen<'_, '_> {
    fn text(&self) -> (String, String) {
        let names = &self.view.state().names;
        match &self.met {
            Met::Header(kind) => ((*kind).to_owned(), String::new()),
            Met::Item(Item::Sequence(header), _) => {
                (format!("sequence {}", header.seq_id()), format!("{} objects", header.object_count()))
            }
            Met::Item(Item::Object(object), _) => row(&names.object(object, None)),
            Met::Item(Item::Record(record), header) => row(&names.record(record, header, None, self.end)),
            Met::Stream(record) => row(&names.stream_record(record, self.end)),
            Met::Callsite(callsite) => row(&NamedRecord::of_callsite(callsite)),
            Met::Count(_) => ("records".to_owned(), String::new()),
            _ => (String::new(), String::new()),
        }
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> Result<()> {
        if let Met::Count(offset) = self.met {
            let len = self.end.saturating_sub(offset);
            return fields.field(&Field::new(offset, len, "records", ""));
        }
        let Some(mut layout) = self.layout.clone() else { return Ok(()) };
        // An error ends the fields: the ones after it cannot be located.
        while let Ok(Some(field)) = layout.next_field() {
            if field.offset() >= self.end {
                break;
            }
            fields.field(&Field::new(field.offset(), field.size(), field.name(), field.value()))?;
        }
        Ok(())
    }
}
