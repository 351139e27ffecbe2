//! One view of several sequences, ordered by time.

use super::chunk::ChunkHeader;
use super::element::{MERGE, TIMESTAMP};
use super::record::Record;
use super::sequence::Records;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::heap::{self, Place};
use core::iter::FusedIterator;

/// Room for one source of a [`Merge`].
#[derive(Clone, Debug)]
pub struct MergeSlot<'a> {
    records: Records<'a>,
    header: ChunkHeader,
    base: u64,
    // A place of the heap: unrelated to the source above, but kept in the same storage.
    rank: Rank,
}

/// A source in the heap: the time of its next record, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    micros: u64,
    source: usize,
}

impl Rank {
    /// The rank as one number, which is compared without a branch.
    #[inline(always)]
    fn key(self) -> u128 {
        u128::from(self.micros) << 64 | u128::from(to_u64(self.source))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl MergeSlot<'_> {
    /// No source: what storage is filled with before it is lent.
    pub const EMPTY: Self = Self {
        records: Records::EMPTY,
        header: ChunkHeader::EMPTY,
        base: 0,
        rank: Rank { micros: 0, source: 0 },
    };

    /// The time of this source's next record. An error comes as soon as it is found.
    #[inline]
    fn next_micros(&self, last: u64) -> Option<u64> {
        (self.records.claimed() > 0).then(|| {
            self.records.peek_timestamp().map_or(last, |timestamp| self.base.saturating_add(timestamp))
        })
    }
}

default_is_empty!(MergeSlot<'_>);

impl Place for MergeSlot<'_> {
    type Rank = Rank;

    // The sequences of a chunk are as many as its threads.
    const LISTED: usize = 8;

    fn rank(&self) -> Rank {
        self.rank
    }

    fn set_rank(&mut self, rank: Rank) {
        self.rank = rank;
    }
}

/// A record of a [`Merge`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merged<'a> {
    source: usize,
    micros: u64,
    record: Record<'a>,
    end: u64,
}

impl<'a> Merged<'a> {
    /// Number of the source, in the order in which sources were added.
    #[inline]
    pub const fn source(&self) -> usize {
        self.source
    }

    /// The time in microseconds since the Unix epoch.
    #[inline]
    pub const fn unix_micros(&self) -> u64 {
        self.micros
    }

    /// Offset in its input after its last byte.
    #[inline]
    pub const fn end_offset(&self) -> u64 {
        self.end
    }

    /// The record.
    #[inline]
    pub const fn record(&self) -> Record<'a> {
        self.record
    }
}

/// The records of several sequences, ordered by time.
///
/// Each sequence is in order, but sequences overlap: those of a chunk, and (where clocks were set back) those of
/// different chunks. This merges any number of them, of one chunk or several, in storage that the caller lends. Records
/// with the same time keep the order of their sources, and those of one source keep theirs, even if its clock was set
/// back.
///
/// ```
/// use traceglass::rfr::{Chunk, Merge, MergeSlot};
/// # let file = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x02\x01\0\x09\0\x02\x01\x06\x05\x04\x07\x05\x02\0\x09\0\x01\x02\x06\x08";
///
/// let chunk = Chunk::parse(file)?;
/// let mut slots = [const { MergeSlot::EMPTY }; 16];
/// let mut merge = Merge::new(&mut slots);
/// for sequence in chunk.sequences() {
///     merge.add(&chunk.header(), sequence?.records()?)?;
/// }
/// let times: Result<Vec<u64>, _> = merge.map(|merged| merged.map(|merged| merged.unix_micros())).collect();
/// assert_eq!(times?, [1, 2, 4]);
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Debug)]
pub struct Merge<'a, 't> {
    slots: &'t mut [MergeSlot<'a>],
    sources: usize,
    /// The number of sources that are in the heap.
    open: usize,
    /// The source that failed.
    failed: Option<(usize, Failure)>,
}

/// The way in which a source failed.
#[derive(Clone, Copy, Debug)]
enum Failure {
    /// A record cannot be read.
    Record(Error),
    /// A record was read, but its time does not fit.
    Time(Gap),
}

impl<'a, 't> Merge<'a, 't> {
    /// A merge of no sources yet, with room for as many as there are slots.
    pub const fn new(slots: &'t mut [MergeSlot<'a>]) -> Self {
        Self { slots, sources: 0, open: 0, failed: None }
    }

    /// Adds a source, and returns its number.
    ///
    /// # Errors
    /// `CapacityExceeded`; `Overflow` for the base time of the chunk.
    pub fn add(&mut self, header: &ChunkHeader, records: Records<'a>) -> Result<usize> {
        let base = header.base_micros()?;
        let capacity = to_u64(self.slots.len());
        let source = self.sources;
        let Some(slot) = self.slots.get_mut(source) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            return Err(Error::new(records.offset(), MERGE, kind));
        };
        (slot.records, slot.header, slot.base) = (records, *header, base);
        let rank = slot.next_micros(0).map(|micros| Rank { micros, source });
        self.sources = self.sources.saturating_add(1);
        if let Some(rank) = rank {
            let place = self.open;
            self.open = place.saturating_add(1);
            heap::push(self.slots, place, rank);
        }
        Ok(source)
    }

    /// The earliest of the records to come.
    ///
    /// # Errors
    /// The errors of records; `Overflow` if a time has more than 64 bits. From then on `None` is returned, until
    /// [`Merge::recover`] is called.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Merged<'a>>> {
        if self.failed.is_some() {
            return Ok(None);
        }
        let Some(Rank { source, micros: last }) = heap::first(self.slots, self.open) else { return Ok(None) };
        let Some(slot) = self.slots.get_mut(source) else { return Ok(None) };
        let base = slot.base;
        match slot.records.next_record() {
            Ok(Some(record)) => {
                let (next, end) = (slot.next_micros(last), slot.records.offset());
                self.rank_first(source, next);
                match base.checked_add(record.micros()) {
                    Some(micros) => Ok(Some(Merged { source, micros, record, end })),
                    None => {
                        let kind = ErrorKind::Overflow { value: record.micros() };
                        let cause = Error::new(record.offset(), TIMESTAMP, kind);
                        let gap = Gap::new(record.offset(), end.saturating_sub(record.offset()), cause);
                        self.failed = Some((source, Failure::Time(gap)));
                        Err(cause)
                    }
                }
            }
            // A source without another record is not in the heap.
            Ok(None) => Ok(None),
            Err(error) => {
                self.failed = Some((source, Failure::Record(error)));
                Err(error)
            }
        }
    }

    /// Gives the source at the top of the heap its new place, by the time of its next record; none if there is none.
    #[inline]
    fn rank_first(&mut self, source: usize, next: Option<u64>) {
        if let Some(micros) = next {
            heap::replace_first(self.slots, self.open, Rank { micros, source });
        } else {
            heap::pop(self.slots, self.open);
            self.open = self.open.saturating_sub(1);
        }
    }

    /// The source that the last error came from, until [`recover`](Self::recover) is called.
    pub const fn failed_source(&self) -> Option<usize> {
        match &self.failed {
            Some((source, _)) => Some(*source),
            None => None,
        }
    }

    /// After an error, goes on without the record that failed, and says what was lost.
    ///
    /// If the end of that record cannot be found, its source is at its end, and the gap reaches to the end of its file.
    /// The other sources go on in any case.
    pub fn recover(&mut self) -> Option<Gap> {
        let (source, failure) = self.failed.take()?;
        let cause = match failure {
            // The record itself was read.
            Failure::Time(gap) => return Some(gap),
            Failure::Record(cause) => cause,
        };
        let last = self.slots.first().map_or(0, |first| first.rank.micros);
        let slot = self.slots.get_mut(source)?;
        let rest = slot.records.reader().gap_to_end(cause);
        let gap = slot.records.recover();
        let next = if gap.is_some() { slot.next_micros(last) } else { None };
        self.rank_first(source, next);
        Some(gap.unwrap_or(rest))
    }

    /// The chunk header that a source was added with.
    pub fn header(&self, source: usize) -> Option<ChunkHeader> {
        self.slots.get(..self.sources)?.get(source).map(|slot| slot.header)
    }
}

impl<'a> Iterator for Merge<'a, '_> {
    type Item = Result<Merged<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

impl FusedIterator for Merge<'_, '_> {}
