//! Packets made shorter: their records stay as they are, and their sizes are made new.

use super::bits::reverse;
use super::packet::Packet;
use crate::byte_order::ByteOrder;
use crate::bytes::to_u64;
use crate::ctf::schema::FieldClass;
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
    patches: Patches,
}

/// The fields of a packet's context that are made new, in their order.
#[derive(Clone, Copy)]
pub(super) struct Patches {
    list: [Option<Patch>; PATCHES],
    /// True if the beginning is one of them.
    pub(super) has_begin: bool,
}

/// The number of fields that may be made new: two lengths and two times.
const PATCHES: usize = 4;

/// Bytes made new.
#[derive(Clone, Copy)]
struct Patch {
    at: usize,
    len: usize,
    /// The value, in the order in which it is written; the first `len` count.
    bytes: [u8; WIDEST],
}

/// The number of bytes in the longest integer that is made new: 64 bits, 7 in each byte.
const WIDEST: usize = 10;

impl<'a, 's> Packet<'a, 's> {
    /// The packet without what follows bit `content` of it, which must be where a record ends, and without padding.
    ///
    /// Times, counters and sequence numbers stay. `None` if the packet has no place for its new length: its lengths are
    /// no integers of whole bytes, or it ends where its stream does and `content` is no multiple of 8.
    ///
    /// # Errors
    /// A field of the context that cannot be read.
    pub fn shortened(&self, content: u64) -> Result<Option<Shortened<'a>>> {
        let patches = self.patches(content, None)?.filter(|_| content >= self.records_at);
        let data = usize::try_from(content.div_ceil(8)).ok().and_then(|size| self.window.data.get(..size));
        Ok(data.zip(patches).map(|(data, patches)| Shortened { data, patches }))
    }

    /// The lengths of the packet with so many bits of content, and its first and its last time, if these are new.
    pub(super) fn patches(&self, content: u64, times: Option<(u64, u64)>) -> Result<Option<Patches>> {
        let total = content.div_ceil(8).saturating_mul(8);
        let mut patches = Patches { list: [None; PATCHES], has_begin: false };
        let (mut lengths, mut is_possible) = (0_u8, true);
        if let Some(mut fields) = self.context() {
            while let Some(field) = fields.next_field()? {
                let class = field.class();
                let node = class.node();
                if !matches!(node.kind, Kind::Unsigned | Kind::VariableUnsigned) {
                    continue;
                }
                let has = |role| node.meaning() & role != 0;
                let value = if has(role::TOTAL_LENGTH) {
                    lengths |= 2;
                    total
                } else if has(role::CONTENT_LENGTH) {
                    lengths |= 1;
                    content
                } else {
                    let Some((begin, end)) = times else { continue };
                    patches.has_begin |= has(role::TIMESTAMP);
                    match (has(role::TIMESTAMP), has(role::END_TIMESTAMP)) {
                        (true, _) => begin,
                        (false, true) => end,
                        _ => continue,
                    }
                };
                let patch = Patch::of(class, field.start(), fields.position(), value);
                let place = patches.list.iter_mut().find(|place| place.is_none());
                match (patch, place) {
                    (Some(patch), Some(place)) => *place = Some(patch),
                    _ => is_possible = false,
                }
            }
        }
        // Without a length of its own, the content goes on to the end of the packet.
        is_possible &= lengths == 3 || content == total;
        Ok(Some(patches).filter(|_| is_possible))
    }
}

impl Patch {
    /// The bytes of an integer of whole bytes that lies there.
    fn of(class: FieldClass<'_, '_>, start: u64, end: u64, value: u64) -> Option<Self> {
        let len = end.checked_sub(start)? / 8;
        let (at, size) = (usize::try_from(start / 8).ok()?, usize::try_from(len).ok()?);
        if !start.is_multiple_of(8) || !end.is_multiple_of(8) || size == 0 {
            return None;
        }
        let mut patch = Self { at, len: size, bytes: [0; WIDEST] };
        let bytes = patch.bytes.get_mut(..size)?;
        if class.node().kind == Kind::VariableUnsigned {
            // As many bytes as before: those that are too many have no bits of the value.
            let mut rest = value;
            for byte in bytes.iter_mut() {
                *byte = 0x80 | (rest & 0x7f).to_le_bytes()[0];
                rest >>= 7;
            }
            *bytes.last_mut()? &= 0x7f;
            return (rest == 0).then_some(patch);
        }
        let bits = u32::try_from(end.checked_sub(start)?).ok().filter(|bits| *bits <= 64)?;
        if bits < 64 && value.checked_shr(bits) != Some(0) {
            return None;
        }
        let value = if class.is_reversed() { reverse(value, bits) } else { value };
        let stored = match class.byte_order()? {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.checked_shl(64_u32.saturating_sub(bits))?.to_be_bytes(),
        };
        bytes.iter_mut().zip(stored).for_each(|(to, from)| *to = from);
        Some(patch)
    }
}

impl Patches {
    /// Writes the bytes of a packet, with what is made new in them.
    pub(super) fn write<E>(
        &self,
        data: &[u8],
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let mut at = 0_usize;
        for patch in self.list.iter().flatten() {
            put(data.get(at..patch.at).unwrap_or_default())?;
            put(patch.bytes.get(..patch.len).unwrap_or_default())?;
            at = patch.at.saturating_add(patch.len);
        }
        put(data.get(at..).unwrap_or_default())
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
        self.patches.write(self.data, put)
    }
}

impl fmt::Debug for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shortened").field("size", &self.size()).finish_non_exhaustive()
    }
}
