//! The major units of a file, as reading meets them.

use crate::room::Room;
use crate::rtc::recover::Frames;
use crate::rtc::slot::StreamSlot;
use crate::rtc::{Frame, Unit, id};

/// A major unit, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub struct UnitSpan<'a> {
    unit: Unit<'a>,
    offset: u64,
    end: u64,
    session: u64,
}

impl<'a> UnitSpan<'a> {
    /// The unit.
    pub const fn unit(&self) -> &Unit<'a> {
        &self.unit
    }

    /// The offset of its first byte: after the unit before it, even if bytes are missing there.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The offset after its last byte.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The number of its session, from 0.
    pub const fn session(&self) -> u64 {
        self.session
    }
}

/// The major units that frames lie in, also after damage.
///
/// ```
/// use traceglass::rtc::StreamSlot;
/// use traceglass::rtc::recover::{Frames, Units};
///
/// # fn read(data: &[u8]) {
/// let (mut frames, mut units) = (Frames::new(data, [StreamSlot::EMPTY; 64]), Units::new());
/// loop {
///     while let Ok(Some(frame)) = frames.next_frame() {
///         if units.follow(&frames, &frame)
///             && let Some(span) = units.take_ended()
///         {
///             println!("unit {}, {:#x} to {:#x}", span.unit().number(), span.offset(), span.end());
///         }
///     }
///     if frames.recover().is_none() {
///         break;
///     }
/// }
/// let last = units.finish(data.len() as u64);
/// # let _ = last;
/// # }
/// # read(b"");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Units<'a> {
    current: Option<UnitSpan<'a>>,
    ended: Option<UnitSpan<'a>>,
}

impl<'a> Units<'a> {
    /// No unit yet.
    pub const fn new() -> Self {
        Self { current: None, ended: None }
    }

    /// Takes the frame that was read last, which need not be told of the user's streams. Returns true if another unit
    /// begins with it.
    pub fn follow<R: Room<StreamSlot<'a>>>(&mut self, frames: &Frames<'a, R>, frame: &Frame<'a>) -> bool {
        let (Some(&unit), session) = (frames.unit(), frames.session()) else { return false };
        if let Some(current) = self.current.as_mut().filter(|current| current.session == session) {
            if current.unit.position() == unit.position() {
                return false;
            }
            // The same unit goes on, only that bytes are missing in it, or were added.
            if frame.id() != id::MARKER && current.unit.number() == unit.number() {
                current.unit = unit;
                return false;
            }
        }
        let mut offset = unit.offset();
        self.ended = self.current.map(|current| {
            // Where a Marker is, the unit before has ended, even if reading went on a little.
            let is_marker = Unit::parse(frames.data(), offset).is_ok();
            let end = if is_marker { offset.max(current.offset) } else { u64::MAX };
            let end = end.min(frame.offset()).min(current.unit.end());
            offset = offset.max(end);
            UnitSpan { end, ..current }
        });
        self.current = Some(UnitSpan { unit, offset, end: offset, session });
        true
    }

    /// The unit that has ended with the beginning of another one; once.
    pub const fn take_ended(&mut self) -> Option<UnitSpan<'a>> {
        self.ended.take()
    }

    /// The unit that reading is in; its end is not known yet.
    pub const fn current(&self) -> Option<&UnitSpan<'a>> {
        self.current.as_ref()
    }

    /// The last unit, which ends at `end` or before it.
    pub fn finish(self, end: u64) -> Option<UnitSpan<'a>> {
        self.current.map(|current| UnitSpan { end: end.min(current.unit.end()), ..current })
    }
}
