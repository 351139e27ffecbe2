//! Headers, the rules about them, and what is left of a damaged stream.

use crate::common::ctf::{self, Packet, stream, text};
use crate::common::prefixes;
use crate::{bad_magic, fault, findings, read};

use traceglass::ctf::element::*;
use traceglass::ctf::metadata::*;
use traceglass::{Element, Error, ErrorKind, Finding, Severity};

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
        assert_eq!(header.uuid().as_bytes(), &ctf::UUID);
        let (uuid, said) = (header.uuid(), "10111213-1415-1617-1819-1a1b1c1d1e1f");
        assert_eq!((uuid.to_string(), format!("{uuid:?}")), (said.to_owned(), said.to_owned()));
        assert!(!uuid.is_nil() && Uuid::new([0; 16]).is_nil());

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
        (|p| p.uuid[15] = 0, 4, UUID, ErrorKind::UuidMismatch { found: uuid_with(15, 0) }),
        (|p| p.big = !p.big, 0, MAGIC, ErrorKind::ByteOrderChanged),
    ];
    for big in [false, true] {
        let good = Packet::v2(b"abcd").big(big);
        let first = good.write();
        for (change, position, element, kind) in v2 {
            let mut packet = good.clone();
            change(&mut packet);
            let data = [first.clone(), packet.write(), first.clone()].concat();
            let (text, error) = read(&data, ParseOptions::STRICT).unwrap();
            assert_eq!(text, b"abcd", "what precedes the fault is delivered");
            assert_eq!(error, Some(Error::new(first.len() as u64 + position, element, kind)));
            assert_eq!(findings(&data)[0], Finding::new(Severity::Error, error.unwrap()));
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

fn uuid_with(place: usize, byte: u8) -> [u8; 16] {
    let mut uuid = ctf::UUID;
    uuid[place] = byte;
    uuid
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
                // The starts of the packets, and the ends of their contents.
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
                let (text, error) = read(prefix, ParseOptions::STRICT).unwrap();
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
    assert_eq!(read(&mixed, ParseOptions::LENIENT), Ok((text.clone().into_bytes(), None)));

    for big in [false, true] {
        let short = stream(text.as_bytes().chunks(50), |content| Packet {
            version: [2, 0],
            ..Packet::v1(content).big(big)
        });
        assert_eq!(fault(&short).element(), HEADER_SIZE);
        assert_eq!(read(&short, ParseOptions::LENIENT), Ok((text.clone().into_bytes(), None)));
        // Text where a header size would stand is none, whatever number it makes, unless that is one of a header.
        let size = |bits: u32| if big { bits.to_be_bytes() } else { bits.to_le_bytes() };
        for (bits, is_short) in [(0, true), (88, true), (344, true), (352, false), (355, true), (360, true)] {
            let content = [b"\x1e{}", &size(bits)[..]].concat();
            let packet = Packet { version: [2, 0], ..Packet::v1(&content).big(big) }.write();
            let found = read(&packet, ParseOptions::LENIENT);
            let expected = if is_short { &content[..] } else { b"" };
            assert_eq!(found, Ok((expected.to_vec(), None)), "{bits}");
        }
        // A real header of 44 bytes whose reserved bytes happen to be 0x1E stays one.
        let mut packet = Packet::v2(b"\x1e{}").big(big).write();
        packet[37] = 0x1e;
        assert_eq!(read(&packet, ParseOptions::LENIENT), Ok((b"\x1e{}".to_vec(), None)));
    }
}

#[test]
fn what_is_there_of_a_cut_content_can_be_asked_for() {
    let data = stream([&b"one"[..], b"two"], Packet::v2);
    let mut packets = MetadataStream::parse(&data[..data.len() - 2]).unwrap().packets();
    assert!(packets.next().unwrap().is_ok() && packets.cut_content().is_none());
    assert!(packets.next().unwrap().is_err());
    assert_eq!(packets.cut_content(), Some(&b"t"[..]));
    for (len, content) in [(data.len() - 3, Some(&b""[..])), (data.len() - 4, None)] {
        let mut packets = MetadataStream::parse(&data[..len]).unwrap().packets();
        while packets.next().is_some() {}
        assert_eq!(packets.cut_content(), content, "{len}");
    }
    let mut packets = MetadataStream::parse(&data).unwrap().packets();
    assert_eq!((packets.by_ref().count(), packets.cut_content()), (2, None));
}

#[test]
fn resync_finds_the_next_packet_of_the_stream() {
    for big in [false, true] {
        let good = |content: &[u8]| Packet::v2(content).big(big).write();
        let foreign = Packet { uuid: [9; 16], ..Packet::v2(b"foreign").big(big) }.write();
        let mut broken = good(b"lost");
        broken[35] = 77;
        let magic = if big { MAGIC_NUMBER.to_be_bytes() } else { MAGIC_NUMBER.to_le_bytes() };
        let data =
            [good(b"one"), broken.clone(), magic.to_vec(), foreign, good(b"two"), good(b"three"), broken]
                .concat();
        let mut packets = MetadataStream::parse(&data).unwrap().packets();
        assert_eq!(packets.next().unwrap().unwrap().content(), b"one");
        assert_eq!((packets.next().unwrap().is_err(), packets.next().is_none()), (true, true));
        assert_eq!(packets.offset(), 47);
        let gap = packets.recover().unwrap();
        let kind = ErrorKind::UnsupportedRevision { major: 77, minor: 0 };
        assert_eq!((gap.offset(), gap.cause()), (47, Error::new(47 + 35, VERSION, kind)));
        let found = gap.end() as usize;
        assert_eq!(found, 47 + 48 + 4 + 51);
        let two = packets.next().unwrap().unwrap();
        assert_eq!((two.offset(), two.content()), (found as u64, &b"two"[..]));
        assert_eq!(packets.next().unwrap().unwrap().content(), b"three");
        assert!(packets.next().unwrap().is_err());
        assert_eq!(packets.recover(), None);
        assert!(packets.next().is_none());
    }
}

#[test]
fn claimed_sizes_cost_nothing() {
    let huge = 0xffff_fff8;
    let packet = Packet { content_size: Some(huge), total_size: Some(huge), ..Packet::v2(b"abc") };
    let needed = u64::from(huge / 8) - 47;
    let data = packet.write();
    assert_eq!(fault(&data), Error::new(44, CONTENT, ErrorKind::UnexpectedEnd { needed }));
    let padded = Packet { total_size: Some(huge), ..Packet::v2(b"abc") }.write();
    assert_eq!(read(&padded, ParseOptions::STRICT), Ok((b"abc".to_vec(), None)));
}
