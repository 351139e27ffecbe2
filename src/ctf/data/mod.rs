//! Data streams: packets, event records, fields.
//!
//! A data stream is a sequence of packets, each of which has a header and a context of its own, and event records. This
//! module follows CTF2-SPEC-2.0; how the fields are laid out is what a [`Schema`](super::schema::Schema) says.
//!
//! # Layout
//!
//! ```text
//! packet = header | context | event record, event record, … | padding
//!          <-------------- content length ---------------->
//!          <-------------- total length --------------------------->
//! event record = header | common context | specific context | payload
//! ```
//!
//! Each part is a structure of fields, of any length in bits, aligned from the start of the packet.
//!
//! # Reading
//!
//! [`Packets`] is the entry. A [`Packet`] gives its [`Records`], and a [`Record`] the [`Fields`] of each of its parts.
//!
//! ```
//! use traceglass::ctf::data::{Packets, Value};
//! use traceglass::ctf::metadata::MetadataStream;
//! use traceglass::ctf::schema::{Node, Schema};
//!
//! let metadata = concat!(
//!     "\x1e", r#"{"type": "preamble", "version": 2}"#,
//!     "\x1e", r#"{"type": "data-stream-class"}"#,
//!     "\x1e", r#"{"type": "event-record-class", "name": "beat", "payload-field-class": {
//!         "type": "structure", "member-classes": [{"name": "pulse", "field-class": {
//!             "type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}}]}}"#,
//! );
//! let mut nodes = [Node::EMPTY; 32];
//! let schema = Schema::compile(&MetadataStream::parse(metadata.as_bytes())?, &mut nodes)?;
//!
//! let mut pulses = Vec::new();
//! for packet in Packets::new(&[61, 62, 64], &schema) {
//!     for record in packet?.records() {
//!         let record = record?;
//!         assert!(record.class().name().is_some_and(|name| name == "beat"));
//!         for field in record.payload().into_iter().flatten() {
//!             if let Value::Unsigned(pulse) = field?.value() {
//!                 pulses.push(pulse);
//!             }
//!         }
//!     }
//! }
//! assert_eq!(pulses, [61, 62, 64]);
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! [`Merge`] orders the records of several streams by time, [`Losses`] tells what the tracer lost, and [`check`] reads
//! everything. What came over a link as one file for all streams, or lay in a ring in memory, is a [capture](wire).
//!
//! # Limits
//!
//! - Lengths and selectors have at most 64 bits of value.
//! - Up to any bit of a packet, no more than 256 fields, and 8 for each bit before it, begin where the field before them
//!   does: members, elements, and what they are in. That bounds fields that take no bits, such as structures without
//!   members and optionals that are absent. Within a class of fixed size of which each part takes bits, none count.

// # The ways to read a record
//
// What follows from the classes alone is in the schema's nodes (`schema/layout.rs`): sizes, alignments, which members can
// be skipped together.
//
// 1. Straight code. The header is read by a `Plan`, from one or two words. Then
//    - a `Stream` takes the steps of a `Program`, compiled once for a trace, and tells the fields on its way (`walk.rs`);
//    - `Records` skip the body by a `Layout`, a few additions for each string or list, or else by runs of members
//      (`skip.rs`). Fields are taken from it when they are asked for (`quick.rs`).
// 2. The general reader, `Cursor::step`, reads every class, field by field. It alone makes errors: wherever anything is in
//    doubt, straight code gives up without a trace, and the general reader begins anew.

mod bits;
mod check;
mod class;
mod code;
mod cursor;
pub mod element;
mod extent;
mod fields;
mod layout;
mod loss;
mod meaning;
mod merge;
mod packet;
mod packets;
mod plan;
mod program;
mod quick;
mod read;
mod reader;
mod record;
mod records;
mod reframe;
mod share;
mod skip;
mod stream;
mod tell;
mod value;
mod walk;
mod window;
pub mod wire;
mod write;

pub use bits::BitString;
pub use check::{Checked, Summary, check, check_packets};
pub use fields::Fields;
pub use loss::{Loss, Losses};
pub use merge::{LastLoss, Merge, MergeSlot, Merged};
pub use packet::Packet;
pub use packets::Packets;
pub use program::{ProgramSlot, Programs};
pub use record::Record;
pub use records::Records;
pub use reframe::Reframed;
pub use share::{Share, Shares};
pub use stream::Stream;
pub use value::{Field, Float, Text, TextChars, Value};
pub use write::Shortened;
