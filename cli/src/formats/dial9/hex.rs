//! The fields of frames.

use super::Dial9;
use super::segments::{Rooms, Segment};
use crate::status::{Failure, Result, Status};
use crate::trace::{Field, Fields};
use traceglass::dial9::{Frame, Frames};

impl Dial9<'_> {
    pub(super) fn dump(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let [Segment::Given(data)] = &self.segments[..] else {
            return Err(Failure::usage("hex shows one file: name a segment of this folder"));
        };
        if super::segments::packing(data).is_some() {
            return Err(Failure::usage("hex shows a file as it is stored: decompress it first"));
        }
        let shown = fields.range();
        let mut rooms = Rooms::new();
        let mut frames = Frames::new(data, rooms.lend());
        let mut status = Status::Clean;
        loop {
            match frames.next_frame() {
                Ok(None) => return Ok(status),
                Ok(Some(frame)) if frame.offset() >= shown.end => return Ok(status),
                Ok(Some(_)) if frames.offset() <= shown.start => {}
                Ok(Some(frame)) => show(&frames, &frame, fields)?,
                Err(error) => {
                    let Some(gap) = frames.recover() else { return Ok(status) };
                    if gap.offset() >= shown.end {
                        return Ok(status);
                    }
                    if gap.end() > shown.start {
                        status = Status::Damaged;
                        fields.field(&Field::new(gap.offset(), gap.len(), "(lost)", error))?;
                    }
                }
            }
        }
    }
}

/// The fields of a frame.
pub(super) fn show<'a>(
    frames: &Frames<'a, '_>,
    frame: &Frame<'a>,
    fields: &mut Fields<'_, '_>,
) -> Result<()> {
    let of = match frame {
        Frame::Event(event) => event.name(),
        other => other.kind_name(),
    };
    for (place, field) in frames.fields(frame).enumerate() {
        // The first one says what the frame is.
        let name = if place == 0 { format!("{of} {}", field.name()) } else { format!("  {}", field.name()) };
        fields.field(&Field::new(field.offset(), field.size(), name, field.value()))?;
    }
    Ok(())
}
