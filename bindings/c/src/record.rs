//! Recording CTF: what `include/traceglass_record.h` calls once a page is full.

use crate::tg_status::{TG_MISUSE, TG_OK};
use crate::{give, lent, tg_status};
use core::sync::atomic::AtomicU32;
use traceglass_record::{Drain, Marks, Pages, Recorder, State};

// As `traceglass_record.h` has it.
const _: () = assert!(traceglass_record::packet::HEADER == 10 && traceglass_record::packet::RECORD == 2);

/// Events on their way into packets of CTF, in pages of memory. Its fields are the library's.
///
/// One context uses it at a time: tasks and interrupts that share one block each other out from tg_ctf_packet_begin to
/// tg_ctf_packet_commit. Or each has one of its own, with another stream.
#[repr(C)]
pub struct tg_ctf_packet {
    pub last: u64,
    pub memory: *mut u32,
    pub words: usize,
    pub page_words: usize,
    pub page: usize,
    pub at: usize,
    pub end: usize,
    pub next: usize,
    pub open: u32,
    pub number: u32,
    /// The number of records that were lost since the start.
    pub lost: u32,
    pub stream: u32,
    pub keep: bool,
    /// The offset of the oldest closed page.
    pub oldest: usize,
    /// The number of pages that were closed, and of those that were released.
    pub marks: [u32; 2],
}

/// A closed page: a packet of as many words.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_ctf_page {
    pub words: *const u32,
    pub count: usize,
}

/// Does something with a recorder, and keeps where it is after that.
///
/// # Safety
/// It is open, its memory is that of the caller, and nothing but this recorder writes it. What takes closed pages may run
/// at the same time: it uses other fields, but for the marks, which are atomic.
unsafe fn with<R>(packet: *mut tg_ctf_packet, act: impl FnOnce(&mut Recorder<'_, ()>) -> R) -> R {
    const { assert!(size_of::<AtomicU32>() == 4 && align_of::<AtomicU32>() == 4) };
    // SAFETY: the packet is the caller's, as is its memory: as atomics, that may be read by whoever else looks at it.
    let (pages, marks, state) = unsafe {
        let state = State {
            last: (*packet).last,
            page: (*packet).page,
            at: (*packet).at,
            end: (*packet).end,
            next: (*packet).next,
            open: (*packet).open,
            number: (*packet).number,
            lost: (*packet).lost,
            stream: (*packet).stream,
        };
        (pages(packet), (*packet).keep.then(|| marks(packet)), state)
    };
    let mut recorder = Recorder::resume(pages, marks, state);
    let result = act(&mut recorder);
    let state = recorder.state();
    // SAFETY: the packet is the caller's.
    unsafe {
        (*packet).last = state.last;
        (*packet).page = state.page;
        (*packet).at = state.at;
        (*packet).end = state.end;
        (*packet).next = state.next;
        (*packet).open = state.open;
        (*packet).number = state.number;
        (*packet).lost = state.lost;
    }
    result
}

/// The pages of a recorder.
///
/// # Safety
/// It is open, and its memory is that of the caller.
unsafe fn pages(packet: *const tg_ctf_packet) -> Pages<'static> {
    // SAFETY: the caller's memory, of words that are only used as atomics.
    unsafe { Pages::new(lent((*packet).memory.cast::<AtomicU32>(), (*packet).words), (*packet).page_words) }
}

/// The marks of a recorder.
///
/// # Safety
/// It is open.
unsafe fn marks<'a>(packet: *mut tg_ctf_packet) -> &'a Marks {
    const { assert!(size_of::<Marks>() == 8 && align_of::<Marks>() == 4) };
    // SAFETY: they consist of two atomic words, of any value.
    unsafe { &*(&raw mut (*packet).marks).cast::<Marks>() }
}

/// Begins to record into pages of `page_words` each, at least 13.
///
/// If `keep` is false, the newest page takes the place of the oldest: memory is dumped later. If it is true, closed pages
/// wait until they are released, and events that find no room are lost, and counted. A stream is a number for each
/// recorder of a trace.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_open(
    packet: *mut tg_ctf_packet,
    memory: *mut u32,
    words: usize,
    page_words: usize,
    keep: bool,
    stream: u32,
) -> tg_status {
    if packet.is_null() || memory.is_null() {
        return TG_MISUSE;
    }
    let State { last, page, at, end, next, open, number, lost, .. } = State::default();
    let marks = [0; 2];
    let new = tg_ctf_packet {
        last,
        memory,
        words,
        page_words,
        page,
        at,
        end,
        next,
        open,
        number,
        lost,
        stream,
        keep,
        oldest: 0,
        marks,
    };
    // SAFETY: it is writable.
    unsafe { packet.write(new) };
    TG_OK
}

/// Goes on in the pages as a reset left them, for memory that outlives one: to be called right after tg_ctf_packet_open,
/// with the same memory, pages and stream as before the reset.
///
/// If `keep` is false, the packets in the memory stay until it is their turn, and the next one comes after the newest. If it
/// is true, all pages are free. The numbers of packets go on, as does that of lost records.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_reopen(packet: *mut tg_ctf_packet) -> tg_status {
    if packet.is_null() {
        return TG_MISUSE;
    }
    let reopen = |recorder: &mut Recorder<'_, ()>| {
        let nothing = Recorder::overwriting(Pages::new(&[], 0));
        *recorder = core::mem::replace(recorder, nothing).reopen();
    };
    // SAFETY: as the caller of tg_ctf_packet_open promised.
    unsafe { with(packet, reopen) };
    TG_OK
}

/// Goes on to the next page, with room for a record of so many words: tg_ctf_packet_begin calls it. False if the record
/// is lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_turn(packet: *mut tg_ctf_packet, time: u64, words: u32) -> bool {
    if packet.is_null() {
        return false;
    }
    let words = usize::try_from(words).unwrap_or(usize::MAX);
    // SAFETY: as the caller of tg_ctf_packet_open promised.
    unsafe { with(packet, |recorder| recorder.turn(time, words)) }
}

/// Closes the page, so that it can be sent: the next record begins another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_close(packet: *mut tg_ctf_packet) {
    if !packet.is_null() {
        // SAFETY: as the caller of tg_ctf_packet_open promised.
        unsafe { with(packet, |recorder| recorder.close()) };
    }
}

/// The oldest closed page that was not released; TG_END if there is none. Its total length becomes that of its content,
/// so that it can be sent without the unused rest.
///
/// One context takes pages; it may be another one than those that record. Word 9, how many records were lost, may go on
/// until the page is released: whoever sends it in parts sends a copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_page(packet: *mut tg_ctf_packet, page: *mut tg_ctf_page) -> tg_status {
    if packet.is_null() {
        return TG_MISUSE;
    }
    // SAFETY: it is open. The recorder does not use the place of the oldest page, and of a closed one only a word, as an
    // atomic one.
    let (drain, memory, oldest) = unsafe {
        let drain = Drain::resume(pages(packet), marks(packet), (*packet).oldest);
        (drain, (*packet).memory, (*packet).oldest)
    };
    let found = drain.page().map(|found| {
        found.shorten();
        // Within the memory, as the page is there.
        tg_ctf_page { words: memory.wrapping_add(oldest), count: found.short().len() }
    });
    // SAFETY: it is NULL or writable.
    unsafe { give(Ok(found), page, core::ptr::null_mut()) }
}

/// Gives the oldest closed page back to the recorder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_ctf_packet_release(packet: *mut tg_ctf_packet) {
    if packet.is_null() {
        return;
    }
    // SAFETY: it is open; only what takes pages uses the place of the oldest one.
    unsafe {
        let mut drain = Drain::resume(pages(packet), marks(packet), (*packet).oldest);
        drain.release();
        (*packet).oldest = drain.place();
    }
}
