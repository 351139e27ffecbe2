//! Major units and their grid.

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::element::{INDEX, MARKER, UNIT_SIZE};
use crate::rtc::{Index, work};

/// The byte that a Marker's payload is filled with: superscript one, the version.
pub(crate) const MAGIC: u8 = 0xb9;
/// The header of a Marker.
pub(crate) const MARKER_HEADER: u8 = 0x04;
/// Header and payload of a Marker.
pub(crate) const MARKER_SIZE: u64 = 1025;
/// Header and payload of a Crc.
pub(crate) const CRC_SIZE: u64 = 5;
/// The smallest minor unit that the writer makes.
pub(crate) const SMALLEST: u64 = 2048;
/// Larger units are taken for damage: 1 TiB.
pub(crate) const LARGEST: u64 = 1 << 40;

/// No input is as long as this: sums of a place and of sizes stay below 2^63.
const FAR: i64 = 1 << 62;

/// A major unit: where it begins and how its minor units lie.
///
/// The Marker of a unit in a file that is cut at its start may lie before the input.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// Position of the Marker, which may lie before the input.
    marker: i64,
    major: u64,
    minor: u64,
    number: u64,
    index: Option<Index<'a>>,
}

impl<'a> Unit<'a> {
    /// Reads the Marker and the Index at `at`.
    ///
    /// # Errors
    /// The Marker is not one, or the Index does not tell sizes that can be.
    pub fn parse(data: &'a [u8], at: u64) -> Result<Self> {
        let whole = Bytes::new(data);
        let input = whole.range(at, whole.end_offset().saturating_sub(at)).unwrap_or(Bytes::at(&[], at));
        check_marker(input)?;
        let mut after = input;
        after.advance(MARKER_BYTES);
        Self::at_index(after)
    }

    /// Reads the Index at the front of `input`, whatever is before it.
    pub(crate) fn at_index(input: Bytes<'a>) -> Result<Self> {
        let (index, _) = Index::parse(input, true)?;
        let mut entries = index.entries();
        let mut size = |id: u64| {
            let at = entries.offset();
            let invalid = |value| Error::new(at, UNIT_SIZE, ErrorKind::Invalid { value });
            match entries.next() {
                Some(entry) => {
                    let entry = entry?;
                    let value = entry.distance();
                    let fits = entry.id() == id && (SMALLEST..=LARGEST).contains(&value);
                    if fits { Ok(value) } else { Err(invalid(value)) }
                }
                None => Err(Error::new(at, UNIT_SIZE, ErrorKind::Missing)),
            }
        };
        let (major, minor) = (size(3)?, size(4)?);
        // Without minor units, what the Index says of them is no size: it counts from a frame that there never was.
        let minor = minor.min(major);
        let marker = input.offset().cast_signed().wrapping_sub(MARKER_SIZE.cast_signed());
        Ok(Self { marker, major, minor, number: index.number().unwrap_or(0), index: Some(index) })
    }

    /// The unit of the same sizes that begins `by` bytes after this one, of which nothing has been read.
    pub(crate) fn moved(&self, by: i64, number: u64) -> Self {
        let marker = self.marker.saturating_add(by).clamp(-FAR, FAR);
        Self { marker, number, index: None, ..*self }
    }

    /// Offset of the Marker; 0 if that lies before the input.
    pub fn offset(&self) -> u64 {
        u64::try_from(self.marker).unwrap_or(0)
    }

    /// Position of the Marker, counted from the start of the input: negative if the input lacks it.
    pub const fn position(&self) -> i64 {
        self.marker
    }

    /// Size of the major unit in bytes.
    pub const fn major_size(&self) -> u64 {
        self.major
    }

    /// Size of its minor units in bytes; one that is not below the major size says that there is no other.
    #[doc(alias = "unit")]
    pub const fn minor_size(&self) -> u64 {
        self.minor
    }

    /// The number of the unit within its session, from 0.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The Index, if it could be read.
    pub const fn index(&self) -> Option<Index<'a>> {
        self.index
    }

    /// Offset at which the next Marker is due.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))] // There are many calls: it is smaller.
    pub fn end(&self) -> u64 {
        u64::try_from(self.end_position()).unwrap_or(0)
    }

    pub(crate) fn end_position(&self) -> i64 {
        self.marker.wrapping_add(self.major.cast_signed())
    }

    /// Position of the Index, from which the minor units are counted.
    pub(crate) fn origin(&self) -> i64 {
        self.marker.wrapping_add(MARKER_SIZE.cast_signed())
    }

    /// The number of minor units.
    pub fn minor_count(&self) -> u64 {
        self.major.checked_div(self.minor).unwrap_or(0).max(1)
    }

    /// Offset at which the next minor or major unit after `at` is due.
    pub(crate) fn boundary_after(&self, at: u64) -> u64 {
        let done = u64::try_from(signed(at).saturating_sub(self.origin())).unwrap_or(0);
        let next = done.checked_div(self.minor).unwrap_or(0).saturating_add(1);
        if next >= self.minor_count() {
            return self.end();
        }
        // Less than the major size.
        let boundary = self.origin().wrapping_add(next.wrapping_mul(self.minor).cast_signed());
        u64::try_from(boundary).unwrap_or(0)
    }

    /// The index of the minor unit that begins at `at`, if there is one that leads back to this unit.
    pub(crate) fn minor_index(&self, data: Bytes<'a>, at: u64) -> Result<Index<'a>> {
        let input = data.range(at, data.end_offset().saturating_sub(at)).unwrap_or(Bytes::at(&[], at));
        let (index, _) = Index::parse(input, false)?;
        let first = index.entries().next().transpose()?;
        let back = signed(at).wrapping_sub(self.origin());
        match first {
            // A distance is half of what stands there.
            Some(entry) if entry.id() == 3 && entry.distance().cast_signed() == back => Ok(index),
            Some(entry) => Err(index_error(at, ErrorKind::Invalid { value: entry.distance() })),
            None => Err(index_error(at, ErrorKind::Missing)),
        }
    }

    /// True if `other` could be a later or earlier unit of the same file, undisturbed.
    pub(crate) fn shares_grid(&self, other: &Self) -> bool {
        let distance = other.marker.saturating_sub(self.marker).unsigned_abs();
        self.major == other.major && self.minor == other.minor && distance.checked_rem(self.major) == Some(0)
    }

    /// True if the sizes are powers of two, as the document has it.
    ///
    /// # Errors
    /// [`NotMultiple`](ErrorKind::NotMultiple) with the size that is not.
    pub fn check(&self) -> Result<()> {
        let at = self.index.map_or(self.offset(), |index| index.offset());
        for size in [self.major, self.minor] {
            if !size.is_power_of_two() {
                let of = size.checked_next_power_of_two().unwrap_or(0);
                return Err(Error::new(at, UNIT_SIZE, ErrorKind::NotMultiple { value: size, of }));
            }
        }
        Ok(())
    }
}

/// [`MARKER_SIZE`], as a length.
pub(crate) const MARKER_BYTES: usize = 1025;

/// Offsets are far below 2^63.
pub(crate) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn index_error(at: u64, kind: ErrorKind) -> Error {
    Error::new(at, INDEX, kind)
}

/// Checks that a Marker is at the front of `input`.
pub(crate) fn check_marker(input: Bytes<'_>) -> Result<()> {
    work::count(MARKER_BYTES.min(input.len()));
    // Without a way out in between, so that the bytes are compared many at a time.
    match input.as_slice().first_chunk::<MARKER_BYTES>() {
        Some([MARKER_HEADER, payload @ ..])
            if payload.iter().fold(0, |all, &byte| all | (byte ^ MAGIC)) == 0 =>
        {
            return Ok(());
        }
        _ => {}
    }
    let Some((&header, payload)) = input.as_slice().split_first() else {
        return Err(input.truncated(MARKER, MARKER_SIZE));
    };
    let filled = payload.iter().take(1024).take_while(|&&byte| byte == MAGIC).count();
    match (header, filled) {
        (MARKER_HEADER, filled) if filled == payload.len() => Err(input.truncated(MARKER, MARKER_SIZE)),
        _ => Err(input.error(MARKER, ErrorKind::bad_magic(input.as_slice()))),
    }
}

/// True if the grid confirms a unit: an Index in order, and the next Marker or the first minor index where they are
/// due. Where the input ends before either, the Meta must be where it belongs.
pub(crate) fn is_confirmed(data: Bytes<'_>, unit: &Unit<'_>) -> bool {
    let Some(index) = unit.index else { return false };
    let mut last = None;
    for entry in index.entries() {
        match entry {
            Ok(entry) if last.is_none_or(|last| last < entry.id()) => last = Some(entry.id()),
            _ => return false,
        }
    }
    let next = unit.end();
    let at = |offset: u64| data.range(offset, data.end_offset().saturating_sub(offset));
    if at(next).is_some_and(|input| check_marker(input).is_ok()) {
        return true;
    }
    let first = unit.boundary_after(index.offset());
    if first < next {
        if unit.minor_index(data, first).is_ok() {
            return true;
        }
        // The first minor index is due, and is not there.
        if first < data.end_offset() {
            return false;
        }
    } else if next < data.end_offset() {
        return false;
    }
    let Ok((_, after)) = Index::parse(at(index.offset()).unwrap_or(data), true) else { return false };
    index.more()
        || after.is_empty()
        || after.as_slice().starts_with(&[0x0a])
        || after.as_slice().starts_with(&[0x0b])
}
