//! An RTC file, and the types that read it with room for the streams of a session.

use traceglass::rtc;

pub(super) type Slots<'a> = Vec<rtc::StreamSlot<'a>>;
pub(super) type Frames<'a> = rtc::recover::Frames<'a, Slots<'a>>;

/// An RTC file.
pub(super) struct Rtc<'a> {
    pub data: &'a [u8],
}
