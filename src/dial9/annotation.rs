//! Annotations: what is said of a schema's fields, such as their unit.

use super::element::ANNOTATIONS;
use super::schema::short_text;
use crate::bytes::{Bytes, to_u64};
use crate::error::{ErrorKind, Result};
use crate::varint;
use core::fmt;
use core::iter::FusedIterator;

/// The tag of an annotations frame.
pub(super) const TAG: u8 = 6;

/// Annotations of the fields of a schema. They add to those that came before.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x06` |
/// | 1 | type id | `type_id` | LEB128 |
/// | | count | `count` | `u16` |
/// | | entries | `field_index`, `key`, `value` | `u16`; `u16` length and text; `u32` length and text |
#[derive(Clone, Copy)]
pub struct Annotations<'a> {
    at: usize,
    type_id: u64,
    count: u16,
    /// The entries.
    entries: Bytes<'a>,
}

impl<'a> Annotations<'a> {
    /// Reads what follows the tag. Keys and values must be UTF-8.
    pub(super) fn read(input: &mut Bytes<'a>) -> Result<Self> {
        let start = *input;
        let (type_id, len) =
            varint::read_u64(start.as_slice()).map_err(|fault| start.error(ANNOTATIONS, fault.kind(64)))?;
        input.advance(len);
        let at = usize::try_from(start.offset()).unwrap_or(usize::MAX).saturating_sub(1);
        Self::read_entries(input, at, type_id)
    }

    /// Reads what follows the type.
    pub(super) fn read_entries(input: &mut Bytes<'a>, at: usize, type_id: u64) -> Result<Self> {
        let claim = *input;
        let count = u16::from_le_bytes(*input.array(ANNOTATIONS)?);
        // Two lengths and an index for each.
        let least = u64::from(count).saturating_mul(8);
        if least > to_u64(input.len()) {
            return Err(claim.truncated(ANNOTATIONS, least.saturating_add(2)));
        }
        let entries = *input;
        for _ in 0..count {
            entry(input)?;
        }
        let len = entries.len().saturating_sub(input.len());
        let entries = entries.split(len).map_or(entries, |(entries, _)| entries);
        Ok(Self { at, type_id, count, entries })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// The number of the type whose fields these are about. It may be unknown, and more than a type's number can be.
    pub const fn type_id(&self) -> u64 {
        self.type_id
    }

    /// The number of annotations.
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// The annotations.
    pub const fn entries(&self) -> AnnotationEntries<'a> {
        AnnotationEntries { input: self.entries }
    }

    /// The offset of the count.
    pub(super) fn count_at(&self) -> usize {
        usize::try_from(self.entries.offset()).unwrap_or(usize::MAX).saturating_sub(2)
    }
}

impl fmt::Debug for Annotations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Annotations({} of type {} at {:#x})", self.count, self.type_id, self.at)
    }
}

/// An annotation of a field.
///
/// Known keys are `unit` (`ns`, `us`, `ms`, `s`, `bytes`), `kind` (`gauge`, `counter`, `updown-counter`), `dial9.role`
/// and `dial9.span.type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation<'a> {
    offset: u64,
    field: u16,
    key: &'a str,
    value: &'a str,
}

impl<'a> Annotation<'a> {
    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The place of the field in its schema; there may be none there.
    pub const fn field(&self) -> u16 {
        self.field
    }

    /// The key.
    pub const fn key(&self) -> &'a str {
        self.key
    }

    /// The value.
    pub const fn value(&self) -> &'a str {
        self.value
    }
}

/// Reads an annotation off the front.
fn entry<'a>(input: &mut Bytes<'a>) -> Result<Annotation<'a>> {
    let offset = input.offset();
    let field = u16::from_le_bytes(*input.array(ANNOTATIONS)?);
    let key = short_text(input, ANNOTATIONS)?;
    let len = u32::from_le_bytes(*input.array(ANNOTATIONS)?);
    let value = input.take(len.into(), ANNOTATIONS)?;
    let text = core::str::from_utf8(value.as_slice());
    let value = text.map_err(|_| value.error(ANNOTATIONS, ErrorKind::NotUtf8))?;
    Ok(Annotation { offset, field, key, value })
}

/// The entries of [`Annotations`].
#[derive(Clone, Debug)]
pub struct AnnotationEntries<'a> {
    input: Bytes<'a>,
}

impl AnnotationEntries<'_> {
    /// None.
    pub(super) const NONE: Self = Self { input: Bytes::new(&[]) };
}

impl<'a> Iterator for AnnotationEntries<'a> {
    type Item = Annotation<'a>;

    fn next(&mut self) -> Option<Annotation<'a>> {
        entry(&mut self.input).ok()
    }
}

impl FusedIterator for AnnotationEntries<'_> {}
