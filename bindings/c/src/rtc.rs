//! RTC: Ruler Trace Container, read strictly.

use crate::storage::Storage;
use crate::tg_status::{TG_MISUSE, TG_OK};
use crate::{give, lent, lent_mut, tg_bytes, tg_error, tg_status};
use traceglass::rtc::{Record, Records, StreamSlot};

/// The greatest number of streams.
pub const TG_RTC_STREAMS: usize = 16;

/// The size of a tg_rtc in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_RTC_SIZE: usize = 7_168;
/// The size of a tg_rtc in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_RTC_SIZE: usize = 8_192;

/// The records of a file that is being read.
#[repr(C, align(16))]
pub struct tg_rtc {
    pub bytes: [u8; TG_RTC_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_rtc {
    type Value = Records<'static, 'static, [StreamSlot<'static>; TG_RTC_STREAMS]>;
}

/// A record.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_rtc_record {
    /// The offset of its first frame.
    pub offset: u64,
    /// The id of its stream.
    pub stream: u64,
    /// The time in seconds since the origin of the clock, if has_time; and the nanoseconds after that.
    pub seconds: i64,
    pub nanoseconds: u32,
    pub has_time: bool,
    /// The name of its stream; empty if it has none, or is written with escapes.
    pub name: tg_bytes,
    pub data: tg_bytes,
}

/// Begins to read a file that lies in memory. Records in several frames are joined in the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rtc_open(
    rtc: *mut tg_rtc,
    data: *const u8,
    len: usize,
    buffer: *mut u8,
    buffer_len: usize,
) -> tg_status {
    // SAFETY: the data is readable and stays; the buffer is initialised, writable, and used by nobody else.
    let (data, buffer) = unsafe { (lent(data, len), lent_mut(buffer, buffer_len)) };
    // SAFETY: the storage is NULL or writable.
    if unsafe { tg_rtc::open(rtc, Records::new(data, [StreamSlot::EMPTY; TG_RTC_STREAMS], buffer)) } {
        TG_OK
    } else {
        TG_MISUSE
    }
}

/// The next record. Its data may lie in the buffer: it holds until the next call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rtc_next(
    rtc: *mut tg_rtc,
    record: *mut tg_rtc_record,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the storage is NULL or open.
    let Some(records) = (unsafe { tg_rtc::get(rtc) }) else { return TG_MISUSE };
    let found = records.next_record().and_then(|found| found.map(|found| said(&found)).transpose());
    // SAFETY: both are NULL or writable.
    unsafe { give(found, record, error) }
}

fn said(record: &Record<'_, '_>) -> traceglass::Result<tg_rtc_record> {
    let time = record.time();
    Ok(tg_rtc_record {
        offset: record.offset(),
        stream: record.stream().id(),
        seconds: time.map_or(0, |time| time.seconds()),
        nanoseconds: time.map_or(0, |time| time.nanoseconds()),
        has_time: time.is_some(),
        name: tg_bytes::text(record.stream().name().and_then(|name| name.borrowed())),
        data: tg_bytes::new(record.bytes()?),
    })
}
