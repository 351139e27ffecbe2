//! *Look at a trace without moving it.* This crate reads trace files as borrowed views over `&[u8]`: no copy, no
//! allocator, no panic, on a Cortex-M as well as over a memory map of many gigabytes.
//!
//! # Start here
//!
//! | I have | I use |
//! |---|---|
//! | a file, and do not know what it is | [`Format::detect`], then [`Lookalike::detect`] |
//! | `.rmv`, `.rra`, `.rgd`, `.rgp` of AMD's Radeon tools | [`rdf::File`] |
//! | a trace of ruler-trace | [`rtc`] |
//! | a file `metadata` beside data streams, of LTTng or barectf | [`ctf::metadata::MetadataStream`] |
//! | the data streams of such a trace | [`ctf`] |
//! | a segment `trace.N.bin` of dial9, what a service on tokio did | [`dial9::Frames`] |
//! | a folder with `meta.rfr`, or a single `.rfr` file | [`rfr::Chunk`], [`rfr::Streaming`] |
//! | any of them, and want what happened in order of time | [`event::Trace`] |
//! | records to print, store or send, whatever the format | [`record::Listener`] |
//! | Zstandard frames, and no allocator | [`zstd::decompress`] |
//! | a damaged file | [`guide::damage`] |
//! | little memory, or flash that is not memory-mapped | [`guide::memory`] |
//! | an error, and want to know what it says | [`guide::errors`] |
//!
//! # Examples
//!
//! Each format's page begins with a program of ten lines. This one is RDF's; the chunk that it returns is a slice of the
//! file:
//!
#![cfg_attr(feature = "rdf", doc = "```")]
#![cfg_attr(not(feature = "rdf"), doc = "```ignore")]
//! use traceglass::rdf::{File, NoDecoder};
//!
//! fn asic_info(data: &[u8]) -> traceglass::Result<Option<&[u8]>> {
//!     let file = File::parse(data)?; // O(1): the index is borrowed, not read
//!     let Some(chunk) = file.chunk("AsicInfo", 0) else { return Ok(None) };
//!     chunk.data(&mut [], &mut NoDecoder).map(Some)
//! }
//!
//! let error = asic_info(b"AMD_RDF \x03\0").unwrap_err();
//! assert_eq!(error.to_string(), "RDF file header at 0x0: input ends, 22 more bytes needed");
//! ```
//!
//! And this one counts the microseconds that a program's tasks were polled for:
//!
#![cfg_attr(feature = "rfr", doc = "```")]
#![cfg_attr(not(feature = "rfr"), doc = "```ignore")]
//! use traceglass::rfr::{Chunk, RecordKind};
//!
//! fn polling(data: &[u8]) -> traceglass::Result<u64> {
//!     let (mut start, mut sum) = (0, 0);
//!     for sequence in Chunk::parse(data)?.sequences() {
//!         for record in sequence?.records()? {
//!             let record = record?;
//!             match record.kind() {
//!                 RecordKind::TaskPollStart => start = record.micros(),
//!                 RecordKind::TaskPollEnd => sum += record.micros() - start,
//!                 _ => {}
//!             }
//!         }
//!     }
//!     Ok(sum)
//! }
//! # assert!(polling(b"\x0brfr-c").unwrap_err().is_truncation());
//! ```
//!
//! # One dialect
//!
//! | to | all formats have |
//! |---|---|
//! | open | `Thing::parse(data)`, which checks what is needed to navigate |
//! | iterate | `next_thing() -> Result<Option<Thing>>`, and `Iterator`; after an error comes `None` |
//! | continue after damage | `recover() -> Option<Gap>`: a [`Gap`] says where, how many bytes, and why |
//! | verify everything | `check(.., &mut dyn FnMut(Finding)) -> Result<Summary>` |
//! | ask when | `time()`, a `Time` with its epoch; a plain number is named by its unit: `nanoseconds()`, `micros()`, `unix_micros()`, `ticks()`, `cycles()` |
//! | lend storage | a slice; if it is too small, [`CapacityExceeded`](ErrorKind::CapacityExceeded) says how much is needed |
//! | know what an error is about | [`Error::element`], one of the constants in the format's module `element` |
//!
//! # Features
//!
//! | feature | default | what |
//! |---|---|---|
//! | `rdf` `rtc` `ctf` `rfr` `dial9` | yes | one format each |
//! | `rdf-contents` | yes | what is inside the chunks of RDF files |
//! | `event` | yes | one model of tracks and events above the formats that are on |
//! | `zstd` | yes | Zstandard without an allocator |
//! | `alloc` | | `Vec` as storage that is lent, and records that are kept |
//! | `serde` | | `serde::Serialize` of records; it needs `alloc` |
//! | `detect` | | `zstd::Detected`: machine code for the processor that is found at run time; it needs `std` |
//! | `ruzstd` | | the crate `ruzstd` as an alternative decoder; it allocates |
//! | `defmt` | | `defmt::Format` for errors and headers |
//!
//! # Promises
//!
//! `no_std` and no allocator with default features; no reachable panic; no `unsafe`; any alignment, any byte order of the
//! host, 32 bits; work and memory linear in the input, whatever it claims; every error has a byte offset, and every
//! borrowed slice lies in the input. The README names the command that proves each.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(
    missing_docs,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::as_conversions
)]
// Tests say what they expect in the shortest way; a panic is how they fail.
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::as_conversions
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

// The foundation. A build with fewer formats uses less of it.
mod byte_order;
#[cfg_attr(
    not(all(feature = "rdf", feature = "rtc", feature = "ctf", feature = "rfr", feature = "zstd")),
    allow(dead_code)
)]
mod bytes;
mod detect;
mod dump;
#[cfg_attr(
    not(all(feature = "rdf", feature = "rtc", feature = "ctf", feature = "rfr", feature = "zstd")),
    allow(dead_code, unused_imports)
)]
mod error;
mod gap;
#[cfg(any(feature = "rtc", feature = "ctf"))]
mod grammar;
#[cfg(any(feature = "ctf", feature = "rfr", feature = "event"))]
#[cfg_attr(not(any(feature = "ctf", feature = "rfr")), allow(dead_code))]
mod heap;
#[cfg(any(feature = "rtc", feature = "ctf", feature = "rdf-contents"))]
#[cfg_attr(not(all(feature = "rtc", feature = "ctf", feature = "rdf-contents")), allow(dead_code))]
mod json;
mod layout;
#[macro_use]
mod room;
#[cfg(any(feature = "rdf", feature = "ctf", feature = "rfr", feature = "dial9"))]
mod sort;
#[cfg(any(feature = "rtc", feature = "rdf-contents"))]
#[cfg_attr(not(feature = "rtc"), allow(dead_code))]
mod text;
#[cfg_attr(not(all(feature = "rtc", feature = "rfr")), allow(dead_code))]
mod varint;
#[cfg(any(feature = "rtc", feature = "ctf", feature = "rdf-contents"))]
mod work;

// The description of a record, which knows no format.
pub mod record;

// The formats.
#[cfg(feature = "ctf")]
pub mod ctf;
#[cfg(feature = "dial9")]
pub mod dial9;
#[cfg(feature = "rdf")]
pub mod rdf;
#[cfg(feature = "rfr")]
pub mod rfr;
#[cfg(feature = "rtc")]
pub mod rtc;
#[cfg(feature = "zstd")]
pub mod zstd;

// The modules above the formats.
#[cfg(feature = "event")]
#[cfg_attr(not(all(feature = "rfr", feature = "ctf")), allow(dead_code))]
pub mod event;

// It links to all formats.
#[cfg(all(
    doc,
    feature = "rdf",
    feature = "rtc",
    feature = "ctf",
    feature = "rfr",
    feature = "dial9",
    feature = "zstd"
))]
pub mod guide;

pub use byte_order::ByteOrder;
pub use detect::{Format, Lookalike};
pub use dump::{HexDump, HexRow};
pub use error::{Element, Error, ErrorKind, Finding, Result, Severity, Summary};
pub use gap::Gap;
#[cfg(any(feature = "rtc", feature = "ctf", feature = "rdf-contents"))]
pub use json::{JsonChars, JsonString};
pub use layout::{LayoutField, LayoutValue};
pub use room::Room;
#[cfg(any(feature = "rtc", feature = "rdf-contents"))]
pub use text::Text;

/// The README's examples, as tests.
#[cfg(all(doctest, feature = "rdf"))]
#[doc = include_str!("../README.md")]
struct Readme;
