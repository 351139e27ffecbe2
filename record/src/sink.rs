//! Sinks of closed pages.
//!
//! | sink | takes |
//! |---|---|
//! | `&mut [u8]` | as much as it is long |
//! | [`Queue`] | what an interrupt sends over a UART |
//! | `rtt_target::UpChannel` (feature `rtt`) | what a debug probe reads |
//! | [`Flash`] | whole pages, which outlive a loss of power |

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU32};

/// Something that takes bytes.
pub trait Sink {
    /// Takes the bytes that there is room for, from the first one on, without waiting. Returns how many those are.
    fn put(&mut self, bytes: &[u8]) -> usize;
}

impl Sink for &mut [u8] {
    fn put(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(self.len());
        let Some((to, rest)) = core::mem::take(self).split_at_mut_checked(len) else { return 0 };
        for (to, from) in to.iter_mut().zip(bytes) {
            *to = *from;
        }
        *self = rest;
        len
    }
}

/// Takes what there is room for in the channel, whose mode becomes that one: in the mode that a channel has by default, a
/// write that does not fit is undone, but its beginning is counted as written; in another one it waits for the probe.
#[cfg(feature = "rtt")]
impl Sink for rtt_target::UpChannel {
    fn put(&mut self, bytes: &[u8]) -> usize {
        // Each time: a probe may set the mode, too.
        self.set_mode(rtt_target::ChannelMode::NoBlockTrim);
        self.write(bytes)
    }
}

/// Bytes between a drain and the interrupt of a UART, in lent memory.
///
/// One context [puts](Sink::put) bytes in, one [takes](Self::take) them out; they may interrupt each other.
#[derive(Debug)]
pub struct Queue<'m> {
    memory: &'m [AtomicU8],
    /// The numbers of bytes that were put in, and taken out, since the start; their remainders are places.
    written: AtomicU32,
    read: AtomicU32,
}

impl<'m> Queue<'m> {
    /// An empty queue. Of the memory, as many bytes are used as the largest power of two that fits, at most 2³⁰.
    pub const fn new(memory: &'m [AtomicU8]) -> Self {
        let bits = match memory.len().checked_ilog2() {
            Some(bits) if bits > 30 => 30,
            Some(bits) => bits,
            None => 0,
        };
        let memory = match memory.split_at_checked(1 << bits) {
            Some((memory, _)) => memory,
            None => &[],
        };
        Self { memory, written: AtomicU32::new(0), read: AtomicU32::new(0) }
    }

    fn len(&self) -> u32 {
        u32::try_from(self.memory.len()).unwrap_or(0)
    }

    fn at(&self, count: u32) -> Option<&AtomicU8> {
        let place = count & self.len().wrapping_sub(1);
        self.memory.get(usize::try_from(place).ok()?)
    }

    /// The byte that was put in first; `None` if there is none.
    pub fn take(&self) -> Option<u8> {
        let read = self.read.load(Relaxed);
        if self.written.load(Acquire) == read {
            return None;
        }
        let byte = self.at(read)?.load(Relaxed);
        self.read.store(read.wrapping_add(1), Release);
        Some(byte)
    }
}

impl Sink for &Queue<'_> {
    fn put(&mut self, bytes: &[u8]) -> usize {
        let mut written = self.written.load(Relaxed);
        let mut taken = 0_usize;
        for byte in bytes {
            let waiting = written.wrapping_sub(self.read.load(Acquire));
            let Some(place) = self.at(written).filter(|_| waiting < self.len()) else { break };
            place.store(*byte, Relaxed);
            written = written.wrapping_add(1);
            taken = taken.wrapping_add(1);
        }
        self.written.store(written, Release);
        taken
    }
}

/// Flash with slots, each as large as a page.
pub trait Flash {
    /// The error of the flash.
    type Error;

    /// Erases a slot; or does nothing, if a larger unit that it is in was erased before.
    ///
    /// # Errors
    /// The error of the flash.
    fn erase(&mut self, slot: u32) -> Result<(), Self::Error>;

    /// Programs four words at an offset in bytes, which is a multiple of 16. A page whose size is no multiple of 16 bytes
    /// ends in a piece that is filled up with ones.
    ///
    /// # Errors
    /// The error of the flash.
    fn program(&mut self, slot: u32, offset: u32, words: &[u32; 4]) -> Result<(), Self::Error>;
}
