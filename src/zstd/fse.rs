//! Finite state entropy: distributions of symbols, and the decoding tables made of them.

use crate::error::ErrorKind;

/// The meaning of one state of a table.
///
/// | bits | |
/// |---|---|
/// | 0..6 | how many bits to read for the next state |
/// | 6..12 | how many extra bits the value has |
/// | 12..22 | what to add to get the next state |
/// | 22..32 | a mask of as many bits as are read for the next state |
/// | 32..64 | what to add to get the value |
///
/// Adding entries adds their bit counts (up to 63 each). The mask and the value end where 32 and 64 bits do, so that one
/// shift gives either.
pub(super) type Entry = u64;

/// The value and the extra bits of each code: an [`Entry`] without the state.
pub(super) type Codes = [Entry; 64];

/// The [`Entry`] of a value and its extra bits, without a state.
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // At compile time.
pub(super) const fn code(value: u32, extra: u8) -> Entry {
    (value as Entry) << 32 | (extra as Entry) << 6
}

/// The frequencies of symbols; −1 stands for less than once. Those after the last symbol are 0.
pub(super) type Distribution = [i16; 256];

/// The largest accuracy that a description can express; tables have limits of their own.
const MOST_ACCURACY: u32 = 15;

/// A description read: its accuracy in bits, how many symbols it covers, and its size in bytes.
pub(super) struct Description {
    pub(super) accuracy: u32,
    pub(super) symbols: usize,
    pub(super) size: usize,
}

/// Reads the description of a distribution of at most `most_symbols` at the front of `data`.
///
/// If a description runs over the end of the data, the reference implementation goes on with the bits of the last
/// four bytes again, and accepts what comes of it if it ends well. To agree on every input, we do so too.
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Small numbers, and bit counts below 64.
pub(super) fn describe(
    data: &[u8],
    most_symbols: usize,
    counts: &mut Distribution,
) -> Result<Description, ErrorKind> {
    // Data shorter than 8 bytes are padded with zeros, none of which may turn out to be used.
    let mut padded = [0; 8];
    let bytes = if data.len() < 8 {
        for (to, from) in padded.iter_mut().zip(data) {
            *to = *from;
        }
        &padded[..]
    } else {
        data
    };
    let word_at = |at: usize| {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_le_bytes(*word.unwrap_or(&[0; 4]))
    };
    let last_word = bytes.len().saturating_sub(4);
    counts.fill(0);

    let mut at = 0_usize;
    let mut word = word_at(0);
    let accuracy = (word & 15) + 5;
    if accuracy > MOST_ACCURACY {
        return Err(ErrorKind::OverLimit { value: accuracy.into(), limit: MOST_ACCURACY.into() });
    }
    word >>= 4;
    let mut used = 4_u32;
    // One more than is left to distribute, as in the document.
    let mut remaining = (1_i32 << accuracy) + 1;
    let mut threshold = 1_i32 << accuracy;
    let mut width = accuracy + 1;
    let mut symbol = 0_usize;
    let mut after_zero = false;
    // Moves to the byte of the next bit.
    let advance = |at: &mut usize, used: &mut u32| {
        let next = *at + (*used >> 3) as usize;
        if next <= last_word {
            *at = next;
            *used &= 7;
        } else {
            *used = used.wrapping_sub((last_word.wrapping_sub(*at) as u32).wrapping_mul(8)) & 31;
            *at = last_word;
        }
        word_at(*at) >> *used
    };
    loop {
        if after_zero {
            // Pairs of bits, each a count of up to three more zeros, and 3 says that another pair follows.
            let mut threes = (!word | 0x8000_0000).trailing_zeros() >> 1;
            while threes >= 12 {
                symbol += 36;
                used += 24;
                word = advance(&mut at, &mut used);
                threes = (!word | 0x8000_0000).trailing_zeros() >> 1;
                if symbol >= most_symbols {
                    break;
                }
            }
            symbol += 3 * threes as usize;
            word = word.wrapping_shr(2 * threes);
            used += 2 * threes;
            symbol += (word & 3) as usize;
            used += 2;
            if symbol >= most_symbols {
                break;
            }
            word = advance(&mut at, &mut used);
        }
        let most = 2 * threshold - 1 - remaining;
        let low = (word & (threshold as u32).wrapping_sub(1)) as i32;
        let mut count = low;
        if low < most {
            used += width - 1;
        } else {
            count = (word & (2 * threshold as u32).wrapping_sub(1)) as i32;
            if count >= threshold {
                count -= most;
            }
            used += width;
        }
        count -= 1;
        remaining -= count.abs();
        if let Some(slot) = counts.get_mut(symbol) {
            *slot = count as i16;
        }
        symbol += 1;
        after_zero = count == 0;
        if remaining < threshold {
            if remaining <= 1 {
                break;
            }
            width = 32 - remaining.leading_zeros();
            threshold = 1 << (width - 1);
        }
        if symbol >= most_symbols {
            break;
        }
        word = advance(&mut at, &mut used);
    }
    if remaining != 1 || symbol > most_symbols || used > 32 {
        return Err(ErrorKind::UnevenDistribution { left: (remaining - 1).unsigned_abs().into() });
    }
    let size = at + (used as usize).div_ceil(8);
    if size > data.len() {
        return Err(ErrorKind::UnexpectedEnd { needed: (size - data.len()) as u64 });
    }
    Ok(Description { accuracy, symbols: symbol, size })
}

/// The symbols of all states in the order in which they are spread, and room for a store of 8 at the end.
pub(super) type Ordered = [u8; 512 + 8];

/// Builds the table of a distribution over `1 << accuracy` states, at most `N`, which is a power of two and at most 512;
/// it uses the counts up.
pub(super) fn build<const N: usize>(
    table: &mut [Entry; N],
    counts: &mut Distribution,
    ordered: &mut Ordered,
    read: &Description,
    codes: &Codes,
) {
    let used = counts.get(..read.symbols).unwrap_or_default();
    // The sign says whether any symbol is less probable than one state, which is rare in small blocks.
    if used.iter().fold(0, |all, count| all | count) < 0 {
        order_with_rare(ordered, counts, read.symbols, read.accuracy);
    } else {
        order(ordered, used);
    }
    fill(table, ordered, counts, read.accuracy, codes);
}

/// [`build`] for the predefined tables.
pub(super) const fn build_at_compile_time<const N: usize>(
    table: &mut [Entry; N],
    counts: &mut Distribution,
    symbols: usize,
    accuracy: u32,
    codes: &Codes,
) {
    let mut ordered = [0; 512 + 8];
    order_with_rare(&mut ordered, counts, symbols, accuracy);
    fill(table, &ordered, counts, accuracy, codes);
}

/// The largest symbol in [`Codes`]. Larger ones, which nothing valid uses, are treated as this one.
const LAST_CODE: usize = 63;

/// Puts the symbols in order, each as often as it is counted, where none is rare.
#[allow(clippy::as_conversions)] // Small numbers.
fn order(ordered: &mut Ordered, counts: &[i16]) {
    let mut at = 0_usize;
    for (&count, symbol) in counts.iter().zip(0_usize..) {
        let end = at.wrapping_add(usize::from(count.unsigned_abs()));
        // Most counts are small: eight are written at once, and the next symbol overwrites the excess.
        let eight = [symbol.min(LAST_CODE) as u8; 8];
        while let Some(place) =
            ordered.get_mut(at..at.wrapping_add(8)).and_then(|rest| rest.first_chunk_mut())
        {
            *place = eight;
            at = at.wrapping_add(8);
            if at >= end {
                break;
            }
        }
        at = end;
    }
}

/// Puts the symbols in order where some are less probable than one state: those get one state each, from the end of the
/// table.
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // Masked throughout.
const fn order_with_rare(ordered: &mut Ordered, counts: &mut Distribution, symbols: usize, accuracy: u32) {
    const VACANT: u8 = 0xff;
    let states = 1_usize << (accuracy & 15);
    let mask = states - 1;
    let mut at = 0;
    while at < states {
        ordered[at & 511] = VACANT;
        at += 1;
    }
    let (inverse, mut high, mut symbol) = (inverse(states), mask, 0);
    while symbol < symbols {
        if counts[symbol & 255] == -1 {
            ordered[high.wrapping_mul(inverse) & mask & 511] =
                if symbol < LAST_CODE { symbol } else { LAST_CODE } as u8;
            high = high.wrapping_sub(1);
        }
        symbol += 1;
    }
    // The others go where there is room.
    at = 0;
    symbol = 0;
    while symbol < symbols {
        let mut count = counts[symbol & 255];
        if count < 0 {
            counts[symbol & 255] = 1;
        }
        while count > 0 && at < states {
            if ordered[at & 511] == VACANT {
                ordered[at & 511] = if symbol < LAST_CODE { symbol } else { LAST_CODE } as u8;
                count -= 1;
            }
            at += 1;
        }
        symbol += 1;
    }
}

/// The distance of two consecutive states in the order of symbols. Symbols are spread over the states with a step
/// that visits each state once; this is the inverse of that step.
#[allow(clippy::arithmetic_side_effects)] // Small numbers.
const fn inverse(states: usize) -> usize {
    let step = (states >> 1) + (states >> 3) + 3;
    // An odd number is its own inverse modulo 8; each round doubles the number of correct bits.
    let inverse = step.wrapping_mul(2_usize.wrapping_sub(step.wrapping_mul(step)));
    inverse.wrapping_mul(2_usize.wrapping_sub(step.wrapping_mul(inverse)))
}

/// Fills the table, given the symbols in order.
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // Masked throughout.
const fn fill<const N: usize>(
    table: &mut [Entry; N],
    ordered: &Ordered,
    counts: &mut Distribution,
    accuracy: u32,
    codes: &Codes,
) {
    let states = 1_usize << (accuracy & 15);
    let inverse = inverse(states);
    let (mut state, mut at) = (0_usize, 0_usize);
    // The states of a symbol divide all states among themselves as successors; each gets a power of two.
    while state < states {
        let symbol = ordered[at & (states - 1) & 511] as usize & LAST_CODE;
        let next = counts[symbol] as u16 as u32;
        counts[symbol] = next.wrapping_add(1) as i16;
        let width = accuracy.wrapping_sub(31).wrapping_add(next.leading_zeros());
        let base = next.wrapping_shl(width).wrapping_sub(states as u32) & 0x3ff;
        table[state & (N - 1)] = codes[symbol] | WIDTHS[width as usize & 15] | (base as u64) << 12;
        at = at.wrapping_add(inverse);
        state += 1;
    }
}

/// The number of bits to read for the next state and their mask, of an [`Entry`].
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // At compile time.
const WIDTHS: [Entry; 16] = {
    let mut widths = [0; 16];
    let mut width = 0;
    while width < 10 {
        widths[width as usize] = ((1 << width) - 1) << 22 | width;
        width += 1;
    }
    widths
};

/// The number of bits to read for the next state, in the low 6 bits.
#[inline(always)]
#[allow(clippy::as_conversions)]
pub(super) const fn width(entry: Entry) -> u32 {
    entry as u32
}

/// A mask of that many bits.
#[inline(always)]
#[allow(clippy::as_conversions)]
pub(super) const fn mask(entry: Entry) -> u64 {
    (entry as u32 >> 22) as u64
}

/// The number of extra bits of the value, in the low 6 bits.
#[inline(always)]
#[allow(clippy::as_conversions)]
pub(super) const fn extra(entry: Entry) -> u32 {
    (entry >> 6) as u32
}

/// True if there are at least `count` extra bits, where that is a power of two.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // Of constants.
pub(super) const fn has_extra(entry: Entry, count: u64) -> bool {
    entry & (64 - count) << 6 != 0
}

/// The base of the next state, to which the bits read are added, in the low 10 bits.
#[inline(always)]
pub(super) const fn next(entry: Entry) -> u64 {
    entry >> 12
}

/// The base of the value, to which the extra bits are added.
#[inline(always)]
#[allow(clippy::as_conversions)]
pub(super) const fn value(entry: Entry) -> u32 {
    (entry >> 32) as u32
}

/// The [`Entry`] of a table with a single symbol, which reads no bits for the next state.
pub(super) const fn single(code: Entry) -> Entry {
    let [no_bits, ..] = WIDTHS;
    code | no_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description of accuracy 5: 16 of symbol 0, a zero and two more, 15 of symbol 4, "less than one" of 5.
    #[test]
    fn reads_a_description_with_a_gap_and_a_rare_symbol() {
        let fields: [(u32, u32); 6] = [
            (0, 4),  // accuracy − 5
            (17, 5), // 33 are left: 16 of symbol 0; 6 bits, or 5 if below 63 − 33 = 30
            (1, 4),  // 17 are left: none of symbol 1; 5 bits, or 4 if below 31 − 17 = 14
            (2, 2),  // two more zeros
            (30, 5), // 17 are left: 30 ≥ 16, less 14 is 16, less 1 is 15 of symbol 4
            (0, 1),  // 2 are left: −1, which takes 1; 2 bits, or 1 if below 3 − 2 = 1
        ];
        let (mut word, mut width) = (0_u64, 0);
        for (value, bits) in fields {
            word |= u64::from(value) << width;
            width += bits;
        }
        let data = word.to_le_bytes();
        let mut counts = [7; 256];
        let read = describe(&data, 36, &mut counts).unwrap();
        assert_eq!((read.accuracy, read.symbols, read.size), (5, 6, 3));
        assert_eq!(counts[..7], [16, 0, 0, 0, 15, -1, 0]);
        for len in 0..3 {
            assert!(describe(&data[..len], 36, &mut counts).is_err(), "{len}");
        }
        assert!(describe(&data, 4, &mut counts).is_err());
        assert!(describe(&data, 6, &mut counts).is_ok());
    }

    #[test]
    fn rare_symbols_lie_at_the_end_and_widths_cover_all_states() {
        let mut counts = [0; 256];
        counts[..4].copy_from_slice(&[16, 0, 15, -1]);
        let mut codes = [0; 64];
        for (symbol, code) in codes.iter_mut().enumerate() {
            *code = super::code(symbol as u32, 0);
        }
        let mut table = [0; 64];
        let read = Description { accuracy: 5, symbols: 4, size: 0 };
        build(&mut table, &mut counts, &mut [0; 520], &read, &codes);
        assert_eq!((value(table[31]), width(table[31]) & 63, next(table[31]) & 0x3ff), (3, 5, 0));
        for symbol in [0, 2, 3] {
            let mut reached = [0; 32];
            for &entry in table[..32].iter().filter(|&&entry| value(entry) == symbol) {
                for lower in 0..1_usize << (width(entry) & 63) {
                    reached[(next(entry) & 0x3ff) as usize + lower] += 1;
                }
            }
            assert_eq!(reached, [1; 32], "{symbol}");
        }
    }
}
