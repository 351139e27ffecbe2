//! What went wrong, in which element, and at which byte.
//!
//! The formats share one error type, so that a program that reads several of them has one `match`.
//! An [`ErrorKind`] says *how* an element failed and carries the values that disagree; an
//! [`Element`] says *which* noun of the format's document it was.

mod finding;
mod kind;

pub use finding::{Finding, Severity};
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
    }
}
