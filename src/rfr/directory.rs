//! A directory of a chunk's sequences, in storage that the caller lends.

use super::chunk::Chunk;
use super::element::CHUNK;
use super::read::Reader;
use super::sequence::{Records, Sequence, SequenceHeader};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};

/// The place of a sequence and its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    header: SequenceHeader,
    objects: u64,
    records: u64,
    record_count: u64,
    end: u64,
}

impl DirectoryEntry {
    /// No sequence: what storage is filled with before it is lent.
    pub const EMPTY: Self =
        Self { header: SequenceHeader::EMPTY, objects: 0, records: 0, record_count: 0, end: 0 };

    /// The sequence itself, in the chunk that the directory was built of.
    pub fn sequence<'a>(&self, chunk: &Chunk<'a>) -> Sequence<'a> {
        let body = chunk.body();
        let records = (body.seek(self.records), self.record_count);
        Sequence::new(self.header, body.seek(self.objects), Some(records))
    }

    /// The header of the sequence.
    pub const fn header(&self) -> SequenceHeader {
        self.header
    }

    /// The number of records: as claimed, unless the sequence is cut.
    pub const fn record_count(&self) -> u64 {
        self.record_count
    }

    /// Offset of the first record.
    pub const fn records_offset(&self) -> u64 {
        self.records
    }

    /// Offset after the last record.
    pub const fn end_offset(&self) -> u64 {
        self.end
    }
}

default_is_empty!(DirectoryEntry);

/// The sequences of a chunk with random access, after one pass over it.
///
/// ```
/// use traceglass::rfr::{Chunk, Directory, DirectoryEntry};
/// # let file = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x02\x01\0\x09\0\x01\x04\x06\x05\x02\0\x09\0\x01\x08\x07\x05";
///
/// let chunk = Chunk::parse(file)?;
/// let mut entries = [DirectoryEntry::EMPTY; 8]; // or a vector of chunk.sequence_count_max() of them
/// let directory = Directory::build(&chunk, &mut entries)?;
/// let second = directory.sequence(1).unwrap();
/// assert_eq!(second.records()?.next().unwrap()?.micros(), 8);
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a, 't> {
    chunk: Chunk<'a>,
    entries: &'t [DirectoryEntry],
    error: Option<Error>,
}

impl<'a, 't> Directory<'a, 't> {
    /// Walks through the chunk and notes where its sequences are.
    ///
    /// Records are skipped, not checked. The directory of a damaged chunk has what precedes the [`error`](Self::error);
    /// of the sequence with the error, the complete records before it.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed.
    pub fn build(chunk: &Chunk<'a>, storage: &'t mut [DirectoryEntry]) -> Result<Self> {
        let mut used = 0_usize;
        let mut stopped = None;
        let mut sequences = chunk.sequences();
        loop {
            let sequence = match sequences.next_sequence() {
                Ok(Some(sequence)) => sequence,
                Ok(None) => break,
                Err(error) => {
                    stopped = Some(error);
                    break;
                }
            };
            let entry = match Self::entry(&sequence) {
                Ok((entry, at)) => {
                    sequences.pass(at);
                    entry
                }
                Err((entry, error)) => {
                    stopped = Some(error);
                    entry
                }
            };
            if let Some(slot) = storage.get_mut(used) {
                *slot = entry;
            }
            used = used.saturating_add(1);
            if stopped.is_some() {
                break;
            }
        }
        let capacity = to_u64(storage.len());
        let Some(entries) = storage.get(..used) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(used) };
            return Err(chunk.body().error(CHUNK, kind));
        };
        Ok(Self { chunk: *chunk, entries, error: stopped })
    }

    /// The entry of a sequence, and what follows it or why that is not known.
    #[allow(clippy::type_complexity)]
    fn entry(sequence: &Sequence<'a>) -> Result<(DirectoryEntry, Reader<'a>), (DirectoryEntry, Error)> {
        let header = sequence.header();
        let objects = sequence.objects().offset();
        let mut entry = DirectoryEntry { header, objects, ..DirectoryEntry::EMPTY };
        let (reader, claimed) = match sequence.place_of_records() {
            Ok(found) => found,
            // No record can be found: an empty list, where the objects are.
            Err(error) => {
                return Err((DirectoryEntry { records: objects, end: objects, ..entry }, error));
            }
        };
        entry.records = reader.offset();
        let mut records = Records::new(reader, claimed);
        let error = loop {
            match records.skip_record() {
                Ok(true) => entry.record_count = entry.record_count.saturating_add(1),
                Ok(false) => break None,
                Err(error) => break Some(error),
            }
        };
        entry.end = records.offset();
        match error {
            None => Ok((entry, records.reader())),
            Some(error) => Err((entry, error)),
        }
    }

    /// The entries, in the order of the file.
    pub const fn entries(&self) -> &'t [DirectoryEntry] {
        self.entries
    }

    /// The sequence of an entry. Its records are found without a walk.
    pub fn sequence(&self, index: usize) -> Option<Sequence<'a>> {
        self.entries.get(index).map(|entry| entry.sequence(&self.chunk))
    }

    /// The error that keeps the rest of the chunk from being found.
    pub const fn error(&self) -> Option<Error> {
        self.error
    }
}
