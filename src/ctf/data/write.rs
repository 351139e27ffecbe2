//! Packets made shorter: their records stay as they are, and their sizes are made new.

use super::packet::Packet;
use crate::byte_order::ByteOrder;
use crate::bytes::to_u64;
use crate::ctf::schema::node::{Kind, role};
use crate::error::Result;
use core::fmt;

/// A packet with its first records alone, to be written.
///
/// Its bytes are unchanged, except for the fields that hold its lengths.
#[derive(Clone, Copy)]
pub struct Shortened<'a> {
    /// The bytes that are kept.
    data: &'a [u8],
    patches: [Option<Patch>; 2],
}

/// Bytes made new.
#[derive(Clone, Copy)]
struct Patch {
    at: usize,
    len: usize,
    /// The value, in the order in which it is written; the first `len` count.
    bytes: [u8; 8],
}

impl<'a, 's> Packet<'a, 's> {
    /// The packet without what follows bit `content` of it, which must be where a record ends, and without padding.
    ///
    /// Times, counters and sequence numbers stay. `None` if the packet has no place for its new length: its lengths are
    /// no integers of whole bytes, or it ends where its stream does and `content` is no multiple of 8.
    ///
    /// # Errors
    /// A field of the context that cannot be read.
    pub fn shortened(&self, content: u64) -> Result<Option<Shortened<'a>>> {
        let size = content.div_ceil(8);
        let whole = content.is_multiple_of(8);
        let mut patches = [None; 2];
        let (mut lengths, mut is_possible) = (0_u8, content >= self.records_at);
        if let Some(mut fields) = self.context() {
            while let Some(field) = fields.next_field()? {
                let node = field.class().node();
                let roles = node.meaning() & (role::TOTAL_LENGTH | role::CONTENT_LENGTH);
                if roles == 0 || !matches!(node.kind, Kind::Unsigned | Kind::VariableUnsigned) {
                    continue;
                }
                let is_total = roles & role::TOTAL_LENGTH != 0;
                lengths |= if is_total { 2 } else { 1 };
                let value = if is_total { size.saturating_mul(8) } else { content };
                let patch = Patch::of(node.kind, field.start(), field.class().bits(), value, || {
                    field.class().byte_order().filter(|_| !field.class().is_reversed())
                });
                let place = patches.iter_mut().find(|place| place.is_none());
                match (patch, place) {
                    (Some(patch), Some(place)) => *place = Some(patch),
                    _ => is_possible = false,
                }
            }
        }
        // Without a length of its own, the content goes on to the end of the packet.
        is_possible &= lengths == 3 || whole;
        let data = usize::try_from(size).ok().and_then(|size| self.window.data.get(..size));
        Ok(data.filter(|_| is_possible).map(|data| Shortened { data, patches }))
    }
}

impl Patch {
    /// The bytes of an integer of whole bytes.
    fn of(
        kind: Kind,
        start: u64,
        bits: Option<u32>,
        value: u64,
        order: impl FnOnce() -> Option<ByteOrder>,
    ) -> Option<Self> {
        let bits = bits.filter(|bits| kind == Kind::Unsigned && bits.is_multiple_of(8) && *bits <= 64)?;
        if !start.is_multiple_of(8) || (bits < 64 && value.checked_shr(bits) != Some(0)) {
            return None;
        }
        let len = usize::try_from(bits / 8).ok()?;
        let bytes = match order()? {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.checked_shl(64_u32.saturating_sub(bits))?.to_be_bytes(),
        };
        Some(Self { at: usize::try_from(start / 8).ok()?, len, bytes })
    }
}

impl Shortened<'_> {
    /// The size of the packet in bytes.
    pub const fn size(&self) -> u64 {
        to_u64(self.data.len())
    }

    /// Writes it.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(
        &self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let mut at = 0_usize;
        let [first, second] = self.patches;
        let is_swapped = first.is_some_and(|first| second.is_some_and(|second| second.at < first.at));
        let patches = if is_swapped { [second, first] } else { [first, second] };
        for patch in patches.into_iter().flatten() {
            put(self.data.get(at..patch.at).unwrap_or_default())?;
            put(patch.bytes.get(..patch.len).unwrap_or_default())?;
            at = patch.at.saturating_add(patch.len);
        }
        put(self.data.get(at..).unwrap_or_default())
    }
}

impl fmt::Debug for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shortened").field("size", &self.size()).finish_non_exhaustive()
    }
}
