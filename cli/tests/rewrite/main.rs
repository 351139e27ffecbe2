//! Traces that go back into files: `cut`, `recover` and `merge` of each format.

#[path = "../common/mod.rs"]
mod common;
mod create;
mod ctf;
mod ctf_merge;
mod dial9;
mod killed;
mod rdf;
mod redact;
mod rfr;
mod rtc;
mod select;
mod shared;
