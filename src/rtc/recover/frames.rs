//! Frames that are proven.

use super::anchor::{Anchor, Finder};
use super::metas;
use super::queue::Queue;
use super::reason::GapReason;
use super::rests::Trial;
use crate::ByteOrder;
use crate::Gap;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::frame::id;
use crate::rtc::frames as strict;
use crate::rtc::item::{Due, Item};
use crate::rtc::lengths::Open;
use crate::rtc::reader::Reader;
use crate::rtc::rest::{Rest, doubt};
use crate::rtc::unit::Unit;
use crate::rtc::{CrcStatus, Frame, Streams, crc_ieee};
use core::fmt;
use core::iter::FusedIterator;

/// The frames of a file in file order, over all damage, with at most `N` streams a session.
///
/// Every frame is delivered, those of the default streams included; [`Frame::is_user`] tells them apart. Together
/// with the [gaps](Gap) they tile the input. A record may lie in several frames: [`Records`](crate::rtc::Records) joins
/// them.
///
/// Time is linear in the input; memory is 5 KiB and 130 bytes a stream, about half of that on 32 bits.
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
/// use traceglass::rtc::recover::Frames;
///
/// let mut frames = Frames::<64>::new(data);
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
pub struct Frames<'a, const N: usize> {
    /// What reads ahead.
    ahead: Reader<'a, N>,
    /// The next frame to be delivered.
    pos: usize,
    queue: Queue,
    /// What stopped the look-ahead.
    fault: Option<Error>,
    /// The error that was delivered.
    stopped: Option<Error>,
    reason: Option<GapReason>,
    /// Where reading can go on after the fault.
    found: Option<Anchor<'a>>,
    /// Whether, up to the next boundary, it is only guessed how much is left of a record that damage hit.
    guessed: bool,
    finder: Finder,
}

impl<'a, const N: usize> Frames<'a, N> {
    /// Begins at the start of the input.
    #[inline(never)] // What it is made from does not stay on the caller's stack.
    pub fn new(data: &'a [u8]) -> Self {
        let mut frames = Self {
            queue: Queue::new(),
            pos: 0,
            fault: None,
            stopped: None,
            reason: None,
            found: None,
            guessed: false,
            finder: Finder::new(data.len()),
            ahead: Reader::new(data, 0),
        };
        frames.ahead.known.doubt = Some(doubt);
        frames
    }

    /// Begins at the Marker at `offset`, as other frames or a [`Grid`](crate::rtc::Grid) have found it.
    pub fn at_unit(data: &'a [u8], offset: u64) -> Self {
        Self::from_strict(strict::Frames::at_unit(data, offset))
    }

    /// Goes on where `frames` are, such as those that a [`Grid`](crate::rtc::Grid) gives.
    pub fn from_strict(frames: strict::Frames<'a, N>) -> Self {
        let pos = frames.0.pos;
        let mut recovering = Self { pos, ..Self::new(frames.0.data) };
        recovering.ahead = frames.0;
        recovering.ahead.known.doubt = Some(doubt);
        recovering
    }

    /// The next frame; `None` at the end of the input, and after an error.
    ///
    /// # Errors
    ///
    /// Whatever damage stands in the way; `None` follows until [`recover`](Self::recover) is called.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        match self.queue.first() {
            Some(item) if item.flags & Item::DEFAULT == 0 => {
                let item = *item;
                self.queue.pop();
                self.pos = item.end();
                Ok(Some(item.frame(self.ahead.data)))
            }
            _ => self.next_slow(),
        }
    }

    /// The next frame, of a default stream, or once the look-ahead has gone on.
    #[cold]
    fn next_slow(&mut self) -> Result<Option<Frame<'a>>> {
        loop {
            if let Some(&item) = self.queue.first() {
                self.queue.pop();
                self.pos = item.end();
                self.ahead.note(&item);
                return Ok(Some(item.frame(self.ahead.data)));
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
        self.ahead.known.meta = None;
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
        metas::learn_around(&mut self.ahead, &anchor);
        let mut trial = Trial { reader: &mut self.ahead, looks: &mut self.finder.looks, anchor };
        let before = trial.backtrack(self.pos);
        trial.reader.known.lengths.reset(Open::Unknown);
        let (at, unit) = before.unwrap_or_else(|| {
            let at = usize::try_from(anchor.at).unwrap_or(trial.reader.data.len());
            trial.reader.pos = at;
            if let Rest::Unknown { slot, length } = trial.reader.known.expect_rest(&anchor.unit, at) {
                self.guessed = !trial.try_rests(slot, length);
            }
            (at, anchor.unit)
        });
        // A frame to which an index leads may be a piece of a record whose writer cuts it itself.
        self.ahead.known.lengths.is_first |= before.is_some();
        self.pos = at;
        self.ahead.enter(unit, at);
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
            Ok(()) if self.ahead.due == Due::Frame => self.queue.release(self.ahead.known.streams.len()),
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
            self.queue.release(ahead.known.streams.len());
        }
        self.ahead.stop();
        self.find_anchor(error);
    }

    /// Finds out where reading can go on.
    fn find_anchor(&mut self, cause: Error) {
        let first = self.queue.next_unreleased().unwrap_or(self.ahead.pos);
        let out_of_sequence = matches!(cause.kind(), ErrorKind::OutOfSequence { .. });
        // What failed here must not be tried again.
        let is_new = out_of_sequence || self.ahead.unit.is_none();
        let from = if is_new { first } else { first.saturating_add(1) };
        self.found = self.finder.find(&self.ahead, to_u64(from));
    }

    /// Reads frames until the queue is full, or up to the end of the minor unit.
    fn read_ahead(&mut self) -> Result<()> {
        loop {
            while !self.queue.is_full() {
                let Some(item) = self.ahead.read_fast() else { break };
                self.queue.push(item);
            }
            if self.queue.is_full() {
                return Ok(());
            }
            match self.ahead.read_one()? {
                Some(item) => {
                    self.queue.push(item);
                    self.read_default(&item);
                }
                None if self.ahead.due == Due::Frame => {}
                None => return Ok(()),
            }
        }
    }

    /// A Meta that says something new may be contradicted by the next one.
    fn read_default(&mut self, item: &Item) {
        if item.id == id::META
            && item.flags & Item::MORE == 0
            && self.ahead.known.is_news
            && let Some(unit) = self.ahead.unit
        {
            metas::compare_next(&mut self.ahead.known, &unit);
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

    /// The input.
    pub const fn data(&self) -> &'a [u8] {
        self.ahead.data
    }

    /// The major unit of the last frame.
    pub const fn unit(&self) -> Option<&Unit<'a>> {
        self.ahead.unit.as_ref()
    }

    /// The number of the session, from 0: how often the numbering of units has begun again.
    pub const fn session(&self) -> u64 {
        self.ahead.session
    }

    /// The streams of the session, as far as they have been declared.
    pub const fn streams(&self) -> &Streams<'a, N> {
        &self.ahead.known.streams
    }

    /// The writer's byte order, as far as its platform frame told.
    pub const fn byte_order(&self) -> ByteOrder {
        self.ahead.known.order
    }

    /// The status of the checksum of this major unit; see [`rtc::Frames::crc_status`](crate::rtc::Frames::crc_status).
    #[doc(alias = "Crc")]
    pub fn crc_status<const SLICES: usize>(&self) -> CrcStatus {
        self.crc_status_by::<SLICES>(crc_ieee)
    }

    /// The same, with the document's checksum from `ieee`: what computes it faster than [`crc_ieee`], which needs neither
    /// `std` nor instructions of one processor.
    pub fn crc_status_by<const SLICES: usize>(&self, ieee: fn(&[u8]) -> u32) -> CrcStatus {
        self.ahead.trail.status::<SLICES>(self.ahead.data, self.ahead.unit.as_ref(), ieee)
    }

    /// What the Meta that was read last says that contradicts what was known.
    pub const fn contradiction(&self) -> Option<Error> {
        self.ahead.known.contradiction
    }
}

impl<'a, const N: usize> Iterator for Frames<'a, N> {
    type Item = Result<Frame<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_frame().transpose()
    }
}

impl<const N: usize> FusedIterator for Frames<'_, N> {}

impl<const N: usize> fmt::Debug for Frames<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames")
            .field("offset", &self.pos)
            .field("unit", &self.ahead.unit)
            .field("session", &self.ahead.session)
            .finish_non_exhaustive()
    }
}
