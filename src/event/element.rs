//! The nouns that errors name.

use crate::error::Element;

/// A lent [`Room`](super::Room) of what has been met: tasks, spans, streams.
pub const REGISTRY: Element = Element::new(&"event registry");
/// A lent [`Room`](super::Room) of what is merged by time.
pub const LANES: Element = Element::new(&"event lanes");
