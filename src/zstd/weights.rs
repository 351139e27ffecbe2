//! The weights of a Huffman tree as a bit stream of their own.

use super::bits::Bits;
use super::fse::{self, Codes, Entry, Ordered};
use super::states;

/// The most accurate table of weights.
pub(super) const MOST_ACCURACY: u32 = 6;

/// Weights as their own codes.
pub(super) const CODES: Codes = {
    let mut codes = [0; 64];
    let mut weight = 0_u32;
    #[allow(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
    while weight < 64 {
        codes[weight as usize] = fse::code(weight, 0);
        weight += 1;
    }
    codes
};

/// Decodes symbols with two states in turn until the stream at `start..end` of `source` is used up.
///
/// Returns how many there are, or `None` if the stream is damaged or they are more than fit.
#[allow(clippy::as_conversions, clippy::indexing_slicing)] // Indices are masked.
pub(super) fn decode(
    source: &[u8],
    start: usize,
    end: usize,
    table: &[Entry; 64],
    accuracy: u32,
    symbols: &mut Ordered,
) -> Option<usize> {
    let mut bits = Bits::open(source, start, end)?;
    let mut state = bits.read(accuracy) as usize;
    let mut other = bits.read(accuracy) as usize;
    if bits.left(start) < 0 {
        return None;
    }
    // Both symbols, and the next states.
    let two = |state: usize, other: usize, bits: &mut Bits| {
        let (first, second) = (table[state & 63], table[other & 63]);
        let [upper, lower] = states::read(bits, [first, second]);
        let state = fse::next(first).wrapping_add(upper) as usize;
        let other = fse::next(second).wrapping_add(lower) as usize;
        ([fse::value(first) as u8, fse::value(second) as u8], state, other)
    };
    // The symbol of a state, and the next state.
    let step = |state: usize, bits: &mut Bits| {
        let entry = table[state & 63];
        let [lower] = states::read(bits, [entry]);
        (fse::value(entry) as u8, fse::next(entry).wrapping_add(lower) as usize)
    };
    let mut count = 0_usize;
    loop {
        bits.refill(source);
        // Four symbols take at most 24 bits, so only near the end does it have to be looked for. The reference leaves
        // room for two.
        if bits.left(start) >= 24 && count < 250 {
            let four = symbols.get_mut(count..count.wrapping_add(4))?.first_chunk_mut::<4>()?;
            let ([first, second], [third, fourth]);
            ([first, second], state, other) = two(state, other, &mut bits);
            ([third, fourth], state, other) = two(state, other, &mut bits);
            *four = [first, second, third, fourth];
            count = count.wrapping_add(4);
            continue;
        }
        if count > 253 {
            return None;
        }
        let symbol = symbols.get_mut(count)?;
        (*symbol, state) = step(state, &mut bits);
        (state, other) = (other, state);
        count = count.wrapping_add(1);
        if bits.left(start) < 0 {
            // The stream ended in the middle of this, so the other state's symbol is the last.
            *symbols.get_mut(count)? = fse::value(table[state & 63]) as u8;
            return Some(count.wrapping_add(1));
        }
    }
}
