//! The names of what is read from data streams.

use crate::ctf::schema::Scope;
use crate::error::Element;

/// A packet.
pub const PACKET: Element = Element::new(&"CTF packet");
/// A field of a packet's header.
pub const PACKET_HEADER: Element = Element::new(&"CTF packet header field");
/// The magic number in a packet's header.
pub const MAGIC: Element = Element::new(&"CTF packet magic number");
/// The UUID in a packet's header.
pub const UUID: Element = Element::new(&"CTF packet UUID");
/// The identifier of the data stream class in a packet's header.
pub const STREAM_CLASS_ID: Element = Element::new(&"CTF data stream class identifier");
/// A field of a packet's context.
pub const PACKET_CONTEXT: Element = Element::new(&"CTF packet context field");
/// The total length that a packet's context states.
pub const TOTAL_LENGTH: Element = Element::new(&"CTF packet total length");
/// The content length that a packet's context states.
pub const CONTENT_LENGTH: Element = Element::new(&"CTF packet content length");
/// The bytes between a packet's content and its end.
pub const PADDING: Element = Element::new(&"CTF packet padding");
/// An event record.
pub const EVENT_RECORD: Element = Element::new(&"CTF event record");
/// A field of an event record's header.
pub const EVENT_HEADER: Element = Element::new(&"CTF event record header field");
/// The identifier of the class in an event record's header.
pub const EVENT_CLASS_ID: Element = Element::new(&"CTF event record class identifier");
/// A field of an event record's common context.
pub const COMMON_CONTEXT: Element = Element::new(&"CTF event record common context field");
/// A field of an event record's specific context.
pub const SPECIFIC_CONTEXT: Element = Element::new(&"CTF event record specific context field");
/// A field of an event record's payload.
pub const PAYLOAD: Element = Element::new(&"CTF event record payload field");
/// The sequence number of a packet.
pub const SEQUENCE_NUMBER: Element = Element::new(&"CTF packet sequence number");
/// The counter of discarded event records.
pub const DISCARDED: Element = Element::new(&"CTF discarded event record counter");
/// A time stamp.
pub const TIMESTAMP: Element = Element::new(&"CTF time stamp");
/// Streams being merged.
pub const MERGE: Element = Element::new(&"CTF streams to merge");
/// Storage for the steps of records.
pub const PROGRAMS: Element = Element::new(&"CTF record programs");

/// A field of a scope.
pub(super) const fn of(scope: Scope) -> Element {
    match scope {
        Scope::PacketHeader => PACKET_HEADER,
        Scope::PacketContext => PACKET_CONTEXT,
        Scope::EventHeader => EVENT_HEADER,
        Scope::CommonContext => COMMON_CONTEXT,
        Scope::SpecificContext => SPECIFIC_CONTEXT,
        Scope::Payload => PAYLOAD,
    }
}
