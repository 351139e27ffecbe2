//! Compiles the metadata of a CTF trace into memory of its own, and reads the events of a data stream: how many each class
//! has, the sum of their numbers, and the last time. Nothing is formatted, so that the figures are those of reading alone.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_firmware::{finish_plainly, say};

static METADATA: &[u8] = include_bytes!("../../../data/sample.ctf/metadata");
static STREAM: &[u8] = include_bytes!("../../../data/sample.ctf/stream");

/// How many nodes the schema may take.
const NODES: usize = 48;

#[entry]
fn main() -> ! {
    finish_plainly(read().is_ok())
}

fn read() -> traceglass::Result<()> {
    let mut nodes = [Node::EMPTY; NODES];
    let metadata = MetadataStream::parse(METADATA)?;
    let schema = Schema::compile(&metadata, &mut nodes)?;
    let mut count = [0_u64; 8];
    let (mut sum, mut seconds) = (0_u64, 0);
    for packet in Packets::new(STREAM, &schema) {
        let packet = packet?;
        let mut records = packet.records();
        while let Some(record) = records.next_record()? {
            if let Some(count) = usize::try_from(record.class().id()).ok().and_then(|id| count.get_mut(id)) {
                *count += 1;
            }
            if let Some(time) = record.nanoseconds() {
                seconds = time / 1_000_000_000;
            }
            let Some(fields) = records.payload() else { continue };
            fields.each_field(|field| {
                sum = sum.wrapping_add(match field.value() {
                    Value::Unsigned(value) => value,
                    Value::Signed(value) => value.unsigned_abs(),
                    Value::Text(text) => text.bytes().len() as u64,
                    _ => 0,
                });
            })?;
        }
    }
    for count in count.iter().filter(|count| **count > 0) {
        say("records: ", *count);
    }
    say("sum: ", sum);
    say("last second: ", seconds as u64);
    Ok(())
}
