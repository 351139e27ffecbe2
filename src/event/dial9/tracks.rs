//! The tracks of a trace, found by what they are of.

use crate::bytes::to_usize;
use crate::dial9::tree::{Key as _, Links, Node, Root};
use crate::event::track::TrackId;

/// The owner of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of<'a> {
    Worker(u64),
    Task(u64),
    /// A thread of the system, which may be a worker's.
    Thread(u64),
    /// Events of a class that have no place of their own.
    Kind(u32),
    /// A runtime, by the length and the text of its name.
    Runtime(&'a [u8]),
    /// The spans of a task.
    TaskSpans(u64),
    /// A span that no task was in.
    Span(u64),
    /// A span, as it is entered and left: no track.
    Entered(u64),
    /// Of the slices of a class, one on which no other is open: the class, and its number.
    Lane(u32, u32),
    /// A number: the slot of the runtime or of the class that has it, and its place there.
    Counter(u32, u16),
}

/// A track.
#[derive(Clone, Copy, Debug)]
pub struct TrackSlot<'a> {
    links: Links,
    pub(super) of: Of<'a>,
    /// True if it was announced.
    pub(super) told: bool,
    /// The slice that began and did not end.
    pub(super) open: Opened,
    /// The number of flows that lead here, and of those that have ended.
    pub(super) flows: u64,
    pub(super) ended: u64,
    /// Of a thread, the slot of the worker that it is.
    pub(super) worker: Option<usize>,
    /// Of a track of spans, the slot of the one that was entered last; of a span, of the one around it; of a track of a
    /// class, the next one on which nothing is open.
    pub(super) inner: Option<usize>,
    /// Of a span that was entered, the slot of its track.
    pub(super) of_lane: Option<usize>,
}

/// The kinds of slices that begin on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    Nothing,
    Poll,
    Park,
    Life,
    Span,
}

impl<'a> TrackSlot<'a> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self::new(Of::Worker(0));

    pub(super) const fn new(of: Of<'a>) -> Self {
        let (links, open) = (Links::EMPTY, Opened::Nothing);
        let told = false;
        Self { links, of, told, open, flows: 0, ended: 0, worker: None, inner: None, of_lane: None }
    }
}

default_is_empty!(TrackSlot<'_>);

impl Node for TrackSlot<'_> {
    fn links(&self) -> &Links {
        &self.links
    }
    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl Of<'_> {
    /// The number to look for; `None` if it is looked for by its text.
    fn number(self) -> Option<u128> {
        let tagged = |tag: u128, id: u64| tag.wrapping_shl(64) | u128::from(id);
        Some(match self {
            Self::Worker(id) => tagged(1, id),
            Self::Task(id) => tagged(2, id),
            Self::Thread(id) => tagged(3, id),
            Self::Kind(id) => tagged(4, id.into()),
            Self::TaskSpans(id) => tagged(6, id),
            Self::Span(id) => tagged(7, id),
            Self::Entered(id) => tagged(8, id),
            Self::Lane(kind, number) => tagged(9, u64::from(kind).wrapping_shl(32) | u64::from(number)),
            Self::Counter(slot, place) => tagged(5, u64::from(slot).wrapping_shl(16) | u64::from(place)),
            Self::Runtime(_) => return None,
        })
    }
}

/// The number of tracks of which it is noted where they were found last.
const NOTED: usize = 1024;

/// The roots of what is looked for by a number and by text, once there is any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roots {
    numbers: Option<Root>,
    texts: Option<Root>,
    /// The slots in which tracks were found last, by the lowest bits of what they are of.
    noted: [u32; NOTED],
}

impl Default for Roots {
    fn default() -> Self {
        Self { numbers: None, texts: None, noted: [0; NOTED] }
    }
}

/// The place that notes in which slot a track is.
#[allow(clippy::as_conversions)] // The lowest bits of a number.
const fn note_of(of: Of<'_>) -> Option<usize> {
    match of {
        Of::Worker(id) | Of::Thread(id) => Some(id as usize % (NOTED / 8)),
        Of::Entered(id) => Some((NOTED / 8).wrapping_add(id as usize % (NOTED / 8))),
        Of::TaskSpans(id) => Some((NOTED / 4).wrapping_add(id as usize % (NOTED / 4))),
        Of::Task(id) => Some((NOTED / 2).wrapping_add(id as usize % (NOTED / 2))),
        _ => None,
    }
}

/// The place of a track, or of the bit in which it differs from the nearest one.
pub(super) enum Found {
    At(usize),
    Nowhere(Option<u64>),
}

impl Found {
    /// The slot, if it has one.
    pub(super) const fn slot(self) -> Option<usize> {
        match self {
            Self::At(at) => Some(at),
            Self::Nowhere(_) => None,
        }
    }
}

impl Roots {
    /// The track of something, which is noted.
    #[inline]
    pub(super) fn find_again(&mut self, slots: &[TrackSlot<'_>], of: Of<'_>) -> Found {
        let Some(note) = note_of(of).and_then(|note| self.noted.get_mut(note)) else {
            return self.find(slots, of);
        };
        let at = to_usize(*note);
        if slots.get(at).is_some_and(|slot| slot.of == of) {
            return Found::At(at);
        }
        let found = self.find(slots, of);
        if let (Found::At(at), Some(note)) = (&found, note_of(of).and_then(|note| self.noted.get_mut(note))) {
            *note = u32::try_from(*at).unwrap_or(0);
        }
        found
    }

    pub(super) fn find(&self, slots: &[TrackSlot<'_>], of: Of<'_>) -> Found {
        let found = match (of.number(), of) {
            (Some(number), _) => self.numbers.and_then(|root| {
                let at = root.nearest(slots, number)?;
                Some((at, slots.get(at)?.of.number()?.difference(number)))
            }),
            (None, Of::Runtime(text)) => self.texts.and_then(|root| {
                let at = root.nearest(slots, text)?;
                let Of::Runtime(other) = slots.get(at)?.of else { return None };
                Some((at, other.difference(text)))
            }),
            _ => None,
        };
        match found {
            Some((at, None)) => Found::At(at),
            Some((_, difference)) => Found::Nowhere(difference),
            None => Found::Nowhere(None),
        }
    }

    /// Puts in the last of `slots`.
    pub(super) fn insert(&mut self, slots: &mut [TrackSlot<'_>], of: Of<'_>, difference: Option<u64>) {
        if let Some(number) = of.number() {
            self.numbers.get_or_insert_default().insert(slots, number, difference);
        } else if let Of::Runtime(text) = of {
            self.texts.get_or_insert_default().insert(slots, text, difference);
        }
    }
}

/// The track in a slot. Before them all is that of the recording.
pub(super) const fn id_of(slot: usize) -> TrackId {
    TrackId::new(crate::bytes::to_u64(slot).saturating_add(1))
}
