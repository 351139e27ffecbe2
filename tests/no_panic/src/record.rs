//! The entries of `traceglass-record`.

use core::sync::atomic::{AtomicU8, AtomicU32};
use traceglass_record::sink::{Flash, Queue, Sink};
use traceglass_record::{Drain, Marks, Pages, Recorder, State, Text, events, labels};

labels! {
    /// A phase.
    enum Phase: u8 { Idle = 0, Busy = 1 }
}

events! {
    /// Fields of each kind.
    trace Everything {
        clock 1_000;
        event Nothing {}
        event Mixed { a: u8, b: i64, c: f32, phase: Phase, name: Text<7> }
    }
}

static MEMORY: [AtomicU32; 300] = [const { AtomicU32::new(0) }; 300];
static BYTES: [AtomicU8; 30] = [const { AtomicU8::new(0) }; 30];
static MARKS: Marks = Marks::new();

/// A recorder of any state, as another language may hand it over.
fn recorder(state: &State, page_words: usize) -> Recorder<'static, Everything> {
    Recorder::resume(Pages::new(&MEMORY, page_words), Some(&MARKS), *state)
}

/// # Safety
/// As `slice`, of at most 7 bytes of text; the state is readable and writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn record_event(
    state: *mut State,
    page_words: usize,
    time: u64,
    text: *const u8,
    len: usize,
) -> bool {
    let (state, text) = unsafe { (&mut *state, crate::slice(text, len)) };
    let Ok(name) = core::str::from_utf8(text) else { return false };
    let mut recorder = recorder(state, page_words);
    let phase = if len == 0 { Phase::Idle } else { Phase::Busy };
    let mixed = Mixed { a: len as u8, b: time as i64, c: len as f32, phase, name: Text::new(name) };
    let is_recorded = recorder.record(time, &Nothing {}) && recorder.record(time, &mixed);
    recorder.close();
    *state = recorder.state();
    is_recorded
}

/// # Safety
/// As `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn record_send(page_words: usize, place: usize, to: *mut u8, len: usize) -> bool {
    let mut to = unsafe { crate::slice_mut(to, len) };
    let mut drain = Drain::resume(Pages::new(&MEMORY, page_words), &MARKS, place);
    drain.send(&mut to)
}

struct Words(u32);

impl Flash for Words {
    type Error = ();

    fn erase(&mut self, slot: u32) -> Result<(), ()> {
        if slot > self.0 { Err(()) } else { Ok(()) }
    }

    fn program(&mut self, _: u32, offset: u32, words: &[u32; 4]) -> Result<(), ()> {
        self.0 = words.iter().fold(self.0 ^ offset, |sum, word| sum ^ word);
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn record_store(page_words: usize, place: usize, slot: u32) -> u32 {
    let mut flash = Words(slot);
    let mut drain = Drain::resume(Pages::new(&MEMORY, page_words), &MARKS, place);
    match drain.store(&mut flash, slot) {
        Ok(true) => flash.0,
        _ => 0,
    }
}

/// # Safety
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn record_queue(data: *const u8, len: usize) -> u32 {
    let queue = Queue::new(&BYTES);
    let taken = (&mut &queue).put(unsafe { crate::slice(data, len) });
    core::iter::from_fn(|| queue.take()).fold(taken as u32, |sum, byte| sum ^ u32::from(byte))
}
