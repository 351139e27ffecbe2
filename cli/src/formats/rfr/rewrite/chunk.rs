//! A chunk with some of its sequences.

use super::digest::{Bytes, start};
use super::runs::{Runs, range};
use super::writer::Writer;
use crate::status::Result;
use crate::trace::Digest;
use std::path::Path;
use traceglass::Error;
use traceglass::rfr::{Chunk, Item, NewChunk, NewSequence, RecordKind, SequenceHeader, write_count};

/// What was read of a chunk.
pub struct Read {
    found: Vec<Found>,
    /// What cannot be read: where it begins, how many bytes it has, and why.
    lost: Vec<(u64, u64, Error)>,
    /// The number of bytes after the last sequence.
    rest: u64,
}

/// A sequence, and what of it can be read.
struct Found {
    header: SequenceHeader,
    end: u64,
    objects: u64,
    records: u64,
    /// The hash of what can be read, if that is not all of it.
    digest: Digest,
    /// The earliest and the latest time of its records, from the base time.
    span: Option<(u64, u64)>,
    is_damaged: bool,
    is_wanted: bool,
    /// Times that have more than 64 bits: they stay as they are.
    too_late: u64,
}

impl Found {
    /// Ends it: where the next one begins, as the count of no records is a byte of it.
    fn finish(&mut self, bytes: Bytes<'_>, next: Option<u64>) {
        self.end = next.unwrap_or(self.end);
        if self.is_damaged {
            bytes.end(self.header.seq_id(), &mut self.digest);
        }
    }
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
            self.done.records = self.done.records.saturating_add(sequence.records);
            let items = sequence.objects.saturating_add(sequence.records).saturating_add(1);
            self.items = self.items.saturating_add(items);
            self.done.carried = self.done.carried.saturating_add(sequence.too_late);
            if let Some((first, last)) = sequence.span {
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
                self.done.digest.join(sequence.digest);
                self.done.anew.add(path.unwrap_or(Path::new("")), start..self.to.position());
            } else {
                self.to.put(range(data, sequence.header.offset(), sequence.end))?;
            }
        }
        Ok(())
    }

    /// The sequences of a chunk; notes the polls before the range.
    pub fn sequences(&mut self, chunk: &Chunk<'_>, data: &[u8], path: Option<&Path>) -> Read {
        let (header, from) = (chunk.header(), self.range.start());
        self.polls.begin(path);
        let (mut found, mut lost, mut rest): (Vec<Found>, _, _) = (Vec::new(), Vec::new(), 0);
        let mut bytes = Bytes::of(data);
        let mut items = chunk.items();
        loop {
            let at = items.offset();
            let item = items.next_item();
            let end = items.offset();
            match item {
                Ok(Some(Item::Sequence(header))) => {
                    let bytes = std::mem::replace(&mut bytes, Bytes::of(data));
                    if let Some(last) = found.last_mut() {
                        last.finish(bytes, Some(header.offset()));
                    }
                    found.push(Found {
                        header,
                        end,
                        objects: 0,
                        records: 0,
                        digest: Digest::default(),
                        span: None,
                        is_damaged: false,
                        is_wanted: self.range.is_everything(),
                        too_late: 0,
                    });
                }
                Ok(Some(item)) => {
                    let Some(sequence) = found.last_mut() else { continue };
                    sequence.end = end;
                    if let Some(start) = start(&item) {
                        bytes.add(start, end);
                    }
                    let Item::Record(record) = item else {
                        sequence.objects = sequence.objects.saturating_add(1);
                        continue;
                    };
                    sequence.records = sequence.records.saturating_add(1);
                    super::super::meet(&mut sequence.span, record.timestamp());
                    let micros = record.unix_micros(&header).ok();
                    sequence.is_wanted |= self.range.wants(micros);
                    let is_late = micros.is_none() && header.base_micros().is_ok();
                    sequence.too_late = sequence.too_late.saturating_add(u64::from(is_late));
                    if let (Some(micros), Some(from)) = (micros, from)
                        && micros < from
                        && matches!(record.kind(), RecordKind::TaskPollStart | RecordKind::TaskPollEnd)
                        && let Some(iid) = record.iid()
                    {
                        self.polls.note(iid, record.kind(), micros, sequence.header.offset());
                    }
                }
                Ok(None) => {
                    // A list of no records ends with its count.
                    if let Some(sequence) = found.last_mut() {
                        sequence.end = end;
                    }
                    rest = (data.len() as u64).saturating_sub(end);
                    break;
                }
                Err(error) => {
                    let gap = items.recover();
                    let len = gap.map_or((data.len() as u64).saturating_sub(at), |gap| gap.len());
                    if let Some(sequence) = found.last_mut() {
                        sequence.is_damaged = true;
                    }
                    lost.push((at, len, error));
                    if gap.is_none() {
                        break;
                    }
                }
            }
        }
        if let Some(last) = found.last_mut() {
            last.finish(bytes, None);
        }
        Read { found, lost, rest }
    }

    /// Writes what can be read of a sequence.
    fn sequence(&mut self, chunk: &Chunk<'_>, data: &[u8], sequence: &Found) -> Result<()> {
        let header = NewSequence::like(&sequence.header, &chunk.header(), sequence.objects);
        header.spans(sequence.span).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        // Objects come first, then records.
        for wants_records in [false, true] {
            if wants_records {
                write_count(sequence.records, &mut |bytes: &[u8]| self.to.put(bytes))?;
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
        Ok(())
    }
}
