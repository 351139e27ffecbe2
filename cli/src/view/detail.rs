//! All of one record: each field in a line, wrapped where it is longer than the pane.

use super::key::Key;
use super::pane::Pane;
use super::rows::Row;
use super::state::State;
use super::when::moment;
use crate::escape::printable;
use unicode_width::UnicodeWidthChar;

/// The number of lines that are kept of a record: more than anybody scrolls through.
const LINES: usize = 20_000;

/// The lines of a record.
pub fn lines(row: &Row, width: u16) -> Vec<String> {
    let mut head = format!("{}  {:#x}", row.name, row.place.offset);
    if let Some(time) = row.time {
        head.push_str(&format!("  {}", moment(time.ns(), time.is_absolute())));
    }
    let mut lines = Vec::new();
    wrap(&head, width, &mut lines);
    for field in fields(&row.text) {
        wrap(&field, width, &mut lines);
    }
    lines
}

/// The text of a record at the places where a field begins: `name=value` outside of quotes and brackets.
fn fields(text: &str) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    let mut start = 0;
    let mut take = |token: &str| {
        let is_field = token.find('=').is_some_and(|at| {
            token.get(..at).is_some_and(|name| !name.is_empty() && !name.contains(['"', '(', '[', '{']))
        });
        match fields.last_mut() {
            Some(last) if !is_field => {
                last.push(' ');
                last.push_str(token);
            }
            _ => fields.push(token.to_owned()),
        }
    };
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                take(text.get(start..at).unwrap_or_default());
                start = at.saturating_add(1);
            }
            _ => {}
        }
    }
    take(text.get(start..).unwrap_or_default());
    fields
}

/// Text as lines of a width; those after the first one stand in by two columns.
pub fn wrap(text: &str, width: u16, lines: &mut Vec<String>) {
    let width = usize::from(width.max(8));
    let (mut line, mut used) = (String::new(), 0_usize);
    for c in printable(text).chars() {
        let columns = c.width().unwrap_or(0);
        if used.saturating_add(columns) > width {
            if lines.len() >= LINES {
                return;
            }
            lines.push(std::mem::replace(&mut line, "  ".to_owned()));
            used = 2;
        }
        line.push(c);
        used = used.saturating_add(columns);
    }
    lines.push(line);
}

impl State {
    pub fn detail_key(&mut self, key: Key) {
        let page = self.sizes.detail_rows.max(1);
        let top = self.detail_top;
        // The end of the text is found when it is drawn.
        self.detail_top = match key {
            Key::Char('j') | Key::Down => top.saturating_add(1),
            Key::Char('k') | Key::Up => top.saturating_sub(1),
            Key::Ctrl('f') | Key::PageDown | Key::Char(' ') => top.saturating_add(page),
            Key::Ctrl('b') | Key::PageUp => top.saturating_sub(page),
            Key::Ctrl('d') => top.saturating_add(page / 2),
            Key::Ctrl('u') => top.saturating_sub(page / 2),
            Key::Enter => return self.focus(Pane::Hex),
            _ => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_by_themselves_and_nothing_is_lost() {
        let text = r#"pid=12 name="a b=c \" d=e" list=[1 2 x=3] (lost) more=1"#;
        let told = fields(text);
        assert_eq!(told, ["pid=12", r#"name="a b=c \" d=e""#, "list=[1 2 x=3] (lost)", "more=1"],);
        assert_eq!(told.join(" "), text);
        let mut lines = Vec::new();
        wrap(&"0123456789".repeat(3), 10, &mut lines);
        assert_eq!(lines, ["0123456789", "  01234567", "  89012345", "  6789"]);
        wrap("", 10, &mut lines);
        wrap("\u{1b}[m", 40, &mut lines);
        assert!(!lines.concat().contains('\u{1b}'));
    }
}
