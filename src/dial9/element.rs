//! The nouns that errors name.

use crate::error::Element;

/// A [`Header`](super::Header).
pub const HEADER: Element = Element::new(&"dial9 header");
/// A [`Frame`](super::Frame) of a kind that is not known.
pub const FRAME: Element = Element::new(&"dial9 frame");
/// A [`Schema`](super::Schema).
pub const SCHEMA: Element = Element::new(&"dial9 schema");
/// The class of all schemas with the same name and fields, whatever their batches.
pub const CLASS: Element = Element::new(&"dial9 class");
/// A field of a [`Schema`](super::Schema).
pub const FIELD: Element = Element::new(&"dial9 field");
/// An [`Event`](super::Event).
pub const EVENT: Element = Element::new(&"dial9 event");
/// The value of a [`Field`](super::Field).
pub const VALUE: Element = Element::new(&"dial9 value");
/// A [`StringPool`](super::StringPool) frame.
pub const STRING_POOL: Element = Element::new(&"dial9 string pool");
/// A [`StackPool`](super::StackPool) frame.
pub const STACK_POOL: Element = Element::new(&"dial9 stack pool");
/// A [`TimeReset`](super::TimeReset).
pub const TIME_RESET: Element = Element::new(&"dial9 time reset");
/// An [`Order`](super::Order) of events.
pub const ORDER: Element = Element::new(&"dial9 order");
/// An [`Annotations`](super::Annotations) frame.
pub const ANNOTATIONS: Element = Element::new(&"dial9 annotations");
