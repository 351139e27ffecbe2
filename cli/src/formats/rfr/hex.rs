//! `hex` of a file of a recording: every field with its bytes.

use super::files::{Kind, Part};
use super::scan;
use crate::status::{Result, Status};
use crate::trace::{Field, Fields};
use traceglass::Severity;
use traceglass::rfr::{Callsites, Chunk, LayoutFields, Meta, Streaming};

pub fn hex(part: &Part<'_>, fields: &mut Fields<'_, '_>) -> Result<Status> {
    let data = part.data()?;
    let data = data.bytes();
    // An error ends the fields: the ones after it cannot be located.
    let mut left = layout(part.kind, data);
    while let Some(Ok(Some(field))) = left.as_mut().map(LayoutFields::next_field) {
        let shown = fields.range();
        if field.offset() >= shown.end {
            break;
        }
        if field.offset().saturating_add(field.size()) <= shown.start {
            continue;
        }
        fields.field(&Field::new(field.offset(), field.size(), field.name(), field.value()))?;
    }
    // Damage after what is shown is not looked for.
    let end = fields.range().end;
    let mut status = Status::Clean;
    scan::check(part, |finding| {
        let is_seen = finding.cause().offset() < end || end >= data.len() as u64;
        let is_error = finding.severity() == Severity::Error;
        status = status.max(Status::damaged_if(is_error && is_seen));
    })?;
    Ok(status)
}

/// The fields of a file, if it can be opened.
fn layout(kind: Kind, data: &[u8]) -> Option<LayoutFields<'_>> {
    match kind {
        Kind::Chunk(_) => Chunk::parse(data).ok().map(|chunk| chunk.fields()),
        Kind::Stream => Streaming::parse(data).ok().map(|stream| stream.fields()),
        Kind::Callsites => Callsites::parse(data).ok().map(|callsites| callsites.fields()),
        Kind::Meta => Meta::parse(data).ok().map(|meta| meta.fields()),
    }
}
