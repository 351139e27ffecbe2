//! Puts the page of `bindings/web` into the command: `TRACEGLASS_PAGE` is its file, `traceglass.html`.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=TRACEGLASS_PAGE");
    let page = match std::env::var_os("TRACEGLASS_PAGE") {
        Some(path) if !path.is_empty() => {
            let path = PathBuf::from(path);
            println!("cargo:rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({path:?}))")
        }
        _ => "None".to_owned(),
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    std::fs::write(out.join("page.rs"), page).expect("Cargo's folder can be written");
}
