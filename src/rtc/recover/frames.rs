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
use crate::rtc::unit::{MAGIC, MARKER_HEADER, Unit};
use crate::rtc::{CrcStatus, Frame, Streams};
use core::fmt;
use core::iter::FusedIterator;

/// How a Marker begins: too many bytes to occur by chance.
const MARKER_START: [u8; 4] = [MARKER_HEADER, MAGIC, MAGIC, MAGIC];

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
    /// Up to here, frames were verified by other means.
    verified: usize,
    /// From here on, nothing was lost.
    since: usize,
    /// Whether, up to the next boundary, it is only guessed how much is left of a record that damage hit.
    guessed: bool,
    finder: Finder,
}

impl<'a, const N: usize> Frames<'a, N> {
    /// Begins at the start of the input.
    #[inline(never)] // What it is made from does not stay on the caller's stack.
    pub fn new(data: &'a [u8]) -> Self {
        Self {
            queue: Queue::new(),
            pos: 0,
            fault: None,
            stopped: None,
            reason: None,
            found: None,
            verified: 0,
            since: 0,
            guessed: false,
            finder: Finder::new(data.len()),
            ahead: Reader::in_doubt(data, 0),
        }
    }

    /// Begins at the Marker at `offset`, as other frames or a [`Grid`](crate::rtc::Grid) have found it.
    pub fn at_unit(data: &'a [u8], offset: u64) -> Self {
        Self::from_strict(strict::Frames::at_unit(data, offset))
    }

    /// Goes on where `frames` are, such as those that a [`Grid`](crate::rtc::Grid) gives.
    pub fn from_strict(frames: strict::Frames<'a, N>) -> Self {
        let pos = frames.0.pos;
        let mut recovering = Self { pos, verified: pos, since: pos, ..Self::new(frames.0.data) };
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
        self.since = self.pos;
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
        self.entered();
    }

    fn begin_minor(&mut self) {
        self.guessed = false;
        self.ahead.begin_minor();
        // The index has been read.
        self.verify_index(self.ahead.pos);
    }

    fn begin_major(&mut self) {
        self.guessed = false;
        match self.ahead.begin_major() {
            Ok(()) => self.entered(),
            Err(error) => self.fail(error),
        }
    }

    /// A unit was entered: its Marker and its Index have been read.
    fn entered(&mut self) {
        self.verified = self.ahead.pos;
        let index = self.ahead.unit.and_then(|unit| unit.index());
        let index = index.and_then(|index| usize::try_from(index.offset()).ok());
        if let Some(index) = index.filter(|&index| self.ahead.pos <= index) {
            self.verify_index(index);
        }
    }

    fn verify_index(&mut self, at: usize) {
        let read = crate::rtc::frame::read_default(self.ahead.input(at, self.ahead.limit));
        self.verified = read.map_or(at, |(_, rest)| usize::try_from(rest.offset()).unwrap_or(at));
    }

    /// Reads some frames ahead, up to the end of the minor unit.
    fn look_ahead(&mut self) {
        match self.read_ahead() {
            Ok(()) if self.ahead.due == Due::Frame => {
                self.queue.release(self.ahead.known.streams.len(), self.verified.min(self.ahead.pos));
            }
            Ok(()) => match self.misses_marker() {
                Some(error) => self.fail(error),
                None => self.queue.release_all(),
            },
            Err(error) => self.fail(error),
        }
    }

    /// If nothing but a record that is cut here says that the unit ends here, the Marker of the next one must follow.
    fn misses_marker(&self) -> Option<Error> {
        let at = self.ahead.pos;
        if self.ahead.due != Due::Major || !self.queue.ends_cut() || at >= self.ahead.data.len() {
            return None;
        }
        // A Marker that is damaged only farther on counts.
        let begins = self.ahead.data.get(at..).is_some_and(|rest| rest.starts_with(&MARKER_START));
        let error = Unit::parse(self.ahead.data, to_u64(at)).err();
        error.filter(|error| !begins && !error.is_truncation())
    }

    /// Reading ahead stopped at a fault: releases what is proven all the same, and finds out where to go on.
    fn fail(&mut self, error: Error) {
        self.fault = Some(error);
        // Nothing contradicts the frames before the end of the input, or before a fault that is not theirs. But if too
        // much was taken for the rest of a record, the frames after it are wrong, too.
        let ahead = &self.ahead;
        let is_cut = error.is_truncation()
            && (self.is_cut_index() || ahead.is_marker_begun(ahead.pos) || !ahead.is_whole && !self.guessed);
        if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.queue.release_all();
            return;
        }
        let is_landed = ahead.pos == ahead.limit && self.queue.ends_solid();
        if is_cut || is_landed {
            self.queue.release_all();
        } else {
            let verified = self.verified.max(ahead.proven.saturating_add(1));
            self.queue.release(ahead.known.streams.len(), verified.min(ahead.pos));
        }
        self.ahead.stop();
        self.find_anchor(error);
    }

    /// True if the last frame ends at a boundary at which an index begins that the input ends in.
    fn is_cut_index(&self) -> bool {
        let (at, whole) = (self.ahead.pos, self.ahead.whole());
        at == self.ahead.limit && self.ahead.unit.is_some_and(|unit| unit.is_index_begun(whole, to_u64(at)))
    }

    /// Finds out where reading can go on, and releases the frames before the fault that are proven by what leads there.
    fn find_anchor(&mut self, cause: Error) {
        let first = self.queue.next_unreleased().unwrap_or(self.ahead.pos);
        let out_of_sequence = matches!(cause.kind(), ErrorKind::OutOfSequence { .. });
        // What failed here must not be tried again.
        let is_new = out_of_sequence || self.ahead.unit.is_none();
        let from = if is_new { first } else { first.saturating_add(1) };
        self.found = self.finder.find(&self.ahead, to_u64(from));
        let whole = self.ahead.whole();
        if let Some((anchor, index)) = self.found.and_then(|anchor| Some((anchor, anchor.index(whole)?))) {
            // A frame that goes beyond the anchor was measured by a boundary that is wrong.
            self.queue.release_proven(anchor.at, |item| {
                let at = to_u64(item.start);
                let is_target = |target: u64| target == at && at < anchor.at;
                item.id >= id::USER
                    && index.find(item.id).is_ok_and(|entry| entry.target().is_some_and(is_target))
            });
        }
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
            let crc = self.queue.last().copied();
            match self.ahead.read_one()? {
                Some(item) => {
                    if item.id == id::CRC {
                        self.check_cut(crc, &item)?;
                    }
                    self.queue.push(item);
                    self.read_default(&item);
                }
                None if self.ahead.due == Due::Frame => {}
                None => return Ok(()),
            }
        }
    }

    /// What a frame of a default stream proves.
    fn read_default(&mut self, item: &Item) {
        let is_end = item.flags & Item::MORE == 0;
        match item.id {
            id::META | id::MINOR_META if is_end => {
                if self.ahead.known.meta.as_ref().is_some_and(|meta| meta.check().is_ok()) {
                    // JSON from end to end does not occur by chance.
                    self.verified = item.end();
                }
                if item.id == id::META
                    && self.ahead.known.is_news
                    && let Some(unit) = self.ahead.unit
                {
                    metas::compare_next(&mut self.ahead.known, &unit);
                }
            }
            id::PLATFORM => {
                let frame = item.frame(self.ahead.data);
                if crate::rtc::value::platform_byte_order(frame.payload()).is_some() {
                    self.verified = item.end();
                }
            }
            _ => {}
        }
    }

    /// True if the frame `item` may be taken for the Crc of the first unit.
    ///
    /// If a record of fixed length was cut right before it because of it, the one proves the other, and what looks
    /// like a Crc may just as well be the record's last bytes. The checksum tells, as long as nothing is damaged.
    fn check_cut(&mut self, before: Option<Item>, item: &Item) -> Result<()> {
        let is_cut = before.is_some_and(|before| before.flags & Item::CUT != 0 && before.end() == item.start);
        if !is_cut || !self.ahead.is_crc_in_doubt(item.start) {
            return Ok(());
        }
        // In a unit that was read from its start on, so that no byte is looked at twice.
        let start = self.ahead.unit.and_then(|unit| usize::try_from(unit.origin()).ok());
        let covered = start.filter(|&start| start >= self.since);
        let covered = covered.and_then(|start| self.ahead.data.get(start..item.start));
        let payload = item.frame(self.ahead.data).payload();
        let (Some(covered), Some(&stored)) = (covered, payload.first_chunk::<4>()) else { return Ok(()) };
        // The frames that led here are not in doubt.
        self.verified = item.start;
        let checked = CrcStatus::without_tables(stored, covered).check(to_u64(item.start));
        if checked.is_err() {
            self.ahead.pos = item.start;
        }
        checked
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
        self.ahead.trail.status::<SLICES>(self.ahead.data, self.ahead.unit.as_ref())
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
