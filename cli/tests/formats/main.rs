//! The output of the command for each format.

#[path = "../common/mod.rs"]
mod common;

mod chrome;
mod compile;
mod cores;
mod ctf;
mod dial9;
mod export;
mod lines;
mod look_back;
mod ranges;
mod rdf_contents;
mod reference;
mod rfr;
mod rfr_files;
mod selected;
mod states;
mod windows;
mod wire;
