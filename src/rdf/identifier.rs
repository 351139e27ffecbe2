//! Chunk identifiers.

use super::element::IDENTIFIER;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// The identifier of a chunk: 16 bytes, padded with NUL.
///
/// Two identifiers are equal when their bytes up to the first NUL are, as in AMD's own reader. The document forbids
/// bytes after a NUL since revision 1.3; files that have them exist, and [`bytes`](Self::bytes) still gives all 16.
///
/// ```
/// use traceglass::rdf::Identifier;
///
/// const PROCESS: Identifier = Identifier::new("TraceProcessInfo").unwrap();
/// assert_eq!(PROCESS.text(), Ok("TraceProcessInfo"));
/// assert_eq!(Identifier::new("more than 16 bytes"), None);
/// assert_eq!(Some(Identifier::from_bytes(*b"ab\0cd\0\0\0\0\0\0\0\0\0\0\0")), Identifier::new("ab"));
/// ```
#[derive(Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identifier([u8; 16]);

impl Identifier {
    /// The identifier of a text; `None` if it has more than 16 bytes, or a NUL.
    pub const fn new(text: &str) -> Option<Self> {
        let (mut bytes, mut rest, mut len) = ([0; 16], text.as_bytes(), 0_usize);
        while let [first, more @ ..] = rest {
            let Some((_, [to, ..])) = bytes.split_at_mut_checked(len) else { return None };
            if *first == 0 {
                return None;
            }
            *to = *first;
            (rest, len) = (more, len.saturating_add(1));
        }
        Some(Self(bytes))
    }

    /// The identifier of exactly these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// All 16 bytes, as stored.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The bytes up to the first NUL.
    #[inline]
    pub fn name(&self) -> &[u8] {
        let missing = self.key().trailing_zeros() >> 3;
        let len = usize::try_from(missing).map_or(0, |missing| 16_usize.saturating_sub(missing));
        self.0.get(..len).unwrap_or_default()
    }

    /// The text up to the first NUL.
    ///
    /// # Errors
    /// It is not UTF-8.
    pub fn text(&self) -> core::result::Result<&str, core::str::Utf8Error> {
        core::str::from_utf8(self.name())
    }

    /// True if bytes that are not NUL follow the first NUL.
    pub fn has_bytes_after_nul(&self) -> bool {
        self.key() != u128::from_be_bytes(self.0)
    }

    /// The bytes up to the first NUL as a number that orders and compares as they do.
    #[inline]
    pub(super) const fn key(&self) -> u128 {
        const ONES: u128 = u128::from_le_bytes([0x01; 16]);
        const HIGHS: u128 = u128::from_le_bytes([0x80; 16]);
        let bytes = u128::from_le_bytes(self.0);
        // The lowest bit set is the high bit of the first NUL; bits above it may be wrong and are not looked at.
        let nul = bytes.wrapping_sub(ONES) & !bytes & HIGHS;
        let kept = if nul == 0 { u128::MAX } else { (nul & nul.wrapping_neg()).wrapping_sub(1) };
        (bytes & kept).swap_bytes()
    }
}

/// The same as [`Identifier::new`], so that chunks are looked up by text.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) by text of more than 16 bytes; [`Invalid`](ErrorKind::Invalid) of
/// one with a NUL. Offsets are those in the text.
impl TryFrom<&str> for Identifier {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        let needed = to_u64(text.len());
        let (offset, kind) = match text.bytes().position(|byte| byte == 0) {
            Some(at) if at < 16 => (to_u64(at), ErrorKind::Invalid { value: 0 }),
            _ => (16, ErrorKind::CapacityExceeded { capacity: 16, needed }),
        };
        Self::new(text).ok_or(Error::new(offset, IDENTIFIER, kind))
    }
}

impl PartialEq for Identifier {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Identifier {}

impl PartialOrd for Identifier {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// In the order of the bytes up to the first NUL.
impl Ord for Identifier {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl core::hash::Hash for Identifier {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.name().escape_ascii())
    }
}

/// The text up to the first NUL, with what is not printable ASCII escaped.
impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key agrees with its definition, with a NUL at each place and beside it bytes that break naive bit tricks.
    #[test]
    fn key_is_the_name_padded() {
        for fill in [0x01, 0x7f, 0x80, 0x81, 0xff] {
            for after in [0x00, 0x01, 0x80, 0xff] {
                for nul in 0..=16 {
                    let mut bytes = [after; 16];
                    bytes[..nul].fill(fill);
                    if let Some(end) = bytes.get_mut(nul) {
                        *end = 0;
                    }
                    let id = Identifier::from_bytes(bytes);
                    assert_eq!(id.name(), &bytes[..nul]);
                    let mut padded = [0; 16];
                    padded[..nul].fill(fill);
                    assert_eq!(id.key(), u128::from_be_bytes(padded), "{bytes:x?}");
                    assert_eq!(id.has_bytes_after_nul(), nul < 15 && after != 0);
                }
            }
        }
    }

    #[test]
    fn order_is_that_of_the_bytes() {
        let mut ids =
            ["b", "a", "", "ab", "aa", "0123456789abcdef"].map(|text| Identifier::new(text).unwrap());
        ids.sort();
        assert_eq!(ids.map(|id| id.0[0]), [0, b'0', b'a', b'a', b'a', b'b']);
        assert_eq!(std::format!("{} {:?}", ids[4], Identifier::from_bytes([0xff; 16])).len(), 3 + 16 * 4 + 2);
    }

    #[test]
    fn text_needs_utf8() {
        assert_eq!(Identifier::new("häß").unwrap().text(), Ok("häß"));
        assert!(Identifier::from_bytes([0xff; 16]).text().is_err());
    }

    /// Nothing is cut without a word.
    #[test]
    fn what_does_not_fit_is_no_identifier() {
        for (text, offset, code) in [
            ("0123456789abcdefX", 16, "capacity-exceeded"),
            ("ab\0", 2, "invalid"),
            ("0123456789abcdef\0", 16, "capacity-exceeded"),
        ] {
            assert_eq!(Identifier::new(text), None);
            let error = Identifier::try_from(text).unwrap_err();
            assert_eq!((error.offset(), error.kind().code()), (offset, code), "{text:?}");
        }
        for text in ["", "a", "0123456789abcdef"] {
            assert_eq!(Identifier::try_from(text).unwrap().text(), Ok(text));
        }
    }
}
