//! Files made new: of chunks, or of some of the chunks of another file. Chunks added to a file.

use super::compression::Compression;
use super::element::CHUNK_INDEX;
use super::file::File;
use super::header::{Header, MAGIC};
use super::identifier::Identifier;
use super::index::{Entry, Index};
use super::part::ChunkPart;
use super::raw::{RawEntry, RawHeader};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::sort_by_key;
use core::fmt;
use zerocopy::IntoBytes;

/// A chunk that is to be written.
///
/// ```
/// use traceglass::rdf::{File, Identifier, NewChunk, write};
///
/// let mut page = [0; 256];
/// let mut len = 0;
/// let chunk = NewChunk::raw(Identifier::new("AsicInfo").unwrap(), b"Navi 31").version(2);
/// write([chunk].into_iter(), &mut |bytes: &[u8]| {
///     page.get_mut(len..len + bytes.len()).ok_or("the page is full")?.copy_from_slice(bytes);
///     len += bytes.len();
///     Ok::<_, &str>(())
/// })?;
/// let file = File::parse(&page[..len]).unwrap();
/// assert_eq!(file.chunk("AsicInfo", 0).unwrap().stored(), Ok(&b"Navi 31"[..]));
/// # Ok::<_, &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NewChunk<'a> {
    identifier: Identifier,
    compression: Compression,
    version: u32,
    header: &'a [u8],
    stored: &'a [u8],
    uncompressed_size: u64,
}

impl<'a> NewChunk<'a> {
    /// A chunk whose data is stored as it is, of version 1 and without a header.
    pub const fn raw(identifier: Identifier, data: &'a [u8]) -> Self {
        let (compression, header) = (Compression::None, &[]);
        Self { identifier, compression, version: 1, header, stored: data, uncompressed_size: 0 }
    }

    /// A chunk whose data is stored as Zstandard frames, and takes `size` bytes when it is decompressed.
    pub const fn zstd(identifier: Identifier, stored: &'a [u8], size: u64) -> Self {
        Self { compression: Compression::Zstd, uncompressed_size: size, ..Self::raw(identifier, stored) }
    }

    /// The same with another version, which the chunk's writer defines.
    pub const fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// The same with a chunk header.
    pub const fn header(self, header: &'a [u8]) -> Self {
        Self { header, ..self }
    }

    /// The size of its header and its data in the file.
    fn size(&self) -> u64 {
        to_u64(self.header.len()).saturating_add(to_u64(self.stored.len()))
    }
}

/// Writes a file: the header, chunks in the order in which they come, and the index.
///
/// The iterator is run three times, and must give the same each time. `put` takes the bytes in the order of the file,
/// in as many pieces as there are parts.
///
/// # Errors
/// The first one of `put`, after which it is not called again.
pub fn write<'c, E>(
    chunks: impl Iterator<Item = NewChunk<'c>> + Clone,
    put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
) -> core::result::Result<(), E> {
    let (count, size) = sum(chunks.clone());
    put(&file_header(MAGIC, size, count))?;
    write_chunks(chunks.clone(), put)?;
    write_index(chunks, to_u64(Header::SIZE), put)
}

impl<'a> File<'a> {
    /// Adds chunks: writes what is to follow after the end of the file, and returns the header that makes it count.
    ///
    /// Nothing that is there is written over. Until the new header is in its place the file is what it was, and then it
    /// has the old chunks and the new ones: no crash loses any, if all that `put` took is on the disk before the header is
    /// written, in one write. The old index stays, as bytes that nothing names.
    ///
    /// The iterator is run twice, and must give the same each time.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    ///
    /// # Examples
    /// ```
    /// use traceglass::rdf::{File, Identifier, NewChunk, write};
    ///
    /// let mut file = Vec::new();
    /// let old = NewChunk::raw(Identifier::new("AsicInfo").unwrap(), b"Navi 31");
    /// let _ = write([old].into_iter(), &mut |bytes: &[u8]| Ok::<_, ()>(file.extend_from_slice(bytes)));
    /// let mut more = Vec::new();
    /// let new = NewChunk::raw(Identifier::new("Notes").unwrap(), b"frame 7 is slow");
    /// let mut put = |bytes: &[u8]| Ok::<_, ()>(more.extend_from_slice(bytes));
    /// let header = File::parse(&file)?.append([new].into_iter(), &mut put).unwrap();
    /// file.extend(more); // and sees to it that this is on the disk
    /// file[..header.len()].copy_from_slice(&header);
    /// assert_eq!(File::parse(&file)?.entries().count(), 2);
    /// # Ok::<(), traceglass::Error>(())
    /// ```
    pub fn append<'c, E>(
        &self,
        chunks: impl Iterator<Item = NewChunk<'c>> + Clone,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<[u8; Header::SIZE], E> {
        let end = to_u64(self.data().len());
        write_chunks(chunks.clone(), put)?;
        let old = to_u64(self.index().len()).saturating_mul(to_u64(Index::ENTRY_SIZE));
        if let Some(entries) = self.bytes().range(self.index().offset(), old) {
            put(entries.as_slice())?;
        }
        write_index(chunks.clone(), end, put)?;
        let (count, size) = sum(chunks);
        let header = self.header();
        let raw = RawHeader {
            identifier: *header.magic(),
            version: header.version().into(),
            reserved: header.reserved().into(),
            index_offset: claim(end.saturating_add(size)).into(),
            index_size: claim(old.saturating_add(count.saturating_mul(to_u64(Index::ENTRY_SIZE)))).into(),
        };
        Ok(zerocopy::transmute!(raw))
    }
}

/// The number of chunks, and of their bytes.
fn sum<'c>(chunks: impl Iterator<Item = NewChunk<'c>>) -> (u64, u64) {
    let sizes = chunks.map(|chunk| (1_u64, chunk.size()));
    sizes.fold((0_u64, 0_u64), |(n, sum), (one, size)| (n.saturating_add(one), sum.saturating_add(size)))
}

fn write_chunks<'c, E>(
    chunks: impl Iterator<Item = NewChunk<'c>>,
    put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
) -> core::result::Result<(), E> {
    for chunk in chunks {
        put(chunk.header)?;
        put(chunk.stored)?;
    }
    Ok(())
}

/// Writes the entries of chunks of which the first one begins at `at`.
fn write_index<'c, E>(
    chunks: impl Iterator<Item = NewChunk<'c>>,
    mut at: u64,
    put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
) -> core::result::Result<(), E> {
    for chunk in chunks {
        let data = at.saturating_add(to_u64(chunk.header.len()));
        let entry = RawEntry {
            identifier: *chunk.identifier.bytes(),
            compression: chunk.compression.number(),
            reserved: [0; 3],
            version: chunk.version.into(),
            header_offset: claim(at).into(),
            header_size: claim(to_u64(chunk.header.len())).into(),
            data_offset: claim(data).into(),
            data_size: claim(to_u64(chunk.stored.len())).into(),
            uncompressed_size: claim(chunk.uncompressed_size).into(),
        };
        put(entry.as_bytes())?;
        at = at.saturating_add(chunk.size());
    }
    Ok(())
}

/// The header of a file of `size` bytes of chunks, and an index of `count` entries after them.
///
/// Slices of memory and index entries are far from sizes that do not fit.
pub fn file_header(magic: [u8; 8], size: u64, count: u64) -> [u8; Header::SIZE] {
    let header = RawHeader {
        identifier: magic,
        version: 3.into(),
        reserved: 0.into(),
        index_offset: claim(to_u64(Header::SIZE).saturating_add(size)).into(),
        index_size: claim(count.saturating_mul(to_u64(Index::ENTRY_SIZE))).into(),
    };
    zerocopy::transmute!(header)
}

/// A size or an offset, as the format has them.
fn claim(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A slot for [`File::select`]: a range of the input that is kept, and where it is going to be.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    start: u64,
    end: u64,
    /// The offset among the bytes that are kept.
    at: u64,
}

impl Span {
    /// A slot with nothing in it.
    pub const EMPTY: Self = Self { start: 0, end: 0, at: 0 };
}

default_is_empty!(Span);

/// Some of a file's chunks, to be written into a file of their own.
///
/// Their bytes stay as they are, in the order in which they lie in the input; bytes that several chunks share are
/// written once. The entries keep their order, and everything but their offsets.
#[derive(Clone, Copy)]
pub struct Selected<'a, 's, F> {
    file: File<'a>,
    keep: F,
    spans: &'s [Span],
    count: u64,
}

impl<F> fmt::Debug for Selected<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selected").field("count", &self.count).field("spans", &self.spans).finish()
    }
}

impl<'a> File<'a> {
    /// The chunks for whose entries `keep` returns true, which it must do each time that it is asked.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of slots needed, no more than two for an
    /// entry; [`Negative`](ErrorKind::Negative) or [`OutOfBounds`](ErrorKind::OutOfBounds) claims of an entry that is
    /// kept.
    pub fn select<'s, F: Fn(&Entry<'a>) -> bool>(
        &self,
        keep: F,
        storage: &'s mut [Span],
    ) -> Result<Selected<'a, 's, F>> {
        let capacity = to_u64(storage.len());
        let (mut count, mut needed) = (0_u64, 0_usize);
        for entry in self.entries().filter(|entry| keep(entry)) {
            count = count.saturating_add(1);
            for part in [ChunkPart::Header, ChunkPart::Data] {
                let bytes = entry.locate(part, self.bytes())?;
                if bytes.is_empty() {
                    continue;
                }
                if let Some(slot) = storage.get_mut(needed) {
                    *slot = Span { start: bytes.offset(), end: bytes.end_offset(), at: to_u64(needed) };
                }
                needed = needed.saturating_add(1);
            }
        }
        let Some(spans) = storage.get_mut(..needed) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) };
            return Err(Error::new(self.index().offset(), CHUNK_INDEX, kind));
        };
        // Keys must differ: the place in the index decides between equal ranges.
        sort_by_key(spans, |span| (span.start, span.at));
        let used = merge(spans);
        let spans = storage.get(..used).unwrap_or_default();
        Ok(Selected { file: *self, keep, spans, count })
    }
}

/// Joins ranges that overlap or touch; returns how many are left, in front.
fn merge(spans: &mut [Span]) -> usize {
    let (mut used, mut at) = (0_usize, 0_u64);
    let mut open: Option<Span> = None;
    for number in 0..spans.len() {
        let Some(&span) = spans.get(number) else { break };
        match &mut open {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => {
                if let Some(last) = open {
                    at = at.saturating_add(last.end.saturating_sub(last.start));
                    used = used.saturating_add(1);
                }
                open = Some(Span { at, ..span });
            }
        }
        if let (Some(slot), Some(last)) = (spans.get_mut(used), open) {
            *slot = last;
        }
    }
    used.saturating_add(usize::from(open.is_some()))
}

impl<'a, F: Fn(&Entry<'a>) -> bool> Selected<'a, '_, F> {
    /// The number of entries that are kept.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The number of bytes their chunks that take.
    pub fn size(&self) -> u64 {
        self.spans.last().map_or(0, |last| last.at.saturating_add(last.end.saturating_sub(last.start)))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write<E>(
        &self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        self.write_with(core::iter::empty(), put)
    }

    /// The same, with chunks after those that are kept.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write_with<'c, E>(
        &self,
        more: impl Iterator<Item = NewChunk<'c>> + Clone,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let (count, size) = sum(more.clone());
        let (start, count) = (to_u64(Header::SIZE), self.count.saturating_add(count));
        put(&file_header(*self.file.header().magic(), self.size().saturating_add(size), count))?;
        self.write_chunks(put)?;
        write_chunks(more.clone(), put)?;
        self.write_entries(start, put)?;
        write_index(more, start.saturating_add(self.size()), put)
    }

    /// Writes the bytes of the chunks alone, for a file of several selections.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write_chunks<E>(
        &self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        for span in self.spans {
            let size = span.end.saturating_sub(span.start);
            if let Some(bytes) = self.file.bytes().range(span.start, size) {
                put(bytes.as_slice())?;
            }
        }
        Ok(())
    }

    /// Writes the entries alone, for chunks whose bytes begin at `base` in their file.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn write_entries<E>(
        &self,
        base: u64,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let moved = |offset: i64| claim(base.saturating_add(self.place(u64::try_from(offset).unwrap_or(0))));
        for entry in self.file.entries().filter(|entry| (self.keep)(entry)) {
            let raw = RawEntry {
                identifier: *entry.identifier_bytes(),
                compression: entry.compression().number(),
                reserved: entry.reserved(),
                version: entry.version().into(),
                header_offset: moved(entry.header_offset()).into(),
                header_size: entry.header_size().into(),
                data_offset: moved(entry.data_offset()).into(),
                data_size: entry.stored_size().into(),
                uncompressed_size: entry.uncompressed_size().into(),
            };
            put(raw.as_bytes())?;
        }
        Ok(())
    }

    /// The offset that a byte of the input is going to have among the bytes that are kept. An empty range may lie
    /// between them: it goes to the end of what is before it.
    fn place(&self, offset: u64) -> u64 {
        let after = self.spans.partition_point(|span| span.start <= offset);
        match after.checked_sub(1).and_then(|last| self.spans.get(last)) {
            Some(span) => span.at.saturating_add(offset.min(span.end).saturating_sub(span.start)),
            None => 0,
        }
    }
}
