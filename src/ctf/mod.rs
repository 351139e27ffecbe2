//! CTF, the Common Trace Format: what describes a trace, and the trace itself.
//!
//! A trace is a folder with a file `metadata`, which says how its data streams are laid out, and with a file for each
//! data stream.
//!
//! | module | reads |
//! |---|---|
//! | [`metadata`] | the metadata stream in every form that occurs: its packets, its text, its fragments |
//! | [`schema`] | what the text describes: clocks, stream classes, event record classes, field classes |
//! | [`data`] | data streams: packets, event records, fields, by means of a schema |
//!
//! This counts the event records of a data stream whose metadata is at hand:
//!
//! ```
//! use traceglass::ctf::data::Packets;
//! use traceglass::ctf::metadata::MetadataStream;
//! use traceglass::ctf::schema::{Node, Schema};
//!
//! fn count(metadata: &[u8], stream: &[u8]) -> traceglass::Result<usize> {
//!     let metadata = MetadataStream::parse(metadata)?; // CTF 1.8 or 2, in packets or plain
//!     let mut nodes = [Node::EMPTY; 1000]; // `Schema::needed` says how many there have to be
//!     let schema = Schema::compile(&metadata, &mut nodes)?;
//!     let mut count = 0;
//!     for packet in Packets::new(stream, &schema) {
//!         for record in packet?.records() {
//!             let _name = record?.class().name();
//!             count += 1;
//!         }
//!     }
//!     Ok(count)
//! }
//!
//! let metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
//!     event { name = beat; fields := struct { integer { size = 8; align = 8; } pulse; }; };";
//! assert_eq!(count(metadata.as_bytes(), &[61, 62, 64])?, 3);
//! # Ok::<(), traceglass::Error>(())
//! ```

pub mod data;
pub mod element;
pub mod metadata;
pub mod schema;
