//! The nouns that errors name.

use crate::error::Element;

/// The whole stream.
pub const METADATA: Element = Element::new(&"CTF metadata");
/// A packet's header as a whole.
pub const PACKET_HEADER: Element = Element::new(&"CTF metadata packet header");
/// The magic number that begins a packet.
pub const MAGIC: Element = Element::new(&"CTF metadata packet magic");
/// The UUID of the stream, in each packet.
pub const UUID: Element = Element::new(&"CTF metadata packet UUID");
/// The checksum of a packet, which is not used.
pub const CHECKSUM: Element = Element::new(&"CTF metadata packet checksum");
/// The size of header and content.
pub const CONTENT_SIZE: Element = Element::new(&"CTF metadata packet content size");
/// The size of header, content and padding.
pub const TOTAL_SIZE: Element = Element::new(&"CTF metadata packet total size");
/// The compression of the content.
pub const COMPRESSION_SCHEME: Element = Element::new(&"CTF metadata packet compression scheme");
/// The encryption of the content.
pub const ENCRYPTION_SCHEME: Element = Element::new(&"CTF metadata packet encryption scheme");
/// The scheme of the checksum.
pub const CHECKSUM_SCHEME: Element = Element::new(&"CTF metadata packet checksum scheme");
/// Major and minor version of a packet's header.
pub const VERSION: Element = Element::new(&"CTF metadata packet version");
/// The size of the header.
pub const HEADER_SIZE: Element = Element::new(&"CTF metadata packet header size");
/// The content of a packet.
pub const CONTENT: Element = Element::new(&"CTF metadata packet content");
/// The padding after the content.
pub const PADDING: Element = Element::new(&"CTF metadata packet padding");
/// A range of the text.
pub const TEXT: Element = Element::new(&"CTF metadata text");
/// A fragment of the JSON text sequence.
pub const FRAGMENT: Element = Element::new(&"CTF 2 metadata fragment");
/// The fragment that must be the first one.
pub const PREAMBLE: Element = Element::new(&"CTF 2 preamble");
/// The version in the preamble.
pub const PREAMBLE_VERSION: Element = Element::new(&"CTF 2 preamble version");
/// The description of a clock.
pub const CLOCK_CLASS: Element = Element::new(&"CTF 2 clock class");
/// The description of the trace.
pub const TRACE_CLASS: Element = Element::new(&"CTF 2 trace class");
