//! Chunks made new around sequences, objects and records that stay as they are.

use super::chunk::ChunkHeader;
use super::sequence::SequenceHeader;
use crate::varint::write_u64;

/// The header of a chunk that is to be written, and how many sequences follow.
///
/// The identifier before it is that of the input: its bytes up to [`ChunkHeader::offset`].
///
/// ```
/// use traceglass::rfr::{Chunk, NewChunk};
///
/// let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x04\x01\x01\x04\x04\0\x01\x04\x06\x05";
/// let header = Chunk::parse(file)?.header();
/// let mut written = file[..header.offset() as usize].to_vec();
/// let put = &mut |bytes: &[u8]| Ok::<_, std::convert::Infallible>(written.extend_from_slice(bytes));
/// NewChunk::like(&header).sequences(0).spans(None).write(put).unwrap();
/// let empty = Chunk::parse(&written)?;
/// assert!(empty.header().is_empty());
/// assert_eq!(empty.sequences().count(), 0);
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NewChunk {
    header: ChunkHeader,
    sequences: u64,
    span: Option<(u64, u64)>,
}

impl NewChunk {
    /// A chunk of the same period, without sequences.
    pub const fn like(header: &ChunkHeader) -> Self {
        Self { header: *header, sequences: 0, span: None }
    }

    /// The same with as many sequences.
    #[must_use]
    pub const fn sequences(self, sequences: u64) -> Self {
        Self { sequences, ..self }
    }

    /// The same with the earliest and the latest time of its records, in microseconds from the base time; `None` if it
    /// has none.
    #[must_use]
    pub const fn spans(self, span: Option<(u64, u64)>) -> Self {
        Self { span, ..self }
    }

    /// Writes it; the sequences follow.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let header = &self.header;
        // An empty sequence has its times the wrong way round.
        let (earliest, latest) = self.span.unwrap_or((header.end(), header.start()));
        for number in [header.base_time(), header.start(), header.end(), earliest, latest, self.sequences] {
            put(write_u64(number, &mut [0; 10]))?;
        }
        Ok(())
    }
}

/// The header of a sequence that is to be written, and how many objects follow.
///
/// After the objects stands the [count](write_count) of the records, and then these.
#[derive(Clone, Copy, Debug)]
pub struct NewSequence {
    header: SequenceHeader,
    objects: u64,
    span: Option<(u64, u64)>,
    /// The period of its chunk.
    period: (u64, u64),
}

impl NewSequence {
    /// A sequence with the same number, in a chunk with this header, of as many objects.
    pub const fn like(header: &SequenceHeader, chunk: &ChunkHeader, objects: u64) -> Self {
        Self { header: *header, objects, span: None, period: (chunk.start(), chunk.end()) }
    }

    /// The same with the earliest and the latest time of its records, in microseconds from the base time; `None` if it
    /// has none.
    #[must_use]
    pub const fn spans(self, span: Option<(u64, u64)>) -> Self {
        Self { span, ..self }
    }

    /// Writes it; the objects follow.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let (start, end) = self.period;
        let (earliest, latest) = self.span.unwrap_or((end, start));
        for number in [self.header.seq_id(), earliest, latest, self.objects] {
            put(write_u64(number, &mut [0; 10]))?;
        }
        Ok(())
    }
}

/// Writes how many elements a list has; these follow.
///
/// # Errors
/// The error of `put`.
pub fn write_count<E>(count: u64, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    put(write_u64(count, &mut [0; 10]))
}
