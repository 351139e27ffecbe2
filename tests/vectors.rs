//! Real and generated files, where they can be had: the variable `TRACEGLASS_VECTORS` names the folder.
//!
//! Without it each test says so and passes. With it, a test that finds no file fails.

#[path = "vectors/canonical.rs"]
mod canonical;
#[path = "vectors/ctf1_streams.rs"]
mod ctf1_streams;
#[path = "vectors/ctf2_streams.rs"]
mod ctf2_streams;
#[path = "vectors/rdf_contents.rs"]
mod rdf_contents;
#[path = "vectors/rtc_more.rs"]
mod rtc_more;

use std::path::PathBuf;

/// A folder of vectors; `None` if there are none at all.
fn folder(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        println!("{name}: TRACEGLASS_VECTORS is not set, nothing is read");
        return None;
    };
    Some(PathBuf::from(root).join(name))
}
