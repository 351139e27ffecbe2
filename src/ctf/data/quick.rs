//! Fields of the usual kinds, read at once.

use super::bits::{BitString, bits_of, find_nul};
use super::value::{Float, Text, Value};
use super::window::Window;
use crate::ctf::schema::Encoding;
use crate::ctf::schema::node::{BIG, Kind, Node, role};

/// Takes a field that is marked as quick from the front of `rest`, which is the end of `content`: its value, and its
/// first bit. `None` if there is anything to be looked at more closely.
///
/// The last byte order does not matter after it: it ends with a byte.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // `rest` is no longer than `content`; an alignment is 8 to 4096 bits.
pub(super) fn take<'a>(content: &'a [u8], rest: &mut &'a [u8], node: &Node) -> Option<(Value<'a>, u64)> {
    if node.roles & role::QUICK == 0 {
        return None;
    }
    let mut field = *rest;
    if node.align_log2() > 3 {
        let mask = 1_usize.wrapping_shl(node.align_log2() - 3).wrapping_sub(1);
        let at = content.len() - field.len();
        field = field.get(at.wrapping_neg() & mask..)?;
    }
    let start = bits_of(content.len() - field.len());
    if node.kind == Kind::NulString {
        let (text, after) = field.split_at_checked(find_nul(field, 1)?)?;
        *rest = after.get(1..)?;
        return Some((Value::Text(Text::until(text, Encoding::Utf8)), start));
    }
    let chunk = field.first_chunk::<8>()?;
    let big = node.has(BIG);
    let (value, size) = match node.kind {
        Kind::Unsigned => unsigned(chunk, node.a, big),
        Kind::Signed => signed(chunk, node.a, big),
        _ => {
            let float = Float(BitString::new(content, start, node.a, big, false));
            (
                Value::Float(float),
                if node.a == 64 {
                    8
                } else if node.a == 32 {
                    4
                } else {
                    2
                },
            )
        }
    };
    *rest = field.get(size..)?;
    Some((value, start))
}

/// The unsigned integer of 8, 16, 32 or 64 bits that begins a chunk, and its size in bytes.
#[inline(always)]
fn unsigned<'a>(chunk: &[u8; 8], bits: u32, big: bool) -> (Value<'a>, usize) {
    let [a, b, c, d, ..] = *chunk;
    let (value, size) = match (bits, big) {
        (8, _) => (a.into(), 1),
        (16, false) => (u16::from_le_bytes([a, b]).into(), 2),
        (16, true) => (u16::from_be_bytes([a, b]).into(), 2),
        (32, false) => (u32::from_le_bytes([a, b, c, d]).into(), 4),
        (32, true) => (u32::from_be_bytes([a, b, c, d]).into(), 4),
        (_, false) => (u64::from_le_bytes(*chunk), 8),
        (_, true) => (u64::from_be_bytes(*chunk), 8),
    };
    (Value::Unsigned(value), size)
}

/// The signed integer of 8, 16, 32 or 64 bits that begins a chunk, and its size in bytes.
#[inline(always)]
fn signed<'a>(chunk: &[u8; 8], bits: u32, big: bool) -> (Value<'a>, usize) {
    let [a, b, c, d, ..] = *chunk;
    let (value, size) = match (bits, big) {
        (8, _) => (i8::from_le_bytes([a]).into(), 1),
        (16, false) => (i16::from_le_bytes([a, b]).into(), 2),
        (16, true) => (i16::from_be_bytes([a, b]).into(), 2),
        (32, false) => (i32::from_le_bytes([a, b, c, d]).into(), 4),
        (32, true) => (i32::from_be_bytes([a, b, c, d]).into(), 4),
        (_, false) => (i64::from_le_bytes(*chunk), 8),
        (_, true) => (i64::from_be_bytes(*chunk), 8),
    };
    (Value::Signed(value), size)
}

/// A field that is marked as quick, and begins after bit `at`: its value, its first bit, and the one after it.
#[inline(always)]
#[allow(clippy::as_conversions, clippy::arithmetic_side_effects)] // Positions lie in memory.
pub(super) fn quick<'a>(window: &Window<'a>, node: &Node, at: u64) -> Option<(Value<'a>, u64, u64)> {
    let content = window.content();
    let mut rest = content.get((at.wrapping_add(7) >> 3) as usize..)?;
    let (value, start) = take(content, &mut rest, node)?;
    Some((value, start, bits_of(content.len() - rest.len())))
}
