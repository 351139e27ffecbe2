//! The data of chunks, in memory that stays small whatever a file claims.

use crate::budget::Budget;
use traceglass::rdf::element::{CHUNK_DATA, UNCOMPRESSED_SIZE};
use traceglass::rdf::{Chunk, Compression};
use traceglass::zstd::element::WINDOW;
use traceglass::zstd::{self, Detected, Frame, Frames, Workspace};
use traceglass::{Error, ErrorKind};

/// Data up to this size is decompressed at once; it is verified before any of it is handed out.
const AT_ONCE: u64 = 8 << 20;

/// The largest window that is lent to a frame; larger ones are refused, as the `zstd` command does it by default.
/// Compressors use them only when told to.
const WINDOW_MAX: u64 = 128 << 20;

/// The most memory for the windows of all threads together.
static WINDOWS: Budget = Budget::new(3 * (WINDOW_MAX / 2));

/// The most that a compressed block holds.
const BLOCK: u64 = 128 << 10;

/// Decompresses any number of chunks.
pub struct Decoder {
    workspace: Workspace<Detected>,
    buffer: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self { workspace: Workspace::on(Detected::new()), buffer: Vec::new() }
    }

    /// Hands out the data of a chunk, in pieces if it is large; they are not known to be right before the end.
    pub fn read(&mut self, chunk: Chunk<'_>, mut piece: impl FnMut(&[u8])) -> Result<(), Error> {
        let size = chunk.entry().output_size()?;
        if chunk.entry().compression() != Compression::Zstd {
            piece(chunk.data(&mut [], &mut self.workspace)?);
            return Ok(());
        }
        let stored = chunk.stored()?;
        let Bounds { window, at, content: limit } = bounds(stored);
        if size > limit {
            let offset = chunk.entry().offset().saturating_add(56);
            return Err(Error::new(offset, UNCOMPRESSED_SIZE, ErrorKind::OverLimit { value: size, limit }));
        }
        if size <= AT_ONCE {
            self.room(size);
            piece(chunk.data(&mut self.buffer, &mut self.workspace)?);
            return Ok(());
        }
        let base = chunk.entry().stored_range()?.start;
        if window > WINDOW_MAX {
            let kind = ErrorKind::OverLimit { value: window, limit: WINDOW_MAX };
            return Err(Error::new(at, WINDOW, kind).rebased(base));
        }
        let share = WINDOWS.take(window);
        self.room(window);
        let found = zstd::Decoder::new(&mut self.workspace).stream(stored, &mut self.buffer, piece);
        if window > AT_ONCE {
            // Others may be waiting for as much.
            self.buffer = Vec::new();
        }
        drop(share);
        let found = found.map_err(|error| error.rebased(base))?;
        if found == size {
            return Ok(());
        }
        Err(Error::new(base, CHUNK_DATA, ErrorKind::SizeMismatch { stated: size, found }))
    }

    fn room(&mut self, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.buffer.len() < size {
            // Zeros that nothing is written to take no memory.
            self.buffer = vec![0; size];
        }
    }
}

/// The needs of frames, and the size of their content.
struct Bounds {
    /// The most that is needed of a window, and where the frame stands.
    window: u64,
    at: u64,
    /// The most content that their blocks can hold: a larger claim cannot be true.
    content: u64,
}

/// The bounds of the frames whose headers can be read; what is wrong with the others is found when they are decoded.
fn bounds(stored: &[u8]) -> Bounds {
    let mut bounds = Bounds { window: 0, at: 0, content: 0 };
    for frame in Frames::new(stored) {
        match frame {
            Ok(Frame::Data(frame)) => {
                let blocks = frame.blocks().map_while(Result::ok);
                let sizes = blocks.map(|block| block.content_size().map_or(BLOCK, u64::from));
                let content = sizes.fold(0_u64, u64::saturating_add);
                let header = frame.header();
                // No window need be larger than the content; what a header states must be lent.
                let needed =
                    header.content_size().map_or(header.window_size(), |size| size.min(header.window_size()));
                if needed > bounds.window {
                    (bounds.window, bounds.at) = (needed, header.offset());
                }
                bounds.content = bounds.content.saturating_add(content);
            }
            Ok(_) => {}
            Err(_) => {
                // No block is shorter for its content than a repeated byte.
                let most = (stored.len() as u64 / 4).saturating_mul(BLOCK);
                bounds.content = bounds.content.max(most);
                break;
            }
        }
    }
    bounds
}
