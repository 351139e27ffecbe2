//! The parts that the tests of the command share: the library's builders of files, and running the command.
#![allow(dead_code, unused_imports)] // Each suite uses a part.

#[path = "../../../tests/common/mod.rs"]
mod library;
pub mod packets;

pub use library::*;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A record of CTF as `cat --json` gives it, without where it lies and how it is marked.
pub fn unplaced(mut record: serde_json::Value) -> String {
    let places = ["offset", "bit", "path", "packet", "entry", "session", "doubtful"];
    record.as_object_mut().unwrap().retain(|key, _| !places.contains(&key.as_str()));
    record.to_string()
}

/// The time that spans cover together.
pub fn covered(mut spans: Vec<(i64, i64)>) -> i64 {
    spans.sort_unstable();
    let (mut all, mut last) = (0, i64::MIN);
    for (begin, end) in spans {
        all += (end - last.max(begin)).max(0);
        last = last.max(end);
    }
    all
}

/// The repository's root, where examples are run from.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the repository")
}

/// A sample that is shipped.
pub fn data(name: &str) -> PathBuf {
    root().join("examples/data").join(name)
}

/// The `traceglass` command with `args`, run to its end.
pub fn traceglass(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceglass")).args(args).output().expect("the command runs")
}

/// The exit status of a run that was not ended by a signal.
pub fn status(output: &Output) -> i32 {
    output.status.code().expect("not ended by a signal")
}

/// A run of `cat --json --follow`, which is ended in the end.
pub struct Followed {
    child: Child,
    lines: Receiver<String>,
}

impl Followed {
    pub fn new(path: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
            .args(["cat", "--json", "--follow", path])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    /// So many lines more, as soon as they are printed.
    pub fn next(&self, count: usize) -> Vec<String> {
        let next = |at| {
            self.lines.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{at} of {count}"))
        };
        (0..count).map(next).collect()
    }

    /// Ends it, and returns what it said on stderr.
    pub fn told(&mut self) -> String {
        let _ = self.child.kill();
        let mut told = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        told
    }

    /// True if nothing more is printed for a while.
    pub fn rests(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(500)).is_err()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder for one test's files, removed at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A folder for a name that no other test of the suite has.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("traceglass-{test}-{}", std::process::id()));
        // Never that of another test, which runs at the same time.
        fs::create_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(path)
    }

    /// The path of that name in it; no file need be there.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, and the folders in which it lies.
    pub fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        path
    }

    /// The same, with the path as an argument of the command.
    pub fn file(&self, name: &str, data: &[u8]) -> String {
        self.write(name, data);
        self.path(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
