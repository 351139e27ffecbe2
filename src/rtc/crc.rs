//! The checksum of a unit, as documented and as written.

use crate::error::{ErrorKind, Finding, Severity};
use crate::rtc::element::CRC;
use crate::rtc::{Frame, Unit, id, work};

use crate::{Error, Result};

/// The number of tables the document's checksum takes: on a firmware one, elsewhere those that are fastest.
#[cfg(target_pointer_width = "64")]
type IeeeTables = crc::Table<16>;
#[cfg(not(target_pointer_width = "64"))]
type IeeeTables = crc::Table<1>;

/// CRC-32/ISO-HDLC, which the document asks for.
const IEEE: crc::Crc<u32, IeeeTables> = crc::Crc::<u32, IeeeTables>::new(&crc::CRC_32_ISO_HDLC);

/// The checksum CRC-32/IEEE ("123456789" gives 0xcbf43926), as the document asks for.
///
/// ```
/// assert_eq!(traceglass::rtc::crc_ieee(b"123456789"), 0xcbf43926);
/// ```
pub fn crc_ieee(data: &[u8]) -> u32 {
    static CRC: crc::Crc<u32, IeeeTables> = IEEE;
    // The crate's own loop over 16 bytes may panic, as far as the compiler can tell.
    !update(CRC.table(), IEEE_LATER, u32::MAX, data)
}

/// The number of bytes after which those that were moved are put in front again.
const CHUNK: usize = 4096;
/// The number of bytes that are moved at once: none of them is moved into the same block.
const BLOCK: usize = 128;
/// A byte may be taken away if it is added to the three that come so many bytes later: the register is the same in the end.
///
/// The reason: x^1413 + x^1219 + x^914 + 1 is a multiple of the characteristic polynomial of the writer's step over a byte, and
/// x^3006 + x^2866 + x^2215 + 1 of that of the document's. Each has the lowest degree that leaves room for a block.
const WRITER_LATER: [usize; 3] = [194, 499, 1413];
const IEEE_LATER: [usize; 3] = [140, 791, LATEST];
const LATEST: usize = 3006;

/// The checksum that the deployed writer computes.
///
/// Bytes are looked up in a table for the polynomial 0x04c11db7 with the highest bit first, yet shifted as if the
/// lowest bit came first. No parameters of a standard CRC express that; still it is linear, so that it can be
/// computed in slices.
///
/// `SLICES` is how many tables of 1 KiB are used, and how many bytes are taken at once: 1 for a firmware, 16 for
/// speed.
///
/// ```
/// use traceglass::rtc::WriterCrc;
///
/// assert_eq!(WriterCrc::<1>::of(b"123456789"), 0x7ead5c77);
/// let mut crc = WriterCrc::<16>::new();
/// crc.update(b"1234");
/// crc.update(b"56789");
/// assert_eq!(crc.value(), 0x7ead5c77);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterCrc<const SLICES: usize>(u32);

impl<const SLICES: usize> Default for WriterCrc<SLICES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SLICES: usize> WriterCrc<SLICES> {
    /// `TABLES[k][b]`: what byte `b` does to a register of zeros, followed by `k` bytes of zero.
    const TABLES: [[u32; 256]; SLICES] = tables();

    /// The checksum of no bytes yet.
    pub const fn new() -> Self {
        Self(u32::MAX)
    }

    /// The checksum of all bytes so far.
    pub const fn value(self) -> u32 {
        !self.0
    }

    /// The checksum of `data`.
    pub fn of(data: &[u8]) -> u32 {
        let mut crc = Self::new();
        crc.update(data);
        crc.value()
    }

    /// Takes more bytes.
    pub fn update(&mut self, data: &[u8]) {
        self.0 = update(&Self::TABLES, WRITER_LATER, self.0, data);
    }
}

/// A register after more bytes. `tables[k][b]` is what byte `b` does to a register of zeros, followed by `k` bytes of zero.
fn update<const SLICES: usize>(
    tables: &'static [[u32; 256]; SLICES],
    later: [usize; 3],
    crc: u32,
    data: &[u8],
) -> u32 {
    if SLICES < 16 || data.len() < 2 * CHUNK {
        look_up(tables, crc, data)
    } else {
        move_on(tables, later, crc, data)
    }
}

/// A register after bytes that are moved on, chunk by chunk, to the end, where they are looked up: to move one takes far less
/// time.
#[allow(clippy::arithmetic_side_effects)] // Offsets within a chunk.
fn move_on<const SLICES: usize>(
    tables: &'static [[u32; 256]; SLICES],
    later: [usize; 3],
    crc: u32,
    data: &[u8],
) -> u32 {
    let [near, far, latest] = later;
    // The bytes that were moved last, and after them those of a chunk.
    let mut moved = [0; LATEST + CHUNK];
    let (mut rest, mut crc) = (data, crc.to_le_bytes());
    while let Some((chunk, after)) =
        rest.split_first_chunk::<CHUNK>().filter(|(_, after)| after.len() >= latest)
    {
        rest = after;
        for (place, block) in chunk.as_chunks::<BLOCK>().0.iter().enumerate() {
            let at = latest + place * BLOCK;
            let earlier = |by: usize| moved.get(at.checked_sub(by)?..)?.first_chunk::<BLOCK>();
            let (Some(a), Some(b), Some(c)) = (earlier(near), earlier(far), earlier(latest)) else { break };
            let mut block = *block;
            block.iter_mut().zip(a).zip(b).zip(c).for_each(|(((to, a), b), c)| *to ^= a ^ b ^ c);
            // A register is as good as added to the first bytes.
            block.iter_mut().zip(core::mem::take(&mut crc)).for_each(|(to, byte)| *to ^= byte);
            if let Some(to) = moved.get_mut(at..).and_then(|to| to.first_chunk_mut()) {
                *to = block;
            }
        }
        let Some((to, from)) = moved.split_first_chunk_mut::<CHUNK>() else { break };
        to.iter_mut().zip(from).take(latest).for_each(|(to, from)| *to = *from);
    }
    // The bytes to which the last ones are still to be added.
    let (moved, last) = moved.split_at_mut(latest.min(LATEST));
    let (front, rest) = rest.split_at_checked(latest).unwrap_or((rest, &[]));
    last.iter_mut().zip(front).for_each(|(to, byte)| *to = *byte);
    for by in later {
        let from = moved.get(latest.saturating_sub(by)..).unwrap_or_default();
        last.iter_mut().zip(from).for_each(|(to, byte)| *to ^= byte);
    }
    let crc = look_up(tables, 0, last.get(..front.len()).unwrap_or_default());
    look_up(tables, crc, rest)
}

/// A register after more bytes, each of which is looked up.
// The tables are indexed by bytes and by constants below their number, which is not 0.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
fn look_up<const SLICES: usize>(tables: &'static [[u32; 256]; SLICES], mut crc: u32, data: &[u8]) -> u32 {
    let mut rest = data;
    if SLICES == 16 {
        while let Some((chunk, after)) = rest.split_first_chunk::<16>() {
            rest = after;
            let [a, b, c, d] = crc.to_le_bytes();
            let at = |k: usize, byte: u8| tables[k % SLICES][usize::from(byte)];
            // The last twelve bytes do not depend on the register: the processor looks them up ahead of time.
            let free = at(11, chunk[4]) ^ at(10, chunk[5]) ^ at(9, chunk[6]) ^ at(8, chunk[7]);
            let free = free ^ at(7, chunk[8]) ^ at(6, chunk[9]) ^ at(5, chunk[10]) ^ at(4, chunk[11]);
            let free = free ^ at(3, chunk[12]) ^ at(2, chunk[13]) ^ at(1, chunk[14]) ^ at(0, chunk[15]);
            let bound = at(15, chunk[0] ^ a) ^ at(14, chunk[1] ^ b);
            crc = free ^ bound ^ at(13, chunk[2] ^ c) ^ at(12, chunk[3] ^ d);
        }
    }
    for &byte in rest {
        let [low, ..] = crc.to_le_bytes();
        crc = (crc >> 8) ^ tables[0][usize::from(low ^ byte)];
    }
    crc
}

/// The entry of a byte in the writer's table: the polynomial has its highest bit first.
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Shifts by constants.
const fn of_byte(byte: u8) -> u32 {
    let mut value = (byte as u32) << 24;
    let mut bit = 0;
    while bit < 8 {
        value = (value << 1) ^ if value >> 31 == 1 { 0x04c1_1db7 } else { 0 };
        bit += 1;
    }
    value
}

/// The tables of the writer's checksum; at compile time.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]
const fn tables<const SLICES: usize>() -> [[u32; 256]; SLICES] {
    assert!(SLICES > 0, "a checksum needs a table");
    let mut tables = [[0; 256]; SLICES];
    let mut byte = 0;
    while byte < 256 {
        tables[0][byte] = of_byte(byte as u8);
        byte += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut byte = 0;
        while byte < 256 {
            let value = tables[slice - 1][byte];
            tables[slice][byte] = (value >> 8) ^ tables[0][(value & 0xff) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
}

/// True if `stored` is a checksum of `covered`, the writer's or the document's: bit by bit, for what is asked once a file and
/// need not cost a firmware 2 KiB.
pub(super) fn is_checksum(stored: [u8; 4], covered: &[u8]) -> bool {
    work::count(covered.len());
    let writer = !covered.iter().fold(u32::MAX, |crc, &byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ of_byte(low ^ byte)
    });
    let either = |value: u32| value.to_le_bytes() == stored || value.to_be_bytes() == stored;
    either(writer) || either(crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC).checksum(covered))
}

/// The result of comparing a unit's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CrcStatus {
    /// Right, by the document's algorithm.
    Ieee,
    /// Right, by the deployed writer's algorithm.
    Writer,
    /// Right for the bytes up to the padding before the unit's last index.
    ///
    /// The writer computes it before it pads, if it stops with fewer than 5 bytes left in a minor unit.
    Stale,
    /// Wrong.
    Mismatch {
        /// The checksum in the input.
        stored: u32,
        /// The checksum of the bytes by the writer's algorithm.
        computed: u32,
    },
    /// No checksum: the unit is not complete, or the writer was built without.
    Missing,
}

impl CrcStatus {
    /// The word that the `traceglass` command prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ieee => "ieee",
            Self::Writer => "writer",
            Self::Stale => "stale",
            Self::Mismatch { .. } => "mismatch",
            Self::Missing => "missing",
        }
    }

    /// True if the bytes are the ones that were written.
    pub const fn is_right(self) -> bool {
        matches!(self, Self::Ieee | Self::Writer | Self::Stale)
    }

    /// The status of `stored`, in either byte order, found after `covered`; `stale` is how much the writer covers if it stops
    /// late.
    fn of<const SLICES: usize>(
        stored: [u8; 4],
        covered: &[u8],
        stale: Option<usize>,
        ieee: fn(&[u8]) -> u32,
    ) -> Self {
        let either = |value: u32| value.to_le_bytes() == stored || value.to_be_bytes() == stored;
        let mut crc = WriterCrc::<SLICES>::new();
        let parts = stale.and_then(|len| covered.split_at_checked(len));
        let (early, rest) = parts.unwrap_or((&[], covered));
        crc.update(early);
        let early = parts.map(|_| crc.value());
        crc.update(rest);
        let computed = crc.value();
        if either(computed) {
            Self::Writer
        } else if early.is_some_and(either) {
            Self::Stale
        } else if either(ieee(covered)) {
            Self::Ieee
        } else {
            Self::Mismatch { stored: u32::from_le_bytes(stored), computed }
        }
    }

    /// The finding of `check`, if any; `offset` is that of the checksum.
    pub fn finding(self, offset: u64) -> Option<Finding> {
        match self {
            Self::Mismatch { stored, computed } => {
                let kind = ErrorKind::ChecksumMismatch { stored: stored.into(), computed: computed.into() };
                Some(Finding::new(Severity::Error, Error::new(offset, CRC, kind)))
            }
            Self::Stale => {
                Some(Finding::new(Severity::Warning, Error::new(offset, CRC, ErrorKind::StaleChecksum)))
            }
            Self::Missing => {
                Some(Finding::new(Severity::Warning, Error::new(offset, CRC, ErrorKind::Missing)))
            }
            Self::Ieee | Self::Writer => None,
        }
    }

    /// The status as a result: whether the bytes can be relied on.
    pub fn check(self, offset: u64) -> Result<()> {
        match self.finding(offset) {
            Some(finding) if !self.is_right() => Err(finding.cause()),
            _ => Ok(()),
        }
    }
}

/// The place of the last Crc, and what else its status depends on.
#[derive(Clone)]
pub(super) struct Trail {
    crc: Option<usize>,
    /// The ends of that Crc and of the one before it, whatever became of their units.
    ends: (usize, usize),
    /// The run of padding that was read last.
    padding: Option<(usize, usize)>,
    /// The start of the padding before the last index.
    stale: Option<usize>,
}

impl Trail {
    pub(super) const fn new() -> Self {
        Self { crc: None, ends: (0, 0), padding: None, stale: None }
    }

    /// Follows the frames of default streams.
    pub(super) fn note(&mut self, frame: &Frame<'_>) {
        let [offset, end] = [frame.offset(), frame.end()].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        let padding = self.padding.filter(|&(_, end)| end == offset);
        match frame.id() {
            id::NUL | id::PADDING => self.padding = Some((padding.map_or(offset, |(start, _)| start), end)),
            id::MINOR_INDEX if !frame.continues() => {
                self.stale = Some(padding.map_or(offset, |(start, _)| start));
            }
            id::CRC => {
                self.crc = Some(offset);
                self.ends = (end, self.ends.0);
            }
            id::MARKER => self.crc = None,
            _ => {}
        }
    }

    /// Something was lost.
    pub(super) fn reset(&mut self) {
        (self.crc, self.padding, self.stale) = (None, None, None);
    }

    pub(super) fn status<const SLICES: usize>(
        &self,
        data: &[u8],
        unit: Option<&Unit<'_>>,
        ieee: fn(&[u8]) -> u32,
    ) -> CrcStatus {
        let stored = self.crc.and_then(|at| {
            let stored = data.get(at.checked_add(1)?..)?.first_chunk::<4>()?;
            let origin = usize::try_from(unit?.origin()).ok().filter(|&at| at >= self.ends.1)?;
            let stale = self.stale.and_then(|stale| stale.checked_sub(origin));
            Some((*stored, data.get(origin..at)?, stale))
        });
        stored.map_or(CrcStatus::Missing, |(stored, covered, stale)| {
            work::count(covered.len());
            CrcStatus::of::<SLICES>(stored, covered, stale, ieee)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn slices_give_what_single_bytes_give() {
        let data: Vec<u8> = (0..1000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for len in (0..50).chain([999, 1000]) {
            let expected = WriterCrc::<1>::of(&data[..len]);
            assert_eq!(WriterCrc::<16>::of(&data[..len]), expected, "{len}");
            let mut crc = WriterCrc::<16>::new();
            crc.update(&data[..len / 3]);
            crc.update(&data[len / 3..len]);
            assert_eq!(crc.value(), expected);
        }
        assert_eq!(WriterCrc::<1>::of(b"123456789"), 0x7ead_5c77);
        let bitwise = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);
        for len in (0..50).chain([999, 1000]) {
            assert_eq!(crc_ieee(&data[..len]), bitwise.checksum(&data[..len]), "{len}");
        }
    }

    #[test]
    fn moving_bytes_gives_what_single_bytes_give() {
        let mut state = 1_u32;
        let data: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(8 * CHUNK)
        .collect();
        let bitwise = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);
        let edges = [2 * CHUNK, 2 * CHUNK + 1, CHUNK + LATEST, 3 * CHUNK + WRITER_LATER[2], data.len() - 5];
        for len in edges.into_iter().flat_map(|len| [len - 1, len, len + 1]) {
            let data = &data[..len];
            assert_eq!(WriterCrc::<16>::of(data), WriterCrc::<1>::of(data), "{len}");
            assert_eq!(crc_ieee(data), bitwise.checksum(data), "{len}");
        }
    }

    #[test]
    fn statuss_tell_the_algorithms_and_byte_orders_apart() {
        let data = b"123456789";
        let status = |stored, stale| CrcStatus::of::<1>(stored, data, stale, crc_ieee);
        assert_eq!(status(0x7ead_5c77_u32.to_le_bytes(), None), CrcStatus::Writer);
        assert_eq!(status(0x7ead_5c77_u32.to_be_bytes(), None), CrcStatus::Writer);
        assert_eq!(status(0xcbf4_3926_u32.to_le_bytes(), None), CrcStatus::Ieee);
        let stale = WriterCrc::<1>::of(b"1234").to_le_bytes();
        assert_eq!(status(stale, Some(4)), CrcStatus::Stale);
        let wrong = status(stale, None);
        assert_eq!(wrong, CrcStatus::Mismatch { stored: u32::from_le_bytes(stale), computed: 0x7ead_5c77 });
        let error = wrong.check(7).unwrap_err();
        assert_eq!((error.offset(), error.kind().code()), (7, "checksum-mismatch"));
        assert_eq!(CrcStatus::Stale.check(7), Ok(()));
        assert_eq!(CrcStatus::Missing.finding(3).unwrap().cause().kind(), ErrorKind::Missing);
    }
}
