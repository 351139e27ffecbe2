//! The formats of payloads.

use crate::rtc::name::Name;
use core::fmt;

/// The byte order that a format names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The writer's byte order, which the platform frame tells.
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

/// A default format, or any other.
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

/// The format of an annotation after its time: a default one that is no annotation itself, or any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Annotated {
    /// The row in [`NAMES`]; beyond them for other formats.
    row: u8,
    order: Order,
}

impl Annotated {
    const OTHER: Self = Self { row: u8::MAX, order: Order::Native };

    /// The format of what follows the time.
    pub fn format(self) -> Format {
        let format = NAMES.get(usize::from(self.row)).map_or(Format::Other, |(_, format)| *format);
        format.in_order(self.order).unwrap_or(format)
    }

    fn from_bytes(name: &[u8]) -> Self {
        let (number, order) = match (name.strip_suffix(b"le"), name.strip_suffix(b"be")) {
            (Some(number), _) => (number, Order::Little),
            (_, Some(number)) => (number, Order::Big),
            _ => (name, Order::Native),
        };
        let is_it = |&(known, format): &(&str, Format)| {
            known.as_bytes() == name || known.as_bytes() == number && format.in_order(order).is_some()
        };
        let row = NAMES.iter().position(is_it).and_then(|row| u8::try_from(row).ok());
        row.map_or(Self::OTHER, |row| Self { row, order })
    }
}

impl fmt::Debug for Annotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format().fmt(f)
    }
}

/// The names of formats; those of numbers may end in a byte order.
const NAMES: [(&str, Format); 18] = [
    ("raw", Format::Raw),
    ("index", Format::Index),
    ("json", Format::Json),
    ("uleb128", Format::Uleb128),
    ("leb128", Format::Leb128),
    ("timespec", Format::Timespec),
    ("utf-8", Format::Utf8),
    ("platform", Format::Platform),
    ("uint8", Format::Unsigned(Width::W8, Order::Native)),
    ("uint16", Format::Unsigned(Width::W16, Order::Native)),
    ("uint32", Format::Unsigned(Width::W32, Order::Native)),
    ("uint64", Format::Unsigned(Width::W64, Order::Native)),
    ("int8", Format::Signed(Width::W8, Order::Native)),
    ("int16", Format::Signed(Width::W16, Order::Native)),
    ("int32", Format::Signed(Width::W32, Order::Native)),
    ("int64", Format::Signed(Width::W64, Order::Native)),
    ("float32", Format::Float32(Order::Native)),
    ("float64", Format::Float64(Order::Native)),
];

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

    /// The format of a name that is no default format's, given its beginning.
    fn from_other(start: &[u8]) -> Self {
        if start.starts_with(b"annotate/") { Self::Annotate(Annotated::OTHER) } else { Self::Other }
    }

    fn from_bytes(name: &[u8]) -> Self {
        let inner = name.strip_prefix(b"annotate/");
        let found = Annotated::from_bytes(inner.unwrap_or(name));
        if inner.is_some() { Self::Annotate(found) } else { found.format() }
    }

    /// The format in another byte order; `None` if it has none.
    const fn in_order(self, order: Order) -> Option<Self> {
        Some(match self {
            Self::Unsigned(width, _) => Self::Unsigned(width, order),
            Self::Signed(width, _) => Self::Signed(width, order),
            Self::Float32(_) => Self::Float32(order),
            Self::Float64(_) => Self::Float64(order),
            _ => return None,
        })
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
            ("uint24", Format::Other),
            ("uint16le ", Format::Other),
            ("lele", Format::Other),
            ("rawle", Format::Other),
            ("", Format::Other),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }

    /// Annotations are read as their content would be by itself.
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
            "platform",
            "png",
            "annotate/raw",
            "a name that is longer than any",
        ] {
            let Format::Annotate(annotated) = Format::from_name(&std::format!("annotate/{name}")) else {
                panic!("{name}")
            };
            let alone = Format::from_name(name);
            let expected = if matches!(alone, Format::Annotate(_)) { Format::Other } else { alone };
            assert_eq!(annotated.format(), expected, "{name}");
        }
        let orders = [Order::Native, Order::Little, Order::Big].map(|order| std::format!("{order}"));
        assert_eq!(orders, ["", "le", "be"]);
    }
}
