//! Beginning in the middle: what streams there are, which frames continue a record, and how much of one is left.

use crate::bytes::{Bytes, to_u64};
use crate::error::Result;
use crate::room::Room;
use crate::rtc::frame::{self, Frame, MAX_PAYLOAD, id};
use crate::rtc::index::first_target;
use crate::rtc::reader::Reader;
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{MARKER_BYTES, Unit, check_marker, signed};
use crate::rtc::{Index, Meta, Stream, work};

/// The number of bytes before a boundary that may be too few for a frame: a header has at most ten bytes for the id and
/// two for the length.
const MAX_FILL: u64 = 12;

/// What is known of the record that a minor unit begins in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    /// All that is needed.
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
            // What does not fit is reported where the Meta is delivered.
            let _ = reader.learn_at(to_u64(pos), true);
            reader.expect_rest(&unit, pos);
        }
        reader
    }

    /// Begins at an index of `unit`, or at its Marker; and says what is known of the record that goes on there.
    pub(super) fn begin_in(&mut self, unit: Unit<'a>, pos: usize) -> Rest {
        let _ = self.learn_at(unit.offset(), true);
        // The unit may have had a meta, which the next one repeats.
        let _ = self.learn_at(unit.end(), false);
        let rest = self.expect_rest(&unit, pos);
        self.enter(unit, pos);
        rest
    }

    /// Takes the Meta of the unit at `at` into the table; gives whether there is one. What it says of a stream that is
    /// known is left out, unless it `counts`.
    ///
    /// # Errors
    ///
    /// The table has no room for a stream.
    pub(super) fn learn_at(&mut self, at: u64, counts: bool) -> Result<bool> {
        if let Some(&(_, is_there)) = self.learned.iter().find(|known| known.0 == at) {
            return Ok(is_there);
        }
        let mut streams = Prologue::new(self.data, at, self.budget);
        let (mut result, contradiction) = (Ok(()), self.contradiction);
        for stream in streams.by_ref() {
            result = result.and(self.declare(stream, counts));
        }
        self.contradiction = contradiction;
        self.budget = streams.budget;
        let is_there = streams.meta.is_some();
        self.next_id = self.next_id.max(streams.meta.and_then(|meta| meta.next_id()).unwrap_or(0));
        if let Some(platform) = streams.platform {
            self.note_platform(platform);
        }
        let [last, _] = self.learned;
        self.learned = [(at, is_there), last];
        result.map(|()| is_there)
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

    /// If reading goes on at a boundary, within a record: how much of it is left, if its frames do not say so.
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

/// The streams that the Meta of a unit declares; objects that cannot be read are left out.
struct Prologue<'a> {
    rest: Option<Bytes<'a>>,
    /// The number of bytes that may still be read.
    budget: u64,
    /// The Meta, as far as it was read.
    meta: Option<Meta<'a>>,
    /// The payload of the platform frame, if one came by.
    platform: Option<&'a [u8]>,
}

impl<'a> Prologue<'a> {
    /// That of the unit whose Marker or Index is at `at`.
    fn new(data: &'a [u8], at: u64, budget: u64) -> Self {
        let whole = Bytes::new(data);
        let input = whole.range(at, whole.end_offset().saturating_sub(at));
        let rest = input.and_then(|mut input| {
            if check_marker(input).is_ok() {
                input.advance(MARKER_BYTES);
            }
            Unit::at_index(input).is_ok().then_some(input)
        });
        Self { rest, budget, meta: None, platform: None }
    }

    /// Goes on to the next piece of the Meta.
    fn next_piece(&mut self) -> Option<()> {
        loop {
            let input = self.rest.take()?;
            let (parts, rest) = frame::read_default(input).ok()?;
            let read = input.len().saturating_sub(rest.len());
            work::count(read);
            self.budget = self.budget.checked_sub(to_u64(read))?;
            let offset = parts.payload_offset();
            match parts.id {
                id::META => {
                    self.rest = Some(rest);
                    let meta = self.meta.get_or_insert_with(|| Meta::in_pieces(offset));
                    meta.push(parts.payload, offset, parts.more);
                    return Some(());
                }
                id::PLATFORM => self.platform = Some(parts.payload),
                id::NUL | id::PADDING | id::INDEX | id::MINOR_INDEX => {}
                _ => return None,
            }
            self.rest = Some(rest);
        }
    }
}

impl<'a> Iterator for Prologue<'a> {
    type Item = Stream<'a>;

    fn next(&mut self) -> Option<Stream<'a>> {
        loop {
            match self.meta.as_mut().and_then(Meta::next_stream) {
                Some(Ok(stream)) => return Some(stream),
                Some(Err(_)) => {}
                None => self.next_piece()?,
            }
        }
    }
}
