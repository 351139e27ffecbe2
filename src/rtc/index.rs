//! Index and index: where each stream was written last.

use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::grammar;
use crate::rtc::Frame;
use crate::rtc::element::INDEX;
use crate::rtc::frame::{self, id};
use crate::rtc::work;
use crate::{Error, varint};
use core::iter::FusedIterator;
use nom::Parser;

/// The Index of a major unit, or the index of a minor one.
///
/// # Layout
/// An Index begins with LEB128 of the unit's number; then, for each stream by ascending id, LEB128 of
/// id · 2 + 1 and LEB128 of distance · 2. The lowest bit tells ids from distances, so that one can search in the
/// middle of it.
///
/// A distance is counted *back* from the index's own header to that of the stream's first frame within the last
/// minor unit in which the stream began to be written; 0 says that there is none yet. Those of streams 3 and 4 in an
/// Index are the sizes of the units; that of stream 3 in an index leads to the Index of its unit, so that every
/// index verifies itself.
///
/// Longer ones than 1024 bytes go on in more frames; the deployed writer damages those at the limit, so that this
/// view reads the first frame alone.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    entries: Bytes<'a>,
    offset: u64,
    number: Option<u64>,
    more: bool,
}

/// The entry of one stream in an [`Index`].
#[doc(alias = "entry")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    id: u64,
    distance: u64,
    index: u64,
}

impl Entry {
    /// The number of the stream.
    #[doc(alias = "index_id")]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The distance back from the index; 0 if there is nothing to lead to.
    #[doc(alias = "index_offset")]
    pub const fn distance(&self) -> u64 {
        self.distance
    }

    /// Offset of the frame that it leads to, if that lies in the input.
    pub fn target(&self) -> Option<u64> {
        if self.distance == 0 { None } else { self.index.checked_sub(self.distance) }
    }
}

impl<'a> Index<'a> {
    /// The index in a frame, if the frame is the first one of an Index or index.
    ///
    /// # Errors
    /// The number of the unit cannot be read.
    pub fn from_frame(frame: &Frame<'a>) -> Option<Result<Self>> {
        let major = match frame.id() {
            id::INDEX => true,
            id::MINOR_INDEX => false,
            _ => return None,
        };
        let payload = Bytes::at(frame.payload(), frame.payload_offset());
        (!frame.continues()).then(|| Self::from_payload(payload, frame.offset(), major, frame.more()))
    }

    fn from_payload(payload: Bytes<'a>, offset: u64, major: bool, more: bool) -> Result<Self> {
        if !major {
            return Ok(Self { entries: payload, offset, number: None, more });
        }
        let (number, entries) = grammar::finish(grammar::int(INDEX)(payload))?;
        Ok(Self { entries, offset, number: Some(number), more })
    }

    /// The Index or index whose frame begins at the front of `input`; and how large the frame is.
    pub(crate) fn parse(input: Bytes<'a>, major: bool) -> Result<(Self, Bytes<'a>)> {
        let (parts, rest) = frame::read_default(input)?;
        if parts.id != (if major { id::INDEX } else { id::MINOR_INDEX }) {
            let byte = input.as_slice().first().copied().unwrap_or(0);
            let expected = if major { "an Index" } else { "an index" };
            return Err(input.error(INDEX, ErrorKind::Unexpected { byte, expected }));
        }
        let payload = Bytes::at(parts.payload, input.offset().saturating_add(u64::from(parts.header)));
        Ok((Self::from_payload(payload, input.offset(), major, parts.more)?, rest))
    }

    /// Offset of its header in the input, from which distances are counted.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the major unit within its session; `None` in an index.
    #[doc(alias = "count")]
    pub const fn number(&self) -> Option<u64> {
        self.number
    }

    /// True if it goes on in more frames.
    pub const fn more(&self) -> bool {
        self.more
    }

    /// The entries.
    pub const fn entries(&self) -> Entries<'a> {
        Entries { rest: self.entries, index: self.offset, done: false }
    }

    /// The entry of a stream, by binary search.
    ///
    /// # Errors
    /// An entry that is not one, or [`Missing`](ErrorKind::Missing) if there is none.
    pub fn find(&self, id: u64) -> Result<Entry> {
        let data = self.entries.as_slice();
        let (mut low, mut high) = (0, data.len());
        while low < high {
            let middle = low.midpoint(high);
            let Some(start) = entry_at_or_before(data, middle).filter(|&start| start >= low) else { break };
            let rest = self.entries.range(
                self.entries.offset().saturating_add(crate::bytes::to_u64(start)),
                crate::bytes::to_u64(data.len().saturating_sub(start)),
            );
            let mut entries = Entries { rest: rest.unwrap_or(self.entries), index: self.offset, done: false };
            match entries.next() {
                Some(Ok(entry)) if entry.id == id => return Ok(entry),
                Some(Ok(entry)) if entry.id < id => low = data.len().saturating_sub(entries.rest.len()),
                Some(Ok(_)) => high = start,
                Some(Err(error)) => return Err(error),
                None => break,
            }
        }
        Err(Error::new(self.offset, INDEX, ErrorKind::Missing))
    }

    /// Checks that all entries can be read.
    pub fn check(&self) -> Result<()> {
        self.entries().try_for_each(|entry| entry.map(|_| ()))
    }
}

/// The start of the entry that the byte at `at` belongs to.
fn entry_at_or_before(data: &[u8], at: usize) -> Option<usize> {
    let mut at = start_of_int(data, at);
    // A distance is even; the id is in front of it.
    if data.get(at)? & 1 == 0 {
        at = start_of_int(data, at.checked_sub(1)?);
    }
    (data.get(at)? & 1 == 1).then_some(at)
}

/// The start of the integer that the byte at `at` belongs to.
fn start_of_int(data: &[u8], mut at: usize) -> usize {
    while let Some(before) = at.checked_sub(1) {
        work::count(1);
        if data.get(before).is_none_or(|byte| byte & 0x80 == 0) {
            break;
        }
        at = before;
    }
    at
}

/// The entries of an [`Index`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    rest: Bytes<'a>,
    index: u64,
    done: bool,
}

impl Entries<'_> {
    /// Offset of the next entry in the input.
    pub const fn offset(&self) -> u64 {
        self.rest.offset()
    }

    /// Offset after the last entry.
    pub(super) const fn end(&self) -> u64 {
        self.rest.end_offset()
    }

    fn read(&mut self) -> Result<Entry> {
        let entry = (grammar::int(INDEX), grammar::int(INDEX)).parse_complete(self.rest);
        let ((id, distance), rest) = grammar::finish(entry)?;
        // The lowest bit is set in an id and clear in a distance.
        if id & 1 == 0 || distance & 1 == 1 {
            let value = if id & 1 == 0 { id } else { distance };
            return Err(self.rest.error(INDEX, ErrorKind::Invalid { value }));
        }
        self.rest = rest;
        Ok(Entry { id: id >> 1, distance: distance >> 1, index: self.index })
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        work::count(1);
        if self.done || self.rest.is_empty() {
            return None;
        }
        let entry = self.read();
        self.done = entry.is_err();
        Some(entry)
    }
}

impl FusedIterator for Entries<'_> {}

/// True if `data` looks like the payload of an Index or index: a cheap test before a search looks closer.
pub(crate) fn starts_like_one(data: &[u8]) -> bool {
    // The first entry is that of stream 3; its distance, doubled, is a multiple of 4096.
    data.first() == Some(&7)
        && matches!(varint::read_u64(data.get(1..).unwrap_or_default()), Ok((n, _)) if n != 0 && n & 0xfff == 0)
}

/// True if a frame of the entry's stream begins where the entry leads to, at `from` or after it.
pub(crate) fn leads_to_frame(data: Bytes<'_>, entry: &Entry, from: u64) -> bool {
    let Some(target) = entry.target().filter(|&target| target >= from) else { return false };
    let Some(input) = data.range(target, data.end_offset().saturating_sub(target)) else { return false };
    frame::read_header(input).is_ok_and(|((id, _), _)| id == entry.id())
}

/// The first frame of a user's stream in `from..to` to which an index leads.
pub(crate) fn first_target(whole: Bytes<'_>, index: &Index<'_>, from: u64, to: u64) -> Option<u64> {
    let mut first = None;
    for entry in index.entries() {
        let Ok(entry) = entry else { break };
        let Some(target) = entry.target().filter(|target| (from..to).contains(target)) else { continue };
        let is_earlier = first.is_none_or(|first| target < first);
        if entry.id() >= id::USER && is_earlier && leads_to_frame(whole, &entry, from) {
            first = Some(target);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn write(entries: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in entries.iter().flat_map(|&(id, distance)| [id * 2 + 1, distance * 2]) {
            let mut n = n;
            while n >= 128 {
                bytes.push(n as u8 | 0x80);
                n >>= 7;
            }
            bytes.push(n as u8);
        }
        bytes
    }

    #[test]
    fn binary_search_finds_what_walking_finds() {
        let entries: Vec<(u64, u64)> =
            (0..200).map(|i| (3 + i * i * 7, if i % 3 == 0 { 0 } else { i * 1000 % 777 })).collect();
        let payload = write(&entries);
        let index = Index::from_payload(Bytes::at(&payload, 100_002), 100_000, false, false).unwrap();
        let walked: Vec<Entry> = index.entries().map(Result::unwrap).collect();
        assert_eq!(walked.len(), entries.len());
        for (entry, &(id, distance)) in walked.iter().zip(&entries) {
            assert_eq!((entry.id(), entry.distance()), (id, distance));
            assert_eq!(index.find(id).unwrap(), *entry);
            assert_eq!(index.find(id + 1).unwrap_err().kind(), ErrorKind::Missing);
            assert_eq!(entry.target(), (distance > 0).then(|| 100_000 - distance));
        }
        assert!(index.find(0).is_err());
        assert!(index.find(u64::MAX).is_err());
    }

    #[test]
    fn swapped_bits_are_refused_where_they_stand() {
        let mut payload = write(&[(3, 2048), (9, 5)]);
        payload.push(4);
        payload.push(4);
        let index = Index::from_payload(Bytes::at(&payload, 10), 8, false, false).unwrap();
        let mut entries = index.entries();
        assert!(entries.by_ref().take(2).all(|entry| entry.is_ok()));
        assert_eq!(entries.next(), Some(Err(Error::new(15, INDEX, ErrorKind::Invalid { value: 4 }))));
        assert_eq!(entries.next(), None);
        assert!(starts_like_one(&payload));
        assert!(!starts_like_one(&write(&[(3, 2049)])));
    }
}
