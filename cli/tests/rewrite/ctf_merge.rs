//! CTF: the packets of several traces, put together.

use crate::common::packets::{METADATA, packet};
use crate::common::{Scratch, data, status, traceglass};
use crate::ctf::{babeltrace, trace};
use crate::shared::{files, is_clean, records, write};
use std::fs;

/// Packets that have neither a number nor a time are known by their bytes, and kept as often as one input has them. Those of
/// one input are never taken for each other.
#[test]
fn packets_that_tell_nothing_are_merged_by_their_bytes() {
    let scratch = Scratch::new("rewrite-ctf-plain");
    let input = data("sample.ctf1");
    let input = input.to_str().unwrap();
    let [a, b, out] = ["a", "b", "out"].map(|name| scratch.path(name));
    assert_eq!(write(&["cut", "--to", "+3us", "-o", &a, input]).0, 0);
    assert_eq!(write(&["cut", "--from", "+3us", "-o", &b, input]).0, 0);
    for inputs in [[&a[..], &b], [input, input]] {
        let (code, report) = write(&[&["merge", "--force", "-o", &out], &inputs[..]].concat());
        assert_eq!((code, &report["records"]), (0, &16.into()), "{inputs:?}");
        assert_eq!(records(&out), records(input), "{inputs:?}");
    }
    scratch.file("twins/metadata", METADATA.as_bytes());
    for name in ["one", "two"] {
        scratch.file(&format!("twins/{name}"), &packet(0, 1, 1001));
    }
    let twins = scratch.path("twins");
    assert_eq!(write(&["merge", "--force", "-o", &out, &twins]).0, 0);
    assert_eq!(records(&out), records(&twins));
}

/// Where packets do not name their streams, those of files of one name are of one stream.
#[test]
fn packets_that_contradict_each_other_are_refused_in_each_file() {
    const NUMBERED: &str = "/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; } := u8;
        trace { major = 1; minor = 8; byte_order = le; };
        stream { packet.context := struct { u8 packet_seq_num; u8 packet_size; u8 content_size; }; };
        event { name = e; fields := struct { u8 x; }; };";
    let scratch = Scratch::new("rewrite-ctf-numbers");
    let input = |name: &str, files: [(&str, u8); 2]| {
        scratch.file(&format!("{name}/metadata"), NUMBERED.as_bytes());
        for (file, x) in files {
            scratch.file(&format!("{name}/{file}"), &[5, 32, 32, x]);
        }
        scratch.path(name)
    };
    let a = input("a", [("one", 1), ("two", 2)]);
    let same = input("same", [("one", 1), ("two", 2)]);
    let other = input("other", [("one", 1), ("two", 3)]);
    let more = input("more", [("one", 1), ("three", 3)]);
    let out = scratch.path("out");
    assert_eq!(write(&["merge", "--force", "-o", &out, &a, &same]).0, 0);
    assert_eq!(records(&out), records(&a));
    assert_eq!(write(&["merge", "--force", "-o", &out, &a, &more]).0, 0);
    assert_eq!(records(&out).len(), 3);
    assert_eq!(status(&traceglass(&["merge", "--force", "-o", &out, &a, &other])), 2);
}

/// A trace keeps the folder that it has in its input; the folder of an input is named as the input.
#[test]
fn merged_traces_keep_their_folders() {
    let scratch = Scratch::new("rewrite-ctf-folders");
    let put = |folder: &str, metadata: &str| {
        scratch.file(&format!("{folder}/metadata"), metadata.as_bytes());
        scratch.file(&format!("{folder}/stream"), &packet(0, 1, 1000));
    };
    // Other metadata each.
    let versions: Vec<String> =
        (0..4).map(|number| METADATA.replace("name = tick;", &format!("name = tick{number};"))).collect();
    put("t/kernel", &versions[0]);
    put("t/ust/uid/64-bit", &versions[1]);
    put("kernel", &versions[2]);
    put("ust", &versions[3]);
    let [t, kernel, ust, out] = ["t", "kernel", "ust", "out"].map(|name| scratch.path(name));
    let folders = |inputs: &[&str]| -> Vec<String> {
        let (code, report) = write(&[&["merge", "--force", "-o", &out], inputs].concat());
        assert_eq!((code, is_clean(&out)), (0, true), "{report}");
        let mut expected: Vec<String> = inputs.iter().flat_map(|input| records(input)).collect();
        expected.sort();
        assert_eq!(records(&out), expected);
        let names = files(&out).into_keys();
        let mut folders: Vec<_> =
            names.filter_map(|name| Some(name.strip_suffix("/metadata")?.to_owned())).collect();
        folders.sort();
        folders
    };
    assert_eq!(folders(&[&t]), ["kernel", "ust/uid/64-bit"]);
    assert_eq!(files(&out), files(&t));
    assert_eq!(folders(&[&t, &kernel]), ["kernel", "kernel-2", "ust/uid/64-bit"]);
    // No trace is below another one.
    assert_eq!(folders(&[&t, &ust]), ["kernel", "ust-2", "ust/uid/64-bit"]);
    assert_eq!(folders(&[&ust, &kernel, &t]), ["kernel", "kernel-2", "ust", "ust-2/uid/64-bit"]);
    // The only one keeps its folder, too.
    fs::remove_dir_all(scratch.path("t/ust")).unwrap();
    assert_eq!(folders(&[&t]), ["kernel"]);
}

/// Sessions of a device count from the start again: they contradict each other no more than their folders do.
#[test]
fn traces_of_one_input_stay_apart() {
    let scratch = Scratch::new("rewrite-ctf-sessions");
    for (name, session) in [("in", 0), ("in", 1), ("other", 0)] {
        let folder = format!("{name}/bin-session-{session}");
        // Another packet with the same number.
        let begin = 1000 + u64::from(name == "other");
        scratch.file(&format!("{folder}/metadata"), METADATA.as_bytes());
        let packets = [packet(0, 1, begin + session), packet(0, 2, 2000 + session)];
        scratch.file(&format!("{folder}/stream-0"), &packets.concat());
    }
    let [input, other, a, b, out] = ["in", "other", "a", "b", "out"].map(|name| scratch.path(name));
    let sessions = |path: &str| -> Vec<String> {
        files(path).keys().filter_map(|name| Some(name.strip_suffix("/metadata")?.to_owned())).collect()
    };
    // Once, whatever is given twice.
    for inputs in [&[&input[..]][..], &[&input[..], &input[..]]] {
        let (code, report) = write(&[&["merge", "--force", "-o", &out], inputs].concat());
        assert_eq!(code, 0, "{report}");
        assert_eq!((sessions(&out), is_clean(&out)), (sessions(&input), true));
        assert_eq!(records(&out), records(&input));
    }
    // Each half has a part of both.
    assert_eq!(write(&["cut", "--to", "@1500", "-o", &a, &input]).0, 0);
    assert_eq!(write(&["cut", "--from", "@1500", "-o", &b, &input]).0, 0);
    let (code, report) = write(&["merge", "--force", "-o", &out, &a, &b]);
    assert_eq!((code, sessions(&out)), (0, sessions(&input)), "{report}");
    assert_eq!(records(&out), records(&input));
    // Of a trace that is alone, nobody knows which session it is.
    scratch.file("one/metadata", METADATA.as_bytes());
    scratch.file("one/stream-0", &packet(0, 9, 9000));
    let one = scratch.path("one");
    for inputs in [[&one, &input], [&input, &one]] {
        assert_eq!(write(&["merge", "--force", "-o", &out, inputs[0], inputs[1]]).0, 0);
        assert_eq!(sessions(&out), ["bin-session-0", "bin-session-1", "one"]);
    }
    // The session of the same name is the same one.
    let output = traceglass(&["merge", "--force", "-o", &out, &input, &other]);
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(status(&output) == 2 && says.contains("has a packet 1"), "{says}");
}

#[test]
fn merged_cuts_are_the_whole() {
    let scratch = Scratch::new("rewrite-ctf-merge");
    let input = trace(&scratch, "in");
    let [a, b, out] = ["a", "b", "out"].map(|name| scratch.path(name));
    assert_eq!(write(&["cut", "--to", "@2500", "-o", &a, &input]).0, 0);
    assert_eq!(write(&["cut", "--from", "@2500", "-o", &b, &input]).0, 0);
    let (code, report) = write(&["merge", "-o", &out, &a, &b]);
    assert_eq!((code, &report["records"]), (0, &18.into()));
    assert_eq!(files(&out).into_keys().collect::<Vec<_>>(), ["b-cpu0", "b-cpu1", "cpu0", "cpu1", "metadata"]);
    assert_eq!(records(&out), records(&input));
    if let Some(events) = babeltrace(&out) {
        assert_eq!(Some(events), babeltrace(&input));
    }
    // One that was never closed counts from its begin.
    let mut open = packet(0, 9, 9000);
    open[12..20].fill(0);
    scratch.file("open/metadata", METADATA.as_bytes());
    scratch.file("open/cpu0", &open);
    let report = write(&["merge", "--force", "-o", &out, &a, &scratch.path("open")]).1;
    assert_eq!(report["window_ns"], serde_json::json!([1000, 9000]), "{report}");
    // Packets that are in both are written once.
    let (code, report) = write(&["merge", "--force", "-o", &out, &a, &input]);
    assert_eq!((code, &report["records"], &report["units_dropped"]), (0, &18.into(), &3.into()));
    assert_eq!(records(&out), records(&input));
    // Other packets with the same numbers are of another recording.
    scratch.file("other/metadata", METADATA.as_bytes());
    scratch.file("other/cpu0", &packet(0, 1, 1001));
    let output = traceglass(&["merge", "--force", "-o", &out, &a, &scratch.path("other")]);
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("has a packet 1"));
    scratch.file("other/cpu0", &[packet(0, 7, 1001), vec![1; 5]].concat());
    let output = traceglass(&["merge", "--force", "-o", &out, &a, &scratch.path("other")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("recover it first"));
    // Other metadata: a folder for each.
    let other = data("sample.ctf1");
    assert_eq!(write(&["merge", "--force", "-o", &out, &a, other.to_str().unwrap()]).0, 0);
    let names = files(&out).into_keys().collect::<Vec<_>>();
    assert_eq!(names, ["a/cpu0", "a/cpu1", "a/metadata", "sample.ctf1/data", "sample.ctf1/metadata"]);
    assert!(is_clean(&out));
    assert!(!is_clean(&scratch.path("missing")));
}
