//! The text, borrowed, copied and compacted.

use crate::common::ctf::{self, Packet, stream, text};
use crate::common::{at_alignments, mutations};
use crate::{findings, forms, read};
use traceglass::ctf::element::*;
use traceglass::ctf::metadata::*;
use traceglass::{Error, ErrorKind, Finding};

#[test]
fn every_form_gives_the_text() {
    let text = text();
    for size in [1, 2, 3, 7, 64, 10_000] {
        for form in forms(text.as_bytes(), size) {
            assert_eq!(read(&form, ParseOptions::STRICT), Ok((text.clone().into_bytes(), None)));
            assert_eq!(read(&form, ParseOptions::LENIENT), Ok((text.clone().into_bytes(), None)));
            assert_eq!(findings(&form), []);
        }
    }
}

#[test]
fn text_is_borrowed_where_it_lies_together() {
    let plain = text();
    let parsed = MetadataStream::parse(plain.as_bytes()).unwrap();
    assert_eq!(parsed.text().unwrap().borrowed(), Some(plain.as_bytes()));
    assert_eq!((parsed.form(), parsed.uuid(), parsed.packets().count()), (Form::Plain, None, 0));

    // Empty packets do not tear it.
    let data = stream([&b""[..], plain.as_bytes(), b"", b""], Packet::v2);
    let parsed = MetadataStream::parse(&data).unwrap();
    assert_eq!(parsed.text().unwrap().borrowed(), Some(plain.as_bytes()));
    assert_eq!((parsed.packets().count(), parsed.pieces().count()), (4, 1));
    assert_eq!(parsed.text().unwrap().offset(), 88);

    let data = stream(plain.as_bytes().chunks(100), Packet::v2);
    let text = MetadataStream::parse(&data).unwrap().text().unwrap();
    assert_eq!(text.borrowed(), None);
    let mut small = vec![0; plain.len() - 1];
    let kind = ErrorKind::CapacityExceeded { capacity: small.len() as u64, needed: plain.len() as u64 };
    assert_eq!(text.copy_to(&mut small), Err(Error::new(44, TEXT, kind)));
    // No packets at all but empty ones.
    let data = stream([&b""[..], b""], Packet::v2);
    assert_eq!(read(&data, ParseOptions::STRICT), Ok((Vec::new(), None)));
    assert!(MetadataStream::parse(&data).unwrap().text().unwrap().is_empty());
}

/// Pieces say which packet comes next, or where plain text begins and ends.
#[test]
fn pieces_know_where_they_are() {
    let offsets = |data: &[u8]| {
        let stream = MetadataStream::parse(data).unwrap();
        let mut pieces = stream.pieces();
        let mut offsets = vec![pieces.offset()];
        while let Some(Ok(_)) = pieces.next() {
            offsets.push(pieces.offset());
        }
        (stream.uuid().is_some(), offsets)
    };
    assert_eq!(offsets(b"\x1e{\"a\":1}"), (false, vec![0, 8]));
    let data = stream([&b"\x1e{"[..], b"", b"}"], |content| Packet::v2(content).padding(b"pad"));
    assert_eq!(offsets(&data), (true, vec![0, 49, 49 + 47 + 48]));
    assert_eq!(MetadataStream::parse(&data).unwrap().uuid(), Some(Uuid::new(ctf::UUID)));
    // The end of a text is where its last piece ends, whatever follows.
    let data = stream([&b"\x1e{\"a\""[..], b":1}", b"\x1e{}"], Packet::v2);
    let fragment = MetadataStream::parse(&data).unwrap().fragments().next().unwrap().unwrap();
    let mut pieces = fragment.text().pieces();
    assert_eq!((pieces.offset(), pieces.next()), (45, Some(&b"{\"a\""[..])));
    assert_eq!((pieces.offset(), pieces.next()), (93, Some(&b":1}"[..])));
    assert_eq!((pieces.offset(), pieces.next(), pieces.offset()), (96, None, 96));
    // A packet that is cut stays where it is.
    let data = stream([&b"\x1e{}"[..], b"\x1e{}"], Packet::v2);
    assert_eq!(offsets(&data[..data.len() - 1]), (true, vec![0, 47]));
}

#[test]
fn tsdl_is_text() {
    let tsdl = b"/* CTF 1.8 */\ntypealias integer { size = 8; } := uint8_t;";
    let data = stream(tsdl.chunks(9), Packet::v1);
    let stream = MetadataStream::parse(&data).unwrap();
    assert_eq!((stream.language(), stream.has_tsdl_signature()), (Language::Tsdl, true));
    assert_eq!(stream.fragments().count(), 0);
    assert_eq!(read(&data, ParseOptions::STRICT).unwrap().0, tsdl);
    assert_eq!(findings(&data), []);
    let json = Packet::v1(b"\x1e{\"type\":\"preamble\",\"version\":2}").write();
    assert_eq!(MetadataStream::parse(&json).unwrap().language(), Language::Json);
    let odd = Packet::v1(b"event {}").write();
    let error = Error::new(37, TEXT, ErrorKind::BadMagic { found: *b"event {}" });
    assert_eq!(findings(&odd), [Finding::warning(error)]);
}

#[test]
fn mutants_neither_panic_nor_invent() {
    let text = text();
    for make in [Packet::v1, Packet::v2] {
        let data = stream(text.as_bytes().chunks(400), |content| make(content).padding(b"pp"));
        mutations(&data, |_, mutant| {
            for leniency in [ParseOptions::STRICT, ParseOptions::LENIENT] {
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
                stream
                    .check(&mut |finding| assert!(finding.cause().offset() <= mutant.len() as u64))
                    .unwrap();
            }
        });
    }
}

#[test]
fn alignment_does_not_matter() {
    let text = text();
    let data = stream(text.as_bytes().chunks(70), Packet::v2);
    at_alignments(&data, |data| {
        assert_eq!(read(data, ParseOptions::STRICT), Ok((text.clone().into_bytes(), None)));
        assert_eq!(MetadataStream::parse(data).unwrap().fragments().count(), 6);
    });
}
