//! Traces that go back into files: `cut`, `recover` and `merge` of each format.

#[path = "../common/mod.rs"]
mod common;
mod ctf;
mod rdf;
mod shared;
