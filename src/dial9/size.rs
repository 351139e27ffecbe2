//! The ends of values: nothing has a length but what says so itself.

use super::element::VALUE;
use super::kind::FieldType;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Error, ErrorKind, Result};
use crate::varint::{self, Fault};

/// The number of lists and maps that may lie in each other: one, and 32 levels below it, as in the format's own reader.
pub(super) const DEPTH: usize = 33;

/// The size of the values of a type, if it is always the same.
#[inline(always)]
pub(super) const fn known(kind: FieldType) -> Option<u16> {
    Some(match kind {
        FieldType::I64 | FieldType::F64 => 8,
        FieldType::PooledStack | FieldType::PooledString | FieldType::U32 => 4,
        FieldType::U16 => 2,
        FieldType::Bool | FieldType::U8 => 1,
        _ => return None,
    })
}

/// The end of the integer at `at`, which lies in `data`; `None` if there is none.
#[inline(always)]
pub(super) fn end_of_varint(data: &[u8], at: usize) -> Option<usize> {
    match data.get(at) {
        Some(&byte) if byte < 0x80 => Some(at.wrapping_add(1)),
        _ => match varint::len_u64_long(data.get(at..)?) {
            0 => None,
            len => Some(at.wrapping_add(len)),
        },
    }
}

/// The end of the value at `at`. It may lie after that of `data`, if all up to there is fine.
///
/// `None` if there is none: [`fault`] says why.
#[inline(always)]
pub(super) fn end(data: &[u8], at: usize, kind: FieldType) -> Option<usize> {
    match kind {
        FieldType::Varint => end_of_varint(data, at),
        FieldType::String | FieldType::Bytes => counted(data, at, 1),
        FieldType::Stack => counted(data, at, 8),
        FieldType::StringMap => map_end(data, at).ok(),
        FieldType::List | FieldType::Map => nested_end(data, at, kind).ok(),
        kind => Some(at.saturating_add(known(kind)?.into())),
    }
}

/// The 32 bits at `at`.
#[inline(always)]
pub(super) fn number(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// The end of a count at `at` and as many elements of `size` bytes.
#[inline(always)]
fn counted(data: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = to_usize(number(data, at)?).saturating_mul(size);
    Some(at.saturating_add(4).saturating_add(bytes))
}

/// The end of a count at `at` and as many pairs of text.
fn map_end(data: &[u8], at: usize) -> Result<usize> {
    let mut input = Bytes::at(data.get(at..).unwrap_or_default(), to_u64(at));
    let start = input;
    let count = u64::from(u32::from_le_bytes(*input.array(VALUE)?));
    // Two lengths for each.
    let least = count.saturating_mul(8);
    if least > to_u64(input.len()) {
        return Err(start.truncated(VALUE, least.saturating_add(4)));
    }
    for _ in 0..count.saturating_mul(2) {
        let len = u32::from_le_bytes(*input.array(VALUE)?);
        input.take(len.into(), VALUE)?;
    }
    Ok(data.len().saturating_sub(input.len()))
}

/// Why the value at `at` has no end in `data`.
#[cold]
#[inline(never)]
pub(super) fn fault(data: &[u8], at: usize, kind: FieldType) -> Error {
    let rest = Bytes::at(data.get(at..).unwrap_or_default(), to_u64(at));
    match kind {
        FieldType::Varint => {
            let fault = varint::read_u64(rest.as_slice()).err().unwrap_or(Fault::Truncated);
            rest.error(VALUE, fault.kind(64))
        }
        FieldType::List | FieldType::Map => {
            nested_end(data, at, kind).err().unwrap_or_else(|| rest.truncated(VALUE, 4))
        }
        FieldType::StringMap => map_end(data, at).err().unwrap_or_else(|| rest.truncated(VALUE, 4)),
        // A count on whose size nothing else depends: all of the value is claimed.
        FieldType::String | FieldType::Bytes | FieldType::Stack => {
            let size = match number(data, at) {
                None => 4,
                Some(count) => {
                    let each = if kind == FieldType::Stack { 8 } else { 1 };
                    u64::from(count).saturating_mul(each).saturating_add(4)
                }
            };
            rest.truncated(VALUE, size)
        }
        _ => {
            let end = end(data, at, kind).unwrap_or(at);
            rest.truncated(VALUE, to_u64(end.saturating_sub(at)))
        }
    }
}

/// The end of a list or map, and of all that is in it.
///
/// Each step reads a byte at least, so that a count is never believed.
fn nested_end(data: &[u8], at: usize, kind: FieldType) -> Result<usize> {
    let mut input = Bytes::at(data.get(at..).unwrap_or_default(), to_u64(at));
    // How many values follow on each level.
    let mut levels = [0_u64; DEPTH];
    let mut depth = 0_usize;
    let mut kind = kind;
    loop {
        let start = input;
        if matches!(kind, FieldType::List | FieldType::Map) {
            let count = u64::from(u32::from_le_bytes(*input.array(VALUE)?));
            let values = if kind == FieldType::Map { count.saturating_mul(2) } else { count };
            // A type and a byte for each.
            let least = values.saturating_mul(2);
            if least > to_u64(input.len()) {
                return Err(start.truncated(VALUE, least.saturating_add(4)));
            }
            let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
            let level = levels.get_mut(depth);
            *level.ok_or_else(|| start.error(VALUE, ErrorKind::TooDeep { limit }))? = values;
            depth = depth.saturating_add(1);
        } else {
            let here = usize::try_from(start.offset()).unwrap_or(usize::MAX);
            let end = end_of_scalar(data, here, kind).filter(|end| *end <= data.len());
            let end = end.ok_or_else(|| fault(data, here, kind))?;
            input.advance(end.saturating_sub(here));
        }
        // The next value: of the innermost level that has one.
        loop {
            let Some(level) = depth.checked_sub(1).and_then(|top| levels.get_mut(top)) else {
                return Ok(data.len().saturating_sub(input.len()));
            };
            match level.checked_sub(1) {
                Some(left) => {
                    *level = left;
                    break;
                }
                None => depth = depth.saturating_sub(1),
            }
        }
        let start = input;
        let [number] = *input.array(VALUE)?;
        let invalid = ErrorKind::Invalid { value: number.into() };
        kind = FieldType::from_number(number).ok_or_else(|| start.error(VALUE, invalid))?;
    }
}

/// As [`end`], of what is no list and no map.
fn end_of_scalar(data: &[u8], at: usize, kind: FieldType) -> Option<usize> {
    match kind {
        FieldType::List | FieldType::Map => None,
        kind => end(data, at, kind),
    }
}
