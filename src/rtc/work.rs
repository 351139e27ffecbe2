//! The work that reading takes, which tests and fuzz targets hold to a constant times the input.

pub(crate) use crate::work::count;
#[cfg(any(test, fuzzing))]
pub use crate::work::of;

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::rtc::{Grid, Records, Step, StreamSlot, Time, check, recover};
    use std::vec;
    use std::vec::Vec;

    /// Room for so many streams, and so many bytes that are lent.
    const STREAMS: usize = 64;
    const LENT: usize = 4096;

    /// Steps a byte of the input and of what is lent: three times what the worst of these inputs takes.
    const STEPS: u64 = 15;

    fn read(data: &[u8]) {
        let mut buffer = vec![0; LENT];
        let mut records = Records::new(data, [StreamSlot::EMPTY; STREAMS], &mut buffer);
        while let Ok(Some(record)) = records.next_record() {
            let _ = (record.time(), record.bytes());
        }
    }

    fn read_over_damage(data: &[u8]) {
        let mut buffer = vec![0; LENT];
        let mut records = recover::Records::new(data, [StreamSlot::EMPTY; STREAMS], &mut buffer);
        loop {
            match records.next_step() {
                Step::Record(record) => drop((record.time(), record.bytes())),
                Step::End => return,
                _ => {}
            }
        }
    }

    /// The most steps a byte that a way of reading takes.
    fn steps(data: &[u8]) -> u64 {
        let slots = [StreamSlot::EMPTY; STREAMS];
        let most = [
            of(|| read(data)),
            of(|| read_over_damage(data)),
            of(|| check(&mut recover::Frames::new(data, slots), &mut |_| ()).map_or((), |_| ())),
            of(|| {
                drop(
                    Grid::new(data).and_then(|grid| grid.frames(crate::bytes::to_u64(data.len()) / 2, slots)),
                )
            }),
        ];
        let lent = crate::bytes::to_u64(data.len() + LENT);
        most.into_iter().max().unwrap_or(0).div_ceil(lent)
    }

    /// Seeking costs no more with many clocks than with few.
    #[test]
    fn many_clocks_are_not_sought_one_by_one() {
        const CLOCKS: usize = 2_048;
        let steps = |count: u32| {
            let data = many_clocks(count);
            let mut slots = vec![StreamSlot::EMPTY; CLOCKS];
            let slots = &mut &mut slots[..];
            let found = Grid::new(&data).map(|grid| {
                assert_eq!(
                    grid.streams(&mut *slots).map(|table| table.streams().len()),
                    Ok(usize::try_from(count).unwrap_or(0))
                );
                let sought = of(|| assert_eq!(grid.seek_all(Time::ZERO, slots), None));
                sought.max(of(|| assert!(grid.clocks_before(0, slots).is_empty())))
            });
            found.map_or(u64::MAX, |steps| steps.div_ceil(crate::bytes::to_u64(data.len())))
        };
        let worst = [40, 400, 2_000].map(steps);
        assert!(worst.iter().all(|&one| one <= STEPS), "{worst:?}");
    }

    /// A unit with a stamp of each of so many clocks.
    fn many_clocks(count: u32) -> Vec<u8> {
        let object = |id: u64| {
            std::format!(
                "{{\"id\":{id},\"name\":\"c{id}\",\"clock\":true,\"format\":\"uint8\",\"length\":1}},"
            )
        };
        let ids: Vec<u64> = (9..u64::from(count).saturating_add(9)).collect();
        one_unit(&ids, object, 1)
    }

    /// A unit with these streams, and so many records of one byte of each.
    fn one_unit(ids: &[u64], object: impl Fn(u64) -> std::string::String, rounds: u32) -> Vec<u8> {
        fn int(out: &mut Vec<u8>, mut value: u64) {
            while value >= 0x80 {
                out.push(value.to_le_bytes()[0] | 0x80);
                value >>= 7;
            }
            out.push(value.to_le_bytes()[0]);
        }
        /// A frame of a default stream, in pieces of a frame's longest payload.
        fn record(out: &mut Vec<u8>, id: u8, data: &[u8]) {
            let mut pieces = data.chunks(1024).peekable();
            while let Some(piece) = pieces.next() {
                out.push(id << 1 | u8::from(pieces.peek().is_some()));
                int(out, crate::bytes::to_u64(piece.len()));
                out.extend(piece);
            }
        }
        let mut data = vec![4];
        data.extend([0xb9; 1024]);
        let mut index = vec![0];
        for (id, size) in [(3, 1 << 24), (4, 1 << 24), (5, 0), (7, 0), (8, 0)] {
            int(&mut index, id << 1 | 1);
            int(&mut index, size << 1);
        }
        let objects: std::string::String = ids.iter().map(|&id| object(id)).collect();
        record(&mut data, 3, &index);
        record(&mut data, 5, std::format!("[{objects}{}]", u64::MAX).as_bytes());
        data.extend([14, 4, 3, 2, 1]);
        for round in 0..rounds {
            for &id in ids {
                int(&mut data, id << 1);
                data.push(7);
            }
            // The table changes between the records.
            let meta = std::format!(
                "[{{\"id\":{},\"clock\":true,\"name\":\"r\"}},{}]",
                1_u64 << 40 | u64::from(round),
                u64::MAX
            );
            record(&mut data, 6, meta.as_bytes());
        }
        data
    }

    /// Streams whose clocks do not exist, and streams whose ids are alike in most of their bits: each is looked up in as
    /// many steps as an id or a hash has bits, at most.
    #[test]
    fn looking_for_streams_and_clocks_is_linear() {
        const MANY: usize = 2_048;
        let steps = |count: u64| {
            let object = |id: u64| {
                std::format!("{{\"id\":{id},\"name\":\"n{id}\",\"clock\":\"x{id}\",\"length\":1}},")
            };
            let dense: Vec<u64> = (9..9_u64.saturating_add(count)).collect();
            let alike: Vec<u64> = dense.iter().map(|&id| id << 50 | 9).collect();
            [dense, alike].map(|ids| {
                let data = one_unit(&ids, object, 3);
                let records = of(|| {
                    let mut buffer = [0; 64];
                    let mut slots = vec![StreamSlot::EMPTY; MANY];
                    let mut records = Records::new(&data, &mut slots[..], &mut buffer);
                    let mut found = 0;
                    while let Ok(Some(record)) = records.next_record() {
                        assert_eq!(record.time(), None);
                        found += 1;
                    }
                    assert_eq!(found, 3 * ids.len());
                });
                let checked = of(|| {
                    let mut slots = vec![StreamSlot::EMPTY; MANY];
                    let _ = check(&mut recover::Frames::new(&data, &mut slots[..]), &mut |_| ());
                });
                records.max(checked).div_ceil(crate::bytes::to_u64(data.len()))
            })
        };
        let worst = [20, 200, 2_000].map(steps);
        std::println!("{worst:?} steps a byte");
        assert!(worst.iter().flatten().all(|&one| one <= 2 * STEPS), "{worst:?}");
    }

    const SAMPLE: &[u8] = include_bytes!("../../examples/data/sample.rtc");

    /// Sound files, one that lost its start, and nothing but bytes that begin frames, Markers or indices.
    fn inputs() -> Vec<Vec<u8>> {
        let mut inputs: Vec<Vec<u8>> =
            [0x00, 0x04, 0x08, 0x12, 0xb9, 0xff].map(|byte| vec![byte; 50_000]).to_vec();
        inputs.extend([SAMPLE.to_vec(), SAMPLE.repeat(3), SAMPLE[700..].to_vec(), SAMPLE[9000..].repeat(4)]);
        // A Marker and what follows it, over and over: each could be a session.
        inputs.push(SAMPLE[..2000].repeat(20));
        inputs.push(SAMPLE[1025..3100].repeat(20));
        inputs.push(endless_records(40));
        inputs
    }

    /// Units of 4096 bytes, whose one stream has records longer than any file, and zeros before each boundary: anything
    /// may be left of a record, and each guess leads over all the zeros.
    fn endless_records(units: u8) -> Vec<u8> {
        const META: &[u8] = b"\n5[{\"id\":9,\"name\":\"a\",\"length\":9223372036854775807},11]";
        let fill = |data: &mut Vec<u8>, to: usize| {
            while data.len() < to - 900 {
                data.extend(b"\x12\x07hello 0");
            }
            data.resize(to, 0);
        };
        let mut data = Vec::new();
        for number in 0..units {
            let start = data.len();
            data.push(4);
            data.extend([0xb9; 1024]);
            data.extend([6, 15, number, 7, 0x80, 0x40, 9, 0x80, 0x20, 11, 0, 15, 0, 17, 0, 19, 0]);
            data.extend(META);
            fill(&mut data, start + 1025 + 2048);
            data.extend([8, 3, 7, 0x80, 0x20]);
            fill(&mut data, start + 4096);
        }
        data
    }

    #[test]
    fn work_is_linear_whatever_the_damage() {
        let mut worst = 0;
        for whole in inputs() {
            worst = worst.max(steps(&whole));
            // One byte in this many is wrong, or lost.
            for every in [17, 257, 1999, 4099] {
                let mut wrong = whole.clone();
                wrong.iter_mut().step_by(every).for_each(|byte| *byte ^= 0x55);
                let mut lost = whole.clone();
                let mut at = 0;
                lost.retain(|_| {
                    at += 1;
                    at % every != 0
                });
                worst = worst.max(steps(&wrong)).max(steps(&lost));
            }
        }
        std::println!("{worst} steps a byte");
        assert!(worst <= STEPS, "{worst} steps a byte");
    }
}
