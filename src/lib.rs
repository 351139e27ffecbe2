#![doc = include_str!("../README.md")]
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

// A build with fewer formats uses less of the foundation.
#[allow(dead_code)]
mod bytes;
#[cfg(feature = "ctf2")]
pub mod ctf2;
mod detect;
mod dump;
mod error;
#[allow(dead_code)]
#[cfg(any(feature = "rtc", feature = "ctf2"))]
mod grammar;
#[cfg(doc)]
pub mod guide;
#[allow(dead_code)]
#[cfg(any(feature = "rtc", feature = "ctf2"))]
mod json;
#[allow(dead_code)]
mod varint;
#[cfg(feature = "zstd")]
pub mod zstd;

#[cfg(feature = "rdf")]
pub mod rdf;
#[cfg(feature = "rfr")]
pub mod rfr;
#[cfg(feature = "rtc")]
pub mod rtc;

pub use detect::{Format, Lookalike};
pub use dump::{HexDump, HexRow};
pub use error::{Element, Error, ErrorKind, Finding, Result, Severity};
