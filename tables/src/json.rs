//! Text in JSON, and labels as text.

use std::fmt::Write;
use traceglass::event::Label;

/// Appends a string, quoted.
pub(crate) fn quote(to: &mut String, text: &str) {
    to.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        to.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('"') => to.push_str("\\\""),
            Some('\\') => to.push_str("\\\\"),
            Some('\n') => to.push_str("\\n"),
            Some('\r') => to.push_str("\\r"),
            Some('\t') => to.push_str("\\t"),
            // A string takes all that is written to it.
            Some(c) => drop(write!(to, "\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = chars.as_str();
    }
    to.push_str(rest);
    to.push('"');
}

/// The value of a member that was written as JSON: `"name":value,`.
pub(crate) fn member_value(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix(',')?;
    let mut is_escaped = false;
    let name_end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    // After both quotation marks and the colon.
    text.get(name_end.saturating_add(3)..)
}

/// A label as text.
pub(crate) fn with_text<T>(label: &Label<'_>, buffer: &mut String, then: impl FnOnce(&str) -> T) -> T {
    match label.as_str() {
        Some(text) => then(text),
        None => {
            buffer.clear();
            let _ = write!(buffer, "{label}");
            then(buffer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut text = String::new();
        quote(&mut text, "a\"b\\\n\u{1}\u{7f}é\u{2028}");
        assert_eq!(text, "\"a\\\"b\\\\\\n\\u0001\\u007fé\u{2028}\"");
    }
}
