//! The tokens of a stream.

use super::TokenKind;
use super::value::TokenValue;
use super::window::{self, padded};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::RMT_TOKEN;
use core::fmt;
use core::iter::FusedIterator;

/// Sizes of the kinds of tokens; 0 of those whose size is in the token.
const SIZES: [u8; 16] = [12, 14, 0, 18, 0, 2, 8, 17, 6, 10, 8, 7, 12, 0, 0, 5];

/// The bits of a nibble that are time, by the kind of the token: 0 and 14 have none, and of 1, 9 and 15 AMD's reader
/// takes the time of the token before.
const NIBBLES: [u64; 16] = {
    let all = 15;
    [0, 0, all, all, all, all, all, all, all, 0, all, all, all, all, 0, 0]
};

/// The size of the rest of a `resource_create` after its 7 bytes, by the type of the resource; 0 for all others.
const PAYLOADS: [u8; 18] = [38, 11, 1, 1, 0, 0, 12, 1, 4, 6, 0, 10, 19, 4, 3, 44, 1, 17];

/// The tokens of a stream, in order.
///
/// Sizes depend on the version of the tokens; nothing can be found after a token that is cut or reserved.
#[derive(Clone)]
pub struct Tokens<'a> {
    /// From the next token on.
    rest: &'a [u8],
    /// The size of all of them.
    len: usize,
    /// The additional size of an image's payload: 1 from version 1.6.
    wide: usize,
    /// In 32 ticks.
    now: u64,
    /// True if a timestamp was read, before which nothing counts.
    started: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(data: &'a [u8], version: (u16, u16)) -> Self {
        Self::resume(data, version, 0, false)
    }

    /// The tokens after others, of which the last one gave the time.
    pub(crate) fn resume(data: &'a [u8], version: (u16, u16), now: u64, started: bool) -> Self {
        Self { rest: data, len: data.len(), wide: is_wide(version).into(), now, started }
    }

    /// The time of the token that was read last, and whether time is known.
    pub(crate) const fn time(&self) -> (u64, bool) {
        (self.now, self.started)
    }

    /// Offset of the next token in the stream.
    pub const fn offset(&self) -> u64 {
        to_u64(self.len.saturating_sub(self.rest.len()))
    }
}

/// The size of a token whose kind does not tell it; 0 if it is reserved or the bytes that say so are missing.
fn stated_size(rest: &[u8], first: u8, wide: usize) -> usize {
    let stated = || match first & 0xf {
        13 => {
            let kind = rest.get(6)? & 0x3f;
            let payload = PAYLOADS.get(usize::from(kind)).copied().unwrap_or(0);
            let more = match kind {
                0 => wide,
                14 => usize::from(*rest.get(9)?).saturating_mul(4),
                _ => 0,
            };
            Some(usize::from(payload).saturating_add(more).saturating_add(7))
        }
        4 => {
            let head = rest.first_chunk::<4>()?;
            let size = u32::from_le_bytes(*head) >> 12;
            Some(usize::try_from(size).ok()?.saturating_add(4))
        }
        _ => None,
    };
    stated().unwrap_or(0)
}

/// The error at a token at `offset`, of which `size` bytes are needed; 0 if that is not known.
#[cold]
#[inline(never)]
fn fault(rest: &[u8], first: u8, size: usize, offset: u64) -> Error {
    let kind = match (first & 0xf, size) {
        (2, _) => ErrorKind::Invalid { value: 2 },
        // The bytes that say the size are missing.
        (4, 0) => ErrorKind::UnexpectedEnd { needed: to_u64(4_usize.saturating_sub(rest.len())) },
        (_, 0) => {
            let head: usize = if rest.len() < 7 { 7 } else { 10 };
            ErrorKind::UnexpectedEnd { needed: to_u64(head.saturating_sub(rest.len())) }
        }
        (_, size) => ErrorKind::UnexpectedEnd { needed: to_u64(size.saturating_sub(rest.len())) },
    };
    Error::new(offset, RMT_TOKEN, kind)
}

/// True if images take one byte more, and their fields one bit.
pub(super) fn is_wide(version: (u16, u16)) -> bool {
    u32::from(version.0).saturating_mul(10).saturating_add(version.1.into()) >= 16
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>>;

    #[inline(always)]
    #[allow(clippy::indexing_slicing)] // Masked.
    fn next(&mut self) -> Option<Self::Item> {
        // Functions that are called take values, not the iterator itself, so that it can stay in registers.
        let (rest, offset) = (self.rest, self.offset());
        let &first = rest.first()?;
        let (kind, nibble) = (first & 0xf, u64::from(first >> 4));
        let mut len = usize::from(SIZES[usize::from(kind)]);
        if len == 0 {
            len = match kind {
                14 => 1_usize.wrapping_add(usize::from(first >> 4 & 7)),
                _ => stated_size(rest, first, self.wide),
            };
        }
        let Some(after) = rest.get(len..).filter(|_| len > 0) else {
            self.rest = &[];
            return Some(Err(fault(rest, first, len, offset)));
        };
        self.rest = after;
        let mut token = Token { rest, len, offset, time: 0, wide: self.wide > 0 };
        if kind == 0 {
            self.now = rest.first_chunk().map_or(0, |head| u64::from_le_bytes(*head) >> 4);
            self.started = true;
        } else if self.started {
            let passed = if kind == 14 { token.passed() } else { nibble & NIBBLES[usize::from(kind)] };
            self.now = self.now.saturating_add(passed);
        }
        token.time = self.now;
        Some(Ok(token))
    }
}

impl FusedIterator for Tokens<'_> {}

impl fmt::Debug for Tokens<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("offset", &self.offset()).field("len", &self.len).finish()
    }
}

/// A token: one thing that happened, and when.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    /// From the token on, with what follows it.
    rest: &'a [u8],
    len: usize,
    offset: u64,
    time: u64,
    wide: bool,
}

impl<'a> Token<'a> {
    /// The token that all of `bytes` are.
    pub(super) const fn alone(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, len: bytes.len(), offset: 0, time: 0, wide: false }
    }

    /// Offset in the stream.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.rest.get(..self.len).unwrap_or_default()
    }

    /// The kind.
    #[inline]
    pub fn kind(&self) -> TokenKind {
        TokenKind::from_stored(self.rest.first().map_or(2, |byte| byte & 0xf))
    }

    /// The time, in units of 32 CPU ticks; 0 before the first timestamp.
    #[inline]
    pub(crate) const fn time(&self) -> u64 {
        self.time
    }

    /// The time, in CPU ticks; `None` if they do not fit in 64 bits.
    #[inline]
    pub const fn ticks(&self) -> Option<u64> {
        self.time.checked_mul(32)
    }

    /// The distance to the token before, in units of 32 ticks, where the kind has it. AMD's writers leave it 0.
    pub fn delta(&self) -> Option<u8> {
        let first = *self.rest.first()?;
        (!matches!(first & 0xf, 0 | 14)).then_some(first >> 4)
    }

    /// The rate of the clock in Hz, if it is a timestamp.
    #[inline]
    pub fn hz(&self) -> Option<u32> {
        match self.bytes() {
            [first, _, _, _, _, _, _, _, hz @ ..] if first & 0xf == 0 => {
                hz.first_chunk().map(|hz| u32::from_le_bytes(*hz))
            }
            _ => None,
        }
    }

    /// The value of the token.
    #[inline]
    pub fn value(&self) -> TokenValue<'a> {
        let last;
        let window = match self.rest.first_chunk() {
            Some(window) => window,
            None => {
                last = padded(self.bytes());
                &last
            }
        };
        TokenValue::read(self.bytes(), window, self.wide)
    }

    /// The time that it says has passed, if it is a `time_delta`.
    #[inline]
    fn passed(&self) -> u64 {
        match self.rest.first_chunk() {
            Some(window) => window::delta(window),
            None => window::delta(&padded(self.bytes())),
        }
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("offset", &self.offset)
            .field("kind", &self.kind())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec::Vec;

    fn read(data: &[u8], version: (u16, u16)) -> Vec<(u64, usize, u64)> {
        Tokens::new(data, version)
            .map(|token| token.unwrap())
            .map(|token| (token.offset(), token.bytes().len(), token.time()))
            .collect()
    }

    #[test]
    fn time_is_told_by_timestamps_deltas_and_nibbles() {
        let stamp = [0x70, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]; // 7, 1 Hz
        let delta = [0x2e, 0x01, 0x02]; // 0x201
        let long = [0x7e, 1, 0, 0, 0, 0, 0, 1]; // 2^48 + 1, of seven bytes
        let misc = [0x35, 3]; // 3 later
        let destroy = [0x9f, 0, 0, 0, 0]; // its nibble does not count
        let data = [&misc[..], &delta, &stamp, &delta, &misc, &destroy, &long].concat();
        let times = [0, 0, 7, 7 + 0x201, 0x20b, 0x20b, 0x20b + (1 << 48) + 1];
        assert!(read(&data, (1, 9)).into_iter().map(|(_, _, time)| time).eq(times));
    }

    #[test]
    fn sizes_follow_the_version() {
        let mut image = [0; 46];
        image[0] = 13;
        assert_eq!(read(&image, (1, 6)), [(0, 46, 0)]);
        assert_eq!(read(&image[..45], (1, 5)), [(0, 45, 0)]);
        let error = Tokens::new(&image[..45], (1, 6)).next().unwrap().unwrap_err();
        assert_eq!(error, Error::new(0, RMT_TOKEN, ErrorKind::UnexpectedEnd { needed: 1 }));
        // A pool of two, and one whose count is missing.
        let pool = [13, 0, 0, 0, 0, 0, 14, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(read(&pool, (1, 6)), [(0, 18, 0)]);
        let error = Tokens::new(&pool[..9], (1, 6)).next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEnd { needed: 1 });
    }

    #[test]
    fn nothing_follows_an_error() {
        let mut tokens = Tokens::new(&[0x05, 0, 0x02, 0x05, 0], (1, 9));
        assert_eq!(tokens.next().unwrap().unwrap().bytes().len(), 2);
        let error = tokens.next().unwrap().unwrap_err();
        assert_eq!(error, Error::new(2, RMT_TOKEN, ErrorKind::Invalid { value: 2 }));
        assert!(tokens.next().is_none() && tokens.next().is_none());
    }

    fn first(data: &[u8], version: (u16, u16)) -> Result<Token<'_>> {
        Tokens::new(data, version).next().unwrap()
    }

    /// The value of a token does not depend on the bytes after it, nor on whether there are any.
    #[test]
    fn nothing_is_read_after_a_token() {
        let mut random = crate::rdf::contents::rmt::tests::random();
        let mut seen = [0; 16];
        for _ in 0..20_000 {
            let noise: Vec<u8> = (0..120).map(|_| random() as u8).collect();
            let version = (1, 4 + (random() % 6) as u16);
            let Ok(token) = first(&noise, version) else { continue };
            let len = token.bytes().len();
            let mut other: Vec<u8> = noise[..len].to_vec();
            let alone = format!("{:?}", first(&other, version).unwrap().value());
            assert_eq!(format!("{:?}", token.value()), alone, "{noise:x?}");
            other.extend((0..120).map(|_| random() as u8));
            let followed = first(&other, version).unwrap();
            assert_eq!(format!("{:?}", followed.value()), alone, "{noise:x?}");
            assert_eq!((followed.bytes(), followed.time()), (&noise[..len], token.time()));
            seen[usize::from(noise[0] & 15)] += 1;
        }
        // All but the reserved one, and texts that are longer than what is here.
        assert!(
            seen.iter().enumerate().all(|(kind, &count)| count > 100 || kind == 2 || kind == 4),
            "{seen:?}"
        );
    }
}
