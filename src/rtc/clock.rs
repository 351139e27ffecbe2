//! What time it is for each stream.

use crate::ByteOrder;
use crate::rtc::{Decimal, Format, Frame, Sample, Samples, Stream, Streams, Time, work};

/// A number of the largest clock sample; a timespec has 12 bytes.
const LARGEST: usize = 16;
/// No slot.
const NONE: u16 = u16::MAX;

/// The clocks of a session: what was stamped last on each.
///
/// A frame belongs to the last stamp of its stream's clock before it. A delta clock counts from what its base said
/// *when the delta was written*: a later stamp of the base does not move it. Without a stamp, or with a base that was
/// not stamped, the time is not known.
///
/// Deltas upon deltas need no recursion, as each stamp is resolved when it comes; clocks that count from each other
/// in a circle never get a time.
///
/// [`Records`](crate::rtc::Records) keeps one; this is for programs that read frames. It goes on with the frames of a file
/// that has grown: streams are known by what their objects say, wherever these lie.
#[derive(Clone, Debug)]
pub struct Clocks<const N: usize> {
    /// Of the streams up to the last one that was looked at.
    clocks: heapless::Vec<Clock, N>,
    /// How often the stamps were forgotten.
    epoch: u32,
}

/// What is known about time in a slot of the table.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// What the stream's object said that this was taken from, and the state of the clocks then.
    declared: u64,
    revision: u64,
    /// The clock that the stream belongs to: itself, if it is one.
    of: u16,
    /// The clock that this one counts from.
    base: Base,
    gain: Decimal,
    offset: Decimal,
    /// True if these could be read: else no time is known.
    is_scaled: bool,
    /// True if `time` is known; not in it, as an option would take 16 bytes more.
    has_time: bool,
    time: Time,
    stamp: Stamp,
    /// Time and stamp hold in that epoch only.
    epoch: u32,
}

/// A stamp that may come in pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    partial: [u8; LARGEST],
    /// How much of it has come, if it has begun.
    len: Option<u8>,
}

impl Stamp {
    pub(super) const fn new() -> Self {
        Self { partial: [0; LARGEST], len: None }
    }

    /// True if more of it is to come.
    pub(super) const fn has_begun(&self) -> bool {
        self.len.is_some()
    }

    /// Takes the next frame of the clock, and gives the record if that is its end: of one in pieces, no more than
    /// a sample may take; of one of which the beginning has not been seen, nothing.
    pub(super) fn take<'s>(&'s mut self, frame: &Frame<'s>) -> Option<&'s [u8]> {
        if !frame.continues() {
            if !frame.more() {
                self.len = None;
                return Some(frame.payload());
            }
            self.len = Some(0);
        }
        let start = usize::from(self.len?);
        let free = self.partial.get_mut(start..).unwrap_or_default();
        let taken = free.iter_mut().zip(frame.payload()).map(|(to, &byte)| *to = byte).count();
        let len = start.saturating_add(taken);
        self.len = u8::try_from(len).ok().filter(|_| frame.more());
        if frame.more() { None } else { self.partial.get(..len) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    None,
    /// One that is not in the table.
    Unknown,
    At(u16),
}

impl Clock {
    const NONE: Self = Self {
        declared: 0,
        revision: 0,
        of: NONE,
        base: Base::None,
        gain: Decimal::ONE,
        offset: Decimal::ZERO,
        is_scaled: false,
        has_time: false,
        time: Time::ZERO,
        stamp: Stamp::new(),
        epoch: 0,
    };

    /// Takes over what the stream's object says, if that is something else than before.
    fn declare(&mut self, stream: &Stream<'_>) {
        let declared = stream.fingerprint();
        if self.declared == declared {
            return;
        }
        let before = (self.is_scaled, self.gain, self.offset);
        self.declared = declared;
        let scale = (stream.gain(), stream.offset());
        self.is_scaled = stream.links().is_clock && scale.0.is_ok() && scale.1.is_ok();
        self.gain = scale.0.ok().flatten().unwrap_or(Decimal::ONE);
        self.offset = scale.1.ok().flatten().unwrap_or(Decimal::ZERO);
        // A clock that still counts the same keeps its time.
        self.has_time &= before == (self.is_scaled, self.gain, self.offset);
    }
}

impl<const N: usize> Default for Clocks<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Clocks<N> {
    /// No clock has been stamped yet.
    pub const fn new() -> Self {
        Self { clocks: heapless::Vec::new(), epoch: 0 }
    }

    /// Updates the clocks; call it for every frame, in file order.
    #[inline]
    pub fn observe(&mut self, streams: &Streams<'_, N>, order: ByteOrder, frame: &Frame<'_>) {
        let Some(slot) = frame.slot() else { return };
        let Some(stream) = streams.at(slot) else { return };
        let (declared, revision) = (stream.fingerprint(), streams.clock_revision());
        if !self
            .clocks
            .get(slot)
            .is_some_and(|clock| clock.declared == declared && clock.revision == revision)
        {
            self.resolve(streams, slot);
        }
        if self.clock_of(slot) == Some(slot) {
            self.stamp(stream, slot, order, frame);
        }
    }

    /// A frame of the clock in `slot`.
    fn stamp(&mut self, stream: &Stream<'_>, slot: usize, order: ByteOrder, frame: &Frame<'_>) {
        let Some(clock) = self.clocks.get_mut(slot) else { return };
        if clock.epoch != self.epoch {
            (clock.epoch, clock.has_time, clock.stamp) = (self.epoch, false, Stamp::new());
        }
        // The rest of a stamp that began before reading did: what it says is not known.
        clock.has_time &= !frame.continues() || clock.stamp.has_begun();
        let Some(data) = clock.stamp.take(frame) else { return };
        work::count(data.len());
        let sample = if clock.is_scaled { last_sample(stream.format(), data, order) } else { None };
        let time = sample.and_then(|sample| sample.as_time(Some(clock.gain), Some(clock.offset)));
        let time = match clock.base {
            Base::None => time,
            Base::Unknown => None,
            Base::At(base) => {
                let base = self.said(usize::from(base));
                time.zip(base).map(|(time, base)| base.plus(time))
            }
        };
        self.set(slot, time);
    }

    /// Sets what a clock says.
    pub(crate) fn set(&mut self, slot: usize, time: Option<Time>) {
        if let Some(clock) = self.clocks.get_mut(slot) {
            (clock.epoch, clock.has_time) = (self.epoch, time.is_some());
            clock.time = time.unwrap_or_default();
        }
    }

    /// What the clock in a slot said last.
    fn said(&self, slot: usize) -> Option<Time> {
        let clock = self.clocks.get(slot).filter(|clock| clock.has_time && clock.epoch == self.epoch)?;
        Some(clock.time)
    }

    /// The time of a frame on its stream's clock, if it has one that was stamped.
    pub fn time(&self, frame: &Frame<'_>) -> Option<Time> {
        self.time_at(frame.slot()?)
    }

    /// The time of the stream in a slot of the table, now.
    pub fn time_at(&self, slot: usize) -> Option<Time> {
        self.said(self.clock_of(slot)?)
    }

    /// The slot of the clock of the stream in `slot`; the same, if that is one.
    ///
    /// It is known once a frame of the stream has been [observed](Self::observe).
    pub fn clock_of(&self, slot: usize) -> Option<usize> {
        self.clocks.get(slot).map(|clock| clock.of).filter(|&of| of != NONE).map(usize::from)
    }

    /// Forgets all stamps: units are missing, or another session has begun.
    pub fn reset(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Finds the clocks that the stream in `slot` names: one that is not there may be declared later on.
    #[cold]
    pub(crate) fn resolve(&mut self, streams: &Streams<'_, N>, slot: usize) {
        while self.clocks.len() <= slot && self.clocks.push(Clock::NONE).is_ok() {}
        let (Some(stream), Some(clock)) = (streams.at(slot), self.clocks.get_mut(slot)) else { return };
        clock.declare(stream);
        clock.revision = streams.clock_revision();
        let links = stream.links();
        let slot_of = |hash: u64, found: Option<usize>| {
            found.filter(|_| hash != 0).and_then(|slot| u16::try_from(slot).ok())
        };
        clock.of = if links.is_clock {
            u16::try_from(slot).unwrap_or(NONE)
        } else {
            let found = streams.find_clock(links.clock, &|| stream.clock_name());
            slot_of(links.clock, found).unwrap_or(NONE)
        };
        let found = streams.find_clock(links.delta, &|| stream.delta());
        clock.base = match slot_of(links.delta, found) {
            Some(base) => Base::At(base),
            None if links.delta != 0 => Base::Unknown,
            None => Base::None,
        };
    }
}

/// The last number of a payload: the one that counts, if a stamp holds several. Text tells no time.
fn last_sample(format: Format, data: &[u8], order: ByteOrder) -> Option<Sample<'_>> {
    let Some(size) = format.sample_size() else {
        let mut samples = Samples::new(data, 0, format, order);
        let mut last = None;
        while let Some(Ok(sample)) = samples.next_leb128() {
            last = Some(sample);
        }
        return last;
    };
    let whole = data.len().checked_rem(size).and_then(|rest| data.len().checked_sub(rest))?;
    Samples::new(data.get(whole.checked_sub(size)?..whole)?, 0, format, order).number(size)?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtc::Meta;
    use crate::rtc::frame::Parts;
    use std::string::{String, ToString};

    fn declare<'a>(streams: &mut Streams<'a, 4>, meta: &'a str) {
        let mut meta = Meta::new(meta.as_bytes(), 0);
        while let Some(stream) = meta.next_stream() {
            let _ = stream.and_then(|stream| streams.insert(stream));
        }
    }

    /// The time of a frame of the stream at a place, after the clocks took notice of it.
    fn time(clocks: &mut Clocks<4>, streams: &Streams<'_, 4>, place: u16, payload: &[u8]) -> Option<String> {
        let id = streams.at(place.into()).unwrap().id();
        let frame = Frame::new(0, Parts { id, more: false, header: 1, payload }, place, false);
        clocks.observe(streams, ByteOrder::Little, &frame);
        clocks.time(&frame).map(|time| time.to_string())
    }

    /// As many streams as before, in another order: nothing of the session before is true of them.
    #[test]
    fn another_session_has_other_clocks() {
        let (mut clocks, mut streams) = (Clocks::<4>::new(), Streams::<4>::new());
        let first = r#"[{"id":9,"name":"c","clock":true,"format":"uint8"},{"id":10,"clock":"c"},11]"#;
        declare(&mut streams, first);
        assert_eq!(time(&mut clocks, &streams, 0, &[7]).as_deref(), Some("7"));
        assert_eq!(time(&mut clocks, &streams, 1, &[0]).as_deref(), Some("7"));
        streams.clear();
        let second =
            r#"[{"id":9,"clock":"c"},{"id":10,"name":"c","clock":true,"format":"uint8","gain":0.5},11]"#;
        declare(&mut streams, second);
        assert_eq!(time(&mut clocks, &streams, 0, &[0]), None);
        assert_eq!(time(&mut clocks, &streams, 1, &[7]).as_deref(), Some("3.5"));
        assert_eq!(time(&mut clocks, &streams, 0, &[0]).as_deref(), Some("3.5"));
    }

    /// The end of a record is none by itself, whatever number its bytes would be.
    #[test]
    fn a_stamp_counts_from_its_beginning() {
        let frame =
            |more, payload, continues| Frame::new(0, Parts { id: 9, more, header: 1, payload }, 0, continues);
        let mut stamp = Stamp::new();
        assert_eq!(stamp.take(&frame(false, &[7], true)), None);
        assert_eq!(stamp.take(&frame(true, &[0x81], false)), None);
        assert!(stamp.has_begun());
        assert_eq!(stamp.take(&frame(false, &[7], true)), Some(&[0x81, 7][..]));
        assert!(!stamp.has_begun());
        assert_eq!(stamp.take(&frame(false, &[7], true)), None);
        assert_eq!(stamp.take(&frame(false, &[8], false)), Some(&[8][..]));
    }

    /// The same file in other memory, or grown: a clock that says the same keeps its time. Another one in its slot has none.
    #[test]
    fn clocks_go_on_with_the_same_streams_elsewhere() {
        let meta = r#"[{"id":9,"name":"c","clock":true,"format":"uint8"},{"id":10,"clock":"c"},11]"#;
        let (mut clocks, mut streams) = (Clocks::<4>::new(), Streams::<4>::new());
        declare(&mut streams, meta);
        assert_eq!(time(&mut clocks, &streams, 0, &[7]).as_deref(), Some("7"));
        let (elsewhere, mut again) = (String::from(meta), Streams::<4>::new());
        declare(&mut again, &elsewhere);
        assert_eq!(time(&mut clocks, &again, 1, &[0]).as_deref(), Some("7"));
        // As many streams and clocks, but the first one is none, and the second one counts from nothing.
        let other = r#"[{"id":9,"clock":"d"},{"id":10,"name":"d","clock":true,"format":"uint8"},11]"#;
        let mut others = Streams::<4>::new();
        declare(&mut others, other);
        assert_eq!(time(&mut clocks, &others, 0, &[0]), None);
        assert_eq!(time(&mut clocks, &others, 1, &[3]).as_deref(), Some("3"));
        assert_eq!(time(&mut clocks, &others, 0, &[0]).as_deref(), Some("3"));
    }

    /// A clock whose object was damaged in one Meta, and is whole in the next.
    #[test]
    fn what_replaces_a_damaged_clock_counts() {
        let (mut clocks, mut streams) = (Clocks::<4>::new(), Streams::<4>::new());
        declare(&mut streams, r#"[{"id":9,"name":"c","clock":true,"format":"uint8","ga{"id":"#);
        assert!(streams.get(9).unwrap().damage().is_some());
        assert_eq!(time(&mut clocks, &streams, 0, &[7]).as_deref(), Some("7"));
        declare(&mut streams, r#"[{"id":9,"name":"c","clock":true,"format":"uint8","gain":0.5},10]"#);
        assert_eq!(time(&mut clocks, &streams, 0, &[7]).as_deref(), Some("3.5"));
    }
}
