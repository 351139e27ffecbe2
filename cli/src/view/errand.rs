//! The work that takes longer than a frame: searching, seeking, filtering. It is done beside the screen, and can be
//! given up.

use super::pattern::Pattern;
use super::rows::{Filtered, Place, Row, Window};
use crate::output::percent;
use crate::trace::{Browse, Depth, Level, Node, Time};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The number of bytes that are searched at once.
const PIECE: u64 = 4 << 20;

/// The work to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    Search {
        place: Place,
        pattern: Pattern,
        forward: bool,
    },
    Seek {
        time: Time,
    },
    /// The rows around a place whose text contains `filter`.
    Filter {
        place: Place,
        filter: String,
        before: usize,
        after: usize,
    },
    /// Some rows further on.
    Step {
        place: Place,
        filter: String,
        forward: bool,
        times: u64,
    },
}

/// The result of the work.
pub enum Found {
    Progress(String),
    Hit { place: Place, len: u64 },
    Place(Place),
    Nothing(String),
    Filtered(Filtered),
}

/// Does an errand: `tell` is given what is found, and ends the errand by returning false.
pub fn run(browse: &dyn Browse, errand: &Errand, tell: &mut dyn FnMut(Found) -> bool) {
    match errand {
        Errand::Search { place, pattern, forward } => search(browse, *place, pattern, *forward, tell),
        Errand::Seek { time } => seek(browse, *time, tell),
        Errand::Filter { place, filter, before, after } => {
            filtered(browse, *place, filter, (*before, *after), tell);
        }
        Errand::Step { place, filter, forward, times } => {
            step(browse, *place, filter, *forward, usize::try_from(*times).unwrap_or(usize::MAX), tell);
        }
    }
}

fn search(
    browse: &dyn Browse,
    place: Place,
    pattern: &Pattern,
    forward: bool,
    tell: &mut dyn FnMut(Found) -> bool,
) {
    let count = browse.files().len();
    let total: u64 = browse.files().iter().map(|file| file.size).fold(0, u64::saturating_add);
    let len = pattern.len() as u64;
    let mut searched = 0_u64;
    // All files, beginning with this one; the rest of this one comes last.
    for round in 0..=count {
        let step = if forward { round } else { count.saturating_mul(2).saturating_sub(round) };
        let file = place.file.saturating_add(step).checked_rem(count).unwrap_or(0);
        let Ok(data) = browse.data(file) else { continue };
        let size = data.len() as u64;
        let (mut low, mut high) = match (round, forward) {
            (0, true) => (place.offset.saturating_add(1).min(size), size),
            (0, false) => (0, place.offset.saturating_add(len).saturating_sub(1).min(size)),
            (round, true) if round == count => (0, place.offset.saturating_add(len).min(size)),
            (round, false) if round == count => (place.offset.min(size), size),
            _ => (0, size),
        };
        while low < high && high.saturating_sub(low) >= len {
            let piece = if forward {
                low..low.saturating_add(PIECE).min(high)
            } else {
                high.saturating_sub(PIECE).max(low)..high
            };
            let bytes = part(data, piece.clone());
            let hit = if forward { pattern.find(bytes) } else { pattern.rfind(bytes) };
            if let Some(at) = hit {
                let offset = piece.start.saturating_add(at as u64);
                tell(Found::Hit { place: Place::at(file, offset), len });
                return;
            }
            let overlap = len.saturating_sub(1);
            searched = searched.saturating_add(piece.end.saturating_sub(piece.start));
            if piece == (low..high) {
                break;
            }
            if forward {
                low = piece.end.saturating_sub(overlap);
            } else {
                high = piece.start.saturating_add(overlap);
            }
            let done = percent(searched, total);
            if !tell(Found::Progress(format!("searching {}: {done}", pattern.text))) {
                return;
            }
        }
    }
    tell(Found::Nothing(format!("{}: not found", pattern.text)));
}

fn part(data: &[u8], range: std::ops::Range<u64>) -> &[u8] {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
    data.get(at(range.start)..at(range.end)).unwrap_or_default()
}

/// Tells now and then how far a walk has come.
struct Teller<'t> {
    tell: &'t mut dyn FnMut(Found) -> bool,
    next: Instant,
    nodes: u32,
    going: bool,
}

impl<'t> Teller<'t> {
    fn new(tell: &'t mut dyn FnMut(Found) -> bool) -> Self {
        Self { tell, next: Instant::now(), nodes: 0, going: true }
    }

    fn goes_on(&mut self, text: impl FnOnce() -> String) -> bool {
        self.nodes = self.nodes.wrapping_add(1);
        if self.nodes.is_multiple_of(1024) && Instant::now() >= self.next {
            self.next = Instant::now().checked_add(Duration::from_millis(50)).unwrap_or(self.next);
            self.going = (self.tell)(Found::Progress(text()));
        }
        self.going
    }
}

/// The time of the first record of those that have a time.
fn start_of(browse: &dyn Browse, teller: &mut Teller<'_>) -> Option<i128> {
    let stated = browse.files().iter().filter_map(|file| file.times).map(|(start, _)| start).min();
    let mut first: Option<i128> = None;
    for (file, entry) in browse.files().iter().enumerate() {
        // A file that begins later according to its header cannot have the first record.
        if entry.times.is_some_and(|(start, _)| first.or(stated).is_some_and(|first| start > first)) {
            continue;
        }
        let mut seen = 0_u32;
        browse.walk(file, 0, Depth::All, &mut |node| {
            let time = node.time.filter(|_| node.level.is_record());
            seen = seen.saturating_add(u32::from(time.is_some()));
            if let Some(time) = time {
                first = Some(first.map_or(time.ns(), |first| first.min(time.ns())));
            }
            seen < 1 && teller.goes_on(|| "looking for the first record".to_owned())
        });
    }
    first
}

fn seek(browse: &dyn Browse, time: Time, tell: &mut dyn FnMut(Found) -> bool) {
    let mut teller = Teller::new(tell);
    let ns = match time {
        Time::Absolute(ns) | Time::Clock(ns) => ns,
        Time::SinceStart(since) | Time::OfDay(since) => match start_of(browse, &mut teller) {
            Some(start) => match time.in_trace(start) {
                Time::Absolute(ns) => ns,
                _ => start.saturating_add(since),
            },
            None => {
                (teller.tell)(Found::Nothing("no record of it has a time".to_owned()));
                return;
            }
        },
    };
    let mut best: Option<(i128, Place)> = None;
    for (file, entry) in browse.files().iter().enumerate() {
        let is_over = entry.times.is_some_and(|(_, end)| end < ns);
        let is_later = entry.times.zip(best).is_some_and(|((start, _), (best, _))| start > best);
        if is_over || is_later {
            continue;
        }
        browse.walk(file, browse.near(file, ns), Depth::All, &mut |node| {
            let found = node.time.filter(|found| node.level.is_record() && found.ns() >= ns);
            if let Some(found) = found {
                if best.is_none_or(|(best, _)| found.ns() < best) {
                    best = Some((found.ns(), Place { file, offset: node.offset, sub: node.sub }));
                }
                // Of the files of a recording, sequences follow each other, each with its own times.
                if entry.times.is_none() {
                    return false;
                }
            }
            teller.goes_on(|| format!("looking for {time}: {}", percent(node.end, entry.size)))
        });
        if !teller.going {
            return;
        }
    }
    let found = match best {
        Some((_, place)) => Found::Place(place),
        None => Found::Nothing(format!("{time}: nothing is that late")),
    };
    (teller.tell)(found);
}

fn matches(node: &Node<'_>, filter: &str) -> bool {
    if !node.level.is_record() || node.level == Level::Unread {
        return false;
    }
    let (name, text) = node.about.text();
    name.contains(filter) || text.contains(filter)
}

fn filtered(
    browse: &dyn Browse,
    place: Place,
    filter: &str,
    (before, after): (usize, usize),
    tell: &mut dyn FnMut(Found) -> bool,
) {
    let mut teller = Teller::new(tell);
    let size = browse.files().get(place.file).map_or(0, |file| file.size);
    let progress = |node: &Node<'_>| format!("filtering: {}", percent(node.end, size));
    // The rows before, from the nearest place after which there are enough of them.
    let mut rows = VecDeque::new();
    let mut start = place.offset;
    let mut step = 1_u64 << 16;
    loop {
        rows.clear();
        let mut begin = None;
        browse.walk(place.file, start, Depth::All, &mut |node| {
            begin.get_or_insert(node.offset);
            let here = Place { file: place.file, offset: node.offset, sub: node.sub };
            if here > place {
                return false;
            }
            if matches(node, filter) {
                rows.push_back(Row::of(place.file, node));
                if rows.len() > before.saturating_add(1) {
                    rows.pop_front();
                }
            }
            teller.goes_on(|| progress(node))
        });
        let begin = begin.unwrap_or(start);
        if !teller.going {
            return;
        }
        if rows.len() > before || begin == 0 || start == 0 {
            break;
        }
        start = begin.min(start).saturating_sub(step);
        step = step.saturating_mul(8);
    }
    let at = rows.len().checked_sub(1);
    let mut rows = Vec::from(rows);
    let most = rows.len().saturating_add(after);
    browse.walk(place.file, place.offset, Depth::All, &mut |node| {
        let here = Place { file: place.file, offset: node.offset, sub: node.sub };
        if here > place && matches(node, filter) {
            rows.push(Row::of(place.file, node));
        }
        rows.len() < most && teller.goes_on(|| progress(node))
    });
    if teller.going {
        let window = Window { rows, at, complete: true };
        (teller.tell)(Found::Filtered(Filtered { place, filter: filter.to_owned(), window, partial: false }));
    }
}

/// Goes some rows further among those that a filter leaves, into other files if need be.
fn step(
    browse: &dyn Browse,
    place: Place,
    filter: &str,
    forward: bool,
    times: usize,
    tell: &mut dyn FnMut(Found) -> bool,
) {
    let mut place = place;
    loop {
        let mut found = None;
        let wanted = if forward { (0, times) } else { (times, 0) };
        let mut going = true;
        filtered(browse, place, filter, wanted, &mut |told| match told {
            Found::Filtered(filtered) => {
                let rows = filtered.window.rows;
                let row = if forward { rows.last() } else { rows.first() };
                found =
                    row.map(|row| row.place).filter(|found| (*found > place) == forward && *found != place);
                true
            }
            other => {
                going = tell(other);
                going
            }
        });
        if !going {
            return;
        }
        if let Some(found) = found {
            tell(Found::Place(found));
            return;
        }
        let next = if forward { place.file.checked_add(1) } else { place.file.checked_sub(1) };
        match next.filter(|&file| file < browse.files().len()) {
            Some(file) if forward => place = Place::at(file, 0),
            Some(file) => place = Place { file, offset: u64::MAX, sub: u64::MAX },
            None => {
                tell(Found::Nothing(format!("{filter}: no further record")));
                return;
            }
        }
    }
}
