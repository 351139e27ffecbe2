//! Bytes as a person reads them: hex dumps without an allocator.

use core::fmt;

/// A hex dump: 16 bytes a row, each with its offset and the bytes as text.
///
/// ```
/// let dump = traceglass::HexDump::new(b"AMD_RDF \x03\0\0\0", 0x20);
/// assert_eq!(
///     dump.to_string(),
///     "00000020  41 4d 44 5f 52 44 46 20  03 00 00 00              |AMD_RDF ....|\n",
/// );
/// ```
#[derive(Clone, Copy)]
pub struct HexDump<'a> {
    data: &'a [u8],
    offset: u64,
}

impl<'a> HexDump<'a> {
    /// Bytes in a row.
    pub const WIDTH: usize = 16;

    /// Shows `data`, the first byte of which has this offset.
    pub const fn new(data: &'a [u8], offset: u64) -> Self {
        Self { data, offset }
    }

    /// The rows, each without its line end.
    pub fn rows(&self) -> impl Iterator<Item = HexRow<'a>> + Clone + use<'a> {
        let offsets = (self.offset..=u64::MAX).step_by(Self::WIDTH);
        self.data.chunks(Self::WIDTH).zip(offsets).map(|(data, offset)| HexRow { data, offset })
    }
}

impl fmt::Display for HexDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows().try_for_each(|row| writeln!(f, "{row}"))
    }
}

impl fmt::Debug for HexDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HexDump").field("offset", &self.offset).field("len", &self.data.len()).finish()
    }
}

/// One row of a [`HexDump`].
#[derive(Clone, Copy)]
pub struct HexRow<'a> {
    data: &'a [u8],
    offset: u64,
}

impl fmt::Display for HexRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x} ", self.offset)?;
        for place in 0..HexDump::WIDTH {
            if place == HexDump::WIDTH / 2 {
                f.write_str(" ")?;
            }
            match self.data.get(place) {
                Some(byte) => write!(f, " {byte:02x}")?,
                None => f.write_str("   ")?,
            }
        }
        f.write_str("  |")?;
        for &byte in self.data.iter().take(HexDump::WIDTH) {
            let shown = if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' };
            write!(f, "{shown}")?;
        }
        f.write_str("|")
    }
}

impl fmt::Debug for HexRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HexRow").field("offset", &self.offset).field("len", &self.data.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn rows_count_on() {
        let dump = HexDump::new(&[0x41; 17], 0xffff_fff8).to_string();
        let lines: std::vec::Vec<_> = dump.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with("fffffff8  41 41 41 41 41 41 41 41  41")
                && lines[0].ends_with("|AAAAAAAAAAAAAAAA|")
        );
        assert!(lines[1].starts_with("100000008  41   ") && lines[1].ends_with("|A|"));
        assert_eq!(format!("{}", HexDump::new(&[], 0)), "");
        assert!(HexDump::new(b"a b\0\xff\n~", 0).to_string().trim_end().ends_with("|a b...~|"));
        // Where, and how much; never what.
        let dump = HexDump::new(b"secret", 16);
        assert_eq!(format!("{dump:?}"), "HexDump { offset: 16, len: 6 }");
        assert_eq!(format!("{:?}", dump.rows().next()), "Some(HexRow { offset: 16, len: 6 })");
    }
}
