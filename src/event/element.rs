//! The nouns that errors name.

use crate::error::Element;

/// A lent [`Room`](super::Room) of what has been met: tasks, spans, streams.
pub const REGISTRY: Element = Element::new(&"event registry");
/// A lent [`Room`](super::Room) of what is merged by time.
pub const LANES: Element = Element::new(&"event lanes");
/// A lent buffer for what is decompressed or joined.
pub const BUFFER: Element = Element::new(&"event buffer");
/// A chunk that lies where others do, more than is read of them.
pub const OVERLAPPING: Element = Element::new(&"RDF data that overlaps data already read");
/// The inputs of a trace, together.
pub const INPUTS: Element = Element::new(&"trace inputs");
/// The first input of a trace.
pub const INPUT: Element = Element::new(&"trace input");
