//! The fault of a frame, and its offset.

use crate::stream;
use traceglass::ErrorKind;
use traceglass::zstd::{self, Decoder, Frame, Frames, Workspace};

/// A frame without window descriptor, of one segment of `size` bytes, with these blocks.
pub fn frame(size: u8, blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, size];
    for (number, block) in blocks.iter().enumerate() {
        let is_last = usize::from(number + 1 == blocks.len());
        frame.extend(&(block.len() << 3 | 2 << 1 | is_last).to_le_bytes()[..3]);
        frame.extend(*block);
    }
    frame
}

/// The fault of a frame, and its offset.
pub fn fault(input: &[u8]) -> (u64, &'static str, ErrorKind) {
    let mut workspace = Workspace::new();
    let error = zstd::decompress(input, &mut [0; 300], &mut workspace).unwrap_err();
    let through_ring = stream(input, &mut workspace).unwrap_err();
    assert_eq!(
        (through_ring.offset(), through_ring.element()),
        (error.offset(), error.element()),
        "{through_ring}"
    );
    (error.offset(), error.element().name(), error.kind())
}

#[test]
fn faults_of_frames_are_located() {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let with = |rest: &[u8]| [&MAGIC, rest].concat();
    let end = |needed| ErrorKind::UnexpectedEnd { needed };
    for (input, expected) in [
        (b"\x28\xb5\x2f".to_vec(), (0, "zstd frame", end(1))),
        (b"PK\x03\x04".to_vec(), (0, "zstd frame", ErrorKind::BadMagic { found: *b"PK\x03\x04\0\0\0\0" })),
        (with(&[]), (4, "zstd frame header", end(1))),
        (with(&[0x28, 0]), (4, "zstd frame header", ErrorKind::ReservedNotZero { value: 1 })),
        (with(&[0x00]), (5, "zstd window descriptor", end(1))),
        (with(&[0xe0, 1, 2]), (5, "zstd frame header", end(6))),
        (with(&[0x21, 7, 0]), (0, "zstd frame header", ErrorKind::DictionaryNeeded { id: 7 })),
        (with(&[0x20, 0]), (6, "zstd block header", end(3))),
        (with(&[0x20, 0, 7, 0, 0]), (6, "zstd block header", ErrorKind::Invalid { value: 3 })),
        (with(&[0x20, 3, 0x19, 0, 0, b'a']), (9, "zstd block", end(2))),
        (
            with(&[0x20, 2, 0x09, 0, 0, b'a']),
            (0, "zstd frame content", ErrorKind::SizeMismatch { stated: 2, found: 1 }),
        ),
        (with(&[0x24, 0, 1, 0, 0]), (9, "zstd content checksum", end(4))),
        (
            with(&[0x24, 0, 1, 0, 0, 1, 2, 3, 4]),
            (
                9,
                "zstd content checksum",
                ErrorKind::ChecksumMismatch { stored: 0x0403_0201, computed: 0x51d8_e999 },
            ),
        ),
        (b"\x50\x2a\x4d\x18\x05\0\0\0ab".to_vec(), (8, "zstd skippable frame", end(3))),
        // The second frame is the one without a magic.
        (with(&[0x20, 0, 1, 0, 0, 9]), (9, "zstd frame", end(3))),
    ] {
        assert_eq!(fault(&input), expected, "{input:02x?}");
    }
}

#[test]
fn faults_of_blocks_are_located() {
    let limit = |value, limit| ErrorKind::OverLimit { value, limit };
    let end = |needed| ErrorKind::UnexpectedEnd { needed };
    // The block begins at 9. First its literals: 0x10 are two raw ones.
    for (size, block, expected) in [
        (9, &b""[..], (9, "zstd literals section", end(1))),
        (9, b"\x18ab", (9, "zstd literals section", end(1))),
        (1, b"\x10ab\0", (9, "zstd block", limit(4, 1))),
        (5, b"\x55\x01a\0", (9, "zstd literals section", limit(21, 5))),
        (20, b"\x63\x40\0\x01\x01", (9, "zstd Huffman tree", ErrorKind::MissingTable)),
        (20, b"\x62\x40\0\x7f\0", (12, "zstd Huffman tree", end(127))),
        (
            20,
            b"\x62\xc0\0\x81\x00\x01\0",
            (12, "zstd Huffman tree", ErrorKind::UnevenDistribution { left: 0 }),
        ),
        (20, b"\x62\xc0\0\x81\xd0\x01\0", (12, "zstd Huffman tree", limit(13, 12))),
        // Weights 1 and, by that, 1; then a stream without an end mark.
        (20, b"\x62\xc0\0\x80\x10\0\0", (14, "zstd Huffman stream", ErrorKind::BadBitStream)),
        (20, b"\x10ab", (12, "zstd sequences section", end(1))),
        (20, b"\x10ab\0\0", (13, "zstd sequences section", ErrorKind::TrailingBytes { count: 1 })),
        (20, b"\x10ab\x80", (12, "zstd sequences section", end(1))),
        (20, b"\x10ab\xff\0", (12, "zstd sequences section", end(1))),
        (20, b"\x10ab\x01", (12, "zstd sequences section", end(1))),
        (20, b"\x10ab\x01\x02", (13, "zstd sequences section", ErrorKind::ReservedNotZero { value: 2 })),
        (20, b"\x10ab\x01\xc0\x01", (14, "zstd literal lengths table", ErrorKind::MissingTable)),
        (20, b"\x10ab\x01\x40\x24\x01", (14, "zstd literal lengths table", limit(36, 35))),
        (20, b"\x10ab\x01\x54\x01\x20\0\x01", (15, "zstd offsets table", limit(32, 31))),
        (20, b"\x10ab\x01\x54\x01\x01\x35\x01", (16, "zstd match lengths table", limit(53, 52))),
        (20, b"\x10ab\x01\x54\x01\x01", (16, "zstd match lengths table", end(1))),
        (
            20,
            b"\x10ab\x01\x20\x04\0\0\0\0",
            (14, "zstd offsets table", ErrorKind::UnevenDistribution { left: 480 }),
        ),
        (20, b"\x10ab\x01\x80\x0b\0\0\0\x01", (14, "zstd literal lengths table", limit(16, 15))),
        // Tables of one symbol each, so that the stream has extra bits only: 1 literal, offset code 2, 3 bytes.
        (20, b"\x10ab\x01\x54\x01\x02\0\0", (17, "zstd sequences section", ErrorKind::BadBitStream)),
        (20, b"\x10ab\x01\x54\x01\x02\0\x08", (17, "zstd sequences section", ErrorKind::BadBitStream)),
        (
            20,
            b"\x10ab\x01\x54\x01\x02\0\x05",
            (17, "zstd sequences section", ErrorKind::OffsetTooFar { offset: 2, available: 1 }),
        ),
        // Twelve bytes' match where the block has room for ten in all.
        (10, b"\x10ab\x01\x54\x01\x02\x09\x04", (9, "zstd block", limit(14, 10))),
    ] {
        assert_eq!(fault(&frame(size, &[block])), expected, "{block:02x?}");
    }
    // The same sequence, right: "a", 3 bytes from 1 back, then what is left of the literals.
    let good = b"\x28\xb5\x2f\xfd\0\0\x4d\0\0\x10ab\x01\x54\x01\x02\0\x04";
    assert_eq!(stream(good, &mut Workspace::new()).unwrap(), b"aaaab");
    // A literal more than there are, which a slice finds elsewhere than a ring.
    let input = frame(20, &[b"\x10ab\x01\x54\x03\x02\0\x04"]);
    let error = zstd::decompress(&input, &mut [0; 100], &mut Workspace::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CountTooLarge { claimed: 3, max: 2 });
}

#[test]
fn what_is_needed_of_an_output_counts_all_frames() {
    let input = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello".repeat(2);
    let error = zstd::decompress(&input, &mut [0; 9], &mut Workspace::new()).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (20, ErrorKind::CapacityExceeded { capacity: 9, needed: 10 }));
    assert_eq!(zstd::content_size(&input), Ok(Some(10)));
}

/// A window of 1 KiB, and a byte that is repeated more often: whoever decodes it, it is refused.
#[test]
fn no_block_holds_more_than_the_window() {
    let frame = |count: u32| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0];
        frame.extend(&(count << 3 | 1 << 1 | 1).to_le_bytes()[..3]);
        frame.push(b'x');
        frame
    };
    let mut output = [0; 2048];
    let mut workspace = Workspace::new();
    assert_eq!(zstd::decompress(&frame(1024), &mut output, &mut workspace), Ok(1024));
    let error = zstd::decompress(&frame(1025), &mut output, &mut workspace).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OverLimit { value: 1025, limit: 1024 });
    assert_eq!(stream(&frame(1025), &mut workspace).unwrap_err(), error);
}

/// However large the content and the ring are: the window suffices, and nothing refers back further.
#[test]
fn a_stream_needs_the_window_and_sees_no_further() {
    // A window of 1 KiB, three blocks of that size, and one that repeats 3 bytes from `offset` back.
    let frame = |offset: u16| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0];
        for byte in *b"xyz" {
            frame.extend(&(1024_u32 << 3 | 1 << 1).to_le_bytes()[..3]);
            frame.push(byte);
        }
        frame.extend(&(10_u32 << 3 | 2 << 1 | 1).to_le_bytes()[..3]);
        // Two literals, one sequence, each code by a table of one symbol: 1 literal, offset code 10, 3 bytes.
        frame.extend(*b"\x10ab\x01\x54\x01\x0a\0");
        // The end mark, and the 10 bits of the offset, which counts from 3.
        frame.extend((1 << 10 | (offset + 3 - (1 << 10))).to_le_bytes());
        frame
    };
    let mut workspace = Workspace::new();
    let error = Decoder::new(&mut workspace).stream(&frame(1024), &mut [0; 1023], |_| ()).unwrap_err();
    assert_eq!(
        (error.offset(), error.kind()),
        (5, ErrorKind::CapacityExceeded { capacity: 1023, needed: 1024 })
    );
    for room in [1024, 1025, 3000, 5000] {
        let mut window = vec![0xee; room];
        let mut through = |offset| {
            let mut content = Vec::new();
            let done = Decoder::new(&mut workspace)
                .stream(&frame(offset), &mut window, |piece: &[u8]| content.extend_from_slice(piece));
            done.map(|size| (size, content.split_off(3072)))
        };
        // One literal is in front of what is repeated: the first byte of the last block but one.
        assert_eq!(through(1024).unwrap(), (3077, b"azzzb".to_vec()), "{room}");
        let error = through(1025).unwrap_err();
        let kind = ErrorKind::OffsetTooFar { offset: 1025, available: 1024 };
        assert_eq!((error.element(), error.kind()), (zstd::element::SEQUENCES, kind), "{room}");
    }
    // Into a slice, the whole content may be referred to.
    let mut output = [0; 3077];
    assert_eq!(zstd::decompress(&frame(1026), &mut output, &mut workspace), Ok(3077));
    assert_eq!(&output[3072..], b"ayzzb");
}

/// A frame with more content than it states finds nothing in a ring of the stated size that has been written over.
#[test]
fn a_ring_is_no_longer_than_it_is() {
    // A window of 1 KiB, and content of 256 bytes.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x40, 0, 0, 0];
    for byte in *b"xy" {
        frame.extend(&(200_u32 << 3 | 1 << 1).to_le_bytes()[..3]);
        frame.push(byte);
    }
    // As above, with offset code 8: 300 bytes back.
    frame.extend(*b"\x55\0\0\x10ab\x01\x54\x01\x08\0");
    frame.extend((300_u16 + 3).to_le_bytes());
    let error = stream(&frame, &mut Workspace::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OffsetTooFar { offset: 300, available: 256 });
}

/// Eight bytes of ones are no size.
#[test]
fn a_size_of_all_ones_is_none() {
    let frame = |descriptor: &[u8]| [b"\x28\xb5\x2f\xfd", descriptor, &[0xff; 8], b"\x11\0\0hi"].concat();
    let input = frame(&[0xc0, 0]);
    let Some(Ok(Frame::Data(found))) = Frames::new(&input).next() else { panic!() };
    assert_eq!((found.header().content_size(), found.header().window_size()), (None, 1024));
    assert_eq!(zstd::content_size(&input), Ok(None));
    assert_eq!(stream(&input, &mut Workspace::new()).unwrap(), b"hi");
    assert_eq!(zstd::decompress(&input, &mut [0; 2], &mut Workspace::new()), Ok(2));
    let input = frame(&[0xe0]);
    let Some(Ok(Frame::Data(found))) = Frames::new(&input).next() else { panic!() };
    assert_eq!((found.header().content_size(), found.header().window_size()), (None, u64::MAX));
}
