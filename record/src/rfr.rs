//! RFR streams: what tasks did, for readers of RFR. Smaller than packets, with names of tasks and wakes, but without
//! other fields, and with dates instead of ticks.
//!
//! ```
//! use traceglass_record::rfr::{Happened, Stream};
//!
//! let mut memory = [0; 256];
//! let mut stream = Stream::new(&mut memory[..]);
//! let start = 1_795_225_314_000_000; // µs since 1970
//! assert!(stream.record(start, Happened::Task { iid: 7, name: "radio" }));
//! assert!(stream.record(start, Happened::NewTask(7)));
//! assert!(stream.record(start + 20, Happened::PollStart(7)));
//! assert!(stream.record(start + 90, Happened::PollEnd(7)));
//! assert_eq!(stream.lost(), 0);
//! ```

use crate::sink::Sink;

/// The number of bytes of a name that are written; of a longer one the beginning.
pub const NAME_MAX: usize = 64;

/// The most bytes a record takes: five numbers before a name, three after it, and the name with its length.
const RECORD_MAX: usize = 8 * 10 + NAME_MAX + 1;

/// The first bytes of every stream: the length of the text, and the text.
const IDENTIFIER: &[u8] = b"\x0brfr-s/0.0.2";

/// An event in the life of a task. An `iid` is a number that the program gives to one task alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happened<'n> {
    /// There is a task with this name: comes before all else that is about it.
    Task {
        /// The task.
        iid: u64,
        /// The name; more than [`NAME_MAX`] bytes are cut.
        name: &'n str,
    },
    /// A task was spawned.
    NewTask(u64),
    /// A poll of a task begins.
    PollStart(u64),
    /// A poll of a task has ended.
    PollEnd(u64),
    /// A task was dropped.
    Drop(u64),
    /// A task was woken.
    Wake {
        /// The task.
        iid: u64,
        /// The task that was running; `None` for an interrupt.
        by: Option<u64>,
    },
}

/// Writes a stream into a [`Sink`], record after record. One context uses it.
///
/// A record is whole, or it is counted as [lost](Self::lost): one that a sink takes a part of goes on before the next one.
#[derive(Debug)]
pub struct Stream<S> {
    sink: S,
    /// The range of `bytes` that the sink has not taken yet.
    bytes: [u8; RECORD_MAX],
    start: usize,
    end: usize,
    lost: u32,
}

impl<S: Sink> Stream<S> {
    /// A stream, with what it begins with still to be taken by the sink.
    pub fn new(sink: S) -> Self {
        let mut stream = Self { sink, bytes: [0; RECORD_MAX], start: 0, end: 0, lost: 0 };
        stream.push(IDENTIFIER);
        stream.flush();
        stream
    }

    /// Writes that something happened, `micros` microseconds since 1970. False if the record is lost.
    pub fn record(&mut self, micros: u64, what: Happened<'_>) -> bool {
        if !self.flush() {
            self.lost = self.lost.saturating_add(1);
            return false;
        }
        self.int(micros / 1_000_000);
        self.int(micros % 1_000_000);
        match what {
            Happened::Task { iid, name } => {
                self.int(4);
                // The task, no callsite, the number that its runtime gives it.
                [iid, 0, iid].into_iter().for_each(|value| self.int(value));
                let end = (0..=NAME_MAX).rev().find(|&end| name.is_char_boundary(end));
                let name = end.and_then(|end| name.get(..end)).unwrap_or_default();
                self.int(u64::try_from(name.len()).unwrap_or(0));
                self.push(name.as_bytes());
                // A task as such, outside of any other one.
                self.push(&[0, 0]);
            }
            Happened::NewTask(iid) => self.about(9, iid),
            Happened::PollStart(iid) => self.about(10, iid),
            Happened::PollEnd(iid) => self.about(11, iid),
            Happened::Drop(iid) => self.about(12, iid),
            Happened::Wake { iid, by } => {
                self.about(14, iid);
                match by {
                    Some(by) => self.about(1, by),
                    None => self.push(&[0]),
                }
            }
        }
        self.flush();
        true
    }

    /// The number of records that were lost as the sink had no room.
    pub const fn lost(&self) -> u32 {
        self.lost
    }

    /// Hands out what the sink has not taken yet. False if it still has no room for all of it.
    pub fn flush(&mut self) -> bool {
        let rest = self.bytes.get(self.start..self.end).unwrap_or_default();
        if !rest.is_empty() {
            self.start = self.start.saturating_add(self.sink.put(rest));
        }
        if self.start < self.end {
            return false;
        }
        (self.start, self.end) = (0, 0);
        true
    }

    /// The sink; what it has not taken is lost.
    pub fn into_sink(self) -> S {
        self.sink
    }

    fn about(&mut self, kind: u64, iid: u64) {
        self.int(kind);
        self.int(iid);
    }

    /// A number, seven bits a byte, the lowest first.
    fn int(&mut self, mut value: u64) {
        loop {
            let low = u8::try_from(value & 0x7f).unwrap_or(0);
            value >>= 7;
            self.push(&[if value == 0 { low } else { low | 0x80 }]);
            if value == 0 {
                return;
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let rest = self.bytes.get_mut(self.end..).unwrap_or_default();
        for (to, from) in rest.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.end = self.end.saturating_add(bytes.len()).min(RECORD_MAX);
    }
}
