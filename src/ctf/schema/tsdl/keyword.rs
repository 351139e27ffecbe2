//! Reserved words of TSDL.

use crate::ctf::metadata::Text;
use crate::json::{Source, take_byte};

macro_rules! keywords {
    ($($name:ident $text:literal)*) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Keyword {
            $($name,)*
        }

        impl Keyword {
            fn of_slice(text: &[u8]) -> Option<Self> {
                $(if text == $text { return Some(Self::$name); })*
                None
            }
        }
    };
}

keywords! {
    Align b"align"
    Bool b"_Bool"
    Callsite b"callsite"
    Char b"char"
    Clock b"clock"
    Complex b"_Complex"
    Const b"const"
    Double b"double"
    Enum b"enum"
    Env b"env"
    Event b"event"
    Float b"float"
    FloatingPoint b"floating_point"
    Imaginary b"_Imaginary"
    Int b"int"
    Integer b"integer"
    Long b"long"
    Short b"short"
    Signed b"signed"
    Stream b"stream"
    String b"string"
    Struct b"struct"
    Trace b"trace"
    Typealias b"typealias"
    Typedef b"typedef"
    Unsigned b"unsigned"
    Variant b"variant"
    Void b"void"
}

impl Keyword {
    const MAX_LEN: u64 = 14;

    /// The keyword that a word is, if it is one.
    pub(super) fn of(text: Text<'_>) -> Option<Self> {
        if text.len() > Self::MAX_LEN {
            return None;
        }
        match text.borrowed() {
            Some(slice) => {
                let lead = slice.first()?;
                matches!(lead, b'_' | b'a' | b'c'..=b'f' | b'i' | b'l' | b's'..=b'v')
                    .then(|| Self::of_slice(slice))
                    .flatten()
            }
            None => {
                let mut buffer = [0; 14];
                Self::of_slice(text.copy_to(&mut buffer).ok()?)
            }
        }
    }

    /// True if it is a word of C's names of types, of which an alias may consist.
    pub(super) fn is_type_word(self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::Char
                | Self::Complex
                | Self::Const
                | Self::Double
                | Self::Float
                | Self::Imaginary
                | Self::Int
                | Self::Long
                | Self::Short
                | Self::Signed
                | Self::Unsigned
                | Self::Void
        )
    }
}

/// True if `text` says `word`.
pub(super) fn says(text: Text<'_>, word: &[u8]) -> bool {
    match text.borrowed() {
        Some(slice) => slice == word,
        None => {
            let mut rest = text;
            word.iter().all(|byte| take_byte(&mut rest) == Some(*byte)) && rest.front().is_empty()
        }
    }
}
