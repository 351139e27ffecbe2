//! The sums of tokio's events: polls, wakes, parks, tasks.

use std::collections::{BTreeMap, HashMap};
use traceglass::dial9::{Event, Frames, Schema, Value, tokio};

/// Something that happened, as far as it is paired with something else.
enum What {
    Begin { worker: u64, task: u64, place: u32, delay: Option<u64> },
    End { worker: u64 },
    Park { worker: u64 },
    Unpark { worker: u64 },
    Wake { task: u64 },
    Spawn { task: u64 },
    Terminate { task: u64 },
}

/// A poll.
pub struct Poll {
    pub ns: u64,
    pub task: u64,
    pub worker: u64,
    pub place: u32,
    pub start: u64,
}

/// The facts about a task.
#[derive(Default)]
struct Task {
    spawned: bool,
    terminated: bool,
    polls: u64,
    /// When it was woken last, since it was polled.
    woken: Option<u64>,
    is_polled: bool,
}

/// The facts about a worker.
#[derive(Default)]
struct Worker {
    open: Option<(u64, u64, u32)>,
    parked: Option<u64>,
    first: Option<u64>,
    last: u64,
    idle: u64,
    pub polls: u64,
    busy: u64,
}

/// The line of `info` for a worker.
pub struct WorkerShare {
    pub worker: u64,
    pub polls: u64,
    pub busy: u64,
    pub idle: u64,
    /// From its first to its last park or unpark.
    pub length: u64,
}

/// Gathers events, which are put in order in the end: batches overlap, and times go back within them.
#[derive(Default)]
pub struct Gather {
    events: Vec<(u64, What)>,
    places: Vec<String>,
    numbers: HashMap<Vec<u8>, u32>,
    /// Of the segment that is read, by their numbers.
    classes: Vec<Class>,
    pub counts: BTreeMap<String, u64>,
    pub times: Option<(u64, u64)>,
    /// The first time of day that is known, and the time of the writer's clock then.
    pub clock: Option<(u64, u64)>,
    pub metadata: BTreeMap<String, String>,
}

/// The sums of all of it.
pub struct Summary {
    pub polls: u64,
    pub poll_ns: u64,
    pub long_polls: u64,
    pub unpaired: u64,
    pub longest: Vec<Poll>,
    pub places: Vec<String>,
    pub latencies: Vec<u64>,
    pub workers: Vec<WorkerShare>,
    pub spawned: u64,
    pub terminated: u64,
    /// Tasks that were spawned and never polled, and those that were woken and not polled again.
    pub never_polled: u64,
    pub never_again: u64,
}

/// The number of the longest polls that are told.
const LONGEST: usize = 10;

/// A poll that is called long: a millisecond.
const LONG: u64 = 1_000_000;

/// The role of an event, by the name of its schema.
#[derive(Clone, Copy)]
enum Role {
    Begin,
    End,
    Park,
    Unpark,
    Wake,
    Spawn,
    Terminate,
    Clock,
    Metadata,
    Other,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "PollStartEvent" => Self::Begin,
            "PollEndEvent" => Self::End,
            "WorkerParkEvent" => Self::Park,
            "WorkerUnparkEvent" => Self::Unpark,
            "WakeEventEvent" => Self::Wake,
            "TaskSpawnEvent" => Self::Spawn,
            "TaskTerminateEvent" => Self::Terminate,
            "ClockSyncEvent" => Self::Clock,
            "SegmentMetadataEvent" => Self::Metadata,
            _ => Self::Other,
        }
    }
}

/// The fields that are asked for.
const FIELDS: [&str; 7] =
    ["worker_id", "task_id", "woken_task_id", "scheduling_delay_ns", "realtime_ns", "spawn_loc", "entries"];
const WORKER: usize = 0;
const TASK: usize = 1;
const WOKEN: usize = 2;
const DELAY: usize = 3;
const REALTIME: usize = 4;
const PLACE: usize = 5;
const ENTRIES: usize = 6;

/// The events of a class: what schemas with one name and the same fields are in a segment.
struct Class {
    name: String,
    role: Role,
    count: u64,
    /// Which of the fields that are asked for each one is; of those with one name, the first is it.
    fields: Vec<Option<usize>>,
}

impl Class {
    fn of(schema: &Schema<'_>) -> Self {
        let name = schema.name();
        let mut fields: Vec<Option<usize>> = Vec::new();
        for field in schema.fields() {
            let asked = FIELDS.iter().position(|asked| *asked == field.name());
            fields.push(asked.filter(|asked| !fields.contains(&Some(*asked))));
        }
        // What comes after the last one need not be read.
        while fields.last().is_some_and(Option::is_none) {
            fields.pop();
        }
        Self { name: name.to_owned(), role: Role::of(name), count: 0, fields }
    }
}

impl Gather {
    /// Ends a segment: classes are counted in each anew.
    pub fn end_segment(&mut self) -> bool {
        let mut is_recorded = false;
        for class in self.classes.drain(..).filter(|class| class.count > 0) {
            is_recorded |= !tokio::is_about_the_recorder(&class.name);
            let count = self.counts.entry(class.name).or_default();
            *count = count.saturating_add(class.count);
        }
        is_recorded
    }

    pub fn take(&mut self, event: &Event<'_>, frames: &Frames<'_, '_>) {
        let schema = event.schema();
        let number = frames.class(schema.type_id()).map_or(0, |class| class as usize);
        // Each class is met first by its schema; some have no events.
        while self.classes.len() <= number {
            self.classes.push(Class { name: String::new(), role: Role::Other, count: 0, fields: Vec::new() });
        }
        let Some(class) = self.classes.get_mut(number) else { return };
        if class.count == 0 {
            *class = Class::of(&schema);
        }
        class.count = class.count.saturating_add(1);
        let Some(time) = event.time() else { return };
        if time > 0 {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        let role = class.role;
        if matches!(role, Role::Other) {
            return;
        }
        let mut said = [None; FIELDS.len()];
        for (field, asked) in event.fields().zip(&class.fields) {
            if let Some(slot) = asked.and_then(|asked| said.get_mut(asked)) {
                *slot = field.value();
            }
        }
        let value = |asked: usize| said.get(asked).copied().flatten();
        let number = |asked| value(asked).and_then(|value: Value<'_>| value.unsigned());
        let what = match role {
            Role::Begin => {
                let (Some(worker), Some(task)) = (number(WORKER), number(TASK)) else { return };
                let place = self.place(value(PLACE), frames);
                Some(What::Begin { worker, task, place, delay: number(DELAY) })
            }
            Role::End => number(WORKER).map(|worker| What::End { worker }),
            Role::Park => number(WORKER).map(|worker| What::Park { worker }),
            Role::Unpark => number(WORKER).map(|worker| What::Unpark { worker }),
            Role::Wake => number(WOKEN).map(|task| What::Wake { task }),
            Role::Spawn => number(TASK).map(|task| What::Spawn { task }),
            Role::Terminate => number(TASK).map(|task| What::Terminate { task }),
            Role::Clock => {
                self.clock = self.clock.or(number(REALTIME).map(|day| (day, time)));
                None
            }
            Role::Metadata => {
                if let Some(Value::StringMap(map)) = value(ENTRIES) {
                    for (key, value) in map.pairs() {
                        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                        self.metadata.insert(text(key), text(value));
                    }
                }
                None
            }
            Role::Other => None,
        };
        self.events.extend(what.map(|what| (time, what)));
    }

    /// The number of the place where a task was spawned.
    fn place(&mut self, value: Option<Value<'_>>, frames: &Frames<'_, '_>) -> u32 {
        let text = match value {
            Some(Value::PooledString(id)) => frames.string(id).unwrap_or_default(),
            Some(Value::String(text)) => text,
            _ => &[],
        };
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.push(String::from_utf8_lossy(text).into_owned());
        self.numbers.insert(text.to_vec(), number);
        number
    }

    pub fn finish(mut self) -> Summary {
        self.events.sort_by_key(|(time, _)| *time);
        let mut workers: BTreeMap<u64, Worker> = BTreeMap::new();
        let mut tasks: HashMap<u64, Task> = HashMap::new();
        let mut polls: Vec<Poll> = Vec::new();
        let mut summary = Summary {
            polls: 0,
            poll_ns: 0,
            long_polls: 0,
            unpaired: 0,
            longest: Vec::new(),
            places: self.places,
            latencies: Vec::new(),
            workers: Vec::new(),
            spawned: 0,
            terminated: 0,
            never_polled: 0,
            never_again: 0,
        };
        for (time, what) in self.events {
            match what {
                What::Begin { worker, task, place, delay } => {
                    let worker = workers.entry(worker).or_default();
                    let open = worker.open.replace((task, time, place));
                    summary.lost(open);
                    let task = tasks.entry(task).or_default();
                    task.polls = task.polls.saturating_add(1);
                    let woken = task.woken.take().map(|woken| time.saturating_sub(woken));
                    summary.latencies.extend(delay.or(woken));
                    task.is_polled = true;
                }
                What::End { worker: id } => {
                    let worker = workers.entry(id).or_default();
                    let Some((task, start, place)) = worker.open.take() else {
                        summary.unpaired = summary.unpaired.saturating_add(1);
                        continue;
                    };
                    let ns = time.saturating_sub(start);
                    worker.polls = worker.polls.saturating_add(1);
                    worker.busy = worker.busy.saturating_add(ns);
                    summary.polls = summary.polls.saturating_add(1);
                    summary.poll_ns = summary.poll_ns.saturating_add(ns);
                    summary.long_polls = summary.long_polls.saturating_add(u64::from(ns > LONG));
                    polls.push(Poll { ns, task, worker: id, place, start });
                    if polls.len() >= LONGEST.saturating_mul(64) {
                        keep_longest(&mut polls);
                    }
                    let task = tasks.entry(task).or_default();
                    task.is_polled = false;
                    // A wake during its own poll counts from the end of that.
                    task.woken = task.woken.map(|_| time);
                }
                What::Park { worker } => {
                    let worker = workers.entry(worker).or_default();
                    worker.first.get_or_insert(time);
                    (worker.last, worker.parked) = (time, Some(time));
                    summary.lost(worker.open.take());
                }
                What::Unpark { worker } => {
                    let worker = workers.entry(worker).or_default();
                    worker.first.get_or_insert(time);
                    worker.last = time;
                    let parked = worker.parked.take().map_or(0, |parked| time.saturating_sub(parked));
                    worker.idle = worker.idle.saturating_add(parked);
                    summary.lost(worker.open.take());
                }
                What::Wake { task } => tasks.entry(task).or_default().woken = Some(time),
                What::Spawn { task } => {
                    // An id comes back in another runtime.
                    *tasks.entry(task).or_default() = Task { spawned: true, ..Task::default() };
                    summary.spawned = summary.spawned.saturating_add(1);
                }
                What::Terminate { task } => {
                    tasks.entry(task).or_default().terminated = true;
                    summary.terminated = summary.terminated.saturating_add(1);
                }
            }
        }
        keep_longest(&mut polls);
        summary.longest = polls;
        let alive = tasks.values().filter(|task| !task.terminated && !task.is_polled);
        for task in alive {
            if task.spawned && task.polls == 0 {
                summary.never_polled = summary.never_polled.saturating_add(1);
            } else if task.polls > 0 && task.woken.is_some() {
                summary.never_again = summary.never_again.saturating_add(1);
            }
        }
        summary.latencies.sort_unstable();
        summary.workers = workers
            .into_iter()
            .map(|(worker, of)| WorkerShare {
                worker,
                polls: of.polls,
                busy: of.busy,
                idle: of.idle,
                length: of.last.saturating_sub(of.first.unwrap_or(of.last)),
            })
            .collect();
        summary
    }
}

/// Sorts polls, the longest first, and drops the others.
fn keep_longest(polls: &mut Vec<Poll>) {
    polls.sort_by_key(|poll| (std::cmp::Reverse(poll.ns), poll.start));
    polls.truncate(LONGEST);
}

impl Summary {
    /// Counts a poll whose end was lost, if there is one.
    fn lost(&mut self, open: Option<(u64, u64, u32)>) {
        self.unpaired = self.unpaired.saturating_add(u64::from(open.is_some()));
    }

    /// The time that so many of a hundred waits do not exceed.
    pub fn percentile(&self, percent: usize) -> Option<u64> {
        let last = self.latencies.len().checked_sub(1)?;
        let place = last.saturating_mul(percent).div_ceil(100);
        self.latencies.get(place).copied()
    }
}
