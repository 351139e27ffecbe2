//! The rows of a recording's own tables. They are made of the whole of it, in the order of time: what begins in one segment
//! may end in another.

use super::columns::{POLLS, SAMPLES, SPANS, TASKS, WAKES};
use super::heard::{Heard, Role};
use super::symbols::Symbols;
use crate::error::Result;
use crate::events::{OWN, fields_of};
use crate::query::Query;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::Table;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use traceglass::event::{Event, EventKind, FlowId, TrackId, Window};
use traceglass::record::Record as _;
use traceglass_open::record::Json;

/// The place of something in the recording, and its time.
#[derive(Clone, Copy)]
struct Place {
    file: usize,
    offset: u64,
    time: Option<i128>,
}

/// A poll that has begun.
struct Poll {
    place: Place,
    worker: Option<u64>,
    task: u64,
    spawn_loc: Option<Rc<str>>,
    local_queue: Option<u64>,
    wakes: u64,
    latency: Option<i128>,
}

/// A wake that no poll has followed yet.
struct Wake {
    number: u64,
    place: Place,
    worker: Option<u64>,
    waker: Option<u64>,
    task: u64,
}

/// The facts about a task from its spawn on.
#[derive(Default)]
struct Task {
    /// The number of tasks that were met before it.
    number: usize,
    /// The place where it was met first.
    first: Option<Place>,
    spawned: Option<i128>,
    ended: Option<i128>,
    spawn_loc: Option<Rc<str>>,
    instrumented: Option<bool>,
    worker: Option<u64>,
    wakes: u64,
    polls: u64,
    first_poll: Option<i128>,
    poll_ns: i128,
    longest: Option<i128>,
    /// The end of its last poll.
    polled: Option<i128>,
    /// True if a poll has begun whose end was not met.
    is_polled: bool,
}

/// A span that was entered.
struct Span {
    place: Place,
    name: String,
    callsite: String,
    span: Option<u64>,
    parent: Option<u64>,
    task: Option<u64>,
    fields: Option<String>,
}

/// The things to read: the names and the symbols of files, and of which tables.
pub(super) struct Reading<'r> {
    pub(super) files: &'r [&'r str],
    /// Of each file, if samples are wanted.
    pub(super) symbols: &'r [Symbols],
    pub(super) query: &'r Query,
}

/// Makes the rows.
pub(super) struct Typed<'r> {
    reading: Reading<'r>,
    rows: [Option<Rows>; 5],
    heard: Heard,
    json: Json,
    places: Places,
    polls: Map<TrackId, Poll>,
    /// The workers of tracks.
    workers: Map<TrackId, u64>,
    /// The wakes that lead to the next poll on the track of a task.
    wakes: Map<TrackId, Vec<Wake>>,
    /// The tracks of the workers that threads are.
    threads: Map<u64, TrackId>,
    /// By their ids, with how many were met before; and those whose ids came back.
    tasks: Map<u64, Task>,
    replaced: Vec<(u64, Task)>,
    met: usize,
    spans: Map<TrackId, Vec<Span>>,
}

type Map<K, V> = HashMap<K, V, RandomState>;

/// The places in the source that were met, each once.
#[derive(Default)]
struct Places(HashSet<Rc<str>, RandomState>);

impl Places {
    fn get(&mut self, place: Option<&str>) -> Option<Rc<str>> {
        let place = place?;
        if let Some(known) = self.0.get(place) {
            return Some(Rc::clone(known));
        }
        let new: Rc<str> = place.into();
        self.0.insert(Rc::clone(&new));
        Some(new)
    }
}

/// Nanoseconds as a column has them.
fn signed(ns: Option<i128>) -> Option<i64> {
    ns.and_then(|ns| i64::try_from(ns).ok())
}

/// The time between two, if both are known.
fn between(from: Option<i128>, to: Option<i128>) -> Option<i128> {
    from.zip(to).map(|(from, to)| to.saturating_sub(from))
}

impl<'r> Typed<'r> {
    /// The rows of the tables with these numbers.
    pub(super) fn new(reading: Reading<'r>, all: &[Table], wanted: &[usize]) -> Self {
        let rows = [POLLS, TASKS, WAKES, SAMPLES, SPANS].map(|number| {
            let table = all.get(number).filter(|_| wanted.contains(&number));
            table.map(|table| Rows::new(table, reading.query))
        });
        Self {
            reading,
            rows,
            heard: Heard::default(),
            json: Json::bare(),
            places: Places::default(),
            polls: Map::default(),
            workers: Map::default(),
            wakes: Map::default(),
            threads: Map::default(),
            tasks: Map::default(),
            replaced: Vec::new(),
            met: 0,
            spans: Map::default(),
        }
    }

    fn wants(&self, number: usize) -> bool {
        number.checked_sub(OWN).and_then(|at| self.rows.get(at)).is_some_and(Option::is_some)
    }

    /// True if one of its tables is wanted.
    pub(super) fn has_tables(&self) -> bool {
        self.rows.iter().any(Option::is_some)
    }

    /// Begins a row of what happens at a time, or lasts up to another one; `None` if it is not wanted.
    fn row(&mut self, number: usize, place: Place, last: Option<i128>) -> Option<&mut Rows> {
        let Self { reading, rows, .. } = self;
        let rows = rows.get_mut(number.checked_sub(OWN)?)?.as_mut()?;
        let window = reading.query.window;
        let is_outside = window.to().is_some_and(|to| place.time.is_some_and(|time| time >= to))
            || window.from().is_some_and(|from| last.is_some_and(|last| last < from));
        let is_untimed = [SAMPLES, WAKES].contains(&number) && place.time.is_none() && window != Window::ALL;
        if is_outside || is_untimed {
            return None;
        }
        rows.name(0, reading.files.get(place.file).copied());
        rows.u64(1, Some(place.offset));
        rows.time(2, place.time, false);
        Some(rows)
    }

    /// The same of what lasts, with its end; without one, it lasts on.
    fn lasting(&mut self, number: usize, place: Place, end: Option<i128>) -> Option<&mut Rows> {
        let rows = self.row(number, place, end)?;
        rows.time(4, end, false);
        rows.i64(6, signed(between(place.time, end)));
        Some(rows)
    }

    fn hand_out(&mut self, number: usize, sink: &mut Sink<'_>) -> Result<()> {
        match number.checked_sub(OWN).and_then(|at| self.rows.get_mut(at)) {
            Some(Some(rows)) => hand_out(number, rows, sink),
            _ => Ok(()),
        }
    }

    /// The task with an id, which is met at a place.
    fn task(&mut self, id: u64, place: Place) -> &mut Task {
        let Self { tasks, met, .. } = self;
        tasks.entry(id).or_insert_with(|| {
            *met = met.saturating_add(1);
            Task { number: *met, first: Some(place), ..Task::default() }
        })
    }

    /// An event of the timeline, and its fields if they are known.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        fields: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        if matches!(event.kind(), EventKind::Counter(_) | EventKind::Gap(_)) {
            return Ok(());
        }
        self.heard.clear();
        // All of it was read before.
        let _ = event.tell(&mut self.heard);
        let (time, track) = (event.time().map(|time| time.ns()), event.track());
        let place = Place { file: event.input(), offset: event.offset(), time };
        let values = &self.heard.values;
        if let Some(worker) = values.worker_id.number
            && matches!(self.heard.role, Some(Role::PollStart | Role::Park | Role::Unpark))
        {
            self.workers.insert(track, worker);
            if let Some(thread) = values.tid.number {
                self.threads.insert(thread, track);
            }
        }
        match (event.kind(), self.heard.role) {
            (EventKind::Begin, Some(Role::PollStart)) => self.poll_starts(event, place, sink)?,
            (EventKind::Begin, Some(Role::Spawn)) => self.task_spawned(track, place, sink)?,
            (EventKind::Begin, Some(Role::Other)) => self.span_entered(event, fields, place),
            (EventKind::End, _) => self.ended(event, sink)?,
            (EventKind::Instant, Some(Role::Wake)) => self.woken(event, place),
            _ => {}
        }
        if let (Some(Role::Terminate), Some(task)) = (self.heard.role, self.heard.values.task_id.number) {
            self.task(task, place).ended = time;
        }
        if self.heard.values.callchain.is_some() && event.kind() == EventKind::Instant {
            self.sampled(event, place, sink)?;
        }
        Ok(())
    }

    fn poll_starts(&mut self, event: &Event<'_>, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let Self { heard, places, .. } = self;
        let values = &heard.values;
        let Some(id) = values.task_id.number else { return Ok(()) };
        let (worker, local_queue) = (values.worker_id.number, values.local_queue.number);
        let spawn_loc = places.get(values.spawn_loc.text());
        let delay = values.scheduling_delay_ns.number.map(i128::from);
        let flow = event.ends().next();
        let waited = flow.and_then(|flow| self.wakes.remove(&flow.track())).unwrap_or_default();
        let wakes = waited.len() as u64;
        let task = self.task(id, place);
        task.polls = task.polls.saturating_add(1);
        task.is_polled = true;
        task.first_poll = task.first_poll.or(place.time);
        if task.spawn_loc.is_none() {
            task.spawn_loc.clone_from(&spawn_loc);
        }
        let polled = task.polled;
        // A wake during a poll of the task counts from the end of that.
        let latency = |wake: &Wake| between(wake.place.time.max(polled), place.time);
        let latency_of_poll = delay.or_else(|| latency(waited.last()?));
        for wake in &waited {
            let latency = latency(wake);
            if self.wake(wake, spawn_loc.as_deref()).is_some_and(|rows| {
                rows.i64(8, signed(place.time));
                rows.u64(9, worker);
                rows.i64(10, signed(latency));
                true
            }) {
                self.hand_out(WAKES, sink)?;
            }
        }
        let poll = Poll { place, worker, task: id, spawn_loc, local_queue, wakes, latency: latency_of_poll };
        self.polls.insert(event.track(), poll);
        Ok(())
    }

    /// Begins the row of a wake.
    fn wake(&mut self, wake: &Wake, spawn_loc: Option<&str>) -> Option<&mut Rows> {
        let rows = self.row(WAKES, wake.place, wake.place.time)?;
        rows.u64(4, wake.worker);
        rows.u64(5, wake.waker);
        rows.u64(6, Some(wake.task));
        rows.name(7, spawn_loc);
        Some(rows)
    }

    fn poll_ended(&mut self, poll: &Poll, end: Option<i128>, sink: &mut Sink<'_>) -> Result<()> {
        let ns = between(poll.place.time, end);
        let task = self.task(poll.task, poll.place);
        task.poll_ns = task.poll_ns.saturating_add(ns.unwrap_or(0));
        task.longest = task.longest.max(ns);
        task.polled = task.polled.max(end);
        task.is_polled &= end.is_none();
        let Some(rows) = self.lasting(POLLS, poll.place, end) else { return Ok(()) };
        rows.u64(7, poll.worker);
        rows.u64(8, Some(poll.task));
        rows.name(9, poll.spawn_loc.as_deref());
        rows.u64(10, poll.local_queue);
        rows.u64(11, Some(poll.wakes));
        rows.i64(12, signed(poll.latency));
        self.hand_out(POLLS, sink)
    }

    /// An id that comes back is another task: what was to wake the one before does not wake it.
    fn task_spawned(&mut self, track: TrackId, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let Self { heard, places, met, .. } = self;
        let values = &heard.values;
        let Some(id) = values.task_id.number else { return Ok(()) };
        *met = met.saturating_add(1);
        let task = Task {
            number: *met,
            first: Some(place),
            spawned: place.time,
            spawn_loc: places.get(values.spawn_loc.text()),
            instrumented: values.instrumented.number.map(|value| value != 0),
            worker: values.worker_id.number,
            ..Task::default()
        };
        for wake in self.wakes.remove(&track).unwrap_or_default() {
            self.unheard(&wake, sink)?;
        }
        if let Some(before) = self.tasks.insert(id, task)
            && self.wants(TASKS)
        {
            self.replaced.push((id, before));
        }
        Ok(())
    }

    /// The row of a wake that no poll followed.
    fn unheard(&mut self, wake: &Wake, sink: &mut Sink<'_>) -> Result<()> {
        let spawn_loc = self.tasks.get(&wake.task).and_then(|task| task.spawn_loc.clone());
        if self.wake(wake, spawn_loc.as_deref()).is_some() {
            self.hand_out(WAKES, sink)?;
        }
        Ok(())
    }

    fn woken(&mut self, event: &Event<'_>, place: Place) {
        let values = &self.heard.values;
        let task = values.woken_task_id.number.unwrap_or_default();
        let Some(flow) = event.starts() else { return };
        let wake = Wake {
            number: flow.number(),
            place,
            worker: values.target_worker.number.filter(|worker| *worker < 255),
            waker: values.waker_task_id.number.filter(|task| *task > 0),
            task,
        };
        let of = self.task(task, place);
        of.wakes = of.wakes.saturating_add(1);
        self.wakes.entry(FlowId::track(flow)).or_default().push(wake);
    }

    fn sampled(&mut self, event: &Event<'_>, place: Place, sink: &mut Sink<'_>) -> Result<()> {
        let thread = self.heard.values.tid.number.and_then(|thread| self.threads.get(&thread));
        let track = thread.copied().unwrap_or(event.track());
        let poll = self.polls.get(&track).map(|poll| (poll.task, poll.spawn_loc.clone()));
        let worker = self.workers.get(&track).copied();
        let (symbols, name) = (self.reading.symbols.get(place.file), self.heard.name().to_owned());
        let values = std::mem::take(&mut self.heard.values);
        let stack = values.callchain.iter().flatten();
        let frames =
            stack.flat_map(|address| symbols.into_iter().flat_map(|symbols| symbols.frames(*address)));
        let Some(rows) = self.row(SAMPLES, place, place.time) else { return Ok(()) };
        let task = values.task_id.number.or(poll.as_ref().map(|(task, _)| *task));
        rows.name(4, Some(&name));
        rows.name(5, values.source.text());
        rows.u64(6, worker);
        rows.u64(7, task);
        rows.name(8, poll.and_then(|(_, spawn_loc)| spawn_loc).as_deref());
        rows.u64(9, values.tid.number);
        rows.name(10, values.thread_name.text());
        rows.u64(11, values.cpu.number);
        rows.u64(12, values.size.number);
        rows.names(13, frames);
        self.hand_out(SAMPLES, sink)
    }

    fn span_entered(&mut self, event: &Event<'_>, fields: Option<&str>, place: Place) {
        let Self { heard, json, spans, rows, .. } = self;
        let wants_fields = rows
            .get(SPANS.wrapping_sub(OWN))
            .is_some_and(|rows| rows.as_ref().is_some_and(|rows| rows.wants(12)));
        let fields = if wants_fields { fields.or_else(|| fields_of(json, event)) } else { None };
        let callsite = heard.name().split_once(':').map_or(heard.name(), |(_, callsite)| callsite);
        let span = Span {
            place,
            name: event.name().to_string(),
            callsite: callsite.to_owned(),
            span: heard.values.span_id.number,
            parent: heard.values.parent_span_id.number,
            task: heard.values.span_task_id.number,
            fields: fields.map(str::to_owned),
        };
        spans.entry(event.track()).or_default().push(span);
    }

    /// Ends the slice that began last on a track. An end that was not recorded is none.
    fn ended(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let end = event.time().map(|time| time.ns()).filter(|_| !event.is_inferred());
        if let Some(poll) = self.polls.remove(&event.track()) {
            return self.poll_ended(&poll, end, sink);
        }
        let Some(span) = self.spans.get_mut(&event.track()).and_then(Vec::pop) else { return Ok(()) };
        self.span(&span, end, sink)
    }

    fn span(&mut self, span: &Span, end: Option<i128>, sink: &mut Sink<'_>) -> Result<()> {
        let Some(rows) = self.lasting(SPANS, span.place, end) else { return Ok(()) };
        rows.name(7, Some(&span.name));
        rows.name(8, Some(&span.callsite));
        rows.u64(9, span.span);
        rows.u64(10, span.parent);
        rows.u64(11, span.task);
        rows.text(12, span.fields.as_deref());
        self.hand_out(SPANS, sink)
    }

    /// Writes the rest: wakes that no poll followed, and tasks.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        let mut left: Vec<Wake> = std::mem::take(&mut self.wakes).into_values().flatten().collect();
        left.sort_by_key(|wake| (wake.place.time, wake.task, wake.number));
        let mut waits: Map<u64, Option<i128>> = Map::default();
        for wake in left {
            waits.insert(wake.task, wake.place.time.max(self.task(wake.task, wake.place).polled));
            self.unheard(&wake, sink)?;
        }
        let mut met = std::mem::take(&mut self.replaced);
        let replaced = met.len();
        met.extend(std::mem::take(&mut self.tasks));
        let mut met: Vec<_> = met.into_iter().enumerate().collect();
        met.sort_by_key(|(_, (_, task))| task.number);
        for (at, (id, task)) in met {
            let may_wait = at >= replaced && task.ended.is_none() && !task.is_polled;
            let waits = waits.get(&id).copied().flatten().filter(|_| may_wait);
            self.task_row(id, &task, waits, sink)?;
        }
        for (at, rows) in self.rows.iter_mut().enumerate() {
            if let Some(rows) = rows {
                hand_out_rest(at.saturating_add(OWN), rows, sink)?;
            }
        }
        Ok(())
    }

    fn task_row(&mut self, id: u64, task: &Task, waits: Option<i128>, sink: &mut Sink<'_>) -> Result<()> {
        let Some(first) = task.first else { return Ok(()) };
        let place = Place { time: task.spawned, ..first };
        let Some(rows) = self.lasting(TASKS, place, task.ended) else { return Ok(()) };
        rows.u64(7, Some(id));
        rows.name(8, task.spawn_loc.as_deref());
        rows.bool(9, task.instrumented);
        rows.u64(10, task.worker);
        rows.u64(11, Some(task.wakes));
        rows.u64(12, Some(task.polls));
        rows.i64(13, signed(between(task.spawned, task.first_poll)));
        rows.i64(14, signed(Some(task.poll_ns)));
        rows.i64(15, signed(task.longest));
        rows.i64(16, signed(waits));
        self.hand_out(TASKS, sink)
    }
}
