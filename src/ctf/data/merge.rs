//! One view of several streams, ordered by time.

use super::element::MERGE;
use super::loss::{Loss, Losses};
use super::packet::Packet;
use super::packets::Packets;
use super::reader::Reader;
use super::record::{Parts, Record};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::heap::{self, Place};

/// Room for one stream of a [`Merge`]: about 2 KB.
#[derive(Clone, Debug)]
pub struct MergeSlot<'a, 's> {
    source: Option<Source<'a, 's>>,
    // This place of the heap: nothing to do with the stream above, but kept in the same storage.
    rank: Rank,
}

impl MergeSlot<'_, '_> {
    /// No stream: what storage is filled with before it is lent.
    pub const EMPTY: Self = Self { source: None, rank: Rank { nanoseconds: 0, source: 0 } };
}

default_is_empty!(MergeSlot<'_, '_>);

/// A stream in the heap: the time of its next record, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    nanoseconds: i128,
    source: usize,
}

impl Place for MergeSlot<'_, '_> {
    type Rank = Rank;

    fn rank(&self) -> Rank {
        self.rank
    }

    fn set_rank(&mut self, rank: Rank) {
        self.rank = rank;
    }
}

#[derive(Clone)]
struct Source<'a, 's> {
    packets: Packets<'a, 's>,
    /// The packet that was opened last, and what reads its records until there are no more.
    packet: Option<Packet<'a, 's>>,
    reader: Option<Reader<'a, 's>>,
    losses: Losses,
    loss: Loss,
    /// The time of the record before the loss, if there is one.
    since: Option<i128>,
    /// The next record, or why there is none.
    next: Option<Result<Parts>>,
    nanoseconds: i128,
}

impl core::fmt::Debug for Source<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Source").field("packets", &self.packets).finish_non_exhaustive()
    }
}

impl Source<'_, '_> {
    /// Reads ahead by one record. Afterwards there is none if the stream has ended.
    fn advance(&mut self) {
        self.next = None;
        loop {
            if let (Some(packet), Some(reader)) = (&self.packet, &mut self.reader) {
                match reader.next(packet) {
                    Ok(Some(parts)) => {
                        let record = Record { packet, parts };
                        self.nanoseconds = record.nanoseconds().unwrap_or(self.nanoseconds);
                        self.next = Some(Ok(parts));
                        return;
                    }
                    Ok(None) => self.reader = None,
                    Err(error) => {
                        self.next = Some(Err(error));
                        return;
                    }
                }
            }
            match self.packets.next_packet() {
                Ok(Some(packet)) => {
                    // A packet without records has none that could tell of a loss.
                    let loss = self.losses.observe(&packet);
                    if loss.is_some() && !self.loss.is_some() {
                        self.since = Some(self.nanoseconds).filter(|ns| *ns != i128::MIN);
                    }
                    self.loss = self.loss.and(loss);
                    self.reader = Some(packet.reader());
                    self.packet = Some(packet);
                }
                Ok(None) => return,
                Err(error) => {
                    self.next = Some(Err(error));
                    return;
                }
            }
        }
    }
}

/// A record of a [`Merge`].
#[derive(Clone, Copy, Debug)]
pub struct Merged<'p, 'a, 's> {
    source: usize,
    loss: Loss,
    record: Record<'p, 'a, 's>,
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    nanoseconds: i128,
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    since: Option<i128>,
}

impl<'p, 'a, 's> Merged<'p, 'a, 's> {
    /// The time of its recording, in nanoseconds of its clock; of one without a time, that of the record before it.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) const fn nanoseconds(&self) -> i128 {
        self.nanoseconds
    }

    /// The time of the record before the loss, in nanoseconds of its clock.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) const fn loss_since(&self) -> Option<i128> {
        self.since
    }

    /// The number of its stream, in the order in which they were added.
    pub const fn source(&self) -> usize {
        self.source
    }

    /// The record.
    pub const fn record(&self) -> Record<'p, 'a, 's> {
        self.record
    }

    /// The losses between its stream's previous record and the end of its packet; only for the first record of a
    /// packet. Those after the last record are told by [`Merge::next_loss`].
    pub const fn loss(&self) -> Loss {
        self.loss
    }
}

/// The event records of several streams, ordered by time, in storage that the caller lends.
///
/// Records with the same time keep the order of their streams, and those of a stream keep theirs. What has no time comes
/// with the record before it.
#[derive(Debug)]
pub struct Merge<'a, 's, 't> {
    slots: &'t mut [MergeSlot<'a, 's>],
    sources: usize,
    /// The number of streams in the heap.
    open: usize,
    /// The record of the first one has been delivered.
    delivered: bool,
    /// The first one has failed.
    failed: bool,
    /// The number of streams whose last losses were told.
    told: usize,
}

/// The losses after the last record of a stream, of which the counters of the packets after it tell.
#[derive(Clone, Debug)]
pub struct LastLoss<'a, 's> {
    source: usize,
    loss: Loss,
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    since: Option<i128>,
    packet: Packet<'a, 's>,
}

impl<'a, 's> LastLoss<'a, 's> {
    /// The number of its stream, in the order in which they were added.
    pub const fn source(&self) -> usize {
        self.source
    }

    /// The time of the record before the loss, in nanoseconds of its clock.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) const fn since(&self) -> Option<i128> {
        self.since
    }

    /// The losses between the stream's last record and the end of its last packet.
    pub const fn loss(&self) -> Loss {
        self.loss
    }

    /// The stream's last packet.
    pub const fn packet(&self) -> &Packet<'a, 's> {
        &self.packet
    }
}

impl<'a, 's, 't> Merge<'a, 's, 't> {
    /// A merge of no streams yet, with room for as many as there are slots.
    pub const fn new(slots: &'t mut [MergeSlot<'a, 's>]) -> Self {
        Self { slots, sources: 0, open: 0, delivered: false, failed: false, told: 0 }
    }

    /// Adds a stream, from its next packet on, and returns its number. Streams may be of different schemas.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add(&mut self, packets: Packets<'a, 's>) -> Result<usize> {
        self.pass();
        let capacity = to_u64(self.slots.len());
        let source = self.sources;
        let offset = packets.offset();
        let Some(slot) = self.slots.get_mut(source) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            return Err(Error::new(offset, MERGE, kind));
        };
        let mut stream = Source {
            packets,
            packet: None,
            reader: None,
            losses: Losses::default(),
            loss: Loss::default(),
            since: None,
            next: None,
            nanoseconds: i128::MIN,
        };
        stream.advance();
        let rank = stream.next.is_some().then_some(Rank { nanoseconds: stream.nanoseconds, source });
        slot.source = Some(stream);
        self.sources = self.sources.saturating_add(1);
        if let Some(rank) = rank {
            let place = self.open;
            self.open = place.saturating_add(1);
            heap::push(self.slots, place, rank);
        }
        Ok(source)
    }

    /// The earliest of the records to come; `None` at the end, and after an error until [`Merge::recover`] is called.
    ///
    /// # Errors
    /// The errors of packets and records, as soon as they are found: [`Merge::failed`] says in which stream.
    pub fn next_record(&mut self) -> Result<Option<Merged<'_, 'a, 's>>> {
        if self.failed {
            return Ok(None);
        }
        self.pass();
        let Some(source) = self.first() else { return Ok(None) };
        self.delivered = true;
        let Some(stream) = self.slots.get_mut(source).and_then(|slot| slot.source.as_mut()) else {
            return Ok(None);
        };
        match (&stream.next, &stream.packet) {
            (Some(Ok(parts)), Some(packet)) => {
                let loss = core::mem::take(&mut stream.loss);
                let (record, since) = (Record { packet, parts: *parts }, stream.since);
                Ok(Some(Merged { source, loss, record, nanoseconds: stream.nanoseconds, since }))
            }
            (Some(Err(error)), _) => {
                self.failed = true;
                Err(*error)
            }
            _ => Ok(None),
        }
    }

    /// The losses after the last record of each stream, one by one, once there are no more records.
    pub fn next_loss(&mut self) -> Option<LastLoss<'a, 's>> {
        while self.told < self.sources && self.first().is_none() {
            let source = self.told;
            self.told = source.saturating_add(1);
            let stream = self.slots.get_mut(source)?.source.as_mut()?;
            if let (true, Some(packet)) = (stream.loss.is_some(), &stream.packet) {
                let (loss, since, packet) = (stream.loss, stream.since, packet.clone());
                return Some(LastLoss { source, loss, since, packet });
            }
        }
        None
    }

    /// The number of the stream that failed.
    pub fn failed(&self) -> Option<usize> {
        if self.failed { self.first() } else { None }
    }

    /// After an error, goes on with the stream's next packet if that can be found, and with the other streams. Returns
    /// the number of the stream that failed.
    pub fn recover(&mut self) -> Option<usize> {
        let source = self.failed()?;
        // The reader of the packet is done, and so are the packets if one of them failed.
        self.failed = false;
        Some(source)
    }

    /// The record that was delivered last, until the next one is asked for.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn current(&self) -> Option<Merged<'_, 'a, 's>> {
        let source = if self.delivered { self.first()? } else { return None };
        let stream = self.slots.get(source)?.source.as_ref()?;
        match (&stream.next, &stream.packet) {
            (Some(Ok(parts)), Some(packet)) => {
                let (record, loss) = (Record { packet, parts: *parts }, Loss::default());
                Some(Merged { source, loss, record, nanoseconds: stream.nanoseconds, since: None })
            }
            _ => None,
        }
    }

    /// The stream of the earliest record.
    fn first(&self) -> Option<usize> {
        heap::first(self.slots, self.open).map(|rank| rank.source)
    }

    /// Reads the record after the one that was delivered, and gives its stream its new place.
    fn pass(&mut self) {
        if !core::mem::take(&mut self.delivered) {
            return;
        }
        let Some(source) = self.first() else { return };
        let Some(stream) = self.slots.get_mut(source).and_then(|slot| slot.source.as_mut()) else { return };
        stream.advance();
        if stream.next.is_some() {
            let nanoseconds = stream.nanoseconds;
            heap::replace_first(self.slots, self.open, Rank { nanoseconds, source });
        } else {
            heap::pop(self.slots, self.open);
            self.open = self.open.saturating_sub(1);
        }
    }
}
