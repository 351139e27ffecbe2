//! RDF: opening, listing and looking up in an index of 100,000 entries.
//!
//!     cargo bench --bench rdf

#[path = "../tests/common/rdf.rs"]
#[allow(dead_code)]
mod builder;

use divan::{Bencher, black_box, counter::ItemsCount};
use std::sync::LazyLock;
use traceglass::rdf::{File, Identifier};

const ENTRIES: u32 = 100_000;
const IDENTIFIERS: u32 = 1_000;

/// 1,000 identifiers, interleaved, 100 chunks each.
static DATA: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let chunks: Vec<_> =
        (0..ENTRIES).map(|n| builder::Chunk::raw(&format!("Chunk{}", n % IDENTIFIERS), b"data")).collect();
    builder::file(&chunks)
});

fn main() {
    divan::main();
}

#[divan::bench]
fn open() -> usize {
    File::parse(black_box(&DATA)).unwrap().index().len()
}

/// Every field of every entry.
#[divan::bench]
fn iterate(bencher: Bencher) {
    let file = File::parse(&DATA).unwrap();
    bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| {
        black_box(file).entries().fold(0_u64, |sum, entry| {
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
    });
}

#[divan::bench]
fn sort(bencher: Bencher) {
    let file = File::parse(&DATA).unwrap();
    let mut storage = vec![0; ENTRIES as usize];
    bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| file.sort(black_box(&mut storage)).map(|_| ()));
}

/// 10,000 lookups of random identifiers and numbers: by binary search, and with room for a hash table.
#[divan::bench(args = [1, 2])]
fn look_up_sorted(bencher: Bencher, places_an_entry: usize) {
    let file = File::parse(&DATA).unwrap();
    let mut storage = vec![0; ENTRIES as usize * places_an_entry];
    let sorted = file.sort(&mut storage).unwrap();
    let mut random = 1_u32;
    let asked: Vec<(Identifier, usize)> = (0..10_000)
        .map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (id, n) = ((random >> 8) % IDENTIFIERS, (random >> 20) % (ENTRIES / IDENTIFIERS));
            (Identifier::from(format!("Chunk{id}").as_str()), n as usize)
        })
        .collect();
    bencher.counter(ItemsCount::new(asked.len())).bench_local(|| {
        let found = asked.iter().filter(|(id, n)| sorted.chunk(*id, *n).is_some()).count();
        assert_eq!(found, asked.len());
    });
}

/// The size of 100,000 chunks' data, borrowed.
#[divan::bench]
fn borrow_data(bencher: Bencher) {
    let file = File::parse(&DATA).unwrap();
    bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| {
        (0..ENTRIES as usize).filter_map(|n| file.chunk_at(n)?.stored().ok()).map(<[u8]>::len).sum::<usize>()
    });
}
