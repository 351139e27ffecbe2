//! The time of each stream.
//!
//! A frame belongs to the last stamp of its stream's clock before it. A delta clock counts from what its base said
//! *when the delta was written*: a later stamp of the base does not move it. Without a stamp, or with a base that was
//! not stamped, the time is not known.
//!
//! Deltas upon deltas need no recursion, as each stamp is resolved when it comes; clocks that count from each other
//! in a circle never get a time.

use crate::ByteOrder;
use crate::room::Room;
use crate::rtc::slot::{NONE, StreamSlot};
use crate::rtc::value::leb128;
use crate::rtc::{Decimal, Format, Sample, Samples, Stream, StreamTable, Streams, Time, work};

impl<'a, R: Room<StreamSlot<'a>>> StreamTable<'a, R> {
    /// The slot of the clock of the stream in `slot`; the same, if that is one. It looks it up if it has to.
    #[inline(always)]
    pub(super) fn clock_at(&mut self, slot: usize) -> Option<usize> {
        if self.get(slot)?.clock.revision != self.clock_revision() {
            self.resolve(slot);
        }
        let of = self.get(slot)?.clock.of;
        (of != NONE).then_some(usize::from(of))
    }

    /// A record of the clock in `slot` has ended.
    #[inline]
    pub(super) fn stamp(&mut self, slot: usize, epoch: u32, order: ByteOrder, data: &[u8]) {
        let Some(StreamSlot { stream, clock, .. }) = self.get(slot) else { return };
        work::count(data.len());
        let sample = if clock.is_scaled { last_sample(stream.format(), data, order) } else { None };
        let offset = Time::from_attoseconds(clock.offset);
        let own = sample.and_then(|sample| sample.in_seconds(clock.gain)).map(|time| time.plus(offset));
        let time = match clock.base {
            NONE => own.filter(|_| !clock.lacks_base),
            base => own.zip(self.streams().said(base.into(), epoch)).map(|(own, base)| base.plus(own)),
        };
        self.set_clock(slot, epoch, time);
    }

    /// Sets what a clock says.
    #[inline]
    pub(super) fn set_clock(&mut self, slot: usize, epoch: u32, time: Option<Time>) {
        if let Some(slot) = self.get_mut(slot) {
            (slot.clock.epoch, slot.clock.has_time) = (epoch, time.is_some());
            slot.clock.time = time.unwrap_or_default();
        }
    }

    /// Finds the clocks that the stream in `slot` names: one that is not there may be declared later on.
    #[cold]
    fn resolve(&mut self, slot: usize) {
        let revision = self.clock_revision();
        let streams = self.streams();
        let link = |slot: Option<usize>| slot.and_then(|slot| u16::try_from(slot).ok()).unwrap_or(NONE);
        let Some(stream) = streams.at(slot) else { return };
        let (of, hash) = (link(streams.clock_slot(slot)), stream.links().delta);
        let base = link(streams.find_clock(hash, &|| stream.delta()));
        let is_read = self.get(slot).is_some_and(|slot| slot.clock.is_read);
        let scale = if is_read { None } else { Some(scale(stream)) };
        let Some(StreamSlot { clock, .. }) = self.get_mut(slot) else { return };
        (clock.revision, clock.of, clock.base, clock.lacks_base) =
            (revision, of, base, base == NONE && hash != 0);
        if let Some(scale) = scale {
            // A clock that still counts the same keeps its time.
            clock.has_time &= scale == clock.is_scaled.then_some((clock.gain, clock.offset));
            (clock.is_read, clock.is_scaled) = (true, scale.is_some());
            (clock.gain, clock.offset) = scale.unwrap_or((Decimal::ONE, 0));
        }
    }
}

impl Streams<'_, '_> {
    /// The last time of the clock in a slot.
    #[inline]
    pub(super) fn said(&self, slot: usize, epoch: u32) -> Option<Time> {
        let clock = &self.slots().get(slot)?.clock;
        (clock.has_time && clock.epoch == epoch).then_some(clock.time)
    }

    /// The time of the stream in a slot, if its clock was looked up and stamped.
    #[inline]
    pub(super) fn time_at(&self, slot: usize, epoch: u32) -> Option<Time> {
        self.said(usize::from(self.slots().get(slot)?.clock.of), epoch)
    }
}

/// Gain and offset of a clock; `None` if it is none, or if they cannot be read.
fn scale(stream: &Stream<'_>) -> Option<(Decimal, i128)> {
    if !stream.links().is_clock {
        return None;
    }
    let (gain, offset) = (stream.gain().ok()?, stream.offset().ok()?);
    Some((gain.unwrap_or(Decimal::ONE), offset.unwrap_or(Decimal::ZERO).whole_attos()))
}

/// The last number of a payload: the one that counts, if a stamp holds several. Text tells no time.
pub(super) fn last_sample(format: Format, data: &[u8], order: ByteOrder) -> Option<Sample<'_>> {
    let Some(size) = format.sample_size() else {
        let signed = match format {
            Format::Uleb128 => false,
            Format::Leb128 => true,
            _ => return None,
        };
        let (mut last, mut rest) = (None, data);
        while let Ok((sample, after)) = leb128(rest, signed) {
            (last, rest) = (Some(sample), after);
        }
        return last;
    };
    let whole = data.len().checked_rem(size).and_then(|rest| data.len().checked_sub(rest))?;
    Samples::new(data.get(whole.checked_sub(size)?..whole)?, 0, format, order).number(size)?.ok()
}
