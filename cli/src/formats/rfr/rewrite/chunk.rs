//! A chunk with some of its sequences.

use super::digest::{Bytes, start};
use super::names::{Named, Names};
use super::polls::{Before, Starts};
use super::runs::Parts;
use super::writer::Writer;
use crate::formats::rfr::select::Within;
use crate::input::slice;
use crate::status::Result;
use crate::trace::widen;
use std::ops::Range;
use std::path::Path;
use traceglass::Error;
use traceglass::rfr::{
    Chunk, ChunkHeader, Item, Items, NewChunk, NewSequence, Record, RecordKind, SequenceHeader, write_count,
};

/// The times that are wanted of a chunk.
pub struct Wants {
    pub within: Within,
    pub is_everything: bool,
    /// True if records outside of them are left out of their sequences.
    pub is_exact: bool,
}

/// The sequences of a chunk, and its losses.
pub struct Read {
    found: Vec<Found>,
    /// The ranges that cannot be read: where each begins, how many bytes it has, and why.
    lost: Vec<(u64, u64, Error)>,
    /// The number of bytes after the last sequence.
    rest: u64,
    /// True if records outside of the range are left out; then what the others name.
    is_exact: bool,
    names: Names,
    /// True if a poll begins in it that is open when the range begins.
    has_starts: bool,
}

/// A sequence, and what of it can be read.
struct Found {
    header: SequenceHeader,
    end: u64,
    /// The number of objects that are kept, and where they lie.
    objects: u64,
    object_parts: Parts,
    /// All of them, if some may be left out.
    named: Vec<Named>,
    records: Records,
    /// The records that are kept, if the sequence is, and where they lie.
    kept: Records,
    kept_parts: Parts,
    is_damaged: bool,
    is_wanted: bool,
}

impl Found {
    fn new(header: SequenceHeader, end: u64, is_wanted: bool) -> Self {
        Self {
            header,
            end,
            objects: 0,
            object_parts: Parts::default(),
            named: Vec::new(),
            records: Records::NONE,
            kept: Records::NONE,
            kept_parts: Parts::default(),
            is_damaged: false,
            is_wanted,
        }
    }

    /// Keeps a record if it is in the range, and what it names.
    #[inline(always)]
    fn keep(&mut self, record: &Record<'_>, part: Range<u64>, within: &Within, names: &mut Names) {
        if within.wants(record.micros()) {
            self.kept.count(record.micros());
            self.kept_parts.add(part);
            names.add_record(record);
        }
    }

    /// True if all of its records are kept that can be read.
    fn has_all(&self) -> bool {
        self.is_wanted && self.kept.count == self.records.count
    }

    /// True if it is kept as it is.
    fn is_whole(&self) -> bool {
        self.has_all() && !self.is_damaged
    }
}

/// The records of a sequence. It is copied, so that it stays in registers while they are read.
#[derive(Clone, Copy)]
struct Records {
    count: u64,
    /// The earliest and the latest of their times, from the base time, if there are some.
    first: u64,
    last: u64,
    /// Times that have more than 64 bits: they stay as they are.
    too_late: u64,
    is_wanted: bool,
}

impl Records {
    const NONE: Self = Self { count: 0, first: u64::MAX, last: 0, too_late: 0, is_wanted: false };

    #[inline(always)]
    fn count(&mut self, time: u64) {
        self.count = self.count.saturating_add(1);
        (self.first, self.last) = (self.first.min(time), self.last.max(time));
    }

    #[inline(always)]
    fn add(&mut self, record: &Record<'_>, within: &Within, mut before: impl FnMut(u64, RecordKind, u64)) {
        let time = record.micros();
        self.count(time);
        self.is_wanted |= within.wants(time);
        self.too_late = self.too_late.saturating_add(u64::from(time > within.fits));
        if time < within.before
            && matches!(record.kind(), RecordKind::TaskPollStart | RecordKind::TaskPollEnd)
            && let Some(iid) = record.iid()
        {
            before(iid, record.kind(), time);
        }
    }

    /// The earliest and the latest time.
    fn span(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.first, self.last))
    }
}

impl Read {
    /// Keeps the starts of polls that are open when the range begins, and returns what is named by all that is kept.
    pub fn keep(&mut self, mut starts: Starts) -> Names {
        self.has_starts = !starts.is_empty();
        for found in &mut self.found {
            let starts = starts.remove(&found.header.offset()).unwrap_or_default();
            found.is_wanted |= !starts.is_empty();
            if self.is_exact && !starts.is_empty() {
                for start in &starts {
                    found.kept.count(start.time);
                    self.names.add(start.iid);
                }
                found.kept_parts.insert(starts.into_iter().map(|start| start.part));
            }
            if found.has_all() {
                found.named.iter().for_each(|object| self.names.add(object.iid));
            }
        }
        std::mem::take(&mut self.names)
    }

    /// The objects of sequences that are kept.
    pub fn objects(&self) -> impl Iterator<Item = &Named> {
        self.found.iter().filter(|found| found.is_wanted).flat_map(|found| &found.named)
    }

    /// Leaves objects out that are not named, where records are left out.
    pub fn leave_out_objects(&mut self, names: &Names) {
        for found in self.found.iter_mut().filter(|found| found.is_wanted && !found.has_all()) {
            (found.objects, found.object_parts) = (0, Parts::default());
            for object in found.named.iter().filter(|object| names.has(object.iid)) {
                found.objects = found.objects.saturating_add(1);
                found.object_parts.add(object.part.clone());
            }
        }
    }
}

/// Reads records without data of their own, which most of them are, as far as there are some.
#[inline(always)]
fn take_records<const EXACT: bool>(
    items: &mut Items<'_>,
    found: &mut Found,
    within: &Within,
    names: &mut Names,
    before: &mut impl FnMut(RecordKind, Before),
) {
    // Copies stay in registers.
    let (mut ahead, mut records, mut kept) = (items.clone(), found.records, found.kept);
    let (within, sequence, start) = (*within, found.header.offset(), items.offset());
    while let Some(record) = ahead.take_record() {
        let part = if EXACT { record.offset()..ahead.offset() } else { 0..0 };
        records.add(&record, &within, |iid, kind, time| {
            before(kind, Before { iid, sequence, part: part.clone(), time });
        });
        if EXACT && within.wants(record.micros()) {
            kept.count(record.micros());
            found.kept_parts.add(part);
            names.add_record(&record);
        }
    }
    if !EXACT {
        found.kept_parts.add(start..ahead.offset());
    }
    (*items, found.records, found.kept) = (ahead, records, kept);
}

/// Reads a chunk of which some times are wanted. `before` hears of polls before them: of which task, what happened, and
/// where.
pub fn read(chunk: &Chunk<'_>, len: u64, wants: &Wants, mut before: impl FnMut(RecordKind, Before)) -> Read {
    let (mut found, mut lost, mut rest): (Vec<Found>, _, _) = (Vec::new(), Vec::new(), 0);
    let (within, is_exact, mut names) = (wants.within, wants.is_exact, Names::default());
    let mut items = chunk.items();
    loop {
        if let Some(found) = found.last_mut() {
            if is_exact {
                take_records::<true>(&mut items, found, &within, &mut names, &mut before);
            } else {
                take_records::<false>(&mut items, found, &within, &mut names, &mut before);
            }
            found.end = items.offset().max(found.end);
        }
        let at = items.offset();
        let item = items.next_item();
        let end = items.offset();
        match (item, found.last_mut()) {
            (Ok(Some(Item::Sequence(header))), last) => {
                // As the count of no records is a byte of it.
                last.into_iter().for_each(|last| last.end = header.offset());
                found.push(Found::new(header, end, wants.is_everything));
            }
            (Ok(Some(item)), Some(found)) => {
                found.end = end;
                let part = start(&item).unwrap_or(end)..end;
                let record = match item {
                    Item::Record(record) => record,
                    Item::Object(object) => {
                        found.objects = found.objects.saturating_add(1);
                        found.object_parts.add(part.clone());
                        found.named.extend(is_exact.then(|| Named::of(&object, part)));
                        continue;
                    }
                    _ => continue,
                };
                let sequence = found.header.offset();
                found.records.add(&record, &within, |iid, kind, time| {
                    before(kind, Before { iid, sequence, part: part.clone(), time });
                });
                if is_exact {
                    found.keep(&record, part, &within, &mut names);
                } else {
                    found.kept_parts.add(part);
                }
            }
            (Ok(Some(_)), None) => {}
            (Ok(None), last) => {
                // A list of no records ends with its count.
                last.into_iter().for_each(|last| last.end = end);
                rest = len.saturating_sub(end);
                break;
            }
            (Err(error), last) => {
                let gap = items.recover();
                last.into_iter().for_each(|last| last.is_damaged = true);
                lost.push((at, gap.map_or(len.saturating_sub(at), |gap| gap.len()), error));
                if gap.is_none() {
                    break;
                }
            }
        }
    }
    for found in &mut found {
        found.is_wanted |= found.records.is_wanted;
        if !is_exact {
            found.kept = found.records;
        }
    }
    Read { found, lost, rest, is_exact, names, has_starts: false }
}

impl Writer<'_> {
    /// Writes a chunk; one in which nothing is wanted only if it is alone.
    pub fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        data: &[u8],
        path: Option<&Path>,
        is_alone: bool,
        read: Read,
    ) -> Result<()> {
        let header = chunk.header();
        if !is_alone && !self.range.wants_chunk(&header) && !read.has_starts {
            return Ok(());
        }
        let Read { found, lost, rest, .. } = read;
        let are_whole = found.iter().all(Found::is_whole);
        if rest > 0 && !are_whole {
            self.done.notes.push("bytes after the last sequence are left out".to_owned());
        }
        let is_whole = lost.is_empty() && are_whole;
        lost.into_iter().for_each(|(offset, len, error)| self.done.lose(path, offset, len, error));
        let kept: Vec<_> = found.iter().filter(|sequence| sequence.is_wanted).collect();
        self.done.dropped = self.done.dropped.saturating_add(found.len().saturating_sub(kept.len()) as u64);
        if kept.is_empty() && !is_alone && !self.range.is_everything() {
            return Ok(());
        }
        let mut span = None;
        for sequence in &kept {
            self.done.kept = self.done.kept.saturating_add(1);
            self.done.records = self.done.records.saturating_add(sequence.kept.count);
            let items = sequence.objects.saturating_add(sequence.kept.count).saturating_add(1);
            self.items = self.items.saturating_add(items);
            self.done.carried = self.done.carried.saturating_add(sequence.kept.too_late);
            if let Some((first, last)) = sequence.kept.span() {
                widen(&mut span, first, last);
                let ns = |micros: u64| {
                    header.unix_micros(micros).ok().map(|micros| i128::from(micros).saturating_mul(1000))
                };
                if let Some((first, last)) = ns(first).zip(ns(last)) {
                    self.done.meet(first, last);
                }
            }
        }
        self.done.carried = self.done.carried.saturating_add(u64::from(header.base_micros().is_err()));
        self.begin(path)?;
        if is_whole {
            return self.to.put(data);
        }
        self.to.put(slice(data, 0, header.offset()))?;
        let count = kept.len() as u64;
        NewChunk::like(&header).sequences(count).spans(span).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        for sequence in kept {
            if sequence.is_whole() {
                self.to.put(slice(data, sequence.header.offset(), sequence.end))?;
            } else {
                let start = self.to.position();
                self.sequence(&header, data, sequence)?;
                self.done.anew.add(path.unwrap_or(Path::new("")), start..self.to.position());
            }
        }
        Ok(())
    }

    /// Writes what is kept of a sequence, and can be read.
    fn sequence(&mut self, chunk: &ChunkHeader, data: &[u8], sequence: &Found) -> Result<()> {
        let header = NewSequence::like(&sequence.header, chunk, sequence.objects);
        header.spans(sequence.kept.span()).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        let mut bytes = Bytes::of(data);
        for part in sequence.object_parts.iter() {
            bytes.add(part.start, part.end);
            self.to.put(slice(data, part.start, part.end))?;
        }
        write_count(sequence.kept.count, &mut |bytes: &[u8]| self.to.put(bytes))?;
        for part in sequence.kept_parts.iter() {
            bytes.add(part.start, part.end);
            self.to.put(slice(data, part.start, part.end))?;
        }
        bytes.end(sequence.header.seq_id(), &mut self.done.digest);
        Ok(())
    }
}
