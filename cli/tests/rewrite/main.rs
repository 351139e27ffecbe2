//! Traces that go back into files: `cut`, `recover` and `merge` of each format.

#[path = "../common/mod.rs"]
mod common;
mod ctf;
mod dial9;
mod rdf;
mod rfr;
mod rtc;
mod shared;
