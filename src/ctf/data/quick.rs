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
    /// What tells integers from the others, and whether they are signed.
    const KIND: u16 = role::QUICK | role::QUICK_ALIGNED | role::QUICK_OTHER;
    const SIGN: u16 = role::QUICK_SIGNED & !role::QUICK;

    let start = content.len().wrapping_sub(field.len());
    let first = to_u64(start).wrapping_mul(8);
    let code = node.roles;
    if code & KIND == role::QUICK {
        let size_log2 = u32::from(code & role::QUICK_SIZE);
        let after = field.get(1_usize.wrapping_shl(size_log2)..)?;
        // The number is in the upper bits.
        let unused = 64_u32.wrapping_sub(8_u32.wrapping_shl(size_log2));
        let word = match field.first_chunk::<8>() {
            Some(word) => *word,
            None => last_word(field),
        };
        let number = if code & role::QUICK_BIG == 0 {
            u64::from_le_bytes(word).wrapping_shl(unused)
        } else {
            u64::from_be_bytes(word)
        };
        return Some(if code & SIGN == 0 {
            done(Value::Unsigned(number.wrapping_shr(unused)), first, after)
        } else {
            done(Value::Signed((number as i64).wrapping_shr(unused)), first, after)
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

/// Fewer than eight bytes at the end of a packet, and zeros.
#[cold]
fn last_word(bytes: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    word
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
