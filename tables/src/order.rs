//! Pieces on several threads, the batches in the order of the pieces.

use crate::error::{Error, Result};
use crate::query::Query;
use crate::seen::Seen;
use crate::sink::Sink;
use crate::trace::Trace;
use arrow_array::RecordBatch;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The number of batches of a piece that may wait to be taken.
const WAITING: usize = 2;

/// The stack of a thread: a session of an RTC file has thousands of streams, of which the table is moved as a whole.
pub(crate) const STACK: usize = 32 << 20;

/// A batch with the number of its table, or why there is none.
type Made = Result<(usize, RecordBatch)>;

impl Trace<'_> {
    /// Reads pieces of a trace on `threads` threads and hands out the batches in the order of the pieces; calls `done`
    /// for each piece that has been read.
    ///
    /// Slices, and the tables of dial9's own, come before all else, with the first piece: they are read from the whole
    /// trace, on this thread. So is all of dial9, if no range is asked for.
    ///
    /// At most one piece a thread is under way at a time, each with a few batches.
    ///
    /// # Errors
    /// The errors of [`read`](Trace::read), in order, too.
    #[allow(clippy::too_many_arguments)]
    pub fn stream(
        &self,
        pieces: Range<usize>,
        tables: &[usize],
        query: &Query,
        seen: &Seen,
        threads: usize,
        done: &(dyn Fn(usize) + Sync),
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        // What begins in a piece may end in another one.
        if pieces == (0..self.pieces()) && self.is_read_at_once(query) {
            self.read_all(tables, query, seen, sink)?;
            pieces.for_each(done);
            return Ok(());
        }
        if pieces.start == 0 && !pieces.is_empty() {
            self.read_whole(tables, query, sink)?;
        }
        if !tables.is_empty() && tables.iter().all(|table| self.is_whole(*table)) {
            return Ok(());
        }
        if threads < 2 || pieces.len() < 2 {
            return pieces.into_iter().try_for_each(|piece| {
                self.read(piece, tables, query, seen, sink)?;
                done(piece);
                Ok(())
            });
        }
        let jobs: Mutex<VecDeque<(usize, SyncSender<Made>)>> = Mutex::default();
        let threads = threads.min(pieces.len());
        thread::scope(|scope| {
            let mut next = pieces;
            let mut waiting: VecDeque<Receiver<Made>> = VecDeque::new();
            let (wake, woken) = sync_channel::<()>(threads.saturating_mul(2));
            let woken = Mutex::new(woken);
            // Threads may only borrow what outlives them, so they share `woken`: the last one to end drops it.
            let (jobs, woken) = (&jobs, &Arc::new(woken));
            for _ in 0..threads {
                let woken = Arc::clone(woken);
                let work = move || {
                    loop {
                        let job = woken.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        if job.is_err() {
                            return;
                        }
                        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some((piece, made)) = job else { continue };
                        let mut give =
                            |table, batch| made.send(Ok((table, batch))).map_err(|_| Error::Stopped);
                        if let Err(error) = self.read(piece, tables, query, seen, &mut give) {
                            // Nobody waits for it where reading was stopped.
                            let _ = made.send(Err(error));
                        }
                        done(piece);
                    }
                };
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(Error::Thread)?;
            }
            let mut result = Ok(());
            while result.is_ok() {
                while waiting.len() < threads
                    && let Some(piece) = next.next()
                {
                    let (made, taken) = sync_channel(WAITING);
                    jobs.lock().unwrap_or_else(PoisonError::into_inner).push_back((piece, made));
                    waiting.push_back(taken);
                    // Never blocks: the channel has room for two wake-ups a thread.
                    let _ = wake.send(());
                }
                let Some(taken) = waiting.pop_front() else { break };
                result =
                    taken.into_iter().try_for_each(|made| made.and_then(|(table, batch)| sink(table, batch)));
            }
            // A thread ends when nobody takes its batch.
            jobs.lock().unwrap_or_else(PoisonError::into_inner).clear();
            drop((waiting, wake));
            result
        })
    }
}
