//! What is open when a range begins, found by looking back from it.

use crate::common::random::Random;
use crate::common::rfr::{self, Sequence};
use crate::common::{Scratch, status, traceglass};
use crate::states::lines;
use serde_json::Value;

/// Packets of a time each, on two processors; threads and interrupts on them.
pub const KERNEL: &str = r#"/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
clock { name = mono; freq = 1000000000; offset = 1600000000000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := ts;
stream { event.header := struct { u32 id; ts timestamp; };
  packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; }; };
event { name = sched_switch; id = 0;
  fields := struct { string prev_comm; u32 prev_tid; u32 prev_state; string next_comm; u32 next_tid; }; };
event { name = irq_handler_entry; id = 1; fields := struct { u32 irq; string name; }; };
event { name = irq_handler_exit; id = 2; fields := struct { u32 irq; u32 ret; }; };
"#;

/// A processor's stream of such packets, and where in it they begin, with their first times.
fn processor(cpu: u32, random: &mut Random) -> (Vec<u8>, Vec<(usize, u64)>) {
    let (mut data, mut packets) = (Vec::new(), Vec::new());
    let (mut time, mut running, mut open) = (1000, 0, Vec::new());
    for _ in 0..80 {
        let (begin, mut records) = (time, Vec::new());
        for _ in 0..20 {
            let mut head = |id: u32, time: u64, fields: &[&[u8]]| {
                records.extend([&id.to_le_bytes()[..], &time.to_le_bytes(), &fields.concat()].concat());
            };
            match (random.next() % 3, open.last().copied()) {
                (0, Some(irq)) => {
                    open.pop();
                    head(2, time, &[&u32::to_le_bytes(irq), &1_u32.to_le_bytes()]);
                }
                (1, _) if open.len() < 3 => {
                    let irq = random.next() as u32 % 8;
                    open.push(irq);
                    head(1, time, &[&irq.to_le_bytes(), b"eth\0"]);
                }
                _ => {
                    let next = random.next() as u32 % 6;
                    let tids = [running, 1, next].map(u32::to_le_bytes);
                    head(0, time, &[b"a\0", &tids[0], &tids[1], b"b\0", &tids[2]]);
                    running = next;
                }
            }
            time += 1 + random.next() % 50;
        }
        packets.push((data.len(), begin));
        let bits = (40 + records.len() as u64) * 8;
        data.extend(0xc1fc_1fc1_u32.to_le_bytes());
        [begin, time, bits, bits].iter().for_each(|number| data.extend(number.to_le_bytes()));
        data.extend(cpu.to_le_bytes());
        data.extend(records);
    }
    (data, packets)
}

/// What a packet's first record has at its begin, after the packet's header and context.
const HEAD: usize = 40;

/// The times in such a trace count from here.
const ORIGIN: i64 = 1_600_000_000_000_000_000;

fn begin(slice: &Value) -> Option<i64> {
    slice["time_ns"].as_i64()
}

fn end(slice: &Value) -> Option<i64> {
    slice["end_time_ns"].as_i64()
}

/// The slices that touch a range, of all.
fn touching(all: &[Value], from: i64, to: i64) -> Vec<&Value> {
    let touches = |slice: &&Value| {
        begin(slice).is_none_or(|begin| begin < to)
            && end(slice).is_none_or(|end| end > from || Some(end) == begin(slice) && end >= from)
    };
    all.iter().filter(|line| line["kind"] == "slice").filter(touches).collect()
}

/// What began since then is as it is with all, and what began before it is open at the start, or left out.
fn agree(found: &[Value], expected: &[&Value], since: i64) {
    let is_cut = |slice: &Value| {
        slice["flags"].as_array().unwrap().contains(&"open_start".into())
            && expected.iter().any(|whole| {
                whole["track"] == slice["track"]
                    && end(whole) == end(slice)
                    && begin(whole).is_none_or(|begin| begin < since)
            })
    };
    let found: Vec<_> = found.iter().filter(|line| line["kind"] == "slice").collect();
    assert!(found.iter().all(|slice| expected.contains(slice) || is_cut(slice)));
    let (known, before): (Vec<&Value>, Vec<&Value>) =
        expected.iter().partition(|slice| begin(slice).is_some_and(|begin| begin >= since));
    assert!(known.len() > 10 && known.iter().all(|slice| found.contains(slice)));
    // Of what began before, only that is missing whose end does not tell of it.
    assert!(found.len() <= expected.len() && found.len() + before.len() >= expected.len());
}

/// When packets begin that have so many bytes before a time.
fn since_of(packets: &[(u64, u64)], from: u64, bytes: u64) -> Option<u64> {
    let mut before: Vec<_> = packets.iter().filter(|(begin, _)| *begin < from).collect();
    before.sort_unstable();
    let mut total = 0;
    let at = before.iter().rposition(|(_, size)| {
        total += size;
        total >= bytes
    })?;
    (at > 0).then(|| before[at].0)
}

#[test]
fn a_range_is_read_from_a_little_before_it_on() {
    let scratch = Scratch::new("context");
    let mut random = Random(0x5eed_0036);
    for round in 0..6 {
        let folder = format!("trace-{round}");
        scratch.write(&format!("{folder}/metadata"), KERNEL.as_bytes());
        let (mut early, mut all_packets) = (Vec::new(), Vec::new());
        for cpu in 0..2 {
            let (data, packets) = processor(cpu, &mut random);
            let ends = packets.iter().skip(1).map(|(at, _)| *at).chain([data.len()]);
            all_packets.extend(packets.iter().zip(ends).map(|((at, time), end)| (*time, (end - at) as u64)));
            early.push((format!("{folder}/cpu{cpu}"), data.clone(), packets));
            scratch.write(&format!("{folder}/cpu{cpu}"), &data);
        }
        let path = scratch.path(&folder);
        let all = lines(&["cat", "--slices", "--json", &path]);
        assert!(all.len() > 500);
        let (from, to) = (24_000 + round * 100, 26_000);
        let expected = touching(&all, ORIGIN + from, ORIGIN + to);
        let (from_arg, to_arg) = (format!("@{from}"), format!("@{to}"));
        let range = ["cat", "--slices", "--json", "--from", &from_arg, "--to", &to_arg, &path];
        // So little is all read.
        for all in [&[][..], &["--look-back", "all"], &["--look-back", "1GiB"]] {
            let output = traceglass(&[&range[..], all].concat());
            assert!(output.stderr.is_empty());
            let found = lines(&[&range[..], all].concat());
            let found: Vec<_> = found.iter().filter(|line| line["kind"] == "slice").collect();
            assert!(found == expected, "{round} {all:?}");
        }
        // What lies after the range is not looked at for a drawing, which is cut there.
        let drawn = || {
            let export = ["export", "--format", "perfetto", "--from", &from_arg, "--to", &to_arg, &path];
            let output = traceglass(&export);
            assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let whole = drawn();
        for (name, data, packets) in &early {
            let mut damaged = data.clone();
            for (at, _) in packets.iter().filter(|(_, time)| *time as i64 > to + 4_000) {
                damaged[at + HEAD] = 0xee;
            }
            assert_ne!(&damaged, data);
            scratch.write(name, &damaged);
        }
        assert!(drawn() == whole, "{round}");
        early.iter().for_each(|(name, data, _)| drop(scratch.write(name, data)));
        let (back, size) = (2_000 * (round + 1), round as u64 + 2);
        let since = since_of(&all_packets, from as u64, size * 1024).unwrap();
        for (back, since) in [(format!("{back}ns"), from - back), (format!("{size}KiB"), since as i64)] {
            // What lies before that is not even looked at: it may be damaged.
            for (name, data, packets) in &early {
                let mut damaged = data.clone();
                // Two packets more are read, for records that are later than their packet says.
                for (at, _) in packets.iter().filter(|(_, time)| (*time as i64) < since - 4_000) {
                    damaged[at + HEAD] = 0xee;
                }
                assert_ne!(&damaged, data);
                scratch.write(name, &damaged);
            }
            let args = [&range[..], &["--look-back", &back]].concat();
            agree(&lines(&args), &expected, ORIGIN + since);
            let said = String::from_utf8(traceglass(&args).stderr).unwrap();
            assert!(said.starts_with("looked back ") && said.contains(" from the range: "), "{said}");
        }
    }
}

/// Names are given where a trace begins, long before a range. Of an event that begins something there nothing is kept: it
/// may have ended since.
#[test]
fn names_are_known_however_little_is_looked_at() {
    const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
clock { name = mono; freq = 1000000000; offset = 0; };
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := ts;
stream { event.header := struct { u32 id; ts timestamp; };
  packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; }; };
event { name = motor_init; id = 0; fields := struct { u32 motor; string called; }; };
event { name = motor_on; id = 1; fields := struct { u32 motor; }; };
event { name = motor_off; id = 2; fields := struct { u32 motor; }; };
event { name = tick; id = 3; fields := struct { u32 count; }; };
"#;
    const TABLE: &str = r#"
let = [
  { on = "motor_init", map = "called", key = "{motor}", value = "{called}" },
  { on = "motor_on", map = "runs", key = "any", value = "{motor}" },
]
slice = [ { begin = "motor_on", end = "motor_off", track = "motor {motor}", key = "{motor}", name = "{@called[motor]|'?'}" } ]
state = [ { on = "tick", track = "running", value = "{@runs['any']|'none'}" } ]
"#;
    let scratch = Scratch::new("names-before");
    let table = scratch.file("mine.toml", TABLE.as_bytes());
    scratch.write("trace/metadata", METADATA.as_bytes());
    let mut stream = Vec::new();
    for packet in 0..40_u64 {
        let start = packet * 1_000;
        let record = |id: u32, at: u64, number: u32, rest: &[u8]| {
            [&id.to_le_bytes()[..], &(start + at).to_le_bytes(), &number.to_le_bytes(), rest].concat()
        };
        let mut records = Vec::new();
        if packet == 0 {
            records.extend(record(0, 1, 7, b"left\0"));
            records.extend(record(1, 2, 8, b""));
        }
        records.extend((10..20).flat_map(|at| record(3, at, 0, b"")));
        if packet >= 36 {
            records.extend(record(1, 30, 7, b""));
            records.extend(record(2, 40, 7, b""));
        }
        let bits = (36 + records.len() as u64) * 8;
        stream.extend(0xc1fc_1fc1_u32.to_le_bytes());
        [start, start + 900, bits, bits].iter().for_each(|number| stream.extend(number.to_le_bytes()));
        stream.extend(records);
    }
    scratch.write("trace/stream", &stream);
    let path = scratch.path("trace");
    let slices = |back: &str| {
        let range =
            ["cat", "--slices", "--json", "--from", "@36000", "--states", &table, "--look-back", back, &path];
        let found = lines(&range);
        let named = |track: &str| -> Vec<String> {
            let of = found.iter().filter(|slice| slice["track"] == track);
            of.map(|slice| slice["name"].as_str().unwrap().to_owned()).collect()
        };
        [named("motor 7"), named("running")]
    };
    assert_eq!(slices("all"), [vec!["left"; 4], vec!["8", "7"]]);
    assert_eq!(slices("1KiB"), [vec!["left"; 4], vec!["none", "7"]]);
}

/// Of a recording, whole chunks are left out.
#[test]
fn chunks_before_are_not_read() {
    let scratch = Scratch::new("chunks-before");
    let mut chunks = Vec::new();
    for second in 0..8_u64 {
        // Polls of a task, the last of which ends in the next chunk.
        let mut sequence = Sequence::new(1).task(5, 70, "alpha", None);
        for poll in 0..200 {
            sequence = sequence.about(poll * 5_000 + 1_000, 7, 5).about(poll * 5_000 + 2_000, 6, 5);
        }
        let bytes = rfr::Chunk::new(1_000 + second).sequence(sequence).bytes();
        scratch.write(&format!("recording/{second}"), &bytes);
        chunks.push((second * 1_000_000, bytes));
    }
    scratch.write("recording/meta.rfr", &rfr::meta(1_000, 5, &["rfr-c/0.0.2"]));
    // Of up to 16 MiB, all chunks would be read.
    let large = Sequence::new(1).task(9, 70, &"x".repeat(16 << 20), None).about(1_000, 5, 9);
    scratch.write("recording/large", &rfr::Chunk::new(900).sequence(large).bytes());
    let path = scratch.path("recording");
    let slices = |back: &str| {
        lines(&[
            "cat",
            "--slices",
            "--json",
            "--from",
            "@1006500000",
            "--to",
            "@1006600000",
            "--look-back",
            back,
            &path,
        ])
    };
    let all = slices("all");
    assert_eq!(all.len(), 21);
    for (number, (_, bytes)) in chunks.iter().enumerate().take(4) {
        let mut damaged = bytes.clone();
        let end = damaged.len() - 100;
        damaged[end..].fill(0xff);
        scratch.write(&format!("recording/{number}"), &damaged);
    }
    assert_eq!(slices("4KiB"), all);
    assert_eq!(status(&traceglass(&["cat", "--slices", &path])), 3);
}
