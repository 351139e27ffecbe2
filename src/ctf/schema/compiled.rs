//! Schemas that were compiled before, as files: for devices that read their own traces.

use super::Schema;
use super::element::TABLE;
use super::node::{ESCAPED, Kind, LAST, NAMED, NONE, Node, Nodes, Place, SPLIT};
use super::spec::Variables;
use super::table::Table;
use super::validate::{HEADER, NODE, malformed, validate};
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::ctf::metadata::{MetadataStream, Uuid};
use crate::error::{Error, ErrorKind, Result};
use crate::json::encode_utf8;
use crc::{CRC_32_ISO_HDLC, CRC_64_XZ, Crc, NoTable};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes, Unaligned};

/// The magic bytes that a table begins with.
const MAGIC: [u8; 8] = *b"TGSCHEMA";
/// The version that is written, and the only one that is read.
const VERSION: u16 = 1;
/// The offset of the first byte that the checksum covers.
const COVERED: usize = 16;

/// The header of a table: see [`Schema::write`].
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: U16,
    has_uuid: u8,
    reserved: u8,
    checksum: U32,
    size: U32,
    nodes: U32,
    front: U32,
    names: U32,
    header: U32,
    trace: U32,
    tables: [[U32; 2]; 3],
    environment: [U32; 2],
    uuid: [u8; 16],
    hash: U64,
}

#[allow(clippy::as_conversions)] // While compiling.
const _: () = assert!(size_of::<Header>() == HEADER as usize);

impl<'a, 's> Schema<'a, 's> {
    /// A hash of the metadata file that it was compiled from: CRC-64/XZ of all its bytes.
    pub fn metadata_hash(&self) -> u64 {
        self.hash.unwrap_or_else(|| hash(&self.stream))
    }

    /// Checks that it was compiled from this metadata, and not from what that was before.
    ///
    /// # Errors
    /// [`Mismatch`](ErrorKind::Mismatch) of the hashes.
    pub fn check_metadata(&self, metadata: &MetadataStream<'_>) -> Result<()> {
        let (stated, found) = (self.metadata_hash(), hash(metadata));
        if stated == found {
            return Ok(());
        }
        Err(Error::new(0, TABLE, ErrorKind::Mismatch { stated, found }))
    }

    /// The size in bytes of what [`Self::write`] writes.
    pub fn written_size(&self) -> u64 {
        let mut sink = Sink { to: &mut [], at: 0 };
        self.put(&mut sink);
        sink.at
    }

    /// Writes it as a table that [`Self::parse`] reads without the metadata. Returns the part of `buffer` that it
    /// takes.
    ///
    /// The same metadata gives the same bytes on every machine.
    ///
    /// # Layout
    /// Numbers are little-endian. Bytes without a field are 0.
    ///
    /// | offset | type | field |
    /// |---:|---|---|
    /// | 0 | 8 bytes | magic: `TGSCHEMA` |
    /// | 8 | `u16` | version: 1 |
    /// | 10 | `u8` | 1 if there is a UUID |
    /// | 12 | `u32` | checksum: CRC-32/ISO-HDLC of all bytes from 16 on |
    /// | 16 | `u32` | size of the table in bytes |
    /// | 20 | `u32` | number of nodes |
    /// | 24 | `u32` | number of those that stand in front: classes and their tables |
    /// | 28 | `u32` | size of the names in bytes |
    /// | 32 | `u32` | node of the structure of packet headers; 2³² − 1 if there is none |
    /// | 36 | `u32` | node of the trace class; 2³² − 1 if there is none |
    /// | 40 | 3 × 2 `u32` | first node and length of the tables of streams, events, clocks |
    /// | 64 | `u32` | node of the first variable of the environment, then downwards; 2³² − 1 if there is none |
    /// | 68 | `u32` | number of variables |
    /// | 72 | 16 bytes | UUID |
    /// | 88 | `u64` | [hash](Self::metadata_hash) of the metadata file |
    /// | 96 | nodes | 24 bytes each |
    /// | … | bytes | names, without escapes, in UTF-8 |
    ///
    /// A node consists of `u8` kind, `u8` flags, `u8` alignment and base, `u8` slot, `u16` roles, `u16` size of the
    /// name, and four `u32`: offset of the name, number of nodes, and two that depend on the kind. What the numbers in
    /// it mean may change with the version alone.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the size needed. [`OverLimit`](ErrorKind::OverLimit) if
    /// that has more than 32 bits.
    pub fn write<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        let (capacity, needed) = (to_u64(buffer.len()), self.written_size());
        let size = u32::try_from(needed).map_err(|_| {
            Error::new(0, TABLE, ErrorKind::OverLimit { value: needed, limit: u32::MAX.into() })
        })?;
        let too_small = Error::new(0, TABLE, ErrorKind::CapacityExceeded { capacity, needed });
        let table = buffer.get_mut(..to_usize(size)).ok_or(too_small)?;
        self.put(&mut Sink { to: table, at: 0 });
        let checksum = checksum(table.get(COVERED..).unwrap_or_default());
        Sink { to: table, at: 12 }.put(&checksum.to_le_bytes());
        Ok(table)
    }

    /// The number of nodes of the storage that are not used: they lie between those in front and those at the end.
    fn gap(&self) -> u32 {
        let all = u32::try_from(self.nodes.0.len()).unwrap_or(NONE);
        let unused = (self.front..all).take_while(|at| self.portable(*at).kind == Kind::Empty);
        u32::try_from(unused.count()).unwrap_or(0)
    }

    fn put(&self, sink: &mut Sink<'_>) {
        let gap = self.gap();
        let all = u32::try_from(self.nodes.0.len()).unwrap_or(NONE);
        let moved = |index: u32| if index == NONE { NONE } else { index.saturating_sub(gap) };
        let nodes = || (0..self.front).chain(self.front.saturating_add(gap)..all);
        let mut names = 0_u64;
        for index in nodes() {
            for text in self.texts(index).into_iter().flatten() {
                names = names.saturating_add(text.written_len());
            }
        }
        let count = all.saturating_sub(gap);
        let size = u64::from(HEADER).saturating_add(u64::from(count).saturating_mul(NODE.into()));
        let header = Header {
            magic: MAGIC,
            version: VERSION.into(),
            has_uuid: self.uuid.is_some().into(),
            reserved: 0,
            checksum: U32::ZERO,
            size: u32::try_from(size.saturating_add(names)).unwrap_or(NONE).into(),
            nodes: count.into(),
            front: self.front.into(),
            names: u32::try_from(names).unwrap_or(NONE).into(),
            header: self.header.into(),
            trace: self.trace.into(),
            tables: [self.streams, self.events, self.clocks]
                .map(|table| [table.base().into(), table.len.into()]),
            environment: [moved(self.environment.first).into(), self.environment.len.into()],
            uuid: self.uuid.map_or([0; 16], |uuid| *uuid.as_bytes()),
            hash: self.metadata_hash().into(),
        };
        sink.put(header.as_bytes());
        let mut at = 0_u32;
        for index in nodes() {
            let mut node = self.portable(index);
            let [name, value] = self.texts(index);
            if let Some(name) = name {
                let len = u16::try_from(name.written_len()).unwrap_or(u16::MAX);
                (node.name, node.name_len) = (at, len);
                at = at.saturating_add(len.into());
            }
            if let Some(value) = value {
                let len = u32::try_from(value.written_len()).unwrap_or(NONE);
                (node.a, node.b, node.roles) = (at, len, 0);
                at = at.saturating_add(len);
            } else if node.refers_to_the_end() {
                node.b = moved(node.b);
            }
            sink.put(node.little_endian().as_bytes());
        }
        for index in nodes() {
            for text in self.texts(index).into_iter().flatten() {
                for c in text.written() {
                    let mut bytes = [0; 4];
                    let Some(to) = bytes.get_mut(..c.len_utf8()) else { continue };
                    encode_utf8(c, to);
                    sink.put(to);
                }
            }
        }
    }

    /// The name of a node, and its text if it is a variable that is one.
    fn texts(&self, index: u32) -> [Option<super::Name<'a>>; 2] {
        let node = self.portable(index);
        let name = if node.has(NAMED) { self.name_of(index) } else { None };
        [name, self.nodes.get(index).variable_text(&self.stream)]
    }

    /// A node without what is only needed to compile, or refers to the metadata.
    fn portable(&self, index: u32) -> Node {
        let mut node = *self.nodes.get(index);
        let is_front = index < self.front;
        match node.kind {
            Kind::Location => node = Node::EMPTY,
            // The offset of the description stays.
            Kind::Stream | Kind::Event => {}
            Kind::Alias if !is_front => node = Node::EMPTY,
            Kind::Alias => (node.name, node.name_len, node.flags) = (0, 0, 0),
            Kind::Label => (node.roles, node.slot, node.a, node.b) = (0, super::node::NO_SLOT, 0, 0),
            kind if kind.is_dependent() => node.a = NONE,
            _ => {}
        }
        let before = |distance: u32| index.checked_sub(distance).map(|at| self.nodes.get(at).kind);
        if is_front && node.kind == Kind::More {
            if matches!(before(1), Some(Kind::Stream | Kind::Event)) {
                node.a = NONE;
            } else if before(3) == Some(Kind::Clock) {
                node = Node { name: NONE, ..Node::new(Kind::More) };
            }
        }
        if node.has(NAMED) {
            node.set(ESCAPED | SPLIT, false);
        }
        node
    }

    /// A table that [`Self::write`] wrote, read where it lies: from flash, without a copy.
    ///
    /// It is read on machines that are little-endian, from an address that is a multiple of 4; [`Self::load`] has
    /// no such conditions. The table may come from anywhere: it is validated.
    ///
    /// # Errors
    /// [`BadMagic`](ErrorKind::BadMagic), [`UnsupportedVersion`](ErrorKind::UnsupportedVersion), `UnexpectedEnd`,
    /// [`ChecksumMismatch`](ErrorKind::ChecksumMismatch); `Unsupported` on a machine that is big-endian, `NotMultiple`
    /// at another address; for a node that a compiler would not write, [`Malformed`](ErrorKind::Malformed) at that.
    pub fn parse(table: &'s [u8]) -> Result<Schema<'s, 's>> {
        let schema = Self::parse_trusted(table)?;
        validate(&schema)?;
        Ok(schema)
    }

    /// As [`Self::parse`], for a table that is a part of the program: no node is looked at, which takes less code and
    /// time.
    ///
    /// By a table that no compiler wrote, anything may be read, and reading may take forever; it does not panic.
    ///
    /// # Errors
    /// As [`Self::parse`], except that a node is only `Malformed` if its kind is unknown.
    pub fn parse_trusted(table: &'s [u8]) -> Result<Schema<'s, 's>> {
        let (header, bytes, names) = split(table)?;
        if cfg!(target_endian = "big") {
            return Err(Error::new(0, TABLE, ErrorKind::Unsupported { value: 0 }));
        }
        let past = to_u64(bytes.as_ptr().align_offset(align_of::<Node>()));
        if past > 0 {
            return Err(Error::new(0, TABLE, ErrorKind::NotMultiple { value: past, of: 4 }));
        }
        let nodes = <[Node]>::try_ref_from_bytes(bytes).map_err(|_| malformed(0))?;
        Ok(header.schema(nodes, names))
    }

    /// As [`Self::parse`], with a copy of the nodes: on any machine, and from any address.
    ///
    /// # Errors
    /// As [`Self::parse`], but not for byte order and address. [`CapacityExceeded`](ErrorKind::CapacityExceeded) with
    /// the number of nodes needed.
    pub fn load(table: &'a [u8], nodes: &'s mut [Node]) -> Result<Self> {
        let (header, bytes, names) = split(table)?;
        let needed = header.nodes.get();
        let kind = ErrorKind::CapacityExceeded { capacity: to_u64(nodes.len()), needed: needed.into() };
        let nodes = nodes.get_mut(..to_usize(needed)).ok_or_else(|| Error::new(0, TABLE, kind))?;
        for ((index, node), bytes) in (0..).zip(nodes.iter_mut()).zip(bytes.as_chunks::<24>().0) {
            let read = Node::try_read_from_bytes(bytes).map_err(|_| malformed(index))?;
            *node = read.little_endian();
        }
        let schema = header.schema(nodes, names);
        validate(&schema)?;
        Ok(schema)
    }
}

/// The header of a table, its nodes and its names.
fn split(table: &[u8]) -> Result<(Header, &[u8], &[u8])> {
    let input = Bytes::new(table);
    let magic = input.range(0, 8).ok_or_else(|| input.truncated(TABLE, 8))?;
    if magic.as_slice() != MAGIC {
        return Err(Error::new(0, TABLE, ErrorKind::bad_magic(magic.as_slice())));
    }
    let read = Header::read_from_prefix(table);
    let (header, rest) = read.map_err(|_| input.truncated(TABLE, HEADER.into()))?;
    if header.version != VERSION {
        let found = header.version.get().into();
        let kind = ErrorKind::UnsupportedVersion { found, supported: VERSION.into() };
        return Err(Error::new(8, TABLE, kind));
    }
    let (stated, stored) = (u64::from(header.size.get()), u64::from(header.checksum.get()));
    let nodes_size = u64::from(header.nodes.get()).saturating_mul(NODE.into());
    let found = nodes_size.saturating_add(HEADER.into()).saturating_add(header.names.get().into());
    if found != stated {
        return Err(Error::new(16, TABLE, ErrorKind::SizeMismatch { stated, found }));
    }
    let size = usize::try_from(stated).unwrap_or(usize::MAX);
    let Some(covered) = table.get(COVERED..size) else { return Err(input.truncated(TABLE, stated)) };
    let computed = checksum(covered).into();
    if stored != computed {
        return Err(Error::new(12, TABLE, ErrorKind::ChecksumMismatch { stored, computed }));
    }
    let nodes_size = usize::try_from(nodes_size).unwrap_or(usize::MAX);
    let (bytes, text) = rest.split_at_checked(nodes_size).unwrap_or_default();
    Ok((header, bytes, text.get(..to_usize(header.names.get())).unwrap_or_default()))
}

impl Header {
    fn schema<'a, 's>(&self, nodes: &'s [Node], names: &'a [u8]) -> Schema<'a, 's> {
        let [streams, events, clocks] = self.tables.map(|[base, len]| Table::at(base.get(), len.get()));
        let [first, len] = self.environment.map(U32::get);
        Schema {
            stream: MetadataStream::plain(names),
            nodes: Nodes(nodes),
            header: self.header.get(),
            trace: self.trace.get(),
            streams,
            events,
            clocks,
            uuid: (self.has_uuid != 0).then_some(Uuid::new(self.uuid)),
            environment: Variables { first, len },
            front: self.front.get(),
            hash: Some(self.hash.get()),
        }
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(bytes)
}

fn hash(metadata: &MetadataStream<'_>) -> u64 {
    const CRC: Crc<u64, NoTable> = Crc::<u64, NoTable>::new(&CRC_64_XZ);
    CRC.checksum(metadata.input())
}

impl Node {
    /// True if `b` is the index of a node at the end: of labels, ranges, a media type, or an index of names.
    fn refers_to_the_end(&self) -> bool {
        let kind = self.kind;
        kind.is_integer()
            || matches!(
                kind,
                Kind::BitMap
                    | Kind::StaticBlob
                    | Kind::DynamicBlob
                    | Kind::Optional
                    | Kind::Variant
                    | Kind::Choice
            )
    }

    /// The same with its numbers in the byte order of tables, or back in that of the machine.
    const fn little_endian(self) -> Self {
        Self {
            roles: self.roles.to_le(),
            name_len: self.name_len.to_le(),
            name: self.name.to_le(),
            size: self.size.to_le(),
            a: self.a.to_le(),
            b: self.b.to_le(),
            ..self
        }
    }
}

/// Bytes that are written one after the other. Those that have no room are counted.
struct Sink<'b> {
    to: &'b mut [u8],
    at: u64,
}

impl Sink<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let to = usize::try_from(self.at).ok().and_then(|at| self.to.get_mut(at..)).unwrap_or_default();
        for (to, from) in to.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.at = self.at.saturating_add(to_u64(bytes.len()));
    }
}

const _: () = assert!(LAST & NAMED == 0 && size_of::<Place>() == 8);
