//! A stream that is read chunk by chunk.

use super::tokens::Tokens;
use super::value::TokenValue;
use super::{RmtFields, TokenRecord};
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::record::{Listener, Record};

/// How far a stream has been read: the tokens of its next chunk continue here.
///
/// Chunks need not be joined: the caller keeps the bytes of a token that is cut at the end of a chunk, and puts those of
/// the next chunk after them.
///
/// ```
/// use traceglass::rdf::contents::rmt::{Progress, RmtData};
/// use traceglass::record::Nobody;
///
/// fn count(chunks: &[RmtData<'_>]) -> u64 {
///     let (mut count, mut progress) = (0, None);
///     for chunk in chunks {
///         let progress = progress.get_or_insert(Progress::of(chunk.fields()));
///         progress.tell(chunk.data(), 0, usize::MAX, &mut Nobody, &mut |_, told| {
///             count += u64::from(told.is_ok());
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
    hz: Option<u64>,
}

impl Progress {
    /// The start of a stream, from the header of its first chunk.
    pub fn of(fields: RmtFields<'_>) -> Self {
        let version = (fields.major(), fields.minor());
        Self { stream: fields.stream(), version, now: 0, started: false, hz: None }
    }

    /// Tells up to `most` tokens, the first of which is at `base` in its source, and returns how many bytes they take.
    ///
    /// `each` is called after each token with the listener, and at the end with the error of one that cannot be read:
    /// [`UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) of one that is cut. It returns false to stop.
    pub fn tell<L: Listener>(
        &mut self,
        data: &[u8],
        base: u64,
        most: usize,
        to: &mut L,
        each: &mut dyn FnMut(&mut L, Result<()>) -> bool,
    ) -> usize {
        let mut tokens = Tokens::resume(data, self.version, self.now, self.started);
        let mut read = 0;
        for token in tokens.by_ref().take(most) {
            let told = match token {
                Ok(token) => {
                    if let TokenValue::Timestamp { hz } = token.value() {
                        self.hz = Some(hz.into()).filter(|&hz| hz > 0);
                    }
                    read = token.offset().saturating_add(to_u64(token.bytes().len()));
                    TokenRecord::new(token, self.stream, self.hz).at(base).tell(to)
                }
                Err(error) => {
                    let offset = error.offset().saturating_add(base);
                    Err(Error::new(offset, error.element(), error.kind()))
                }
            };
            if !each(to, told) {
                break;
            }
        }
        (self.now, self.started) = tokens.time();
        usize::try_from(read).unwrap_or(usize::MAX)
    }
}
