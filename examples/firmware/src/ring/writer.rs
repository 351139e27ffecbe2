//! A ring of CTF packets in memory: the newest records are kept, and a dump can be read whenever it is made.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Release;

/// What each packet begins with.
const MAGIC: u32 = 0xc1fc_1fc1;

/// How many words header and context take.
const HEADER: usize = 8;

/// How many words a record takes besides its payload.
const RECORD: usize = 2;

/// Packets of one size, one after the other; the newest one takes the place of the oldest.
///
/// Whoever stops the program at any moment finds each packet whole but for the one that is being written, and in that one
/// the records that its content length covers: a record counts once all of it is there. Words are written in order, so
/// memory that another one reads, or that outlives a reset, will do.
pub struct Ring<'m> {
    memory: &'m [AtomicU32],
    packet_words: usize,
    /// The place of the packet that is written, its number, and how many of its words are written.
    place: usize,
    number: u32,
    len: usize,
}

impl<'m> Ring<'m> {
    /// A ring in this memory, whose packets take as many words each. `None` if there is no room for two of them, or in
    /// one of them no room for a record.
    pub fn new(memory: &'m [AtomicU32], packet_words: usize) -> Option<Self> {
        let fits = packet_words > HEADER + RECORD && memory.len() / 2 >= packet_words;
        fits.then_some(Self { memory, packet_words, place: 0, number: 0, len: packet_words })
    }

    /// Writes a record, of an event with this number, into a packet that has room for it. False if none has.
    pub fn record(&mut self, time: u64, event: u32, payload: &[u32]) -> bool {
        let len = RECORD + payload.len();
        if HEADER + len > self.packet_words {
            return false;
        }
        if self.len + len > self.packet_words {
            self.begin(time);
        }
        // A record says the lower half of the time: the upper one follows from the packet.
        let words = [time as u32, event].into_iter().chain(payload.iter().copied());
        for (at, word) in (self.len..).zip(words) {
            self.set(at, word);
        }
        self.set_time(3, time);
        self.len += len;
        self.set(5, self.content_bits());
        true
    }

    /// Begins a packet in the place of the oldest one, which is no packet from the first word on.
    fn begin(&mut self, time: u64) {
        if self.number > 0 {
            self.place += self.packet_words;
        }
        if self.place + self.packet_words > self.memory.len() {
            self.place = 0;
        }
        self.set(0, 0);
        self.len = HEADER;
        self.set_time(1, time);
        self.set_time(3, time);
        self.set(5, self.content_bits());
        self.set(6, (self.packet_words * 32) as u32);
        self.set(7, self.number);
        self.set(0, MAGIC);
        self.number = self.number.wrapping_add(1);
    }

    fn content_bits(&self) -> u32 {
        (self.len * 32) as u32
    }

    fn set_time(&self, at: usize, time: u64) {
        // The upper half first: a time that is half written is no earlier than it was.
        self.set(at + 1, (time >> 32) as u32);
        self.set(at, time as u32);
    }

    fn set(&self, at: usize, word: u32) {
        if let Some(place) = self.memory.get(self.place + at) {
            place.store(word, Release);
        }
    }
}
