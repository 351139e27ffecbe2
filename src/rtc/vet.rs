//! Looking at frames before they are delivered.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::frame::{self, id};
use crate::rtc::lengths::{self, PLACE, SLOW};
use crate::rtc::queue::Item;
use crate::rtc::unit::{CRC_SIZE, MARKER_HEADER, Unit};
use crate::rtc::walk::{Stop, Walk};
use crate::rtc::{CRC, FRAME, INDEX, MARKER, META, Meta, Stream, UNIT, Verdict};

/// The first byte of a frame of the Crc.
const CRC_HEADER: u8 = 0x10;

impl<'a, const N: usize> Walk<'a, N> {
    /// Begins the unit whose Marker is due here.
    pub(super) fn begin_major(&mut self) {
        self.guessed = false;
        let at = self.pos;
        if at >= self.data.len() && self.unit.is_some() {
            self.stop = self.end();
            return;
        }
        let unit = match Unit::parse(self.data, to_u64(at)) {
            Ok(unit) => unit,
            Err(error) => {
                self.stop = Stop::Fault(error);
                return;
            }
        };
        match self.unit {
            None if unit.number() != 0 && at == 0 => {
                // The input is whole, but not the file that it was.
                let kind = ErrorKind::OutOfSequence { found: unit.number(), expected: 0 };
                self.stop = Stop::Fault(Error::new(0, UNIT, kind));
            }
            Some(last) if unit.number() != 0 => {
                let expected = last.number().saturating_add(1);
                if unit.number() != expected || !last.shares_grid(&unit) || last.end() != to_u64(at) {
                    let kind = ErrorKind::OutOfSequence { found: unit.number(), expected };
                    self.stop = Stop::Fault(Error::new(to_u64(at), UNIT, kind));
                    return;
                }
                self.enter(unit, at);
            }
            Some(_) => {
                self.session = self.session.saturating_add(1);
                self.new_session();
                self.enter(unit, at);
            }
            None => {
                if unit.number() != 0 {
                    // In the middle of a file, perhaps in the middle of a record.
                    self.learn_at(to_u64(at));
                    self.expect_rest(&unit);
                }
                self.enter(unit, at);
            }
        }
    }

    /// Begins to look at frames from `at` on, which is in `unit`.
    pub(super) fn enter(&mut self, unit: Unit<'a>, at: usize) {
        self.unit = Some(unit);
        self.prologue = true;
        self.enter_minor(at);
        // The Marker and the Index have been read.
        let index = unit.index().and_then(|index| usize::try_from(index.offset()).ok());
        if let Some(index) = index.filter(|&index| at <= index) {
            let behind = frame::read_default(self.input(index, self.limit));
            self.verified = behind.map_or(at, |(_, rest)| usize::try_from(rest.offset()).unwrap_or(at));
        }
    }

    /// Begins the minor unit at the last boundary.
    pub(super) fn begin_minor(&mut self) {
        self.guessed = false;
        self.enter_minor(self.pos);
        // The index has been read.
        let behind = frame::read_default(self.input(self.pos, self.limit));
        self.verified =
            behind.map_or(self.pos, |(_, rest)| usize::try_from(rest.offset()).unwrap_or(self.pos));
    }

    fn enter_minor(&mut self, at: usize) {
        let Some(unit) = self.unit else { return };
        let boundary = unit.boundary_behind(to_u64(at));
        self.limit = usize::try_from(boundary).unwrap_or(usize::MAX).min(self.data.len());
        self.boundary =
            if boundary == unit.end() { boundary.saturating_sub(self.reserve(&unit)) } else { boundary };
        self.is_whole = boundary <= to_u64(self.data.len());
        (self.ahead, self.verified) = (at, at);
        self.queue.clear();
        self.stop = Stop::Going;
    }

    /// How many bytes at the end of a unit are kept free of records, for the Crc.
    ///
    /// Writers without Crc keep none, and the unit itself does not say so.
    fn reserve(&self, unit: &Unit<'a>) -> u64 {
        if self.has_crc.unwrap_or_else(|| self.ends_with_crc(unit)) { CRC_SIZE } else { 0 }
    }

    /// Whether a unit ends with a Crc, for all that the bytes tell.
    fn ends_with_crc(&self, unit: &Unit<'a>) -> bool {
        // The byte there may be one of a record.
        self.is_said_to_end_with_crc(unit).unwrap_or_else(|| {
            let due = usize::try_from(unit.end().saturating_sub(CRC_SIZE)).ok();
            due.and_then(|at| self.data.get(at)).is_none_or(|&byte| byte == CRC_HEADER)
        })
    }

    /// The same, if an Index says so: the one behind it knows where the last Crc was written.
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

    /// Whether the frame at `at` may be taken for the Crc of the first unit.
    ///
    /// If a record of fixed length was cut right before it because of it, the one proves the other, and what looks
    /// like a Crc may just as well be the record's last bytes. The checksum tells, as long as nothing is damaged.
    fn check_cut(&mut self, at: usize, stored: &[u8]) -> Result<()> {
        let (Some(unit), Some(&stored)) = (self.unit, stored.first_chunk::<4>()) else { return Ok(()) };
        let cut = self.queue.last_place().and_then(|place| self.streams.at(place));
        let is_known = self.has_crc.is_some() || cut.is_none_or(|stream| stream.length().is_none());
        if is_known || to_u64(at) != self.boundary || self.is_said_to_end_with_crc(&unit).is_some() {
            return Ok(());
        }
        // In a unit that was read from its start on, so that no byte is looked at twice.
        let start = usize::try_from(unit.origin()).ok().filter(|&start| start >= self.since);
        let Some(covered) = start.and_then(|start| self.data.get(start..at)) else { return Ok(()) };
        // The frames that led here are not in doubt.
        self.verified = at;
        Verdict::without_tables(stored, covered).check(to_u64(at))
    }

    /// Looks at some frames, up to the end of the minor unit.
    pub(super) fn look_ahead(&mut self) {
        self.stop = match self.vet() {
            Ok(stop) => stop,
            Err(error) => Stop::Fault(error),
        };
        let proven = match self.stop {
            Stop::Going => false,
            Stop::Minor | Stop::Major | Stop::End => true,
            Stop::Fault(error) => {
                // Where the input ends, nothing speaks against the frames before; nor where the fault is not theirs.
                // But a record of which less is left than is read takes what is behind it with it, too.
                let cut = error.is_truncation() && (self.is_cut_index() || !self.is_whole && !self.guessed);
                cut || matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) || self.is_landed()
            }
        };
        if proven {
            self.queue.release_all();
        } else {
            self.queue.release(self.streams.len(), self.verified.min(self.ahead));
        }
    }

    /// Whether the last frame ends at a boundary, and not by filling bytes of zero.
    fn is_landed(&self) -> bool {
        self.ahead == self.limit && self.queue.ends_solid()
    }

    /// Whether the last frame ends at a boundary, behind which an index begins that the input ends in.
    fn is_cut_index(&self) -> bool {
        let at = to_u64(self.ahead);
        self.ahead == self.limit && self.unit.is_some_and(|unit| unit.is_index_begun(self.whole(), at))
    }

    /// Looks at as many frames as are kept, or up to the end of the minor unit.
    fn vet(&mut self) -> Result<Stop> {
        loop {
            self.vet_fast();
            if self.ahead >= self.limit {
                return self.land();
            }
            if self.queue.is_full() {
                return Ok(Stop::Going);
            }
            if let Some(stop) = self.vet_slow()? {
                return Ok(stop);
            }
        }
    }

    /// The hot loop: frames of streams with short ids, in one piece.
    // A frame ends at most 1027 bytes behind its start, which is inside the input.
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
    #[inline]
    fn vet_fast(&mut self) {
        let mut pos = self.ahead;
        let Self { data, lengths, queue, .. } = self;
        // Behind the reserve for a Crc, records of fixed length are cut.
        let limit = usize::try_from(self.boundary).unwrap_or(usize::MAX).min(self.limit);
        while pos < limit && !queue.is_full() {
            let Some(head) = data.get(pos..).and_then(|rest| rest.first_chunk::<4>()) else { break };
            let Some(entry) = lengths.fast(head[0]).filter(|entry| entry & SLOW == 0) else { break };
            let (header, length) = lengths::measure(u32::from_le_bytes(*head), entry);
            let end = pos + (header + length) as usize;
            if end > limit || length > 1024 || header == 4 {
                break;
            }
            queue.push(Item {
                start: pos,
                id: u64::from(head[0] >> 1),
                len: length as u16,
                place: (entry >> PLACE) as u16,
                header: header as u8,
                flags: 0,
            });
            pos = end;
        }
        if pos != self.ahead {
            self.prologue = false;
        }
        self.ahead = pos;
    }

    /// One frame, whatever it is.
    #[cold]
    fn vet_slow(&mut self) -> Result<Option<Stop>> {
        let at = self.ahead;
        let input = self.input(at, self.limit);
        let mut read = self.lengths.read(&self.streams, input, self.boundary);
        let mismatch = |error: &Error| matches!(error.kind(), ErrorKind::SizeMismatch { .. });
        if read.as_ref().is_err_and(mismatch) {
            // The last record of a unit without Crc may say that it ends where a Crc would be.
            if let Some(end) = self.end_without_crc() {
                let again = self.lengths.read(&self.streams, input, end);
                if !again.as_ref().is_err_and(mismatch) {
                    (self.boundary, read) = (end, again);
                }
            }
        }
        let (parts, place, continues) = match read {
            Ok(read) => read,
            Err(error) => match error.kind() {
                // An object that lost its id to damage: its stream exists all the same.
                ErrorKind::Invalid { value } if self.is_free(value) && self.streams.len() < N => {
                    self.streams.insert(Stream::unknown(value))?;
                    self.streams_changed();
                    return Ok(None);
                }
                ErrorKind::UnexpectedEnd { .. } if self.is_whole => {
                    // An appended session knows nothing of the boundaries of the one before it.
                    if Unit::parse(self.data, to_u64(at)).is_ok() {
                        return Ok(Some(Stop::Major));
                    }
                    let kind = ErrorKind::CrossesBoundary { boundary: to_u64(self.limit) };
                    return Err(Error::new(to_u64(at), FRAME, kind));
                }
                _ => return Err(error),
            },
        };
        let end = at.saturating_add(usize::from(parts.header)).saturating_add(parts.payload.len());
        if parts.id == id::MARKER {
            // Before its time: another session, or bytes are missing.
            if self.unit.is_some_and(|unit| to_u64(at) != unit.offset() || at == 0 && unit.position() != 0) {
                Unit::parse(self.data, to_u64(at))?;
                return Ok(Some(Stop::Major));
            }
        }
        self.check_default(at, end, parts.id, parts.more, continues)?;
        if parts.id == id::CRC {
            self.check_cut(at, parts.payload)?;
        }
        let item = Item {
            start: at,
            id: parts.id,
            len: u16::try_from(parts.payload.len()).unwrap_or(u16::MAX),
            place: place.and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX),
            header: parts.header,
            flags: if parts.more { Item::MORE } else { 0 }
                | if continues { Item::CONTINUES } else { 0 }
                | if parts.id < id::USER { Item::DEFAULT } else { 0 },
        };
        match parts.id {
            id::META | id::MINOR_META => {
                let offset = to_u64(at).saturating_add(u64::from(parts.header));
                let meta = self.meta.take().filter(|_| continues);
                let mut meta = meta.unwrap_or_else(|| Meta::in_pieces(offset));
                meta.push(parts.payload, offset, parts.more);
                self.ahead = end;
                self.queue.push(item);
                let added = self.learn(&mut meta);
                if !parts.more && meta.check().is_ok() {
                    // JSON from end to end: no chance.
                    self.verified = end;
                }
                self.meta = Some(meta);
                if !self.overflowed {
                    self.overflowed = added.is_err();
                    added?;
                }
                return Ok(None);
            }
            _ => {}
        }
        let at_end = self.unit.is_some_and(|unit| self.boundary < to_u64(end) && to_u64(end) <= unit.end());
        if at_end && parts.id != id::CRC && self.has_crc.is_none() {
            // A frame where a Crc would be: this writer makes none.
            self.has_crc = Some(false);
            self.boundary = to_u64(self.limit);
        }
        if parts.id == id::PLATFORM && super::value::platform_byte_order(parts.payload).is_some() {
            self.verified = end;
        }
        match parts.id {
            // One with a longer header is not one of a run.
            id::NUL if parts.header == 1 => self.queue.push_zero(at),
            _ => self.queue.push(item),
        }
        if parts.id >= id::USER {
            self.prologue = false;
        }
        self.ahead = end;
        Ok(None)
    }

    /// Checks that a frame of a default stream is where it belongs.
    fn check_default(&self, at: usize, end: usize, id: u64, more: bool, continues: bool) -> Result<()> {
        let place = to_u64(at);
        let fault = |element| Err(Error::new(place, element, ErrorKind::Misplaced));
        let Some(unit) = self.unit else { return Ok(()) };
        let here = crate::rtc::unit::signed(place);
        match id {
            id::NUL if more => fault(FRAME),
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
                if more || !(due || last || restarted) { fault(CRC) } else { Ok(()) }
            }
            // Behind the reserve, there is the Crc alone.
            _ if self.has_crc == Some(true) && to_u64(end) > self.boundary => {
                let kind = ErrorKind::CrossesBoundary { boundary: self.boundary };
                Err(Error::new(place, FRAME, kind))
            }
            _ => Ok(()),
        }
    }

    /// Whether a minor unit begins at `at`.
    fn is_boundary(&self, at: u64) -> bool {
        let before = at.saturating_sub(1);
        self.unit.is_some_and(|unit| unit.boundary_behind(before) == at)
    }

    /// The end of the minor unit was reached.
    fn land(&mut self) -> Result<Stop> {
        let Some(unit) = self.unit else { return Ok(Stop::End) };
        let at = to_u64(self.ahead);
        if at == unit.end() {
            let crc = self.ahead.checked_sub(5).and_then(|at| self.data.get(at));
            if self.has_crc.is_none() {
                self.has_crc = Some(crc == Some(&CRC_HEADER) && self.boundary != unit.end());
            }
            return Ok(Stop::Major);
        }
        if self.ahead >= self.data.len() {
            return Ok(self.end());
        }
        unit.minor_index(self.whole(), at)?;
        Ok(Stop::Minor)
    }

    /// The input ends with a frame: it is cut if an Index or a Meta says that it goes on.
    fn end(&self) -> Stop {
        let open = [(id::INDEX, INDEX), (id::MINOR_INDEX, INDEX), (id::META, META)];
        match open.into_iter().find(|&(id, _)| self.lengths.is_open_default(id)) {
            Some((_, element)) => {
                let kind = ErrorKind::UnexpectedEnd { needed: 1 };
                Stop::Fault(Error::new(to_u64(self.data.len()), element, kind))
            }
            None => Stop::End,
        }
    }

    /// Whether this may be the id of a stream whose object was damaged.
    fn is_free(&self, id: u64) -> bool {
        (id::USER..self.next_id).contains(&id) && self.streams.get(id).is_none()
    }

    /// Takes the streams of a Meta into the table; objects that cannot be read are left out.
    pub(super) fn learn(&mut self, meta: &mut Meta<'a>) -> Result<()> {
        let mut result = Ok(());
        while let Some(stream) = meta.next_stream() {
            if let Ok(stream) = stream {
                result = result.and(self.streams.insert(stream));
            }
        }
        self.next_id = self.next_id.max(meta.next_id().unwrap_or(0));
        self.streams_changed();
        result
    }
}
