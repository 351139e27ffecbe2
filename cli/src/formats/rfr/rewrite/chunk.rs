//! A chunk with some of its sequences.

use super::digest::{Bytes, start};
use super::{Runs, Writer};
use crate::status::Result;
use crate::trace::Digest;
use std::path::Path;
use traceglass::rfr::{Chunk, Item, NewChunk, NewSequence, SequenceHeader, write_count};

/// A sequence, and what of it can be read.
struct Found<'d> {
    header: SequenceHeader,
    end: u64,
    objects: u64,
    records: u64,
    /// The bytes of it that are hashed in the end.
    bytes: Option<Bytes<'d>>,
    digest: Digest,
    /// The earliest and the latest time of its records, from the base time.
    span: Option<(u64, u64)>,
    is_damaged: bool,
    is_wanted: bool,
    /// Times that have more than 64 bits: they stay as they are.
    too_late: u64,
}

impl Writer<'_> {
    /// Writes a chunk; one in which nothing is wanted only if it is alone.
    pub fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        data: &[u8],
        path: Option<&Path>,
        is_alone: bool,
    ) -> Result<()> {
        let header = chunk.header();
        if !is_alone && !self.range.wants_chunk(&header) && !self.polls.has_any(path) {
            return Ok(());
        }
        let before = self.done.lost.len();
        let found = self.sequences(chunk, data, path);
        let is_whole = self.done.lost.len() == before && found.iter().all(|sequence| sequence.is_wanted);
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
        self.to.put(super::range(data, 0, header.offset()))?;
        let count = kept.len() as u64;
        NewChunk::like(&header).sequences(count).spans(span).write(&mut |bytes: &[u8]| self.to.put(bytes))?;
        for sequence in kept {
            if sequence.is_damaged {
                let start = self.to.position();
                self.sequence(chunk, data, sequence)?;
                self.done.digest.join(sequence.digest);
                self.done.anew.add(path.unwrap_or(Path::new("")), start..self.to.position());
            } else {
                self.to.put(super::range(data, sequence.header.offset(), sequence.end))?;
            }
        }
        Ok(())
    }

    /// The sequences of a chunk; errors are reported.
    fn sequences<'d>(&mut self, chunk: &Chunk<'_>, data: &'d [u8], path: Option<&Path>) -> Vec<Found<'d>> {
        let header = chunk.header();
        let mut found: Vec<Found<'_>> = Vec::new();
        let mut items = chunk.items();
        loop {
            let at = items.offset();
            let item = items.next_item();
            let end = items.offset();
            match item {
                Ok(Some(Item::Sequence(header))) => found.push(Found {
                    header,
                    end,
                    objects: 0,
                    records: 0,
                    bytes: Some(Bytes::of(data)),
                    digest: Digest::default(),
                    span: None,
                    is_damaged: false,
                    is_wanted: self.range.is_everything() || self.polls.has(path, header.offset()),
                    too_late: 0,
                }),
                Ok(Some(item)) => {
                    let Some(sequence) = found.last_mut() else { continue };
                    sequence.end = end;
                    if let (Some(start), Some(bytes)) = (start(&item), &mut sequence.bytes) {
                        bytes.add(start, end);
                    }
                    match item {
                        Item::Record(record) => {
                            sequence.records = sequence.records.saturating_add(1);
                            super::super::meet(&mut sequence.span, record.timestamp());
                            let micros = record.unix_micros(&header).ok();
                            sequence.is_wanted |= self.range.wants(micros);
                            let is_late = micros.is_none() && header.base_micros().is_ok();
                            sequence.too_late = sequence.too_late.saturating_add(u64::from(is_late));
                        }
                        _ => sequence.objects = sequence.objects.saturating_add(1),
                    }
                }
                Ok(None) => {
                    // A list of no records ends with its count.
                    if let Some(sequence) = found.last_mut() {
                        sequence.end = end;
                    }
                    let rest = (data.len() as u64).saturating_sub(end);
                    if rest > 0 && !found.iter().all(|sequence| sequence.is_wanted && !sequence.is_damaged) {
                        self.done.notes.push("bytes after the last sequence are left out".to_owned());
                    }
                    break;
                }
                Err(error) => {
                    let gap = items.recover();
                    let len = gap.map_or((data.len() as u64).saturating_sub(at), |gap| gap.len());
                    if let Some(sequence) = found.last_mut() {
                        sequence.is_damaged = true;
                    }
                    self.done.lose(path, at, len, error);
                    if gap.is_none() {
                        break;
                    }
                }
            }
        }
        for sequence in &mut found {
            if let Some(bytes) = sequence.bytes.take() {
                bytes.end(sequence.header.seq_id(), &mut sequence.digest);
            }
        }
        // A sequence ends where the next one begins: the count of no records is a byte of it.
        let starts: Vec<_> = found.iter().skip(1).map(|sequence| sequence.header.offset()).collect();
        for (sequence, start) in found.iter_mut().zip(starts) {
            sequence.end = start;
        }
        found
    }

    /// Writes what can be read of a sequence.
    fn sequence(&mut self, chunk: &Chunk<'_>, data: &[u8], sequence: &Found<'_>) -> Result<()> {
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
