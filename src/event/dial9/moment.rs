//! The part of each event that is kept, so that all can be put in order of time.

use super::counters::Counters;
use super::lasts::Lasts;
use super::said::Known;
use crate::dial9::Stack;
use crate::dial9::tell::Pools;
use crate::dial9::{Event, Plan, Schema, Value};

/// An event: when it was, where it stands, of which schema it is and in which batch.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub(super) time: u64,
    pub(super) at: usize,
    pub(super) batch: u32,
    pub(super) kind: u32,
}

impl Moment {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { time: 0, at: 0, batch: 0, kind: 0 };
}

default_is_empty!(Moment);

/// Set in the kind of a moment at which a span of one event begins: there is another one at which it ends.
const BEGINS: u32 = 1 << 31;

/// Set in the kind of such a moment once the rest of it is the slot of the track that the span is on.
const PLACED: u32 = 1 << 30;

impl Moment {
    /// The moment at which a span begins that ends at this one.
    pub(super) const fn begin(self, time: u64) -> Self {
        Self { time, kind: self.kind | BEGINS, ..self }
    }

    /// True if a span of one event begins.
    pub(super) const fn begins(&self) -> bool {
        self.kind & BEGINS != 0
    }

    /// The class of the event.
    pub(super) const fn class(&self) -> u32 {
        self.kind & !BEGINS
    }

    /// Puts the slot of a track in place of the class.
    pub(super) fn place(&mut self, track: usize) {
        self.kind = BEGINS | PLACED | u32::try_from(track).unwrap_or(0);
    }

    /// The slot of the track that was put there.
    pub(super) const fn placed(&self) -> Option<u32> {
        if self.kind & PLACED != 0 { Some(self.kind & !(BEGINS | PLACED)) } else { None }
    }

    /// The order of moments: what begins and ends at one time begins first.
    pub(super) const fn key(self) -> (u64, u32, usize, bool) {
        (self.time, self.batch, self.at, !self.begins())
    }
}

/// An entry of a pool: whose it is, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolPlace {
    pub(super) batch: u32,
    pub(super) is_stack: bool,
    pub(super) id: u32,
    pub(super) at: usize,
}

impl PoolPlace {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { batch: 0, is_stack: false, id: 0, at: 0 };
}

default_is_empty!(PoolPlace);

/// An input, and the number of its first batch among those of all inputs.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub(super) number: usize,
    pub(super) data: &'a [u8],
    pub(super) first_batch: u32,
}

impl Input<'_> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { number: 0, data: &[], first_batch: 0 };
}

default_is_empty!(Input<'_>);

/// A class of events: what schemas with the same name and fields are in all batches of an input.
#[derive(Clone, Copy, Debug)]
pub struct KindSlot<'a> {
    pub(super) role: Role,
    pub(super) schema: Schema<'a>,
    /// The name of the schema.
    pub(super) name: &'a str,
    pub(super) plan: Plan,
    pub(super) counters: Counters,
    pub(super) lasts: Lasts,
    pub(super) known: Known,
    /// A track of the class on which nothing is open.
    pub(super) free: Option<usize>,
    /// The number of fields the classes before it have.
    pub(super) fields_before: u32,
}

impl KindSlot<'_> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self {
        role: Role::Other,
        schema: Schema::EMPTY,
        name: "",
        plan: Plan::EMPTY,
        counters: Counters::NONE,
        lasts: Lasts::NONE,
        known: Known::NONE,
        free: None,
        fields_before: 0,
    };
}

default_is_empty!(KindSlot<'_>);

/// The role of a class's events on the time line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    PollStart,
    PollEnd,
    Park,
    Unpark,
    Wake,
    Spawn,
    Terminate,
    Metrics,
    Sample,
    Dump,
    /// A name of an address: of no time.
    Symbol,
    /// Of a span: there are classes for each place in the source.
    SpanEnter,
    SpanExit,
    Other,
}

/// The roles of schemas by their names.
const ROLES: [(&str, Role); 12] = [
    ("PollStartEvent", Role::PollStart),
    ("PollEndEvent", Role::PollEnd),
    ("WorkerParkEvent", Role::Park),
    ("WorkerUnparkEvent", Role::Unpark),
    ("WakeEventEvent", Role::Wake),
    ("TaskSpawnEvent", Role::Spawn),
    ("TaskTerminateEvent", Role::Terminate),
    ("RuntimeMetricsEvent", Role::Metrics),
    ("QueueSampleEvent", Role::Metrics),
    ("CpuSampleEvent", Role::Sample),
    ("TaskDumpEvent", Role::Dump),
    ("SymbolTableEntry", Role::Symbol),
];

impl Role {
    pub(super) fn of(name: &str) -> Self {
        let role = ROLES.iter().find(|(of, _)| *of == name).map(|(_, role)| *role);
        role.unwrap_or(match name.split_once(':') {
            Some(("SpanEnter", _)) => Self::SpanEnter,
            Some(("SpanExit", _)) => Self::SpanExit,
            _ => Self::Other,
        })
    }
}

/// The pools as an event sees them: of entries with its id, the last one that stands before it.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) struct PoolsAt<'a, 't> {
    pub(super) data: &'a [u8],
    pub(super) pools: &'t [PoolPlace],
    pub(super) batch: u32,
    pub(super) before: usize,
}

impl<'a> PoolsAt<'a, '_> {
    /// Pooled text, with its length in front.
    fn string_entry(&self, id: u32) -> Option<&'a [u8]> {
        let at = self.find(false, id)?;
        let (_, end) = crate::dial9::text_at(self.data, at)?;
        self.data.get(at..end)
    }

    /// The name of the runtime that an event is about, with its length in front: no such name is the beginning of
    /// another.
    pub(super) fn runtime_of(&self, event: &Event<'a>) -> &'a [u8] {
        let entry = match event.get("runtime_name") {
            Some(Value::PooledString(id)) => self.string_entry(id),
            _ => None,
        };
        entry.unwrap_or(&[0; 4])
    }

    /// Where the entry's length stands.
    fn find(&self, is_stack: bool, id: u32) -> Option<usize> {
        let wanted = PoolPlace { batch: self.batch, is_stack, id, at: self.before };
        let next = self.pools.partition_point(|place| *place < wanted);
        let found = self.pools.get(next.checked_sub(1)?)?;
        let is_it = (found.batch, found.is_stack, found.id) == (self.batch, is_stack, id);
        is_it.then_some(found.at)
    }
}

impl<'a> Pools<'a> for PoolsAt<'a, '_> {
    fn string(&self, id: u32) -> Option<&'a [u8]> {
        crate::dial9::text_at(self.data, self.find(false, id)?).map(|(text, _)| text)
    }

    fn stack(&self, id: u32) -> Option<Stack<'a>> {
        crate::dial9::stack_at(self.data, self.find(true, id)?).map(|(stack, _)| stack)
    }
}
