//! Reads a dial9 segment that is linked into flash: the longest poll of each worker, and where its task was spawned.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use traceglass::dial9::{Event, Frames, PoolSlot, SchemaSlot, Storage, Value};
use traceglass_firmware::finish;

static SEGMENT: &[u8] = include_bytes!("../../../data/trace.0.bin");

/// The most workers that are told of.
const WORKERS: usize = 4;

/// A poll: when it began, or how long it was, of which task, and the pooled text of where that was spawned.
#[derive(Clone, Copy, Default)]
struct Poll<'a> {
    time: u64,
    task: u64,
    place: &'a [u8],
}

#[entry]
fn main() -> ! {
    finish(read())
}

fn read() -> traceglass::Result<()> {
    let (mut schemas, mut strings) = ([SchemaSlot::EMPTY; 16], [PoolSlot::EMPTY; 16]);
    let mut frames = Frames::new(SEGMENT, Storage::new(&mut schemas).strings(&mut strings));
    let mut open = [None::<Poll<'_>>; WORKERS];
    let mut longest = [Poll::default(); WORKERS];
    let mut events = 0;
    while let Some(event) = frames.next_event()? {
        events += 1;
        let number = |name| event.get(name).and_then(|value| value.unsigned()).unwrap_or(u64::MAX);
        let Some(worker) = usize::try_from(number("worker_id")).ok().filter(|worker| *worker < WORKERS)
        else {
            continue;
        };
        let (Some(time), Some(open), Some(longest)) =
            (event.nanoseconds(), open.get_mut(worker), longest.get_mut(worker))
        else {
            continue;
        };
        match event.name() {
            "PollStartEvent" => {
                *open = Some(Poll { time, task: number("task_id"), place: place(&event, &frames) });
            }
            "PollEndEvent" => {
                let poll = open.take().map(|poll| Poll { time: time.saturating_sub(poll.time), ..poll });
                *longest = poll.filter(|poll| poll.time > longest.time).unwrap_or(*longest);
            }
            _ => {}
        }
    }
    hprintln!("dial9: {} events in {} batches", events, frames.batch());
    for (worker, poll) in longest.iter().enumerate().filter(|(_, poll)| poll.time > 0) {
        let place = core::str::from_utf8(poll.place).unwrap_or("?");
        hprintln!("worker {}: {} us in task {}, {}", worker, poll.time / 1000, poll.task, place);
    }
    Ok(())
}

/// The line that spawned the task of a poll.
fn place<'a>(event: &Event<'a>, frames: &Frames<'a, '_>) -> &'a [u8] {
    match event.get("spawn_loc") {
        Some(Value::PooledString(id)) => frames.string(id).unwrap_or(b"?"),
        _ => b"?",
    }
}
