//! The model of events, and each format's adaptor, on files that are built field by field.
#![cfg(feature = "event")]

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "ctf")]
mod ctf;
#[cfg(all(feature = "dial9", feature = "alloc"))]
mod dial9;
#[cfg(feature = "rfr")]
mod lives;
#[cfg(feature = "rfr")]
mod polls;
mod pulled;
#[cfg(feature = "rdf-contents")]
mod rdf;
#[cfg(feature = "rfr")]
mod rfr;
#[cfg(feature = "rtc")]
mod rtc;
#[cfg(all(
    feature = "alloc",
    feature = "ctf",
    feature = "rdf-contents",
    feature = "rfr",
    feature = "rtc",
    feature = "zstd"
))]
mod seeds;
#[cfg(feature = "ctf")]
mod states;
#[cfg(all(
    feature = "alloc",
    feature = "ctf",
    feature = "rdf-contents",
    feature = "rfr",
    feature = "rtc",
    feature = "zstd"
))]
mod told;
