//! The data that the page and the module exchange.

use std::io::{self, ErrorKind, Write};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes what a command prints; false if no more is wanted.
    fn write(stream: u32, data: *const u8, len: usize) -> u32;
    /// Takes how far reading has come.
    fn advance(done: f64, total: f64);
    /// Takes a column of the timeline: its name, the bytes of a value, and the values.
    fn take(name: *const u8, name_len: usize, width: u32, data: *const u8, len: usize);
}

/// Memory that the page fills; null if there is not so much.
pub fn lend(len: usize) -> *mut u8 {
    let mut data: Vec<u8> = Vec::new();
    if data.try_reserve_exact(len).is_err() {
        return std::ptr::null_mut();
    }
    data.resize(len, 0);
    if len == 0 { std::ptr::dangling_mut() } else { Box::into_raw(data.into_boxed_slice()).cast() }
}

/// The bytes that were lent, filled.
pub fn bytes(data: *mut u8, len: usize) -> Vec<u8> {
    if len == 0 {
        return Vec::new();
    }
    // SAFETY: `lend` gave this memory as a boxed slice of this length, and the page gives it back once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, len)) }.into_vec()
}

/// Text that was lent.
pub fn text(data: *mut u8, len: usize) -> String {
    String::from_utf8_lossy(&bytes(data, len)).into_owned()
}

/// A stream of a command.
pub struct Stream(u32);

impl Stream {
    pub const OUT: Self = Self(1);
    pub const ERR: Self = Self(2);
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // SAFETY: the page reads these bytes during the call.
        match unsafe { write(self.0, data.as_ptr(), data.len()) } {
            0 => Err(ErrorKind::BrokenPipe.into()),
            _ => Ok(data.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says why something failed.
pub fn complain(message: &str) {
    // Nobody is there to be told that this failed.
    let _ = { Stream::ERR }.write(message.as_bytes());
}

/// Says how far reading has come.
#[allow(clippy::cast_precision_loss)] // Of bytes that lie in memory.
pub fn progress(done: u64, total: u64) {
    // SAFETY: two numbers.
    unsafe { advance(done as f64, total as f64) }
}

/// Gives a column of values of `width` bytes to the page.
pub fn column(name: &str, width: u32, data: &[u8]) {
    // SAFETY: the page copies both during the call.
    unsafe { take(name.as_ptr(), name.len(), width, data.as_ptr(), data.len()) }
}
