//! The rows about a place, made for what is seen of them alone.

use crate::trace::{Browse, Depth, Field, Fields, Level, Node};
use std::cmp::Ordering;
use std::ops::Range;
use traceglass::event::Time;

/// A place in a trace: a file, a byte, and a number among what was decompressed from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: usize,
    pub offset: u64,
    pub sub: u64,
}

impl Place {
    pub fn at(file: usize, offset: u64) -> Self {
        Self { file, offset, sub: 0 }
    }

    fn of(file: usize, node: &Node<'_>) -> Self {
        Self { file, offset: node.offset, sub: node.sub }
    }
}

/// Something in a file, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub place: Place,
    pub end: u64,
    pub level: Level,
    pub time: Option<Time>,
    pub name: String,
    pub text: String,
}

impl Row {
    pub fn of(file: usize, node: &Node<'_>) -> Self {
        let (name, text) = node.about.text();
        let place = Place::of(file, node);
        Self { place, end: node.end, level: node.level, time: node.time, name, text }
    }
}

/// The work that may still be done: a place too far from where reading can begin is not shown.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub usize);

impl Budget {
    /// The work that can be done between two frames.
    pub const FRAME: Self = Self(100_000);

    fn spend(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

/// The rows about a place.
#[derive(Debug, Default)]
pub struct Window {
    pub rows: Vec<Row>,
    /// The row that the place is in.
    pub at: Option<usize>,
    /// True if all rows that were asked for are there, or there are no more.
    pub complete: bool,
}

/// Rows that a filter left about a place.
pub struct Filtered {
    pub place: Place,
    pub filter: String,
    pub window: Window,
    /// True if more may come.
    pub partial: bool,
}

/// The test of what is accepted as a row.
pub type Accept<'a> = &'a dyn Fn(&Node<'_>) -> bool;

/// The row that `place` is in, up to `before` rows before it, and up to `after` rows after it.
pub fn around(
    browse: &dyn Browse,
    place: Place,
    (before, after): (usize, usize),
    depth: Depth,
    accept: Accept<'_>,
    budget: &mut Budget,
) -> Window {
    let file = place.file;
    let mut start = place.offset;
    let mut step = 4096_u64;
    // The number of rows up to the place, from where reading begins.
    let (mut first, mut count) = (0, 0_usize);
    loop {
        let (mut begin, mut reached, mut counted) = (None, false, 0_usize);
        browse.walk(file, start, depth, &mut |node| {
            begin.get_or_insert(node.offset);
            if Place::of(file, node) > place && node.level != Level::Filling {
                reached = true;
                return false;
            }
            if accept(node) {
                counted = counted.saturating_add(1);
            }
            budget.spend() && node.level != Level::Unread
        });
        reached |= budget.0 > 0;
        if !reached {
            if count > 0 {
                // Rows that were found from nearer are better than none.
                break;
            }
            return Window::default();
        }
        (first, count) = (start, counted);
        let begin = begin.unwrap_or(start);
        if count > before || begin == 0 || start == 0 {
            break;
        }
        start = begin.min(start).saturating_sub(step);
        step = step.saturating_mul(4);
    }
    let skipped = count.saturating_sub(before.saturating_add(1));
    let (mut number, mut rows) = (0_usize, Vec::new());
    let end = count.saturating_add(after);
    let mut complete = true;
    browse.walk(file, first, depth, &mut |node| {
        if number >= end {
            return false;
        }
        if accept(node) {
            if number >= skipped {
                rows.push(Row::of(file, node));
            }
            number = number.saturating_add(1);
        }
        complete = budget.spend();
        complete && node.level != Level::Unread
    });
    let at = count.checked_sub(1).and_then(|at| at.checked_sub(skipped)).filter(|&at| at < rows.len());
    Window { rows, at, complete }
}

/// The record of an event that begins at a place: the first one there that is not before its time, since all that was
/// decompressed stands where that begins; or one that ends where the event does, since a record of several frames stands at
/// the last of them. Without such a record, the place.
pub fn record_at(browse: &dyn Browse, place: Place, end: u64, ns: i128, budget: &mut Budget) -> Place {
    let mut found = None;
    browse.walk(place.file, place.offset, Depth::All, &mut |node| {
        let is_it = match node.offset.cmp(&place.offset) {
            Ordering::Less => false,
            Ordering::Equal => node.time.is_some_and(|time| time.ns() >= ns),
            Ordering::Greater => node.end == end,
        };
        if is_it && node.level.is_record() {
            found = Some(Place::of(place.file, node));
            return false;
        }
        let is_after = node.offset > place.offset && node.offset >= end && node.level != Level::Filling;
        budget.spend() && !is_after && node.level != Level::Unread
    });
    found.unwrap_or(place)
}

/// The fields that lie in a range of a file, by where they begin; false if not all of it could be looked at.
pub fn fields(
    browse: &dyn Browse,
    file: usize,
    range: &Range<u64>,
    budget: &mut Budget,
) -> (Vec<Field>, bool) {
    let mut found = Vec::new();
    let mut complete = true;
    browse.walk(file, range.start, Depth::All, &mut |node| {
        if node.offset >= range.end {
            return false;
        }
        if node.end > range.start {
            // Only what is printed can fail.
            let _ = node.about.fields(&mut Fields::list(range.clone(), &mut found));
        }
        complete = budget.spend();
        complete && node.level != Level::Unread
    });
    found.sort_by_key(|field| (field.offset, std::cmp::Reverse(field.len)));
    (found, complete)
}

/// The field that a byte is in: the shortest one.
pub fn field_at(fields: &[Field], offset: u64) -> Option<&Field> {
    fields
        .iter()
        .filter(|field| (field.offset..field.offset.saturating_add(field.len)).contains(&offset))
        .min_by_key(|field| field.len)
}
