//! Closed pages, on their way out.

use crate::packet::{CONTENT, TOTAL};
use crate::pages::{Marks, Pages};
use crate::sink::{Flash, Sink};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// The number of bytes that a sink is given at once.
const PIECE: usize = 64;

/// Takes the pages that a [`Recorder::keeping`](crate::Recorder::keeping) closed, from any context: it never makes the
/// recorder wait.
#[derive(Debug)]
pub struct Drain<'m> {
    pages: Pages<'m>,
    marks: &'m Marks,
    /// The place of the oldest page, and how many bytes of it the sink took.
    place: usize,
    sent: usize,
    /// The word of which the sink took a part.
    split: [u8; 4],
}

/// A closed page: a packet.
#[derive(Clone, Copy, Debug)]
pub struct Page<'m> {
    words: &'m [AtomicU32],
    /// The number of words that hold its content.
    used: usize,
}

impl<'m> Page<'m> {
    fn new(words: &'m [AtomicU32]) -> Self {
        let bits = words.get(CONTENT).map_or(0, |word| u32::from_le(word.load(Relaxed)));
        let used = usize::try_from(bits.div_ceil(32)).unwrap_or(words.len()).min(words.len());
        Self { words, used }
    }

    /// The words of the page, in the order of the memory; the unused ones at its end are all ones, as erased flash is.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        let used = self.used;
        let word =
            move |(at, word): (usize, &AtomicU32)| if at < used { word.load(Relaxed) } else { u32::MAX };
        self.words.iter().enumerate().map(word)
    }

    /// Makes the packet end where its content does, where it lies: for a page that is sent as it is.
    pub fn shorten(&self) {
        if let Some(total) = self.words.get(TOTAL) {
            total.store(self.total(), Relaxed);
        }
    }

    /// The number of bits of the words that are used.
    fn total(&self) -> u32 {
        u32::try_from(self.used).unwrap_or(u32::MAX).wrapping_mul(32).to_le()
    }

    /// The words of the packet without the unused ones, of which its total length says so.
    pub fn short(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        let total = self.total();
        let word =
            move |(at, word): (usize, &AtomicU32)| if at == TOTAL { total } else { word.load(Relaxed) };
        self.words.iter().take(self.used).enumerate().map(word)
    }
}

impl<'m> Drain<'m> {
    /// The drain of pages whose recorder has the same marks. There must be one alone.
    pub const fn new(pages: Pages<'m>, marks: &'m Marks) -> Self {
        Self::resume(pages, marks, 0)
    }

    /// A drain that goes on where another one was: at the [place](Self::place) of a page of which nothing was sent.
    pub const fn resume(pages: Pages<'m>, marks: &'m Marks, place: usize) -> Self {
        Self { pages, marks, place, sent: 0, split: [0; 4] }
    }

    /// The first word of the oldest page in the memory.
    pub const fn place(&self) -> usize {
        self.place
    }

    /// The oldest closed page that was not released.
    pub fn page(&self) -> Option<Page<'m>> {
        if self.marks.waiting() == 0 {
            return None;
        }
        self.pages.at(self.place).map(Page::new)
    }

    /// Gives the oldest page back to the recorder.
    pub fn release(&mut self) {
        if self.marks.waiting() > 0 {
            self.place = self.pages.after(self.place);
            self.sent = 0;
            self.marks.release();
        }
    }

    /// Sends what the sink has room for, without the unused ends of pages. Returns true if nothing is left.
    pub fn send(&mut self, sink: &mut impl Sink) -> bool {
        while let Some(page) = self.page() {
            let size = page.used.saturating_mul(4);
            while self.sent < size {
                let mut bytes = [0; PIECE];
                let words = page.short().skip(self.sent / 4);
                for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
                    *to = word.to_ne_bytes();
                }
                let first = self.sent % 4;
                // Losses are counted in a closed page, too: both parts of the word are of one moment.
                if let (Some(to), 1..) = (bytes.first_chunk_mut(), first) {
                    *to = self.split;
                }
                let len = PIECE.min(first.saturating_add(size.saturating_sub(self.sent)));
                let piece = bytes.get(first..len).unwrap_or_default();
                let taken = sink.put(piece).min(piece.len());
                if let Some(word) = bytes.as_chunks::<4>().0.get(first.saturating_add(taken) / 4) {
                    self.split = *word;
                }
                self.sent = self.sent.saturating_add(taken);
                if taken < piece.len() {
                    return false;
                }
            }
            self.release();
        }
        true
    }

    /// Programs the oldest page into flash, whose slots are as large as pages, and releases it. Returns false if there
    /// is none.
    ///
    /// The first piece of the slot, in which the magic number is, is programmed last: a page that is torn by a loss of
    /// power is none.
    ///
    /// # Errors
    /// The error of the flash; the page stays the oldest one, and goes to the next slot if it is tried again.
    pub fn store<F: Flash>(&mut self, flash: &mut F, slot: u32) -> Result<bool, F::Error> {
        let Some(page) = self.page() else { return Ok(false) };
        flash.erase(slot)?;
        let mut words = page.words();
        let mut first = [u32::MAX; 4];
        let piece = |words: &mut dyn Iterator<Item = u32>, piece: &mut [u32; 4]| {
            *piece = [u32::MAX; 4];
            let mut count = 0_usize;
            for (to, word) in piece.iter_mut().zip(words) {
                *to = word;
                count = count.wrapping_add(1);
            }
            count
        };
        piece(&mut words, &mut first);
        let mut offset = 16_u32;
        let mut next = first;
        // A short piece at the end is filled up.
        while words.len() > 0 && piece(&mut words, &mut next) > 0 {
            flash.program(slot, offset, &next)?;
            offset = offset.wrapping_add(16);
        }
        flash.program(slot, 0, &first)?;
        self.release();
        Ok(true)
    }
}
