//! Events: what happened.

use super::data::{Data, OtherData};
use super::label::Label;
use super::states::Slice;
use super::time::Time;
use super::track::TrackId;
use crate::gap::Gap;
use crate::record::AnyRecord;

/// Something that happened on a track.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    pub(super) input: usize,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) time: Option<Time>,
    pub(super) track: TrackId,
    pub(super) kind: EventKind,
    pub(super) name: Label<'a>,
    pub(super) starts: Option<FlowId>,
    pub(super) ends: Flows,
    pub(super) inferred: bool,
    pub(super) data: Data<'a>,
}

impl<'a> Event<'a> {
    /// An event whose time is not known, at the start of the first input.
    pub const fn new(track: TrackId, kind: EventKind, name: Label<'a>) -> Self {
        Self {
            input: 0,
            offset: 0,
            len: 0,
            time: None,
            track,
            kind,
            name,
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::None,
        }
    }

    /// The same event, at this time.
    #[must_use]
    pub const fn with_time(mut self, time: Time) -> Self {
        self.time = Some(time);
        self
    }

    /// The same event, of these bytes: the number of its input, the offset of its first byte there, how many it spans.
    #[must_use]
    pub const fn with_place(mut self, input: usize, offset: u64, len: u64) -> Self {
        (self.input, self.offset, self.len) = (input, offset, len);
        self
    }

    /// The same event, which starts a flow.
    #[must_use]
    pub const fn with_start(mut self, flow: FlowId) -> Self {
        self.starts = Some(flow);
        self
    }

    /// The same event, at which flows end.
    #[must_use]
    pub const fn with_ends(mut self, flows: Flows) -> Self {
        self.ends = flows;
        self
    }

    /// The same event, [inferred](Self::is_inferred) from another record.
    #[must_use]
    pub const fn into_inferred(mut self) -> Self {
        self.inferred = true;
        self
    }

    /// The same event, made of a record, which it tells.
    #[must_use]
    pub const fn with_record(mut self, record: &'a (dyn AnyRecord + Sync)) -> Self {
        self.data = Data::Other(OtherData(record));
        self
    }

    /// An event of nothing, for what is known without one.
    pub(super) const fn nothing() -> Self {
        Self::new(TrackId::new(0), EventKind::Instant, Label::Text("")).into_inferred()
    }

    /// The event of a gap, at the place where reading met it.
    pub(super) const fn gap(input: usize, time: Option<Time>, track: TrackId, gap: Gap) -> Self {
        let name = Label::Text(gap.cause().element().name());
        let mut event =
            Self::new(track, EventKind::Gap(gap), name).with_place(input, gap.offset(), gap.len());
        event.time = time;
        event
    }

    /// The number of its input: the one given when that was added.
    #[inline]
    pub const fn input(&self) -> usize {
        self.input
    }

    /// Offset in that input of its first byte.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes it spans in the input, including other events in between; 0 if it has no bytes of its own,
    /// like one that is [inferred](Self::is_inferred).
    #[allow(clippy::len_without_is_empty)]
    #[inline]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Offset in the input after its last byte.
    pub const fn end_offset(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// The time, if that is known.
    #[inline]
    pub const fn time(&self) -> Option<Time> {
        self.time
    }

    /// The track on which it happened.
    #[inline]
    pub const fn track(&self) -> TrackId {
        self.track
    }

    /// The kind of the event.
    #[inline]
    pub const fn kind(&self) -> EventKind {
        self.kind
    }

    /// The name.
    #[inline]
    pub const fn name(&self) -> Label<'a> {
        self.name
    }

    /// The flow that begins with it. It [ends](Self::ends) at the event that this one causes.
    #[inline]
    pub const fn starts(&self) -> Option<FlowId> {
        self.starts
    }

    /// The flows that end with it: what caused it.
    #[inline]
    pub const fn ends(&self) -> Flows {
        self.ends
    }

    /// The facts about it as one end of a slice that was found by a table of states.
    pub const fn slice(&self) -> Option<Slice<'a>> {
        match self.data {
            Data::State(data) => Some(Slice(data)),
            _ => None,
        }
    }

    /// True if it was inferred from another record: the end of a slice that was not recorded.
    #[inline]
    pub const fn is_inferred(&self) -> bool {
        self.inferred
    }
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// Something happened.
    Instant,
    /// A slice begins. Slices of a track are nested.
    Begin,
    /// The slice that began last on the track ends.
    End,
    /// The track has this value from now on.
    Counter(Number),
    /// A range of the input cannot be read.
    Gap(Gap),
    /// The recorder discarded events before this one.
    Discarded {
        /// The number of them, if the recorder knew it.
        count: Option<u64>,
    },
}

impl EventKind {
    /// The name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Counter(_) => "counter",
            Self::Gap(_) => "gap",
            Self::Discarded { .. } => "discarded",
        }
    }

    /// True if events are lost: a range of the input cannot be read, or the recorder discarded some.
    pub const fn is_loss(self) -> bool {
        matches!(self, Self::Gap(_) | Self::Discarded { .. })
    }
}

/// A number of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
}

/// An arrow from what causes to what is caused: a wake or a spawn, and the poll that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowId {
    track: TrackId,
    number: u64,
}

impl FlowId {
    /// A flow to a track, by its number there.
    pub const fn new(track: TrackId, number: u64) -> Self {
        Self { track, number }
    }

    /// The track of what is caused.
    pub const fn track(self) -> TrackId {
        self.track
    }

    /// The number among the flows to this track, from 0.
    pub const fn number(self) -> u64 {
        self.number
    }
}

/// Consecutive flows to one track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flows {
    track: TrackId,
    next: u64,
    end: u64,
}

impl Flows {
    /// No flows.
    pub const NONE: Self = Self { track: TrackId::new(0), next: 0, end: 0 };

    /// The flows from one number up to another, which is not included.
    pub const fn new(track: TrackId, next: u64, end: u64) -> Self {
        Self { track, next, end }
    }

    /// The number of flows.
    pub const fn count(&self) -> u64 {
        self.end.saturating_sub(self.next)
    }
}

impl Iterator for Flows {
    type Item = FlowId;

    fn next(&mut self) -> Option<FlowId> {
        let number = self.next;
        if number >= self.end {
            return None;
        }
        self.next = number.saturating_add(1);
        Some(FlowId { track: self.track, number })
    }
}

impl core::iter::FusedIterator for Flows {}
