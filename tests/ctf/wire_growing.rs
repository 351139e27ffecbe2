//! Captures that grow: what is found piece by piece is what is found in the whole.

use crate::numbers::Random;
use crate::wire::{FORMS, Form, Found, Writer, disturbed, read, records, with_schema};
use std::collections::HashSet;
use traceglass::ctf::data::wire::{Capture, Scan, ScanMark, WireSlot, is_capture};
use traceglass::ctf::schema::Schema;

/// The facts about a slot before it is sorted.
fn facts(slot: &WireSlot) -> String {
    format!("{slot:?}")
}

/// Slots that are found while the bytes come, and those that are left at the end.
fn pieces(data: &[u8], schema: &Schema<'_, '_>, random: &mut Random) -> (Vec<WireSlot>, Vec<WireSlot>) {
    let (mut mark, mut end, mut found) = (ScanMark::default(), 0, Vec::new());
    while end < data.len() {
        end = (end + 1 + random.next() as usize % 200).min(data.len());
        let mut scan = Scan::from_mark(&data[..end], schema, mark).growing();
        found.extend(scan.by_ref());
        mark = scan.mark();
    }
    (found, Scan::from_mark(data, schema, mark).collect())
}

#[test]
fn slots_are_those_of_the_whole() {
    let (mut waited, mut all) = (0, 0);
    for seed in 1..400_u64 {
        let (form, _, captured) = disturbed(seed);
        let mut random = Random(seed.wrapping_mul(0xa24b_aed4_963e_e407));
        with_schema(form, |schema| {
            let (early, late) = pieces(&captured.bytes, schema, &mut random);
            let whole: Vec<_> = Scan::new(&captured.bytes, schema).map(|slot| facts(&slot)).collect();
            let found: Vec<_> = early.iter().chain(&late).map(facts).collect();
            let at = found.iter().zip(&whole).position(|(found, whole)| found != whole);
            let at = at.unwrap_or(found.len().min(whole.len()));
            assert_eq!(found.get(at), whole.get(at), "seed {seed}, slot {at}");
            (waited, all) = (waited + late.len(), all + found.len());
        });
    }
    // A length that is wrong may reach over all that is left.
    assert!(waited * 10 < all, "{waited} of {all} slots wait for the end");
}

#[test]
fn a_packet_is_found_as_soon_as_it_is_whole() {
    for seed in 1..100_u64 {
        let (form, packets, _) = disturbed(seed);
        let data: Vec<u8> = packets.iter().flat_map(|packet| packet.bytes.clone()).collect();
        with_schema(form, |schema| {
            for end in 0..=data.len() {
                let scan = Scan::new(&data[..end], schema).growing();
                let fresh = scan.map(|slot| slot.records()).sum::<u64>() as usize;
                let whole = packets[..end / form.total].iter().map(|packet| packet.records.len());
                assert_eq!(fresh, whole.sum::<usize>(), "seed {seed}, {end} bytes");
            }
        });
    }
}

#[test]
fn records_are_delivered_once_they_are_settled() {
    for seed in 1..200_u64 {
        let (form, _, captured) = disturbed(seed);
        let mut random = Random(seed.wrapping_mul(0x9fb2_1c65_1e98_df25));
        let data = &captured.bytes;
        with_schema(form, |schema| {
            let (mut mark, mut end) = (ScanMark::default(), 0);
            let (mut slots, mut told) = (Vec::new(), HashSet::new());
            let mut delivered: Vec<Found> = Vec::new();
            while end < data.len() {
                end = (end + 1 + random.next() as usize % 2000).min(data.len());
                let mut scan = Scan::from_mark(&data[..end], schema, mark).growing();
                slots.extend(scan.by_ref());
                mark = scan.mark();
                if end == data.len() {
                    slots.extend(Scan::from_mark(data, schema, mark.clone()));
                }
                let mut room = slots.clone();
                let sorted = Capture::of_growing(&data[..end], &mut room[..]);
                let is_fresh = |slot: &&WireSlot| slot.is_settled() || end == data.len();
                let fresh: Vec<_> = sorted.slots().iter().filter(is_fresh).map(WireSlot::offset).collect();
                let of =
                    |record: &Found| slots.iter().rfind(|slot| slot.offset() <= record.0).unwrap().offset();
                for record in records(&data[..end], schema, &sorted) {
                    if fresh.contains(&of(&record)) && !told.contains(&of(&record)) {
                        delivered.push(record);
                    }
                }
                told.extend(fresh);
            }
            let mut whole = read(data, schema).0;
            whole.sort();
            delivered.sort();
            assert_eq!(delivered, whole, "seed {seed}");
        });
    }
}

/// One stream in order is no capture; whatever disturbs that makes it one, wherever it is.
#[test]
fn a_capture_is_told_from_a_stream() {
    for seed in 1..100_u64 {
        let mut random = Random(seed.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let form = FORMS[seed as usize % 3];
        let mut writer = Writer::new(form);
        let mut packets: Vec<_> = (0..12).map(|_| writer.packet(1, 4, &mut random)).collect();
        let at = 1 + random.next() as usize % 10;
        let joined = |packets: &[crate::wire::Written]| -> Vec<u8> {
            packets.iter().flat_map(|packet| packet.bytes.clone()).collect()
        };
        with_schema(form, |schema| {
            let data = joined(&packets);
            assert!(!is_capture(&data, schema), "seed {seed}");
            // It may end anywhere.
            assert!(!is_capture(&data[..random.next() as usize % data.len()], schema), "seed {seed}");
            let mut text = data.clone();
            text.splice(at * form.total..at * form.total, *b"log\n");
            let mut lost = data.clone();
            lost.remove(at * form.total + 40);
            let mut other = data;
            // Before the number, if there is one, stands the processor.
            let cpu = packets[0].records[0].0 - if form.has_numbers { 5 } else { 1 };
            assert_eq!(other[cpu], 1);
            other[at * form.total + cpu] = 2;
            packets.swap(at, at + 1);
            for data in [text, lost, other, joined(&packets)] {
                assert!(is_capture(&data, schema), "seed {seed}");
            }
        });
    }
}

/// The end of the packets that are looked at: what comes after them is not seen.
#[test]
fn a_capture_is_told_by_its_first_packets() {
    let form = Form { total: 64, ..FORMS[3] };
    let (mut random, mut writer) = (Random(7), Writer::new(form));
    let packet = |cpu, writer: &mut Writer, random: &mut Random| writer.packet(cpu, 1, random).bytes;
    let mut data: Vec<u8> = (0..65_535).flat_map(|_| packet(1, &mut writer, &mut random)).collect();
    with_schema(form, |schema| {
        assert!(!is_capture(&data, schema));
        let (same, other) = (packet(1, &mut writer, &mut random), packet(2, &mut writer, &mut random));
        data.extend(&other);
        assert!(is_capture(&data, schema), "the last one that is looked at");
        data.truncate(65_535 * 64);
        data.extend([same, other].concat());
        assert!(!is_capture(&data, schema), "one more");
    });
}

/// Numbers that go back tell a capture where times do not; a begin after the packet's own end tells nothing.
#[test]
fn numbers_go_back_in_a_capture() {
    for form in FORMS {
        let (mut random, mut writer) = (Random(11), Writer::new(form));
        let packets: Vec<_> = (0..6).map(|_| writer.packet(1, 3, &mut random)).collect();
        let data: Vec<u8> = packets.iter().flat_map(|packet| packet.bytes.clone()).collect();
        with_schema(form, |schema| {
            assert!(!is_capture(&data, schema), "{form:?}");
            if form.has_numbers {
                let number = 3 * form.total + packets[3].records[0].0 - 4;
                for (low, expected) in [(1, true), (2, false), (3, false), (200, true)] {
                    let mut data = data.clone();
                    data[number] = low;
                    assert_eq!(is_capture(&data, schema), expected, "{form:?}, {low}");
                }
            }
            let mut data = data.clone();
            let begin = 3 * form.total + if form.has_uuid { 20 } else { 4 };
            data[begin..begin + form.packet_time / 8].fill(0xff);
            // With 32 bits, the end comes after it, in the next turn of the clock.
            assert_eq!(is_capture(&data, schema), form.packet_time < 64, "{form:?}");
        });
    }
}
