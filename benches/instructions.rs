//! The number of instructions that hot loops take, counted by callgrind, beside the recorded one.
//!
//!     cargo bench --bench instructions               # fails where a count is 5 % off, either way
//!     cargo bench --bench instructions -- --write    # records what it counts
//!     cargo bench --bench instructions -- zstd rtc   # some of it
//!
//! Instructions are not time; but where time moves by half from run to run, they hardly do, so that what made a loop slower
//! is seen at once. Counts are those of one compiler: with another one they must be recorded anew.

#[allow(dead_code)] // The other benchmarks use more.
mod common;
#[path = "common/dial9.rs"]
mod dial9;

use common::rfr::Input;
use common::{ctf, ctf_trace, rdf, rdf_contents, rfr, rtc, zstd};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use traceglass::ctf::schema::Schema;
use traceglass::rdf::{File, Identifier};
use traceglass::rtc::{WriterCrc, crc_ieee};
use traceglass::zstd::Workspace;

/// A loop: its name, what it is counted by, and the work, which is given its input and `measured`.
type Loop = (&'static str, &'static str, fn(Vec<u8>));

const LOOPS: &[Loop] = &[
    ("rdf-iterate", "rdf", |data| measured(|| rdf::iterate(black_box(File::parse(&data).unwrap())))),
    ("rdf-sort", "rdf", |data| {
        let mut storage = vec![0; ENTRIES as usize];
        measured(|| File::parse(&data).unwrap().sort(black_box(&mut storage)).unwrap().order().len() as u64);
    }),
    ("rdf-look-up", "rdf", |data| look_up(&data)),
    ("rtc-walk", "rtc", |data| measured(|| rtc::walk(black_box(&data)))),
    ("rtc-walk-strict", "rtc", |data| measured(|| rtc::walk_strictly(black_box(&data)))),
    ("rtc-walk-with-times", "rtc", |data| measured(|| rtc::walk_with_times(black_box(&data)))),
    ("rtc-crc-16-tables", "rtc", |data| measured(|| WriterCrc::<16>::of(black_box(&data)).into())),
    ("rtc-crc-1-table", "rtc", |data| measured(|| WriterCrc::<1>::of(black_box(&data)).into())),
    ("rtc-crc-ieee", "rtc", |data| measured(|| crc_ieee(black_box(&data)).into())),
    ("ctf-metadata-pieces", "ctf", |data| measured(|| ctf::pieces(black_box(&data)))),
    ("ctf-metadata-compact", "ctf", |mut data| measured(|| ctf::compacted(black_box(&mut data)))),
    ("ctf-metadata-fragments", "ctf", |data| measured(|| ctf::fragments(black_box(&data)))),
    ("ctf-metadata-kinds", "ctf", |data| measured(|| ctf::kinds(black_box(&data)))),
    ("ctf-metadata-check", "ctf", |data| measured(|| ctf::check(black_box(&data)))),
    ("ctf-schema", "ctf-schema", |data| {
        let mut nodes = ctf_trace::nodes(&data);
        measured(|| ctf_trace::schema(black_box(&data), &mut nodes).has_trace_class().into());
    }),
    ("ctf-data-heads", "ctf-data", |data| of_trace(&data, ctf_trace::heads)),
    ("ctf-data-fields", "ctf-data", |data| of_trace(&data, ctf_trace::fields)),
    ("ctf-data-pulled", "ctf-data", |data| of_trace(&data, ctf_trace::pulled)),
    ("ctf-data-told", "ctf-data", |data| of_trace(&data, ctf_trace::told)),
    ("rmt-tokens", "rmt", |data| measured(|| rdf_contents::token_values(black_box(&data)))),
    ("rdf-driver-events", "rdf-driver", |data| measured(|| rdf_contents::driver_events(black_box(&data)))),
    ("rdf-queue-events", "rdf-queues", |data| measured(|| rdf_contents::queues(black_box(&data)))),
    ("rfr-decode", "rfr", |data| of_records(data, rfr::decode)),
    ("rfr-decode-matching", "rfr", |data| of_records(data, rfr::decode_matching)),
    ("rfr-skip", "rfr", |data| of_records(data, rfr::skip)),
    ("dial9-events", "dial9", |data| measured(|| dial9::events(black_box(&data)))),
    ("dial9-told", "dial9", |data| measured(|| dial9::told(black_box(&data)))),
    ("dial9-bare-walk", "dial9", |data| measured(|| dial9::bare_walk(black_box(&data)))),
    ("dial9-mixed-told", "dial9-mixed", |data| measured(|| dial9::told(black_box(&data)))),
    ("dial9-mixed-bare-walk", "dial9-mixed", |data| measured(|| dial9::bare_walk(black_box(&data)))),
    ("dial9-timeline", "dial9", |data| measured(|| dial9::timeline(black_box(&data)))),
    ("zstd-level-1", "zstd-1-65536", |data| decode(&data)),
    ("zstd-level-3", "zstd-3-65536", |data| decode(&data)),
    ("zstd-level-19", "zstd-19-65536", |data| decode(&data)),
    ("zstd-small-chunks", "zstd-3-4096", |data| decode(&data)),
];

const ENTRIES: u32 = 10_000;
const RECORDS: u64 = 50_000;
const POLLS: u64 = 20_000;
const DECODED: usize = 768 << 10;

/// The greatest difference from the record, in percent.
const TOLERANCE: f64 = 5.0;

fn input(name: &str) -> Vec<u8> {
    match name {
        "rdf" => rdf::index(ENTRIES),
        "rtc" => rtc::data(1 << 20),
        "ctf" => ctf::data(1 << 20),
        "ctf-schema" => ctf_trace::metadata(200).into_bytes(),
        "ctf-data" => ctf_trace::stream(1 << 20),
        "rmt" => rdf_contents::tokens(1 << 20).0,
        "rdf-driver" => rdf_contents::events(1 << 20).0,
        "rdf-queues" => rdf_contents::queue_events(1 << 20).0,
        "dial9" => dial9::polls(POLLS),
        "dial9-mixed" => dial9::mixed(2 * POLLS),
        "rfr" => Input::recording(RECORDS).swap_remove(0).data,
        _ => {
            let mut numbers = name.split('-').skip(1).map(|number| number.parse().expect("a number"));
            let (level, chunk) = (numbers.next().expect("a level"), numbers.next().expect("a size"));
            let frames = zstd::compress(&zstd::mix(DECODED), chunk as usize, level);
            let mut data = (chunk as u32).to_le_bytes().to_vec();
            for frame in frames {
                data.extend((frame.len() as u32).to_le_bytes());
                data.extend(frame);
            }
            data
        }
    }
}

/// The only function of which callgrind counts instructions.
#[inline(never)]
fn measured(work: impl FnOnce() -> u64) {
    black_box(work());
}

fn look_up(data: &[u8]) {
    let file = File::parse(data).unwrap();
    let asked = rdf::asked(ENTRIES, 10_000);
    let asked: Vec<(Identifier, usize)> =
        asked.iter().map(|(id, n)| (Identifier::new(id).unwrap(), *n)).collect();
    let mut storage = vec![0; ENTRIES as usize];
    let sorted = file.sort(&mut storage).unwrap();
    measured(|| rdf::look_up(black_box(&sorted), &asked));
}

fn of_trace(data: &[u8], work: fn(&[u8], &Schema<'_, '_>) -> u64) {
    let metadata = ctf_trace::metadata(0).into_bytes();
    let mut nodes = ctf_trace::nodes(&metadata);
    let schema = ctf_trace::schema(&metadata, &mut nodes);
    measured(|| work(black_box(data), &schema));
}

fn of_records(data: Vec<u8>, work: fn(&Input) -> u64) {
    let input = Input::of(data);
    measured(|| work(black_box(&input)));
}

fn decode(data: &[u8]) {
    let mut numbers = data;
    let mut take = |len: usize| numbers.split_off(..len).expect("more data");
    let chunk = u32::from_le_bytes(take(4).try_into().unwrap()) as usize;
    let mut frames = Vec::new();
    for _ in 0..DECODED.div_ceil(chunk) {
        let len = u32::from_le_bytes(take(4).try_into().unwrap());
        frames.push(take(len as usize).to_vec());
    }
    let mut output = vec![0; DECODED];
    let mut workspace = Box::new(Workspace::new());
    measured(|| zstd::decode(black_box(&frames), chunk, &mut output, &mut workspace));
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [run, name, path] = arguments.as_slice() {
        assert_eq!(run, "--run");
        let (_, _, work) = LOOPS.iter().find(|(known, ..)| known == name).expect("a loop");
        work(std::fs::read(path).expect("the input"));
        return ExitCode::SUCCESS;
    }
    let (options, filters): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with("--"));
    let write = options.iter().any(|option| option == "--write");
    assert!(!write || filters.is_empty(), "only all counts are written");
    let compiler = compiler();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.txt");
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    if !write && !recorded.lines().any(|line| line.strip_prefix("compiler ") == Some(&compiler)) {
        let theirs = recorded.lines().find_map(|line| line.strip_prefix("compiler ")).unwrap_or("none");
        eprintln!("recorded with: {theirs}\nfound:         {compiler}");
        eprintln!(
            "The counts of one compiler say nothing about another: re-record them from a state known to be good,"
        );
        eprintln!("    cargo bench --bench instructions -- --write");
        return ExitCode::FAILURE;
    }
    let records: BTreeMap<&str, u64> = recorded.lines().filter_map(record).collect();

    let mut text = format!("{}compiler {compiler}\n", HEAD);
    let mut failed = 0;
    let mut inputs = BTreeMap::new();
    for (name, of, _) in LOOPS {
        if !filters.is_empty() && !filters.iter().any(|filter| name.starts_with(filter.as_str())) {
            continue;
        }
        let input = inputs.entry(of).or_insert_with(|| {
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("instructions-{of}"));
            std::fs::write(&path, input(of)).expect("the input is written");
            path
        });
        let count = count(name, input);
        let _ = writeln!(text, "{name:<20} {count:>10}");
        let verdict = match records.get(name) {
            _ if write => String::from("recorded"),
            None => String::from("not recorded"),
            Some(&before) => {
                let change = 100.0 * (count as f64 / before as f64 - 1.0);
                match change {
                    _ if change > TOLERANCE => format!("{change:+.1} %: slower than recorded"),
                    _ if change < -TOLERANCE => format!("{change:+.1} %: better than recorded; re-record it"),
                    _ => format!("{change:+.1} %, good"),
                }
            }
        };
        failed += u32::from(!verdict.ends_with("good") && !write);
        println!("{name:<20} {count:>10}  {verdict}");
    }
    for path in inputs.values() {
        let _ = std::fs::remove_file(path);
    }
    if write {
        std::fs::write(&path, text).expect("the record is written");
    }
    if failed > 0 {
        eprintln!("{failed} counts are not within {TOLERANCE} % of benches/instructions.txt");
        eprintln!("If they are as they should be: cargo bench --bench instructions -- --write");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

const HEAD: &str = "\
# Instructions that the hot loops take, counted by callgrind in a build of `cargo bench`; compared in the checks.
# Written by `cargo bench --bench instructions -- --write`, for one compiler: with another one, record them anew.
";

/// A line of the record.
fn record(line: &str) -> Option<(&str, u64)> {
    let (name, count) = line.split_once(' ')?;
    Some((name, count.trim().parse().ok()?))
}

/// The compiler, and what it compiles for.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc says its version");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().next().unwrap_or_default();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    format!("{version}, {host}")
}

/// The count of callgrind for a loop.
fn count(name: &str, input: &Path) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*measured*").arg(std::env::current_exe().expect("a path"));
    let output = command.args(["--run", name]).arg(input).output().expect("valgrind is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    let Some(count) = count.filter(|&count: &u64| count > 0 && output.status.success()) else {
        panic!("valgrind counted nothing for {name}:\n{text}");
    };
    count
}
