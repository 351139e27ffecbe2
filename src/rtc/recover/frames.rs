//! Frames that are proven.

use super::anchor::{Anchor, Finder};
use super::queue::Queue;
use super::reason::GapReason;
use crate::ByteOrder;
use crate::Gap;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::begin::Rest;
use crate::rtc::frame::{self, MAX_PAYLOAD};
use crate::rtc::frames as strict;
use crate::rtc::index::first_target;
use crate::rtc::reader::{Due, Reader};
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{Unit, signed};
use crate::rtc::{CrcStatus, Frame, Grid, Streams, crc_ieee};
use crate::varint::len_u64;
use core::fmt;
use core::iter::FusedIterator;

/// The frames of a file in file order, over all damage. The slots have room for the streams of a session.
///
/// Every frame is delivered, those of the default streams included; [`Frame::is_user`] tells them apart. Together
/// with the [gaps](Gap) they tile the input. A record may lie in several frames: [`Records`](crate::rtc::Records) joins
/// them.
///
/// Time is linear in the input; memory is 5 KiB, about half of that on 32 bits, and a slot a stream.
///
/// # Errors
///
/// An error says where reading could not go on, and `None` follows. [`recover`](Self::recover) then goes on after the
/// damage and says what was lost.
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) {
/// use traceglass::rtc::StreamSlot;
/// use traceglass::rtc::recover::Frames;
///
/// let mut frames = Frames::new(data, [StreamSlot::EMPTY; 64]);
/// loop {
///     while let Ok(Some(frame)) = frames.next_frame() {
///         // …
///         # let _ = frame;
///     }
///     let Some(gap) = frames.recover() else { break };
///     println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
/// }
/// # }
/// # read(b"");
/// ```
#[derive(Clone)]
pub struct Frames<'a, R> {
    /// The reader, which is ahead of what was delivered.
    pub(in crate::rtc) ahead: Reader<'a, R>,
    /// The next frame to be delivered.
    pos: usize,
    queue: Queue<'a>,
    /// The error that stopped the look-ahead.
    fault: Option<Error>,
    /// The error that was delivered.
    stopped: Option<Error>,
    reason: Option<GapReason>,
    /// The place where reading can go on after the fault.
    found: Option<Anchor<'a>>,
    finder: Finder,
}

impl<'a, R: Room<StreamSlot<'a>>> Frames<'a, R> {
    /// Begins at the start of the input.
    #[inline(never)] // What it is made from does not stay on the caller's stack.
    pub fn new(data: &'a [u8], slots: R) -> Self {
        Self::at(Reader::new(data, 0, slots))
    }

    /// Begins at the Marker at `offset`, as other frames or a [`Grid`](crate::rtc::Grid) have found it.
    pub fn at_unit(data: &'a [u8], offset: u64, slots: R) -> Self {
        Self::from_strict(strict::Frames::at_unit(data, offset, slots))
    }

    /// Goes on where `frames` are, such as those that a [`Grid`](crate::rtc::Grid) gives.
    pub fn from_strict(frames: strict::Frames<'a, R>) -> Self {
        Self::at(frames.0)
    }

    /// Goes to where a grid leads, in the same slots.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(super) fn begin(&mut self, grid: &Grid<'a>, offset: u64) -> Result<()> {
        grid.begin(&mut self.ahead, offset)?;
        self.pos = self.ahead.pos;
        Ok(())
    }

    fn at(ahead: Reader<'a, R>) -> Self {
        Self {
            queue: Queue::new(),
            pos: ahead.pos,
            fault: None,
            stopped: None,
            reason: None,
            found: None,
            finder: Finder::new(ahead.data.len()),
            ahead,
        }
    }

    /// The next frame; `None` at the end of the input, and after an error.
    ///
    /// # Errors
    ///
    /// Whatever damage stands in the way; `None` follows until [`recover`](Self::recover) is called.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        match self.take_user() {
            Some(frame) => Ok(Some(frame)),
            None => self.next_slow(),
        }
    }

    /// The next frame, if it is one of a user's stream that was read ahead; else nothing is read, and
    /// [`next_frame`](Self::next_frame) says what there is.
    ///
    /// Most frames are: a loop that asks for them first is faster.
    #[inline(always)]
    pub fn take_user(&mut self) -> Option<Frame<'a>> {
        let frame = *self.queue.first().filter(|frame| frame.is_user())?;
        self.deliver(&frame);
        Some(frame)
    }

    #[inline(always)]
    fn deliver(&mut self, frame: &Frame<'a>) {
        self.queue.pop();
        // In the input.
        self.pos = usize::try_from(frame.end()).unwrap_or(usize::MAX);
    }

    /// The next frame, of a default stream, or once the look-ahead has gone on.
    #[cold]
    fn next_slow(&mut self) -> Result<Option<Frame<'a>>> {
        loop {
            if let Some(&frame) = self.queue.first() {
                self.deliver(&frame);
                self.ahead.note(&frame);
                return Ok(Some(frame));
            }
            if self.stopped.is_some() {
                return Ok(None);
            }
            if let Some(fault) = self.fault.take() {
                self.stopped = Some(fault);
                return Err(fault);
            }
            match self.ahead.due {
                Due::Frame => self.look_ahead(),
                Due::Minor => self.ahead.begin_minor(),
                Due::Major => {
                    if let Err(error) = self.ahead.begin_major() {
                        self.fail(error);
                    }
                }
                Due::Nothing => return Ok(None),
            }
        }
    }

    /// Goes on after damage: `None` if there was none, or if the input has ended.
    pub fn recover(&mut self) -> Option<Gap> {
        let cause = self.stopped.take()?;
        let from = self.pos;
        self.go_on_after(cause);
        self.ahead.trail.reset();
        let len = to_u64(self.pos.saturating_sub(from));
        Some(Gap::new(to_u64(from), len, cause))
    }

    fn go_on_after(&mut self, cause: Error) {
        self.reason = Some(GapReason::new(cause, self.ahead.unit.is_none(), self.found.is_some()));
        if matches!(cause.kind(), ErrorKind::CapacityExceeded { .. }) {
            return;
        }
        self.ahead.meta = None;
        self.queue.clear();
        match self.found.take() {
            Some(anchor) => self.begin_at(&anchor),
            None => {
                self.pos = self.ahead.data.len();
                self.ahead.pos = self.pos;
                self.ahead.stop();
            }
        }
    }

    /// Begins to read at an anchor, or at the first frame before it to which its index leads.
    fn begin_at(&mut self, anchor: &Anchor<'a>) {
        // The unit may be of another session.
        if self.ahead.unit.is_some_and(|last| self.is_other_session(&last, anchor)) {
            self.ahead.new_session();
        }
        self.ahead.learn_around(&anchor.unit, anchor.at);
        let at = usize::try_from(anchor.at).unwrap_or(self.ahead.data.len());
        let before = self.first_before(anchor).filter(|&(start, unit)| {
            self.ahead.reset(Open::Unknown);
            self.read_on(unit, start, true) == Some(at)
        });
        let (start, unit) = before.unwrap_or((at, anchor.unit));
        if before.is_some() {
            self.ahead.reset(Open::Unknown);
            // It may be a piece of a record whose writer cuts it itself.
            self.ahead.is_first = true;
        } else if let Rest::Unknown { slot, length } = self.ahead.expect_rest(&unit, start) {
            let rest = self.likely_rest(slot, length, anchor);
            self.ahead.begin_with(slot, rest);
        }
        self.pos = start;
        self.ahead.enter(unit, start);
    }

    /// The first frame from what was delivered on to which the index of an anchor leads, and its unit.
    fn first_before(&self, anchor: &Anchor<'a>) -> Option<(usize, Unit<'a>)> {
        let whole = self.ahead.whole();
        let unit = &anchor.unit;
        let (index, unit) = if anchor.begins {
            let back = signed(unit.major_size()).saturating_neg();
            (unit.index()?, unit.moved(back, unit.number().checked_sub(1)?))
        } else {
            (unit.minor_index(whole, anchor.at).ok()?, *unit)
        };
        let target = first_target(whole, &index, to_u64(self.pos), anchor.at)?;
        Some((usize::try_from(target).ok()?, unit))
    }

    /// The number of bytes that are left of a record at an anchor: one that leads to the end of the minor unit or of the
    /// input, of those whose piece before the boundary has its header; or else of all.
    fn likely_rest(&mut self, slot: usize, length: u64, anchor: &Anchor<'a>) -> Option<u64> {
        let at = usize::try_from(anchor.at).ok()?;
        let [mut cut, mut other] = [None; 2];
        for rest in 0..length.min(MAX_PAYLOAD.saturating_add(1)) {
            self.ahead.begin_with(slot, Some(rest));
            // A meta would be taken into the table.
            let end = self.read_on(anchor.unit, at, false);
            let read = to_u64(self.ahead.pos).saturating_sub(anchor.at);
            self.finder.looks = self.finder.looks.checked_sub(read)?;
            if end.is_some() {
                let is_cut = rest > 0 && self.is_cut_before(slot, length.saturating_sub(rest), anchor.at);
                let fit = if is_cut { &mut cut } else { &mut other };
                *fit = Some(rest);
            }
        }
        cut.or(other)
    }

    /// True if the header of a piece that was cut at the boundary stands where it must if so much of its record came.
    fn is_cut_before(&self, slot: usize, came: u64, boundary: u64) -> bool {
        // All pieces but the last one have as many bytes as a frame can have.
        let last = came.saturating_sub(1).checked_rem(MAX_PAYLOAD).unwrap_or(0).saturating_add(1);
        let Some(id) = self.ahead.known.get(slot).map(|slot| slot.stream.id()) else { return false };
        // A header of a stream of fixed length is the id alone.
        let size = len_u64(id << 1);
        let at = boundary.checked_sub(last).and_then(|end| end.checked_sub(size));
        let input = at.and_then(|at| self.ahead.whole().range(at, size));
        input.is_some_and(|input| frame::read_header(input).is_ok_and(|(header, _)| header == (id, true)))
    }

    /// Reads from a frame of a unit on, and returns the end of the minor unit, or of the input, if all up to it can be read;
    /// a meta only if that is allowed.
    fn read_on(&mut self, unit: Unit<'a>, start: usize, metas: bool) -> Option<usize> {
        let ahead = &mut self.ahead;
        ahead.enter(unit, start);
        while ahead.due == Due::Frame {
            while ahead.read_fast().is_some() {}
            let is_meta = matches!(ahead.data.get(ahead.pos), Some(0x0c | 0x0d));
            if is_meta && !metas || ahead.read_one().is_err() {
                return None;
            }
        }
        Some(ahead.pos)
    }

    /// True if a unit after damage belongs to another session than the last one before it.
    fn is_other_session(&mut self, last: &Unit<'a>, anchor: &Anchor<'a>) -> bool {
        let unit = &anchor.unit;
        let is_resized = (unit.major_size(), unit.minor_size()) != (last.major_size(), last.minor_size());
        if is_resized || anchor.begins && unit.number() == 0 {
            return true;
        }
        let by = unit.position().saturating_sub(last.position());
        let units = signed(unit.number()).saturating_sub(signed(last.number()));
        if units.checked_mul(signed(unit.major_size())) == Some(by) {
            return false;
        }
        // The Meta of the unit, or of the next one if that is lost, may declare most streams in other words.
        let ahead = &mut self.ahead;
        let others = ahead.declares_others(unit.offset()).or_else(|| ahead.declares_others(unit.end()));
        others == Some(true) || unit.number() < last.number() && !last.shares_grid(unit)
    }

    /// Reads some frames ahead, up to the end of the minor unit.
    fn look_ahead(&mut self) {
        match self.read_ahead() {
            Ok(()) if self.ahead.due == Due::Frame => self.queue.release(self.ahead.known.streams().len()),
            Ok(()) => self.queue.release_all(),
            Err(error) => self.fail(error),
        }
    }

    /// Reading ahead stopped at a fault: releases what is proven all the same, and finds out where to go on.
    fn fail(&mut self, error: Error) {
        self.fault = Some(error);
        if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.queue.release_all();
            return;
        }
        // Nothing contradicts the frames before the end of the input, or before a fault that is not theirs.
        let ahead = &self.ahead;
        let is_cut = error.is_truncation() && (ahead.is_marker_begun(ahead.pos) || !ahead.is_whole);
        if is_cut || ahead.pos == ahead.limit {
            self.queue.release_all();
        } else {
            self.queue.release(ahead.known.streams().len());
        }
        self.ahead.stop();
        let from = self.queue.next_unreleased().unwrap_or(to_u64(self.ahead.pos));
        // A place that failed is not tried again.
        let is_new = matches!(error.kind(), ErrorKind::OutOfSequence { .. }) || self.ahead.unit.is_none();
        let from = if is_new { from } else { from.saturating_add(1) };
        self.found = self.finder.find(&self.ahead, from);
    }

    /// Reads frames until the queue is full, or up to the end of the minor unit.
    fn read_ahead(&mut self) -> Result<()> {
        loop {
            while !self.queue.is_full() {
                let Some(frame) = self.ahead.read_fast() else { break };
                self.queue.push(frame);
            }
            if self.queue.is_full() {
                return Ok(());
            }
            match self.ahead.read_one()? {
                Some(frame) => self.queue.push(frame),
                None if self.ahead.due == Due::Frame => {}
                None => return Ok(()),
            }
        }
    }

    /// Why the last gap was lost.
    pub const fn gap_reason(&self) -> Option<GapReason> {
        self.reason
    }

    /// Offset of the next frame; once the frames have ended, how far reading came.
    ///
    /// A file that is still growing is read on from here when it has more bytes.
    pub const fn offset(&self) -> u64 {
        to_u64(self.pos)
    }
}

strict::tells_state!(ahead);
