//! The command's verbs over any bytes: a call, a name and the content of a file, or of a CTF trace, whose metadata and
//! data are parted by the first 0xff.
#![no_main]

#[path = "../../cli/tests/common/terminal.rs"]
mod terminal;

use libfuzzer_sys::fuzz_target;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use traceglass_cli::Console;

/// Counts what is allocated, and the most that is there at once.
struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static PRESENT: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is the system's; the rest is counting.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Relaxed);
        let present = PRESENT.fetch_add(layout.size() as u64, Relaxed) + layout.size() as u64;
        PEAK.fetch_max(present, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        PRESENT.fetch_sub(layout.size() as u64, Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Everything that a file can be asked; `OUT` is a folder.
const CALLS: &[&str] = &[
    "info",
    "info --json --redact",
    "hex --redact",
    "ls",
    "ls --json --sha256",
    "ls --sha256",
    "cat",
    "cat --json",
    "cat --merge --objects",
    "cat --json --merge --objects",
    "cat --callsites --json",
    "cat --task a",
    "cat --kind TaskPollEnd,Event --from +1us",
    "cat --records",
    "cat --entry 0 --json",
    "cat --entry 0 --stored",
    "cat --stream 9 --json",
    "cat --stream a --raw",
    "check",
    "check --json --lenient",
    "hex --len 100000",
    "hex --at 0x20 --len 64 --color always",
    "export --format perfetto",
    "export --format files -o OUT",
    "cat --slices --json",
    "cat --slices --from +1us",
    "cat --context --json --from 00:01",
    "cat --wire --gaps --json",
    "check --wire",
    "export --format perfetto --no-states",
    "stats",
    "stats --json",
];

/// Names of files: they are printed, too.
const NAMES: [&str; 4] = ["file", "metadata", "\u{9b}2J\x1b[35;45m\u{202e}\n.rfr", "trace.ctf2"];

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A folder in memory, where there is such.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let root = if memory.is_dir() { memory } else { std::env::temp_dir() };
        root.join(format!("traceglass-fuzz-{}", std::process::id()))
    })
}

fuzz_target!(|data: &[u8]| {
    let [call, about, data @ ..] = data else { return };
    let call = CALLS[usize::from(*call) % CALLS.len()];
    let name = NAMES[usize::from(*about) % NAMES.len()];
    let (is_trace, is_terminal) = (about & 64 != 0, about & 128 != 0);

    let root = folder();
    let _ = fs::remove_dir_all(root);
    fs::create_dir_all(root.join("in")).unwrap();
    let path = if is_trace {
        let at = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len());
        let (metadata, stream) = data.split_at(at);
        fs::write(root.join("in/metadata"), metadata).unwrap();
        let stream_name = if name == "metadata" { "stream" } else { name };
        fs::write(root.join("in").join(stream_name), stream).unwrap();
        root.join("in")
    } else {
        fs::write(root.join("in").join(name), data).unwrap();
        root.join("in").join(name)
    };
    let arg = |arg: &str| if arg == "OUT" { root.join("out").into() } else { OsString::from(arg) };
    let args =
        ["traceglass"].into_iter().chain(call.split(' ')).map(arg).chain([path.into()]).collect::<Vec<_>>();

    let (stdout, stderr) = (Shared::default(), Shared::default());
    let console = Console::new(stdout.clone(), stderr.clone(), is_terminal);
    let (before, present) = (ALLOCATED.load(Relaxed), PRESENT.load(Relaxed));
    PEAK.store(present, Relaxed);
    let status = traceglass_cli::on_large_stack(|| traceglass_cli::run(args, console)).unwrap();
    assert!([0, 1, 2, 3].contains(&status), "{call}: {status}");
    let len = data.len() as u64;
    let printed = stdout.0.lock().unwrap().len() as u64;
    let (allocated, peak) = (ALLOCATED.load(Relaxed) - before, PEAK.load(Relaxed) - present);
    // Values that take no bits are bounded by a number for each record, and a record may be a byte.
    assert!(allocated <= (96 << 20) + (len << 17), "{call} allocates {allocated} for {len} bytes");
    assert!(peak <= (96 << 20) + len * 64 + printed * 4, "{call} holds {peak} for {len} bytes");

    let is_raw = !is_terminal
        && (call.contains("perfetto")
            || call.starts_with("cat") && !call.contains("--json")
            || call.contains("--raw"));
    if !is_raw {
        let mut text = stdout.0.lock().unwrap().clone();
        // Text of a trace that is printed as it stands keeps its tabs.
        if is_terminal && call.starts_with("cat") && !call.contains("--json") {
            text.retain(|byte| *byte != b'\t');
        }
        assert_eq!(terminal::unsafe_in(&text), None, "{call}");
    }
    assert_eq!(terminal::unsafe_in(&stderr.0.lock().unwrap()), None, "{call}");
    let manifest = fs::read(root.join("out/manifest.json")).unwrap_or_default();
    assert_eq!(terminal::unsafe_in(&manifest), None, "{call}");
});
