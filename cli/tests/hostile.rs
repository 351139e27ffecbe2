//! What attackers make: files, names and arguments that cost more than they are worth, or that a terminal would obey.
//!
//! The command runs in this process, so that all that it allocates is counted.

mod common;

use common::{ctf, data, rdf, rfr};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
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

/// What a run did.
struct Run {
    status: u8,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// What was printed, and what was allocated for other purposes.
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

/// Runs the command; its lock must be held.
fn run(args: &[&str], path: &Path, is_terminal: bool) -> Run {
    let args = ["traceglass"].iter().chain(args).map(OsString::from).chain([path.into()]);
    run_all(args.collect(), is_terminal)
}

fn run_all(args: Vec<OsString>, is_terminal: bool) -> Run {
    traceglass_cli::on_large_stack(|| measured(args, is_terminal)).expect("a thread")
}

fn measured(args: Vec<OsString>, is_terminal: bool) -> Run {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    // What is printed is no work of the command's.
    stdout.0.lock().unwrap().reserve(64 << 20);
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
    &["check"],
    &["check", "--json"],
    &["hex"],
    &["hex", "--len", "100000000"],
    &["hex", "--color", "always", "--len", "100000000"],
];

/// A folder for one test's files, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("traceglass-hostile-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a terminal might obey, or show as something else; lines, and the styles of the command itself, are taken out.
fn unsafe_in(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let mut rest = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\x1b' && chars.peek() == Some(&'[') {
            let style: String = chars.by_ref().skip(1).take_while(|c| *c != 'm').collect();
            if style.len() <= 8 && style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
                continue;
            }
        }
        rest.push(c);
    }
    let is_bad = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
    };
    let at = rest.char_indices().find(|(_, c)| is_bad(*c))?.0;
    Some(rest[at..].chars().take(40).collect())
}

/// A style that nobody but the file asks for.
const STYLE: &str = "\x1b[35;45m";

/// Everything that is to be escaped.
const EVIL: &str = "\x1b[35;45m\x07\r\x7f\u{9b}2J\u{85}\u{202e}\u{2066}\u{2028}\u{200f}\u{61c}\u{fdd0}\u{fdd3}\u{fdef}evil\nline";

fn assert_safe(run: &Run, what: &str) {
    for output in [&run.stdout, &run.stderr] {
        assert_eq!(unsafe_in(output), None, "{what}");
        let text = String::from_utf8_lossy(output);
        assert!(!text.contains(STYLE) && !text.contains("\nline"), "{what}: {text}");
    }
}

/// Files of each format whose texts are full of control characters.
fn evil_files(scratch: &Scratch) -> Vec<PathBuf> {
    let site = rfr::callsite(
        70,
        30,
        2,
        &[("name", rfr::Value::Str(EVIL)), ("file", rfr::Value::Str(EVIL)), ("line", rfr::Value::U64(7))],
        &[EVIL],
    );
    let event = rfr::event(70, rfr::Parent::Root, &[rfr::Value::Str(EVIL)], &[(EVIL, rfr::Value::Str(EVIL))]);
    let mut sequence = rfr::Sequence::new(1).task(5, 70, EVIL, None);
    sequence = sequence.about(10, 6, 5).about(30, 7, 5).record(31, 4, &event);
    let chunk = rfr::Chunk::new(1_000).sequence(sequence).bytes();
    let task = rfr::task(5, 70, 9, EVIL, Err(EVIL), None);
    let stream = rfr::stream(&[
        (1, 0, 1, site),
        (1, 1, 4, task),
        (1, 2, 3, event),
        (1, 3, 10, rfr::Writer::new().ints([5])),
    ]);
    let site = rfr::callsite(
        70,
        30,
        2,
        &[("name", rfr::Value::Str(EVIL)), ("file", rfr::Value::Str(EVIL)), ("line", rfr::Value::U64(7))],
        &[EVIL],
    );
    let escaped: String = EVIL.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let fragment = |kind: &str| {
        format!(
            "\x1e{{\"type\":\"{kind}\",\"name\":\"{escaped}\",\"id\":\"{escaped}\",\"raw\":\"\u{9b}\u{202e}\u{7f}\"}}\n"
        )
    };
    let preamble = "\x1e{\"type\":\"preamble\",\"version\":2}\n";
    let environment = format!(
        "\x1e{{\"type\":\"trace-class\",\"name\":\"{escaped}\",\"environment\":{{\"{escaped}\":\"{escaped}\",\"hostname\":\"{escaped}\"}}}}\n"
    );
    let text = [
        preamble,
        &environment,
        &fragment(&escaped),
        &fragment("clock-class"),
        &fragment("event-record-class"),
    ]
    .concat();
    let packets = ctf::stream(text.as_bytes().chunks(50), ctf::Packet::v2);
    let name = &EVIL[..13];
    vec![
        scratch.file(&format!("{EVIL}/recording/{EVIL}.rfr"), &chunk),
        scratch.file(&format!("{EVIL}/recording/callsites"), &rfr::callsites(&[site])),
        scratch.0.join(format!("{EVIL}/recording")),
        scratch
            .file(&format!("{EVIL}/damaged/{EVIL}.rfr"), &chunk[..chunk.len() - 2])
            .parent()
            .unwrap()
            .to_owned(),
        scratch.file("stream", &stream),
        scratch.file("cut-stream", &stream[..stream.len() - 1]),
        scratch.file("plain/metadata", text.as_bytes()),
        scratch.file("packets/metadata", &packets),
        scratch.file("damaged/metadata", &[&packets[..100], EVIL.as_bytes(), &packets[100..]].concat()),
        scratch.file(
            "chunks.rdf",
            &rdf::file(&[rdf::Chunk::raw(name, EVIL.as_bytes()), rdf::Chunk::zstd(name, EVIL.as_bytes())]),
        ),
        scratch.file("damaged.rdf", &{
            let whole = rdf::file(&[rdf::Chunk::raw(name, EVIL.as_bytes())]);
            whole[..whole.len() - 3].to_vec()
        }),
        scratch.file("unknown", EVIL.as_bytes()),
        scratch.0.join(EVIL).join("missing"),
    ]
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let _turn = turn();
    let scratch = Scratch::new("evil");
    let mut runs = 0;
    for path in evil_files(&scratch) {
        for call in CALLS {
            let what = format!("{call:?} {path:?}");
            assert_safe(&run(call, &path, true), &what);
            let piped = run(call, &path, false);
            // What a pipe gets of raw bytes and of text is what the file has.
            let is_raw = call[0] == "cat" && (call.contains(&"--entry") || path.ends_with("metadata"));
            if !is_raw || call.contains(&"--json") {
                assert_safe(&piped, &what);
            }
            runs += 1;
        }
    }
    assert_eq!(runs, 13 * CALLS.len());
    let words: &[&[&str]] = &[
        &[EVIL],
        &["info"],
        &["man", EVIL],
        &["hex", "--at", EVIL, "x"],
        &["cat", "--from", EVIL, "x"],
        &["cat", "--kind", EVIL, "x"],
        &["ls", EVIL, EVIL],
        &["info", EVIL],
        &["cat", "--task", EVIL, "SAMPLE"],
        &["cat", "--color", EVIL],
    ];
    for words in words {
        let sample = data("sample.rfr");
        let args = ["traceglass"].iter().chain(*words);
        let args =
            args.map(|word| if *word == "SAMPLE" { sample.clone().into() } else { OsString::from(word) });
        let failed = run_all(args.collect(), true);
        assert!(failed.status != 0 && !failed.stderr.is_empty(), "{words:?}");
        assert_safe(&failed, &format!("{words:?}"));
    }
}

/// Whoever writes raw bytes to a terminal by mistake is stopped.
#[test]
fn a_terminal_gets_raw_bytes_only_if_forced() {
    let _turn = turn();
    let sample = data("sample.rdf");
    let refused = run(&["cat", "--entry", "0"], &sample, true);
    assert_eq!((refused.status, refused.stdout.len()), (2, 0));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"));
    let forced = run(&["cat", "--entry", "0", "--force"], &sample, true);
    let piped = run(&["cat", "--entry", "0"], &sample, false);
    assert_eq!((forced.status, piped.status, &forced.stdout), (0, 0, &piped.stdout));
}

/// Families of hostile files: of size n, 2n and 4n.
fn families(scratch: &Scratch) -> Vec<(&'static str, [PathBuf; 3])> {
    let mut families = Vec::new();
    let mut family = |name: &'static str, make: &dyn Fn(usize) -> Vec<u8>| {
        families.push((name, [1, 2, 4].map(|n| scratch.file(&format!("{name}-{n}"), &make(n)))));
    };
    // Entries that all name the same bytes, and such that name more and more of them.
    let aliases = |count: usize, step: usize, zstd: bool| {
        let content = vec![b'x'; 100_000];
        let chunk = if zstd { rdf::Chunk::zstd("Same", &content) } else { rdf::Chunk::raw("Same", &content) };
        let mut file = rdf::header(32, count as i64 * 64).to_vec();
        let place = 32 + count as i64 * 64;
        for number in 0..count {
            let skip = number * step;
            let part = rdf::Chunk { stored: chunk.stored[skip..].to_vec(), ..chunk.clone_of() };
            let size = if zstd { part.uncompressed_size } else { 0 };
            let part = rdf::Chunk { uncompressed_size: size, ..part };
            file.extend(rdf::entry(&part, place, place + skip as i64));
        }
        file.extend(&chunk.stored);
        file
    };
    family("rdf-same", &|n| aliases(n * 200, 0, true));
    family("rdf-same-raw", &|n| aliases(n * 200, 0, false));
    family("rdf-overlapping", &|n| aliases(n * 200, 100, false));
    family("rdf-many", &|n| {
        rdf::file(&(0..n * 500).map(|n| rdf::Chunk::raw(&format!("c{n}"), b"data")).collect::<Vec<_>>())
    });
    // One long name, and many records that it belongs to.
    family("rfr-name", &|n| {
        let mut sequence = rfr::Sequence::new(1).task(5, 70, &"n".repeat(n * 5_000), None);
        (0..n as u64 * 2_000).for_each(|at| sequence.push(at, 6, 5));
        rfr::Chunk::new(1_000).sequence(sequence).bytes()
    });
    // Many tasks, many sequences.
    family("rfr-sequences", &|n| {
        let sequence =
            |at: u64| rfr::Sequence::new(at).task(at, 70, "t", None).about(at, 6, at).about(at, 7, at);
        (0..n as u64 * 500).fold(rfr::Chunk::new(1_000), |chunk, at| chunk.sequence(sequence(at))).bytes()
    });
    family("ctf-garbage", &|n| {
        let packet = ctf::Packet::v2(b"\x1e{\"type\":\"x\"}\n").write();
        (0..n * 300).flat_map(|_| [&packet[..], b"garbage"].concat()).collect()
    });
    family("ctf-split", &|n| {
        let text = format!("\x1e{{\"type\":\"x\",\"y\":\"{}\"}}", "z".repeat(n * 1_000));
        ctf::stream(text.as_bytes().chunks(1), ctf::Packet::v2)
    });
    family("ctf-fragments", &|n| {
        (0..n * 1_000).flat_map(|n| format!("\x1e{{\"type\":\"kind{n}\"}}").into_bytes()).collect()
    });
    family("ctf-open", &|n| (0..n * 3_000).flat_map(|_| *b"\x1e{\"a\":[[").collect());
    families
}

trait CloneOf {
    fn clone_of(&self) -> Self;
}

impl CloneOf for rdf::Chunk {
    fn clone_of(&self) -> Self {
        Self {
            identifier: self.identifier.clone(),
            header: self.header.clone(),
            stored: self.stored.clone(),
            compression: self.compression,
            uncompressed_size: self.uncompressed_size,
            version: self.version,
        }
    }
}

/// Four times as large is at most some more than four times the work: what is allocated, printed, and computed.
#[test]
fn work_grows_with_the_input_alone() {
    let _turn = turn();
    let scratch = Scratch::new("work");
    for (name, paths) in families(&scratch) {
        for call in CALLS {
            let [once, _, four] = [0, 1, 2].map(|n| run(call, &paths[n], false));
            let what = format!("{name}: {call:?}");
            assert!([0, 1, 2, 3].contains(&four.status), "{what}: {}", four.status);
            let grown = |part: fn(&Run) -> u64, room: u64| (part(&four), part(&once) * 5 + room);
            let (allocated, limit) = grown(|run| run.allocated, 1 << 20);
            assert!(allocated <= limit, "{what} allocates {allocated}, more than {limit}");
            let (printed, limit) = grown(|run| run.stdout.len() as u64, 1 << 10);
            assert!(printed <= limit, "{what} prints {printed}, more than {limit}");
            // A clock that others share: twice as much is allowed, and a tenth of a second.
            let (cpu, limit) = grown(|run| run.cpu * 2, 200_000_000);
            assert!(cpu <= limit, "{what} takes {} ns, once {}", four.cpu, once.cpu);
            let size = fs::metadata(&paths[2]).unwrap().len();
            assert!(four.peak < size * 40 + (8 << 20), "{what} holds {} bytes for {size}", four.peak);
        }
    }
}

/// The files that attackers made: each verb ends soon, with little memory, and says nothing that a terminal obeys.
#[test]
fn hostile_vectors_are_harmless() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the hostile vectors are not read");
        return;
    };
    let _turn = turn();
    let mut read = 0;
    for entry in fs::read_dir(PathBuf::from(root).join("hostile")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "README.md" {
            continue;
        }
        for call in CALLS {
            for is_terminal in [false, true] {
                let done = run(call, &path, is_terminal);
                let what = format!("{call:?} {name}");
                assert!([0, 1, 2, 3].contains(&done.status), "{what}: {}", done.status);
                assert!(done.peak < 64 << 20, "{what} holds {} bytes", done.peak);
                // Of an unoptimised build.
                assert!(done.cpu < 10_000_000_000, "{what} takes {} ns", done.cpu);
                let is_raw = call[0] == "cat" && (call.contains(&"--entry") || name.ends_with("ctf2"));
                if is_terminal || !is_raw {
                    assert_safe(&done, &what);
                }
            }
        }
        read += 1;
    }
    println!("hostile: {read} files read");
    assert!(read > 0, "no file was read");
}
