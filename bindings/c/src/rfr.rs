//! RFR: Rust Flight Recorder, chunk files and streaming files.

use crate::storage::Storage;
use crate::tg_status::{TG_MISUSE, TG_OK};
use crate::{fail, give, lent, tg_bytes, tg_error, tg_status};
use traceglass::rfr::element::TIMESTAMP;
use traceglass::rfr::{Chunk, Records, Sequences, StreamData, StreamRecords, Streaming};
use traceglass::{Error, ErrorKind};

/// The size of a tg_rfr in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_RFR_SIZE: usize = 192;
/// The size of a tg_rfr in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_RFR_SIZE: usize = 256;

/// The records of a file that is being read.
#[repr(C, align(8))]
pub struct tg_rfr {
    pub bytes: [u8; TG_RFR_SIZE],
}

/// The reader of a file. The base of a chunk is in microseconds.
pub(crate) enum Reader {
    Chunk { base: u64, sequences: Sequences<'static>, records: Option<Records<'static>>, number: u32 },
    Stream(StreamRecords<'static>),
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_rfr {
    type Value = Reader;
}

/// A record.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_rfr_record {
    /// The offset in the file.
    pub offset: u64,
    /// Microseconds since the Unix epoch.
    pub time: u64,
    /// The id of what it is about, if has_iid: a task, a span, a callsite.
    pub iid: u64,
    /// The name of its kind: "TaskPollStart".
    pub kind: tg_bytes,
    /// The number of its sequence in the chunk, from 0.
    pub sequence: u32,
    pub has_iid: bool,
}

/// Begins to read a chunk file, or a streaming file, that lies in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rfr_open(
    rfr: *mut tg_rfr,
    data: *const u8,
    len: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the data is readable, and stays.
    let data = unsafe { lent(data, len) };
    let stream = || Streaming::parse(data).map(|file| Reader::Stream(file.records()));
    let chunk = |chunk: Chunk<'static>| {
        let base = chunk.header().base_micros()?;
        Ok(Reader::Chunk { base, sequences: chunk.sequences(), records: None, number: 0 })
    };
    // Other data is told as no chunk.
    let reader = match Chunk::parse(data) {
        Ok(found) => chunk(found),
        Err(error) => stream().map_err(|_| error),
    };
    match reader {
        Ok(reader) => {
            // SAFETY: the storage is NULL or writable.
            let is_open = unsafe { tg_rfr::open(rfr, reader) };
            if is_open { TG_OK } else { TG_MISUSE }
        }
        // SAFETY: it is NULL or writable.
        Err(found) => unsafe { fail(found, error) },
    }
}

/// The next record, in the order of the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rfr_next(
    rfr: *mut tg_rfr,
    record: *mut tg_rfr_record,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the storage is NULL or open.
    let Some(reader) = (unsafe { tg_rfr::get(rfr) }) else { return TG_MISUSE };
    // SAFETY: both are NULL or writable.
    unsafe { give(reader.next(), record, error) }
}

impl Reader {
    fn next(&mut self) -> traceglass::Result<Option<tg_rfr_record>> {
        match self {
            Self::Stream(records) => {
                let Some(found) = records.next_record()? else { return Ok(None) };
                let iid = match found.data() {
                    StreamData::Record(data) => data.iid(),
                    _ => None,
                };
                Ok(Some(tg_rfr_record {
                    offset: found.offset(),
                    time: found.unix_micros()?,
                    iid: iid.unwrap_or(0),
                    kind: tg_bytes::text(Some(found.kind().name())),
                    sequence: 0,
                    has_iid: iid.is_some(),
                }))
            }
            Self::Chunk { base, sequences, records, number } => loop {
                if let Some(found) = records.as_mut().and_then(Iterator::next) {
                    let found = found?;
                    let iid = found.iid();
                    let overflow = ErrorKind::Overflow { value: found.micros() };
                    let overflow = Error::new(found.offset(), TIMESTAMP, overflow);
                    return Ok(Some(tg_rfr_record {
                        offset: found.offset(),
                        time: base.checked_add(found.micros()).ok_or(overflow)?,
                        iid: iid.unwrap_or(0),
                        kind: tg_bytes::text(Some(found.kind().name())),
                        sequence: number.saturating_sub(1),
                        has_iid: iid.is_some(),
                    }));
                }
                let Some(sequence) = sequences.next() else { return Ok(None) };
                *records = Some(sequence?.records()?);
                *number = number.saturating_add(1);
            },
        }
    }
}
