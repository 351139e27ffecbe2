//! The lines of `info`: of a service, what held it up.

use super::Dial9;
use super::gather::Gather;
use super::summary::{Pairing, Summary};
use crate::output::{bytes, counted, grouped, percent, printable, shown};
use crate::status::{Result, Status};
use crate::table::{Table, left, right};
use crate::trace::{Info, Trace as _, duration, shown_time, time_json};
use serde_json::{Map, Value, json};
use traceglass::dial9::{Frame, Order, OrderStorage};

/// The number of kinds of events and lines of damage that are shown.
const SHOWN: usize = 12;

impl Dial9<'_> {
    pub(super) fn summarise(&self) -> Result<Info> {
        let (mut gather, mut pairing) = (Gather::default(), Pairing::default());
        let (mut inflated, mut lost) = (0_u64, 0_u64);
        let (mut damage, mut damages) = (Vec::new(), 0_u64);
        let (mut empty, mut firsts) = (Vec::new(), Vec::new());
        for segment in &self.segments {
            segment.open(|segment| {
                let name = segment.path.map(|path| format!("{}: ", shown(path))).unwrap_or_default();
                let mut tell = |error: String| {
                    damages = damages.saturating_add(1);
                    if damage.len() < SHOWN {
                        damage.push(format!("{name}{error}"));
                    }
                };
                let mut storage = OrderStorage::default();
                let mut order = Order::new(storage.rooms());
                let added = order.add(0, &segment.data);
                loop {
                    match added.and_then(|()| order.next_frame()) {
                        Ok(Some(Frame::Header(_))) => gather.batches = gather.batches.saturating_add(1),
                        Ok(Some(Frame::Event(event))) => gather.take(&event, &order),
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(error) => {
                            let gap = order.recover().map_or(0, |gap| gap.len());
                            lost = lost.saturating_add(gap);
                            tell(format!("{error}; {} lost", bytes(gap)));
                        }
                    }
                }
                if let Some(error) = segment.damage {
                    tell(error.to_string());
                }
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
        let version = metadata.get("dial9.dial9-tokio-telemetry.version").cloned();
        if let Some(version) = &version {
            fields.insert("writer_version".into(), version.as_str().into());
            lines.push(("writer", format!("dial9-tokio-telemetry {}", printable(version))));
        }
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
        fields.insert("time_ns".into(), time_json(times.map(|(first, _)| first.into())));
        fields.insert("end_time_ns".into(), time_json(times.map(|(_, last)| last.into())));
        if let Some((first, last)) = times {
            let day = clock
                .map(|(day, then)| i128::from(day).saturating_sub(then.into()).saturating_add(first.into()));
            fields.insert("start_unix_ns".into(), time_json(day));
            let day = day.map(|day| format!(", at {}", shown_time(day, true))).unwrap_or_default();
            lines.push(("time", format!("{} long{day}", duration(last.saturating_sub(first).into()))));
        }
        if !empty.is_empty() {
            let names = empty.iter().take(SHOWN).map(|name| printable(name)).collect::<Vec<_>>().join(", ");
            lines.push((
                "EMPTY",
                format!("nothing was recorded in {names}: the recorder runs, and no event reaches it"),
            ));
        }
        if let Some(complete) = metadata.get("segment.complete") {
            fields.insert("recorder_complete".into(), (complete != "false").into());
            if complete == "false" {
                lines.push((
                    "incomplete",
                    "the recorder says that events are missing: counts are too low".to_owned(),
                ));
            }
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
        if damages > damage.len() as u64 {
            damage.push(format!("and {} more", grouped(damages.saturating_sub(damage.len() as u64))));
        }
        Ok(Info {
            bytes: self.bytes(),
            status: Status::damaged_if(damages > 0),
            fields,
            title: "dial9 trace, version 1".to_owned(),
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
                let added = order.add(0, &segment.data);
                loop {
                    match added.and_then(|()| order.next_frame()) {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        // It was told.
                        Err(_) => drop(order.recover()),
                    }
                }
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
        lines: &mut Vec<(&'static str, String)>,
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
