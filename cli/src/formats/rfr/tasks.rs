//! The work of a recording's tasks, by its events.

use crate::output::{add, grouped};
use crate::status::Result;
use crate::table::{Table, left, right};
use crate::trace::{Events, aligned};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Item, Track, TrackId, TrackKind};
use traceglass::record::{Class, FieldInfo, Head, Listener, Record, Slot, Step, Text, Wants};

/// The number of the busiest tasks that are shown, unless all are asked for.
const SHOWN: usize = 5;

/// The work of tasks, by their tracks.
#[derive(Default)]
pub struct Tasks {
    by_track: HashMap<TrackId, Task>,
    about: About,
    /// The time of the last record.
    end: i128,
}

/// The facts about a task that its track tells.
#[derive(Default)]
struct About {
    /// The fields that matter, by their slots.
    names: HashMap<Slot, &'static str>,
    iid: Option<u64>,
    task_id: Option<u64>,
    location: Option<String>,
}

impl Listener for About {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        class.fields(&mut |step| {
            if let Step::Field(FieldInfo { slot, name: Some(name), .. }) = step {
                let name = name.to_string();
                let known = ["iid", "task_id", "location"].into_iter().find(|known| *known == name);
                self.names.extend(known.map(|known| (slot, known)));
            }
        });
        Wants::ALL
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        match self.names.get(&slot) {
            Some(&"iid") => self.iid = Some(value),
            Some(&"task_id") => self.task_id = Some(value),
            _ => {}
        }
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        if self.names.get(&slot) == Some(&"location") {
            self.location = Some(value.to_string());
        }
    }
}

#[derive(Default)]
struct Task {
    iid: u64,
    task_id: Option<u64>,
    /// The name, of a task whose object is known.
    name: Option<String>,
    location: Option<String>,
    polls: u64,
    /// In nanoseconds.
    busy: u64,
    longest: u64,
    wakes: u64,
    /// True if its beginning and its end were recorded.
    is_new: bool,
    is_dropped: bool,
    /// The begin of the poll that has not ended.
    open: Option<i128>,
}

impl Events for Tasks {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        match item {
            Item::Track(track) if track.kind() == TrackKind::Task => self.track(track),
            Item::Event(event) => self.event(event),
            _ => {}
        }
        Ok(())
    }

    fn advance(&mut self, _: u64) {}
}

impl Tasks {
    fn track(&mut self, track: &Track<'_>) {
        let mut about = std::mem::take(&mut self.about);
        (about.iid, about.task_id, about.location) = (None, None, None);
        // A field that cannot be read is not known.
        let _ = track.tell(&mut about);
        let task = self.by_track.entry(track.id()).or_default();
        task.iid = about.iid.unwrap_or(task.iid);
        if about.task_id.is_some() {
            task.task_id = about.task_id;
            task.name = Some(track.label().to_string());
        }
        task.location = about.location.take().or(task.location.take());
        self.about = about;
    }

    fn event(&mut self, event: &Event<'_>) {
        let Some(now) = event.time().map(|time| time.ns()) else { return };
        self.end = self.end.max(now);
        // A task's next poll comes of its spawn or a wake.
        if let Some(flow) = event.starts()
            && let Some(task) = self.by_track.get_mut(&flow.track())
        {
            match event.name().as_str() {
                Some("NewTask") => task.is_new = true,
                _ => add(&mut task.wakes, 1),
            }
            return;
        }
        let Some(task) = self.by_track.get_mut(&event.track()) else { return };
        match (event.kind(), event.name().as_str()) {
            (EventKind::Begin, _) => task.open = Some(now),
            // It is not known whether it was polled until then.
            (EventKind::End, _) if event.is_inferred() => task.open = None,
            (EventKind::End, _) => {
                add(&mut task.polls, 1);
                task.end_poll(now);
            }
            (EventKind::Instant, Some("TaskPollEnd")) => add(&mut task.polls, 1),
            (EventKind::Instant, Some("TaskDrop")) => task.is_dropped = true,
            _ => {}
        }
    }

    /// Counts the polls that did not end, up to the end of the recording.
    pub fn finish(&mut self) {
        for task in self.by_track.values_mut().filter(|task| task.open.is_some()) {
            add(&mut task.polls, 1);
            let start = task.open;
            task.end_poll(self.end);
            task.open = start;
        }
    }

    /// The number of tasks that are known, and how many of them began and never ended.
    pub fn counts(&self) -> (u64, u64) {
        let named = self.by_track.values().filter(|task| task.name.is_some()).count() as u64;
        let left = self.by_track.values().filter(|task| task.is_new && !task.is_dropped).count() as u64;
        (named, left)
    }

    /// The tasks, those that are still polled first, then the busiest.
    fn sorted(&self) -> Vec<&Task> {
        let mut tasks: Vec<_> = self.by_track.iter().collect();
        tasks.sort_by_key(|(id, task)| {
            (Reverse((task.open.is_some(), task.busy, task.polls)), task.iid, **id)
        });
        tasks.into_iter().map(|(_, task)| task).collect()
    }

    /// A table: of the busiest, or of all.
    pub fn table(&self, all: bool) -> Option<Table> {
        let mut table = Table::new(&[
            left("task"),
            right("iid"),
            right("polls").spare(2),
            right("busy"),
            right("longest").spare(3),
            right("wakes").spare(4),
            left("state").spare(5),
            left("spawned at").spare(1),
        ]);
        let mut count = 0_usize;
        for task in self.sorted() {
            if !all && (count >= SHOWN || task.polls == 0) {
                break;
            }
            count = count.saturating_add(1);
            let name = task.name.clone().unwrap_or_else(|| format!("#{}", task.iid));
            let ns = |ns: u64| aligned(ns.into());
            table.add(vec![
                name,
                task.iid.to_string(),
                grouped(task.polls),
                ns(task.busy),
                ns(task.longest),
                grouped(task.wakes),
                task.state().to_owned(),
                task.location.clone().unwrap_or_default(),
            ]);
        }
        (count > 0).then_some(table)
    }

    /// The same as JSON, of all.
    pub fn json(&self) -> Value {
        let each = self.sorted().into_iter().map(|task| {
            json!({
                "iid": task.iid, "task_id": task.task_id, "task": task.name, "location": task.location,
                "polls": task.polls, "busy_ns": task.busy, "longest_ns": task.longest,
                "wakes": task.wakes, "state": task.state(),
            })
        });
        each.collect::<Vec<_>>().into()
    }
}

impl Task {
    fn end_poll(&mut self, now: i128) {
        let Some(start) = self.open.take() else { return };
        let length = u64::try_from(now.saturating_sub(start)).unwrap_or(0);
        add(&mut self.busy, length);
        self.longest = self.longest.max(length);
    }

    fn state(&self) -> &'static str {
        match (self.is_dropped, self.open.is_some()) {
            (true, _) => "dropped",
            (_, true) => "polled",
            _ => "alive",
        }
    }
}
