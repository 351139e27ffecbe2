//! `cut`, `recover` and `merge` of any bytes: each ends, and its output is clean and stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use traceglass_cli::Console;

/// The calls on a file or a folder; `OUT` and `PATH` are added.
const CALLS: [&str; 13] = [
    "recover",
    "recover --lenient",
    "recover --wire",
    "cut --from +0ns",
    "cut --from +1us --to +1ms",
    "cut --to @1000",
    "cut --exact --to @1000",
    "cut --exact --from @10 --to @40",
    "cut --drop a",
    "cut --stream stream",
    "cut --name a*",
    "recover --redact --redact-key key",
    "merge --allow-same-id",
];

/// A folder in memory, where there is such.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
        root.join(format!("traceglass-rewrite-{}", std::process::id()))
    })
}

/// The status of a call.
fn run(call: &str, more: &[&Path]) -> u8 {
    let args = ["traceglass"].into_iter().chain(call.split(' ')).map(OsString::from);
    let args: Vec<_> = args.chain(more.iter().map(|path| path.into())).collect();
    let console = Console::new(std::io::sink(), std::io::sink(), false);
    traceglass_cli::on_large_stack(|| traceglass_cli::run(args, console)).unwrap()
}

/// The size of all files in a folder, or of a file.
fn size(path: &Path) -> u64 {
    match fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| size(&entry.unwrap().path())).sum(),
        Err(_) => fs::metadata(path).map_or(0, |about| about.len()),
    }
}

fuzz_target!(|data: &[u8]| {
    let [call, shape, data @ ..] = data else { return };
    let call = CALLS[usize::from(*call) % CALLS.len()];
    let root = folder();
    let _ = fs::remove_dir_all(root);
    fs::create_dir_all(root.join("in")).unwrap();
    let (front, rest) = data.split_at(data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len()));
    let path = match shape % 4 {
        0 => {
            fs::write(root.join("in/metadata"), front).unwrap();
            fs::write(root.join("in/stream"), rest).unwrap();
            root.join("in")
        }
        1 => {
            fs::write(root.join("in/trace.0.bin"), front).unwrap();
            fs::write(root.join("in/trace.1.bin"), rest).unwrap();
            root.join("in")
        }
        2 => {
            fs::write(root.join("in/meta.rfr"), b"\x0crfr-cm/0.0.1\0\0\x01\x0brfr-c/0.0.2").unwrap();
            fs::create_dir_all(root.join("in/2026")).unwrap();
            fs::write(root.join("in/2026/chunk-0.rfr"), data).unwrap();
            root.join("in")
        }
        _ => {
            fs::write(root.join("in/file"), data).unwrap();
            root.join("in/file")
        }
    };
    let before = size(&path);
    let (out, again) = (root.join("out"), root.join("again"));
    let status = run(&format!("{call} -o"), &[&out, &path]);
    assert_eq!(size(&path), before, "{call} changes its input");
    match status {
        0 | 3 => {
            // Metadata is in a folder for each session of a capture.
            assert!(size(&out) <= before * 6 + (65 << 20), "{call} writes {}", size(&out));
            let checked = run("check", &[&out]);
            assert!(checked == 0 || status == 3 && checked == 3, "{call} gives {status}, check {checked}");
            if status == 0 && call.starts_with("recover") {
                assert_eq!(run("recover -o", &[&again, &out]), 0, "{call}");
            }
        }
        1 | 2 => assert!(!out.exists(), "{call} fails and leaves something"),
        other => panic!("{call}: {other}"),
    }
    let left = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        left.filter(|name| !["in", "out", "again"].iter().any(|known| name == known)).collect();
    assert!(left.is_empty(), "{call} leaves {left:?}");
});
