//! The recorder, which writes records into pages.

use crate::event::{Event, Trace, Words, halves};
use crate::packet::{HEADER, LOST, MAGIC, RECORD};
use crate::pages::{Marks, Pages};
use crate::ring::Ring;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Relaxed, Release};
use core::sync::atomic::{AtomicU32, fence};

/// The state of a recorder, apart from its memory: what a program in another language keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// The time of the last record.
    pub last: u64,
    /// The first word of the page that was begun last.
    pub page: usize,
    /// The word where the next record begins.
    pub at: usize,
    /// The word where the room for records ends.
    pub end: usize,
    /// The first word of the page that is begun next.
    pub next: usize,
    /// 1 if the page is open, else 0.
    pub open: u32,
    /// The number of the next packet.
    pub number: u32,
    /// The number of records that were lost.
    pub lost: u32,
    /// The stream.
    pub stream: u32,
}

/// Writes records into pages, which are packets of one stream.
pub struct Recorder<'m, T> {
    pages: Pages<'m>,
    /// `None` if the oldest page is overwritten.
    marks: Option<&'m Marks>,
    state: State,
    /// It makes no values of the type.
    trace: PhantomData<fn() -> T>,
}

impl<'m, T> Recorder<'m, T> {
    const fn with(pages: Pages<'m>, marks: Option<&'m Marks>) -> Self {
        let state =
            State { last: 0, page: 0, at: 0, end: 0, next: 0, open: 0, number: 0, lost: 0, stream: 0 };
        Self { pages, marks, state, trace: PhantomData }
    }

    /// A recorder that takes the oldest page if all are full: the newest records are there when memory is dumped.
    pub const fn overwriting(pages: Pages<'m>) -> Self {
        Self::with(pages, None)
    }

    /// A recorder that loses records while all pages wait for the sink.
    ///
    /// The marks must be of no other recorder. A [`Drain`](crate::Drain) of the same pages and marks takes the closed pages.
    pub const fn keeping(pages: Pages<'m>, marks: &'m Marks) -> Self {
        Self::with(pages, Some(marks))
    }

    /// The same as another stream: 0 if nothing else is said.
    #[must_use]
    pub const fn stream(mut self, stream: u32) -> Self {
        self.state.stream = stream;
        self
    }

    /// The same, going on in the pages as a reset left them: for memory that outlives one, and to be called before the
    /// first record, but after [`stream`](Self::stream).
    ///
    /// The packets in the memory stay until it is their turn, and the next one is written after the newest; numbers and
    /// losses go on, but for losses before the first packet. For a recorder that [keeps](Self::keeping) pages all are free: what waited there is lost, unless it was
    /// sent before.
    #[must_use]
    pub fn reopen(self) -> Self {
        let count = u32::try_from(self.pages.count()).unwrap_or(u32::MAX);
        let place =
            |page: u32| usize::try_from(page).unwrap_or(usize::MAX).saturating_mul(self.pages.page_words);
        let ring = Ring::open(count, self.pages.page_words, self.state.stream, |page| {
            let mut words = [0; HEADER];
            let header = self.pages.at(place(page)).map(Self::header).unwrap_or_default();
            words.iter_mut().zip(header).for_each(|(to, from)| *to = from.load(Relaxed));
            words
        });
        let next = if self.marks.is_none() { place(ring.page()) } else { self.state.next };
        let (number, lost) = ring.numbers();
        let state = State { next, number, lost, ..self.state };
        Self { state, ..self }
    }

    /// The same, with the numbers of packets and of losses going on after those in a ring of flash. Where a page was torn,
    /// one number is missing: readers tell a gap.
    #[must_use]
    pub const fn after(mut self, ring: &Ring) -> Self {
        let (number, lost) = ring.numbers();
        (self.state.number, self.state.lost) =
            (number.wrapping_add(if ring.is_torn() { 1 } else { 0 }), lost);
        self
    }

    /// A recorder that goes on where another one was; `None` as marks overwrites.
    pub const fn resume(pages: Pages<'m>, marks: Option<&'m Marks>, state: State) -> Self {
        Self { pages, marks, state, trace: PhantomData }
    }

    /// The state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// The number of records that were lost since the start.
    pub const fn lost(&self) -> u32 {
        self.state.lost
    }

    /// Ends the packet that is being written, so that it can be sent: the next record begins another one.
    pub fn close(&mut self) {
        if self.state.open == 0 {
            return;
        }
        self.state.open = 0;
        self.state.end = self.state.at;
        if let Some(marks) = self.marks {
            marks.close();
        }
    }

    /// Closes the page, and begins another one that has room for a record of so many words. False if there is none: the
    /// record is counted as lost.
    #[cold]
    #[inline(never)] // It is rare, and would be a part of each event's function.
    pub fn turn(&mut self, time: u64, words: usize) -> bool {
        if words > self.pages.page_words.saturating_sub(HEADER) {
            self.lose(1);
            return false;
        }
        self.close();
        let is_full = |marks: &Marks| {
            usize::try_from(marks.waiting()).is_ok_and(|waiting| waiting >= self.pages.count())
        };
        let place = self.state.next;
        let Some(page) = self.pages.at(place).filter(|_| !self.marks.is_some_and(is_full)) else {
            self.lose(1);
            return false;
        };
        let state = &mut self.state;
        *state = State {
            last: time,
            page: place,
            at: place.wrapping_add(HEADER),
            end: place.wrapping_add(self.pages.page_words),
            next: self.pages.after(place),
            open: 1,
            number: state.number.wrapping_add(1),
            ..*state
        };
        let number = state.number.wrapping_sub(1);
        let (low, high) = halves(time);
        let [magic, header @ ..] = Self::header(page) else { return false };
        // It is no packet until its header is whole.
        magic.store(0, Relaxed);
        fence(Release);
        let total = bits(self.pages.page_words);
        let words = [self.state.stream, low, high, low, high, bits(HEADER), total, number, self.state.lost];
        for (to, word) in header.iter().zip(words) {
            to.store(word.to_le(), Relaxed);
        }
        magic.store(MAGIC.to_le(), Release);
        true
    }

    /// The header of a page; empty if the page is too short for one, which none is.
    fn header(page: &[AtomicU32]) -> &[AtomicU32] {
        page.get(..HEADER).unwrap_or_default()
    }

    /// Counts records that are lost: also in the last page that was begun, so that a reset does not forget them.
    #[cold]
    pub(crate) fn lose(&mut self, records: u32) {
        self.state.lost = self.state.lost.wrapping_add(records);
        let place = self.state.page.wrapping_add(LOST);
        if let Some(place) = self.pages.memory.get(place).filter(|_| self.state.end != 0) {
            place.store(self.state.lost.to_le(), Relaxed);
        }
    }

    /// The place of a record, in a page that has room for it.
    #[inline]
    fn reserve(&mut self, time: u64, words: usize) -> Option<&'m [AtomicU32]> {
        let room = self.state.end.wrapping_sub(self.state.at);
        // A record has the lower half of its time: the reader could not tell a longer pause from a shorter one, nor that time
        // went back; and the end of a packet is stored in two halves, of which a reset must not separate a new one.
        let is_apart = time < self.state.last || halves(time).1 != halves(self.state.last).1;
        if (room < words || is_apart) && !self.turn(time, words) {
            return None;
        }
        self.pages.memory.get(self.state.at..)?.get(..words)
    }

    /// Makes the record count that was written into its place.
    #[inline]
    fn commit(&mut self, time: u64, words: usize, size: usize) {
        let state = &mut self.state;
        let header = self.pages.memory.get(state.page..).and_then(|page| page.first_chunk::<HEADER>());
        let Some([_, _, _, _, end_low, end_high, content, ..]) = header else { return };
        let (low, high) = halves(time);
        // The upper half first: a time that is half written is no earlier than it was.
        end_high.store(high.to_le(), Relaxed);
        end_low.store(low.to_le(), Relaxed);
        let before = bits(state.at.wrapping_sub(state.page));
        content.store(before.wrapping_add(low_word(size.wrapping_mul(8))).to_le(), Release);
        state.at = state.at.wrapping_add(words);
        state.last = time;
    }
}

impl<T: Trace> Recorder<'_, T> {
    /// Records an event at this time, in ticks of the trace's clock. False if it was lost, which is counted.
    #[inline]
    pub fn record<E: Event<Trace = T>>(&mut self, time: u64, event: &E) -> bool {
        const { assert!(E::SIZE < 1 << 24, "an event of this size is none") };
        let size = RECORD.wrapping_mul(4).wrapping_add(E::SIZE);
        let words = size.div_ceil(4);
        let Some(place) = self.reserve(time, words) else { return false };
        let mut to = Words::new(place);
        to.put(halves(time).0, 32);
        to.put(E::ID, 32);
        event.put(&mut to);
        to.finish();
        self.commit(time, words, size);
        true
    }
}

/// The number of bits of so many words. Pages have fewer than 2³² of them.
fn bits(words: usize) -> u32 {
    low_word(words.wrapping_mul(32))
}

#[allow(clippy::as_conversions)] // Pages are shorter.
const fn low_word(value: usize) -> u32 {
    value as u32
}

impl<T> fmt::Debug for Recorder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("pages", &self.pages.count()).field("state", &self.state).finish()
    }
}
