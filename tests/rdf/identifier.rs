//! Chunks by identifier, one by one and sorted.

use crate::common::rdf::{Chunk, file, sample};
use crate::findings;
use std::hash::{BuildHasher, RandomState};
use traceglass::rdf::{self, File, Identifier};
use traceglass::{Error, ErrorKind, Severity};

#[test]
fn identifiers_keep_their_bytes_and_compare_up_to_the_nul() {
    let ids: [&[u8]; 5] = [b"ab\0cd", b"ab", b"\0abc", b"\xff\xfe", b"\xed\xa0\x80"];
    let chunks: Vec<Chunk> =
        ids.iter().map(|id| Chunk { identifier: id.to_vec(), ..Chunk::raw("", b"x") }).collect();
    let data = file(&chunks);
    let file = File::parse(&data).unwrap();
    assert_eq!(file.index().count("ab".into()), 2);
    assert_eq!(file.chunk("ab".into(), 1).unwrap().entry().number(), 1);
    assert_eq!(file.chunk("".into(), 0).unwrap().entry().number(), 2);
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
    // By binary search, and through hash tables from too small a one to an ample one.
    for room in [0, 1, 7, 8, 13, 14, 16, 100, 4096] {
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
    for id in ids.iter().copied().chain(["missing", "zz"]).map(Identifier::from) {
        let linear: Vec<_> = file.chunks(id).map(|chunk| chunk.entry().number()).collect();
        let found: Vec<_> = sorted.chunks(id).map(|chunk| chunk.entry().number()).collect();
        assert_eq!((sorted.count(id), &found), (linear.len(), &linear));
        for (n, &number) in linear.iter().enumerate() {
            assert_eq!(sorted.chunk(id, n).unwrap().entry().number(), number);
        }
        assert!(sorted.chunk(id, linear.len()).is_none() && sorted.chunk(id, usize::MAX).is_none());
    }
}

/// What is equal hashes alike; all 16 bytes can be had.
#[test]
fn identifiers_with_bytes_after_a_nul_are_the_same() {
    let (plain, odd) = (Identifier::from("ab"), Identifier::new(*b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0"));
    let count = |ids: &[Identifier]| ids.iter().collect::<std::collections::HashSet<_>>().len();
    assert_eq!((count(&[plain, odd]), count(&[plain, Identifier::from("ac")])), (1, 2));
    let state = RandomState::new();
    let hash = |id: Identifier| state.hash_one(id);
    assert_eq!((hash(plain) == hash(odd), hash(plain) == hash("ac".into())), (true, false));
    assert_eq!(odd.bytes(), b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0");
    let data = sample();
    assert_eq!(File::parse(&data).unwrap().data(), data);
}
