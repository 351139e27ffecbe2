//! What time it is for each stream.

use crate::rtc::{ByteOrder, ClockOf, Decimal, Format, Frame, Sample, Samples, Stream, Streams, Time};

/// A number of the largest clock sample; a timespec has 12 bytes.
const LARGEST: usize = 16;

/// The clocks of a session: what was stamped last on each.
///
/// A frame belongs to the last stamp of its stream's clock before it. A delta clock counts from what its base said
/// *when the delta was written*: a later stamp of the base does not move it. Without a stamp, or with a base that was
/// not stamped, the time is not known.
///
/// Deltas upon deltas need no recursion, as each stamp is resolved when it comes; clocks that count from each other
/// in a circle never get a time.
///
/// ```
/// # fn read(data: &[u8]) {
/// use traceglass::rtc::{Clocks, Walk};
///
/// let mut walk = Walk::<64>::new(data);
/// let mut clocks = Clocks::<64>::new();
/// while let Some(Ok(frame)) = walk.next_frame() {
///     clocks.observe(walk.streams(), walk.byte_order(), &frame);
///     if let Some(time) = clocks.time(&frame) {
///         println!("{time} s: {frame:?}");
///     }
/// }
/// # }
/// # read(b"");
/// ```
#[derive(Clone, Debug)]
pub struct Clocks<const N: usize> {
    clocks: [Clock; N],
    /// How many streams have been looked at, and in which state of the table of which session.
    known: usize,
    revision: u32,
    generation: u32,
}

/// What is known about time at a place in the table.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// The clock that the stream belongs to: itself, if it is one.
    of: Option<u16>,
    /// The clock that this one counts from.
    base: Base,
    /// Whether all of the stream's object could be read: a damaged one may be replaced.
    is_sound: bool,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
    time: Option<Time>,
    stamp: Stamp,
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

    /// Whether more of it is to come.
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
        of: None,
        base: Base::None,
        is_sound: false,
        gain: None,
        offset: None,
        time: None,
        stamp: Stamp::new(),
    };
}

impl<const N: usize> Default for Clocks<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Clocks<N> {
    /// No clock has been stamped yet.
    pub const fn new() -> Self {
        Self { clocks: [Clock::NONE; N], known: 0, revision: 0, generation: 0 }
    }

    /// Takes notice of a frame: of each one, in file order.
    pub fn observe(&mut self, streams: &Streams<'_, N>, order: ByteOrder, frame: &Frame<'_>) {
        let Some(place) = frame.place() else { return };
        if streams.revision() != self.revision {
            self.resolve(streams);
        }
        let is_clock = self.at(place).is_some_and(|clock| clock.of.map(usize::from) == Some(place));
        if let Some(stream) = streams.at(place).filter(|_| is_clock) {
            self.stamp(stream, place, order, frame);
        }
    }

    /// A frame of the clock at `place`.
    fn stamp(&mut self, stream: &Stream<'_>, place: usize, order: ByteOrder, frame: &Frame<'_>) {
        let Some(clock) = self.clocks.get_mut(place) else { return };
        let Some(data) = clock.stamp.take(frame) else { return };
        let sample = last_sample(stream.format(), data, order);
        let time = sample.and_then(|sample| sample.as_time(clock.gain, clock.offset));
        let time = match clock.base {
            Base::None => time,
            Base::Unknown => None,
            Base::At(base) => {
                let base = self.at(usize::from(base)).and_then(|base| base.time);
                time.zip(base).map(|(time, base)| base.plus(time))
            }
        };
        if let Some(clock) = self.clocks.get_mut(place) {
            clock.time = time;
        }
    }

    /// The time of a frame on its stream's clock, if it has one that was stamped.
    pub fn time(&self, frame: &Frame<'_>) -> Option<Time> {
        self.time_at(frame.place()?)
    }

    /// The time of the stream at a place in the table, now.
    pub fn time_at(&self, place: usize) -> Option<Time> {
        self.at(self.clock_of(place)?)?.time
    }

    /// The place of the clock of the stream at `place`; the same, if that is one.
    pub fn clock_of(&self, place: usize) -> Option<usize> {
        self.at(place)?.of.map(usize::from)
    }

    /// What was stamped is not known any more: units are missing, or another session has begun.
    pub fn interrupt(&mut self) {
        for clock in &mut self.clocks {
            (clock.time, clock.stamp) = (None, Stamp::new());
        }
    }

    fn at(&self, place: usize) -> Option<&Clock> {
        self.clocks.get(place)
    }

    /// Finds the clocks that the streams of a table name.
    fn resolve(&mut self, streams: &Streams<'_, N>) {
        if streams.generation() != self.generation || streams.len() < self.known {
            // Another session, or another walk: the places mean something else.
            *self = Self { generation: streams.generation(), ..Self::new() };
        }
        let place_of = |name| {
            let named = |stream: &Stream<'_>| stream.name() == Some(name) && is_clock(stream);
            let place = (0..streams.len()).find(|&place| streams.at(place).is_some_and(named))?;
            u16::try_from(place).ok()
        };
        for place in 0..streams.len() {
            let (Some(stream), Some(clock)) = (streams.at(place), self.clocks.get_mut(place)) else { break };
            // One that is known already may name one that was declared only now.
            let is_new = place >= self.known;
            if !is_new && clock.is_sound && clock.of.is_some() && clock.base != Base::Unknown {
                continue;
            }
            clock.is_sound = stream.damage().is_none();
            clock.of = match stream.clock() {
                Some(ClockOf::Own) => u16::try_from(place).ok(),
                Some(ClockOf::Named(name)) => place_of(name),
                None => None,
            };
            (clock.gain, clock.offset) = (stream.gain(), stream.offset());
            clock.base = match stream.delta() {
                Some(name) => place_of(name).map_or(Base::Unknown, Base::At),
                None => Base::None,
            };
        }
        self.known = streams.len();
        self.revision = streams.revision();
    }
}

fn is_clock(stream: &Stream<'_>) -> bool {
    stream.clock() == Some(ClockOf::Own)
}

/// The last sample of a payload: the one that counts, if a stamp holds several.
fn last_sample(format: Format, data: &[u8], order: ByteOrder) -> Option<Sample<'_>> {
    Samples::new(data, 0, format, order).map_while(Result::ok).last()
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
