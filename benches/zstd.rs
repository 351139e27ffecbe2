//! Speed of zstd decoding against the reference implementation and `ruzstd`, in the same run and in CPU time.
//!
//! `cargo bench --bench zstd -- [--quick] [--without-ruzstd] [FILE…]`: the files, cut to a third of the mix each kind, replace
//! what is taken by default: this program, the sources of the crate and made-up trace records. It prints a table of
//! ratios, 1.00 being the speed of the reference, and their geometric means.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use traceglass::zstd::{Workspace, decompress};
use zstd_safe::{CParameter, DCtx};

const MIB: usize = 1 << 20;

/// CPU time of this thread so far; time on the clock where the system does not tell.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| {
        let nanoseconds = text.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    });
    cpu.unwrap_or_else(|| start.elapsed())
}

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

struct Chunks {
    frames: Vec<Vec<u8>>,
    data: Vec<u8>,
    chunk: usize,
}

impl Chunks {
    fn new(data: &[u8], chunk: usize, level: i32) -> Self {
        let mut context = zstd_safe::CCtx::create();
        context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
        let frames = data.chunks(chunk).map(|data| {
            let mut frame = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
            context.compress2(&mut frame, data).unwrap();
            frame
        });
        Self { frames: frames.collect(), data: data.to_vec(), chunk }
    }

    /// Decodes everything once; returns the time it took.
    fn decode(&self, output: &mut [u8], mut decoder: impl FnMut(&[u8], &mut [u8]) -> usize) -> Duration {
        let start = now();
        for (frame, output) in self.frames.iter().zip(output.chunks_mut(self.chunk)) {
            assert_eq!(decoder(frame, output), output.len());
        }
        now() - start
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (flags, files): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let (size, rounds) = if has("--quick") { (6 * MIB, 7) } else { (64 * MIB, 5) };
    let levels: &[i32] = if has("--low") { &[1, 3] } else { &[1, 3, 19] };
    let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
    let data = mix(size, &files);

    println!("  chunk  level  packed  C MB/s     here   ruzstd");
    let (mut sums, mut count) = ([0.0_f64; 2], 0.0);
    let mut workspace = Box::new(Workspace::new());
    let mut context = DCtx::create();
    let mut ruzstd = ruzstd::decoding::FrameDecoder::new();
    for chunk in [4 << 10, 64 << 10, MIB, size] {
        for &level in levels {
            let chunks = Chunks::new(&data, chunk, level);
            let packed: usize = chunks.frames.iter().map(Vec::len).sum();
            let mut output = vec![0; data.len()];
            let mut best = [Duration::MAX; 3];
            for round in 0..rounds {
                let mut time = |best: &mut Duration, decoder: &mut dyn FnMut(&[u8], &mut [u8]) -> usize| {
                    let taken = chunks.decode(&mut output, decoder);
                    *best = taken.min(*best);
                    if round == 0 {
                        assert!(output == chunks.data);
                        output.fill(0);
                    }
                };
                time(&mut best[0], &mut |frame, output| context.decompress(output, frame).unwrap());
                time(&mut best[1], &mut |frame, output| decompress(frame, output, &mut workspace).unwrap());
                if round < 2 && !has("--without-ruzstd") {
                    time(&mut best[2], &mut |frame, output| ruzstd.decode_all(frame, output).unwrap());
                }
            }
            let ratio = |n: usize| best[0].as_secs_f64() / best[n].as_secs_f64();
            println!(
                "{:>7}  {level:>5}  {:>5.1}%  {:>6.0}  {:>7.3}  {:>7.3}",
                chunk,
                100.0 * packed as f64 / data.len() as f64,
                data.len() as f64 / best[0].as_secs_f64() / 1e6,
                ratio(1),
                ratio(2)
            );
            sums[0] += ratio(1).ln();
            sums[1] += ratio(2).ln();
            count += 1.0;
        }
    }
    println!("geometric mean  {:>22.3}  {:>7.3}", (sums[0] / count).exp(), (sums[1] / count).exp());
}
