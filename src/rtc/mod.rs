//! RTC, the Ruler Trace Container, as the writer of ruler-trace (2020-21) makes it.
//!
//! A trace of many streams, multiplexed frame by frame. It is made so that reading can begin anywhere: like a ruler,
//! it has large marks and small ones at predictable offsets.
//!
//! ```text
//!  M                                        X = M + 1025
//!  ├─ Marker 04 B9 B9 … B9 (1025 bytes) ───┤ Index  Meta  platform  frame  frame …
//!  │  major unit 4                           Index 06: number of the unit, sizes of units,
//!  │                                                   how far back each stream was written
//!  │                                         Meta  0A: [{"id":9,"name":"clk",…},…,19]
//!  │  frame  frame  frame  frame …
//!  ├── 4.1   X + minor      index 08  frame  frame …
//!  ├── 4.2   X + 2·minor    index 08  frame  frame …   a record may go on in several frames,
//!  ├── 4.3   X + 3·minor    index 08  frame  frame …   with an index or a Marker between them
//!  │         M + major − 5  Crc 10
//!  ├─ Marker ──────────────────────────────┤ Index  Meta …
//!  │  major unit 5, at M + major
//! ```
//!
//! Start with [`Records`]: what was written at once, of which stream, when, and what it says. They are read from frames:
//! the strict [`Frames`] of a sound file, which stop at the first fault, or those of [`recover`], which go on after
//! damage. [`Grid`] finds units, streams and times without reading all before.
//!
//! ```
//! use traceglass::rtc::{Step, StreamSlot, recover::Records};
//!
//! fn print(data: &[u8]) -> traceglass::Result<()> {
//!     let mut buffer = [0; 4096]; // for records that lie in several frames
//!     let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer); // up to 64 streams
//!     loop {
//!         match records.next_step() {
//!             Step::Record(record) => {
//!                 let values: Vec<_> = record.values()?.collect();
//!                 println!("{:?} {:?}: {values:?}", record.time(), record.stream().name());
//!             }
//!             Step::Gap(gap) => println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause()),
//!             _ => return Ok(()),
//!         }
//!     }
//! }
//! # print(b"").unwrap();
//! ```
//!
//! # What is read, and where it differs from the document
//!
//! - The lengths of platform and Crc are not stated in their frames.
//! - The sizes of units are nowhere but in an Index. Every index leads back to its unit, so that it verifies itself.
//! - Records of fixed length are cut at boundaries without a length: the reader keeps count. If such a stream was
//!   written in other lengths, it cannot be read; it is reported, and reading goes on at the next index.
//! - Payloads can forge a Marker: none is searched for inside frames, and one that is found counts only if the grid
//!   confirms it.
//! - A Meta longer than 1024 bytes is damaged by the writer at each such limit: [`Meta`] reads on after that.
//! - Files may hold several sessions, one after the other; the ids mean something else in each.
//! - The writer's checksum is not CRC-32/IEEE: [`WriterCrc`]. Both are accepted, and [`CrcStatus`] tells which.
//! - A Meta that contradicts an earlier one counts from its own unit on: damage to it costs that unit.
//! - Nul frames fill up to two bytes before a boundary; anywhere else they are damage, as are frames without payload.
//!
//! # Limits
//!
//! A session has at most as many streams as there are slots. Major units are at most 1 TiB. An object of a Meta may
//! lie in two frames, not in three. An Index longer than 1024 bytes is read up to that limit.

mod begin;
mod check;
pub(crate) mod class;
mod clock;
mod crc;
mod decimal;
pub mod element;
mod float;
mod format;
mod frame;
mod frames;
mod grid;
mod index;
mod meta;
mod name;
mod names;
mod pieces;
mod reader;
mod record;
pub(crate) mod records;
pub mod recover;
mod seek_time;
mod slot;
mod stream;
mod streams;
mod tell;
mod time;
mod unit;
mod value;
mod wide;
#[cfg(not(fuzzing))]
mod work;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod work;
mod write;
mod writer;

pub use check::{Checker, Summary, check};
pub use class::StreamClass;
pub use crc::{CrcStatus, WriterCrc, crc_ieee};
pub use decimal::Decimal;
pub use format::{Annotated, Format, Order, Width};
pub use frame::{Frame, MAX_PAYLOAD, id};
pub use frames::Frames;
pub use grid::Grid;
pub use index::{Entries, Entry, Index};
pub use meta::Meta;
pub use names::{NameSlot, Names};
pub use pieces::Pieces;
pub use record::Record;
pub use records::{Records, Step};
pub use recover::detect;
pub use seek_time::ClockTimes;
pub use slot::StreamSlot;
pub use stream::{ClockLink, Stream, Value};
pub use streams::{StreamTable, Streams};
pub use tell::NamedRecord;
pub use time::Time;
pub use unit::Unit;
pub use value::{Annotation, Sample, Samples};
pub use write::{MARKER, padding, platform};
pub use writer::{NewRecord, NewStream, Writer};
