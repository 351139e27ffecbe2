//! Records as lines: for people, and as JSON. Nothing in here knows a format.
//!
//! A record tells [`Lines`] what it says; the format's adaptor says where it is ([`Lines::place`]) and what else happens
//! in between ([`Lines::settle`] before a message, so that both come in order).

mod buffer;
mod json;
mod labels;
mod lines;
mod spelled;
#[cfg(test)]
mod tests;
mod text;

pub use buffer::Buffer;
pub use json::Json;
pub use lines::Lines;
pub use spelled::{Place, Spelling, Tables};
pub use text::Text;
