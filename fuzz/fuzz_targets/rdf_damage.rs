//! A file as it was written, then damaged at one place: what the damage does not touch is delivered as it was.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/common/rdf.rs"]
mod build;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::ops::Range;
use traceglass::rdf::{self, Compression, File};
use traceglass::zstd::Workspace;
use traceglass::{Error, ErrorKind, Finding, Severity};
use traceglass_fuzz::damage::{Damage, Damaged};
use traceglass_fuzz::{found, lies_in, located, located_in};

thread_local! {
    static WORKSPACE: RefCell<Workspace> = const { RefCell::new(Workspace::new()) };
}

#[derive(Arbitrary, Debug)]
struct Recipe {
    parts: Vec<Part>,
    /// The number of chunks before the index.
    before_index: u8,
    damage: Damage,
}

#[derive(Arbitrary, Debug)]
struct Part {
    identifier: Identifier,
    version: u32,
    header: Vec<u8>,
    data: Vec<u8>,
    repeats: u8,
    compression: How,
    /// Bytes that belong to nothing.
    gap: u8,
    data_first: bool,
}

#[derive(Arbitrary, Debug)]
enum Identifier {
    Any([u8; 16]),
    One,
    Other,
}

#[derive(Arbitrary, Debug)]
enum How {
    Raw,
    Zstd,
    Other(u8),
}

/// A chunk that was written, and where.
struct Written {
    chunk: build::Chunk,
    data: Vec<u8>,
    header_at: Range<usize>,
    stored_at: Range<usize>,
    entry_at: Range<usize>,
}

fuzz_target!(|recipe: Recipe| {
    let (whole, written, index) = write(&recipe);
    read_back(&whole, &written);
    let mut marks = vec![8, 12, 16, 24, 32, index.start, index.end, whole.len()];
    for one in &written {
        marks.extend([one.header_at.start, one.stored_at.start, one.stored_at.end]);
        marks.extend([0, 16, 20, 24, 32, 40, 48, 56].map(|at| one.entry_at.start + at));
    }
    let damaged = recipe.damage.apply(&whole, &marks);
    read_damaged(&damaged, &written, index);
});

fn write(recipe: &Recipe) -> (Vec<u8>, Vec<Written>, Range<usize>) {
    let parts = &recipe.parts[..recipe.parts.len().min(12)];
    let before = usize::from(recipe.before_index).min(parts.len());
    let mut file = vec![0; 32];
    let mut written: Vec<Written> = Vec::new();
    let mut index = 0..0;
    for place in 0..=parts.len() {
        if place == before {
            index = file.len()..file.len() + parts.len() * 64;
            file.resize(index.end, 0);
        }
        let Some(part) = parts.get(place) else { break };
        let chunk = part.chunk();
        file.resize(file.len() + usize::from(part.gap % 16), 0xee);
        let mut put = |bytes: &[u8]| {
            file.extend(bytes);
            file.len() - bytes.len()..file.len()
        };
        let (header_at, stored_at) = if part.data_first {
            let stored_at = put(&chunk.0.stored);
            (put(&chunk.0.header), stored_at)
        } else {
            (put(&chunk.0.header), put(&chunk.0.stored))
        };
        written.push(Written { chunk: chunk.0, data: chunk.1, header_at, stored_at, entry_at: 0..0 });
    }
    file[..32].copy_from_slice(&build::header(index.start as i64, index.len() as i64));
    for (one, at) in written.iter_mut().zip((index.start..).step_by(64)) {
        one.entry_at = at..at + 64;
        let entry = build::entry(&one.chunk, one.header_at.start as i64, one.stored_at.start as i64);
        file[one.entry_at.clone()].copy_from_slice(&entry);
    }
    (file, written, index)
}

impl Part {
    /// The chunk, and what it holds.
    fn chunk(&self) -> (build::Chunk, Vec<u8>) {
        let data = self.data[..self.data.len().min(300)].repeat(1 + usize::from(self.repeats));
        let chunk = match self.compression {
            How::Raw => build::Chunk::raw("", &data),
            How::Zstd => build::Chunk::zstd("", &data),
            How::Other(number) => build::Chunk {
                compression: number.max(2),
                uncompressed_size: data.len() as i64,
                ..build::Chunk::raw("", &data)
            },
        };
        let identifier = match self.identifier {
            Identifier::Any(bytes) => bytes.to_vec(),
            Identifier::One => b"Snapshot".to_vec(),
            Identifier::Other => b"TraceProcessInfo".to_vec(),
        };
        let header = &self.header[..self.header.len().min(100)];
        (build::Chunk { identifier, ..chunk }.header(header).version(self.version), data)
    }
}

/// The data of a chunk, decompressed.
fn data_of(chunk: &rdf::Chunk<'_>) -> Result<Vec<u8>, Error> {
    // The size is a claim: what is lent has a limit.
    let size = chunk.entry().output_size().unwrap_or(0).min(1 << 17);
    let mut buffer = vec![0; size as usize];
    WORKSPACE.with_borrow_mut(|workspace| chunk.data(&mut buffer, workspace).map(<[u8]>::to_vec))
}

fn findings(file: &File<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 1 << 17];
    WORKSPACE.with_borrow_mut(|workspace| {
        file.check(&mut buffer, workspace, &mut |finding| {
            found(&finding);
            all.push(finding);
        })
        .unwrap();
    });
    all
}

fn entry_findings(file: &File<'_>, number: usize) -> Vec<Finding> {
    let mut all = Vec::new();
    file.check_entry(file.index().get(number).unwrap(), &mut |finding| all.push(finding)).unwrap();
    all
}

fn read_back(whole: &[u8], written: &[Written]) {
    let file = File::parse(whole).unwrap();
    assert_eq!(file.index().len(), written.len());
    let mut order = vec![0; written.len()];
    let sorted = file.sort(&mut order).unwrap();
    for (number, one) in written.iter().enumerate() {
        let chunk = file.chunk_at(number).unwrap();
        entry_is(chunk.entry(), one);
        let header = chunk.header().unwrap();
        let stored = chunk.stored().unwrap();
        assert!(header == one.chunk.header && stored == one.chunk.stored);
        lies_in(header, whole);
        lies_in(stored, whole);
        match data_of(&chunk) {
            Ok(data) => assert!(data == one.data),
            Err(error) => {
                let value = one.chunk.compression.into();
                let at = one.entry_at.start as u64 + 16;
                assert_eq!(
                    error,
                    Error::new(at, rdf::element::COMPRESSION, ErrorKind::Unsupported { value })
                );
            }
        }
        let id = chunk.entry().identifier();
        let n = written[..number].iter().filter(|other| name(other) == name(one)).count();
        assert_eq!(sorted.chunk(id, n).unwrap().entry().number(), number);
        assert_eq!(file.chunk(id, n).unwrap().entry().number(), number);
    }
    let errors = findings(&file).iter().filter(|finding| finding.severity() == Severity::Error).count();
    assert_eq!(errors, written.iter().filter(|one| one.chunk.compression > 1).count());
    file.overlaps(&mut vec![0; written.len() * 2], &mut |finding| panic!("{finding}")).unwrap();
}

fn padded(one: &Written) -> Vec<u8> {
    let mut identifier = one.chunk.identifier.clone();
    identifier.resize(16, 0);
    identifier
}

/// The name that identifiers are compared by.
fn name(one: &Written) -> &[u8] {
    one.chunk.identifier.split(|byte| *byte == 0).next().unwrap()
}

fn entry_is(entry: rdf::Entry<'_>, one: &Written) {
    let chunk = &one.chunk;
    assert_eq!(entry.identifier_bytes()[..], padded(one));
    assert_eq!((entry.compression().number(), entry.version()), (chunk.compression, chunk.version));
    let ranges = (entry.header_range().unwrap(), entry.stored_range().unwrap());
    let bytes = |range: &Range<usize>| range.start as u64..range.end as u64;
    assert_eq!(ranges, (bytes(&one.header_at), bytes(&one.stored_at)));
    assert_eq!(entry.output_size().unwrap(), one.data.len() as u64);
    assert_eq!(entry.offset(), one.entry_at.start as u64);
}

fn read_damaged(damaged: &Damaged, written: &[Written], index: Range<usize>) {
    let data = &damaged.data[..];
    let opened = File::recover(data);
    let parsed = File::parse(data);
    let (file, gap) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            located_in(&error, data);
            assert_eq!(parsed.unwrap_err(), error);
            // Nothing but the file header closes a file.
            assert!(!damaged.keeps(&(0..12)) || data.len() < 32, "{error}");
            return;
        }
    };
    assert_eq!(parsed.err(), gap.map(|gap| gap.cause()));
    let all = findings(&file);
    // The four bytes between are reserved.
    if data.len() < 32 || !damaged.keeps(&(0..12)) || !damaged.keeps(&(16..32)) {
        return;
    }
    let (start, end) = (index.start, index.end);
    let needed = end.saturating_sub(data.len()) as u64;
    let at = start.min(data.len()) as u64;
    let cut = Error::new(at, rdf::element::CHUNK_INDEX, ErrorKind::UnexpectedEnd { needed });
    assert_eq!(gap.map(|gap| gap.cause()), (needed > 0).then_some(cut));
    assert_eq!(file.index().len(), end.min(data.len()).saturating_sub(start) / 64);

    let mut guilty = 0;
    for (number, one) in written.iter().enumerate().take(file.index().len()) {
        let chunk = file.chunk_at(number).unwrap();
        if !damaged.keeps(&one.entry_at) {
            guilty += 1;
            continue;
        }
        entry_is(chunk.entry(), one);
        part_is(chunk.header(), &one.header_at, 24, rdf::element::CHUNK_HEADER, one, data);
        part_is(chunk.stored(), &one.stored_at, 40, rdf::element::CHUNK_DATA, one, data);
        let content = data_of(&chunk);
        let is_whole = damaged.keeps(&one.stored_at) && one.stored_at.end <= data.len();
        match content {
            _ if chunk.entry().compression() == Compression::Other(one.chunk.compression) => guilty += 1,
            Ok(content) if is_whole => assert!(content == one.data),
            // A chunk without a checksum can become another one.
            Ok(content) => assert_eq!(content.len(), one.data.len()),
            Err(error) => {
                located(&error);
                assert!(!is_whole, "{error}");
                guilty += 1;
                if one.stored_at.end <= data.len() {
                    let offset = error.offset() as usize;
                    assert!(one.stored_at.start <= offset && offset <= one.stored_at.end, "{error}");
                }
            }
        }
        let is_in = |range: &Range<usize>| damaged.keeps(range) && range.end <= data.len();
        if is_whole && is_in(&one.header_at) {
            let names = one.chunk.identifier.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let odd = std::str::from_utf8(&one.chunk.identifier[..names]).is_err()
                || one.chunk.identifier[..names].contains(&0);
            // Oddities of before may be told; nothing else.
            let said = entry_findings(&file, number);
            assert!(said.is_empty() || odd, "{}", said[0]);
        } else if !is_in(&one.header_at) {
            guilty += 1;
        }
    }
    let errors = all.iter().filter(|finding| finding.severity() == Severity::Error).count();
    assert!(errors <= 2 * guilty, "{errors} errors of {guilty} chunks");
}

/// Asserts that an entry that was not damaged points to the bytes there now, or has the error that they are not there.
fn part_is(
    found: Result<&[u8], Error>,
    at: &Range<usize>,
    field: u64,
    element: traceglass::Element,
    one: &Written,
    data: &[u8],
) {
    match data.get(at.clone()) {
        Some(bytes) => {
            let found = found.unwrap();
            assert!(found == bytes);
            lies_in(found, data);
        }
        None => {
            let kind = ErrorKind::OutOfBounds { start: at.start as u64, size: at.len() as u64 };
            assert_eq!(found.unwrap_err(), Error::new(one.entry_at.start as u64 + field, element, kind));
        }
    }
}
