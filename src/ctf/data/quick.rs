//! Fields of the usual kinds, read at once.

use super::bits::{BitString, find_nul};
use super::value::{Float, Text, Value};
use crate::bytes::to_u64;
use crate::ctf::schema::Encoding;
use crate::ctf::schema::node::{BIG, Node, role};

/// A string whose length is known.
#[derive(Clone, Copy)]
pub(super) struct KnownString {
    /// The first byte in the content.
    pub(super) start: usize,
    pub(super) len: usize,
}

impl KnownString {
    /// None.
    pub(super) const NONE: Self = Self { start: usize::MAX, len: 0 };
}

/// Takes a field that is marked as quick from the front of `field`, which is the end of `content`: what `done` makes of
/// its value, its first bit, and what follows it. `None` if anything needs a closer look.
///
/// The last byte order does not matter after it: it ends with a byte.
///
/// `done` has each kind of value for itself, so that none of them takes the way over memory that all would share.
#[inline(always)]
#[allow(clippy::cast_possible_wrap, clippy::as_conversions)] // The sign is what is wanted.
pub(super) fn take<'a, R>(
    content: &'a [u8],
    field: &'a [u8],
    node: &Node,
    known: KnownString,
    done: impl FnOnce(Value<'a>, u64, &'a [u8]) -> R,
) -> Option<R> {
    /// The bits that distinguish integers from other classes, and signed from unsigned ones.
    const KIND: u16 = role::QUICK | role::QUICK_ALIGNED | role::QUICK_OTHER;
    const SIGN: u16 = role::QUICK_SIGNED & !role::QUICK;
    const _: () = assert!(role::QUICK_SIZE == 3 && role::QUICK_BIG == 4 && SIGN == 8);

    let start = content.len().wrapping_sub(field.len());
    let first = to_u64(start).wrapping_mul(8);
    let code = node.roles;
    if code & KIND == role::QUICK {
        // A way for each kind, of which all constants are known: one jump instead of four shifts.
        macro_rules! number {
            ($($code:literal => $type:ident $from:ident),*) => {
                match code & (role::QUICK_SIZE | role::QUICK_BIG | SIGN) {
                    $($code => {
                        let (bytes, after) = field.split_first_chunk()?;
                        ($type::$from(*bytes) as u64, after)
                    })*
                    _ => return None,
                }
            };
        }
        let (number, after) = number!(
            0 => u8 from_le_bytes, 1 => u16 from_le_bytes, 2 => u32 from_le_bytes, 3 => u64 from_le_bytes,
            4 => u8 from_be_bytes, 5 => u16 from_be_bytes, 6 => u32 from_be_bytes, 7 => u64 from_be_bytes,
            8 => i8 from_le_bytes, 9 => i16 from_le_bytes, 10 => i32 from_le_bytes, 11 => i64 from_le_bytes,
            12 => i8 from_be_bytes, 13 => i16 from_be_bytes, 14 => i32 from_be_bytes, 15 => i64 from_be_bytes
        );
        return Some(if code & SIGN == 0 {
            done(Value::Unsigned(number), first, after)
        } else {
            done(Value::Signed(number as i64), first, after)
        });
    }
    if code == role::QUICK_STRING {
        let len = if start == known.start { known.len } else { find_nul(field, 1)? };
        let (text, after) = field.split_at_checked(len)?;
        let after = after.get(1..)?;
        return Some(done(Value::Text(Text::until(text, Encoding::Utf8)), first, after));
    }
    if code == role::QUICK_FLOAT {
        let size = match node.a {
            64 => 8,
            32 => 4,
            _ => 2,
        };
        let after = field.get(size..)?;
        let bits = BitString::new(content, first, node.a, node.has(BIG), false);
        return Some(done(Value::Float(Float(bits)), first, after));
    }
    if code & (role::QUICK | role::QUICK_ALIGNED) == role::QUICK | role::QUICK_ALIGNED {
        let (value, first, after) = take_aligned(content, field, node)?;
        return Some(done(value, first, after));
    }
    None
}

/// As [`take`], where bytes may have to be skipped before the field.
#[inline(never)]
fn take_aligned<'a>(content: &'a [u8], rest: &'a [u8], node: &Node) -> Option<(Value<'a>, u64, &'a [u8])> {
    // 8 to 4096 bits.
    let mask = 1_usize.wrapping_shl(node.align_log2().wrapping_sub(3)).wrapping_sub(1);
    let at = content.len().wrapping_sub(rest.len());
    let field = rest.get(at.wrapping_neg() & mask..)?;
    let node = Node { roles: node.roles & !role::QUICK_ALIGNED, ..*node };
    take(content, field, &node, KnownString::NONE, |value, first, after| (value, first, after))
}
