//! RTC, the Ruler Trace Container.
#![allow(missing_docs)]

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
mod stream;
mod text;
mod time;
mod unit;
mod value;
mod vet;
mod walk;

use crate::error::Element;

pub use check::Checker;
pub use clock::Clocks;
pub use crc::{Verdict, WriterCrc, crc_ieee};
pub use format::{Annotated, Format, Order, Width};
pub use frame::{Frame, MAX_PAYLOAD, id};
pub use index::{Entries, Entry, Index};
pub use meta::Meta;
pub use record::{Pieces, Record};
pub use search::detect;
pub use stream::{ClockOf, Stream, Streams, Value};
pub use text::{Name, Text};
pub use time::{Decimal, Time};
pub use unit::Unit;
pub use value::{Annotation, ByteOrder, Sample, Samples};
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
