use super::cursor::{Cursor, Step};
use super::value::{Field, Value};
use crate::ctf::schema::FieldClass;
use crate::error::Result;

/// The fields of one scope, pulled one after the other.
///
/// A field that has others in it is followed by them and by [`Value::End`]. The root structure itself is not among the
/// fields: they are its members.
#[derive(Clone)]
pub struct Fields<'a, 's> {
    pub(super) cursor: Cursor<'a, 's>,
    pub(super) done: bool,
}

impl<'a, 's> Fields<'a, 's> {
    pub(super) fn new(cursor: Cursor<'a, 's>) -> Self {
        Self { cursor, done: false }
    }

    /// The next field; `None` at the end and after an error.
    ///
    /// # Errors
    /// A field that cannot be read. Those of a record have been gone through once when the record was delivered.
    #[inline]
    pub fn next_field(&mut self) -> Result<Option<Field<'a, 's>>> {
        if self.done {
            return Ok(None);
        }
        match self.cursor.step::<false>() {
            Ok(Some(Step { index, value, start })) => {
                Ok(Some(Field { class: FieldClass::new(self.cursor.schema, index), value, start }))
            }
            Ok(None) => {
                self.done = true;
                Ok(None)
            }
            Err(error) => {
                self.done = true;
                Err(error)
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

    /// The field at a path of member names: `"a"`, `"a.b"`. Optionals and variants on the way are gone through; arrays
    /// are not.
    ///
    /// # Errors
    /// As [`Self::next_field`], up to this field.
    pub fn find(mut self, path: &str) -> Result<Option<Field<'a, 's>>> {
        // How many names have been found, and how many levels lie above the one where the next is looked for.
        let mut names = path.split('.');
        let mut wanted = names.next().unwrap_or_default();
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
            // What is in an optional or a variant has the name of it.
            if is_named {
                match names.next() {
                    None => return Ok(Some(field)),
                    Some(next) => {
                        wanted = next;
                        level = open;
                        // The structure in it is gone into.
                        if is_transparent && self.enter_structure(&mut open)? {
                            level = open;
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Goes into the structure that follows, if one does.
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
