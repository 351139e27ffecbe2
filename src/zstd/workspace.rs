//! The memory that decoding needs beside input and output.

use super::fse::Entry;
use super::huffman::Tree;
use super::processor::Baseline;
use super::scratch::Scratch;

/// The memory that decoding needs beside input and output: its tables.
///
/// It lives wherever the caller puts it, for instance in a `static`, and serves any number of frames, one at a
/// time. Nothing of a frame is left to the next one.
///
/// ```
/// use traceglass::zstd::Workspace;
///
/// static WORKSPACE: std::sync::Mutex<Workspace> = std::sync::Mutex::new(Workspace::new());
/// assert!(size_of::<Workspace>() <= 16 * 1024);
/// ```
///
/// `P` is the [`Processor`](super::Processor) that the loops are compiled for.
pub struct Workspace<P = Baseline> {
    pub(super) tables: Tables,
    pub(super) processor: P,
}

const _: () = assert!(size_of::<Workspace>() <= 16 << 10);

impl Workspace {
    /// An empty workspace.
    pub const fn new() -> Self {
        Self::on(Baseline)
    }
}

impl<P> Workspace<P> {
    /// An empty workspace, for loops that `processor` runs.
    pub const fn on(processor: P) -> Self {
        Self { tables: Tables::new(), processor }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> core::fmt::Debug for Workspace<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").field("size", &size_of::<Self>()).finish()
    }
}

/// The decoding tables of a frame, which later blocks of it may use again.
pub(super) struct Tables {
    pub(super) tree: Tree,
    pub(super) literal_lengths: [Entry; 512],
    pub(super) match_lengths: [Entry; 512],
    pub(super) offsets: [Entry; 256],
    /// The accuracy of each, in the order in which a block describes them.
    pub(super) accuracies: [u32; 3],
    /// True if the frame has had sequences, so that their tables may be used again.
    pub(super) has_sequences: bool,
    /// The three offsets used last.
    pub(super) recent: [u32; 3],
    pub(super) scratch: Scratch,
}

impl Tables {
    const fn new() -> Self {
        Self {
            tree: Tree::new(),
            literal_lengths: [0; 512],
            match_lengths: [0; 512],
            offsets: [0; 256],
            accuracies: [0; 3],
            has_sequences: false,
            // All zeros, so that a `static` takes no flash; `reset` sets what a frame begins with.
            recent: [0; 3],
            scratch: Scratch::new(),
        }
    }

    /// Forgets everything, for a new frame.
    pub(super) fn reset(&mut self) {
        self.tree.forget();
        self.has_sequences = false;
        self.recent = [1, 4, 8];
    }
}
