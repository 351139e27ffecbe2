//! CTF, the Common Trace Format: what describes a trace, and the trace itself.
//!
//! A trace is a folder with a file `metadata`, which says how its data streams are laid out, and with a file for each
//! data stream. [`metadata`] reads the former in every form that occurs.

pub mod data;
pub mod element;
pub mod metadata;
pub mod schema;
