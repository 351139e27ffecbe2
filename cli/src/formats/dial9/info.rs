//! The lines of `info`: of a service, what held it up.

use super::Dial9;
use super::gather::Gather;
use super::segments::{Reached, Segment, read_frames};
use super::summary::{Pairing, Summary};
use crate::output::{bytes, counted, grouped, percent, printable, shown};
use crate::progress::Progress;
use crate::status::Result;
use crate::table::{Table, left, right};
use crate::trace::{DamageExt as _, Info, Inquiry, Trace as _, duration, insert_span, shown_time, time_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use traceglass::dial9::{Frame, Order, OrderStorage};

/// The number of kinds of events that are shown.
const SHOWN: usize = 12;

/// The number of bytes at the start of a large recording, and at its end, that are read: some batches.
const LOOK: usize = 4 << 20;

/// The size up to which a packed segment is unpacked to read its end.
const UNPACKED_MAX: u64 = 64 << 20;

const TITLE: &str = "dial9 trace, version 1";

type Lines = Vec<(&'static str, String)>;

/// Says which version wrote a recording, and whether that says that something is missing.
fn say_recorder(metadata: &BTreeMap<String, String>, fields: &mut Map<String, Value>, lines: &mut Lines) {
    if let Some(version) = metadata.get("dial9.dial9-tokio-telemetry.version") {
        fields.insert("writer_version".into(), version.as_str().into());
        lines.push(("writer", format!("dial9-tokio-telemetry {}", printable(version))));
    }
    if let Some(complete) = metadata.get("segment.complete") {
        fields.insert("recorder_complete".into(), (complete != "false").into());
        if complete == "false" {
            let text = "the recorder says that events are missing: counts are too low";
            lines.push(("incomplete", text.to_owned()));
        }
    }
}

/// Says from when to when a recording is; the clock is a time of day, and the time of the recorder's clock then.
fn say_span(
    first: Option<u64>,
    last: Option<u64>,
    clock: Option<(u64, u64)>,
    fields: &mut Map<String, Value>,
    lines: &mut Lines,
) {
    insert_span(fields, [first, last].map(|time| time.map(i128::from)), false);
    let Some(first) = first else { return };
    let day =
        clock.map(|(day, then)| i128::from(day).saturating_sub(then.into()).saturating_add(first.into()));
    fields.insert("start_unix_ns".into(), time_json(day));
    let long = last.map(|last| format!("{} long", duration(last.saturating_sub(first).into())));
    let day = day.map(|day| format!("at {}", shown_time(day, true)));
    let said: Vec<String> = [long, day].into_iter().flatten().collect();
    if !said.is_empty() {
        lines.push(("time", said.join(", ")));
    }
}

impl Dial9<'_> {
    pub(super) fn summarise(&self, args: &Inquiry) -> Result<Info> {
        if args.wants_all(self.bytes()) { self.read_all() } else { self.glance() }
    }

    /// The facts that the start of the first segment and the end of the last one tell.
    fn glance(&self) -> Result<Info> {
        let mut damage = self.damage();
        let mut look = |path: Option<&Path>, data: &[u8], at: u64, is_cut: bool, gather: &mut Gather| {
            let mut storage = OrderStorage::default();
            let mut order = Order::new(storage.rooms());
            let each = |frame: &Frame<'_>, order: &Order<'_, '_>| {
                if let Frame::Event(event) = frame {
                    gather.take(event, order);
                }
            };
            read_frames(&mut order, data, each, |gap| {
                let error = gap.cause();
                // The end of the look is no damage, nor is its start within a batch.
                let is_edge = (is_cut && error.is_truncation()) || (at > 0 && error.offset() == 0);
                if !is_edge {
                    let lost = bytes(gap.len());
                    damage.add_in(path, format_args!("{}; {lost} lost", error.rebased(at)));
                }
            })?;
            gather.end_segment();
            Ok(())
        };
        let (mut start, mut end, mut unpacked) = (Gather::default(), Gather::default(), None);
        if let Some(first) = self.segments.first() {
            first.open_front(LOOK, |data, is_cut| look(first.path(), data, 0, is_cut, &mut start))?;
        }
        if let Some(last) =
            self.segments.last().filter(|last| !last.is_packed() || last.size() <= UNPACKED_MAX)
        {
            last.open(|segment| {
                let at = segment.data.len().saturating_sub(LOOK);
                let data = segment.data.get(at..).unwrap_or_default();
                unpacked = segment.damage;
                look(segment.path, data, at as u64, false, &mut end)
            })?;
        }
        if let Some(error) = unpacked {
            damage.add_in(self.segments.last().and_then(Segment::path), error);
        }
        start.metadata.append(&mut end.metadata);
        let (mut fields, mut lines) = (Map::new(), Vec::new());
        say_recorder(&start.metadata, &mut fields, &mut lines);
        fields.insert("segments".into(), self.segments.len().into());
        for unknown in ["batches", "events", "inflated_bytes", "empty_segments", "lost_bytes", "kinds"] {
            fields.insert(unknown.into(), Value::Null);
        }
        if self.segments.len() > 1 {
            lines.push(("content", counted(self.segments.len() as u64, "segment", "segments")));
        }
        let first = start.times.map(|(first, _)| first);
        say_span(first, end.times.map(|(_, last)| last), start.clock, &mut fields, &mut lines);
        Ok(Info {
            bytes: self.bytes(),
            status: damage.status(),
            fields,
            title: TITLE.to_owned(),
            lines,
            tables: Vec::new(),
            damage,
            complete: false,
        })
    }

    fn read_all(&self) -> Result<Info> {
        let (mut gather, mut pairing) = (Gather::default(), Pairing::default());
        let (mut inflated, mut lost) = (0_u64, 0_u64);
        let mut damage = self.damage();
        let (mut empty, mut firsts) = (Vec::new(), Vec::new());
        let progress = Progress::new(self.bytes());
        for segment in &self.segments {
            segment.open(|segment| {
                let mut reached = Reached::new(&progress, segment);
                let mut storage = OrderStorage::default();
                let mut order = Order::new(storage.rooms());
                let each = |frame: &Frame<'_>, order: &Order<'_, '_>| match frame {
                    Frame::Header(header) => {
                        gather.batches = gather.batches.saturating_add(1);
                        reached.at(header.offset());
                    }
                    Frame::Event(event) => gather.take(event, order),
                    _ => {}
                };
                read_frames(&mut order, &segment.data, each, |gap| {
                    lost = lost.saturating_add(gap.len());
                    damage.add_in(segment.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                })?;
                segment.damage.into_iter().for_each(|error| damage.add_in(segment.path, error));
                inflated = inflated.saturating_add(segment.data.len() as u64);
                let (first, is_recorded) = gather.end_segment();
                if !is_recorded {
                    empty.push(segment.path.map_or_else(|| "this segment".to_owned(), shown));
                }
                firsts.push(first);
                if let [_] = self.segments.as_slice() {
                    pairing.segment(&mut order, None);
                }
                Ok(())
            })?;
        }
        if self.segments.len() > 1 {
            self.pair(&mut pairing, &firsts)?;
        }
        let Gather { batches, events, counts, times, clock, metadata, .. } = gather;
        let summary = pairing.finish();
        let mut fields = Map::new();
        let mut lines = Vec::new();
        say_recorder(&metadata, &mut fields, &mut lines);
        fields.insert("segments".into(), self.segments.len().into());
        fields.insert("batches".into(), batches.into());
        fields.insert("events".into(), events.into());
        fields.insert("inflated_bytes".into(), inflated.into());
        fields.insert("empty_segments".into(), empty.clone().into());
        fields.insert("lost_bytes".into(), lost.into());
        let segments = match self.segments.len() {
            1 => String::new(),
            count => {
                format!("{} of {} in all, ", counted(count as u64, "segment", "segments"), bytes(inflated))
            }
        };
        lines.push((
            "content",
            format!(
                "{segments}{}, {}",
                counted(batches, "batch", "batches"),
                counted(events, "event", "events")
            ),
        ));
        say_span(times.map(|(first, _)| first), times.map(|(_, last)| last), clock, &mut fields, &mut lines);
        if !empty.is_empty() {
            let names = empty.iter().take(SHOWN).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
            lines.push((
                "EMPTY",
                format!("nothing was recorded in {names}: the recorder runs, and no event reaches it"),
            ));
        }
        let mut tables = Vec::new();
        if summary.polls > 0 {
            self.polls(&summary, &mut fields, &mut lines, &mut tables);
        }
        let mut kinds: Vec<_> = counts.iter().collect();
        kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let mut table = Table::new(&[left("event"), right("count")]);
        for (name, count) in kinds.iter().take(SHOWN) {
            table.add(vec![printable(name), grouped(**count)]);
        }
        tables.push(("events", table));
        fields.insert(
            "kinds".into(),
            counts.into_iter().map(|(name, count)| (name, Value::from(count))).collect::<Map<_, _>>().into(),
        );
        Ok(Info {
            bytes: self.bytes(),
            status: damage.status(),
            fields,
            title: TITLE.to_owned(),
            lines,
            tables,
            damage,
            complete: true,
        })
    }

    /// Reads segments in which something began at these times again, in the order of time.
    fn pair(&self, pairing: &mut Pairing, firsts: &[Option<u64>]) -> Result<()> {
        // The first time in all segments after each one.
        let mut next: Option<u64> = None;
        let mut later: Vec<Option<u64>> = Vec::new();
        for first in firsts.iter().rev() {
            later.push(next);
            next = [next, *first].into_iter().flatten().min();
        }
        for (segment, later) in self.segments.iter().zip(later.into_iter().rev()) {
            segment.open(|segment| {
                let mut storage = OrderStorage::default();
                let mut order = Order::new(storage.rooms());
                // Damage was told.
                read_frames(&mut order, &segment.data, |_, _| {}, drop)?;
                pairing.segment(&mut order, later);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The sums of polls, wakes, workers and tasks.
    fn polls(
        &self,
        summary: &Summary,
        fields: &mut Map<String, Value>,
        lines: &mut Lines,
        tables: &mut Vec<(&'static str, Table)>,
    ) {
        let place = |number: u32| summary.places.get(number as usize).map_or("", String::as_str);
        let longest: Vec<Value> = summary
            .longest
            .iter()
            .map(|poll| {
                json!({"ns": poll.ns, "task": poll.task, "worker": poll.worker, "spawn_loc": place(poll.place),
                       "start_ns": poll.start})
            })
            .collect();
        let (p50, p99) = (summary.latencies.percentile(50), summary.latencies.percentile(99));
        fields.insert(
            "polls".into(),
            json!({"count": summary.polls, "ns": summary.poll_ns, "over_1ms": summary.long_polls,
                   "unpaired": summary.unpaired, "longest": longest}),
        );
        fields.insert(
            "wake_to_poll".into(),
            json!({"count": summary.latencies.count(), "p50_ns": p50, "p99_ns": p99}),
        );
        fields.insert(
            "tasks".into(),
            json!({"spawned": summary.spawned, "terminated": summary.terminated,
                   "never_polled": summary.never_polled, "never_polled_again": summary.never_again}),
        );
        let workers: Vec<Value> = summary
            .workers
            .iter()
            .map(|of| json!({"worker": of.worker, "polls": of.polls, "busy_ns": of.busy, "idle_ns": of.idle, "ns": of.length}))
            .collect();
        fields.insert("workers".into(), workers.into());
        let unpaired = match summary.unpaired {
            0 => String::new(),
            count => format!(", {} without its other half", grouped(count)),
        };
        lines.push((
            "polls",
            format!(
                "{}, {} in all, {} longer than 1 ms{unpaired}",
                grouped(summary.polls),
                duration(summary.poll_ns.into()),
                grouped(summary.long_polls)
            ),
        ));
        if let (Some(p50), Some(p99)) = (p50, p99) {
            let (p50, p99) = (duration(p50.into()), duration(p99.into()));
            lines.push(("wake to poll", format!("{p50} half of the time, {p99} and more in 1 of 100")));
        }
        lines.push((
            "tasks",
            format!(
                "{} spawned, {} ended, {} never polled, {} woken and not polled again",
                grouped(summary.spawned),
                grouped(summary.terminated),
                grouped(summary.never_polled),
                grouped(summary.never_again)
            ),
        ));
        let mut table = Table::new(&[right("time"), right("task"), right("worker"), left("spawned at")]);
        for poll in &summary.longest {
            let cells = [
                duration(poll.ns.into()),
                poll.task.to_string(),
                poll.worker.to_string(),
                printable(place(poll.place)),
            ];
            table.add(cells.into());
        }
        tables.push(("longest polls", table));
        let mut table = Table::new(&[right("worker"), right("polls"), right("busy"), right("idle")]);
        for of in &summary.workers {
            let idle = if of.length > 0 { percent(of.idle, of.length) } else { "-".to_owned() };
            table.add(vec![of.worker.to_string(), grouped(of.polls), duration(of.busy.into()), idle]);
        }
        tables.push(("workers", table));
    }
}
