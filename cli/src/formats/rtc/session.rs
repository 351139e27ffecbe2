//! An RTC file, and the types that read it with room for the streams of a session.

use traceglass::rtc;

/// The number of streams a session may have.
pub(super) const STREAMS: usize = 4096;

pub(super) type Frames<'a> = rtc::recover::Frames<'a, STREAMS>;
pub(super) type Streams<'a> = rtc::Streams<'a, STREAMS>;
pub(super) type Record<'r, 'a> = rtc::Record<'r, 'a, STREAMS>;

/// An RTC file.
pub(super) struct Rtc<'a> {
    pub data: &'a [u8],
}
