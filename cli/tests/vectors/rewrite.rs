//! Every vector through `recover`, twice.

use crate::common::{Scratch, status, traceglass, unplaced};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All traces below a folder: folders that are one, and files in others.
fn traces(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(next) = todo.pop() {
        let is_trace = |name: &&str| next.join(name).is_file();
        if !next.is_dir() || ["metadata", "meta.rfr"].iter().any(is_trace) {
            found.push(next);
        } else {
            todo.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// All files below a path by their names.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![path.to_owned()];
    while let Some(next) = todo.pop() {
        if next.is_dir() {
            todo.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.insert(next.strip_prefix(path).unwrap().to_owned(), fs::read(&next).unwrap());
        }
    }
    found
}

/// The outcome for a trace.
#[derive(Default)]
struct Counts {
    sound: u64,
    damaged: u64,
    lost: u64,
    /// Of damaged input, the records that `cat` reads, and those of them that are written.
    readable: u64,
    kept: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.sound += other.sound;
        self.damaged += other.damaged;
        self.lost += other.lost;
        self.readable += other.readable;
        self.kept += other.kept;
    }
}

/// The least share of the readable records of damaged vectors that is kept, in thousandths, by the folders of formats.
const KEPT: [(&str, u64); 6] =
    [("ctf1", 999), ("ctf2", 999), ("ctf-wire", 905), ("dial9", 1000), ("rfr", 1000), ("rtc", 1000)];

/// The records that `cat` reads, in any order; of CTF without where they lie and how they are marked.
fn records(path: &str, is_ctf: bool) -> Vec<String> {
    let output = traceglass(&["cat", "--json", path]).stdout;
    let mut records: Vec<_> = String::from_utf8(output).unwrap().lines().map(str::to_owned).collect();
    for line in records.iter_mut().filter(|_| is_ctf) {
        *line = unplaced(serde_json::from_str(line).unwrap());
    }
    records.retain(|record| !record.contains(r#""kind":"gap""#));
    records.sort();
    records
}

/// Asserts that all of some sorted records are among others, each as often.
fn are_among(some: &[String], others: &[String], path: &str) {
    let mut others = others.iter();
    for record in some {
        assert!(others.any(|other| other == record), "{path}: {record} was not there");
    }
}

/// A recovered trace checks clean but for what it says that it carries, and is recovered as it is.
fn recovered_twice(path: &Path, scratch: &Scratch, number: usize, is_ctf: bool) -> Counts {
    let [out, again] = ["out", "again"].map(|name| scratch.path(&format!("{name}-{number}")));
    // A list of what is expected lies in some traces, and is none of their streams.
    let own = PathBuf::from(scratch.path(&format!("in-{number}")));
    let has_list = path.join("expected.ndjson").is_file();
    if has_list {
        fs::create_dir(&own).unwrap();
        let files = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| file.is_file() && !file.ends_with("expected.ndjson")) {
            fs::copy(&file, own.join(file.file_name().unwrap())).unwrap();
        }
    }
    let path = if has_list { own.as_path() } else { path }.to_str().unwrap();
    let recover = |to: &str, from: &str| traceglass(&["recover", "--json", "-o", to, from]);
    let first = recover(&out, path);
    let told = String::from_utf8_lossy(&first.stderr);
    let mut counts = Counts::default();
    if status(&first) != 0 && status(&traceglass(&["check", path])) == 3 {
        let readable = records(path, is_ctf);
        let kept = if Path::new(&out).exists() { records(&out, is_ctf) } else { Vec::new() };
        if is_ctf {
            are_among(&kept, &readable, path);
        }
        (counts.readable, counts.kept) = (readable.len() as u64, kept.len() as u64);
    }
    match status(&first) {
        code @ (0 | 3) => {
            let report: Value = serde_json::from_slice(&first.stdout).unwrap();
            let carries = report["errors_carried"] != 0;
            let checked = status(&traceglass(&["check", &out]));
            assert!(checked == 0 || checked == 3 && carries, "{path}: {code}, check {checked}: {told}");
            let second = recover(&again, &out);
            assert_eq!(status(&second), checked, "{path}: {}", String::from_utf8_lossy(&second.stderr));
            assert_eq!(files(Path::new(&again)), files(Path::new(&out)), "{path}");
            if code == 0 { counts.sound += 1 } else { counts.damaged += 1 }
        }
        1 | 2 => {
            assert!(!Path::new(&out).exists(), "{path}");
            assert!(!told.contains("does not read back"), "{path}: {told}");
            let is_sound = status(&traceglass(&["check", path])) == 0;
            assert!(!is_sound || told.contains("read, and not written"), "{path} is sound, yet: {told}");
            counts.lost += 1;
        }
        other => panic!("{path}: {other}"),
    }
    for written in [out, again].map(PathBuf::from).into_iter().chain([own.clone()]) {
        let _ = if written.is_dir() { fs::remove_dir_all(written) } else { fs::remove_file(written) };
    }
    counts
}

#[test]
fn what_is_recovered_is_recovered_as_it_is() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: nothing is recovered");
        return;
    };
    let scratch = Scratch::new("vectors-rewrite");
    let all = traces(Path::new(&root));
    let (next, sums) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<_, Counts>::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = all.get(number) else { break };
            // A note beside the vectors, and lists of what is expected.
            let is_note = |kind| path.extension().is_some_and(|extension| extension == kind);
            if ["json", "ndjson", "md", "truth", "xz", "zst"].into_iter().any(is_note) {
                continue;
            }
            let folder = path.strip_prefix(&root).unwrap().iter().next().unwrap().to_string_lossy();
            let counts = recovered_twice(path, &scratch, number, folder.starts_with("ctf"));
            let format = KEPT.iter().map(|(format, _)| *format).find(|format| folder.starts_with(format));
            sums.lock().unwrap().entry(format).or_default().add(&counts);
        }
    };
    std::thread::scope(|scope| {
        (0..2).map(|_| scope.spawn(work)).for_each(drop);
    });
    let (sums, mut sum) = (sums.into_inner().unwrap(), Counts::default());
    sums.values().for_each(|counts| sum.add(counts));
    for (format, least) in KEPT {
        let Counts { readable, kept, .. } = sums[&Some(format)];
        println!("{format}: {kept} of {readable} records of damaged traces");
        assert!(readable > 0 && kept * 1000 >= readable * least, "{format}: {kept} of {readable} records");
    }
    println!("{} sound, {} damaged, {} beyond recovery", sum.sound, sum.damaged, sum.lost);
    assert!(sum.sound > 0 && sum.damaged > 0, "nothing was recovered");
}
