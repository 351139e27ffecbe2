//! Structures of chunks: each layout stands once, as a table of fields that views, dumps and listings share.

use super::hash::Hash128;
use super::tell::after;
use super::text::FixedText;
use crate::record::{self, Any, EachLabel, FieldInfo, Hint, Listener, Slot, Step};
use core::fmt;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
    Text,
    Hash,
    Padding,
}

/// A field of a structure: its name, its place, and how to read its value.
#[derive(Clone, Copy)]
pub struct Field {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    /// Bytes of one value.
    pub(super) width: usize,
    /// The number of values.
    pub(super) count: usize,
    pub(super) kind: Kind,
    pub(super) name_of: Option<fn(u64) -> Option<&'static str>>,
    pub(super) labels: Option<EachLabel<'static>>,
    /// The way people read the field, and its unit.
    pub(super) hint: Hint,
    pub(super) unit: Option<&'static str>,
}

impl Field {
    /// The name, in snake case.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Offset of its first byte in the structure.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Size in bytes.
    pub const fn size(&self) -> usize {
        self.width.saturating_mul(self.count)
    }

    /// True if it is filling without a meaning.
    pub const fn is_padding(&self) -> bool {
        matches!(self.kind, Kind::Padding)
    }

    /// True if it holds several values.
    pub const fn is_array(&self) -> bool {
        self.count > 1
    }

    /// The values in `record`, the bytes of the structure; none where they end before the field does.
    pub fn values<'a>(&self, record: &'a [u8]) -> impl Iterator<Item = FieldValue<'a>> + Clone + use<'a> {
        let this = *self;
        let bytes = record.get(this.offset..).and_then(|bytes| bytes.get(..this.size())).unwrap_or_default();
        bytes.chunks_exact(this.width.max(1)).map(move |bytes| this.value(bytes))
    }

    fn value<'a>(&self, bytes: &'a [u8]) -> FieldValue<'a> {
        let mut wide = [0; 8];
        for (to, from) in wide.iter_mut().zip(bytes) {
            *to = *from;
        }
        let number = u64::from_le_bytes(wide);
        let [a, b, c, d, ..] = wide;
        match (self.kind, self.width) {
            (Kind::Text, _) => FieldValue::Text(FixedText::new(bytes)),
            (Kind::Hash, _) => match bytes.first_chunk() {
                Some(bytes) => FieldValue::Hash(Hash128::from_stored(*bytes)),
                None => FieldValue::Padding(bytes),
            },
            (Kind::Float, _) => FieldValue::Float(f32::from_le_bytes([a, b, c, d])),
            (Kind::Signed, 4) => FieldValue::Signed(i32::from_le_bytes([a, b, c, d]).into()),
            (Kind::Signed, _) => FieldValue::Signed(i64::from_le_bytes(wide)),
            (Kind::Padding, _) => FieldValue::Padding(bytes),
            (Kind::Unsigned, _) => {
                FieldValue::Unsigned { value: number, name: self.name_of.and_then(|name| name(number)) }
            }
        }
    }

    /// The number of slots it takes in a record.
    pub(super) const fn places(&self) -> u32 {
        if self.is_padding() {
            0
        } else if self.is_array() {
            2
        } else {
            1
        }
    }

    fn record_kind(&self) -> record::Kind {
        let bits = u32::try_from(self.width).unwrap_or(u32::MAX).saturating_mul(8);
        match self.kind {
            Kind::Unsigned | Kind::Hash => record::Kind::Unsigned { bits },
            Kind::Signed => record::Kind::Signed { bits },
            Kind::Float => record::Kind::Float { bits },
            Kind::Text => record::Kind::Text,
            Kind::Padding => record::Kind::Bytes,
        }
    }

    /// Calls `each` with the steps through it.
    pub(super) fn describe(&self, slot: Slot, each: &mut dyn FnMut(Step<'_>)) {
        let kind = self.record_kind();
        let name: Option<&(dyn fmt::Display + Sync)> = Some(&self.name);
        let hint = match (self.hint, self.labels, self.kind) {
            (Hint::None, Some(_), _) => Hint::Label,
            (Hint::None, None, Kind::Hash) => Hint::Address,
            (hint, ..) => hint,
        };
        let (unit, labels) = (self.unit, self.labels);
        let one = FieldInfo { slot, name, hint, unit, labels, ..FieldInfo::unnamed(kind) };
        if !self.is_array() {
            return each(Step::Field(one));
        }
        each(Step::Field(FieldInfo { slot, name, ..FieldInfo::unnamed(record::Kind::List) }));
        each(Step::Field(FieldInfo { slot: after(slot, 1), name: None, ..one }));
        each(Step::End);
    }

    /// Tells its value in `record`, the bytes of the structure.
    pub(super) fn say(&self, record: &[u8], slot: Slot, to: &mut Any<'_>) {
        let one = |value: FieldValue<'_>, slot: Slot, to: &mut Any<'_>| match value {
            FieldValue::Unsigned { value, .. } => to.unsigned(slot, value),
            FieldValue::Signed(value) => to.signed(slot, value),
            FieldValue::Float(value) => to.float(slot, value.into()),
            FieldValue::Text(text) => to.text(slot, record::Text::Utf8(text.bytes())),
            FieldValue::Hash(hash) => {
                to.wide(slot, record::Wide { low: hash.value(), words: &[], is_signed: false });
            }
            FieldValue::Padding(bytes) => to.bytes(slot, bytes),
        };
        if self.is_array() {
            to.list(slot, Some(crate::bytes::to_u64(self.count)));
            self.values(record).for_each(|value| one(value, after(slot, 1), to));
            to.end_list();
        } else if let Some(value) = self.values(record).next() {
            one(value, slot, to);
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field")
            .field("name", &self.name)
            .field("offset", &self.offset)
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

/// The value of a [`Field`], as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldValue<'a> {
    /// An unsigned integer, with its name where it is one of a list.
    Unsigned {
        /// The number.
        value: u64,
        /// The name of the number.
        name: Option<&'static str>,
    },
    /// A signed integer.
    Signed(i64),
    /// A float.
    Float(f32),
    /// Text of a fixed size.
    Text(FixedText<'a>),
    /// A 128-bit hash.
    Hash(Hash128),
    /// Filling.
    Padding(&'a [u8]),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned { name: Some(name), .. } => f.write_str(name),
            Self::Unsigned { value, name: None } => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "{text}"),
            Self::Hash(hash) => write!(f, "{hash}"),
            Self::Padding(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Defines a structure as it lies in a chunk: the raw bytes, a view with one accessor a field, and the table of fields.
///
/// Types: integers and `f32`; `(text N)`; `hash`; `(u16s N)` and `(u32s N)`; `(pad N)`, which has no accessor. After
/// `=` stands the type that an accessor gives instead of the number; in brackets how people read it, and its unit.
macro_rules! layout {
    (
        $(#[$meta:meta])*
        pub struct $name:ident, $raw:ident: $size:literal {
            $( $(#[$field_meta:meta])* $field:ident: $ty:tt $(= $conv:ident)? $([$hint:ident $($unit:literal)?])?, )*
        }
    ) => {
        #[derive(zerocopy::FromBytes, zerocopy::KnownLayout, zerocopy::Immutable, zerocopy::Unaligned)]
        #[repr(C)]
        pub(in crate::rdf::contents) struct $raw {
            $( pub(in crate::rdf::contents) $field: layout!(@raw $ty), )*
        }
        const _: () = assert!(size_of::<$raw>() == $size && align_of::<$raw>() == 1);

        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            raw: &'a $raw,
        }

        impl<'a> $name<'a> {
            /// Size in bytes.
            pub const SIZE: usize = $size;
            /// The fields with their places.
            pub const FIELDS: &'static [$crate::rdf::contents::Field] = &[
                $( $crate::rdf::contents::Field {
                    labels: layout!(@labels $($conv)?),
                    hint: layout!(@hint $($hint)?),
                    unit: layout!(@unit $($($unit)?)?),
                    ..layout!(@field $raw, $field, $ty $(, $conv)?)
                }, )*
            ];

            #[allow(dead_code)]
            pub(in crate::rdf::contents) const fn new(raw: &'a $raw) -> Self {
                Self { raw }
            }

            #[allow(dead_code)]
            pub(in crate::rdf::contents) const fn raw(&self) -> &'a $raw {
                self.raw
            }

            $( layout! { @get [$(#[$field_meta])*] $field, $ty $(, $conv)? } )*
        }

        impl core::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };

    (@raw u8) => { u8 };
    (@raw u16) => { zerocopy::little_endian::U16 };
    (@raw u32) => { zerocopy::little_endian::U32 };
    (@raw u64) => { zerocopy::little_endian::U64 };
    (@raw i32) => { zerocopy::little_endian::I32 };
    (@raw i64) => { zerocopy::little_endian::I64 };
    (@raw f32) => { zerocopy::little_endian::F32 };
    (@raw hash) => { [u8; 16] };
    (@raw (text $n:literal)) => { [u8; $n] };
    (@raw (pad $n:literal)) => { [u8; $n] };
    (@raw (u16s $n:literal)) => { [zerocopy::little_endian::U16; $n] };
    (@raw (u32s $n:literal)) => { [zerocopy::little_endian::U32; $n] };
    (@raw (f32s $n:literal)) => { [zerocopy::little_endian::F32; $n] };

    (@kind (text $n:literal)) => { ($n, 1, $crate::rdf::contents::layout::Kind::Text) };
    (@kind (pad $n:literal)) => { ($n, 1, $crate::rdf::contents::layout::Kind::Padding) };
    (@kind (u16s $n:literal)) => { (2, $n, $crate::rdf::contents::layout::Kind::Unsigned) };
    (@kind (u32s $n:literal)) => { (4, $n, $crate::rdf::contents::layout::Kind::Unsigned) };
    (@kind (f32s $n:literal)) => { (4, $n, $crate::rdf::contents::layout::Kind::Float) };
    (@kind hash) => { (16, 1, $crate::rdf::contents::layout::Kind::Hash) };
    (@kind i32) => { (4, 1, $crate::rdf::contents::layout::Kind::Signed) };
    (@kind i64) => { (8, 1, $crate::rdf::contents::layout::Kind::Signed) };
    (@kind f32) => { (4, 1, $crate::rdf::contents::layout::Kind::Float) };
    (@kind $ty:ident) => { (size_of::<$ty>(), 1, $crate::rdf::contents::layout::Kind::Unsigned) };

    (@names) => { None };
    (@names $conv:ident) => { $conv::NAME_OF };

    (@labels) => { None };
    (@labels $conv:ident) => { $conv::LABELS };

    (@hint) => { $crate::record::Hint::None };
    (@hint $hint:ident) => { $crate::record::Hint::$hint };

    (@unit) => { None };
    (@unit $unit:literal) => { Some($unit) };

    (@field $raw:ident, $field:ident, $ty:tt $(, $conv:ident)?) => {{
        let (width, count, kind) = layout!(@kind $ty);
        let offset = core::mem::offset_of!($raw, $field);
        let name_of = layout!(@names $($conv)?);
        let (name, hint) = (stringify!($field), $crate::record::Hint::None);
        $crate::rdf::contents::Field { name, offset, width, count, kind, name_of, labels: None, hint, unit: None }
    }};

    (@get [$($meta:tt)*] $field:ident, (pad $n:literal)) => {};
    (@get [$($meta:tt)*] $field:ident, (text $n:literal)) => {
        $($meta)*
        pub fn $field(&self) -> $crate::rdf::contents::FixedText<'a> {
            $crate::rdf::contents::FixedText::new(&self.raw.$field)
        }
    };
    (@get [$($meta:tt)*] $field:ident, (u16s $n:literal)) => {
        $($meta)*
        pub fn $field(&self) -> impl ExactSizeIterator<Item = u16> + Clone + use<'a> {
            self.raw.$field.iter().map(|number| number.get())
        }
    };
    (@get [$($meta:tt)*] $field:ident, (u32s $n:literal)) => {
        $($meta)*
        pub fn $field(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
            self.raw.$field.iter().map(|number| number.get())
        }
    };
    (@get [$($meta:tt)*] $field:ident, hash) => {
        $($meta)*
        pub const fn $field(&self) -> $crate::rdf::contents::Hash128 {
            $crate::rdf::contents::Hash128::from_stored(self.raw.$field)
        }
    };
    (@get [$($meta:tt)*] $field:ident, u8, $conv:ident) => {
        $($meta)*
        pub const fn $field(&self) -> $conv {
            $conv::from_stored(self.raw.$field)
        }
    };
    (@get [$($meta:tt)*] $field:ident, $ty:ident, $conv:ident) => {
        $($meta)*
        pub const fn $field(&self) -> $conv {
            $conv::from_stored(self.raw.$field.get())
        }
    };
    (@get [$($meta:tt)*] $field:ident, u8) => {
        $($meta)*
        pub const fn $field(&self) -> u8 {
            self.raw.$field
        }
    };
    (@get [$($meta:tt)*] $field:ident, $ty:ident) => {
        $($meta)*
        pub const fn $field(&self) -> $ty {
            self.raw.$field.get()
        }
    };
}

/// Defines a list of values of a file: an enum that keeps the numbers it does not know.
macro_rules! values {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $ty:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $number:literal $text:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!($text, ": ", stringify!($number), ".")]
                $(#[$variant_meta])*
                $variant,
            )*
            /// A number that is not in the list.
            Other($ty),
        }

        impl $name {
            /// The value that `number` stands for.
            #[inline]
            pub const fn from_stored(number: $ty) -> Self {
                match number {
                    $( $number => Self::$variant, )*
                    other => Self::Other(other),
                }
            }

            /// The number as stored.
            pub const fn number(self) -> $ty {
                match self {
                    $( Self::$variant => $number, )*
                    Self::Other(number) => number,
                }
            }

            /// The name; `None` if the number is not in the list.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $( Self::$variant => Some($text), )*
                    Self::Other(_) => None,
                }
            }

            fn name_of(number: u64) -> Option<&'static str> {
                $ty::try_from(number).ok().and_then(|number| Self::from_stored(number).name())
            }

            fn each_label(each: &mut dyn FnMut(&dyn core::fmt::Display, i128, i128)) {
                $( each(&$text, $number, $number); )*
            }

            #[allow(dead_code)]
            pub(in crate::rdf::contents) const NAME_OF: Option<fn(u64) -> Option<&'static str>> =
                Some(Self::name_of);
            #[allow(dead_code)]
            pub(in crate::rdf::contents) const LABELS: Option<$crate::record::EachLabel<'static>> =
                Some(&Self::each_label);
        }

        impl $crate::rdf::contents::tell::Said for $name {
            const KIND: $crate::record::Kind = $crate::record::Kind::Unsigned { bits: $ty::BITS };
            const HINT: $crate::record::Hint = $crate::record::Hint::Label;
            const LABELS: Option<$crate::record::EachLabel<'static>> = Self::LABELS;

            #[inline(always)]
            fn say(self, slot: $crate::record::Slot, to: &mut $crate::record::Any<'_>) {
                $crate::record::Listener::unsigned(to, slot, self.number().into());
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => core::fmt::Display::fmt(&self.number(), f),
                }
            }
        }
    };
}

pub(in crate::rdf::contents) use {layout, values};

#[cfg(test)]
mod tests {
    use super::super::PciId;
    use super::*;
    use std::string::ToString;

    #[test]
    fn hashes_print_the_upper_half_first() {
        let hash = Hash128::new(0x0011, 0xff00_0000_0000_0001);
        assert_eq!(hash.to_string(), "0000000000000011ff00000000000001");
        assert_eq!((hash.upper(), hash.lower()), (0x11, 0xff00_0000_0000_0001));
        assert_eq!(Hash128::from_stored(hash.value().to_le_bytes()), hash);
    }

    #[test]
    fn a_place_on_the_bus_is_three_bytes() {
        let pci = PciId::from_stored(0x000c_0201);
        assert_eq!((pci.bus(), pci.device(), pci.function()), (12, 2, 1));
        assert_eq!(pci.to_string(), "0c:02.1");
    }
}
