//! Records as JSON, and what all listeners of the front ends share. Nothing in here knows a format.

mod buffer;
mod json;
mod labels;
mod names;
mod spelled;

pub use buffer::Buffer;
pub use json::Json;
pub use labels::{LabelTexts, Spell};
pub use names::Names;
pub use spelled::{Field, Place, Spelling, Tables};
