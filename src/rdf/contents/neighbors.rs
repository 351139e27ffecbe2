//! Files with the same extensions that are not RDF: RMT (`MINI`, old `.rmv`) and SQTT (`B00P`, old `.rgp`).
//!
//! Both are a header and a list of chunks, each with its size. Mesa's RADV still writes them.
//!
//! ```text
//!  0  header   56 bytes   magic, version, offset of the first chunk, time
//!     chunk    16 bytes   type, index, version, size with these 16
//!              …          content
//! ```

use super::element::{CHUNK_FILE_CHUNK, CHUNK_FILE_HEADER};
use super::layout::layout;
use crate::bytes::{Bytes, to_u64};
use crate::error::{ErrorKind, Result};
use core::fmt;
use core::iter::FusedIterator;

/// The kind of a neighbor: one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A memory trace: `MINI`.
    Rmt,
    /// A profile: `B00P`.
    Sqtt,
}

impl Kind {
    /// The short name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rmt => "rmt",
            Self::Sqtt => "sqtt",
        }
    }
}

layout! {
    /// The header of such a file.
    pub struct FileHeader, RawFileHeader: 56 {
        /// The magic number.
        magic: u32,
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// Flags.
        flags: u32,
        /// Offset of the first chunk.
        first_chunk: i32,
        /// Second of the minute in which it was made, in local time as all that follows.
        second: i32,
        /// Minute of the hour.
        minute: i32,
        /// Hour of the day.
        hour: i32,
        /// Day of the month.
        day: i32,
        /// Month, from 0.
        month: i32,
        /// Year since 1900.
        year: i32,
        /// Day of the week, from Sunday.
        weekday: i32,
        /// Day of the year, from 0.
        yearday: i32,
        /// True if it is daylight saving time.
        is_dst: i32,
    }
}

layout! {
    /// The header of a chunk.
    pub struct ChunkHeader, RawChunkHeader: 16 {
        /// Type of the chunk.
        chunk_type: u8,
        /// The number among those of its type.
        index: u8,
        reserved: (pad 2),
        /// Minor version.
        minor: u16,
        /// Major version.
        major: u16,
        /// Size in bytes, with this header.
        size: i32,
        padding: (pad 4),
    }
}

/// A file of chunks.
#[derive(Clone, Copy)]
pub struct ChunkFile<'a> {
    data: Bytes<'a>,
    kind: Kind,
    header: FileHeader<'a>,
}

impl<'a> ChunkFile<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`BadMagic`](ErrorKind::BadMagic), or a [cut](ErrorKind::UnexpectedEnd) header.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let whole = Bytes::new(data);
        let kind = match data.first_chunk() {
            Some(b"MINI") => Kind::Rmt,
            Some(b"B00P") => Kind::Sqtt,
            Some([a, b, c, d]) => {
                let found = [*a, *b, *c, *d, 0, 0, 0, 0];
                return Err(whole.error(CHUNK_FILE_HEADER, ErrorKind::BadMagic { found }));
            }
            None => return Err(whole.truncated(CHUNK_FILE_HEADER, to_u64(FileHeader::SIZE))),
        };
        let header = FileHeader::new({ whole }.view(CHUNK_FILE_HEADER)?);
        Ok(Self { data: whole, kind, header })
    }

    /// The kind: one of two.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The header.
    pub const fn header(&self) -> FileHeader<'a> {
        self.header
    }

    /// The chunks in the order of the file. One whose size cannot be right is an error, after which nothing can be
    /// found.
    pub fn chunks(&self) -> Chunks<'a> {
        let start = u64::try_from(self.header.first_chunk()).ok();
        let rest =
            start.and_then(|start| self.data.range(start, to_u64(self.data.len()).checked_sub(start)?));
        Chunks { rest, kind: self.kind, header: Some(self.header), file: self.data }
    }
}

impl fmt::Debug for ChunkFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkFile").field("kind", &self.kind).field("len", &self.data.len()).finish()
    }
}

/// The chunks of a [`ChunkFile`].
#[derive(Clone)]
pub struct Chunks<'a> {
    /// `None` if the first chunk lies outside the file.
    rest: Option<Bytes<'a>>,
    kind: Kind,
    header: Option<FileHeader<'a>>,
    file: Bytes<'a>,
}

impl<'a> Chunks<'a> {
    fn take(&mut self, start: Bytes<'a>) -> Result<NeighborChunk<'a>> {
        let mut rest = start;
        let header = ChunkHeader::new(rest.view(CHUNK_FILE_CHUNK)?);
        let size = u64::try_from(header.size()).map_err(|_| {
            start.error(CHUNK_FILE_CHUNK, ErrorKind::Negative { value: header.size().into() })
        })?;
        if size < to_u64(ChunkHeader::SIZE) {
            let limit = to_u64(ChunkHeader::SIZE);
            return Err(start.error(CHUNK_FILE_CHUNK, ErrorKind::UnderLimit { value: size, limit }));
        }
        let mut rest = start;
        let whole = rest.take(size, CHUNK_FILE_CHUNK)?;
        let content = whole.as_slice().get(ChunkHeader::SIZE..).unwrap_or_default();
        self.rest = Some(rest);
        Ok(NeighborChunk { header, kind: self.kind, offset: start.offset(), content })
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<NeighborChunk<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(start) = self.rest else {
            let header = self.header.take()?;
            let start = header.first_chunk();
            let kind = match u64::try_from(start) {
                Ok(start) => ErrorKind::OutOfBounds { start, size: to_u64(ChunkHeader::SIZE) },
                Err(_) => ErrorKind::Negative { value: start.into() },
            };
            return Some(Err(crate::error::Error::new(16, CHUNK_FILE_HEADER, kind)));
        };
        if start.is_empty() {
            return None;
        }
        let chunk = self.take(start);
        if chunk.is_err() {
            self.rest = Some(Bytes::at(&[], self.file.end_offset()));
        }
        Some(chunk)
    }
}

impl FusedIterator for Chunks<'_> {}

impl fmt::Debug for Chunks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chunks").field(&self.rest).finish()
    }
}

/// A chunk of a [`ChunkFile`].
#[derive(Clone, Copy)]
pub struct NeighborChunk<'a> {
    header: ChunkHeader<'a>,
    kind: Kind,
    offset: u64,
    content: &'a [u8],
}

impl<'a> NeighborChunk<'a> {
    /// The header.
    pub const fn header(&self) -> ChunkHeader<'a> {
        self.header
    }

    /// Offset in the file.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes after the header.
    pub const fn content(&self) -> &'a [u8] {
        self.content
    }

    /// The name of the type; `None` if it is not known.
    pub const fn type_name(&self) -> Option<&'static str> {
        match (self.kind, self.header.chunk_type()) {
            (Kind::Rmt, 0) | (Kind::Sqtt, 0) => Some("AsicInfo"),
            (Kind::Rmt, 1) | (Kind::Sqtt, 3) => Some("ApiInfo"),
            (Kind::Rmt, 2) => Some("SystemInfo"),
            (Kind::Rmt, 3) => Some("RmtData"),
            (Kind::Rmt, 4) => Some("SegmentInfo"),
            (Kind::Rmt, 5) => Some("ProcessStart"),
            (Kind::Rmt, 6) => Some("SnapshotInfo"),
            (Kind::Rmt, 7) => Some("AdapterInfo"),
            (Kind::Sqtt, 1) => Some("SqttDesc"),
            (Kind::Sqtt, 2) => Some("SqttData"),
            (Kind::Sqtt, 5) => Some("QueueEventTimings"),
            (Kind::Sqtt, 6) => Some("ClockCalibration"),
            (Kind::Sqtt, 7) => Some("CpuInfo"),
            (Kind::Sqtt, 8) => Some("SpmDb"),
            (Kind::Sqtt, 9) => Some("CodeObjectDatabase"),
            (Kind::Sqtt, 10) => Some("CodeObjectLoaderEvents"),
            (Kind::Sqtt, 11) => Some("PsoCorrelation"),
            (Kind::Sqtt, 12 | 14) => Some("InstrumentationTable"),
            (Kind::Sqtt, 13) => Some("DfSpm"),
            (Kind::Sqtt, 128) => Some("DerivedSpm"),
            _ => None,
        }
    }

    /// The tokens of an `RmtData` chunk of an RMT file.
    pub fn rmt(&self) -> Option<super::rmt::Stream<'a>> {
        if self.kind != Kind::Rmt || self.header.chunk_type() != 3 {
            return None;
        }
        let mut rest = Bytes::new(self.content);
        let process = rest.view::<zerocopy::little_endian::U64>(CHUNK_FILE_CHUNK).ok()?.get();
        rest.take(8, CHUNK_FILE_CHUNK).ok()?;
        let version = (self.header.major(), self.header.minor());
        let process = u32::try_from(process).ok()?;
        Some(super::rmt::Stream::from_parts(process, self.header.index().into(), version, rest.as_slice()))
    }

    /// The `AdapterInfo` of an RMT file.
    pub fn adapter(&self) -> Option<super::AdapterInfo<'a>> {
        let is_adapter = self.kind == Kind::Rmt && self.header.chunk_type() == 7;
        is_adapter.then(|| super::AdapterInfo::parse(1, self.content).ok()).flatten()
    }
}

impl fmt::Debug for NeighborChunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NeighborChunk")
            .field("type", &self.type_name())
            .field("offset", &self.offset)
            .field("len", &self.content.len())
            .finish()
    }
}
