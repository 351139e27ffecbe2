//! How the payload of a stream is to be read.

use crate::rtc::name::Name;
use core::fmt;

/// The byte order that a format names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// None: that of the writer, which the platform frame tells.
    Native,
    /// `le`.
    Little,
    /// `be`.
    Big,
}

/// The width of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Width {
    W8,
    W16,
    W32,
    W64,
}

impl Width {
    /// In bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::W8 => 1,
            Self::W16 => 2,
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }
}

/// One of the default formats.
///
/// A format that is none of them is [`Other`](Format::Other): its payload stays bytes, and
/// [`Stream::format_name`](crate::rtc::Stream::format_name) gives its name.
///
/// # Spec
///
/// "Default formats".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `raw`, or no format at all.
    #[doc(alias = "raw")]
    Raw,
    /// `index`.
    #[doc(alias = "index")]
    Index,
    /// `json`.
    #[doc(alias = "json")]
    Json,
    /// `uint8` to `uint64`, with `le`, `be` or neither.
    #[doc(alias = "uint8")]
    #[doc(alias = "uint16")]
    #[doc(alias = "uint32")]
    #[doc(alias = "uint64")]
    Unsigned(Width, Order),
    /// `int8` to `int64`, likewise.
    #[doc(alias = "int8")]
    #[doc(alias = "int16")]
    #[doc(alias = "int32")]
    #[doc(alias = "int64")]
    Signed(Width, Order),
    /// `float32`.
    #[doc(alias = "float32")]
    Float32(Order),
    /// `float64`.
    #[doc(alias = "float64")]
    Float64(Order),
    /// `uleb128`.
    #[doc(alias = "uleb128")]
    Uleb128,
    /// `leb128`.
    #[doc(alias = "leb128")]
    Leb128,
    /// `timespec`: seconds as 64 bits and nanoseconds as 32 bits, 12 bytes together.
    #[doc(alias = "timespec")]
    Timespec,
    /// `utf-8`.
    #[doc(alias = "utf-8")]
    Utf8,
    /// `platform`.
    #[doc(alias = "platform")]
    Platform,
    /// `annotate/…`: a `timespec`, then what the rest of the name says.
    #[doc(alias = "annotate")]
    Annotate(Annotated),
    /// Any other.
    Other,
}

/// What an annotation holds after its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Annotated {
    /// Bytes.
    Raw,
    /// JSON.
    Json,
    /// An unsigned integer.
    Unsigned(Width, Order),
    /// A signed integer.
    Signed(Width, Order),
    /// A `float32`.
    Float32(Order),
    /// A `float64`.
    Float64(Order),
    /// An unsigned LEB128.
    Uleb128,
    /// A signed LEB128.
    Leb128,
    /// A second `timespec`.
    Timespec,
    /// Text.
    Utf8,
    /// Something else.
    Other,
}

impl Annotated {
    /// The same as a format of its own.
    pub const fn format(self) -> Format {
        match self {
            Self::Raw => Format::Raw,
            Self::Json => Format::Json,
            Self::Unsigned(width, order) => Format::Unsigned(width, order),
            Self::Signed(width, order) => Format::Signed(width, order),
            Self::Float32(order) => Format::Float32(order),
            Self::Float64(order) => Format::Float64(order),
            Self::Uleb128 => Format::Uleb128,
            Self::Leb128 => Format::Leb128,
            Self::Timespec => Format::Timespec,
            Self::Utf8 => Format::Utf8,
            Self::Other => Format::Other,
        }
    }
}

/// The longest name of a default format, `annotate/` included, is shorter.
const LONGEST: usize = 24;

impl Format {
    /// The format with this name.
    ///
    /// ```
    /// use traceglass::rtc::{Format, Order, Width};
    ///
    /// assert_eq!(Format::from_name("uint16le"), Format::Unsigned(Width::W16, Order::Little));
    /// assert_eq!(Format::from_name("png"), Format::Other);
    /// ```
    pub fn from_name(name: &str) -> Self {
        Self::from_bytes(name.as_bytes())
    }

    #[inline(never)]
    pub(crate) fn from_text(name: Name<'_>) -> Self {
        // Unescaped to the stack, as it may stand there in two pieces or with escapes.
        let mut buffer = [0; LONGEST];
        let mut len = 0_usize;
        for c in name.chars() {
            let (Some(to), Ok(byte)) = (buffer.get_mut(len), u8::try_from(c)) else {
                return Self::from_other(&buffer);
            };
            *to = byte;
            len = len.saturating_add(1);
        }
        Self::from_bytes(buffer.get(..len).unwrap_or_default())
    }

    /// What a name that is no default format's is, given its beginning.
    fn from_other(start: &[u8]) -> Self {
        if start.starts_with(b"annotate/") { Self::Annotate(Annotated::Other) } else { Self::Other }
    }

    fn from_bytes(name: &[u8]) -> Self {
        if let Some(inner) = name.strip_prefix(b"annotate/") {
            return Self::Annotate(match Self::simple(inner) {
                Self::Raw => Annotated::Raw,
                Self::Json => Annotated::Json,
                Self::Unsigned(width, order) => Annotated::Unsigned(width, order),
                Self::Signed(width, order) => Annotated::Signed(width, order),
                Self::Float32(order) => Annotated::Float32(order),
                Self::Float64(order) => Annotated::Float64(order),
                Self::Uleb128 => Annotated::Uleb128,
                Self::Leb128 => Annotated::Leb128,
                Self::Timespec => Annotated::Timespec,
                Self::Utf8 => Annotated::Utf8,
                _ => Annotated::Other,
            });
        }
        Self::simple(name)
    }

    fn simple(name: &[u8]) -> Self {
        const NAMES: [(&str, Format); 8] = [
            ("raw", Format::Raw),
            ("index", Format::Index),
            ("json", Format::Json),
            ("uleb128", Format::Uleb128),
            ("leb128", Format::Leb128),
            ("timespec", Format::Timespec),
            ("utf-8", Format::Utf8),
            ("platform", Format::Platform),
        ];
        if let Some((_, format)) = NAMES.iter().find(|(known, _)| known.as_bytes() == name) {
            return *format;
        }
        let (name, order) = match (name.strip_suffix(b"le"), name.strip_suffix(b"be")) {
            (Some(name), _) => (name, Order::Little),
            (_, Some(name)) => (name, Order::Big),
            _ => (name, Order::Native),
        };
        let width = |digits: &[u8]| match digits {
            b"8" => Some(Width::W8),
            b"16" => Some(Width::W16),
            b"32" => Some(Width::W32),
            b"64" => Some(Width::W64),
            _ => None,
        };
        if let Some(width) = name.strip_prefix(b"uint").and_then(width) {
            return Self::Unsigned(width, order);
        }
        if let Some(width) = name.strip_prefix(b"int").and_then(width) {
            return Self::Signed(width, order);
        }
        match name {
            b"float32" => Self::Float32(order),
            b"float64" => Self::Float64(order),
            _ => Self::Other,
        }
    }

    /// The number of bytes one sample takes, if all take the same.
    pub const fn sample_size(self) -> Option<usize> {
        match self {
            Self::Unsigned(width, _) | Self::Signed(width, _) => Some(width.bytes()),
            Self::Float32(_) | Self::Platform => Some(4),
            Self::Float64(_) => Some(8),
            Self::Timespec => Some(12),
            _ => None,
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "",
            Self::Little => "le",
            Self::Big => "be",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_format_has_a_name() {
        for (name, format) in [
            ("raw", Format::Raw),
            ("index", Format::Index),
            ("json", Format::Json),
            ("uint8", Format::Unsigned(Width::W8, Order::Native)),
            ("int16be", Format::Signed(Width::W16, Order::Big)),
            ("uint32le", Format::Unsigned(Width::W32, Order::Little)),
            ("int64", Format::Signed(Width::W64, Order::Native)),
            ("float32", Format::Float32(Order::Native)),
            ("float64be", Format::Float64(Order::Big)),
            ("uleb128", Format::Uleb128),
            ("leb128", Format::Leb128),
            ("timespec", Format::Timespec),
            ("utf-8", Format::Utf8),
            ("platform", Format::Platform),
            ("annotate/utf-8", Format::Annotate(Annotated::Utf8)),
            ("annotate/int16le", Format::Annotate(Annotated::Signed(Width::W16, Order::Little))),
            ("annotate/png", Format::Annotate(Annotated::Other)),
            ("annotate/annotate/raw", Format::Annotate(Annotated::Other)),
            ("uint24", Format::Other),
            ("uint16le ", Format::Other),
            ("lele", Format::Other),
            ("", Format::Other),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }

    /// What is annotated with is read as it would be by itself.
    #[test]
    fn annotations_are_of_any_default_format() {
        for name in [
            "raw",
            "json",
            "uint16le",
            "int8",
            "float32be",
            "float64",
            "uleb128",
            "leb128",
            "timespec",
            "utf-8",
            "png",
        ] {
            let Format::Annotate(annotated) = Format::from_name(&std::format!("annotate/{name}")) else {
                panic!("{name}")
            };
            assert_eq!(annotated.format(), Format::from_name(name), "{name}");
        }
        let orders = [Order::Native, Order::Little, Order::Big].map(|order| std::format!("{order}"));
        assert_eq!(orders, ["", "le", "be"]);
    }
}
