//! RFR, the Rust Flight Recorder: what the tasks of an asynchronous program did, and when.
//!
//! Specified in the documents *Chunked* (`rfr-c/0.0.3`) and *Streaming* (`rfr-s/0.0.4`) of the project `rfr`. All
//! writers so far label their files 0.0.2, with the layout that is specified under the later numbers: both labels are
//! read, as this layout. (Recordings from before February 2025 carry 0.0.2 with older layouts: reading those fails.)
//!
//! A *recording* is a directory with a `meta.rfr` ([`Meta`]), a growing `callsites.rfr` ([`Callsites`]) and any number
//! of chunk files ([`Chunk`]), each for about a second, in directories whose names are for people only: the times are
//! in the chunks. Or it is a single streaming file ([`Streaming`]). All are written in postcard's wire format.
//!
//! # Layout
//! ```text
//! chunk file                 sequence                       record
//! ┌──────────────────────┐   ┌──────────────────────────┐   ┌──────────────────────────────┐
//! │ "rfr-c/0.0.2"        │   │ sequence id              │   │ timestamp: µs from base time │
//! ├──────────────────────┤   │ earliest, latest         │   ├──────────────────────────────┤
//! │ base time, start,    │   ├──────────────────────────┤   │ 0‥12: what happened          │
//! │ end, earliest,       │   │ number of objects        │   ├──────────────────────────────┤
//! │ latest               │   │ object: a span or a task │   │ the iid of a span or a task  │
//! ├──────────────────────┤   │ …                        │   │ or a waker's task, context   │
//! │ number of sequences  │   ├──────────────────────────┤   │ or an event: callsite id,    │
//! │ sequence             │──▸│ number of records        │   │    parent, values, fields    │
//! │ sequence …           │   │ record                   │──▸└──────────────────────────────┘
//! └──────────────────────┘   │ record …                 │
//!                            └──────────────────────────┘
//!
//! record.iid ──▸ object of the same sequence ── callsite id ──▸ callsites.rfr: file and line
//! ```
//! Integers are LEB128 of at most 64 bits, kinds of at most 32, numbers in fields of up to 128; padded forms are read.
//! Strings and lists have a length in front. **Nothing has a length in bytes**: what follows something is found by
//! reading it. That makes [`Chunk::items`], a flat walk, the basic way through a chunk; [`Chunk::sequences`] gives
//! views, [`Directory`] makes them randomly accessible after one walk, [`Merge`] orders their records by time, and
//! [`Names`] and [`CallsiteTable`] lead from ids to what they name. With the names, every record
//! [tells](crate::record) all that it says ([`NamedRecord`]).
//!
//! # Examples
//! ```
//! use traceglass::rfr::{Chunk, RecordKind};
//! # let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x09\x01\x01\x04\x09\x01\x01\x05\x07\x63\x04main\0\0\x02\x04\x06\x05\x09\x07\x05";
//!
//! let chunk = Chunk::parse(file)?;
//! let mut polling = 0;
//! for sequence in chunk.sequences() {
//!     let mut start = 0;
//!     for record in sequence?.records()? {
//!         let record = record?;
//!         match record.kind() {
//!             RecordKind::TaskPollStart => start = record.micros(),
//!             RecordKind::TaskPollEnd => polling += record.micros() - start,
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(polling, 5); // µs
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! # Damage
//! Files are written in place: a reader can meet any prefix of one. Whatever is whole is delivered, then one error says
//! where the file ends; [`Error::is_truncation`](crate::Error::is_truncation) tells it from damage. A count is never
//! believed: one that is too large is found out when the bytes end. After text that is not UTF-8, and the like, the
//! iterators' `recover` continues after it.
//!
//! # Limits
//! Ids are 64 bits, compared as such. Absolute times are microseconds since the Unix epoch in 64 bits; what exceeds
//! that is an error. A sequence whose clock was set back is delivered in its order.

mod callsite;
mod check;
mod chunk;
pub(crate) mod class;
mod directory;
pub mod element;
mod event;
mod identifier;
mod item;
mod kind;
mod layout;
pub(crate) mod life;
mod list;
mod merge;
mod meta;
mod named;
mod names;
mod object;
mod plain;
mod read;
mod record;
mod registry;
mod resolve;
mod sequence;
mod site;
mod slot;
mod streaming;
pub(crate) mod tell;
mod value;
mod write;

pub use callsite::{Callsite, CallsiteKind, Callsites, Level};
pub use chunk::{Chunk, ChunkHeader};
pub use directory::{Directory, DirectoryEntry};
pub use event::{Event, Waker};
pub use identifier::{FormatIdentifier, Variant, detect};
pub use item::{Item, Items};
pub use kind::{RecordData, RecordKind};
pub use layout::LayoutFields;
pub use life::Identity;
pub use list::List;
pub use merge::{Merge, MergeSlot, Merged};
pub use meta::{Formats, Meta};
pub use named::Named;
pub use names::{NameSlot, Names};
pub use object::{Object, Span, Task, TaskKind};
pub use plain::PlainRecord;
pub use record::Record;
pub use registry::Registry;
pub use resolve::CallsiteTable;
pub use sequence::{Objects, Records, Sequence, SequenceHeader, Sequences};
pub use site::Site;
pub use slot::RegistrySlot;
pub use streaming::{StreamData, StreamRecord, StreamRecords, Streaming};
pub use tell::NamedRecord;
pub use value::{Field, FieldValue, Parent};
pub use write::{NewChunk, NewSequence, write_count};

pub use crate::room::Room;
