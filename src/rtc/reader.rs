//! Reading frame after frame, and what has to be known for that.
//!
//! The strict [`Frames`](crate::rtc::Frames) show what it reads; recovery looks ahead with it.

use crate::ByteOrder;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::crc::{Trail, is_checksum};
use crate::rtc::element::{CRC, FRAME, INDEX, MARKER, META, STREAM, UNIT};
use crate::rtc::frame::{self, Frame, Length, MAX_PAYLOAD, id};
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{CRC_SIZE, MARKER_HEADER, MARKER_SIZE, Unit, check_marker, signed};
use crate::rtc::value::platform_byte_order;
use crate::rtc::{Meta, Stream, StreamTable, work};

/// The writer fills a room of one or two bytes before a boundary with nul frames.
const MAX_NULS: u64 = 2;
/// The first byte of a frame of the Crc.
const CRC_HEADER: u8 = 0x10;

/// The next thing to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Due {
    /// A frame.
    Frame,
    /// The index of a minor unit.
    Minor,
    /// A Marker.
    Major,
    /// The end: of the input, or reading has stopped.
    Nothing,
}

/// In [`Reader::fast`]: a frame of the stream needs more than its header to be understood. No frame has this length.
const SLOW: u32 = 0;
/// In [`Reader::fast`]: the length is stated.
const STATED: u32 = 1 << 12;
/// In [`Reader::fast`]: the bits of a fixed length, and the place of the slot.
const LENGTH: u32 = 0x0fff;
const SLOT: u32 = 16;

/// A reader of frames where they are due, which stops at the first fault.
#[derive(Clone)]
pub(super) struct Reader<'a, R> {
    pub(super) data: &'a [u8],
    /// The next frame to be read.
    pub(super) pos: usize,
    /// The limit for the end of frames in one piece; 0 once reading has stopped.
    fast_end: usize,
    pub(super) due: Due,
    pub(super) unit: Option<Unit<'a>>,
    /// The end of this minor unit, or of the input.
    pub(super) limit: usize,
    /// The offset at which records of fixed length are cut.
    pub(super) boundary: u64,
    /// True if `limit` is a boundary, rather than where the input ends.
    pub(super) is_whole: bool,
    /// True if only default streams were seen in this major unit.
    prologue: bool,
    /// True if units are known to end with a Crc.
    has_crc: Option<bool>,
    /// True if it was reported that the table is too small; the error that the next frame is held up by.
    overflowed: bool,
    too_small: Option<Error>,
    pub(super) session: u64,
    pub(super) trail: Trail,
    pub(super) known: StreamTable<'a, R>,
    pub(super) order: ByteOrder,
    /// The Meta that is being read, and what it said that contradicts what was known.
    pub(super) meta: Option<Meta<'a>>,
    pub(super) contradiction: Option<Error>,
    /// The largest id said to be free.
    pub(super) next_id: u64,
    /// By header byte: what its frame is, for ids below 64 of which a frame has been read.
    fast: [u32; 128],
    /// The state of slots is that of this epoch, or they are as `unread` says.
    epoch: u32,
    unread: Open,
    /// The default streams whose record is open, one bit each.
    open_default: u16,
    /// True if the next frame of a user's stream is the first one after a boundary at which reading has begun.
    pub(super) is_first: bool,
    /// The units of which the Meta was read elsewhere last.
    pub(super) learned: [u64; 2],
    /// The number of bytes of Metas that may still be read elsewhere: more than any damage takes.
    pub(super) budget: u64,
}

/// The sizes of header and payload of a frame whose id takes one byte, given its first four bytes and its stream's
/// entry. The header is given as 4 if the length takes more than two bytes.
///
/// Branchless: which streams follow each other is unpredictable.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // All terms are below 2^14.
const fn measure(word: u32, entry: u32) -> (u32, u32) {
    let stated = entry >> 12 & 1;
    let wide = word >> 15 & stated;
    let wider = word >> 23 & wide;
    let high = word >> 9 & 0x3f80 & wide.wrapping_neg();
    let length = (word >> 8 & 0x7f | high) & stated.wrapping_neg();
    (1 + stated + wide + wider, length | entry & LENGTH)
}

impl<'a, R: Room<StreamSlot<'a>>> Reader<'a, R> {
    /// Begins at the Marker at `pos`.
    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    pub(super) fn new(data: &'a [u8], pos: usize, slots: R) -> Self {
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
            session: 0,
            trail: Trail::new(),
            known: StreamTable::new(slots),
            order: ByteOrder::Little,
            meta: None,
            contradiction: None,
            next_id: 0,
            fast: [SLOW; 128],
            epoch: 1,
            unread: Open::No,
            open_default: 0,
            is_first: false,
            learned: [u64::MAX; 2],
            budget: to_u64(data.len()).saturating_mul(2).saturating_add(1 << 16),
        }
    }

    /// The next frame, as the strict reader gives it.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Frame<'a>>> {
        match self.read_fast() {
            Some(frame) => Ok(Some(frame)),
            None => self.next_slow(),
        }
    }

    /// The next frame, whatever is due.
    #[cold]
    fn next_slow(&mut self) -> Result<Option<Frame<'a>>> {
        let read = self.read_due();
        match &read {
            Ok(Some(frame)) => self.note(frame),
            Ok(None) => {}
            Err(_) => self.stop(),
        }
        read
    }

    /// Reads up to the next frame, whatever is due; `None` at the end.
    pub(super) fn read_due(&mut self) -> Result<Option<Frame<'a>>> {
        loop {
            match self.due {
                Due::Frame => {
                    if let Some(frame) = self.read_one()? {
                        return Ok(Some(frame));
                    }
                }
                Due::Minor => self.begin_minor(),
                Due::Major => self.begin_major()?,
                Due::Nothing => return Ok(None),
            }
        }
    }

    /// Updates what is known when a frame of a default stream is delivered.
    pub(super) fn note(&mut self, frame: &Frame<'a>) {
        self.trail.note(frame);
        // The byte order that it tells counts from now on.
        if frame.id == id::PLATFORM {
            self.note_platform(frame.payload);
        }
    }

    /// The writer's byte order, as its platform frame tells it.
    pub(super) fn note_platform(&mut self, payload: &[u8]) {
        self.order = platform_byte_order(payload).unwrap_or(self.order);
    }

    /// No more is read.
    pub(super) fn stop(&mut self) {
        (self.due, self.fast_end) = (Due::Nothing, 0);
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
    pub(super) fn read_fast(&mut self) -> Option<Frame<'a>> {
        work::count(1);
        let start = self.pos;
        let head = self.data.get(start..)?.first_chunk::<4>()?;
        let entry = self.fast.get(usize::from(head[0])).copied()?;
        let (header, length) = measure(u32::from_le_bytes(*head), entry);
        let end = start + (header + length) as usize;
        // An empty payload, one that is too long, and a length of three bytes are for the slow path.
        if end > self.fast_end || length.wrapping_sub(1) > 1023 || header == 4 {
            return None;
        }
        let payload = self.data.get(start + header as usize..end)?;
        self.pos = end;
        let (slot, header, offset) = ((entry >> SLOT) as u16, header as u8, start as u64);
        Some(Frame {
            payload,
            offset,
            id: u64::from(head[0] >> 1),
            slot,
            header,
            more: false,
            continues: false,
        })
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

    /// The number of bytes at the end of a unit that are kept free of records, for the Crc.
    ///
    /// Writers without Crc keep none, and the unit itself does not say so; the Index after it does. Where there is none
    /// yet, the byte in place of the Crc's header tells, which may be one of a record.
    fn reserve(&mut self, unit: &Unit<'a>) -> u64 {
        self.has_crc = self.has_crc.or_else(|| self.is_said_to_end_with_crc(unit));
        let has_crc = self.has_crc.unwrap_or_else(|| {
            let due = usize::try_from(unit.end().saturating_sub(CRC_SIZE)).ok();
            due.and_then(|at| self.data.get(at)).is_none_or(|&byte| byte == CRC_HEADER)
        });
        if has_crc { CRC_SIZE } else { 0 }
    }

    /// True if a unit ends with a Crc, false if its writer makes none; `None` if no Index says so.
    fn is_said_to_end_with_crc(&self, unit: &Unit<'a>) -> Option<bool> {
        let next = Unit::parse(self.data, unit.end()).ok().filter(|next| next.number() != 0)?;
        let entry = next.index()?.find(id::CRC).ok()?;
        match entry.target() {
            None if entry.distance() == 0 => Some(false),
            Some(target) if target == unit.end().saturating_sub(CRC_SIZE) => Some(true),
            _ => None,
        }
    }

    /// The next frame; `None` if something else is due.
    #[cold]
    pub(super) fn read_one(&mut self) -> Result<Option<Frame<'a>>> {
        if let Some(error) = self.too_small.take() {
            self.set_boundary(self.boundary);
            return Err(error);
        }
        work::count(1);
        let at = self.pos;
        if at >= self.limit {
            self.land()?;
            return Ok(None);
        }
        let input = self.input(at, self.limit);
        let header = match frame::read_header(input) {
            Ok(header) => header,
            Err(error) => {
                self.read_error(at, error)?;
                return Ok(None);
            }
        };
        let (id, _) = header.0;
        let slot = if id < id::USER { None } else { self.known.streams().slot(id) };
        // What may continue a record is taken to do so: no rest is ever a record.
        let in_doubt = slot.is_some_and(|slot| self.is_in_doubt(slot));
        let frame = match self.read(input, header, slot) {
            Ok(frame) => Frame { continues: frame.continues || in_doubt, ..frame },
            Err(error) => {
                self.read_error(at, error)?;
                return Ok(None);
            }
        };
        if frame.id == id::MARKER {
            // Before its time: another session, or bytes are missing.
            if self.unit.is_some_and(|unit| to_u64(at) != unit.offset() || at == 0 && unit.position() != 0) {
                Unit::parse(self.data, to_u64(at))?;
                self.due = Due::Major;
                return Ok(None);
            }
        }
        let end = at.saturating_add(usize::from(frame.header)).saturating_add(frame.payload.len());
        self.check_default(&frame, end)?;
        self.pos = end;
        match frame.id {
            id::META | id::MINOR_META => self.read_meta(&frame),
            id::USER.. => {
                self.prologue = false;
                self.note_split(&frame);
            }
            _ => {}
        }
        Ok(Some(frame))
    }

    /// A frame that cannot be read: an error, unless it is another session's Marker, or of a stream whose object was lost.
    fn read_error(&mut self, at: usize, error: Error) -> Result<()> {
        match error.kind() {
            // An object that lost its id to the writer's own damage: its stream exists all the same.
            ErrorKind::Invalid { value } if error.element() == STREAM && self.may_exist(value) => {
                self.known.insert(Stream::unknown(value)).map_err(|_| error)
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

    /// True if the input ends in what is the beginning of a Marker, and of no other frame.
    pub(super) fn is_marker_begun(&self, at: usize) -> bool {
        let rest = self.data.get(at..).unwrap_or_default();
        rest.first() == Some(&MARKER_HEADER) && to_u64(rest.len()) < MARKER_SIZE
    }

    /// True if an object that lost its id to damage may have declared a stream with this one.
    fn may_exist(&self, id: u64) -> bool {
        (id::USER..self.next_id).contains(&id) && !self.overflowed
    }

    /// Reads the next piece of a Meta or meta; objects that cannot be read are left out. A unit's own Meta counts.
    fn read_meta(&mut self, frame: &Frame<'a>) {
        let known = self.meta.take().filter(|_| frame.continues);
        if known.is_none() {
            self.contradiction = None;
        }
        let mut meta = known.unwrap_or(Meta::in_pieces(frame.payload_offset()));
        let result = self.declare_piece(&mut meta, frame, true);
        self.meta = Some(meta);
        if let (Err(error), false) = (result, self.overflowed) {
            self.overflowed = true;
            self.fast_end = 0;
            self.too_small = Some(error);
        }
    }

    /// Enters the streams of the next piece of a Meta.
    ///
    /// # Errors
    ///
    /// The table has no room for one of them.
    pub(super) fn declare_piece(
        &mut self,
        meta: &mut Meta<'a>,
        frame: &Frame<'a>,
        counts: bool,
    ) -> Result<()> {
        meta.push(frame.payload, frame.payload_offset(), frame.more);
        let mut result = Ok(());
        while let Some(stream) = meta.next_stream() {
            if let Ok(stream) = stream {
                result = result.and(self.declare(stream, counts));
            }
        }
        self.next_id = self.next_id.max(meta.next_id().unwrap_or(0));
        result
    }

    /// Enters a stream of a Meta; if it contradicts the known one, only if it `counts`.
    ///
    /// # Errors
    ///
    /// The table has no room for it.
    fn declare(&mut self, stream: Stream<'a>, counts: bool) -> Result<()> {
        let streams = self.known.streams();
        let contradicted = streams
            .slot(stream.id())
            .filter(|&slot| streams.at(slot).is_some_and(|known| stream.contradicts(known)));
        let single = usize::try_from(stream.id().saturating_mul(2)).unwrap_or(usize::MAX);
        self.fast.iter_mut().skip(single).take(2).for_each(|entry| *entry = SLOW);
        match contradicted {
            Some(slot) if counts => {
                let error = Error::new(stream.object().offset(), META, ErrorKind::Contradictory);
                self.contradiction = self.contradiction.or(Some(error));
                self.known.replace(slot, stream);
                Ok(())
            }
            Some(_) => Ok(()),
            None => self.known.insert(stream),
        }
    }

    /// Forgets which records are open: all are of this kind.
    pub(super) fn reset(&mut self, unread: Open) {
        self.fast = [SLOW; 128];
        self.unread = unread;
        self.open_default = 0;
        self.is_first = false;
        self.epoch = self.epoch.wrapping_add(1).max(1);
    }

    /// The number of bytes of a record of the stream in a slot so far, and whether one is open.
    pub(super) fn state(&self, slot: usize) -> (u64, Open) {
        match self.known.get(slot).filter(|slot| slot.epoch == self.epoch) {
            Some(slot) => (slot.got, slot.open),
            None => (0, self.unread),
        }
    }

    /// Sets the [`state`](Self::state) of a slot.
    pub(super) fn set_state(&mut self, slot: usize, got: u64, open: Open) {
        let epoch = self.epoch;
        let Some(known) = self.known.get_mut(slot) else { return };
        (known.got, known.open, known.epoch) = (got, open, epoch);
        let (id, length) = (known.stream.id(), known.stream.length());
        let alone = match length {
            _ if open != Open::No || got != 0 => SLOW,
            None => STATED,
            Some(length @ 1..=MAX_PAYLOAD) => u32::try_from(length).unwrap_or(SLOW),
            Some(_) => SLOW,
        };
        let single = usize::try_from(id.saturating_mul(2)).unwrap_or(usize::MAX);
        let slot = u32::try_from(slot).unwrap_or(0) << SLOT;
        for (entry, kind) in self.fast.iter_mut().skip(single).zip([alone, SLOW]) {
            *entry = slot | kind;
        }
    }

    /// Sets whether a record is open; of one of fixed length, `rest` bytes are still to come.
    pub(super) fn expect(&mut self, slot: usize, open: Open, rest: u64) {
        let length = self.known.get(slot).and_then(|slot| slot.stream.length());
        let got = length.filter(|_| open == Open::Yes).map_or(0, |length| length.saturating_sub(rest));
        self.set_state(slot, got, open);
    }

    /// True if a record of this default stream is open.
    fn is_open_default(&self, id: u64) -> bool {
        self.open_default & default_bit(id) != 0
    }

    /// Reads the frame at the front of `input`, given its header and what follows that, and its stream's slot.
    fn read(
        &mut self,
        input: Bytes<'a>,
        ((id, more), after): ((u64, bool), Bytes<'a>),
        slot: Option<usize>,
    ) -> Result<Frame<'a>> {
        let Some(slot) = slot else {
            if id >= id::USER {
                return Err(input.error(STREAM, ErrorKind::Invalid { value: id }));
            }
            let (frame, _) = frame::read_body(input, (id, more), after, Length::from_default(id))?;
            let (continues, bit) = (self.is_open_default(id), default_bit(id));
            self.open_default = if more { self.open_default | bit } else { self.open_default & !bit };
            return Ok(Frame { continues, ..frame });
        };
        let (got, open) = self.state(slot);
        let (mut rest, mut length) = (0, Length::Stated);
        if let Some(all) = self.known.get(slot).and_then(|slot| slot.stream.length()) {
            let left = all.saturating_sub(got);
            let piece = left.min(MAX_PAYLOAD).min(self.boundary.saturating_sub(after.offset()));
            // A whole record that says that it goes on, or a part that says that it does not, or an empty part: the
            // stream was not written in records of its length. It may be cut by the end of the input, too.
            if (more == (piece == left) || piece == 0) && piece <= to_u64(after.len()) {
                return Err(input.error(FRAME, ErrorKind::SizeMismatch { stated: all, found: got }));
            }
            (rest, length) = (left.saturating_sub(piece), Length::Fixed(piece));
        }
        let (frame, _) = frame::read_body(input, (id, more), after, length)?;
        if frame.payload.is_empty() {
            // Nothing is written of nothing.
            return Err(input.error(FRAME, ErrorKind::UnderLimit { value: 0, limit: 1 }));
        }
        let read = got.saturating_add(to_u64(frame.payload.len()));
        self.set_state(slot, if rest > 0 { read } else { 0 }, if more { Open::Yes } else { Open::No });
        Ok(Frame { slot: u16::try_from(slot).unwrap_or(u16::MAX), continues: open == Open::Yes, ..frame })
    }

    /// Checks that a frame of a default stream is where it belongs.
    fn check_default(&mut self, frame: &Frame<'a>, end: usize) -> Result<()> {
        let &Frame { offset: place, id, more, continues, .. } = frame;
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
                // Where anything else follows, what it says may prove it.
                let is_placed = due || last || restarted || self.is_crc_right(place);
                if more || !is_placed { fault(CRC) } else { Ok(()) }
            }
            // After the reserve, there is the Crc alone.
            _ if self.has_crc == Some(true) && to_u64(end) > self.boundary => {
                let kind = ErrorKind::CrossesBoundary { boundary: self.boundary };
                Err(Error::new(place, FRAME, kind))
            }
            _ => Ok(()),
        }
    }

    /// True if the checksum of this unit at `at` is right. In all, not much more than the input is read for that.
    fn is_crc_right(&mut self, at: u64) -> bool {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let from = self.unit.and_then(|unit| usize::try_from(unit.origin()).ok());
        let covered = from.and_then(|from| self.data.get(from..at)).unwrap_or_default();
        let stored = self.data.get(at..).and_then(|rest| rest.get(1..)?.first_chunk::<4>());
        match (stored, self.budget.checked_sub(to_u64(covered.len()))) {
            (Some(stored), Some(budget)) if !covered.is_empty() => {
                self.budget = budget;
                is_checksum(*stored, covered)
            }
            _ => false,
        }
    }

    /// True if so little is left before a boundary that the writer fills it with nuls.
    fn is_before_boundary(&self, at: u64) -> bool {
        let Some(unit) = self.unit else { return false };
        let next = unit.boundary_after(at);
        let reserved = if next == unit.end() { next.saturating_sub(CRC_SIZE) } else { next };
        [next, reserved].iter().any(|end| end.checked_sub(at).is_some_and(|room| room <= MAX_NULS))
    }

    /// True if a minor unit begins at `at`.
    fn is_boundary(&self, at: u64) -> bool {
        let before = at.saturating_sub(1);
        self.unit.is_some_and(|unit| unit.boundary_after(before) == at)
    }

    /// The end of the minor unit was reached.
    fn land(&mut self) -> Result<()> {
        let Some(unit) = self.unit else { return self.end() };
        let at = to_u64(self.pos);
        if at == unit.end() {
            self.due = Due::Major;
            return Ok(());
        }
        if self.pos >= self.data.len() {
            return self.end();
        }
        self.due = Due::Minor;
        if let Err(error) = unit.minor_index(self.whole(), at) {
            // The session may have ended here, and another one follows.
            let restarts = Unit::parse(self.data, at).is_ok_and(|next| next.number() == 0);
            self.due = if restarts { Due::Major } else { return Err(error) };
        }
        Ok(())
    }

    /// The input ends with a frame: it is cut if an Index or a Meta says that it goes on.
    fn end(&mut self) -> Result<()> {
        let open = [(id::INDEX, INDEX), (id::MINOR_INDEX, INDEX), (id::META, META)];
        match open.into_iter().find(|&(id, _)| self.is_open_default(id)) {
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

    /// Begins anew at `pos`, in the same slots.
    pub(super) fn restart(&mut self, pos: usize) {
        self.new_session();
        (self.session, self.unit, self.due) = (0, None, Due::Major);
        (self.pos, self.limit, self.fast_end) = (pos, pos, 0);
        (self.too_small, self.order) = (None, ByteOrder::Little);
        self.trail = Trail::new();
    }

    /// Another session begins: the ids have other meanings.
    pub(super) fn new_session(&mut self) {
        self.session = self.session.saturating_add(1);
        self.known.clear();
        (self.meta, self.next_id, self.has_crc, self.overflowed) = (None, 0, None, false);
        self.learned = [u64::MAX; 2];
        self.reset(Open::No);
    }
}

/// The bit of a default stream.
fn default_bit(id: u64) -> u16 {
    u32::try_from(id).ok().and_then(|id| 1_u16.checked_shl(id)).unwrap_or(0)
}
