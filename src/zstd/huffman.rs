//! Huffman trees: their descriptions, the decoding table, and the streams.

use super::bits::Bits;
use super::element::{HUFFMAN_STREAM, HUFFMAN_TREE};
use super::fse::{self, Distribution, Ordered};
use super::processor::Processor;
use super::scratch::Scratch;
use super::weights;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};

/// The longest code of a table that is looked up in one step.
const DEPTH: u32 = 11;
/// The longest code that the reference implementation reads; its writer, like the document, stops at [`DEPTH`].
const MOST_DEPTH: u32 = 12;

/// A decoding table for codes of up to 11 bits; 12 for malformed frames.
///
/// Shallower trees are scaled up to 11 bits, so that one constant shift makes an index.
pub(super) struct Tree {
    /// For each 11 bits that may come next: the symbol in the high byte, the length of its code in the low one.
    ///
    /// In a tree of depth 12, which only a damaged or made-up frame has, it is two symbols for each 12 bits less the
    /// last, and the lengths follow from `ends`.
    table: [u16; 1 << DEPTH],
    /// In a tree of depth 12: where the codes of each weight end.
    ends: [u16; 13],
    /// 0 while there is no tree.
    depth: u32,
}

impl Tree {
    pub(super) const fn new() -> Self {
        Self { table: [0; 1 << DEPTH], ends: [0; 13], depth: 0 }
    }

    /// Leaves no tree to be used again.
    pub(super) fn forget(&mut self) {
        self.depth = 0;
    }

    /// True if there is a tree.
    pub(super) const fn is_known(&self) -> bool {
        self.depth != 0
    }

    /// Reads the description of a tree at `at..end` of `source`; returns its size.
    pub(super) fn read(
        &mut self,
        source: &[u8],
        at: usize,
        end: usize,
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let fault = |kind| Error::new(to_u64(at), HUFFMAN_TREE, kind);
        let data = source.get(at..end).unwrap_or_default();
        let Some((&first, data)) = data.split_first() else {
            return Err(fault(ErrorKind::UnexpectedEnd { needed: 1 }));
        };
        let direct = first >= 128;
        // A byte for two weights of 4 bits, or the size of a compressed description.
        let size = if direct { usize::from(first.wrapping_sub(126) >> 1) } else { usize::from(first) };
        let Some(data) = data.get(..size) else {
            let needed = to_u64(size.saturating_sub(data.len()));
            return Err(fault(ErrorKind::UnexpectedEnd { needed }));
        };
        let total = size.saturating_add(1);
        let count = if direct {
            let pairs = data.iter().flat_map(|&byte| [byte >> 4, byte & 15]);
            for (weight, value) in scratch.symbols.iter_mut().zip(pairs) {
                *weight = value;
            }
            usize::from(first.wrapping_sub(127))
        } else {
            let read = fse::describe(data, 256, &mut scratch.counts).map_err(fault)?;
            if read.accuracy > weights::MOST_ACCURACY {
                let (value, limit) = (read.accuracy.into(), weights::MOST_ACCURACY.into());
                return Err(fault(ErrorKind::OverLimit { value, limit }));
            }
            let table = &mut scratch.weight_table;
            fse::build(table, &mut scratch.counts, &mut scratch.symbols, &read, &weights::CODES);
            let start = at.saturating_add(1).saturating_add(read.size);
            let end = at.saturating_add(total);
            weights::decode(source, start, end, table, read.accuracy, &mut scratch.symbols)
                .ok_or_else(|| fault(ErrorKind::BadBitStream))?
        };
        self.build(&mut scratch.symbols, count, &mut scratch.counts).map_err(fault)?;
        Ok(total)
    }

    /// Makes the table of the weights of all `symbols` but the last, `count` of them; that one follows from the others.
    ///
    /// `sorted` is memory for the symbols in order.
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Small numbers.
    fn build(
        &mut self,
        symbols: &mut Ordered,
        count: usize,
        sorted: &mut Distribution,
    ) -> Result<(), ErrorKind> {
        // A tree that cannot be built is not used again.
        self.depth = 0;
        let mut counts = [0_u32; 16];
        for &weight in symbols.get(..count).unwrap_or_default() {
            if u32::from(weight) > MOST_DEPTH {
                return Err(ErrorKind::OverLimit { value: weight.into(), limit: MOST_DEPTH.into() });
            }
            if let Some(count) = counts.get_mut(usize::from(weight)) {
                *count += 1;
            }
        }
        // A weight w stands for 2^(w − 1) of the codes of full length; 0 for none.
        let sum: u32 = counts.iter().enumerate().map(|(weight, count)| (count << weight) >> 1).sum::<u32>()
            - (counts[0] >> 1);
        if sum == 0 {
            return Err(ErrorKind::UnevenDistribution { left: 0 });
        }
        let depth = 32 - sum.leading_zeros();
        if depth > MOST_DEPTH {
            return Err(ErrorKind::OverLimit { value: depth.into(), limit: MOST_DEPTH.into() });
        }
        let left = (1 << depth) - sum;
        if !left.is_power_of_two() {
            return Err(ErrorKind::UnevenDistribution { left: left.into() });
        }
        let last = left.trailing_zeros() + 1;
        if let Some(count) = counts.get_mut(last as usize) {
            *count += 1;
        }
        // The longest codes come in pairs.
        if counts[1] < 2 || counts[1] & 1 != 0 {
            return Err(ErrorKind::UnevenDistribution { left: counts[1].into() });
        }
        if let Some(weight) = symbols.get_mut(count) {
            *weight = last as u8;
        }
        let symbols = symbols.get(..=count).unwrap_or_default();
        if depth > DEPTH {
            self.fill_deep(symbols, &counts);
        } else {
            self.fill(symbols, &counts, depth, sorted);
        }
        self.depth = depth;
        Ok(())
    }

    /// The starts of the codes of each weight, if a code of weight 1 takes `1 << scale` places.
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Small numbers.
    fn starts(counts: &[u32; 16], scale: u32) -> [u32; 16] {
        let mut starts = [0; 16];
        let mut start = 0;
        for ((slot, &count), weight) in starts.iter_mut().zip(counts).zip(0_u32..).skip(1) {
            *slot = start;
            start += count << (weight + scale - 1);
        }
        starts
    }

    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // Small or masked.
    fn fill(&mut self, symbols: &[u8], counts: &[u32; 16], depth: u32, sorted: &mut Distribution) {
        // In order of weight, so that the same number of places is filled many times in a row.
        let mut ends = [0_u32; 16];
        let mut end = 0;
        for (slot, &count) in ends.iter_mut().zip(counts).skip(1) {
            *slot = end;
            end += count;
        }
        // Symbols without a code go to the end and beyond.
        ends[0] = end;
        for (&weight, symbol) in symbols.iter().zip(0..) {
            let end = &mut ends[usize::from(weight & 15)];
            sorted[*end as usize & 255] = symbol;
            *end += 1;
        }
        let (mut sorted, mut rest) = (sorted.iter(), &mut self.table[..]);
        for (&count, weight) in counts.iter().zip(0..).skip(1) {
            let len = (depth + 1).wrapping_sub(weight) as u16;
            let entries = sorted.by_ref().take(count as usize).map(|&symbol| (symbol as u16) << 8 | len);
            let places = 1_usize << ((weight + DEPTH - depth - 1) & 15);
            let Some((these, others)) = rest.split_at_mut_checked(count as usize * places) else { return };
            match places {
                1 => repeat_each::<1>(these, entries),
                2 => repeat_each::<2>(these, entries),
                4 => repeat_each::<4>(these, entries),
                8 => repeat_each::<8>(these, entries),
                _ => {
                    for (run, entry) in these.chunks_exact_mut(places).zip(entries) {
                        for sixteen in run.chunks_exact_mut(16) {
                            sixteen.fill(entry);
                        }
                    }
                }
            }
            rest = others;
        }
    }

    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // Small or masked.
    fn fill_deep(&mut self, symbols: &[u8], counts: &[u32; 16]) {
        let mut starts = Self::starts(counts, 0);
        for (&weight, symbol) in symbols.iter().zip(0_u16..) {
            if weight == 0 {
                continue;
            }
            let places = 1_u32 << (weight - 1);
            let start = &mut starts[usize::from(weight & 15)];
            for place in *start..*start + places {
                let pair = &mut self.table[(place >> 1) as usize & 0x7ff];
                *pair = if place & 1 == 0 { symbol } else { *pair & 0xff | symbol << 8 };
            }
            *start += places;
        }
        for (end, start) in self.ends.iter_mut().zip(starts) {
            *end = start as u16;
        }
    }

    /// The symbol whose code is at the front of `bits`, and the length of the code.
    #[inline]
    #[allow(clippy::as_conversions, clippy::indexing_slicing)] // Indices are masked by the shifts.
    fn look_up(&self, bits: u64) -> (u8, u32) {
        if self.depth <= DEPTH {
            let entry = self.table[(bits >> (64 - DEPTH)) as usize];
            return ((entry >> 8) as u8, u32::from(entry & 0xff));
        }
        let index = (bits >> (64 - MOST_DEPTH)) as u16;
        let pair = self.table[usize::from(index >> 1) & 0x7ff];
        let symbol = if index & 1 == 0 { pair as u8 } else { (pair >> 8) as u8 };
        // Codes stand in order of weight, and a weight is the depth less the length, and one.
        let smaller = self.ends.iter().skip(1).filter(|&&end| end <= index).count() as u32;
        (symbol, MOST_DEPTH.wrapping_sub(smaller))
    }

    /// Decodes the stream at `start..end` of `source` into all of `output`.
    pub(super) fn decode(&self, source: &[u8], start: usize, end: usize, output: &mut [u8]) -> Result<()> {
        let mut stream = Bits::open(source, start, end).ok_or_else(|| bad_stream(start))?;
        if self.depth <= DEPTH {
            let mut fives = output.chunks_exact_mut(5);
            for five in &mut fives {
                for byte in five {
                    *byte = stream.take(&self.table);
                }
                stream.refill(source);
            }
            stream.finish(source, fives.into_remainder(), self, start)
        } else {
            stream.finish(source, output, self, start)
        }
    }

    /// Decodes four streams at `start..end` of `source`, after their sizes, into the quarters of `output`.
    pub(super) fn decode_four<'o>(
        &self,
        source: &[u8],
        start: usize,
        end: usize,
        output: &'o mut [u8],
        processor: impl Processor,
    ) -> Result<()> {
        let cut = || bad_stream(start);
        let [first, second, third, fourth] = starts(source, start, end)?;
        let open = |start, end| Bits::open(source, start, end).ok_or_else(|| bad_stream(start));
        let mut streams =
            [open(first, second)?, open(second, third)?, open(third, fourth)?, open(fourth, end)?];

        let quarter = output.len().div_ceil(4);
        let split = output.split_at_mut_checked(quarter).and_then(|(one, rest)| {
            let (two, rest) = rest.split_at_mut_checked(quarter)?;
            let (three, four) = rest.split_at_mut_checked(quarter)?;
            Some([one, two, three, four])
        });
        let [one, two, three, four] = split.ok_or_else(cut)?;
        // The last quarter is the shortest one. So many symbols are decoded in step:
        let shared = if self.depth <= DEPTH { four.len().wrapping_sub(four.len() % 5) } else { 0 };
        let cut_at = |quarter: &'o mut [u8]| quarter.split_at_mut_checked(shared).ok_or_else(cut);
        let ((one, one_rest), (two, two_rest)) = (cut_at(one)?, cut_at(two)?);
        let ((three, three_rest), (four, four_rest)) = (cut_at(three)?, cut_at(four)?);
        let starts = [first, second, third, fourth];
        self.decode_in_step_on(processor, source, &mut streams, [one, two, three, four])
            .map_err(|stream| bad_stream(starts.get(stream).copied().unwrap_or(start)))?;
        let rests = [one_rest, two_rest, three_rest, four_rest];
        for ((stream, rest), start) in streams.into_iter().zip(rests).zip(starts) {
            stream.finish(source, rest, self, start)?;
        }
        Ok(())
    }

    /// Decodes four streams, in a function of its own so that their windows stay in registers.
    #[inline(never)]
    fn decode_in_step_on(
        &self,
        processor: impl Processor,
        source: &[u8],
        streams: &mut [Bits; 4],
        outputs: [&mut [u8]; 4],
    ) -> Result<(), usize> {
        processor.run(
            #[inline(always)]
            || self.decode_in_step(source, streams, outputs),
        )
    }

    /// Decodes four streams into outputs of one length, a multiple of 5.
    ///
    /// The error is which stream leads out of the input, which only a damaged one does. (Going on without it would take
    /// more registers than there are.)
    #[inline(always)]
    fn decode_in_step(
        &self,
        source: &[u8],
        streams: &mut [Bits; 4],
        outputs: [&mut [u8]; 4],
    ) -> Result<(), usize> {
        let [one, two, three, four] = outputs.map(|output| output.as_chunks_mut::<5>().0);
        let [mut a, mut b, mut c, mut d] = *streams;
        let table = &self.table;
        // Five codes are at most 55 bits, and a refill makes 56 good.
        for (((one, two), three), four) in one.iter_mut().zip(two).zip(three).zip(four) {
            let ([one @ .., one_last], [two @ .., two_last]) = (one, two);
            let ([three @ .., three_last], [four @ .., four_last]) = (three, four);
            for (((one, two), three), four) in one.iter_mut().zip(two).zip(three).zip(four) {
                *one = a.take(table);
                *two = b.take(table);
                *three = c.take(table);
                *four = d.take(table);
            }
            *one_last = a.take_and_refill(table, source).ok_or(0_usize)?;
            *two_last = b.take_and_refill(table, source).ok_or(1_usize)?;
            *three_last = c.take_and_refill(table, source).ok_or(2_usize)?;
            *four_last = d.take_and_refill(table, source).ok_or(3_usize)?;
        }
        *streams = [a, b, c, d];
        Ok(())
    }
}

/// Puts each entry to as many places.
#[inline(always)]
fn repeat_each<const N: usize>(places: &mut [u16], entries: impl Iterator<Item = u16>) {
    for (run, entry) in places.chunks_exact_mut(N).zip(entries) {
        run.fill(entry);
    }
}

/// The starts of the four streams at `start..end` of `source`, after the sizes of three.
fn starts(source: &[u8], start: usize, end: usize) -> Result<[usize; 4]> {
    let cut = || Error::new(to_u64(start), HUFFMAN_STREAM, ErrorKind::UnexpectedEnd { needed: 1 });
    let jump = source.get(start..end).and_then(|data| data.first_chunk::<6>()).ok_or_else(cut)?;
    let size = |low, high| usize::from(u16::from_le_bytes([low, high]));
    let [a, b, c, d, e, f] = *jump;
    let first = start.saturating_add(6);
    let second = first.saturating_add(size(a, b));
    let third = second.saturating_add(size(c, d));
    let fourth = third.saturating_add(size(e, f));
    if fourth >= end {
        return Err(cut());
    }
    Ok([first, second, third, fourth])
}

/// The streams of one literals section, one after the other, to be decoded piece by piece.
pub(super) struct Streams<'a> {
    tree: &'a Tree,
    source: &'a [u8],
    /// The starts of all streams, and the end of the last one.
    bounds: [usize; 5],
    /// The number of the stream that is being read, and how many literals of each are left.
    current: usize,
    left: [usize; 4],
    stream: Bits,
}

impl Tree {
    /// Opens the streams at `start..end` of `source`, which hold `count` literals.
    pub(super) fn streams<'a>(
        &'a self,
        source: &'a [u8],
        start: usize,
        end: usize,
        count: usize,
        four: bool,
    ) -> Result<Streams<'a>> {
        let (bounds, left) = if four {
            let [first, second, third, fourth] = starts(source, start, end)?;
            let quarter = count.div_ceil(4);
            let rest = count.saturating_sub(quarter.saturating_mul(3));
            ([first, second, third, fourth, end], [quarter, quarter, quarter, rest])
        } else {
            ([start, end, end, end, end], [count, 0, 0, 0])
        };
        let [first, second, ..] = bounds;
        let stream = Bits::open(source, first, second).ok_or_else(|| bad_stream(first))?;
        Ok(Streams { tree: self, source, bounds, current: 0, left, stream })
    }
}

impl Streams<'_> {
    /// Decodes the next literals to all of `output`.
    pub(super) fn fill(&mut self, mut output: &mut [u8]) -> Result<()> {
        while !output.is_empty() {
            let left = self.left.get_mut(self.current).ok_or_else(|| bad_stream(0))?;
            let size = output.len().min(*left);
            if size == 0 {
                self.next()?;
                continue;
            }
            *left = left.saturating_sub(size);
            let (front, rest) = output.split_at_mut_checked(size).ok_or_else(|| bad_stream(0))?;
            self.stream.decode(self.source, front, self.tree);
            output = rest;
        }
        Ok(())
    }

    /// Ends the current stream and opens the next one, if there is one.
    fn next(&mut self) -> Result<()> {
        let bound = |n: usize| self.bounds.get(n).copied().unwrap_or(0);
        self.stream.verify_end(bound(self.current))?;
        self.current = self.current.saturating_add(1);
        let (start, end) = (bound(self.current), bound(self.current.saturating_add(1)));
        if start < end {
            self.stream = Bits::open(self.source, start, end).ok_or_else(|| bad_stream(start))?;
        }
        Ok(())
    }

    /// Verifies that all streams end where they should, once all literals are decoded.
    pub(super) fn end(&mut self) -> Result<()> {
        while self.bounds.get(self.current).is_some_and(|start| self.bounds.last() > Some(start)) {
            self.next()?;
        }
        Ok(())
    }
}

/// A damaged stream that begins at `start`.
#[cold]
fn bad_stream(start: usize) -> Error {
    Error::new(to_u64(start), HUFFMAN_STREAM, ErrorKind::BadBitStream)
}

/// Reading symbols from a bit stream.
impl Bits {
    /// The next symbol of a tree of at most 11 bits.
    #[inline(always)]
    #[allow(clippy::as_conversions, clippy::indexing_slicing)] // The shift leaves 11 bits.
    fn take(&mut self, table: &[u16; 1 << DEPTH]) -> u8 {
        let entry = table[(self.ahead() >> (64 - DEPTH)) as usize];
        self.skip(entry.into());
        (entry >> 8) as u8
    }

    /// Like [`Bits::take`], and refills; `None` before the start of the input.
    #[inline(always)]
    #[allow(clippy::as_conversions, clippy::indexing_slicing)] // The shift leaves 11 bits.
    fn take_and_refill(&mut self, table: &[u16; 1 << DEPTH], source: &[u8]) -> Option<u8> {
        let entry = table[(self.ahead() >> (64 - DEPTH)) as usize];
        self.skip_and_refill_or_end((entry & 0xff).into(), source)?;
        Some((entry >> 8) as u8)
    }

    /// Decodes to all of `output`.
    fn decode(&mut self, source: &[u8], output: &mut [u8], tree: &Tree) {
        for byte in output {
            self.refill(source);
            let (symbol, len) = tree.look_up(self.ahead());
            self.skip(len);
            *byte = symbol;
        }
    }

    /// Verifies that the stream ends at its `start`.
    fn verify_end(&self, start: usize) -> Result<()> {
        if self.left(start) == 0 { Ok(()) } else { Err(bad_stream(start)) }
    }

    /// Decodes what is left of the output, and verifies that the stream ends at its `start` then.
    fn finish(mut self, source: &[u8], output: &mut [u8], tree: &Tree, start: usize) -> Result<()> {
        self.decode(source, output, tree);
        self.verify_end(start)
    }
}
