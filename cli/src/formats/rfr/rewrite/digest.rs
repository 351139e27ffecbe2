//! Hashes of what files say, wherever it lies in them.

use super::super::files::{Kind, Part};
use crate::input::slice;
use crate::status::Result;
use crate::trace::Digest;
use flate2::Crc;
use std::ops::Range;
use traceglass::rfr::{Callsites, Chunk, Item, Streaming};

/// The offset of an object or a record.
pub fn start(item: &Item<'_>) -> Option<u64> {
    match item {
        Item::Object(object) => Some(object.offset()),
        Item::Record(record) => Some(record.offset()),
        _ => None,
    }
}

/// The bytes of records, objects or callsites, one after the other, whatever lies between them. Records are small, and
/// there are many: those without anything between them are hashed at once.
pub struct Bytes<'d> {
    data: &'d [u8],
    /// The offset up to which everything is hashed.
    start: u64,
    end: u64,
    crc: Crc,
}

impl<'d> Bytes<'d> {
    pub fn of(data: &'d [u8]) -> Self {
        Self { data, start: 0, end: 0, crc: Crc::new() }
    }

    /// Adds what lies from `start` to `end`.
    pub fn add(&mut self, start: u64, end: u64) {
        if start != self.end {
            self.crc.update(slice(self.data, self.start, self.end));
            self.start = start;
        }
        self.end = end;
    }

    /// Adds all of it; the number tells it from others.
    pub fn end(mut self, number: u64, digest: &mut Digest) {
        self.crc.update(slice(self.data, self.start, self.end));
        digest.add(&[number, self.crc.sum().into(), self.crc.amount().into()], &[]);
    }
}

/// Adds what can be read of parts of a file, which are in order: of chunks, the sequences that begin in them. A clean
/// file has nothing but that.
pub fn hash_parts(part: &Part<'_>, parts: &[Range<u64>], is_clean: bool, digest: &mut Digest) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let data = part.data()?;
    let data = data.bytes();
    // Parts that cannot be read were told.
    match part.kind {
        Kind::Chunk(_) => {
            let Ok(chunk) = Chunk::parse(data) else { return Ok(()) };
            let mut items = chunk.items();
            let mut sequence: Option<(u64, Bytes<'_>)> = None;
            loop {
                match items.next_item() {
                    Ok(Some(Item::Sequence(header))) => {
                        let at = header.offset();
                        let part = parts.get(parts.partition_point(|part| part.end <= at));
                        let is_in = part.is_some_and(|part| part.contains(&at));
                        let next = is_in.then(|| (header.seq_id(), Bytes::of(data)));
                        if let Some((number, bytes)) = std::mem::replace(&mut sequence, next) {
                            bytes.end(number, digest);
                        }
                    }
                    Ok(Some(item)) => {
                        if let (Some(start), Some((_, bytes))) = (start(&item), &mut sequence) {
                            bytes.add(start, items.offset());
                        }
                    }
                    Err(_) if items.recover().is_some() => {}
                    Ok(None) | Err(_) => break,
                }
            }
            if let Some((number, bytes)) = sequence {
                bytes.end(number, digest);
            }
        }
        Kind::Stream => {
            let Ok(stream) = Streaming::parse(data) else { return Ok(()) };
            let (mut records, mut bytes) = (stream.records(), Bytes::of(data));
            if is_clean {
                bytes.add(records.offset(), data.len() as u64);
                bytes.end(0, digest);
                return Ok(());
            }
            loop {
                let at = records.offset();
                match records.next_record() {
                    Ok(Some(_)) => bytes.add(at, records.offset()),
                    Err(_) if records.recover().is_some() => {}
                    Ok(None) | Err(_) => break,
                }
            }
            bytes.end(0, digest);
        }
        Kind::Callsites => {
            let Ok(mut callsites) = Callsites::parse(data) else { return Ok(()) };
            let mut bytes = Bytes::of(data);
            loop {
                let at = callsites.offset();
                match callsites.next_callsite() {
                    Ok(Some(_)) => bytes.add(at, callsites.offset()),
                    Err(_) if callsites.recover().is_some() => {}
                    Ok(None) | Err(_) => break,
                }
            }
            bytes.end(0, digest);
        }
        Kind::Meta => {}
    }
    Ok(())
}
