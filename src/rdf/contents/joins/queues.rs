//! The time that the GPU worked for each queue.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::QUEUE_EVENT;
use crate::rdf::contents::{PciId, QueueEvent, QueueEventKind};

/// The work of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueTime {
    pci: PciId,
    queue: u64,
    events: u64,
    submits: u64,
    ticks: u64,
    first: u64,
    last: u64,
}

impl QueueTime {
    /// A place for the storage that is lent.
    pub const EMPTY: Self = Self {
        pci: PciId::from_stored(0),
        queue: 0,
        events: 0,
        submits: 0,
        ticks: 0,
        first: u64::MAX,
        last: 0,
    };

    /// The GPU.
    pub const fn pci(&self) -> PciId {
        self.pci
    }

    /// The queue.
    pub const fn queue(&self) -> u64 {
        self.queue
    }

    /// The number of events it has.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// The number of command buffers that were submitted.
    pub const fn submits(&self) -> u64 {
        self.submits
    }

    /// GPU ticks during which it worked: what overlaps counts once.
    pub const fn gpu_ticks(&self) -> u64 {
        self.ticks
    }

    /// From when to when it worked, in GPU ticks; `None` if nothing was submitted.
    pub const fn span(&self) -> Option<(u64, u64)> {
        if self.first <= self.last { Some((self.first, self.last)) } else { None }
    }
}

default_is_empty!(QueueTime);

/// Adds up the work of each queue, sorted by GPU and queue.
///
/// Submissions may overlap, so events are given in the order in which they begin on the GPU. Of one that comes after
/// another that begins later, only what follows the end of that counts.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if there are more queues than `storage` has places; with one
/// more, at least one more queue fits.
pub fn queue_times<'a, 's>(
    events: impl IntoIterator<Item = QueueEvent<'a>>,
    storage: &'s mut [QueueTime],
) -> Result<&'s [QueueTime]> {
    let capacity = storage.len();
    let mut len = 0_usize;
    for event in events {
        let key = (event.pci(), event.queue());
        let used = storage.get(..len).unwrap_or_default();
        let place = used.partition_point(|time| (time.pci, time.queue) < key);
        if used.get(place).is_none_or(|time| (time.pci, time.queue) != key) {
            let needed = len.saturating_add(1);
            let Some(moved) = storage.get_mut(place..needed) else {
                let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(needed) };
                return Err(Error::new(0, QUEUE_EVENT, kind));
            };
            let mut next = QueueTime { pci: key.0, queue: key.1, ..QueueTime::EMPTY };
            for place in moved {
                core::mem::swap(place, &mut next);
            }
            len = needed;
        }
        let Some(time) = storage.get_mut(place) else { continue };
        time.events = time.events.saturating_add(1);
        if event.event() == QueueEventKind::Submit {
            time.submits = time.submits.saturating_add(1);
            if event.gpu_ticks().is_some() {
                let (begin, end) = (event.gpu_begin(), event.gpu_end());
                time.ticks = time.ticks.saturating_add(end.saturating_sub(begin.max(time.last)));
                time.first = time.first.min(begin);
                time.last = time.last.max(end);
            }
        }
    }
    Ok(storage.get(..len).unwrap_or_default())
}
