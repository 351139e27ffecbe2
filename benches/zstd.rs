//! Speed of zstd decoding against the reference implementation and `ruzstd`, in the same run, on any files.
//!
//! `cargo bench --bench zstd -- [--mib=64] [--levels=1,3,19] [--chunks=4,64,1024] [--without-ruzstd] [FILE…]`, chunks in
//! KiB; without files, on what the other benchmarks read.
//!
//! The decoders take the same slice of 256 KiB in turn, nine times (`ruzstd` twice); the shortest time of each slice
//! counts, so that other work on the machine hardly matters. Prints a table of speeds, 1.00 being that of the reference
//! with one context reused, and their geometric means.

#[path = "common/zstd.rs"]
#[allow(dead_code)] // The other benchmarks use more.
mod common;

use common::{MIB, compress, mix};
use std::time::Instant;
use traceglass::zstd::{Workspace, decompress};
use zstd_safe::DCtx;

/// The size of a slice, unless chunks are larger.
const SLICE: usize = 256 << 10;

type Decoder<'a> = &'a mut dyn FnMut(&[u8], &mut [u8]) -> usize;

/// Decodes the frames of a slice; returns the seconds taken.
fn time(frames: &[Vec<u8>], chunk: usize, output: &mut [u8], decoder: Decoder<'_>) -> f64 {
    let start = Instant::now();
    for (frame, output) in frames.iter().zip(output.chunks_mut(chunk)) {
        assert_eq!(decoder(frame, output), output.len());
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (options, files): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with("--"));
    let option = |name: &str| options.iter().find_map(|option| option.strip_prefix(name));
    let size = option("--mib=").map_or(64, |mib| mib.parse().unwrap()) * MIB;
    let levels = option("--levels=").unwrap_or("1,3,19");
    let levels: Vec<i32> = levels.split(',').map(|level| level.parse().unwrap()).collect();
    let data = if files.is_empty() {
        mix(size)
    } else {
        files.iter().flat_map(|file| std::fs::read(file).unwrap()).collect()
    };
    let size = data.len();
    let chunks: Vec<usize> = match option("--chunks=") {
        Some(chunks) => chunks.split(',').map(|kib| kib.parse::<usize>().unwrap() << 10).collect(),
        None => vec![4 << 10, 64 << 10, MIB, size],
    };

    let mut workspace = Box::new(Workspace::new());
    let mut context = DCtx::create();
    let mut ruzstd = ruzstd::decoding::FrameDecoder::new();
    let mut output = vec![0; data.len()];
    let (mut sums, mut count) = ([0.0_f64; 2], 0.0);
    let with_ruzstd = option("--without-ruzstd").is_none();
    let column = |ratio: f64| if with_ruzstd { format!("  {ratio:>7.3}") } else { String::new() };
    println!("   chunk  level  packed  C MB/s     here{}", if with_ruzstd { "   ruzstd" } else { "" });
    for chunk in chunks {
        for &level in &levels {
            let frames = compress(&data, chunk, level);
            let packed: usize = frames.iter().map(Vec::len).sum();
            // Sums of the shortest times of all slices: of the reference, of traceglass, and of `ruzstd`.
            let (mut least, mut bytes) = ([0.0; 3], 0);
            let places = output.chunks_mut(SLICE.max(chunk)).zip(data.chunks(SLICE.max(chunk)));
            for (frames, (output, data)) in frames.chunks((SLICE / chunk).max(1)).zip(places) {
                let mut run = |decoder: Decoder<'_>| {
                    let taken = time(frames, chunk, output, decoder);
                    assert!(output == data);
                    output.fill(0);
                    taken
                };
                let mut slice = [f64::MAX; 3];
                for round in 0..9 {
                    let [theirs, ours, slow] = &mut slice;
                    let taken = run(&mut |frame, output| context.decompress(output, frame).unwrap());
                    *theirs = theirs.min(taken);
                    let taken = run(&mut |frame, output| decompress(frame, output, &mut workspace).unwrap());
                    *ours = ours.min(taken);
                    if round < 2 && with_ruzstd {
                        *slow = slow.min(run(&mut |frame, output| ruzstd.decode_all(frame, output).unwrap()));
                    }
                }
                for (sum, taken) in least.iter_mut().zip(slice) {
                    *sum += taken;
                }
                bytes += data.len();
            }
            let [theirs, ours, slow] = least;
            let (ratios, best) = ([theirs / ours, theirs / slow], theirs / bytes as f64);
            let share = 100.0 * packed as f64 / data.len() as f64;
            println!(
                "{chunk:>8}  {level:>5}  {share:>5.1}%  {:>6.0}  {:>7.3}{}",
                1e-6 / best,
                ratios[0],
                column(ratios[1])
            );
            for (sum, ratio) in sums.iter_mut().zip(ratios) {
                *sum += ratio.ln();
            }
            count += 1.0;
        }
    }
    let [here, ruzstd] = sums.map(|sum| (sum / count).exp());
    println!("geometric mean  {here:>23.3}{}", column(ruzstd));
}
