//! Any bytes as the table of a schema, and a data stream that is read by it.
//!
//! The first two bytes say where the table ends; its checksum and its sizes are made right, so that more than those is
//! looked at.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::data::Packets;
use traceglass::ctf::schema::{Node, Schema, Scope, work};
use traceglass_fuzz::located_in;

const HEADER: usize = 96;
const NODE: usize = 24;

/// CRC-32/ISO-HDLC.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// Reads all fields. A table may say that fields are to be chosen by others that have nothing to do with it: then a field
/// fails that was skipped before. But all of it ends.
fn read_stream(data: &[u8], schema: &Schema<'_, '_>) {
    let mut steps = 0_u64;
    let mut packets = Packets::new(data, schema);
    while let Ok(Some(packet)) = packets.next_packet() {
        let mut records = packet.records();
        while let Ok(Some(record)) = records.next_record() {
            for scope in [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
                steps += record.fields(scope).into_iter().flatten().count() as u64 + 1;
            }
        }
    }
    assert!(steps <= 1 << 24, "{steps} steps");
}

fuzz_target!(|data: &[u8]| {
    let Some((split, data)) = data.split_first_chunk::<2>() else { return };
    let (table, stream) = data.split_at(u16::from_le_bytes(*split) as usize % (data.len() + 1));
    let mut table = table.to_vec();
    if table.len() >= HEADER {
        table[..8].copy_from_slice(b"TGSCHEMA");
        table[8..10].copy_from_slice(&1_u16.to_le_bytes());
        let nodes = (u32::from_le_bytes(table[20..24].try_into().unwrap()) as usize)
            % ((table.len() - HEADER) / NODE + 1);
        let names = table.len() - HEADER - nodes * NODE;
        for (at, value) in [(16, table.len()), (20, nodes), (28, names)] {
            table[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
        }
        let sum = checksum(&table[16..]);
        table[12..16].copy_from_slice(&sum.to_le_bytes());
    }
    let mut nodes = vec![Node::EMPTY; table.len() / NODE];
    let mut loaded = Ok(());
    let steps = work::of(|| match Schema::load(&table, &mut nodes) {
        Ok(schema) => {
            for class in schema.stream_classes() {
                assert!(schema.stream_class(class.id()).is_some());
                assert!(class.event_classes().all(|event| class.event_class(event.id()) == Some(event)));
            }
            let mut again = vec![0; schema.written_size() as usize];
            schema.write(&mut again).expect("room");
        }
        Err(error) => {
            located_in(&error, &table);
            loaded = Err(error);
        }
    });
    assert!(steps <= 8 * table.len() as u64 + 64, "{steps} steps for {} bytes", table.len());
    if loaded.is_ok() {
        let schema = Schema::load(&table, &mut nodes).expect("the same as before");
        read_stream(stream, &schema);
    }
});
