//! Captures off a wire: what is found in them is what was written.

use crate::numbers::Random;
use std::collections::HashMap;
use traceglass::ctf::data::wire::{Capture, Scan, WireKind, WireSlot};
use traceglass::ctf::data::{Merge, MergeSlot, Packets, Value, element};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Error, ErrorKind, Room};

/// The layout of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) has_uuid: bool,
    pub(crate) has_numbers: bool,
    /// Bits of the packets' times, and of the records'.
    pub(crate) packet_time: usize,
    pub(crate) record_time: usize,
    pub(crate) total: usize,
}

pub(crate) fn uint(bits: usize, role: &str) -> String {
    let roles = if role.is_empty() { String::new() } else { format!(r#", "roles": ["{role}"]"#) };
    format!(
        r#"{{"type": "fixed-length-unsigned-integer", "length": {bits}, "alignment": 8,
        "byte-order": "little-endian"{roles}}}"#
    )
}

pub(crate) fn structure(members: &[(&str, String)]) -> String {
    let members: Vec<_> = members
        .iter()
        .map(|(name, class)| format!(r#"{{"name": "{name}", "field-class": {class}}}"#))
        .collect();
    format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, members.join(","))
}

const UUID: [u8; 16] = *b"0123456789abcdef";

fn text(form: Form) -> String {
    let mut header = vec![("magic", uint(32, "packet-magic-number"))];
    let uuid = r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#;
    if form.has_uuid {
        header.push(("uuid", uuid.to_owned()));
    }
    let mut context = vec![
        ("begin", uint(form.packet_time, "default-clock-timestamp")),
        ("end", uint(form.packet_time, "packet-end-default-clock-timestamp")),
        ("content", uint(32, "packet-content-length")),
        ("total", uint(32, "packet-total-length")),
        ("cpu_id", uint(8, "")),
    ];
    if form.has_numbers {
        context.push(("seq", uint(32, "packet-sequence-number")));
    }
    let record = [
        ("time", uint(form.record_time, "default-clock-timestamp")),
        ("id", uint(8, "event-record-class-id")),
    ];
    let bytes: Vec<_> = UUID.iter().map(u8::to_string).collect();
    let fragments = [
        format!(r#"{{"type": "preamble", "version": 2, "uuid": [{}]}}"#, bytes.join(",")),
        format!(r#"{{"type": "trace-class", "packet-header-field-class": {}}}"#, structure(&header)),
        r#"{"type": "clock-class", "id": "clock", "frequency": 1000000000}"#.to_owned(),
        format!(
            r#"{{"type": "data-stream-class", "default-clock-class-id": "clock", "packet-context-field-class": {},
            "event-record-header-field-class": {}}}"#,
            structure(&context),
            structure(&record)
        ),
        format!(
            r#"{{"type": "event-record-class", "id": 7, "name": "serial", "payload-field-class": {}}}"#,
            structure(&[("serial", uint(32, ""))])
        ),
    ];
    fragments.iter().map(|fragment| format!("\x1e{fragment}\n")).collect()
}

/// A packet as it was written: its bytes, and of each record the place in it, the time and the serial number.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    session: u32,
    cpu: u8,
    pub(crate) bytes: Vec<u8>,
    pub(crate) records: Vec<(usize, u64, u32)>,
}

/// A device.
pub(crate) struct Writer {
    form: Form,
    session: u32,
    time: u64,
    serial: u32,
    numbers: HashMap<u8, u32>,
}

impl Writer {
    pub(crate) fn new(form: Form) -> Self {
        Self { form, session: 0, time: 1_000_000, serial: 0, numbers: HashMap::new() }
    }

    pub(crate) fn packet(&mut self, cpu: u8, count: usize, random: &mut Random) -> Written {
        let form = self.form;
        let mut body = Vec::new();
        let mut records = Vec::new();
        self.time += 1 + random.next() % 5000;
        let begin = self.time;
        for _ in 0..count {
            records.push((body.len(), self.time, self.serial));
            body.extend(&self.time.to_le_bytes()[..form.record_time / 8]);
            body.push(7);
            body.extend(self.serial.to_le_bytes());
            self.serial += 1;
            self.time += 1 + random.next() % 2000;
        }
        let end = records.last().map_or(begin, |(_, time, _)| *time);
        let number = self.numbers.entry(cpu).or_default();
        let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
        if form.has_uuid {
            bytes.extend(UUID);
        }
        for time in [begin, end] {
            bytes.extend(&time.to_le_bytes()[..form.packet_time / 8]);
        }
        let header = bytes.len() + 9 + if form.has_numbers { 4 } else { 0 };
        for size in [header + body.len(), form.total] {
            bytes.extend((size as u32 * 8).to_le_bytes());
        }
        bytes.push(cpu);
        if form.has_numbers {
            bytes.extend(number.to_le_bytes());
        }
        *number += 1;
        records.iter_mut().for_each(|(at, ..)| *at += header);
        bytes.extend(body);
        bytes.resize(form.total, 0xaa);
        Written { session: self.session, cpu, bytes, records }
    }

    fn restart(&mut self) {
        (self.session, self.time) = (self.session + 1, 100);
        self.numbers.clear();
    }
}

pub(crate) fn with_schema(form: Form, read: impl FnOnce(&Schema<'_, '_>)) {
    let text = text(form);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 256];
    read(&Schema::compile(&stream, &mut nodes).unwrap());
}

/// A record that was found: its offset, session, processor, time, serial number, and whether it is marked.
pub(crate) type Found = (u64, u32, u64, u64, u32, bool);

/// The records of a capture, and its slots in the order of the bytes.
pub(crate) fn read(data: &[u8], schema: &Schema<'_, '_>) -> (Vec<Found>, Vec<WireSlot>) {
    let mut room = vec![WireSlot::EMPTY; data.len()];
    let capture = Capture::read(Scan::new(data, schema), &mut room[..]).unwrap();
    assert!(capture.work() <= 24 * data.len() as u64 + 8192, "{} for {}", capture.work(), data.len());
    let (found, mut slots) = (records(data, schema, &capture), capture.slots().to_vec());
    // With as much room as is said to be needed it is the same.
    let needed = slots.len();
    let error = Capture::read(Scan::new(data, schema), &mut room[..needed - 1]).unwrap_err();
    let capacity = needed as u64 - 1;
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity, needed: needed as u64 });
    slots.sort_by_key(WireSlot::offset);
    let mut at = 0;
    for slot in &slots {
        assert_eq!(slot.offset(), at);
        at = slot.end();
    }
    assert_eq!(at, data.len() as u64);
    (found, slots)
}

/// The records of a capture that has been sorted, session after session.
pub(crate) fn records<R: Room<WireSlot>>(
    data: &[u8],
    schema: &Schema<'_, '_>,
    capture: &Capture<R>,
) -> Vec<Found> {
    let mut found = Vec::new();
    for session in 0..capture.sessions() {
        let tracks: Vec<_> = capture.tracks().filter(|track| track[0].session() == session).collect();
        let mut slots = vec![MergeSlot::EMPTY; tracks.len()];
        let mut merge = Merge::new(&mut slots);
        for track in tracks {
            merge.add(Packets::of_track(data, schema, track)).unwrap();
        }
        while let Some(merged) = merge.next_record().unwrap() {
            let (record, packet) = (merged.record(), merged.record().packet());
            let Some(Value::Unsigned(serial)) =
                record.payload().unwrap().find("serial").unwrap().map(|field| field.value())
            else {
                panic!("no serial number")
            };
            found.push((
                record.offset(),
                session,
                packet.cpu().unwrap(),
                record.cycles().unwrap(),
                serial as u32,
                packet.is_doubtful(),
            ));
        }
    }
    found
}

/// A capture: its bytes, and of each byte the packet that it is of and its place there.
#[derive(Default)]
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    origins: Vec<Option<(usize, usize)>>,
}

impl Captured {
    pub(crate) fn add(&mut self, number: usize, packet: &Written, range: std::ops::Range<usize>) {
        self.bytes.extend(&packet.bytes[range.clone()]);
        self.origins.extend(range.map(|at| Some((number, at))));
    }

    pub(crate) fn add_text(&mut self, text: &[u8]) {
        self.bytes.extend(text);
        self.origins.resize(self.bytes.len(), None);
    }
}

/// Asserts that the reader finds all that the generator knows: all records of whole packets, by session and time;
/// nothing else without a mark, but for records of packets that lack padding alone; and each range that is not whole.
pub(crate) fn agrees(packets: &[Written], captured: &Captured, schema: &Schema<'_, '_>, total: usize) {
    let (found, slots) = read(&captured.bytes, schema);
    let has = |at: usize, number: usize, len: usize| {
        (0..len).all(|byte| captured.origins.get(at + byte) == Some(&Some((number, byte))))
    };
    let (mut expected, mut possible): (Vec<Found>, Vec<Found>) = (Vec::new(), Vec::new());
    let mut seen = vec![false; packets.len()];
    let mut is_clean = vec![false; captured.bytes.len()];
    for at in 0..captured.bytes.len() {
        let Some((number, 0)) = captured.origins[at] else { continue };
        let Written { session, cpu, records, .. } = &packets[number];
        let found = records.iter().map(|&(place, time, serial)| {
            ((at + place) as u64, *session, u64::from(*cpu), time, serial, false)
        });
        if !has(at, number, total) {
            // No record ends in such bytes.
            let padding = packets[number].bytes.iter().rev().take_while(|byte| **byte == 0xaa);
            let content = total - padding.count();
            possible.extend(found.filter(|_| has(at, number, content)));
            continue;
        }
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        is_clean[at..at + total].fill(true);
        expected.extend(found);
    }
    expected.sort_by_key(|&(_, session, cpu, time, serial, _)| (session, time, cpu, serial));
    let is_certain = |found: &Found| !found.5 && !possible.contains(found);
    let certain: Vec<Found> = found.iter().copied().filter(is_certain).collect();
    let difference = certain.iter().zip(&expected).position(|(found, expected)| found != expected);
    let at = difference.unwrap_or(certain.len().min(expected.len()));
    assert_eq!(certain.get(at), expected.get(at), "record {at} of {slots:#?}");
    for (at, is_clean) in is_clean.iter().enumerate() {
        let slot = slots.iter().find(|slot| (slot.offset()..slot.end()).contains(&(at as u64))).unwrap();
        assert_eq!(*is_clean, !slot.is_damage(), "byte {at}: {slot:?}");
    }
}

pub(crate) const FORMS: [Form; 4] = [
    Form { has_uuid: false, has_numbers: true, packet_time: 64, record_time: 64, total: 192 },
    Form { has_uuid: true, has_numbers: true, packet_time: 64, record_time: 32, total: 256 },
    Form { has_uuid: true, has_numbers: false, packet_time: 64, record_time: 64, total: 160 },
    Form { has_uuid: false, has_numbers: true, packet_time: 32, record_time: 32, total: 128 },
];

/// Packets of some processors, in the order in which they were written. Their numbers begin at `first`.
pub(crate) fn written(form: Form, count: usize, first: u32, random: &mut Random) -> (Vec<Written>, Writer) {
    let numbers = (0..3).map(|cpu| (cpu, first)).collect();
    let mut writer = Writer { numbers, ..Writer::new(form) };
    let cpus = 1 + random.next() % 3;
    let packets = (0..count).map(|_| {
        let (cpu, count) = ((random.next() % cpus) as u8, 3 + (random.next() % 3) as usize);
        writer.packet(cpu, count, random)
    });
    (packets.collect(), writer)
}

/// Of what stands where the magic number should be, the four bytes of it are told.
#[test]
fn a_wrong_magic_number_is_told() {
    let form = FORMS[1];
    let mut packet = Writer::new(form).packet(1, 2, &mut Random(3)).bytes;
    packet[..4].copy_from_slice(b"log\n");
    with_schema(form, |schema| {
        let error = Packets::new(&packet, schema).next_packet().unwrap_err();
        let kind = ErrorKind::BadMagic { found: *b"log\n\0\0\0\0" };
        assert_eq!(error, Error::new(0, element::MAGIC, kind));
    });
}

/// A capture with text, losses and repetitions in it.
pub(crate) fn disturbed(seed: u64) -> (Form, Vec<Written>, Captured) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let form = FORMS[seed as usize % FORMS.len()];
    let (packets, _) = written(form, 24, 0, &mut random);
    let mut captured = Captured::default();
    for (number, packet) in packets.iter().enumerate() {
        match random.next() % 12 {
            0 => captured.add_text(b"*** Booting Zephyr OS build v4.2.0 ***\r\n"),
            // A few bytes are lost, and never all of the padding alone.
            1 => {
                let at = 4 + (random.next() % 60) as usize;
                captured.add(number, packet, 0..at);
                captured.add(number, packet, at + 1 + (random.next() % 20) as usize..form.total);
                continue;
            }
            2 => {
                let at = 4 + (random.next() % 60) as usize;
                captured.add(number, packet, 0..at);
                captured.add_text(b"[00:00:01.337] <wrn> bt: no buffer\n");
                captured.add(number, packet, at..form.total);
                continue;
            }
            3 => captured.add(number, packet, 0..form.total),
            _ => {}
        }
        captured.add(number, packet, 0..form.total);
    }
    (form, packets, captured)
}

#[test]
fn captures_with_text_losses_and_repetitions() {
    for seed in 1..400_u64 {
        let (form, packets, captured) = disturbed(seed);
        eprintln!("seed {seed}");
        with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
    }
}

#[test]
fn packets_out_of_order_and_restarts() {
    for seed in 1..200_u64 {
        let mut random = Random(seed.wrapping_mul(0xa076_1d64_78bd_642f));
        let form = Form { has_numbers: true, ..FORMS[seed as usize % 2] };
        let (mut packets, mut writer) = written(form, 12, 0, &mut random);
        let mut order: Vec<usize> = (0..12).collect();
        for _ in 0..3 {
            let at = (random.next() % 11) as usize;
            order.swap(at, at + 1);
        }
        writer.restart();
        for number in 12..24 {
            // Until a processor has written again nothing tells that the device has restarted.
            let cpu = packets[number - 12].cpu;
            packets.push(writer.packet(cpu, 4, &mut random));
            order.push(number);
        }
        // The restart is told by the first processor that comes again.
        let first = packets[12].cpu;
        if packets[..12].iter().filter(|packet| packet.cpu == first).count() == 0 {
            continue;
        }
        let mut captured = Captured::default();
        order.iter().for_each(|&number| captured.add(number, &packets[number], 0..form.total));
        eprintln!("seed {seed}");
        with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
    }
}

#[test]
fn a_short_clock_goes_on() {
    let form = FORMS[3];
    let mut random = Random(5);
    let mut writer = Writer { time: (1 << 32) - 20_000, ..Writer::new(form) };
    let packets: Vec<_> = (0..20).map(|number| writer.packet(number % 2, 5, &mut random)).collect();
    assert!(packets[0].records[0].1 < 1 << 32 && packets[19].records[0].1 > 1 << 32);
    let mut captured = Captured::default();
    packets.iter().enumerate().for_each(|(number, packet)| captured.add(number, packet, 0..form.total));
    with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
}

/// Processors begin to write at any time, some after the clock of the others went on from zero.
#[test]
fn a_processor_that_begins_late_has_the_time_of_the_others() {
    let form = FORMS[3];
    let mut late = 0;
    for seed in 1..200 {
        let mut random = Random(seed);
        let time = (1 << 32) - 20_000 - random.next() % 300_000;
        let mut writer = Writer { time, ..Writer::new(form) };
        let begins: Vec<usize> = (0..3).map(|cpu| cpu * (random.next() % 20) as usize).collect();
        let mut captured = Captured::default();
        let mut packets = Vec::new();
        for number in 0..40 {
            let cpu = (random.next() % 3) as usize;
            let cpu = if begins[cpu] <= number { cpu } else { 0 };
            packets.push(writer.packet(cpu as u8, 4, &mut random));
        }
        late += usize::from(begins.iter().any(|&begin| packets[begin].records[0].1 > 1 << 32));
        packets.iter().enumerate().for_each(|(number, packet)| captured.add(number, packet, 0..form.total));
        with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
    }
    assert!(late > 50, "{late}");
}

/// The schema of records without packets, with a clock of 32 bits, of a class that has these members.
pub(crate) fn with_bare_schema(members: &[(&str, String)], with: impl FnOnce(&Schema<'_, '_>)) {
    let header = [("time", uint(32, "default-clock-timestamp")), ("id", uint(8, "event-record-class-id"))];
    let fragments = [
        r#"{"type": "preamble", "version": 2}"#.to_owned(),
        r#"{"type": "clock-class", "id": "clock", "frequency": 1000000000}"#.to_owned(),
        format!(
            r#"{{"type": "data-stream-class", "default-clock-class-id": "clock",
            "event-record-header-field-class": {}}}"#,
            structure(&header)
        ),
        format!(
            r#"{{"type": "event-record-class", "id": 7, "name": "serial", "payload-field-class": {}}}"#,
            structure(members)
        ),
    ];
    let text: String = fragments.iter().map(|fragment| format!("\x1e{fragment}\n")).collect();
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    with(&schema);
}

/// Records without packets, as they come from processors that take the time and write a little later.
#[test]
fn records_of_a_race_are_in_order() {
    with_bare_schema(&[("serial", uint(32, ""))], |schema| {
        for seed in 1..100_u64 {
            let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
            // It wraps in the middle.
            let mut time = (1 << 32) - 500_000;
            let mut records: Vec<(u64, u64, u32)> = (0..400)
                .map(|serial| {
                    time += 1 + random.next() % 2500;
                    (time + random.next() % 3000, time, serial)
                })
                .collect();
            let expected: Vec<_> = records.iter().map(|&(_, time, serial)| (time, serial)).collect();
            records.sort();
            let mut data = Vec::new();
            for (_, time, serial) in records {
                data.extend((time as u32).to_le_bytes());
                data.push(7);
                data.extend(serial.to_le_bytes());
            }
            let mut room = vec![WireSlot::EMPTY; data.len()];
            let capture = Capture::read(Scan::new(&data, schema), &mut room[..]).unwrap();
            assert_eq!((capture.sessions(), capture.others().len()), (1, 0));
            let mut slots = vec![MergeSlot::EMPTY; capture.tracks().count()];
            let mut merge = Merge::new(&mut slots);
            for track in capture.tracks() {
                merge.add(Packets::of_track(&data, schema, track)).unwrap();
            }
            let mut found = Vec::new();
            while let Some(merged) = merge.next_record().unwrap() {
                let record = merged.record();
                let serial = record.payload().unwrap().find("serial").unwrap().map(|field| field.value());
                let Some(Value::Unsigned(serial)) = serial else { panic!("no serial number") };
                found.push((record.cycles().unwrap(), serial as u32));
            }
            assert_eq!(found, expected, "seed {seed}");
        }
    });
}

#[test]
fn gaps_say_what_they_are() {
    let form = FORMS[0];
    let mut random = Random(9);
    let (packets, _) = written(form, 3, 0, &mut random);
    let mut captured = Captured::default();
    captured.add_text(b"U-Boot 2026.10\n");
    captured.add(0, &packets[0], 0..form.total);
    captured.add_text(&[0xff; 40]);
    captured.add(1, &packets[1], 0..form.total);
    captured.add_text(&[1, 2, 3]);
    // It begins after it ends.
    let mut torn = packets[2].clone();
    torn.bytes[11] = 0xff;
    captured.add(2, &torn, 0..form.total);
    captured.add_text(&[0; 64]);
    with_schema(form, |schema| {
        let found: Vec<_> = Scan::new(&captured.bytes, schema)
            .map(|slot| (slot.kind(), slot.offset(), slot.len(), slot.is_damage()))
            .collect();
        let total = form.total as u64;
        let torn = 15 + total + 40 + total;
        let expected = [
            (WireKind::Text, 0, 15, true),
            (WireKind::Packet, 15, total, false),
            (WireKind::Fill, 15 + total, 40, true),
            (WireKind::Packet, 55 + total, total, false),
            // Nothing tells where the one ends and the other begins.
            (WireKind::Bytes, torn, 3 + total, true),
            (WireKind::Fill, torn + 3 + total, 64, false),
        ];
        assert_eq!(found, expected);
    });
}

#[test]
fn no_bytes_make_more_work_than_their_size_allows() {
    let form = FORMS[0];
    let mut random = Random(77);
    let (packets, _) = written(form, 2, 0, &mut random);
    let header = &packets[0].bytes[..33];
    let mut inputs = vec![vec![0xc1; 1 << 16], b"\xc1\x1f\xfc\xc1".repeat(1 << 14)];
    // Headers one after the other, of packets that reach far.
    let mut far = header.to_vec();
    far[24..28].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    inputs.push(far.repeat(2000));
    // The same with one record each.
    far.extend(&packets[0].bytes[33..46]);
    inputs.push(far.repeat(2000));
    let cut: Vec<u8> = (0..2000).flat_map(|at| packets[0].bytes[..40 + at % 100].to_vec()).collect();
    inputs.push(cut);
    inputs.push((0..1 << 16).map(|_| random.next() as u8).collect());
    with_schema(form, |schema| {
        for data in inputs {
            let mut scan = Scan::new(&data, schema);
            assert!(scan.by_ref().count() <= data.len());
            let limit = 40 * data.len() as u64 + (1 << 17);
            assert!(scan.work() < limit, "{} of {limit}", scan.work());
            read(&data, schema);
        }
    });
}

/// The records of a packet with damage that are right: all if its total length alone is wrong; those before what was
/// written over if no byte is missing; none if bytes may be missing.
#[test]
fn records_of_a_damaged_packet_are_certain_if_no_byte_is_missing() {
    let form = Form { total: 160, ..FORMS[0] };
    let mut random = Random(5);
    let mut writer = Writer::new(form);
    let packets: Vec<_> = (0..3).map(|_| writer.packet(0, 4, &mut random)).collect();
    let place = |record: usize| packets[1].records[record].0;
    let content = place(3) + 13;
    let of = |second: &[u8], last: &[u8]| [&packets[0].bytes[..], second, last].concat();
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = packets[1].bytes.clone();
        change(&mut bytes);
        bytes
    };
    let next = &packets[2].bytes[..];
    let total = |bytes: &mut Vec<u8>| bytes[24..28].copy_from_slice(&0x40_0000_u32.to_le_bytes());
    let other_padding = |bytes: &mut Vec<u8>| bytes[content + 1] = 7;
    let other = writer.packet(1, 4, &mut random);
    writer.form.total = 152;
    let short = writer.packet(0, 4, &mut random);
    let filled = changed(&|bytes| bytes[place(2)..].fill(0));
    let begun = changed(&|bytes| bytes[place(2) + 2..].fill(0));
    let lost = [&packets[1].bytes[..place(2)], &packets[1].bytes[place(2) + 3..]].concat();
    let cases = [
        ("nothing", of(&packets[1].bytes, next), None),
        ("total length", of(&changed(&total), next), Some(4)),
        (
            "total length, and padding that is no fill, in slots",
            { of(&changed(&|bytes| (total(bytes), other_padding(bytes)).0), next) },
            Some(4),
        ),
        (
            "total length, and padding that is no fill",
            { of(&changed(&|bytes| (total(bytes), other_padding(bytes)).0), &short.bytes) },
            Some(0),
        ),
        ("identifier", of(&changed(&|bytes| bytes[place(2) + 8] = 8), next), Some(2)),
        // The serial number before it ends in zeros, too: its last bytes may be none of it.
        ("fill", of(&filled, next), Some(1)),
        ("fill within a record", of(&begun, next), Some(2)),
        ("lost bytes", of(&lost, next), Some(0)),
        ("fill to the end", of(&filled, &[0; 60]), Some(1)),
        ("fill to the end within a record", of(&begun, &[0; 60]), Some(0)),
        ("fill to the end, and text", [b"U-Boot 2026.10\n", &of(&filled, &[0; 60])[..]].concat(), Some(0)),
        (
            "fill to the end, and another processor",
            [&other.bytes, &of(&filled, &[0; 60])[..]].concat(),
            Some(0),
        ),
        ("fill and lost bytes", of(&filled[..155], next), Some(0)),
        (
            "total length and fill, in slots",
            of(&changed(&|bytes| (total(bytes), bytes[place(2)..].fill(0)).0), next),
            Some(1),
        ),
        ("other bytes to the end", of(&filled, &[0x55; 60]), Some(0)),
    ];
    with_schema(form, |schema| {
        for (name, data, certain) in cases {
            let (found, slots) = read(&data, schema);
            let damaged: Vec<_> = slots.iter().filter(|slot| slot.is_doubtful()).collect();
            assert_eq!(damaged.first().map(|slot| slot.certain_records()), certain, "{name}: {damaged:#?}");
            let doubtful = found.iter().filter(|found| found.5).count() as u64;
            // A packet is marked as a whole.
            let expected = damaged.iter().filter(|slot| slot.certain_records() < slot.records());
            assert_eq!(doubtful, expected.map(|slot| slot.records()).sum::<u64>(), "{name}");
            let whole = slots.iter().filter(|slot| slot.kind() == WireKind::Packet);
            assert!(whole.map(|slot| slot.certain_records()).all(|count| count == 4), "{name}");
        }
    });
}
