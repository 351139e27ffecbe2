//! CTF 2 metadata streams: the text that describes a trace, in packets of any form or plain.
//!
//! The Common Trace Format keeps a trace's description in a file `metadata`: in CTF 2 a sequence of JSON *fragments*
//! (RFC 7464: each begins with the byte 0x1E). It may be plain text, or wrapped into *metadata packets*, as they come
//! from a relay or out of a ring buffer. This module reads every form that occurs; it follows CTF2-PMETA-1.0
//! (21 October 2016), CTF 1.8.2 section 7.1 for the older header, and CTF2-SPEC-2.0 for the fragments.
//!
//! | first bytes | form | written by |
//! |---|---|---|
//! | `1e` | plain JSON text sequence | LTTng ≥ 2.14 |
//! | `/* CTF 1.8` | plain TSDL text | barectf, Zephyr, perf, LTTng |
//! | `57 1d d1 75`, version 2.x | packets, little-endian, header of 44 bytes or more | producers after CTF2-PMETA |
//! | `75 d1 1d 57`, version 2.x | the same, big-endian | |
//! | either magic, version 1.8 | packets with a header of 37 bytes; TSDL text (`/* CTF 1.8 */`) or JSON | LTTng < 2.14, relays |
//!
//! # Layout
//!
//! ```text
//! packet = header | content | padding          the text = content, content, content, …
//!          <---- content size ---->
//!          <---- total size -------------->
//! ```
//!
//! | byte | field | version 1.8 | version 2 |
//! |---|---|---|---|
//! | 0 | `u32` magic 0x75d11d57; its byte order is that of the sizes | | |
//! | 4 | UUID, 16 bytes | the same in all packets | the same in all packets |
//! | 20 | `u32` checksum | ignored | ignored |
//! | 24 | `u32` content size in bits, header included | multiple of 8 | multiple of 8 |
//! | 28 | `u32` total size in bits, header and padding included | multiple of 8 | multiple of 8 |
//! | 32 | `u8` compression scheme | 0 | 0 |
//! | 33 | `u8` encryption scheme | 0 | 0 |
//! | 34 | `u8` checksum scheme | 0 | 0 |
//! | 35 | `u8` major version | 1 | 2 |
//! | 36 | `u8` minor version | 8 | 0 (others: read with a warning) |
//! | 37 | reserved, 3 bytes | the content | ignored |
//! | 40 | `u32` header size in bits | | 352 or more; what is unknown is skipped |
//!
//! A packet may end anywhere in the text, even inside a UTF-8 sequence. Nothing is therefore decoded a packet at a
//! time: a [`Text`] is a range of the text that knows the packets it lies in, and everything above reads from it,
//! without joining it first.
//!
//! # Reading
//!
//! [`MetadataStream`] is the entry: it gives the packets, the text and the fragments of a slice or a memory map.
//! [`compact`] takes the headers out of a buffer in place, and a [`Decoder`] reads a stream that arrives piece by piece.
//!
//! ```
//! use traceglass::ctf::metadata::{FragmentKind, MetadataStream};
//!
//! let file = b"\x1e{\"type\": \"preamble\", \"version\": 2}\n\
//!     \x1e{\"type\": \"clock-class\", \"frequency\": 1000}";
//! let stream = MetadataStream::parse(file)?;
//! for fragment in stream.fragments() {
//!     let fragment = fragment?;
//!     if let Some(clock) = fragment.clock_class()? {
//!         assert_eq!(clock.frequency(), Some(1000));
//!         assert_eq!(fragment.offset(), 37);
//!     }
//! }
//! assert_eq!(stream.fragments().count(), 2);
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! # Limits
//!
//! - Compressed and encrypted contents are refused; checksums are not verified, as the document demands.
//! - TSDL, the language of CTF 1.8, is handed out as text; [`schema`](super::schema) compiles it.
//! - Of the fragments the envelope, the preamble, the clock classes and the trace class are read; field classes stay
//!   JSON, for which [`Fragment::members`] gives each member's text.
//! - JSON nested deeper than 256 levels is refused.

mod check;
mod class;
mod compact;
mod decoder;
mod fragment;
mod header;
mod options;
mod packet;
mod pieces;
mod stream;
mod text;

pub use crate::byte_order::ByteOrder;
pub use class::{ClockClass, ClockOrigin, Environment, EnvironmentValue, Preamble, TraceClass};
pub use compact::{Compacted, compact};
pub use decoder::{Decoder, Step};
pub use fragment::{Fragment, FragmentKind, Fragments, Members};
pub use header::{Bits, MAGIC_NUMBER, PacketHeader, Uuid};
pub use options::ParseOptions;
pub use packet::{Packet, Packets};
pub use pieces::Pieces;
pub use stream::{Form, Language, MetadataStream};
pub(crate) use stream::{detect, detect_tsdl};
pub(crate) use text::Place;
pub use text::{Text, TextPieces};
