//! `hex` of a file of a recording: every field with its bytes.

use super::files::{Kind, Part};
use super::scan;
use crate::output::printable;
use crate::status::{Result, Status};
use crate::trace::{Field, Fields};
use traceglass::Severity;
use traceglass::rfr::{Callsites, Chunk, FormatIdentifier, Item, Meta, RecordKind, Streaming};

/// Takes fields off the bytes, one after the other. What is read here has been read by the library before: where this
/// ends early, the rest has no fields.
struct Cursor<'d, 'f, 'a, 'o> {
    data: &'d [u8],
    at: usize,
    fields: &'f mut Fields<'a, 'o>,
}

/// `None`: nothing more can be told apart.
type Taken<T> = Result<Option<T>>;

impl Cursor<'_, '_, '_, '_> {
    fn emit(&mut self, len: usize, name: &str, value: impl ToString) -> Result<()> {
        let field = Field::new(self.at as u64, len as u64, name, value);
        self.at = self.at.saturating_add(len);
        self.fields.field(&field)
    }

    /// An integer that is not shown yet, and its length.
    fn peek(&self) -> Option<(u128, usize)> {
        let mut value = 0;
        for (place, &byte) in self.data.get(self.at..)?.iter().take(19).enumerate() {
            value |= u128::from(byte & 0x7f).checked_shl(place.saturating_mul(7) as u32)?;
            if byte < 0x80 {
                return Some((value, place.saturating_add(1)));
            }
        }
        None
    }

    fn int(&mut self, name: &str) -> Taken<u128> {
        self.int_as(name, |value| value.to_string())
    }

    fn int_as(&mut self, name: &str, show: impl FnOnce(u128) -> String) -> Taken<u128> {
        let Some((value, len)) = self.peek() else { return Ok(None) };
        self.emit(len, name, show(value))?;
        Ok(Some(value))
    }

    fn ints(&mut self, names: &[&str]) -> Taken<()> {
        for name in names {
            if self.int(name)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn byte(&mut self, name: &str) -> Taken<u8> {
        let Some(&byte) = self.data.get(self.at) else { return Ok(None) };
        self.emit(1, name, byte)?;
        Ok(Some(byte))
    }

    fn string(&mut self, name: &str) -> Taken<()> {
        let Some((len, prefix)) = self.peek() else { return Ok(None) };
        let text = self.data.get(self.at.saturating_add(prefix)..);
        let text = usize::try_from(len).ok().and_then(|len| text?.get(..len));
        let Some(text) = text else { return Ok(None) };
        let shown = format!("\"{}\"", printable(&String::from_utf8_lossy(text)));
        self.emit(prefix.saturating_add(text.len()), name, shown)?;
        Ok(Some(()))
    }

    fn option(&mut self, name: &str) -> Taken<()> {
        match self.data.get(self.at) {
            Some(0) => self.emit(1, name, "none").map(Some),
            Some(1) => {
                self.emit(1, name, "some")?;
                Ok(self.int(name)?.map(drop))
            }
            _ => Ok(None),
        }
    }

    fn value(&mut self) -> Taken<()> {
        const TYPES: [&str; 7] = ["F64", "I64", "U64", "I128", "U128", "Bool", "Str"];
        let name =
            |kind: u128| TYPES.get(kind as usize).map_or_else(|| kind.to_string(), ToString::to_string);
        match self.int_as("value type", name)? {
            Some(0) => {
                let bytes = self.data.get(self.at..).and_then(|data| data.first_chunk::<8>());
                let Some(bytes) = bytes else { return Ok(None) };
                self.emit(8, "value", f64::from_le_bytes(*bytes)).map(Some)
            }
            Some(1 | 3) => {
                let zigzag =
                    |code: u128| ((code >> 1) as i128 ^ ((code & 1) as i128).wrapping_neg()).to_string();
                Ok(self.int_as("value", zigzag)?.map(drop))
            }
            Some(2 | 4) => Ok(self.int("value")?.map(drop)),
            Some(5) => Ok(self.byte("value")?.map(drop)),
            Some(6) => self.string("value"),
            _ => Ok(None),
        }
    }

    /// A list, its length included.
    fn list(&mut self, name: &str, mut each: impl FnMut(&mut Self) -> Taken<()>) -> Taken<()> {
        let Some(count) = self.int(name)? else { return Ok(None) };
        for _ in 0..count {
            if each(self)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn named(&mut self) -> Taken<()> {
        match self.string("field name")? {
            Some(()) => self.value(),
            None => Ok(None),
        }
    }

    fn details(&mut self) -> Taken<()> {
        const PARENTS: [&str; 3] = ["Current", "Root", "Explicit"];
        let name =
            |kind: u128| PARENTS.get(kind as usize).map_or_else(|| kind.to_string(), ToString::to_string);
        match self.int_as("parent", name)? {
            Some(2) if self.int("parent iid")?.is_none() => return Ok(None),
            Some(_) => {}
            None => return Ok(None),
        }
        if self.list("values", Self::value)?.is_none() {
            return Ok(None);
        }
        self.list("dynamic fields", Self::named)
    }

    fn span(&mut self) -> Taken<()> {
        match self.ints(&["iid", "callsite id"])? {
            Some(()) => self.details(),
            None => Ok(None),
        }
    }

    fn task(&mut self) -> Taken<()> {
        if self.ints(&["iid", "callsite id", "task id"])?.is_none() || self.string("task name")?.is_none() {
            return Ok(None);
        }
        const KINDS: [&str; 5] = ["Task", "Local", "Blocking", "BlockOn", "Other"];
        let name =
            |kind: u128| KINDS.get(kind as usize).map_or_else(|| kind.to_string(), ToString::to_string);
        match self.int_as("task kind", name)? {
            Some(4) if self.string("task kind")?.is_none() => Ok(None),
            Some(_) => self.option("context"),
            None => Ok(None),
        }
    }

    fn callsite(&mut self) -> Taken<()> {
        if self.int("callsite id")?.is_none() || self.byte("level")?.is_none() {
            return Ok(None);
        }
        const KINDS: [&str; 3] = ["Unknown", "Event", "Span"];
        let name =
            |kind: u128| KINDS.get(kind as usize).map_or_else(|| kind.to_string(), ToString::to_string);
        if self.int_as("callsite kind", name)?.is_none() || self.list("const fields", Self::named)?.is_none()
        {
            return Ok(None);
        }
        self.list("field names", |cursor| cursor.string("field name"))
    }

    /// An item of a chunk.
    fn item(&mut self, item: &Item<'_>) -> Taken<()> {
        match item {
            Item::Sequence(_) => self.ints(&["sequence id", "earliest, µs", "latest, µs", "objects"]),
            Item::Object(_) => {
                let name = |kind| if kind == 0 { "Span".to_owned() } else { "Task".to_owned() };
                match self.int_as("object", name)? {
                    Some(0) => self.span(),
                    Some(_) => self.task(),
                    None => Ok(None),
                }
            }
            Item::Record(record) => {
                let kind = record.kind();
                match (self.int("timestamp, µs")?, self.int_as("record", |_| kind.name().to_owned())?) {
                    (Some(_), Some(_)) => self.data(kind),
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// A record of a stream.
    fn stream_record(&mut self, kind: RecordKind) -> Taken<()> {
        if self.ints(&["time, s", "time, µs"])?.is_none()
            || self.int_as("record", |_| kind.name().to_owned())?.is_none()
        {
            return Ok(None);
        }
        self.data(kind)
    }

    /// The data of a record, by its kind in a stream or a chunk.
    fn data(&mut self, kind: RecordKind) -> Taken<()> {
        match kind {
            RecordKind::End => Ok(Some(())),
            RecordKind::Callsite => self.callsite(),
            RecordKind::Span => self.span(),
            RecordKind::Task => self.task(),
            RecordKind::Event => match self.int("callsite id")? {
                Some(_) => self.details(),
                None => Ok(None),
            },
            RecordKind::WakerWake
            | RecordKind::WakerWakeByRef
            | RecordKind::WakerClone
            | RecordKind::WakerDrop => match self.int("task iid")? {
                Some(_) => self.option("context"),
                None => Ok(None),
            },
            _ => Ok(self.int("iid")?.map(drop)),
        }
    }
}

pub fn hex(part: &Part<'_>, fields: &mut Fields<'_, '_>) -> Result<Status> {
    let data = part.data()?;
    let data = data.bytes();
    let mut cursor = Cursor { data, at: 0, fields };
    if FormatIdentifier::parse(data).is_ok() && cursor.string("identifier")?.is_some() {
        match part.kind {
            Kind::Chunk(_) => chunk(&mut cursor)?,
            Kind::Stream => stream(&mut cursor)?,
            Kind::Callsites => callsites(&mut cursor)?,
            Kind::Meta => meta(&mut cursor)?,
        };
    }
    // Damage after what is shown is not looked for.
    let end = cursor.fields.range().end;
    let mut status = Status::Clean;
    scan::check(part, |finding| {
        let is_seen = finding.cause().offset() < end || end >= data.len() as u64;
        let is_error = finding.severity() == Severity::Error;
        status = status.max(Status::damaged_if(is_error && is_seen));
    })?;
    Ok(status)
}

/// Something in a file that was met where it stands, and whose fields are wanted alone.
#[cfg(feature = "view")]
pub enum Met<'m, 'a> {
    /// The identifier, and what stands before the first item.
    Header(Kind),
    Item(&'m Item<'a>),
    /// The number of the records that follow.
    Count,
    Stream(RecordKind),
    Callsite,
}

/// The fields of something that stands at `at`.
#[cfg(feature = "view")]
pub fn one(data: &[u8], at: u64, met: &Met<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<()> {
    let mut cursor = Cursor { data, at: usize::try_from(at).unwrap_or(usize::MAX), fields };
    match met {
        Met::Header(kind) => {
            if cursor.string("identifier")?.is_some() {
                match kind {
                    Kind::Chunk(_) => cursor.ints(&CHUNK_HEADER)?,
                    Kind::Meta => meta(&mut cursor)?,
                    _ => None,
                };
            }
        }
        Met::Item(item) => drop(cursor.item(item)?),
        Met::Count => drop(cursor.int("records")?),
        Met::Stream(kind) => drop(cursor.stream_record(*kind)?),
        Met::Callsite => drop(cursor.callsite()?),
    }
    Ok(())
}

/// What follows a chunk's identifier.
const CHUNK_HEADER: [&str; 6] =
    ["base time, s", "start, µs", "end, µs", "earliest, µs", "latest, µs", "sequences"];

fn chunk(cursor: &mut Cursor<'_, '_, '_, '_>) -> Taken<()> {
    let Ok(chunk) = Chunk::parse(cursor.data) else { return Ok(None) };
    let end = cursor.fields.range().end;
    if cursor.ints(&CHUNK_HEADER)?.is_none() {
        return Ok(None);
    }
    let mut items = chunk.items().peekable();
    // The number of records stands where it is known that no object follows.
    let (mut objects, mut counted) = (0_u64, true);
    loop {
        let next = match items.next() {
            Some(Ok(item)) => item,
            // What is damaged has no fields; what follows cannot be told apart either.
            Some(Err(_)) | None => {
                if !counted && objects == 0 {
                    cursor.int("records")?;
                }
                return Ok(None);
            }
        };
        if !counted && objects == 0 {
            counted = true;
            if cursor.int("records")?.is_none() {
                return Ok(None);
            }
        }
        let offset = match &next {
            Item::Sequence(header) => header.offset(),
            Item::Object(object) => object.offset(),
            Item::Record(record) => record.offset(),
            _ => return Ok(None),
        };
        if offset >= end {
            return Ok(None);
        }
        cursor.at = usize::try_from(offset).unwrap_or(usize::MAX);
        match &next {
            Item::Sequence(header) => (objects, counted) = (header.object_count(), false),
            Item::Object(_) => objects = objects.saturating_sub(1),
            _ => {}
        }
        if cursor.item(&next)?.is_none() {
            return Ok(None);
        }
    }
}

fn stream(cursor: &mut Cursor<'_, '_, '_, '_>) -> Taken<()> {
    let Ok(stream) = Streaming::parse(cursor.data) else { return Ok(None) };
    let end = cursor.fields.range().end;
    for record in stream.records() {
        let Ok(record) = record else { return Ok(None) };
        if record.offset() >= end {
            break;
        }
        if cursor.stream_record(record.kind())?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(()))
}

fn callsites(cursor: &mut Cursor<'_, '_, '_, '_>) -> Taken<()> {
    let Ok(callsites) = Callsites::parse(cursor.data) else { return Ok(None) };
    let end = cursor.fields.range().end;
    for callsite in callsites {
        match callsite {
            Ok(callsite) if callsite.offset() < end => {}
            _ => break,
        }
        if cursor.callsite()?.is_none() {
            break;
        }
    }
    Ok(Some(()))
}

fn meta(cursor: &mut Cursor<'_, '_, '_, '_>) -> Taken<()> {
    if Meta::parse(cursor.data).is_err() || cursor.ints(&["created, s", "created, µs"])?.is_none() {
        return Ok(None);
    }
    cursor.list("formats", |cursor| cursor.string("format"))
}
