//! Names of what is read in TSDL.

use crate::error::Element;

/// A token as a whole.
pub const TOKEN: Element = Element::new(&"TSDL token");
/// A comment between `/*` and `*/`.
pub const COMMENT: Element = Element::new(&"TSDL comment");
/// A constant.
pub const INTEGER: Element = Element::new(&"TSDL integer");
/// A string or a character between quotes.
pub const STRING: Element = Element::new(&"TSDL string");
/// A block of the trace's description, such as `event { … };`.
pub const BLOCK: Element = Element::new(&"TSDL block");
/// The block `trace`.
pub const TRACE: Element = Element::new(&"TSDL trace block");
/// A value of the block `env`.
pub const ENVIRONMENT: Element = Element::new(&"TSDL environment value");
/// A block `clock`.
pub const CLOCK: Element = Element::new(&"TSDL clock block");
/// A block `stream`.
pub const STREAM: Element = Element::new(&"TSDL stream block");
/// A block `event`.
pub const EVENT: Element = Element::new(&"TSDL event block");
/// An attribute with its value.
pub const ATTRIBUTE: Element = Element::new(&"TSDL attribute");
/// A type where it stands.
pub const TYPE: Element = Element::new(&"TSDL type");
/// The name of a type.
pub const TYPE_NAME: Element = Element::new(&"TSDL type name");
/// A member of a structure or an option of a variant.
pub const MEMBER: Element = Element::new(&"TSDL member");
/// An entry of an enumeration.
pub const ENUMERATOR: Element = Element::new(&"TSDL enumerator");
/// An alignment.
pub const ALIGNMENT: Element = Element::new(&"TSDL alignment");
/// The length of an array.
pub const LENGTH: Element = Element::new(&"TSDL array length");
/// The path of a length or a tag.
pub const PATH: Element = Element::new(&"TSDL field path");
/// A type of which the format demands something, such as the magic number.
pub const ROLE: Element = Element::new(&"TSDL field with a meaning");
/// Storage for types while they are compiled.
pub const NODES: Element = Element::new(&"TSDL workspace nodes");
/// Storage for names while they are valid.
pub const NAMES: Element = Element::new(&"TSDL workspace names");
