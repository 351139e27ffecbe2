//! Reading frame after frame, and what has to be known for that.
//!
//! The strict [`Frames`](crate::rtc::Frames) show what it reads; recovery looks ahead with it.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::crc::Trail;
use crate::rtc::declared::{CRC_HEADER, Declared};
use crate::rtc::element::{CRC, FRAME, INDEX, MARKER, META, UNIT};
use crate::rtc::frame::{self, id};
use crate::rtc::item::{Due, Item};
use crate::rtc::lengths::{self, Open, SLOT};
use crate::rtc::rest::{Rest, doubt};
use crate::rtc::unit::{CRC_SIZE, MARKER_HEADER, MARKER_SIZE, Unit, check_marker, signed};
use crate::rtc::work;

/// The writer fills a room of one or two bytes before a boundary with nul frames.
const MAX_NULS: u64 = 2;

/// What reads frames where they are due, and stops at the first fault.
#[derive(Clone)]
pub(super) struct Reader<'a, const N: usize> {
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
    /// True if `limit` is a boundary, rather than where the input ends.
    pub(super) is_whole: bool,
    /// True if only default streams were seen in this major unit.
    prologue: bool,
    /// True if units are known to end with a Crc.
    pub(super) has_crc: Option<bool>,
    /// True if it was reported that the table is too small.
    overflowed: bool,
    /// The error that the next frame is held up by.
    too_small: Option<Error>,
    pub(super) known: Declared<'a, N>,
    pub(super) session: u64,
    pub(super) trail: Trail,
}

impl<'a, const N: usize> Reader<'a, N> {
    /// Begins at the Marker at `pos`.
    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    pub(super) fn new(data: &'a [u8], pos: usize) -> Self {
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
            known: Declared::new(data),
            session: 0,
            trail: Trail::new(),
        }
    }

    /// Begins at the Marker at `pos`, perhaps in the middle of a file.
    pub(super) fn at_unit(data: &'a [u8], pos: usize) -> Self {
        let mut reader = Self::new(data, pos);
        if let Ok(unit) = Unit::parse(data, to_u64(pos)) {
            reader.known.begin_with(&unit, pos);
        }
        reader
    }

    /// Begins at an index of `unit`, or at its Marker; and says what is known of the record that goes on there.
    pub(super) fn begin_in(&mut self, unit: Unit<'a>) -> Rest {
        // What does not fit is reported where the Meta is delivered.
        let _ = self.known.learn_at(unit.offset());
        // The unit may have had a meta, which the next one repeats.
        let _ = self.known.learn_at(unit.end());
        self.known.doubt = Some(doubt);
        let rest = self.known.expect_rest(&unit, self.pos);
        self.enter(unit, self.pos);
        rest
    }

    /// Reads up to the next frame, whatever is due; `None` at the end.
    #[cold]
    pub(super) fn read_due(&mut self) -> Result<Option<Item>> {
        loop {
            match self.due {
                Due::Frame => {
                    if let Some(item) = self.read_one()? {
                        return Ok(Some(item));
                    }
                }
                Due::Minor => self.begin_minor(),
                Due::Major => self.begin_major()?,
                Due::Nothing => return Ok(None),
            }
        }
    }

    /// Updates what is known when a frame of a default stream is delivered.
    pub(super) fn note(&mut self, item: &Item) {
        self.trail.note(item);
        // The byte order that it tells counts from now on.
        if item.id == id::PLATFORM {
            self.known.platform(item.frame(self.data).payload());
        }
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
    pub(super) fn read_fast(&mut self) -> Option<Item> {
        work::count(1);
        let start = self.pos;
        let head = self.data.get(start..)?.first_chunk::<4>()?;
        let entry = self.known.lengths.fast(head[0])?;
        let (header, length) = lengths::measure(u32::from_le_bytes(*head), entry);
        let end = start + (header + length) as usize;
        // An empty payload, one that is too long, and a length of three bytes are for the slow path.
        if end > self.fast_end || length.wrapping_sub(1) > 1023 || header == 4 {
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

    /// One frame, or that the end of the minor unit was reached.
    #[cold]
    pub(super) fn read_one(&mut self) -> Result<Option<Item>> {
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
        let doubt = match (&self.unit, self.known.doubt) {
            (Some(unit), Some(doubt)) => doubt(&mut self.known, unit, header.0.0, to_u64(at)),
            _ => false,
        };
        let known = &mut self.known;
        let read = known.lengths.read(&known.streams, input, header, self.boundary);
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                self.read_error(at, error)?;
                return Ok(None);
            }
        };
        // What may continue a record is taken to do so: no rest is ever a record.
        let (parts, continues) = (read.parts, read.continues || doubt);
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
                | flag(parts.id < id::USER, Item::DEFAULT),
        };
        self.pos = end;
        if matches!(parts.id, id::META | id::MINOR_META) {
            self.read_meta(&item, parts.payload, continues);
            return Ok(Some(item));
        }
        if parts.id >= id::USER {
            self.prologue = false;
            self.known.note_split(&item, self.boundary);
        }
        Ok(Some(item))
    }

    /// A frame that cannot be read: an error, unless it is another session's Marker, or of a stream whose object was lost.
    fn read_error(&mut self, at: usize, error: Error) -> Result<()> {
        match error.kind() {
            // An object that lost its id to the writer's own damage: its stream exists all the same.
            ErrorKind::Invalid { value } => self.known.add_unknown(value).unwrap_or(Err(error)),
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

    /// Takes the next piece of a Meta.
    fn read_meta(&mut self, item: &Item, payload: &'a [u8], continues: bool) {
        let offset = to_u64(item.start).saturating_add(u64::from(item.header));
        let more = item.flags & Item::MORE != 0;
        let added = self.known.read(self.unit.as_ref(), (payload, offset), continues, more);
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
        unit.minor_index(self.whole(), at)?;
        self.due = Due::Minor;
        Ok(())
    }

    /// The input ends with a frame: it is cut if an Index or a Meta says that it goes on.
    fn end(&mut self) -> Result<()> {
        let open = [(id::INDEX, INDEX), (id::MINOR_INDEX, INDEX), (id::META, META)];
        match open.into_iter().find(|&(id, _)| self.known.lengths.is_open_default(id)) {
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
        self.known.clear();
        self.known.lengths.reset(Open::No);
        (self.has_crc, self.overflowed) = (None, false);
    }

    /// True if the checksum of this unit at `at` is right.
    fn is_crc_right(&mut self, at: usize) -> bool {
        self.unit.is_some_and(|unit| self.known.covers(&unit, at))
    }
}
