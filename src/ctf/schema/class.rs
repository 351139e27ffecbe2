use super::name::Name;
use super::node::{BIG, Kind, NONE, Node, REVERSED, role};
use super::schema::Schema;
use crate::byte_order::ByteOrder;

/// The kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FieldKind {
    /// Bits without a further meaning.
    BitArray,
    /// Bits, ranges of which are flags.
    BitMap,
    /// True if any bit is set.
    Boolean,
    /// An unsigned integer, of fixed or of variable length.
    Unsigned,
    /// A signed integer, of fixed or of variable length.
    Signed,
    /// A floating-point number.
    Float,
    /// Text.
    String,
    /// Bytes.
    Blob,
    /// Named members.
    Structure,
    /// Elements of one class.
    Array,
    /// A field that may be absent.
    Optional,
    /// One of several fields.
    Variant,
}

/// The encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
// As large as what a `Value` of another kind has in its place: or values are written in parts and read as a whole, which
// stalls.
#[repr(u64)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, big-endian.
    Utf16Be,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-32, big-endian.
    Utf32Be,
    /// UTF-32, little-endian.
    Utf32Le,
}

impl Encoding {
    pub(crate) const ALL: [(Self, &'static str); 5] = [
        (Self::Utf8, "utf-8"),
        (Self::Utf16Be, "utf-16be"),
        (Self::Utf16Le, "utf-16le"),
        (Self::Utf32Be, "utf-32be"),
        (Self::Utf32Le, "utf-32le"),
    ];

    /// The name in CTF 2.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(encoding, _)| *encoding == self).map_or("utf-8", |(_, name)| name)
    }

    #[allow(clippy::as_conversions)] // There are few.
    pub(crate) const fn number(self) -> u16 {
        self as u16
    }

    pub(crate) const fn from_number(number: u16) -> Self {
        match number {
            1 => Self::Utf16Be,
            2 => Self::Utf16Le,
            3 => Self::Utf32Be,
            4 => Self::Utf32Le,
            _ => Self::Utf8,
        }
    }

    /// The size of a code unit in bytes: 1, 2 or 4.
    pub const fn unit(self) -> usize {
        match self {
            Self::Utf8 => 1,
            Self::Utf16Be | Self::Utf16Le => 2,
            Self::Utf32Be | Self::Utf32Le => 4,
        }
    }
}

impl Node {
    pub(crate) const fn set_base(&mut self, base: u8) {
        let code = match base {
            2 => 1,
            8 => 2,
            16 => 3,
            _ => 0,
        };
        self.align = (self.align & 0x3f) | code << 6;
    }

    #[inline(always)]
    pub(crate) const fn encoding(&self) -> Encoding {
        Encoding::from_number(self.roles >> role::ENCODING_SHIFT)
    }
}

/// A field class: what a field is and how it is stored.
#[derive(Clone, Copy)]
pub struct FieldClass<'a, 's> {
    schema: &'s Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a, 's> FieldClass<'a, 's> {
    #[inline(always)]
    pub(crate) fn new(schema: &'s Schema<'a, 's>, index: u32) -> Self {
        Self { schema, index }
    }

    /// The class at `index`, unless that is no node.
    pub(super) fn some(schema: &'s Schema<'a, 's>, index: u32) -> Option<Self> {
        (index != NONE).then_some(Self { schema, index })
    }

    #[inline]
    pub(crate) fn node(&self) -> &'s Node {
        self.schema.nodes.get(self.index)
    }

    /// A number that no other field class of the schema has: for tables of one's own.
    #[inline]
    pub fn key(&self) -> u32 {
        self.index
    }

    /// The kind of the fields of this class.
    pub fn kind(&self) -> FieldKind {
        match self.node().kind {
            Kind::BitMap => FieldKind::BitMap,
            Kind::Boolean => FieldKind::Boolean,
            Kind::Unsigned | Kind::VariableUnsigned => FieldKind::Unsigned,
            Kind::Signed | Kind::VariableSigned => FieldKind::Signed,
            Kind::Float => FieldKind::Float,
            Kind::NulString | Kind::StaticString | Kind::DynamicString => FieldKind::String,
            Kind::StaticBlob | Kind::DynamicBlob => FieldKind::Blob,
            Kind::Structure => FieldKind::Structure,
            Kind::StaticArray | Kind::DynamicArray => FieldKind::Array,
            Kind::Optional => FieldKind::Optional,
            Kind::Variant => FieldKind::Variant,
            _ => FieldKind::BitArray,
        }
    }

    /// The name, as a member of a structure.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The length in bits of a field of fixed length.
    pub fn bits(&self) -> Option<u32> {
        let node = self.node();
        node.kind.is_fixed_length().then_some(node.a)
    }

    /// The byte order of a field of fixed length.
    pub fn byte_order(&self) -> Option<ByteOrder> {
        let node = self.node();
        let order = if node.has(BIG) { ByteOrder::Big } else { ByteOrder::Little };
        node.kind.is_fixed_length().then_some(order)
    }

    /// True if the bits stand in the order that is not the usual one of the byte order.
    pub fn is_reversed(&self) -> bool {
        self.node().kind.is_fixed_length() && self.node().has(REVERSED)
    }

    /// The alignment.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub fn alignment(&self) -> u64 {
        1_u64.checked_shl(self.node().align_log2()).unwrap_or(0)
    }

    /// The base in which an integer is best shown: 2, 8, 10 or 16.
    #[doc(alias = "preferred-display-base")]
    #[inline]
    pub fn base(&self) -> u8 {
        match self.node().align >> 6 {
            1 => 2,
            2 => 8,
            3 => 16,
            _ => 10,
        }
    }

    /// The encoding of a string.
    pub fn encoding(&self) -> Option<Encoding> {
        matches!(self.kind(), FieldKind::String).then(|| self.node().encoding())
    }

    /// The media type of a BLOB; `application/octet-stream` if it has none.
    #[doc(alias = "media-type")]
    pub fn media_type(&self) -> Option<Name<'a>> {
        let node = self.node();
        matches!(self.kind(), FieldKind::Blob).then(|| self.schema.name_of(node.b)).flatten()
    }

    /// True if its integers or bits have names.
    #[inline]
    pub fn has_labels(&self) -> bool {
        let node = self.node();
        (node.kind.is_integer() || node.kind == Kind::BitMap) && node.b != super::node::NONE
    }

    /// The classes in it: members, the element, the content of an optional, the options' classes.
    pub fn children(&self) -> impl Iterator<Item = FieldClass<'a, 's>> + use<'a, 's> {
        let schema = self.schema;
        let nodes = schema.nodes;
        nodes.children(self.index).map(move |index| {
            let is_choice = nodes.get(index).kind == Kind::Choice;
            Self { schema, index: if is_choice { index.saturating_add(1) } else { index } }
        })
    }

    /// The name of a variant's option.
    pub fn option_name(&self, index: u32) -> Option<Name<'a>> {
        if self.node().kind != Kind::Variant {
            return None;
        }
        let at = usize::try_from(index).ok()?;
        self.schema.nodes.children(self.index).nth(at).and_then(|choice| self.schema.name_of(choice))
    }

    /// The names of an integer's value. This looks at all names that its class has: see [`Self::mappings`].
    #[doc(alias = "mappings")]
    pub fn labels(&self, value: i128) -> Labels<'a, 's> {
        Labels { mappings: self.mappings(), wanted: Wanted::Value(value) }
    }

    /// The names of the flags that are active in a bit map with these bits. This looks at all flags of its class.
    pub fn flags(&self, bits: u128) -> Labels<'a, 's> {
        Labels { mappings: self.mappings(), wanted: Wanted::Bits(bits) }
    }

    /// All names of values, or of flags, in the order in which the metadata lists them: to look up many values.
    pub fn mappings(&self) -> Mappings<'a, 's> {
        Mappings { schema: self.schema, next: self.has_labels().then_some(self.node().b) }
    }
}

impl core::fmt::Debug for FieldClass<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FieldClass").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
enum Wanted {
    Value(i128),
    Bits(u128),
}

/// The names of the values of a class.
#[derive(Clone, Debug)]
pub struct Mappings<'a, 's> {
    schema: &'s Schema<'a, 's>,
    next: Option<u32>,
}

impl Mappings<'_, '_> {
    /// A number that no others of the same schema have before they are iterated over; classes may share their names.
    pub fn key(&self) -> u32 {
        self.next.unwrap_or(NONE)
    }
}

impl<'a, 's> Iterator for Mappings<'a, 's> {
    type Item = Mapping<'a, 's>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next?;
        let label = self.schema.nodes.get(index);
        let is_last = label.has(super::node::LAST) || label.kind != Kind::Label;
        let next = index.checked_sub(label.size.saturating_add(1));
        self.next = if is_last { None } else { next };
        Some(Mapping { schema: self.schema, index })
    }
}

impl core::iter::FusedIterator for Mappings<'_, '_> {}

/// A name and the values that have it; of a flag, its bits.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a, 's> {
    schema: &'s Schema<'a, 's>,
    index: u32,
}

impl<'a, 's> Mapping<'a, 's> {
    /// The name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The first and the last value of each of its ranges.
    pub fn ranges(&self) -> impl Iterator<Item = (i128, i128)> + use<'s> {
        let (nodes, index) = (self.schema.nodes, self.index);
        let ranges = (1..=nodes.get(index).size).filter_map(move |at| index.checked_sub(at));
        ranges.map(move |at| nodes.get(at).ends())
    }
}

/// The names of a value, in the order in which the metadata lists them.
#[derive(Clone, Debug)]
pub struct Labels<'a, 's> {
    mappings: Mappings<'a, 's>,
    wanted: Wanted,
}

impl<'a> Iterator for Labels<'a, '_> {
    type Item = Name<'a>;

    fn next(&mut self) -> Option<Name<'a>> {
        let wanted = self.wanted;
        self.mappings.find(|mapping| mapping.ranges().any(|range| wanted.is_in(range)))?.name()
    }
}

impl core::iter::FusedIterator for Labels<'_, '_> {}

impl Wanted {
    fn is_in(self, (lo, hi): (i128, i128)) -> bool {
        match self {
            Self::Value(value) => lo <= value && value <= hi,
            Self::Bits(bits) => {
                // A flag is active if any of its bits is set.
                let Ok(lo) = u32::try_from(lo) else { return false };
                let above = u32::try_from(hi).ok().and_then(|hi| hi.checked_add(1));
                let below = above
                    .and_then(|above| 1_u128.checked_shl(above))
                    .map_or(u128::MAX, |bit| bit.wrapping_sub(1));
                let under = 1_u128.checked_shl(lo).map_or(u128::MAX, |bit| bit.wrapping_sub(1));
                bits & below & !under != 0
            }
        }
    }
}
