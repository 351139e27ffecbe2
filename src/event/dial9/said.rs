//! The fields of an event that have a meaning.

use crate::dial9::tell::Pools;
use crate::dial9::{Brief, Event, FieldDefs, Plan, PoolsAt};

/// Fields that have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Worker,
    Task,
    Thread,
    SpawnLocation,
    WokenTask,
    TargetWorker,
    Span,
    SpanName,
    TaskOfSpan,
}

/// The names of these fields.
const NAMES: [(&str, Meaning); SAID] = [
    ("worker_id", Meaning::Worker),
    ("task_id", Meaning::Task),
    ("tid", Meaning::Thread),
    ("spawn_loc", Meaning::SpawnLocation),
    ("woken_task_id", Meaning::WokenTask),
    ("target_worker", Meaning::TargetWorker),
    ("span_id", Meaning::Span),
    ("span_name", Meaning::SpanName),
    ("dial9.tokio.task_id", Meaning::TaskOfSpan),
];

const SAID: usize = 9;

/// The number of fields of a class whose meaning is kept.
const PLACES: usize = 16;

/// The meaning of the first fields of a class: the number of a name and 1, or 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    places: [u8; PLACES],
    /// The number of fields up to the last one that has a meaning; none of those after it need be read.
    len: usize,
}

impl Known {
    pub(super) const NONE: Self = Self { places: [0; PLACES], len: 0 };

    /// The meaning of fields by their names; of those with one name the first has it.
    pub(super) fn of(fields: FieldDefs<'_>) -> Self {
        let mut known = Self::NONE;
        for (place, field) in fields.enumerate() {
            let name = (1_u8..).zip(NAMES).find(|(_, (name, _))| *name == field.name());
            let Some((number, _)) = name.filter(|(number, _)| !known.places.contains(number)) else {
                continue;
            };
            if let Some(slot) = known.places.get_mut(place) {
                *slot = number;
            }
            known.len = place.saturating_add(1);
        }
        known
    }
}

/// The values of these fields.
pub(super) struct Said<'a>([Brief<'a>; SAID]);

impl<'a> Said<'a> {
    /// Reads what an event of a class says, of which the plan and the meaning are these.
    #[inline(always)]
    pub(super) fn of(event: &Event<'a>, plan: &Plan, known: &Known) -> Self {
        let mut said = Self([Brief::Other; SAID]);
        event.first_values(plan, known.len, |place, value| {
            let number = known.places.get(place).copied().unwrap_or(0);
            if let Some(slot) = usize::from(number).checked_sub(1).and_then(|at| said.0.get_mut(at)) {
                *slot = value;
            }
        });
        if known.len > PLACES {
            said.look_for_rest(event);
        }
        said
    }

    /// Looks for fields that are so far back by their names.
    #[cold]
    #[inline(never)]
    fn look_for_rest(&mut self, event: &Event<'a>) {
        for ((name, _), slot) in NAMES.iter().zip(&mut self.0) {
            if matches!(slot, Brief::Other) {
                *slot = event.get(name).map_or(Brief::Other, Brief::of);
            }
        }
    }

    #[allow(clippy::as_conversions)] // Of an enum without values.
    #[inline(always)]
    fn value(&self, name: Meaning) -> Brief<'a> {
        self.0.get(name as usize).copied().unwrap_or(Brief::Other)
    }

    #[inline(always)]
    pub(super) fn number(&self, name: Meaning) -> Option<u64> {
        if let Brief::Number(number) = self.value(name) { Some(number) } else { None }
    }

    #[inline(always)]
    pub(super) fn text(&self, name: Meaning, pools: &PoolsAt<'a, '_>) -> Option<&'a [u8]> {
        match self.value(name) {
            Brief::Pooled(id) => pools.string(id),
            Brief::Text(text) => Some(text),
            Brief::Number(_) | Brief::Other => None,
        }
    }
}
