// Its example reads an RDF file.
#![cfg_attr(any(feature = "rdf", not(doctest)), doc = include_str!("../README.md"))]
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

#[cfg(test)]
extern crate std;

// The foundation. A build with fewer formats uses less of it.
#[cfg_attr(
    not(all(feature = "rdf", feature = "rtc", feature = "ctf", feature = "rfr", feature = "zstd")),
    allow(dead_code)
)]
mod byte_order;
mod bytes;
mod detect;
mod dump;
mod error;
mod gap;
#[cfg(any(feature = "rtc", feature = "ctf"))]
#[cfg_attr(not(all(feature = "rtc", feature = "ctf")), allow(dead_code))]
mod grammar;
#[cfg(any(feature = "rtc", feature = "ctf"))]
#[cfg_attr(not(all(feature = "rtc", feature = "ctf")), allow(dead_code))]
mod json;
#[cfg_attr(not(all(feature = "rtc", feature = "rfr")), allow(dead_code))]
mod varint;

// The formats.
#[cfg(feature = "ctf")]
pub mod ctf;
#[cfg(feature = "rdf")]
pub mod rdf;
#[cfg(feature = "rfr")]
pub mod rfr;
#[cfg(feature = "rtc")]
pub mod rtc;
#[cfg(feature = "zstd")]
pub mod zstd;

// What stands above the formats.
#[cfg(feature = "event")]
#[cfg_attr(not(all(feature = "rfr", feature = "ctf")), allow(dead_code))]
pub mod event;

// It links to all formats.
#[cfg(all(doc, feature = "rdf", feature = "rtc", feature = "ctf", feature = "rfr", feature = "zstd"))]
pub mod guide;

pub use byte_order::ByteOrder;
pub use detect::{Format, Lookalike};
pub use dump::{HexDump, HexRow};
pub use error::{Element, Error, ErrorKind, Finding, Result, Severity, Summary};
pub use gap::Gap;
