//! Names, most of which stand in the input.

use core::fmt;

/// A name, or the parts of one: it is written with [`Display`](fmt::Display).
///
/// ```
/// use traceglass::event::Label;
///
/// assert_eq!(Label::Numbered("task", 7).to_string(), "task 7");
/// assert_eq!(Label::Of("task", "main").to_string(), "task main");
/// assert_eq!(Label::Place("src/main.rs", 12).to_string(), "src/main.rs:12");
/// assert_eq!(Label::Bytes(b"a\xff").to_string(), r"a\xff");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Label<'a> {
    /// Text.
    Text(&'a str),
    /// Something that has a number, but no name.
    Numbered(&'static str, u64),
    /// A name after a word that says of what it is.
    Of(&'static str, &'a str),
    /// A file and a line in it.
    Place(&'a str, u64),
    /// Text that is not UTF-8.
    Bytes(&'a [u8]),
    /// A hash of 128 bits: 32 hexadecimal digits.
    Hash(u128),
    /// An address, or an opaque handle: `0x` and as many hexadecimal digits as it needs.
    Address(u64),
    /// The start of a text that is longer: it is followed by `…`.
    Start(&'a str),
    /// A name in the metadata of a CTF trace, which may have to be decoded.
    #[cfg(feature = "ctf")]
    Ctf(crate::ctf::schema::Name<'a>),
    /// A name in a Meta of an RTC file, which may have to be decoded.
    #[cfg(feature = "rtc")]
    Rtc(crate::JsonString<crate::Text<'a>>),
}

impl<'a> Label<'a> {
    /// Text that should be UTF-8.
    #[cfg(feature = "dial9")]
    pub(super) fn of(text: &'a [u8]) -> Self {
        core::str::from_utf8(text).map_or(Self::Bytes(text), Self::Text)
    }

    /// The text, if it stands as such in the input.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Text(text) => Some(text),
            #[cfg(feature = "ctf")]
            Self::Ctf(name) => name.borrowed(),
            #[cfg(feature = "rtc")]
            Self::Rtc(name) => name.borrowed(),
            _ => None,
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Numbered(name, number) => write!(f, "{name} {number}"),
            Self::Of(word, name) => write!(f, "{word} {name}"),
            Self::Hash(hash) => write!(f, "{hash:032x}"),
            Self::Address(address) => write!(f, "{address:#x}"),
            Self::Start(text) => write!(f, "{text}…"),
            Self::Place(file, line) => write!(f, "{file}:{line}"),
            #[cfg(feature = "ctf")]
            Self::Ctf(name) => name.fmt(f),
            #[cfg(feature = "rtc")]
            Self::Rtc(name) => name.fmt(f),
            Self::Bytes(bytes) => write!(f, "{}", bytes.escape_ascii()),
        }
    }
}
