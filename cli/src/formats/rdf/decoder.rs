//! The data of chunks, in memory that stays small whatever a file claims.

use traceglass::rdf::element::{CHUNK_DATA, UNCOMPRESSED_SIZE};
use traceglass::rdf::{Chunk, Compression};
use traceglass::zstd::{self, Frame, Frames, Workspace};
use traceglass::{Error, ErrorKind};

/// Data up to this size is decompressed at once; it is verified before any of it is handed out.
const AT_ONCE: u64 = 8 << 20;

/// The largest window that is lent to a frame, as the `zstd` command does it by default. Compressors use larger ones
/// only when told to.
const WINDOW_MOST: u64 = 128 << 20;

/// The most that a compressed block holds.
const BLOCK: u64 = 128 << 10;

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
        let Bounds { window, content: limit } = bounds(stored);
        if size > limit {
            let offset = chunk.entry().offset() + 56;
            return Err(Error::new(offset, UNCOMPRESSED_SIZE, ErrorKind::OverLimit { value: size, limit }));
        }
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

/// What frames take, and what they give.
struct Bounds {
    /// The largest window.
    window: u64,
    /// The most content that their blocks can hold: a larger claim cannot be true.
    content: u64,
}

/// The bounds of the frames that can be told; what is wrong with the others is found when they are decoded.
fn bounds(stored: &[u8]) -> Bounds {
    let mut bounds = Bounds { window: 0, content: 0 };
    for frame in Frames::new(stored) {
        match frame {
            Ok(Frame::Data(frame)) => {
                bounds.window = bounds.window.max(frame.header().window_size());
                let blocks = frame.blocks().map_while(Result::ok);
                bounds.content +=
                    blocks.map(|block| block.content_size().map_or(BLOCK, u64::from)).sum::<u64>();
            }
            Ok(_) => {}
            Err(_) => {
                // The shortest block that holds so much is a repeated byte.
                bounds.content = bounds.content.max(stored.len() as u64 / 4 * BLOCK);
                break;
            }
        }
    }
    bounds
}
