//! The leaves of nom grammars, on [`Bytes`].
//!
//! nom's combinators do the combining; the leaves are ours, so that every error is located, a cut input is an
//! [`ErrorKind::UnexpectedEnd`] with the bytes needed, and no leaf can panic.

use crate::bytes::Bytes;
use crate::error::{Element, Error, ErrorKind};
#[cfg(feature = "rtc")]
use crate::varint;
use nom::IResult;

/// The result of a parser of this crate, for nom.
pub(crate) type Parsed<'a, O> = IResult<Bytes<'a>, O, Located>;

/// [`Error`] as nom wants it, so that the public type has no trait of nom's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Located(pub(crate) Error);

/// The element named where one of nom's own leaves fails; ours name theirs.
const UNNAMED: Element = Element::new(&"input");

impl<'a> nom::error::ParseError<Bytes<'a>> for Located {
    fn from_error_kind(input: Bytes<'a>, _: nom::error::ErrorKind) -> Self {
        Self(input.error(UNNAMED, ErrorKind::Malformed))
    }

    fn append(_: Bytes<'a>, _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

/// A failure of a leaf or a check, in nom's terms.
#[cold]
pub(crate) fn fail<'a, O>(error: Error) -> Parsed<'a, O> {
    Err(nom::Err::Error(Located(error)))
}

/// A parser's outcome in our terms: what it made, and what is left.
pub(crate) fn finish<'a, O>(parsed: Parsed<'a, O>) -> Result<(O, Bytes<'a>), Error> {
    match parsed {
        Ok((rest, output)) => Ok((output, rest)),
        Err(nom::Err::Error(Located(error)) | nom::Err::Failure(Located(error))) => Err(error),
        // Only nom's streaming leaves return this, and none is used.
        Err(nom::Err::Incomplete(_)) => Err(Error::new(0, UNNAMED, ErrorKind::UnexpectedEnd { needed: 1 })),
    }
}

/// `n` bytes.
#[cfg(feature = "rtc")]
pub(crate) fn bytes<'a>(n: u64, element: Element) -> impl Fn(Bytes<'a>) -> Parsed<'a, Bytes<'a>> {
    move |mut input| match input.take(n, element) {
        Ok(front) => Ok((input, front)),
        Err(error) => fail(error),
    }
}

/// `N` bytes as an array.
#[cfg(feature = "ctf")]
pub(crate) fn array<'a, const N: usize>(element: Element) -> impl Fn(Bytes<'a>) -> Parsed<'a, &'a [u8; N]> {
    move |mut input| match input.array(element) {
        Ok(front) => Ok((input, front)),
        Err(error) => fail(error),
    }
}

/// An unsigned LEB128 of at most 64 bits.
#[cfg(feature = "rtc")]
#[inline]
pub(crate) fn int<'a>(element: Element) -> impl Fn(Bytes<'a>) -> Parsed<'a, u64> {
    move |mut input| match varint::take_u64(&mut input) {
        Ok(value) => Ok((input, value)),
        Err(fault) => fail(input.error(element, fault.kind(64))),
    }
}

#[cfg(all(test, feature = "rtc", feature = "ctf"))]
mod tests {
    use super::*;
    use nom::Parser;

    const A: Element = Element::new(&"a");
    const B: Element = Element::new(&"b");

    #[test]
    fn combinators_keep_the_offset() {
        let input = Bytes::at(b"\x81\x01xyz", 7);
        let mut grammar = (int(A), bytes(2, B));
        let ((value, xy), rest) = finish(grammar.parse_complete(input)).unwrap();
        assert_eq!((value, xy.as_slice(), rest.as_slice(), rest.offset()), (129, &b"xy"[..], &b"z"[..], 11));
        let error = finish(grammar.parse_complete(Bytes::at(b"\x81\x01x", 7))).unwrap_err();
        assert_eq!(error, Error::new(9, B, ErrorKind::UnexpectedEnd { needed: 1 }));
        let error = finish(int(A)(Bytes::at(&[0xff; 11], 3))).unwrap_err();
        assert_eq!(error, Error::new(3, A, ErrorKind::IntegerTooWide { bits: 64 }));
        assert_eq!(finish(array::<2>(A)(input)).unwrap().0, b"\x81\x01");
    }
}
