//! The driver's events before a GPU crashed: the chunks "DDEvent" of RDF files.

use crate::storage::Storage;
use crate::tg_status::{TG_MISUSE, TG_OK};
use crate::{fail, give, lent, tg_bytes, tg_error, tg_status};
use traceglass::rdf::Identifier;
use traceglass::rdf::contents::{Content, DriverEvents, Event, EventValue, Events};

/// The size of a tg_crash in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_CRASH_SIZE: usize = 112;
/// The size of a tg_crash in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_CRASH_SIZE: usize = 128;

/// The events of a chunk that is being read.
#[repr(C, align(8))]
pub struct tg_crash {
    pub bytes: [u8; TG_CRASH_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_crash {
    type Value = Events<'static>;
}

/// An event of the driver.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_crash_event {
    /// The offset in the data of the chunk.
    pub offset: u64,
    /// The time in ticks of the GPU, if has_time.
    pub ticks: u64,
    /// The name of its kind; empty if it is not known.
    pub kind: tg_bytes,
    /// Of a page fault: the address, and the process.
    pub address: u64,
    pub pid: u32,
    pub process: tg_bytes,
    /// Of the state of a command buffer: its number.
    pub cmd_buffer: u32,
    pub has_time: bool,
    pub is_page_fault: bool,
    /// The command buffer had begun and had not ended.
    pub is_in_flight: bool,
}

/// Begins to read the events of a chunk: its version, header and data, as tg_rdf_entry_at, tg_rdf_header and tg_rdf_data
/// give them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_crash_open(
    crash: *mut tg_crash,
    version: u32,
    header: tg_bytes,
    data: tg_bytes,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: both are readable, and stay.
    let (header, data) = unsafe { (lent(header.ptr, header.len), lent(data.ptr, data.len)) };
    let events = |events: DriverEvents<'static>| events.events();
    let parsed = Content::parse(Identifier::from_bytes(*b"DDEvent\0\0\0\0\0\0\0\0\0"), version, header, data);
    match parsed {
        // SAFETY: the storage is NULL or writable.
        Ok(Content::DriverEvents(found)) if unsafe { tg_crash::open(crash, events(found)) } => TG_OK,
        Ok(_) => TG_MISUSE,
        // SAFETY: it is NULL or writable.
        Err(found) => unsafe { fail(found, error) },
    }
}

/// The next event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_crash_next(
    crash: *mut tg_crash,
    event: *mut tg_crash_event,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the storage is NULL or open.
    let Some(events) = (unsafe { tg_crash::get(crash) }) else { return TG_MISUSE };
    let found = events.next().transpose().and_then(|found| found.map(|found| said(&found)).transpose());
    // SAFETY: both are NULL or writable.
    unsafe { give(found, event, error) }
}

fn said(event: &Event<'static>) -> traceglass::Result<tg_crash_event> {
    let mut said = tg_crash_event {
        offset: event.offset(),
        ticks: event.ticks().unwrap_or(0),
        kind: tg_bytes::text(event.kind_name()),
        address: 0,
        pid: 0,
        process: tg_bytes::NONE,
        cmd_buffer: 0,
        has_time: event.ticks().is_some(),
        is_page_fault: false,
        is_in_flight: false,
    };
    match event.value()? {
        EventValue::PageFault(fault) => {
            (said.is_page_fault, said.address, said.pid) = (true, fault.address(), fault.pid());
            said.process = tg_bytes::new(fault.process());
        }
        EventValue::BufferState(state) => {
            (said.cmd_buffer, said.is_in_flight) = (state.cmd_buffer(), state.is_in_flight());
        }
        _ => {}
    }
    Ok(said)
}
