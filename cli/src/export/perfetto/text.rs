//! Text that is written again and again: of long names, events tell the beginning.

use std::fmt::{self, Display, Write};

/// How many bytes of a name are kept.
pub const NAME: usize = 1 << 10;

/// How many bytes of text an event has, besides four times as many as itself: what is in it is never cut, and what it
/// shares with others, such as a source file, does not make the output many times the input.
pub const SHARED: usize = 2 << 10;

/// Appends a text, but no more than `most` bytes of it; then comes a mark.
pub fn push(to: &mut String, text: impl Display, most: usize) {
    // Writing fails where enough is written, so that the rest is not even looked at.
    let _ = write!(Bounded { to, left: most }, "{text}");
}

struct Bounded<'t> {
    to: &'t mut String,
    left: usize,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(left) = self.left.checked_sub(text.len()) {
            self.left = left;
            self.to.push_str(text);
            return Ok(());
        }
        let whole = (0..=self.left).rev().find_map(|end| text.get(..end));
        self.to.push_str(whole.unwrap_or_default());
        self.to.push('…');
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let cut = |text: &str, most| {
            let mut to = String::from("+");
            push(&mut to, text, most);
            to
        };
        assert_eq!((cut("abc", 3), cut("abcd", 3)), ("+abc".into(), "+abc…".into()));
        assert_eq!((cut("aäb", 2), cut("", 0), cut("x", 0)), ("+a…".into(), "+".into(), "+…".into()));
    }
}
