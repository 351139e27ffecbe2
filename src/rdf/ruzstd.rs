//! `ruzstd` as a decoder of chunks.

use super::compression::{Compression, Decompress};
use super::element::CHUNK_DATA;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use ::ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ::ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ::ruzstd::io::Read;
use core::fmt;

/// Decompresses Zstandard chunks with the crate `ruzstd`, which allocates.
///
/// An error says where the frame begins, not what in it is wrong.
pub struct Ruzstd(FrameDecoder);

impl Ruzstd {
    /// A decoder, to be used for any number of chunks.
    pub fn new() -> Self {
        Self(FrameDecoder::new())
    }

    /// Decodes one frame, or skips it; returns how many bytes it takes, and how many were written.
    fn frame(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize), Fault> {
        let mut rest = input;
        match self.0.reset(&mut rest) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let skipped = usize::try_from(length).ok().and_then(|length| rest.get(length..));
                let rest = skipped.ok_or(Fault::Frame)?;
                return Ok((input.len().saturating_sub(rest.len()), 0));
            }
            other => other?,
        }
        let mut written = 0_usize;
        loop {
            self.0.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(1 << 17))?;
            loop {
                let free = output.get_mut(written..).unwrap_or_default();
                let read = self.0.read(free).map_err(|_| Fault::Frame)?;
                if read == 0 {
                    break;
                }
                written = written.saturating_add(read);
            }
            if self.0.can_collect() > 0 {
                return Err(Fault::OutputFull);
            }
            if self.0.is_finished() {
                break;
            }
        }
        if let (Some(stored), Some(computed)) =
            (self.0.get_checksum_from_data(), self.0.get_calculated_checksum())
            && stored != computed
        {
            return Err(Fault::Checksum(stored, computed));
        }
        Ok((input.len().saturating_sub(rest.len()), written))
    }
}

enum Fault {
    Frame,
    OutputFull,
    Checksum(u32, u32),
}

impl From<FrameDecoderError> for Fault {
    fn from(_: FrameDecoderError) -> Self {
        Self::Frame
    }
}

impl Decompress for Ruzstd {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        let capacity = to_u64(output.len());
        let mut input = Bytes::new(stored);
        let mut written = 0_usize;
        while !input.is_empty() {
            let free = output.get_mut(written..).unwrap_or_default();
            let (read, more) = self.frame(input.as_slice(), free).map_err(|fault| {
                let kind = match fault {
                    Fault::Frame => ErrorKind::Malformed,
                    Fault::OutputFull => {
                        ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) }
                    }
                    Fault::Checksum(stored, computed) => {
                        ErrorKind::ChecksumMismatch { stored: stored.into(), computed: computed.into() }
                    }
                };
                Error::new(input.offset(), CHUNK_DATA, kind)
            })?;
            written = written.saturating_add(more);
            input.advance(read);
        }
        Ok(written)
    }
}

impl Default for Ruzstd {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Ruzstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ruzstd")
    }
}
