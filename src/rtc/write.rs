//! Frames made new where they stand: of the same length, so that nothing else moves.

use super::frame::{MAX_PAYLOAD, id};
use super::index::{Entry, Index};
use super::unit::{MAGIC, MARKER_BYTES, MARKER_HEADER};
use crate::ByteOrder;
use crate::bytes::to_u64;

/// A Marker, of which all are alike: its header, and superscript one.
pub const MARKER: [u8; 1025] = {
    let mut marker = [MAGIC; MARKER_BYTES];
    let [header, ..] = &mut marker;
    *header = MARKER_HEADER;
    marker
};

/// A platform frame, which tells the writer's byte order.
#[must_use]
pub fn platform(order: ByteOrder) -> [u8; 5] {
    let [first, second, third, fourth] = stored(0x0102_0304, order);
    let [header, ..] = (id::PLATFORM << 1).to_le_bytes();
    [header, first, second, third, fourth]
}

/// A word in the writer's byte order.
pub(super) fn stored(word: u32, order: ByteOrder) -> [u8; 4] {
    match order {
        ByteOrder::Big => word.to_be_bytes(),
        ByteOrder::Little => word.to_le_bytes(),
    }
}

/// The header of a padding frame.
const PADDING_HEADER: u8 = 0x02;

/// The header of a padding frame that is as long as a frame of `len` bytes, and how many bytes of payload follow.
///
/// `None` for fewer than two bytes, and for more than a frame may have.
///
/// ```
/// use traceglass::rtc::padding;
///
/// assert_eq!(padding(5), Some(([2, 3, 0], 2, 3)));
/// assert_eq!(padding(300), Some(([2, 0xa9, 2], 3, 297)));
/// assert_eq!(padding(1), None);
/// ```
#[must_use]
pub fn padding(len: u64) -> Option<([u8; 3], usize, u64)> {
    let short = len.checked_sub(2)?;
    if let Ok(size @ ..=0x7f) = u8::try_from(short) {
        return Some(([PADDING_HEADER, size, 0], 2, short));
    }
    // The length takes two bytes; one that would fit in one is padded.
    let payload = len.checked_sub(3).filter(|payload| *payload <= MAX_PAYLOAD)?;
    let [low, high, ..] = (payload << 1).to_le_bytes();
    Some(([PADDING_HEADER, (low >> 1) | 0x80, high], 3, payload))
}

impl Index<'_> {
    /// Writes the payload anew, in as many bytes: with another number, which must be no larger than the one that was there,
    /// or its lower bits are written; and without the targets that are not kept, as if
    /// nothing had been written of their streams. The sizes of units stay.
    ///
    /// Bytes that are not an entry are written as they are.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn rewrite<E>(
        &self,
        payload: &[u8],
        number: Option<u64>,
        keeps: impl Fn(&Entry) -> bool,
        put: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut entries = self.entries();
        let end = self.entries().end();
        // Where the payload begins in the input: its end is that of the entries.
        let start = end.saturating_sub(to_u64(payload.len()));
        let at = |offset: u64| usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut done = at(entries.offset());
        let front = payload.get(..done).unwrap_or_default();
        match number.filter(|_| self.number().is_some()) {
            Some(number) => put_padded(number, front.len(), put)?,
            None => put(front)?,
        }
        let is_major = self.number().is_some();
        while let Some(Ok(entry)) = entries.next() {
            let next = at(entries.offset());
            let bytes = payload.get(done..next).unwrap_or_default();
            done = next;
            // Of the first two, an Index has sizes.
            if entry.distance() == 0 || entry.id() == 3 || (is_major && entry.id() == 4) || keeps(&entry) {
                put(bytes)?;
                continue;
            }
            let id = bytes.iter().position(|byte| byte & 0x80 == 0).map_or(0, |last| last.saturating_add(1));
            let (id, distance) = bytes.split_at_checked(id).unwrap_or((bytes, &[]));
            put(id)?;
            put_padded(0, distance.len(), put)?;
        }
        put(payload.get(done..).unwrap_or_default())
    }
}

/// Writes a number in exactly so many bytes; it fits, as it is no larger than the one that was there.
fn put_padded<E>(number: u64, len: usize, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut rest = number;
    for left in (0..len).rev() {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        let more = if left > 0 { 0x80 } else { 0 };
        put(&[(low & 0x7f) | more])?;
    }
    Ok(())
}
