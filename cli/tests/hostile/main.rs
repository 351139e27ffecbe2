//! The inputs that attackers make: files, names and arguments that cost more than they are worth, or that a terminal
//! would obey.
//!
//! The command runs in this process, so that all that it allocates is counted.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/terminal.rs"]
mod terminal;

mod escapes;
mod mutations;
mod paths;
mod work;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
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

/// One run at a time: the counters are of the whole process.
static TURN: Mutex<()> = Mutex::new(());

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

impl Shared {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// The outcome of a run.
struct Run {
    status: u8,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The manifest that an export of files wrote.
    manifest: Vec<u8>,
    /// The bytes that were printed, and those that were allocated for other purposes.
    allocated: u64,
    peak: u64,
    /// CPU time of this thread in nanoseconds, where the system tells.
    cpu: u64,
}

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// CPU time of this thread in nanoseconds.
fn cpu() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// Runs the command; its lock must be held. The argument `OUT` is a new folder.
fn run(args: &[&str], path: &Path, is_terminal: bool) -> Run {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("traceglass-hostile-out-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    let folder = std::env::temp_dir().join(name);
    let arg = |arg: &&str| if *arg == "OUT" { folder.clone().into() } else { OsString::from(arg) };
    let all = ["traceglass"].iter().chain(args).map(arg).chain([path.into()]);
    let mut done = run_all(all.collect(), is_terminal);
    if folder.is_file() {
        fs::remove_file(folder).unwrap();
    } else if folder.exists() {
        done.manifest = fs::read(folder.join("manifest.json")).unwrap_or_default();
        for entry in fs::read_dir(&folder).unwrap() {
            // `ls` prints the names of files.
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name.bytes().all(|byte| byte.is_ascii_graphic()), "{args:?}: {name:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
    done
}

fn run_all(args: Vec<OsString>, is_terminal: bool) -> Run {
    traceglass_cli::on_large_stack(|| measured(args, is_terminal)).expect("a thread")
}

fn measured(args: Vec<OsString>, is_terminal: bool) -> Run {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    // Printing is no work of the command's.
    stdout.0.lock().unwrap().reserve(256 << 20);
    let console = Console::new(stdout.clone(), stderr.clone(), is_terminal);
    let (before, present, started) = (ALLOCATED.load(Relaxed), PRESENT.load(Relaxed), cpu());
    PEAK.store(present, Relaxed);
    let status = traceglass_cli::run(args, console);
    Run {
        status,
        cpu: cpu() - started,
        allocated: ALLOCATED.load(Relaxed) - before,
        peak: PEAK.load(Relaxed) - present,
        stdout: stdout.take(),
        stderr: stderr.take(),
        manifest: Vec::new(),
    }
}

/// All that can be asked of a path without a selection.
const CALLS: &[&[&str]] = &[
    &["info"],
    &["info", "--json"],
    &["ls"],
    &["ls", "--json"],
    &["ls", "--sha256"],
    &["ls", "--sha256", "--json"],
    &["cat"],
    &["cat", "--json"],
    &["cat", "--merge"],
    &["cat", "--json", "--merge", "--objects"],
    &["cat", "--callsites"],
    &["cat", "--entry", "0"],
    &["cat", "--entry", "0", "--json"],
    &["cat", "--records"],
    &["cat", "--slices"],
    &["cat", "--slices", "--json"],
    &["cat", "--slices", "--tree"],
    &["stats"],
    &["stats", "--json"],
    &["check"],
    &["check", "--json"],
    &["hex"],
    &["hex", "--len", "100000000"],
    &["hex", "--color", "always", "--len", "100000000"],
    &["export", "--format", "perfetto"],
    &["export", "--format", "files", "-o", "OUT"],
];

/// True if a pipe gets bytes of the trace as they are: they may be anything.
fn is_raw(call: &[&str], path: &Path) -> bool {
    let text = path.ends_with("metadata") || path.extension().is_some_and(|extension| extension == "ctf2");
    call.contains(&"perfetto")
        || call[0] == "cat" && !call.contains(&"--json") && (call.contains(&"--entry") || text)
}
