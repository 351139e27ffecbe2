use super::escape::Unescaped;
use super::node::{ESCAPED, Place, SPLIT, UNDERSCORE};
use super::spec::TextPlace;
use super::trie::Spelling;
use crate::bytes::to_u64;
use crate::ctf::metadata::{Language, MetadataStream, Text};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{self, Source, Str};
use core::fmt;

/// The escapes are those of C. No flag of a place.
const C_ESCAPES: u8 = 1;
const _: () = assert!(C_ESCAPES & (ESCAPED | SPLIT | UNDERSCORE) == 0);

/// More bytes than these are a long name.
const LONG: usize = 256;

/// A name in the metadata: of a field, a class, a mapping, a flag.
///
/// It is a view of the metadata file, where it may have escapes and even lie in several packets; it is decoded when it
/// is read.
#[derive(Clone, Copy)]
pub struct Name<'a> {
    raw: Text<'a>,
    /// The flags of its place.
    flags: u8,
}

impl<'a> Name<'a> {
    pub(crate) fn at(stream: &MetadataStream<'a>, place: Place) -> Self {
        let Place { offset, len, flags } = place;
        Self::of(stream, TextPlace { offset, len: len.into(), flags })
    }

    /// A text that may be longer than names are.
    pub(super) fn of(stream: &MetadataStream<'a>, place: TextPlace) -> Self {
        let raw = stream.text_at(place.offset.into(), place.len.into(), place.flags & SPLIT != 0);
        let is_c = place.flags & ESCAPED != 0 && stream.language() == Language::Tsdl;
        Self { raw, flags: place.flags | if is_c { C_ESCAPES } else { 0 } }
    }

    /// The bytes in the metadata.
    pub(super) fn raw(&self) -> Text<'a> {
        self.raw
    }

    fn string(&self) -> Str<Text<'a>> {
        Str::new(self.raw, self.flags & ESCAPED != 0, super::element::NAME)
    }

    fn is_stripped(&self) -> bool {
        self.flags & UNDERSCORE != 0 && self.raw.front().first() == Some(&b'_')
    }

    /// The name, if it can be borrowed: UTF-8 without escapes, and within one metadata packet.
    pub fn borrowed(&self) -> Option<&'a str> {
        let text = self.string().borrowed()?;
        if self.is_stripped() { text.get(1..) } else { Some(text) }
    }

    /// The characters, decoded. U+FFFD stands for lone surrogates and for what is not UTF-8.
    pub fn chars(&self) -> impl Iterator<Item = char> + use<'a> {
        self.written().skip(usize::from(self.is_stripped()))
    }

    /// Offset in the metadata file of its first byte.
    pub fn offset(&self) -> u64 {
        self.raw.offset()
    }

    /// Decodes it to the front of `buffer`.
    ///
    /// # Errors
    /// `CapacityExceeded` with the size needed.
    pub fn decode<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str> {
        let capacity = to_u64(buffer.len());
        let mut len = 0_usize;
        for c in self.chars() {
            let end = len.saturating_add(c.len_utf8());
            let Some(to) = buffer.get_mut(len..end) else {
                let needed = self.chars().fold(0_u64, |sum, c| sum.saturating_add(to_u64(c.len_utf8())));
                let kind = ErrorKind::CapacityExceeded { capacity, needed };
                return Err(Error::new(self.offset(), super::element::NAME, kind));
            };
            json::encode_utf8(c, to);
            len = end;
        }
        Ok(buffer.get(..len).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default())
    }

    /// The characters as written, decoded.
    pub(super) fn written(&self) -> Written<'a> {
        match self.flags & (ESCAPED | C_ESCAPES) {
            0 => Written::Plain(self.raw),
            ESCAPED => Written::Json(self.string().chars()),
            _ => Written::C(Unescaped(self.raw)),
        }
    }

    /// The size in bytes of its characters as written.
    pub(super) fn written_len(&self) -> u64 {
        self.written().fold(0, |sum: u64, c| sum.saturating_add(to_u64(c.len_utf8())))
    }

    /// The name as written, to be looked for among others.
    pub(super) fn spelled(&self) -> Spelled<'a> {
        if self.flags & (ESCAPED | SPLIT) == 0 {
            return Spelled::Slice(self.raw.front());
        }
        Spelled::Decoded { chars: self.written(), bytes: [0; 4], start: 0, end: 0 }
    }
}

/// The characters of a name as written.
#[derive(Clone)]
pub(super) enum Written<'a> {
    Plain(Text<'a>),
    C(Unescaped<'a>),
    Json(json::JsonChars<Text<'a>>),
}

impl Iterator for Written<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::Plain(source) => json::next_char(source),
            Self::C(source) => json::next_char(source),
            Self::Json(chars) => chars.next(),
        }
    }
}

/// The bytes of a name as written, without its escapes.
pub(super) enum Spelled<'a> {
    Slice(&'a [u8]),
    Decoded {
        chars: Written<'a>,
        /// The character that was read last, and the positions where it starts and ends.
        bytes: [u8; 4],
        start: u32,
        end: u32,
    },
}

impl Spelling for Spelled<'_> {
    fn byte(&mut self, position: u32) -> Option<u8> {
        match self {
            Self::Slice(slice) => slice.byte(position),
            Self::Decoded { chars, bytes, start, end } => {
                while position >= *end {
                    let c = chars.next()?;
                    let len = c.len_utf8();
                    json::encode_utf8(c, bytes.get_mut(..len)?);
                    *start = *end;
                    *end = end.saturating_add(u32::try_from(len).unwrap_or(0));
                }
                bytes.get(usize::try_from(position.checked_sub(*start)?).ok()?).copied()
            }
        }
    }
}

impl PartialEq<str> for Name<'_> {
    /// Compares with the name as displayed.
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for Name<'_> {
    /// The decoded name. Of a long one, no more is decoded than is taken.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Some(self).filter(|name| name.raw.front().len() <= LONG).and_then(Self::borrowed) {
            Some(text) => f.pad(text),
            None => self.chars().try_for_each(|c| fmt::Write::write_char(f, c)),
        }
    }
}

impl fmt::Debug for Name<'_> {
    /// The place of the name; never its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw, f)
    }
}
