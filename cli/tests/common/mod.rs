//! What the tests of the command share: the library's builders of files, and running the command.
#![allow(dead_code, unused_imports)] // Each suite uses a part.

#[path = "../../../tests/common/mod.rs"]
mod library;

pub use library::*;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository's root, where examples are run from.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the repository")
}

/// A sample that is shipped.
pub fn data(name: &str) -> PathBuf {
    root().join("examples/data").join(name)
}

/// The `traceglass` command with `args`, run to its end.
pub fn traceglass(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceglass")).args(args).output().expect("the command runs")
}

/// The exit status of a run that was not ended by a signal.
pub fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}
