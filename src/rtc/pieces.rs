//! The pieces of records that lie in several frames, kept in lent memory.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind};
use crate::rtc::{Frame, Time, element, work};
use core::fmt;

/// The size of an entry in lent memory: a piece of an open record.
const ENTRY: usize = 16;
/// No entry.
const NONE: u32 = u32::MAX;

/// The entries of a record: the first and the last one, and how many it has or would have.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    head: u32,
    tail: u32,
    count: u32,
    /// True if there was no room for one of them.
    is_cut: bool,
}

impl Chain {
    pub(super) const NONE: Self = Self { head: NONE, tail: NONE, count: 0, is_cut: false };

    /// True if it has none.
    pub(super) const fn is_empty(self) -> bool {
        self.count == 0
    }
}

/// Lent memory: entries from its start on, linked to chains, and after them room to put a record together.
pub(super) struct Pool<'b> {
    buffer: &'b mut [u8],
    /// The number of entries that were ever used since none was, and those of them that are free again.
    used: u32,
    free: u32,
    /// The number of entries all open records take or would, and the most of them since there was none.
    wanted: u32,
    high: u32,
}

impl<'b> Pool<'b> {
    pub(super) const fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, used: 0, free: NONE, wanted: 0, high: 0 }
    }

    /// Frees all entries.
    pub(super) const fn clear(&mut self) {
        (self.used, self.free, self.wanted, self.high) = (0, NONE, 0, 0);
    }

    /// Adds a piece to a chain.
    pub(super) fn add(&mut self, chain: &mut Chain, frame: &Frame<'_>) {
        chain.count = chain.count.saturating_add(1);
        self.wanted = self.wanted.saturating_add(1);
        self.high = self.high.max(self.wanted);
        if chain.is_cut {
            return;
        }
        match self.append(chain.tail, frame) {
            Some(entry) => {
                chain.tail = entry;
                chain.head = if chain.head == NONE { entry } else { chain.head };
            }
            None => chain.is_cut = true,
        }
    }

    /// Adds an entry after `tail`; `None` if there is no room.
    fn append(&mut self, tail: u32, frame: &Frame<'_>) -> Option<u32> {
        let entry = if self.free == NONE {
            let entry = self.used;
            let end = usize::try_from(entry).ok()?.checked_add(1)?.checked_mul(ENTRY)?;
            self.buffer.get(..end)?;
            self.used = self.used.checked_add(1)?;
            entry
        } else {
            let entry = self.free;
            self.free = Entry::read(self.buffer, entry)?.next;
            entry
        };
        let len = u16::try_from(frame.payload().len()).unwrap_or(u16::MAX);
        Entry { offset: frame.offset(), header: frame.header_size(), len, next: NONE }
            .write(self.buffer, entry);
        if let Some(last) = Entry::read(self.buffer, tail) {
            Entry { next: entry, ..last }.write(self.buffer, tail);
        }
        Some(entry)
    }

    /// Frees the entries of a chain.
    pub(super) fn release(&mut self, chain: Chain) {
        self.wanted = self.wanted.saturating_sub(chain.count);
        if self.wanted == 0 {
            self.clear();
        } else if let Some(last) = Entry::read(self.buffer, chain.tail) {
            Entry { next: self.free, ..last }.write(self.buffer, chain.tail);
            self.free = chain.head;
        }
    }

    /// Puts a record together.
    pub(super) fn join(&mut self, record: &Joined, data: &[u8]) {
        let Some((entries, room)) = self.buffer.split_at_mut_checked(self.entries()) else { return };
        let Some(mut to) = record.room().and_then(|len| room.get_mut(..len)) else { return };
        work::count(to.len());
        for (_, piece) in (Pieces { data, one: None, entries, next: record.chain.head }) {
            let Some((front, rest)) = to.split_at_mut_checked(piece.len()) else { break };
            front.iter_mut().zip(piece).for_each(|(to, &byte)| *to = byte);
            to = rest;
        }
    }

    /// The record that was joined last.
    pub(super) fn bytes(&self, record: &Joined) -> Result<&[u8], Error> {
        let room = self.buffer.get(self.entries()..);
        let bytes = room.zip(record.room()).and_then(|(room, len)| room.get(..len));
        bytes.ok_or_else(|| {
            let needed =
                u64::from(self.high).saturating_mul(to_u64(ENTRY)).saturating_add(to_u64(record.len));
            let kind = ErrorKind::CapacityExceeded { capacity: to_u64(self.buffer.len()), needed };
            Error::new(record.offset(), element::RECORD, kind)
        })
    }

    /// The pieces of a record.
    pub(super) fn pieces<'a>(&self, record: &Joined, data: &'a [u8]) -> Pieces<'_, 'a> {
        Pieces { data, one: None, entries: self.buffer, next: record.chain.head }
    }

    /// The number of bytes the entries take.
    fn entries(&self) -> usize {
        usize::try_from(self.used).unwrap_or(0).saturating_mul(ENTRY)
    }
}

/// A record in several pieces, as far as they have come.
#[derive(Clone, Copy)]
pub(super) struct Joined {
    /// Offset of its first frame in the input.
    pub(super) start: usize,
    pub(super) len: usize,
    /// The time of its begin, if that is known; an option would take 16 bytes more.
    pub(super) time: Time,
    pub(super) has_time: bool,
    /// The size of the first frame's header.
    pub(super) header: u8,
    pub(super) chain: Chain,
}

impl Joined {
    pub(super) const NONE: Self =
        Self { start: 0, len: 0, time: Time::ZERO, has_time: false, header: 0, chain: Chain::NONE };

    /// Offset of its first frame.
    pub(super) const fn offset(&self) -> u64 {
        to_u64(self.start)
    }

    /// The number of bytes to join it in, if it has entries for all of its pieces.
    fn room(&self) -> Option<usize> {
        (!self.chain.is_cut).then_some(self.len)
    }
}

/// A piece, as it is kept in lent memory: offset of the frame, size of its header, length of its payload, next entry.
#[derive(Clone, Copy)]
struct Entry {
    offset: u64,
    len: u16,
    header: u8,
    next: u32,
}

impl Entry {
    fn read(buffer: &[u8], entry: u32) -> Option<Self> {
        let start = usize::try_from(entry).ok()?.checked_mul(ENTRY)?;
        let bytes = buffer.get(start..)?.first_chunk::<ENTRY>()?;
        let [a, b, c, d, e, f, g, h, l, m, header, _, n, o, p, q] = *bytes;
        Some(Self {
            offset: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            len: u16::from_le_bytes([l, m]),
            header,
            next: u32::from_le_bytes([n, o, p, q]),
        })
    }

    fn write(self, buffer: &mut [u8], entry: u32) {
        let start = usize::try_from(entry).ok().and_then(|entry| entry.checked_mul(ENTRY));
        let to = start.and_then(|start| buffer.get_mut(start..)?.first_chunk_mut::<ENTRY>());
        let Some(to) = to else { return };
        let ([a, b, c, d, e, f, g, h], [l, m]) = (self.offset.to_le_bytes(), self.len.to_le_bytes());
        let [n, o, p, q] = self.next.to_le_bytes();
        *to = [a, b, c, d, e, f, g, h, l, m, self.header, 0, n, o, p, q];
    }
}

/// The pieces of a [`Record`](crate::rtc::Record).
#[derive(Clone)]
pub struct Pieces<'r, 'a> {
    data: &'a [u8],
    /// The only one.
    one: Option<(u64, &'a [u8])>,
    entries: &'r [u8],
    next: u32,
}

impl<'a> Pieces<'_, 'a> {
    pub(super) const fn one(frame: &Frame<'a>) -> Self {
        Self { data: &[], one: Some((frame.offset(), frame.payload())), entries: &[], next: NONE }
    }
}

impl<'a> Iterator for Pieces<'_, 'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(one) = self.one.take() {
            return Some(one);
        }
        let entry = Entry::read(self.entries, self.next)?;
        self.next = entry.next;
        let start = usize::try_from(entry.offset).ok()?.checked_add(usize::from(entry.header))?;
        Some((entry.offset, self.data.get(start..)?.get(..usize::from(entry.len))?))
    }
}

impl core::iter::FusedIterator for Pieces<'_, '_> {}

impl fmt::Debug for Pieces<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").finish_non_exhaustive()
    }
}
