//! CTF 2 metadata in packets of 4 KiB.

#[path = "../../tests/common/ctf.rs"]
pub mod builder;

use traceglass::ctf::metadata::{Decoder, MetadataStream, ParseOptions, Step, compact};

pub fn data(bytes: usize) -> Vec<u8> {
    builder::large(bytes >> 12)
}

fn stream(data: &[u8]) -> MetadataStream<'_> {
    MetadataStream::parse(data).expect("a stream")
}

/// The length of the text, from its borrowed pieces.
pub fn pieces(data: &[u8]) -> u64 {
    stream(data).pieces().map(|piece| piece.expect("a piece").len() as u64).sum()
}

/// The length of the text, moved together in place.
pub fn compacted(data: &mut [u8]) -> u64 {
    compact(data, ParseOptions::STRICT).expect("a stream").text().len() as u64
}

pub fn copied(data: &[u8], target: &mut [u8]) -> u64 {
    stream(data).text().expect("a text").copy_to(target).expect("room").len() as u64
}

/// The number of fragments.
pub fn fragments(data: &[u8]) -> u64 {
    stream(data).fragments().count() as u64
}

/// The number of fragments whose kind is known.
pub fn kinds(data: &[u8]) -> u64 {
    let known =
        stream(data).fragments().filter(|fragment| fragment.as_ref().is_ok_and(|one| one.kind().is_ok()));
    known.count() as u64
}

/// The number of findings.
pub fn check(data: &[u8]) -> u64 {
    let mut findings = 0;
    let summary = stream(data).check(&mut |_| findings += 1).expect("a stream");
    findings + summary.items()
}

/// The length of the text, as it comes over a network: 1,500 bytes at a time.
pub fn decoder(data: &[u8]) -> u64 {
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let mut read = 0;
    for mut part in data.chunks(1500) {
        loop {
            match decoder.step(&mut part).expect("a stream") {
                Step::Content(content) => read += content.len() as u64,
                Step::NeedMore(_) => break,
                _ => {}
            }
        }
    }
    read
}
