//! Frames that are proven.

use super::anchor::{Anchor, Finder};
use super::queue::Queue;
use super::reason::GapReason;
use crate::ByteOrder;
use crate::Gap;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::begin::{Rest, doubt};
use crate::rtc::frames as strict;
use crate::rtc::reader::{Due, Reader};
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{Unit, signed};
use crate::rtc::{CrcStatus, Frame, Grid, Streams, crc_ieee};
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
    /// What reads ahead.
    pub(in crate::rtc) ahead: Reader<'a, R>,
    /// The next frame to be delivered.
    pos: usize,
    queue: Queue<'a>,
    /// What stopped the look-ahead.
    fault: Option<Error>,
    /// The error that was delivered.
    stopped: Option<Error>,
    reason: Option<GapReason>,
    /// Where reading can go on after the fault.
    found: Option<Anchor<'a>>,
    /// Whether, up to the next boundary, it is only guessed how much is left of a record that damage hit.
    guessed: bool,
    pub(super) finder: Finder,
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

    fn at(mut ahead: Reader<'a, R>) -> Self {
        ahead.doubt = Some(doubt);
        Self {
            queue: Queue::new(),
            pos: ahead.pos,
            fault: None,
            stopped: None,
            reason: None,
            found: None,
            guessed: false,
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
        match self.queue.first() {
            Some(frame) if frame.is_user() => {
                let frame = *frame;
                self.deliver(&frame);
                Ok(Some(frame))
            }
            _ => self.next_slow(),
        }
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
                Due::Minor => self.begin_minor(),
                Due::Major => self.begin_major(),
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
            Some(anchor) => self.go_on(anchor),
            None => {
                self.pos = self.ahead.data.len();
                self.ahead.pos = self.pos;
                self.ahead.stop();
            }
        }
    }

    /// Goes on at an anchor, or at a frame between what was delivered and it to which its index leads.
    fn go_on(&mut self, anchor: Anchor<'a>) {
        self.guessed = false;
        self.learn_around(&anchor);
        let before = self.backtrack(self.pos, &anchor);
        self.ahead.reset(Open::Unknown);
        let (at, unit) = before.unwrap_or_else(|| {
            let at = usize::try_from(anchor.at).unwrap_or(self.ahead.data.len());
            self.ahead.pos = at;
            if let Rest::Unknown { slot, length } = self.ahead.expect_rest(&anchor.unit, at) {
                self.guessed = !self.try_rests(slot, length, &anchor);
            }
            (at, anchor.unit)
        });
        // A frame to which an index leads may be a piece of a record whose writer cuts it itself.
        self.ahead.is_first |= before.is_some();
        self.pos = at;
        self.ahead.enter(unit, at);
    }

    /// Gets to know the streams of the unit after damage, which may be of another session.
    fn learn_around(&mut self, anchor: &Anchor<'a>) {
        if self.ahead.unit.is_some_and(|last| self.is_other_session(&last, anchor)) {
            self.ahead.new_session();
        }
        // What does not fit is reported where the Meta is delivered.
        let _ = self.ahead.learn_at(if anchor.begins { anchor.at } else { anchor.unit.offset() }, true);
        if !anchor.begins {
            // Its own Meta may be lost, and it may have had a meta; the next one tells of both.
            let _ = self.ahead.learn_at(anchor.unit.end(), false);
        }
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
        let said = self.ahead.compare(unit.offset()).or_else(|| self.ahead.compare(unit.end()));
        said.is_some_and(|(same, others)| others > same)
            || unit.number() < last.number() && !last.shares_grid(unit)
    }

    fn begin_minor(&mut self) {
        self.guessed = false;
        self.ahead.begin_minor();
    }

    fn begin_major(&mut self) {
        self.guessed = false;
        if let Err(error) = self.ahead.begin_major() {
            self.fail(error);
        }
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
        // Nothing contradicts the frames before the end of the input, or before a fault that is not theirs. But if too
        // much was taken for the rest of a record, the frames after it are wrong, too.
        let ahead = &self.ahead;
        let is_cut =
            error.is_truncation() && (ahead.is_marker_begun(ahead.pos) || !ahead.is_whole && !self.guessed);
        if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.queue.release_all();
            return;
        }
        if is_cut || ahead.pos == ahead.limit {
            self.queue.release_all();
        } else {
            self.queue.release(self.ahead.known.streams().len());
        }
        self.ahead.stop();
        self.find_anchor(error);
    }

    /// Finds out where reading can go on.
    fn find_anchor(&mut self, cause: Error) {
        let first = self.queue.next_unreleased().unwrap_or(to_u64(self.ahead.pos));
        let out_of_sequence = matches!(cause.kind(), ErrorKind::OutOfSequence { .. });
        // What failed here must not be tried again.
        let is_new = out_of_sequence || self.ahead.unit.is_none();
        let from = if is_new { first } else { first.saturating_add(1) };
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
    /// Where a file is still growing, this is where to go on when it has more bytes.
    pub const fn offset(&self) -> u64 {
        to_u64(self.pos)
    }
}

strict::tells_state!(ahead);
