//! Going along the timeline.

use super::errand::Errand;
use super::key::Key;
use super::lanes::{Cell, Lanes};
use super::pane::Pane;
use super::rows::{self, Budget, Place};
use super::state::{Effect, State};
use crate::trace::{Browse, Time};

/// The text shown while lanes are filled.
const DRAWING: &str = "drawing the timeline";

impl State {
    /// Takes lanes that were filled.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        if lanes.done && self.busy.as_deref() == Some(DRAWING) {
            self.busy = None;
        }
        if self.window.is_none() && lanes.span.is_some() {
            self.extent = lanes.span;
        }
        let before = std::mem::replace(&mut self.lanes, lanes);
        self.lanes.keep_order(&before);
        // Until something is found in a window, its times are what they were.
        self.lanes.absolute |= before.absolute;
        self.lane = self.lane.min(self.lanes.lanes.len().saturating_sub(1));
    }

    /// The window that is shown.
    pub fn shown_window(&self) -> (i128, i128) {
        self.window.unwrap_or_else(|| self.lanes.window())
    }

    /// The time around which the timeline zooms: that of the cursor's record, if it is in the window.
    fn center(&self) -> i128 {
        let (from, to) = self.shown_window();
        match self.lanes_at {
            Some(at) if (from..to).contains(&at) => at,
            _ => from.midpoint(to),
        }
    }

    pub fn zoom(&mut self, key: char, effects: &mut Vec<Effect>) {
        if self.lanes.span.is_none() {
            self.message = "there are no events to be seen on a timeline".to_owned();
            return;
        }
        let (from, to) = self.shown_window();
        let span = to.saturating_sub(from).max(1);
        let center = self.center();
        let (from, to) = match key {
            'w' | 's' => {
                let scaled = |part: i128| if key == 'w' { part / 2 } else { part.saturating_mul(2) };
                let left = scaled(center.saturating_sub(from));
                let right = scaled(to.saturating_sub(center)).max(1);
                (center.saturating_sub(left), center.saturating_add(right))
            }
            'a' => (from.saturating_sub(span / 4), to.saturating_sub(span / 4)),
            _ => (from.saturating_add(span / 4), to.saturating_add(span / 4)),
        };
        if to.saturating_sub(from) < 16 && key == 'w' {
            return;
        }
        // All of it: there is nothing beyond.
        let all = self.extent.is_some_and(|(first, last)| from <= first && last < to);
        self.window = if all { None } else { Some((from, to)) };
        self.busy = Some(DRAWING.to_owned());
        effects.push(Effect::Timeline(self.window));
    }

    /// The window about the cursor, if that has left the one that is shown, or has come to where nothing was read yet.
    pub fn left_behind(&mut self) -> Option<(i128, i128)> {
        let at = self.lanes_at?;
        if self.followed == Some(at) || self.lanes.span.is_none() {
            return None;
        }
        self.followed = Some(at);
        let (from, to) = self.shown_window();
        // If all has been read, a time outside is one of another clock.
        if (from..to).contains(&at) || self.window.is_none() && self.lanes.done {
            return None;
        }
        let span = to.saturating_sub(from).max(16);
        let from = at.saturating_sub(span / 2);
        self.window = Some((from, from.saturating_add(span)));
        // There, other tracks may have something: they come in an order of their own.
        self.lanes.lanes.clear();
        self.busy = Some(DRAWING.to_owned());
        self.window
    }

    pub fn timeline_key(&mut self, key: Key, times: u64, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let last = self.lanes.lanes.len().saturating_sub(1);
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        match key {
            Key::Char('j') | Key::Down => self.lane = self.lane.saturating_add(times).min(last),
            Key::Char('k') | Key::Up => self.lane = self.lane.saturating_sub(times),
            Key::Ctrl('f') | Key::PageDown => self.lane = self.lane.saturating_add(10).min(last),
            Key::Ctrl('b') | Key::PageUp => self.lane = self.lane.saturating_sub(10),
            Key::Char('l') | Key::Right => self.step_bucket(true, browse, effects),
            Key::Char('h') | Key::Left => self.step_bucket(false, browse, effects),
            Key::Enter => {
                self.pane = Pane::Records;
                self.show_cursor();
            }
            _ => {}
        }
    }

    /// Goes to the next span of the lane in which something happened.
    fn step_bucket(&mut self, forward: bool, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.lanes.get(self.lane) else { return };
        let at = self.lanes_at.and_then(|at| self.lanes.bucket_of(at));
        let mut used = lane.cells.iter().enumerate().filter(|(_, cell)| cell.first.is_some());
        let found = match (forward, at) {
            (true, at) => used.find(|(place, _)| at.is_none_or(|at| *place > at)),
            (false, Some(at)) => used.rfind(|(place, _)| *place < at),
            (false, None) => used.next_back(),
        };
        let Some((bucket, &Cell { first: Some(first), .. })) = found else {
            self.message = "nothing further on this lane, in this window".to_owned();
            return;
        };
        let ns = self.lanes.time_of(bucket);
        self.lanes_at = Some(ns.max(self.shown_window().0));
        match usize::try_from(first.input).ok().and_then(|input| browse.file_of_input(input)) {
            Some(file) => {
                let place = Place::at(file, first.offset);
                let mut budget = Budget::FRAME;
                self.go(rows::record_at(browse, place, first.end, first.ns, &mut budget), browse);
            }
            None => {
                let time = Time::Absolute(ns);
                effects.push(Effect::Errand(Errand::Seek { time }));
            }
        }
    }
}
