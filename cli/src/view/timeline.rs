//! The timeline: a lane a row.

use super::axis;
use super::lanes::{BUCKETS, Cell, Lane};
use super::paint::{Look, Paint};
use super::pane::Pane;
use super::state::State;
use super::when::{duration, moment};
use crate::output::{counted, shortened};
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// A share of eight, as a block.
const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &State) {
    let lanes = &state.lanes;
    let (from, to) = state.shown_window();
    let span = to.saturating_sub(from).max(1);
    let title = match (lanes.span.is_some() || state.window.is_some(), &lanes.failed) {
        (false, Some(why)) => format!("timeline: {why}"),
        (false, None) if lanes.done => "timeline: nothing has a time".to_owned(),
        (false, None) => "timeline: reading …".to_owned(),
        _ => {
            let reading = if lanes.done { "" } else { ", reading …" };
            format!("timeline: {} from {}{reading}", duration(span), moment(from, lanes.absolute))
        }
    };
    paint.title(area, &title, state.pane == Pane::Timeline);
    let label = label_width(area, state);
    let width = area.width.saturating_sub(label).saturating_sub(1);
    // The first row is the axis, the last one is about the cell at the cursor.
    let rows = usize::from(area.height.saturating_sub(3));
    if width == 0 || rows == 0 || lanes.lanes.is_empty() {
        return;
    }
    let column_of = |at: i128| {
        let column = at.saturating_sub(from).saturating_mul(width.into()).checked_div(span).unwrap_or(0);
        (from..to).contains(&at).then(|| u16::try_from(column).unwrap_or(0))
    };
    let cursor = state.lanes_at.and_then(column_of);
    let origin = state.extent.map_or(from, |(first, _)| first);
    let right = Rect { x: area.x.saturating_add(label).saturating_add(1), width, ..area };
    let mut free = 0;
    for (at, text) in axis::ticks((from, to), origin, width) {
        if let Some(column) = column_of(at).filter(|column| *column >= free) {
            free = paint.put(right, 1, column, &format!("╷{text}"), Look::Dim).saturating_add(1);
        }
    }
    for (sign, at) in [("1", state.marks.0), ("2", state.marks.1)] {
        if let Some(column) = at.and_then(column_of) {
            paint.put(right, 1, column, sign, Look::Match);
        }
    }
    let top = state.lane.saturating_sub(rows.saturating_sub(1));
    for (number, lane) in lanes.lanes.iter().enumerate().skip(top).take(rows) {
        let row = u16::try_from(number.saturating_sub(top).saturating_add(2)).unwrap_or(u16::MAX);
        let is_this = number == state.lane && state.pane == Pane::Timeline;
        let look = if is_this { Look::Cursor } else { Look::Name };
        let room = usize::from(label);
        let scale = scale(lane);
        let left = room.saturating_sub(scale.width()).saturating_sub(usize::from(!scale.is_empty()));
        let text = fitted(&lane.name, left);
        let blank = " ".repeat(room.saturating_sub(text.width()).saturating_sub(scale.width()));
        let end = paint.put(Rect { width: label, ..area }, row, 0, &format!("{text}{blank}"), look);
        paint.put(Rect { width: label, ..area }, row, end, &scale, if is_this { look } else { Look::Dim });
        draw_lane(paint, area, (row, label.saturating_add(1), width), lane, state);
        if let Some(cursor) = cursor {
            let x = label.saturating_add(1).saturating_add(cursor);
            let cell = cell_at(lane, state, cursor, width);
            let sign = sign(&cell, lane);
            paint.put(area, row, x, if sign == " " { "│" } else { sign }, Look::Cursor);
        }
    }
    if let (Some(lane), Some(cursor)) = (lanes.lanes.get(state.lane), cursor) {
        let (cell, _) = cell_at(lane, state, cursor, width);
        let mut text = format!("{} {}: {}", lane.kind, lane.name, counted(cell.events, "event", "events"));
        if cell.busy > 0 {
            text.push_str(&format!(", busy {}", duration(cell.busy.into())));
        }
        if let Some(value) = cell.value {
            text.push_str(&format!(", {value}"));
            if let Some((least, most)) = lane.values {
                text.push_str(&format!(" on a scale from {least} to {most}"));
            }
        }
        if !lanes.name(cell.name).is_empty() {
            text.push_str(&format!(", {}", lanes.name(cell.name)));
        }
        if cell.is_damaged {
            text.push_str(", something is lost");
        }
        paint.put(area, area.height.saturating_sub(1), 0, text.trim(), Look::Dim);
    }
}

/// The columns that names and scales of lanes take: up to a third of the screen.
fn label_width(area: Rect, state: &State) -> u16 {
    let width = |lane: &Lane| {
        let scale = scale(lane).width();
        lane.name.width().saturating_add(scale).saturating_add(usize::from(scale > 0))
    };
    let longest = state.lanes.lanes.iter().map(width).max().unwrap_or(0);
    let most = (area.width / 3).min(48);
    u16::try_from(longest).unwrap_or(u16::MAX).clamp(most.min(12), most)
}

/// A name in as many columns as there are; one that is cut ends in "…".
fn fitted(name: &str, room: usize) -> String {
    let mut text = crate::escape::printable(name);
    if text.width() <= room {
        return text;
    }
    while !text.is_empty() && text.width() >= room {
        text.pop();
    }
    text.push('…');
    text
}

/// The least and the greatest value of a counter.
fn scale(lane: &Lane) -> String {
    lane.values.map_or_else(String::new, |(least, most)| format!("{}..{}", short(least), short(most)))
}

/// A number in few columns.
fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || size > 0.0 && size < 1e-3 {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The activity in the time of a column, and how much time of the window its spans cover.
fn cell_at(lane: &Lane, state: &State, column: u16, width: u16) -> (Cell, i128) {
    let (from, to) = state.shown_window();
    let span = to.saturating_sub(from).max(1);
    let at = |column: u16| {
        let part = span.saturating_mul(column.into()).checked_div(i128::from(width.max(1))).unwrap_or(0);
        from.saturating_add(part)
    };
    let lanes = &state.lanes;
    let start = at(column).max(lanes.time_of(0));
    let end = at(column.saturating_add(1)).saturating_sub(1).max(start);
    let end = end.min(lanes.time_of(BUCKETS).saturating_sub(1));
    let (Some(within), Some(last)) = (lanes.bucket_of(start), lanes.bucket_of(end)) else {
        return Default::default();
    };
    // A span belongs to the column in which it begins; where columns are shorter, to all that it covers.
    let begins_before = column > 0 && lanes.time_of(within) < start && within < last;
    let first = within.saturating_add(usize::from(begins_before));
    let cells = lane.cells.get(first..=last).unwrap_or_default();
    let until = lanes.time_of(last.saturating_add(1)).min(to.max(lanes.time_of(first).saturating_add(1)));
    let whole = until.saturating_sub(lanes.time_of(first).max(from));
    (cells.iter().copied().reduce(Cell::join).unwrap_or_default(), whole)
}

/// The character for a cell.
fn sign((cell, whole): &(Cell, i128), lane: &Lane) -> &'static str {
    if cell.is_damaged {
        return "✗";
    }
    if let (Some(value), Some((least, most))) = (cell.value, lane.values) {
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // From 0 to 7.
        let level = (share * 7.0).round().clamp(0.0, 7.0) as usize;
        return LEVELS.get(level).copied().unwrap_or("█");
    }
    if cell.busy > 0 {
        return match i128::from(cell.busy).saturating_mul(4).checked_div(*whole).unwrap_or(4) {
            0 => "░",
            1 => "▒",
            2 => "▓",
            _ => "█",
        };
    }
    match cell.events {
        0 => " ",
        1 => "╎",
        2..=9 => "┆",
        _ => "┃",
    }
}

fn draw_lane(
    paint: &mut Paint<'_>,
    area: Rect,
    (row, left, width): (u16, u16, u16),
    lane: &Lane,
    state: &State,
) {
    let cells: Vec<(Cell, i128)> = (0..width).map(|column| cell_at(lane, state, column, width)).collect();
    let mut column = 0_usize;
    while let Some(both) = cells.get(column) {
        let cell = &both.0;
        let place = u16::try_from(column).unwrap_or(u16::MAX);
        let name = state.lanes.name(cell.name);
        let look = match cell {
            cell if cell.is_damaged => Look::Error,
            _ if name.is_empty() => Look::Name,
            _ => Look::of_field(name),
        };
        // A slice with room for its name has it written in.
        let full = |both: &(Cell, i128)| {
            let other = &both.0;
            other.name == cell.name && other.busy > 0 && sign(both, lane) == "█" && !other.is_damaged
        };
        let run = cells.iter().skip(column).take_while(|other| full(other)).count();
        if run >= 4 && !name.is_empty() {
            let mut text = format!("█{}", shortened(name, run.saturating_sub(3)));
            let used = text.chars().count();
            text.extend(std::iter::repeat_n('█', run.saturating_sub(used)));
            paint.put(area, row, left.saturating_add(place), &text, look);
            column = column.saturating_add(run);
            continue;
        }
        paint.put(area, row, left.saturating_add(place), sign(both, lane), look);
        column = column.saturating_add(1);
    }
}
