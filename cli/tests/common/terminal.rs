//! The bytes that a terminal might obey. Plain `std`, so that fuzz targets can include it by its path.

/// The bytes that a terminal might obey, or show as something else, in what the command prints; lines, and the styles
/// of the command itself, are taken out.
pub fn unsafe_in(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    if text.bytes().all(|byte| matches!(byte, b'\n' | 0x20..0x7f)) {
        return None;
    }
    let mut rest = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\x1b' && chars.peek() == Some(&'[') {
            let style: String = chars.by_ref().skip(1).take_while(|c| *c != 'm').collect();
            if style.len() <= 8 && style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
                continue;
            }
        }
        rest.push(c);
    }
    let is_bad = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}')
    };
    let at = rest.char_indices().find(|(_, c)| is_bad(*c))?.0;
    Some(rest[at..].chars().take(40).collect())
}
