//! What records are read from.

use crate::ByteOrder;
use crate::Gap;
use crate::error::Result;
use crate::rtc::{Frame, Frames, Streams, recover};

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for crate::rtc::Frames<'_, N> {}
    impl<const N: usize> Sealed for crate::rtc::recover::Frames<'_, N> {}
}

/// Frames that [`Records`](crate::rtc::Records) are read from: the strict [`Frames`], or those that go on after damage,
/// [`recover::Frames`].
pub trait Source<'a, const N: usize>: sealed::Sealed {
    /// The next frame.
    ///
    /// # Errors
    ///
    /// Where and why reading cannot go on.
    fn next_frame(&mut self) -> Result<Option<Frame<'a>>>;
    /// Goes on after damage.
    fn recover(&mut self) -> Option<Gap>;
    /// The streams of the session.
    fn streams(&self) -> &Streams<'a, N>;
    /// The writer's byte order.
    fn byte_order(&self) -> ByteOrder;
    /// The number of the session.
    fn session(&self) -> u64;
    /// The input.
    fn data(&self) -> &'a [u8];
    /// Offset of the next frame.
    fn offset(&self) -> u64;
}

macro_rules! source {
    ($frames:ty, $recover:expr) => {
        impl<'a, const N: usize> Source<'a, N> for $frames {
            #[inline(always)]
            fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
                self.next_frame()
            }
            fn recover(&mut self) -> Option<Gap> {
                $recover(self)
            }
            #[inline(always)]
            fn streams(&self) -> &Streams<'a, N> {
                self.streams()
            }
            #[inline(always)]
            fn byte_order(&self) -> ByteOrder {
                self.byte_order()
            }
            #[inline(always)]
            fn session(&self) -> u64 {
                self.session()
            }
            fn data(&self) -> &'a [u8] {
                self.data()
            }
            fn offset(&self) -> u64 {
                self.offset()
            }
        }
    };
}

source!(Frames<'a, N>, |_: &mut Self| None);
source!(recover::Frames<'a, N>, |frames: &mut Self| frames.recover());
