//! Fields of the usual kinds, read at once.

use super::bits::{BitString, find_nul};
use super::value::{Float, Text, Value};
use super::window::Window;
use crate::bytes::to_u64;
use crate::ctf::schema::Encoding;
use crate::ctf::schema::node::{Node, role};

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

/// Takes a field that is marked as quick from the front of `rest`, which is the end of `content`: its value, and its
/// first bit. `None` if anything needs a closer look.
///
/// The last byte order does not matter after it: it ends with a byte.
#[inline(always)]
pub(super) fn take<'a>(
    content: &'a [u8],
    rest: &mut &'a [u8],
    node: &Node,
    known: KnownString,
) -> Option<(Value<'a>, u64)> {
    // One jump tells all about the class.
    const U8: u16 = role::QUICK_UNSIGNED;
    const U16: u16 = U8 | 1;
    const U32: u16 = U8 | 2;
    const U64: u16 = U8 | 3;
    const I8: u16 = role::QUICK_SIGNED;
    const I16: u16 = I8 | 1;
    const I32: u16 = I8 | 2;
    const I64: u16 = I8 | 3;
    const BIG: u16 = role::QUICK_BIG;
    const U8_BIG: u16 = U8 | BIG;
    const U16_BIG: u16 = U16 | BIG;
    const U32_BIG: u16 = U32 | BIG;
    const U64_BIG: u16 = U64 | BIG;
    const I8_BIG: u16 = I8 | BIG;
    const I16_BIG: u16 = I16 | BIG;
    const I32_BIG: u16 = I32 | BIG;
    const I64_BIG: u16 = I64 | BIG;

    let mut field = *rest;
    let start = content.len().wrapping_sub(field.len());
    let value = match node.roles {
        U8 | U8_BIG => Value::Unsigned(u8::from_le_bytes(bytes(&mut field)?).into()),
        U16 => Value::Unsigned(u16::from_le_bytes(bytes(&mut field)?).into()),
        U32 => Value::Unsigned(u32::from_le_bytes(bytes(&mut field)?).into()),
        U64 => Value::Unsigned(u64::from_le_bytes(bytes(&mut field)?)),
        U16_BIG => Value::Unsigned(u16::from_be_bytes(bytes(&mut field)?).into()),
        U32_BIG => Value::Unsigned(u32::from_be_bytes(bytes(&mut field)?).into()),
        U64_BIG => Value::Unsigned(u64::from_be_bytes(bytes(&mut field)?)),
        I8 | I8_BIG => Value::Signed(i8::from_le_bytes(bytes(&mut field)?).into()),
        I16 => Value::Signed(i16::from_le_bytes(bytes(&mut field)?).into()),
        I32 => Value::Signed(i32::from_le_bytes(bytes(&mut field)?).into()),
        I64 => Value::Signed(i64::from_le_bytes(bytes(&mut field)?)),
        I16_BIG => Value::Signed(i16::from_be_bytes(bytes(&mut field)?).into()),
        I32_BIG => Value::Signed(i32::from_be_bytes(bytes(&mut field)?).into()),
        I64_BIG => Value::Signed(i64::from_be_bytes(bytes(&mut field)?)),
        role::QUICK_STRING => {
            let len = if start == known.start { known.len } else { find_nul(field, 1)? };
            let (text, after) = field.split_at_checked(len)?;
            field = after.get(1..)?;
            Value::Text(Text::until(text, Encoding::Utf8))
        }
        role::QUICK_FLOAT => {
            let size = if node.a == 64 {
                8
            } else if node.a == 32 {
                4
            } else {
                2
            };
            field = field.get(size..)?;
            let big = node.has(crate::ctf::schema::node::BIG);
            Value::Float(Float(BitString::new(content, to_u64(start).wrapping_mul(8), node.a, big, false)))
        }
        code if code & (role::QUICK | role::QUICK_ALIGNED) == role::QUICK | role::QUICK_ALIGNED => {
            return take_aligned(content, rest, node);
        }
        _ => return None,
    };
    *rest = field;
    Some((value, to_u64(start).wrapping_mul(8)))
}

/// As [`take`], where bytes may have to be skipped before the field.
#[inline(never)]
fn take_aligned<'a>(content: &'a [u8], rest: &mut &'a [u8], node: &Node) -> Option<(Value<'a>, u64)> {
    // 8 to 4096 bits.
    let mask = 1_usize.wrapping_shl(node.align_log2().wrapping_sub(3)).wrapping_sub(1);
    let at = content.len().wrapping_sub(rest.len());
    let mut field = rest.get(at.wrapping_neg() & mask..)?;
    let node = Node { roles: node.roles & !role::QUICK_ALIGNED, ..*node };
    let taken = take(content, &mut field, &node, KnownString::NONE)?;
    *rest = field;
    Some(taken)
}

/// Takes `N` bytes from the front of `rest`.
#[inline(always)]
fn bytes<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*first)
}

/// A field that is marked as quick, and begins after bit `at`: its value, its first bit, and the one after it.
#[inline(always)]
#[allow(clippy::as_conversions)] // Positions lie in memory.
pub(super) fn quick<'a>(window: &Window<'a>, node: &Node, at: u64) -> Option<(Value<'a>, u64, u64)> {
    let content = window.content();
    let mut rest = content.get((at.wrapping_add(7) >> 3) as usize..)?;
    let (value, start) = take(content, &mut rest, node, KnownString::NONE)?;
    Some((value, start, to_u64(content.len().wrapping_sub(rest.len())).wrapping_mul(8)))
}
