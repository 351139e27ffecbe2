//! Damaged files, in every verb: a change of each kind at places that are chosen by a seed.
//!
//! `TRACEGLASS_ATTACK=600` goes on for so many seconds, over the vectors as well; `TRACEGLASS_SEED=7` chooses other
//! places.

use super::escapes::assert_safe;
use super::{CALLS, Run, common, is_raw, run, turn};
use crate::common::Scratch;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Numbers that look random: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// The bytes that are put into files: the ends of what integers can be, and what ends or begins a text.
const EXTREMES: &[&[u8]] = &[
    &[0; 8],
    &[0xff; 8],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    b"18446744073709551615",
    b"-9223372036854775808",
    b"1e308",
    "\u{9b}2J\u{202e}\u{2028}".as_bytes(),
    b"\x1b[2J\n",
    b"\"",
    b"}",
    b"{[{[{[",
    b"\\u0000",
];

/// Changes a file in one to three ways.
fn mutate(data: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let len = data.len();
        let at = random.below(len + 1);
        let size = random.below(len.min(300)) + 1;
        let end = (at + size).min(len);
        match random.below(9) {
            0 | 1 if at < len => data[at] ^= 1 << random.below(8),
            2 if at < len => data[at] = random.next() as u8,
            3 => data.truncate(at),
            4 => drop(data.drain(at..end)),
            5 => {
                let block = data[at..end].to_vec();
                let to = random.below(len + 1);
                data.splice(to..to, block);
            }
            6 => {
                let what = EXTREMES[random.below(EXTREMES.len())];
                data.splice(at..at, what.iter().copied());
            }
            7 => {
                let what = EXTREMES[random.below(EXTREMES.len())];
                let end = (at + what.len()).min(len);
                data.splice(at..end, what.iter().copied());
            }
            _ => data[at..end].fill([0, 0xff, b'9', b' '][random.below(4)]),
        }
    }
}

/// The traces of a folder: files, and folders that are one trace, each as the files in it.
fn traces(root: &Path, all: &mut Vec<Vec<PathBuf>>) {
    let Ok(entries) = fs::read_dir(root) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() => traces(&path, all),
            // Large ones take long, and have nothing that small ones have not.
            Ok(about) if about.len() <= 400_000 => files.push(path),
            _ => {}
        }
    }
    let is_text = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "md" || extension == "ndjson" || extension == "json")
    };
    files.retain(|path| !is_text(path));
    let is_trace = files.iter().any(|path| path.ends_with("metadata") || path.ends_with("callsites.rfr"));
    if is_trace {
        all.push(files);
    } else {
        all.extend(files.into_iter().map(|path| vec![path]));
    }
}

/// Runs a verb over a mutant. It ends, with a status that is known, in memory that its size bounds.
fn attack(call: &[&str], path: &Path, size: u64, is_terminal: bool, what: &str) {
    let done = run(call, path, is_terminal);
    assert!([0, 1, 2, 3].contains(&done.status), "{what}: {}", done.status);
    let limit = (96 << 20) + size * 64;
    assert!(done.peak < limit, "{what} holds {} bytes for {size}", done.peak);
    assert!(done.cpu < 20_000_000_000, "{what} takes {} ns for {size} bytes", done.cpu);
    // For some vectors it is not known what is text, and in which file.
    let may_be_text = call[0] == "cat" && !call.contains(&"--json");
    if !is_terminal && (may_be_text || is_raw(call, path)) {
        assert_safe(&Run { stdout: Vec::new(), ..done }, what);
    } else {
        assert_safe(&done, what);
    }
}

#[test]
fn damaged_files_end_every_verb_well() {
    let _turn = turn();
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seconds = number("TRACEGLASS_ATTACK");
    let mut random = Random(number("TRACEGLASS_SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut all = Vec::new();
    traces(&common::root().join("examples/data"), &mut all);
    if let (Some(_), Some(vectors)) = (seconds, std::env::var_os("TRACEGLASS_VECTORS")) {
        traces(Path::new(&vectors), &mut all);
    }
    assert!(all.len() >= 5, "no samples");
    let scratch = Scratch::new("mutations");
    let (started, mut runs) = (Instant::now(), 0_u64);
    let mut failures = 0;
    loop {
        // The samples in turn; of the vectors, any.
        let number = if seconds.is_some() { random.below(all.len()) } else { runs as usize % all.len() };
        let files = &all[number];
        let victim = random.below(files.len());
        let mut size = 0;
        let folder = scratch.0.join("trace");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (place, file) in files.iter().enumerate() {
            let mut data = fs::read(file).unwrap_or_default();
            if place == victim {
                mutate(&mut data, &mut random);
            }
            size += data.len() as u64;
            fs::write(folder.join(file.file_name().unwrap()), data).unwrap();
        }
        let path = match files.as_slice() {
            [file] => folder.join(file.file_name().unwrap()),
            _ => folder.clone(),
        };
        let call = CALLS[random.below(CALLS.len())];
        let what = format!("run {runs}: {call:?} {:?}", files[victim]);
        let is_terminal = random.below(2) == 0;
        let done = std::panic::catch_unwind(|| attack(call, &path, size, is_terminal, &what));
        if done.is_err() {
            failures += 1;
            eprintln!("{what}");
            if let Some(keep) = std::env::var_os("TRACEGLASS_KEEP") {
                let to = Path::new(&keep).join(format!("{failures}"));
                fs::create_dir_all(&to).unwrap();
                for entry in fs::read_dir(&folder).unwrap() {
                    let from = entry.unwrap().path();
                    fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
                }
                fs::write(to.join("WHAT"), &what).unwrap();
            }
        }
        runs += 1;
        match seconds {
            Some(seconds) if started.elapsed() >= Duration::from_secs(seconds) => break,
            None if runs >= 1500 => break,
            _ => {}
        }
    }
    println!("{runs} runs over {} traces", all.len());
    assert_eq!(failures, 0, "see what is printed above");
}

/// A verb that reads everything sees every damage: bytes are changed in each format.
#[test]
fn what_reads_everything_ends_with_the_same_status() {
    const ALL: &[&[&str]] = &[
        &["check"],
        &["cat"],
        &["cat", "--json"],
        &["info", "--full"],
        &["ls"],
        &["export", "--format", "files", "-o", "OUT"],
        &["export", "--format", "perfetto"],
        #[cfg(feature = "tables")]
        &["export", "--format", "arrow"],
        #[cfg(feature = "tables")]
        &["export", "--format", "csv"],
        #[cfg(feature = "tables")]
        &["export", "--format", "parquet", "-o", "OUT"],
        &["export", "--format", "chrome"],
    ];
    // Chunks without events are not exported as such.
    const CHUNKS: &[&[&str]] = &[
        &["check"],
        &["ls", "--sha256"],
        &["info", "--full"],
        &["export", "--format", "files", "-o", "OUT"],
    ];
    let _turn = turn();
    let scratch = Scratch::new("statuses");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut wrong, mut sizes) = (Vec::new(), std::collections::BTreeMap::<_, u32>::new());
    let rtc = common::rtc::sample(common::rtc::Options::sizes(8192, 2048), 20_000);
    let rfr = {
        use common::rfr::{Chunk, Sequence};
        let sequence = |seq| {
            (1..40).fold(Sequence::new(seq).task(7, 70, "task", None), |all, at| {
                all.about(at, if at % 2 == 1 { 6 } else { 7 }, 7)
            })
        };
        Chunk::new(1_000).sequence(sequence(1)).sequence(sequence(2)).bytes()
    };
    let sample = |name: &str| fs::read(common::data(name)).unwrap();
    let chunks =
        (0..8_u8).map(|number| common::rdf::Chunk::zstd("Chunk", &[number; 500])).collect::<Vec<_>>();
    scratch.write("ctf/metadata", &sample("sample.ctf/metadata"));
    for (name, whole, calls) in [
        ("a.rtc", rtc, ALL),
        ("a.rfr", rfr, ALL),
        ("ctf/stream", sample("sample.ctf/stream"), ALL),
        ("a.rdf", common::rdf::file(&chunks), CHUNKS),
    ] {
        for number in 0..80 {
            let mut data = whole.clone();
            let at = random.below(data.len());
            match number % 5 {
                0 => data[at] = random.next() as u8,
                1 => data[at] = 0xff,
                // The largest number that an RFR field holds.
                2 => drop(data.splice(at..=at, [&[0xff; 9][..], &[1]].concat())),
                3 => data.truncate(at),
                _ => data[at] ^= 1 << random.below(8),
            }
            let mut path = scratch.write(name, &data);
            if name.starts_with("ctf") {
                path.pop();
            }
            let found: Vec<u8> = calls.iter().map(|call| run(call, &path, false).status).collect();
            *sizes.entry((name, found[0])).or_default() += 1;
            // Of what cannot be read at all, some verbs still tell something.
            if found.iter().any(|&status| status != found[0]) && !found.contains(&1) {
                wrong.push(format!("{name} {number} at {at:#x}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in ["a.rtc", "a.rfr", "ctf/stream", "a.rdf"] {
        assert!(sizes.get(&(name, 3)).is_some_and(|&count| count > 20), "{sizes:?}");
    }
}
