//! Speed of zstd decoding against the reference implementation and `ruzstd`, in the same run.
//!
//! `cargo bench --bench zstd -- [--mib=64] [--levels=1,3,19] [--without-ruzstd] [FILE…]`: two thirds of the mix are the
//! files, by default this program and the sources of the crate, one third are made-up trace records.
//!
//! Every decoder takes the same slice of about 1 MiB in turn, so that whatever else the machine does concerns all of
//! them; what counts is the median of the ratios. It prints a table of those, 1.00 being the speed of the reference with
//! one context reused, and their geometric means.

use std::path::{Path, PathBuf};
use std::time::Instant;
use traceglass::zstd::{Workspace, decompress};
use zstd_safe::{CParameter, DCtx};

const MIB: usize = 1 << 20;

/// Records as a tracer writes them: a header, a time, a few varying fields, now and then a name.
fn records(size: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(size + 64);
    let (mut state, mut time) = (0x2545_f491_4f6c_dd1d_u64, 1_700_000_000_000_u64);
    while data.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
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

fn sources(folder: &Path, text: &mut Vec<u8>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, text);
        } else {
            text.extend(std::fs::read(path).unwrap());
        }
    }
}

/// A third binaries, a third text, a third records, in pieces so that every chunk has one kind only.
fn mix(size: usize, files: &[PathBuf]) -> Vec<u8> {
    let third = size / 3;
    let mut thirds: Vec<Vec<u8>> = Vec::new();
    if files.is_empty() {
        let mut text = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
        thirds.push(std::fs::read(std::env::current_exe().unwrap()).unwrap());
        thirds.push(text);
    }
    thirds.extend(files.iter().map(|file| std::fs::read(file).unwrap()));
    let share = 2 * third / thirds.len();
    for data in &mut thirds {
        while data.len() < share {
            data.extend_from_within(..data.len().min(share - data.len()));
        }
        data.truncate(share);
    }
    thirds.push(records(size - thirds.iter().map(Vec::len).sum::<usize>()));
    thirds.concat()
}

fn compress(data: &[u8], chunk: usize, level: i32) -> Vec<Vec<u8>> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    let frames = data.chunks(chunk).map(|data| {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
        context.compress2(&mut frame, data).unwrap();
        frame
    });
    frames.collect()
}

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
    let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
    let data = mix(size, &files);

    let mut workspace = Box::new(Workspace::new());
    let mut context = DCtx::create();
    let mut ruzstd = ruzstd::decoding::FrameDecoder::new();
    let mut output = vec![0; data.len()];
    let (mut sums, mut count) = ([0.0_f64; 2], 0.0);
    println!("   chunk  level  packed  C MB/s     here   ruzstd");
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
                    if round < 2 && option("--without-ruzstd").is_none() {
                        let slow = run(&mut |frame, output| ruzstd.decode_all(frame, output).unwrap());
                        ratios[1].push(theirs / slow);
                    }
                }
            }
            let ratios = ratios.map(median);
            let share = 100.0 * packed as f64 / data.len() as f64;
            println!(
                "{chunk:>8}  {level:>5}  {share:>5.1}%  {:>6.0}  {:>7.3}  {:>7.3}",
                1e-6 / best,
                ratios[0],
                ratios[1]
            );
            for (sum, ratio) in sums.iter_mut().zip(ratios) {
                *sum += ratio.ln();
            }
            count += 1.0;
        }
    }
    let [here, ruzstd] = sums.map(|sum| (sum / count).exp());
    println!("geometric mean  {here:>23.3}  {ruzstd:>7.3}");
}
