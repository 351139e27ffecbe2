//! Parts that are named.

use crate::common::dial9::Writer;
use crate::common::packets::{METADATA, packet};
use crate::common::rdf::{Chunk, file};
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{files, is_clean, records, write};
use std::fs;

#[test]
fn streams_of_ctf() {
    let scratch = Scratch::new("select-ctf");
    scratch.file("in/metadata", METADATA.as_bytes());
    for cpu in 0..3 {
        scratch.file(&format!("in/cpu{cpu}"), &[packet(cpu, 0, 1000), packet(cpu, 1, 2000)].concat());
    }
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    let all = files(&input);
    let (code, report) = write(&["cut", "--stream", "cpu1", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], &report["units_dropped"]), (0, &2.into(), &4.into()));
    let kept = files(&out);
    assert_eq!(kept.keys().collect::<Vec<_>>(), ["cpu1", "metadata"]);
    assert_eq!(kept["cpu1"], all["cpu1"]);
    assert!(is_clean(&out));
    let (_, report) = write(&["cut", "--force", "--stream", "cpu1", "--from", "@2000", "-o", &out, &input]);
    assert_eq!(report["units_kept"], 1);
    assert_eq!(files(&out)["cpu1"], all["cpu1"][96..]);
    let (code, report) = write(&["cut", "--force", "--cpu", "0,2", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], &report["units_dropped"]), (0, &4.into(), &2.into()));
    let kept = files(&out);
    assert_eq!(kept.keys().collect::<Vec<_>>(), ["cpu0", "cpu2", "metadata"]);
    assert!(kept["cpu0"] == all["cpu0"] && kept["cpu2"] == all["cpu2"] && is_clean(&out));
    for (args, says) in [
        (&["--stream", "cpu9"][..], "no stream cpu9 is in"),
        (&["--cpu", "9"], "no stream of these processors"),
        (&["--cpu", "0", "--stream", "cpu1"], "no stream cpu1 of these processors"),
    ] {
        let output = traceglass(&[&["cut", "--force", "-o", &out], args, &[&input]].concat());
        let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert!(status(&output) == 2 && told.contains(says), "{told}");
    }
}

#[test]
fn names_of_dial9_and_chunks_of_rdf() {
    let scratch = Scratch::new("select-dial9");
    let writer = Writer::new().header().schema(7, "PollStart", &[("n", 9)]).schema(8, "PollEnd", &[("n", 9)]);
    let writer = writer.event(7, 5).varint(1).event(8, 5).varint(2).event(7, 5).varint(3);
    let input = scratch.file("in.bin", &writer.0);
    let out = scratch.path("out.bin");
    for (name, count) in [("PollStart", 2), ("*End", 1), ("Poll*", 3), ("Wake", 0)] {
        let (code, report) = write(&["cut", "--force", "--name", name, "-o", &out, &input]);
        assert_eq!((code, &report["units_kept"]), (0, &count.into()), "{name}: {report}");
        let all = records(&input);
        assert!(records(&out).iter().all(|record| all.contains(record)));
        assert_eq!(records(&out).len(), count);
    }
    let rdf = scratch.file("in.rdf", &file(&[Chunk::raw("A", b"a"), Chunk::raw("B", b"b")]));
    let out = scratch.path("out.rdf");
    assert_eq!(write(&["cut", "--chunk", "B", "-o", &out, &rdf]).1["units_kept"], 1);
    let kept = fs::read(&out).unwrap();
    assert_eq!(write(&["cut", "--force", "--keep", "B", "-o", &out, &rdf]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), kept);
}

/// An option that a format has not is refused, with the format that has it.
#[test]
fn what_is_not_there_is_refused() {
    let scratch = Scratch::new("select-refused");
    let sample = |name: &str| data(name).to_str().unwrap().to_owned();
    for (name, args, says) in [
        ("sample.rtc", ["--stream", "a"], "--stream and --cpu are of CTF"),
        ("sample.rtc", ["--cpu", "1"], "--stream and --cpu are of CTF"),
        ("sample.rtc", ["--name", "a"], "--name is of dial9"),
        ("sample.ctf", ["--name", "a"], "--name is of dial9"),
        ("sample.rfr", ["--chunk", "a"], "are of RDF"),
        ("sample.rdf", ["--stream", "a"], "--stream and --cpu are of CTF"),
        ("sample.rdf", ["--exact", "--keep=A"], "--exact is of CTF, dial9"),
    ] {
        let out = scratch.path("out");
        let output = traceglass(&["cut", args[0], args[1], "-o", &out, &sample(name)]);
        let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!((status(&output), fs::exists(&out).unwrap()), (2, false), "{name} {args:?}: {told}");
        assert!(told.contains(says), "{name} {args:?}: {told}");
    }
}
