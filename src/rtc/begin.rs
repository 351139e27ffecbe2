//! Beginning in the middle: what streams there are, which frames continue a record, and how much of one is left.

use crate::bytes::{Bytes, to_u64};
use crate::error::Result;
use crate::room::Room;
use crate::rtc::frame::{self, Frame, MAX_PAYLOAD, id};
use crate::rtc::index::first_target;
use crate::rtc::reader::Reader;
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{MARKER_BYTES, Unit, check_marker, signed};
use crate::rtc::{Index, Meta, work};

/// The number of bytes before a boundary that may be too few for a frame: a header has at most ten bytes for the id and
/// two for the length.
const MAX_FILL: u64 = 12;

/// The record that a minor unit begins in, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    /// Enough is known to read on.
    Known,
    /// The first frame is of the stream in `slot`, whose records have `length` bytes, and it is not known how many of
    /// them are left.
    Unknown { slot: usize, length: u64 },
}

impl<'a, R: Room<StreamSlot<'a>>> Reader<'a, R> {
    /// Begins at the Marker at `pos`, perhaps in the middle of a file.
    pub(super) fn at_unit(data: &'a [u8], pos: usize, slots: R) -> Self {
        let mut reader = Self::new(data, pos, slots);
        if let Ok(unit) = Unit::parse(data, to_u64(pos))
            && unit.number() != 0
        {
            let _ = reader.learn_at(to_u64(pos), true);
            reader.expect_rest(&unit, pos);
        }
        reader
    }

    /// Begins at an index of `unit`, or at its Marker; and says what is known of the record that goes on there.
    pub(super) fn begin_in(&mut self, unit: Unit<'a>, pos: usize) -> Rest {
        self.learn_around(&unit, to_u64(pos));
        let rest = self.expect_rest(&unit, pos);
        self.enter(unit, pos);
        rest
    }

    /// Enters the streams of the Meta of the unit whose Marker or Index is at `at`; objects that cannot be read are left out.
    /// A declaration that contradicts a known one is, too, unless it `counts`.
    ///
    /// # Errors
    ///
    /// The table has no room for a stream.
    pub(super) fn learn_at(&mut self, at: u64, counts: bool) -> Result<()> {
        let [last, _] = self.learned;
        if self.learned.contains(&at) {
            return Ok(());
        }
        self.learned = [at, last];
        let (mut meta, mut result, contradiction) = (Meta::in_pieces(at), Ok(()), self.contradiction);
        self.prologue(at, |reader, frame| match frame.id {
            id::META => result = result.and(reader.declare_piece(&mut meta, frame, counts)),
            _ => reader.note_platform(frame.payload),
        });
        self.contradiction = contradiction;
        result
    }

    /// True if the Meta of the unit whose Marker or Index is at `at` declares most known streams in other words; `None` if
    /// it declares none of them.
    pub(super) fn declares_others(&mut self, at: u64) -> Option<bool> {
        let (mut meta, mut same, mut others) = (Meta::in_pieces(at), 0_u32, 0_u32);
        self.prologue(at, |reader, frame| {
            if frame.id != id::META {
                return;
            }
            meta.push(frame.payload, frame.payload_offset(), frame.more);
            while let Some(stream) = meta.next_stream() {
                let Ok(stream) = stream else { continue };
                let Some(known) = reader.known.streams().get(stream.id()) else { continue };
                let count = if stream.contradicts(known) { &mut others } else { &mut same };
                *count = count.saturating_add(1);
            }
        });
        (same > 0 || others > 0).then_some(others > same)
    }

    /// Calls `each` with Meta and platform of the unit whose Marker or Index is at `at`.
    fn prologue(&mut self, at: u64, mut each: impl FnMut(&mut Self, &Frame<'a>)) {
        let whole = self.whole();
        let Some(mut input) = whole.range(at, whole.end_offset().saturating_sub(at)) else { return };
        if check_marker(input).is_ok() {
            input.advance(MARKER_BYTES);
        }
        if Unit::at_index(input).is_err() {
            return;
        }
        while let Ok((frame, rest)) = frame::read_default(input) {
            let read = input.len().saturating_sub(rest.len());
            work::count(read);
            let Some(budget) = self.budget.checked_sub(to_u64(read)) else { return };
            (self.budget, input) = (budget, rest);
            match frame.id {
                id::META | id::PLATFORM => each(self, &frame),
                id::NUL | id::PADDING | id::INDEX | id::MINOR_INDEX => {}
                _ => return,
            }
        }
    }

    /// Enters the streams of the unit of the Marker or index at `at`, and of the one after it: its own Meta may be damaged, or
    /// it may have had a meta, which the next Meta repeats.
    pub(super) fn learn_around(&mut self, unit: &Unit<'a>, at: u64) {
        // A table that is too small is reported where the Meta is delivered.
        let _ = self.learn_at(if signed(at) <= unit.origin() { at } else { unit.offset() }, true);
        // The first unit of another session says nothing of this one.
        if Unit::parse(self.data, unit.end()).is_ok_and(|next| next.number() != 0) {
            let _ = self.learn_at(unit.end(), false);
        }
    }

    /// The index at the end of the minor unit that `at` lies in.
    fn next_index(&self, unit: &Unit<'a>, at: u64) -> Option<Index<'a>> {
        let boundary = unit.boundary_after(at);
        if boundary == unit.end() {
            let next = Unit::parse(self.data, boundary).ok().filter(|next| next.number() != 0);
            next.and_then(|unit| unit.index())
        } else {
            unit.minor_index(self.whole(), boundary).ok()
        }
    }

    /// Finds out how much is left of the record within which reading goes on at a boundary, if its frames do not say so.
    ///
    /// The index at the end of the minor unit leads to the first frame that begins to be written in it; whatever is
    /// before that is the rest of a record. Where no index follows, a record of fixed length may have begun before.
    pub(super) fn expect_rest(&mut self, unit: &Unit<'a>, pos: usize) -> Rest {
        if unit.number() == 0 && signed(to_u64(pos)) <= unit.origin() {
            // Nothing was written before.
            self.reset(Open::No);
            return Rest::Known;
        }
        self.reset(Open::Unknown);
        self.is_first = true;
        let Some((id, rest, at)) = self.first_user(pos) else { return Rest::Known };
        let Some(slot) = self.known.streams().slot(id) else { return Rest::Known };
        let length = self.known.get(slot).and_then(|slot| slot.stream.length());
        let unknown = length.map_or(Rest::Known, |length| Rest::Unknown { slot, length });
        let Some(index) = self.next_index(unit, at) else { return unknown };
        let boundary = unit.boundary_after(at);
        // An index that lists all that it has to proves that nothing began.
        let is_complete = !index.more() && index.check().is_ok();
        let first = first_target(self.whole(), &index, at, boundary);
        match first.or(is_complete.then_some(boundary)) {
            None => return unknown,
            Some(first) if first == at => self.expect(slot, Open::No, 0),
            Some(_) if length.is_none() => self.expect(slot, Open::Yes, 0),
            Some(first) if first == boundary => return unknown,
            Some(first) => {
                let header = rest.offset().saturating_sub(at);
                let total = first.saturating_sub(at);
                let frames = total.div_ceil(header.saturating_add(MAX_PAYLOAD).max(1));
                let left = total.saturating_sub(frames.saturating_mul(header));
                if left > 0 {
                    self.expect(slot, Open::Yes, left);
                }
            }
        }
        Rest::Known
    }

    /// Begins within a record of the stream in a slot, of which so many bytes are left, or at one if these are none.
    pub(super) fn begin_with(&mut self, slot: usize, rest: Option<u64>) {
        self.reset(Open::Unknown);
        self.is_first = true;
        if let Some(rest) = rest {
            self.expect(slot, if rest > 0 { Open::Yes } else { Open::No }, rest);
        }
    }

    /// The first frame of a user's stream from `pos` on, before which only default ones are: its stream, what follows
    /// its header, and where it begins.
    fn first_user(&mut self, pos: usize) -> Option<(u64, Bytes<'a>, u64)> {
        let mut input = Bytes::at(self.data.get(pos..)?, to_u64(pos));
        loop {
            let ((id, _), rest) = frame::read_header(input).ok()?;
            if id >= id::USER {
                return Some((id, rest, input.offset()));
            }
            work::count(1);
            self.budget = self.budget.checked_sub(1)?;
            input = frame::read_default(input).ok()?.1;
        }
    }

    /// Keeps in mind that a stream's writer cuts records itself.
    pub(super) fn note_split(&mut self, frame: &Frame<'a>) {
        // Where fewer bytes are left than a header and a byte, the writer fills up.
        let is_full = to_u64(frame.payload().len()) == MAX_PAYLOAD;
        if frame.more()
            && !is_full
            && self.boundary.saturating_sub(frame.end()) > MAX_FILL
            && let Some(slot) = self.known.get_mut(frame.slot.into())
        {
            slot.is_split = true;
        }
    }

    /// True if the next frame of the stream in a slot may continue a record, as far as is known.
    ///
    /// The writer itself cuts records at boundaries alone, where the first frame goes on with one.
    pub(super) fn is_in_doubt(&mut self, slot: usize) -> bool {
        let is_first = core::mem::take(&mut self.is_first);
        if self.state(slot).1 != Open::Unknown {
            return false;
        }
        let is_in_doubt = is_first || self.known.get(slot).is_some_and(|known| known.is_split);
        if !is_in_doubt {
            self.expect(slot, Open::No, 0);
        }
        is_in_doubt
    }
}
