//! A chunk: header, stored bytes, data.

use super::compression::{Compression, Decompress};
use super::element::{CHUNK_DATA, COMPRESSION};
use super::index::Entry;
use super::part::ChunkPart;
use super::raw::{RawEntry, at};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// A chunk: its index entry and the file it lies in.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    input: Bytes<'a>,
    entry: Entry<'a>,
}

impl<'a> Chunk<'a> {
    pub(super) const fn new(input: Bytes<'a>, entry: Entry<'a>) -> Self {
        Self { input, entry }
    }

    /// The index entry.
    pub const fn entry(&self) -> Entry<'a> {
        self.entry
    }

    /// The chunk header, often empty.
    ///
    /// # Errors
    /// [`Negative`](ErrorKind::Negative) or [`OutOfBounds`](ErrorKind::OutOfBounds) claims.
    pub fn header(&self) -> Result<&'a [u8]> {
        self.entry.locate(ChunkPart::Header, self.input).map(Bytes::as_slice)
    }

    /// The data as stored: compressed where [`Entry::compression`] says so.
    ///
    /// # Errors
    /// [`Negative`](ErrorKind::Negative) or [`OutOfBounds`](ErrorKind::OutOfBounds) claims.
    pub fn stored(&self) -> Result<&'a [u8]> {
        self.entry.locate(ChunkPart::Data, self.input).map(Bytes::as_slice)
    }

    /// The data: borrowed from the input where it is raw, else decompressed into the front of `buffer`.
    ///
    /// A buffer of [`Entry::output_size`] bytes suffices; raw data needs none.
    ///
    /// # Errors
    /// Claims that are [`Negative`](ErrorKind::Negative) or [`OutOfBounds`](ErrorKind::OutOfBounds); a compression
    /// that is [`Unsupported`](ErrorKind::Unsupported), or has [`NoDecoder`](ErrorKind::NoDecoder) here;
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the size that `buffer` must have;
    /// [`SizeMismatch`](ErrorKind::SizeMismatch) if the data is shorter than stated; the decoder's own, located in
    /// this file.
    pub fn data<'b>(&self, buffer: &'b mut [u8], decoder: &mut (impl Decompress + ?Sized)) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        let stored = self.entry.locate(ChunkPart::Data, self.input)?;
        self.entry.decode(stored.as_slice(), buffer, decoder)
    }
}

impl<'a> Entry<'a> {
    /// The data of this entry's chunk, given the bytes of [`stored_range`](Self::stored_range).
    ///
    /// For storage that is not memory-mapped; [`Chunk::data`] does the same with a file.
    ///
    /// # Errors
    /// As for [`Chunk::data`].
    pub fn decode<'b>(
        &self,
        stored: &'b [u8],
        buffer: &'b mut [u8],
        decoder: &mut (impl Decompress + ?Sized),
    ) -> Result<&'b [u8]> {
        let compression = self.compression();
        if compression == Compression::None {
            return Ok(stored);
        }
        if !decoder.supports(compression) {
            let kind = match compression {
                Compression::Other(number) => ErrorKind::Unsupported { value: number.into() },
                _ => ErrorKind::NoDecoder,
            };
            return Err(Error::new(
                self.offset().saturating_add(at!(RawEntry, compression)),
                COMPRESSION,
                kind,
            ));
        }
        let base = self.stored_range()?.start;
        let size = self.output_size()?;
        let capacity = to_u64(buffer.len());
        let Some(output) = usize::try_from(size).ok().and_then(|size| buffer.get_mut(..size)) else {
            return Err(Error::new(base, CHUNK_DATA, ErrorKind::CapacityExceeded { capacity, needed: size }));
        };
        let found = decoder.decompress(compression, stored, output).map_err(|error| error.rebased(base))?;
        if to_u64(found) == size {
            return Ok(output);
        }
        let kind = ErrorKind::SizeMismatch { stated: size, found: to_u64(found) };
        Err(Error::new(base, CHUNK_DATA, kind))
    }
}

impl fmt::Debug for Chunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chunk").field(&self.entry).finish()
    }
}
