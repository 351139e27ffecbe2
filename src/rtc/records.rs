//! Records, joined from frames.

use crate::Gap;
use crate::error::{ErrorKind, Result};
use crate::rtc::frames as strict;
use crate::rtc::pieces::{Joined, Pool};
use crate::rtc::record::Record;
use crate::rtc::source::Source;
use crate::rtc::{Clocks, Frame, Streams, Time};
use core::fmt;

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
/// [`recover::Frames`](crate::rtc::recover::Frames). A record for which the buffer is too small says so itself: [`Record::bytes`].
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
    /// Of the streams up to the last one of which a record came in pieces.
    open: heapless::Vec<Pending, N>,
    /// Sessions and gaps so far: what was open before is not any more.
    epoch: u32,
    session: u64,
    pool: Pool<'b>,
    /// The record in several pieces that was delivered last.
    delivered: Joined,
    /// The slots of the first and the last record that are open, in the order in which they began.
    first: u16,
    last: u16,
}

/// A record of which more is to come.
#[derive(Clone, Copy)]
struct Pending {
    record: Joined,
    /// It is open in that epoch only.
    epoch: u32,
    is_open: bool,
    /// The open records that began right before and after it.
    before: u16,
    after: u16,
}

impl Pending {
    const NONE: Self = Self { record: Joined::NONE, epoch: 0, is_open: false, before: END, after: END };
}

impl<'b, 'a, F: Source<'a, N>, const N: usize> Records<'b, F, N> {
    /// The records of `frames`, which are joined in `buffer`.
    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    pub fn new(frames: F, buffer: &'b mut [u8]) -> Self {
        let session = frames.session();
        Self {
            frames,
            clocks: Clocks::new(),
            open: heapless::Vec::new(),
            epoch: 0,
            session,
            pool: Pool::new(buffer),
            delivered: Joined::NONE,
            first: END,
            last: END,
        }
    }

    /// The next record; `None` at the end of the input, and after an error.
    ///
    /// The rest of a record whose beginning was lost is left out, as is what [may be one](Frame::continues), and a record
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
    #[inline(always)] // What it returns is large, and is copied otherwise.
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
    #[inline(always)]
    pub(crate) fn next_step(&mut self) -> Result<Option<Step<'a>>> {
        if !self.delivered.chain.is_empty() {
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
        let is_complete = if frame.more() || frame.continues() {
            self.join(&frame, slot)
        } else {
            self.close(slot);
            true
        };
        Ok(Some(if is_complete { Step::Record(Found { frame, slot }) } else { Step::Frame(frame) }))
    }

    /// Goes on after damage, and says what was lost; `None` if there was none, or with strict [`Frames`](crate::rtc::Frames).
    pub fn recover(&mut self) -> Option<Gap> {
        let gap = self.frames.recover()?;
        if !matches!(gap.cause().kind(), ErrorKind::CapacityExceeded { .. }) {
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
        self.pool.clear();
        self.delivered = Joined::NONE;
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

    /// Takes a piece of a record that has several; gives whether it completes one.
    #[cold]
    fn join(&mut self, frame: &Frame<'a>, slot: usize) -> bool {
        let epoch = self.epoch;
        if !frame.continues() {
            self.close(slot);
            let time = self.clocks.time_at(slot);
            while self.open.len() <= slot && self.open.push(Pending::NONE).is_ok() {}
            let Some(open) = self.open.get_mut(slot) else { return false };
            let record = Joined {
                start: usize::try_from(frame.offset()).unwrap_or(usize::MAX),
                header: frame.header_size(),
                time: time.unwrap_or_default(),
                has_time: time.is_some(),
                ..Joined::NONE
            };
            *open = Pending { record, epoch, is_open: true, ..Pending::NONE };
            self.link(slot);
        }
        // The rest of a record whose beginning was lost is none.
        let is_open = |open: &&mut Pending| open.is_open && open.epoch == epoch;
        let Some(open) = self.open.get_mut(slot).filter(is_open) else { return false };
        open.record.len = open.record.len.saturating_add(frame.payload().len());
        self.pool.add(&mut open.record.chain, frame);
        open.is_open = frame.more();
        if frame.more() {
            return false;
        }
        self.delivered = open.record;
        self.unlink(slot);
        self.pool.join(&self.delivered, self.frames.data());
        true
    }

    /// Another record of the stream begins: one that did not end is none.
    #[inline]
    fn close(&mut self, slot: usize) {
        let Some(open) = self.open.get_mut(slot) else { return };
        if open.is_open && open.epoch == self.epoch {
            open.is_open = false;
            let chain = open.record.chain;
            self.unlink(slot);
            self.pool.release(chain);
        }
    }

    /// The entries of the record that was delivered last are free.
    #[cold]
    fn release(&mut self) {
        let delivered = core::mem::replace(&mut self.delivered, Joined::NONE);
        self.pool.release(delivered.chain);
    }

    /// The record that was found, until the next one is asked for.
    #[inline(always)]
    pub(crate) fn record(&self, found: &Found<'a>) -> Option<Record<'_, 'a, N>> {
        let (frame, slot) = (found.frame, found.slot);
        let (session, order, data) = (self.session, self.frames.byte_order(), self.frames.data());
        let joined = (!self.delivered.chain.is_empty()).then_some((&self.delivered, &self.pool));
        let (streams, clocks) = (self.frames.streams(), &self.clocks);
        let stream = streams.at(slot)?;
        Some(Record { streams, clocks, stream, slot, session, order, data, frame, joined })
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
        self.open.get(usize::from(self.first)).map(|open| open.record.offset())
    }
}

impl<'b, 'a, const N: usize> Records<'b, strict::Frames<'a, N>, N> {
    /// The records of a sound file: those of [`Frames::new`](strict::Frames::new), put together where they are to lie, which
    /// takes less stack.
    #[inline(never)]
    pub fn strict(data: &'a [u8], buffer: &'b mut [u8]) -> Self {
        Self {
            frames: strict::Frames::new(data),
            clocks: Clocks::new(),
            open: heapless::Vec::new(),
            epoch: 0,
            session: 0,
            pool: Pool::new(buffer),
            delivered: Joined::NONE,
            first: END,
            last: END,
        }
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

/// What comes next.
pub(crate) enum Step<'a> {
    Frame(Frame<'a>),
    Record(Found<'a>),
}

/// A complete record: its last frame, and the slot of its stream.
pub(crate) struct Found<'a> {
    pub(crate) frame: Frame<'a>,
    pub(crate) slot: usize,
}
