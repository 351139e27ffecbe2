//! What the benchmarks measure: data made from fixed seeds, and the loops over it.

pub mod ctf;
pub mod rdf;
pub mod rfr;
pub mod rtc;
pub mod zstd;
