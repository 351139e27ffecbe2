//! A chunk: header, stored bytes, data.

use super::index::Entry;
use super::{CHUNK_DATA, COMPRESSION, ChunkPart};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// How the data of a chunk is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Compression {
    /// Not at all: 0.
    None,
    /// One or more Zstandard frames: 1.
    Zstd,
    /// A number that the document does not define; AMD's writer can produce such.
    Other(u8),
}

impl Compression {
    pub(super) const fn from_stored(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Zstd,
            other => Self::Other(other),
        }
    }

    /// The number as stored.
    pub const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Zstd => 1,
            Self::Other(number) => number,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("raw"),
            Self::Zstd => f.write_str("zstd"),
            Self::Other(number) => write!(f, "unknown ({number})"),
        }
    }
}

/// A decoder for compressed chunks.
///
/// It owns, or has been lent, the memory that decoding takes, so that one decoder serves any number of chunks.
#[cfg_attr(
    feature = "zstd",
    doc = "[`zstd::Workspace`](crate::zstd::Workspace) is one that does not allocate."
)]
#[cfg_attr(feature = "ruzstd", doc = "[`Ruzstd`](super::Ruzstd) is one that allocates.")]
pub trait Decompress {
    /// Whether the decoder knows this compression.
    fn supports(&self, compression: Compression) -> bool;

    /// Decompresses all of `stored` into `output` and returns the number of bytes written.
    ///
    /// `stored` is the whole data of a chunk: for Zstandard any number of frames, skippable ones among them.
    /// `output` is exactly as long as the index says the data is; an implementation must not need more than that.
    ///
    /// # Errors
    /// The decoder's own; their offsets count from the start of `stored`.
    fn decompress(&mut self, compression: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize>;
}

#[cfg(feature = "zstd")]
impl Decompress for crate::zstd::Workspace {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        crate::zstd::decompress(stored, output, self)
    }
}

/// With the decoder's options, such as not to verify checksums.
#[cfg(feature = "zstd")]
impl Decompress for crate::zstd::Decoder<'_> {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        self.decompress(stored, output)
    }
}

/// No decoder: raw chunks are read, compressed ones are [`NoDecoder`](ErrorKind::NoDecoder).
#[derive(Clone, Copy, Debug, Default)]
pub struct RawOnly;

impl Decompress for RawOnly {
    fn supports(&self, _: Compression) -> bool {
        false
    }

    fn decompress(&mut self, _: Compression, _: &[u8], _: &mut [u8]) -> Result<usize> {
        Err(Error::new(0, CHUNK_DATA, ErrorKind::NoDecoder))
    }
}

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

    /// Its index entry.
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
            return Err(Error::new(self.offset().saturating_add(16), COMPRESSION, kind));
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
