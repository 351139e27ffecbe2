//! The descriptions of an object and of its fields, in the reference.

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer, in full.
    Int,
    Number,
    Text,
    /// RFC 3339 with nine digits.
    Time,
    /// Lower-case digits.
    Hex,
    Bool,
    Object,
    List,
    /// Whatever the trace says.
    Any,
}

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "integer",
            Self::Number => "number",
            Self::Text => "text",
            Self::Time => "time",
            Self::Hex => "hex",
            Self::Bool => "true, false",
            Self::Object => "object",
            Self::List => "list",
            Self::Any => "any",
        }
    }
}

/// A field of an object.
pub struct Field {
    pub name: &'static str,
    pub of: Type,
    /// True if it may be null.
    pub is_nullable: bool,
    /// True if it may be left out.
    pub is_optional: bool,
    pub what: &'static str,
}

/// An object, and how to see one.
pub struct Object {
    pub verb: &'static str,
    /// The formats that have it, and the option that shows it.
    pub of: &'static str,
    /// The values of its field `kind`, none of one without.
    pub kinds: &'static [&'static str],
    /// Arguments that print such objects of shipped samples.
    pub shown_by: &'static [&'static [&'static str]],
    pub fields: &'static [&'static [Field]],
}

/// A field that is always there.
pub const fn has(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: false, is_optional: false, what }
}

/// A field that may be null.
pub const fn may(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: true, is_optional: false, what }
}

/// A field that may be left out, or null.
pub const fn part(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: true, is_optional: true, what }
}
