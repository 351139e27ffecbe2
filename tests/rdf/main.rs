//! RDF as deployed: every rule, damage everywhere, at any alignment.
#![cfg(feature = "rdf")]

#[path = "../common/mod.rs"]
mod common;

mod chunk;
mod identifier;
mod write;

use common::rdf::{Chunk, entry, file, header, sample};
use traceglass::rdf::{self, Compression, Decompress, File, Header, Index, NoDecoder};
use traceglass::{Error, ErrorKind, Finding, Result, Severity};

/// Stands in for a zstd decoder: the frames of these tests hold raw and RLE blocks only.
struct Blocks;

impl Decompress for Blocks {
    fn supports(&self, compression: Compression) -> bool {
        compression == Compression::Zstd
    }

    fn decompress(&mut self, _: Compression, stored: &[u8], output: &mut [u8]) -> Result<usize> {
        let bad = |at: usize| {
            Error::new(at as u64, rdf::element::CHUNK_DATA, ErrorKind::Invalid { value: at as u64 })
        };
        if !stored.starts_with(&[0x28, 0xb5, 0x2f, 0xfd, 0xa0]) {
            return Err(bad(0));
        }
        let (mut at, mut written) = (9, 0);
        loop {
            let block = stored.get(at..at + 3).ok_or(bad(at))?;
            let block = u32::from_le_bytes([block[0], block[1], block[2], 0]);
            let (size, kind) = ((block >> 3) as usize, block >> 1 & 3);
            let stored_size = if kind == 1 { 1 } else { size };
            let bytes = stored.get(at + 3..at + 3 + stored_size).ok_or(bad(at))?;
            let room = output.get_mut(written..written + size).ok_or(bad(at))?;
            room.iter_mut().zip(bytes.iter().cycle()).for_each(|(to, from)| *to = *from);
            written += size;
            at += 3 + stored_size;
            if block & 1 == 1 {
                return Ok(written);
            }
        }
    }
}

/// Everything that `check` finds.
fn findings(data: &[u8]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    match File::recover(data) {
        Ok((file, gap)) => {
            found.extend(gap.map(|gap| Finding::new(Severity::Error, gap.cause())));
            let before = found.len() as u64;
            let summary = file.check(&mut buffer, &mut Blocks, &mut |finding| found.push(finding)).unwrap();
            assert_eq!(summary.errors() + summary.warnings(), found.len() as u64 - before);
            assert!(summary.items() <= file.index().len() as u64);
            let mut storage = vec![0; file.index().len() * 2];
            file.overlaps(&mut storage, &mut |finding| found.push(finding)).unwrap();
        }
        Err(error) => found.push(Finding::new(Severity::Error, error)),
    }
    found
}

/// The warnings of the header and of each entry, each checked on its own; together they are those of the whole.
fn apart(data: &[u8]) -> Vec<u64> {
    let file = File::parse(data).unwrap();
    let mut found = Vec::new();
    let mut warnings = vec![file.check_header(&mut |finding| found.push(finding)).unwrap().warnings()];
    for entry in file.entries() {
        warnings.push(file.check_entry(entry, &mut |finding| found.push(finding)).unwrap().warnings());
    }
    assert_eq!(found, findings(data));
    warnings
}

/// A valid file with one raw chunk, its entry changed by `change` before it is written.
fn with_entry(change: impl FnOnce(&mut [u8; 64])) -> Vec<u8> {
    let chunk = Chunk::raw("id", b"data").header(b"head");
    let mut changed = entry(&chunk, 32, 36);
    change(&mut changed);
    [&header(40, 64)[..], b"head", b"data", &changed].concat()
}

fn put(bytes: &mut [u8], at: usize, value: i64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let data = sample();
    let file = File::parse(&data).unwrap();
    let seen: Vec<_> = file
        .entries()
        .map(|entry| {
            (
                entry.identifier().text().unwrap().to_owned(),
                entry.compression(),
                entry.version(),
                entry.data_size(),
            )
        })
        .collect();
    let expected = [
        ("AsicInfo", Compression::None, 1, 15),
        ("DDEvent", Compression::Zstd, 2, 156),
        ("TraceProcessInfo", Compression::None, 1, 8),
        ("Snapshot", Compression::Zstd, 1, 70_000),
        ("Snapshot", Compression::Zstd, 1, 300),
        ("", Compression::None, 1, 0),
    ];
    assert_eq!(seen, expected.map(|(id, kind, version, size)| (id.to_owned(), kind, version, size)));
    assert_eq!(file.header().index_offset() as u64, file.index().offset());
    assert_eq!((file.index().len(), file.entries().len(), file.index().is_empty()), (6, 6, false));

    let asic = file.chunk("AsicInfo", 0).unwrap();
    assert_eq!(asic.header().unwrap(), [1, 0, 0, 0]);
    let borrowed = asic.data(&mut [], &mut NoDecoder).unwrap();
    assert_eq!(borrowed, b"gfx1100 Navi 31");
    assert!(common::lies_in(borrowed, &data));

    let second = file.chunk("Snapshot", 1).unwrap();
    assert_eq!(second.header().unwrap(), b"after");
    assert_eq!(second.data(&mut [0; 300], &mut Blocks).unwrap(), [0x5a; 300]);
    assert!(file.chunk("Snapshot", 2).is_none());
    assert!(file.chunk("Snap", 0).is_none());
    assert_eq!(file.chunks("Snapshot").count(), 2);
    assert_eq!(file.index().count("Snapshot"), 2);
    assert_eq!(file.entries().rev().map(|entry| entry.number()).collect::<Vec<_>>(), [5, 4, 3, 2, 1, 0]);
    assert_eq!(file.entries().nth(2).unwrap().number(), 2);
    assert_eq!(findings(&data), []);
    let debug = format!("{file:?} {asic:?}");
    assert!(
        debug.starts_with("File { len: ")
            && debug.contains("header: Header { magic: \"AMD_RDF \", version: 3, "),
        "{debug}"
    );
    assert_eq!(file.header().version(), 3);
    let index = file.index();
    assert_eq!(format!("{index:?}"), format!("Index {{ offset: {}, len: 6 }}", index.offset()));
    assert!(debug.contains("AsicInfo") && !debug.contains("Navi"), "{debug}");
}

#[test]
fn no_chunks_is_a_file() {
    let data = header(32, 0);
    let file = File::parse(&data).unwrap();
    assert_eq!(
        (file.index().len(), file.index().is_empty(), file.entries().next().is_none()),
        (0, true, true)
    );
    assert_eq!(findings(&data), []);
    // An index of no entries may be said to stand anywhere in the file.
    assert!(File::parse(&header(0, 0)).is_ok());
}

#[test]
fn every_alignment_reads_the_same() {
    let data = sample();
    let expected = format!("{:?}", File::parse(&data).unwrap().entries().collect::<Vec<_>>());
    common::at_alignments(&data, |data| {
        assert_eq!(format!("{:?}", File::parse(data).unwrap().entries().collect::<Vec<_>>()), expected);
    });
}

#[test]
fn every_prefix_says_what_is_lost() {
    let data = sample();
    let whole = File::parse(&data).unwrap();
    let index = whole.index().offset();
    for prefix in common::prefixes(&data) {
        let len = prefix.len() as u64;
        match File::recover(prefix) {
            Err(error) => {
                assert!(len < 32);
                let needed = 32 - len;
                assert_eq!(
                    error,
                    Error::new(0, rdf::element::FILE_HEADER, ErrorKind::UnexpectedEnd { needed })
                );
            }
            Ok((file, None)) => assert_eq!((len, file.index().len()), (data.len() as u64, 6)),
            Ok((file, Some(gap))) => {
                let error = gap.cause();
                // The bytes after the whole entries are lost.
                assert_eq!((gap.end(), gap.len()), (len, len.saturating_sub(index) % 64));
                let needed = data.len() as u64 - len;
                let kind = ErrorKind::UnexpectedEnd { needed };
                assert_eq!(error, Error::new(index.min(len), rdf::element::CHUNK_INDEX, kind));
                assert_eq!(File::parse(prefix).unwrap_err(), error);
                assert!(error.is_truncation());
                // No entry is invented: exactly those whose 64 bytes are there.
                assert_eq!(file.index().len() as u64, len.saturating_sub(index) / 64);
                for (kept, entry) in file.entries().zip(whole.entries()) {
                    assert_eq!(format!("{kept:?}"), format!("{entry:?}"));
                }
            }
        }
    }
}

#[test]
fn a_changed_byte_never_panics_and_errors_are_in_reach() {
    let data = file(&[Chunk::raw("AsicInfo", b"gfx").header(b"h"), Chunk::zstd("Data", &[7; 40])]);
    let mut buffer = [0; 4096];
    common::mutations(&data, |place, mutant| {
        let Ok((file, damage)) = File::recover(mutant) else {
            assert!(place < 12, "only the magic and the version are needed to open, not byte {place}");
            return;
        };
        assert!(damage.is_none() || (16..32).contains(&place), "{place}: {damage:?}");
        for entry in file.entries() {
            let chunk = file.chunk_at(entry.number()).unwrap();
            for part in [chunk.header(), chunk.stored()] {
                assert!(part.is_err() || common::lies_in(part.unwrap(), mutant));
            }
            if let Err(error) = chunk.data(&mut buffer, &mut Blocks) {
                assert!(error.offset() <= mutant.len() as u64, "{place}: {error}");
            }
        }
    });
}

/// Whatever its size, a part is the very bytes of the input that the index names, and no others with the same content.
#[test]
fn parts_are_lent_from_where_they_lie() {
    let text: Vec<u8> = (0..=255).collect();
    let chunks: Vec<Chunk> =
        (0..40).map(|len| Chunk::raw("Part", &text[..len * 3]).header(&text[len..len * 2])).collect();
    for data in [file(&chunks), sample()] {
        let parsed = File::parse(&data).unwrap();
        let at = |offset: i64, size: i64| data[offset as usize..][..size as usize].as_ptr_range();
        assert_eq!(parsed.header().magic().as_ptr(), data.as_ptr());
        for entry in parsed.entries() {
            let chunk = parsed.chunk_at(entry.number()).unwrap();
            let header = chunk.header().unwrap();
            if !header.is_empty() {
                assert_eq!(header.as_ptr_range(), at(entry.header_offset(), entry.header_size()));
            }
            let stored = chunk.stored().unwrap();
            if !stored.is_empty() {
                assert_eq!(stored.as_ptr_range(), at(entry.data_offset(), entry.stored_size()));
            }
            let identifier = at(entry.offset() as i64, 16);
            assert_eq!(entry.identifier_bytes().as_ptr_range(), identifier);
            if entry.compression() == Compression::None {
                let read = chunk.data(&mut [], &mut NoDecoder).unwrap();
                assert_eq!(read.as_ptr_range(), stored.as_ptr_range());
            }
        }
    }
}

#[test]
fn the_header_is_strict_about_magic_and_version() {
    let good = header(32, 0);
    assert!(!Header::parse(&good).unwrap().is_legacy());
    let mut legacy = good;
    legacy[..8].copy_from_slice(b"RTA_DATA");
    assert!(Header::parse(&legacy).unwrap().is_legacy());
    let warnings = findings(&legacy);
    assert_eq!(
        warnings,
        [Finding::warning(Error::new(0, rdf::element::FILE_HEADER, ErrorKind::LegacyMagic))]
    );

    let mut lower = good;
    lower[..8].copy_from_slice(b"amd_rdf ");
    let bad_magic = ErrorKind::BadMagic { found: *b"amd_rdf " };
    // Found even where the file is too short for a header.
    for data in [&lower[..], &lower[..8]] {
        assert_eq!(Header::parse(data).unwrap_err(), Error::new(0, rdf::element::FILE_HEADER, bad_magic));
    }
    for version in [0_u32, 4, 0x0001_0003, 0x0300_0000] {
        let mut data = good;
        data[8..12].copy_from_slice(&version.to_le_bytes());
        let kind = ErrorKind::UnsupportedVersion { found: version.into(), supported: 3 };
        assert_eq!(Header::parse(&data).unwrap_err(), Error::new(8, rdf::element::VERSION, kind));
    }
    assert!(rdf::detect(&good) && rdf::detect(&legacy) && !rdf::detect(&lower) && !rdf::detect(b"AMD_RDF"));
}

#[test]
fn reserved_fields_are_a_warning() {
    let mut data = header(32, 0);
    data[13] = 2;
    let kind = ErrorKind::ReservedNotZero { value: 0x200 };
    assert_eq!(findings(&data), [Finding::warning(Error::new(12, rdf::element::RESERVED, kind))]);
    assert_eq!(Header::parse(&data).unwrap().reserved(), 0x200);
    assert_eq!(apart(&data), [1]);

    let data = with_entry(|entry| entry[18] = 1);
    let kind = ErrorKind::ReservedNotZero { value: 0x100 };
    assert_eq!(findings(&data), [Finding::warning(Error::new(40 + 17, rdf::element::RESERVED, kind))]);
    assert_eq!(File::parse(&data).unwrap().entries().next().unwrap().reserved(), [0, 1, 0]);
    assert_eq!(apart(&data), [0, 1]);
}

#[test]
fn an_index_that_is_not_where_it_is_said_is_an_error() {
    let cases = [
        ((-1, 64), Error::new(16, rdf::element::INDEX_OFFSET, ErrorKind::Negative { value: -1 })),
        ((32, -64), Error::new(24, rdf::element::INDEX_SIZE, ErrorKind::Negative { value: -64 })),
        ((32, i64::MIN), Error::new(24, rdf::element::INDEX_SIZE, ErrorKind::Negative { value: i64::MIN })),
        ((0, 64), Error::new(0, rdf::element::CHUNK_INDEX, ErrorKind::Overlap { start: 0, size: 32 })),
        ((31, 64), Error::new(31, rdf::element::CHUNK_INDEX, ErrorKind::Overlap { start: 0, size: 32 })),
        ((33, 64), Error::new(33, rdf::element::CHUNK_INDEX, ErrorKind::UnexpectedEnd { needed: 1 })),
        ((1000, 0), Error::new(96, rdf::element::CHUNK_INDEX, ErrorKind::UnexpectedEnd { needed: 904 })),
    ];
    for ((offset, size), expected) in cases {
        let data = [&header(offset, size)[..], &[0; 64]].concat();
        assert_eq!(File::parse(&data).unwrap_err(), expected, "{offset} {size}");
        assert_eq!(File::recover(&data).unwrap().0.index().len(), 0, "{offset} {size}");
    }
    // The largest offset and size that the file can state still add up without wrapping.
    let data = header(i64::MAX, i64::MAX);
    assert_eq!(Header::parse(&data).unwrap().index_range(), Ok(i64::MAX as u64..u64::MAX - 1));
    let error = File::parse(&data).unwrap_err();
    assert_eq!((error.offset(), error.is_truncation()), (data.len() as u64, true));
}

#[test]
fn whole_entries_before_a_remainder_stay_readable() {
    for remainder in [1, 63] {
        let mut data = sample();
        let index = File::parse(&data).unwrap().index();
        let (offset, value) = (index.offset(), 6 * 64 - 64 + remainder);
        put(&mut data, 24, value as i64);
        let (file, gap) = File::recover(&data).unwrap();
        let gap = gap.unwrap();
        assert_eq!((gap.offset(), gap.len()), (offset + 5 * 64, remainder));
        let expected =
            Error::new(offset, rdf::element::CHUNK_INDEX, ErrorKind::NotMultiple { value, of: 64 });
        assert_eq!((gap.cause(), file.index().len()), (expected, 5));
        assert_eq!(Index::parse(&data[offset as usize..][..value as usize], offset).unwrap_err(), expected);
    }
}

#[test]
fn one_bad_entry_leaves_the_others_readable() {
    let cases: [(usize, i64, u64, traceglass::Element, ErrorKind); 10] = [
        (24, -1, 24, rdf::element::CHUNK_HEADER_OFFSET, ErrorKind::Negative { value: -1 }),
        (32, i64::MIN, 32, rdf::element::CHUNK_HEADER_SIZE, ErrorKind::Negative { value: i64::MIN }),
        (40, -1, 40, rdf::element::CHUNK_DATA_OFFSET, ErrorKind::Negative { value: -1 }),
        (48, -4, 48, rdf::element::CHUNK_DATA_SIZE, ErrorKind::Negative { value: -4 }),
        (24, 169, 24, rdf::element::CHUNK_HEADER, ErrorKind::OutOfBounds { start: 169, size: 4 }),
        (32, 1 << 30, 24, rdf::element::CHUNK_HEADER, ErrorKind::OutOfBounds { start: 32, size: 1 << 30 }),
        (40, 165, 40, rdf::element::CHUNK_DATA, ErrorKind::OutOfBounds { start: 165, size: 4 }),
        (40, 169, 40, rdf::element::CHUNK_DATA, ErrorKind::OutOfBounds { start: 169, size: 4 }),
        (48, 133, 40, rdf::element::CHUNK_DATA, ErrorKind::OutOfBounds { start: 36, size: 133 }),
        (
            48,
            i64::MAX,
            40,
            rdf::element::CHUNK_DATA,
            ErrorKind::OutOfBounds { start: 36, size: i64::MAX as u64 },
        ),
    ];
    for (field, value, at, element, kind) in cases {
        // Header, chunk header and data, the changed entry, a good entry.
        let good = entry(&Chunk::raw("good", b"data"), 36, 36);
        let mut bad = entry(&Chunk::raw("bad", b"data").header(b"head"), 32, 36);
        put(&mut bad, field, value);
        let data = [&header(40, 128)[..], b"headdata", &bad, &good].concat();
        assert_eq!(data.len(), 168);
        let file = File::parse(&data).unwrap();
        let chunk = file.chunk("bad", 0).unwrap();
        let expected = Error::new(40 + at, element, kind);
        let part = if field < 40 { chunk.header() } else { chunk.stored() };
        assert_eq!(part.unwrap_err(), expected);
        let other = if field < 40 { chunk.stored() } else { chunk.header() };
        assert!(other.is_ok());
        let good = file.chunk("good", 0).unwrap();
        assert_eq!(good.data(&mut [], &mut NoDecoder).unwrap(), b"data");
        let errors: Vec<_> =
            findings(&data).into_iter().filter(|one| one.severity() == Severity::Error).collect();
        assert_eq!(errors, [Finding::new(Severity::Error, expected)]);
    }
}

#[test]
fn layout_is_free_and_overlaps_are_warnings() {
    // Index first; a chunk whose data covers its own header, as RADV writes it; and an alias of it.
    let own = Chunk { stored: b"headdata".to_vec(), ..Chunk::raw("RawAccelStruct", b"").header(b"head") };
    let index = [entry(&own, 160, 160), entry(&own, 160, 160)].concat();
    let data = [&header(32, 128)[..], &index, b"headdata"].concat();
    let file = File::parse(&data).unwrap();
    for chunk in file.chunks("RawAccelStruct") {
        assert_eq!(chunk.header().unwrap(), b"head");
        assert_eq!(chunk.data(&mut [], &mut NoDecoder).unwrap(), b"headdata");
    }
    let found = findings(&data);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|finding| finding.severity() == Severity::Warning));
    let overlap = ErrorKind::Overlap { start: 160, size: 4 };
    assert_eq!(found[0], Finding::warning(Error::new(160, rdf::element::CHUNK_DATA, overlap)));
    let needed = ErrorKind::CapacityExceeded { capacity: 3, needed: 4 };
    assert_eq!(file.overlaps(&mut [0; 3], &mut |_| ()).unwrap_err().kind(), needed);

    // Data over the file header and the index.
    let over = Chunk { stored: vec![0; 96], ..Chunk::raw("over", b"") };
    let data = [&header(32, 64)[..], &entry(&over, 0, 0)].concat();
    let kind = ErrorKind::Overlap { start: 0, size: 32 };
    assert_eq!(findings(&data), [Finding::warning(Error::new(0, rdf::element::CHUNK_DATA, kind))]);
}
