//! Spans that one event tells of: when they begin; and what is known of the classes of events.

use super::counters::Counters;
use super::lasts::Lasts;
use super::said::Known;
use crate::dial9::Key;

/// The moment at which a span begins that one event tells of, when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    time: u64,
    at: usize,
    batch: u32,
    /// The slot of the track that the span is on, and 1, once it is known.
    placed: u32,
}

impl Moment {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { time: 0, at: 0, batch: 0, placed: 0 };

    /// The moment at which a span begins whose event stands there.
    pub(super) const fn new((time, batch, at): Key) -> Self {
        Self { time, at, batch, placed: 0 }
    }

    /// The place in the order of events; before that of the event if it is at the same time.
    pub(super) const fn key(self) -> Key {
        (self.time, self.batch, self.at)
    }

    /// Notes the slot of the track.
    pub(super) fn place(&mut self, track: usize) {
        self.placed = u32::try_from(track).unwrap_or(u32::MAX).saturating_add(1);
    }

    /// The slot of the track that was noted.
    pub(super) const fn placed(&self) -> Option<u32> {
        self.placed.checked_sub(1)
    }
}

default_is_empty!(Moment);

/// A class of events: what schemas with the same name and fields are in all batches of an input.
#[derive(Clone, Copy, Debug)]
pub struct KindSlot<'a> {
    pub(super) role: Role,
    /// The name of the schema.
    pub(super) name: &'a str,
    pub(super) counters: Counters,
    pub(super) lasts: Lasts,
    pub(super) known: Known,
    /// A track of the class on which nothing is open.
    pub(super) free: Option<usize>,
}

impl KindSlot<'_> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self {
        role: Role::Other,
        name: "",
        counters: Counters::NONE,
        lasts: Lasts::NONE,
        known: Known::NONE,
        free: None,
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
