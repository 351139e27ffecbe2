//! Values that are more than one word.

use core::fmt::Display;

/// Text as it was stored.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Text<'a> {
    /// Bytes that claim to be UTF-8.
    Utf8(&'a [u8]),
    /// Text in another form, such as UTF-16 or with escapes.
    Other {
        /// The text; what is not valid is replaced.
        text: &'a dyn Display,
        /// The bytes it was made from.
        stored: &'a [u8],
        /// True if all of `stored` is valid.
        is_valid: bool,
    },
}

impl<'a> Text<'a> {
    /// Text that is known to be UTF-8.
    pub const fn new(text: &'a str) -> Self {
        Self::Utf8(text.as_bytes())
    }
}

/// Shows the text; what is not UTF-8 is replaced by U+FFFD. Control characters are not escaped.
impl Display for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Utf8(bytes) => bytes.utf8_chunks().try_for_each(|chunk| {
                f.write_str(chunk.valid())?;
                if chunk.invalid().is_empty() { Ok(()) } else { f.write_str("\u{fffd}") }
            }),
            Self::Other { text, .. } => text.fmt(f),
        }
    }
}

impl core::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", format_args!("{self}"))
    }
}

/// 10^0 to 10^18.
pub(crate) const POWERS: [u64; 19] = powers();

#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)] // At compile time, and 10^18 fits.
const fn powers() -> [u64; 19] {
    let mut powers = [1; 19];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
}

/// A decimal number: its digits, divided by a power of ten.
///
/// ```
/// use traceglass::record::Decimal;
///
/// let volts = Decimal { digits: -31_250, places: 3 };
/// assert_eq!((volts.to_string(), volts.to_f64()), ("-31.250".to_owned(), -31.25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits, as an integer.
    pub digits: i128,
    /// The number of digits after the point, at most [`PLACES`](Self::PLACES).
    pub places: u32,
}

impl Decimal {
    /// The most digits after the point.
    pub const PLACES: u32 = 18;

    /// 10^[`places`](Self::places).
    #[inline(always)]
    pub fn unit(self) -> u64 {
        let power = usize::try_from(self.places).ok().and_then(|places| POWERS.get(places));
        power.copied().unwrap_or(u64::MAX)
    }

    /// The nearest number with 53 bits, or one next to it.
    #[allow(clippy::as_conversions)] // There is no other way from an integer to a float.
    pub fn to_f64(self) -> f64 {
        self.digits as f64 / self.unit() as f64
    }
}

/// All digits, with those after the point that are 0.
impl Display for Decimal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let (size, unit) = (self.digits.unsigned_abs(), u128::from(self.unit()));
        let (whole, rest) = (size.checked_div(unit).unwrap_or(0), size.checked_rem(unit).unwrap_or(0));
        match self.places {
            0 => write!(f, "{sign}{whole}"),
            places => {
                let width = usize::try_from(places.min(Self::PLACES)).unwrap_or(0);
                write!(f, "{sign}{whole}.{rest:0width$}")
            }
        }
    }
}

/// An integer of more than 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide<'a> {
    /// The lower 128 bits; of a signed integer of fewer bits, extended by its sign.
    pub low: u128,
    /// All of it in words of 64 bits, the least significant first, if it has more than 128 bits; else empty. The last
    /// word of a signed integer is extended by its sign.
    pub words: &'a [u64],
    /// True if it has a sign.
    pub is_signed: bool,
}

impl Wide<'_> {
    /// The value, if it fits into 128 bits with a sign.
    pub const fn to_i128(self) -> Option<i128> {
        let value = self.low.cast_signed();
        match self.words.is_empty() && (self.is_signed || value >= 0) {
            true => Some(value),
            false => None,
        }
    }
}

/// Decimal digits; of more than 128 bits `0x…`, as stored.
impl Display for Wide<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.words.split_last(), self.is_signed) {
            (None, true) => self.low.cast_signed().fmt(f),
            (None, false) => self.low.fmt(f),
            (Some((last, rest)), _) => {
                write!(f, "0x{last:x}")?;
                rest.iter().rev().try_for_each(|word| write!(f, "{word:016x}"))
            }
        }
    }
}
