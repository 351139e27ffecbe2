//! Places the memory map where the linker finds it.

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    let ram = if env::var_os("CARGO_FEATURE_RAM64").is_some() { "64K" } else { "16K" };
    let map = format!(
        "MEMORY\n{{\n    FLASH : ORIGIN = 0x00000000, LENGTH = 256K\n    RAM : ORIGIN = 0x20000000, LENGTH = {ram}\n}}\n"
    );
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(folder.join("memory.x"), map).expect("OUT_DIR can be written");
    println!("cargo:rustc-link-search={}", folder.display());
    println!("cargo:rustc-link-arg=-Tlink.x");
    if env::var_os("CARGO_FEATURE_DEFMT").is_some() {
        println!("cargo:rustc-link-arg-bin=defmt=-Tdefmt.x");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
