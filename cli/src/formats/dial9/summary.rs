//! The sums of tokio's events: polls, wakes, parks, tasks.

use super::waits::Waits;
use foldhash::fast::RandomState;
use std::cmp::Reverse;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::collections::{BTreeMap, HashMap};
use std::vec::IntoIter;
use traceglass::dial9::{Order, OrderedEvent, Schema, Value};

/// Something that happened, as far as it is paired with something else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The time at which it was woken last, since it was polled.
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

/// Pairs events in the order of time.
///
/// Of a recording of several segments, one is read at a time: events that are not before all of the later segments wait
/// for those.
#[derive(Default)]
pub struct Pairing {
    /// Of each segment of which something waits, the first of it: its time, and the number of the rest. Of one time, what
    /// came first is first.
    waiting: BinaryHeap<Reverse<(u64, usize, What)>>,
    rests: Vec<IntoIter<(u64, What)>>,
    places: Vec<String>,
    numbers: HashMap<Vec<u8>, u32, RandomState>,
    /// Of the segment that is read, by their numbers.
    classes: Vec<Class>,
    workers: BTreeMap<u64, Worker>,
    tasks: HashMap<u64, Task, RandomState>,
    summary: Summary,
}

/// The sums of all of it.
#[derive(Default)]
pub struct Summary {
    pub polls: u64,
    pub poll_ns: u64,
    pub long_polls: u64,
    pub unpaired: u64,
    pub longest: Vec<Poll>,
    pub places: Vec<String>,
    pub latencies: Waits,
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
            _ => Self::Other,
        }
    }
}

/// The fields that are asked for.
const FIELDS: [&str; 5] = ["worker_id", "task_id", "woken_task_id", "scheduling_delay_ns", "spawn_loc"];
const WORKER: usize = 0;
const TASK: usize = 1;
const WOKEN: usize = 2;
const DELAY: usize = 3;
const PLACE: usize = 4;

/// The events of a class: what schemas with one name and the same fields are in a segment.
struct Class {
    role: Role,
    /// The field of those asked for that each one is; of those with one name, the first is it.
    fields: Vec<Option<usize>>,
}

impl Class {
    fn of(schema: &Schema<'_>) -> Self {
        let role = Role::of(schema.name());
        let mut fields: Vec<Option<usize>> = Vec::new();
        for field in schema.fields() {
            let asked = FIELDS.iter().position(|asked| *asked == field.name());
            fields.push(asked.filter(|asked| !fields.contains(&Some(*asked))));
        }
        // What comes after the last one need not be read.
        while fields.last().is_some_and(Option::is_none) {
            fields.pop();
        }
        Self { role, fields }
    }
}

impl Pairing {
    /// Takes the events of a segment. All later ones have none before `next`, if there are any.
    pub fn segment(&mut self, order: &mut Order<'_, '_>, next: Option<u64>) {
        let is_before = |time: u64| next.is_none_or(|next| time < next);
        self.classes.clear();
        let mut late = Vec::new();
        while let Some(event) = order.next_event() {
            let Some(what) = self.what(&event, order) else { continue };
            let time = event.nanoseconds();
            if !is_before(time) {
                late.push((time, what));
                continue;
            }
            // Those of earlier segments come first.
            while let Some((time, what)) = self.due(|waits| waits <= time) {
                self.happened(time, what);
            }
            self.happened(time, what);
        }
        late.shrink_to_fit();
        let mut late = late.into_iter();
        if let Some((time, what)) = late.next() {
            self.waiting.push(Reverse((time, self.rests.len(), what)));
            self.rests.push(late);
        }
        while let Some((time, what)) = self.due(is_before) {
            self.happened(time, what);
        }
    }

    /// The event that waits longest, if its time has come.
    fn due(&mut self, is_due: impl Fn(u64) -> bool) -> Option<(u64, What)> {
        let mut first = self.waiting.peek_mut()?;
        let Reverse((time, number, _)) = &*first;
        if !is_due(*time) {
            return None;
        }
        let (number, rest) = (*number, self.rests.get_mut(*number)?);
        let Reverse((time, _, what)) = match rest.next() {
            Some((time, what)) => std::mem::replace(&mut *first, Reverse((time, number, what))),
            None => {
                *rest = IntoIter::default();
                PeekMut::pop(first)
            }
        };
        Some((time, what))
    }

    /// Returns the content of an event, if it is one that is paired.
    fn what<'a>(&mut self, event: &OrderedEvent<'a>, order: &Order<'a, '_>) -> Option<What> {
        while self.classes.len() <= event.class() as usize {
            let schema = order.schema(u32::try_from(self.classes.len()).ok()?)?;
            self.classes.push(Class::of(&schema));
        }
        let class = self.classes.get(event.class() as usize)?;
        let role = class.role;
        if matches!(role, Role::Other) {
            return None;
        }
        event.event().nanoseconds()?;
        let mut said = [None; FIELDS.len()];
        for (field, asked) in event.event().fields().zip(&class.fields) {
            if let Some(slot) = asked.and_then(|asked| said.get_mut(asked)) {
                *slot = field.value();
            }
        }
        let value = |asked: usize| said.get(asked).copied().flatten();
        let number = |asked| value(asked).and_then(|value: Value<'_>| value.unsigned());
        match role {
            Role::Begin => {
                let (worker, task, delay) = (number(WORKER)?, number(TASK)?, number(DELAY));
                let place = match value(PLACE) {
                    Some(Value::PooledString(id)) => order.string(event, id).unwrap_or_default(),
                    Some(Value::String(text)) => text,
                    _ => &[],
                };
                Some(What::Begin { worker, task, place: self.place(place), delay })
            }
            Role::End => number(WORKER).map(|worker| What::End { worker }),
            Role::Park => number(WORKER).map(|worker| What::Park { worker }),
            Role::Unpark => number(WORKER).map(|worker| What::Unpark { worker }),
            Role::Wake => number(WOKEN).map(|task| What::Wake { task }),
            Role::Spawn => number(TASK).map(|task| What::Spawn { task }),
            Role::Terminate => number(TASK).map(|task| What::Terminate { task }),
            Role::Other => None,
        }
    }

    /// The number of the place where a task was spawned.
    fn place(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places.push(String::from_utf8_lossy(text).into_owned());
        self.numbers.insert(text.to_vec(), number);
        number
    }

    fn happened(&mut self, time: u64, what: What) {
        match what {
            What::Begin { worker, task, place, delay } => {
                let worker = self.workers.entry(worker).or_default();
                let open = worker.open.replace((task, time, place));
                self.summary.lost(open);
                let task = self.tasks.entry(task).or_default();
                task.polls = task.polls.saturating_add(1);
                let woken = task.woken.take().map(|woken| time.saturating_sub(woken));
                if let Some(ns) = delay.or(woken) {
                    self.summary.latencies.add(ns);
                }
                task.is_polled = true;
            }
            What::End { worker: id } => {
                let worker = self.workers.entry(id).or_default();
                let Some((task, start, place)) = worker.open.take() else {
                    self.summary.unpaired = self.summary.unpaired.saturating_add(1);
                    return;
                };
                let ns = time.saturating_sub(start);
                worker.polls = worker.polls.saturating_add(1);
                worker.busy = worker.busy.saturating_add(ns);
                self.summary.polls = self.summary.polls.saturating_add(1);
                self.summary.poll_ns = self.summary.poll_ns.saturating_add(ns);
                self.summary.long_polls = self.summary.long_polls.saturating_add(u64::from(ns > LONG));
                self.summary.longest.push(Poll { ns, task, worker: id, place, start });
                if self.summary.longest.len() >= LONGEST.saturating_mul(64) {
                    keep_longest(&mut self.summary.longest);
                }
                let task = self.tasks.entry(task).or_default();
                task.is_polled = false;
                // A wake during its own poll counts from the end of that.
                task.woken = task.woken.map(|_| time);
            }
            What::Park { worker } => {
                let worker = self.workers.entry(worker).or_default();
                worker.first.get_or_insert(time);
                (worker.last, worker.parked) = (time, Some(time));
                self.summary.lost(worker.open.take());
            }
            What::Unpark { worker } => {
                let worker = self.workers.entry(worker).or_default();
                worker.first.get_or_insert(time);
                worker.last = time;
                let parked = worker.parked.take().map_or(0, |parked| time.saturating_sub(parked));
                worker.idle = worker.idle.saturating_add(parked);
                self.summary.lost(worker.open.take());
            }
            What::Wake { task } => self.tasks.entry(task).or_default().woken = Some(time),
            What::Spawn { task } => {
                // An id comes back in another runtime.
                *self.tasks.entry(task).or_default() = Task { spawned: true, ..Task::default() };
                self.summary.spawned = self.summary.spawned.saturating_add(1);
            }
            What::Terminate { task } => {
                self.tasks.entry(task).or_default().terminated = true;
                self.summary.terminated = self.summary.terminated.saturating_add(1);
            }
        }
    }

    /// The sums, once all segments were taken.
    pub fn finish(self) -> Summary {
        let Self { workers, tasks, mut summary, .. } = self;
        summary.places = self.places;
        keep_longest(&mut summary.longest);
        let alive = tasks.values().filter(|task| !task.terminated && !task.is_polled);
        for task in alive {
            if task.spawned && task.polls == 0 {
                summary.never_polled = summary.never_polled.saturating_add(1);
            } else if task.polls > 0 && task.woken.is_some() {
                summary.never_again = summary.never_again.saturating_add(1);
            }
        }
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
    polls.sort_by_key(|poll| (Reverse(poll.ns), poll.start));
    polls.truncate(LONGEST);
}

impl Summary {
    /// Counts a poll whose end was lost, if there is one.
    fn lost(&mut self, open: Option<(u64, u64, u32)>) {
        self.unpaired = self.unpaired.saturating_add(u64::from(open.is_some()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below others, from a seed.
    fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        }
    }

    fn events(next: &mut impl FnMut(u64) -> u64) -> Vec<(u64, What)> {
        let mut time = 0;
        let mut event = || {
            time += 1 + next(3) * next(900_000);
            let (worker, task) = (next(3), next(6));
            let what = match next(12) {
                0..=3 => What::Begin { worker, task, place: 0, delay: None },
                4..=7 => What::End { worker },
                8 => What::Park { worker },
                9 => What::Unpark { worker },
                10 => What::Wake { task },
                _ if next(2) == 0 => What::Spawn { task },
                _ => What::Terminate { task },
            };
            (time, what)
        };
        (0..60).map(|_| event()).collect()
    }

    /// The worker of an event, if it has one.
    fn worker_of(what: &What) -> Option<u64> {
        match *what {
            What::Begin { worker, .. }
            | What::End { worker }
            | What::Park { worker }
            | What::Unpark { worker } => Some(worker),
            _ => None,
        }
    }

    /// What is paired event by event is what one finds who looks at all of them for each question.
    #[test]
    fn sums_are_those_of_a_search_through_all_events() {
        let mut next = numbers(9);
        for round in 0..500 {
            let all = events(&mut next);
            let mut pairing = Pairing::default();
            for &(time, what) in &all {
                pairing.happened(time, what);
            }
            let found = pairing.finish();

            // The poll that an event ends: the one that its worker began before anything else of that worker.
            let begin_of = |end: usize| {
                let (_, What::End { worker }) = &all[end] else { return None };
                let before = all[..end].iter().rposition(|(_, what)| worker_of(what) == Some(*worker))?;
                matches!(all[before].1, What::Begin { .. }).then_some(before)
            };
            let pairs: Vec<(usize, usize)> =
                (0..all.len()).filter_map(|end| begin_of(end).map(|begin| (begin, end))).collect();
            let count = |is: fn(&What) -> bool| all.iter().filter(|(_, what)| is(what)).count() as u64;
            let (begins, ends) = (
                count(|what| matches!(what, What::Begin { .. })),
                count(|what| matches!(what, What::End { .. })),
            );
            let still_open = (0..3).filter(|worker| {
                let last = all.iter().rfind(|(_, what)| worker_of(what) == Some(*worker));
                matches!(last, Some((_, What::Begin { .. })))
            });
            let paired = pairs.len() as u64;
            assert_eq!(found.polls, paired, "round {round}");
            let unpaired = begins - paired - still_open.count() as u64 + ends - paired;
            assert_eq!(found.unpaired, unpaired, "round {round}");
            let mut lengths: Vec<u64> = pairs.iter().map(|&(begin, end)| all[end].0 - all[begin].0).collect();
            assert_eq!(found.poll_ns, lengths.iter().sum::<u64>());
            assert_eq!(found.long_polls, lengths.iter().filter(|ns| **ns > 1_000_000).count() as u64);
            lengths.sort_by_key(|ns| Reverse(*ns));
            lengths.truncate(10);
            assert_eq!(found.longest.iter().map(|poll| poll.ns).collect::<Vec<_>>(), lengths);

            // Since a task was spawned last, as an id comes back.
            let (mut never_polled, mut never_again) = (0, 0);
            for id in 0..6 {
                let is_spawn = |what: &What| matches!(what, What::Spawn { task } if *task == id);
                let spawned = all.iter().rposition(|(_, what)| is_spawn(what));
                let from = spawned.map_or(0, |at| at + 1);
                let last = |is: &dyn Fn(usize) -> bool| (from..all.len()).rfind(|&at| is(at));
                let begun = last(&|at| matches!(all[at].1, What::Begin { task, .. } if task == id));
                let ended = last(&|at| {
                    pairs.iter().any(|&(begin, end)| {
                        end == at && matches!(all[begin].1, What::Begin { task, .. } if task == id)
                    })
                });
                let woken = last(&|at| matches!(all[at].1, What::Wake { task } if task == id));
                let is_over =
                    last(&|at| matches!(all[at].1, What::Terminate { task } if task == id)).is_some();
                let is_polled = begun > ended;
                if is_over || is_polled {
                    continue;
                }
                never_polled += u64::from(spawned.is_some() && begun.is_none());
                never_again += u64::from(begun.is_some() && woken > begun);
            }
            assert_eq!((found.never_polled, found.never_again), (never_polled, never_again), "round {round}");
            assert_eq!(found.spawned, count(|what| matches!(what, What::Spawn { .. })));
            assert_eq!(found.terminated, count(|what| matches!(what, What::Terminate { .. })));

            for of in &found.workers {
                let mine = |at: &(u64, What)| worker_of(&at.1) == Some(of.worker);
                let parks = all
                    .iter()
                    .filter(|at| mine(at) && matches!(at.1, What::Park { .. } | What::Unpark { .. }));
                let parks: Vec<&(u64, What)> = parks.collect();
                let idle = parks
                    .windows(2)
                    .filter(|two| matches!((&two[0].1, &two[1].1), (What::Park { .. }, What::Unpark { .. })));
                assert_eq!(of.idle, idle.map(|two| two[1].0 - two[0].0).sum::<u64>(), "round {round}");
                let length = parks.first().zip(parks.last()).map_or(0, |(first, last)| last.0 - first.0);
                assert_eq!(of.length, length, "round {round}");
            }
        }
    }
}
