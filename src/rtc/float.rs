//! The `f64` that is nearest to a decimal number.
//!
//! Gains and offsets of 17 digits, as writers print them, must become the very `f64` that was written: samples are scaled
//! with it. `str::parse` of `core` keeps a panic path alive in the image of a firmware, and cannot read text in pieces.

use crate::rtc::wide;

/// 10^0 to 10^22, which `f64` holds exactly.
#[cfg(target_pointer_width = "64")]
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
/// Bits of the fraction in an `f64`.
const FRACTION: u32 = 52;

/// digits · 10^exponent.
#[inline(never)]
pub(super) fn nearest(digits: u128, exponent: i32) -> f64 {
    // Quick where floats are; elsewhere the division alone takes 1 KB. A whole number below 2^53 and a power of ten are exact, so there is one rounding.
    #[cfg(target_pointer_width = "64")]
    if let (Ok(whole), Some(&power)) =
        (u64::try_from(digits), usize::try_from(exponent.unsigned_abs()).ok().and_then(|n| EXACT.get(n)))
        && whole < 1 << 53
    {
        let whole = f64::from(wide::low(whole >> 32)) * 4_294_967_296.0 + f64::from(wide::low(whole));
        return if exponent.is_negative() { whole / power } else { whole * power };
    }
    by_words(digits, exponent)
}

/// The nearest `f64`, by integers alone.
fn by_words(digits: u128, exponent: i32) -> f64 {
    match exponent {
        _ if digits == 0 => 0.0,
        // At least 10^310, at most 10^(38 - 380).
        310.. => f64::INFINITY,
        ..-380 => 0.0,
        _ => Big::scaled(digits, exponent).round(),
    }
}

/// An integer of 1,536 bits, times a power of two.
struct Big {
    words: [u32; Self::WORDS],
    /// The power of two.
    scale: i32,
    /// True if the true value is a bit larger: a division left a remainder.
    more: bool,
}

impl Big {
    const WORDS: usize = 48;
    /// Words that become the fraction when a number is divided: 10^380 takes 1,263 bits, so 145 remain.
    const SHIFT: usize = 44;

    /// digits · 10^exponent, for an exponent of -380 to 309.
    fn scaled(digits: u128, exponent: i32) -> Self {
        let divides = exponent.is_negative();
        // Rounding wants 53 bits and more, of which one digit has but a few.
        let (skip, scale) = if divides { (Self::SHIFT, -1408) } else { (2, -64) };
        let mut big = Self { words: [0; Self::WORDS], scale, more: false };
        for (to, word) in big.words.iter_mut().skip(skip).zip(wide::words(digits)) {
            *to = word;
        }
        let mut left = exponent.unsigned_abs();
        while left > 0 {
            let step = left.min(9);
            let by = 10_u32.saturating_pow(step);
            if divides {
                big.divide(by)
            } else {
                wide::multiply(&mut big.words, by);
            }
            left = left.saturating_sub(step);
        }
        big
    }

    /// Divides; the quotients of quotients are those of the product, so only that there was a remainder is kept.
    fn divide(&mut self, by: u32) {
        self.more |= wide::divide(&mut self.words, by) > 0;
    }

    fn bit(&self, n: u32) -> bool {
        let word = usize::try_from(n >> 5).ok().and_then(|word| self.words.get(word)).copied().unwrap_or(0);
        word.checked_shr(n & 31).unwrap_or(0) & 1 == 1
    }

    /// The nearest `f64`, the even one of two.
    fn round(&self) -> f64 {
        let zeros = self.words.iter().rev().take_while(|&&word| word == 0).count();
        let top = self.words.iter().rev().find(|&&word| word != 0).copied().unwrap_or(0);
        let words = u32::try_from(Self::WORDS.saturating_sub(zeros)).unwrap_or(0);
        let len = words.saturating_mul(32).saturating_sub(top.leading_zeros());
        // The exponent of the lowest bit of a subnormal is -1074: there are fewer bits for a fraction.
        let above = i32::try_from(len).unwrap_or(0).saturating_add(self.scale).saturating_add(1074);
        let Ok(above) = u32::try_from(above) else { return 0.0 };
        let precision = above.min(FRACTION.saturating_add(1));
        let dropped = len.saturating_sub(precision);
        let mut bits = (dropped..len).rev().fold(0_u64, |bits, n| bits << 1 | u64::from(self.bit(n)));
        if let Some(half) = dropped.checked_sub(1) {
            let beyond = self.more || (0..half).any(|n| self.bit(n));
            bits = bits.saturating_add(u64::from(self.bit(half) && (beyond || bits & 1 == 1)));
        }
        // The leading bit of a normal number counts 1 in the exponent, as does a carry out of the fraction.
        let biased = u64::from(above.saturating_sub(precision));
        if biased >= 2046 {
            return f64::INFINITY;
        }
        f64::from_bits((biased << FRACTION).saturating_add(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtc::Decimal;
    use crate::text::Text;
    use std::format;

    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        match Decimal::parse(Text::new(text.as_bytes(), 0)) {
            Some(decimal) => {
                let found = decimal.to_f64();
                // Of zero, a decimal has no sign.
                let is_same = found.to_bits() == expected.to_bits() || found == 0.0 && expected == 0.0;
                assert!(is_same, "{text}: {found:e} for {expected:e}");
            }
            // It refuses what is infinite, and exponents of more than 32 bits.
            None => assert!(expected.is_infinite() || text == "1e-99999999999", "{text}"),
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 29
        };
        for _ in 0..4000 {
            let (a, b, c) = (random(), random(), random());
            check(&format!("{}e{}", a >> (b % 64), (c % 700) as i64 - 370));
            check(&format!("-{}.{:019}E{}", a >> (b % 64), b, (c % 700) as i64 - 370));
            check(&format!("{}.{}", a % 1000, b % 100_000));
            // Every bit pattern, by its shortest decimal and by one of 17 digits.
            let value = f64::from_bits(a);
            if value.is_finite() {
                check(&format!("{value:e}"));
                check(&format!("{value:.16e}"));
            }
        }
    }

    /// Small processors have no quick way: both give the same.
    #[test]
    fn both_ways_agree() {
        let mut state = 3_u64;
        for _ in 0..4000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let digits = state >> 11 >> (state % 53);
            for exponent in [-22, -9, -1, 0, 1, 22, (state % 45) as i32 - 22] {
                let expected: f64 = format!("{digits}e{exponent}").parse().unwrap();
                for found in [nearest(digits.into(), exponent), by_words(digits.into(), exponent)] {
                    assert_eq!(found.to_bits(), expected.to_bits(), "{digits}e{exponent}");
                }
            }
        }
    }

    /// A remainder decides a tie.
    #[test]
    fn remainders_are_kept() {
        for (digits, quotient, more) in [(6, 2, false), (7, 2, true), (8, 2, true), (9, 3, false)] {
            let mut big = Big::scaled(digits, 0);
            big.divide(3);
            assert_eq!((big.words[2], big.more), (quotient, more));
        }
    }

    #[test]
    fn extremes_and_ties() {
        for text in [
            "0",
            "-0",
            "0e999",
            "-0.0e-5",
            "1e-8",
            "1e22",
            "1e23",
            "9007199254740993",
            "9007199254740995",
            "9007199254740992.5",
            "9007199254740993.0000000000000000000000000001",
            // A tie, and a bit more than one, after the digits that count.
            "9007199254740993.0000000000000000000000000000",
            "9007199254740993.0000000000000000000000100000",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "179769313486231580793e289",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "1e309",
            "1e-400",
            "1e99999999999",
            "1e-99999999999",
            "123456789012345678901234567890123456789012345678901234567890",
            "0.00000000000000000000000000000000000000000000000000000000001234567890123456789012345678901234567890123",
            "100000000000000000000000000000000000000000000000000000000000000e-60",
        ] {
            check(text);
        }
    }
}
