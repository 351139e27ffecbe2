//! Invariants of CTF data streams, whatever the input.

use crate::{found, lies_in, located_in};
use traceglass::ctf::data::{Field, Packets, ProgramSlot, Programs, Record, Records, Value, check};
use traceglass::ctf::schema::{Schema, Scope};

/// The payload of the last record is the same where the records are read: one field after the other, and all at once.
fn read_in_place(record: &Record<'_, '_, '_>, records: &mut Records<'_, '_, '_>) {
    let place = |field: &Field<'_, '_>| (field.class().key(), field.start());
    let apart = || record.payload().into_iter().flatten().map(|field| place(&field.expect("a field")));
    let mut expected = apart();
    if let Some(fields) = records.payload() {
        while let Some(field) = fields.next_field().expect("a field") {
            assert_eq!(Some(place(&field)), expected.next());
        }
        assert!(fields.next_field().is_ok_and(|field| field.is_none()));
    }
    assert!(expected.next().is_none());
    let mut expected = apart();
    if let Some(fields) = records.payload() {
        let all = fields.each_field(|field| assert_eq!(Some(place(&field)), expected.next()));
        all.expect("all fields");
    }
    assert!(expected.next().is_none());
}

/// Goes through every field of a stream: each packet lies after the one before it, each record takes bits, fields of a
/// record that was delivered do not fail, nothing comes after an error.
pub fn read_stream(data: &[u8], schema: &Schema<'_, '_>) {
    let mut packets = Packets::new(data, schema);
    let mut last = 0;
    loop {
        let packet = match packets.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(error) => {
                located_in(&error, data);
                assert!(packets.fault_bit().is_some_and(|bit| bit <= data.len() as u64 * 8));
                assert!(packets.next_packet().is_ok_and(|packet| packet.is_none()));
                break;
            }
        };
        assert!(packet.offset() >= last && packet.end_offset() > packet.offset());
        last = packet.end_offset();
        let mut records = packet.records();
        let mut end = packet.header_bits();
        loop {
            let record = match records.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    located_in(&error, data);
                    assert!(records.next_record().is_ok_and(|record| record.is_none()));
                    break;
                }
            };
            assert!(record.start() == end && record.end() > record.start());
            end = record.end();
            for scope in [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
                let Some(mut fields) = record.fields(scope) else { continue };
                let mut open = 0_u32;
                while let Some(field) = fields.next_field().expect("a field of a record that was delivered") {
                    match field.value() {
                        Value::Structure | Value::Array(_) | Value::Optional(true) | Value::Variant(_) => {
                            open += 1
                        }
                        Value::End => open -= 1,
                        Value::Text(text) => {
                            lies_in(text.bytes(), data);
                            assert_eq!(text.is_valid(), text.chars().all(|c| c.is_ok()));
                        }
                        Value::Blob(bytes) => lies_in(bytes, data),
                        _ => {}
                    }
                    assert!(fields.position() <= record.end());
                }
                assert_eq!(open, 0);
            }
            read_in_place(&record, &mut records);
        }
    }
    let needed = usize::try_from(Programs::needed(schema)).expect("memory");
    let mut slots = vec![ProgramSlot::EMPTY; needed];
    let programs = Programs::compile(schema, &mut slots).expect("room");
    // Steps and the general reader find the same.
    let [by_steps, in_general] = [programs, Programs::NONE].map(|programs| {
        let mut findings = Vec::new();
        let summary = check(data, schema, programs, &mut |finding| findings.push(finding));
        (summary, findings)
    });
    assert_eq!(by_steps, in_general);
    in_general.1.iter().for_each(found);
}
