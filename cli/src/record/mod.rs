//! Records as lines: for people, and as JSON. Nothing in here knows a format.
//!
//! A record tells [`Lines`] what it says; the format's adaptor says where it is ([`Lines::set_place`]) and settles them
//! before a message, so that both come in order.

mod lines;
mod slices;
#[cfg(test)]
mod tests;
mod text;
mod tree;

pub use lines::{Lines, Shape};
pub use slices::SliceLines;
#[cfg(feature = "view")]
pub use text::ROW;
pub use text::Text;
pub use text::{SHOWN as NAME_SHOWN, row};
pub use traceglass_open::record::{Buffer, Json, Names, Place, Spelling, Tables};
