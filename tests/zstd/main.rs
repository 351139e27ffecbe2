//! The decoder against vectors, the reference implementation and `ruzstd`.
#![cfg(feature = "zstd")]

#[path = "../common/random.rs"]
mod random;

mod faults;
mod trees;

use faults::frame;
use random::Random;
use sha2::{Digest, Sha256};
use traceglass::zstd::{self, Decoder, Frame, Frames, Processor, Workspace};
use traceglass::{Error, ErrorKind};

/// True if the reference may accept what is refused here with this error: see the module's documentation.
///
/// Huffman streams that do not end where they should are the bulk of it; compiled with `HUF_DISABLE_FAST_DECODE`, it
/// refuses them, too.
fn may_differ(error: Error) -> bool {
    match error.kind() {
        ErrorKind::BadBitStream => error.element() == zstd::element::HUFFMAN_STREAM,
        ErrorKind::OverLimit { .. } => error.element() == zstd::element::BLOCK,
        _ => false,
    }
}

#[test]
fn vectors() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: no vectors are read");
        return;
    };
    let folder = std::path::PathBuf::from(root).join("zstd");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let mut workspace = Workspace::new();
    let mut read = 0;
    let mut faults = Vec::new();
    for (name, facts) in manifest["files"].as_object().unwrap() {
        let input = std::fs::read(folder.join(name)).unwrap();
        let verdict = facts["verdict"].as_str().unwrap();
        let size = facts["output_size"].as_u64().or(facts["claimed_size"].as_u64()).unwrap_or(0);
        // Exactly the size, and with room to spare.
        for spare in [0, 1, 40, 300_000] {
            let mut output = vec![0xee; size as usize + spare];
            let result = zstd::decompress(&input, &mut output, &mut workspace);
            let found = match &result {
                Ok(size) => format!("{} {}", size, hex(&Sha256::digest(&output[..*size]))),
                Err(error) => error.to_string(),
            };
            let expected = format!("{} {}", size, facts["output_sha256"].as_str().unwrap_or("?"));
            let good = match verdict {
                "valid" => found == expected,
                "invalid" => result.is_err(),
                _ => facts["output_sha256"].is_null() || result.is_err() || found == expected,
            };
            if !good {
                faults.push(format!("{name} + {spare} is {verdict}: {found}, not {expected}: {facts}"));
            }
        }
        match (verdict, stream(&input, &mut workspace)) {
            ("valid", Ok(content)) => {
                assert_eq!(
                    hex(&Sha256::digest(&content)),
                    facts["output_sha256"].as_str().unwrap(),
                    "{name}"
                );
            }
            ("valid", Err(error)) => faults.push(format!("{name} as a stream: {error}")),
            ("invalid", Ok(_)) => {
                // The size claimed may be what makes it invalid.
                assert!(zstd::decompress(&input, &mut vec![0; 64 << 20], &mut workspace).is_ok(), "{name}");
            }
            _ => {}
        }
        if verdict == "valid" {
            if let Some(claim) = zstd::content_size(&input).unwrap() {
                assert_eq!(claim, size, "{name}");
            }
            if size > 0 {
                let mut output = vec![0; size as usize - 1];
                let error = zstd::decompress(&input, &mut output, &mut workspace).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::CapacityExceeded { .. }), "{name}: {error}");
            }
        }
        read += 1;
    }
    println!("{}: {read} files read", folder.display());
    assert!(read > 0, "no file was read");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Decodes through a ring just as large as it must be.
fn stream<P: Processor>(input: &[u8], workspace: &mut Workspace<P>) -> Result<Vec<u8>, Error> {
    let mut window = Vec::new();
    loop {
        let mut content = Vec::new();
        let mut piece = |piece: &[u8]| content.extend_from_slice(piece);
        match Decoder::new(workspace).stream(input, &mut window, &mut piece) {
            Ok(size) => {
                assert_eq!(size, content.len() as u64);
                return Ok(content);
            }
            Err(error) => match error.kind() {
                ErrorKind::CapacityExceeded { capacity, needed } if needed < 1 << 28 => {
                    assert!(capacity == window.len() as u64 && needed > capacity);
                    assert_eq!(needed, window_of(&input[error.offset() as usize - 5..]));
                    window.resize(needed as usize, 0xdd);
                }
                _ => return Err(error),
            },
        }
    }
}

/// The window that the frame at the front needs: the least of what it states and its content.
fn window_of(frame: &[u8]) -> u64 {
    let (descriptor, mut at) = (frame[4], 5);
    let mut window = u64::MAX;
    if descriptor & 0x20 == 0 {
        let base = 1024 << (frame[at] >> 3);
        window = base + base / 8 * u64::from(frame[at] & 7);
        at += 1;
    }
    at += [0, 1, 2, 4][usize::from(descriptor & 3)];
    let len = match descriptor >> 6 {
        0 => usize::from(descriptor & 0x20 != 0),
        flag => 1 << flag,
    };
    let content = frame[at..at + len].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    match len {
        0 => window,
        2 => window.min(content + 256),
        _ => window.min(content),
    }
}

/// True if decoding through a ring may refuse what a slice takes.
fn may_refuse(error: Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::OverLimit { .. } | ErrorKind::OffsetTooFar { .. } | ErrorKind::CapacityExceeded { .. }
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Random {
    /// Mostly small, at most `1 << bits`.
    fn small(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits);
        self.below(1 << bits)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}

/// Data of many kinds: repeats at all distances, runs, text of few letters, noise.
fn data(random: &mut Random, size: usize) -> Vec<u8> {
    let mut data: Vec<u8> = Vec::with_capacity(size);
    let letters = 1 + random.below(256);
    while data.len() < size {
        let len = random.small(11) as usize + 1;
        match random.below(6) {
            0 | 1 if !data.is_empty() => {
                let most = data.len() as u64;
                let back = 1 + random.small(22).min(most - 1) as usize;
                for _ in 0..len {
                    data.push(data[data.len() - back]);
                }
            }
            2 => {
                let byte = random.next() as u8;
                data.extend(std::iter::repeat_n(byte, len));
            }
            3 => data.extend((0..len.min(40)).map(|_| random.next() as u8)),
            _ => data.extend((0..len).map(|_| (random.below(letters) & random.next()) as u8)),
        }
    }
    data.truncate(size);
    data
}

fn compress(data: &[u8], level: i32, window_log: u32, checksum: bool, content_size: bool) -> Vec<u8> {
    use zstd_safe::CParameter;
    let mut context = zstd_safe::CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(level),
        CParameter::ChecksumFlag(checksum),
        CParameter::ContentSizeFlag(content_size),
    ] {
        context.set_parameter(parameter).unwrap();
    }
    if window_log > 0 {
        context.set_parameter(CParameter::WindowLog(window_log)).unwrap();
    }
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    context.compress2(&mut frame, data).unwrap();
    frame
}

/// The output of the reference implementation.
fn reference(input: &[u8], capacity: usize) -> Option<Vec<u8>> {
    let mut output = Vec::with_capacity(capacity);
    let mut context = zstd_safe::DCtx::create();
    // An allocation may be larger than asked for.
    let mut exact = vec![0; capacity];
    let size = context.decompress(&mut exact[..], input).ok()?;
    output.extend_from_slice(&exact[..size]);
    Some(output)
}

#[test]
fn agrees_with_the_reference_on_all_levels() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut workspace = Workspace::new();
    let mut levels: Vec<i32> = (1..=22).collect();
    levels.extend([-1, -3, -7, -50, -1000]);
    for level in levels {
        for size in [0, 1, 5, 100, 1000, 5000, 70_000, 400_000] {
            if level > 15 && size > 70_000 {
                continue;
            }
            let data = data(&mut random, size);
            let window_log = [0, 0, 10, 17, 24][random.below(5) as usize];
            let (checksum, content_size) = (random.below(2) == 0, random.below(4) != 0);
            let frame = compress(&data, level, window_log, checksum, content_size);
            for spare in [0, 1, 31, 1000, 400_000] {
                let mut output = vec![0; size + spare];
                let result = zstd::decompress(&frame, &mut output, &mut workspace);
                assert_eq!(result, Ok(size), "level {level} size {size} spare {spare}");
                assert!(output[..size] == data, "level {level} size {size} spare {spare}");
            }
            assert!(
                stream(&frame, &mut workspace).as_ref() == Ok(&data),
                "level {level} size {size} as a stream"
            );
            assert_eq!(zstd::content_size(&frame), Ok(content_size.then_some(size as u64)));
            for _ in 0..5 {
                let cut = random.below(frame.len() as u64) as usize;
                let mut output = vec![0; size];
                // Nothing at all is no frames.
                assert_eq!(zstd::decompress(&frame[..cut], &mut output, &mut workspace).is_ok(), cut == 0);
                if size > 0 {
                    let small = random.below(size as u64) as usize;
                    let error = zstd::decompress(&frame, &mut output[..small], &mut workspace).unwrap_err();
                    let ErrorKind::CapacityExceeded { capacity, needed } = error.kind() else {
                        panic!("{error}")
                    };
                    assert!(
                        capacity == small as u64 && needed > capacity && needed <= size as u64,
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn agrees_with_the_reference_on_damaged_frames() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut workspace = Workspace::new();
    let (mut accepted, mut refused, mut differ) = (0, 0, 0);
    for _ in 0..800 {
        let size = random.below(3000) as usize;
        let data = data(&mut random, size);
        let level = random.below(22) as i32 - 2;
        let frame = compress(&data, level, 0, random.below(8) == 0, random.below(2) == 0);
        for _ in 0..60 {
            let mut damaged = frame.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.len() as u64) as usize;
                match random.below(4) {
                    0 => damaged[at] = random.next() as u8,
                    1 => damaged[at] ^= 1 << random.below(8),
                    2 => damaged.truncate(at.max(1)),
                    _ => damaged.insert(at, random.next() as u8),
                }
            }
            let capacity = [size, size, size + 1, size + 100, 400_000][random.below(5) as usize];
            let expected = reference(&damaged, capacity);
            let mut output = vec![0; capacity];
            match (zstd::decompress(&damaged, &mut output, &mut workspace), expected) {
                (Ok(size), Some(expected)) => {
                    assert!(output[..size] == expected[..], "{damaged:02x?}");
                    match stream(&damaged, &mut workspace) {
                        Ok(content) => assert!(content == expected, "{damaged:02x?}"),
                        Err(error) => assert!(may_refuse(error), "{error}: {damaged:02x?}"),
                    }
                    accepted += 1;
                }
                (Err(error), Some(_)) => {
                    assert!(may_differ(error), "{error}: {damaged:02x?} {capacity}");
                    differ += 1;
                }
                (Err(error), None) => {
                    assert!(error.offset() <= damaged.len() as u64);
                    if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
                        assert!(stream(&damaged, &mut workspace).is_err(), "{error}: {damaged:02x?}");
                    }
                    refused += 1;
                }
                (Ok(size), None) => {
                    // Only a window that is too large for it is refused there and not here.
                    let mut frames = zstd::Frames::new(&damaged);
                    let large = frames.any(|frame| match frame.unwrap() {
                        zstd::Frame::Data(frame) => frame.header().window_size() >= 1 << 32,
                        _ => false,
                    });
                    assert!(large, "accepted with {size} bytes: {damaged:02x?} {capacity}");
                }
            }
        }
    }
    println!("accepted {accepted}, refused {refused}, refused here only {differ}");
    assert!(accepted > 2000 && refused > 20_000);
}

/// A processor that counts the loops it runs.
#[derive(Clone, Copy)]
struct Counting<'c>(&'c std::cell::Cell<u32>);

impl Processor for Counting<'_> {
    fn run<T>(self, work: impl FnOnce() -> T) -> T {
        self.0.set(self.0.get() + 1);
        work()
    }
}

/// A block has one loop of Huffman codes and one of sequences; in a ring, both are one.
#[test]
fn the_processor_runs_the_loops() {
    let data = data(&mut Random(7), 100_000);
    let frame = compress(&data, 3, 0, true, true);
    let blocks = Frames::new(&frame).map(|frame| match frame.unwrap() {
        Frame::Data(frame) => frame.blocks().count() as u32,
        _ => 0,
    });
    let blocks = blocks.sum::<u32>();
    let count = std::cell::Cell::new(0);
    let mut workspace = Workspace::on(Counting(&count));
    let mut output = vec![0; data.len()];
    assert_eq!(zstd::decompress(&frame, &mut output, &mut workspace), Ok(data.len()));
    assert!(output == data && blocks > 0);
    assert_eq!(count.take(), 2 * blocks);
    assert!(stream(&frame, &mut workspace).unwrap() == data);
    assert_eq!(count.take(), blocks);
}

/// Verdicts, errors and bytes of good and damaged frames are the same for the processor that is found at run time.
#[cfg(feature = "detect")]
#[test]
fn agrees_on_the_processor_that_is_found() {
    let mut random = Random(11);
    let (mut plain, mut found) = (Workspace::new(), Workspace::on(zstd::Detected::new()));
    println!("BMI2: {}", zstd::Detected::new().has_bmi2());
    let mut refused = 0;
    for round in 0..300 {
        let size = (random.next() % 200_000) as usize;
        let mut frame = compress(&data(&mut random, size), [1, 3, 12][round % 3], 0, round % 2 == 0, true);
        if round % 3 == 0 {
            let at = 6 + (random.next() as usize) % (frame.len() - 6);
            frame[at] ^= 1 << (random.next() % 8);
        }
        let mut outputs = [vec![0x11; size], vec![0x22; size]];
        let [one, other] = &mut outputs;
        let result = zstd::decompress(&frame, one, &mut plain);
        assert_eq!(zstd::decompress(&frame, other, &mut found), result);
        match result {
            Ok(_) => assert!(one == other),
            Err(_) => refused += 1,
        }
        assert_eq!(stream(&frame, &mut found), stream(&frame, &mut plain));
    }
    assert!((20..=100).contains(&refused), "{refused}");
}

#[test]
fn agrees_with_ruzstd() {
    let mut random = Random(0xfeed_beef_dead_cafe);
    let mut workspace = Workspace::new();
    let mut ruzstd = ruzstd::decoding::FrameDecoder::new();
    for level in [-5, 1, 3, 7, 12, 19] {
        for size in [10, 1000, 50_000] {
            let data = data(&mut random, size);
            let frame = compress(&data, level, 0, true, true);
            let (mut ours, mut theirs) = (vec![0; size], vec![0; size]);
            assert_eq!(zstd::decompress(&frame, &mut ours, &mut workspace), Ok(size));
            assert_eq!(ruzstd.decode_all(&frame, &mut theirs).unwrap(), size);
            assert!(ours == theirs && ours == data);
        }
    }
}

/// Every prefix, at every alignment, and every single byte changed: an error, or the content after all.
#[test]
fn cut_or_changed_frames_never_give_other_content() {
    let mut random = Random(0x0dd_ba11_5eed);
    let mut workspace = Workspace::new();
    let content = data(&mut random, 3000);
    let frame = compress(&content, 9, 0, true, true);
    let mut shifted = vec![0; frame.len() + 8];
    let mut output = vec![0; content.len()];
    for alignment in 0..8 {
        let place = &mut shifted[alignment..][..frame.len()];
        place.copy_from_slice(&frame);
        assert_eq!(zstd::decompress(place, &mut output, &mut workspace), Ok(content.len()));
        assert!(output == content);
    }
    for len in 1..frame.len() {
        let error = zstd::decompress(&frame[..len], &mut output, &mut workspace).unwrap_err();
        assert!(error.is_truncation() && error.offset() <= len as u64, "{len}: {error}");
        assert_eq!(zstd::content_size(&frame[..len]).unwrap_err(), error, "{len}");
    }
    let mut changed = frame.clone();
    for at in 0..frame.len() {
        for change in [1, 0x10, 0x80, 0xff] {
            changed[at] = frame[at] ^ change;
            match zstd::decompress(&changed, &mut output, &mut workspace) {
                Ok(size) => assert!(output[..size] == content, "{at} {change:#x}"),
                Err(error) => assert!(error.offset() <= frame.len() as u64, "{at} {change:#x}: {error}"),
            }
        }
        changed[at] = frame[at];
    }
}

#[test]
fn frames_and_blocks_are_listed() {
    let first = compress(&b"hello ".repeat(50_000), 3, 17, true, true);
    let skippable = b"\x53\x2a\x4d\x18\x03\0\0\0abc";
    let second = frame(5, &[b""]); // its block is not valid, which a list does not look at
    let input = [&first[..], skippable, &second].concat();
    let frames: Vec<Frame<'_>> = Frames::new(&input).map(Result::unwrap).collect();
    let [Frame::Data(a), Frame::Skippable(b), Frame::Data(c)] = frames[..] else { panic!("{frames:?}") };
    assert_eq!((a.as_bytes(), c.as_bytes()), (&first[..], &second[..]));
    assert_eq!(a.header().content_size(), Some(300_000));
    assert_eq!(a.checksum(), Some(u32::from_le_bytes(*first.last_chunk().unwrap())));
    assert_eq!((c.checksum(), c.header().is_single_segment(), c.header().header_size()), (None, true, 6));
    assert_eq!((b.offset(), b.variant(), b.user_data()), (first.len() as u64, 3, &b"abc"[..]));
    let blocks: Vec<_> = a.blocks().map(Result::unwrap).collect();
    assert_eq!(blocks.len(), 3); // of 128 KiB at most
    assert_eq!(blocks.iter().map(|block| block.is_last()).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(blocks[0].offset(), u64::from(a.header().header_size()));
    assert_eq!(c.blocks().count(), 1);
    assert_eq!(zstd::content_size(&input), Ok(Some(300_005)));
    let mut cut = Frames::new(&input[..first.len() + 7]);
    assert!(cut.next().unwrap().is_ok());
    let error = cut.next().unwrap().unwrap_err();
    assert_eq!(
        (error.offset(), error.kind()),
        (first.len() as u64 + 4, ErrorKind::UnexpectedEnd { needed: 1 })
    );
    assert!(cut.next().is_none());
}

#[test]
fn a_wrong_checksum_may_be_passed_over() {
    let mut input = compress(b"hello", 3, 17, true, true);
    *input.last_mut().unwrap() ^= 1;
    let (mut workspace, mut output) = (Workspace::default(), [0; 5]);
    let error = zstd::decompress(&input, &mut output, &mut workspace).unwrap_err();
    assert_eq!((error.offset(), error.element()), (input.len() as u64 - 4, zstd::element::CHECKSUM));
    assert!(matches!(error.kind(), ErrorKind::ChecksumMismatch { .. }));
    assert_eq!(Decoder::new(&mut workspace).verify_checksums(false).decompress(&input, &mut output), Ok(5));
    assert_eq!(&output, b"hello");
    assert!(format!("{workspace:?}").starts_with("Workspace { size: "));
}
