//! Chunks in memory, in bounds that the size of the file sets.

use super::decoder::Decoder;
use super::plan::OVERLAPPING;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use traceglass::rdf::contents::{ChunkRecords, Content};
use traceglass::rdf::element::{CHUNK_DATA, COMPRESSION};
use traceglass::rdf::{Chunk, Compression, Entry, File, Identifier, SortedIndex};
use traceglass::{Error, ErrorKind, Severity};

/// The number of bytes of contents that are read to say what a file is about, in addition to eight times the file's
/// size.
const BUDGET: u64 = 16 << 20;

/// The number of bytes that are read of a large file unless all is asked for.
const GLANCE: u64 = 8 << 20;

/// The number of chunks of an identifier that are read to say what a file is about.
const MOST: usize = 1 << 16;

/// A chunk that was read.
pub struct Loaded<'a> {
    pub id: Identifier,
    pub version: u32,
    pub header: &'a [u8],
    /// Borrowed where it is stored as it is.
    pub data: Cow<'a, [u8]>,
}

impl<'a> Loaded<'a> {
    /// Reads a chunk.
    ///
    /// # Errors
    /// `OverLimit` for content that is out of proportion to what is stored of it, and those of reading it.
    pub fn read(chunk: Chunk<'a>, decoder: &mut Decoder) -> Result<Self, Error> {
        let entry = chunk.entry();
        let (id, version) = (entry.identifier(), entry.version());
        let data = if entry.compression() == Compression::None {
            Cow::Borrowed(chunk.stored()?)
        } else {
            let stored = u64::try_from(entry.stored_size()).unwrap_or(0);
            let (value, limit) = (entry.output_size()?, Content::limit(stored));
            if value > limit {
                let offset = entry.stored_range()?.start;
                return Err(Error::new(offset, CHUNK_DATA, ErrorKind::OverLimit { value, limit }));
            }
            let mut data = Vec::new();
            decoder.read(chunk, |piece| data.extend_from_slice(piece))?;
            Cow::Owned(data)
        };
        Ok(Self { id, version, header: chunk.header()?, data })
    }

    /// The content of the chunk.
    pub fn content(&self) -> Result<Content<'_>, Error> {
        Content::parse(self.id, self.version, self.header, &self.data)
    }

    /// The records of the chunk, read for itself.
    pub fn records(&self) -> ChunkRecords<'_> {
        ChunkRecords::new(self.id, self.version, self.header, &self.data)
    }
}

/// Reads chunks as long as the budget lasts.
pub(super) struct Loader<'s, 'a> {
    file: SortedIndex<'a, 's>,
    decoder: Decoder,
    all: u64,
    left: u64,
    /// The whole budget, if it was too small to read everything.
    pub(super) exceeded: Option<u64>,
}

impl<'s, 'a> Loader<'s, 'a> {
    /// Reads as much as is in proportion to the file; of a large one of which not all is asked for, a little.
    pub(super) fn new(file: SortedIndex<'a, 's>, size: u64, complete: bool) -> Self {
        let left = if complete { size.saturating_mul(8).saturating_add(BUDGET) } else { GLANCE };
        Self { file, decoder: Decoder::new(), all: left, left, exceeded: None }
    }

    /// The chunks of that identifier that can be read.
    pub(super) fn load(&mut self, id: &str) -> Vec<Loaded<'a>> {
        self.read(id).into_iter().filter_map(|(_, loaded)| loaded).collect()
    }

    /// The chunks of that identifier, and what they hold if they can be read.
    pub(super) fn read(&mut self, id: &str) -> Vec<(Chunk<'a>, Option<Loaded<'a>>)> {
        let mut read = Vec::new();
        for chunk in self.file.chunks(id) {
            // What has no size cannot be read, and takes nothing.
            let size = chunk.entry().output_size().unwrap_or(0);
            let left = self.left.checked_sub(size).filter(|_| read.len() < MOST);
            let Some(left) = left else {
                self.exceeded = Some(self.all);
                break;
            };
            self.left = left;
            read.push((chunk, Loaded::read(chunk, &mut self.decoder).ok()));
        }
        read
    }
}

/// The first of the chunks for each key, or for any: one without a key is for all.
pub(super) struct First<K, V> {
    by_key: HashMap<K, (usize, V)>,
    any: Option<(usize, V)>,
}

impl<K: Eq + Hash, V> First<K, V> {
    pub(super) fn of<'c>(
        chunks: &'c [Loaded<'_>],
        value: impl Fn(Content<'c>) -> Option<(Option<K>, V)>,
    ) -> Self {
        let mut first = Self { by_key: HashMap::new(), any: None };
        let values = chunks.iter().map(|chunk| value(chunk.content().ok()?));
        for (place, (key, value)) in values.enumerate().filter_map(|(place, value)| Some((place, value?))) {
            match key {
                Some(key) => drop(first.by_key.entry(key).or_insert((place, value))),
                None => drop(first.any.get_or_insert((place, value))),
            }
        }
        first
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        let found = self.by_key.get(key).into_iter().chain(&self.any);
        found.min_by_key(|(place, _)| *place).map(|(_, value)| value)
    }
}

/// True if it is known what is in chunks with an identifier.
pub fn is_known(id: Identifier) -> bool {
    Content::IDENTIFIERS.iter().any(|known| known.as_bytes() == id.name())
}

/// True if what cannot be read is content that is too much, of which the bytes are sound.
pub fn is_too_much(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::OverLimit { .. })
        && [CHUNK_DATA, OVERLAPPING].contains(&error.element())
}

/// The first error of an entry, of which no bytes are read.
pub fn fault(file: &File<'_>, entry: Entry<'_>) -> Option<Error> {
    let mut fault = None;
    let checked = file.check_entry(entry, &mut |finding| {
        if finding.severity() == Severity::Error {
            fault.get_or_insert(finding.cause());
        }
    });
    let unknown = match entry.compression() {
        Compression::Other(number) => Some(ErrorKind::Unsupported { value: number.into() }),
        _ => None,
    };
    let unknown = unknown.map(|kind| Error::new(entry.offset().saturating_add(16), COMPRESSION, kind));
    fault.or(checked.err()).or(unknown)
}
