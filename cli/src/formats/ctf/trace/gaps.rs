//! The gaps of captures, between their records.

use super::Stream;
use crate::trace::Selection;
use std::collections::VecDeque;
use traceglass::ctf::data::wire::WireSlot;

/// The gaps of captures that are still to be printed.
pub struct Gaps<'c> {
    /// Of each capture the number of its file, and its gaps by their offsets.
    captures: Vec<(usize, &'c Stream, VecDeque<WireSlot>)>,
    /// Gaps are printed as records are.
    pub is_asked: bool,
    pub is_json: bool,
}

impl<'c> Gaps<'c> {
    pub fn new(args: &Selection) -> Self {
        let is_asked = args.ctf.gaps;
        Self { captures: Vec::new(), is_asked, is_json: is_asked && args.json }
    }

    /// Adds those of the file with this number, in the order of its bytes.
    pub fn add(&mut self, file: usize, stream: &'c Stream, gaps: impl IntoIterator<Item = WireSlot>) {
        self.captures.push((file, stream, gaps.into_iter().collect()));
    }

    pub fn count(&self) -> u64 {
        self.captures.iter().map(|(_, _, gaps)| gaps.len() as u64).sum()
    }

    /// The next gap of a file before an offset.
    pub fn before(&mut self, file: usize, offset: u64) -> Option<(&'c Stream, WireSlot)> {
        let (_, stream, gaps) = self.captures.iter_mut().find(|(number, _, _)| *number == file)?;
        gaps.front().filter(|gap| gap.offset() < offset)?;
        Some((stream, gaps.pop_front()?))
    }

    /// The next gap of any file.
    pub fn next(&mut self) -> Option<(&'c Stream, WireSlot)> {
        self.captures.iter_mut().find_map(|(_, stream, gaps)| Some((*stream, gaps.pop_front()?)))
    }
}
