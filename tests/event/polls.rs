//! Polls and wakes of tasks, beside an oracle that walks the records in the order of time with a list for each task.

use crate::common::random::Random;
use crate::common::rfr::{Chunk, Sequence};
use crate::rfr::Growing;
use std::collections::HashMap;
use traceglass::event::rfr::{Lane, NameSlot, Registry, RegistrySlot, Timeline};
use traceglass::event::{EventKind, Item, Source};

/// An event of a task: its time, whether that was made up, and the number of wakes that led to it.
type Told = (&'static str, u64, bool, usize);

const START: u8 = 6;
const END: u8 = 7;
const WAKE: u8 = 9;

/// The events that a reader finds, by task.
fn found(chunks: &[Vec<u8>]) -> HashMap<u64, Vec<Told>> {
    let mut registry = Registry::new(Growing(Vec::new(), RegistrySlot::EMPTY));
    let mut timeline =
        Timeline::new(&mut registry, Growing(Vec::new(), NameSlot::EMPTY), Growing(Vec::new(), Lane::EMPTY));
    for (input, chunk) in chunks.iter().enumerate() {
        timeline.add(input, chunk).unwrap();
    }
    let (mut tasks, mut flows) = (HashMap::new(), HashMap::new());
    let mut told: HashMap<u64, Vec<Told>> = HashMap::new();
    while let Some(item) = timeline.next_item().unwrap() {
        match item {
            Item::Track(track) => {
                let label = track.label().to_string();
                if let Some(task) = label.strip_prefix("task t").or_else(|| label.strip_prefix('t')) {
                    tasks.extend(task.parse::<u64>().ok().map(|task| (track.id(), task)));
                }
            }
            Item::Event(event) => {
                if let Some(flow) = event.starts() {
                    *flows.entry((flow.track(), flow.number())).or_insert(0) += 1;
                }
                let ended = event.ends().map(|flow| flows[&(flow.track(), flow.number())]).sum();
                let Some(&task) = tasks.get(&event.track()) else { continue };
                let kind = match event.kind() {
                    EventKind::Begin => "begin",
                    EventKind::End => "end",
                    EventKind::Instant if event.name().to_string() == "TaskPollEnd" => "stray",
                    _ => continue,
                };
                let micros = event.time().map_or(0, |time| u64::try_from(time.ns() / 1_000).unwrap());
                told.entry(task).or_default().push((kind, micros, event.is_inferred(), ended));
            }
            _ => unreachable!(),
        }
    }
    told
}

/// The events that the records describe, one after the other.
fn expected(records: &[(u64, u8, u64)]) -> HashMap<u64, Vec<Told>> {
    let (mut open, mut wakes) = (HashMap::<u64, bool>::new(), HashMap::<u64, usize>::new());
    let mut told: HashMap<u64, Vec<Told>> = HashMap::new();
    for &(time, kind, task) in records {
        let is_open = open.entry(task).or_default();
        let list = told.entry(task).or_default();
        match kind {
            START => {
                // Its end was lost.
                if std::mem::replace(is_open, true) {
                    list.push(("end", time, true, 0));
                }
                list.push(("begin", time, false, std::mem::take(wakes.entry(task).or_default())));
            }
            END if std::mem::take(is_open) => list.push(("end", time, false, 0)),
            END => list.push(("stray", time, false, 0)),
            _ => *wakes.entry(task).or_default() += 1,
        }
    }
    told.retain(|_, list| !list.is_empty());
    told
}

#[test]
fn polls_and_wakes_are_those_of_an_oracle() {
    let mut random = Random(0x5eed_0051);
    let mut total = HashMap::<&str, usize>::new();
    for round in 0..60 {
        let mut chunks = Vec::new();
        let mut records = Vec::new();
        for second in 0..3_u64 {
            let mut sequences: Vec<Sequence> = (1..4).map(Sequence::new).collect();
            for task in 0..6 {
                // Each is described where it may be met.
                sequences = sequences
                    .into_iter()
                    .map(|sequence| sequence.task(100 + task, task, &format!("t{task}"), None))
                    .collect();
            }
            for time in 0..random.next() % 60 {
                let (kind, task) =
                    ([START, END, START, END, WAKE][random.next() as usize % 5], random.next() % 6);
                let at = random.next() as usize % 3;
                let sequence = std::mem::replace(&mut sequences[at], Sequence::new(0));
                sequences[at] = match kind {
                    WAKE => sequence.waker(time, WAKE.into(), 100 + task, None),
                    kind => sequence.about(time, kind, 100 + task),
                };
                records.push((second * 1_000_000 + time, kind, task));
            }
            let chunk = sequences.into_iter().fold(Chunk::new(second), Chunk::sequence);
            chunks.push(chunk.bytes());
        }
        let (found, expected) = (found(&chunks), expected(&records));
        assert_eq!(found, expected, "round {round}: {records:?}");
        for (kind, _, is_inferred, _) in found.values().flatten() {
            *total.entry(if *is_inferred { "inferred" } else { kind }).or_default() += 1;
        }
    }
    assert!(["begin", "end", "stray", "inferred"].iter().all(|kind| total[kind] > 100), "{total:?}");
}
