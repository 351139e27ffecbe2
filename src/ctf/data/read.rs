//! Reading one field.

use super::bits::{BitString, bits_of, find_nul, load, reverse, sign_extend};
use super::cursor::Cursor;
use super::element;
use super::value::{Float, Text, Value};
use crate::ctf::schema::node::{BIG, Kind, NO_SLOT, NONE, Node, REVERSED};
use crate::ctf::schema::table::holding;
use crate::error::{ErrorKind, Result};

impl<'a> Cursor<'a, '_> {
    /// Remembers the value of a length or a selector.
    #[inline(always)]
    pub(super) fn keep(&mut self, node: &Node, value: u64) {
        if let Some(slot) = self.slots.get_mut(usize::from(node.slot)) {
            *slot = value;
        }
    }

    /// The length or selector of a class.
    #[inline(always)]
    pub(super) fn key(&self, node: &Node) -> u64 {
        self.slots.get(usize::from(node.slot)).copied().unwrap_or(0)
    }

    /// Checks that a field of fixed length can be read here, and gives where it ends.
    #[inline(always)]
    fn check_fixed(&mut self, node: &Node) -> Result<u64> {
        let big = node.has(BIG);
        if self.at & 7 != 0 && big != self.last_big {
            return Err(self.window.error(self.at, element::of(self.scope), ErrorKind::ByteOrderChanged));
        }
        let end = self.at.wrapping_add(node.a.into());
        if end > self.window.limit {
            return Err(self.window.beyond(self.at, node.a.into(), self.scope));
        }
        self.last_big = big;
        Ok(end)
    }

    /// A field of at most 64 bits.
    #[inline(always)]
    pub(super) fn fixed(&mut self, node: &Node) -> Result<u64> {
        let end = self.check_fixed(node)?;
        let value = load(self.window.data, self.at, node.a, node.has(BIG));
        self.at = end;
        Ok(if node.has(REVERSED) { reverse(value, node.a) } else { value })
    }

    /// A field of fixed length that is not an integer of at most 64 bits.
    pub(super) fn bits(&mut self, node: &Node) -> Result<Value<'a>> {
        let end = self.check_fixed(node)?;
        let bits = BitString::new(self.window.data, self.at, node.a, node.has(BIG), node.has(REVERSED));
        self.at = end;
        Ok(match node.kind {
            Kind::Boolean => {
                let value = bits.any();
                self.keep(node, value.into());
                Value::Boolean(value)
            }
            Kind::Float => Value::Float(Float(bits)),
            Kind::Unsigned | Kind::Signed => {
                if node.slot != NO_SLOT {
                    let value = self.narrow_key(node, bits)?;
                    self.keep(node, value);
                }
                Value::Wide(bits)
            }
            _ => Value::Bits(bits),
        })
    }

    /// A length or selector of more than 64 bits, if its value has no more.
    #[cold]
    fn narrow_key(&self, node: &Node, bits: BitString<'_>) -> Result<u64> {
        let mut words = bits.words();
        let low = words.next().unwrap_or(0);
        let is_negative = node.kind == Kind::Signed && low >> 63 == 1;
        let rest = bits.len().saturating_sub(64);
        let last = rest.checked_rem(64).filter(|bits| *bits > 0).unwrap_or(64);
        let count = rest.div_ceil(64);
        let fits = words.zip(1..).all(|(word, at)| {
            let len = if at == count { last } else { 64 };
            let ones = u64::MAX.checked_shr(64_u32.saturating_sub(len)).unwrap_or(0);
            word == if is_negative { ones } else { 0 }
        });
        if fits {
            Ok(low)
        } else {
            let at = self.at.saturating_sub(node.a.into());
            Err(self.window.error(at, element::of(self.scope), ErrorKind::IntegerTooWide { bits: 64 }))
        }
    }

    /// The rest of the content in whole bytes, from the current one on.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Both lie in `data`.
    pub(super) fn rest(&self) -> &'a [u8] {
        let (start, end) = ((self.at >> 3) as usize, (self.window.limit >> 3) as usize);
        self.window.data.get(start..end).unwrap_or_default()
    }

    /// LEB128. Redundant bytes are fine as long as no bit of the value is lost.
    #[inline]
    pub(super) fn variable(&mut self, node: &Node) -> Result<Value<'a>> {
        let is_signed = node.kind == Kind::VariableSigned;
        let rest = self.rest();
        let mut value = 0_u64;
        let mut shift = 0_u32;
        let mut fits = true;
        let mut len = 0_usize;
        for &byte in rest {
            len = len.saturating_add(1);
            let group = u64::from(byte & 0x7f);
            match shift {
                0..=56 => value |= group.checked_shl(shift).unwrap_or(0),
                63 => {
                    value |= group << 63;
                    // The other bits repeat the last one of the value, which is the sign.
                    let rest = if is_signed && group & 1 == 1 { 0x3f } else { 0 };
                    fits = group >> 1 == rest;
                }
                _ => {
                    let filler = if is_signed && value >> 63 == 1 { 0x7f } else { 0 };
                    fits &= group == filler;
                }
            }
            shift = shift.saturating_add(7);
            if byte < 0x80 {
                if !fits {
                    let kind = ErrorKind::IntegerTooWide { bits: 64 };
                    return Err(self.window.error(self.at, element::of(self.scope), kind));
                }
                self.at = self.at.wrapping_add(bits_of(len));
                if !is_signed {
                    self.keep(node, value);
                    return Ok(Value::Unsigned(value));
                }
                let value = if shift < 64 { sign_extend(value, shift) } else { value.cast_signed() };
                self.keep(node, value.cast_unsigned());
                return Ok(Value::Signed(value));
            }
        }
        Err(self.window.beyond(self.at, bits_of(rest.len()).saturating_add(8), self.scope))
    }

    #[inline]
    pub(super) fn nul_string(&mut self, node: &Node) -> Result<Value<'a>> {
        let encoding = node.encoding();
        let rest = self.rest();
        let unit = encoding.unit();
        let Some(len) = find_nul(rest, unit) else {
            return Err(self.window.beyond(
                self.at,
                bits_of(rest.len()).saturating_add(bits_of(unit)),
                self.scope,
            ));
        };
        self.at = self.at.wrapping_add(bits_of(len.saturating_add(unit)));
        Ok(Value::Text(Text::until(rest.get(..len).unwrap_or(rest), encoding)))
    }

    /// Takes `len` bytes.
    #[inline]
    pub(super) fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        let bytes = usize::try_from(len).ok().and_then(|len| self.rest().get(..len));
        match bytes {
            Some(bytes) => {
                self.at = self.at.wrapping_add(bits_of(bytes.len()));
                Ok(bytes)
            }
            None => Err(self.window.beyond(self.at, len.saturating_mul(8), self.scope)),
        }
    }

    /// True if a selector is in one of the ranges that begin at node `first`, in ascending order.
    #[inline]
    pub(super) fn is_in(&self, first: u32, key: u64, signed: bool) -> bool {
        let range = |at| self.node(first.wrapping_sub(at));
        first != NONE && holding(range(0).count(), key, signed, range).is_some()
    }
}
