//! The screen: the panes, a line above and one below them.

use super::detail::wrap;
use super::findings::KEPT;
use super::paint::{Look, Paint};
use super::pane::Pane;
use super::rows;
use super::screen::{Layout, Scene};
use super::state::{Asks, State};
use super::when::{moment, shown_time};
use crate::output::{bytes, counted, digits, grouped};
use crate::trace::{Browse, Level};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

/// Draws everything.
pub fn draw(
    buffer: &mut Buffer,
    layout: &Layout,
    state: &State,
    scene: &Scene,
    browse: &dyn Browse,
    color: bool,
) {
    let mut paint = Paint::new(buffer, color);
    head(&mut paint, layout.head, state, browse);
    if layout.parts.height > 0 {
        parts(&mut paint, layout.parts, state, scene, browse);
    }
    if layout.hex.height > 0 {
        hex(&mut paint, layout, state, scene, browse);
    }
    if layout.records.height > 0 {
        records(&mut paint, layout.records, state, scene);
    }
    if layout.detail.height > 0 {
        detail(&mut paint, layout.detail, state, scene);
    }
    if layout.timeline.height > 0 {
        super::timeline::draw(&mut paint, layout.timeline, state);
    }
    foot(&mut paint, layout.foot, state, scene, browse);
    let body = Rect {
        y: layout.head.bottom(),
        height: layout.foot.y.saturating_sub(layout.head.bottom()),
        x: layout.foot.x,
        width: layout.foot.width,
    };
    if state.findings.shown {
        findings(&mut paint, body, state);
    }
    if state.helps {
        super::help::draw(&mut paint, body);
    }
}

fn file_name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn head(paint: &mut Paint<'_>, area: Rect, state: &State, browse: &dyn Browse) {
    if area.height == 0 {
        return;
    }
    let files = browse.files();
    let name = files.get(state.place.file).map(|file| file_name(&file.path)).unwrap_or_default();
    let mut text = format!(" {} · {name} · {}", browse.format(), bytes(state.size(browse)));
    if files.len() > 1 {
        let number = grouped(state.place.file.saturating_add(1) as u64);
        text.push_str(&format!(" · file {number} of {}", grouped(files.len() as u64)));
    }
    if state.follows {
        text.push_str(" · following");
    }
    let help = " ? help ";
    let room = area.width.saturating_sub(u16::try_from(help.len()).unwrap_or(0));
    paint.put(Rect { width: room, ..area }, 0, 0, &text, Look::Selected);
    paint.put_right(area, 0, help, Look::Dim);
}

fn parts(paint: &mut Paint<'_>, area: Rect, state: &State, scene: &Scene, browse: &dyn Browse) {
    paint.title(area, "parts", state.pane == Pane::Parts);
    let files = browse.files();
    let rows = usize::from(area.height.saturating_sub(1));
    let mut lines: Vec<(String, Look)> = Vec::new();
    let indent = if files.len() > 1 {
        let from = state.place.file.saturating_sub(2);
        for (number, file) in files.iter().enumerate().take(state.place.file.saturating_add(1)).skip(from) {
            let arrow = if number == state.place.file { '▾' } else { '▸' };
            let look = if number == state.place.file { Look::Selected } else { Look::Plain };
            lines.push((format!("{arrow} {}", file_name(&file.path)), look));
        }
        "  "
    } else {
        ""
    };
    // Starts few enough rows before the cursor's that this one is seen.
    let room = rows.saturating_sub(lines.len());
    let at = scene.parts.at.unwrap_or(0);
    let skipped = at.saturating_sub(room.saturating_sub(1) / 2);
    for (number, row) in scene.parts.rows.iter().enumerate().skip(skipped).take(room) {
        let inner = if row.level == Level::Inner { "  " } else { "" };
        let look = match (scene.parts.at == Some(number), state.pane == Pane::Parts) {
            (true, true) => Look::Cursor,
            (true, false) => Look::Selected,
            _ => Look::Plain,
        };
        let text = format!("{indent}{inner}{:#x} {}  {}", row.place.offset, row.name, row.text);
        lines.push((text, look));
    }
    if scene.parts.rows.is_empty() && !scene.parts.complete {
        lines.push((format!("{indent}(not read this far yet)"), Look::Dim));
    }
    for file in files.iter().skip(state.place.file.saturating_add(1)).take(rows.saturating_sub(lines.len())) {
        lines.push((format!("▸ {}", file_name(&file.path)), Look::Plain));
    }
    for (row, (text, look)) in (1_u16..).zip(lines.iter().take(rows)) {
        if *look == Look::Cursor {
            paint.mark(area, row, *look);
        }
        paint.put(area, row, 0, text, *look);
    }
}

fn hex(paint: &mut Paint<'_>, layout: &Layout, state: &State, scene: &Scene, browse: &dyn Browse) {
    let area = layout.hex;
    paint.title(area, "bytes", state.pane == Pane::Hex);
    if let Some(why) = &scene.failed {
        paint.put(area, 1, 0, why, Look::Error);
        return;
    }
    let Ok(data) = browse.data(state.place.file) else { return };
    let size = data.len() as u64;
    let (width, places) = layout.hex_width(size);
    let cursor = state.place.offset;
    let this = rows::field_at(&scene.fields, cursor);
    let rows = u16::try_from(state.sizes.hex_rows).unwrap_or(u16::MAX);
    let columns = u16::try_from(width).unwrap_or(1);
    let text_at = places.saturating_add(3).saturating_add(columns.saturating_mul(3));
    for row in 0..rows {
        let start = state.top.saturating_add(u64::from(row).saturating_mul(width));
        if start >= size || row >= area.height.saturating_sub(1) {
            break;
        }
        let line = row.saturating_add(1);
        let offset = if places == 12 { format!("{start:012x}") } else { format!("{start:08x}") };
        paint.put(area, line, 0, &offset, Look::Dim);
        for column in 0..columns {
            let at = start.saturating_add(column.into());
            let Some(&byte) = usize::try_from(at).ok().and_then(|at| data.get(at)) else { break };
            let field = rows::field_at(&scene.fields, at);
            let is_this = this.zip(field).is_some_and(|(this, field)| std::ptr::eq(this, field));
            let is_hit = state.hit.is_some_and(|(place, len)| {
                place.file == state.place.file && at >= place.offset && at.saturating_sub(place.offset) < len
            });
            let look = match field {
                _ if at == cursor => Look::Cursor,
                _ if is_hit => Look::Match,
                Some(field) if is_this => Look::of_this(&field.name),
                Some(field) => Look::of_field(&field.name),
                None => Look::Dim,
            };
            let pair: String = digits(byte).map(char::from).iter().collect();
            let x = places.saturating_add(2).saturating_add(column.saturating_mul(3));
            paint.put(area, line, x, &pair, look);
            let shown = if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' };
            paint.put(area, line, text_at.saturating_add(column), shown.encode_utf8(&mut [0; 4]), look);
        }
    }
    let last = area.height.saturating_sub(1);
    if last > 1 {
        let (text, look) = match this {
            Some(field) => {
                let value =
                    if field.value.is_empty() { String::new() } else { format!(" = {}", field.value) };
                let text = format!("{}{value}  ({:#x}, {})", field.name, field.offset, bytes(field.len));
                (text, Look::of_this(&field.name))
            }
            None if !scene.told => ("(fields are not told apart this far yet)".to_owned(), Look::Dim),
            None => ("(no field)".to_owned(), Look::Dim),
        };
        paint.put(area, last, 0, &text, look);
    }
}

fn records(paint: &mut Paint<'_>, area: Rect, state: &State, scene: &Scene) {
    let title = match &state.filter {
        Some(filter) => format!("records with \"{filter}\""),
        None => "records".to_owned(),
    };
    paint.title(area, &title, state.pane == Pane::Records);
    let rows = usize::from(area.height.saturating_sub(1));
    let at = scene.records.at.unwrap_or(0);
    // With room for what follows.
    let skipped = at.saturating_sub(rows.saturating_mul(2) / 3);
    let wide = area.width >= 60;
    for (number, row) in scene.records.rows.iter().enumerate().skip(skipped).take(rows) {
        let line = u16::try_from(number.saturating_sub(skipped).saturating_add(1)).unwrap_or(u16::MAX);
        let is_cursor = scene.records.at == Some(number);
        let look = |look: Look| match (is_cursor, state.pane == Pane::Records) {
            (true, true) => Look::Cursor,
            (true, false) => Look::Selected,
            _ if matches!(row.level, Level::Gap | Level::Unread) => Look::Error,
            _ => look,
        };
        if is_cursor && state.pane == Pane::Records {
            paint.mark(area, line, Look::Cursor);
        }
        let mut column = 0;
        if wide {
            paint.put(area, line, 0, &format!("{:#010x}", row.place.offset), look(Look::Dim));
            column = 12;
        }
        if area.width >= 40 {
            let time = row.time.map(shown_time).unwrap_or_else(|| "-".to_owned());
            paint.put(area, line, column, &format!("{time:>20}"), look(Look::Dim));
            column = column.saturating_add(22);
        }
        let next = paint.put(area, line, column, &format!("{:<14}", row.name), look(Look::Name));
        paint.put(area, line, next.saturating_add(2), &row.text, look(Look::Plain));
    }
    if scene.records.rows.is_empty() && area.height > 1 {
        let text = match (&state.filter, scene.records.complete) {
            (Some(_), false) => "filtering …",
            (Some(_), true) => "no record has that in it",
            (None, true) => "no records in this file",
            (None, false) => {
                "not read this far yet: records follow when the pass in the background comes here"
            }
        };
        paint.put(area, 1, 0, text, Look::Dim);
    }
}

fn detail(paint: &mut Paint<'_>, area: Rect, state: &State, scene: &Scene) {
    let rows = usize::from(area.height.saturating_sub(1));
    let below = scene.detail.len().saturating_sub(state.detail_top.saturating_add(rows));
    let title = match below {
        0 => "record".to_owned(),
        below => format!("record, {} more below", counted(below as i128, "line", "lines")),
    };
    paint.title(area, &title, state.pane == Pane::Detail);
    for (row, line) in (1_u16..).zip(scene.detail.iter().skip(state.detail_top).take(rows)) {
        let is_head = row == 1 && state.detail_top == 0;
        paint.put(area, row, 0, line, if is_head { Look::Name } else { Look::Plain });
    }
    if scene.detail.is_empty() {
        paint.put(area, 1, 0, "the cursor is in no record", Look::Dim);
    }
}

fn foot(paint: &mut Paint<'_>, area: Rect, state: &State, scene: &Scene, browse: &dyn Browse) {
    if area.height == 0 {
        return;
    }
    if let Some((asks, text)) = &state.asks {
        let sign = match asks {
            Asks::Search => '/',
            Asks::Filter => '&',
            Asks::Go => ':',
        };
        let end = paint.put(area, 0, 0, &format!("{sign}{text}"), Look::Plain);
        paint.put(area, 0, end, " ", Look::Cursor);
        return;
    }
    if !state.message.is_empty() {
        paint.put(area, 0, 0, &state.message, Look::Warning);
        return;
    }
    let size = state.size(browse).max(1);
    let mut text = format!("{:#x}", state.place.offset);
    if let Some(part) = scene.parts.at.and_then(|at| scene.parts.rows.get(at)) {
        text.push_str(&format!(" · {}", part.name));
    }
    if let Some(time) = scene.time {
        text.push_str(&format!(" · {}", moment(time.ns(), time.is_absolute())));
    }
    if let Some(measured) = state.measured() {
        text.push_str(&format!(" · {measured}"));
    }
    let end = paint.put(area, 0, 0, &text, Look::Plain);
    let share = u128::from(state.place.offset).saturating_mul(100).checked_div(size.into()).unwrap_or(0);
    let right = match &state.busy {
        Some(busy) => format!("{busy} …"),
        None if state.findings.started => {
            let errors = counted(state.findings.errors, "error", "errors");
            let goes_on = if state.findings.done { "" } else { ", checking …" };
            format!("{errors}{goes_on} · {share} %")
        }
        None => format!("{share} %"),
    };
    if end < area.width {
        let rest = Rect { x: area.x.saturating_add(end), width: area.width.saturating_sub(end), ..area };
        paint.put_right(rest, 0, &format!(" {right}"), Look::Dim);
    }
}

fn findings(paint: &mut Paint<'_>, area: Rect, state: &State) {
    let list = &state.findings;
    let mut title = format!(
        "findings: {}, {}",
        counted(list.errors, "error", "errors"),
        counted(list.warnings, "warning", "warnings")
    );
    if !list.done {
        title.push_str(", checking …");
    }
    let area = paint.overlay(area, &title);
    // A value that is longer than a line stands below in full.
    let mut full = Vec::new();
    if let Some(found) = list.found.get(list.selected) {
        wrap(&found.message, area.width.saturating_sub(2), &mut full);
    }
    full.truncate(usize::from(area.height / 3));
    let room = u16::try_from(full.len()).unwrap_or(0).saturating_add(1);
    let (area, below) = if room > 1 && area.height > 4 {
        let height = area.height.saturating_sub(room);
        let below = Rect { y: area.y.saturating_add(height), height: room, ..area };
        paint.title(below, "the finding", false);
        (Rect { height, ..area }, below)
    } else {
        (area, Rect { height: 0, ..area })
    };
    for (row, line) in (1_u16..).zip(&full) {
        paint.put(below, row, 1, line, Look::Plain);
    }
    let rows = usize::from(area.height);
    let top = list.selected.saturating_sub(rows.saturating_sub(1));
    for (number, found) in list.found.iter().enumerate().skip(top).take(rows) {
        let row = u16::try_from(number.saturating_sub(top)).unwrap_or(u16::MAX);
        let (word, look) = if found.is_error { ("error  ", Look::Error) } else { ("warning", Look::Warning) };
        let path = found.path.as_deref().map(|path| format!("{}: ", file_name(path))).unwrap_or_default();
        let selected = number == list.selected;
        if selected {
            paint.mark(area, row, Look::Cursor);
        }
        let end = paint.put(area, row, 1, word, if selected { Look::Cursor } else { look });
        let text = format!("{path}{}", found.message);
        let look = if selected { Look::Cursor } else { Look::Plain };
        paint.put(area, row, end.saturating_add(2), &text, look);
    }
    let said = match (&list.failed, list.found.is_empty(), list.done) {
        (Some(why), ..) => why.clone(),
        (None, true, true) => "nothing is wrong".to_owned(),
        (None, true, false) => "reading all of it …".to_owned(),
        _ if list.errors.saturating_add(list.warnings) > KEPT as u64 => {
            format!("the first {} are listed", grouped(KEPT as u64))
        }
        _ => return,
    };
    let row = u16::try_from(list.found.len()).unwrap_or(u16::MAX).min(area.height.saturating_sub(1));
    paint.put(area, row, 1, &said, Look::Dim);
}
