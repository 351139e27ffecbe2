//! Verification of everything in a file.

use super::element::{ANNOTATIONS, EVENT, STRING_POOL, VALUE};
use super::event::Event;
use super::frame::Frame;
use super::frames::Frames;
use super::schema::NUMBERED;
use super::storage::Storage;
use super::tokio;
use super::value::Value;
use crate::error::{Error, ErrorKind, Finding, Report, Result, Summary};

/// Reads everything and reports what is wrong. Items are events.
///
/// Errors are the places at which frames cannot be read: each costs what is left of its batch. Warnings are text that
/// is not UTF-8, references to pools that have no such entry (of both the first in each batch; for pools, [storage must
/// be lent](Storage::strings)), annotations of types or fields that there are none of, and a trace without any event
/// but those by which a recorder describes itself: the recorder was set up, but nothing was recorded.
///
/// # Errors
/// `CapacityExceeded` of lent storage.
pub fn check(data: &[u8], storage: Storage<'_>, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
    let report = &mut Report::new(report);
    let (strings, stacks) = storage.has_pools();
    let mut frames = Frames::new(data, storage);
    let mut batch = Batch::default();
    let (mut recorded, mut whole) = (false, true);
    loop {
        if let Some(event) = frames.take_event() {
            report.item();
            recorded = recorded || !tokio::is_about_the_recorder(event.name());
            batch.event(&event, &frames, report);
            continue;
        }
        let frame = match frames.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => break,
            Err(error) if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => return Err(error),
            Err(error) => {
                report.error(error);
                whole = false;
                frames.recover();
                continue;
            }
        };
        match frame {
            Frame::Header(_) => batch = Batch { strings, stacks, ..Batch::default() },
            Frame::Strings(pool) => {
                let text = pool.entries().find(|(_, text)| core::str::from_utf8(text).is_err());
                if text.is_some() && !core::mem::replace(&mut batch.not_utf8, true) {
                    report.warning(Error::new(pool.offset(), STRING_POOL, ErrorKind::NotUtf8));
                }
            }
            Frame::Annotations(annotations) => {
                let schema = u16::try_from(annotations.type_id()).ok().and_then(|id| frames.schema(id));
                let Some(schema) = schema else {
                    let kind = ErrorKind::NoSuchClass { id: annotations.type_id() };
                    report.warning(Error::new(annotations.offset(), ANNOTATIONS, kind));
                    continue;
                };
                let end = schema.field_count().into();
                for annotation in annotations.entries().filter(|entry| u64::from(entry.field()) >= end) {
                    let kind = ErrorKind::OutsideRange { start: 0, end };
                    report.warning(Error::new(annotation.offset(), ANNOTATIONS, kind));
                }
            }
            _ => {}
        }
    }
    if whole && !recorded {
        report.warning(Error::new(frames.offset(), EVENT, ErrorKind::Missing));
    }
    Ok(report.summary())
}

/// True for text that is not UTF-8, or values that contain some.
fn has_bad_text(value: &Value<'_>) -> bool {
    let is_bad = |text: &[u8]| core::str::from_utf8(text).is_err();
    match value {
        Value::String(text) => is_bad(text),
        Value::StringMap(map) => map.pairs().any(|(key, value)| is_bad(key) || is_bad(value)),
        _ => false,
    }
}

/// The findings of a batch.
#[derive(Default)]
struct Batch {
    /// True if pools are kept.
    strings: bool,
    stacks: bool,
    not_utf8: bool,
    unresolved: bool,
}

impl Batch {
    #[inline]
    fn event(&mut self, event: &Event<'_>, frames: &Frames<'_, '_>, report: &mut Report<'_>) {
        if event.refers() && !self.is_sound(event, frames) {
            self.report(event, frames, report);
        }
    }

    /// True if all text is UTF-8, and what is referred to is there: mostly it is, and nobody asks for a name.
    fn is_sound(&self, event: &Event<'_>, frames: &Frames<'_, '_>) -> bool {
        let schema = event.schema();
        let Some(plan) = frames.plan(&schema) else { return false };
        let mut values = event.numbered(plan);
        usize::from(schema.field_count()) <= NUMBERED
            && values.all(|value| match value {
                Some(Value::PooledString(id)) => !self.strings || frames.string(id).is_some(),
                Some(Value::PooledStack(id)) => !self.stacks || frames.stack(id).is_some(),
                Some(value) => !has_bad_text(&value),
                None => true,
            })
    }

    #[cold]
    fn report(&mut self, event: &Event<'_>, frames: &Frames<'_, '_>, report: &mut Report<'_>) {
        let no_string = |id| self.strings && frames.string(id).is_none();
        for field in event.fields() {
            let Some(value) = field.value() else { continue };
            let unresolved = match value {
                Value::PooledString(id) => no_string(id).then_some(id),
                Value::PooledStack(id) => (self.stacks && frames.stack(id).is_none()).then_some(id),
                _ if has_bad_text(&value) => {
                    if !core::mem::replace(&mut self.not_utf8, true) {
                        report.warning(Error::new(field.offset(), VALUE, ErrorKind::NotUtf8));
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(id) = unresolved
                && !core::mem::replace(&mut self.unresolved, true)
            {
                let kind = ErrorKind::NoSuchClass { id: id.into() };
                report.warning(Error::new(field.offset(), VALUE, kind));
            }
        }
    }
}
