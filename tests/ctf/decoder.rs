//! Streams that arrive in parts.

use crate::common::ctf::{Packet, stream, text};
use crate::common::{mutations, prefixes};
use crate::{findings, forms, read};
use traceglass::ctf::element::*;
use traceglass::ctf::metadata::*;
use traceglass::{Error, ErrorKind, Finding};

/// The output of a decoder that is fed in parts that end at `cuts`.
fn decode<'d>(
    parts: impl Iterator<Item = &'d [u8]>,
    leniency: ParseOptions,
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
                step => panic!("{step:?}"),
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
            assert_eq!(decode(form.chunks(size), ParseOptions::STRICT), expected);
        }
        for cut in 0..=form.len() {
            let (a, b) = form.split_at(cut);
            assert_eq!(decode([a, b].into_iter(), ParseOptions::LENIENT), expected);
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
                let found = decode(short.chunks(cut), ParseOptions::LENIENT);
                assert_eq!(found, Ok((text.clone().into_bytes(), packets, None)), "{size} {padding:?} {cut}");
            }
        }
    }
}

#[test]
fn decoder_says_what_it_needs_and_where_it_fails() {
    let data = Packet::v2(b"abc").padding(b"de").write();
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let mut needs = Vec::new();
    for byte in &data {
        let mut part = std::slice::from_ref(byte);
        needs.push(loop {
            match decoder.step(&mut part).unwrap() {
                Step::NeedMore(n) => break n,
                Step::Packet(header) => assert_eq!(header.content_bytes(), 3),
                Step::Content(content) => assert_eq!(content, [*byte]),
                step => panic!("{step:?}"),
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
        let whole = read(prefix, ParseOptions::STRICT);
        let whole = whole.and_then(|(text, fault)| fault.map_or(Ok(text), Err));
        let found = decode(prefix.chunks(5), ParseOptions::STRICT).map(|(text, ..)| text);
        assert_eq!(whole, found, "{}", prefix.len());
    }
    mutations(&data, |place, mutant| {
        let whole = read(mutant, ParseOptions::STRICT).and_then(|(text, fault)| fault.map_or(Ok(text), Err));
        let found = decode(mutant.chunks(7), ParseOptions::STRICT).map(|(text, ..)| text);
        assert_eq!(whole, found, "{place}");
    });
    // A fault within 37 bytes is reported before 44 have come; input too short for either form fails as a slice does.
    let broken = Packet { version: [2, 0], schemes: [0, 7, 0], ..Packet::v2(b"") }.write();
    for data in [&broken[..37], &broken[..40], b"X", b"\x57\x1d", b"\x57\x1e", b""] {
        let whole = read(data, ParseOptions::STRICT).map(|(text, _)| text);
        assert_eq!(decode([data].into_iter(), ParseOptions::STRICT).map(|(text, ..)| text), whole);
    }
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    assert_eq!(decoder.form(), None);
    assert!(matches!(decoder.step(&mut &b"\x1e{}"[..]), Ok(Step::Content(b"\x1e{}"))));
    assert_eq!((decoder.form(), decoder.finish()), (Some(Form::Plain), Ok(None)));
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let error = decoder.step(&mut &b"AMD_RDF "[..]).unwrap_err();
    assert_eq!((error.offset(), error.element()), (0, METADATA));
    assert_eq!((decoder.step(&mut &b"more"[..]).unwrap_err(), decoder.finish().unwrap_err()), (error, error));
}

/// Missing padding is the warning that it is in a slice, as soon as the content has been handed out.
#[test]
fn decoder_says_what_padding_is_missing() {
    let text = b"\x1e{\"type\":\"preamble\",\"version\":2}";
    let data = stream(text.chunks(20), |content| Packet::v2(content).padding(b"ppp"));
    for missing in 0..=3 {
        let data = &data[..data.len() - missing];
        let kind = ErrorKind::UnexpectedEnd { needed: missing as u64 };
        let end = (data.len() - 3 + missing) as u64;
        let expected = (missing > 0).then(|| Finding::warning(Error::new(end, PADDING, kind)));
        assert_eq!(findings(data), Vec::from_iter(expected));
        for size in [1, 5, data.len()] {
            let found = decode(data.chunks(size), ParseOptions::STRICT).unwrap();
            assert_eq!(found, (text.to_vec(), 2, expected), "{missing} {size}");
        }
    }
    for (padding, expected) in
        [(&b""[..], None), (b"pp", Some(Error::new(47, PADDING, ErrorKind::UnexpectedEnd { needed: 2 })))]
    {
        let data = Packet::v2(b"\x1e{}").padding(padding).write();
        let (mut decoder, mut input) = (Decoder::new(ParseOptions::STRICT), &data[..]);
        while !matches!(decoder.step(&mut input), Ok(Step::Content(_))) {}
        assert_eq!(decoder.finish(), Ok(expected.map(Finding::warning)));
    }
}

/// A header of 37 bytes that claims version 2 may be read with bytes of the next one, which `finish` must not overlook.
#[test]
fn decoder_says_that_a_header_read_with_another_is_cut() {
    let short = |content: &[u8]| Packet { version: [2, 0], ..Packet::v1(content) };
    let data = stream([&b"\x1e{}"[..], b""], short);
    let mut decoder = Decoder::new(ParseOptions::LENIENT);
    let mut input = &data[..44];
    assert!(matches!(decoder.step(&mut input), Ok(Step::Packet(header)) if header.header_bytes() == 37));
    for step in 0..3 {
        let kind = ErrorKind::UnexpectedEnd { needed: 33 };
        assert_eq!(decoder.finish(), Err(Error::new(40, PACKET_HEADER, kind)), "{step}");
        match decoder.step(&mut input).unwrap() {
            Step::Content(content) => assert_eq!((step, content), (0, &b"\x1e{}"[..])),
            Step::NeedMore(needed) => assert_eq!(needed, 33),
            other => panic!("{other:?}"),
        }
    }
    let mut input = &data[44..];
    assert!(matches!(decoder.step(&mut input), Ok(Step::Packet(header)) if header.offset() == 40));
    assert_eq!(decoder.finish(), Ok(None));
}

/// The signature of plain TSDL is no header.
#[test]
fn plain_tsdl_arrives_in_parts() {
    let text = b"/* CTF 1.8 */\ntrace { major = 1; };";
    for size in 1..=text.len() {
        assert_eq!(decode(text.chunks(size), ParseOptions::STRICT), Ok((text.to_vec(), 0, None)), "{size}");
    }
    for len in 0..10 {
        for data in [text[..len].to_vec(), [&text[..len], b"x"].concat()] {
            let whole = MetadataStream::parse(&data).map(|_| data.clone());
            for size in [1, 2, 20] {
                let found = decode(data.chunks(size), ParseOptions::STRICT).map(|(text, ..)| text);
                assert_eq!(found, whole, "{data:?}");
            }
        }
    }
}
