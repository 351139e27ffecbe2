//! traceglass for C: what `include/traceglass.h` declares.
//!
//! The only code with `unsafe` around the library, which has none. A reader lies in storage of the caller, as bytes whose
//! number is in the header; [`Storage`] is the one place where bytes become a reader. What a pointer of the caller must
//! be is said once, in the header of each function; `NULL` where something must be is [`tg_status::TG_MISUSE`].

// With an operating system, what Rust's core needs of a runtime comes from std; nothing here uses it.
#![cfg_attr(target_os = "none", no_std)]
#![allow(non_camel_case_types)] // They are C's names.
#![allow(clippy::missing_safety_doc)] // The header says it: data is readable, results writable, storage opened before.
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

#[cfg(feature = "events")]
mod arena;
#[cfg(feature = "events")]
mod args;
#[cfg(feature = "crash")]
pub mod crash;
#[cfg(feature = "ctf")]
pub mod ctf;
#[cfg(feature = "dial9")]
pub mod dial9;
#[cfg(feature = "events")]
pub mod events;
#[cfg(feature = "rdf")]
pub mod rdf;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "rfr")]
pub mod rfr;
#[cfg(feature = "rtc")]
pub mod rtc;
mod storage;
#[cfg(test)]
mod tests;

use core::slice;
use traceglass::{Error, ErrorKind};

/// The library does not panic, which its own checks prove; in a program where a path to here is left, it stops.
#[cfg(target_os = "none")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The result of a function.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tg_status {
    /// There is nothing more.
    TG_END = 0,
    /// Something was read.
    TG_OK = 1,
    /// It cannot be read; the error says what and where.
    TG_ERROR = -1,
    /// The storage that was lent is too small; the error says how much is needed.
    TG_TOO_SMALL = -2,
    /// A pointer is NULL. Storage that was not opened, or could not be, cannot be told from open storage: it must not be
    /// used before it is opened.
    TG_MISUSE = -3,
}

use tg_status::{TG_END, TG_ERROR, TG_MISUSE, TG_OK, TG_TOO_SMALL};

/// Bytes that are borrowed: from the data that is read, from what was lent, or from the library. No NUL ends them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_bytes {
    pub ptr: *const u8,
    pub len: usize,
}

/// Why something cannot be read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_error {
    /// The offset in the data.
    pub offset: u64,
    /// The element that was being read: "RDF file header".
    pub element: tg_bytes,
    /// The kind of error: "unexpected-end".
    pub kind: tg_bytes,
    /// The number of bytes that are missing in the data, or of bytes or slots that are needed in all, if that is the error;
    /// else 0.
    pub needed: u64,
}

/// The version of the library: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tg_version() -> tg_bytes {
    tg_bytes::new(env!("CARGO_PKG_VERSION").as_bytes())
}

impl tg_bytes {
    const NONE: Self = Self { ptr: core::ptr::null(), len: 0 };

    fn new(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() }
    }

    fn text(text: Option<&str>) -> Self {
        text.map_or(Self::NONE, |text| Self::new(text.as_bytes()))
    }
}

/// The bytes that a caller lends; none if there is no pointer.
///
/// # Safety
/// They are readable, and are not written while what was made from them is used.
unsafe fn lent<'a, T>(ptr: *const T, len: usize) -> &'a [T] {
    if ptr.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(ptr, len) }
}

/// Likewise, to be written.
///
/// # Safety
/// They are initialised, writable, and used by nobody else while what was made from them is used.
unsafe fn lent_mut<'a, T>(ptr: *mut T, len: usize) -> &'a mut [T] {
    if ptr.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(ptr, len) }
}

/// Hands a result over: the value if there is one, the end if there is none, else the error.
///
/// # Safety
/// `to` and `error` are NULL or writable.
unsafe fn give<T>(found: traceglass::Result<Option<T>>, to: *mut T, error: *mut tg_error) -> tg_status {
    match found {
        Ok(Some(_)) if to.is_null() => TG_MISUSE,
        Ok(Some(found)) => {
            // SAFETY: it is writable.
            unsafe { to.write(found) };
            TG_OK
        }
        Ok(None) => TG_END,
        // SAFETY: it is NULL or writable.
        Err(found) => unsafe { fail(found, error) },
    }
}

/// Says what is wrong.
///
/// # Safety
/// `to` is NULL or writable.
#[cold]
#[inline(never)]
unsafe fn fail(error: Error, to: *mut tg_error) -> tg_status {
    let (status, needed) = match error.kind() {
        ErrorKind::CapacityExceeded { needed, .. } => (TG_TOO_SMALL, needed),
        ErrorKind::UnexpectedEnd { needed } => (TG_ERROR, needed),
        _ => (TG_ERROR, 0),
    };
    if !to.is_null() {
        let said = tg_error {
            offset: error.offset(),
            element: tg_bytes::new(error.element().name().as_bytes()),
            kind: tg_bytes::new(error.kind().code().as_bytes()),
            needed,
        };
        // SAFETY: it is writable.
        unsafe { to.write(said) };
    }
    status
}
