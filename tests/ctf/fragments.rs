//! Fragments and what they describe.

use crate::common::ctf::{self, Packet, fragment, stream, text};
use crate::{bad_magic, findings, forms};
use traceglass::ctf::element::*;
use traceglass::ctf::metadata::*;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Error, ErrorKind, Finding, Severity};

#[test]
fn fragments_are_the_same_wherever_packets_end() {
    let text = text();
    let mut expected: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == 0x1e).collect();
    expected.retain(|part| !part.is_empty());
    for size in 1..80 {
        for form in forms(text.as_bytes(), size) {
            let stream = MetadataStream::parse(&form).unwrap();
            let fragments: Vec<Fragment<'_>> = stream.fragments().map(Result::unwrap).collect();
            assert_eq!(fragments.len(), expected.len());
            for (fragment, expected) in fragments.iter().zip(&expected) {
                let copy: Vec<u8> = fragment.text().pieces().flatten().copied().collect();
                assert_eq!(copy, *expected);
                assert_eq!(form[fragment.offset() as usize], b'{');
                assert!(fragment.is_separated());
                fragment.check().unwrap();
            }
        }
    }
}

#[test]
fn white_space_between_separators_is_no_fragment() {
    let text = b"\x1e \n\x1e\x1e{\"type\": \"preamble\"}\n\x1e\t\x1e\r\n\x1e{}\x1e ";
    for size in 1..text.len() {
        for form in forms(text, size) {
            let stream = MetadataStream::parse(&form).unwrap();
            let fragments: Vec<Fragment<'_>> = stream.fragments().map(Result::unwrap).collect();
            let texts = fragments.iter().map(|fragment| {
                fragment.check().unwrap();
                fragment.text().pieces().flatten().copied().collect::<Vec<u8>>()
            });
            assert_eq!(texts.collect::<Vec<_>>(), [&b"{\"type\": \"preamble\"}\n"[..], b"{}"]);
        }
    }
}

#[test]
fn classes_are_read_across_packets() {
    let text = text();
    for size in [1, 5, 17, 10_000] {
        for form in forms(text.as_bytes(), size) {
            let stream = MetadataStream::parse(&form).unwrap();
            let fragments: Vec<Fragment<'_>> = stream.fragments().map(Result::unwrap).collect();
            let kinds: Vec<Option<&str>> =
                fragments.iter().map(|fragment| fragment.kind().unwrap().name()).collect();
            let known = ["preamble", "trace-class", "clock-class", "data-stream-class", "event-record-class"];
            assert_eq!(kinds[..5], known.map(Some));
            assert!(matches!(fragments[5].kind(), Ok(FragmentKind::Other(name)) if name == "user-defined"));

            let preamble = fragments[0].preamble().unwrap().unwrap();
            assert_eq!((preamble.version(), preamble.uuid()), (Some(2), Some(Uuid::new(ctf::UUID))));
            assert!(fragments[1].preamble().unwrap().is_none());

            let trace = fragments[1].trace_class().unwrap().unwrap();
            assert!(trace.name().unwrap() == "s1" && trace.uid().unwrap() == "1c145c2f");
            assert!(trace.namespace().unwrap() == "lttng.org,2009");
            let mut environment = Vec::new();
            for entry in trace.environment() {
                let (name, value) = entry.unwrap();
                environment.push((
                    name.to_string(),
                    match value {
                        EnvironmentValue::Integer(value) => value.to_string(),
                        EnvironmentValue::String(value) => format!("{:?}", value.to_string()),
                        EnvironmentValue::Other(value) => format!("{} bytes", value.len()),
                        _ => unreachable!(),
                    },
                ));
            }
            let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            assert_eq!(
                environment,
                [
                    entry("hostname", "\"höst 😀\""),
                    entry("tracer_name", "\"lttng-ust\\n\""),
                    entry("tracer_major", "2"),
                    entry("odd", "16 bytes"),
                    entry("negative", "-170"),
                ]
            );

            let clock = fragments[2].clock_class().unwrap().unwrap();
            assert_eq!((clock.frequency(), clock.precision()), (Some(1_000_000_000), Some(1)));
            assert_eq!((clock.offset_seconds(), clock.offset_cycles()), (-1_795_224_663, 589_261_740));
            assert!(matches!(clock.origin(), Some(ClockOrigin::UnixEpoch)));
            assert!(clock.name().unwrap() == "monotonic" && clock.id().unwrap() == "monotonic");
            assert!(clock.description().unwrap() == "Monotonic" && clock.uid().unwrap() == "d2f302bc");
            assert!(clock.namespace().is_none());

            let names: Vec<String> =
                fragments[3].members().map(|member| member.unwrap().0.to_string()).collect();
            assert_eq!(names, ["type", "id", "x"]);
            let value = fragments[3].member("x").unwrap().unwrap();
            assert_eq!(value.copy_to(&mut [0; 64]).unwrap(), br#"[true, false, 1.5e-3, "\ud83d\ude00\\"]"#);
            assert!(fragments[3].member("y").unwrap().is_none());
        }
    }
}

#[test]
fn errors_in_fragments_point_into_the_file() {
    let good = fragment(r#"{"type":"preamble","version":2}"#);
    for (json, position, kind) in [
        ("{\"a\":}", 5, ErrorKind::Unexpected { byte: b'}', expected: "a value" }),
        ("{\"a\":1", 8, ErrorKind::UnexpectedEnd { needed: 1 }),
        ("[1]", 0, ErrorKind::Unexpected { byte: b'[', expected: "an object" }),
        ("{\"a\":1} 2", 8, ErrorKind::Unexpected { byte: b'2', expected: "the end of the text" }),
        ("!", 0, ErrorKind::Unexpected { byte: b'!', expected: "a value" }),
    ] {
        let text = format!("{good}{}{good}", fragment(json));
        // The text of the fragment begins here, and ends with a line feed.
        let start = good.len() + 1;

        for size in [1, 3, 1000] {
            let data = stream(text.as_bytes().chunks(size), Packet::v2);
            let place = start + position;
            // An end is where the piece ends; anything else at its byte.
            let place = match kind {
                ErrorKind::UnexpectedEnd { .. } => {
                    let last = start + json.len();
                    last / size * (size + 44) + 44 + last % size + 1
                }
                _ => place / size * (size + 44) + 44 + place % size,
            };
            let errors: Vec<Finding> =
                findings(&data).into_iter().filter(|finding| finding.severity() == Severity::Error).collect();
            assert_eq!(
                errors,
                [Finding::new(Severity::Error, Error::new(place as u64, FRAGMENT, kind))],
                "{json} {size}"
            );
            // The fragments around it are delivered.
            assert_eq!(MetadataStream::parse(&data).unwrap().fragments().filter(Result::is_ok).count(), 3);
        }
    }
}

/// In a name or a value, in one packet or in several, after strings that are UTF-8.
#[test]
fn strings_that_are_not_utf8_are_errors_where_they_are() {
    let good = fragment(r#"{"type":"preamble","version":2,"ü":"ß"}"#);
    for (json, position) in [
        (&b"{\"a\":\"\xc3\xa9\",\"b\xff\":1}"[..], 12),
        (b"{\"a\":\"\xc3\xa9\",\"b\":\"\xe2\x82\"}", 15),
        (b"{\"a\":[{\"b\":\"c\xc3\"}]}", 13),
    ] {
        let text = [good.as_bytes(), b"\x1e", json, good.as_bytes()].concat();
        for size in [1, 2, 3, 1000] {
            let data = stream(text.chunks(size), Packet::v2);
            let place = good.len() + 1 + position;
            let place = (place / size * (size + 44) + 44 + place % size) as u64;
            let error = Error::new(place, FRAGMENT, ErrorKind::NotUtf8);
            assert_eq!(
                findings(&data)[..1],
                [Finding::new(Severity::Error, error)],
                "{} {size}",
                json.escape_ascii()
            );
        }
    }
}

#[test]
fn oddities_are_warnings() {
    let preamble = r#"{"type":"preamble","version":2}"#;
    let check = |text: &str| {
        let found = findings(text.as_bytes());
        assert!(found.iter().all(|finding| finding.severity() == Severity::Warning));
        found.iter().map(|finding| (finding.cause().element(), finding.cause().kind())).collect::<Vec<_>>()
    };
    let sequence = |parts: &[&str]| parts.iter().map(|part| fragment(part)).collect::<String>();
    assert_eq!(check(&sequence(&[r#"{"type":"clock-class"}"#])), [(PREAMBLE, ErrorKind::Missing)]);
    assert_eq!(check(&sequence(&[preamble, preamble])), [(PREAMBLE, ErrorKind::Repeated)]);
    assert_eq!(
        check(&sequence(&[r#"{"type":"preamble","version":3}"#])),
        [(PREAMBLE, ErrorKind::UnsupportedVersion { found: 3, supported: 2 })]
    );
    assert_eq!(check(&sequence(&[preamble, "{}"])), [(FRAGMENT, ErrorKind::Missing)]);
    let expected = "an integer of 64 bits, not negative";
    assert_eq!(
        check(&sequence(&[preamble, r#"{"type":"clock-class","frequency":"1"}"#])),
        [(CLOCK_CLASS, ErrorKind::Unexpected { byte: b'"', expected })]
    );
    assert_eq!(
        check(&sequence(&[preamble, r#"{"type":"trace-class","environment":[]}"#])),
        [(TRACE_CLASS, ErrorKind::Unexpected { byte: b'[', expected: "an object" })]
    );
    let expected = "an array of 16 integers from 0 to 255";
    assert_eq!(
        check(&sequence(&[r#"{"type":"preamble","uuid":[1,256],"version":2}"#])),
        [(PREAMBLE, ErrorKind::Unexpected { byte: b'2', expected })]
    );
    assert_eq!(
        check(&sequence(&[preamble, r#"{"type":"clock-class","frequency":1,"frequency":1}"#])),
        [(FRAGMENT, ErrorKind::Repeated)]
    );
    // White space is no fragment.
    assert_eq!(check(&format!("\x1e\x1e \n\x1e{preamble}\n\x1e\t\x1e \r\n")), []);
    // Without the first separator, which only packets can lack.
    let data = Packet::v2(format!(" {preamble}").as_bytes()).write();
    let kind = ErrorKind::Unexpected { byte: b'{', expected: "0x1E" };
    assert_eq!(findings(&data), [Finding::warning(Error::new(45, FRAGMENT, kind))]);
    let fragment = MetadataStream::parse(&data).unwrap().fragments().next().unwrap().unwrap();
    assert!(!fragment.is_separated() && fragment.preamble().unwrap().is_some());
}

/// What is wrong with the facts of a fragment is the same error for whoever reads it, at the same place.
#[test]
fn a_fault_is_one_error() {
    let preamble = fragment(r#"{"type":"preamble","version":2}"#);
    for (member, wrong) in [
        (r#""type":"clock-class","id":"c","frequency":"#, "-1}"),
        (r#""type":"clock-class","frequency":1,"id":"#, "7}"),
        (r#""type":"clock-class","id":"c","frequency":1,"accuracy":"#, "null}"),
        (r#""type":"clock-class","id":"c","frequency":1,"offset-from-origin":"#, "[1]}"),
        (r#""type":"clock-class","id":"c","frequency":1,"offset-from-origin":{"seconds":"#, "1.5}}"),
        (r#""type":"clock-class","id":"c","frequency":1,"origin":"#, "7}"),
        (r#""type":"clock-class","id":"c","frequency":1,"origin":"#, r#"{"name":"x"}}"#),
        (r#""type":"clock-class","id":"c","frequency":1,"origin":"#, r#"{"uid":"x","of":"y"}}"#),
        (r#""type":"clock-class","id":"c","frequency":1,""#, r#"id":"d"}"#),
        (r#""type":"trace-class","uid":"#, "7}"),
        (r#""type":"trace-class","environment":{},""#, r#"environment":{}}"#),
        (r#""type":"trace-class","environment":"#, "[]}"),
    ] {
        let text = format!("{preamble}\x1e{{{member}{wrong}");
        let at = (text.len() - wrong.len()) as u64;
        for size in [5, 1000] {
            for form in forms(text.as_bytes(), size) {
                let stream = MetadataStream::parse(&form).unwrap();
                let error = Schema::compile(&stream, &mut [Node::EMPTY; 20]).unwrap_err();
                assert_eq!(findings(&form), [Finding::warning(error)], "{text}");
                if stream.form() == Form::Plain {
                    assert_eq!(error.offset(), at, "{text} {error}");
                }
            }
        }
    }
}

#[test]
fn fragment_before_a_fault_is_given_if_complete() {
    let preamble = r#"{"type":"preamble","version":2}"#;
    for (content, count) in [
        (format!("\x1e{preamble}\n"), 1),
        (format!("\x1e{preamble}"), 1),
        (format!("\x1e{preamble}\x1e{{\"type\":"), 1),
        ("\x1e{\"type\":".to_owned(), 0),
    ] {
        let mut data = Packet::v2(content.as_bytes()).write();
        let end = data.len() as u64;
        data.extend([7; 50]);
        let mut fragments = MetadataStream::parse(&data).unwrap().fragments();
        for _ in 0..count {
            assert!(fragments.next().unwrap().is_ok());
        }
        assert_eq!(fragments.next().unwrap().unwrap_err(), bad_magic(end, &[7; 4]));
        assert!(fragments.next().is_none() && fragments.next().is_none());
    }
}

/// A name is compared as it reads, whichever way it is written, and wherever packets cut it.
#[test]
fn names_are_read_through_escapes() {
    let text = "\x1e{\"type\": \"x\", \"a\\u005fb\\n\": 1}";
    for size in [text.len(), 3] {
        let data = stream(text.as_bytes().chunks(size), Packet::v1);
        let stream = MetadataStream::parse(&data).unwrap();
        let fragment = stream.fragments().next().unwrap().unwrap();
        let (name, value) = fragment.members().nth(1).unwrap().unwrap();
        assert!(name == *"a_b\n" && name != *"a_b" && name != *"a\\u005fb\\n");
        assert_eq!(name.decode(&mut [0; 4]), Ok("a_b\n"));
        let kind = name.decode(&mut [0; 3]).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::CapacityExceeded { capacity: 3, .. }), "{kind}");
        // Neither escapes nor what packets cut can be borrowed.
        let (first, _) = fragment.members().next().unwrap().unwrap();
        let together = size == text.len();
        assert_eq!((name.borrowed(), first.borrowed()), (None, together.then_some("type")));
        // As it is written, without the quotes.
        assert_eq!(name.raw().copy_to(&mut [0; 20]).unwrap(), br"a\u005fb\n");
        assert_eq!(data[name.offset() as usize], b'a');
        assert_eq!(value.copy_to(&mut [0; 4]).unwrap(), b"1");
        // The place, never the text.
        assert_eq!(format!("{name:?}"), format!("10 bytes of text from {:#x}", name.offset()));
    }
}

/// The members of a clock class that LTTng leaves out, and every origin.
#[test]
fn clock_classes_state_their_origin() {
    let read = |json: &str| {
        let text = fragment(&format!(r#"{{"type": "clock-class", {json}}}"#));
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let clock = stream.fragments().next().unwrap().unwrap().clock_class();
        clock.map(|clock| {
            let clock = clock.unwrap();
            let origin = match clock.origin() {
                Some(ClockOrigin::UnixEpoch) => "the epoch".to_owned(),
                Some(ClockOrigin::Other(name)) => format!("other {name}"),
                Some(ClockOrigin::Custom(text)) => format!("{} bytes", text.len()),
                _ => "none".to_owned(),
            };
            (origin, clock.namespace().map(|name| name.to_string()), clock.precision())
        })
    };
    let said = |origin: &str| Ok((origin.to_owned(), None, None));
    assert_eq!(read(r#""origin": "unix-epoch""#), said("the epoch"));
    assert_eq!(read(r#""origin": "boot""#), said("other boot"));
    assert_eq!(read(r#""origin": {"name": "x", "uid": ""}"#), said("24 bytes"));
    let expected = ErrorKind::Unexpected { byte: b'7', expected: "a string or an object" };
    assert_eq!(read(r#""origin": 7"#), Err(Error::new(35, CLOCK_CLASS, expected)));
    let namespaced = ("none".to_owned(), Some("lttng.org,2009".to_owned()), Some(7));
    assert_eq!(read(r#""namespace": "lttng.org,2009", "precision": 7"#), Ok(namespaced));
}
