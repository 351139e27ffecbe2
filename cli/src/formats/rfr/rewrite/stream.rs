//! A stream with some of its records, and what these name.

use super::digest::Bytes;
use super::polls::Latest;
use super::writer::Writer;
use crate::input::slice;
use crate::status::Result;
use crate::trace::widen;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use traceglass::rfr::{Parent, RecordKind, StreamData, StreamRecord, Streaming};

/// Numbers by which records name tasks, spans and callsites.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Object(u64),
    Callsite(u64),
}

/// The few ids that a record names.
type Names = [Option<Id>; 3];

fn names(record: &StreamRecord<'_>) -> Names {
    let parent = |parent: Parent| parent.explicit().map(Id::Object);
    match record.data() {
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
    }
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

/// A record that is kept only if something else names it.
struct Definition {
    part: Range<u64>,
    names: Names,
    /// The time does not fit: it is carried as it is.
    is_late: bool,
}

/// The lower bits of an id that tell where it is if it was named of late: most records name few.
const RECENT: u64 = 0x3ff;

/// The polls of a task, and what the latest start names.
type Poll = (Latest<Range<u64>>, Names);

/// A stream that was read once: where its records lie that may be kept.
struct Survey {
    /// The parts that are kept, in the order in which it was found: parts with one record or more.
    parts: Vec<Range<u64>>,
    named: HashSet<Id, RandomState>,
    recent: Vec<Option<Id>>,
    definitions: HashMap<Id, Vec<Definition>, RandomState>,
    /// Ends of what has a number, before the range.
    ends: Vec<(Id, Range<u64>)>,
    /// By their tasks, the polls before the range.
    polls: HashMap<u64, Poll, RandomState>,
}

impl Survey {
    fn new() -> Self {
        Self {
            parts: Vec::new(),
            named: HashSet::default(),
            recent: vec![None; 0x400],
            definitions: HashMap::default(),
            ends: Vec::new(),
            polls: HashMap::default(),
        }
    }

    /// Adds a record that is kept.
    #[inline]
    fn keep(&mut self, part: Range<u64>) {
        match self.parts.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => self.parts.push(part),
        }
    }

    #[inline]
    fn name(&mut self, names: Names) {
        for id in names.into_iter().flatten() {
            let (Id::Object(number) | Id::Callsite(number)) = id;
            let place = usize::try_from(number & RECENT).ok();
            let Some(recent) = place.and_then(|place| self.recent.get_mut(place)) else { continue };
            if *recent != Some(id) {
                *recent = Some(id);
                self.named.insert(id);
            }
        }
    }

    /// Notes what happened to a task before the range.
    fn before(
        &mut self,
        kind: RecordKind,
        iid: u64,
        micros: u64,
        part: Range<u64>,
        names: impl FnOnce() -> Names,
    ) {
        match kind {
            RecordKind::TaskPollStart | RecordKind::TaskPollEnd => {
                let (latest, about) = self.polls.entry(iid).or_default();
                if latest.note(kind, micros, part) {
                    *about = names();
                }
            }
            // Its number may be used again.
            kind if kind.is_end_of_life() => self.ends.push((Id::Object(iid), part)),
            _ => {}
        }
    }

    /// All ids that are named, also by what says something of another one.
    fn follow_names(&mut self) -> Vec<Definition> {
        let mut found = Vec::new();
        let mut todo: Vec<Id> = self.named.iter().copied().collect();
        while let Some(id) = todo.pop() {
            let definitions = self.definitions.remove(&id).unwrap_or_default();
            for next in definitions.iter().flat_map(|definition| definition.names).flatten() {
                if self.named.insert(next) {
                    todo.push(next);
                }
            }
            found.extend(definitions);
        }
        found
    }
}

impl Writer<'_> {
    /// Writes a stream. What cannot be read is told, and what follows it is kept where its end is known.
    pub fn stream(&mut self, stream: &Streaming<'_>, data: &[u8], path: Option<&Path>) -> Result<()> {
        let (from, is_everything) = (self.range.start(), self.range.is_everything());
        let mut records = stream.records();
        let front = records.offset();
        let mut survey = Survey::new();
        let (mut kept, mut all, mut span, mut is_whole) = (0_u64, 0_u64, None, true);
        let mut meet = |micros| widen(&mut span, micros, micros);
        loop {
            let at = records.offset();
            if let Some(record) = records.take_plain() {
                all = all.saturating_add(1);
                let (part, micros) = (at..records.offset(), record.unix_micros());
                let names = [Some(Id::Object(record.iid())), record.context().map(Id::Object), None];
                if self.range.wants(Some(micros)) {
                    kept = kept.saturating_add(1);
                    meet(micros);
                    survey.keep(part);
                    if !is_everything {
                        survey.name(names);
                    }
                } else if from.is_some_and(|from| micros < from) {
                    survey.before(record.kind(), record.iid(), micros, part, || names);
                }
                continue;
            }
            match records.next_record() {
                Ok(Some(record)) => {
                    all = all.saturating_add(1);
                    let part = at..records.offset();
                    let micros = record.unix_micros().ok();
                    let is_wanted = self.range.wants(micros);
                    if is_wanted || record.data() == StreamData::End {
                        kept = kept.saturating_add(1);
                        self.done.carried = self.done.carried.saturating_add(u64::from(micros.is_none()));
                        micros.into_iter().for_each(&mut meet);
                        survey.keep(part.clone());
                    }
                    if is_everything {
                        continue;
                    }
                    if is_wanted {
                        survey.name(names(&record));
                    }
                    if let Some(id) = defines(&record) {
                        // One that is kept in any case leads to what it names as soon as it is named itself.
                        let part = if is_wanted { at..at } else { part };
                        let definition =
                            Definition { part, names: names(&record), is_late: micros.is_none() };
                        survey.definitions.entry(id).or_default().push(definition);
                    } else if let (StreamData::Record(data), Some(micros)) = (record.data(), micros)
                        && let (Some(iid), true) = (data.iid(), from.is_some_and(|from| micros < from))
                    {
                        survey.before(data.kind(), iid, micros, part, || names(&record));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    is_whole = false;
                    let gap = records.recover();
                    let len = gap.map_or((data.len() as u64).saturating_sub(at), |gap| gap.len());
                    self.done.lose(path, at, len, error);
                    if gap.is_none() {
                        break;
                    }
                }
            }
        }
        let polls = std::mem::take(&mut survey.polls);
        for (latest, about) in polls.into_values() {
            if let Some((micros, part)) = latest.open() {
                kept = kept.saturating_add(1);
                meet(micros);
                survey.name(about);
                survey.parts.push(part);
            }
        }
        let definitions = survey.follow_names();
        for Definition { part, is_late, .. } in definitions.into_iter().filter(|found| !found.part.is_empty())
        {
            kept = kept.saturating_add(1);
            self.done.carried = self.done.carried.saturating_add(u64::from(is_late));
            survey.parts.push(part);
        }
        for (id, part) in survey.ends {
            if survey.named.contains(&id) {
                kept = kept.saturating_add(1);
                survey.parts.push(part);
            }
        }
        survey.parts.sort_unstable_by_key(|part| part.start);
        self.items = self.items.saturating_add(kept);
        self.done.kept = self.done.kept.saturating_add(kept);
        self.done.dropped = self.done.dropped.saturating_add(all.saturating_sub(kept));
        if let Some((first, last)) = span {
            let ns = |micros: u64| i128::from(micros).saturating_mul(1000);
            self.done.meet(ns(first), ns(last));
        }
        self.begin(path)?;
        self.to.put(slice(data, 0, front))?;
        let mut bytes = Bytes::of(data);
        for part in survey.parts {
            bytes.add(part.start, part.end);
            self.to.put(slice(data, part.start, part.end))?;
        }
        if !is_whole || kept < all {
            self.anew(path, bytes);
        }
        Ok(())
    }
}
