//! Everything that can be verified about a file.

use super::chunk::{Chunk, Decompress};
use super::index::Entry;
use super::order::sort_by_key;
use super::{ChunkPart, File};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result};

impl<'a> File<'a> {
    /// Verifies the file header, every entry of the index, and that every chunk can be read.
    ///
    /// Compressed data is decompressed into `buffer`; a chunk that needs more than that is reported as
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded). What a finding makes impossible to read is an error, all
    /// else a warning. Chunks that overlap each other are legal; [`overlaps`](Self::overlaps) finds them.
    pub fn check(
        &self,
        buffer: &mut [u8],
        decoder: &mut (impl Decompress + ?Sized),
        mut report: impl FnMut(Finding),
    ) {
        self.check_structure(&mut report);
        for entry in self.entries() {
            if !self.check_entry(entry, &mut report) {
                continue;
            }
            if let Err(error) = Chunk::new(self.bytes(), entry).data(buffer, decoder) {
                report(Finding::error(error));
            }
        }
    }

    /// Verifies the file header alone.
    pub fn check_structure(&self, mut report: impl FnMut(Finding)) {
        self.header().check(&mut report);
    }

    /// Verifies what one entry says, and that its header and stored bytes lie in the file; decompresses nothing.
    ///
    /// Returns whether the stored bytes, and the size that decompression should give, can be had.
    pub fn check_entry(&self, entry: Entry<'a>, mut report: impl FnMut(Finding)) -> bool {
        entry.check(&mut report);
        let input = self.bytes();
        if let Err(error) = entry.locate(ChunkPart::Header, input) {
            report(Finding::error(error));
        }
        let stored = entry.locate(ChunkPart::Data, input).and_then(|_| entry.output_size());
        if let Err(error) = stored {
            report(Finding::error(error));
        }
        for part in [ChunkPart::Header, ChunkPart::Data] {
            let Ok(bytes) = entry.locate(part, input) else { continue };
            if let Some((start, size)) = self.structure_under(bytes) {
                let error = bytes.error(part.element(), ErrorKind::Overlap { start, size });
                report(Finding::warning(error));
            }
        }
        stored.is_ok()
    }

    /// The file header or the index, if `bytes` overlaps one of them.
    fn structure_under(&self, bytes: Bytes<'a>) -> Option<(u64, u64)> {
        let index_size = to_u64(self.index().len()).saturating_mul(64);
        [(0, 32), (self.index().offset(), index_size)].into_iter().find(|&(start, size)| {
            !bytes.is_empty() && bytes.offset() < start.saturating_add(size) && start < bytes.end_offset()
        })
    }

    /// Reports each part of a chunk that overlaps a part of another one, or of its own.
    ///
    /// Overlaps are legal (Mesa's RADV counts a chunk's header into its data), so they are warnings; a part that
    /// overlaps several others is reported once. `storage` takes two numbers for each entry.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of `u32` needed.
    pub fn overlaps(&self, storage: &mut [u32], mut report: impl FnMut(Finding)) -> Result<()> {
        let index = self.index();
        let needed = index.len().saturating_mul(2);
        let capacity = to_u64(storage.len());
        let order = match storage.get_mut(..needed) {
            Some(order) if u32::try_from(needed).is_ok() => order,
            _ => {
                let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) };
                return Err(Error::new(index.offset(), super::CHUNK_INDEX, kind));
            }
        };
        for (slot, number) in order.iter_mut().zip(0..) {
            *slot = number;
        }
        // An even number is the header of entry number / 2, an odd one its data.
        let part_of = |number: u32| {
            let part = if number & 1 == 0 { ChunkPart::Header } else { ChunkPart::Data };
            let entry = index.get(usize::try_from(number >> 1).ok()?)?;
            let bytes = entry.locate(part, self.bytes()).ok().filter(|bytes| !bytes.is_empty())?;
            Some((part, bytes))
        };
        sort_by_key(order, |number| (part_of(number).map(|(_, bytes)| bytes.offset()), number));
        let mut reached = Bytes::new(&[]);
        for &mut number in order {
            let Some((part, bytes)) = part_of(number) else { continue };
            if bytes.offset() < reached.end_offset() {
                let kind = ErrorKind::Overlap { start: reached.offset(), size: to_u64(reached.len()) };
                report(Finding::warning(bytes.error(part.element(), kind)));
            }
            if bytes.end_offset() > reached.end_offset() {
                reached = bytes;
            }
        }
        Ok(())
    }
}
