//! The panes: their places, and their content.

use super::detail;
use super::pane::Pane;
use super::rows::{self, Budget, Row, Window};
use super::state::{Sizes, State};
use crate::trace::{Browse, Field};
use ratatui::layout::Rect;
use traceglass::event::Time;

/// The places of the panes; those without room have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub head: Rect,
    pub parts: Rect,
    pub hex: Rect,
    pub records: Rect,
    /// All of the record under the cursor.
    pub detail: Rect,
    pub timeline: Rect,
    pub foot: Rect,
    /// True if one pane alone has room.
    pub single: bool,
}

/// The contents of the panes: made only for what is visible.
#[derive(Default)]
pub struct Scene {
    pub fields: Vec<Field>,
    /// True if the fields of all bytes that are shown are known.
    pub told: bool,
    pub parts: Window,
    pub records: Window,
    /// The lines of the record under the cursor.
    pub detail: Vec<String>,
    /// The time of the record that the cursor is in.
    pub time: Option<Time>,
    /// Why there is nothing.
    pub failed: Option<String>,
}

impl Layout {
    pub fn of(area: Rect, state: &State) -> Self {
        let mut layout = Self::default();
        let mut rest = area;
        let mut top = |height: u16| {
            let height = height.min(rest.height);
            let taken = Rect { height, ..rest };
            rest =
                Rect { y: rest.y.saturating_add(height), height: rest.height.saturating_sub(height), ..rest };
            taken
        };
        if area.height >= 3 {
            layout.head = top(1);
        }
        let body = area.height.saturating_sub(layout.head.height);
        let foot = if area.height >= 2 { 1 } else { 0 };
        let body = body.saturating_sub(foot);
        if state.zoomed || area.width < 60 || body < 16 {
            let all = top(body);
            layout.single = !state.zoomed;
            match state.pane {
                Pane::Parts => layout.parts = all,
                Pane::Hex => layout.hex = all,
                Pane::Records => layout.records = all,
                Pane::Detail => layout.detail = all,
                Pane::Timeline => layout.timeline = all,
            }
        } else {
            layout.timeline = top(timeline_height(body, state));
            let mut lower = top(body.saturating_sub(layout.timeline.height));
            if state.opened.detail {
                let height = (lower.height / 2).max(4);
                lower.height = lower.height.saturating_sub(height);
                layout.detail = Rect { y: lower.bottom(), height, ..lower };
            }
            if state.opened.parts {
                let width = (area.width / 3).clamp(16, 48);
                layout.parts = Rect { width: width.saturating_sub(1), ..lower };
                lower = Rect {
                    x: lower.x.saturating_add(width),
                    width: lower.width.saturating_sub(width),
                    ..lower
                };
            }
            if state.opened.bytes {
                // A row of 16 bytes takes 77 columns, one of 8 takes 45, one of 4 takes 29.
                let fits = |width: &u16| lower.width >= width.saturating_add(32);
                let width = [79, 47].into_iter().find(fits).unwrap_or(30).min(lower.width);
                lower.width = lower.width.saturating_sub(width);
                layout.hex = Rect { x: lower.right(), width, ..lower };
                lower.width = lower.width.saturating_sub(1);
            }
            layout.records = lower;
        }
        layout.foot = top(foot);
        layout
    }

    /// The number of bytes a row of the hex pane has, and how many digits an offset.
    pub fn hex_width(&self, size: u64) -> (u64, u16) {
        let digits = if size > u64::from(u32::MAX) { 12 } else { 8 };
        let fits = |width: &u16| digits_and(digits, *width) <= self.hex.width;
        let width = [16, 8, 4, 2].into_iter().find(fits).unwrap_or(1);
        (u64::from(width), digits)
    }

    /// The sizes that the state has to know.
    pub fn sizes(&self, size: u64) -> Sizes {
        let rows = |area: Rect| usize::from(area.height.saturating_sub(1));
        Sizes {
            // The last row says which field the cursor is in.
            hex_rows: u64::from(self.hex.height.saturating_sub(2)).max(1),
            hex_width: self.hex_width(size).0,
            parts_rows: rows(self.parts).max(1),
            records_rows: rows(self.records).max(1),
            detail_rows: rows(self.detail).max(1),
            single: self.single,
        }
    }
}

/// The rows of the timeline above the records: no more than its lanes need, and a line where there is nothing to draw.
fn timeline_height(body: u16, state: &State) -> u16 {
    let lanes = u16::try_from(state.lanes.lanes.len()).unwrap_or(u16::MAX);
    let most = body.saturating_mul(2) / 5;
    match (state.lanes.done, lanes) {
        (true, 0) => 1,
        (true, lanes) => lanes.saturating_add(3).min(most),
        _ => most,
    }
}

fn digits_and(digits: u16, width: u16) -> u16 {
    digits.saturating_add(3).saturating_add(width.saturating_mul(4))
}

impl State {
    /// Fits what is shown to the size of the screen.
    pub fn fit(&mut self, layout: &Layout, browse: &dyn Browse) {
        let sizes = layout.sizes(self.size(browse));
        if sizes.hex_width != self.sizes.hex_width || sizes.hex_rows != self.sizes.hex_rows {
            self.sizes = sizes;
            self.show_cursor();
        }
        self.sizes = sizes;
    }

    /// The contents of the panes that are visible.
    pub fn scene(&mut self, layout: &Layout, browse: &dyn Browse) -> Scene {
        let mut scene = Scene { told: true, ..Scene::default() };
        if let Err(why) = browse.data(self.place.file) {
            scene.failed = Some(why);
            return scene;
        }
        if layout.hex.height > 1 {
            let len = self.sizes.hex_width.saturating_mul(self.sizes.hex_rows);
            let range = self.top..self.top.saturating_add(len).min(self.size(browse));
            (scene.fields, scene.told) =
                rows::fields(browse, self.place.file, &range, &mut Budget::FRAME.clone());
        }
        if layout.parts.height > 1 {
            let half = self.sizes.parts_rows / 2;
            scene.parts = self.parts(browse, half, self.sizes.parts_rows);
        }
        let rows = if layout.records.height > 1 { self.sizes.records_rows } else { 0 };
        scene.records = match &self.filter {
            None => self.records(browse, rows / 2, rows),
            Some(filter) => match &self.filtered {
                Some(filtered) if filtered.filter == *filter && filtered.place == self.place => Window {
                    rows: filtered.window.rows.clone(),
                    at: filtered.window.at,
                    complete: filtered.window.complete,
                },
                _ => Window::default(),
            },
        };
        let at = scene.records.at.and_then(|at| scene.records.rows.get(at));
        scene.time = at.and_then(|row: &Row| row.time);
        if let Some(time) = scene.time {
            self.lanes_at = Some(time.ns());
        }
        if layout.detail.height > 1 {
            scene.detail = at.map(|row| detail::lines(row, layout.detail.width)).unwrap_or_default();
            self.detail_top = self.detail_top.min(scene.detail.len().saturating_sub(self.sizes.detail_rows));
        }
        scene
    }
}
