//! A field: a name and its value.

use super::label::Label;

/// A name and its value.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    name: Option<Label<'a>>,
    value: Value<'a>,
}

impl<'a> Field<'a> {
    pub(super) const fn new(name: Label<'a>, value: Value<'a>) -> Self {
        Self { name: Some(name), value }
    }

    pub(super) const fn unnamed(value: Value<'a>) -> Self {
        Self { name: None, value }
    }

    /// The name; that of an element of a list and of an end is `None`.
    pub const fn name(&self) -> Option<Label<'a>> {
        self.name
    }

    /// The value.
    pub const fn value(&self) -> Value<'a> {
        self.value
    }
}

/// A value of a field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// None: an option that is not there.
    Null,
    /// A truth value.
    Bool(bool),
    /// An unsigned integer of any width.
    Unsigned(u128),
    /// A signed integer of any width.
    Signed(i128),
    /// A float.
    Float(f64),
    /// A text.
    Text(Label<'a>),
    /// Bytes that are no text.
    Bytes(&'a [u8]),
    /// A structure: its fields follow, up to the [`End`](Self::End) that belongs to it.
    Struct,
    /// A list: its elements follow, up to the [`End`](Self::End) that belongs to it.
    List,
    /// The end of a structure or a list.
    End,
}
