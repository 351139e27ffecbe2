//! Rings in memory: packets of one size in slots, the oldest anywhere among them.

use crate::numbers::Random;
use crate::wire::{Captured, FORMS, Form, agrees, with_schema, written};
use traceglass::ctf::data::wire::{Scan, WireKind};

#[test]
fn rings_are_turned() {
    for seed in 1..200_u64 {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let form = FORMS[seed as usize % FORMS.len()];
        let count = 2 + (random.next() % 20) as usize;
        let (packets, _) = written(form, count, 10, &mut random);
        let turn = (random.next() as usize) % count;
        let mut captured = Captured::default();
        for slot in 0..count {
            let number = (slot + turn) % count;
            captured.add(number, &packets[number], 0..form.total);
        }
        eprintln!("seed {seed}");
        with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
    }
}

/// After the records of a slot lie those of the packet that was there before, and one slot was being written: that costs no
/// other slot anything.
#[test]
fn a_torn_slot_costs_no_other_one() {
    for seed in 1..200_u64 {
        let mut random = Random(seed.wrapping_mul(0xe703_7ed1_a0b4_28db));
        let form = FORMS[seed as usize % FORMS.len()];
        let count = 4 + (random.next() % 8) as usize;
        let (mut packets, _) = written(form, count, 10, &mut random);
        for packet in &mut packets {
            let (at, ..) = packet.records[packet.records.len() - 1];
            let end = at + form.record_time / 8 + 5;
            packet.bytes[end..].iter_mut().for_each(|byte| *byte = random.next() as u8);
        }
        let torn = 1 + random.next() as usize % (count - 2);
        let mut captured = Captured::default();
        for (number, packet) in packets.iter().enumerate() {
            if number == torn {
                captured.add_text(&[0; 4]);
                captured.add(number, packet, 4..form.total);
            } else {
                captured.add(number, packet, 0..form.total);
            }
        }
        with_schema(form, |schema| agrees(&packets, &captured, schema, form.total));
    }
}

/// A packet that ends in anything is whole if the next one is in a slot of the same size, and only then.
#[test]
fn slots_are_of_one_size() {
    let form = FORMS[0];
    let mut random = Random(21);
    let (mut packets, _) = written(form, 1, 10, &mut random);
    packets[0].bytes[form.total - 9..].fill(0x55);
    for (total, kind) in [(form.total, WireKind::Packet), (form.total + 8, WireKind::Damaged)] {
        let (next, _) = written(Form { total, ..form }, 1, 11, &mut random);
        let data = [&packets[0].bytes[..], &vec![0x03; form.total], &next[0].bytes].concat();
        with_schema(form, |schema| {
            let kinds: Vec<_> = Scan::new(&data, schema).map(|slot| slot.kind()).collect();
            assert_eq!(kinds, [kind, WireKind::Bytes, WireKind::Packet]);
        });
    }
}
