//! A chunk with some of its sequences.

use super::digest::{Bytes, start};
use super::runs::{Runs, range};
use super::writer::Writer;
use crate::formats::rfr::select::Within;
use crate::status::Result;
use std::path::Path;
use traceglass::Error;
use traceglass::rfr::{Chunk, Item, NewChunk, NewSequence, Record, RecordKind, SequenceHeader, write_count};

/// The sequences of a chunk, and its losses.
pub struct Read {
    found: Vec<Found>,
    /// The ranges that cannot be read: where each begins, how many bytes it has, and why.
    lost: Vec<(u64, u64, Error)>,
    /// The number of bytes after the last sequence.
    rest: u64,
}

/// A sequence, and what of it can be read.
struct Found {
    header: SequenceHeader,
    end: u64,
    objects: u64,
    records: Records,
    is_damaged: bool,
    is_wanted: bool,
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
    fn add(&mut self, record: &Record<'_>, within: &Within, mut before: impl FnMut(u64, RecordKind, u64)) {
        let time = record.micros();
        self.count = self.count.saturating_add(1);
        (self.first, self.last) = (self.first.min(time), self.last.max(time));
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
    /// The least time of its records.
    pub fn first(&self) -> Option<u64> {
        self.found.iter().filter_map(|sequence| sequence.records.span()).map(|(first, _)| first).min()
    }
}

/// Reads a chunk of which some times are wanted. `before` hears of polls before them: of which task, what happened, when,
/// and in which sequence.
pub fn read(
    chunk: &Chunk<'_>,
    len: u64,
    (within, is_everything): (&Within, bool),
    mut before: impl FnMut(u64, RecordKind, u64, u64),
) -> Read {
    let (mut found, mut lost, mut rest): (Vec<Found>, _, _) = (Vec::new(), Vec::new(), 0);
    let mut items = chunk.items();
    loop {
        if let Some(sequence) = found.last_mut() {
            let (mut ahead, mut records, within) = (items.clone(), sequence.records, *within);
            let place = sequence.header.offset();
            while let Some(record) = ahead.take_record() {
                records.add(&record, &within, |iid, kind, time| before(iid, kind, time, place));
            }
            (items, sequence.records) = (ahead, records);
            sequence.end = items.offset().max(sequence.end);
        }
        let at = items.offset();
        let item = items.next_item();
        let end = items.offset();
        match (item, found.last_mut()) {
            (Ok(Some(Item::Sequence(header))), last) => {
                // As the count of no records is a byte of it.
                last.into_iter().for_each(|last| last.end = header.offset());
                let records = Records::NONE;
                let (objects, is_damaged, is_wanted) = (0, false, is_everything);
                found.push(Found { header, end, objects, records, is_damaged, is_wanted });
            }
            (Ok(Some(item)), Some(sequence)) => {
                sequence.end = end;
                let Item::Record(record) = item else {
                    sequence.objects = sequence.objects.saturating_add(1);
                    continue;
                };
                let place = sequence.header.offset();
                sequence.records.add(&record, within, |iid, kind, time| before(iid, kind, time, place));
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
    found.iter_mut().for_each(|sequence| sequence.is_wanted |= sequence.records.is_wanted);
    Read { found, lost, rest }
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
        if !is_alone && !self.range.wants_chunk(&header) && !self.polls.has_any(path) {
            return Ok(());
        }
        let Read { mut found, lost, rest } = read;
        for sequence in &mut found {
            sequence.is_wanted |= self.polls.has(path, sequence.header.offset());
        }
        let are_wanted = found.iter().all(|sequence| sequence.is_wanted);
        if rest > 0 && !(are_wanted && found.iter().all(|sequence| !sequence.is_damaged)) {
            self.done.notes.push("bytes after the last sequence are left out".to_owned());
        }
        let is_whole = lost.is_empty() && are_wanted;
        lost.into_iter().for_each(|(offset, len, error)| self.done.lose(path, offset, len, error));
        let kept: Vec<_> = found.iter().filter(|sequence| sequence.is_wanted).collect();
        self.done.dropped = self.done.dropped.saturating_add(found.len().saturating_sub(kept.len()) as u64);
        if kept.is_empty() && !is_alone && !self.range.is_everything() {
            return Ok(());
        }
        let mut span = None;
        for sequence in &kept {
            self.done.kept = self.done.kept.saturating_add(1);
            self.done.records = self.done.records.saturating_add(sequence.records.count);
            let items = sequence.objects.saturating_add(sequence.records.count).saturating_add(1);
            self.items = self.items.saturating_add(items);
            self.done.carried = self.done.carried.saturating_add(sequence.records.too_late);
            if let Some((first, last)) = sequence.records.span() {
                super::super::meet(&mut span, first);
                super::super::meet(&mut span, last);
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
        self.to.put(range(data, 0, header.offset()))?;
        let count = kept.len() as u64;
        NewChunk::like(&header).sequences(count).spans(span).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        for sequence in kept {
            if sequence.is_damaged {
                let start = self.to.position();
                self.sequence(chunk, data, sequence)?;
                self.done.anew.add(path.unwrap_or(Path::new("")), start..self.to.position());
            } else {
                self.to.put(range(data, sequence.header.offset(), sequence.end))?;
            }
        }
        Ok(())
    }

    /// Writes what can be read of a sequence.
    fn sequence(&mut self, chunk: &Chunk<'_>, data: &[u8], sequence: &Found) -> Result<()> {
        let header = NewSequence::like(&sequence.header, &chunk.header(), sequence.objects);
        header.spans(sequence.records.span()).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        let mut bytes = Bytes::of(data);
        // Objects come first, then records.
        for wants_records in [false, true] {
            if wants_records {
                write_count(sequence.records.count, &mut |bytes: &[u8]| self.to.put(bytes))?;
            }
            let mut items = chunk.items();
            let mut is_here = false;
            loop {
                let at = items.offset();
                match items.next_item() {
                    Ok(Some(Item::Sequence(header))) => {
                        if is_here {
                            break;
                        }
                        is_here = header.offset() == sequence.header.offset();
                    }
                    Ok(Some(item)) if is_here => {
                        if matches!(item, Item::Record(_)) != wants_records {
                            continue;
                        }
                        let Some(start) = start(&item) else { continue };
                        bytes.add(start, items.offset());
                        let mut run = Runs { data, start: start.max(at) };
                        run.end(items.offset(), self.to)?;
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) if items.recover().is_some() => {}
                    Err(_) => break,
                }
            }
        }
        bytes.end(sequence.header.seq_id(), &mut self.done.digest);
        Ok(())
    }
}
