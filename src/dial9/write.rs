//! Frames of a trace, written into another one of which events are left out.

use super::frame::{Frame, RESET_TAG};

/// Writes frames anew, so that events may be left out between them: the times of the others stay.
///
/// All but events and time resets stays as it is. The time of an event counts from the one before it; where too much was
/// left out between them, a time reset is written.
///
/// ```
/// use traceglass::dial9::{Reframed, SchemaSlot, Storage, Trace};
///
/// let file = b"TRC\0\x01\
///     \x01\x07\0\x01\0E\x01\0\0\
///     \x02\x07\0\x05\0\0\
///     \x02\x07\0\x03\0\0"; // at 5 ns and at 8 ns
/// let mut schemas = [SchemaSlot::EMPTY; 64];
/// let mut frames = Trace::parse(file)?.frames(Storage::new(&mut schemas));
/// let (mut written, mut reframed) = (Vec::new(), Reframed::default());
/// while let Some(frame) = frames.next_frame()? {
///     let bytes = &file[frame.offset() as usize..frames.offset() as usize];
///     if frame.nanoseconds() != Some(5) {
///         let put = &mut |bytes: &[u8]| Ok::<_, std::convert::Infallible>(written.extend_from_slice(bytes));
///         reframed.write(&frame, bytes, put).unwrap();
///     }
/// }
/// assert_eq!(written, b"TRC\0\x01\x01\x07\0\x01\0E\x01\0\0\x02\x07\0\x08\0\0");
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reframed {
    /// The time from which a reader of the output counts the next one.
    base: u64,
}

impl Frame<'_> {
    /// The time of an event in nanoseconds; `None` if its schema has none, and of other frames.
    pub const fn nanoseconds(&self) -> Option<u64> {
        match self {
            Self::Event(event) => event.nanoseconds(),
            _ => None,
        }
    }
}

impl Reframed {
    /// Writes a frame that lies in `bytes`: from its own offset to that of the next one.
    ///
    /// Time resets are not written: those that are needed come with the events.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(
        &mut self,
        frame: &Frame<'_>,
        bytes: &[u8],
        put: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match frame {
            Frame::TimeReset(_) => return Ok(()),
            Frame::Header(_) => self.base = 0,
            _ => {}
        }
        let (Some(time), Some((front, [_, _, _, rest @ ..]))) =
            (frame.nanoseconds(), bytes.split_first_chunk::<3>())
        else {
            return put(bytes);
        };
        let delta = time.checked_sub(self.base).map(u64::to_le_bytes);
        let delta = match delta {
            Some([a, b, c, 0, 0, 0, 0, 0]) => [a, b, c],
            _ => {
                put(&[RESET_TAG])?;
                put(&time.to_le_bytes())?;
                [0; 3]
            }
        };
        self.base = time;
        put(front)?;
        put(&delta)?;
        put(rest)
    }
}
