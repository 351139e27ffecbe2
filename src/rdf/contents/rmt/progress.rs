//! A stream that is read chunk by chunk.

use super::tokens::Tokens;
use super::{RmtFields, TokenKind, TokenRecord};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Finding, Result};
use crate::rdf::contents::element::RMT_TOKEN;

/// The position in a stream up to which it has been read: the tokens of its next chunk continue here.
///
/// Chunks need not be joined: the caller keeps the bytes of a token that is cut at the end of a chunk, and puts those of
/// the next chunk after them.
///
/// ```
/// use traceglass::rdf::contents::rmt::{Progress, RmtData};
///
/// fn count(chunks: &[RmtData<'_>]) -> u64 {
///     let (mut count, mut progress) = (0, None);
///     for chunk in chunks {
///         let progress = progress.get_or_insert(Progress::of(chunk.fields()));
///         progress.each(chunk.data(), 0, usize::MAX, |token| {
///             count += u64::from(token.is_ok());
///             true
///         });
///     }
///     count
/// }
/// # assert_eq!(count(&[]), 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    stream: u32,
    version: (u16, u16),
    now: u64,
    started: bool,
    /// 0 if it is not known.
    hz: u64,
}

impl Progress {
    /// The start of a stream, from the header of its first chunk.
    pub fn of(fields: RmtFields<'_>) -> Self {
        let version = (fields.major(), fields.minor());
        Self { stream: fields.stream(), version, now: 0, started: false, hz: 0 }
    }

    /// Calls `each` with up to `most` tokens, the first of which is at `base` in its source, until it returns false, and
    /// returns how many bytes they take.
    ///
    /// The last one may be the error of a token that cannot be read:
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) of one that is cut.
    pub fn each<'a>(
        &mut self,
        data: &'a [u8],
        base: u64,
        most: usize,
        mut each: impl FnMut(Result<TokenRecord<'a>>) -> bool,
    ) -> usize {
        let mut tokens = Tokens::resume(data, self.version, self.now, self.started);
        let mut read = 0;
        for token in tokens.by_ref().take(most) {
            let record = match token {
                Ok(token) => {
                    if let Some(hz) = token.hz() {
                        self.hz = hz.into();
                    }
                    read = token.offset().saturating_add(to_u64(token.bytes().len()));
                    Ok(TokenRecord::new(token, self.stream, self.hz).at(base))
                }
                Err(error) => {
                    let offset = error.offset().saturating_add(base);
                    Err(Error::new(offset, error.element(), error.kind()))
                }
            };
            if !each(record) {
                break;
            }
        }
        (self.now, self.started) = tokens.time();
        usize::try_from(read).unwrap_or(usize::MAX)
    }
}

/// A check of the times of tokens, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenOrder {
    last: Option<u64>,
    is_over: bool,
}

impl TokenOrder {
    /// A warning about the next token of the stream: [`Missing`](ErrorKind::Missing) if the first one does not tell the
    /// time, [`NotAscending`](ErrorKind::NotAscending) if time goes back, and once [`Overflow`](ErrorKind::Overflow) if
    /// it does not fit in 64 bits.
    pub fn check(&mut self, record: &TokenRecord<'_>) -> Option<Finding> {
        let token = record.token();
        let value = token.time();
        let kind = match self.last.replace(value) {
            None if token.kind() != TokenKind::Timestamp => Some(ErrorKind::Missing),
            Some(previous) if value < previous => Some(ErrorKind::NotAscending { previous, value }),
            _ if token.ticks().is_none() && !self.is_over => {
                self.is_over = true;
                Some(ErrorKind::Overflow { value })
            }
            _ => None,
        };
        Some(Finding::warning(Error::new(record.offset(), RMT_TOKEN, kind?)))
    }
}
