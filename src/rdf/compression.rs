//! The compression of chunks, and what decodes them.

use super::element::CHUNK_DATA;
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// The compression of a chunk's data.
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
    /// True if the decoder knows this compression.
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
impl<P: crate::zstd::Processor> Decompress for crate::zstd::Workspace<P> {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        crate::zstd::decompress(stored, output, self)
    }
}

/// With the decoder's options, such as not to verify checksums.
#[cfg(feature = "zstd")]
impl<P: crate::zstd::Processor> Decompress for crate::zstd::Decoder<'_, P> {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        self.decompress(stored, output)
    }
}

/// No decoder: raw chunks are read, compressed ones are [`NoDecoder`](ErrorKind::NoDecoder).
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDecoder;

impl Decompress for NoDecoder {
    fn supports(&self, _: Compression) -> bool {
        false
    }

    fn decompress(&mut self, _: Compression, _: &[u8], _: &mut [u8]) -> Result<usize> {
        Err(Error::new(0, CHUNK_DATA, ErrorKind::NoDecoder))
    }
}
