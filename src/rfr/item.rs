//! A chunk as a flat sequence of items.

use super::element::{RECORDS, SEQUENCES};
use super::object::Object;
use super::read::{Part, Reader};
use super::record::Record;
use super::sequence::SequenceHeader;
use crate::error::{Element, Result};
use crate::gap::Gap;
use core::iter::FusedIterator;

/// An element of a chunk, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A sequence begins: the objects and records up to the next one belong to it.
    Sequence(SequenceHeader),
    /// An object of the sequence.
    Object(Object<'a>),
    /// A record of the sequence.
    Record(Record<'a>),
}

/// The items of a chunk, each decoded once and checked.
///
/// Nothing in a chunk has a length in bytes; a walk like this one is the only way through it.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    reader: Reader<'a>,
    stage: Stage,
    /// The number of sequences, objects and records that are to come, if the claims are true.
    sequences: u64,
    objects: u64,
    records: u64,
    failed: bool,
}

/// The count that comes next, once no object and no record is left.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The count of sequences.
    Sequences,
    /// The count of records, after the objects.
    Records,
    /// None: a sequence.
    Sequence,
}

impl<'a> Items<'a> {
    pub(super) const fn new(reader: Reader<'a>) -> Self {
        Self { reader, stage: Stage::Sequences, sequences: 0, objects: 0, records: 0, failed: false }
    }

    /// The next item.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`, and `Invalid` for an unknown kind or a byte that should be 0 or 1.
    /// From then on there is none, unless [`Items::recover`] finds a way.
    #[inline]
    pub fn next_item(&mut self) -> Result<Option<Item<'a>>> {
        if self.failed {
            return Ok(None);
        }
        loop {
            if let Some(left) = self.records.checked_sub(1) {
                if let Some((record, end)) = Record::read_fast(self.reader) {
                    self.reader.go_to(end);
                    self.records = left;
                    return Ok(Some(Item::Record(record)));
                }
                let record = self.read(Record::read(self.reader))?;
                self.records = left;
                return Ok(Some(Item::Record(record)));
            }
            if let Some(left) = self.objects.checked_sub(1) {
                let object = self.read(Object::read(self.reader))?;
                self.objects = left;
                return Ok(Some(Item::Object(object)));
            }
            match self.stage {
                Stage::Sequences => {
                    self.sequences = self.read_count(SEQUENCES)?;
                    self.stage = Stage::Sequence;
                }
                Stage::Records => {
                    self.records = self.read_count(RECORDS)?;
                    self.stage = Stage::Sequence;
                }
                Stage::Sequence => {
                    let Some(left) = self.sequences.checked_sub(1) else { return Ok(None) };
                    let header = self.read_header()?;
                    self.sequences = left;
                    self.objects = header.object_count();
                    self.stage = Stage::Records;
                    return Ok(Some(Item::Sequence(header)));
                }
            }
        }
    }

    /// The next item, if it is a record without data of its own; else nothing is read, and [`Self::next_item`] says what
    /// there is.
    ///
    /// Most items are such records: a loop that asks for them first is faster.
    #[inline(always)]
    pub fn take_record(&mut self) -> Option<Record<'a>> {
        // After an error, the one that failed is here.
        let left = self.records.checked_sub(1)?;
        let (record, end) = Record::read_fast(self.reader)?;
        self.reader.go_to(end);
        self.records = left;
        Some(record)
    }

    /// Moves on if that can be read, and else notes that it failed.
    #[inline(always)]
    fn read<T>(&mut self, read: Result<(T, usize)>) -> Result<T> {
        match read {
            Ok((value, end)) => {
                self.reader.go_to(end);
                Ok(value)
            }
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    fn read_count(&mut self, element: Element) -> Result<u64> {
        let mut reader = self.reader;
        let count = reader.u64(element);
        self.read(count.map(|count| (count, reader.position())))
    }

    fn read_header(&mut self) -> Result<SequenceHeader> {
        let mut reader = self.reader;
        let header = SequenceHeader::read(&mut reader);
        self.read(header.map(|header| (header, reader.position())))
    }

    /// After an error, skips the object or record that failed, if its end can be found, and says what was lost.
    ///
    /// `None` if nothing failed or the end cannot be found: then there are no more.
    pub fn recover(&mut self) -> Option<Gap> {
        if !self.failed {
            return None;
        }
        let (gap, end) = match (self.objects, self.records) {
            (1.., _) => (self.reader.gap::<Object<'_>>()?, Object::skip(self.reader).ok()?),
            (0, 1..) => (self.reader.gap::<Record<'_>>()?, Record::skip(self.reader).ok()?),
            (0, 0) => return None,
        };
        self.reader.go_to(end);
        self.failed = false;
        if self.objects > 0 {
            self.objects = self.objects.saturating_sub(1);
        } else {
            self.records = self.records.saturating_sub(1);
        }
        Some(gap)
    }

    /// Offset of the next item, or of the one that failed.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The number of bytes that follow.
    pub(super) const fn left(&self) -> u64 {
        self.reader.left()
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Item<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}

impl FusedIterator for Items<'_> {}
