//! Streams, merged by time.

use crate::status::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traceglass::Error;
use traceglass::ctf::data::Stream;
use traceglass::record::{Source, Time};

/// What was met in a stream.
pub enum Seen {
    /// The next record, with its time: to be told now.
    Record(Option<Time>),
    /// Something that cannot be read.
    Error(Error),
    End,
}

/// Hands out the records of all streams by time, and what else is met on the way.
///
/// Records with the same time come in the order of their streams; those of a stream in theirs, one without a time with
/// the one before it.
pub fn merge<'c, S: AsMut<Stream<'c, 'c, 'c>>>(
    sources: &mut [S],
    mut see: impl FnMut(&mut [S], usize, Seen) -> Result<()>,
) -> Result<()> {
    let mut waiting = BinaryHeap::new();
    for at in 0..sources.len() {
        if let Some((time, rank)) = peek(sources, at, i128::MIN, &mut see)? {
            waiting.push(Reverse((rank, at, time)));
        }
    }
    while let Some(Reverse((mut rank, at, mut time))) = waiting.pop() {
        // As long as this one is the earliest, the others are not looked at.
        let other = waiting.peek().map(|Reverse((rank, at, _))| (*rank, *at));
        loop {
            see(sources, at, Seen::Record(time))?;
            let Some((next, next_rank)) = peek(sources, at, rank, &mut see)? else { break };
            (time, rank) = (next, next_rank);
            if other.is_some_and(|other| other < (rank, at)) {
                waiting.push(Reverse((rank, at, time)));
                break;
            }
        }
    }
    Ok(())
}

/// The time of a stream's next record, after the time by which the stream is merged; what cannot be read is handed out.
#[inline(always)]
fn peek<'c, S: AsMut<Stream<'c, 'c, 'c>>>(
    sources: &mut [S],
    at: usize,
    last: i128,
    see: &mut impl FnMut(&mut [S], usize, Seen) -> Result<()>,
) -> Result<Option<(Option<Time>, i128)>> {
    loop {
        match sources[at].as_mut().peek() {
            Ok(Some(head)) => return Ok(Some((head.time, head.time.map_or(last, Time::ns)))),
            Ok(None) => return see(sources, at, Seen::End).map(|()| None),
            Err(error) => see(sources, at, Seen::Error(error))?,
        }
    }
}
