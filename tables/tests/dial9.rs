//! The tables of dial9's own, against an oracle that looks for each half of a pair by walking over all events.

mod common;
#[path = "../../tests/common/dial9.rs"]
#[allow(dead_code)]
mod dial9;
#[path = "../../tests/common/random.rs"]
mod random;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use common::{Memory, Scratch, lent, parquet, read, rows};
use dial9::{BOOL, OPTIONAL, POOLED_STACK, POOLED_STRING, U8, U32, VARINT, Writer};
use random::Random;
use std::sync::atomic::{AtomicUsize, Ordering};
use traceglass::event::Window;
use traceglass_tables::{Bytes, File, Query, Trace};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Start { worker: u64, task: u64, delay: Option<u64> },
    End { worker: u64 },
    Park { worker: u64, tid: u64 },
    Unpark { worker: u64, tid: u64 },
    Spawn { task: u64 },
    Terminate { task: u64 },
    Wake { waker: u64, task: u64 },
    Sample { tid: u64 },
}

/// It, and when.
type Happened = (u64, What);

const PLACES: [&str; 3] = ["src/main.rs:1:2", "src/a, \"b\".rs:3:4", ""];

/// The place where a task was spawned.
fn place_of(task: u64) -> &'static str {
    PLACES[task as usize % 3]
}

fn batch(writer: Writer, events: &[Happened]) -> Writer {
    let worker = ("worker_id", VARINT);
    let park = [worker, ("tid", U32)];
    let mut writer = writer
        .header()
        .schema(
            1,
            "PollStartEvent",
            &[
                worker,
                ("local_queue", U8),
                ("task_id", VARINT),
                ("spawn_loc", POOLED_STRING),
                ("scheduling_delay_ns", VARINT | OPTIONAL),
            ],
        )
        .schema(2, "PollEndEvent", &[worker])
        .schema(3, "WorkerParkEvent", &park)
        .schema(4, "WorkerUnparkEvent", &park)
        .schema(
            5,
            "TaskSpawnEvent",
            &[("task_id", VARINT), ("spawn_loc", POOLED_STRING), ("instrumented", BOOL)],
        )
        .schema(6, "TaskTerminateEvent", &[("task_id", VARINT)])
        .schema(
            7,
            "WakeEventEvent",
            &[("waker_task_id", VARINT), ("woken_task_id", VARINT), ("target_worker", U8)],
        )
        .schema(8, "CpuSampleEvent", &[("tid", U32), ("source", U8), ("callchain", POOLED_STACK)])
        .strings(&[(0, PLACES[0]), (1, PLACES[1]), (2, PLACES[2])])
        .stacks(&[(0, &[0x10, 0x20])]);
    for &(time, what) in events {
        writer = writer.reset(time);
        let place = |task: u64| task as u32 % 3;
        writer = match what {
            What::Start { worker, task, delay } => {
                let writer = writer.event(1, 0).varint(worker).raw(&[9]).varint(task).u32(place(task));
                match delay {
                    Some(delay) => writer.raw(&[1]).varint(delay),
                    None => writer.raw(&[0]),
                }
            }
            What::End { worker } => writer.event(2, 0).varint(worker),
            What::Park { worker, tid } => writer.event(3, 0).varint(worker).u32(tid as u32),
            What::Unpark { worker, tid } => writer.event(4, 0).varint(worker).u32(tid as u32),
            What::Spawn { task } => writer.event(5, 0).varint(task).u32(place(task)).raw(&[1]),
            What::Terminate { task } => writer.event(6, 0).varint(task),
            What::Wake { waker, task } => writer.event(7, 0).varint(waker).varint(task).raw(&[255]),
            What::Sample { tid } => writer.event(8, 0).u32(tid as u32).raw(&[1]).u32(0),
        };
    }
    writer
}

/// Segments of batches with events at random times, and the same events in order.
fn recorded(random: &mut Random) -> (Vec<Memory>, Vec<Happened>) {
    let (segments, batches) = (1 + random.next() as usize % 3, 1 + random.next() as usize % 3);
    let mut all: Vec<Vec<Happened>> = vec![Vec::new(); segments * batches];
    for _ in 0..random.next() % 80 {
        let (worker, task, tid) = (random.next() % 3, 1 + random.next() % 4, 100 + random.next() % 4);
        let what = match random.next() % 16 {
            0..=3 => What::Start {
                worker,
                task,
                delay: random.next().is_multiple_of(4).then(|| random.next() % 500),
            },
            4..=7 => What::End { worker },
            8 => What::Park { worker, tid },
            9 => What::Unpark { worker, tid },
            10 => What::Spawn { task },
            11 => What::Terminate { task },
            12 | 13 => What::Wake { waker: random.next() % 3, task },
            _ => What::Sample { tid },
        };
        let at = random.next() as usize % all.len();
        all[at].push((1 + random.next() % 60, what));
    }
    const NAMES: [&str; 3] = ["trace.0.bin", "trace.1.bin", "trace.2.bin"];
    let files = all.chunks(batches).zip(NAMES).map(|(batches, name)| {
        let writer = batches.iter().fold(Writer::new(), |writer, events| batch(writer, events));
        Memory(name, Ok(writer.0))
    });
    let files = files.collect();
    let mut events: Vec<Happened> = all.into_iter().flatten().collect();
    events.sort_by_key(|(time, _)| *time);
    (files, events)
}

/// Rows as text, without the columns that say where something stands.
fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let schema = batch.schema();
            let cells = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
                if ["file", "offset", "time", "end_time", "local_queue"].contains(&field.name().as_str()) {
                    return None;
                }
                let text = match column.data_type() {
                    _ if column.is_null(row) => return None,
                    DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
                    DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
                    DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
                    DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
                    DataType::Boolean => column.as_boolean().value(row).to_string(),
                    DataType::Dictionary(..) => {
                        let names = column.as_dictionary::<arrow_array::types::Int32Type>();
                        names.values().as_string::<i32>().value(names.key(row).unwrap()).to_owned()
                    }
                    DataType::List(_) => {
                        let list = column.as_list::<i32>().value(row);
                        list.as_string::<i32>().iter().flatten().collect::<Vec<_>>().join(";")
                    }
                    other => panic!("{other}"),
                };
                Some(format!("{}={text}", field.name()))
            });
            lines.push(cells.collect::<Vec<_>>().join(" "));
        }
    }
    lines.sort();
    lines
}

/// Values that may be there, as a line has them.
fn line(cells: &[(&str, Option<String>)]) -> String {
    let cells = cells.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    cells.collect::<Vec<_>>().join(" ")
}

fn some(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// Where the poll that begins at a place ends, and whether that was said.
fn end_of(events: &[Happened], at: usize, worker: u64) -> Option<(usize, bool)> {
    let of = |what| match what {
        What::End { worker } => Some((worker, true)),
        What::Start { worker, .. } | What::Park { worker, .. } | What::Unpark { worker, .. } => {
            Some((worker, false))
        }
        _ => None,
    };
    let rest = events.iter().enumerate().skip(at + 1);
    rest.filter_map(|(at, (_, what))| of(*what).map(|of| (at, of)))
        .find(|(_, (of, _))| *of == worker)
        .map(|(at, (_, said))| (at, said))
}

/// The polls of a task whose end was said, with where they begin and end.
fn polls_of(events: &[Happened], task: u64) -> Vec<(usize, usize)> {
    let starts = events.iter().enumerate().filter_map(|(at, (_, what))| match what {
        What::Start { worker, task: of, .. } if *of == task => {
            end_of(events, at, *worker).filter(|(_, said)| *said).map(|(end, _)| (at, end))
        }
        _ => None,
    });
    starts.collect()
}

/// The place of the last event before a place for which that is true.
fn last_before(events: &[Happened], at: usize, is_it: impl Fn(What) -> bool) -> Option<usize> {
    events[..at].iter().rposition(|(_, what)| is_it(*what))
}

fn is_start_of(task: u64) -> impl Fn(What) -> bool {
    move |what| matches!(what, What::Start { task: of, .. } if of == task)
}

fn is_spawn_of(task: u64) -> impl Fn(What) -> bool {
    move |what| matches!(what, What::Spawn { task: of } if of == task)
}

/// The time from a wake to the poll at a place.
fn latency(events: &[Happened], wake: usize, poll: usize, task: u64) -> u64 {
    let spawn = last_before(events, poll, is_spawn_of(task));
    let ends = polls_of(events, task).into_iter().filter(|(_, end)| *end < poll && Some(*end) > spawn);
    let polled = ends.map(|(_, end)| events[end].0).max();
    events[poll].0 - events[wake].0.max(polled.unwrap_or(0))
}

/// The wakes that lead to the poll of a task at a place.
fn wakes_before(events: &[Happened], poll: usize, task: u64) -> Vec<usize> {
    let from = last_before(events, poll, |what| is_start_of(task)(what) || is_spawn_of(task)(what));
    let wakes = events[..poll].iter().enumerate().filter(|(at, (_, what))| {
        Some(*at) > from && matches!(what, What::Wake { task: of, .. } if *of == task)
    });
    wakes.map(|(at, _)| at).collect()
}

fn polls(events: &[Happened]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (time, what)) in events.iter().enumerate() {
        let What::Start { worker, task, delay } = *what else { continue };
        let end = end_of(events, at, worker).filter(|(_, said)| *said).map(|(end, _)| events[end].0);
        let wakes = wakes_before(events, at, task);
        let waited = wakes.last().map(|wake| latency(events, *wake, at, task));
        lines.push(line(&[
            ("time_ns", some(time)),
            ("end_time_ns", end.and_then(some)),
            ("duration_ns", end.and_then(|end| some(end - time))),
            ("worker", some(worker)),
            ("task", some(task)),
            ("spawn_loc", some(place_of(task))),
            ("wakes", some(wakes.len())),
            ("wake_to_poll_ns", delay.or(waited).and_then(some)),
        ]));
    }
    lines.sort();
    lines
}

fn wakes(events: &[Happened]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (time, what)) in events.iter().enumerate() {
        let What::Wake { waker, task } = *what else { continue };
        let rest = events.iter().enumerate().skip(at + 1);
        let next = rest.map(|(at, (_, what))| (at, *what));
        let next = next.into_iter().find(|(_, what)| is_start_of(task)(*what) || is_spawn_of(task)(*what));
        let poll = next.and_then(|(at, what)| match what {
            What::Start { worker, .. } => Some((at, worker)),
            _ => None,
        });
        // Known by then: of a poll, its own; else what was said of the task when it is sure that none comes.
        let until = next.map_or(events.len(), |(at, _)| at);
        let is_known = |what| is_spawn_of(task)(what) || is_start_of(task)(what);
        let known = poll.is_some() || last_before(events, until, is_known).is_some();
        lines.push(line(&[
            ("time_ns", some(time)),
            ("waker_task", some(waker).filter(|_| waker > 0)),
            ("task", some(task)),
            ("spawn_loc", some(place_of(task)).filter(|_| known)),
            ("poll_time_ns", poll.and_then(|(poll, _)| some(events[poll].0))),
            ("poll_worker", poll.and_then(|(_, worker)| some(worker))),
            ("wake_to_poll_ns", poll.and_then(|(poll, _)| some(latency(events, at, poll, task)))),
        ]));
    }
    lines.sort();
    lines
}

fn samples(events: &[Happened]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, (time, what)) in events.iter().enumerate() {
        let What::Sample { tid } = *what else { continue };
        let parked = events[..at].iter().rev().find_map(|(_, what)| match *what {
            What::Park { worker, tid: of } | What::Unpark { worker, tid: of } if of == tid => Some(worker),
            _ => None,
        });
        let polled = parked.and_then(|worker| {
            let is_it = |what| matches!(what, What::Start { worker: of, .. } if of == worker);
            let start = last_before(events, at, is_it)?;
            let ended = end_of(events, start, worker).is_some_and(|(end, _)| end < at);
            let What::Start { task, .. } = events[start].1 else { unreachable!() };
            (!ended).then_some(task)
        });
        lines.push(line(&[
            ("time_ns", some(time)),
            ("kind", some("CpuSampleEvent")),
            ("source", some("context-switch")),
            ("worker", parked.and_then(some)),
            ("task", polled.and_then(some)),
            ("spawn_loc", polled.and_then(|task| some(place_of(task)))),
            ("thread", some(tid)),
            ("stack", some("0x10;0x20")),
        ]));
    }
    lines.sort();
    lines
}

/// Each task from its spawn, or from the start, to the next spawn with its id.
fn tasks(events: &[Happened]) -> Vec<String> {
    let mut lines = Vec::new();
    for task in 1..=4 {
        let spawns: Vec<usize> = (0..events.len()).filter(|at| is_spawn_of(task)(events[*at].1)).collect();
        let first = spawns.first().copied().unwrap_or(events.len());
        let lives = spawns
            .iter()
            .enumerate()
            .map(|(number, spawn)| (*spawn, spawns.get(number + 1).copied().unwrap_or(events.len()), true));
        for (from, to, spawned) in std::iter::once((0, first, false)).chain(lives) {
            let is_in = |at: &usize| (from..to).contains(at);
            let of = |is_it: &dyn Fn(What) -> bool| -> Vec<usize> {
                (from..to).filter(|at| is_it(events[*at].1)).collect()
            };
            let starts = of(&is_start_of(task));
            let ended = of(&|what| what == What::Terminate { task });
            let woken = of(&|what| matches!(what, What::Wake { task: of, .. } if of == task));
            let polled: Vec<_> = polls_of(events, task).into_iter().filter(|(_, end)| is_in(end)).collect();
            if !spawned && starts.is_empty() && ended.is_empty() && woken.is_empty() && polled.is_empty() {
                continue;
            }
            let lengths = polled.iter().map(|(start, end)| events[*end].0 - events[*start].0);
            let spawn = spawned.then(|| events[from].0);
            let end = ended.last().map(|at| events[*at].0);
            // Of the last poll that began in this life or ended in it, the end must have been said.
            let touched: Vec<usize> =
                starts.iter().copied().chain(polled.iter().map(|(_, end)| *end)).collect();
            let is_polled = touched.iter().max().is_some_and(|at| starts.contains(at));
            let last_wake = woken.last().filter(|at| starts.last().is_none_or(|start| start < at));
            let waits = last_wake.filter(|_| to == events.len() && end.is_none() && !is_polled);
            let polled_last = polled.iter().map(|(_, end)| events[*end].0).max();
            lines.push(line(&[
                ("time_ns", spawn.and_then(some)),
                ("end_time_ns", end.and_then(some)),
                ("duration_ns", spawn.zip(end).and_then(|(spawn, end)| some(end - spawn))),
                ("task", some(task)),
                ("spawn_loc", some(place_of(task)).filter(|_| spawned || !starts.is_empty())),
                ("instrumented", some(true).filter(|_| spawned)),
                ("wakes", some(woken.len())),
                ("polls", some(starts.len())),
                (
                    "spawn_to_poll_ns",
                    starts.first().zip(spawn).and_then(|(poll, spawn)| some(events[*poll].0 - spawn)),
                ),
                ("poll_ns", some(lengths.clone().sum::<u64>())),
                ("longest_poll_ns", lengths.max().and_then(some)),
                ("waits_since_ns", waits.and_then(|at| some(events[*at].0.max(polled_last.unwrap_or(0))))),
            ]));
        }
    }
    lines.sort();
    lines
}

#[test]
fn tables_of_tokio_are_what_an_oracle_finds() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut found = [0; 4];
    for round in 0..400 {
        let (files, events) = recorded(&mut random);
        let trace = Trace::dial9(lent(&files));
        let all = [
            ("polls", polls(&events)),
            ("wakes", wakes(&events)),
            ("samples", samples(&events)),
            ("tasks", tasks(&events)),
        ];
        for ((table, expected), found) in all.into_iter().zip(&mut found) {
            let query = Query { rows: 1 + random.next() as usize % 20, ..Query::default() };
            let made = read(&trace, table, &query, 1 + random.next() as usize % 2);
            assert_eq!(lines(&made), expected, "{table} of round {round}: {events:#?}");
            *found += expected.len();
        }
    }
    assert!(found.iter().all(|rows| *rows > 500), "{found:?}");
}

/// A window has what has a part in it; all tables at once are the same as each alone.
#[test]
fn windows_keep_what_they_touch() {
    let mut random = Random(7);
    for _ in 0..50 {
        let (files, events) = recorded(&mut random);
        let trace = Trace::dial9(lent(&files));
        let (from, to) = (i128::from(random.next() % 60), i128::from(random.next() % 60));
        let (from, to) = (from.min(to), from.max(to));
        let query = Query { window: Window::new(Some(from), Some(to)), ..Query::default() };
        let number = |line: &str, name: &str| -> Option<i128> {
            line.split(' ').find_map(|cell| cell.strip_prefix(name)?.parse().ok())
        };
        let expected = polls(&events).into_iter().filter(|line| {
            let (begin, end) = (number(line, "time_ns=").unwrap(), number(line, "end_time_ns="));
            begin < to && end.is_none_or(|end| end >= from)
        });
        assert_eq!(lines(&read(&trace, "polls", &query, 1)), expected.collect::<Vec<_>>());
        let instants = samples(&events)
            .into_iter()
            .filter(|line| (from..to).contains(&number(line, "time_ns=").unwrap()));
        assert_eq!(lines(&read(&trace, "samples", &query, 1)), instants.collect::<Vec<_>>());
    }
}

/// Counts how often a file is opened.
struct Counted(Memory, AtomicUsize);

impl File for Counted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn open(&self) -> Result<Bytes<'_>, String> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.open()
    }
}

/// All tables are made in one pass, with the rows that each has alone.
#[test]
fn parquet_is_made_in_one_pass() {
    let mut random = Random(11);
    for round in 0..30 {
        let (mut files, _) = recorded(&mut random);
        if round == 0 {
            files.push(Memory("trace.9.bin", Err("gone".to_owned())));
        }
        let files: Vec<Counted> = files.into_iter().map(|file| Counted(file, AtomicUsize::new(0))).collect();
        let trace = Trace::dial9(files.iter().map(|file| file as &dyn File).collect());
        let scratch = Scratch::new(&format!("one-pass-{round}"));
        let summary =
            traceglass_tables::parquet::export(&trace, "t", &scratch.0, &Query::default(), 2, &|_| ())
                .unwrap();
        assert_eq!(summary.damage.count(), u64::from(round == 0));
        assert!(files.iter().all(|file| file.1.load(Ordering::Relaxed) == 1));
        for table in trace.tables() {
            let (made, _) = parquet(&scratch.0.join(table.name()).join("trace=t"));
            let alone = read(&trace, table.name(), &Query::default(), 1);
            // Of an end, a segment alone does not know what ends; nor of a thread, which worker's it is.
            if table.name() == "events" && files.len() > 1 {
                assert_eq!(rows(&made), rows(&alone));
            } else if table.name() == "tracks" && files.len() > 1 {
                let alone = lines(&alone);
                assert!(lines(&made).iter().all(|line| alone.contains(line)), "{round}");
            } else {
                assert_eq!(lines(&made), lines(&alone), "{}", table.name());
            }
        }
    }
}

/// Spans of tasks lie one within the other; symbols are those of their file.
#[test]
fn spans_and_symbols_are_resolved() {
    let enter = [
        ("dial9.tokio.task_id", VARINT | OPTIONAL),
        ("span_id", VARINT),
        ("parent_span_id", VARINT | OPTIONAL),
        ("span_name", POOLED_STRING),
        ("route", POOLED_STRING | OPTIONAL),
    ];
    let symbol = [
        ("addr", VARINT),
        ("size", VARINT),
        ("symbol_name", POOLED_STRING),
        ("inline_depth", VARINT),
        ("source_file", POOLED_STRING),
        ("source_line", VARINT),
    ];
    let first = Writer::new()
        .header()
        .schema(1, "SpanEnter:my_service::request:src/web.rs:10", &enter)
        .schema(2, "SpanExit:my_service::request:src/web.rs:10", &[enter[0], enter[1], enter[3]])
        .schema(8, "CpuSampleEvent", &[("tid", U32), ("source", U8), ("callchain", POOLED_STACK)])
        .schema(9, "SymbolTableEntry", &symbol)
        .strings(&[(0, "request"), (1, "/login"), (2, "main"), (3, "inlined"), (4, "src/web.rs"), (5, "")])
        .stacks(&[(0, &[0x20, 0x30, 0x10])])
        .reset(1_000)
        .event(1, 0)
        .raw(&[1, 7, 40, 0])
        .u32(0)
        .raw(&[1])
        .u32(1)
        .event(1, 10)
        .raw(&[1, 7, 41, 1, 40])
        .u32(0)
        .raw(&[0])
        .event(8, 5)
        .u32(3)
        .raw(&[0])
        .u32(0)
        .event(2, 5)
        .raw(&[1, 7, 41])
        .u32(0)
        .event(2, 80)
        .raw(&[1, 7, 40])
        .u32(0)
        // Never left.
        .event(1, 900)
        .raw(&[0, 42, 0])
        .u32(0)
        .raw(&[0]);
    let symbols = |writer: Writer, name: u32| {
        writer
            .reset(0)
            .event(9, 0)
            .raw(&[0x10, 0])
            .u32(2)
            .raw(&[0])
            .u32(5)
            .raw(&[0])
            .event(9, 0)
            .raw(&[0x20, 0])
            .u32(2)
            .raw(&[0])
            .u32(4)
            .raw(&[0])
            .event(9, 0)
            .raw(&[0x20, 0])
            .u32(name)
            .raw(&[1])
            .u32(4)
            .raw(&[12])
    };
    let files = [Memory("trace.0.bin", Ok(symbols(first, 3).0))];
    let trace = Trace::dial9(lent(&files));
    let spans = read(&trace, "spans", &Query::default(), 1);
    let fields: Vec<_> = spans
        .iter()
        .flat_map(|batch| {
            let column = batch.column_by_name("fields").unwrap().as_string::<i32>();
            column.iter().map(|text| text.unwrap_or_default().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert!(fields[1].contains(r#""route":"/login""#), "{fields:?}");
    let columns = ["time_ns", "end_time_ns", "duration_ns", "name", "callsite", "span", "parent", "task"];
    let query = Query { columns: Some(columns.map(str::to_owned).to_vec()), ..Query::default() };
    let site = "name=request callsite=my_service::request:src/web.rs:10";
    assert_eq!(
        lines(&read(&trace, "spans", &query, 1)),
        [
            format!("time_ns=1000 end_time_ns=1100 duration_ns=100 {site} span=40 task=7"),
            format!("time_ns=1010 end_time_ns=1020 duration_ns=10 {site} span=41 parent=40 task=7"),
            format!("time_ns=2000 {site} span=42"),
        ]
    );
    let samples = lines(&read(&trace, "samples", &Query::default(), 1));
    let stack = "inlined (src/web.rs:12);main (src/web.rs);0x30;main";
    assert_eq!(samples, [format!("time_ns=1015 kind=CpuSampleEvent source=on-cpu thread=3 stack={stack}")]);
}
