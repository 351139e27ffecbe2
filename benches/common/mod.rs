//! The benchmarks' work: data made from fixed seeds, and the loops over it.

pub mod ctf;
pub mod ctf_trace;
pub mod rdf;
pub mod rdf_contents;
pub mod rfr;
pub mod rtc;
pub mod zstd;
