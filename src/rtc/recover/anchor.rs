//! The next certain place: for damage, for input that begins anywhere, and for sessions.

use super::frames::Frames;
use super::search;
use super::tuning::{FREE_LOOKS, METAS, TARGETS};
use crate::bytes::{Bytes, to_u64};
use crate::rtc::frame::id;
use crate::rtc::frames::{Due, Prologue};
use crate::rtc::index::first_target;
use crate::rtc::rest::Rest;
use crate::rtc::unit::{is_confirmed, signed};
use crate::rtc::{Index, Meta, Unit};
use core::ops::Range;

/// How many places may be looked at for one purpose that may not be read then: some always, and of those that are `left`
/// for the whole file.
pub(super) struct Looks<'l> {
    free: u32,
    left: &'l mut u64,
}

impl<'l> Looks<'l> {
    pub(super) fn of(left: &'l mut u64) -> Self {
        Self { free: FREE_LOOKS, left }
    }

    /// Takes one, if there is one.
    pub(super) fn take(&mut self) -> bool {
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
pub(super) struct Anchor<'a> {
    pub(super) at: u64,
    pub(super) unit: Unit<'a>,
    /// Whether the unit begins here, rather than one of its minor units.
    pub(super) begins: bool,
}

impl<'a> Anchor<'a> {
    /// The index that stands there.
    pub(super) fn index(&self, whole: Bytes<'a>) -> Option<Index<'a>> {
        if self.begins { self.unit.index() } else { self.unit.minor_index(whole, self.at).ok() }
    }
}

impl<'a, const N: usize> Frames<'a, N> {
    /// The first certain place from `from` on. Changes nothing but what is remembered of searches.
    pub(super) fn anchor(&mut self, from: u64) -> Option<Anchor<'a>> {
        let whole = self.whole();
        let end = whole.end_offset();
        let left = &mut self.looks;
        // Undisturbed, the units go on where they are due.
        let on_grid = self.ahead.unit.and_then(|unit| {
            let next = unit.moved(signed(unit.major_size()), unit.number().saturating_add(1));
            in_unit(whole, &unit, from..end, left).or_else(|| in_unit(whole, &next, from..end, left))
        });
        // If bytes were lost or added, or another session was appended, they begin anywhere.
        let before = on_grid.map_or(end, |anchor| anchor.at);
        let found = search::find(whole, from.max(self.searched), before);
        // What was searched need not be again, as reading never goes back.
        self.searched = found.map_or(before, |unit| unit.offset()).max(self.searched);
        let by_marker = found.map(|unit| {
            let anchor = Anchor { at: unit.offset(), unit, begins: true };
            in_units_before(whole, &unit, from, left).unwrap_or(anchor)
        });
        if by_marker.is_none() && on_grid.is_some() {
            return on_grid;
        }
        let Some(unit) = &self.ahead.unit else {
            return by_marker.or_else(|| {
                let unit = search::cut_marker(whole)?;
                Some(Anchor { at: unit.index()?.offset(), unit, begins: true })
            });
        };
        // The last unit of a session may be shifted, too.
        let before = by_marker.map_or(end, |anchor| anchor.at);
        let streams = &self.ahead.streams;
        let range = from.max(self.searched_minor)..before;
        let minor = search::find_minor(whole, range, unit, |id| streams.get(id).is_some());
        self.searched_minor = minor.map_or(before, |(at, _)| at).max(self.searched_minor);
        minor.map(|(at, unit)| Anchor { at, unit, begins: false }).or(by_marker)
    }

    /// Goes on at an anchor, or at a frame between what was delivered and it to which its index leads.
    pub(super) fn go_on(&mut self, anchor: Anchor<'a>) {
        let unit = anchor.unit;
        self.guessed = false;
        if let Some(last) = self.ahead.unit
            && self.is_other_session(&last, &anchor)
        {
            self.ahead.new_session();
        }
        self.ahead.learn_at(if anchor.begins { anchor.at } else { unit.offset() });
        if !anchor.begins {
            // Its own Meta may be lost, and it may have had a meta; the next one tells of both.
            for k in 1..=METAS {
                let next = unit.moved(signed(unit.major_size()).saturating_mul(k), 0);
                if self.ahead.learn_at(next.offset()) {
                    break;
                }
            }
        }
        if let Some((start, unit)) = self.backtrack(&anchor) {
            self.interrupt();
            self.pos = start;
            self.queue.clear();
            self.ahead.enter(unit, start);
            self.entered();
            return;
        }
        self.interrupt();
        self.pos = usize::try_from(anchor.at).unwrap_or(self.ahead.data.len());
        self.ahead.pos = self.pos;
        if let Rest::Unknown { slot, length } = self.ahead.expect_rest(&unit) {
            self.guessed = !self.try_rests(&anchor, slot, length);
        }
        self.ahead.enter(unit, self.pos);
        self.entered();
    }

    /// Whether a unit after damage belongs to another session than the last one before it.
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
        self.has_other_meta(unit) || unit.number() < last.number() && !last.shares_grid(unit)
    }

    /// Whether the Meta of a unit, or of one after it if that is lost, declares most streams in other words.
    fn has_other_meta(&mut self, unit: &Unit<'a>) -> bool {
        for k in 0..=METAS {
            let unit = unit.moved(signed(unit.major_size()).saturating_mul(k), 0);
            let (mut known, mut others, mut meta) = (0_u32, 0_u32, None);
            let whole = self.whole();
            let pieces = Prologue::new(whole, unit.offset(), &mut self.ahead.budget);
            for piece in pieces.filter(|piece| piece.id == id::META) {
                let meta = meta.get_or_insert_with(|| Meta::in_pieces(piece.offset));
                meta.push(piece.payload, piece.offset, piece.more);
                while let Some(stream) = meta.next_stream() {
                    let Ok(stream) = stream else { continue };
                    let Some(same) = self.ahead.streams.get(stream.id()) else { continue };
                    known = known.saturating_add(1);
                    others = others.saturating_add(u32::from(stream.contradicts(same)));
                }
            }
            if meta.is_some() {
                return others > known.saturating_sub(others);
            }
        }
        false
    }

    /// The Meta of a unit says something new, contradictory or damaged: if the next one says otherwise, and its unit is
    /// proven while this one is not, that counts.
    pub(super) fn compare_next_meta(&mut self) {
        let Some(unit) = self.ahead.unit else { return };
        let next = Unit::parse(self.ahead.data, unit.end())
            .ok()
            .filter(|next| next.number() == unit.number().saturating_add(1) && unit.shares_grid(next));
        let Some(next) = next else { return };
        // Objects that are damaged here are replaced by those that are not.
        let order = self.ahead.order;
        self.ahead.learn_at(next.offset());
        self.ahead.order = order;
        if self.has_contradiction(&next) && !self.ahead.is_proven(&unit) && self.ahead.is_proven(&next) {
            self.ahead.replace_by(&next);
        }
    }

    fn has_contradiction(&mut self, unit: &Unit<'a>) -> bool {
        let mut meta = None;
        let whole = self.whole();
        let mut pieces = Prologue::new(whole, unit.offset(), &mut self.ahead.budget);
        pieces.by_ref().filter(|piece| piece.id == id::META).any(|piece| {
            let meta = meta.get_or_insert_with(|| Meta::in_pieces(piece.offset));
            meta.push(piece.payload, piece.offset, piece.more);
            let mut found = false;
            while let Some(stream) = meta.next_stream() {
                let Ok(stream) = stream else { continue };
                found |= self.ahead.streams.get(stream.id()).is_some_and(|same| stream.contradicts(same));
            }
            found
        })
    }

    /// The first frame from what was delivered on to which the anchor's index leads, and from which frames follow up to
    /// it.
    fn backtrack(&mut self, anchor: &Anchor<'a>) -> Option<(usize, Unit<'a>)> {
        let whole = self.whole();
        let index = anchor.index(whole)?;
        let unit = if anchor.begins {
            let number = anchor.unit.number().checked_sub(1)?;
            anchor.unit.moved(signed(anchor.unit.major_size()).saturating_neg(), number)
        } else {
            anchor.unit
        };
        let to = usize::try_from(anchor.at).ok()?;
        let mut from = to_u64(self.pos);
        for _ in 0..TARGETS {
            let target = first_target(whole, &index, from, anchor.at)?;
            let start = usize::try_from(target).ok()?;
            self.interrupt();
            self.ahead.enter(unit, start);
            if self.reads_to(to) {
                return Some((start, unit));
            }
            from = to_u64(self.ahead.pos).max(target.saturating_add(1));
        }
        None
    }

    /// Whether frames follow each other from here on up to the boundary at `to`.
    pub(super) fn reads_to(&mut self, to: usize) -> bool {
        while self.ahead.due == Due::Frame {
            while self.ahead.read_fast().is_some() {}
            if self.ahead.read_one().is_err() {
                return false;
            }
        }
        self.ahead.pos == to
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
    let mut at = unit.boundary_after(range.start.saturating_sub(1));
    while at < range.end && at < unit.end() && looks.take() {
        if unit.minor_index(whole, at).is_ok() {
            return Some(Anchor { at, unit: *unit, begins: false });
        }
        at = unit.boundary_after(at);
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
