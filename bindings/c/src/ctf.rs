//! CTF, 1.8 and 2: schemas, and the event records of data streams.

use crate::storage::Storage;
use crate::tg_status::{TG_END, TG_MISUSE, TG_OK, TG_TOO_SMALL};
use crate::{fail, give, lent, tg_bytes, tg_error, tg_status};
use core::{ptr, slice};
use traceglass::ctf::data::{Field, Fields, Packet, Packets, Record, Records, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema, json};

/// The size of a tg_ctf_schema in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_CTF_SCHEMA_SIZE: usize = 208;
/// The size of a tg_ctf_schema in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_CTF_SCHEMA_SIZE: usize = 256;

/// The layout of a trace's streams, compiled from its metadata.
#[repr(C, align(8))]
pub struct tg_ctf_schema {
    pub bytes: [u8; TG_CTF_SCHEMA_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_ctf_schema {
    type Value = Schema<'static, 'static>;
}

/// A slot for a part of a schema that is compiled.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_ctf_node {
    pub words: [u32; 6],
}

/// The size of a tg_ctf in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_CTF_SIZE: usize = 2_944;
/// The size of a tg_ctf in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_CTF_SIZE: usize = 3_072;

/// The event records of a data stream that is being read. It must stay where it is: its parts refer to each other.
#[repr(C, align(8))]
pub struct tg_ctf {
    pub bytes: [u8; TG_CTF_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_ctf {
    type Value = Reader;
}

/// The reader of a stream. Records borrow their packet, so fields are used one by one: a reference to all of it would
/// be one to the packet, too.
pub(crate) struct Reader {
    packets: Packets<'static, 'static>,
    packet: Option<Packet<'static, 'static>>,
    records: Option<Records<'static, 'static, 'static>>,
    /// The fields of the event that was read last; NULL before its first field is read. They are not kept apart, as to
    /// copy them takes longer than to read them.
    fields: *mut Fields<'static, 'static>,
    field: Option<Field<'static, 'static>>,
    record: Option<Record<'static, 'static, 'static>>,
}

/// An event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_ctf_event {
    /// The number of its class, and that of its stream class.
    pub id: u64,
    pub stream_class: u64,
    /// The time in ticks of the stream's clock, if has_time.
    pub ticks: u64,
    /// The name of its class; empty if it has none, or is written with escapes.
    pub name: tg_bytes,
    pub has_time: bool,
}

/// The kind of value in a field.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tg_ctf_kind {
    /// Something else: an integer of more than 64 bits, a bit array.
    TG_CTF_OTHER = 0,
    /// u.
    TG_CTF_UNSIGNED = 1,
    /// i.
    TG_CTF_SIGNED = 2,
    /// u: 0 or 1.
    TG_CTF_BOOLEAN = 3,
    /// f.
    TG_CTF_FLOAT = 4,
    /// bytes.
    TG_CTF_TEXT = 5,
    /// bytes.
    TG_CTF_BLOB = 6,
    /// Members follow, then TG_CTF_CLOSE.
    TG_CTF_STRUCTURE = 7,
    /// u elements follow, then TG_CTF_CLOSE.
    TG_CTF_ARRAY = 8,
    /// u is 1: its content follows, then TG_CTF_CLOSE. u is 0: neither.
    TG_CTF_OPTIONAL = 9,
    /// The option of the number u follows, then TG_CTF_CLOSE.
    TG_CTF_VARIANT = 10,
    /// The end of what began last.
    TG_CTF_CLOSE = 11,
}

/// A field of an event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_ctf_field {
    pub kind: tg_ctf_kind,
    pub u: u64,
    pub i: i64,
    pub f: f64,
    pub bytes: tg_bytes,
    /// The name of the member; empty if it is none, or is written with escapes.
    pub name: tg_bytes,
}

/// Hands a schema over.
///
/// # Safety
/// The storage and `error` are NULL or writable.
unsafe fn give_schema(
    compiled: traceglass::Result<Schema<'static, 'static>>,
    schema: *mut tg_ctf_schema,
    error: *mut tg_error,
) -> tg_status {
    match compiled {
        // SAFETY: it is NULL or writable.
        Ok(compiled) if unsafe { tg_ctf_schema::open(schema, compiled) } => TG_OK,
        Ok(_) => TG_MISUSE,
        // SAFETY: it is NULL or writable.
        Err(found) => unsafe { fail(found, error) },
    }
}

/// The slots of a caller, emptied.
///
/// # Safety
/// They are NULL or writable, and used by nobody else.
unsafe fn nodes(slots: *mut tg_ctf_node, count: usize) -> &'static mut [Node] {
    const {
        assert!(
            size_of::<tg_ctf_node>() == size_of::<Node>() && align_of::<tg_ctf_node>() >= align_of::<Node>()
        )
    };
    if slots.is_null() {
        return &mut [];
    }
    let slots = slots.cast::<Node>();
    for at in 0..count {
        // SAFETY: the slot is one of the caller's.
        unsafe { slots.add(at).write(Node::EMPTY) };
    }
    // SAFETY: all of them are initialised now.
    unsafe { slice::from_raw_parts_mut(slots, count) }
}

/// Compiles metadata, of CTF 2 or 1.8, into slots. TG_TOO_SMALL tells how many are needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_compile(
    schema: *mut tg_ctf_schema,
    metadata: *const u8,
    len: usize,
    slots: *mut tg_ctf_node,
    count: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the metadata is readable and stays, the slots are the caller's.
    let (metadata, nodes) = unsafe { (lent(metadata, len), nodes(slots, count)) };
    let compiled = MetadataStream::parse(metadata).and_then(|stream| Schema::compile(&stream, nodes));
    // SAFETY: both are NULL or writable.
    unsafe { give_schema(compiled, schema, error) }
}

/// The same for CTF 2 alone, in less code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_compile_json(
    schema: *mut tg_ctf_schema,
    metadata: *const u8,
    len: usize,
    slots: *mut tg_ctf_node,
    count: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the metadata is readable and stays, the slots are the caller's.
    let (metadata, nodes) = unsafe { (lent(metadata, len), nodes(slots, count)) };
    let compiled = MetadataStream::parse(metadata).and_then(|stream| json::compile(stream, nodes));
    // SAFETY: both are NULL or writable.
    unsafe { give_schema(compiled, schema, error) }
}

/// A schema that `traceglass compile --c` compiled, read where it lies: the address is a multiple of 4, the length is in
/// bytes. It may come from anywhere: it is validated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_load(
    schema: *mut tg_ctf_schema,
    table: *const u32,
    len: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the table is readable, and stays.
    let loaded = Schema::parse(unsafe { lent(table.cast(), len) });
    // SAFETY: both are NULL or writable.
    unsafe { give_schema(loaded, schema, error) }
}

/// The same for a table that is a part of the program, in less code: it is not validated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_load_trusted(
    schema: *mut tg_ctf_schema,
    table: *const u32,
    len: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the table is readable, and stays.
    let loaded = Schema::parse_trusted(unsafe { lent(table.cast(), len) });
    // SAFETY: both are NULL or writable.
    unsafe { give_schema(loaded, schema, error) }
}

/// Begins to read a data stream that lies in memory. The schema must stay where it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_open(
    ctf: *mut tg_ctf,
    schema: *mut tg_ctf_schema,
    data: *const u8,
    len: usize,
) -> tg_status {
    let Some(schema) = tg_ctf_schema::place(schema) else { return TG_MISUSE };
    // SAFETY: the schema is open and is only read from now on; the data is readable, and stays.
    let packets = unsafe { Packets::new(lent(data, len), &*schema) };
    let reader =
        Reader { packets, packet: None, records: None, fields: ptr::null_mut(), field: None, record: None };
    // SAFETY: the storage is NULL or writable.
    if unsafe { tg_ctf::open(ctf, reader) } { TG_OK } else { TG_MISUSE }
}

/// The next event. After an error in an event, the next packet goes on; after one that keeps a packet from being found,
/// nothing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_next(
    ctf: *mut tg_ctf,
    event: *mut tg_ctf_event,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_ctf::place(ctf) else { return TG_MISUSE };
    // SAFETY: it is open.
    let found = unsafe { next(reader) };
    // SAFETY: both are NULL or writable.
    unsafe { give(found, event, error) }
}

/// The next event of a reader.
///
/// # Safety
/// It is open, lies where it was opened, and nothing else uses it.
unsafe fn next(reader: *mut Reader) -> traceglass::Result<Option<tg_ctf_event>> {
    // SAFETY: of the reader, these are other fields than the packet.
    let (packets, records, last) = unsafe {
        (*reader).fields = ptr::null_mut();
        (*reader).field = None;
        (&mut (*reader).packets, &mut (*reader).records, &mut (*reader).record)
    };
    *last = None;
    loop {
        if let Some(open) = records {
            if let Some(record) = open.next_record()? {
                *last = Some(record);
                let class = record.class();
                let ticks = record.cycles();
                return Ok(Some(tg_ctf_event {
                    id: class.id(),
                    stream_class: class.stream_class().id(),
                    ticks: ticks.unwrap_or(0),
                    name: tg_bytes::text(class.name().and_then(|name| name.borrowed())),
                    has_time: ticks.is_some(),
                }));
            }
            *records = None;
        }
        let Some(packet) = packets.next_packet()? else { return Ok(None) };
        // SAFETY: no records of the packet before are left; those of this one refer to where it lies, and stay with it.
        *records = unsafe {
            (*reader).packet = Some(packet);
            let packet: *const Option<Packet<'static, 'static>> = &raw const (*reader).packet;
            packet.as_ref().and_then(Option::as_ref).map(Packet::records)
        };
    }
}

/// The time of the event that was read last, in nanoseconds since the clock's origin; TG_END if it has none, or has more
/// than 63 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_nanoseconds(ctf: *mut tg_ctf, nanoseconds: *mut i64) -> tg_status {
    let Some(reader) = tg_ctf::place(ctf) else { return TG_MISUSE };
    // SAFETY: it is open.
    let record = unsafe { &(*reader).record };
    let time = record.as_ref().and_then(|record| i64::try_from(record.nanoseconds()?).ok());
    // SAFETY: it is NULL or writable.
    unsafe { give(Ok(time), nanoseconds, ptr::null_mut()) }
}

/// The next field of the payload of the event that was read last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_next_field(
    ctf: *mut tg_ctf,
    field: *mut tg_ctf_field,
    error: *mut tg_error,
) -> tg_status {
    let Some(reader) = tg_ctf::place(ctf) else { return TG_MISUSE };
    // SAFETY: it is open. The pointer is to a part of the records, which are not used until the next event sets it to
    // NULL; nor is all of the reader.
    let open = unsafe {
        if (*reader).fields.is_null() {
            let records = &mut (*reader).records;
            let Some(fields) = records.as_mut().and_then(Records::payload) else { return TG_END };
            (*reader).fields = fields;
        }
        &mut *(*reader).fields
    };
    let found = open.next_field();
    // SAFETY: it is open; the fields are no part of this.
    unsafe { (*reader).field = found.ok().flatten() };
    // SAFETY: both are NULL or writable.
    unsafe { give(found.map(|found| found.as_ref().map(said)), field, error) }
}

/// The label of the value of the field that was read last, an integer; TG_END if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_label(ctf: *mut tg_ctf, label: *mut tg_bytes) -> tg_status {
    let Some(reader) = tg_ctf::place(ctf) else { return TG_MISUSE };
    // SAFETY: it is open.
    let field = unsafe { &(*reader).field };
    let name = field.as_ref().and_then(|field| {
        let value = match field.value() {
            Value::Unsigned(value) => i128::from(value),
            Value::Signed(value) => i128::from(value),
            _ => return None,
        };
        field.class().labels(value).next()?.borrowed()
    });
    // SAFETY: it is NULL or writable.
    unsafe { give(Ok(name.map(|name| tg_bytes::text(Some(name)))), label, ptr::null_mut()) }
}

/// The name of the member that was read last, without escapes, decoded into a buffer; TG_TOO_SMALL if it does not fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_field_name(
    ctf: *mut tg_ctf,
    buffer: *mut u8,
    buffer_len: usize,
    name: *mut tg_bytes,
) -> tg_status {
    let Some(reader) = tg_ctf::place(ctf) else { return TG_MISUSE };
    // SAFETY: it is open; the buffer is initialised and writable.
    let (field, buffer) = unsafe { (&(*reader).field, crate::lent_mut(buffer, buffer_len)) };
    match field.as_ref().and_then(|field| field.name()).map(|name| name.decode(buffer)) {
        None => TG_END,
        Some(Err(_)) => TG_TOO_SMALL,
        // SAFETY: it is NULL or writable.
        Some(Ok(text)) => unsafe { give(Ok(Some(tg_bytes::text(Some(text)))), name, ptr::null_mut()) },
    }
}

fn said(field: &Field<'static, 'static>) -> tg_ctf_field {
    use tg_ctf_kind::*;
    let (mut u, mut i, mut f, mut bytes) = (0, 0, 0.0, tg_bytes::NONE);
    let kind = match field.value() {
        Value::Unsigned(value) => {
            u = value;
            TG_CTF_UNSIGNED
        }
        Value::Signed(value) => {
            i = value;
            TG_CTF_SIGNED
        }
        Value::Boolean(value) => {
            u = value.into();
            TG_CTF_BOOLEAN
        }
        Value::Float(value) => match value.to_f64() {
            Some(value) => {
                f = value;
                TG_CTF_FLOAT
            }
            None => TG_CTF_OTHER,
        },
        Value::Text(text) => {
            bytes = tg_bytes::new(text.bytes());
            TG_CTF_TEXT
        }
        Value::Blob(blob) => {
            bytes = tg_bytes::new(blob);
            TG_CTF_BLOB
        }
        Value::Structure => TG_CTF_STRUCTURE,
        Value::Array(count) => {
            u = count;
            TG_CTF_ARRAY
        }
        Value::Optional(is_there) => {
            u = is_there.into();
            TG_CTF_OPTIONAL
        }
        Value::Variant(option) => {
            u = option.into();
            TG_CTF_VARIANT
        }
        Value::End => TG_CTF_CLOSE,
        _ => TG_CTF_OTHER,
    };
    tg_ctf_field { kind, u, i, f, bytes, name: tg_bytes::text(field.name().and_then(|name| name.borrowed())) }
}
