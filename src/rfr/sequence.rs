//! Sequences: the records of one thread in a chunk, and what they are about.

use super::element::{OBJECTS, RECORDS, SEQUENCE, SEQUENCES};
use super::layout::{Row, Table, Wire};
use super::object::{self, Object};
use super::read::{Part, Reader};
use super::record::{self, Record};
use crate::error::Result;
use crate::gap::Gap;
use core::iter::FusedIterator;

/// The fewest bytes of a sequence: its header and two empty lists.
pub(super) const SEQUENCE_SIZE_MIN: u64 = 5;

/// The fields of a [`Sequence`].
pub(super) const FIELDS: Table = &[
    Row::new("sequence id", "seq_id", SEQUENCE, Wire::U64),
    Row::new("earliest, µs", "earliest_timestamp", SEQUENCE, Wire::U64),
    Row::new("latest, µs", "latest_timestamp", SEQUENCE, Wire::U64),
    Row::new("objects", "objects", OBJECTS, Wire::List(object::FIELDS)),
    Row::new("records", "records", RECORDS, Wire::List(record::FIELDS)),
];

/// The header of a sequence, and how many objects it claims to have.
///
/// # Layout
/// The first four fields of a [`Sequence`]: of the list of objects only its length.
///
/// # Units
/// Times are in microseconds from the base time of the chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceHeader {
    offset: u64,
    seq_id: u64,
    earliest: u64,
    latest: u64,
    object_count: u64,
}

impl SequenceHeader {
    pub(super) const EMPTY: Self = Self { offset: 0, seq_id: 0, earliest: 0, latest: 0, object_count: 0 };

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            offset: reader.offset(),
            seq_id: reader.u64(SEQUENCE)?,
            earliest: reader.u64(SEQUENCE)?,
            latest: reader.u64(SEQUENCE)?,
            object_count: reader.u64(OBJECTS)?,
        })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    #[doc(alias = "SeqId")]
    /// The sequence id, mostly one for each thread. It may occur several times in a chunk.
    pub const fn seq_id(&self) -> u64 {
        self.seq_id
    }

    /// The time of the earliest record as stored; that of the chunk's end if there is none.
    #[doc(alias = "earliest_timestamp")]
    pub const fn earliest(&self) -> u64 {
        self.earliest
    }

    /// The time of the latest record as stored; that of the chunk's start if there is none.
    #[doc(alias = "latest_timestamp")]
    pub const fn latest(&self) -> u64 {
        self.latest
    }

    /// True if the stored times say that there are no records.
    pub const fn is_empty(&self) -> bool {
        self.earliest > self.latest
    }

    /// The number of objects the sequence claims to have.
    pub const fn object_count(&self) -> u64 {
        self.object_count
    }
}

/// A sequence: in order, what was recorded in one thread.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | sequence id | `seq_id` | `varint(u64)` |
/// | earliest, µs | `earliest_timestamp` | `varint(u64)` |
/// | latest, µs | `latest_timestamp` | `varint(u64)` |
/// | objects | `objects` | list of [`Object`] |
/// | records | `records` | list of [`Record`] |
#[derive(Clone, Copy, Debug)]
#[doc(alias = "SeqChunk")]
pub struct Sequence<'a> {
    header: SequenceHeader,
    objects: Reader<'a>,
    /// The records' place and number, if that is known already.
    records: Option<(Reader<'a>, u64)>,
}

impl<'a> Sequence<'a> {
    pub(super) const fn new(
        header: SequenceHeader,
        objects: Reader<'a>,
        records: Option<(Reader<'a>, u64)>,
    ) -> Self {
        Self { header, objects, records }
    }

    /// The header.
    pub const fn header(&self) -> SequenceHeader {
        self.header
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.header.offset
    }

    /// The sequence id.
    pub const fn seq_id(&self) -> u64 {
        self.header.seq_id
    }

    /// The objects that the records name.
    pub const fn objects(&self) -> Objects<'a> {
        Objects { run: Counted::new(self.objects, self.header.object_count) }
    }

    /// The records.
    ///
    /// # Errors
    /// The errors of an object that has no end, and of the number of records.
    pub fn records(&self) -> Result<Records<'a>> {
        let (reader, count) = self.place_of_records()?;
        Ok(Records::new(reader, count))
    }

    /// The place of the records and their claimed number.
    pub(super) fn place_of_records(&self) -> Result<(Reader<'a>, u64)> {
        self.records.map_or_else(|| self.find_records(), Ok)
    }

    fn find_records(&self) -> Result<(Reader<'a>, u64)> {
        let mut reader = self.objects;
        for _ in 0..self.header.object_count {
            reader.go_to(Object::skip(reader)?);
        }
        let count = reader.u64(RECORDS)?;
        Ok((reader, count))
    }

    /// The reader after the sequence.
    fn after(&self) -> Result<Reader<'a>> {
        let mut records = self.records()?;
        while records.skip_record()? {}
        Ok(records.reader())
    }
}

/// The sequences of a chunk.
///
/// Each is found by skipping the one before it, so a damaged one is the last: it is delivered, and the error follows. A
/// [`Directory`](super::Directory) does that work once.
#[derive(Clone, Debug)]
pub struct Sequences<'a> {
    /// At the number of sequences; from then on after the last one whose end is known.
    reader: Reader<'a>,
    state: State<'a>,
}

#[derive(Clone, Debug)]
enum State<'a> {
    Start,
    Within { current: Option<Sequence<'a>>, left: u64 },
    Done,
}

impl<'a> Sequences<'a> {
    pub(super) const fn new(reader: Reader<'a>) -> Self {
        Self { reader, state: State::Start }
    }

    /// The next sequence.
    ///
    /// # Errors
    /// Any error that keeps it from being found: `UnexpectedEnd`, `IntegerTooWide`, and the errors of the sequence
    /// before.
    pub fn next_sequence(&mut self) -> Result<Option<Sequence<'a>>> {
        let next = self.advance();
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Done;
        }
        next
    }

    fn advance(&mut self) -> Result<Option<Sequence<'a>>> {
        let left = match &self.state {
            State::Start => self.reader.u64(SEQUENCES)?,
            State::Within { current, left } => {
                if let Some(current) = current {
                    self.reader = current.after()?;
                }
                *left
            }
            State::Done => 0,
        };
        let Some(left) = left.checked_sub(1) else { return Ok(None) };
        let header = SequenceHeader::read(&mut self.reader)?;
        let mut current = Sequence::new(header, self.reader, None);
        // Found once, for whoever asks for the records and for the next sequence. After an error they are looked for
        // again, which returns it.
        current.records = current.find_records().ok();
        self.state = State::Within { current: Some(current), left };
        Ok(Some(current))
    }

    /// Lets the walk go on at `after`, the end of the sequence that came last.
    pub(super) fn pass(&mut self, after: Reader<'a>) {
        self.reader = after;
        if let State::Within { current, .. } = &mut self.state {
            *current = None;
        }
    }

    /// Offset up to which sequences have been found, the last one not included.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }
}

impl<'a> Iterator for Sequences<'a> {
    type Item = Result<Sequence<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_sequence().transpose()
    }
}

impl FusedIterator for Sequences<'_> {}

/// A counted run of elements.
#[derive(Clone, Debug)]
struct Counted<'a> {
    reader: Reader<'a>,
    /// The number of elements to come, if the claim is true.
    left: u64,
    /// `left` when one failed, which counts.
    held: u64,
}

impl<'a> Counted<'a> {
    const fn new(reader: Reader<'a>, left: u64) -> Self {
        Self { reader, left, held: 0 }
    }

    #[inline(always)]
    fn next<T: Part<'a>>(&mut self) -> Result<Option<T>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        if let Some((element, end)) = T::read_fast(self.reader) {
            self.reader.go_to(end);
            self.left = left;
            return Ok(Some(element));
        }
        match T::read(self.reader) {
            Ok((element, end)) => {
                self.reader.go_to(end);
                self.left = left;
                Ok(Some(element))
            }
            Err(error) => {
                self.hold();
                Err(error)
            }
        }
    }

    #[inline(always)]
    fn skip_record(&mut self) -> Result<bool> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        if let Some(end) = Record::skip_fast(self.reader) {
            self.reader.go_to(end);
            self.left = left;
            return Ok(true);
        }
        match Record::skip(self.reader) {
            Ok(end) => {
                self.reader.go_to(end);
                self.left = left;
                Ok(true)
            }
            Err(error) => {
                self.hold();
                Err(error)
            }
        }
    }

    /// Ends it until it recovers.
    #[inline(always)]
    fn hold(&mut self) {
        self.held = core::mem::take(&mut self.left);
    }

    fn recover<T: Part<'a>>(&mut self) -> Option<Gap> {
        let left = core::mem::take(&mut self.held).checked_sub(1)?;
        let gap = self.reader.gap::<T>()?;
        self.reader.go_to(T::skip(self.reader).ok()?);
        self.left = left;
        Some(gap)
    }

    /// The most that can follow.
    fn max<T: Part<'a>>(&self) -> Option<usize> {
        let room = self.reader.left().checked_div(T::SIZE_MIN).unwrap_or(0);
        // One more for the error that a false claim leads to.
        usize::try_from(self.left.min(room.saturating_add(1))).ok()
    }
}

/// The objects of a sequence.
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    run: Counted<'a>,
}

impl<'a> Objects<'a> {
    /// The next object, all of it checked.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`, and `Invalid` for an unknown kind or a byte that should be 0 or 1.
    pub fn next_object(&mut self) -> Result<Option<Object<'a>>> {
        self.run.next()
    }

    /// After an error, skips the object that failed, if its end can be found, and says what was lost.
    ///
    /// `None` if nothing failed or the end cannot be found: then there are no more.
    pub fn recover(&mut self) -> Option<Gap> {
        self.run.recover::<Object<'_>>()
    }

    /// Offset of the next object.
    pub const fn offset(&self) -> u64 {
        self.run.reader.offset()
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<Object<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_object().transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.run.max::<Object<'_>>())
    }
}

impl FusedIterator for Objects<'_> {}

/// The records of a sequence.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    run: Counted<'a>,
}

impl<'a> Records<'a> {
    pub(super) const EMPTY: Self = Self::new(Reader::new(&[]), 0);

    pub(super) const fn new(reader: Reader<'a>, count: u64) -> Self {
        Self { run: Counted::new(reader, count) }
    }

    pub(super) const fn reader(&self) -> Reader<'a> {
        self.run.reader
    }

    /// The next record, all of it checked.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`, and `Invalid` for an unknown kind or a byte that should be 0 or 1.
    #[inline(always)]
    pub fn next_record(&mut self) -> Result<Option<Record<'a>>> {
        self.run.next()
    }

    /// Skips a record, and returns whether there was one. Only what its end depends on is checked.
    ///
    /// # Errors
    /// As for [`Self::next_record`], but text is not checked.
    #[inline]
    pub fn skip_record(&mut self) -> Result<bool> {
        self.run.skip_record()
    }

    /// After an error, skips the record that failed, if its end can be found, and says what was lost.
    ///
    /// `None` if nothing failed or the end cannot be found: then there are no more.
    pub fn recover(&mut self) -> Option<Gap> {
        self.run.recover::<Record<'_>>()
    }

    /// The time of the next record, without reading the rest of it.
    #[inline]
    pub(super) fn peek_timestamp(&self) -> Option<u64> {
        self.run.reader.peek_u64()
    }

    /// The number of records left, if the claim of the sequence is true.
    pub const fn claimed(&self) -> u64 {
        self.run.left
    }

    /// Offset of the next record.
    pub const fn offset(&self) -> u64 {
        self.run.reader.offset()
    }

    /// The same records, at most `count` of them.
    #[must_use]
    pub fn limited(self, count: u64) -> Self {
        Self { run: Counted { left: self.run.left.min(count), ..self.run } }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.run.max::<Record<'_>>())
    }
}

impl FusedIterator for Records<'_> {}
