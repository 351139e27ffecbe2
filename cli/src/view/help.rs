//! The keys, on one screen of 80 columns and 24 lines.

use super::paint::{Look, Paint};
use ratatui::layout::Rect;

const HELP: &[(&str, &str)] = &[
    ("h j k l, arrows", "move; in the timeline from event to event of a lane"),
    ("^f ^b, ^d ^u", "a page, half a page"),
    ("g G, 4096g", "start and end of the file, that offset"),
    ("Tab, z", "the next pane; all of the screen for it"),
    ("i, Enter", "all of the record under the cursor; again: its bytes"),
    ("b, p", "bytes and parts beside the records; again: closed"),
    ("[ ]", "the file before, the next one"),
    ("/text, /0x1f8b??0?", "search; ? is any digit; n and N: next, previous"),
    ("&text", "only records with that in them; Escape shows all"),
    (":0x1f0, :496", "go to an offset"),
    (":+1.5s, :01:41:54.5", "go to a time; :2026-11-21T01:41:54Z, too"),
    ("w s, a d", "timeline: zoom in and out, earlier and later"),
    ("m", "mark this time; again: measure; again: no marks"),
    ("!", "what check finds; it reads everything"),
    ("y", "copy the record, or the value of the field"),
    ("F", "follow the end of a file that grows"),
    ("q", "quit"),
];

pub fn draw(paint: &mut Paint<'_>, area: Rect) {
    let area = paint.overlay(area, "keys; any key closes this");
    // The last row says how much does not fit.
    let rows = usize::from(area.height);
    let shown = if HELP.len() > rows { rows.saturating_sub(1) } else { HELP.len() };
    for (row, (keys, what)) in (0_u16..).zip(HELP.iter().take(shown)) {
        paint.put(area, row, 1, keys, Look::Name);
        paint.put(area, row, 21, what, Look::Plain);
    }
    let more = HELP.len().saturating_sub(shown);
    if more > 0 {
        let text = format!("… {more} more: a taller screen shows them");
        paint.put(area, area.height.saturating_sub(1), 1, &text, Look::Dim);
    }
}
