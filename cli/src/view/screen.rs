//! Where the panes are, and what is in them.

use super::rows::{self, Budget, Row, Window};
use super::state::{Pane, Sizes, State};
use crate::trace::{Browse, Field};
use ratatui::layout::Rect;
use traceglass::event::Time;

/// Where the panes are; those without room have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub head: Rect,
    pub parts: Rect,
    pub hex: Rect,
    pub records: Rect,
    pub timeline: Rect,
    pub foot: Rect,
}

/// What the panes show: made for what is seen alone.
#[derive(Default)]
pub struct Scene {
    pub fields: Vec<Field>,
    /// True if the fields of all bytes that are shown are known.
    pub told: bool,
    pub parts: Window,
    pub records: Window,
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
            match state.pane {
                Pane::Parts => layout.parts = all,
                Pane::Hex => layout.hex = all,
                Pane::Records => layout.records = all,
                Pane::Timeline => layout.timeline = all,
            }
        } else {
            let third = body / 3;
            let upper = top(body.saturating_sub(third).saturating_sub(third).max(5));
            // A row of 16 bytes takes 77 columns, and one of 8 takes 45.
            let wide = if area.width >= 110 { 79 } else { 47 };
            let left = area.width.saturating_sub(wide).clamp(10, 48);
            layout.parts = Rect { width: left.saturating_sub(1), ..upper };
            layout.hex =
                Rect { x: upper.x.saturating_add(left), width: upper.width.saturating_sub(left), ..upper };
            layout.records = top(third);
            layout.timeline = top(third);
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

    /// What the state has to know of the sizes.
    pub fn sizes(&self, size: u64) -> Sizes {
        let rows = |area: Rect| usize::from(area.height.saturating_sub(1));
        Sizes {
            // The last row says which field the cursor is in.
            hex_rows: u64::from(self.hex.height.saturating_sub(2)).max(1),
            hex_width: self.hex_width(size).0,
            parts_rows: rows(self.parts).max(1),
            records_rows: rows(self.records).max(1),
        }
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

    /// What the panes that can be seen show.
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
        scene
    }
}
