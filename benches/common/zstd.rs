//! zstd: what traces hold, compressed by the reference implementation.

#[path = "../../tests/common/random.rs"]
mod random;

use random::Random;
use std::ops::Range;
use traceglass::zstd::{Processor, Workspace, decompress};
use zstd_safe::{CCtx, CParameter};

pub const MIB: usize = 1 << 20;

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        (self.next() >> 11) % most
    }

    /// Small numbers more often than large ones, as the words of a language are.
    fn skewed(&mut self, most: u64) -> u64 {
        let most = most as f64;
        let even = self.below(1 << 30) as f64 / f64::from(1 << 30);
        (most.powf(even) - 1.0) as u64
    }
}

/// Records as a tracer writes them: a header, a time, a few varying fields, now and then a name.
fn records(size: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(size + 64);
    let (mut random, mut time) = (Random(0x2545_f491_4f6c_dd1d), 1_700_000_000_000_u64);
    while data.len() < size {
        let state = random.next();
        time += state % 1000;
        let kind = (state >> 20) % 7;
        data.extend([0xd1, kind as u8, (state >> 30) as u8 & 3, 0]);
        data.extend(time.to_le_bytes());
        match kind {
            0..3 => data.extend(((state >> 33) as u32 % 5000).to_le_bytes()),
            3..5 => data.extend((0xffff_8000_0000_0000 | (state >> 40) << 4).to_le_bytes()),
            5 => data.extend(format!("worker-{:02}", (state >> 40) % 24).bytes()),
            _ => data.extend([0; 16]),
        }
    }
    data.truncate(size);
    data
}

/// Now and then, once in `often` times, something that came before comes again: so far back, so long.
fn again(random: &mut Random, data: &mut Vec<u8>, often: u64, back: Range<usize>, len: Range<u64>) {
    if random.below(often) == 0 && data.len() > 1000 {
        let back = back.start + random.skewed((data.len().min(back.end) - back.start) as u64) as usize;
        let (start, len) = (data.len() - back, len.start + random.below(len.end - len.start));
        data.extend_from_within(start..start + len as usize);
    }
}

/// Lines of words and signs, of which some come again.
fn text(size: usize) -> Vec<u8> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let syllables: Vec<String> = (0..96)
        .map(|_| {
            let letters = [&b"bcdfghlmnprstv"[..], b"aeiou", b"lnrst"]
                .map(|set| set[random.below(set.len() as u64) as usize]);
            String::from_utf8_lossy(&letters[..2 + random.below(2) as usize]).into_owned()
        })
        .collect();
    let words: Vec<String> = (0..6000)
        .map(|_| (0..1 + random.below(4)).map(|_| syllables[random.skewed(96) as usize].as_str()).collect())
        .collect();
    let signs = [" ", " ", " ", " ", ", ", ".", "(", ") ", " = ", "::", ";\n", ";\n    ", "_", ": "];
    let mut data = Vec::with_capacity(size + 128);
    while data.len() < size {
        again(&mut random, &mut data, 24, 100..60_000, 12..72);
        data.extend(words[random.skewed(6000) as usize].bytes());
        data.extend(signs[random.below(signs.len() as u64) as usize].bytes());
    }
    data.truncate(size);
    data
}

/// As a program: short instructions with operands of different sizes, some sequences of which come again.
fn program(size: usize) -> Vec<u8> {
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let instructions: Vec<Vec<u8>> = (0..400)
        .map(|_| (0..1 + random.below(4)).map(|_| (random.skewed(256) as u8).wrapping_mul(151)).collect())
        .collect();
    let mut data = Vec::with_capacity(size + 128);
    while data.len() < size {
        again(&mut random, &mut data, 12, 64..500_000, 5..29);
        data.extend(&instructions[random.skewed(400) as usize]);
        match random.below(8) {
            0..3 => data.push(random.skewed(256) as u8 & 0xf8),
            3 => {
                data.extend(((data.len() as u32).wrapping_neg() ^ random.below(1 << 16) as u32).to_le_bytes())
            }
            4 => data.extend((random.skewed(4096) as u32).to_le_bytes()),
            _ => {}
        }
    }
    data.truncate(size);
    data
}

/// A third program, a third text, a third records, in this order so that small chunks have one kind only.
pub fn mix(size: usize) -> Vec<u8> {
    let third = size / 3;
    [program(third), text(third), records(size - 2 * third)].concat()
}

pub fn compress(data: &[u8], chunk: usize, level: i32) -> Vec<Vec<u8>> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).expect("a level");
    let frames = data.chunks(chunk).map(|data| {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
        context.compress2(&mut frame, data).expect("enough room");
        frame
    });
    frames.collect()
}

/// The number of bytes that all frames hold.
pub fn decode<P: Processor>(
    frames: &[Vec<u8>],
    chunk: usize,
    output: &mut [u8],
    workspace: &mut Workspace<P>,
) -> u64 {
    let pairs = frames.iter().zip(output.chunks_mut(chunk));
    pairs.map(|(frame, output)| decompress(frame, output, workspace).expect("a frame") as u64).sum()
}
