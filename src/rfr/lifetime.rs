//! The objects of a whole recording: instrumentation ids are addresses, and recur.

use super::chunk::Chunk;
use super::element::OBJECT;
use super::item::Item;
use super::kind::RecordData;
use super::object::Object;
use super::read::{Part, Reader};
use super::record::Record;
use super::streaming::{StreamData, StreamRecord, Streaming};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::sort_by_key;

/// An object of a recording, where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifetimeEntry {
    iid: u64,
    /// The number of its chunk, or the offset of its record in a stream.
    place: u64,
    /// The offset of the object, or of its record in a stream.
    offset: u64,
    /// The last place at which the id names this object; `u64::MAX` if it does not end.
    end: u64,
    /// The entry at which its lifetime begins.
    first: usize,
}

impl LifetimeEntry {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { iid: 0, place: 0, offset: 0, end: u64::MAX, first: 0 };
}

/// An object, and the number of its lifetime in the recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime<'a> {
    number: usize,
    object: Object<'a>,
}

impl<'a> Lifetime<'a> {
    /// The number of the lifetime: the same wherever the same object is meant, and of no other one.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The object, as it stands at the place that was asked for.
    pub const fn object(&self) -> Object<'a> {
        self.object
    }
}

/// The objects of a recording by instrumentation id and place.
///
/// An instrumentation id is an address, which a later task or span may get again: it names one object within a chunk;
/// from chunk to chunk the same one if it looks the same and was not dropped or closed before. In a stream it names one
/// from where it stands to its end.
///
/// The callsite of an object is found with a [`CallsiteTable`](super::CallsiteTable).
///
/// ```
/// use traceglass::rfr::{Chunk, LifetimeEntry, Lifetimes};
/// # let first = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x01\x01\0\x09\x01\x01\x05\x07\x01\x04main\0\0\x01\x04\x08\x05";
/// # let second = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x01\x01\0\x09\x01\x01\x05\x07\x02\x03new\0\0\x01\x04\x06\x05";
///
/// let chunks = [Chunk::parse(first)?, Chunk::parse(second)?]; // in the order of time
/// let mut entries = [LifetimeEntry::EMPTY; 16];
/// let objects = Lifetimes::of_chunks(&chunks, &mut entries)?;
/// let name = |chunk, iid| Some(objects.get(chunk, iid)?.object().as_task()?.name());
/// assert_eq!((name(0, 5), name(1, 5)), (Some("main"), Some("new")));
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes<'a, 't> {
    source: Source<'a, 't>,
    entries: &'t [LifetimeEntry],
    error: Option<(u64, Error)>,
}

/// Where objects are read from.
#[derive(Clone, Copy, Debug)]
enum Source<'a, 't> {
    Chunks(&'t [Chunk<'a>]),
    Stream(Streaming<'a>),
}

impl<'a> Source<'a, '_> {
    fn object(&self, entry: &LifetimeEntry) -> Option<Object<'a>> {
        match self {
            Self::Chunks(chunks) => {
                let chunk = chunks.get(usize::try_from(entry.place).ok()?)?;
                let reader: Reader<'a> = chunk.body().seek(entry.offset);
                Object::read(reader).ok().map(|(object, _)| object)
            }
            Self::Stream(stream) => object_of(&stream.records_from(entry.offset).next()?.ok()?),
        }
    }
}

/// The object that a record of a stream is.
fn object_of<'a>(record: &StreamRecord<'a>) -> Option<Object<'a>> {
    match record.data() {
        StreamData::Span(span) => Some(Object::Span(span)),
        StreamData::Task(task) => Some(Object::Task(task)),
        _ => None,
    }
}

/// The id that names nothing after a record.
const fn ended(data: &RecordData<'_>) -> Option<u64> {
    match *data {
        RecordData::TaskDrop { iid } | RecordData::SpanClose { iid } => Some(iid),
        _ => None,
    }
}

/// Whether two objects with one id are the same, as far as they tell.
fn is_same(one: &Object<'_>, other: &Object<'_>) -> bool {
    match (one, other) {
        (Object::Task(one), Object::Task(other)) => {
            (one.task_id(), one.callsite_id(), one.name())
                == (other.task_id(), other.callsite_id(), other.name())
        }
        (Object::Span(one), Object::Span(other)) => one.is_same(other),
        _ => false,
    }
}

/// The entries of a recording while they are collected.
struct Entries<'t> {
    storage: &'t mut [LifetimeEntry],
    used: usize,
}

impl<'t> Entries<'t> {
    fn push(&mut self, iid: u64, place: u64, offset: u64) {
        if let Some(slot) = self.storage.get_mut(self.used) {
            *slot = LifetimeEntry { iid, place, offset, ..LifetimeEntry::EMPTY };
        }
        self.used = self.used.saturating_add(1);
    }

    /// The entries in order: by id, then by place.
    fn sorted(self) -> Result<&'t mut [LifetimeEntry]> {
        let (capacity, needed) = (to_u64(self.storage.len()), to_u64(self.used));
        let Some(entries) = self.storage.get_mut(..self.used) else {
            return Err(Error::new(0, OBJECT, ErrorKind::CapacityExceeded { capacity, needed }));
        };
        sort_by_key(entries, |entry: LifetimeEntry| (entry.iid, entry.place, entry.offset));
        Ok(entries)
    }
}

/// The last entry of an id at a place or before.
fn last_at(entries: &[LifetimeEntry], place: u64, iid: u64) -> Option<usize> {
    let after = entries.partition_point(|entry| (entry.iid, entry.place) <= (iid, place));
    let last = after.checked_sub(1)?;
    entries.get(last).filter(|entry| entry.iid == iid).map(|_| last)
}

impl<'a, 't> Lifetimes<'a, 't> {
    /// Those of the chunks of a recording, which are in the order of time; a place is the number of a chunk, from 0.
    ///
    /// Everything is read twice.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed: one for each object of each chunk.
    pub fn of_chunks(chunks: &'t [Chunk<'a>], storage: &'t mut [LifetimeEntry]) -> Result<Self> {
        let mut found = Entries { storage, used: 0 };
        let mut failed = None;
        for (place, chunk) in (0_u64..).zip(chunks) {
            let error = each_item(chunk, |item| {
                if let Item::Object(object) = item {
                    found.push(object.iid(), place, object.offset());
                }
            });
            failed = failed.or(error.map(|error| (place, error)));
        }
        let entries = found.sorted()?;
        for (place, chunk) in (0_u64..).zip(chunks) {
            // What else is wrong was noted.
            let _ = each_item(chunk, |item| {
                if let Item::Record(record) = item {
                    end(entries, place, &Record::data(&record));
                }
            });
        }
        Ok(Self::join(Source::Chunks(chunks), entries, failed))
    }

    /// Those of a stream; a place is the offset of a record.
    ///
    /// Everything is read twice.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed: one for each object.
    pub fn of_stream(stream: &Streaming<'a>, storage: &'t mut [LifetimeEntry]) -> Result<Self> {
        let mut found = Entries { storage, used: 0 };
        let error = each_record(stream, |record| {
            if let Some(object) = object_of(&record) {
                found.push(object.iid(), record.offset(), record.offset());
            }
        });
        let entries = found.sorted()?;
        // What else is wrong was noted.
        let _ = each_record(stream, |record| {
            if let StreamData::Record(data) = record.data() {
                end(entries, record.offset(), &data);
            }
        });
        Ok(Self::join(Source::Stream(*stream), entries, error.map(|error| (0, error))))
    }

    /// Notes which entries are of one object.
    fn join(source: Source<'a, 't>, entries: &'t mut [LifetimeEntry], error: Option<(u64, Error)>) -> Self {
        let mut before: Option<(LifetimeEntry, Option<Object<'a>>)> = None;
        for (number, entry) in entries.iter_mut().enumerate() {
            let object = source.object(entry);
            entry.first = match before {
                Some((known, Some(other)))
                    if known.iid == entry.iid
                        && known.end == u64::MAX
                        && object.is_some_and(|object| is_same(&object, &other)) =>
                {
                    known.first
                }
                _ => number,
            };
            before = Some((*entry, object));
        }
        Self { source, entries, error }
    }

    /// What an instrumentation id names at a place: in a chunk of that number, or at a record at that offset of a stream.
    pub fn get(&self, place: u64, iid: u64) -> Option<Lifetime<'a>> {
        let entry = match self.source {
            Source::Chunks(_) => {
                // The first of several in the chunk.
                let first = self.entries.partition_point(|entry| (entry.iid, entry.place) < (iid, place));
                self.entries.get(first).filter(|entry| (entry.iid, entry.place) == (iid, place))?
            }
            Source::Stream(_) => {
                let last = last_at(self.entries, place, iid)?;
                self.entries.get(last).filter(|entry| place <= entry.end)?
            }
        };
        Some(Lifetime { number: entry.first, object: self.source.object(entry)? })
    }

    /// Each object once, as it stands where it is met first; by instrumentation id, then by time.
    pub fn iter(&self) -> impl Iterator<Item = Lifetime<'a>> + '_ {
        let first = self.entries.iter().enumerate().filter(|(number, entry)| entry.first == *number);
        first.filter_map(|(number, entry)| Some(Lifetime { number, object: self.source.object(entry)? }))
    }

    /// The first thing that could not be read, and the number of its chunk (0 in a stream): objects after it may be
    /// missing.
    pub const fn error(&self) -> Option<(u64, Error)> {
        self.error
    }
}

/// Ends the lifetime of what a record drops: of several entries of a chunk, that of the last one.
fn end(entries: &mut [LifetimeEntry], place: u64, data: &RecordData<'_>) {
    let Some(iid) = ended(data) else { return };
    let entry = last_at(entries, place, iid).and_then(|last| entries.get_mut(last));
    if let Some(entry) = entry {
        entry.end = entry.end.min(place);
    }
}

/// Walks through a chunk, on after what can be skipped; gives the first error.
fn each_item<'a>(chunk: &Chunk<'a>, mut item: impl FnMut(Item<'a>)) -> Option<Error> {
    let (mut items, mut failed) = (chunk.items(), None);
    loop {
        match items.next_item() {
            Ok(Some(next)) => item(next),
            Ok(None) => return failed,
            Err(error) => {
                failed = failed.or(Some(error));
                if items.recover().is_none() {
                    return failed;
                }
            }
        }
    }
}

/// Walks through a stream, on after what can be skipped; gives the first error.
fn each_record<'a>(stream: &Streaming<'a>, mut record: impl FnMut(StreamRecord<'a>)) -> Option<Error> {
    let (mut records, mut failed) = (stream.records(), None);
    loop {
        match records.next_record() {
            Ok(Some(next)) => record(next),
            Ok(None) => return failed,
            Err(error) => {
                failed = failed.or(Some(error));
                if records.recover().is_none() {
                    return failed;
                }
            }
        }
    }
}
