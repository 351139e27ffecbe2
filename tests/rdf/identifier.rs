//! Chunks by identifier, one by one and sorted.

use crate::common::rdf::{Chunk, file, sample};
use crate::findings;
use std::hash::{BuildHasher, RandomState};
use traceglass::rdf::{self, File, Identifier};
use traceglass::{Error, ErrorKind, Severity};

fn id(text: &str) -> Identifier {
    Identifier::new(text).unwrap()
}

#[test]
fn identifiers_keep_their_bytes_and_compare_up_to_the_nul() {
    let ids: [&[u8]; 5] = [b"ab\0cd", b"ab", b"\0abc", b"\xff\xfe", b"\xed\xa0\x80"];
    let chunks: Vec<Chunk> =
        ids.iter().map(|id| Chunk { identifier: id.to_vec(), ..Chunk::raw("", b"x") }).collect();
    let data = file(&chunks);
    let file = File::parse(&data).unwrap();
    assert_eq!(file.index().count("ab"), 2);
    assert_eq!(file.chunk("ab", 1).unwrap().entry().number(), 1);
    assert_eq!(file.chunk("", 0).unwrap().entry().number(), 2);
    let first = file.entries().next().unwrap();
    assert_eq!(first.identifier_bytes(), b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(first.identifier().text(), Ok("ab"));
    assert!(file.entries().skip(3).all(|entry| entry.identifier().text().is_err()));
    let kinds: Vec<_> =
        findings(&data).iter().map(|finding| (finding.severity(), finding.cause().kind())).collect();
    let (nul, utf8) = (ErrorKind::BytesAfterNul, ErrorKind::NotUtf8);
    assert_eq!(kinds, [nul, nul, utf8, utf8].map(|kind| (Severity::Warning, kind)));
}

#[test]
fn sorted_lookup_agrees_with_the_linear_one() {
    let mut random = 7_u32;
    let mut next = |n: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % n
    };
    let ids = ["", "a", "aa", "ab", "b", "0123456789abcdef", "0123456789abcdeg"];
    let chunks: Vec<Chunk> =
        (0..500_u32).map(|n| Chunk::raw(ids[next(7) as usize], &n.to_le_bytes())).collect();
    let data = file(&chunks);
    let file = File::parse(&data).unwrap();
    // With as much as it takes, and with places that are left over.
    for room in [0, 1, 100] {
        let mut storage = vec![u32::MAX; 500 + room];
        agrees(file, file.sort(&mut storage).unwrap());
    }
    let mut storage = [0; 500];
    let said = format!("{:?}", file.sort(&mut storage).unwrap());
    assert!(said.starts_with("SortedIndex { file: File {") && !said.contains("order"), "{said}");
    let needed = ErrorKind::CapacityExceeded { capacity: 499, needed: 500 };
    assert_eq!(
        file.sort(&mut [0; 499]).unwrap_err(),
        Error::new(file.index().offset(), rdf::element::CHUNK_INDEX, needed)
    );
}

fn agrees(file: File<'_>, sorted: rdf::SortedIndex<'_, '_>) {
    let ids = ["", "a", "aa", "ab", "b", "0123456789abcdef", "0123456789abcdeg"];
    assert_eq!(sorted.order().len(), 500);
    for id in ids.iter().copied().chain(["missing", "zz"]).map(id) {
        let linear: Vec<_> = file.chunks(id).map(|chunk| chunk.entry().number()).collect();
        let found: Vec<_> = sorted.chunks(id).map(|chunk| chunk.entry().number()).collect();
        assert_eq!((sorted.count(id), &found), (linear.len(), &linear));
        for (n, &number) in linear.iter().enumerate() {
            assert_eq!(sorted.chunk(id, n).unwrap().entry().number(), number);
        }
        assert!(sorted.chunk(id, linear.len()).is_none() && sorted.chunk(id, usize::MAX).is_none());
    }
}

/// From one identifier to as many as entries, from one entry to more than 16 bits can number: lookups and the order are
/// right, and those of identifiers that are not there.
#[test]
fn any_number_of_identifiers_is_found() {
    let mut random = 7_u32;
    let mut next = |n: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % n
    };
    for (len, kinds) in [
        (1, vec![1]),
        (2, vec![1, 2]),
        (50, (1..=50).collect()),
        (300, vec![1, 60, 75, 76, 100, 149, 150, 151, 299, 300]),
        (70_000, vec![100, 70_000]),
    ] {
        for kinds in kinds {
            let numbers: Vec<usize> = (0..len).map(|n| if n < kinds { n } else { next(kinds) }).collect();
            let name = |n: usize| {
                // Half of them have a NUL, and bytes after it that differ from entry to entry.
                if n.is_multiple_of(2) { format!("{n}.identifier") } else { format!("id{n}") }
            };
            let entries = numbers.iter().zip((0..=u8::MAX).cycle()).map(|(&n, after)| {
                let mut identifier = name(n).into_bytes();
                if identifier.len() < 15 {
                    identifier.extend([0, after]);
                }
                Chunk { identifier, ..Chunk::raw("", b"") }
            });
            let data = file(&entries.collect::<Vec<_>>());
            let file = File::parse(&data).unwrap();
            let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
            let identifier = |number: u32| file.entries().nth(number as usize).unwrap().identifier();
            order.sort_by_key(|&number| (identifier(number), number));
            for further in [0, 7] {
                let mut storage = vec![0xdead_beef; numbers.len() + further];
                let sorted = file.sort(&mut storage).unwrap();
                assert!(sorted.order().eq(order.iter().copied()), "{len} entries of {kinds} identifiers");
                assert!(sorted.order().rev().eq(order.iter().rev().copied()));
                for group in order.chunk_by(|&a, &b| identifier(a) == identifier(b)) {
                    let (id, n) = (identifier(group[0]), next(group.len()));
                    assert_eq!(sorted.chunk(id, n).unwrap().entry().number(), group[n] as usize);
                    assert!(sorted.chunk(id, group.len()).is_none());
                    if group[0] % 64 == 0 {
                        let found = sorted.chunks(id).map(|chunk| chunk.entry().number() as u32);
                        assert!(found.eq(group.iter().copied()) && sorted.count(id) == group.len());
                    }
                }
                for missing in ["", "id", "0.identifie", "zzz"].into_iter().map(id) {
                    assert!(sorted.chunk(missing, 0).is_none() && sorted.count(missing) == 0);
                }
            }
        }
    }
}

/// Equal identifiers hash alike; all 16 bytes can be had.
#[test]
fn identifiers_with_bytes_after_a_nul_are_the_same() {
    let (plain, odd) = (id("ab"), Identifier::from_bytes(*b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0"));
    let count = |ids: &[Identifier]| ids.iter().collect::<std::collections::HashSet<_>>().len();
    assert_eq!((count(&[plain, odd]), count(&[plain, id("ac")])), (1, 2));
    let state = RandomState::new();
    let hash = |id: Identifier| state.hash_one(id);
    assert_eq!((hash(plain) == hash(odd), hash(plain) == hash(id("ac"))), (true, false));
    assert_eq!(odd.bytes(), b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0");
    let data = sample();
    assert_eq!(File::parse(&data).unwrap().data(), data);
}
