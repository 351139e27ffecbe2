//! Invariants of every format, whatever the input.

pub mod ctf;
pub mod ctf_data;
pub mod damage;
pub mod rfr;
pub mod tsdl;
pub mod zstd;

use std::ops::Range;
use traceglass::{Error, Finding, Result};

/// A borrowed slice lies in the input.
pub fn lies_in(part: &[u8], input: &[u8]) {
    lies_in_one(part, &[input.as_ptr_range()]);
}

/// The same of one of several places, some of which may be lent out.
pub fn lies_in_one(part: &[u8], places: &[Range<*const u8>]) {
    let part = part.as_ptr_range();
    assert!(
        part.is_empty() || places.iter().any(|place| place.start <= part.start && part.end <= place.end),
        "a slice outside the input"
    );
}

/// An error is located, and its message can be written.
pub fn located(error: &Error) {
    assert!(!error.to_string().is_empty() && !error.kind().code().is_empty());
}

/// An error about something that lies in the input, rather than about a claim that points elsewhere.
pub fn located_in(error: &Error, input: &[u8]) {
    located(error);
    assert!(error.offset() <= input.len() as u64, "{error} in {} bytes", input.len());
}

/// A finding of a format's `check`.
pub fn found(finding: &Finding) {
    located(&finding.cause());
}

/// Walks an iterator to its end: it ends within `most` steps, nothing comes after an error or after the end, and
/// offsets, where the items have them, never go back.
pub fn walk<T>(
    mut items: impl Iterator<Item = Result<T>>,
    most: u64,
    input: &[u8],
    mut item: impl FnMut(&T) -> Option<u64>,
) -> Option<Error> {
    let mut last = 0;
    let mut steps = 0;
    let error = loop {
        match items.next() {
            None => break None,
            Some(Err(error)) => {
                located_in(&error, input);
                break Some(error);
            }
            Some(Ok(value)) => {
                if let Some(offset) = item(&value) {
                    assert!(offset >= last, "offset {offset:#x} after {last:#x}");
                    last = offset;
                }
            }
        }
        steps += 1;
        assert!(steps <= most, "more than {most} items in {} bytes", input.len());
    };
    for _ in 0..3 {
        assert!(items.next().is_none(), "something after the end");
    }
    error
}
