//! Records: what was written at once.

use crate::ByteOrder;
use crate::Gap;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::{Annotation, Clocks, Frame, Frames, Samples, Stream, Streams, Time, element, recover};
use core::fmt;

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for crate::rtc::Frames<'_, N> {}
    impl<const N: usize> Sealed for crate::rtc::recover::Frames<'_, N> {}
}

/// Frames that [`Records`] are read from: the strict [`Frames`], or those that go on after damage,
/// [`recover::Frames`].
pub trait Source<'a, const N: usize>: sealed::Sealed {
    /// The next frame.
    ///
    /// # Errors
    ///
    /// Where and why reading cannot go on.
    fn next_frame(&mut self) -> Result<Option<Frame<'a>>>;
    /// Goes on after damage.
    fn recover(&mut self) -> Option<Gap>;
    /// The streams of the session.
    fn streams(&self) -> &Streams<'a, N>;
    /// The writer's byte order.
    fn byte_order(&self) -> ByteOrder;
    /// The number of the session.
    fn session(&self) -> u64;
    /// The input.
    fn data(&self) -> &'a [u8];
    /// Offset of the next frame.
    fn offset(&self) -> u64;
}

macro_rules! source {
    ($frames:ty, $recover:expr) => {
        impl<'a, const N: usize> Source<'a, N> for $frames {
            #[inline(always)]
            fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
                self.next_frame()
            }
            fn recover(&mut self) -> Option<Gap> {
                $recover(self)
            }
            #[inline(always)]
            fn streams(&self) -> &Streams<'a, N> {
                self.streams()
            }
            #[inline(always)]
            fn byte_order(&self) -> ByteOrder {
                self.byte_order()
            }
            #[inline(always)]
            fn session(&self) -> u64 {
                self.session()
            }
            fn data(&self) -> &'a [u8] {
                self.data()
            }
            fn offset(&self) -> u64 {
                self.offset()
            }
        }
    };
}

source!(Frames<'a, N>, |_: &mut Self| None);
source!(recover::Frames<'a, N>, |frames: &mut Self| frames.recover());

/// The size of an entry in lent memory: a piece of an open record.
const ENTRY: usize = 16;
/// No entry.
const NONE: u32 = u32::MAX;
/// No slot.
const END: u16 = u16::MAX;

/// The records of a file, with their streams and times, in the order in which they end.
///
/// A record may lie in several frames, between which those of other streams lie; several records may be open at once.
/// The pieces of open records are kept in `buffer`, which the caller lends: 16 bytes a piece (of up to 1,024 bytes), and
/// the bytes of a record in several pieces once it is complete. A record in one piece is borrowed from the input and
/// takes nothing; so an empty buffer will do where there are no others.
///
/// # Errors
///
/// As for the frames that it reads: after an error comes `None`, until [`recover`](Self::recover) goes on, if those are
/// [`recover::Frames`]. A record for which the buffer is too small says so itself: [`Record::bytes`].
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::rtc::{Records, recover};
///
/// let mut buffer = [0; 4096];
/// let mut records = Records::new(recover::Frames::<64>::new(data), &mut buffer);
/// loop {
///     while let Ok(Some(record)) = records.next_record() {
///         println!("{:?} {:?}: {:?}", record.time(), record.stream().name(), record.samples()?);
///     }
///     let Some(gap) = records.recover() else { break };
///     println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap();
/// ```
pub struct Records<'b, F, const N: usize> {
    frames: F,
    clocks: Clocks<N>,
    open: [Pending; N],
    /// Sessions and gaps so far: what was open before is not any more.
    epoch: u32,
    session: u64,
    buffer: &'b mut [u8],
    /// How many entries of the buffer were ever used since none was, and those of them that are free again.
    used: u32,
    free: u32,
    /// How many entries all open records take or would, and the most of them since there was none.
    wanted: u32,
    high: u32,
    /// The chain of the record that was delivered last.
    delivered: (u32, u32, u32),
    /// The slots of the first and the last record that are open, in the order in which they began.
    first: u16,
    last: u16,
}

/// A record of which more is to come.
#[derive(Clone, Copy)]
struct Pending {
    offset: u64,
    payload_offset: u64,
    len: u64,
    time: Option<Time>,
    head: u32,
    tail: u32,
    count: u32,
    /// It is open in that epoch only.
    epoch: u32,
    is_open: bool,
    /// The open records that began right before and after it.
    before: u16,
    after: u16,
    /// Whether there was no room for one of its pieces.
    is_too_long: bool,
}

impl Pending {
    const NONE: Self = Self {
        offset: 0,
        payload_offset: 0,
        len: 0,
        time: None,
        head: NONE,
        tail: NONE,
        count: 0,
        epoch: 0,
        is_open: false,
        before: END,
        after: END,
        is_too_long: false,
    };
}

impl<'b, 'a, F: Source<'a, N>, const N: usize> Records<'b, F, N> {
    /// The records of `frames`, which are put together in `buffer`.
    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    pub fn new(frames: F, buffer: &'b mut [u8]) -> Self {
        let session = frames.session();
        Self {
            frames,
            clocks: Clocks::new(),
            open: [Pending::NONE; N],
            epoch: 0,
            session,
            buffer,
            used: 0,
            free: NONE,
            wanted: 0,
            high: 0,
            delivered: (NONE, NONE, 0),
            first: END,
            last: END,
        }
    }

    /// The next record; `None` at the end of the input, and after an error.
    ///
    /// The rest of a record whose beginning was lost is left out, as is what [may be one](Frame::is_certain), and a record
    /// that does not end.
    ///
    /// # Errors
    ///
    /// Where and why reading cannot go on.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_, 'a, N>>> {
        loop {
            match self.next_step()? {
                Some(Step::Record(found)) => return Ok(self.record(&found)),
                Some(Step::Frame(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next frame that does not complete a record, or the next record: for programs that look at both.
    ///
    /// # Errors
    ///
    /// As for [`next_record`](Self::next_record).
    #[inline]
    pub fn next_item(&mut self) -> Result<Option<Item<'_, 'a, N>>> {
        match self.next_step()? {
            Some(Step::Frame(frame)) => Ok(Some(Item::Frame(frame))),
            Some(Step::Record(found)) => {
                let frame = found.frame;
                Ok(self.record(&found).map(|record| Item::Record(frame, record)))
            }
            None => Ok(None),
        }
    }

    /// As [`next_item`](Self::next_item), but the record is lent only when it is [asked for](Self::record).
    #[inline]
    pub(crate) fn next_step(&mut self) -> Result<Option<Step<'a>>> {
        if self.delivered.2 > 0 {
            self.release();
        }
        let Some(frame) = self.frames.next_frame()? else { return Ok(None) };
        let Some(slot) = frame.slot() else {
            if self.session != self.frames.session() {
                self.session = self.frames.session();
                self.interrupt();
            }
            return Ok(Some(Step::Frame(frame)));
        };
        self.clocks.observe(self.frames.streams(), self.frames.byte_order(), &frame);
        if frame.more() || frame.continues() {
            return Ok(Some(self.join(&frame, slot)));
        }
        self.close(slot);
        if !frame.is_certain() {
            return Ok(Some(Step::Frame(frame)));
        }
        Ok(Some(Step::Record(Found { frame, slot, pending: None })))
    }

    /// Goes on after damage, and says what was lost; `None` if there was none, or with strict [`Frames`].
    pub fn recover(&mut self) -> Option<Gap> {
        let gap = self.frames.recover()?;
        if gap.cause().kind().code() != "capacity-exceeded" {
            self.interrupt();
        }
        Some(gap)
    }

    /// Goes on with other frames of the same input.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn restart(&mut self, frames: F) {
        self.session = frames.session();
        self.frames = frames;
        self.interrupt();
    }

    /// What was open is not any more.
    fn interrupt(&mut self) {
        self.clocks.reset();
        self.epoch = self.epoch.wrapping_add(1);
        (self.used, self.free, self.wanted, self.high) = (0, NONE, 0, 0);
        self.delivered = (NONE, NONE, 0);
        (self.first, self.last) = (END, END);
    }

    /// Adds the record in `slot` to those that are open.
    fn link(&mut self, slot: usize) {
        let Ok(link) = u16::try_from(slot) else { return };
        let before = core::mem::replace(&mut self.last, link);
        if let Some(open) = self.open.get_mut(slot) {
            (open.before, open.after) = (before, END);
        }
        match self.open.get_mut(usize::from(before)) {
            Some(before) => before.after = link,
            None => self.first = link,
        }
    }

    /// Takes the record in `slot` out of those that are open.
    fn unlink(&mut self, slot: usize) {
        let Some((before, after)) = self.open.get(slot).map(|open| (open.before, open.after)) else { return };
        match self.open.get_mut(usize::from(before)) {
            Some(before) => before.after = after,
            None => self.first = after,
        }
        match self.open.get_mut(usize::from(after)) {
            Some(after) => after.before = before,
            None => self.last = before,
        }
    }

    /// A piece of a record that has several.
    #[cold]
    fn join(&mut self, frame: &Frame<'a>, slot: usize) -> Step<'a> {
        let epoch = self.epoch;
        if !frame.continues() {
            self.close(slot);
            let time = self.clocks.time_at(slot);
            if let Some(open) = self.open.get_mut(slot) {
                let (offset, payload_offset) = (frame.offset(), frame.payload_offset());
                *open = Pending {
                    offset,
                    payload_offset,
                    time,
                    epoch,
                    is_open: frame.is_certain(),
                    ..Pending::NONE
                };
            }
            if frame.is_certain() {
                self.link(slot);
            }
        }
        let is_open = |open: &&mut Pending| open.is_open && open.epoch == epoch;
        // The rest of a record whose beginning was lost is none.
        let Some(open) = self.open.get_mut(slot).filter(is_open) else { return Step::Frame(*frame) };
        open.len = open.len.saturating_add(to_u64(frame.payload().len()));
        let mut pending = *open;
        if !pending.is_too_long {
            match self.append(pending.tail, frame) {
                Some(entry) => {
                    pending.tail = entry;
                    pending.head = if pending.head == NONE { entry } else { pending.head };
                }
                None => pending.is_too_long = true,
            }
        }
        pending.count = pending.count.saturating_add(1);
        self.wanted = self.wanted.saturating_add(1);
        self.high = self.high.max(self.wanted);
        pending.is_open = frame.more();
        if let Some(open) = self.open.get_mut(slot) {
            *open = pending;
        }
        if frame.more() {
            return Step::Frame(*frame);
        }
        self.unlink(slot);
        self.delivered = (pending.head, pending.tail, pending.count);
        Step::Record(Found { frame: *frame, slot, pending: Some(pending) })
    }

    /// Another record of the stream begins: one that did not end is none.
    #[inline]
    fn close(&mut self, slot: usize) {
        let Some(open) = self.open.get_mut(slot) else { return };
        if open.is_open && open.epoch == self.epoch {
            open.is_open = false;
            let chain = (open.head, open.tail, open.count);
            self.unlink(slot);
            self.free_chain(chain);
        }
    }

    /// Adds an entry after `tail`; `None` if there is no room.
    fn append(&mut self, tail: u32, frame: &Frame<'_>) -> Option<u32> {
        let entry = if self.free == NONE {
            let entry = self.used;
            let end = usize::try_from(entry).ok()?.checked_add(1)?.checked_mul(ENTRY)?;
            self.buffer.get(..end)?;
            self.used = self.used.checked_add(1)?;
            entry
        } else {
            let entry = self.free;
            self.free = Entry::read(self.buffer, entry)?.next;
            entry
        };
        let len = u16::try_from(frame.payload().len()).unwrap_or(u16::MAX);
        Entry { offset: frame.offset(), header: frame.header_size(), len, next: NONE }
            .write(self.buffer, entry);
        if let Some(last) = Entry::read(self.buffer, tail) {
            Entry { next: entry, ..last }.write(self.buffer, tail);
        }
        Some(entry)
    }

    /// The entries of the record that was delivered last are free.
    #[cold]
    fn release(&mut self) {
        let chain = core::mem::replace(&mut self.delivered, (NONE, NONE, 0));
        self.free_chain(chain);
    }

    fn free_chain(&mut self, (head, tail, count): (u32, u32, u32)) {
        self.wanted = self.wanted.saturating_sub(count);
        if self.wanted == 0 {
            (self.used, self.free, self.high) = (0, NONE, 0);
        } else if let Some(last) = Entry::read(self.buffer, tail) {
            Entry { next: self.free, ..last }.write(self.buffer, tail);
            self.free = head;
        }
    }

    /// The record that was found, until the next one is asked for.
    #[inline]
    pub(crate) fn record(&mut self, found: &Found<'a>) -> Option<Record<'_, 'a, N>> {
        let order = self.frames.byte_order();
        let (frame, slot) = (&found.frame, found.slot);
        let clock = self.clocks.clock_of(slot);
        let now = self.clocks.time_at(slot);
        let data = self.frames.data();
        let Some(pending) = &found.pending else {
            let streams = self.frames.streams();
            let stream = streams.at(slot)?;
            let body = Body::Whole(frame.payload());
            let (offset, payload_offset) = (frame.offset(), frame.payload_offset());
            let (len, session) = (to_u64(frame.payload().len()), self.session);
            let pieces = Pieces::one(frame);
            return Some(Record {
                streams,
                stream,
                slot,
                session,
                offset,
                payload_offset,
                len,
                time: now,
                clock,
                order,
                body,
                pieces,
            });
        };
        let entries = usize::try_from(self.used).ok()?.checked_mul(ENTRY)?;
        let capacity = to_u64(self.buffer.len());
        let (entries, room) = self.buffer.split_at_mut_checked(entries)?;
        let pieces = Pieces { data, one: None, entries, next: pending.head };
        let needed = u64::from(self.high).saturating_mul(to_u64(ENTRY)).saturating_add(pending.len);
        let joined = usize::try_from(pending.len).ok().and_then(|len| room.get_mut(..len));
        let body = match joined.filter(|_| !pending.is_too_long) {
            Some(joined) => {
                let mut to = &mut *joined;
                for (_, piece) in pieces.clone() {
                    let Some((front, rest)) = to.split_at_mut_checked(piece.len()) else { break };
                    front.iter_mut().zip(piece).for_each(|(to, &byte)| *to = byte);
                    to = rest;
                }
                Body::Joined(joined)
            }
            None => {
                let kind = ErrorKind::CapacityExceeded { capacity, needed };
                Body::TooLong(Error::new(pending.offset, element::RECORD, kind))
            }
        };
        // A stamp's own time is what it says.
        let time = if clock == Some(slot) { now } else { pending.time };
        let (offset, payload_offset, len) = (pending.offset, pending.payload_offset, pending.len);
        let session = self.session;
        let streams = self.frames.streams();
        let stream = streams.at(slot)?;
        Some(Record {
            streams,
            stream,
            slot,
            session,
            offset,
            payload_offset,
            len,
            time,
            clock,
            order,
            body,
            pieces,
        })
    }

    /// The frames that the records are read from.
    pub const fn frames(&self) -> &F {
        &self.frames
    }

    /// The streams of the session, as far as they have been declared.
    pub fn streams(&self) -> &Streams<'a, N> {
        self.frames.streams()
    }

    /// Sets what a clock said last.
    pub(crate) fn set_clock(&mut self, slot: usize, time: Time) {
        self.clocks.resolve(self.frames.streams(), slot);
        self.clocks.set(slot, Some(time));
    }

    /// The clocks: what each said last.
    pub const fn clocks(&self) -> &Clocks<N> {
        &self.clocks
    }

    /// The offset of the first record that has begun and has not ended; `None` if there is none.
    ///
    /// No record that is delivered later begins before it.
    pub fn first_open(&self) -> Option<u64> {
        self.open.get(usize::from(self.first)).map(|open| open.offset)
    }
}

impl<F, const N: usize> fmt::Debug for Records<'_, F, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("session", &self.session).finish_non_exhaustive()
    }
}

/// What [`Records::next_item`] gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // It is taken apart at once.
pub enum Item<'r, 'a, const N: usize> {
    /// A frame that completes no record: of a default stream, or a piece.
    Frame(Frame<'a>),
    /// A record, and the frame that completes it.
    Record(Frame<'a>, Record<'r, 'a, N>),
}

pub(crate) enum Step<'a> {
    Frame(Frame<'a>),
    Record(Found<'a>),
}

/// A complete record: its last frame, and the others if it has some.
pub(crate) struct Found<'a> {
    frame: Frame<'a>,
    slot: usize,
    pending: Option<Pending>,
}

#[cfg_attr(not(feature = "event"), allow(dead_code))]
impl Found<'_> {
    /// The slot of its stream.
    pub(crate) const fn slot(&self) -> usize {
        self.slot
    }

    /// Offset of its first frame.
    pub(crate) fn offset(&self) -> u64 {
        self.pending.map_or(self.frame.offset(), |pending| pending.offset)
    }

    /// Offset after its last frame.
    pub(crate) const fn end(&self) -> u64 {
        self.frame.end()
    }

    /// When it was written, if that is not what it says itself.
    pub(crate) fn time<const N: usize>(&self, clocks: &Clocks<N>) -> Option<Time> {
        match &self.pending {
            Some(pending) if clocks.clock_of(self.slot) != Some(self.slot) => pending.time,
            _ => clocks.time_at(self.slot),
        }
    }
}

/// A piece, as it is kept in lent memory: offset of the frame, size of its header, length of its payload, next entry.
#[derive(Clone, Copy)]
struct Entry {
    offset: u64,
    len: u16,
    header: u8,
    next: u32,
}

impl Entry {
    fn read(buffer: &[u8], entry: u32) -> Option<Self> {
        let start = usize::try_from(entry).ok()?.checked_mul(ENTRY)?;
        let bytes = buffer.get(start..)?.first_chunk::<ENTRY>()?;
        let [a, b, c, d, e, f, g, h, l, m, header, _, n, o, p, q] = *bytes;
        Some(Self {
            offset: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            len: u16::from_le_bytes([l, m]),
            header,
            next: u32::from_le_bytes([n, o, p, q]),
        })
    }

    fn write(self, buffer: &mut [u8], entry: u32) {
        let start = usize::try_from(entry).ok().and_then(|entry| entry.checked_mul(ENTRY));
        let to = start.and_then(|start| buffer.get_mut(start..)?.first_chunk_mut::<ENTRY>());
        let Some(to) = to else { return };
        let ([a, b, c, d, e, f, g, h], [l, m]) = (self.offset.to_le_bytes(), self.len.to_le_bytes());
        let [n, o, p, q] = self.next.to_le_bytes();
        *to = [a, b, c, d, e, f, g, h, l, m, self.header, 0, n, o, p, q];
    }
}

#[derive(Clone, Copy)]
enum Body<'r> {
    Whole(&'r [u8]),
    Joined(&'r [u8]),
    TooLong(Error),
}

/// A record: what was written at once, of which stream, and when.
#[derive(Clone)]
pub struct Record<'r, 'a, const N: usize> {
    streams: &'r Streams<'a, N>,
    stream: &'r Stream<'a>,
    slot: usize,
    session: u64,
    offset: u64,
    payload_offset: u64,
    len: u64,
    time: Option<Time>,
    clock: Option<usize>,
    order: ByteOrder,
    body: Body<'r>,
    pieces: Pieces<'r, 'a>,
}

impl<'r, 'a, const N: usize> Record<'r, 'a, N> {
    /// Its stream.
    pub const fn stream(&self) -> &'r Stream<'a> {
        self.stream
    }

    /// The slot of its stream in the [table](Streams::at).
    pub const fn slot(&self) -> usize {
        self.slot
    }

    /// The number of its session, from 0.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// Offset of its first frame in the input.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Offset of its first byte in the input.
    pub const fn payload_offset(&self) -> u64 {
        self.payload_offset
    }

    /// How many bytes it has; at least one.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// When it was written, on its stream's clock; `None` if that has not been stamped, or if there is none.
    ///
    /// The time of a stamp is what it says itself.
    pub const fn time(&self) -> Option<Time> {
        self.time
    }

    /// Its stream's clock; the stream itself, if the record is a stamp.
    pub fn clock(&self) -> Option<&'r Stream<'a>> {
        self.streams.at(self.clock?)
    }

    /// Whether it is a stamp of a clock.
    pub fn is_stamp(&self) -> bool {
        self.clock == Some(self.slot)
    }

    /// The stream that it annotates, if its stream names one.
    pub fn annotated(&self) -> Option<&'r Stream<'a>> {
        self.streams.at(self.streams.slot_of_name(self.stream.stream()?)?)
    }

    /// The streams of the session, as far as they have been declared.
    pub const fn streams(&self) -> &'r Streams<'a, N> {
        self.streams
    }

    /// Its bytes: borrowed from the input if it is in one piece, else from the lent buffer.
    ///
    /// # Errors
    ///
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the size of a buffer that suffices.
    pub const fn bytes(&self) -> Result<&'r [u8]> {
        match self.body {
            Body::Whole(bytes) | Body::Joined(bytes) => Ok(bytes),
            Body::TooLong(error) => Err(error),
        }
    }

    /// Its pieces, in order: where each frame stands, and its payload.
    ///
    /// Of a record whose [`bytes`](Self::bytes) are an error, they may be fewer.
    pub fn pieces(&self) -> Pieces<'r, 'a> {
        self.pieces.clone()
    }

    /// Its samples, by the stream's format.
    ///
    /// # Errors
    ///
    /// As for [`bytes`](Self::bytes).
    pub fn samples(&self) -> Result<Samples<'r>> {
        Ok(Samples::new(self.bytes()?, self.payload_offset, self.stream.format(), self.order))
    }

    /// The annotation that it is; `None` if its stream has not the format of one.
    ///
    /// # Errors
    ///
    /// As for [`bytes`](Self::bytes), or it is too short for a time.
    pub fn annotation(&self) -> Option<Result<Annotation<'r>>> {
        match self.bytes() {
            Ok(bytes) => Annotation::parse(bytes, self.payload_offset, self.stream.format(), self.order),
            Err(error) => Some(Err(error)),
        }
    }
}

impl<const N: usize> fmt::Debug for Record<'_, '_, N> {
    /// Where it stands; never what is in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} {:#x}, {} bytes)", self.stream.id(), self.offset, self.len)
    }
}

/// The pieces of a [`Record`].
#[derive(Clone)]
pub struct Pieces<'r, 'a> {
    data: &'a [u8],
    /// The only one.
    one: Option<(u64, &'a [u8])>,
    entries: &'r [u8],
    next: u32,
}

impl<'a> Pieces<'_, 'a> {
    const fn one(frame: &Frame<'a>) -> Self {
        Self { data: &[], one: Some((frame.offset(), frame.payload())), entries: &[], next: NONE }
    }
}

impl<'a> Iterator for Pieces<'_, 'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(one) = self.one.take() {
            return Some(one);
        }
        let entry = Entry::read(self.entries, self.next)?;
        self.next = entry.next;
        let start = usize::try_from(entry.offset).ok()?.checked_add(usize::from(entry.header))?;
        Some((entry.offset, self.data.get(start..)?.get(..usize::from(entry.len))?))
    }
}

impl core::iter::FusedIterator for Pieces<'_, '_> {}

impl fmt::Debug for Pieces<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").finish_non_exhaustive()
    }
}
