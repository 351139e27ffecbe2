//! The nouns that errors name.

use crate::error::Element;

/// The text of a table of states.
pub const TABLE: Element = Element::new(&"table of states");
/// Lent [`Room`](crate::Room) for a table of states.
pub const TABLE_ROOM: Element = Element::new(&"room for a table of states");
/// Lent [`Room`](crate::Room) for what is open, remembered, or met.
pub const ROOM: Element = Element::new(&"room for states");
