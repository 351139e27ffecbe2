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

pub mod data;
pub mod element;
pub mod metadata;
pub mod schema;
