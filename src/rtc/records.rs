//! Records, joined from frames.

use crate::ByteOrder;
use crate::error::Result;
use crate::gap::Gap;
use crate::room::Room;
use crate::rtc::pieces::{Joined, Pool};
use crate::rtc::record::Record;
use crate::rtc::slot::{NONE, Pending, StreamSlot};
use crate::rtc::{Frame, Frames, StreamTable, Streams, Time};
use core::fmt;

/// Joins frames to records: the pieces of open records, and the times of all.
pub(super) struct Joiner<'b> {
    /// Sessions and gaps so far, from 1 on: what was open or stamped before is not any more.
    epoch: u32,
    pub(super) session: u64,
    pool: Pool<'b>,
    /// The record in several pieces that was delivered last.
    delivered: Joined,
    /// The slots of the first and the last record that are open, in the order in which they began.
    first: u16,
    last: u16,
}

impl<'b> Joiner<'b> {
    pub(super) const fn new(session: u64, buffer: &'b mut [u8]) -> Self {
        Self { epoch: 1, session, pool: Pool::new(buffer), delivered: Joined::NONE, first: NONE, last: NONE }
    }

    /// Discards open records.
    pub(super) fn interrupt(&mut self) {
        self.epoch = self.epoch.wrapping_add(1).max(1);
        self.pool.clear();
        self.delivered = Joined::NONE;
        (self.first, self.last) = (NONE, NONE);
    }

    /// Takes the next frame; true if it completes a record.
    #[inline(always)]
    pub(super) fn take<'a, R: Room<StreamSlot<'a>>>(
        &mut self,
        known: &mut StreamTable<'a, R>,
        (data, order, session): (&'a [u8], ByteOrder, u64),
        frame: &Frame<'a>,
    ) -> bool {
        if !self.delivered.chain.is_empty() {
            self.pool.release(self.delivered.chain);
            self.delivered = Joined::NONE;
        }
        let Some(slot) = frame.slot() else {
            if self.session != session {
                self.session = session;
                self.interrupt();
            }
            return false;
        };
        let is_clock = known.clock_at(slot) == Some(slot);
        if frame.more() || frame.continues() {
            return self.join(known, data, order, frame, slot);
        }
        if self.first != NONE {
            self.close(known, slot);
        }
        if is_clock {
            known.stamp(slot, self.epoch, order, frame.payload());
        }
        true
    }

    /// Takes a piece of a record that has several.
    #[cold]
    fn join<'a, R: Room<StreamSlot<'a>>>(
        &mut self,
        known: &mut StreamTable<'a, R>,
        data: &'a [u8],
        order: ByteOrder,
        frame: &Frame<'a>,
        slot: usize,
    ) -> bool {
        let epoch = self.epoch;
        let is_clock = known.clock_at(slot) == Some(slot);
        if !frame.continues() {
            self.close(known, slot);
            let time = known.streams().time_at(slot, epoch);
            let record = Joined {
                start: usize::try_from(frame.offset()).unwrap_or(usize::MAX),
                header: frame.header_size(),
                time: time.unwrap_or_default(),
                has_time: time.is_some(),
                ..Joined::NONE
            };
            if let Some(known) = known.get_mut(slot) {
                known.record = Pending { record, epoch, ..Pending::NONE };
            }
            self.link(known, slot);
        }
        let Some(known_slot) = known.get_mut(slot).filter(|slot| slot.record.epoch == epoch) else {
            // The rest of a record whose beginning was lost is none; what a clock says in one is not known.
            if is_clock {
                known.set_clock(slot, epoch, None);
            }
            return false;
        };
        let record = &mut known_slot.record.record;
        record.len = record.len.saturating_add(frame.payload().len());
        self.pool.add(&mut record.chain, frame);
        if frame.more() {
            return false;
        }
        self.delivered = *record;
        self.unlink(known, slot);
        self.pool.join(&self.delivered, data);
        if is_clock {
            match self.pool.bytes(&self.delivered) {
                Ok(bytes) => known.stamp(slot, epoch, order, bytes),
                Err(_) => known.set_clock(slot, epoch, None),
            }
            let time = known.streams().time_at(slot, epoch);
            (self.delivered.time, self.delivered.has_time) = (time.unwrap_or_default(), time.is_some());
        }
        true
    }

    /// Another record of the stream begins: one that did not end is none.
    fn close<'a, R: Room<StreamSlot<'a>>>(&mut self, known: &mut StreamTable<'a, R>, slot: usize) {
        if let Some(open) = known.get(slot).map(|slot| slot.record).filter(|open| open.epoch == self.epoch) {
            self.unlink(known, slot);
            self.pool.release(open.record.chain);
        }
    }

    /// Adds the record in `slot` to those that are open.
    fn link<'a, R: Room<StreamSlot<'a>>>(&mut self, known: &mut StreamTable<'a, R>, slot: usize) {
        let Ok(link) = u16::try_from(slot) else { return };
        let before = core::mem::replace(&mut self.last, link);
        if let Some(known) = known.get_mut(slot) {
            (known.record.before, known.record.after) = (before, NONE);
        }
        match known.get_mut(before.into()) {
            Some(before) => before.record.after = link,
            None => self.first = link,
        }
    }

    /// Takes the record in `slot` out of those that are open.
    fn unlink<'a, R: Room<StreamSlot<'a>>>(&mut self, known: &mut StreamTable<'a, R>, slot: usize) {
        let Some(open) = known.get_mut(slot).map(|slot| &mut slot.record) else { return };
        open.epoch = 0;
        let (before, after) = (open.before, open.after);
        match known.get_mut(before.into()) {
            Some(before) => before.record.after = after,
            None => self.first = after,
        }
        match known.get_mut(after.into()) {
            Some(after) => after.record.before = before,
            None => self.last = before,
        }
    }

    /// The record that was completed last, until the next frame is taken.
    #[inline(always)]
    pub(super) fn record<'r, 'a>(
        &'r self,
        streams: Streams<'r, 'a>,
        (data, order): (&'a [u8], ByteOrder),
        frame: Frame<'a>,
    ) -> Option<Record<'r, 'a>> {
        let slot = frame.slot()?;
        let stream = streams.at(slot)?;
        let joined = (!self.delivered.chain.is_empty()).then_some((&self.delivered, &self.pool));
        let time = match joined {
            Some((joined, _)) => joined.has_time.then_some(joined.time),
            None => streams.time_at(slot, self.epoch),
        };
        Some(Record { streams, stream, slot, time, session: self.session, order, data, frame, joined })
    }

    /// The offset of the first record that has begun and has not ended.
    pub(super) fn first_open(&self, streams: Streams<'_, '_>) -> Option<u64> {
        streams.slots().get(usize::from(self.first)).map(|slot| slot.record.record.offset())
    }

    /// The time on the clock of a stream now.
    pub(super) fn time_at(&self, streams: Streams<'_, '_>, slot: usize) -> Option<Time> {
        streams.time_at(slot, self.epoch)
    }

    /// Sets what clocks said last, by their ids.
    pub(super) fn prime<'a, R: Room<StreamSlot<'a>>>(
        &self,
        known: &mut StreamTable<'a, R>,
        said: &[(u64, Time)],
    ) {
        for &(id, time) in said {
            if let Some(slot) = known.streams().slot(id) {
                let _ = known.clock_at(slot);
                known.set_clock(slot, self.epoch, Some(time));
            }
        }
    }
}

/// The next step of a reader of records.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // It is taken apart at once.
pub enum Step<'r, 'a> {
    /// A record.
    Record(Record<'r, 'a>),
    /// A frame that completes no record: of a default stream, or a piece. Only those who ask for frames, too, get these.
    Frame(Frame<'a>),
    /// A loss: where, how much, and why.
    Gap(Gap),
    /// The end of the input.
    End,
}

/// The part that is the same for the records of either reader of frames, whose [`Reader`](crate::rtc::reader::Reader) is a
/// field of it.
macro_rules! records_of {
    ($reader:tt) => {
        impl<'a, 'b, R: Room<StreamSlot<'a>>> Records<'a, 'b, R> {
            /// The records of a file, with slots for the streams of a session.
            #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
            pub fn new(data: &'a [u8], slots: R, buffer: &'b mut [u8]) -> Self {
                Self { frames: Frames::new(data, slots), joiner: Joiner::new(0, buffer) }
            }

            /// The records from where `frames` are.
            pub fn of(frames: Frames<'a, R>, buffer: &'b mut [u8]) -> Self {
                let joiner = Joiner::new(frames.session(), buffer);
                Self { frames, joiner }
            }

            /// Takes the next frame; true if it completes a record.
            #[inline(always)]
            fn take(&mut self, frame: &Frame<'a>) -> bool {
                let reader = &mut self.frames.$reader;
                self.joiner.take(&mut reader.known, (reader.data, reader.order, reader.session), frame)
            }

            /// The record that `frame` has completed, until the next one is asked for.
            #[inline(always)]
            pub fn record(&self, frame: Frame<'a>) -> Option<Record<'_, 'a>> {
                let reader = &self.frames.$reader;
                self.joiner.record(reader.known.streams(), (reader.data, reader.order), frame)
            }

            /// The frames that the records are read from.
            pub const fn frames(&self) -> &Frames<'a, R> {
                &self.frames
            }

            /// The streams of the session, as far as they have been declared.
            #[inline]
            pub fn streams(&self) -> Streams<'_, 'a> {
                self.frames.streams()
            }

            /// The offset of the first record that has begun and has not ended; `None` if there is none.
            ///
            /// No record that is delivered later begins before it.
            pub fn first_open(&self) -> Option<u64> {
                self.joiner.first_open(self.streams())
            }

            /// Sets the times of clocks before the first record, as a [`Grid`](crate::rtc::Grid) has found them.
            pub fn prime(&mut self, said: &[(u64, Time)]) {
                self.joiner.prime(&mut self.frames.$reader.known, said);
            }
        }

        impl<'a, R: Room<StreamSlot<'a>>> fmt::Debug for Records<'a, '_, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Records").field("frames", &self.frames).finish_non_exhaustive()
            }
        }
    };
}

/// The records of a sound file, with their streams and times, in the order in which they end.
///
/// A record may lie in several frames, between which those of other streams lie; several records may be open at once.
/// The pieces of open records are kept in `buffer`, which the caller lends: 16 bytes a piece (of up to 1,024 bytes), and
/// the bytes of a record in several pieces once it is complete. A record in one piece is borrowed from the input and
/// takes nothing; so an empty buffer will do where there are no others.
///
/// A record for which the buffer is too small says so itself: [`Record::bytes`]. To go on after damage, use
/// [`recover::Records`](crate::rtc::recover::Records).
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::rtc::{Records, StreamSlot};
///
/// let mut buffer = [0; 4096];
/// let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
/// while let Some(record) = records.next_record()? {
///     println!("{:?} {:?}: {:?}", record.time(), record.stream().name(), record.samples()?);
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap_err();
/// ```
pub struct Records<'a, 'b, R> {
    frames: Frames<'a, R>,
    joiner: Joiner<'b>,
}

impl<'a, 'b, R: Room<StreamSlot<'a>>> Records<'a, 'b, R> {
    /// The next record; `None` at the end of the input, and after an error.
    ///
    /// The rest of a record whose beginning was not read is left out, as is what [may be one](Frame::continues), and a
    /// record that does not end.
    ///
    /// # Errors
    ///
    /// The first fault; no record follows it.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_, 'a>>> {
        loop {
            let Some(frame) = self.frames.next_frame()? else { return Ok(None) };
            if self.take(&frame) {
                return Ok(self.record(frame));
            }
        }
    }

    /// The next record, or the next frame that does not complete one: for programs that look at both.
    ///
    /// # Errors
    ///
    /// As for [`next_record`](Self::next_record).
    #[inline(always)] // What it returns is large, and is copied otherwise.
    pub fn next_step(&mut self) -> Result<Step<'_, 'a>> {
        let Some(frame) = self.frames.next_frame()? else { return Ok(Step::End) };
        let is_complete = self.take(&frame);
        Ok(match is_complete.then(|| self.record(frame)).flatten() {
            Some(record) => Step::Record(record),
            None => Step::Frame(frame),
        })
    }
}

records_of!(0);

pub(super) use records_of;
