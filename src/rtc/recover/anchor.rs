//! The next certain place: for damage, for input that begins anywhere, and for sessions.

use super::search;
use crate::bytes::{Bytes, to_u64};
use crate::room::Room;
use crate::rtc::reader::Reader;
use crate::rtc::slot::StreamSlot;
use crate::rtc::unit::{Unit, is_confirmed, signed};
use crate::rtc::work;
use core::ops::Range;

/// The limit of reading ahead in all, as a multiple of the input's size: more than any damage takes. After that, a file
/// that was made to waste time is read on with less foresight.
const BUDGET: u64 = 8;

/// A place that is certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor<'a> {
    pub(super) at: u64,
    pub(super) unit: Unit<'a>,
    /// True if the unit begins here, rather than one of its minor units.
    pub(super) begins: bool,
}

/// The state of all searches, so that together they are linear.
#[derive(Clone)]
pub(super) struct Finder {
    /// Before these, no Marker and no shifted index is left to be found.
    searched: u64,
    searched_minor: u64,
    /// The number of places and bytes that may still be looked at without being delivered.
    pub(super) looks: u64,
}

impl Finder {
    /// For an input of `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        let looks = to_u64(len).saturating_mul(BUDGET).saturating_add(1 << 16);
        Self { searched: 0, searched_minor: 0, looks }
    }

    /// The first certain place from `from` on.
    pub(super) fn find<'a, R: Room<StreamSlot<'a>>>(
        &mut self,
        reader: &Reader<'a, R>,
        from: u64,
    ) -> Option<Anchor<'a>> {
        let whole = reader.whole();
        let end = whole.end_offset();
        let left = &mut self.looks;
        // Undisturbed, the units go on where they are due.
        let on_grid = reader.unit.and_then(|unit| {
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
            in_unit_before(whole, &unit, from, left).unwrap_or(anchor)
        });
        if by_marker.is_none() && on_grid.is_some() {
            return on_grid;
        }
        let Some(unit) = &reader.unit else {
            return by_marker.or_else(|| {
                let unit = search::damaged_marker(whole)?;
                Some(Anchor { at: unit.index()?.offset(), unit, begins: true })
            });
        };
        // The last unit of a session may be shifted, too.
        let before = by_marker.map_or(end, |anchor| anchor.at);
        let streams = reader.known.streams();
        let range = from.max(self.searched_minor)..before;
        let minor = search::find_minor(whole, range, unit, |id| streams.get(id).is_some());
        self.searched_minor = minor.map_or(before, |(at, _)| at).max(self.searched_minor);
        minor.map(|(at, unit)| Anchor { at, unit, begins: false }).or(by_marker)
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
    let mut at = unit.boundary_after(range.start.saturating_sub(1));
    while at < range.end && at < unit.end() && *left > 0 {
        work::count(1);
        *left = left.saturating_sub(1);
        if unit.minor_index(whole, at).is_ok() {
            return Some(Anchor { at, unit: *unit, begins: false });
        }
        at = unit.boundary_after(at);
    }
    None
}

/// The first certain place from `from` on in the unit that precedes `unit`.
fn in_unit_before<'a>(whole: Bytes<'a>, unit: &Unit<'a>, from: u64, left: &mut u64) -> Option<Anchor<'a>> {
    let back = signed(unit.major_size()).saturating_neg();
    let before = unit.moved(back, unit.number().checked_sub(1)?);
    in_unit(whole, &before, from..unit.offset(), left)
}
