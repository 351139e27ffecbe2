//! Speed of zstd decoding against the reference implementation and `ruzstd`, in the same run, on any files.
//!
//! `cargo bench --bench zstd -- [--mib=64] [--levels=1,3,19] [--without-ruzstd] [FILE…]`; without files, on what the
//! other benchmarks read.
//!
//! Every decoder takes the same slice of about 1 MiB in turn, so that whatever else the machine does concerns all of
//! them; what counts is the median of the ratios. It prints a table of those, 1.00 being the speed of the reference with
//! one context reused, and their geometric means.

#[path = "common/zstd.rs"]
#[allow(dead_code)] // The other benchmarks use more.
mod common;

use common::{MIB, compress, mix};
use std::time::Instant;
use traceglass::zstd::{Workspace, decompress};
use zstd_safe::DCtx;

type Decoder<'a> = &'a mut dyn FnMut(&[u8], &mut [u8]) -> usize;

/// Decodes the frames of a slice; returns the seconds taken.
fn time(frames: &[Vec<u8>], chunk: usize, output: &mut [u8], decoder: Decoder<'_>) -> f64 {
    let start = Instant::now();
    for (frame, output) in frames.iter().zip(output.chunks_mut(chunk)) {
        assert_eq!(decoder(frame, output), output.len());
    }
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
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

    let mut workspace = Box::new(Workspace::new());
    let mut context = DCtx::create();
    let mut ruzstd = ruzstd::decoding::FrameDecoder::new();
    let mut output = vec![0; data.len()];
    let (mut sums, mut count) = ([0.0_f64; 2], 0.0);
    let with_ruzstd = option("--without-ruzstd").is_none();
    let column = |ratio: f64| if with_ruzstd { format!("  {ratio:>7.3}") } else { String::new() };
    println!("   chunk  level  packed  C MB/s     here{}", if with_ruzstd { "   ruzstd" } else { "" });
    for chunk in [4 << 10, 64 << 10, MIB, size] {
        for &level in &levels {
            let frames = compress(&data, chunk, level);
            let packed: usize = frames.iter().map(Vec::len).sum();
            let mut ratios = [const { Vec::new() }; 2];
            let mut best = f64::MAX;
            for round in 0..5 {
                let places = output.chunks_mut(MIB.max(chunk)).zip(data.chunks(MIB.max(chunk)));
                for (frames, (output, data)) in frames.chunks((MIB / chunk).max(1)).zip(places) {
                    let mut run = |decoder: Decoder<'_>| {
                        let taken = time(frames, chunk, output, decoder);
                        if round == 0 {
                            assert!(output == data);
                            output.fill(0);
                        }
                        taken
                    };
                    let theirs = run(&mut |frame, output| context.decompress(output, frame).unwrap());
                    let ours = run(&mut |frame, output| decompress(frame, output, &mut workspace).unwrap());
                    // The first round warms up.
                    if round > 0 {
                        ratios[0].push(theirs / ours);
                        best = best.min(theirs / data.len() as f64);
                    }
                    if round < 2 && with_ruzstd {
                        let slow = run(&mut |frame, output| ruzstd.decode_all(frame, output).unwrap());
                        ratios[1].push(theirs / slow);
                    }
                }
            }
            let ratios = ratios.map(median);
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
