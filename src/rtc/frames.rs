//! Frames in file order, of a sound file.

use crate::ByteOrder;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::crc::Trail;
use crate::rtc::element::{CRC, FRAME, INDEX, MARKER, META, UNIT};
use crate::rtc::frame::{self, Frame, Parts, id};
use crate::rtc::lengths::{self, Lengths, Open, SLOT, SLOW};
use crate::rtc::rest::Rest;
use crate::rtc::unit::{CRC_SIZE, MARKER_BYTES, MARKER_HEADER, MARKER_SIZE, Unit, check_marker, signed};
use crate::rtc::{CrcStatus, Meta, Streams};
use core::fmt;
use core::iter::FusedIterator;

/// The first byte of a frame of the Crc.
const CRC_HEADER: u8 = 0x10;
/// The writer fills a room of one or two bytes before a boundary with nul frames.
const MAX_NULS: u64 = 2;

/// What is read that is not delivered may in all be so many times the input: more than any damage takes.
const BUDGET: u64 = 4;

/// The frames of a sound file in file order, with at most `N` streams a session.
///
/// Every frame is delivered, those of the default streams included; [`Frame::is_user`] tells them apart. A record may
/// lie in several frames: [`Records`](crate::rtc::Records) joins them.
///
/// It reads what it delivers, never ahead, and stops at the first fault. To go on after damage, use
/// [`recover::Frames`](crate::rtc::recover::Frames).
///
/// # Errors
///
/// [`next_frame`](Self::next_frame) says where and why reading cannot go on; after that it gives `None`.
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::rtc::Frames;
///
/// let mut frames = Frames::<64>::new(data);
/// while let Some(frame) = frames.next_frame()? {
///     println!("{} bytes of stream {} at {:#x}", frame.payload().len(), frame.id(), frame.offset());
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap_err();
/// ```
#[derive(Clone)]
pub struct Frames<'a, const N: usize> {
    pub(super) data: &'a [u8],
    /// The next frame to be read.
    pub(super) pos: usize,
    /// Up to here, frames in one piece may end; 0 once reading has stopped.
    fast_end: usize,
    pub(super) due: Due,
    pub(super) unit: Option<Unit<'a>>,
    /// The end of this minor unit, or of the input.
    pub(super) limit: usize,
    /// Where records of fixed length are cut.
    pub(super) boundary: u64,
    /// Whether `limit` is a boundary, rather than where the input ends.
    pub(super) is_whole: bool,
    /// Whether only default streams were seen in this major unit.
    prologue: bool,
    /// Whether units are known to end with a Crc.
    pub(super) has_crc: Option<bool>,
    /// Whether it was reported that the table is too small.
    overflowed: bool,
    /// The error that the next frame is held up by.
    too_small: Option<Error>,
    /// The same of a Meta that was read elsewhere.
    elsewhere: Option<Error>,
    pub(super) streams: Streams<'a, N>,
    pub(super) meta: Option<Meta<'a>>,
    /// What the last Meta said that contradicts what was known.
    contradiction: Option<Error>,
    /// Whether the last Meta said anything that was not known, or that could not be read.
    pub(super) is_news: bool,
    /// The unit whose Meta the table was taken from, and how far checksums were computed to settle contradictions.
    source: Option<Unit<'a>>,
    /// How many more bytes may be read that are not delivered then: of checksums and Metas elsewhere.
    pub(super) budget: u64,
    /// The units of which the Meta was read elsewhere last, and whether there was one.
    learned: [(u64, bool); 2],
    /// Up to here, a checksum proves the frames.
    pub(super) proven: usize,
    /// The largest id said to be free.
    next_id: u64,
    pub(super) lengths: Lengths<N>,
    /// Whether the next frame of a user's stream is the first one after a boundary at which reading has begun.
    pub(super) is_first: bool,
    pub(super) session: u64,
    pub(super) order: ByteOrder,
    pub(super) trail: Trail,
}

/// What is to be read next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Due {
    /// A frame.
    Frame,
    /// The index of a minor unit.
    Minor,
    /// A Marker.
    Major,
    /// Nothing: the input has ended, or reading has stopped.
    Nothing,
}

/// A frame that was read.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) start: usize,
    pub(super) id: u64,
    pub(super) len: u16,
    pub(super) slot: u16,
    pub(super) header: u8,
    pub(super) flags: u8,
}

impl Item {
    pub(super) const MORE: u8 = 1;
    pub(super) const CONTINUES: u8 = 2;
    /// Of a default stream: some of those have to be noted.
    pub(super) const DEFAULT: u8 = 4;
    /// Whether it continues a record is not certain.
    pub(super) const UNCERTAIN: u8 = 8;
    /// Nothing but the boundary says where it ends.
    pub(super) const CUT: u8 = 16;

    pub(super) const NONE: Self = Self { start: 0, id: 0, len: 0, slot: 0, header: 0, flags: 0 };

    /// Where it ends.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)] // In the input.
    pub(super) fn end(&self) -> usize {
        self.start + usize::from(self.header) + usize::from(self.len)
    }

    /// The frame, which lies in `data`.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)]
    pub(super) fn frame<'a>(&self, data: &'a [u8]) -> Frame<'a> {
        let start = self.start + usize::from(self.header);
        let payload = data.get(start..start + usize::from(self.len)).unwrap_or_default();
        let more = self.flags & Self::MORE != 0;
        let parts = Parts { id: self.id, more, header: self.header, payload };
        let continues = self.flags & Self::CONTINUES != 0;
        Frame::new(to_u64(self.start), parts, self.slot, continues)
            .with_certainty(self.flags & Self::UNCERTAIN == 0)
    }
}

impl<'a, const N: usize> Frames<'a, N> {
    /// Begins at the start of the input.
    pub fn new(data: &'a [u8]) -> Self {
        Self::from(data, 0)
    }

    /// Begins at the Marker at `offset`, as other frames or a [`Grid`](crate::rtc::Grid) have found it.
    ///
    /// To go on in a file that has grown, begin at the [unit](Self::unit) that reading was in, and skip the frames before
    /// the [offset](Self::offset) that it had come to.
    pub fn at_unit(data: &'a [u8], offset: u64) -> Self {
        Self::from(data, usize::try_from(offset).unwrap_or(data.len()).min(data.len()))
    }

    /// Begins at an index of `unit`, or at its Marker; and says what is known of the record that goes on there.
    pub(super) fn in_unit(data: &'a [u8], unit: Unit<'a>, at: u64) -> (Self, Rest) {
        let mut frames = Self::at_unit(data, at);
        frames.learn_at(unit.offset());
        // The unit may have had a meta, which the next one repeats.
        frames.learn_at(unit.end());
        frames.lengths.reset(Open::Unknown);
        let rest = if unit.number() == 0 && signed(at) <= unit.origin() {
            frames.lengths.reset(Open::No);
            Rest::Known
        } else {
            frames.expect_rest(&unit)
        };
        frames.enter(unit, frames.pos);
        (frames, rest)
    }

    /// Whether all streams had room in the table so far.
    pub(super) fn too_small(&self) -> Result<()> {
        self.elsewhere.map_or(Ok(()), Err)
    }

    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    fn from(data: &'a [u8], pos: usize) -> Self {
        Self {
            data,
            pos,
            fast_end: 0,
            due: Due::Major,
            unit: None,
            limit: pos,
            boundary: 0,
            is_whole: false,
            prologue: true,
            has_crc: None,
            overflowed: false,
            too_small: None,
            elsewhere: None,
            streams: Streams::new(),
            meta: None,
            contradiction: None,
            is_news: false,
            source: None,
            budget: to_u64(data.len()).saturating_mul(BUDGET).saturating_add(1 << 16),
            learned: [(u64::MAX, false); 2],
            proven: 0,
            next_id: 0,
            lengths: Lengths::new(),
            is_first: false,
            session: 0,
            order: ByteOrder::Little,
            trail: Trail::new(),
        }
    }

    /// The next frame; `None` at the end of the input, and after an error.
    ///
    /// # Errors
    ///
    /// The first fault, which stands at [`offset`](Self::offset).
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        match self.read_fast() {
            Some(item) => Ok(Some(item.frame(self.data))),
            None => self.next_slow(),
        }
    }

    /// The next frame, whatever is due.
    #[cold]
    fn next_slow(&mut self) -> Result<Option<Frame<'a>>> {
        let read = self.read_due();
        match &read {
            Ok(Some(frame)) => self.trail.note(frame),
            Ok(None) => {}
            Err(_) => self.stop(),
        }
        read
    }

    fn read_due(&mut self) -> Result<Option<Frame<'a>>> {
        loop {
            match self.due {
                Due::Frame => {
                    if let Some(item) = self.read_one()? {
                        let frame = item.frame(self.data);
                        self.note_order(&frame);
                        return Ok(Some(frame));
                    }
                }
                Due::Minor => self.begin_minor(),
                Due::Major => self.begin_major()?,
                Due::Nothing => return Ok(None),
            }
        }
    }

    /// No more is read.
    pub(super) fn stop(&mut self) {
        (self.due, self.fast_end) = (Due::Nothing, 0);
    }

    /// The byte order that a platform frame tells counts once that was delivered.
    pub(super) fn note_order(&mut self, frame: &Frame<'_>) {
        if frame.id() == id::PLATFORM {
            self.platform(frame.payload());
        }
    }

    /// Offset of the next frame; after an error, of the fault.
    ///
    /// Where a file is still growing, this is where to go on when it has more bytes.
    pub const fn offset(&self) -> u64 {
        to_u64(self.pos)
    }

    /// The input.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The major unit of the last frame.
    pub const fn unit(&self) -> Option<&Unit<'a>> {
        self.unit.as_ref()
    }

    /// The number of the session, from 0: how often the numbering of units has begun again.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// The streams of the session, as far as they have been declared.
    pub const fn streams(&self) -> &Streams<'a, N> {
        &self.streams
    }

    /// The writer's byte order, as far as its platform frame told.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The status of the checksum of this major unit, from the delivery of its Crc to that of the next frame that is not
    /// a user's.
    ///
    /// It reads the unit once if the checksum is right as deployed, else up to three times. `SLICES` is that of
    /// [`WriterCrc`](crate::rtc::WriterCrc).
    ///
    /// A unit that another Crc lies in is not complete: its beginning was lost, and it has no status. So however a file
    /// was made, no byte is covered twice.
    #[doc(alias = "Crc")]
    pub fn crc_status<const SLICES: usize>(&self) -> CrcStatus {
        self.trail.status::<SLICES>(self.data, self.unit.as_ref())
    }

    /// What the Meta that was read last says that contradicts what was known: an id that had another declaration.
    pub const fn contradiction(&self) -> Option<Error> {
        self.contradiction
    }

    pub(super) fn platform(&mut self, payload: &[u8]) {
        self.order = super::value::platform_byte_order(payload).unwrap_or(self.order);
    }

    /// The bytes from `from` to `to`.
    pub(super) fn input(&self, from: usize, to: usize) -> Bytes<'a> {
        Bytes::at(self.data.get(from..to).unwrap_or_default(), to_u64(from))
    }

    /// The whole input.
    pub(super) fn whole(&self) -> Bytes<'a> {
        Bytes::new(self.data)
    }

    /// A frame of a stream with a short id, in one piece: the hot loop.
    // A frame ends at most 1027 bytes after its start, which is inside the input.
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
    #[inline(always)]
    pub(super) fn read_fast(&mut self) -> Option<Item> {
        let start = self.pos;
        let head = self.data.get(start..)?.first_chunk::<4>()?;
        let entry = self.lengths.fast(head[0])?;
        let (header, length) = lengths::measure(u32::from_le_bytes(*head), entry);
        let end = start + (header + length) as usize;
        // An empty payload, one that is too long, and a length of three bytes are for the slow path.
        if entry & SLOW != 0 || end > self.fast_end || length.wrapping_sub(1) > 1023 || header == 4 {
            return None;
        }
        self.pos = end;
        let (slot, header) = ((entry >> SLOT) as u16, header as u8);
        Some(Item { start, id: u64::from(head[0] >> 1), len: length as u16, slot, header, flags: 0 })
    }

    /// Begins the unit whose Marker is due here.
    pub(super) fn begin_major(&mut self) -> Result<()> {
        let at = self.pos;
        if at >= self.data.len() && self.unit.is_some() {
            return self.end();
        }
        let unit = Unit::parse(self.data, to_u64(at))?;
        match self.unit {
            None if unit.number() != 0 && at == 0 => {
                // The input is whole, but not the file that it was.
                let kind = ErrorKind::OutOfSequence { found: unit.number(), expected: 0 };
                return Err(Error::new(0, UNIT, kind));
            }
            Some(last) if unit.number() != 0 => {
                let expected = last.number().saturating_add(1);
                if unit.number() != expected || !last.shares_grid(&unit) || last.end() != to_u64(at) {
                    let kind = ErrorKind::OutOfSequence { found: unit.number(), expected };
                    return Err(Error::new(to_u64(at), UNIT, kind));
                }
            }
            Some(_) => self.new_session(),
            None if unit.number() != 0 => {
                // In the middle of a file, perhaps in the middle of a record.
                self.learn_at(to_u64(at));
                self.lengths.reset(Open::Unknown);
                self.expect_rest(&unit);
            }
            None => {}
        }
        self.enter(unit, at);
        Ok(())
    }

    /// Begins to read frames at `at`, which is in `unit`.
    pub(super) fn enter(&mut self, unit: Unit<'a>, at: usize) {
        self.unit = Some(unit);
        self.prologue = true;
        self.pos = at;
        self.begin_minor();
    }

    /// Begins the minor unit that is due here.
    pub(super) fn begin_minor(&mut self) {
        let Some(unit) = self.unit else { return };
        let boundary = unit.boundary_after(to_u64(self.pos));
        self.limit = usize::try_from(boundary).unwrap_or(usize::MAX).min(self.data.len());
        self.is_whole = boundary <= to_u64(self.data.len());
        let reserve = if boundary == unit.end() { self.reserve(&unit) } else { 0 };
        self.set_boundary(boundary.saturating_sub(reserve));
        self.due = Due::Frame;
    }

    /// Sets where records of fixed length are cut.
    pub(super) fn set_boundary(&mut self, boundary: u64) {
        self.boundary = boundary;
        self.fast_end = usize::try_from(boundary).unwrap_or(usize::MAX).min(self.limit);
    }

    /// How many bytes at the end of a unit are kept free of records, for the Crc.
    ///
    /// Writers without Crc keep none, and the unit itself does not say so.
    fn reserve(&self, unit: &Unit<'a>) -> u64 {
        if self.has_crc.unwrap_or_else(|| self.ends_with_crc(unit)) { CRC_SIZE } else { 0 }
    }

    /// Whether a unit ends with a Crc, judging by the bytes.
    fn ends_with_crc(&self, unit: &Unit<'a>) -> bool {
        // The byte there may be one of a record.
        self.is_said_to_end_with_crc(unit).unwrap_or_else(|| {
            let due = usize::try_from(unit.end().saturating_sub(CRC_SIZE)).ok();
            due.and_then(|at| self.data.get(at)).is_none_or(|&byte| byte == CRC_HEADER)
        })
    }

    /// The same, if an Index says so: the one after it knows where the last Crc was written.
    fn is_said_to_end_with_crc(&self, unit: &Unit<'a>) -> Option<bool> {
        let next = Unit::parse(self.data, unit.end()).ok().filter(|next| next.number() != 0)?;
        let entry = next.index()?.find(id::CRC).ok()?;
        match entry.target() {
            None if entry.distance() == 0 => Some(false),
            Some(target) if target == unit.end().saturating_sub(CRC_SIZE) => Some(true),
            _ => None,
        }
    }

    /// The end of the unit, if it is not known yet whether a place is kept free for a Crc, and looked as if.
    fn end_without_crc(&self) -> Option<u64> {
        let unit = self.unit.filter(|_| self.has_crc.is_none())?;
        let is_assumed = self.boundary == unit.end().saturating_sub(CRC_SIZE);
        (is_assumed && self.is_said_to_end_with_crc(&unit).is_none()).then(|| unit.end())
    }

    /// Whether nothing but a boundary where a Crc may be says that a record of fixed length ends at `at`, which would
    /// prove the Crc that it was cut for.
    pub(super) fn is_crc_in_doubt(&self, at: usize) -> bool {
        let Some(unit) = self.unit.filter(|_| self.has_crc.is_none()) else { return false };
        to_u64(at) == self.boundary && self.is_said_to_end_with_crc(&unit).is_none()
    }

    /// One frame, or that the end of the minor unit was reached.
    #[cold]
    pub(super) fn read_one(&mut self) -> Result<Option<Item>> {
        if let Some(error) = self.too_small.take() {
            self.set_boundary(self.boundary);
            return Err(error);
        }
        let at = self.pos;
        if at >= self.limit {
            self.land()?;
            return Ok(None);
        }
        let input = self.input(at, self.limit);
        let doubt = self.doubt(input);
        let mut read = self.lengths.read(&self.streams, input, self.boundary);
        let mismatch = |error: &Error| matches!(error.kind(), ErrorKind::SizeMismatch { .. });
        if read.as_ref().is_err_and(mismatch) {
            // The last record of a unit without Crc may say that it ends where a Crc would be.
            if let Some(end) = self.end_without_crc() {
                let again = self.lengths.read(&self.streams, input, end);
                if !again.as_ref().is_err_and(mismatch) {
                    self.set_boundary(end);
                    read = again;
                }
            }
        }
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                self.read_error(at, error)?;
                return Ok(None);
            }
        };
        let (parts, continues) = (read.parts, read.continues);
        let end = at.saturating_add(usize::from(parts.header)).saturating_add(parts.payload.len());
        if parts.id == id::MARKER {
            // Before its time: another session, or bytes are missing.
            if self.unit.is_some_and(|unit| to_u64(at) != unit.offset() || at == 0 && unit.position() != 0) {
                Unit::parse(self.data, to_u64(at))?;
                self.due = Due::Major;
                return Ok(None);
            }
        }
        self.check_default(at, end, parts.id, parts.more, continues)?;
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let item = Item {
            start: at,
            id: parts.id,
            len: u16::try_from(parts.payload.len()).unwrap_or(u16::MAX),
            slot: read.slot.and_then(|slot| u16::try_from(slot).ok()).unwrap_or(u16::MAX),
            header: parts.header,
            flags: flag(parts.more, Item::MORE)
                | flag(continues, Item::CONTINUES)
                | flag(parts.id < id::USER, Item::DEFAULT)
                | flag(doubt, Item::UNCERTAIN)
                | flag(read.is_cut, Item::CUT),
        };
        self.pos = end;
        if matches!(parts.id, id::META | id::MINOR_META) {
            self.read_meta(&item, parts.payload, continues);
            return Ok(Some(item));
        }
        let at_end = self.unit.is_some_and(|unit| self.boundary < to_u64(end) && to_u64(end) <= unit.end());
        if at_end && parts.id != id::CRC && self.has_crc.is_none() {
            // A frame where a Crc would be: this writer makes none.
            self.has_crc = Some(false);
            self.set_boundary(to_u64(self.limit));
        }
        if parts.id >= id::USER {
            self.prologue = false;
            self.note_split(&item);
        }
        Ok(Some(item))
    }

    /// A frame that cannot be read: an error, unless it is another session's Marker, or of a stream whose object was lost.
    fn read_error(&mut self, at: usize, error: Error) -> Result<()> {
        match error.kind() {
            // An object that lost its id to the writer's own damage: its stream exists all the same.
            ErrorKind::Invalid { value } if self.is_free(value) && self.streams.len() < N => {
                self.streams.insert(crate::rtc::Stream::unknown(value))
            }
            ErrorKind::UnexpectedEnd { .. } if self.is_whole => {
                // An appended session knows nothing of the boundaries of the one before it.
                let marker = check_marker(self.input(at, self.data.len()));
                if Unit::parse(self.data, to_u64(at)).is_ok() {
                    self.due = Due::Major;
                    return Ok(());
                }
                // The input may end in its Marker.
                let cut = marker.err().filter(|error| error.is_truncation() && self.is_marker_begun(at));
                let kind = ErrorKind::CrossesBoundary { boundary: to_u64(self.limit) };
                Err(cut.unwrap_or(Error::new(to_u64(at), FRAME, kind)))
            }
            _ => Err(error),
        }
    }

    /// Whether the input ends in what is the beginning of a Marker, and of no other frame.
    pub(super) fn is_marker_begun(&self, at: usize) -> bool {
        let rest = self.data.get(at..).unwrap_or_default();
        rest.first() == Some(&MARKER_HEADER) && to_u64(rest.len()) < MARKER_SIZE
    }

    /// Takes the next piece of a Meta.
    fn read_meta(&mut self, item: &Item, payload: &'a [u8], continues: bool) {
        let offset = to_u64(item.start).saturating_add(u64::from(item.header));
        let more = item.flags & Item::MORE != 0;
        let meta = self.meta.take().filter(|_| continues);
        if meta.is_none() {
            (self.contradiction, self.is_news) = (None, false);
        }
        let mut meta = meta.unwrap_or_else(|| Meta::in_pieces(offset));
        meta.push(payload, offset, more);
        let own = self.unit;
        let added = self.learn(&mut meta, own);
        self.is_news |= !more && meta.check().is_err();
        self.meta = Some(meta);
        if let (Err(error), false) = (added, self.overflowed) {
            self.overflowed = true;
            self.fast_end = 0;
            self.too_small = Some(error);
        }
    }

    /// Checks that a frame of a default stream is where it belongs.
    fn check_default(&mut self, at: usize, end: usize, id: u64, more: bool, continues: bool) -> Result<()> {
        let place = to_u64(at);
        let fault = |element| Err(Error::new(place, element, ErrorKind::Misplaced));
        let Some(unit) = self.unit else { return Ok(()) };
        let here = signed(place);
        match id {
            // It fills up to a boundary, or to the place for a Crc.
            id::NUL if more || !self.is_before_boundary(place) => fault(FRAME),
            id::MARKER if more => fault(MARKER),
            id::INDEX if !continues && here != unit.origin() => fault(INDEX),
            id::MINOR_INDEX if !continues && (here <= unit.origin() || !self.is_boundary(place)) => {
                fault(INDEX)
            }
            id::META if !continues && !self.prologue => fault(META),
            id::PLATFORM if more || !self.prologue => fault(FRAME),
            id::CRC => {
                let due = to_u64(end) == unit.end() && self.boundary != unit.end();
                let last = end == self.data.len();
                let restarted = self.data.get(end) == Some(&MARKER_HEADER);
                // What it says may prove it.
                let is_placed = due || last || restarted;
                if more || !is_placed && !self.is_crc_right(at) { fault(CRC) } else { Ok(()) }
            }
            // After the reserve, there is the Crc alone.
            _ if self.has_crc == Some(true) && to_u64(end) > self.boundary => {
                let kind = ErrorKind::CrossesBoundary { boundary: self.boundary };
                Err(Error::new(place, FRAME, kind))
            }
            _ => Ok(()),
        }
    }

    /// Whether so little is left before a boundary that the writer fills it with nuls.
    fn is_before_boundary(&self, at: u64) -> bool {
        let Some(unit) = self.unit else { return false };
        let next = unit.boundary_after(at);
        let reserved = if next == unit.end() { next.saturating_sub(CRC_SIZE) } else { next };
        [next, reserved].iter().any(|end| end.checked_sub(at).is_some_and(|room| room <= MAX_NULS))
    }

    /// Whether a minor unit begins at `at`.
    fn is_boundary(&self, at: u64) -> bool {
        let before = at.saturating_sub(1);
        self.unit.is_some_and(|unit| unit.boundary_after(before) == at)
    }

    /// The end of the minor unit was reached.
    fn land(&mut self) -> Result<()> {
        let Some(unit) = self.unit else { return self.end() };
        let at = to_u64(self.pos);
        if at == unit.end() {
            let crc = self.pos.checked_sub(5).and_then(|at| self.data.get(at));
            if self.has_crc.is_none() {
                self.has_crc = Some(crc == Some(&CRC_HEADER) && self.boundary != unit.end());
            }
            self.due = Due::Major;
            return Ok(());
        }
        if self.pos >= self.data.len() {
            return self.end();
        }
        unit.minor_index(self.whole(), at)?;
        self.due = Due::Minor;
        Ok(())
    }

    /// The input ends with a frame: it is cut if an Index or a Meta says that it goes on.
    fn end(&mut self) -> Result<()> {
        let open = [(id::INDEX, INDEX), (id::MINOR_INDEX, INDEX), (id::META, META)];
        match open.into_iter().find(|&(id, _)| self.lengths.is_open_default(id)) {
            Some((_, element)) => {
                let kind = ErrorKind::UnexpectedEnd { needed: 1 };
                Err(Error::new(to_u64(self.data.len()), element, kind))
            }
            None => {
                self.stop();
                Ok(())
            }
        }
    }

    /// Another session begins: the ids have other meanings.
    pub(super) fn new_session(&mut self) {
        self.session = self.session.saturating_add(1);
        self.streams.clear();
        self.lengths.reset(Open::No);
        (self.meta, self.next_id, self.has_crc, self.source) = (None, 0, None, None);
        self.overflowed = false;
        self.learned = [(u64::MAX, false); 2];
    }

    /// Whether this may be the id of a stream whose object was damaged.
    fn is_free(&self, id: u64) -> bool {
        (id::USER..self.next_id).contains(&id) && self.streams.get(id).is_none()
    }

    /// Takes the streams of a Meta into the table; objects that cannot be read are left out. `own` is the unit of which
    /// it is, if what it says counts even if something else was known.
    pub(super) fn learn(&mut self, meta: &mut Meta<'a>, own: Option<Unit<'a>>) -> Result<()> {
        let mut result = Ok(());
        let mut settled = None;
        while let Some(stream) = meta.next_stream() {
            let Ok(stream) = stream else {
                self.is_news = true;
                continue;
            };
            self.is_news |= stream.damage().is_some();
            match self.streams.slot(stream.id()).and_then(|slot| Some((slot, *self.streams.at(slot)?))) {
                Some((slot, known)) if stream.contradicts(&known) => {
                    self.is_news = true;
                    if let Some(own) = own {
                        let error = Error::new(stream.object().offset(), META, ErrorKind::Contradictory);
                        self.contradiction = self.contradiction.or(Some(error));
                        // Damage costs its own unit: what a checksum proves counts, and else what the unit itself says.
                        let counts = match settled {
                            Some(counts) => counts,
                            None => {
                                self.is_proven(&own)
                                    || !self.source.is_some_and(|known| self.is_proven(&known))
                            }
                        };
                        if counts {
                            self.streams.replace(slot, stream);
                            self.lengths.forget(stream.id());
                        }
                        settled = Some(counts);
                    }
                }
                known => {
                    self.is_news |= known.is_none();
                    result = result.and(self.streams.insert(stream));
                    self.lengths.forget(stream.id());
                }
            }
        }
        if settled == Some(true) || self.source.is_none() {
            self.source = own;
        }
        self.next_id = self.next_id.max(meta.next_id().unwrap_or(0));
        result
    }

    /// Whether the checksum of a unit is right; `false` if it is not known.
    ///
    /// In all, not much more than the input is read for that, however many units contradict each other.
    pub(super) fn is_proven(&mut self, unit: &Unit<'a>) -> bool {
        let from = usize::try_from(unit.origin()).ok();
        let to = usize::try_from(unit.end().saturating_sub(CRC_SIZE)).ok();
        from.zip(to).is_some_and(|(from, to)| self.covers(from, to))
    }

    /// Whether the checksum of this unit at `at` is right.
    fn is_crc_right(&mut self, at: usize) -> bool {
        let from = self.unit.and_then(|unit| usize::try_from(unit.origin()).ok());
        let is_right = from.is_some_and(|from| self.covers(from, at));
        if is_right {
            self.proven = at;
        }
        is_right
    }

    /// Whether the frame at `to` is a Crc that is right for the bytes since `from`.
    fn covers(&mut self, from: usize, to: usize) -> bool {
        let (Some(covered), Some([CRC_HEADER, stored @ ..])) =
            (self.data.get(from..to), self.data.get(to..).and_then(|rest| rest.first_chunk::<5>()))
        else {
            return false;
        };
        let Some(budget) = self.budget.checked_sub(to_u64(covered.len())) else { return false };
        self.budget = budget;
        CrcStatus::without_tables(*stored, covered).is_right()
    }

    /// Puts what the Meta of a unit says in the place of what was known.
    pub(super) fn replace_by(&mut self, unit: &Unit<'a>) {
        let mut meta = None;
        let mut budget = self.budget;
        let pieces = Prologue::new(self.whole(), unit.offset(), &mut budget);
        for piece in pieces.filter(|piece| piece.id == id::META) {
            let meta = meta.get_or_insert_with(|| Meta::in_pieces(piece.offset));
            meta.push(piece.payload, piece.offset, piece.more);
            while let Some(stream) = meta.next_stream() {
                let Ok(stream) = stream else { continue };
                let slot = self.streams.slot(stream.id());
                let Some((slot, known)) = slot.and_then(|slot| Some((slot, self.streams.at(slot)?))) else {
                    continue;
                };
                if stream.contradicts(known) {
                    let error = Error::new(known.object().offset(), META, ErrorKind::Contradictory);
                    self.contradiction = self.contradiction.or(Some(error));
                    self.streams.replace(slot, stream);
                    self.lengths.forget(stream.id());
                }
            }
        }
        self.source = Some(*unit);
        self.budget = budget;
    }

    /// Takes the Meta of the unit at `at` into the stream table, where nothing else is known; gives whether there is one.
    pub(super) fn learn_at(&mut self, at: u64) -> bool {
        if let Some(&(_, read)) = self.learned.iter().find(|known| known.0 == at) {
            return read;
        }
        let mut read = false;
        let is_news = self.is_news;
        let mut budget = self.budget;
        let mut meta = None;
        for piece in Prologue::new(self.whole(), at, &mut budget) {
            match piece.id {
                id::META => {
                    let meta = meta.get_or_insert_with(|| Meta::in_pieces(piece.offset));
                    meta.push(piece.payload, piece.offset, piece.more);
                    // What does not fit is reported where the Meta is delivered.
                    self.elsewhere = self.learn(meta, None).err().or(self.elsewhere);
                    read = true;
                }
                id::PLATFORM => self.platform(piece.payload),
                _ => {}
            }
        }
        (self.is_news, self.budget) = (is_news, budget);
        let [last, _] = self.learned;
        self.learned = [(at, read), last];
        read
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
            .field("unit", &self.unit)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A frame of the default streams that a unit begins with.
pub(super) struct Piece<'a> {
    pub(super) id: u64,
    pub(super) more: bool,
    pub(super) offset: u64,
    pub(super) payload: &'a [u8],
}

/// The frames of the default streams that a unit begins with, from its Index on.
pub(super) struct Prologue<'a, 'b> {
    rest: Option<Bytes<'a>>,
    /// How many more bytes may be read.
    budget: &'b mut u64,
}

impl<'a, 'b> Prologue<'a, 'b> {
    pub(super) fn new(whole: Bytes<'a>, at: u64, budget: &'b mut u64) -> Self {
        let input = whole.range(at, whole.end_offset().saturating_sub(at));
        let rest = input.and_then(|mut input| {
            if check_marker(input).is_ok() {
                input.advance(MARKER_BYTES);
            }
            Unit::at_index(input).is_ok().then_some(input)
        });
        Self { rest, budget }
    }
}

impl<'a> Iterator for Prologue<'a, '_> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let input = self.rest.take()?;
        let (parts, rest) = frame::read_default(input).ok()?;
        if !matches!(parts.id, id::META | id::PLATFORM | id::NUL | id::PADDING | id::INDEX | id::MINOR_INDEX)
        {
            return None;
        }
        let read = input.len().saturating_sub(rest.len());
        *self.budget = self.budget.checked_sub(to_u64(read))?;
        self.rest = Some(rest);
        let offset = input.offset().saturating_add(u64::from(parts.header));
        Some(Piece { id: parts.id, more: parts.more, offset, payload: parts.payload })
    }
}
