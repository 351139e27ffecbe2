//! Records: what was written at once.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::{Frame, PAYLOAD, Walk};
use core::fmt;

/// A record: the payload of a frame and of those that continue it.
///
/// It is borrowed. One in several pieces is read from the walk that has just delivered its first frame.
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::rtc::Walk;
///
/// let mut buffer = [0; 4096];
/// let mut walk = Walk::<64>::new(data);
/// while let Some(frame) = walk.next_frame().transpose()? {
///     if frame.is_user() && !frame.continues() {
///         let record = walk.record(frame);
///         let bytes = record.join(&mut buffer)?;
///         println!("{} bytes of stream {}", bytes.len(), frame.id());
///     }
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap_err();
/// ```
#[derive(Clone, Copy)]
pub struct Record<'w, 'a, const N: usize> {
    first: Frame<'a>,
    walk: &'w Walk<'a, N>,
}

impl<'a, const N: usize> Walk<'a, N> {
    /// The record that `frame` begins: the frame that was delivered last.
    pub const fn record(&self, frame: Frame<'a>) -> Record<'_, 'a, N> {
        Record { first: frame, walk: self }
    }
}

impl<'a, const N: usize> Record<'_, 'a, N> {
    /// Its first frame.
    pub const fn first(&self) -> Frame<'a> {
        self.first
    }

    /// Its bytes, if they lie together.
    pub const fn as_slice(&self) -> Option<&'a [u8]> {
        if self.first.more() { None } else { Some(self.first.payload()) }
    }

    /// Its pieces, in order.
    ///
    /// **Errors**: it does not end before the input, the session, or an error does.
    pub fn pieces(&self) -> Pieces<'a, N> {
        let walk = self.first.more().then(|| self.walk.clone());
        Pieces { first: Some(self.first.payload()), id: self.first.id(), walk, session: self.walk.session() }
    }

    /// How many bytes it has.
    ///
    /// **Errors**: as for [`pieces`](Self::pieces).
    pub fn len(&self) -> Result<u64> {
        match self.as_slice() {
            Some(slice) => Ok(to_u64(slice.len())),
            None => self.pieces().try_fold(0_u64, |sum, piece| Ok(sum.saturating_add(to_u64(piece?.len())))),
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        !self.first.more() && self.first.payload().is_empty()
    }

    /// Its bytes together: borrowed from the input, or copied to the front of `buffer`.
    ///
    /// **Errors**: as for [`pieces`](Self::pieces), and [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the
    /// size that suffices.
    pub fn join<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        if let Some(slice) = self.as_slice() {
            return Ok(slice);
        }
        let needed = self.len()?;
        let capacity = to_u64(buffer.len());
        let Some(whole) = usize::try_from(needed).ok().and_then(|len| buffer.get_mut(..len)) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed };
            return Err(Error::new(self.first.offset(), PAYLOAD, kind));
        };
        let mut bytes = self.pieces().map_while(Result::ok).flatten();
        whole.iter_mut().zip(bytes.by_ref()).for_each(|(to, &byte)| *to = byte);
        Ok(whole)
    }
}

impl<const N: usize> fmt::Debug for Record<'_, '_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({:?})", self.first)
    }
}

/// The pieces of a [`Record`].
#[derive(Clone, Debug)]
pub struct Pieces<'a, const N: usize> {
    first: Option<&'a [u8]>,
    id: u64,
    walk: Option<Walk<'a, N>>,
    session: u64,
}

impl<'a, const N: usize> Iterator for Pieces<'a, N> {
    type Item = Result<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let walk = self.walk.as_mut()?;
        loop {
            let frame = match walk.next_frame() {
                Some(Ok(frame)) if walk.session() == self.session => frame,
                Some(Err(error)) => {
                    self.walk = None;
                    return Some(Err(error));
                }
                _ => {
                    let error = Error::new(walk.offset(), PAYLOAD, ErrorKind::UnexpectedEnd { needed: 1 });
                    self.walk = None;
                    return Some(Err(error));
                }
            };
            if frame.id() == self.id {
                if !frame.more() {
                    self.walk = None;
                }
                return Some(Ok(frame.payload()));
            }
        }
    }
}

impl<const N: usize> core::iter::FusedIterator for Pieces<'_, N> {}
