//! *Record on the device what traceglass reads.* Events become packets of CTF, in pages of memory that the caller
//! lends: no allocator, no wait, no panic, and a bounded number of instructions for each record.
//!
//! ```
//! use core::sync::atomic::AtomicU32;
//! use traceglass_record::{Pages, Recorder, Trace, events};
//!
//! events! {
//!     /// What the controller tells.
//!     pub trace Controller {
//!         clock 64_000_000;
//!         /// A sample was taken.
//!         event Sample { channel: u8, value: i32 }
//!         /// The supply is low.
//!         event Brownout { millivolts: u16 }
//!     }
//! }
//!
//! static MEMORY: [AtomicU32; 512] = [const { AtomicU32::new(0) }; 512];
//! let mut recorder = Recorder::<Controller>::overwriting(Pages::new(&MEMORY, 128));
//! assert!(recorder.record(1_000, &Sample { channel: 3, value: -5 }));
//! assert!(recorder.record(1_250, &Brownout { millivolts: 2_900 }));
//!
//! // The file `metadata` beside a dump of the memory; `METADATA_1_8` is for readers of CTF 1.8.
//! assert!(Controller::METADATA.contains(r#""name":"Brownout""#));
//! ```
//!
//! # Layout
//! ```text
//! memory: page | page | page | page        each is a packet, or was never written
//! page:   header of 10 words | record | record | … | unused
//! record: time, lower half | number of the event | its fields, byte after byte, up to a whole word
//! ```
//!
//! | module | has |
//! |---|---|
//! | [`packet`] | the header of a packet, field by field |
//! | [`Pages`], [`Recorder`] | memory, and what writes records into it |
//! | [`Drain`], [`Page`] | closed pages, on their way to a [sink] |
//! | [`Ring`] | pages that outlive a reset, in memory or in flash: where recording goes on |
//! | [`Shared`] | a recorder for tasks and interrupts |
//! | [`events!`], [`labels!`] | types that are events and fields, and the metadata of both versions of CTF |
//! | [`embassy_hooks!`] | what embassy's executor calls |
//! | [`rfr`] | streams of RFR: what tasks did, with dates |
//!
//! # Promises
//! - A record is whole, or it is counted as lost: the packet's header says how many were lost since the start.
//! - A record counts once all of it is there: whoever stops the program between two instructions finds each packet
//!   whole but for the one that is being written, and in that one the records that its content length covers.
//! - Nothing waits. A [`Recorder::keeping`] that finds no free page loses the record; a [`Recorder::overwriting`] takes
//!   the oldest page.
//! - A page that is only half written in flash has no magic number: readers report a gap. After the reset, recording goes
//!   on after the newest whole packet, whose number and losses go on, too.
//! - Time comes from the caller. Records carry its lower half, and packets the upper one: where that changes, or time goes
//!   back, a new packet begins, so no time is ambiguous.
//!
//! # Interrupts
//! A [`Recorder`] is `&mut`: one context uses it, and the compiler sees to it. A [`Shared`] one is used by all contexts
//! of a program: it takes the time and writes the record within a critical section, so records are in order of time. It
//! blocks interrupts for the time of one record, or of one record and the header of a packet. A context that must not be
//! blocked takes a recorder of its own, with another [stream](Recorder::stream): readers merge the streams.

#![no_std]
#![forbid(unsafe_code)]
#![deny(
    missing_docs,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::as_conversions
)]

mod drain;
mod embassy;
mod event;
mod macros;
pub mod metadata;
pub mod packet;
mod pages;
mod recorder;
pub mod rfr;
mod ring;
#[cfg(feature = "critical-section")]
mod shared;
pub mod sink;

pub use drain::{Drain, Page};
pub use event::{Event, Field, Text, Trace, Words};
pub use pages::{Marks, Pages};
pub use recorder::{Recorder, State};
pub use ring::Ring;
#[cfg(feature = "critical-section")]
pub use shared::Shared;
