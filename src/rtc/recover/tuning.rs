//! All constants of recovery: each one has a test that fails without it.

/// The number of frames that are looked at ahead, at most: a power of two, more than are held back. Where memory is small, so is it.
pub(super) const AHEAD: usize = if usize::BITS < 64 { 64 } else { 128 };

/// The number of frames that are held back until they are proven, by the number of streams.
///
/// Where ids are dense, nearly every byte looks like the header of a frame, and a proof takes more of them.
pub(super) const HELD: [(usize, usize); 3] = [(24, 8), (64, 16), (usize::MAX, 48)];

/// How many of the frames that an index leads to are tried as a place to go on.
pub(super) const TARGETS: u32 = 8;

/// How many times the size of the input may be read ahead in all, beyond what is delivered: more than any damage
/// takes. After that, a file that was made to waste time is read on with less foresight.
pub(super) const BUDGET: u64 = 8;
