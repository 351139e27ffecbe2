//! Tasks and spans that are named: in sequences that are taken apart, no others stay.

use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use traceglass::rfr::{Object, Parent, Record};

/// An object of a sequence: where it lies, its number, and that of the object it names.
pub struct Named {
    pub part: Range<u64>,
    pub iid: u64,
    names: Option<u64>,
}

impl Named {
    /// An object that lies there.
    pub fn of(object: &Object<'_>, part: Range<u64>) -> Self {
        let names = match object {
            Object::Task(task) => task.context(),
            Object::Span(span) => span.parent().explicit(),
            _ => None,
        };
        Self { part, iid: object.iid(), names }
    }
}

/// The numbers of tasks and spans that are named.
#[derive(Default)]
pub struct Names(HashSet<u64, RandomState>);

impl Names {
    /// Adds a number.
    pub fn add(&mut self, iid: u64) {
        self.0.insert(iid);
    }

    /// Adds the numbers that a record names.
    pub fn add_record(&mut self, record: &Record<'_>) {
        let parent = record.event().map(|event| event.parent()).and_then(Parent::explicit);
        self.0.extend([record.iid(), record.context(), parent].into_iter().flatten());
    }

    /// Adds all of others.
    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Adds what named objects name themselves.
    pub fn follow<'o>(&mut self, objects: impl Iterator<Item = &'o Named>) {
        let mut names: HashMap<u64, Vec<u64>, RandomState> = HashMap::default();
        for object in objects {
            names.entry(object.iid).or_default().extend(object.names);
        }
        let mut todo: Vec<u64> = self.0.iter().copied().collect();
        while let Some(iid) = todo.pop() {
            let next = names.remove(&iid).unwrap_or_default();
            todo.extend(next.into_iter().filter(|iid| self.0.insert(*iid)));
        }
    }

    /// True if this number is among them.
    pub fn has(&self, iid: u64) -> bool {
        self.0.contains(&iid)
    }
}
