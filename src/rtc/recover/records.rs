//! Records over all damage.

use super::Frames;
use crate::error::{Error, ErrorKind};
use crate::gap::Gap;
use crate::room::Room;
use crate::rtc::records::{Joiner, Step, records_of};
use crate::rtc::slot::StreamSlot;
use crate::rtc::{Frame, Grid, Record, Streams, Time};
use core::fmt;

/// The records of a file, over all damage; as [`rtc::Records`](crate::rtc::Records) otherwise.
///
/// # Examples
///
/// ```
/// # fn read(data: &[u8]) {
/// use traceglass::rtc::{Step, StreamSlot, recover::Records};
///
/// let mut buffer = [0; 4096];
/// let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
/// loop {
///     match records.next_step() {
///         Step::Record(record) => println!("{:?} {:?}", record.time(), record.stream().name()),
///         Step::Gap(gap) => println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause()),
///         _ => break,
///     }
/// }
/// # }
/// # read(b"");
/// ```
pub struct Records<'a, 'b, R> {
    frames: Frames<'a, R>,
    joiner: Joiner<'b>,
}

impl<'a, 'b, R: Room<StreamSlot<'a>>> Records<'a, 'b, R> {
    /// The next record or gap, or the end.
    #[inline]
    pub fn next_step(&mut self) -> Step<'_, 'a> {
        loop {
            match self.advance() {
                Found::Record(frame) => {
                    return self.record(frame).map_or(Step::Frame(frame), Step::Record);
                }
                Found::Frame(_) => {}
                Found::Gap(gap) => return Step::Gap(gap),
                Found::End => return Step::End,
            }
        }
    }

    /// The next step, frames that complete no record among them.
    #[inline(always)] // What it returns is large, and is copied otherwise.
    pub fn next_frame_or_record(&mut self) -> Step<'_, 'a> {
        match self.advance() {
            Found::Record(frame) => self.record(frame).map_or(Step::Frame(frame), Step::Record),
            Found::Frame(frame) => Step::Frame(frame),
            Found::Gap(gap) => Step::Gap(gap),
            Found::End => Step::End,
        }
    }

    /// The next step, with the record lent only when it is [asked for](Self::record): for programs that look at all
    /// frames, and at few records.
    #[inline(always)]
    pub fn advance(&mut self) -> Found<'a> {
        match self.frames.next_frame() {
            Ok(Some(frame)) if self.take(&frame) => Found::Record(frame),
            Ok(Some(frame)) => Found::Frame(frame),
            Ok(None) => Found::End,
            Err(error) => self.recover(error),
        }
    }

    /// The next frame, if it is one of a user's stream that was read ahead, and whether it completes a record; else nothing
    /// is read, and [`advance`](Self::advance) says what there is.
    ///
    /// Most frames are: a loop that asks for them first is faster.
    #[inline(always)]
    pub fn take_user(&mut self) -> Option<(Frame<'a>, bool)> {
        let frame = self.frames.take_user()?;
        let is_complete = self.take(&frame);
        Some((frame, is_complete))
    }

    #[cold]
    fn recover(&mut self, error: Error) -> Found<'a> {
        let Some(gap) = self.frames.recover() else { return Found::End };
        if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.joiner.interrupt();
            // What follows may be of another session, and its first frame one of a user's stream.
            self.joiner.session = self.frames.session();
        }
        Found::Gap(gap)
    }

    /// Goes to where a grid finds a time on all clocks, before anything is read. `None` if only reading everything will do.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn seek(&mut self, grid: &Grid<'a>, time: Time) -> Option<u64> {
        // Nothing is known yet, so that the slots are free.
        let place = grid.seek_all(time, self.frames.ahead.known.slots_mut())?;
        if place == 0 {
            return Some(place);
        }
        let clocks = grid.clocks_before(place, self.frames.ahead.known.slots_mut());
        if self.frames.begin(grid, place).is_ok() {
            self.joiner.interrupt();
            self.prime(&clocks);
        }
        Some(place)
    }

    /// The time of the stream in a slot, now.
    pub fn time_at(&self, slot: usize) -> Option<Time> {
        self.joiner.time_at(self.streams(), slot)
    }
}

records_of!(ahead);

/// The next step of [`Records::advance`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Found<'a> {
    /// A frame that completes no record.
    Frame(Frame<'a>),
    /// The last frame of a record.
    Record(Frame<'a>),
    /// A loss: where, how much, and why.
    Gap(Gap),
    /// The end of the input.
    End,
}
