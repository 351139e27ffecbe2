//! The fixed layout that nearly all record headers of a packet share.

use crate::ctf::schema::Schema;
use crate::ctf::schema::node::{BIG, Kind, LAST, NO_SLOT, NONE, Node, PLAIN, REVERSED, SIGNED_KEY, role};

/// A plan for headers that are read at once: the identifier lies in the first eight bytes, and the time does so, too,
/// or lies in eight bytes of its own.
///
/// If a variant chooses between several forms by the identifier, it is for the first one. All others, and those where
/// anything is wrong, are left to the general reader.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// The alignment of headers, less one, and their size.
    mask: usize,
    size: usize,
    pub(super) big: bool,
    /// The slot in which the identifier is kept for lengths and selectors.
    pub(super) slot: u8,
    id_shift: u32,
    id_mask: u64,
    /// The bits of the identifier that are not in the header.
    id_set: u64,
    /// The byte at which the eight bytes with the time begin.
    time_byte: usize,
    time_shift: u32,
    time_mask: u64,
    /// The identifiers for which it holds: the first one, and how many follow it.
    low: u64,
    span: u64,
}

/// The values of a header.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The id of the only class if the header has none; 0 if there are several.
    pub(super) id: u64,
    /// The lower bits of the time; 0 if there is none.
    pub(super) time: u64,
    /// The first byte after it.
    pub(super) end: usize,
}

impl Plan {
    /// For records without a header, which begin with a byte.
    const EMPTY: Self = Self {
        mask: 0,
        size: 0,
        big: false,
        slot: NO_SLOT,
        id_shift: 0,
        id_mask: 0,
        id_set: 0,
        time_byte: 0,
        time_shift: 0,
        time_mask: 0,
        low: 0,
        span: u64::MAX,
    };
    /// Holds for no header.
    pub(super) const NEVER: Self = Self { low: 1, span: 0, ..Self::EMPTY };

    /// The plan for the headers of a stream class, which `info` describes and whose root structure is at `root`.
    pub(super) fn new(schema: &Schema<'_, '_>, info: &Node, root: u32) -> Self {
        let mut plan =
            if root == NONE { Self::EMPTY } else { Making::plan(schema, root).unwrap_or(Self::NEVER) };
        if plan.id_mask == 0
            && let Some(class) = schema.event_class(info, None)
        {
            plan.id_set = schema.nodes.get(class).y();
        }
        plan
    }

    /// The values of the header that begins at byte `at` of a packet's content; `None` if it needs the general reader.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)] // Both lie in memory, and a header is no larger than 256 MiB.
    pub(super) fn read(&self, content: &[u8], at: usize) -> Option<Head> {
        let start = at.wrapping_add(self.mask) & !self.mask;
        let chunk = content.get(start..)?.first_chunk::<8>()?;
        let mut word = if self.big { u64::from_be_bytes(*chunk) } else { u64::from_le_bytes(*chunk) };
        let id = word.wrapping_shr(self.id_shift) & self.id_mask;
        if id.wrapping_sub(self.low) > self.span {
            return None;
        }
        if self.time_byte > 0 {
            let chunk = content.get(start.wrapping_add(self.time_byte)..)?.first_chunk::<8>()?;
            word = if self.big { u64::from_be_bytes(*chunk) } else { u64::from_le_bytes(*chunk) };
        }
        let time = word.wrapping_shr(self.time_shift) & self.time_mask;
        Some(Head { id: id | self.id_set, time, end: start.wrapping_add(self.size) })
    }

    /// The clock after a time stamp.
    #[inline(always)]
    pub(super) fn clock(&self, clock: u64, time: u64) -> u64 {
        let mask = self.time_mask;
        let step = if time < clock & mask { mask.wrapping_add(1) } else { 0 };
        ((clock & !mask) | time).wrapping_add(step)
    }
}

/// An integer in a header, within eight bytes.
#[derive(Clone, Copy)]
struct Piece {
    /// The first of the eight bytes, from the start of the header.
    byte: usize,
    shift: u32,
    mask: u64,
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
        Some(Self { byte: usize::try_from(byte).ok()?, shift, mask, slot: node.slot })
    }
}

/// A plan that is being made.
struct Making {
    /// In bits.
    size: u64,
    big: bool,
    id: Option<Piece>,
    time: Option<Piece>,
}

impl Making {
    /// The plan for headers whose root structure is at `root`; `None` if there is none.
    fn plan(schema: &Schema<'_, '_>, root: u32) -> Option<Plan> {
        let nodes = schema.nodes;
        let align = nodes.get(root).align_log2();
        let mask = 1_usize.checked_shl(align.checked_sub(3)?).filter(|_| align <= 15)?.wrapping_sub(1);
        let mut making = Self { size: 0, big: false, id: None, time: None };
        let (mut low, mut high) = (0, u64::MAX);
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
                    making.align(node)?;
                    next = next.saturating_add(1);
                }
                Kind::Variant if after == end => {
                    let choice = next.saturating_add(1);
                    let range = nodes.get(nodes.get(choice).b);
                    let key = making.id?.slot;
                    let is_by_id = key != NO_SLOT && key == node.slot && !node.has(SIGNED_KEY);
                    // A second variant would narrow the range further.
                    if !is_by_id || range.kind != Kind::Range || (low, high) != (0, u64::MAX) {
                        return None;
                    }
                    (low, high) = (range.x(), range.y());
                    next = choice.saturating_add(1);
                    end = nodes.end(choice);
                }
                _ => {
                    making.add(node)?;
                    next = after;
                }
            }
        }
        let Self { size, big, id, time } = making;
        if !size.is_multiple_of(8) || id.is_some_and(|id| id.byte > 0) {
            return None;
        }
        Some(Plan {
            mask,
            size: usize::try_from(size >> 3).ok().filter(|size| *size < 1 << 28)?,
            big,
            slot: id.map_or(NO_SLOT, |id| id.slot),
            id_shift: id.map_or(0, |id| id.shift),
            id_mask: id.map_or(0, |id| id.mask),
            id_set: 0,
            time_byte: time.map_or(0, |time| time.byte),
            time_shift: time.map_or(0, |time| time.shift),
            time_mask: time.map_or(0, |time| time.mask),
            low,
            span: high.checked_sub(low)?,
        })
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
}
