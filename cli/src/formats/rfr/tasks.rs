//! What the tasks of a recording did.

use super::names::{Names, aligned};
use crate::output::{add, grouped};
use crate::table::{Table, left, right};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use traceglass::rfr::{Callsite, Object, RecordData};

/// How many of the busiest tasks are shown, unless all are asked for.
const SHOWN: usize = 5;

/// What tasks did.
///
/// Instrumentation ids recur: a task is known by its own and by what the runtime calls it.
#[derive(Default)]
pub struct Tasks {
    by_id: HashMap<(u64, Option<u64>), Task>,
    /// Which task an instrumentation id is of, in this chunk or at this place of a stream.
    now: HashMap<u64, u64>,
    /// Polls that have begun, by sequence and task.
    open: HashMap<(u64, u64), u64>,
    names: Names,
}

#[derive(Default, Clone)]
struct Task {
    polls: u64,
    busy: u64,
    longest: u64,
    wakes: u64,
    /// Whether its beginning and its end were recorded.
    is_new: bool,
    is_dropped: bool,
    /// Its name and its place, of a task whose object is known.
    named: Option<(String, String)>,
}

impl Tasks {
    pub fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    /// Another chunk begins.
    pub fn enter(&mut self) {
        self.now.clear();
    }

    pub fn callsite(&mut self, callsite: &Callsite<'_>) {
        self.names.add_callsite(callsite);
    }

    pub fn object(&mut self, object: &Object<'_>) {
        let Object::Task(task) = object else { return };
        self.now.insert(task.iid(), task.task_id());
        let known = self.by_id.entry((task.iid(), Some(task.task_id()))).or_default();
        if known.named.is_none() {
            self.names.add_object(object);
            let place = self.names.place_of(task.iid()).to_owned();
            known.named = Some((self.names.object(task.iid()), place));
            self.names.forget(task.iid());
        }
    }

    pub fn record(&mut self, seq_id: u64, micros: u64, data: &RecordData<'_>) {
        match *data {
            RecordData::NewTask { iid } => self.task(iid).is_new = true,
            RecordData::TaskDrop { iid } => self.task(iid).is_dropped = true,
            RecordData::TaskPollStart { iid } => drop(self.open.insert((seq_id, iid), micros)),
            RecordData::TaskPollEnd { iid } => {
                let start = self.open.remove(&(seq_id, iid)).unwrap_or(micros);
                let length = micros.saturating_sub(start);
                let task = self.task(iid);
                add(&mut task.polls, 1);
                add(&mut task.busy, length);
                task.longest = task.longest.max(length);
            }
            RecordData::WakerWake(waker) | RecordData::WakerWakeByRef(waker) => {
                add(&mut self.task(waker.task_iid()).wakes, 1);
            }
            _ => {}
        }
    }

    fn task(&mut self, iid: u64) -> &mut Task {
        self.by_id.entry((iid, self.now.get(&iid).copied())).or_default()
    }

    /// Forgets an id: the task that has it from now on is another one.
    pub fn forget(&mut self, iid: u64) {
        self.now.remove(&iid);
    }

    /// How many tasks are known, and how many of them began and never ended.
    pub fn counts(&self) -> (u64, u64) {
        let named = self.by_id.values().filter(|task| task.named.is_some()).count() as u64;
        let left = self.by_id.values().filter(|task| task.is_new && !task.is_dropped).count() as u64;
        (named, left)
    }

    /// The busiest first.
    fn sorted(&self) -> Vec<(&(u64, Option<u64>), &Task)> {
        let mut tasks: Vec<_> = self.by_id.iter().collect();
        tasks.sort_by_key(|(id, task)| (std::cmp::Reverse((task.busy, task.polls)), **id));
        tasks
    }

    /// A table: of the busiest, or of all.
    pub fn table(&self, all: bool) -> Option<Table> {
        let mut table = Table::new(&[
            left("task"),
            right("polls"),
            right("busy"),
            right("longest").spare(1),
            right("wakes").spare(2),
            left("state").spare(3),
            left("spawned at").spare(4),
        ]);
        let (mut count, polled) = (0_usize, self.polled());
        for ((iid, _), task) in self.sorted() {
            if !all && (count >= SHOWN || task.polls == 0) {
                break;
            }
            count = count.saturating_add(1);
            let (name, place) = match &task.named {
                Some((name, place)) => (name.clone(), place.clone()),
                None => (format!("#{iid}"), String::new()),
            };
            let cells =
                [name, grouped(task.polls), aligned(task.busy), aligned(task.longest), grouped(task.wakes)];
            let state = task.state(polled.contains(iid)).to_owned();
            table.add(cells.into_iter().chain([state, place]).collect());
        }
        (count > 0).then_some(table)
    }

    /// The tasks of which a poll has begun and not ended.
    fn polled(&self) -> HashSet<u64> {
        self.open.keys().map(|&(_, iid)| iid).collect()
    }

    /// The same as JSON, of all.
    pub fn json(&self) -> Value {
        let polled = self.polled();
        let each = self.sorted().into_iter().map(|(&(iid, task_id), task)| {
            let (name, place) = task.named.as_ref().map(|(name, place)| (name, place)).unzip();
            json!({
                "iid": iid, "task_id": task_id, "task": name, "location": place, "polls": task.polls,
                "busy_ns": task.busy.saturating_mul(1000), "longest_ns": task.longest.saturating_mul(1000),
                "wakes": task.wakes, "state": task.state(polled.contains(&iid)),
            })
        });
        each.collect::<Vec<_>>().into()
    }
}

impl Task {
    fn state(&self, is_polled: bool) -> &'static str {
        match (self.is_dropped, is_polled) {
            (true, _) => "dropped",
            (_, true) => "polled",
            _ => "alive",
        }
    }
}
