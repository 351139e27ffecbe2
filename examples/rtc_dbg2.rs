use std::collections::HashSet;
use traceglass::rtc::*;
fn frames(data: &[u8]) -> (Vec<(u64, u64, u64)>, u64, u64) {
    let mut walk = Walk::<400>::new(data);
    let mut out = vec![];
    let (mut gaps, mut lost, mut at) = (0, 0, 0);
    let mut steps = 0;
    loop {
        while let Some(Ok(f)) = walk.next_frame() {
            assert_eq!(f.offset(), at);
            at = f.end();
            out.push((f.offset(), f.id(), f.end()));
        }
        let Some(gap) = walk.resync() else { break };
        assert_eq!(gap.offset(), at);
        at = gap.end();
        gaps += 1;
        lost += gap.len();
        steps += 1;
        assert!(steps < data.len() + 10);
    }
    assert_eq!(at, data.len() as u64);
    (out, gaps, lost)
}
fn main() {
    let mut seed = 12345u64;
    let mut rnd = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    for path in std::env::args().skip(1) {
        let data = std::fs::read(&path).unwrap();
        let (orig, g, _) = frames(&data);
        println!("== {path} frames {} gaps {g}", orig.len());
        let set: HashSet<_> = orig.iter().copied().collect();
        for kind in 0..6 {
            let n = 1500;
            let (mut inv, mut invuser, mut lost, mut worst, mut nogap) = (0, 0, 0, 0, 0);
            let mut worstp = (0, 0);
            let mut shown = 0;
            for _ in 0..n {
                let p = rnd(data.len());
                let mut d = data.clone();
                let (a, b, shift): (usize, usize, i64) = match kind {
                    0 => {
                        let v = rnd(256) as u8;
                        d[p] = v;
                        (p, p + 1, 0)
                    }
                    1 => {
                        let e = (p + 1 + rnd(3000)).min(d.len());
                        d[p..e].fill(0);
                        (p, e, 0)
                    }
                    2 => {
                        let e = (p + 1 + rnd(200)).min(d.len());
                        for x in &mut d[p..e] {
                            *x = rnd(256) as u8
                        }
                        (p, e, 0)
                    }
                    3 => {
                        let e = (p + 1 + rnd(1500)).min(d.len());
                        d.drain(p..e);
                        (p, e, -((e - p) as i64))
                    }
                    4 => {
                        let k = 1 + rnd(1500);
                        let ins: Vec<u8> = (0..k).map(|_| rnd(256) as u8).collect();
                        d.splice(p..p, ins);
                        (p, p, k as i64)
                    }
                    _ => {
                        d.drain(..p);
                        (0, p, -(p as i64))
                    }
                };
                let (got, _g, _l) = frames(&d);
                // map back
                let mut i = 0;
                let mut mapped = HashSet::new();
                for &(o, id, e) in &got {
                    let m = |x: u64| -> i64 { if (x as usize) < a { x as i64 } else { x as i64 - shift } };
                    // candidate mappings: unshifted if before damage end
                    let f1 = (o, id, e);
                    let s = |x: u64| (x as i64 - shift) as u64;
                    let f2 = (s(o), id, s(e));
                    let _ = m;
                    let ok1 = set.contains(&f1) && (o as usize) < b.max(a + 1);
                    let ok2 = set.contains(&f2);
                    if ok1 {
                        mapped.insert(f1);
                    } else if ok2 {
                        mapped.insert(f2);
                    } else {
                        i += 1;
                        if id >= 9 {
                            invuser += 1;
                            if shown < 0 {
                                shown += 1;
                                println!("   inv kind {kind} p {p} ({a},{b},{shift}) frame {f1:?}");
                            }
                        }
                    }
                }
                inv += i;
                let missing: usize = orig
                    .iter()
                    .filter(|f| !mapped.contains(f) && !((f.0 as usize) < b && f.2 as usize > a))
                    .count();
                lost += missing;
                if missing > worst {
                    worst = missing;
                    worstp = (p, d.len());
                }
                if _g == 0 && missing > 0 {
                    nogap += 1
                }
            }
            println!(
                "  kind {kind}: invented {inv} (user {invuser}) lost/run {:.2} worst {worst} at {worstp:?} lost-without-gap {nogap}",
                lost as f64 / n as f64
            );
        }
    }
}
