//! The bytes of a string that stand for themselves: all but quotes, backslashes and control bytes.

/// The number of them at the front of `data`.
pub(super) fn plain(data: &[u8]) -> usize {
    // By words of 64 bits, where there are such.
    let rest = if cfg!(target_pointer_width = "64") { skip_plain(data) } else { data };
    let more = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
    data.len().saturating_sub(rest.len()).saturating_add(more)
}

/// The data from the first byte that does not; or less than eight bytes, among which it may be.
#[inline(always)]
pub(super) fn skip_plain(mut data: &[u8]) -> &[u8] {
    while let Some((word, rest)) = data.split_first_chunk() {
        let found = special_of_8(word);
        if found != 0 {
            return skip(data, found.trailing_zeros() >> 3);
        }
        data = rest;
    }
    data
}

#[inline(always)]
fn skip(data: &[u8], n: u32) -> &[u8] {
    usize::try_from(n).ok().and_then(|n| data.get(n..)).unwrap_or_default()
}

/// The lowest bit is set in that of eight bytes which is the first special one; none if there is none.
///
/// The lowest high bit that is set in `(x - 0x01…) & !x` is that of the lowest zero byte of `x`; with 0x21, it is that
/// of the lowest byte below 0x21, which after `^ 2` is a control byte or a quote.
#[inline(always)]
fn special_of_8(bytes: &[u8; 8]) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = LOW << 7;
    let word = u64::from_le_bytes(*bytes);
    let (backslash, quote) = (word ^ LOW.wrapping_mul(0x5c), word ^ LOW.wrapping_mul(2));
    (backslash.wrapping_sub(LOW) | quote.wrapping_sub(LOW.wrapping_mul(0x21))) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn special_bytes_are_found_wherever_they_are() {
        for len in 0..=20 {
            for at in 0..len {
                for byte in 0..=255 {
                    for filler in [b'a', 0x20, 0x21, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                        let mut data = vec![filler; len];
                        data[at] = byte;
                        // The rest does not matter.
                        let special = matches!(byte, b'"' | b'\\' | 0..=0x1f);
                        let expected = if special { at } else { len };
                        assert_eq!(plain(&data), expected, "{data:x?}");
                        for next in [b'"', 0x01, 0x1f] {
                            if let Some(after) = data.get_mut(at + 1) {
                                *after = next;
                                let expected = if special { at } else { at + 1 };
                                assert_eq!(plain(&data), expected, "{data:x?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
