//! The kinds of bytes in a capture.

use crate::error::Element;

/// The kind of a range of bytes in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WireKind {
    /// A packet that is whole.
    Packet,
    /// A packet without records, as rings are filled with before use.
    Empty,
    /// A packet of which bytes are missing or changed, or to which some were added.
    Damaged,
    /// A packet that was never closed: its content length is 0.
    Open,
    /// A packet in which the capture ends.
    Cut,
    /// A packet with the same bytes as an earlier one of its track.
    Duplicate,
    /// A packet header that contradicts itself, as that of a slot that was dumped while it was being written.
    Torn,
    /// A packet of another trace.
    Foreign,
    /// Nothing but 0x00 or nothing but 0xff: memory that was erased or never written.
    Fill,
    /// Text, such as that of a boot loader.
    Text,
    /// Anything else.
    Bytes,
}

/// Bytes between packets.
pub const BYTES: Element = Element::new(&"bytes between CTF packets");

impl WireKind {
    /// The name of what was lost.
    pub const fn element(self) -> Element {
        self.names().1
    }

    /// A short name: `packet`, `empty`, `damaged`, …
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    const fn names(self) -> (&'static str, Element) {
        match self {
            Self::Packet => ("packet", Element::new(&"CTF packet with damage")),
            Self::Empty => ("empty", Element::new(&"CTF packet with damage")),
            Self::Damaged => ("damaged", Element::new(&"CTF packet with damage")),
            Self::Open => ("open", Element::new(&"CTF packet that was never closed")),
            Self::Cut => ("cut", Element::new(&"CTF packet that is cut")),
            Self::Duplicate => ("duplicate", Element::new(&"CTF packet captured twice")),
            Self::Torn => ("torn", Element::new(&"CTF packet in a torn slot")),
            Self::Foreign => ("foreign", Element::new(&"CTF packet of another trace")),
            Self::Fill => ("fill", Element::new(&"fill between CTF packets")),
            Self::Text => ("text", Element::new(&"text between CTF packets")),
            Self::Bytes => ("bytes", BYTES),
        }
    }

    /// The kind of bytes between packets.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | b' '..=b'~' | 0x80..);
        match bytes.split_first() {
            Some((first @ (0 | 0xff), rest)) if rest.iter().all(|byte| byte == first) => Self::Fill,
            Some(_) if bytes.iter().all(is_text) && core::str::from_utf8(bytes).is_ok() => Self::Text,
            _ => Self::Bytes,
        }
    }
}
