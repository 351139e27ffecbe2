//! States: intervals from pairs of events.
//!
//! Most tracers write that something begins and that something ends, and leave it to the reader to find which belong
//! together. A [`Table`] says it, as text: which event begins and which ends what, on which track, told apart by which
//! key. [`States`] follows it.
//!
//! # Layout
//! ```text
//! Source ──▸ Item ──▸ States ──▸ Item
//!                       │          Track    "thread 104": made by a rule, besides those of the source
//! Table ── rules ───────┘          Event    Begin and End on such a track; instants that no rule took
//! ```
//!
//! # Edges
//! Nothing unknown is made up: a slice that had begun before the trace has a begin without a time, one that is open
//! when the trace ends has no end. [`Edges`] tells these and others, such as slices that were open when events were lost.
//!
//! # Limits
//! Names, tracks and keys are told apart by hashes of 64 bits. A text that is remembered is cut at 96 bytes, the text of
//! a field in a template at 256.
//!
//! # Examples
//! ```
//! use traceglass::event::states::{OpSlot, Rooms, RuleSlot, Table};
//!
//! let (mut rules, mut ops, mut names) = ([RuleSlot::EMPTY; 64], [OpSlot::EMPTY; 1024], [""; 128]);
//! let mut table = Table::new(Rooms { rules: &mut rules, ops: &mut ops, names: &mut names });
//! table.add(r#"slice = [ { begin = "lock", end = "unlock", track = "{thread}", key = "{id}", name = "lock {id}" } ]"#)?;
//! table.add(Table::BUILT_IN)?;
//! assert!(table.len() > 20);
//!
//! let error = table.add("slice = [ { begin = oops } ]").unwrap_err();
//! assert_eq!(error.offset(), 20);
//! # Ok::<(), traceglass::Error>(())
//! ```

mod capture;
mod classes;
mod context;
mod counts;
mod edges;
pub mod element;
mod emit;
mod follow;
mod hashed;
mod lexer;
mod matcher;
mod op;
mod open;
mod parse;
mod plan;
mod rooms;
mod rule;
mod slice;
mod table;
mod template;
mod text;
mod value;

pub use classes::{ArgSlot, ClassSlot, FieldSlot, MatchSlot, NameSlot};
pub use context::KeptSlot;
pub use counts::Counts;
pub use edges::Edges;
pub use emit::Sink;
pub use hashed::{Hashed, HeadSlot};
pub use matcher::States;
pub use op::OpSlot;
pub use open::{OpenSlot, StreamSlot, TrackSlot};
pub use rooms::StateRooms;
#[cfg(feature = "alloc")]
pub use rooms::Storage;
pub use rule::RuleSlot;
pub use slice::{Args, Slice};
pub use table::{Rooms, Table};
pub use value::ValueSlot;
