//! Everything that can be verified about a file.

use super::chunk::Chunk;
use super::compression::Decompress;
use super::file::File;
use super::header::Header;
use super::index::{Entry, Index};
use super::part::ChunkPart;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Report, Result, Summary};
use crate::sort::sort_by_key;

impl<'a> File<'a> {
    /// Verifies the file header, every entry of the index, and that every chunk can be read.
    ///
    /// Compressed data is decompressed into `buffer`. The [items](Summary::items) are the chunks that can be read. A
    /// finding that keeps data from being read is an error, any other a warning: a chunk that needs a larger buffer is
    /// a [`CapacityExceeded`](ErrorKind::CapacityExceeded) error. Chunks that overlap are legal;
    /// [`overlaps`](Self::overlaps) finds them.
    ///
    /// # Errors
    /// None: what is wrong is reported.
    pub fn check(
        &self,
        buffer: &mut [u8],
        decoder: &mut (impl Decompress + ?Sized),
        report: &mut dyn FnMut(Finding),
    ) -> Result<Summary> {
        let report = &mut Report::new(report);
        self.header().check(report);
        for entry in self.entries() {
            if !self.entry(entry, report) {
                continue;
            }
            match Chunk::new(self.bytes(), entry).data(buffer, decoder) {
                Ok(_) => report.item(),
                Err(error) => report.error(error),
            }
        }
        Ok(report.summary())
    }

    /// Verifies the file header alone: part of [`check`](Self::check), for programs that decompress in parallel.
    ///
    /// # Errors
    /// None: what is wrong is reported.
    pub fn check_header(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let mut report = Report::new(report);
        self.header().check(&mut report);
        Ok(report.summary())
    }

    /// Verifies what one entry says, and that its header and stored bytes lie in the file; decompresses nothing.
    ///
    /// The one [item](Summary::items) is the entry, if its stored bytes lie in the file and the size after
    /// decompression is known: only then can its data be read.
    ///
    /// # Errors
    /// None: what is wrong is reported.
    pub fn check_entry(&self, entry: Entry<'a>, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let mut report = Report::new(report);
        if self.entry(entry, &mut report) {
            report.item();
        }
        Ok(report.summary())
    }

    fn entry(&self, entry: Entry<'a>, report: &mut Report<'_>) -> bool {
        entry.check(report);
        let input = self.bytes();
        if let Err(error) = entry.locate(ChunkPart::Header, input) {
            report.error(error);
        }
        let stored = entry.locate(ChunkPart::Data, input).and_then(|_| entry.output_size());
        if let Err(error) = stored {
            report.error(error);
        }
        for part in [ChunkPart::Header, ChunkPart::Data] {
            let Ok(bytes) = entry.locate(part, input) else { continue };
            if let Some((start, size)) = self.structure_under(bytes) {
                report.warning(bytes.error(part.element(), ErrorKind::Overlap { start, size }));
            }
        }
        stored.is_ok()
    }

    /// The file header or the index, if `bytes` overlaps one of them.
    fn structure_under(&self, bytes: Bytes<'a>) -> Option<(u64, u64)> {
        let index_size = to_u64(self.index().len()).saturating_mul(to_u64(Index::ENTRY_SIZE));
        [(0, to_u64(Header::SIZE)), (self.index().offset(), index_size)].into_iter().find(|&(start, size)| {
            !bytes.is_empty() && bytes.offset() < start.saturating_add(size) && start < bytes.end_offset()
        })
    }

    /// Reports each part of a chunk that overlaps a part of another one, or of its own.
    ///
    /// Overlaps are legal (Mesa's RADV counts a chunk's header into its data), so they are warnings; a part that
    /// overlaps several others is reported once. `storage` takes two numbers for each entry. The
    /// [items](Summary::items) are the parts compared.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of `u32` needed.
    pub fn overlaps(&self, storage: &mut [u32], report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let mut report = Report::new(report);
        let index = self.index();
        let needed = index.len().saturating_mul(2);
        let capacity = to_u64(storage.len());
        let order = match storage.get_mut(..needed) {
            Some(order) if u32::try_from(needed).is_ok() => order,
            _ => {
                let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) };
                return Err(Error::new(index.offset(), super::element::CHUNK_INDEX, kind));
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
                report.warning(bytes.error(part.element(), kind));
            }
            report.item();
            if bytes.end_offset() > reached.end_offset() {
                reached = bytes;
            }
        }
        Ok(report.summary())
    }
}
