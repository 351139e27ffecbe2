//! Frames as they were written, then damaged at one place: what precedes is delivered, and a checksum finds the rest.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/common/rdf.rs"]
mod build;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::ops::Range;
use traceglass::zstd::{self, Decoder, Frame, Frames, Workspace};
use traceglass::{Error, ErrorKind};
use traceglass_fuzz::damage::{Damage, Damaged};
use traceglass_fuzz::zstd::{compare, list};
use traceglass_fuzz::{located, located_in};
use zstd_safe::{CCtx, CParameter};

/// As large as any window here.
const WINDOW: usize = 1 << 18;

thread_local! {
    static WORKSPACE: RefCell<Workspace> = const { RefCell::new(Workspace::new()) };
    static WINDOWS: RefCell<Vec<u8>> = RefCell::new(vec![0; WINDOW]);
    static CONTEXT: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
}

#[derive(Arbitrary, Debug)]
struct Recipe {
    frames: Vec<Part>,
    damage: Damage,
}

#[derive(Arbitrary, Debug)]
enum Part {
    /// Raw and repeated blocks.
    Stored {
        data: Vec<u8>,
    },
    Skippable {
        variant: u8,
        data: Vec<u8>,
    },
    /// A frame of the reference implementation, with a checksum.
    Compressed {
        level: u8,
        window: u8,
        states_size: bool,
        repeats: u8,
        data: Vec<u8>,
    },
}

/// A frame that was written: where it is, and what it holds.
struct Written {
    at: Range<usize>,
    content: Vec<u8>,
    has_checksum: bool,
}

fuzz_target!(|recipe: Recipe| {
    let mut whole = Vec::new();
    let mut written: Vec<Written> = Vec::new();
    for part in recipe.frames.iter().take(4) {
        let (frame, content) = part.write();
        let at = whole.len()..whole.len() + frame.len();
        let has_checksum = matches!(part, Part::Compressed { .. });
        written.push(Written { at, content, has_checksum });
        whole.extend(frame);
    }
    read_back(&whole, &written);
    let marks: Vec<usize> = written
        .iter()
        .flat_map(|frame| [frame.at.start, frame.at.start + 4, frame.at.start + 6, frame.at.end - 4])
        .collect();
    let damaged = recipe.damage.apply(&whole, &marks);
    if !damaged.is_none() {
        read_damaged(&damaged, &written, &recipe.damage);
    }
});

impl Part {
    /// The frame and its content.
    fn write(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Self::Stored { data } => (build::zstd_frame(data), data.clone()),
            Self::Skippable { variant, data } => {
                let mut frame = vec![0x50 | variant & 15, 0x2a, 0x4d, 0x18]; // magic
                frame.extend((data.len() as u32).to_le_bytes()); //             size
                frame.extend(data);
                (frame, Vec::new())
            }
            Self::Compressed { level, window, states_size, repeats, data } => {
                let data = data.repeat(1 + usize::from(repeats & 31).pow(2) / 4);
                let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
                CONTEXT.with_borrow_mut(|context| {
                    let mut set = |parameter| context.set_parameter(parameter).unwrap();
                    set(CParameter::CompressionLevel(i32::from(level % 30) - 7));
                    set(CParameter::WindowLog(u32::from(window % 8) + 10));
                    set(CParameter::ChecksumFlag(true));
                    set(CParameter::ContentSizeFlag(*states_size));
                    context.compress2(&mut frame, &data[..]).unwrap();
                });
                (frame, data)
            }
        }
    }
}

fn content(written: &[Written]) -> Vec<u8> {
    written.iter().flat_map(|frame| frame.content.iter().copied()).collect()
}

fn decompress(input: &[u8], capacity: usize) -> Result<Vec<u8>, Error> {
    let mut output = vec![0xaa; capacity];
    let size = WORKSPACE.with_borrow_mut(|workspace| zstd::decompress(input, &mut output, workspace))?;
    output.truncate(size);
    Ok(output)
}

/// All that a stream hands out, and why it ends if that is not the end.
fn stream(input: &[u8]) -> (Vec<u8>, Option<Error>) {
    let mut content = Vec::new();
    let result = WORKSPACE.with_borrow_mut(|workspace| {
        WINDOWS.with_borrow_mut(|window| {
            // The output of a few bytes with a damaged header has no bound but the size of a block, 128 KiB each.
            Decoder::new(workspace).stream(input, window, |piece| content.extend_from_slice(piece))
        })
    });
    if let Ok(size) = result {
        assert_eq!(size, content.len() as u64);
    }
    (content, result.err())
}

fn read_back(whole: &[u8], written: &[Written]) {
    let all = content(written);
    assert!(decompress(whole, all.len()).unwrap() == all);
    let (streamed, error) = stream(whole);
    assert!(error.is_none() && streamed == all);
    let frames: Vec<Frame<'_>> = Frames::new(whole).map(Result::unwrap).collect();
    assert_eq!(frames.len(), written.len());
    for (frame, one) in frames.iter().zip(written) {
        assert_eq!(place(frame), one.at);
        if let Frame::Data(frame) = frame {
            assert!(frame.header().content_size().is_none_or(|size| size == one.content.len() as u64));
            assert_eq!(frame.checksum().is_some(), one.has_checksum);
        }
    }
    if !all.is_empty() {
        let too_small = decompress(whole, all.len() - 1).unwrap_err();
        assert!(matches!(too_small.kind(), ErrorKind::CapacityExceeded { .. }), "{too_small}");
    }
}

fn place(frame: &Frame<'_>) -> Range<usize> {
    let (start, len) = match frame {
        Frame::Data(frame) => (frame.header().offset(), frame.as_bytes().len()),
        Frame::Skippable(frame) => (frame.offset(), 8 + frame.user_data().len()),
        _ => unreachable!("there are two kinds"),
    };
    start as usize..start as usize + len
}

fn read_damaged(damaged: &Damaged, written: &[Written], damage: &Damage) {
    let data = &damaged.data[..];
    list(data);
    let before: Vec<_> = written.iter().take_while(|frame| frame.at.end <= damaged.start).collect();
    let end_before = before.last().map_or(0, |frame| frame.at.end);
    // Frames before the damage are listed as they were, and their content is handed out.
    let places: Vec<_> = Frames::new(data).map_while(Result::ok).map(|frame| place(&frame)).collect();
    assert!(places.len() >= before.len() && before.iter().zip(&places).all(|(one, place)| one.at == *place));
    let delivered: Vec<u8> = before.iter().flat_map(|frame| frame.content.iter().copied()).collect();
    let (streamed, error) = stream(data);
    assert!(streamed.starts_with(&delivered));
    if let Some(error) = &error {
        located_in(error, data);
        // No frame before the damage is blamed.
        assert!(error.offset() as usize >= end_before, "{error}");
    }
    let all = content(written);
    let capacity = all.len() + 1000;
    compare(data, capacity);
    let result = decompress(data, capacity);
    if let Err(error) = &result {
        located(error);
        assert!(error.offset() as usize >= end_before, "{error}");
    }

    if damage.is_cut() {
        // Between frames, the content ends there; inside of one, the input does.
        let error = result.as_ref().err();
        assert_eq!(error.is_none(), data.len() == end_before);
        match &result {
            Ok(content) => assert!(*content == delivered),
            Err(error) => assert!(error.is_truncation() || is_too_small(error), "{error}"),
        }
        assert!(all.starts_with(&streamed) || !error.is_some_and(Error::is_truncation));
        return;
    }
    // One wrong bit in a frame with a checksum: it is noticed, or does not matter.
    let hit = written.iter().find(|frame| damaged.start >= frame.at.start && damaged.old_end <= frame.at.end);
    let is_checked = hit.is_some_and(|frame| frame.has_checksum);
    if damage.is_flip() && is_checked {
        if let Ok(content) = &result {
            assert!(*content == all, "a wrong bit goes unnoticed");
        }
        if error.is_none() {
            assert!(streamed == all, "a wrong bit goes unnoticed in a stream");
        }
    }
    // In the data of a skippable frame, nothing matters.
    let is_ignored = hit.is_some_and(|frame| {
        let magic = &data[frame.at.start..];
        magic.len() >= 8 && magic[1..4] == [0x2a, 0x4d, 0x18] && damaged.start >= frame.at.start + 8
    });
    if is_ignored && damaged.is_in_place() {
        assert!(result.unwrap() == all && error.is_none() && streamed == all);
    }
}

fn is_too_small(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::CapacityExceeded { .. })
}
