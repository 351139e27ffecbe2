//! The width of text on a terminal, and text that fits.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that text takes, as it is printed: what is unsafe as its escape.
pub fn width(text: &str) -> usize {
    if !crate::escape::is_suspect(text.as_bytes()) {
        return text.len();
    }
    crate::escape::printable(text).width()
}

/// Text of at most `columns` columns: of a longer one the beginning, and a mark.
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let text = crate::escape::printable(text);
    let end = place(&text, columns.saturating_sub(1));
    format!("{}…", text.get(..end).unwrap_or_default()).into()
}

/// The same, but of a longer text the end, which tells a path from others.
pub fn fit_end(text: &str, columns: usize) -> Cow<'_, str> {
    let total = width(text);
    if total <= columns {
        return text.into();
    }
    let text = crate::escape::printable(text);
    let left_out = total.saturating_sub(columns).saturating_add(1);
    let mut start = place(&text, left_out);
    // A wide character that lies across is left out.
    if width(text.get(start..).unwrap_or_default()) >= columns {
        start = start
            .saturating_add(text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8));
    }
    format!("…{}", text.get(start..).unwrap_or_default()).into()
}

/// The same, but of a longer text its start and its end: names that begin alike differ at the end.
pub fn fit_ends(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let text = crate::escape::printable(text);
    let end = columns.saturating_sub(1).checked_div(3).unwrap_or(0);
    let start = place(&text, columns.saturating_sub(end).saturating_sub(1));
    // With its mark.
    let end = fit_end(&text, end.saturating_add(1));
    format!("{}{end}", text.get(..start).unwrap_or_default()).into()
}

/// The end of the text that fits into `columns` columns.
fn place(text: &str, columns: usize) -> usize {
    let mut used = 0_usize;
    for (at, c) in text.char_indices() {
        used = used.saturating_add(c.width().unwrap_or(0));
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// Text in lines of at most `columns` columns, broken at spaces, or within a word that is longer.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let text = crate::escape::printable(text);
    let mut lines = Vec::new();
    let mut rest = text.as_str();
    loop {
        // Looks at the text of one line, however long all of it is.
        let end = place(rest, columns);
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if after.is_empty() {
            break;
        }
        // A space right after it ends it as well; one before a word that alone is too long does not.
        let space = match after.starts_with(' ') {
            true => Some(end),
            false => line.rfind(' ').filter(|&at| !line.get(..at).unwrap_or_default().trim().is_empty()),
        };
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let (line, after) = rest.split_at_checked(space.unwrap_or(end).max(first)).unwrap_or((rest, ""));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start_matches(' ');
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// Appends text, and spaces up to a width. Formatting has a limit of widths, and panics.
pub fn pad(to: &mut String, text: &str, columns: usize, right: bool) {
    let missing = columns.saturating_sub(width(text));
    if right {
        spaces(to, missing);
    }
    to.push_str(text);
    if !right {
        spaces(to, missing);
    }
}

/// Appends spaces.
pub fn spaces(to: &mut String, count: usize) {
    const MANY: &str = "                                                                ";
    let mut left = count;
    while let Some(more) = left.checked_sub(MANY.len()) {
        to.push_str(MANY);
        left = more;
    }
    to.push_str(MANY.get(..left).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits() {
        assert_eq!((width("a\n"), width("日本"), width("é"), width("e\u{301}")), (3, 4, 1, 1));
        assert_eq!((fit("recording", 9), fit("recording", 6)), ("recording".into(), "recor…".into()));
        assert_eq!(fit_end("2026-11/chunk.rfr", 10), "…chunk.rfr");
        assert_eq!((fit("日本語", 5), fit_end("日本語", 5)), ("日本…".into(), "…本語".into()));
        assert_eq!((fit("日本語", 4), fit_end("日本語", 4)), ("日…".into(), "…語".into()));
        assert_eq!((fit("", 0), fit("ab", 0)), ("".into(), "…".into()));
        assert_eq!(
            (fit_ends("Draw, node: 12", 14), fit_ends("Draw, node: 12", 10)),
            ("Draw, node: 12".into(), "Draw, … 12".into())
        );
        assert_eq!(
            (fit_ends("日本語日本語", 8), fit_ends("ab", 1), fit_ends("ab", 0)),
            ("日本…語".into(), "…".into(), "…".into())
        );
    }

    #[test]
    fn text_is_padded_to_any_width() {
        for columns in [0, 3, 4, 63, 64, 67, 68, 69, 200] {
            let (mut left, mut right) = (String::from("|"), String::from("|"));
            pad(&mut left, "日本", columns, false);
            pad(&mut right, "abcd", columns, true);
            let spaces = " ".repeat(columns.saturating_sub(4));
            assert_eq!((left, right), (format!("|日本{spaces}"), format!("|{spaces}abcd")));
        }
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("12345678 9", 8), ["12345678", "9"]);
        assert_eq!(wrap("123456789012 x", 8), ["12345678", "9012 x"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("   123456789", 8), ["   12345", "6789"]);
        for text in ["   ", "                ", "日本語日本語日本語", "a\u{200b}\n\t", " x          y       "]
        {
            assert!(wrap(text, 8).iter().all(|line| width(line) <= 8), "{text:?}");
        }
    }
}
