//! The bits that lead from the states of tables to their next ones.

use super::bits::Bits;
use super::fse::{self, Entry};

/// Reads the bits for the next states of entries, in this order, and returns what to add to [`fse::next`].
///
/// All bits at once, the last entry's at the bottom.
#[inline(always)]
pub(super) fn read<const N: usize>(bits: &mut Bits, entries: [Entry; N]) -> [u64; N] {
    let all = entries.iter().fold(0, |all, &entry| entry.wrapping_add(all));
    let mut lower = u64::from(bits.read(fse::width(all)));
    let mut states = [0; N];
    for (state, &entry) in states.iter_mut().zip(&entries).rev() {
        *state = lower & fse::mask(entry);
        lower = lower.wrapping_shr(fse::width(entry));
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zstd::bits::LEAD;

    /// The entry of a state after which `width` bits are read.
    fn entry(width: u32) -> Entry {
        ((1 << width) - 1) << 22 | u64::from(width)
    }

    /// Reading at once gives the same as reading one by one, also where more is asked for than there is.
    #[test]
    fn states_are_read_at_once() {
        let mut number = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = || {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            number
        };
        for _ in 0..20_000 {
            let mut source = [random().to_le_bytes(), random().to_le_bytes()].concat();
            source.push(random().to_le_bytes()[0] | 1);
            let bits = Bits::open(&source, LEAD, source.len()).unwrap();
            let widths = random();
            let [a, b, c] = [0, 4, 8].map(|shift| (widths >> shift & 15) as u32 % 10);
            let (mut first, mut second) = (bits, bits);
            let found = read(&mut first, [entry(a), entry(b), entry(c)]);
            assert_eq!(found, [a, b, c].map(|width| u64::from(second.read(width))), "{a} {b} {c}");
            assert_eq!((first.ahead(), first.left(LEAD)), (second.ahead(), second.left(LEAD)));
            let count = 1 + (widths >> 12) as u32 % 31;
            assert_eq!(first.read_some(count), second.read(count), "{count}");
            assert_eq!((first.ahead(), first.left(LEAD)), (second.ahead(), second.left(LEAD)));
        }
    }

    /// Refilling at once is skipping and then refilling, as long as the window holds so many bits.
    #[test]
    fn skips_and_refills_as_one_after_the_other() {
        let source: std::vec::Vec<u8> = (1..=40).map(|n: u8| n.wrapping_mul(151) | 1).collect();
        for start in 0..64 {
            for count in 0..=48 {
                let mut one = Bits::open(&source, LEAD, 12 + start as usize % 28).unwrap();
                one.skip(start % 8);
                let mut other = one;
                one.skip_and_refill(count, &source);
                other.skip(count);
                other.refill(&source);
                assert_eq!(
                    (one.ahead(), one.left(LEAD)),
                    (other.ahead(), other.left(LEAD)),
                    "{start} {count}"
                );
            }
        }
    }
}
