//! Traces as tables: Arrow record batches of what is in a trace of any format, one after the other.
//!
//! A SQL engine, a data frame, a notebook wants columns. This crate makes them of the events of
//! [`traceglass::event`] and of the records of each format, without ever holding a trace in memory: a batch is made,
//! handed out, and forgotten.
//!
//! # Layout
//! ```text
//! Trace ──▸ tables()   what there is: a name and a schema each
//!   │
//!   ├────▸ pieces()    parts that are read independently: RFR's chunks, runs of CTF's packets, dial9's segments, any other file
//!   │
//!   ├────▸ read(piece, tables, query, sink)     one piece, on this thread
//!   ├────▸ stream(table, query, threads, sink)  all pieces on several threads, the batches in order
//!   └────▸ parquet::export(trace, …)            all tables into files, each thread its own
//! ```
//! | table | a row for each |
//! |---|---|
//! | `events` | event, of any format: where, when, on which track, what, with which fields (JSON) |
//! | `tracks` | task, worker, thread, stream, processor: what events happen on |
//! | `slices` | what lasted: from a begin to its end, states included, over all pieces |
//! | `gaps` | range that cannot be read, and file that cannot be opened; what a recorder discarded |
//! | `parts` | chunk, packet, unit, batch: what a file consists of |
//! | `tasks`, `callsites` | task, place in the source (RFR) |
//! | `task_poll_start` … `waker_drop` | record of that kind (RFR), with columns of its own |
//! | `polls`, `tasks`, `wakes`, `samples`, `spans` | poll, task, wake, stack that was taken, time that a span was entered (dial9), over all pieces |
//! | `markers`, `queues`, `memory`, `resources` | marker, event on a queue, token of a memory trace, resource (RDF) |
//! | *name of an event* | event record of that name (CTF), with a column for each member |
//!
//! # Units
//! `time_ns` is nanoseconds, since the Unix epoch where the clock is absolute, else since its own origin; where it is
//! absolute, `time` is the same as a timestamp in UTC. Both are null where the time is not known or does not fit in 64
//! bits. Ids are unsigned and 64 bits wide. `track` is a number made of what a track is: it is the same in every piece,
//! and is not a number of the format's.
//!
//! # Damage
//! A range that cannot be read is a row of `gaps`, never an error: the rest is read. [`Error`] is left for what keeps
//! tables from being made at all.
//!
//! # Memory
//! A batch for each table that is read, a few of them for each thread. What grows with the trace are 8 bytes for each
//! track, so that each becomes one row only. The tables of dial9's own need all segments at once, and an
//! [order](traceglass::dial9::Order) of their events.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
// A trace that makes a table panic is a vulnerability, as it is in the library.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

pub mod csv;
mod ctf;
mod damage;
mod dial9;
mod error;
mod events;
mod file;
pub mod ipc;
mod json;
mod order;
mod other;
pub mod parquet;
mod query;
mod rdf;
mod rfr;
mod row;
mod rows;
mod seen;
mod sink;
mod slices;
mod table;
mod trace;

pub use ctf::DataStream;
pub use damage::observe;
pub use error::{Error, Result};
pub use file::{Bytes, File, Problem};
pub use query::Query;
pub use seen::Seen;
pub use sink::Sink;
pub use slices::{Lasting, TakeItems};
pub use table::Table;
pub use trace::Trace;
pub use traceglass_open::damage::Damage;

pub use arrow_array::RecordBatch;
