//! RDF: an index of many entries, and many raw chunks.

#[path = "../../tests/common/rdf.rs"]
pub mod builder;

use traceglass::rdf::{File, Identifier, SortedIndex};

/// Different identifiers in an index; they take turns.
pub const IDENTIFIERS: u32 = 1_000;

pub fn index(entries: u32) -> Vec<u8> {
    let chunks: Vec<_> =
        (0..entries).map(|n| builder::Chunk::raw(&format!("Chunk{}", n % IDENTIFIERS), b"data")).collect();
    builder::file(&chunks)
}

/// Raw chunks of 64 KiB.
pub fn raw_chunks(bytes: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..65_536_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    builder::file(&vec![builder::Chunk::raw("Raw", &data); bytes >> 16])
}

/// Every field of every entry.
pub fn iterate(file: File<'_>) -> u64 {
    file.entries().fold(0_u64, |sum, entry| {
        let id = entry.identifier_bytes();
        let fields = [
            entry.header_offset(),
            entry.header_size(),
            entry.data_offset(),
            entry.stored_size(),
            entry.data_size(),
        ];
        let sum = fields.iter().fold(sum, |sum, &field| sum.wrapping_add(field as u64));
        sum.wrapping_add(
            u64::from(id[5]) + u64::from(entry.version()) + u64::from(entry.compression().number()),
        )
    })
}

/// Random identifiers and numbers that are in the index.
pub fn asked(entries: u32, count: usize) -> Vec<(String, usize)> {
    let mut random = 1_u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (id, n) = ((random >> 8) % IDENTIFIERS, (random >> 20) % (entries / IDENTIFIERS));
        (format!("Chunk{id}"), n as usize)
    };
    (0..count).map(|_| next()).collect()
}

/// The places in the file of the chunks asked for, summed up.
pub fn look_up(sorted: &SortedIndex<'_, '_>, asked: &[(Identifier, usize)]) -> u64 {
    asked.iter().fold(0, |sum, &(id, n)| {
        let chunk = sorted.chunk(id, n).expect("it is there");
        sum.wrapping_add(chunk.entry().data_offset() as u64)
    })
}

/// The sizes of all chunks, borrowed.
pub fn borrow(file: File<'_>) -> u64 {
    (0..file.index().len())
        .filter_map(|n| file.chunk_at(n)?.stored().ok())
        .map(|data| data.len() as u64)
        .sum()
}
