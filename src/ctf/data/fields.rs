use super::cursor::{Cursor, Step};
use super::quick::take;
use super::value::{Field, Value};
use crate::bytes::{split_once, to_u64};
use crate::ctf::schema::{FieldClass, Schema};
use crate::error::Result;

/// The fields of one scope, pulled one after the other.
///
/// A field that has others in it is followed by them and by [`Value::End`]. The root structure itself is not among the
/// fields: they are its members.
#[derive(Clone)]
pub struct Fields<'a, 's> {
    pub(super) cursor: Cursor<'a, 's>,
}

impl<'a, 's> Fields<'a, 's> {
    pub(super) fn new(cursor: Cursor<'a, 's>) -> Self {
        Self { cursor }
    }

    /// The next field; `None` at the end and after an error.
    ///
    /// # Errors
    /// A field that cannot be read. The fields of a record were checked when the record was delivered.
    #[inline]
    pub fn next_field(&mut self) -> Result<Option<Field<'a, 's>>> {
        let schema = self.cursor.schema;
        if let Some(field) = self.cursor.quick(|step| Ok(Some(Self::field(schema, step)))) {
            return field;
        }
        if self.cursor.is_at_end() {
            return Ok(None);
        }
        self.slow()
    }

    #[inline(always)]
    fn field(schema: &'s Schema<'a, 's>, Step { index, value, start }: Step<'a>) -> Field<'a, 's> {
        Field { class: FieldClass::new(schema, index), value, start }
    }

    #[inline(never)]
    fn slow(&mut self) -> Result<Option<Field<'a, 's>>> {
        match self.cursor.step(false) {
            Ok(step) => Ok(step.map(|step| Self::field(self.cursor.schema, step))),
            Err(error) => {
                self.cursor.stop();
                Err(error)
            }
        }
    }

    /// Hands all fields that are left to `each`, in the order of [`Self::next_field`]: the fastest way to read them all.
    ///
    /// # Errors
    /// As [`Self::next_field`], after the fields before.
    #[inline]
    pub fn each_field(&mut self, mut each: impl FnMut(Field<'a, 's>)) -> Result<()> {
        let schema = self.cursor.schema;
        let content = self.cursor.window.content();
        let known = self.cursor.known;
        loop {
            // Each way to go on is a loop of its own, so that what it needs stays in registers.
            if let Some(mut rest) = self.cursor.rest_in_bytes(content) {
                let before = rest.len();
                let mut taken = 0_u32;
                if let Some((index, node, count)) = self.cursor.elements() {
                    let mut left = count;
                    let class = FieldClass::new(schema, index);
                    while left > 0 {
                        let one = |value, start, after| {
                            each(Field { class, value, start });
                            after
                        };
                        let Some(after) = take(content, rest, node, known, one) else { break };
                        rest = after;
                        left = left.wrapping_sub(1);
                    }
                    self.cursor.take_elements(left);
                } else {
                    let first = self.cursor.first_member();
                    for node in self.cursor.members() {
                        let class = FieldClass::new(schema, first.wrapping_add(taken));
                        let one = |value, start, after| {
                            each(Field { class, value, start });
                            after
                        };
                        let Some(after) = take(content, rest, node, known, one) else { break };
                        rest = after;
                        taken = taken.wrapping_add(1);
                    }
                    self.cursor.take_members(taken);
                }
                if rest.len() != before {
                    self.cursor.at = to_u64(content.len().wrapping_sub(rest.len())).wrapping_mul(8);
                }
            }
            if self.cursor.is_at_end() {
                return Ok(());
            }
            self.slow_each(&mut each)?;
        }
    }

    /// Hands on the next field, which there is, and those after it up to one that is quick.
    #[inline(never)]
    fn slow_each(&mut self, each: &mut impl FnMut(Field<'a, 's>)) -> Result<()> {
        let schema = self.cursor.schema;
        loop {
            match self.cursor.step(false) {
                Ok(Some(step)) => each(Self::field(schema, step)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.cursor.stop();
                    return Err(error);
                }
            }
            let is_quick = self.cursor.top.peek().is_some_and(|next| schema.nodes.get(next).is_quick());
            if is_quick || self.cursor.is_at_end() {
                return Ok(());
            }
        }
    }

    /// The next bit to be read.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub fn position(&self) -> u64 {
        self.cursor.at
    }

    /// The field at a path of member names: `"a"`, `"a.b"`. It leads through optionals and variants, but not into
    /// arrays.
    ///
    /// # Errors
    /// As [`Self::next_field`], up to this field.
    pub fn find(mut self, path: &str) -> Result<Option<Field<'a, 's>>> {
        // The number of names found, and how many levels are above the one where the next is looked for.
        let first = |path| split_once(path, b'.').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let (mut wanted, mut rest) = first(path);
        let (mut level, mut open) = (0_u32, 0_u32);
        while let Some(field) = self.next_field()? {
            let is_here = open == level;
            match field.value {
                Value::End => {
                    open = open.saturating_sub(1);
                    level = level.min(open);
                    continue;
                }
                Value::Structure | Value::Array(_) | Value::Optional(true) | Value::Variant(_) => {
                    open = open.saturating_add(1);
                }
                _ => {}
            }
            let is_transparent = matches!(field.value, Value::Optional(true) | Value::Variant(_));
            if !is_here {
                continue;
            }
            let is_named = field.name().is_some_and(|name| name == *wanted);
            // The content of an optional or a variant has the same name.
            if is_named {
                match rest.map(first) {
                    None => return Ok(Some(field)),
                    Some(next) => {
                        (wanted, rest) = next;
                        level = open;
                        // Enters the structure in it.
                        if is_transparent && self.enter_structure(&mut open)? {
                            level = open;
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Enters the structure that follows, if one does.
    fn enter_structure(&mut self, open: &mut u32) -> Result<bool> {
        let mut ahead = self.clone();
        let mut more = 0_u32;
        while let Some(field) = ahead.next_field()? {
            more = more.saturating_add(1);
            match field.value {
                Value::Structure => {
                    *open = open.saturating_add(more);
                    *self = ahead;
                    return Ok(true);
                }
                Value::Optional(true) | Value::Variant(_) => {}
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

impl<'a, 's> Iterator for Fields<'a, 's> {
    type Item = Result<Field<'a, 's>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_field().transpose()
    }
}

impl core::iter::FusedIterator for Fields<'_, '_> {}

impl core::fmt::Debug for Fields<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Fields").field("position", &self.cursor.at).finish_non_exhaustive()
    }
}
