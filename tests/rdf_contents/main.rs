//! The content of RDF chunks: chunks of our own, whole, cut and changed.

#[path = "../common/mod.rs"]
mod common;
mod fault;
mod in_flight;
mod joins;
mod records;

use common::rdf::Chunk;
use common::rdf_contents as build;
use common::{lies_in, mutations, prefixes};
use traceglass::rdf::Identifier;
use traceglass::rdf::contents::{Content, Structure};
use traceglass::{ErrorKind, Severity};

/// Parses a chunk, reads everything in it, and gives what is wrong; asserts that errors are located.
fn read(chunk: &Chunk, header: &[u8], data: &[u8]) -> Vec<(u64, &'static str)> {
    let id = std::str::from_utf8(&chunk.identifier).unwrap().try_into().unwrap();
    for structure in Structure::of_chunk(id, chunk.version, header, data) {
        assert!(lies_in(structure.bytes(), header) || lies_in(structure.bytes(), data));
        for field in structure.fields() {
            let values = field.values(structure.bytes()).count();
            assert!(values > 0 && (values > 1) == field.is_array(), "{field:?}");
        }
    }
    let most = header.len().max(data.len()) as u64;
    let mut found = Vec::new();
    match Content::parse(id, chunk.version, header, data) {
        Err(error) => found.push((error.offset(), error.kind().code())),
        Ok(content) => {
            let mut report = |finding: traceglass::Finding| {
                found.push((finding.cause().offset(), finding.cause().kind().code()));
            };
            content.check(&mut report);
            if let Content::Rmt(rmt) = content {
                rmt.stream().check(&mut report);
                for token in rmt.tokens().flatten() {
                    assert!(lies_in(token.bytes(), data));
                    let _ = format!("{:?}", token.value());
                }
                nothing_after_an_error(rmt.tokens());
            }
            if let Content::DriverEvents(events) = content {
                for event in events.events().flatten() {
                    assert!(lies_in(event.payload(), data));
                    let _ = format!("{:?}", event.value());
                }
                nothing_after_an_error(events.events());
            }
            if let Content::CodeObject(code) = content {
                let _ = (
                    code.pipeline_note().and_then(|note| note.hash()),
                    code.elf().map(|elf| elf.functions().count()),
                );
            }
        }
    }
    assert!(found.iter().all(|(offset, _)| *offset <= most), "{found:?}");
    found
}

fn nothing_after_an_error<T>(mut items: impl Iterator<Item = traceglass::Result<T>>) {
    while let Some(item) = items.next() {
        if item.is_err() {
            assert!(items.next().is_none() && items.next().is_none(), "something after an error");
        }
    }
    assert!(items.next().is_none());
}

#[test]
fn whole_chunks_have_no_findings() {
    for chunk in build::chunks() {
        let id = String::from_utf8_lossy(&chunk.identifier).into_owned();
        assert_eq!(read(&chunk, &chunk.header, &chunk.stored), [], "{id} {}", chunk.version);
    }
}

/// Each prefix of header and data is read, or is an error at a place in it.
#[test]
fn prefixes_are_read_or_located() {
    for chunk in build::chunks() {
        let id = String::from_utf8_lossy(&chunk.identifier).into_owned();
        for data in prefixes(&chunk.stored) {
            read(&chunk, &chunk.header, data);
        }
        for header in prefixes(&chunk.header) {
            let found = read(&chunk, header, &chunk.stored);
            // A header that is cut is an error at its start, whatever the data.
            if header.len() < chunk.header.len() && !matches!(id.as_str(), "DDEvent" | "SqttData") {
                assert_eq!(found, [(0, "unexpected-end")], "{id} of {} bytes", header.len());
            }
        }
    }
}

/// Each byte at its extremes.
#[test]
fn changed_chunks_are_read_or_located() {
    for chunk in build::chunks() {
        mutations(&chunk.stored, |_, data| {
            read(&chunk, &chunk.header, data);
        });
        mutations(&chunk.header, |_, header| {
            read(&chunk, header, &chunk.stored);
        });
    }
}

/// Each four bytes at the extremes of a count.
#[test]
fn extremes_of_fields_are_read_or_located() {
    for chunk in build::chunks() {
        for extreme in [0, 1, u32::MAX, u32::MAX >> 1, 1 << 31, 0x4000_0000] {
            for at in 0..chunk.header.len().saturating_sub(3) {
                let mut header = chunk.header.clone();
                header[at..at + 4].copy_from_slice(&extreme.to_le_bytes());
                read(&chunk, &header, &chunk.stored);
            }
            for at in 0..chunk.stored.len().saturating_sub(3) {
                let mut data = chunk.stored.clone();
                data[at..at + 4].copy_from_slice(&extreme.to_le_bytes());
                read(&chunk, &chunk.header, &data);
            }
        }
    }
}

#[test]
fn versions_that_are_not_known_are_refused() {
    for chunk in build::chunks() {
        let id = String::from_utf8_lossy(&chunk.identifier).into_owned();
        if matches!(id.as_str(), "RawAccelStruct" | "HistoryMetadata") {
            continue; // Their versions are those of another library.
        }
        for version in [0, 77, u32::MAX] {
            let error =
                Content::parse(id.as_str().try_into().unwrap(), version, &chunk.header, &chunk.stored)
                    .unwrap_err();
            let supported = matches!(error.kind(), ErrorKind::UnsupportedVersion { found, .. } if found == u64::from(version));
            assert!(supported && error.offset() == 0, "{id}: {error}");
        }
    }
}

/// A count that the data cannot hold is found where it stands; the records that are there are read.
#[test]
fn counts_are_held_against_the_data() {
    let loads = build::chunks().into_iter().find(|chunk| chunk.identifier == b"COLoadEvent").unwrap();
    let header = 5_u32.to_le_bytes();
    let content = Content::parse("COLoadEvent".try_into().unwrap(), 3, &header, &loads.stored).unwrap();
    let Content::LoadEvents(events) = content else { panic!("{content:?}") };
    assert_eq!(events.events().map(|event| event.fields().ticks()).collect::<Vec<_>>(), [9]);
    let mut found = Vec::new();
    content.check(&mut |finding| found.push(finding));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity(), Severity::Error);
    assert_eq!(found[0].cause().kind(), ErrorKind::CountTooLarge { claimed: 5, max: 1 });
    assert_eq!(found[0].cause().element(), traceglass::rdf::element::LOAD_EVENTS_HEADER);
}

/// A pipeline's name without a NUL is found where the name begins, in whichever record and version.
#[test]
fn names_without_an_end_are_located() {
    for (version, record, name_at) in [(1, 88, 24), (2, 96, 32), (3, 96, 32)] {
        let mut data = vec![0_u8; record * 3];
        for broken in [0, 2] {
            data[broken * record + name_at..][..64].fill(b'x');
        }
        let header: &[u8] = if version == 1 { &[] } else { &[3, 0, 0, 0] };
        let content = Content::parse("PsoCorrelation".try_into().unwrap(), version, header, &data).unwrap();
        let mut found = Vec::new();
        content.check(&mut |finding| {
            found.push((finding.severity(), finding.cause().offset(), finding.cause().kind()));
        });
        let expected = [0, 2].map(|number| (number * record + name_at) as u64);
        let expected = expected.map(|at| (Severity::Warning, at, ErrorKind::Missing));
        assert_eq!(found, expected, "version {version}");
    }
}

#[test]
fn what_is_not_known_stays_bytes() {
    let content = Content::parse("Vendor".try_into().unwrap(), 9, b"head", b"data").unwrap();
    assert!(matches!(content, Content::Unknown { header: b"head", data: b"data", .. }));
}

/// A queue event's identifier is compared before the others, but only up to its first NUL does it count.
#[test]
fn a_queue_event_is_one_whatever_follows_its_name() {
    let chunk = build::chunks().into_iter().find(|chunk| chunk.identifier == b"QueueEvent").unwrap();
    let plain = Identifier::new("QueueEvent").unwrap();
    let odd = Identifier::from_bytes(*b"QueueEvent\0more!");
    let longer = Identifier::from_bytes(*b"QueueEvents\0\0\0\0\0");
    let parse = |identifier, version, data| match Content::parse(identifier, version, &[], data) {
        Ok(Content::QueueEvent(event)) => Ok(event.cpu_ticks()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err((error.offset(), error.element(), error.kind())),
    };
    let whole = chunk.stored.as_slice();
    assert!(parse(plain, 1, whole).is_ok_and(|ticks| ticks > 0));
    assert_eq!(
        parse(plain, 2, whole).unwrap_err().2,
        ErrorKind::UnsupportedVersion { found: 2, supported: 1 }
    );
    assert_eq!(parse(plain, 1, &whole[..70]).unwrap_err().2, ErrorKind::UnexpectedEnd { needed: 2 });
    for (version, data) in [(1, whole), (2, whole), (1, &whole[..70])] {
        assert_eq!(parse(odd, version, data), parse(plain, version, data), "{version}");
    }
    assert!(matches!(Content::parse(longer, 1, &[], whole), Ok(Content::Unknown { .. })));
}
