//! The viewer's state: one cursor, which is a byte of a file, and the panes that follow it.

use super::errand::{Errand, Found};
use super::findings::List;
use super::key::Key;
use super::lanes::Lanes;
use super::pane::{Opened, Pane};
use super::pattern::Pattern;
use super::rows::{self, Budget, Filtered, Place, Window};
use crate::trace::{Browse, Depth, Level, Node};
use std::collections::BTreeSet;

/// The purpose of the text that is being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    Search,
    Filter,
    Go,
}

/// The effect of a key, other than showing something else.
#[derive(Debug)]
pub enum Effect {
    Quit,
    /// Something that takes longer than a frame.
    Errand(Errand),
    /// The findings are wanted.
    Check,
    /// A window of the timeline, or all of it.
    Timeline(Option<(i128, i128)>),
    Copy(String),
}

/// The sizes of the panes when they were drawn last.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub hex_rows: u64,
    pub hex_width: u64,
    pub parts_rows: usize,
    pub records_rows: usize,
    pub detail_rows: usize,
    /// True if one pane alone has room.
    pub single: bool,
}

pub struct State {
    pub place: Place,
    pub pane: Pane,
    pub opened: Opened,
    /// The first line that is shown of the record.
    pub detail_top: usize,
    /// True if the pane has all of the screen.
    pub zoomed: bool,
    /// The first row of the hex pane.
    pub top: u64,
    /// Parts whose inner parts are shown.
    pub open: BTreeSet<Place>,
    pub asks: Option<(Asks, String)>,
    pub pattern: Option<Pattern>,
    /// The place of the last match.
    pub hit: Option<(Place, u64)>,
    pub filter: Option<String>,
    /// The rows that the filter leaves, made in the background.
    pub filtered: Option<Filtered>,
    pub findings: List,
    pub lanes: Lanes,
    /// The lane and the bucket that are looked at.
    pub lane: usize,
    pub window: Option<(i128, i128)>,
    /// The time at the cursor.
    pub lanes_at: Option<i128>,
    /// The time that the timeline has followed the cursor to.
    pub followed: Option<i128>,
    /// The times between which is measured.
    pub marks: (Option<i128>, Option<i128>),
    /// The first and the last time of all.
    pub extent: Option<(i128, i128)>,
    pub follows: bool,
    /// The time at which the timeline of all was last asked for.
    pub drawn: Option<std::time::Instant>,
    pub helps: bool,
    pub message: String,
    /// The work that goes on in the background.
    pub busy: Option<String>,
    /// A number that was typed before `g`, or digits before a key.
    count: Option<u64>,
    pub sizes: Sizes,
}

impl State {
    /// The state in which `file` of a trace is shown first.
    pub fn new(file: usize) -> Self {
        Self {
            place: Place::at(file, 0),
            pane: Pane::Records,
            opened: Opened::default(),
            detail_top: 0,
            zoomed: false,
            top: 0,
            open: BTreeSet::new(),
            asks: None,
            pattern: None,
            hit: None,
            filter: None,
            filtered: None,
            findings: List::default(),
            lanes: Lanes::default(),
            lane: 0,
            window: None,
            lanes_at: None,
            followed: None,
            marks: (None, None),
            extent: None,
            follows: false,
            drawn: None,
            helps: false,
            message: String::new(),
            busy: None,
            count: None,
            sizes: Sizes {
                hex_rows: 8,
                hex_width: 16,
                parts_rows: 8,
                records_rows: 8,
                detail_rows: 8,
                single: false,
            },
        }
    }

    /// Does what a key asks for.
    pub fn update(&mut self, key: Key, browse: &dyn Browse) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some((asks, text)) = self.asks.take() {
            self.type_key(asks, text, key, browse, &mut effects);
            return effects;
        }
        self.message.clear();
        if self.helps {
            self.helps = false;
            return effects;
        }
        if let Key::Char(digit @ '0'..='9') = key {
            let digit = u64::from(u32::from(digit).saturating_sub(u32::from('0')));
            self.count = Some(self.count.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            return effects;
        }
        let count = self.count.take();
        if self.findings.shown && self.findings_key(key, browse) {
            return effects;
        }
        let before = self.place;
        self.command(key, count, browse, &mut effects);
        if self.follows && self.place < before {
            // Somebody who goes back wants to look at something.
            self.follows = false;
        }
        effects
    }

    fn command(&mut self, key: Key, count: Option<u64>, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        match key {
            Key::Char('q') | Key::Ctrl('c') => effects.push(Effect::Quit),
            Key::Char('?') => self.helps = true,
            Key::Tab => self.next_pane(false),
            Key::BackTab => self.next_pane(true),
            Key::Char('i') => self.toggle(Pane::Detail),
            Key::Char('b') => self.toggle(Pane::Hex),
            Key::Char('p') => self.toggle(Pane::Parts),
            Key::Char('m') => self.mark(),
            Key::Char('z') => self.zoomed = !self.zoomed,
            Key::Char('/') => self.asks = Some((Asks::Search, String::new())),
            Key::Char('&') => self.asks = Some((Asks::Filter, self.filter.clone().unwrap_or_default())),
            Key::Char(':') => self.asks = Some((Asks::Go, String::new())),
            Key::Char('n') => self.search(true, effects),
            Key::Char('N') => self.search(false, effects),
            Key::Char('!') => {
                self.findings.shown = true;
                effects.push(Effect::Check);
            }
            Key::Char('F') => {
                self.follows = !self.follows;
                if self.follows {
                    self.go_to_end(browse);
                }
                self.message =
                    if self.follows { "following the end of the file" } else { "no longer following" }
                        .to_owned();
            }
            Key::Char('y') => self.copy(browse, effects),
            Key::Char('[') => self.go_to_file(self.place.file.checked_sub(1), browse),
            Key::Char(']') => self.go_to_file(self.place.file.checked_add(1), browse),
            Key::Char('g') | Key::Home => match count {
                Some(offset) => self.go(Place::at(self.place.file, offset), browse),
                None => self.go(Place::at(self.place.file, 0), browse),
            },
            Key::Char('G') | Key::End => self.go_to_end(browse),
            Key::Char(c @ ('w' | 's' | 'a' | 'd')) => self.zoom(c, effects),
            Key::Escape if self.pane == Pane::Detail => self.toggle(Pane::Detail),
            Key::Escape => {
                self.filter = None;
                self.filtered = None;
                self.hit = None;
            }
            _ => {
                let times = count.unwrap_or(1).min(10_000);
                match self.pane {
                    Pane::Hex => self.hex_key(key, times, browse),
                    Pane::Detail => self.detail_key(key),
                    Pane::Parts => self.parts_key(key, times, browse),
                    Pane::Records => self.records_key(key, times, browse, effects),
                    Pane::Timeline => self.timeline_key(key, times, browse, effects),
                }
            }
        }
    }

    /// The size of the file that the cursor is in.
    pub fn size(&self, browse: &dyn Browse) -> u64 {
        browse.files().get(self.place.file).map_or(0, |file| file.size)
    }

    /// Puts the cursor somewhere, within the file.
    pub fn go(&mut self, place: Place, browse: &dyn Browse) {
        if self.place != place {
            self.detail_top = 0;
        }
        self.place = place;
        self.place.offset = place.offset.min(self.size(browse).saturating_sub(1));
        self.show_cursor();
    }

    /// Scrolls the hex pane so that the cursor is in it.
    pub fn show_cursor(&mut self) {
        let width = self.sizes.hex_width.max(1);
        let row = self.place.offset.checked_div(width).unwrap_or(0);
        let top = self.top.checked_div(width).unwrap_or(0);
        let rows = self.sizes.hex_rows.max(1);
        let top = if row < top || row.saturating_sub(top) >= rows.saturating_mul(2) {
            // Far away: with a little of what precedes it.
            if row < top && top.saturating_sub(row) <= rows { row } else { row.saturating_sub(rows / 4) }
        } else if row.saturating_sub(top) >= rows {
            row.saturating_sub(rows.saturating_sub(1))
        } else {
            top
        };
        self.top = top.saturating_mul(width);
    }

    fn go_to_end(&mut self, browse: &dyn Browse) {
        let file = if self.follows { browse.files().len().saturating_sub(1) } else { self.place.file };
        self.place.file = file;
        self.go(Place { file, offset: u64::MAX, sub: u64::MAX }, browse);
        self.place.sub = 0;
    }

    fn go_to_file(&mut self, file: Option<usize>, browse: &dyn Browse) {
        match file.filter(|&file| file < browse.files().len()) {
            Some(file) => {
                self.top = 0;
                self.go(Place::at(file, 0), browse);
            }
            None => self.message = "no further file".to_owned(),
        }
    }

    fn hex_key(&mut self, key: Key, times: u64, browse: &dyn Browse) {
        let width = self.sizes.hex_width;
        let page = width.saturating_mul(self.sizes.hex_rows.max(1));
        let offset = self.place.offset;
        let to = match key {
            Key::Char('h') | Key::Left => offset.saturating_sub(times),
            Key::Char('l') | Key::Right => offset.saturating_add(times),
            Key::Char('k') | Key::Up => offset.saturating_sub(width.saturating_mul(times)),
            Key::Char('j') | Key::Down => offset.saturating_add(width.saturating_mul(times)),
            Key::Ctrl('f') | Key::PageDown | Key::Char(' ') => offset.saturating_add(page),
            Key::Ctrl('b') | Key::PageUp => offset.saturating_sub(page),
            Key::Ctrl('d') => offset.saturating_add(page / 2),
            Key::Ctrl('u') => offset.saturating_sub(page / 2),
            _ => return,
        };
        let to =
            if to >= self.size(browse) && matches!(key, Key::Char('j') | Key::Down) { offset } else { to };
        self.go(Place::at(self.place.file, to), browse);
    }

    /// True if a node is a row of the pane of parts.
    pub fn is_part(&self, node: &Node<'_>, last: &std::cell::Cell<u64>) -> bool {
        match node.level {
            Level::Part => {
                last.set(node.offset);
                true
            }
            Level::Inner => self.open.contains(&Place::at(self.place.file, last.get())),
            _ => false,
        }
    }

    /// The parts about the cursor.
    pub fn parts(&self, browse: &dyn Browse, before: usize, after: usize) -> Window {
        let last = std::cell::Cell::new(u64::MAX);
        let accept = |node: &Node<'_>| self.is_part(node, &last);
        rows::around(browse, self.place, (before, after), Depth::Parts, &accept, &mut Budget::FRAME.clone())
    }

    fn parts_key(&mut self, key: Key, times: u64, browse: &dyn Browse) {
        let page = u64::try_from(self.sizes.parts_rows).unwrap_or(1).max(1);
        let (forward, times) = match key {
            Key::Char('j') | Key::Down => (true, times),
            Key::Char('k') | Key::Up => (false, times),
            Key::Ctrl('f') | Key::PageDown | Key::Char(' ') => (true, page),
            Key::Ctrl('b') | Key::PageUp => (false, page),
            Key::Ctrl('d') => (true, page / 2),
            Key::Ctrl('u') => (false, page / 2),
            Key::Char('l') | Key::Right => return self.open_part(true, browse),
            Key::Char('h') | Key::Left => return self.open_part(false, browse),
            Key::Enter => {
                self.pane = Pane::Records;
                return;
            }
            _ => return,
        };
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        let window = if forward { self.parts(browse, 0, times) } else { self.parts(browse, times, 0) };
        let found = if forward { window.rows.last() } else { window.rows.first() };
        match found
            .map(|row| row.place)
            .filter(|place| (*place > self.place) == forward && *place != self.place)
        {
            Some(place) => self.go(place, browse),
            None if forward => self.go_to_file(self.place.file.checked_add(1), browse),
            None => self.go_to_file(self.place.file.checked_sub(1), browse),
        }
    }

    /// Shows the inner parts of the part that the cursor is in, or no longer.
    fn open_part(&mut self, open: bool, browse: &dyn Browse) {
        let accept = |node: &Node<'_>| node.level == Level::Part;
        let mut budget = Budget::FRAME;
        let window = rows::around(browse, self.place, (0, 0), Depth::Parts, &accept, &mut budget);
        let Some(part) = window.rows.first().map(|row| row.place) else { return };
        if open {
            self.open.insert(part);
        } else {
            self.open.remove(&part);
            self.go(part, browse);
        }
    }

    /// The records about the cursor.
    pub fn records(&self, browse: &dyn Browse, before: usize, after: usize) -> Window {
        let accept = |node: &Node<'_>| node.level.is_record();
        rows::around(browse, self.place, (before, after), Depth::All, &accept, &mut Budget::FRAME.clone())
    }

    fn records_key(&mut self, key: Key, times: u64, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let page = u64::try_from(self.sizes.records_rows).unwrap_or(1).max(1);
        let (forward, times) = match key {
            Key::Char('j' | 'l') | Key::Down | Key::Right => (true, times),
            Key::Char('k' | 'h') | Key::Up | Key::Left => (false, times),
            Key::Ctrl('f') | Key::PageDown | Key::Char(' ') => (true, page),
            Key::Ctrl('b') | Key::PageUp => (false, page),
            Key::Ctrl('d') => (true, page / 2),
            Key::Ctrl('u') => (false, page / 2),
            Key::Enter => return self.focus(Pane::Detail),
            _ => return,
        };
        if let Some(filter) = self.filter.clone() {
            let place = self.place;
            return effects.push(Effect::Errand(Errand::Step { place, filter, forward, times }));
        }
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        let window = if forward { self.records(browse, 0, times) } else { self.records(browse, times, 0) };
        let found = if forward { window.rows.last() } else { window.rows.first() };
        match found
            .map(|row| row.place)
            .filter(|place| (*place > self.place) == forward && *place != self.place)
        {
            Some(place) => self.go(place, browse),
            None if !window.complete => {
                self.message = "this far from where reading can begin, nothing is told apart yet".to_owned();
            }
            None if forward => self.go_to_file(self.place.file.checked_add(1), browse),
            None => {
                if let Some(file) = self.place.file.checked_sub(1) {
                    self.go(Place { file, offset: u64::MAX, sub: 0 }, browse);
                } else {
                    self.message = "no further record".to_owned();
                }
            }
        }
    }

    /// The record that the cursor is in.
    pub fn record(&self, browse: &dyn Browse) -> Option<rows::Row> {
        let window = self.records(browse, 0, 0);
        window.at.and_then(|at| window.rows.into_iter().nth(at))
    }

    pub fn search(&mut self, forward: bool, effects: &mut Vec<Effect>) {
        match &self.pattern {
            Some(pattern) => {
                self.busy = Some(format!("searching {}", pattern.text));
                let pattern = pattern.clone();
                effects.push(Effect::Errand(Errand::Search { place: self.place, pattern, forward }));
            }
            None => self.message = "nothing was searched for; / asks".to_owned(),
        }
    }

    /// Copies what the cursor is on: the record, or the value of the field.
    fn copy(&mut self, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let offset = self.place.offset;
        let text = match self.pane {
            Pane::Hex => {
                let range = offset..offset.saturating_add(1);
                let (fields, _) = rows::fields(browse, self.place.file, &range, &mut Budget::FRAME.clone());
                rows::field_at(&fields, offset).map(|field| field.value.clone())
            }
            _ => self.record(browse).map(|row| format!("{} {}", row.name, row.text).trim().to_owned()),
        };
        match text.filter(|text| !text.is_empty()) {
            Some(text) => {
                let text = crate::escape::printable(&text);
                self.message = format!("copied: {text}");
                effects.push(Effect::Copy(text));
            }
            None => self.message = "nothing to copy here".to_owned(),
        }
    }

    /// Takes what an errand has brought.
    pub fn take(&mut self, found: Found, browse: &dyn Browse) {
        match found {
            Found::Progress(text) => self.busy = Some(text),
            Found::Hit { place, len } => {
                self.busy = None;
                self.hit = Some((place, len));
                self.go(place, browse);
            }
            Found::Place(place) => {
                self.busy = None;
                self.go(place, browse);
            }
            Found::Nothing(text) => {
                self.busy = None;
                self.message = text;
            }
            Found::Filtered(filtered) => {
                if !filtered.partial {
                    self.busy = None;
                }
                if self.filter.as_ref() == Some(&filtered.filter) {
                    self.filtered = Some(filtered);
                }
            }
        }
    }

    /// The rows of a filter that are wanted, and not there.
    pub fn wanted(&self) -> Option<Errand> {
        let filter = self.filter.clone()?;
        let there = self
            .filtered
            .as_ref()
            .is_some_and(|filtered| filtered.filter == filter && filtered.place == self.place);
        let rows = self.sizes.records_rows;
        (!there).then_some(Errand::Filter { place: self.place, filter, before: rows, after: rows })
    }
}
