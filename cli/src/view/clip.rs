//! The clipboard of the terminal, also that of one far away: OSC 52.

use std::io::{self, Write};

/// The number of bytes that are copied; terminals take little more.
const MOST: usize = 70_000;

/// Asks the terminal to take text to its clipboard.
pub fn copy(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(&sequence(text))?;
    stdout.flush()
}

fn sequence(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut sequence = b"\x1b]52;c;".to_vec();
    sequence.extend(base64(bytes.get(..MOST).unwrap_or(bytes)));
    sequence.push(7);
    sequence
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit =
        |bits: u32| usize::try_from(bits & 63).ok().and_then(|at| DIGITS.get(at)).copied().unwrap_or(b'=');
    let mut text = Vec::new();
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_u32, |bits, place| bits << 8 | u32::from(group.get(place).copied().unwrap_or(0)));
        let digits = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
        let used = group.len().saturating_add(1);
        text.extend(digits.iter().enumerate().map(|(place, digit)| if place < used { *digit } else { b'=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_sent_in_base64() {
        assert_eq!(sequence("hello"), b"\x1b]52;c;aGVsbG8=\x07");
        assert_eq!(base64(b""), b"");
        assert_eq!(base64(b"\xff\xfe\xfd"), b"//79");
        assert_eq!(base64(b"a"), b"YQ==");
    }
}
