//! The longest polls of a dial9 segment, which held up the executor, and the lines that spawned their tasks.
//!
//!     cargo run --example dial9_polls -- examples/data/trace.0.bin
//!
//! Shows how the parts of `traceglass::dial9` go together: frames keep what a batch says of schemas and text, events are
//! asked for their fields by name, and after damage reading goes on at the next batch. Batches overlap in time: what was
//! read is put in order before it is paired.

use std::collections::HashMap;
use std::error::Error;
use traceglass::dial9::{Frames, PoolSlot, SchemaSlot, Storage, Value};

/// The beginning of a poll, or its end.
struct Moment<'a> {
    time: u64,
    worker: u64,
    /// The task that is polled, and the line that spawned it.
    begins: Option<(u64, &'a [u8])>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: dial9_polls SEGMENT")?;
    let data = std::fs::read(path)?;

    // Storage is lent: arrays here, anything that grows where there is an allocator (`traceglass::Room`).
    let mut schemas = [SchemaSlot::EMPTY; 256];
    let mut strings = vec![PoolSlot::EMPTY; 1 << 16];
    let mut strings = &mut strings[..];
    let mut frames = Frames::new(&data, Storage::new(&mut schemas).strings(&mut strings));

    let mut moments = Vec::new();
    loop {
        let event = match frames.next_event() {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) => {
                let lost = frames.recover().map_or(0, |gap| gap.len());
                eprintln!("{error}; {lost} bytes lost");
                continue;
            }
        };
        let number = |name| event.get(name).and_then(|value| value.unsigned());
        let (Some(time), Some(worker)) = (event.nanoseconds(), number("worker_id")) else { continue };
        let begins = match event.name() {
            "PollStartEvent" => {
                let place = match event.get("spawn_loc") {
                    // Text of a pool is what the pool holds now.
                    Some(Value::PooledString(id)) => frames.string(id).unwrap_or(b"?"),
                    _ => b"?",
                };
                Some((number("task_id").unwrap_or(0), place))
            }
            "PollEndEvent" => None,
            _ => continue,
        };
        moments.push(Moment { time, worker, begins });
    }

    moments.sort_by_key(|moment| moment.time);
    let (mut open, mut polls) = (HashMap::new(), Vec::new());
    for moment in &moments {
        match moment.begins {
            Some(task) => drop(open.insert(moment.worker, (moment.time, task))),
            None => {
                if let Some((start, (task, place))) = open.remove(&moment.worker) {
                    polls.push((moment.time - start, task, place));
                }
            }
        }
    }
    polls.sort_by_key(|(length, ..)| std::cmp::Reverse(*length));
    for (length, task, place) in polls.iter().take(10) {
        println!("{:>12.3} ms  task {task:<6} {}", *length as f64 / 1e6, String::from_utf8_lossy(place));
    }
    Ok(())
}
