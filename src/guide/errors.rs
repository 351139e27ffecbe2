//! The parts of an error, and what to do with it.
//!
//! Every fallible call gives the one [`Error`](crate::Error). It has three parts:
//!
//! - **where**: [`offset`](crate::Error::offset), in bytes from the start of the input that was given. For a claim of
//!   the input, such as a size that is too large, it is where the claim stands, because that is the byte to look at.
//! - **what**: [`element`](crate::Error::element), a noun of the format's document. The constants are in the module of
//!   the format: [`rdf::element::CHUNK_INDEX`](crate::rdf::element::CHUNK_INDEX),
//!   [`ctf::element::CONTENT_SIZE`](crate::ctf::element::CONTENT_SIZE).
//! - **how**: [`kind`](crate::Error::kind), an [`ErrorKind`](crate::ErrorKind) with the values that disagree.
//!
//! ```
//! use traceglass::{ErrorKind, rdf};
//!
//! let error = rdf::File::parse(b"MINI\0\0\0\0").unwrap_err();
//! let message = r#"RDF file header at 0x0: begins with "MINI\x00\x00\x00\x00""#;
//! assert_eq!(error.to_string(), message);
//! assert_eq!(error.element(), rdf::element::FILE_HEADER);
//! let ErrorKind::BadMagic { found } = error.kind() else { panic!() };
//! assert!(found.starts_with(b"MINI"));
//! ```
//!
//! `traceglass hex --at OFFSET FILE` shows the byte at which an error is located.
//!
//! # Which format is it at all?
//!
//! [`Format::detect`](crate::Format::detect) tells by the content. If it finds none,
//! [`Lookalike::detect`](crate::Lookalike::detect) may know what the input is instead, for a message that helps:
//!
//! ```
//! use traceglass::{Format, Lookalike};
//!
//! let data = b"\x1f\x8b\x08\0";
//! assert_eq!(Format::detect(data), None);
//! assert_eq!(Lookalike::detect(data), Some(Lookalike::Gzip));
//! ```
//!
//! # Not enough yet, or damaged?
//!
//! A file that is still being written, or a stream that has not arrived, looks like one that was cut. Where more input
//! may fix it, [`is_truncation`](crate::Error::is_truncation) is true and `UnexpectedEnd` says how many are needed at
//! least:
//!
//! ```
//! use traceglass::{ErrorKind, rdf::Header};
//!
//! let error = Header::parse(b"AMD_RDF \x03\0\0\0").unwrap_err();
//! assert!(error.is_truncation());
//! assert_eq!(error.kind(), ErrorKind::UnexpectedEnd { needed: 20 });
//! ```
//!
//! # Memory that was lent is too small
//!
//! `CapacityExceeded` carries the capacity and the need, so that the caller can lend
//! more and call again; nothing is cut off silently.
//!
//! # Findings
//!
//! A format's `check` reports [`Finding`](crate::Finding)s: the same errors, each with a
//! [`Severity`](crate::Severity). A *warning* is against the document or unusual, yet everything can be read; an *error*
//! means that something cannot be delivered. [`ErrorKind::code`](crate::ErrorKind::code) is a stable name for scripts.
//!
//! # Iterators
//!
//! After an error an iterator gives nothing more, always. Continuing after the damage is an explicit call; see
//! [`damage`](super::damage).
