//! RTC, the Ruler Trace Container, as the writer of ruler-trace (2020-21) makes it.
//!
//! A trace of many streams, multiplexed frame by frame. It is made so that reading can begin anywhere: like a ruler,
//! it has large marks and small ones at places that can be told in advance.
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
//! [`Walk`] gives the frames in file order with what is needed to understand them: the [`Unit`], the [`Streams`], and
//! behind damage a [`Gap`] and whatever comes after it. [`Walk::record`] joins what was written at once, [`Samples`]
//! says what it means, [`Clocks`] when it was. [`Grid`] finds units, streams and times without reading all before.
//!
//! ```
//! use traceglass::rtc::{Clocks, Walk};
//!
//! fn print(data: &[u8]) {
//!     let mut walk = Walk::<64>::new(data);
//!     let mut clocks = Clocks::<64>::new();
//!     loop {
//!         while let Some(Ok(frame)) = walk.next_frame() {
//!             clocks.observe(walk.streams(), walk.byte_order(), &frame);
//!             let stream = frame.place().and_then(|place| walk.streams().at(place));
//!             let Some(stream) = stream else { continue };
//!             let (payload, at) = (frame.payload(), frame.payload_offset());
//!             let samples = stream.samples(payload, at, walk.byte_order());
//!             let time = clocks.time(&frame);
//!             println!("{time:?} {:?}: {:?}", stream.name(), samples.collect::<Vec<_>>());
//!         }
//!         let Some(gap) = walk.resync() else { break };
//!         println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
//!         clocks.interrupt(); // The last stamp may be among them.
//!     }
//! }
//! # print(b"");
//! ```
//!
//! # What is read, and where it differs from the document
//!
//! - The lengths of platform and Crc are not stated in their frames.
//! - The sizes of units are nowhere but in an Index. Every index leads back to its unit, so that it verifies itself.
//! - Records of fixed length are cut at boundaries without a length: the walk keeps count. Such a stream that was
//!   written in other lengths cannot be read; it is reported, and reading goes on at the next index.
//! - Payloads can forge a Marker: none is searched for inside frames, and one that is found counts only if the grid
//!   confirms it.
//! - A Meta longer than 1024 bytes is damaged by the writer at each such limit: [`Meta`] reads on behind that.
//! - Files may hold several sessions, one behind the other; the ids mean something else in each.
//! - The writer's checksum is not CRC-32/IEEE: [`WriterCrc`]. Both are accepted, and [`Verdict`] tells which.
//!
//! # Limits
//!
//! A session has at most `N` streams, as the caller chooses. Major units are at most 1 TiB. An object of a Meta may
//! lie in two frames, not in three. An Index longer than 1024 bytes is read up to that limit.

mod check;
mod clock;
mod crc;
mod format;
mod frame;
mod index;
mod lengths;
mod meta;
mod queue;
mod record;
mod resync;
mod search;
mod seek;
mod stream;
mod text;
mod time;
mod unit;
mod value;
mod vet;
mod walk;
mod when;

use crate::error::Element;

pub use crate::byte_order::ByteOrder;
pub use check::Checker;
pub use clock::Clocks;
pub use crc::{Verdict, WriterCrc, crc_ieee};
pub use format::{Annotated, Format, Order, Width};
pub use frame::{Frame, MAX_PAYLOAD, id};
pub use index::{Entries, Entry, Index};
pub use meta::Meta;
pub use record::{Pieces, Record};
pub use search::detect;
pub use seek::Grid;
pub use stream::{ClockOf, Stream, Streams, Value};
pub use text::{Name, Text};
pub use time::{Decimal, Time};
pub use unit::Unit;
pub use value::{Annotation, Sample, Samples};
pub use walk::{Gap, Reason, Walk, probe};

/// A frame's header.
pub const FRAME: Element = Element::new(&"RTC frame");
/// A frame's payload.
pub const PAYLOAD: Element = Element::new(&"RTC frame payload");
/// The number of a stream.
pub const STREAM: Element = Element::new(&"RTC stream id");
/// A Marker.
pub const MARKER: Element = Element::new(&"RTC Marker");
/// An Index or index.
pub const INDEX: Element = Element::new(&"RTC index");
/// A Meta or meta.
pub const META: Element = Element::new(&"RTC Meta");
/// A Crc.
pub const CRC: Element = Element::new(&"RTC Crc");
/// A major unit.
pub const UNIT: Element = Element::new(&"RTC unit");
/// The size of a major or minor unit, as an Index states it.
pub const UNIT_SIZE: Element = Element::new(&"RTC unit size");
