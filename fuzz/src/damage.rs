//! Damage to a valid file, and what it leaves as it was.

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use std::ops::Range;

/// One place that is damaged.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Damage {
    how: How,
    place: Place,
    len: u8,
    byte: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum How {
    /// One bit is wrong.
    Flip,
    /// Some bytes are replaced.
    Overwrite,
    /// Some bytes are missing.
    Remove,
    /// Some bytes are added.
    Insert,
    /// Some bytes stand there twice.
    Duplicate,
    /// The end is missing.
    CutEnd,
    /// The start is missing.
    CutStart,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Place {
    /// Anywhere in the file: a share of its length.
    Anywhere(u16),
    /// At one of the places that matter, or near it.
    Mark { number: u8, beside: i8 },
}

/// A file that was damaged at one place.
pub struct Damaged {
    pub data: Vec<u8>,
    /// Up to here it is unchanged.
    pub start: usize,
    /// The end of what was replaced, in the original file.
    pub old_end: usize,
    /// The end of what replaces it.
    pub new_end: usize,
}

impl Damage {
    /// Damages `whole`, in which `marks` are the places that matter.
    pub fn apply(&self, whole: &[u8], marks: &[usize]) -> Damaged {
        let end = whole.len();
        let at = match self.place {
            Place::Anywhere(share) => usize::from(share) * (end + 1) >> 16,
            Place::Mark { number, beside } => match marks.get(usize::from(number) % marks.len().max(1)) {
                Some(&mark) => mark.saturating_add_signed(beside.into()).min(end),
                None => 0,
            },
        };
        let len = usize::from(self.len);
        let stop = |len: usize| (at + len).min(end);
        let filled = |len: usize| vec![self.byte; len];
        let (old, new) = match self.how {
            How::Flip => {
                (at..stop(1), whole[at..stop(1)].iter().map(|byte| byte ^ 1 << (self.byte & 7)).collect())
            }
            How::Overwrite => (at..stop(len), filled(stop(len) - at)),
            How::Remove => (at..stop(len), Vec::new()),
            How::Insert => (at..at, filled(len)),
            How::Duplicate => (at..at, whole[at.saturating_sub(len)..at].to_vec()),
            How::CutEnd => (at..end, Vec::new()),
            How::CutStart => (0..at, Vec::new()),
        };
        Damaged::new(whole, old, &new)
    }

    /// Overwrites `range`.
    pub fn fill(whole: &[u8], range: Range<usize>, byte: u8) -> Damaged {
        let new = vec![byte; range.len()];
        Damaged::new(whole, range, &new)
    }

    /// The byte, for a target that uses it in another way.
    pub const fn byte(&self) -> u8 {
        self.byte
    }

    /// True if the end is missing, and nothing else.
    pub const fn is_cut(&self) -> bool {
        matches!(self.how, How::CutEnd)
    }

    /// True if one bit is wrong, and nothing else.
    pub const fn is_flip(&self) -> bool {
        matches!(self.how, How::Flip)
    }
}

impl Damaged {
    fn new(whole: &[u8], old: Range<usize>, new: &[u8]) -> Self {
        let mut data = whole.to_vec();
        data.splice(old, new.iter().copied());
        // Bytes that are replaced by equal ones are not damaged.
        let start = whole.iter().zip(&data).take_while(|(a, b)| a == b).count();
        let most = whole.len().min(data.len()) - start;
        let after = whole.iter().rev().zip(data.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        Self { start, old_end: whole.len() - after, new_end: data.len() - after, data }
    }

    /// True if nothing is damaged.
    pub fn is_none(&self) -> bool {
        self.start == self.old_end && self.start == self.new_end
    }

    /// True if the bytes after the damage are where they were.
    pub fn is_in_place(&self) -> bool {
        self.old_end == self.new_end
    }

    /// True if the bytes of a range of the original file are unchanged and in place.
    pub fn keeps(&self, range: &Range<usize>) -> bool {
        range.end <= self.start || self.is_in_place() && range.start >= self.old_end
    }

    /// The present place of a place of the original file.
    pub fn moved(&self, at: usize) -> Option<usize> {
        if at < self.start {
            Some(at)
        } else {
            at.checked_sub(self.old_end).map(|distance| distance + self.new_end)
        }
    }
}
