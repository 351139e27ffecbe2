//! The sequences section of a block: which literals to copy and what to repeat.

use super::bits::Bits;
use super::element::{LITERAL_LENGTHS, MATCH_LENGTHS, OFFSETS, SEQUENCES};
use super::fse::{self, Codes, Entry};
use super::states;
use super::workspace::Tables;
use crate::bytes::{to_u64, to_usize};
use crate::error::{Element, Error, ErrorKind, Result};

/// One instruction: copy `literals`, then repeat `len` bytes that begin `offset` bytes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sequence {
    pub(super) literals: u32,
    pub(super) len: u32,
    pub(super) offset: u32,
}

/// The head of a sequences section.
#[derive(Clone, Copy)]
pub(super) struct Header {
    /// The number of sequences.
    pub(super) count: u32,
    /// The start of their bit stream.
    pub(super) start: usize,
}

/// The three kinds of tables, in the order in which a block describes them.
struct Kind {
    element: Element,
    most_accuracy: u32,
    symbols: usize,
    codes: &'static Codes,
}

const KINDS: [Kind; 3] = [
    Kind { element: LITERAL_LENGTHS, most_accuracy: 9, symbols: 36, codes: &LITERAL_LENGTH_CODES },
    Kind { element: OFFSETS, most_accuracy: 8, symbols: 32, codes: &OFFSET_CODES },
    Kind { element: MATCH_LENGTHS, most_accuracy: 9, symbols: 53, codes: &MATCH_LENGTH_CODES },
];

/// Codes whose values follow each other, given the extra bits of each.
#[allow(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)] // At compile time.
const fn consecutive<const N: usize>(first: u32, extra: [u8; N]) -> Codes {
    let mut codes = [0; 64];
    let mut value = first;
    let mut code = 0;
    while code < N {
        codes[code] = fse::code(value, extra[code]);
        value += 1 << extra[code];
        code += 1;
    }
    codes
}

const LITERAL_LENGTH_CODES: Codes = consecutive(
    0,
    [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12,
        13, 14, 15, 16,
    ],
);

const MATCH_LENGTH_CODES: Codes = consecutive(
    3,
    [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
        1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    ],
);

/// Code n has n extra bits. From 2 on the value is the offset itself; 0 and 1 lead to one of the recent offsets.
#[allow(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)] // At compile time.
const OFFSET_CODES: Codes = {
    let mut codes = [0; 64];
    codes[1] = fse::code(1, 1);
    let mut code = 2_u8;
    while code < 32 {
        codes[code as usize] = fse::code((1 << code) - 3, code);
        code += 1;
    }
    codes
};

/// The predefined table of a distribution.
#[allow(clippy::indexing_slicing)] // At compile time.
const fn predefined<const N: usize, const S: usize>(
    counts: [i16; S],
    accuracy: u32,
    codes: &Codes,
) -> [Entry; N] {
    let mut table = [0; N];
    let mut all = [0; 256];
    let mut symbol = 0;
    while symbol < S {
        all[symbol] = counts[symbol];
        symbol = symbol.wrapping_add(1);
    }
    fse::build_at_compile_time(&mut table, &mut all, S, accuracy, codes);
    table
}

static PREDEFINED_LITERAL_LENGTHS: [Entry; 64] = predefined(
    [
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1,
        -1, -1, -1,
    ],
    6,
    &LITERAL_LENGTH_CODES,
);

static PREDEFINED_OFFSETS: [Entry; 32] = predefined(
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    5,
    &OFFSET_CODES,
);

static PREDEFINED_MATCH_LENGTHS: [Entry; 64] = predefined(
    [
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
    6,
    &MATCH_LENGTH_CODES,
);

impl Header {
    /// Reads the header at `at` in a block that ends at `end`, and sets up the tables that it describes.
    pub(super) fn read(source: &[u8], at: usize, end: usize, tables: &mut Tables) -> Result<Self> {
        let block = source.get(at..end).unwrap_or_default();
        let cut = |size: usize| {
            let needed = to_u64(size.saturating_sub(block.len()));
            Error::new(to_u64(at), SEQUENCES, ErrorKind::UnexpectedEnd { needed })
        };
        let (count, size) = match *block {
            [] => return Err(cut(1)),
            [count @ 0..=127, ..] => (u32::from(count), 1),
            [high @ 128..=254, low, ..] => (u32::from(u16::from_be_bytes([high & 127, low])), 2),
            [255, low, high, ..] => (u32::from(u16::from_le_bytes([low, high])).saturating_add(0x7f00), 3),
            [255, ..] => return Err(cut(3)),
            [_, ..] => return Err(cut(2)),
        };
        if count == 0 {
            let rest = block.len().saturating_sub(size);
            if rest != 0 {
                let at = to_u64(at.saturating_add(size));
                return Err(Error::new(at, SEQUENCES, ErrorKind::TrailingBytes { count: to_u64(rest) }));
            }
            return Ok(Self { count, start: end });
        }
        let Some(&modes) = block.get(size) else { return Err(cut(size.saturating_add(1))) };
        let mut at = at.saturating_add(size);
        if modes & 3 != 0 {
            let kind = ErrorKind::ReservedNotZero { value: (modes & 3).into() };
            return Err(Error::new(to_u64(at), SEQUENCES, kind));
        }
        at = at.saturating_add(1);
        for ((kind, shift), which) in KINDS.iter().zip([6, 4, 2]).zip(0..) {
            let data = source.get(at..end).unwrap_or_default();
            let size = tables
                .update(kind, which, modes >> shift & 3, data)
                .map_err(|fault| Error::new(to_u64(at), kind.element, fault))?;
            at = at.saturating_add(size);
        }
        tables.has_sequences = true;
        Ok(Self { count, start: at })
    }
}

impl Tables {
    /// Sets up one table as the front of `data` describes it; returns the size of the description.
    fn update(&mut self, kind: &Kind, which: usize, mode: u8, data: &[u8]) -> Result<usize, ErrorKind> {
        let (accuracy, size) = match mode {
            0 => {
                match which {
                    0 => copy(&PREDEFINED_LITERAL_LENGTHS, &mut self.literal_lengths),
                    1 => copy(&PREDEFINED_OFFSETS, &mut self.offsets),
                    _ => copy(&PREDEFINED_MATCH_LENGTHS, &mut self.match_lengths),
                }
                (if which == 1 { 5 } else { 6 }, 0)
            }
            1 => {
                let Some(&symbol) = data.first() else {
                    return Err(ErrorKind::UnexpectedEnd { needed: 1 });
                };
                let code = kind.codes.get(usize::from(symbol)).filter(|_| usize::from(symbol) < kind.symbols);
                let Some(&code) = code else {
                    let limit = to_u64(kind.symbols.saturating_sub(1));
                    return Err(ErrorKind::OverLimit { value: symbol.into(), limit });
                };
                let table = match which {
                    0 => &mut self.literal_lengths[..],
                    1 => &mut self.offsets[..],
                    _ => &mut self.match_lengths[..],
                };
                if let Some(first) = table.first_mut() {
                    *first = fse::single(code);
                }
                (0, 1)
            }
            2 => {
                let read = fse::describe(data, kind.symbols, &mut self.scratch.counts)?;
                if read.accuracy > kind.most_accuracy {
                    let (value, limit) = (read.accuracy.into(), kind.most_accuracy.into());
                    return Err(ErrorKind::OverLimit { value, limit });
                }
                let (counts, ordered) = (&mut self.scratch.counts, &mut self.scratch.symbols);
                match which {
                    0 => fse::build(&mut self.literal_lengths, counts, ordered, &read, kind.codes),
                    1 => fse::build(&mut self.offsets, counts, ordered, &read, kind.codes),
                    _ => fse::build(&mut self.match_lengths, counts, ordered, &read, kind.codes),
                }
                (read.accuracy, read.size)
            }
            _ if self.has_sequences => return Ok(0),
            _ => return Err(ErrorKind::MissingTable),
        };
        if let Some(slot) = self.accuracies.get_mut(which) {
            *slot = accuracy;
        }
        Ok(size)
    }
}

/// Copies a short table to the front of a longer one.
fn copy(from: &[Entry], to: &mut [Entry]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// The reader of a section's bit stream.
pub(super) struct Reader<'a> {
    source: &'a [u8],
    bits: Bits,
    // One pointer for the three tables: registers are scarce.
    tables: &'a Tables,
    literal_length: usize,
    offset: usize,
    match_length: usize,
    /// The two offsets used last, the latest one in the low half: registers are scarce.
    recent: u64,
    /// The one before these.
    third: u32,
}

impl<'a> Reader<'a> {
    /// Opens the stream at `start..end`.
    pub(super) fn open(source: &'a [u8], start: usize, end: usize, tables: &'a Tables) -> Option<Self> {
        let mut bits = Bits::open(source, start, end)?;
        let [literal_length, offset, match_length] =
            tables.accuracies.map(|width| to_usize(bits.read(width)));
        bits.refill(source);
        let [first, second, third] = tables.recent;
        let recent = u64::from(second) << 32 | u64::from(first);
        Some(Self { source, bits, tables, literal_length, offset, match_length, recent, third })
    }

    /// The next sequence. The last one has no bits for a state after it.
    #[inline(always)]
    #[allow(clippy::as_conversions, clippy::arithmetic_side_effects, clippy::indexing_slicing)]
    pub(super) fn next(&mut self, is_last: bool) -> Sequence {
        // Masks are cheaper than bounds checks; no table points outside itself.
        let ll = self.tables.literal_lengths[self.literal_length & 511];
        let of = self.tables.offsets[self.offset & 255];
        let ml = self.tables.match_lengths[self.match_length & 511];

        let offset = if fse::has_extra(of, 2) {
            let value = fse::value(of);
            let bits = self.bits.read_some(fse::extra(of));
            let value = value.wrapping_add(bits);
            self.third = (self.recent >> 32) as u32;
            self.recent = self.recent << 32 | u64::from(value);
            value
        } else {
            // 0 is the latest offset. Without literals that would be pointless, so numbering then begins with the
            // second latest.
            let value = fse::value(of).wrapping_add(self.bits.read(fse::extra(of)));
            let [first, second, third] = self.recent();
            match value + u32::from(fse::value(ll) == 0) {
                0 => first,
                1 => {
                    self.recent = self.recent.rotate_left(32);
                    second
                }
                index => {
                    let value = if index == 2 { third } else { first.wrapping_sub(1) };
                    self.third = second;
                    self.recent = self.recent << 32 | u64::from(value);
                    value
                }
            }
        };
        // At most 31 of at least 56 bits have been read; 16 are needed now, then 16, then 26 for the states.
        let mut len = fse::value(ml);
        if fse::has_extra(ml, 1) {
            len = len.wrapping_add(self.bits.read_some(fse::extra(ml)));
        }
        let all = ll.wrapping_add(of).wrapping_add(ml);
        if fse::extra(all) & 63 > 56 - 26 {
            self.bits.refill(self.source);
        }
        let mut literals = fse::value(ll);
        if fse::has_extra(ll, 1) {
            literals = literals.wrapping_add(self.bits.read_some(fse::extra(ll)));
        }
        if !is_last {
            // Consumed below, where it costs less.
            let [literal_length, match_length, offset] = states::read(&mut { self.bits }, [ll, ml, of]);
            self.literal_length = fse::next(ll).wrapping_add(literal_length) as usize;
            self.match_length = fse::next(ml).wrapping_add(match_length) as usize;
            self.offset = fse::next(of).wrapping_add(offset) as usize;
            self.bits.skip_and_refill(fse::width(all), self.source);
        }
        Sequence { literals, len, offset }
    }

    /// The three offsets used last, the latest one first.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Halves.
    pub(super) fn recent(&self) -> [u32; 3] {
        [self.recent as u32, (self.recent >> 32) as u32, self.third]
    }

    #[inline(always)]
    /// The number of bits that are left of a stream that starts at `start`.
    pub(super) fn left(&self, start: usize) -> i64 {
        self.bits.left(start)
    }
}
