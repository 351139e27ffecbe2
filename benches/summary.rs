//! The speed of reading each format, next to its alternatives, as one table.
//!
//!     cargo bench --bench summary                    # about three minutes
//!     cargo bench --bench summary -- zstd rtc        # some of it
//!     cargo bench --bench summary -- --large         # larger than any cache
//!     cargo bench --bench summary -- --write         # into benches/README.md
//!
//! It is measured by `benches/peers`, a package of its own: some of the others need a newer compiler than this crate does.

use std::process::{Command, exit};

fn main() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--bench");
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--manifest-path", manifest, "--"]).args(arguments);
    let status = command.status().expect("cargo starts");
    exit(status.code().unwrap_or(1));
}
