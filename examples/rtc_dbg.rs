use traceglass::rtc::*;
fn main() {
    for path in std::env::args().skip(1) {
        let data = std::fs::read(&path).unwrap();
        println!(
            "== {path} {} detect {} probe {:?}",
            data.len(),
            detect(&data),
            probe(&data).map_err(|e| e.to_string())
        );
        let mut walk = Box::new(Walk::<1024>::new(&data));
        let mut at = 0;
        let mut counts = std::collections::BTreeMap::<(u64, u64), (u64, u64, u64)>::new();
        let mut unit = None;
        loop {
            while let Some(item) = walk.next_frame() {
                let frame = match item {
                    Ok(f) => f,
                    Err(e) => {
                        println!("  error {e}");
                        break;
                    }
                };
                assert_eq!(frame.offset(), at);
                at = frame.end();
                let u = walk.unit().unwrap();
                if unit != Some((u.position(), walk.session())) {
                    unit = Some((u.position(), walk.session()));
                    println!(
                        "  unit {} n{} s{} {} {}",
                        u.position(),
                        u.number(),
                        walk.session(),
                        u.major_size(),
                        u.minor_size()
                    );
                }
                if frame.id() == 8 {
                    println!("  crc at {} {:?}", frame.offset(), walk.verdict::<16>());
                }
                if frame.is_user() {
                    let c = counts.entry((walk.session(), frame.id())).or_default();
                    c.0 += 1;
                    c.1 += !frame.more() as u64;
                    c.2 += frame.payload().len() as u64;
                }
            }
            let Some(gap) = walk.resync() else { break };
            println!(
                "  gap {}..{} ({}) {:?} {}",
                gap.offset(),
                gap.end(),
                gap.len(),
                gap.reason(),
                gap.cause()
            );
            assert_eq!(gap.offset(), at);
            at = gap.end();
        }
        assert_eq!(at, data.len() as u64);
        for (k, v) in counts {
            println!(
                "  stream {k:?} {v:?} {}",
                walk.streams().get(k.1).and_then(|s| s.name()).map(|n| n.to_string()).unwrap_or_default()
            );
        }
    }
}
