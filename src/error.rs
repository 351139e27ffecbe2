//! An error: what went wrong, in which element, and at which byte.
//!
//! The formats share one error type, so that a program that reads several of them has one `match`.
//! An [`ErrorKind`] says *how* an element failed and carries the values that disagree; an
//! [`Element`] says *which* noun of the format's document it was.

mod finding;
mod kind;

pub(crate) use finding::Report;
pub use finding::{Finding, Severity, Summary};
pub use kind::ErrorKind;

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

    /// The kind of failure, with the values that disagree.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The element that was being read.
    pub const fn element(&self) -> Element {
        self.element
    }

    /// True if the input merely ends too early: more input may fix it.
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
            (
                UnsupportedRelease { major: 1, minor: 2, patch: 3 },
                "unsupported-release",
                "version 1.2.3 is not read",
            ),
            (Malformed, "malformed", "malformed"),
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
                CountTooLarge { claimed: 9, max: 8 },
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
            (UnevenDistribution { left: 3 }, "uneven-distribution", "does not sum to one, 3 over or missing"),
            (MissingTable, "missing-table", "to be used again, but none precedes"),
            (BadBitStream, "bad-bit-stream", "bits do not end where their content does"),
            (
                OffsetTooFar { offset: 9, available: 8 },
                "offset-too-far",
                "refers 9 bytes back, where only 8 are",
            ),
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
            (Contradictory, "contradictory", "contradicts what was said before"),
            (Misplaced, "misplaced", "misplaced"),
            (Undeclared, "undeclared", "not declared before it is used"),
            (OutOfSequence { found: 3, expected: 2 }, "out-of-sequence", "number 3 where 2 should follow"),
            (CrossesBoundary { boundary: 2048 }, "crosses-boundary", "does not end before 0x800"),
            (Lost { size: 1 }, "lost", "1 byte cannot be read"),
            (Lost { size: 2 }, "lost", "2 bytes cannot be read"),
            (UnsupportedExtension, "unsupported-extension", "needed to read what follows, and not known"),
            (NoSuchClass { id: 7 }, "no-such-class", "no class has the identifier 7"),
            (NoSuchOption { value: 7 }, "no-such-option", "7 selects no option"),
            (Discarded { count: 7 }, "discarded", "7 missing before"),
            (Empty, "empty", "takes no bits"),
            (StaleChecksum, "stale-checksum", "computed before the last bytes were written"),
        ];
        for (kind, code, message) in kinds {
            assert_eq!((kind.code(), &*kind.to_string()), (code, message));
        }
        let error = Finding::new(Severity::Error, Error::new(0, ELEMENT, Missing));
        assert_eq!(error.to_string(), "error: RTC frame payload at 0x0: missing");
        assert!(!error.cause().is_truncation());
        assert_eq!(std::format!("{ELEMENT:?}"), "\"RTC frame payload\"");
    }
}
