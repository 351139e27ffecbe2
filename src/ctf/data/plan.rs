//! The fixed layout that nearly all record headers of a packet share.

use super::window::Window;
use crate::ctf::schema::node::{
    BIG, Kind, LAST, NO_SLOT, NONE, Node, Nodes, PLAIN, REVERSED, SIGNED_KEY, role,
};

/// An integer in a header, within eight bytes.
#[derive(Clone, Copy)]
struct Piece {
    /// Of the first of the eight bytes, from the start of the header.
    byte: usize,
    shift: u32,
    mask: u64,
    len: u32,
    slot: u8,
}

impl Piece {
    /// The integer that begins `at` bits into a header; `None` if it takes more than eight bytes.
    fn new(node: &Node, at: u64) -> Option<Self> {
        // In the first eight bytes, if it is, which are read anyway.
        let is_first = at.checked_add(node.a.into())? <= 64;
        let byte = if is_first { 0 } else { at >> 3 };
        let bit = u32::try_from(at.checked_sub(byte.checked_mul(8)?)?).ok()?;
        let after = 64_u32.checked_sub(bit.checked_add(node.a)?)?;
        let mask = u64::MAX.checked_shr(64_u32.checked_sub(node.a)?)?;
        let shift = if node.has(BIG) { after } else { bit };
        Some(Self { byte: usize::try_from(byte).ok()?, shift, mask, len: node.a, slot: node.slot })
    }

    #[inline(always)]
    fn read(self, header: &[u8], big: bool) -> Option<u64> {
        let bytes = header.get(self.byte..)?.first_chunk::<8>()?;
        let word = if big { u64::from_be_bytes(*bytes) } else { u64::from_le_bytes(*bytes) };
        Some(word.wrapping_shr(self.shift) & self.mask)
    }
}

/// A plan for headers that are read at once: the identifier lies in the first eight bytes, and the time does so, too,
/// or lies in eight bytes of its own.
#[derive(Clone, Copy)]
pub(super) struct Word {
    /// The alignment of headers, less one, and their size.
    mask: usize,
    size: usize,
    big: bool,
    id_shift: u32,
    id_mask: u64,
    /// The byte at which the eight bytes with the time begin.
    time_byte: usize,
    time_shift: u32,
    pub(super) time_mask: u64,
    low: u64,
    high: u64,
}

/// The values of a header that a [`Word`] reads.
#[derive(Clone, Copy)]
pub(super) struct WordHead {
    /// 0 if there is none.
    pub(super) id: u64,
    /// The lower bits of the time; 0 if there is none.
    pub(super) time: u64,
    /// The first byte after it.
    pub(super) end: usize,
}

impl Word {
    /// For no header.
    pub(super) const NEVER: Self = Self {
        mask: 0,
        size: 0,
        big: false,
        id_shift: 0,
        id_mask: 0,
        time_byte: 0,
        time_shift: 0,
        time_mask: 0,
        low: 1,
        high: 0,
    };

    /// The values of the header that begins at byte `at` of a packet's content; `None` if it needs the general reader.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)] // Both lie in memory, and a header is no larger than 512 MiB.
    pub(super) fn read(&self, content: &[u8], at: usize) -> Option<WordHead> {
        let start = at.wrapping_add(self.mask) & !self.mask;
        let chunk = content.get(start..)?.first_chunk::<8>()?;
        let mut word = if self.big { u64::from_be_bytes(*chunk) } else { u64::from_le_bytes(*chunk) };
        let id = word.wrapping_shr(self.id_shift) & self.id_mask;
        if id < self.low || id > self.high {
            return None;
        }
        if self.time_byte > 0 {
            let chunk = content.get(start.wrapping_add(self.time_byte)..)?.first_chunk::<8>()?;
            word = if self.big { u64::from_be_bytes(*chunk) } else { u64::from_le_bytes(*chunk) };
        }
        let time = word.wrapping_shr(self.time_shift) & self.time_mask;
        Some(WordHead { id, time, end: start.wrapping_add(self.size) })
    }

    /// The clock after a time stamp.
    #[inline(always)]
    pub(super) fn clock(&self, clock: u64, time: u64) -> u64 {
        let mask = self.time_mask;
        let step = if time < clock & mask { mask.wrapping_add(1) } else { 0 };
        ((clock & !mask) | time).wrapping_add(step)
    }
}

/// The values of a header.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) id: Option<u64>,
    /// The lower bits of the time, and how many.
    pub(super) time: Option<(u64, u32)>,
    /// The first bit after it.
    pub(super) end: u64,
}

/// A plan for headers that are read at once: their identifier and time lie at known positions.
///
/// If a variant chooses between several forms by the identifier, it is for the first one. All others, and those where
/// anything is wrong, are left to the ordinary way.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// The alignment of headers, less one.
    mask: u64,
    /// In bits.
    size: u64,
    pub(super) big: bool,
    id: Option<Piece>,
    time: Option<Piece>,
    /// The identifiers for which it holds.
    low: u64,
    high: u64,
}

impl Plan {
    /// The plan for records without a header.
    pub(super) const EMPTY: Self =
        Self { mask: 0, size: 0, big: false, id: None, time: None, low: 0, high: u64::MAX };

    /// The plan for headers whose root structure is at `root`; `None` if there is none.
    pub(super) fn new(nodes: Nodes<'_>, root: u32) -> Option<Self> {
        if root == NONE {
            return None;
        }
        let align = nodes.get(root).align_log2();
        let mask = 1_u64.checked_shl(align).filter(|_| align >= 3)?.wrapping_sub(1);
        let mut plan = Self { mask, size: 0, big: false, id: None, time: None, low: 0, high: u64::MAX };
        let (mut next, mut end) = (root.saturating_add(1), nodes.end(root));
        // Each step goes forward.
        while next < end {
            let node = nodes.get(next);
            if node.align_log2() > align {
                return None;
            }
            let after = nodes.end(next);
            match node.kind {
                // A field that may take no bits is counted, each time.
                Kind::Structure | Kind::Variant if node.has(LAST) => return None,
                Kind::Structure if after == end => {
                    plan.align(node)?;
                    next = next.saturating_add(1);
                }
                Kind::Variant if after == end => {
                    let choice = next.saturating_add(1);
                    let range = nodes.get(nodes.get(choice).b);
                    let key = plan.id?.slot;
                    let is_by_id = key != NO_SLOT && key == node.slot && !node.has(SIGNED_KEY);
                    // A second variant would narrow the range further.
                    if !is_by_id || range.kind != Kind::Range || (plan.low, plan.high) != (0, u64::MAX) {
                        return None;
                    }
                    (plan.low, plan.high) = (range.x(), range.y());
                    next = choice.saturating_add(1);
                    end = nodes.end(choice);
                }
                _ => {
                    plan.add(node)?;
                    next = after;
                }
            }
        }
        Some(plan)
    }

    fn align(&mut self, node: &Node) -> Option<()> {
        let mask = 1_u64.checked_shl(node.align_log2())?.wrapping_sub(1);
        self.size = self.size.checked_add(mask)? & !mask;
        Some(())
    }

    fn add(&mut self, node: &Node) -> Option<()> {
        self.align(node)?;
        let at = self.size;
        if !node.kind.is_fixed_length() || (at > 0 && node.has(BIG) != self.big) {
            return None;
        }
        self.big = node.has(BIG);
        self.size = at.checked_add(node.a.into())?;
        if node.has(PLAIN) {
            return Some(());
        }
        if node.kind != Kind::Unsigned || node.has(REVERSED) {
            return None;
        }
        let piece = Some(Piece::new(node, at)?);
        match node.meaning() {
            role::EVENT_CLASS_ID if self.id.is_none() => self.id = piece,
            role::TIMESTAMP if self.time.is_none() && node.slot == NO_SLOT => self.time = piece,
            _ => return None,
        }
        Some(())
    }

    /// The values of the header at bit `at`, if the plan holds for it.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // The position lies in memory.
    pub(super) fn read(&self, window: &Window<'_>, at: u64) -> Option<Head> {
        let start = at.wrapping_add(self.mask) & !self.mask;
        let end = start.wrapping_add(self.size);
        if end > window.limit {
            return None;
        }
        let header = window.data.get((start >> 3) as usize..)?;
        let id = match self.id {
            Some(piece) => Some(piece.read(header, self.big)?),
            None => None,
        };
        if let Some(id) = id
            && !(self.low..=self.high).contains(&id)
        {
            return None;
        }
        let time = match self.time {
            Some(piece) => Some((piece.read(header, self.big)?, piece.len)),
            None => None,
        };
        Some(Head { id, time, end })
    }

    /// The same for headers that are read from one word; [`Word::NEVER`] if they are not.
    pub(super) fn word(&self) -> Word {
        self.as_word().unwrap_or(Word::NEVER)
    }

    fn as_word(&self) -> Option<Word> {
        if !self.size.is_multiple_of(8) || self.id.is_some_and(|id| id.byte > 0) {
            return None;
        }
        Some(Word {
            mask: usize::try_from(self.mask >> 3).ok().filter(|mask| *mask < 4096)?,
            size: usize::try_from(self.size >> 3).ok().filter(|size| *size < 1 << 28)?,
            big: self.big,
            id_shift: self.id.map_or(0, |id| id.shift),
            id_mask: self.id.map_or(0, |id| id.mask),
            time_byte: self.time.map_or(0, |time| time.byte),
            time_shift: self.time.map_or(0, |time| time.shift),
            time_mask: self.time.map_or(0, |time| time.mask),
            low: self.low,
            high: self.high,
        })
    }

    /// True if there is nothing in a header.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The slot in which the identifier is kept for lengths and selectors.
    #[inline(always)]
    pub(super) fn slot(&self) -> u8 {
        self.id.map_or(NO_SLOT, |id| id.slot)
    }
}
