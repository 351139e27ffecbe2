//! What went wrong, in which element, and at which byte.
//!
//! The formats share one error type, so that a program that reads several of them has one `match`.
//! An [`ErrorKind`] says *how* an element failed and carries the values that disagree; an
//! [`Element`] says *which* noun of the format's document it was.

use core::fmt;

/// A result whose error is located.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error with the byte offset and the name of what was being read.
///
/// It is `Copy`, at most 40 bytes, and the same type under every feature.
///
/// ```
/// use traceglass::{Element, Error, ErrorKind};
///
/// const PAYLOAD: Element = Element::new(&"RTC frame payload");
/// let error = Error::new(0x1f40, PAYLOAD, ErrorKind::UnexpectedEnd { needed: 4 });
/// assert_eq!(error.to_string(), "RTC frame payload at 0x1f40: input ends, 4 more bytes needed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Error {
    offset: u64,
    kind: ErrorKind,
    element: Element,
}

// A result of a small view must not grow by much.
const _: () = assert!(size_of::<Error>() <= 40);

impl Error {
    /// Makes an error for `element`, which stands at `offset`.
    pub const fn new(offset: u64, element: Element, kind: ErrorKind) -> Self {
        Self { offset, kind, element }
    }

    /// Offset in bytes from the start of the input.
    ///
    /// It is where the element that failed begins; for a claim (an offset or a size that the input states) it is
    /// where the claim stands, not where it points.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// How it failed, with the values that disagree.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What was being read.
    pub const fn element(&self) -> Element {
        self.element
    }

    /// Whether the input merely ends too early: more bytes may mend it.
    pub const fn is_truncation(&self) -> bool {
        matches!(self.kind, ErrorKind::UnexpectedEnd { .. })
    }

    /// The same error, seen from an input in which this one begins at `base`.
    #[must_use]
    pub const fn rebased(self, base: u64) -> Self {
        Self { offset: self.offset.saturating_add(base), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}: {}", self.element, self.offset, self.kind)
    }
}

impl core::error::Error for Error {}

/// The name of a part of a format, such as "RDF chunk index".
///
/// The constants live in the module of the format that owns the noun.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
// A thin pointer: it keeps `Error` at 40 bytes with two 64-bit values in its kind.
pub struct Element(&'static &'static str);

impl Element {
    /// Names an element.
    pub const fn new(name: &'static &'static str) -> Self {
        Self(name)
    }

    /// The name, as it appears in messages.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Element {}

impl core::hash::Hash for Element {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name(), f)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an element failed.
///
/// One list for all formats: a kind says what is wrong, the [`Element`] says with what.
/// [`ErrorKind::code`] gives each a stable name for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends inside the element.
    UnexpectedEnd {
        /// How many more bytes are needed at least.
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
    /// The version is not one that is read.
    UnsupportedVersion {
        /// The version found.
        found: u64,
        /// The newest version that is read.
        supported: u64,
    },
    /// The version, of two numbers, is not one that is read, or not one that is known.
    UnsupportedRevision {
        /// The major version found.
        major: u64,
        /// The minor version found.
        minor: u64,
    },
    /// The value is defined, or may be some day, but is not read here.
    Unsupported {
        /// The value found.
        value: u64,
    },
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
        /// What it should be a multiple of.
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
    /// A value is less than the one before it, though they should ascend.
    NotAscending {
        /// The value before it.
        previous: u64,
        /// The value found.
        value: u64,
    },
    /// A value lies outside the range that the input states for it.
    OutsideRange {
        /// The least value allowed.
        start: u64,
        /// The least value above the range.
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
        /// How many elements fit at most.
        most: u64,
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
    /// Bytes follow where the element should end.
    TrailingBytes {
        /// How many.
        count: u64,
    },
    /// A syntax error in text.
    Unexpected {
        /// The byte found.
        byte: u8,
        /// What should stand there.
        expected: &'static str,
    },
    /// Nested deeper than is read.
    TooDeep {
        /// The deepest level that is read.
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
    /// Probabilities or code lengths do not share out all there is to share.
    UnevenDistribution {
        /// How much is left over or missing.
        left: u64,
    },
    /// A table is to be used again that has not been given.
    MissingTable,
    /// A stream of bits has no end mark, or holds more or fewer bits than its content takes.
    BadBitStream,
    /// A reference goes back beyond the first byte that can be referred to.
    OffsetTooFar {
        /// How far it goes back.
        offset: u64,
        /// How many bytes there are.
        available: u64,
    },
    /// The content is larger than the output that the caller lent.
    OutputTooSmall {
        /// Size of the output.
        capacity: u64,
        /// The size needed, at least.
        needed: u64,
    },
    /// The content refers further back than the window that the caller lent can hold.
    WindowTooSmall {
        /// Size of the window.
        capacity: u64,
        /// The size needed.
        needed: u64,
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
    /// What must stand here does not.
    Missing,
    /// What must occur once occurs again.
    Repeated,
    /// It is there, and should not be.
    Misplaced,
    /// A number does not follow the one before.
    OutOfSequence {
        /// The number found.
        found: u64,
        /// The number that would follow.
        expected: u64,
    },
    /// The element does not end before a boundary that none crosses.
    CrossesBoundary {
        /// Offset of the boundary.
        boundary: u64,
    },
    /// Bytes that cannot be delivered.
    Lost {
        /// How many.
        size: u64,
    },
    /// A checksum is right for the bytes that were there when it was computed; more were written then.
    StaleChecksum,
}

impl ErrorKind {
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
            Self::Unsupported { .. } => "unsupported",
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
            Self::OutputTooSmall { .. } => "output-too-small",
            Self::WindowTooSmall { .. } => "window-too-small",
            Self::DictionaryNeeded { .. } => "dictionary-needed",
            Self::NoDecoder => "no-decoder",
            Self::ByteOrderChanged => "byte-order-changed",
            Self::UuidMismatch { .. } => "uuid-mismatch",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Misplaced => "misplaced",
            Self::OutOfSequence { .. } => "out-of-sequence",
            Self::CrossesBoundary { .. } => "crosses-boundary",
            Self::Lost { .. } => "lost",
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
            Self::CountTooLarge { claimed, most } => {
                write!(f, "count {claimed}, though at most {most} fit in what follows")
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
                write!(f, "does not share out all there is, {left} over or missing")
            }
            Self::MissingTable => f.write_str("to be used again, though none has been given"),
            Self::BadBitStream => f.write_str("bits do not end where their content does"),
            Self::OffsetTooFar { offset, available } => {
                write!(f, "refers {offset} bytes back, where only {available} are")
            }
            Self::OutputTooSmall { capacity, needed } => {
                write!(f, "output holds {capacity} bytes, at least {needed} needed")
            }
            Self::WindowTooSmall { capacity, needed } => {
                write!(f, "window holds {capacity} bytes, {needed} needed")
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
            Self::Misplaced => f.write_str("not where one can be"),
            Self::OutOfSequence { found, expected } => {
                write!(f, "number {found} where {expected} should follow")
            }
            Self::CrossesBoundary { boundary } => write!(f, "does not end before {boundary:#x}"),
            Self::Lost { size: 1 } => f.write_str("1 byte cannot be read"),
            Self::Lost { size } => write!(f, "{size} bytes cannot be read"),
            Self::StaleChecksum => f.write_str("computed before the last bytes were written"),
        }
    }
}

/// How much a [`Finding`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Severity {
    /// Against the document or unusual, yet everything can be read.
    Warning,
    /// Something cannot be delivered.
    Error,
}

/// One thing that a format's `check` has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding {
    severity: Severity,
    error: Error,
}

impl Finding {
    /// A finding that leaves everything readable.
    pub const fn warning(error: Error) -> Self {
        Self { severity: Severity::Warning, error }
    }

    /// A finding because of which something cannot be delivered.
    pub const fn error(error: Error) -> Self {
        Self { severity: Severity::Error, error }
    }

    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// What was found, and where.
    pub const fn cause(&self) -> Error {
        self.error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        })?;
        self.error.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const ELEMENT: Element = Element::new(&"RTC frame payload");

    #[test]
    fn message_names_element_offset_and_need() {
        let error = Error::new(0x1f40, ELEMENT, ErrorKind::UnexpectedEnd { needed: 4 });
        assert_eq!(error.to_string(), "RTC frame payload at 0x1f40: input ends, 4 more bytes needed");
        assert!(error.is_truncation());
        assert_eq!(error.rebased(0x10).offset(), 0x1f50);
        assert_eq!(
            Finding::warning(error.rebased(u64::MAX)).to_string(),
            "warning: RTC frame payload at 0xffffffffffffffff: input ends, 4 more bytes needed"
        );
    }

    #[test]
    fn elements_compare_by_name() {
        let same = std::string::String::from("RTC frame payload").leak();
        assert_eq!(ELEMENT, Element::new(std::boxed::Box::leak(std::boxed::Box::new(&*same))));
        assert_ne!(ELEMENT, Element::new(&"RTC frame"));
        let hash = |element: Element| {
            let mut hasher = std::hash::DefaultHasher::new();
            core::hash::Hash::hash(&element, &mut hasher);
            core::hash::Hasher::finish(&hasher)
        };
        assert_eq!(hash(ELEMENT), hash(Element::new(std::boxed::Box::leak(std::boxed::Box::new(&*same)))));
        assert_ne!(hash(ELEMENT), hash(Element::new(&"RTC frame")));
    }

    /// Every kind with its code and its message: what `check --json` prints is relied on by other programs.
    #[test]
    fn each_kind_has_a_code_and_a_message() {
        use ErrorKind::*;
        let kinds = [
            (UnexpectedEnd { needed: 2 }, "unexpected-end", "input ends, 2 more bytes needed"),
            (
                OutOfBounds { start: 16, size: 9 },
                "out-of-bounds",
                "claims 9 bytes from 0x10, which are not all in the input",
            ),
            (Negative { value: -1 }, "negative", "negative: -1"),
            (BadMagic { found: *b"AMD RDF\0" }, "bad-magic", "begins with \"AMD RDF\\x00\""),
            (LegacyMagic, "legacy-magic", "legacy magic"),
            (
                UnsupportedVersion { found: 4, supported: 3 },
                "unsupported-version",
                "version 4, only 3 is read",
            ),
            (UnsupportedRevision { major: 2, minor: 1 }, "unsupported-revision", "version 2.1 is not known"),
            (Unsupported { value: 7 }, "unsupported", "7 is not supported"),
            (Invalid { value: 7 }, "invalid", "7 is not allowed"),
            (ReservedNotZero { value: 255 }, "reserved-not-zero", "reserved, yet 0xff instead of 0"),
            (NotMultiple { value: 65, of: 64 }, "not-multiple", "65 is not a multiple of 64"),
            (UnderLimit { value: 1, limit: 2 }, "under-limit", "1, though at least 2 is needed"),
            (OverLimit { value: 3, limit: 2 }, "over-limit", "3, though at most 2 is allowed"),
            (SizeMismatch { stated: 1, found: 2 }, "size-mismatch", "stated as 1 bytes, found to be 2"),
            (Mismatch { stated: 1, found: 2 }, "mismatch", "stated as 1, found to be 2"),
            (NotAscending { previous: 2, value: 1 }, "not-ascending", "1 after 2"),
            (OutsideRange { start: 1, end: 2 }, "outside-range", "not in 1..2"),
            (Overflow { value: 9 }, "overflow", "9 is too large for its unit"),
            (
                ChecksumMismatch { stored: 10, computed: 11 },
                "checksum-mismatch",
                "stored as 0xa, computed as 0xb",
            ),
            (
                CountTooLarge { claimed: 9, most: 8 },
                "count-too-large",
                "count 9, though at most 8 fit in what follows",
            ),
            (IntegerTooWide { bits: 64 }, "integer-too-wide", "integer wider than 64 bits"),
            (NotUtf8, "not-utf8", "not UTF-8"),
            (BytesAfterNul, "bytes-after-nul", "bytes after the NUL that ends it"),
            (Overlap { start: 32, size: 9 }, "overlap", "overlaps the 9 bytes from 0x20"),
            (TrailingBytes { count: 1 }, "trailing-bytes", "1 byte follows its end"),
            (TrailingBytes { count: 2 }, "trailing-bytes", "2 bytes follow its end"),
            (
                Unexpected { byte: b'\n', expected: "an object" },
                "unexpected",
                "found '\\n', expected an object",
            ),
            (TooDeep { limit: 128 }, "too-deep", "nested deeper than 128 levels"),
            (
                CapacityExceeded { capacity: 1, needed: 2 },
                "capacity-exceeded",
                "capacity is 1, at least 2 needed",
            ),
            (
                UnevenDistribution { left: 3 },
                "uneven-distribution",
                "does not share out all there is, 3 over or missing",
            ),
            (MissingTable, "missing-table", "to be used again, though none has been given"),
            (BadBitStream, "bad-bit-stream", "bits do not end where their content does"),
            (
                OffsetTooFar { offset: 9, available: 8 },
                "offset-too-far",
                "refers 9 bytes back, where only 8 are",
            ),
            (
                OutputTooSmall { capacity: 1, needed: 2 },
                "output-too-small",
                "output holds 1 bytes, at least 2 needed",
            ),
            (WindowTooSmall { capacity: 1, needed: 2 }, "window-too-small", "window holds 1 bytes, 2 needed"),
            (DictionaryNeeded { id: 5 }, "dictionary-needed", "can only be read with dictionary 5"),
            (NoDecoder, "no-decoder", "no decoder for it in this build"),
            (ByteOrderChanged, "byte-order-changed", "byte order changes"),
            (
                UuidMismatch { found: [0xab; 16] },
                "uuid-mismatch",
                "another UUID: abababababababababababababababab",
            ),
            (Missing, "missing", "missing"),
            (Repeated, "repeated", "occurs again"),
            (Misplaced, "misplaced", "not where one can be"),
            (OutOfSequence { found: 3, expected: 2 }, "out-of-sequence", "number 3 where 2 should follow"),
            (CrossesBoundary { boundary: 2048 }, "crosses-boundary", "does not end before 0x800"),
            (Lost { size: 1 }, "lost", "1 byte cannot be read"),
            (Lost { size: 2 }, "lost", "2 bytes cannot be read"),
            (StaleChecksum, "stale-checksum", "computed before the last bytes were written"),
        ];
        for (kind, code, message) in kinds {
            assert_eq!((kind.code(), &*kind.to_string()), (code, message));
        }
        let error = Finding::error(Error::new(0, ELEMENT, Missing));
        assert_eq!(error.to_string(), "error: RTC frame payload at 0x0: missing");
        assert!(!error.cause().is_truncation());
        assert_eq!(std::format!("{ELEMENT:?}"), "\"RTC frame payload\"");
    }
}
