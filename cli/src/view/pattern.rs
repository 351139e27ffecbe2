//! The pattern of a search: text, or bytes of which some may be anything.

use memchr::memmem;

/// Bytes to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// As it was typed.
    pub text: String,
    /// Each byte, and which of its bits count.
    bytes: Vec<(u8, u8)>,
    /// The longest run of bytes that are known, and where in the pattern it begins.
    run: (usize, Vec<u8>),
}

impl Pattern {
    /// `0x1f 8b ?? 0?` or `x1f8b` are bytes, of which `?` is any digit; all else is text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix('x').filter(|rest| is_hex(rest)));
        let bytes = match hex {
            Some(hex) => parse_hex(hex)?,
            None => text.bytes().map(|byte| (byte, 0xff)).collect(),
        };
        let run = longest_run(&bytes);
        if bytes.is_empty() {
            return Err("nothing to search for".to_owned());
        }
        if run.1.is_empty() {
            return Err("no byte of it is known in full".to_owned());
        }
        Ok(Self { text: text.to_owned(), bytes, run })
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    fn matches(&self, data: &[u8], at: usize) -> bool {
        let found = data.get(at..).and_then(|data| data.get(..self.len()));
        found.is_some_and(|found| {
            self.bytes.iter().zip(found).all(|((byte, mask), found)| found & mask == byte & mask)
        })
    }

    /// The first place in `data`.
    pub fn find(&self, data: &[u8]) -> Option<usize> {
        let (before, run) = &self.run;
        let finder = memmem::Finder::new(run);
        let mut next = 0_usize;
        loop {
            let at = finder.find(data.get(next..)?)?.checked_add(next)?;
            if let Some(start) = at.checked_sub(*before)
                && self.matches(data, start)
            {
                return Some(start);
            }
            next = at.checked_add(1)?;
        }
    }

    /// The last place in `data`.
    pub fn rfind(&self, data: &[u8]) -> Option<usize> {
        let (before, run) = &self.run;
        let finder = memmem::FinderRev::new(run);
        let mut end = data.len();
        loop {
            let at = finder.rfind(data.get(..end)?)?;
            if let Some(start) = at.checked_sub(*before)
                && self.matches(data, start)
            {
                return Some(start);
            }
            end = at.checked_add(run.len())?.checked_sub(1)?;
        }
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'?' | b' '))
}

fn parse_hex(text: &str) -> Result<Vec<(u8, u8)>, String> {
    let digits: Vec<char> = text.chars().filter(|c| *c != ' ').collect();
    if digits.len() % 2 == 1 {
        return Err("an odd number of digits".to_owned());
    }
    let digit = |c: char| match c {
        '?' => Ok((0, 0)),
        c => match c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()) {
            Some(digit) => Ok((digit, 0xf)),
            None => Err(format!("{c:?} is no hexadecimal digit")),
        },
    };
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| match pair {
            [high, low] => {
                let (high, low) = (digit(*high)?, digit(*low)?);
                Ok((high.0 << 4 | low.0, high.1 << 4 | low.1))
            }
            _ => Err("an odd number of digits".to_owned()),
        })
        .collect()
}

fn longest_run(bytes: &[(u8, u8)]) -> (usize, Vec<u8>) {
    let mut best = (0, Vec::new());
    let mut run = (0, Vec::new());
    for (place, (byte, mask)) in bytes.iter().enumerate() {
        if *mask != 0xff {
            run.1.clear();
            continue;
        }
        if run.1.is_empty() {
            run.0 = place;
        }
        run.1.push(*byte);
        if run.1.len() > best.1.len() {
            best = run.clone();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_text_or_bytes() {
        for (text, data, first, last) in [
            ("main", &b"a main domain"[..], Some(2), Some(9)),
            ("0x6d ?? 69", b"a main domain", Some(2), Some(9)),
            ("x6?6f", b"a main domain", Some(7), Some(7)),
            ("0x?? 61", b"aaab", Some(0), Some(1)),
            ("aab", b"aaab", Some(1), Some(1)),
            ("0x6161??62", b"aaaab", Some(1), Some(1)),
            ("0x00", b"aaaab", None, None),
            ("xyz", b"xyz", Some(0), Some(0)),
        ] {
            let pattern = Pattern::parse(text).unwrap();
            assert_eq!((pattern.find(data), pattern.rfind(data)), (first, last), "{text}");
        }
        for wrong in ["", "0x", "0x1", "0x??", "0x1g", "x?"] {
            assert!(Pattern::parse(wrong).is_err(), "{wrong}");
        }
    }
}
