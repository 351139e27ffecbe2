//! Paths that are no ordinary files: pipes, devices, what cannot be mapped, large trees, files with holes.

use super::common::{data, rfr, rtc};
use super::{Run, run, turn};
use crate::common::Scratch;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn stderr(run: &Run) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// A pipe with a name, where the system has such.
fn fifo(scratch: &Scratch, name: &str) -> PathBuf {
    let path = scratch.0.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
#[cfg(unix)]
fn a_pipe_that_is_named_is_read_and_said_to_be_waited_for() {
    let scratch = Scratch::new("fifo");
    // One that is not opened for writing at first, and one that is, yet nothing comes.
    for opened_early in [false, true] {
        let path = fifo(&scratch, &format!("pipe-\u{9b}-{opened_early}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"))
            .arg("info")
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let early = opened_early.then(|| fs::OpenOptions::new().write(true).open(&path).unwrap());
        let mut said = String::new();
        BufReader::new(command.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("waiting") && said.contains("pipe-\\u{9b}"), "{said:?}");
        let mut pipe = early.unwrap_or_else(|| fs::OpenOptions::new().write(true).open(&path).unwrap());
        pipe.write_all(&fs::read(data("sample.rtc")).unwrap()).unwrap();
        drop(pipe);
        let mut screen = String::new();
        command.stdout.take().unwrap().read_to_string(&mut screen).unwrap();
        assert!(command.wait().unwrap().success(), "{screen}");
        assert!(screen.contains("RTC") && screen.contains("none seen"), "{screen}");
    }
}

/// A pipe inside of a trace is none of its files: nobody waits for it.
#[test]
#[cfg(unix)]
fn a_pipe_in_a_folder_is_named_and_not_opened() {
    let _turn = turn();
    let scratch = Scratch::new("fifo-inside");
    for (name, file) in rfr::sample() {
        scratch.write(&format!("recording/{name}"), &file);
    }
    fifo(&scratch, "recording/sample.rfr/pipe.rfr");
    fs::create_dir_all(scratch.0.join("trace")).unwrap();
    for file in ["metadata", "stream"] {
        fs::copy(data("sample.ctf").join(file), scratch.0.join("trace").join(file)).unwrap();
    }
    fifo(&scratch, "trace/pipe");
    fifo(&scratch, "empty/metadata");
    for verb in ["info", "check", "cat", "ls"] {
        // It may belong to the trace: it is named, and not opened, which would wait.
        for folder in ["recording", "trace"] {
            let done = run(&[verb], &scratch.0.join(folder), false);
            let said = String::from_utf8_lossy(&done.stdout).into_owned() + &stderr(&done);
            assert_eq!((done.status, said.contains("pipe")), (3, true), "{verb} {folder}: {said}");
        }
        assert_eq!(run(&[verb], &scratch.0.join("empty"), false).status, 1);
    }
}

/// Files of the kernel have no size, or cannot be mapped: they are read.
#[test]
#[cfg(target_os = "linux")]
fn files_that_cannot_be_mapped_are_read() {
    let _turn = turn();
    let candidates = [
        "/proc/self/status",
        "/proc/version",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/btf/vmlinux",
        "/sys/kernel/notes",
        "/sys/kernel/vmcoreinfo",
    ];
    let mut count = 0;
    for path in
        candidates.map(Path::new).into_iter().filter(|path| fs::read(path).is_ok_and(|data| !data.is_empty()))
    {
        let done = run(&["info"], path, false);
        let said = stderr(&done);
        assert!(
            done.status == 1 && !said.contains("cannot read") && !said.contains("empty"),
            "{path:?}: {said}"
        );
        count += 1;
    }
    assert!(count >= 2, "only {count} such files");
}

/// A device that never ends is no trace; that is told after some of it.
#[test]
#[cfg(target_os = "linux")]
fn an_endless_device_is_refused() {
    let _turn = turn();
    let done = run(&["info"], Path::new("/dev/zero"), false);
    assert_eq!(done.status, 1);
    assert!(stderr(&done).contains("zeros"), "{}", stderr(&done));
    assert!(done.peak < 256 << 20, "{}", done.peak);
}

/// A folder that is no trace is not searched to its end.
#[test]
#[cfg(unix)]
fn the_whole_tree_is_refused_at_once() {
    let _turn = turn();
    for call in [&["info"][..], &["check"], &["ls"], &["cat"], &["export", "--format", "perfetto"]] {
        let done = run(call, Path::new("/"), false);
        let said = stderr(&done) + &String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status, 1, "{call:?}: {said}");
        assert!(said.contains("name the folder of"), "{call:?}: {said}");
        assert!(done.cpu < 5_000_000_000 && done.peak < 64 << 20, "{call:?}: {} ns, {}", done.cpu, done.peak);
    }
    // Folders count as files do.
    let scratch = Scratch::new("folders");
    for folder in 0..2500 {
        fs::create_dir_all(scratch.0.join(format!("{folder}/deeper"))).unwrap();
    }
    let done = run(&["info"], &scratch.0, false);
    assert!(done.status == 1 && stderr(&done).contains("name the folder of"), "{}", stderr(&done));
    // Files of a recording do not count, however many there are.
    let chunk = rfr::Chunk::new(1_000).sequence(rfr::Sequence::new(1).about(1, 6, 5)).bytes();
    for number in 0..3000 {
        scratch.write(&format!("recording/2026-11/{:02}/chunk-{number}.rfr", number / 150), &chunk);
    }
    let done = run(&["info", "--json"], &scratch.0.join("recording"), false);
    assert!(String::from_utf8_lossy(&done.stdout).contains("\"chunks\":3000,"), "{}", stderr(&done));
}

/// Holes are zeros: whatever a format takes zeros for is there, as in a file that was written.
#[test]
fn holes_are_read_as_zeros() {
    let _turn = turn();
    let scratch = Scratch::new("holes");
    let size = 1 << 20;
    let mut rtc_file = rtc::sample(rtc::Options { crc: rtc::Crc::None, ..rtc::Options::default() }, 10_000);
    rtc_file.truncate(9_000);
    let stream = rfr::sample_stream();
    for (name, start) in [("holes.rtc", &rtc_file), ("holes.rfr", &stream)] {
        let written = scratch.write(&format!("written-{name}"), &{
            let mut whole = start.clone();
            whole.resize(size, 0);
            whole
        });
        let sparse = scratch.write(name, start);
        fs::OpenOptions::new().write(true).open(&sparse).unwrap().set_len(size as u64).unwrap();
        for call in [&["info"][..], &["check"], &["ls", "--json"], &["cat", "--json"]] {
            let [done, same] = [&sparse, &written].map(|path| run(call, path, false));
            let text = |run: &Run| String::from_utf8_lossy(&run.stdout).replace("written-", "");
            assert_eq!((done.status, done.stdout.len() > 10), (same.status, true), "{call:?} {name}");
            assert!(text(&done) == text(&same), "{call:?} {name}");
            let limit = 40 << 20;
            assert!(done.peak < limit, "{call:?} {name}: {}", done.peak);
        }
    }
}
