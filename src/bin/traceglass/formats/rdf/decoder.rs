//! The data of chunks, in memory that stays small whatever a file claims.

use traceglass::rdf::{CHUNK_DATA, Chunk, Compression, UNCOMPRESSED_SIZE};
use traceglass::zstd::{self, Frame, Frames, Workspace};
use traceglass::{Error, ErrorKind};

/// Data up to this size is decompressed at once; it is verified before any of it is handed out.
const AT_ONCE: u64 = 8 << 20;

/// The largest window that is lent to a frame, as the `zstd` command does it by default. Compressors use larger ones
/// only when told to.
const WINDOW_MOST: u64 = 128 << 20;

/// Decompresses any number of chunks.
pub struct Decoder {
    workspace: Workspace,
    buffer: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self { workspace: Workspace::new(), buffer: Vec::new() }
    }

    /// Hands out the data of a chunk, in pieces if it is large; they are not known to be right before the end.
    pub fn read(&mut self, chunk: Chunk<'_>, mut piece: impl FnMut(&[u8])) -> Result<(), Error> {
        let size = chunk.entry().output_size()?;
        if chunk.entry().compression() != Compression::Zstd {
            piece(chunk.data(&mut [], &mut self.workspace)?);
            return Ok(());
        }
        let stored = chunk.stored()?;
        // A block takes 4 bytes at least and gives 128 KiB at most: a larger claim cannot be true.
        let limit = (stored.len() as u64 / 4) << 17;
        if size > limit {
            let offset = chunk.entry().offset() + 56;
            return Err(Error::new(offset, UNCOMPRESSED_SIZE, ErrorKind::OverLimit { value: size, limit }));
        }
        let window = largest_window(stored);
        if size <= AT_ONCE || window > WINDOW_MOST {
            self.room(size);
            piece(chunk.data(&mut self.buffer, &mut self.workspace)?);
            return Ok(());
        }
        self.room(window);
        let base = chunk.entry().stored_range()?.start;
        let found = zstd::Decoder::new(&mut self.workspace)
            .stream(stored, &mut self.buffer, piece)
            .map_err(|error| error.rebased(base))?;
        if found == size {
            return Ok(());
        }
        Err(Error::new(base, CHUNK_DATA, ErrorKind::SizeMismatch { stated: size, found }))
    }

    fn room(&mut self, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
    }
}

/// The largest window of the frames that can be told; what is wrong with the others is found when they are decoded.
fn largest_window(stored: &[u8]) -> u64 {
    let windows = Frames::new(stored).map_while(Result::ok).map(|frame| match frame {
        Frame::Data(frame) => frame.header().window_size(),
        _ => 0,
    });
    windows.max().unwrap_or(0)
}
