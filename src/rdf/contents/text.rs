//! Text of a fixed size.

use core::fmt;

/// Text in a field of a fixed size: the bytes up to the first NUL, all of them if there is none.
///
/// Nothing promises that it is UTF-8, and what follows the NUL may be garbage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FixedText<'a> {
    text: &'a [u8],
    terminated: bool,
}

impl<'a> FixedText<'a> {
    pub(super) fn new(field: &'a [u8]) -> Self {
        match field.iter().position(|&byte| byte == 0) {
            Some(len) => Self { text: field.get(..len).unwrap_or_default(), terminated: true },
            None => Self { text: field, terminated: false },
        }
    }

    /// The bytes before the NUL.
    pub const fn bytes(&self) -> &'a [u8] {
        self.text
    }

    /// The text.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub const fn to_str(&self) -> Result<&'a str, core::str::Utf8Error> {
        core::str::from_utf8(self.text)
    }

    /// True if a NUL ends it.
    pub const fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// True if there is no text.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The text; U+FFFD stands for what is not UTF-8.
impl fmt::Display for FixedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.text.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_str("\u{fffd}")?;
            }
        }
        Ok(())
    }
}

/// Prints the length, never the text.
impl fmt::Debug for FixedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedText")
            .field("len", &self.text.len())
            .field("is_terminated", &self.terminated)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn text_ends_at_the_first_nul() {
        let text = FixedText::new(b"ab\0\xfe\xfe");
        assert_eq!((text.bytes(), text.to_str(), text.is_terminated()), (&b"ab"[..], Ok("ab"), true));
        let text = FixedText::new(b"a\xffb");
        assert!(text.to_str().is_err() && !text.is_terminated());
        assert_eq!(format!("{text}"), "a\u{fffd}b");
        assert_eq!(format!("{text:?}"), "FixedText { len: 3, is_terminated: false }");
    }
}
