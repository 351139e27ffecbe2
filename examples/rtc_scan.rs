#[path = "../tests/common/rtc.rs"]
#[allow(dead_code)]
mod builder;
use traceglass::rtc::Walk;
fn main() {
    let data = if let Some(p) = std::env::args().nth(1) {
        std::fs::read(p).unwrap()
    } else {
        let d = builder::sample(builder::Options::sizes(1 << 20, 128 << 10), 64 << 20);
        std::fs::write("/tmp/s.rtc", &d).unwrap();
        d
    };
    let n = std::env::args().nth(2).map_or(1, |n| n.parse().unwrap());
    let t = std::time::Instant::now();
    let mut frames = 0u64;
    for _ in 0..n {
        frames = scan(&data);
    }
    let e = t.elapsed();
    println!("{frames} {:?} {:.2} ns/frame", e, e.as_nanos() as f64 / (frames * n) as f64);
}
#[inline(never)]
fn scan(data: &[u8]) -> u64 {
    let mut walk = Walk::<16>::new(data);
    let (mut frames, mut bytes) = (0, 0_usize);
    while let Some(frame) = walk.next_frame() {
        let frame = frame.expect("no damage");
        frames += 1;
        bytes = bytes.wrapping_add(frame.payload().len()).wrapping_add(frame.place().unwrap_or(0));
    }
    std::hint::black_box(bytes);
    frames
}
