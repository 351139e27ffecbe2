//! Going on behind damage.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind};
use crate::rtc::frame::{self, id};
use crate::rtc::unit::{MARKER_BYTES, check_marker, is_confirmed, signed};
use crate::rtc::walk::{Reason, Stop, Walk};
use crate::rtc::{Index, MARKER, Meta, Unit, search};
use core::ops::Range;

/// How many of the frames that an index leads to are tried as a place to go on.
const TRIES: u32 = 8;
/// How many units behind the damage are asked for their Meta, if the streams are not known.
const METAS: i64 = 4;

/// How many of [`Looks`] are always there.
const FREE: u32 = 64;

/// How many frames or places may be looked at for one purpose that may not be read then: some always, and of those that
/// are `left` for the whole file.
///
/// Behind damage, reading looks ahead for what tells where to go on, and a file can be made so that this is in vain
/// again and again. One that was merely damaged takes far fewer looks than it has bytes; one that takes more is read on
/// with less foresight.
struct Looks<'l> {
    free: u32,
    left: &'l mut u64,
}

impl<'l> Looks<'l> {
    fn of(left: &'l mut u64) -> Self {
        Self { free: FREE, left }
    }

    /// Takes one, if there is one.
    fn take(&mut self) -> bool {
        if let Some(fewer) = self.free.checked_sub(1) {
            self.free = fewer;
            return true;
        }
        let fewer = self.left.checked_sub(1);
        *self.left = fewer.unwrap_or(0);
        fewer.is_some()
    }
}

/// A place that is certain.
#[derive(Clone, Copy, Debug)]
struct Anchor<'a> {
    at: u64,
    unit: Unit<'a>,
    /// Whether the unit begins here, rather than one of its minor units.
    begins: bool,
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Moves on to what can be read behind the damage; all of the input is lost if there is nothing.
    pub(super) fn recover(&mut self, cause: Error) -> Reason {
        let from = to_u64(self.pos);
        if matches!(cause.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.stop = Stop::Going;
            return Reason::Capacity;
        }
        let first = self.unit.is_none();
        let out_of_sequence = matches!(cause.kind(), ErrorKind::OutOfSequence { .. });
        self.interrupt();
        self.meta = None;
        self.since = usize::MAX;
        // What failed here must not be tried again.
        let behind = if out_of_sequence || first { from } else { from.saturating_add(1) };
        let found = self.anchor(behind);
        match found {
            Some(anchor) => self.go_on(anchor, from),
            None => {
                self.pos = self.data.len();
                (self.ahead, self.stop) = (self.pos, Stop::End);
                self.queue.clear();
            }
        }
        self.since = self.pos;
        match cause.element() {
            _ if first => Reason::HeadCut,
            _ if out_of_sequence => Reason::Units,
            _ if cause.is_truncation() && found.is_none() => Reason::Truncated,
            element if element == MARKER => Reason::Marker,
            _ => Reason::Frames,
        }
    }

    /// The first certain place from `from` on.
    fn anchor(&mut self, from: u64) -> Option<Anchor<'a>> {
        let whole = self.whole();
        let end = whole.end_offset();
        let left = &mut self.looks;
        // Undisturbed, the units go on where they are due.
        let on_grid = self.unit.and_then(|unit| {
            let next = unit.moved(signed(unit.major_size()), unit.number().saturating_add(1));
            in_unit(whole, &unit, from..end, left).or_else(|| in_unit(whole, &next, from..end, left))
        });
        // If bytes were lost or added, or another session was appended, they begin anywhere.
        let before = on_grid.map_or(end, |anchor| anchor.at);
        let found = search::find(whole, from.max(self.searched), before);
        // What was searched need not be again, as reading never goes back.
        self.searched = found.map_or(before, |unit| unit.offset()).max(self.searched);
        if let Some(unit) = found {
            let anchor = Anchor { at: unit.offset(), unit, begins: true };
            return Some(in_units_before(whole, &unit, from, left).unwrap_or(anchor));
        }
        if on_grid.is_some() {
            return on_grid;
        }
        match &self.unit {
            Some(unit) => {
                let (at, unit) = search::find_minor(whole, from, unit, |id| self.streams.get(id).is_some())?;
                Some(Anchor { at, unit, begins: false })
            }
            None => {
                let unit = search::cut_marker(whole)?;
                Some(Anchor { at: unit.index()?.offset(), unit, begins: true })
            }
        }
    }

    /// Goes on at an anchor, or at a frame between `from` and it to which its index leads.
    fn go_on(&mut self, anchor: Anchor<'a>, from: u64) {
        let unit = anchor.unit;
        self.guessed = false;
        if anchor.begins {
            if let Some(last) = self.unit {
                let restarts = unit.number() == 0;
                if restarts || unit.number() < last.number() && !last.shares_grid(&unit) {
                    self.session = self.session.saturating_add(1);
                    self.new_session();
                }
            }
            self.learn_at(anchor.at);
        } else {
            // Its own Meta may be lost, and it may have had a meta; the next one tells of both.
            for k in 1..=METAS {
                let next = unit.moved(signed(unit.major_size()).saturating_mul(k), 0);
                if self.learn_at(next.offset()) {
                    break;
                }
            }
        }
        if let Some((start, unit)) = self.backtrack(&anchor, from) {
            self.interrupt();
            self.pos = start;
            self.enter(unit, start);
            return;
        }
        self.interrupt();
        self.pos = usize::try_from(anchor.at).unwrap_or(self.data.len());
        self.guessed = !self.expect_rest(&unit);
        self.enter(unit, self.pos);
    }

    /// The first frame from `from` on to which the anchor's index leads, and from which frames follow up to it.
    fn backtrack(&mut self, anchor: &Anchor<'a>, from: u64) -> Option<(usize, Unit<'a>)> {
        let whole = self.whole();
        let (index, unit) = if anchor.begins {
            let number = anchor.unit.number().checked_sub(1)?;
            let before = signed(anchor.unit.major_size()).saturating_neg();
            (anchor.unit.index()?, anchor.unit.moved(before, number))
        } else {
            (anchor.unit.minor_index(whole, anchor.at).ok()?, anchor.unit)
        };
        let to = usize::try_from(anchor.at).ok()?;
        let mut from = from;
        for _ in 0..TRIES {
            let target = first_target(whole, &index, from, anchor.at)?;
            let start = usize::try_from(target).ok()?;
            self.interrupt();
            self.enter(unit, start);
            self.look_ahead_all();
            if self.ahead == to && matches!(self.stop, Stop::Minor | Stop::Major) {
                return Some((start, unit));
            }
            from = to_u64(self.ahead).max(target.saturating_add(1));
        }
        None
    }

    /// Looks at all frames up to the end of the minor unit.
    fn look_ahead_all(&mut self) {
        while self.stop == Stop::Going {
            self.look_ahead();
            self.queue.skip();
        }
    }

    /// If reading goes on within a record, tells so, and how much of it is left if its frames do not.
    ///
    /// The index at the end of the minor unit leads to the first frame that begins to be written in it; whatever is
    /// before that is the rest of a record. Gives whether that is known: where no index follows, a record of fixed
    /// length may have begun before.
    pub(super) fn expect_rest(&mut self, unit: &Unit<'a>) -> bool {
        let whole = self.whole();
        let mut input = self.input(self.pos, self.data.len());
        let mut looks = Looks::of(&mut self.looks);
        let (id, rest) = loop {
            let Ok(((id, _), rest)) = frame::read_header(input) else { return true };
            if id >= id::USER {
                break (id, rest);
            }
            if !looks.take() {
                return false;
            }
            let Ok((_, behind)) = frame::read_default(input) else { return true };
            input = behind;
        };
        let Some(place) = self.streams.place(id) else { return true };
        let at = input.offset();
        let boundary = unit.boundary_behind(at);
        let index = if boundary == unit.end() {
            Unit::parse(self.data, boundary).ok().and_then(|unit| unit.index())
        } else {
            unit.minor_index(whole, boundary).ok()
        };
        let Some(first) = index.and_then(|index| first_target(whole, &index, at, boundary)) else {
            return self.streams.at(place).is_none_or(|stream| stream.length().is_none());
        };
        let header = rest.offset().saturating_sub(at);
        let total = first.saturating_sub(at);
        let frames = total.div_ceil(header.saturating_add(frame::MAX_PAYLOAD).max(1));
        let left = total.saturating_sub(frames.saturating_mul(header));
        if left > 0 {
            self.expect(place, left);
        }
        true
    }

    /// Takes the Meta of the unit at `at` into the stream table; gives whether there is one.
    pub(super) fn learn_at(&mut self, at: u64) -> bool {
        let whole = self.whole();
        let Some(mut input) = whole.range(at, whole.end_offset().saturating_sub(at)) else { return false };
        if check_marker(input).is_ok() {
            input.advance(MARKER_BYTES);
        }
        if Unit::at_index(input).is_err() {
            return false;
        }
        let mut meta = Meta::in_pieces(input.offset());
        let mut read = false;
        let mut left = self.looks;
        let mut looks = Looks::of(&mut left);
        while let Ok((parts, rest)) = frame::read_default(input) {
            let offset = input.offset().saturating_add(u64::from(parts.header));
            input = rest;
            match parts.id {
                id::META => {
                    meta.push(parts.payload, offset, parts.more);
                    // What does not fit is reported where the Meta is delivered.
                    let _ = self.learn(&mut meta);
                    read = true;
                }
                id::PLATFORM => self.platform(parts.payload),
                id::NUL | id::PADDING | id::INDEX | id::MINOR_INDEX => {}
                _ => break,
            }
            if !looks.take() {
                break;
            }
        }
        self.looks = left;
        read
    }
}

/// The first certain place of a unit in a range.
fn in_unit<'a>(whole: Bytes<'a>, unit: &Unit<'a>, range: Range<u64>, left: &mut u64) -> Option<Anchor<'a>> {
    let lies_in = |at: i64| u64::try_from(at).ok().filter(|at| range.contains(at));
    if let Some(at) = lies_in(unit.position())
        && let Some(unit) = Unit::parse(whole.as_slice(), at).ok().filter(|unit| is_confirmed(whole, unit))
    {
        return Some(Anchor { at, unit, begins: true });
    }
    if let Some(at) = lies_in(unit.origin()) {
        let input = whole.range(at, whole.end_offset().saturating_sub(at))?;
        if let Ok(found) = Unit::at_index(input) {
            // Without its Marker, where and how large it is must be known from elsewhere.
            if found.shares_grid(unit) && found.number() == unit.number() {
                return Some(Anchor { at, unit: found, begins: true });
            }
        }
    }
    let mut looks = Looks::of(left);
    let mut at = unit.boundary_behind(range.start.saturating_sub(1));
    while at < range.end && at < unit.end() && looks.take() {
        if unit.minor_index(whole, at).is_ok() {
            return Some(Anchor { at, unit: *unit, begins: false });
        }
        at = unit.boundary_behind(at);
    }
    None
}

/// The first certain place from `from` on in the units that precede `unit`.
fn in_units_before<'a>(whole: Bytes<'a>, unit: &Unit<'a>, from: u64, left: &mut u64) -> Option<Anchor<'a>> {
    let to = unit.offset();
    let major = unit.major_size();
    let fit = to.saturating_sub(from).div_ceil(major.max(1));
    let count = fit.min(unit.number());
    (1..=count).rev().find_map(|back| {
        let by = signed(major).saturating_mul(signed(back)).saturating_neg();
        in_unit(whole, &unit.moved(by, unit.number().saturating_sub(back)), from..to, left)
    })
}

/// The first frame in `from..to` to which an index leads.
fn first_target(whole: Bytes<'_>, index: &Index<'_>, from: u64, to: u64) -> Option<u64> {
    let mut first = None;
    for entry in index.entries() {
        let Ok(entry) = entry else { break };
        let Some(target) = entry.target().filter(|target| (from..to).contains(target)) else { continue };
        let earlier = first.is_none_or(|first| target < first);
        if entry.id() >= id::USER && earlier && search::leads_to_frame(whole, &entry, from) {
            first = Some(target);
        }
    }
    first
}
