//! The fields of frames.

use super::session::{Frames, Rtc};
use crate::output::{printable, push_start};
use crate::record::{self, NAME_SHOWN};
use crate::status::{Result, Status};
use crate::trace::{Field, Fields};
use traceglass::rtc::recover::GapReason;
use traceglass::rtc::{self, Checker, Frame, NamedRecord, Stream, StreamClass, Unit};
use traceglass::{ByteOrder, Severity};

impl Rtc<'_> {
    pub(super) fn dump(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let shown = fields.range();
        let mut frames = Frames::at_unit(self.data, self.unit_before(shown.start), Vec::new());
        let (mut status, mut checker) = (Status::Clean, Checker::by(crc32fast::hash));
        loop {
            while let Ok(Some(frame)) = frames.next_frame() {
                if frame.offset() >= shown.end {
                    return Ok(status);
                }
                checker.frame(&frames, &frame, |finding| {
                    let is_error = finding.severity() == Severity::Error;
                    let is_shown = shown.contains(&finding.cause().offset());
                    status = status.max(Status::damaged_if(is_error && is_shown));
                });
                if frame.end() > shown.start {
                    let stream = frame.slot().and_then(|slot| frames.streams().at(slot));
                    show(&frame, stream, frames.byte_order(), fields)?;
                }
            }
            let Some(gap) = frames.recover() else { return Ok(status) };
            if gap.offset() >= shown.end {
                return Ok(status);
            }
            checker.gap(&gap, |_| ());
            if gap.end() >= shown.start {
                status = Status::Damaged;
            }
            let what = format!("{}: {}", frames.gap_reason().map_or("", GapReason::name), gap.cause());
            fields.field(&Field::new(gap.offset(), gap.len(), "(lost)", what))?;
        }
    }

    /// The offset to begin at, so that the unit at `offset` is read: the Marker before it, if the grid has one there.
    fn unit_before(&self, offset: u64) -> u64 {
        let Ok(first) = Unit::parse(self.data, 0) else { return 0 };
        let at = offset - offset % first.major_size();
        if Unit::parse(self.data, at).is_ok() { at } else { 0 }
    }
}

/// The name of a frame: that of its stream, or what it is for.
pub(super) fn name(frame: &Frame<'_>, stream: Option<&Stream<'_>>) -> String {
    match (frame.id(), stream) {
        (0, _) => "nul".into(),
        (1, _) => "padding".into(),
        (2, _) => "Marker".into(),
        (3, _) => "Index".into(),
        (4, _) => "index".into(),
        (5, _) => "Meta".into(),
        (6, _) => "meta".into(),
        (7, _) => "platform".into(),
        (8, _) => "Crc".into(),
        (_, Some(stream)) => {
            stream.name().map_or_else(|| stream.id().to_string(), |name| printable(&name.to_string()))
        }
        (id, None) => id.to_string(),
    }
}

/// Of a frame that has a part of a record, whose it is and where the rest is: frames of other streams may lie between.
pub(super) fn piece(frame: &Frame<'_>, stream: Option<&Stream<'_>>) -> String {
    let name = name(frame, stream);
    match (stream, frame.more(), frame.continues()) {
        (Some(_), true, _) => format!("{name}: the record ends in a later frame"),
        (Some(_), false, true) => format!("{name}: the end of a record that begins in an earlier frame"),
        _ => String::new(),
    }
}

/// The fields of a frame.
pub(super) fn show(
    frame: &Frame<'_>,
    stream: Option<&Stream<'_>>,
    order: ByteOrder,
    fields: &mut Fields<'_, '_>,
) -> Result<()> {
    let name = name(frame, stream);
    let more = if frame.more() { ", more" } else { "" };
    let continues = if frame.continues() { ", continued" } else { "" };
    let header = format!("id {}, {} bytes{more}{continues}", frame.id(), frame.payload().len());
    fields.field(&Field::new(frame.offset(), frame.header_size().into(), format!("{name} frame"), header))?;
    let (at, len) = (frame.payload_offset(), frame.payload().len() as u64);
    if let Some(Ok(index)) = rtc::Index::from_frame(frame) {
        let mut entries = index.entries();
        if let Some(number) = index.number() {
            fields.field(&Field::new(at, entries.offset() - at, "unit number", number))?;
        }
        loop {
            let start = entries.offset();
            let Some(Ok(entry)) = entries.next() else { break };
            let what = match (entry.target(), entry.id(), index.number()) {
                (_, 3 | 4, Some(_)) => format!("{} bytes a unit", entry.distance()),
                (Some(target), id, _) => format!("stream {id} at {target:#x}"),
                (None, id, _) => format!("stream {id}: none yet"),
            };
            fields.field(&Field::new(start, entries.offset() - start, "entry", what))?;
        }
        return Ok(());
    }
    let value = match stream {
        Some(stream) if !frame.more() && !frame.continues() => {
            row(&NamedRecord::of_frame(&StreamClass::alone(stream), frame, order)).1
        }
        _ => piece(frame, stream),
    };
    fields.field(&Field::new(at, len, "  payload", value))
}

/// The name of a record's stream, and what it says.
pub(super) fn row(record: &NamedRecord<'_, '_>) -> (String, String) {
    let mut name = String::new();
    push_start(&mut name, record.class(), NAME_SHOWN);
    let name = printable(&name);
    let rest = record::row(record, &name);
    (name, rest)
}
