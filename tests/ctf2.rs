//! CTF 2 metadata streams, built field by field.
#![cfg(feature = "ctf2")]

mod common;

use common::ctf2::{Packet, UUID, fragment, stream, text};
use common::{at_alignments, lies_in, mutations, prefixes};
use traceglass::ctf2::*;
use traceglass::{Element, Error, ErrorKind, Finding, Severity};

/// Everything that a stream gives: its text up to the fault, and the fault.
fn read(data: &[u8], leniency: Leniency) -> Result<(Vec<u8>, Option<Error>), Error> {
    let stream = MetadataStream::parse_with(data, leniency)?;
    let mut pieces = stream.pieces();
    let mut text = Vec::new();
    let fault = loop {
        match pieces.next() {
            Some(Ok(piece)) => {
                assert!(lies_in(piece, data));
                text.extend(piece);
            }
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    assert!(pieces.next().is_none() && pieces.next().is_none());
    // The other ways to the text agree.
    let (readable, also) = stream.readable();
    assert_eq!(also, fault);
    assert_eq!(readable.len(), text.len() as u64);
    assert_eq!(readable.copy_to(&mut vec![0; text.len()]).unwrap(), text);
    let mut buffer = data.to_vec();
    let compacted = compact(&mut buffer, leniency).unwrap();
    assert_eq!((compacted.fault(), compacted.text()), (fault, &text[..]));
    Ok((text, fault))
}

fn fault(data: &[u8]) -> Error {
    match read(data, Leniency::Strict) {
        Err(error) => error,
        Ok((_, fault)) => fault.expect("a fault"),
    }
}

fn findings(data: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    MetadataStream::parse(data).unwrap().check(|finding| findings.push(finding));
    findings
}

/// Both byte orders, both versions, at a packet size that cuts everything.
fn forms(text: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut forms = vec![text.to_vec()];
    for big in [false, true] {
        for make in [Packet::v1, Packet::v2] {
            forms.push(stream(text.chunks(size), |content| make(content).big(big)));
            let padding = b"\x1e{}\x57\x1d\xd1\x75\x75\xd1\x1d\x57\0\xff";
            forms.push(stream(text.chunks(size), |content| make(content).big(big).padding(padding)));
        }
    }
    forms
}

#[test]
fn every_form_gives_the_text() {
    let text = text();
    for size in [1, 2, 3, 7, 64, 10_000] {
        for form in forms(text.as_bytes(), size) {
            assert_eq!(read(&form, Leniency::Strict), Ok((text.clone().into_bytes(), None)));
            assert_eq!(read(&form, Leniency::Lenient), Ok((text.clone().into_bytes(), None)));
            assert_eq!(findings(&form), []);
        }
    }
}

#[test]
fn form_is_told_by_the_first_bytes() {
    assert_eq!(Form::detect(b"\x57\x1d\xd1\x75"), Some(Form::Packets(ByteOrder::Little)));
    assert_eq!(Form::detect(b"\x75\xd1\x1d\x57"), Some(Form::Packets(ByteOrder::Big)));
    assert_eq!(Form::detect(b"\x1e"), Some(Form::Plain));
    for other in [&b""[..], b"\x57\x1d\xd1", b"{", b"/* CTF 1.8 */", b"\x57\xd1\x1d\x75"] {
        assert_eq!(Form::detect(other), None);
    }
    let kind = |data| MetadataStream::parse(data).unwrap_err().kind();
    assert_eq!(kind(b""), ErrorKind::UnexpectedEnd { needed: 1 });
    assert_eq!(kind(b"\x57\x1d\xd1"), ErrorKind::UnexpectedEnd { needed: 34 });
    assert_eq!(kind(b"{}"), ErrorKind::BadMagic { found: *b"{}\0\0\0\0\0\0" });
}

#[test]
fn header_fields_are_given_as_stored() {
    for big in [false, true] {
        let packet =
            Packet { checksum: 0x0102_0304, version: [2, 7], ..Packet::v2(b"\x1e{}").padding(b"12345") };
        let data = [Packet { header_len: 48, ..packet.big(big) }.write(), b"more".to_vec()].concat();
        let header = PacketHeader::parse(&data).unwrap();
        assert_eq!((header.offset(), header.checksum()), (0, 0x0102_0304));
        assert_eq!(header.byte_order(), if big { ByteOrder::Big } else { ByteOrder::Little });
        assert_eq!((header.major(), header.minor()), (2, 7));
        assert_eq!(header.header_size(), Bits::new(48 * 8));
        assert_eq!((header.content_size().get(), header.total_size().get()), (51 * 8, 56 * 8));
        assert_eq!((header.header_bytes(), header.content_bytes()), (48, 3));
        assert_eq!((header.total_bytes(), header.padding_bytes()), (56, 5));
        assert_eq!(header.uuid().as_bytes(), &UUID);
        assert_eq!(header.uuid().to_string(), "10111213-1415-1617-1819-1a1b1c1d1e1f");

        let stream = MetadataStream::parse(&data).unwrap();
        let packet = stream.packets().next().unwrap().unwrap();
        assert_eq!((packet.content(), packet.padding()), (&b"\x1e{}"[..], &b"12345"[..]));
        assert_eq!((packet.content_offset(), packet.missing_padding()), (48, 0));
        assert_eq!(Text::from(&packet).borrowed(), Some(&b"\x1e{}"[..]));
        assert_eq!(stream.packets().nth(1).unwrap().unwrap_err().offset(), 56);
    }
}

/// Each rule: what is changed in the second of two packets, and the error at its place in that packet.
#[test]
fn every_rule_has_an_error_of_its_own() {
    type Change = fn(&mut Packet);
    let v2: [(Change, u64, Element, ErrorKind); 17] = [
        (|p| p.schemes[0] = 1, 32, COMPRESSION_SCHEME, ErrorKind::Unsupported { value: 1 }),
        (|p| p.schemes[1] = 2, 33, ENCRYPTION_SCHEME, ErrorKind::Unsupported { value: 2 }),
        (|p| p.schemes[2] = 3, 34, CHECKSUM_SCHEME, ErrorKind::Unsupported { value: 3 }),
        (|p| p.version = [3, 0], 35, VERSION, ErrorKind::UnsupportedRevision { major: 3, minor: 0 }),
        (|p| p.version = [1, 9], 35, VERSION, ErrorKind::UnsupportedRevision { major: 1, minor: 9 }),
        (|p| p.version = [0, 0], 35, VERSION, ErrorKind::UnsupportedRevision { major: 0, minor: 0 }),
        (|p| p.header_size = Some(0), 40, HEADER_SIZE, ErrorKind::UnderLimit { value: 0, limit: 352 }),
        (|p| p.header_size = Some(344), 40, HEADER_SIZE, ErrorKind::UnderLimit { value: 344, limit: 352 }),
        (|p| p.header_size = Some(353), 40, HEADER_SIZE, ErrorKind::NotMultiple { value: 353, of: 8 }),
        (|p| p.header_size = Some(392), 40, HEADER_SIZE, ErrorKind::OverLimit { value: 392, limit: 384 }),
        (|p| p.content_size = Some(344), 40, HEADER_SIZE, ErrorKind::OverLimit { value: 352, limit: 344 }),
        (|p| p.content_size = Some(380), 24, CONTENT_SIZE, ErrorKind::NotMultiple { value: 380, of: 8 }),
        (|p| p.total_size = Some(399), 28, TOTAL_SIZE, ErrorKind::NotMultiple { value: 399, of: 8 }),
        (|p| p.total_size = Some(376), 24, CONTENT_SIZE, ErrorKind::OverLimit { value: 384, limit: 376 }),
        (|p| p.total_size = Some(0), 24, CONTENT_SIZE, ErrorKind::OverLimit { value: 384, limit: 0 }),
        (|p| p.uuid[15] = 0, 4, UUID_ELEMENT, ErrorKind::UuidMismatch { found: uuid_with(15, 0) }),
        (|p| p.big = !p.big, 0, MAGIC, ErrorKind::ByteOrderChanged),
    ];
    for big in [false, true] {
        let good = Packet::v2(b"abcd").big(big);
        let first = good.write();
        for (change, position, element, kind) in v2 {
            let mut packet = good.clone();
            change(&mut packet);
            let data = [first.clone(), packet.write(), first.clone()].concat();
            let (text, error) = read(&data, Leniency::Strict).unwrap();
            assert_eq!(text, b"abcd", "what precedes the fault is delivered");
            assert_eq!(error, Some(Error::new(first.len() as u64 + position, element, kind)));
            assert_eq!(findings(&data)[0], Finding::error(error.unwrap()));
            // The same in the first packet, if it is not about two of them.
            if !matches!(kind, ErrorKind::UuidMismatch { .. } | ErrorKind::ByteOrderChanged) {
                assert_eq!(
                    MetadataStream::parse(&packet.write()).unwrap_err(),
                    Error::new(position, element, kind)
                );
            }
        }

        let good = Packet::v1(b"abcd").big(big);
        let first = good.write();
        let at = first.len() as u64;
        let too_small = ErrorKind::UnderLimit { value: 288, limit: 296 };
        let packet = Packet { content_size: Some(288), ..good.clone() };
        let data = [first.clone(), packet.write()].concat();
        assert_eq!(fault(&data), Error::new(at + 24, CONTENT_SIZE, too_small));
        assert_eq!(fault(&[first, vec![0; 37]].concat()), bad_magic(at, &[0; 4]));
    }
}

use traceglass::ctf2::UUID as UUID_ELEMENT;

fn uuid_with(place: usize, byte: u8) -> [u8; 16] {
    let mut uuid = UUID;
    uuid[place] = byte;
    uuid
}

fn bad_magic(offset: u64, bytes: &[u8; 4]) -> Error {
    let mut found = [0; 8];
    found[..4].copy_from_slice(bytes);
    Error::new(offset, MAGIC, ErrorKind::BadMagic { found })
}

#[test]
fn rules_are_checked_in_their_order() {
    let mut packet = Packet { schemes: [1; 3], version: [9, 9], header_size: Some(3), ..Packet::v2(b"") };
    packet.content_size = Some(5);
    packet.total_size = Some(9);
    let mut order = Vec::new();
    for step in 0..8 {
        order.push(fault(&packet.write()).element());
        match step {
            0 => packet.schemes[0] = 0,
            1 => packet.schemes[1] = 0,
            2 => packet.schemes[2] = 0,
            3 => packet.version = [2, 0],
            4 => packet.header_size = Some(352),
            5 => packet.content_size = Some(353),
            6 => packet.content_size = Some(352),
            _ => {}
        }
    }
    assert_eq!(
        order,
        [
            COMPRESSION_SCHEME,
            ENCRYPTION_SCHEME,
            CHECKSUM_SCHEME,
            VERSION,
            HEADER_SIZE,
            HEADER_SIZE,
            CONTENT_SIZE,
            TOTAL_SIZE
        ]
    );
}

#[test]
fn every_prefix_gives_what_it_holds() {
    for (header, make) in [(37, Packet::v1 as fn(&[u8]) -> Packet), (44, Packet::v2)] {
        for big in [false, true] {
            let contents: [&[u8]; 3] = [b"\x1e{\"a\"", b"", b":1}\n"];
            let data = stream(contents, |content| make(content).big(big).padding(b"pad"));
            let size = header + 3;
            for prefix in prefixes(&data) {
                let n = prefix.len();
                // Where the packets begin, and their contents end.
                let starts = [0, size + 5, 2 * size + 5];
                let whole = starts
                    .iter()
                    .zip(contents)
                    .filter(|(start, content)| n >= *start + header + content.len());
                let expected: Vec<u8> = whole.clone().flat_map(|(_, content)| content).copied().collect();
                if n < header {
                    let error = MetadataStream::parse(prefix).unwrap_err();
                    let element = if n == 0 { METADATA } else { PACKET_HEADER };
                    let needed = match n {
                        0 => 1,
                        1..37 => 37 - n as u64,
                        _ => 44 - n as u64,
                    };
                    assert_eq!(error, Error::new(0, element, ErrorKind::UnexpectedEnd { needed }), "{n}");
                    continue;
                }
                let (text, error) = read(prefix, Leniency::Strict).unwrap();
                assert_eq!(text, expected, "{n}");
                let last = *starts.iter().rfind(|start| **start <= n).unwrap();
                let content = contents[starts.iter().position(|start| *start == last).unwrap()].len();
                let inside = n - last;
                let element = match inside {
                    0 => None,
                    _ if inside < header => Some(PACKET_HEADER),
                    _ if inside < header + content => Some(CONTENT),
                    _ => None,
                };
                assert_eq!(error.map(|error| error.element()), element, "{n}");
                assert!(error.is_none_or(|error| error.is_truncation() && error.offset() <= n as u64));
                if element == Some(CONTENT) {
                    let needed = (header + content - inside) as u64;
                    let expected =
                        Error::new((last + header) as u64, CONTENT, ErrorKind::UnexpectedEnd { needed });
                    assert_eq!(error, Some(expected));
                }
            }
        }
    }
}

#[test]
fn missing_last_padding_is_a_warning() {
    let data = Packet::v2(b"\x1e{\"type\":\"preamble\",\"version\":2}").padding(&[0; 100]).write();
    for missing in 1..=100 {
        let data = &data[..data.len() - missing];
        let kind = ErrorKind::UnexpectedEnd { needed: missing as u64 };
        assert_eq!(findings(data), [Finding::warning(Error::new(76, PADDING, kind))]);
        assert_eq!(MetadataStream::parse(data).unwrap().text().unwrap().len(), 32);
    }
}

#[test]
fn unknown_minor_version_is_one_warning() {
    let text = text();
    let data =
        stream(text.as_bytes().chunks(50), |content| Packet { version: [2, 3], ..Packet::v2(content) });
    let kind = ErrorKind::UnsupportedRevision { major: 2, minor: 3 };
    assert_eq!(findings(&data), [Finding::warning(Error::new(35, VERSION, kind))]);
}

#[test]
fn leniency_reads_two_mistakes() {
    let text = text();
    let mut big = false;
    let mixed = stream(text.as_bytes().chunks(50), |content| {
        big = !big;
        Packet::v2(content).big(big)
    });
    assert_eq!(fault(&mixed), Error::new(94, MAGIC, ErrorKind::ByteOrderChanged));
    assert_eq!(read(&mixed, Leniency::Lenient), Ok((text.clone().into_bytes(), None)));

    for big in [false, true] {
        let short = stream(text.as_bytes().chunks(50), |content| Packet {
            version: [2, 0],
            ..Packet::v1(content).big(big)
        });
        assert_eq!(fault(&short).element(), HEADER_SIZE);
        assert_eq!(read(&short, Leniency::Lenient), Ok((text.clone().into_bytes(), None)));
        // A real header of 44 bytes whose reserved bytes happen to be 0x1E stays one.
        let mut packet = Packet::v2(b"\x1e{}").big(big).write();
        packet[37] = 0x1e;
        assert_eq!(read(&packet, Leniency::Lenient), Ok((b"\x1e{}".to_vec(), None)));
    }
}

#[test]
fn text_is_borrowed_where_it_lies_together() {
    let plain = text();
    let stream = MetadataStream::parse(plain.as_bytes()).unwrap();
    assert_eq!(stream.text().unwrap().borrowed(), Some(plain.as_bytes()));
    assert_eq!((stream.form(), stream.uuid(), stream.packets().count()), (Form::Plain, None, 0));

    // Empty packets do not tear it.
    let data = common::ctf2::stream([&b""[..], plain.as_bytes(), b"", b""], Packet::v2);
    let stream = MetadataStream::parse(&data).unwrap();
    assert_eq!(stream.text().unwrap().borrowed(), Some(plain.as_bytes()));
    assert_eq!((stream.packets().count(), stream.pieces().count()), (4, 1));
    assert_eq!(stream.text().unwrap().offset(), 88);

    let data = common::ctf2::stream(plain.as_bytes().chunks(100), Packet::v2);
    let text = MetadataStream::parse(&data).unwrap().text().unwrap();
    assert_eq!(text.borrowed(), None);
    for position in [0, 99, 100, plain.len() - 1] {
        let expected = (position / 100 * 144 + 44 + position % 100) as u64;
        assert_eq!(text.offset_of(position as u64), Some(expected));
    }
    assert_eq!(text.offset_of(plain.len() as u64), None);
    let mut small = vec![0; plain.len() - 1];
    let kind = ErrorKind::CapacityExceeded { capacity: small.len() as u64, needed: plain.len() as u64 };
    assert_eq!(text.copy_to(&mut small), Err(Error::new(44, TEXT, kind)));
    // No packets at all but empty ones.
    let data = common::ctf2::stream([&b""[..], b""], Packet::v2);
    assert_eq!(read(&data, Leniency::Strict), Ok((Vec::new(), None)));
    assert!(MetadataStream::parse(&data).unwrap().text().unwrap().is_empty());
}

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
            assert_eq!((preamble.version(), preamble.uuid()), (Some(2), Some(Uuid::new(UUID))));
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
        ("  ", 3, ErrorKind::UnexpectedEnd { needed: 1 }),
    ] {
        let text = format!("{good}{}{good}", fragment(json));
        // The text of the fragment begins here, and ends with a line feed.
        let start = good.len() + 1;
        let position = position.min(json.len() + 1);
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
            assert_eq!(errors, [Finding::error(Error::new(place as u64, FRAGMENT, kind))], "{json} {size}");
            // The fragments around it are delivered.
            assert_eq!(MetadataStream::parse(&data).unwrap().fragments().filter(Result::is_ok).count(), 3);
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
    let expected = "an array of 16 integers from 0 to 255";
    assert_eq!(
        check(&sequence(&[r#"{"type":"preamble","uuid":[1,256],"version":2}"#])),
        [(PREAMBLE, ErrorKind::Unexpected { byte: b'2', expected })]
    );
    // Without the first separator, which only packets can lack.
    let data = Packet::v2(format!(" {preamble}").as_bytes()).write();
    let kind = ErrorKind::Unexpected { byte: b'{', expected: "0x1E" };
    assert_eq!(findings(&data), [Finding::warning(Error::new(45, FRAGMENT, kind))]);
    let fragment = MetadataStream::parse(&data).unwrap().fragments().next().unwrap().unwrap();
    assert!(!fragment.is_separated() && fragment.preamble().unwrap().is_some());
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

#[test]
fn resync_finds_the_next_packet_of_the_stream() {
    for big in [false, true] {
        let good = |content: &[u8]| Packet::v2(content).big(big).write();
        let foreign = Packet { uuid: [9; 16], ..Packet::v2(b"foreign").big(big) }.write();
        let mut broken = good(b"lost");
        broken[35] = 77;
        let magic = if big { ByteOrder::Big } else { ByteOrder::Little }.magic();
        let data =
            [good(b"one"), broken.clone(), magic.to_vec(), foreign, good(b"two"), good(b"three"), broken]
                .concat();
        let mut packets = MetadataStream::parse(&data).unwrap().packets();
        assert_eq!(packets.next().unwrap().unwrap().content(), b"one");
        assert_eq!((packets.next().unwrap().is_err(), packets.next().is_none()), (true, true));
        assert_eq!((packets.offset(), packets.remaining().len()), (47, data.len() - 47));
        let found = packets.resync().unwrap() as usize;
        assert_eq!(found, 47 + 48 + 4 + 51);
        assert_eq!(packets.next().unwrap().unwrap().content(), b"two");
        assert_eq!(packets.next().unwrap().unwrap().content(), b"three");
        assert!(packets.next().unwrap().is_err());
        assert_eq!(packets.resync(), None);
        assert!(packets.next().is_none());
    }
}

#[test]
fn tsdl_is_text() {
    let tsdl = b"/* CTF 1.8 */\ntypealias integer { size = 8; } := uint8_t;";
    let data = stream(tsdl.chunks(9), Packet::v1);
    let stream = MetadataStream::parse(&data).unwrap();
    assert_eq!((stream.language(), stream.has_tsdl_signature()), (Language::Tsdl, true));
    assert_eq!(stream.fragments().count(), 0);
    assert_eq!(read(&data, Leniency::Strict).unwrap().0, tsdl);
    assert_eq!(findings(&data), []);
    let json = Packet::v1(b"\x1e{\"type\":\"preamble\",\"version\":2}").write();
    assert_eq!(MetadataStream::parse(&json).unwrap().language(), Language::Json);
    let odd = Packet::v1(b"event {}").write();
    let error = Error::new(37, TEXT, ErrorKind::BadMagic { found: *b"event {}" });
    assert_eq!(findings(&odd), [Finding::warning(error)]);
}

/// What a decoder gives that is fed in parts that end at `cuts`.
fn decode<'d>(
    parts: impl Iterator<Item = &'d [u8]>,
    leniency: Leniency,
) -> Result<(Vec<u8>, u64, Option<Finding>), Error> {
    let mut decoder = Decoder::new(leniency);
    let (mut text, mut packets) = (Vec::new(), 0);
    for mut part in parts {
        loop {
            match decoder.step(&mut part)? {
                Step::Packet(_) => packets += 1,
                Step::Content(content) => {
                    assert!(!content.is_empty());
                    text.extend(content);
                }
                Step::NeedMore(_) => break,
            }
        }
        assert!(part.is_empty());
    }
    decoder.finish().map(|finding| (text, packets, finding))
}

#[test]
fn decoder_gives_the_same_wherever_it_is_cut() {
    let text = text();
    for form in forms(&text.as_bytes()[..90], 40) {
        let packets = MetadataStream::parse(&form).unwrap().packets().count() as u64;
        let expected = Ok((text.as_bytes()[..90].to_vec(), packets, None));
        for size in 1..=form.len() {
            assert_eq!(decode(form.chunks(size), Leniency::Strict), expected);
        }
        for cut in 0..=form.len() {
            let (a, b) = form.split_at(cut);
            assert_eq!(decode([a, b].into_iter(), Leniency::Lenient), expected);
        }
    }
    // Headers of 37 bytes that claim version 2, with contents shorter than what a longer header would take.
    for size in [1, 2, 3, 6, 7, 8, 40] {
        for padding in [&b""[..], b"p", b"padding"] {
            let short = stream(text.as_bytes().chunks(size), |content| Packet {
                version: [2, 0],
                ..Packet::v1(content).padding(padding)
            });
            let packets = text.len().div_ceil(size) as u64;
            for cut in [1, 3, 36, 37, 38, 43, 44, 45, 1000] {
                let found = decode(short.chunks(cut), Leniency::Lenient);
                assert_eq!(found, Ok((text.clone().into_bytes(), packets, None)), "{size} {padding:?} {cut}");
            }
        }
    }
}

#[test]
fn decoder_says_what_it_needs_and_where_it_fails() {
    let data = Packet::v2(b"abc").padding(b"de").write();
    let mut decoder = Decoder::new(Leniency::Strict);
    let mut needs = Vec::new();
    for byte in &data {
        let mut part = std::slice::from_ref(byte);
        needs.push(loop {
            match decoder.step(&mut part).unwrap() {
                Step::NeedMore(n) => break n,
                Step::Packet(header) => assert_eq!(header.content_bytes(), 3),
                Step::Content(content) => assert_eq!(content, [*byte]),
            }
        });
    }
    let expected: Vec<u64> = (1..=36).rev().collect();
    assert_eq!(needs[..36], expected);
    assert_eq!(needs[36..], [7, 6, 5, 4, 3, 2, 1, 3, 2, 1, 2, 1, 0]);
    assert_eq!((decoder.offset(), decoder.form()), (49, Some(Form::Packets(ByteOrder::Little))));
    assert_eq!(decoder.finish(), Ok(None));

    // Errors are those of the slice, at the same offsets, whatever the parts.
    let data = stream([&b"abcd"[..], b"efgh", b"ij"], |content| Packet::v2(content).padding(b"pp"));
    for prefix in prefixes(&data) {
        let whole = read(prefix, Leniency::Strict);
        let whole = whole.and_then(|(text, fault)| fault.map_or(Ok(text), Err));
        let found = decode(prefix.chunks(5), Leniency::Strict).map(|(text, ..)| text);
        assert_eq!(whole, found, "{}", prefix.len());
    }
    mutations(&data, |place, mutant| {
        let whole = read(mutant, Leniency::Strict).and_then(|(text, fault)| fault.map_or(Ok(text), Err));
        let found = decode(mutant.chunks(7), Leniency::Strict).map(|(text, ..)| text);
        assert_eq!(whole, found, "{place}");
    });
    let mut decoder = Decoder::new(Leniency::Strict);
    let error = decoder.step(&mut &b"AMD_RDF "[..]).unwrap_err();
    assert_eq!((error.offset(), error.element()), (0, METADATA));
    assert_eq!((decoder.step(&mut &b"more"[..]).unwrap_err(), decoder.finish().unwrap_err()), (error, error));
}

#[test]
fn mutants_neither_panic_nor_invent() {
    let text = text();
    for make in [Packet::v1, Packet::v2] {
        let data = stream(text.as_bytes().chunks(400), |content| make(content).padding(b"pp"));
        mutations(&data, |_, mutant| {
            for leniency in [Leniency::Strict, Leniency::Lenient] {
                let Ok((found, fault)) = read(mutant, leniency) else { continue };
                assert!(found.len() <= text.len() + 100);
                assert!(fault.is_none_or(|fault| fault.offset() <= mutant.len() as u64));
                let stream = MetadataStream::parse_with(mutant, leniency).unwrap();
                let mut last = 0;
                for fragment in stream.fragments().map_while(Result::ok) {
                    assert!(fragment.offset() >= last);
                    last = fragment.offset();
                    let _ = (fragment.kind(), fragment.clock_class(), fragment.preamble());
                    let _ =
                        fragment.trace_class().map(|trace| trace.map(|trace| trace.environment().count()));
                }
                stream.check(|finding| assert!(finding.cause().offset() <= mutant.len() as u64));
            }
        });
    }
}

#[test]
fn alignment_does_not_matter() {
    let text = text();
    let data = stream(text.as_bytes().chunks(70), Packet::v2);
    at_alignments(&data, |data| {
        assert_eq!(read(data, Leniency::Strict), Ok((text.clone().into_bytes(), None)));
        assert_eq!(MetadataStream::parse(data).unwrap().fragments().count(), 6);
    });
}

#[test]
fn claimed_sizes_cost_nothing() {
    let huge = 0xffff_fff8;
    let packet = Packet { content_size: Some(huge), total_size: Some(huge), ..Packet::v2(b"abc") };
    let needed = u64::from(huge / 8) - 47;
    let data = packet.write();
    assert_eq!(fault(&data), Error::new(44, CONTENT, ErrorKind::UnexpectedEnd { needed }));
    let padded = Packet { total_size: Some(huge), ..Packet::v2(b"abc") }.write();
    assert_eq!(read(&padded, Leniency::Strict), Ok((b"abc".to_vec(), None)));
}
