//! dial9: what a service on tokio did.

use crate::storage::Storage;
use crate::tg_status::{TG_END, TG_MISUSE, TG_OK};
use crate::{give, lent, tg_bytes, tg_error, tg_status};
use core::mem::MaybeUninit;
use core::slice;
use traceglass::dial9::{Event, Fields, Frames, PoolSlot, SchemaSlot, Storage as Rooms, Value};

/// The size of a tg_dial9 in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_DIAL9_SIZE: usize = 384;
/// The size of a tg_dial9 in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_DIAL9_SIZE: usize = 512;

/// The events of a trace that is being read. It must stay where it is: its parts refer to each other.
#[repr(C, align(8))]
pub struct tg_dial9 {
    pub bytes: [u8; TG_DIAL9_SIZE],
}

/// The size of a tg_dial9_schema in bytes.
pub const TG_DIAL9_SCHEMA_SIZE: usize = 128;

/// A slot for a schema of a batch; writers have some tens of them.
#[repr(C, align(8))]
pub struct tg_dial9_schema {
    pub bytes: [u8; TG_DIAL9_SCHEMA_SIZE],
}

/// The size of a tg_dial9_text in bytes.
pub const TG_DIAL9_TEXT_SIZE: usize = 32;

/// A slot for a text in the pool of a batch.
#[repr(C, align(8))]
pub struct tg_dial9_text {
    pub bytes: [u8; TG_DIAL9_TEXT_SIZE],
}

pub(crate) struct Reader {
    /// The slots, to which the frames refer.
    schemas: &'static mut [SchemaSlot],
    texts: &'static mut [PoolSlot],
    frames: MaybeUninit<Frames<'static, 'static>>,
    fields: Option<Fields<'static>>,
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_dial9 {
    type Value = Reader;
}

/// An event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_dial9_event {
    /// The offset in the file.
    pub offset: u64,
    /// Nanoseconds of the writer's monotonic clock, if has_time.
    pub time: u64,
    pub name: tg_bytes,
    pub has_time: bool,
}

/// The kind of value in a field.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tg_dial9_kind {
    /// Something else: a list, a map, a stack, or nothing.
    TG_DIAL9_OTHER = 0,
    /// u.
    TG_DIAL9_UNSIGNED = 1,
    /// i.
    TG_DIAL9_SIGNED = 2,
    /// u: 0 or 1.
    TG_DIAL9_BOOLEAN = 3,
    /// f.
    TG_DIAL9_FLOAT = 4,
    /// bytes. If it is of a pool for which no slots were lent, u is its number, and bytes is empty.
    TG_DIAL9_TEXT = 5,
    /// bytes.
    TG_DIAL9_BLOB = 6,
}

/// A field of an event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_dial9_field {
    pub kind: tg_dial9_kind,
    pub u: u64,
    pub i: i64,
    pub f: f64,
    pub bytes: tg_bytes,
    pub name: tg_bytes,
}

/// The slots of a caller, emptied.
///
/// # Safety
/// They are NULL or writable, and used by nobody else.
unsafe fn slots<S, T: Default>(slots: *mut S, count: usize) -> &'static mut [T] {
    const { assert!(size_of::<S>() >= size_of::<T>() && align_of::<S>() >= align_of::<T>()) };
    if slots.is_null() {
        return &mut [];
    }
    // As many as there are, even if they are smaller than their storage.
    let slots = slots.cast::<T>();
    for at in 0..count {
        // SAFETY: the slot lies in the caller's.
        unsafe { slots.add(at).write(T::default()) };
    }
    // SAFETY: all of them are initialised now.
    unsafe { slice::from_raw_parts_mut(slots, count) }
}

/// Begins to read a trace that lies in memory. There may be no slots for texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_dial9_open(
    dial9: *mut tg_dial9,
    data: *const u8,
    len: usize,
    schemas: *mut tg_dial9_schema,
    schema_count: usize,
    texts: *mut tg_dial9_text,
    text_count: usize,
) -> tg_status {
    // SAFETY: the slots are NULL or the caller's.
    let (schemas, texts) = unsafe { (slots(schemas, schema_count), slots(texts, text_count)) };
    let reader = Reader { schemas, texts, frames: MaybeUninit::uninit(), fields: None };
    // SAFETY: the storage is NULL or writable.
    if !unsafe { tg_dial9::open(dial9, reader) } {
        return TG_MISUSE;
    }
    let Some(reader) = tg_dial9::place(dial9) else { return TG_MISUSE };
    // SAFETY: it was opened right now; from here on, the slots are used by the frames alone. The data is readable and stays.
    unsafe {
        let rooms = Rooms::new(&mut (*reader).schemas);
        let rooms = if text_count > 0 { rooms.strings(&mut (*reader).texts) } else { rooms };
        (*reader).frames.write(Frames::new(lent(data, len), rooms));
    }
    TG_OK
}

/// The next event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_dial9_next(
    dial9: *mut tg_dial9,
    event: *mut tg_dial9_event,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_dial9::place(dial9) else { return TG_MISUSE };
    // SAFETY: it is open; of the reader, these are other fields than the slots.
    let (frames, fields) = unsafe { ((*reader).frames.assume_init_mut(), &mut (*reader).fields) };
    let found = frames.next_event();
    *fields = found.ok().flatten().map(|event| event.fields());
    let said = |event: Event<'static>| tg_dial9_event {
        offset: event.offset(),
        time: event.nanoseconds().unwrap_or(0),
        name: tg_bytes::text(Some(event.name())),
        has_time: event.nanoseconds().is_some(),
    };
    // SAFETY: both are NULL or writable.
    unsafe { give(found.map(|found| found.map(said)), event, error) }
}

/// The next field of the event that was read last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_dial9_next_field(dial9: *mut tg_dial9, field: *mut tg_dial9_field) -> tg_status {
    use tg_dial9_kind::*;
    let Some(reader) = tg_dial9::place(dial9) else { return TG_MISUSE };
    // SAFETY: it is open; of the reader, these are other fields than the slots.
    let (frames, fields) = unsafe { ((*reader).frames.assume_init_ref(), &mut (*reader).fields) };
    let Some(found) = fields.as_mut().and_then(Iterator::next) else { return TG_END };
    let (mut u, mut i, mut f, mut bytes) = (0, 0, 0.0, tg_bytes::NONE);
    let kind = match found.value() {
        Some(Value::I64(value)) => {
            i = value;
            TG_DIAL9_SIGNED
        }
        Some(Value::F64(value)) => {
            f = value;
            TG_DIAL9_FLOAT
        }
        Some(Value::Bool(value)) => {
            u = value.into();
            TG_DIAL9_BOOLEAN
        }
        Some(Value::String(text)) => {
            bytes = tg_bytes::new(text);
            TG_DIAL9_TEXT
        }
        Some(Value::Bytes(found)) => {
            bytes = tg_bytes::new(found);
            TG_DIAL9_BLOB
        }
        Some(Value::PooledString(id)) => {
            u = id.into();
            bytes = frames.string(id).map_or(tg_bytes::NONE, tg_bytes::new);
            TG_DIAL9_TEXT
        }
        Some(value) => match value.unsigned() {
            Some(value) => {
                u = value;
                TG_DIAL9_UNSIGNED
            }
            None => TG_DIAL9_OTHER,
        },
        None => TG_DIAL9_OTHER,
    };
    let said = tg_dial9_field { kind, u, i, f, bytes, name: tg_bytes::text(Some(found.name())) };
    // SAFETY: it is NULL or writable.
    unsafe { give(Ok(Some(said)), field, core::ptr::null_mut()) }
}
