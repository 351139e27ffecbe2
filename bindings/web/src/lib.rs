//! The module of the page: files that it lends, command lines that it runs, and the timeline that it draws.
//!
//! The page writes bytes into memory that [`tg_alloc`] gives, and reads what [`tg_timeline`] made from there. What a command
//! prints goes to the page as it comes.

mod host;
mod timeline;

use host::{Stream, bytes, text};
use std::path::Path;
use timeline::Timeline;
use traceglass_cli::Console;
use traceglass_cli::page;

/// Memory for `len` bytes, which the next call that takes it frees; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tg_alloc(len: usize) -> *mut u8 {
    host::lend(len)
}

/// Takes a file: its path and its bytes, both in memory that was lent.
#[unsafe(no_mangle)]
pub extern "C" fn tg_file(path: *mut u8, path_len: usize, data: *mut u8, len: usize) {
    page::put(Path::new(&text(path, path_len)), bytes(data, len));
}

/// Lets go of all files.
#[unsafe(no_mangle)]
pub extern "C" fn tg_clear() {
    page::clear();
}

/// Runs a command line, whose arguments end with a zero each. Returns its exit status.
#[unsafe(no_mangle)]
pub extern "C" fn tg_run(line: *mut u8, len: usize) -> u32 {
    page::on_progress(host::progress);
    let line = text(line, len);
    let words: Vec<&str> = line.split_terminator('\0').collect();
    u32::from(page::run(&words, Console::new(Stream::OUT, Stream::ERR, false)))
}

/// Reads the timeline of a path. Returns 0, or 1 if there is none: then the message is on the error stream.
#[unsafe(no_mangle)]
pub extern "C" fn tg_timeline(path: *mut u8, len: usize) -> u32 {
    page::on_progress(host::progress);
    match page::slices(Path::new(&text(path, len)), Timeline::default()) {
        Ok(timeline) => {
            timeline.finish(host::column);
            0
        }
        Err(message) => {
            host::complain(&message);
            1
        }
    }
}
