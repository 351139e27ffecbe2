//! The clipboard of the terminal, also that of one far away: OSC 52.

use crate::export::page::base64;
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
    sequence.extend(base64(bytes.get(..MOST).unwrap_or(bytes)).into_bytes());
    sequence.push(7);
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_sent_in_base64() {
        assert_eq!(sequence("hello"), b"\x1b]52;c;aGVsbG8=\x07");
    }
}
