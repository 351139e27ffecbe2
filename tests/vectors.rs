//! The library against the vectors that `TRACEGLASS_VECTORS` names.
//!
//! Without the variable nothing is compared, and the tests say so; with it, a folder of which no file was read is a
//! failure.

#[path = "vectors/rdf_contents.rs"]
mod rdf_contents;

use std::path::PathBuf;

/// The folder `name` of the vectors; `None`, and a word about it, where none are given.
fn folder(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("TRACEGLASS_VECTORS");
    if root.is_none() {
        eprintln!("TRACEGLASS_VECTORS is not set: the {name} vectors are not read");
    }
    root.map(|root| PathBuf::from(root).join(name))
}
