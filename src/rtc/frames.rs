//! Frames in file order, of a sound file.

use crate::ByteOrder;
use crate::bytes::to_u64;
use crate::error::{Error, Result};
use crate::room::Room;
use crate::rtc::frame::Frame;
use crate::rtc::reader::Reader;
use crate::rtc::slot::StreamSlot;
use crate::rtc::unit::Unit;
use crate::rtc::{CrcStatus, Streams, crc_ieee};
use core::fmt;
use core::iter::FusedIterator;

/// The accessors of the state that frames depend on, for both readers; each has it in a field.
macro_rules! tells_state {
    ($reader:tt) => {
        impl<'a, R: Room<StreamSlot<'a>>> Frames<'a, R> {
            /// The input.
            pub const fn data(&self) -> &'a [u8] {
                self.$reader.data
            }

            /// The major unit of the last frame.
            pub const fn unit(&self) -> Option<&Unit<'a>> {
                self.$reader.unit.as_ref()
            }

            /// The number of the session, from 0: how often the numbering of units has begun again.
            pub const fn session(&self) -> u64 {
                self.$reader.session
            }

            /// The streams of the session, as far as they have been declared.
            #[inline]
            pub fn streams(&self) -> Streams<'_, 'a> {
                self.$reader.known.streams()
            }

            /// The writer's byte order, as far as its platform frame has stated it.
            pub const fn byte_order(&self) -> ByteOrder {
                self.$reader.order
            }

            /// The status of the checksum of this major unit, from the delivery of its Crc to that of the next frame that is not
            /// a user's.
            ///
            /// The unit is read once if the checksum is right as deployed, else up to three times. `SLICES` is that of
            /// [`WriterCrc`](crate::rtc::WriterCrc).
            ///
            /// A unit that another Crc lies in is not complete: its beginning was lost, and it has no status. So however a file
            /// was made, no byte is covered twice.
            #[doc(alias = "Crc")]
            pub fn crc_status<const SLICES: usize>(&self) -> CrcStatus {
                self.crc_status_by::<SLICES>(crc_ieee)
            }

            /// The [`crc_status`](Self::crc_status), with the document's checksum from `ieee`: a faster one than [`crc_ieee`], which needs neither
            /// `std` nor instructions of one processor.
            pub fn crc_status_by<const SLICES: usize>(&self, ieee: fn(&[u8]) -> u32) -> CrcStatus {
                self.$reader.trail.status::<SLICES>(self.$reader.data, self.$reader.unit.as_ref(), ieee)
            }

            /// The first declaration in the last Meta that contradicts an earlier one of the same id.
            pub const fn contradiction(&self) -> Option<Error> {
                self.$reader.contradiction
            }
        }

        impl<'a, R: Room<StreamSlot<'a>>> Iterator for Frames<'a, R> {
            type Item = Result<Frame<'a>>;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.next_frame().transpose()
            }
        }

        impl<'a, R: Room<StreamSlot<'a>>> FusedIterator for Frames<'a, R> {}

        impl<'a, R: Room<StreamSlot<'a>>> fmt::Debug for Frames<'a, R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Frames")
                    .field("offset", &self.offset())
                    .field("unit", &self.$reader.unit)
                    .field("session", &self.$reader.session)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// The frames of a sound file in file order. The slots have room for the streams of a session.
///
/// Every frame is delivered, those of the default streams included; [`Frame::is_user`] tells them apart. A record may
/// lie in several frames: [`Records`](crate::rtc::Records) joins them.
///
/// No frame is read ahead; reading stops at the first fault. To go on after damage, use
/// [`recover::Frames`](crate::rtc::recover::Frames).
///
/// # Errors
///
/// [`next_frame`](Self::next_frame) says where and why reading cannot go on; after that it gives `None`.
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::rtc::{Frames, StreamSlot};
///
/// let mut frames = Frames::new(data, [StreamSlot::EMPTY; 64]);
/// while let Some(frame) = frames.next_frame()? {
///     println!("{} bytes of stream {} at {:#x}", frame.payload().len(), frame.id(), frame.offset());
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap_err();
/// ```
#[derive(Clone)]
pub struct Frames<'a, R>(pub(super) Reader<'a, R>);

impl<'a, R: Room<StreamSlot<'a>>> Frames<'a, R> {
    /// Begins at the start of the input.
    #[inline(never)] // What it is made from does not stay on the caller's stack.
    pub fn new(data: &'a [u8], slots: R) -> Self {
        Self(Reader::new(data, 0, slots))
    }

    /// Begins at the Marker at `offset`, as other frames or a [`Grid`](crate::rtc::Grid) have found it.
    ///
    /// To go on in a file that has grown, begin at the [unit](Self::unit) that reading was in, and skip the frames before
    /// the [offset](Self::offset) that it had come to.
    pub fn at_unit(data: &'a [u8], offset: u64, slots: R) -> Self {
        Self(Reader::at_unit(data, usize::try_from(offset).unwrap_or(data.len()).min(data.len()), slots))
    }

    /// The next frame; `None` at the end of the input, and after an error.
    ///
    /// # Errors
    ///
    /// The first fault, which stands at [`offset`](Self::offset).
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        self.0.next()
    }

    /// Offset of the next frame; after an error, of the fault.
    ///
    /// A file that is still growing is read on from here when it has more bytes.
    pub const fn offset(&self) -> u64 {
        to_u64(self.0.pos)
    }
}

tells_state!(0);

pub(super) use tells_state;
