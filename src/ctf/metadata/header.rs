use super::options::ParseOptions;
use crate::byte_order::ByteOrder;
use crate::bytes::{Bytes, to_usize};
use crate::ctf::element::{
    CHECKSUM, CHECKSUM_SCHEME, COMPRESSION_SCHEME, CONTENT_SIZE, ENCRYPTION_SCHEME, HEADER_SIZE, MAGIC,
    PACKET_HEADER, TOTAL_SIZE, UUID, VERSION,
};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::grammar::{Located, Parsed, array, fail, finish};
use crate::layout::{LayoutField, LayoutValue};
use core::fmt;
use nom::{Parser, combinator::map};

/// The offsets of the fields of a header; each field ends at the start of the next one.
pub(super) mod at {
    pub(crate) const MAGIC: u64 = 0;
    pub(crate) const UUID: u64 = 4;
    pub(crate) const CHECKSUM: u64 = 20;
    pub(crate) const CONTENT_SIZE: u64 = 24;
    pub(crate) const TOTAL_SIZE: u64 = 28;
    pub(crate) const COMPRESSION_SCHEME: u64 = 32;
    pub(crate) const ENCRYPTION_SCHEME: u64 = 33;
    pub(crate) const CHECKSUM_SCHEME: u64 = 34;
    pub(crate) const MAJOR: u64 = 35;
    pub(crate) const MINOR: u64 = 36;
    /// The end of the header of version 1.8.
    pub(crate) const RESERVED: u64 = 37;
    pub(crate) const HEADER_SIZE: u64 = 40;
    /// The number of bytes that later versions may add.
    pub(crate) const MORE: u64 = 44;
}

/// The number that begins every metadata packet.
pub const MAGIC_NUMBER: u32 = 0x75d1_1d57;

/// Size of the header of version 1.8, in bytes.
pub(super) const SHORT: u32 = 37;
/// Size of the header of version 2, in bytes: the least, and the known part.
pub(super) const LONG: u32 = 44;
/// The byte that begins a fragment.
pub(super) const RECORD_SEPARATOR: u8 = 0x1e;

/// The byte order in which `bytes` are the magic number.
pub(super) const fn order_of_magic(bytes: [u8; 4]) -> Option<ByteOrder> {
    match u32::from_le_bytes(bytes) {
        MAGIC_NUMBER => Some(ByteOrder::Little),
        swapped if swapped.swap_bytes() == MAGIC_NUMBER => Some(ByteOrder::Big),
        _ => None,
    }
}

/// A size in bits, as packet headers state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bits(u32);

impl Bits {
    /// `bits` bits.
    pub const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// The number of bits.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number of whole bytes. Sizes that are no multiple of 8 do not get into a [`PacketHeader`].
    pub const fn bytes(self) -> u32 {
        self.0 / 8
    }

    /// Checks that it is a whole number of bytes.
    fn whole(self, offset: u64, element: Element) -> Result<Self> {
        let (value, of) = (self.0.into(), 8);
        if self.0.is_multiple_of(8) {
            Ok(self)
        } else {
            Err(Error::new(offset, element, ErrorKind::NotMultiple { value, of }))
        }
    }

    /// Checks that it lies between two others.
    fn within(self, min: Self, max: Self, offset: u64, element: Element) -> Result<Self> {
        let value = self.0.into();
        if self < min {
            return Err(Error::new(offset, element, ErrorKind::UnderLimit { value, limit: min.0.into() }));
        }
        if self > max {
            return Err(Error::new(offset, element, ErrorKind::OverLimit { value, limit: max.0.into() }));
        }
        Ok(self)
    }
}

/// The size of the header of version 1.8.
const SHORT_SIZE: Bits = Bits(SHORT * 8);
/// The least size of the header of version 2.
const LONG_SIZE: Bits = Bits(LONG * 8);

/// The UUID of a metadata stream, or of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The UUID of these bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes in the order in which they are written.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// True if all its bytes are zero, as producers leave it that have none.
    pub fn is_nil(&self) -> bool {
        self.0 == [0; 16]
    }
}

impl fmt::Display for Uuid {
    /// The hyphenated form in lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (byte, n) in self.0.iter().zip(0_u8..) {
            if matches!(n, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The properties that the first packet settles for the packets after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    order: ByteOrder,
    uuid: Uuid,
    /// Headers of version 2 have 37 bytes.
    short: bool,
    options: ParseOptions,
    /// A packet whose content the input cuts is read as far as it goes.
    keeps_cut: bool,
}

impl Profile {
    pub(super) const fn keeps_cut(&self) -> bool {
        self.keeps_cut
    }

    pub(super) const fn with_cut(self) -> Self {
        Self { keeps_cut: true, ..self }
    }

    pub(super) const fn order(&self) -> ByteOrder {
        self.order
    }
}

/// The header of a metadata packet, checked.
///
/// # Layout
/// See the [module](super). Sizes are in bits there, and in bytes here unless they are [`Bits`].
///
/// It holds that header ≤ content ≤ total, all of them whole bytes; whether the content is all there is for the
/// [`Packet`](super::Packet) to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    offset: u64,
    order: ByteOrder,
    fields: Fields,
    header_size: Bits,
}

/// The fields that all versions have, after the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields {
    uuid: Uuid,
    checksum: u32,
    content_size: Bits,
    total_size: Bits,
    major: u8,
    minor: u8,
}

impl PacketHeader {
    /// Reads the first header of a stream, which lies at the front of `data`.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if more of it is needed, and those of
    /// [`MetadataStream::parse`](super::MetadataStream::parse).
    pub fn parse(data: &[u8]) -> Result<Self> {
        Self::first(Bytes::new(data), ParseOptions::STRICT).map(|(header, _)| header)
    }

    /// The first header of a stream, and what it settles.
    pub(super) fn first(input: Bytes<'_>, options: ParseOptions) -> Result<(Self, Profile)> {
        let (order, fields) = Self::read_fields(input, None)?;
        let short = options.is_lenient() && fields.major == 2 && is_short(input, order, &fields);
        let profile = Profile { order, uuid: fields.uuid, short, options, keeps_cut: false };
        let header = Self::sized(input, order, fields, short)?;
        Ok((header, profile))
    }

    /// The header of a later packet, at the front of `input`.
    pub(super) fn next(input: Bytes<'_>, profile: &Profile) -> Result<Self> {
        let wanted = (!profile.options.is_lenient()).then_some(profile.order);
        let (order, fields) = Self::read_fields(input, wanted)?;
        let header = Self::sized(input, order, fields, profile.short)?;
        if fields.uuid != profile.uuid {
            let kind = ErrorKind::UuidMismatch { found: fields.uuid.0 };
            return Err(header.error(at::UUID, UUID, kind));
        }
        Ok(header)
    }

    /// The fields that do not depend on the header's size.
    #[inline]
    fn read_fields(mut input: Bytes<'_>, wanted: Option<ByteOrder>) -> Result<(ByteOrder, Fields)> {
        if input.len() < to_usize(SHORT) {
            return Err(input.truncated(PACKET_HEADER, SHORT.into()));
        }
        let start = input;
        let magic = *input.array::<4>(MAGIC)?;
        let Some(order) = order_of_magic(magic) else {
            return Err(start.error(MAGIC, ErrorKind::bad_magic(start.as_slice().iter().take(4))));
        };
        if wanted.is_some_and(|wanted| wanted != order) {
            return Err(start.error(MAGIC, ErrorKind::ByteOrderChanged));
        }
        let (fields, _) = finish(grammar(order).parse_complete(input))?;
        Ok((order, fields))
    }

    /// Checks the sizes, of which the header's comes first.
    #[inline]
    fn sized(input: Bytes<'_>, order: ByteOrder, fields: Fields, short: bool) -> Result<Self> {
        let mut header = Self { offset: input.offset(), order, fields, header_size: SHORT_SIZE };
        let position = |at: u64| input.offset().saturating_add(at);
        if fields.major == 2 && !short {
            let Some(size) = header_size(input, order) else {
                return Err(input.truncated(PACKET_HEADER, LONG.into()));
            };
            header.header_size = size
                .within(LONG_SIZE, Bits(u32::MAX), position(at::HEADER_SIZE), HEADER_SIZE)?
                .whole(position(at::HEADER_SIZE), HEADER_SIZE)?
                .within(LONG_SIZE, fields.content_size, position(at::HEADER_SIZE), HEADER_SIZE)?;
        }
        let content = fields.content_size.whole(position(at::CONTENT_SIZE), CONTENT_SIZE)?;
        let total = fields.total_size.whole(position(at::TOTAL_SIZE), TOTAL_SIZE)?;
        content.within(header.header_size, total, position(at::CONTENT_SIZE), CONTENT_SIZE)?;
        Ok(header)
    }

    #[cold]
    fn error(&self, position: u64, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset.saturating_add(position), element, kind)
    }

    /// Offset of the header in the input.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The byte order of its integers.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The UUID of the metadata stream; it is not the trace's, which the preamble states.
    pub const fn uuid(&self) -> Uuid {
        self.fields.uuid
    }

    /// The checksum as stored. Its meaning is not defined; it must be ignored.
    pub const fn checksum(&self) -> u32 {
        self.fields.checksum
    }

    /// Size of header and content, as stored.
    pub const fn content_size(&self) -> Bits {
        self.fields.content_size
    }

    /// Size of header, content and padding, as stored.
    pub const fn total_size(&self) -> Bits {
        self.fields.total_size
    }

    /// Size of the header: as stored, or that of 37 bytes if it states none.
    pub const fn header_size(&self) -> Bits {
        self.header_size
    }

    /// Major version: 1 or 2.
    pub const fn major(&self) -> u8 {
        self.fields.major
    }

    /// Minor version: 8 if the major one is 1.
    pub const fn minor(&self) -> u8 {
        self.fields.minor
    }

    /// The fields, as they lie in the input.
    #[doc(alias = "magic")]
    #[doc(alias = "uuid")]
    #[doc(alias = "checksum")]
    #[doc(alias = "content_size")]
    #[doc(alias = "packet_size")]
    #[doc(alias = "compression_scheme")]
    #[doc(alias = "encryption_scheme")]
    #[doc(alias = "checksum_scheme")]
    #[doc(alias = "major")]
    #[doc(alias = "minor")]
    #[doc(alias = "header_size")]
    pub fn fields(&self) -> impl Iterator<Item = LayoutField<'static>> + Clone + use<> {
        let order = match self.order {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        };
        let none = LayoutValue::Named(0, "none");
        let size = |bits: Bits| LayoutValue::Bits(bits.get());
        let table = [
            ("magic", "magic", at::MAGIC, LayoutValue::Name(order)),
            ("UUID", "uuid", at::UUID, LayoutValue::Uuid(self.fields.uuid.0)),
            ("checksum", "checksum", at::CHECKSUM, LayoutValue::Hex(self.checksum().into())),
            ("content size", "content_size", at::CONTENT_SIZE, size(self.content_size())),
            ("total size", "packet_size", at::TOTAL_SIZE, size(self.total_size())),
            ("compression", "compression_scheme", at::COMPRESSION_SCHEME, none),
            ("encryption", "encryption_scheme", at::ENCRYPTION_SCHEME, none),
            ("checksum scheme", "checksum_scheme", at::CHECKSUM_SCHEME, none),
            ("major", "major", at::MAJOR, LayoutValue::Number(self.major().into())),
            ("minor", "minor", at::MINOR, LayoutValue::Number(self.minor().into())),
            ("reserved", "", at::RESERVED, LayoutValue::Skipped),
            ("header size", "header_size", at::HEADER_SIZE, size(self.header_size)),
            ("more header", "", at::MORE, LayoutValue::Skipped),
        ];
        let (offset, end) = (self.offset, u64::from(self.header_bytes()));
        let ends = table.map(|(.., at, _)| at).into_iter().skip(1).chain([end]);
        table.into_iter().zip(ends).filter_map(move |((name, document_name, at, value), next)| {
            let size = next.min(end).checked_sub(at).filter(|&size| size > 0)?;
            Some(LayoutField { name, document_name, offset: offset.saturating_add(at), size, value })
        })
    }

    /// Bytes of the header.
    pub const fn header_bytes(&self) -> u32 {
        self.header_size.bytes()
    }

    /// Bytes of the content alone.
    pub const fn content_bytes(&self) -> u32 {
        self.fields.content_size.bytes().saturating_sub(self.header_size.bytes())
    }

    /// Bytes of the whole packet.
    pub const fn total_bytes(&self) -> u32 {
        self.fields.total_size.bytes()
    }

    /// Bytes of padding after the content, as stated.
    pub const fn padding_bytes(&self) -> u32 {
        self.fields.total_size.bytes().saturating_sub(self.fields.content_size.bytes())
    }
}

/// The fields after the magic up to byte 37; of these the schemes and the version are checked.
fn grammar<'a>(order: ByteOrder) -> impl Parser<Bytes<'a>, Output = Fields, Error = Located> {
    let bits = move |element| map(uint32(order, element), Bits);
    let schemes = (scheme(COMPRESSION_SCHEME), scheme(ENCRYPTION_SCHEME), scheme(CHECKSUM_SCHEME));
    map(
        (array::<16>(UUID), uint32(order, CHECKSUM), bits(CONTENT_SIZE), bits(TOTAL_SIZE), schemes, version),
        |(uuid, checksum, content_size, total_size, _, (major, minor))| Fields {
            uuid: Uuid(*uuid),
            checksum,
            content_size,
            total_size,
            major,
            minor,
        },
    )
}

fn uint32<'a>(order: ByteOrder, element: Element) -> impl Parser<Bytes<'a>, Output = u32, Error = Located> {
    map(array::<4>(element), move |bytes| order.u32(*bytes))
}

/// A scheme that must be 0, none.
fn scheme<'a>(element: Element) -> impl Fn(Bytes<'a>) -> Parsed<'a, ()> {
    move |mut input| {
        let start = input;
        match input.array(element) {
            Ok([0]) => Ok((input, ())),
            Ok([value]) => fail(start.error(element, ErrorKind::Unsupported { value: (*value).into() })),
            Err(error) => fail(error),
        }
    }
}

/// Major and minor version.
fn version(input: Bytes<'_>) -> Parsed<'_, (u8, u8)> {
    match array::<2>(VERSION)(input)? {
        (rest, &[major @ 2, minor] | &[major @ 1, minor @ 8]) => Ok((rest, (major, minor))),
        (_, &[major, minor]) => {
            let kind = ErrorKind::UnsupportedRevision { major: major.into(), minor: minor.into() };
            fail(input.error(VERSION, kind))
        }
    }
}

/// The header size of version 2, if the input reaches so far.
fn header_size(input: Bytes<'_>, order: ByteOrder) -> Option<Bits> {
    input.as_slice().get(40..)?.first_chunk().map(|bytes| Bits(order.u32(*bytes)))
}

/// True if a header that claims version 2 ends at byte 37: see [`ParseOptions::LENIENT`].
fn is_short(input: Bytes<'_>, order: ByteOrder, fields: &Fields) -> bool {
    let plausible = header_size(input, order)
        .is_some_and(|size| size >= LONG_SIZE && size.0.is_multiple_of(8) && size <= fields.content_size);
    !plausible && input.as_slice().get(to_usize(SHORT)) == Some(&RECORD_SEPARATOR)
}
