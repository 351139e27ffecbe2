//! The data of chunks: raw, compressed, and read in pieces.

use crate::common::rdf::{Chunk, file, sample};
use crate::{Blocks, findings, put, with_entry};
use traceglass::rdf::{self, Compression, Decompress, File, Header, Index, NoDecoder};
use traceglass::{Error, ErrorKind, Finding, Severity};

#[test]
fn compressions_are_told_apart_and_sizes_must_agree() {
    let data = [5; 100];
    let zstd = |change: fn(&mut Chunk)| {
        let mut chunk = Chunk::zstd("z", &data);
        change(&mut chunk);
        file(&[chunk])
    };
    let read = |data: &[u8], room: usize| {
        let chunk = File::parse(data).unwrap().chunk_at(0).unwrap();
        chunk.data(&mut vec![0; room], &mut Blocks).map(<[u8]>::len)
    };
    assert_eq!(read(&zstd(|_| ()), 100), Ok(100));
    let needed = ErrorKind::CapacityExceeded { capacity: 99, needed: 100 };
    assert_eq!(read(&zstd(|_| ()), 99), Err(Error::new(32, rdf::element::CHUNK_DATA, needed)));
    let short = ErrorKind::SizeMismatch { stated: 101, found: 100 };
    assert_eq!(
        read(&zstd(|chunk| chunk.uncompressed_size = 101), 200),
        Err(Error::new(32, rdf::element::CHUNK_DATA, short))
    );
    // The decoder's own error, located in the file.
    let over = Error::new(32 + 9, rdf::element::CHUNK_DATA, ErrorKind::Invalid { value: 9 });
    assert_eq!(read(&zstd(|chunk| chunk.uncompressed_size = 99), 200), Err(over));
    let negative = zstd(|chunk| chunk.uncompressed_size = -1);
    let expected = Error::new(45 + 56, rdf::element::UNCOMPRESSED_SIZE, ErrorKind::Negative { value: -1 });
    assert_eq!(read(&negative, 200), Err(expected));
    assert_eq!(findings(&negative), [Finding::new(Severity::Error, expected)]);

    let unknown = zstd(|chunk| chunk.compression = 2);
    let expected = Error::new(45 + 16, rdf::element::COMPRESSION, ErrorKind::Unsupported { value: 2 });
    assert_eq!(read(&unknown, 200), Err(expected));
    let chunk = File::parse(&unknown).unwrap().chunk_at(0).unwrap();
    assert_eq!((chunk.entry().compression(), chunk.stored().unwrap().len()), (Compression::Other(2), 13));
    let known = zstd(|_| ());
    let chunk = File::parse(&known).unwrap().chunk_at(0).unwrap();
    let error = chunk.data(&mut [0; 100], &mut NoDecoder).unwrap_err();
    assert_eq!(error, Error::new(45 + 16, rdf::element::COMPRESSION, ErrorKind::NoDecoder));
}

#[test]
fn raw_chunks_that_state_a_size_are_a_warning() {
    for (size, kind) in
        [(5, ErrorKind::SizeMismatch { stated: 5, found: 0 }), (-1, ErrorKind::Negative { value: -1 })]
    {
        let data = with_entry(|entry| put(entry, 56, size));
        assert_eq!(
            findings(&data),
            [Finding::warning(Error::new(40 + 56, rdf::element::UNCOMPRESSED_SIZE, kind))]
        );
        let chunk = File::parse(&data).unwrap().chunk_at(0).unwrap();
        assert_eq!(chunk.data(&mut [], &mut NoDecoder).unwrap(), b"data");
    }
}

/// Of a raw chunk the size of the buffer is that of the stored data, and an error is at that field.
#[test]
fn a_raw_chunk_whose_size_is_negative_says_so() {
    let data = with_entry(|entry| put(entry, 48, -3));
    let entry = File::parse(&data).unwrap().index().get(0).unwrap();
    let expected = Error::new(40 + 48, rdf::element::CHUNK_DATA_SIZE, ErrorKind::Negative { value: -3 });
    assert_eq!((entry.output_size(), entry.stored_range()), (Err(expected), Err(expected)));
}

#[test]
fn pieces_are_read_alone() {
    let data = sample();
    let fetch = |range: std::ops::Range<u64>| data[range.start as usize..range.end as usize].to_vec();
    let first = fetch(0..Header::SIZE as u64);
    let range = Header::parse(&first).unwrap().index_range().unwrap();
    let bytes = fetch(range.clone());
    let index = Index::parse(&bytes, range.start).unwrap();
    let entry = index.get(4).unwrap();
    assert_eq!(fetch(entry.header_range().unwrap()), b"after");
    let stored = fetch(entry.stored_range().unwrap());
    let mut buffer = vec![0; entry.output_size().unwrap() as usize];
    assert_eq!(entry.decode(&stored, &mut buffer, &mut Blocks).unwrap(), [0x5a; 300]);
    assert_eq!(entry.offset(), range.start + 4 * 64);
    let raw = index.get(0).unwrap();
    let stored = fetch(raw.stored_range().unwrap());
    assert_eq!(raw.decode(&stored, &mut [], &mut NoDecoder).unwrap(), b"gfx1100 Navi 31");
    assert_eq!(raw.output_size(), Ok(15));
}

#[cfg(feature = "ruzstd")]
#[test]
fn ruzstd_reads_frames_in_a_row() {
    frames_in_a_row(&mut rdf::Ruzstd::new());
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_reads_frames_in_a_row() {
    frames_in_a_row(&mut traceglass::zstd::Workspace::new());
    let mut workspace = traceglass::zstd::Workspace::new();
    frames_in_a_row(&mut traceglass::zstd::Decoder::new(&mut workspace));
}

#[cfg(any(feature = "ruzstd", feature = "zstd"))]
fn frames_in_a_row(decoder: &mut dyn Decompress) {
    let frame = crate::common::rdf::zstd_frame(&[3; 50]);
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0][..], b"xx"].concat();
    let mut read = |stored: Vec<u8>, size: i64| {
        let chunk = Chunk { stored, uncompressed_size: size, compression: 1, ..Chunk::raw("z", b"") };
        let data = file(&[chunk]);
        let chunk = File::parse(&data).unwrap().chunk_at(0).unwrap();
        chunk.data(&mut [0; 200], decoder).map(<[u8]>::to_vec).map_err(|error| error.kind())
    };
    assert_eq!(read([&skippable[..], &frame, &frame, &skippable].concat(), 100), Ok(vec![3; 100]));
    assert_eq!(read(frame.clone(), 51), Err(ErrorKind::SizeMismatch { stated: 51, found: 50 }));
    assert!(matches!(read(frame.clone(), 49), Err(ErrorKind::CapacityExceeded { capacity: 49, needed: 50 })));
    assert!(read(frame[..12].to_vec(), 50).is_err());
    assert!(read(skippable[..9].to_vec(), 0).is_err());
    assert_eq!(read(Vec::new(), 10), Err(ErrorKind::SizeMismatch { stated: 10, found: 0 }));
}

#[test]
fn compressions_keep_their_number() {
    for (number, said) in [(0, "raw"), (1, "zstd"), (7, "unknown (7)")] {
        let data = with_entry(|entry| entry[16] = number);
        let entry = File::parse(&data).unwrap().index().get(0).unwrap();
        assert_eq!((entry.compression().number(), entry.compression().to_string()), (number, said.into()));
    }
    assert!(!NoDecoder.supports(Compression::Zstd));
    let error = NoDecoder.decompress(Compression::Zstd, b"", &mut []).unwrap_err();
    assert_eq!(error, Error::new(0, rdf::element::CHUNK_DATA, ErrorKind::NoDecoder));
}

/// The crate's own decoder, by itself and with its options.
#[cfg(feature = "zstd")]
#[test]
fn the_own_decoder_reads_compressed_chunks() {
    use traceglass::zstd::{Decoder, Workspace};
    let data = sample();
    let chunk = File::parse(&data).unwrap().chunk("Snapshot", 1).unwrap();
    let (mut workspace, mut buffer) = (Workspace::new(), [0; 300]);
    assert_eq!(chunk.data(&mut buffer, &mut workspace).unwrap(), [0x5a; 300]);
    assert_eq!(chunk.data(&mut [0; 300], &mut Decoder::new(&mut workspace)).unwrap(), [0x5a; 300]);
    for compression in [Compression::None, Compression::Zstd] {
        let is_zstd = compression == Compression::Zstd;
        assert_eq!(workspace.supports(compression), is_zstd);
        assert_eq!(Decoder::new(&mut workspace).supports(compression), is_zstd);
    }
}
