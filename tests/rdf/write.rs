//! Files that are written: against the tests' own builder, and with chunks that share bytes.

use crate::common::random::Random;
use crate::common::rdf::{Chunk, entry, file, header};
use std::convert::Infallible;
use traceglass::rdf::{Entry, File, Identifier, NewChunk, Span, write};

fn written(run: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Infallible>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    run(&mut |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    bytes
}

#[test]
fn files_are_those_of_the_document() {
    let chunks = [
        Chunk::raw("AsicInfo", b"gfx1100").header(&[1, 2]).version(3),
        Chunk::zstd("DDEvent", &[7; 100]),
        Chunk::raw("", b""),
    ];
    let new = chunks.each_ref().map(|chunk| {
        let id = Identifier::new(std::str::from_utf8(&chunk.identifier).unwrap()).unwrap();
        let new = match chunk.compression {
            0 => NewChunk::raw(id, &chunk.stored),
            _ => NewChunk::zstd(id, &chunk.stored, chunk.uncompressed_size as u64),
        };
        new.version(chunk.version).header(&chunk.header)
    });
    let bytes = written(|mut put| write(new.into_iter(), &mut put).unwrap());
    assert_eq!(bytes, file(&chunks));
    let bytes = written(|mut put| write([].into_iter(), &mut put).unwrap());
    assert_eq!(bytes, file(&[]));
}

/// The first error ends it, wherever it comes.
#[test]
fn writing_ends_at_an_error() {
    let chunk = NewChunk::raw(Identifier::new("A").unwrap(), b"data").header(b"head");
    for limit in 0..8 {
        let mut calls = 0;
        let done = write([chunk, chunk].into_iter(), &mut |_: &[u8]| {
            calls += 1;
            if calls > limit { Err(limit) } else { Ok(()) }
        });
        let expected = if limit < 7 { (Err(limit), limit + 1) } else { (Ok(()), 7) };
        assert_eq!((done, calls), expected);
    }
}

/// A file whose chunks lie anywhere, over each other, over the header and the index.
fn tangled(random: &mut Random) -> Vec<u8> {
    let mut data: Vec<u8> = (0..200_u32).map(|at| at as u8).collect();
    let count = random.next() % 9;
    let mut index = Vec::new();
    for number in 0..count {
        let mut range = || {
            let start = random.next() % 200;
            (start as i64, (random.next() % (201 - start).min(40)) as usize)
        };
        let ((header_at, header_size), (data_at, data_size)) = (range(), range());
        let chunk = Chunk {
            identifier: format!("c{}", number % 3).into(),
            header: vec![0; header_size],
            stored: vec![0; data_size],
            version: number as u32,
            ..Chunk::default()
        };
        index.extend(entry(&chunk, header_at, data_at));
    }
    data[..32].copy_from_slice(&header(200, index.len() as i64));
    data.extend(index);
    data
}

#[test]
fn what_is_selected_has_the_same_bytes() {
    let mut random = Random(11);
    let mut shared = 0;
    for round in 0..2000 {
        let data = tangled(&mut random);
        let file = File::parse(&data).unwrap();
        let mask = random.next();
        let keep = |entry: &Entry<'_>| mask >> entry.number() & 1 == 1;
        let mut storage = [Span::EMPTY; 18];
        let selected = file.select(keep, &mut storage).unwrap();
        let bytes = written(|mut put| selected.write(&mut put).unwrap());
        let kept: Vec<_> = file.entries().filter(keep).collect();
        assert_eq!(selected.count(), kept.len() as u64);
        assert_eq!(bytes.len() as u64, 32 + selected.size() + 64 * selected.count());
        assert!(bytes.len() <= data.len() + 32, "no byte is written twice");
        let new = File::parse(&bytes).unwrap();
        assert_eq!(new.entries().len(), kept.len());
        let mut sum = 0;
        for (new, old) in new.entries().zip(&kept) {
            let [new_chunk, old_chunk] = [
                File::parse(&bytes).unwrap().chunk_at(new.number()).unwrap(),
                file.chunk_at(old.number()).unwrap(),
            ];
            assert_eq!(new_chunk.header(), old_chunk.header(), "round {round}");
            assert_eq!(new_chunk.stored(), old_chunk.stored(), "round {round}");
            assert_eq!((new.identifier(), new.version()), (old.identifier(), old.version()));
            sum += old.header_size() + old.stored_size();
        }
        shared += u64::from(selected.size() < sum as u64);
        // All of what was selected is itself.
        let mut storage = [Span::EMPTY; 18];
        let again = new.select(|_| true, &mut storage).unwrap();
        assert_eq!(written(|mut put| again.write(&mut put).unwrap()), bytes);
    }
    assert!(shared > 500, "{shared}");
}

#[test]
fn slots_that_are_too_few_say_how_many_are_needed() {
    let data = file(&[Chunk::raw("A", b"data").header(b"head"), Chunk::raw("B", b"")]);
    let file = File::parse(&data).unwrap();
    let error = file.select(|_| true, &mut [Span::EMPTY; 1]).unwrap_err();
    assert_eq!(error.to_string(), "RDF chunk index at 0x28: capacity is 1, at least 2 needed");
    assert!(file.select(|_| true, &mut [Span::EMPTY; 2]).is_ok());
    assert!(file.select(|entry| entry.number() == 1, &mut []).is_ok());
    // The kept chunks must be there.
    let mut data = data.clone();
    let at = data.len() - 64 + 40;
    data[at..at + 8].copy_from_slice(&(-1_i64).to_le_bytes());
    let file = File::parse(&data).unwrap();
    assert_eq!(file.select(|_| true, &mut [Span::EMPTY; 4]).unwrap_err().kind().code(), "negative");
    assert!(file.select(|entry| entry.number() == 0, &mut [Span::EMPTY; 4]).is_ok());
}

/// Wherever an append ends, the file has the old chunks; with its header, the new ones as well.
#[test]
fn an_append_that_dies_loses_nothing() {
    let old =
        file(&[Chunk::raw("A", b"first").header(b"h"), Chunk::zstd("B", b"second"), Chunk::raw("A", b"")]);
    let id = |name| Identifier::new(name).unwrap();
    let new = [NewChunk::raw(id("A"), b"third").version(9).header(b"hh"), NewChunk::raw(id("C"), b"fourth")];
    let parsed = File::parse(&old).unwrap();
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let header = parsed.append(new.into_iter(), &mut |bytes: &[u8]| {
        pieces.push(bytes.to_vec());
        Ok::<_, ()>(())
    });
    let header = header.unwrap();
    let tail = pieces.concat();
    let contents = |bytes: &[u8]| -> Vec<_> {
        let file = File::parse(bytes).unwrap();
        let entries = file.entries().map(|entry| (entry, file.chunk_at(entry.number()).unwrap()));
        let content = |(entry, chunk): (Entry<'_>, traceglass::rdf::Chunk<'_>)| {
            let parts = (chunk.header().unwrap().to_vec(), chunk.stored().unwrap().to_vec());
            (entry.identifier(), entry.version(), parts)
        };
        entries.map(content).collect()
    };
    let before = contents(&old);
    for len in 0..=tail.len() {
        assert_eq!(contents(&[&old[..], &tail[..len]].concat()), before, "{len}");
    }
    let mut whole = [&old[..], &tail].concat();
    whole[..32].copy_from_slice(&header);
    let after = contents(&whole);
    assert_eq!(after[..3], before);
    assert_eq!(
        after[3..],
        [(id("A"), 9, (b"hh".to_vec(), b"third".to_vec())), (id("C"), 1, (Vec::new(), b"fourth".to_vec()))]
    );
    assert_eq!(whole[..16], old[..16], "only what names the index changes");
    // A writer that fails is not asked again.
    for fails in 0..pieces.len() {
        let mut asked = 0;
        let done = parsed.append(new.into_iter(), &mut |_: &[u8]| {
            asked += 1;
            if asked > fails { Err(fails) } else { Ok(()) }
        });
        assert_eq!((done, asked), (Err(fails), fails + 1));
    }
}
