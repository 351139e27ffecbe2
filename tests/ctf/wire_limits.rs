//! Captures at the limits of what is waited for, looked for and taken for a race.

use crate::numbers::Random;
use crate::wire::{Captured, FORMS, Writer, agrees, read, with_bare_schema, with_schema};
use traceglass::ctf::data::Packets;
use traceglass::ctf::data::wire::{Capture, Scan, WireKind, WireSlot};

/// A length that is wrong is waited for, but not for ever.
#[test]
fn a_length_is_waited_for_up_to_64_kib() {
    let form = FORMS[0];
    let mut writer = Writer::new(form);
    let mut random = Random(3);
    let mut data: Vec<u8> = (0..6).flat_map(|_| writer.packet(0, 3, &mut random).bytes).collect();
    // Magic number, two times, and the content's length stand before the packet's.
    let at = 2 * form.total + 4 + 16 + 4;
    assert_eq!(data[at..at + 4], (form.total as u32 * 8).to_le_bytes());
    for (claimed, found) in [(60 << 10, 2), (70 << 10, 6)] {
        data[at..at + 4].copy_from_slice(&(claimed * 8_u32).to_le_bytes());
        with_schema(form, |schema| {
            assert_eq!(Scan::new(&data, schema).growing().count(), found, "{claimed} bytes");
            let kinds: Vec<_> = Scan::new(&data, schema).map(|slot| slot.kind()).collect();
            assert_eq!(kinds.iter().filter(|kind| **kind == WireKind::Packet).count(), 5);
        });
    }
}

/// A packet of one track that comes late has its place, up to 1024 places away; a copy is known without a number, too.
#[test]
fn packets_come_late() {
    let form = FORMS[0];
    for places in [1, 5, 200, 1020, 1040] {
        let mut random = Random(7);
        let mut writer = Writer::new(form);
        writer.packet(0, 3, &mut random);
        writer.packet(0, 3, &mut random);
        let packets: Vec<_> = (0..1100).map(|_| writer.packet(0, 3, &mut random)).collect();
        let mut order: Vec<usize> = (0..packets.len()).collect();
        let late = order.remove(20);
        order.insert(20 + places, late);
        let mut captured = Captured::default();
        order.iter().for_each(|&number| captured.add(number, &packets[number], 0..form.total));
        with_schema(form, |schema| {
            if places <= 1024 {
                agrees(&packets, &captured, schema, form.total);
            } else {
                let is_restart = |slot: &WireSlot| slot.is_restart();
                assert!(read(&captured.bytes, schema).1.iter().any(is_restart));
            }
        });
    }
    let form = FORMS[2];
    assert!(!form.has_numbers);
    for places in [1, 3, 15] {
        let mut random = Random(11);
        let mut writer = Writer::new(form);
        let packets: Vec<_> = (0..40).map(|_| writer.packet(0, 3, &mut random)).collect();
        let mut order: Vec<usize> = (0..packets.len()).collect();
        order.insert(20 + places, 20);
        let mut captured = Captured::default();
        order.iter().for_each(|&number| captured.add(number, &packets[number], 0..form.total));
        with_schema(form, |schema| {
            let kinds: Vec<_> = read(&captured.bytes, schema).1.iter().map(WireSlot::kind).collect();
            let copies: Vec<_> = (0..kinds.len()).filter(|at| kinds[*at] == WireKind::Duplicate).collect();
            assert_eq!(copies, [20 + places]);
        });
    }
}

/// Without packets a short clock that steps back by less than a thousandth of its range has not wrapped.
#[test]
fn a_step_back_is_a_race_or_a_wrap() {
    with_bare_schema(&[], |schema| {
        let times = |stamps: &[u32]| -> Vec<u64> {
            let data: Vec<u8> =
                stamps.iter().flat_map(|time| [&time.to_le_bytes()[..], &[7]].concat()).collect();
            let mut room = [WireSlot::EMPTY; 16];
            let capture = Capture::read(Scan::new(&data, schema), &mut room[..]).unwrap();
            let mut times: Vec<(u64, u64)> = Vec::new();
            for track in capture.tracks() {
                for packet in Packets::of_track(&data, schema, track) {
                    let packet = packet.unwrap();
                    for record in packet.records() {
                        let record = record.unwrap();
                        times.push((record.offset(), record.cycles().unwrap()));
                    }
                }
            }
            times.sort();
            times.into_iter().map(|(_, time)| time).collect()
        };
        let range = 1_u64 << 32;
        assert_eq!(times(&[10_000_000, 6_000_000, 11_000_000]), [10_000_000, 6_000_000, 11_000_000]);
        assert_eq!(times(&[10_000_000, 1_000_000]), [10_000_000, range + 1_000_000]);
        assert_eq!(times(&[u32::MAX - 5, 3, u32::MAX - 2]), [range - 6, range + 3, range - 3]);
    });
}
