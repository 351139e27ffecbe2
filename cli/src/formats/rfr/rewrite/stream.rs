//! A stream with some of its records, and what these name.

use super::digest::Bytes;
use super::{Runs, Writer};
use crate::status::Result;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use traceglass::rfr::{Parent, StreamData, StreamRecord, Streaming};

/// Numbers by which records name tasks, spans and callsites.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Object(u64),
    Callsite(u64),
}

/// The few ids that a record names.
fn names(record: &StreamRecord<'_>) -> impl Iterator<Item = Id> {
    let parent = |parent: Parent| parent.explicit().map(Id::Object);
    let names = match record.data() {
        StreamData::Span(span) => [Some(Id::Callsite(span.callsite_id())), parent(span.parent()), None],
        StreamData::Task(task) => {
            [Some(Id::Callsite(task.callsite_id())), task.context().map(Id::Object), None]
        }
        StreamData::Record(data) => {
            let event = data.event();
            let context = data.waker().and_then(|waker| waker.context());
            [
                data.iid().map(Id::Object),
                context.map(Id::Object).or(event.map(|event| Id::Callsite(event.callsite_id()))),
                event.and_then(|event| parent(event.parent())),
            ]
        }
        _ => [None; 3],
    };
    names.into_iter().flatten()
}

/// The number that a record says something of.
fn defines(record: &StreamRecord<'_>) -> Option<Id> {
    match record.data() {
        StreamData::Callsite(callsite) => Some(Id::Callsite(callsite.id())),
        StreamData::Span(span) => Some(Id::Object(span.iid())),
        StreamData::Task(task) => Some(Id::Object(task.iid())),
        _ => None,
    }
}

impl Writer<'_> {
    /// Writes a stream. What cannot be read is told, and what follows it is kept where its end is known.
    pub fn stream(&mut self, stream: &Streaming<'_>, data: &[u8], path: Option<&Path>) -> Result<()> {
        let named = if self.range.is_everything() { HashSet::new() } else { self.named(stream, path) };
        self.begin(path)?;
        let mut records = stream.records();
        let mut runs = Runs { data, start: 0 };
        let mut bytes = Bytes::of(data);
        let mut is_whole = true;
        loop {
            let at = records.offset();
            match records.next_record() {
                Ok(Some(record)) => {
                    let is_named = defines(&record).is_some_and(|id| named.contains(&id));
                    let is_named = is_named || self.ends(&record, &named);
                    let is_end = record.data() == StreamData::End;
                    let micros = record.unix_micros();
                    if is_named || is_end || self.is_wanted(&record, path) {
                        self.items = self.items.saturating_add(1);
                        bytes.add(at, records.offset());
                        self.done.kept = self.done.kept.saturating_add(1);
                        self.done.carried = self.done.carried.saturating_add(u64::from(micros.is_err()));
                        if let (Ok(micros), false) = (micros, is_named) {
                            let ns = i128::from(micros).saturating_mul(1000);
                            self.done.meet(ns, ns);
                        }
                    } else {
                        self.done.dropped = self.done.dropped.saturating_add(1);
                        is_whole = false;
                        runs.skip(at, records.offset(), self.to)?;
                    }
                }
                Ok(None) => {
                    if !is_whole {
                        self.anew(path, bytes);
                    }
                    return runs.end(at, self.to);
                }
                Err(error) => {
                    is_whole = false;
                    let gap = records.recover();
                    let len = gap.map_or((data.len() as u64).saturating_sub(at), |gap| gap.len());
                    self.done.lose(path, at, len, error);
                    runs.skip(at, records.offset(), self.to)?;
                    if gap.is_none() {
                        self.anew(path, bytes);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// True if it is the end of something that is named, before the range: its number may be used again.
    fn ends(&self, record: &StreamRecord<'_>, named: &HashSet<Id>) -> bool {
        let StreamData::Record(data) = record.data() else { return false };
        let is_before = |micros| self.range.start().is_some_and(|from| micros < from);
        data.kind().is_end_of_life()
            && data.iid().is_some_and(|iid| named.contains(&Id::Object(iid)))
            && record.unix_micros().is_ok_and(is_before)
    }

    fn is_wanted(&self, record: &StreamRecord<'_>, path: Option<&Path>) -> bool {
        self.range.wants(record.unix_micros().ok()) || self.polls.has(path, record.offset())
    }

    /// The ids that the wanted records name, and the ids that those name in turn.
    fn named(&self, stream: &Streaming<'_>, path: Option<&Path>) -> HashSet<Id> {
        let mut named: HashSet<Id> = HashSet::new();
        let mut definitions: HashMap<Id, Vec<Id>> = HashMap::new();
        let mut records = stream.records();
        loop {
            match records.next_record() {
                Ok(Some(record)) => {
                    if let Some(id) = defines(&record) {
                        definitions.entry(id).or_default().extend(names(&record));
                    }
                    if self.is_wanted(&record, path) {
                        named.extend(names(&record));
                    }
                }
                Ok(None) => break,
                Err(_) if records.recover().is_some() => {}
                Err(_) => break,
            }
        }
        let mut todo: Vec<Id> = named.iter().copied().collect();
        while let Some(id) = todo.pop() {
            for next in definitions.remove(&id).unwrap_or_default() {
                if named.insert(next) {
                    todo.push(next);
                }
            }
        }
        named
    }
}
