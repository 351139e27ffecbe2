//! The sums of memory traces: how much was reserved at most, and the largest allocations.

use super::{Streams, Summary, duration, number};
use crate::output::bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use traceglass::rdf::contents::rmt::{Stream, TokenValue};
use traceglass::rdf::contents::ticks_to_ns;

/// The number of allocations that are shown of each stream.
const LARGEST: usize = 4;

/// The number of streams that there are lines of.
const STREAMS: usize = 4;

/// An allocation of virtual memory.
#[derive(Clone, Copy)]
struct Allocation {
    address: u64,
    size: u64,
    ticks: Option<u64>,
    freed: Option<u64>,
}

/// The sums of a stream.
#[derive(Default)]
struct Usage {
    first: Option<u64>,
    hz: u64,
    count: u64,
    /// The bytes that are reserved now, and at most with the time of that.
    now: u64,
    most: u64,
    most_at: Option<u64>,
    /// The number of each allocation that is not free, and its size.
    open: HashMap<u64, (u64, u64)>,
    /// The largest first; of the same size, the first.
    largest: Vec<(u64, Allocation)>,
}

impl Usage {
    fn of(stream: Stream<'_>) -> Self {
        let mut usage = Self::default();
        // A token that cannot be read ends its stream, and was reported.
        for token in stream.tokens().map_while(Result::ok) {
            let ticks = token.ticks();
            usage.first = usage.first.or(ticks);
            match token.value() {
                TokenValue::Timestamp { hz } if usage.hz == 0 => usage.hz = hz.into(),
                TokenValue::VirtualAllocate { address, size, .. } => usage.allocate(address, size, ticks),
                TokenValue::VirtualFree { address, .. } => usage.free(address, ticks),
                _ => {}
            }
        }
        usage
    }

    fn allocate(&mut self, address: u64, size: u64, ticks: Option<u64>) {
        self.free(address, ticks);
        self.open.insert(address, (self.count, size));
        self.now = self.now.saturating_add(size);
        if self.now > self.most {
            (self.most, self.most_at) = (self.now, ticks);
        }
        let at = self.largest.partition_point(|(_, other)| other.size >= size);
        if at < LARGEST {
            self.largest.insert(at, (self.count, Allocation { address, size, ticks, freed: None }));
            self.largest.truncate(LARGEST);
        }
        self.count = self.count.saturating_add(1);
    }

    fn free(&mut self, address: u64, ticks: Option<u64>) {
        let Some((number, size)) = self.open.remove(&address) else { return };
        self.now = self.now.saturating_sub(size);
        if let Some((_, freed)) = self.largest.iter_mut().find(|(of, _)| *of == number) {
            freed.freed = ticks;
        }
    }

    /// Nanoseconds since the first token that has a time.
    fn since(&self, ticks: Option<u64>) -> Option<i128> {
        ticks_to_ns(ticks?.saturating_sub(self.first?), self.hz)
    }
}

pub fn summarize(streams: &Streams, summary: &mut Summary) {
    let mut all = Vec::new();
    for stream in streams.iter() {
        let usage = Usage::of(stream);
        if usage.count == 0 {
            continue;
        }
        if all.len() < STREAMS {
            let at =
                usage.since(usage.most_at).map_or_else(String::new, |ns| format!(" at +{}", duration(ns)));
            let (most, now) = (bytes(usage.most), bytes(usage.now));
            summary.line("memory", format!("process {}: at most {most} reserved{at}", stream.process()));
            summary.line("memory", format!("  {now} at the end"));
            for (_, one) in &usage.largest {
                let time = |ticks| {
                    usage.since(ticks).map_or_else(|| "?".to_owned(), |ns| format!("+{}", duration(ns)))
                };
                let freed = match one.freed {
                    Some(ticks) => format!("freed at {}", time(Some(ticks))),
                    None => "not freed".to_owned(),
                };
                let (size, from) = (bytes(one.size), time(one.ticks));
                summary.line("memory", format!("  {size} at {:#x} from {from}, {freed}", one.address));
            }
        }
        let ns = |ticks| usage.since(ticks).map(number);
        let largest: Vec<Value> = usage
            .largest
            .iter()
            .map(|(_, one)| {
                json!({
                    "address": format!("{:#x}", one.address), "bytes": one.size,
                    "since_ns": ns(one.ticks), "freed_ns": ns(one.freed),
                })
            })
            .collect();
        all.push(json!({
            "process": stream.process(), "stream": stream.number(), "allocations": usage.count,
            "most_bytes": usage.most, "most_ns": ns(usage.most_at), "end_bytes": usage.now,
            "largest": largest,
        }));
    }
    summary.more("memory", all.len(), STREAMS);
    if !all.is_empty() {
        summary.field("memory", all.into());
    }
}
