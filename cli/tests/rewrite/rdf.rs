//! RDF: chunks.

use crate::common::rdf::{Chunk, file, sample};
use crate::common::{Scratch, data, random, status, traceglass};
use crate::shared::{is_clean, lines, write};
use serde_json::Value;
use std::fs;

/// The row of `ls` for each chunk, without where it lies.
fn chunks(path: &str) -> Vec<Value> {
    let mut chunks = lines(&["ls", "--json", "--sha256", path]);
    for chunk in &mut chunks {
        let chunk = chunk.as_object_mut().unwrap();
        for place in ["entry", "index", "header_offset", "data_offset"] {
            chunk.remove(place);
        }
    }
    chunks
}

#[test]
fn chunks_are_chosen_by_identifier() {
    let scratch = Scratch::new("rewrite-rdf-cut");
    let input = scratch.file(
        "in.rdf",
        &file(&[
            Chunk::raw("A", b"first").header(b"h1"),
            Chunk::zstd("B", b"second, packed"),
            Chunk::raw("A", b"third").version(7),
            Chunk::raw("C", b""),
        ]),
    );
    let all = chunks(&input);
    let out = scratch.path("out.rdf");
    for (args, expected) in [
        (vec!["--keep", "A"], vec![0, 2]),
        (vec!["--keep", "A#1,C"], vec![2, 3]),
        (vec!["--drop", "A"], vec![1, 3]),
        (vec!["--drop", "A#0"], vec![1, 2, 3]),
        (vec!["--drop", "A,B,C"], vec![]),
    ] {
        let mut cut = vec!["cut", "--force", "-o", &out];
        cut.extend(&args);
        cut.push(&input);
        let (code, report) = write(&cut);
        assert_eq!(code, 0, "{report}");
        let expected: Vec<_> = expected.iter().map(|number| all[*number].clone()).collect();
        assert_eq!(chunks(&out), expected, "{args:?}");
        assert_eq!(report["units_kept"], expected.len());
        assert_eq!(report["units_dropped"], 4 - expected.len());
        assert!(is_clean(&out));
    }
    // Cutting twice is cutting once, but for numbers.
    assert_eq!(write(&["cut", "--force", "--keep", "A,C", "-o", &out, &input]).0, 0);
    let again = scratch.path("again.rdf");
    assert_eq!(write(&["cut", "--keep", "A,C", "-o", &again, &out]).0, 0);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap());
    // Chunks that are not there, and times.
    for (args, says) in [
        (["--keep", "D"], "no chunk D"),
        (["--drop", "A#2"], "no chunk A#2"),
        (["--from", "+1s"], "--keep or --drop"),
    ] {
        let output = traceglass(&["cut", args[0], args[1], "-o", &out, "--force", &input]);
        assert_eq!(status(&output), 2);
        assert!(String::from_utf8_lossy(&output.stderr).replace('\n', " ").contains(says), "{args:?}");
    }
    let sample = data("sample.rdf");
    let output = traceglass(&["cut", "--from", "+1s", "-o", &scratch.path("x"), sample.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("chunks of an RDF file have no common time"));
}

#[test]
fn a_sound_file_is_recovered_as_it_is() {
    let scratch = Scratch::new("rewrite-rdf-sound");
    for (number, sample) in ["sample.rdf", "sample.rgp"].map(data).into_iter().enumerate() {
        let out = scratch.path(&number.to_string());
        let (code, report) = write(&["recover", "-o", &out, sample.to_str().unwrap()]);
        assert_eq!((code, &report["lost"]), (0, &Value::Array(vec![])));
        assert_eq!(fs::read(&out).unwrap(), fs::read(&sample).unwrap());
        let merged = scratch.path(&format!("merged-{number}"));
        assert_eq!(write(&["merge", "-o", &merged, sample.to_str().unwrap()]).0, 0);
        assert_eq!(fs::read(&merged).unwrap(), fs::read(&sample).unwrap());
    }
}

#[test]
fn damaged_chunks_are_left_out() {
    let scratch = Scratch::new("rewrite-rdf-damaged");
    let mut bad = Chunk::zstd("Bad", b"cannot be read");
    bad.stored[0] ^= 0xff;
    let data = file(&[Chunk::raw("A", b"first"), bad, Chunk::raw("C", b"last")]);
    let input = scratch.file("in.rdf", &data);
    let (out, again) = (scratch.path("out.rdf"), scratch.path("again.rdf"));
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], &report["units_dropped"]), (3, &2.into(), &1.into()));
    let lost = report["lost"].as_array().unwrap();
    assert_eq!((lost.len(), lost[0]["offset"].as_u64()), (1, Some(37)));
    assert!(lost[0]["what"].as_str().unwrap().contains("chunk Bad"));
    assert!(is_clean(&out));
    assert_eq!(chunks(&out), [chunks(&input)[0].clone(), chunks(&input)[2].clone()]);
    assert_eq!(write(&["recover", "-o", &again, &out]).0, 0);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap());
    // Nothing is added to it, be it the first of several or the last.
    let list = scratch.file("chunks.json", br#"[{"id": "New"}]"#);
    for args in [["append", &input, &list], ["merge", &input, &out], ["merge", &out, &input]] {
        let to = scratch.path("refused.rdf");
        let mut args = args.to_vec();
        if args[0] == "merge" {
            args.extend(["--allow-same-id", "-o", &to]);
        }
        let output = traceglass(&args);
        assert_eq!(status(&output), 2, "{args:?}");
        let says = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert!(says.contains("damaged, recover it first"), "{args:?}: {says}");
        assert!(!fs::exists(&to).unwrap());
    }
    // The file is left as it is.
    assert_eq!(fs::read(&input).unwrap(), data);
    // Of an index that is cut, the whole entries; without one, nothing is invented.
    let out = scratch.path("cut.rdf");
    let input = scratch.file("cut-index.rdf", &data[..data.len() - 1]);
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"]), (3, &1.into()));
    let input = scratch.file("no-index.rdf", &data[..data.len() - 192]);
    let output = traceglass(&["recover", "-o", &scratch.path("none.rdf"), &input]);
    assert_eq!(status(&output), 1);
    assert!(!fs::exists(scratch.path("none.rdf")).unwrap());
}

#[test]
fn files_are_merged() {
    let scratch = Scratch::new("rewrite-rdf-merge");
    let one = [Chunk::raw("A", b"a"), Chunk::zstd("B", b"bbb").header(b"head")];
    let two = [Chunk::raw("C", b"c"), Chunk::raw("A", b"another")];
    let inputs = [scratch.file("1.rdf", &file(&one)), scratch.file("2.rdf", &file(&two))];
    let out = scratch.path("out.rdf");
    let output = traceglass(&["merge", "-o", &out, &inputs[0], &inputs[1]]);
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--allow-same-id"));
    assert_eq!(write(&["merge", "--allow-same-id", "-o", &out, &inputs[0], &inputs[1]]).0, 0);
    let expected: Vec<_> = inputs.iter().flat_map(|input| chunks(input)).collect();
    assert_eq!(chunks(&out), expected);
    assert_eq!(fs::read(&out).unwrap(), file(&[&one[..], &two[..]].concat()));
    // Parts of one file are that file.
    let input = scratch.file("in.rdf", &file(&one));
    let (a, b) = (scratch.path("a.rdf"), scratch.path("b.rdf"));
    assert_eq!(write(&["cut", "--keep", "A", "-o", &a, &input]).0, 0);
    assert_eq!(write(&["cut", "--drop", "A", "-o", &b, &input]).0, 0);
    assert_eq!(write(&["merge", "--force", "-o", &out, &a, &b]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), file(&one));
    let other = scratch.file("other.rtc", &fs::read(data("sample.rtc")).unwrap());
    assert_eq!(status(&traceglass(&["merge", "--force", "-o", &out, &a, &other])), 2);
}

/// Cuts and mutations end, and what is written is clean.
#[test]
fn whatever_the_input_the_output_is_sound() {
    let scratch = Scratch::new("rewrite-rdf-random");
    let sample = sample();
    let mut random = random::Random(7);
    let mut kept = 0;
    for round in 0..60 {
        let mut data = sample.clone();
        for _ in 0..random.next() % 4 {
            let at = (random.next() % data.len() as u64) as usize;
            data[at] = random.next() as u8;
        }
        let input = scratch.file("in.rdf", &data);
        let out = scratch.path("out.rdf");
        let output = traceglass(&["recover", "--force", "-o", &out, &input]);
        match status(&output) {
            0 | 3 => {
                kept += 1;
                assert!(fs::metadata(&out).unwrap().len() <= data.len() as u64 + 32);
                if status(&output) == 0 {
                    assert_eq!(fs::read(&out).unwrap(), data, "round {round}");
                }
            }
            1 => assert!(!output.stderr.is_empty()),
            other => panic!("{other}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    assert!(kept > 20, "{kept}");
}
