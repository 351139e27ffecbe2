//! Nothing of a trace, of a name or of an argument reaches a terminal unescaped.

use super::common::{ctf, data, rdf, rdf_contents, rfr, rtc};
use super::terminal::unsafe_in;
use super::{CALLS, Run, is_raw, run, run_all, turn};
use crate::common::Scratch;
use std::ffi::OsString;
use std::path::PathBuf;

/// A style that nobody but the file asks for.
const STYLE: &str = "\x1b[35;45m";

/// Everything that is to be escaped.
const EVIL: &str = "\x1b[35;45m\x07\r\x7f\u{9b}2J\u{85}\u{202e}\u{2066}\u{2028}\u{200f}\u{61c}\u{fdd0}\u{fdd3}\u{fdef}evil\nline";

/// The part of a run's output that a terminal would obey.
fn unsafe_part(run: &Run) -> Option<String> {
    [&run.stdout, &run.stderr, &run.manifest].into_iter().find_map(|output| {
        let text = String::from_utf8_lossy(output);
        let styled = text.contains(STYLE) || text.contains("\nline");
        unsafe_in(output).or_else(|| styled.then(|| text.into_owned()))
    })
}

pub fn assert_safe(run: &Run, what: &str) {
    assert_eq!(unsafe_part(run), None, "{what}");
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
    let trace = scratch.0.join(format!("{EVIL}/ctf"));
    for (file, data) in evil_trace(&escaped) {
        scratch.write(&format!("{EVIL}/ctf/{file}"), &data);
    }
    let mut damaged = evil_trace(&escaped);
    damaged[1].1.truncate(300);
    damaged[1].1[40] = 0xff;
    for (file, data) in damaged {
        scratch.write(&format!("damaged-ctf/{file}"), &data);
    }
    // The text is printed in its lines.
    let line = EVIL.replace('\n', "");
    let tsdl =
        format!("/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; }};\nenv {{ hostname = \"{line}\"; }};\n");
    vec![
        trace.clone(),
        trace.join(EVIL),
        trace.join("metadata"),
        scratch.0.join("damaged-ctf"),
        scratch.write("tsdl/metadata", tsdl.as_bytes()),
        scratch.write("tsdl-token/metadata", format!("{tsdl}event {{ {line} }};").as_bytes()),
        scratch.write("tsdl-name/metadata", format!("{tsdl}typedef x\u{9b}\u{202e}\x1b y;").as_bytes()),
        scratch.write("evil.rtc", &evil_rtc(&escaped)),
        scratch.write("contents.rdf", &rdf::file(&evil_contents())),
        scratch.write(&format!("{EVIL}/recording/{EVIL}.rfr"), &chunk),
        scratch.write(&format!("{EVIL}/recording/callsites"), &rfr::callsites(&[site])),
        scratch.0.join(format!("{EVIL}/recording")),
        scratch
            .write(&format!("{EVIL}/damaged/{EVIL}.rfr"), &chunk[..chunk.len() - 2])
            .parent()
            .unwrap()
            .to_owned(),
        scratch.write("stream", &stream),
        scratch.write("cut-stream", &stream[..stream.len() - 1]),
        scratch.write("plain/metadata", text.as_bytes()),
        scratch.write("packets/metadata", &packets),
        scratch.write("damaged/metadata", &[&packets[..100], EVIL.as_bytes(), &packets[100..]].concat()),
        scratch.write(
            "chunks.rdf",
            &rdf::file(&[rdf::Chunk::raw(name, EVIL.as_bytes()), rdf::Chunk::zstd(name, EVIL.as_bytes())]),
        ),
        scratch.write("damaged.rdf", &{
            let whole = rdf::file(&[rdf::Chunk::raw(name, EVIL.as_bytes())]);
            whole[..whole.len() - 3].to_vec()
        }),
        scratch.write("unknown", EVIL.as_bytes()),
        scratch.0.join(EVIL).join("missing"),
    ]
}

/// A CTF 2 trace: names, values, mappings, units of everything.
fn evil_trace(escaped: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut files = ctf::sample_trace();
    let mut metadata = String::from_utf8(std::mem::take(&mut files[0].1)).unwrap();
    for name in
        ["thread_switched_in", "millivolts", "\"sample\"", "\"name\": \"thread\"", "\"name\": \"ticks\""]
    {
        assert!(metadata.contains(name), "{name}");
        let to = match name.rsplit_once(": ") {
            Some((key, _)) => format!("{key}: \"{escaped}\""),
            None if name.starts_with('"') => format!("\"{escaped}\""),
            None => escaped.to_owned(),
        };
        metadata = metadata.replace(name, &to);
    }
    metadata = metadata
        .replace("\"id\": 0, \"name\"", &format!("\"id\": 0, \"namespace\": \"{escaped}\", \"name\""));
    // Names of threads, of five bytes and six.
    let mut stream = std::mem::take(&mut files[1].1);
    for (name, evil) in [(&b"radio\0"[..], "\x1b\u{9b}\x7f\r"), (b"sensor\0", "\u{202e}\u{2028}")] {
        let places: Vec<usize> = stream
            .windows(name.len())
            .enumerate()
            .filter(|(_, part)| *part == name)
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty());
        places.into_iter().for_each(|at| stream[at..at + evil.len()].copy_from_slice(evil.as_bytes()));
    }
    vec![("metadata", metadata.into_bytes()), (EVIL, stream)]
}

/// Streams whose attributes and records are full of it.
fn evil_rtc(escaped: &str) -> Vec<u8> {
    let mut writer = rtc::Writer::new(rtc::Options::default());
    let clock = writer.stream(&format!(
        "\"name\":\"{escaped}\",\"clock\":true,\"format\":\"uleb128\",\"gain\":1e-3,\"unit\":\"{escaped}\""
    ));
    let mut streams = vec![];
    for format in ["utf-8", "json", "ascii", escaped, "annotation", "uint32le"] {
        streams.push(writer.stream(&format!(
            "\"name\":\"{format}{escaped}\",\"clock\":\"{escaped}\",\"format\":\"{format}\",\"about\":\"{escaped}\",\"unit\":\"{escaped}\""
        )));
    }
    writer.write(clock, &[7]);
    for stream in streams {
        writer.write(stream, EVIL.as_bytes());
        writer
            .write(stream, format!("{{\"{escaped}\":\"{escaped}\",\"raw\":\"\u{9b}\u{202e}\"}}").as_bytes());
        writer.write(stream, b"\x1b[2");
    }
    writer.stop()
}

/// The contents of the chunks of AMD's tools, with other names.
fn evil_contents() -> Vec<rdf::Chunk> {
    let evil = |len: usize| {
        let mut text = String::new();
        for c in ['\u{9b}', '\u{202e}', '\x1b', '\u{2028}', '\x7f', '\r', '\u{61c}'].into_iter().cycle() {
            if text.len() + c.len_utf8() > len {
                break;
            }
            text.push(c);
        }
        while text.len() < len {
            text.push('\x1b');
        }
        text
    };
    let names =
        ["shadow map", "Frame", "Clear", "Barrier", "Draw", "game", "gbuffer", "gfx", "gpu", "one", "lost"];
    let mut chunks = rdf_contents::chunks();
    let mut replaced = 0;
    for chunk in &mut chunks {
        if chunk.stored.first() == Some(&b'{') {
            let text = String::from_utf8(chunk.stored.clone()).unwrap();
            let text =
                text.replace("cpu ", "\u{9b}\u{202e}\\u001b\\u2028").replace("\"p\"", "\"\\u009b\u{7f}\"");
            *chunk = rdf::Chunk::raw(
                std::str::from_utf8(&chunk.identifier).unwrap().trim_end_matches('\0'),
                text.as_bytes(),
            );
            continue;
        }
        for name in names {
            let len = name.len();
            for at in 0..chunk.stored.len().saturating_sub(len - 1) {
                if &chunk.stored[at..at + len] == name.as_bytes() {
                    chunk.stored[at..at + len].copy_from_slice(evil(len).as_bytes());
                    replaced += 1;
                }
            }
        }
    }
    assert!(replaced >= names.len(), "{replaced}");
    chunks
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let _turn = turn();
    let scratch = Scratch::new("evil");
    let (mut runs, mut found) = (0, Vec::new());
    for path in evil_files(&scratch) {
        for call in CALLS {
            let shown = run(call, &path, true);
            let piped = run(call, &path, false);
            // A pipe gets raw bytes and text as the file has them.
            let stdout = if is_raw(call, &path) { Vec::new() } else { piped.stdout };
            for done in [shown, Run { stdout, ..piped }] {
                found.extend(unsafe_part(&done).map(|part| format!("{call:?} {path:?}: {part:?}")));
            }
            runs += 1;
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(runs, 22 * CALLS.len());
    let words: &[&[&str]] = &[
        &[EVIL],
        &["info"],
        &["man", EVIL],
        &["hex", "--at", EVIL, "x"],
        &["cat", "--from", EVIL, "x"],
        &["cat", "--kind", EVIL, "x"],
        &["ls", EVIL, EVIL],
        &["info", EVIL],
        &["cat", "--color", EVIL],
    ];
    for words in words {
        let args = ["traceglass"].iter().chain(*words);
        let failed = run_all(args.map(OsString::from).collect(), true);
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
