//! A whole trace.

use super::frames::Frames;
use super::header::Header;
use super::storage::Storage;
use crate::bytes::Bytes;
use crate::error::Result;

/// A trace: a segment as it was written, or any number of them one after the other.
///
/// ```
/// use traceglass::dial9::{SchemaSlot, Storage, Trace, Value};
///
/// let file = b"TRC\0\x01\
///     \x01\x07\0\x0c\0PollEndEvent\x01\x01\0\x09\0worker_id\x09\
///     \x05\x40\x42\x0f\0\0\0\0\0\x02\x07\0\x05\0\0\x01"; // at 1 ms and 5 ns
/// let mut schemas = [SchemaSlot::EMPTY; 64];
/// let mut frames = Trace::parse(file)?.frames(Storage::new(&mut schemas));
/// while let Some(event) = frames.next_event()? {
///     assert_eq!((event.name(), event.nanoseconds()), ("PollEndEvent", Some(1_000_005)));
///     assert_eq!(event.get("worker_id"), Some(Value::Varint(1)));
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    data: &'a [u8],
}

impl<'a> Trace<'a> {
    /// Checks the first header; all else is read while frames are iterated.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `BadMagic`, `UnsupportedVersion`.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        Header::read(&mut Bytes::new(data))?;
        Ok(Self { data })
    }

    /// The frames, with what must be remembered of them in `storage`.
    pub fn frames<'s>(&self, storage: Storage<'s>) -> Frames<'a, 's> {
        Frames::new(self.data, storage)
    }
}
