//! Reads an RFR chunk that is linked into flash: its tasks, and how long each was polled.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use traceglass::rfr::{Chunk, Object, RecordKind};
use traceglass_firmware::finish;

static CHUNK: &[u8] = include_bytes!("../../../data/sample.rfr/2026-11/21-01/chunk-41-54.rfr");

#[entry]
fn main() -> ! {
    finish(read())
}

fn read() -> traceglass::Result<()> {
    let chunk = Chunk::parse(CHUNK)?;
    hprintln!("rfr: at most {} sequences", chunk.sequence_count_max());
    for sequence in chunk.sequences() {
        let sequence = sequence?;
        for object in sequence.objects() {
            if let Object::Task(task) = object? {
                let polled = polled(sequence.records()?, task.iid())?;
                hprintln!("task {} \"{}\": polled for {} us", task.iid(), task.name(), polled);
            }
        }
    }
    Ok(())
}

/// For how many microseconds a task was polled.
fn polled(records: traceglass::rfr::Records<'_>, iid: u64) -> traceglass::Result<u64> {
    let (mut start, mut sum) = (None, 0);
    for record in records {
        let record = record?;
        if record.data().iid() != Some(iid) {
            continue;
        }
        match record.kind() {
            RecordKind::TaskPollStart => start = Some(record.micros()),
            RecordKind::TaskPollEnd => {
                sum += start.take().map_or(0, |start| record.micros().saturating_sub(start));
            }
            _ => {}
        }
    }
    Ok(sum)
}
