//! Streams, merged by time.

use crate::status::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traceglass::Error;
use traceglass::ctf::data::Stream;
use traceglass::record::{Source, Time};

/// The packets and events that were met in a stream.
pub enum Seen {
    /// The next record: to be told now.
    Record,
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
        let next = peek(sources, at, i128::MIN, &mut see)?;
        waiting.extend(next.map(|rank| Reverse((rank, at))));
    }
    let Some(mut first) = waiting.pop() else { return Ok(()) };
    loop {
        let Reverse((rank, at)) = first;
        see(sources, at, Seen::Record)?;
        match peek(sources, at, rank, &mut see)? {
            Some(rank) => {
                first = Reverse((rank, at));
                // As long as it is the earliest, the others are not looked at.
                if let Some(mut other) = waiting.peek_mut().filter(|other| **other > first) {
                    std::mem::swap(&mut *other, &mut first);
                }
            }
            None => match waiting.pop() {
                Some(other) => first = other,
                None => return Ok(()),
            },
        }
    }
}

/// The time by which a stream's next record is merged; `last` for one without a time. What cannot be read is handed out.
#[inline(always)]
fn peek<'c, S: AsMut<Stream<'c, 'c, 'c>>>(
    sources: &mut [S],
    at: usize,
    last: i128,
    see: &mut impl FnMut(&mut [S], usize, Seen) -> Result<()>,
) -> Result<Option<i128>> {
    loop {
        match sources[at].as_mut().peek() {
            Ok(Some(head)) => return Ok(Some(head.time.map_or(last, Time::ns))),
            Ok(None) => return see(sources, at, Seen::End).map(|()| None),
            Err(error) => see(sources, at, Seen::Error(error))?,
        }
    }
}
