//! The ways in which an element fails.

#[cfg(doc)]
use super::Element;
use core::fmt;

/// The way in which an element failed.
///
/// One list for all formats: a kind says what is wrong, the [`Element`] says with what.
/// [`ErrorKind::code`] gives each a stable name for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends inside the element.
    UnexpectedEnd {
        /// The number of bytes that are needed at least.
        needed: u64,
    },
    /// A range that the input claims does not lie in it.
    OutOfBounds {
        /// The claimed offset of its first byte.
        start: u64,
        /// The claimed size in bytes.
        size: u64,
    },
    /// An offset or a size is negative.
    Negative {
        /// The value as stored.
        value: i64,
    },
    /// The element does not begin with its magic bytes.
    BadMagic {
        /// The bytes found instead, padded with zeros.
        found: [u8; 8],
    },
    /// The magic is an older one that is still read.
    LegacyMagic,
    /// A version that is not read.
    UnsupportedVersion {
        /// The version found.
        found: u64,
        /// The newest version that is read.
        supported: u64,
    },
    /// A version of two numbers that is not read, or not known.
    UnsupportedRevision {
        /// The major version found.
        major: u64,
        /// The minor version found.
        minor: u64,
    },
    /// A version of three numbers that is not read.
    UnsupportedRelease {
        /// The major version found.
        major: u32,
        /// The minor version found.
        minor: u32,
        /// The patch number found.
        patch: u32,
    },
    /// The value is defined or reserved, but not supported here.
    Unsupported {
        /// The value found.
        value: u64,
    },
    /// The bytes do not have the form of the element.
    Malformed,
    /// The value is not allowed.
    Invalid {
        /// The value found.
        value: u64,
    },
    /// A reserved field is not zero.
    ReservedNotZero {
        /// The value found.
        value: u64,
    },
    /// A size is not a multiple of its unit.
    NotMultiple {
        /// The value found.
        value: u64,
        /// The number of which it should be a multiple.
        of: u64,
    },
    /// The value is smaller than is allowed here.
    UnderLimit {
        /// The value found.
        value: u64,
        /// The smallest that is allowed.
        limit: u64,
    },
    /// Two sizes that should be equal are not.
    SizeMismatch {
        /// The size that the input states.
        stated: u64,
        /// The size that was found.
        found: u64,
    },
    /// A value that the input states differs from what it describes.
    Mismatch {
        /// The value stated.
        stated: u64,
        /// The value found.
        found: u64,
    },
    /// A value is not greater than the one before it (or not even equal to it), although values must ascend.
    NotAscending {
        /// The value before it.
        previous: u64,
        /// The value found.
        value: u64,
    },
    /// A value lies outside the range that the input states for it.
    OutsideRange {
        /// The smallest value allowed.
        start: u64,
        /// The end of the range, which is not allowed.
        end: u64,
    },
    /// A value is too large to be expressed in its unit.
    Overflow {
        /// The value found.
        value: u64,
    },
    /// A checksum differs from that of the bytes it covers.
    ChecksumMismatch {
        /// The checksum in the input.
        stored: u64,
        /// The checksum of the bytes.
        computed: u64,
    },
    /// A count is larger than the rest of the input can hold.
    CountTooLarge {
        /// The count claimed.
        claimed: u64,
        /// The number of elements that fit at most.
        max: u64,
    },
    /// A variable-length integer does not fit its type.
    IntegerTooWide {
        /// The width of the type in bits.
        bits: u32,
    },
    /// Text is not valid UTF-8.
    NotUtf8,
    /// Bytes follow the NUL that ends a text.
    BytesAfterNul,
    /// The range overlaps another one.
    Overlap {
        /// Offset of the first byte of the other range.
        start: u64,
        /// Size of the other range in bytes.
        size: u64,
    },
    /// Bytes follow the end of the element.
    TrailingBytes {
        /// The number of them.
        count: u64,
    },
    /// A syntax error in text.
    Unexpected {
        /// The byte found.
        byte: u8,
        /// The text that should stand there.
        expected: &'static str,
    },
    /// Nested deeper than the limit.
    TooDeep {
        /// The deepest level allowed.
        limit: u32,
    },
    /// Storage that the caller lent, or a table of fixed capacity, is too small.
    CapacityExceeded {
        /// The capacity.
        capacity: u64,
        /// The capacity needed, at least.
        needed: u64,
    },
    /// The value is larger than is allowed here.
    OverLimit {
        /// The value found.
        value: u64,
        /// The largest that is allowed.
        limit: u64,
    },
    /// Probabilities or code lengths do not sum to one.
    UnevenDistribution {
        /// The part that is left over or missing.
        left: u64,
    },
    /// A table is to be used again, but there was none before.
    MissingTable,
    /// A stream of bits has no end mark, or holds more or fewer bits than its content takes.
    BadBitStream,
    /// A reference goes back beyond the first byte that can be referred to.
    OffsetTooFar {
        /// The distance it goes back.
        offset: u64,
        /// The number of bytes.
        available: u64,
    },
    /// The content can only be read with a dictionary.
    DictionaryNeeded {
        /// The number that names it.
        id: u64,
    },
    /// No decoder for this is available.
    NoDecoder,
    /// The byte order is not that of what came before.
    ByteOrderChanged,
    /// The UUID is not that of what came before.
    UuidMismatch {
        /// The UUID found.
        found: [u8; 16],
    },
    /// Something that must be here is not.
    Missing,
    /// Something that must occur once occurs again.
    Repeated,
    /// An element contradicts an earlier one about the same thing.
    Contradictory,
    /// An element that is where it must not be.
    Misplaced,
    /// An element that is used, but was not declared before.
    Undeclared,
    /// A number is not the one that follows the number before.
    OutOfSequence {
        /// The number found.
        found: u64,
        /// The number that would follow.
        expected: u64,
    },
    /// The element crosses a boundary that it must not cross.
    CrossesBoundary {
        /// Offset of the boundary.
        boundary: u64,
    },
    /// Bytes that cannot be read.
    Lost {
        /// The number of bytes.
        size: u64,
    },
    /// An unknown extension that changes how the rest is read.
    UnsupportedExtension,
    /// No class has this identifier.
    NoSuchClass {
        /// The identifier found.
        id: u64,
    },
    /// A selector has a value that selects nothing.
    NoSuchOption {
        /// The value; as two's complement if it is signed.
        value: u64,
    },
    /// The writer discarded some because it had no room.
    Discarded {
        /// The number of them.
        count: u64,
    },
    /// An element that takes no bits, so there could be any number of them.
    Empty,
    /// A checksum matches the bytes that had been written when it was computed; more were written later.
    StaleChecksum,
}

impl ErrorKind {
    /// The error for something that begins with other bytes than its magic ones.
    pub(crate) fn bad_magic<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> Self {
        let mut found = [0; 8];
        found.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Self::BadMagic { found }
    }

    /// A stable name in kebab case, as `traceglass check --json` prints it in `what`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnexpectedEnd { .. } => "unexpected-end",
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::Negative { .. } => "negative",
            Self::BadMagic { .. } => "bad-magic",
            Self::LegacyMagic => "legacy-magic",
            Self::UnsupportedVersion { .. } => "unsupported-version",
            Self::UnsupportedRevision { .. } => "unsupported-revision",
            Self::UnsupportedRelease { .. } => "unsupported-release",
            Self::Unsupported { .. } => "unsupported",
            Self::Malformed => "malformed",
            Self::Invalid { .. } => "invalid",
            Self::ReservedNotZero { .. } => "reserved-not-zero",
            Self::NotMultiple { .. } => "not-multiple",
            Self::UnderLimit { .. } => "under-limit",
            Self::OverLimit { .. } => "over-limit",
            Self::SizeMismatch { .. } => "size-mismatch",
            Self::Mismatch { .. } => "mismatch",
            Self::NotAscending { .. } => "not-ascending",
            Self::OutsideRange { .. } => "outside-range",
            Self::Overflow { .. } => "overflow",
            Self::ChecksumMismatch { .. } => "checksum-mismatch",
            Self::CountTooLarge { .. } => "count-too-large",
            Self::IntegerTooWide { .. } => "integer-too-wide",
            Self::NotUtf8 => "not-utf8",
            Self::BytesAfterNul => "bytes-after-nul",
            Self::Overlap { .. } => "overlap",
            Self::TrailingBytes { .. } => "trailing-bytes",
            Self::Unexpected { .. } => "unexpected",
            Self::TooDeep { .. } => "too-deep",
            Self::CapacityExceeded { .. } => "capacity-exceeded",
            Self::UnevenDistribution { .. } => "uneven-distribution",
            Self::MissingTable => "missing-table",
            Self::BadBitStream => "bad-bit-stream",
            Self::OffsetTooFar { .. } => "offset-too-far",
            Self::DictionaryNeeded { .. } => "dictionary-needed",
            Self::NoDecoder => "no-decoder",
            Self::ByteOrderChanged => "byte-order-changed",
            Self::UuidMismatch { .. } => "uuid-mismatch",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Contradictory => "contradictory",
            Self::Misplaced => "misplaced",
            Self::Undeclared => "undeclared",
            Self::OutOfSequence { .. } => "out-of-sequence",
            Self::CrossesBoundary { .. } => "crosses-boundary",
            Self::Lost { .. } => "lost",
            Self::UnsupportedExtension => "unsupported-extension",
            Self::NoSuchClass { .. } => "no-such-class",
            Self::NoSuchOption { .. } => "no-such-option",
            Self::Discarded { .. } => "discarded",
            Self::Empty => "empty",
            Self::StaleChecksum => "stale-checksum",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnexpectedEnd { needed: 1 } => f.write_str("input ends, 1 more byte needed"),
            Self::UnexpectedEnd { needed } => write!(f, "input ends, {needed} more bytes needed"),
            Self::OutOfBounds { start, size } => {
                write!(f, "claims {size} bytes from {start:#x}, which are not all in the input")
            }
            Self::Negative { value } => write!(f, "negative: {value}"),
            Self::BadMagic { found } => write!(f, "begins with \"{}\"", found.escape_ascii()),
            Self::LegacyMagic => f.write_str("legacy magic"),
            Self::UnsupportedVersion { found, supported } => {
                write!(f, "version {found}, only {supported} is read")
            }
            Self::UnsupportedRevision { major, minor } => write!(f, "version {major}.{minor} is not known"),
            Self::UnsupportedRelease { major, minor, patch } => {
                write!(f, "version {major}.{minor}.{patch} is not read")
            }
            Self::Malformed => f.write_str("malformed"),
            Self::Unsupported { value } => write!(f, "{value} is not supported"),
            Self::Invalid { value } => write!(f, "{value} is not allowed"),
            Self::ReservedNotZero { value } => write!(f, "reserved, yet {value:#x} instead of 0"),
            Self::NotMultiple { value, of } => write!(f, "{value} is not a multiple of {of}"),
            Self::UnderLimit { value, limit } => write!(f, "{value}, though at least {limit} is needed"),
            Self::OverLimit { value, limit } => write!(f, "{value}, though at most {limit} is allowed"),
            Self::SizeMismatch { stated, found } => {
                write!(f, "stated as {stated} bytes, found to be {found}")
            }
            Self::Mismatch { stated, found } => write!(f, "stated as {stated}, found to be {found}"),
            Self::NotAscending { previous, value } => write!(f, "{value} after {previous}"),
            Self::OutsideRange { start, end } => write!(f, "not in {start}..{end}"),
            Self::Overflow { value } => write!(f, "{value} is too large for its unit"),
            Self::ChecksumMismatch { stored, computed } => {
                write!(f, "stored as {stored:#x}, computed as {computed:#x}")
            }
            Self::CountTooLarge { claimed, max } => {
                write!(f, "count {claimed}, though at most {max} fit in what follows")
            }
            Self::IntegerTooWide { bits } => write!(f, "integer wider than {bits} bits"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::BytesAfterNul => f.write_str("bytes after the NUL that ends it"),
            Self::Overlap { start, size } => write!(f, "overlaps the {size} bytes from {start:#x}"),
            Self::TrailingBytes { count: 1 } => f.write_str("1 byte follows its end"),
            Self::TrailingBytes { count } => write!(f, "{count} bytes follow its end"),
            Self::Unexpected { byte, expected } => {
                write!(f, "found '{}', expected {expected}", byte.escape_ascii())
            }
            Self::TooDeep { limit } => write!(f, "nested deeper than {limit} levels"),
            Self::CapacityExceeded { capacity, needed } => {
                write!(f, "capacity is {capacity}, at least {needed} needed")
            }
            Self::UnevenDistribution { left } => {
                write!(f, "does not sum to one, {left} over or missing")
            }
            Self::MissingTable => f.write_str("to be used again, but none precedes"),
            Self::BadBitStream => f.write_str("bits do not end where their content does"),
            Self::OffsetTooFar { offset, available } => {
                write!(f, "refers {offset} bytes back, where only {available} are")
            }
            Self::DictionaryNeeded { id } => write!(f, "can only be read with dictionary {id}"),
            Self::NoDecoder => f.write_str("no decoder for it in this build"),
            Self::ByteOrderChanged => f.write_str("byte order changes"),
            Self::UuidMismatch { found } => {
                f.write_str("another UUID: ")?;
                found.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Missing => f.write_str("missing"),
            Self::Repeated => f.write_str("occurs again"),
            Self::Contradictory => f.write_str("contradicts what was said before"),
            Self::Misplaced => f.write_str("misplaced"),
            Self::Undeclared => f.write_str("not declared before it is used"),
            Self::OutOfSequence { found, expected } => {
                write!(f, "number {found} where {expected} should follow")
            }
            Self::CrossesBoundary { boundary } => write!(f, "does not end before {boundary:#x}"),
            Self::Lost { size: 1 } => f.write_str("1 byte cannot be read"),
            Self::Lost { size } => write!(f, "{size} bytes cannot be read"),
            Self::UnsupportedExtension => f.write_str("needed to read what follows, and not known"),
            Self::NoSuchClass { id } => write!(f, "no class has the identifier {id}"),
            Self::NoSuchOption { value } => write!(f, "{value} selects no option"),
            Self::Discarded { count } => write!(f, "{count} missing before"),
            Self::Empty => f.write_str("takes no bits"),
            Self::StaleChecksum => f.write_str("computed before the last bytes were written"),
        }
    }
}
