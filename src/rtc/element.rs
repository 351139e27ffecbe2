//! The elements of a container that errors are about, by name.

use crate::error::Element;

/// A frame's header.
pub const FRAME: Element = Element::new(&"RTC frame");
/// A frame's payload.
pub const PAYLOAD: Element = Element::new(&"RTC frame payload");
/// The number of a stream.
pub const STREAM: Element = Element::new(&"RTC stream id");
/// A record, in one frame or several.
pub const RECORD: Element = Element::new(&"RTC record");
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
