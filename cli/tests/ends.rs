//! Ends of the command that it does not choose itself.
#![cfg(target_os = "linux")]

#[path = "common/mod.rs"]
mod common;

use common::rfr::{self, Writer};
use common::{Scratch, status, traceglass};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so; that it takes long is no failure.
fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

/// Many records, so that what is printed of them fills any pipe.
fn stream() -> Vec<u8> {
    let records: Vec<_> = (0..100_000).map(|at| (at, 0, 10, Writer::new().ints([5]))).collect();
    rfr::stream(&records)
}

/// True if the process sleeps: it waits for who reads its output.
fn sleeps(child: &Child) -> bool {
    let tasks = format!("/proc/{}/task", child.id());
    fs::read_dir(tasks).unwrap().all(|task| {
        let about = fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
        about.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    })
}

#[test]
fn a_file_that_becomes_shorter_is_a_message() {
    let scratch = Scratch::new("shorter");
    let path = scratch.file("a.rfr", &stream());
    let mut child = start(&["cat", "--json", &path]);
    let mut stdout = child.stdout.take().unwrap();
    // Some of it has been printed, and the pipe is full.
    stdout.read_exact(&mut [0; 1]).unwrap();
    wait("the pipe is not full", || sleeps(&child));
    fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    stdout.read_to_end(&mut Vec::new()).unwrap();
    let out = child.wait_with_output().unwrap();
    let says = String::from_utf8(out.stderr.clone()).unwrap();
    assert_eq!((status(&out), says.as_str()), (1, "traceglass: a file became shorter while it was read\n"));
}

#[test]
fn nothing_is_left_of_what_is_ended() {
    let scratch = Scratch::new("ended");
    let pipe = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let names = || {
        let names = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "pipe").collect::<Vec<_>>()
    };
    // A shell starts what runs in the background with some signals ignored, and so they stay.
    let about = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    let signals = [("TERM", 15), ("INT", 2), ("HUP", 1)];
    let heard = signals.into_iter().filter(|&(_, number)| ignored & 1 << (number - 1) == 0);
    assert!(heard.clone().count() > 0);
    for (signal, number) in heard {
        for format in ["perfetto", "files"] {
            let mut child = start(&["export", "--format", format, "-o", &scratch.path("out"), &pipe]);
            // It has begun to write, and waits for what is to be read.
            wait("nothing is written", || !names().is_empty());
            let kill = ["-s", signal, &child.id().to_string()].map(str::to_owned);
            assert!(Command::new("kill").args(kill).status().unwrap().success());
            let ended = child.wait().unwrap();
            assert_eq!((ended.signal(), names()), (Some(number), vec![]), "{signal} {format}");
        }
    }
}

/// A signal that is ignored stays so, as under `nohup`.
#[test]
fn who_hangs_up_may_be_ignored() {
    let scratch = Scratch::new("ignored");
    let pipe = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let out = scratch.path("out");
    let script = "trap '' HUP; exec \"$0\" export --format perfetto -o \"$1\" \"$2\"";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_traceglass"), &out, &pipe])
        .spawn()
        .unwrap();
    wait("nothing is written", || fs::read_dir(&scratch.0).unwrap().count() == 2);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &id]).status().unwrap().success());
    fs::write(&pipe, stream()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(fs::metadata(&out).unwrap().len() > 100_000);
}

#[test]
fn help_that_nobody_reads_is_no_failure() {
    for args in [&["--help"][..], &["cat", "--help"], &["man"]] {
        let mut child = start(args);
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        assert_eq!((status(&out), String::from_utf8_lossy(&out.stderr).as_ref()), (0, ""), "{args:?}");
    }
}

/// If not all threads can be started, fewer do the work.
#[test]
fn few_threads_are_enough() {
    let scratch = Scratch::new("threads");
    let chunks: Vec<_> =
        (0..40).map(|number| common::rdf::Chunk::raw("Odd", &vec![number; 100_000])).collect();
    let path = scratch.file("a.rdf", &common::rdf::file(&chunks));
    let expected = traceglass(&["check", "--json", &path]);
    assert_eq!(status(&expected), 0);
    // Each takes 32 MiB of addresses for its stack.
    for megabytes in [4_000, 1_500, 500, 300] {
        let script = format!("ulimit -v {}; exec \"$0\" check --json \"$1\"", megabytes * 1024);
        let out = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_traceglass"), &path])
            .env("TRACEGLASS_THREADS", "64")
            .output()
            .unwrap();
        let says = String::from_utf8_lossy(&out.stderr);
        assert_eq!(
            (out.status.code(), out.stdout),
            (Some(0), expected.stdout.clone()),
            "{megabytes}: {says}"
        );
    }
}
