//! The names of what is read from a trace's description.

use crate::error::Element;

/// A schema as a whole.
pub const SCHEMA: Element = Element::new(&"CTF schema");
/// A schema that was compiled before: see [`Schema::write`](super::Schema::write).
pub const TABLE: Element = Element::new(&"CTF schema table");
/// A part of such a table.
pub const TABLE_NODE: Element = Element::new(&"CTF schema table node");
/// A name in the metadata.
pub const NAME: Element = Element::new(&"CTF name");
/// A field class.
pub const FIELD_CLASS: Element = Element::new(&"CTF field class");
/// A field class alias.
pub const ALIAS: Element = Element::new(&"CTF field class alias");
/// The location of a length or a selector.
pub const FIELD_LOCATION: Element = Element::new(&"CTF field location");
/// A range of values.
pub const RANGE: Element = Element::new(&"CTF range");
/// The meaning of a field.
pub const ROLE: Element = Element::new(&"CTF role");
/// A value of the environment.
pub const ENVIRONMENT: Element = Element::new(&"CTF environment");
/// The identifier of a data stream class or an event record class.
pub const CLASS_ID: Element = Element::new(&"CTF class identifier");
/// An extension of CTF 2.
pub const EXTENSION: Element = Element::new(&"CTF 2 extension");
