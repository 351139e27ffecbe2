//! The zstd decoder beside the reference implementation.

use crate::{located_in, walk};
use std::cell::RefCell;
use traceglass::zstd::{self, Decoder, Detected, Frame, Frames, Workspace};
use traceglass::{Error, ErrorKind};

thread_local! {
    static WORKSPACE: RefCell<Workspace> = const { RefCell::new(Workspace::new()) };
    static DETECTED: RefCell<Workspace<Detected>> = RefCell::new(Workspace::on(Detected::new()));
    static REFERENCE: RefCell<zstd_safe::DCtx<'static>> = RefCell::new(zstd_safe::DCtx::create());
}

/// Decodes `input` into `capacity` bytes with both, and compares verdicts and bytes.
pub fn compare(input: &[u8], capacity: usize) {
    let mut expected = vec![0; capacity];
    let expected =
        REFERENCE.with_borrow_mut(|context| context.decompress(&mut expected[..], input)).map(|size| {
            expected.truncate(size);
            expected
        });
    // The rest of one input must not matter for the next one.
    let mut output = vec![0xaa; capacity];
    let result = WORKSPACE.with_borrow_mut(|workspace| zstd::decompress(input, &mut output, workspace));
    let mut other = vec![0x55; capacity];
    let detected = DETECTED.with_borrow_mut(|workspace| zstd::decompress(input, &mut other, workspace));
    assert_eq!(detected, result, "for the processor that was found");
    assert!(result.is_err() || result.is_ok_and(|size| other[..size] == output[..size]), "other bytes there");
    match (result, expected) {
        (Ok(size), Ok(expected)) => {
            assert!(output[..size] == expected[..], "other bytes");
            match stream(input) {
                Ok(content) => assert!(content == expected, "other bytes as a stream"),
                Err(error) => {
                    let kind = error.kind();
                    let is_stricter = matches!(
                        kind,
                        ErrorKind::OverLimit { .. }
                            | ErrorKind::OffsetTooFar { .. }
                            | ErrorKind::CapacityExceeded { .. }
                    );
                    assert!(is_stricter, "refused as a stream only: {error}");
                }
            }
        }
        (Err(error), Err(_)) => {
            located_in(&error, input);
            if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
                assert!(stream(input).is_err(), "accepted as a stream only: {error}");
            }
        }
        (Err(error), Ok(_)) => {
            located_in(&error, input);
            // A block may be too long for the capacity there.
            let is_too_long = error.element() == zstd::element::BLOCK
                && matches!(error.kind(), ErrorKind::OverLimit { .. });
            // Its fast Huffman decoders, of which a build may keep some, do not notice where streams end.
            let is_unended =
                error.element() == zstd::element::HUFFMAN_STREAM && error.kind() == ErrorKind::BadBitStream;
            assert!(is_too_long || is_unended, "only we refuse: {error}");
        }
        (Ok(_), Err(code)) => {
            let is_large = |frame: Frame<'_>| match frame {
                Frame::Data(frame) => frame.header().window_size() >= 1 << 32,
                _ => false,
            };
            let is_large = Frames::new(input).any(|frame| frame.is_ok_and(is_large));
            assert!(is_large, "only we accept: {}", zstd_safe::get_error_name(code));
        }
    }
}

/// Decodes through a ring just as large as it must be, up to 1 MiB.
fn stream(input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut window = Vec::new();
    loop {
        let mut content = Vec::new();
        let piece = |piece: &[u8]| content.extend_from_slice(piece);
        match WORKSPACE.with_borrow_mut(|workspace| Decoder::new(workspace).stream(input, &mut window, piece))
        {
            Ok(size) => {
                assert_eq!(size, content.len() as u64);
                return Ok(content);
            }
            Err(error) => match error.kind() {
                ErrorKind::CapacityExceeded { needed, .. } if needed <= 1 << 20 => {
                    assert!(needed > window.len() as u64);
                    window.resize(needed as usize, 0xdd);
                }
                _ => return Err(error),
            },
        }
    }
}

/// Walks the frames and blocks of any input.
pub fn list(input: &[u8]) {
    let most = input.len() as u64 + 1;
    let error = walk(Frames::new(input), most, input, |frame| match frame {
        Frame::Data(frame) => {
            assert!(walk(frame.blocks(), most, input, |block| Some(block.offset())).is_none());
            Some(frame.header().offset())
        }
        Frame::Skippable(frame) => Some(frame.offset()),
        _ => None,
    });
    assert_eq!(zstd::content_size(input).err(), error);
}
