//! The entries that are read, and those that are the same as another one: chunks may overlap, and work must not grow
//! with their number.

use std::collections::{BTreeMap, HashMap, HashSet};
use traceglass::rdf::element::{COMPRESSION, UNCOMPRESSED_SIZE};
use traceglass::rdf::{Compression, Entry, File, Identifier};
use traceglass::{Element, Error, ErrorKind};

/// The bytes of the entries that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Headers,
    /// All data.
    Data,
    /// Data that is decompressed.
    Compressed,
    /// All data, as what it is said to hold.
    Contents,
}

/// The bytes of an entry, where they lie in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    start: u64,
    size: u64,
    compression: u8,
    output: u64,
    /// The content that the bytes are said to hold, and where the header is that is a part of it.
    content: Option<(Identifier, u32, u64)>,
}

/// The work for an entry.
#[derive(Clone, Copy)]
pub enum Turn {
    /// The bytes are read.
    Read,
    /// The bytes are those of an earlier entry, with this number.
    As(usize),
    /// The bytes overlap too many that are read already.
    Beyond(Error),
}

/// The work for each entry.
pub struct Plan {
    turns: Vec<Turn>,
    /// Entries of which others want to know the result.
    shared: HashSet<usize>,
}

/// Bytes that lie in several chunks.
pub const OVERLAPPING: Element = Element::new(&"RDF data that overlaps data already read");

/// The bytes of the file that are read.
#[derive(Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Adds a range; says whether some of it was there already.
    fn add(&mut self, mut start: u64, mut end: u64) -> bool {
        let mut met = false;
        while let Some((&from, &to)) = self.0.range(..end).next_back().filter(|(_, to)| **to > start) {
            met = true;
            (start, end) = (start.min(from), end.max(to));
            self.0.remove(&from);
        }
        self.0.insert(start, end);
        met
    }
}

/// The number of bytes all chunks of a file may have together; bytes in several chunks count several times.
fn limit(file: &File<'_>) -> u64 {
    u64::try_from(file.data().len()).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(1 << 20)
}

/// The error that chunks overlap too much to be read one after the other.
pub fn overlap(file: &File<'_>) -> Option<Error> {
    let (mut value, limit) = (0_u64, limit(file));
    file.entries().find_map(|entry| {
        // What lies outside of the file is not read.
        file.chunk_at(entry.number())?.stored().ok()?;
        let range = entry.stored_range().ok()?;
        value = value.saturating_add(range.end.saturating_sub(range.start));
        (value > limit).then(|| Error::new(range.start, OVERLAPPING, ErrorKind::OverLimit { value, limit }))
    })
}

impl Plan {
    /// The plan for a part of all entries: each range is read once, and all of them together hold at most twice as much
    /// as the file does, plus 1 MiB. What overlaps earlier ones counts as much as it holds when it is decompressed.
    pub fn of(file: &File<'_>, part: Part) -> Self {
        let limit = limit(file);
        let mut plan = Self { turns: Vec::with_capacity(file.index().len()), shared: HashSet::new() };
        let (mut known, mut covered) = (HashMap::new(), Covered::default());
        let mut total = 0_u64;
        for entry in file.entries() {
            // Bytes outside of the file are not read.
            let turn = Key::of(file, &entry, part).map_or(Turn::Read, |key| {
                if let Some(&first) = known.get(&key) {
                    plan.shared.insert(first);
                    return Turn::As(first);
                }
                let overlaps = covered.add(key.start, key.start.saturating_add(key.size));
                let size = if overlaps { key.size.max(key.output) } else { key.size };
                let value = total.saturating_add(size);
                if value > limit {
                    return Turn::Beyond(Error::new(
                        key.start,
                        OVERLAPPING,
                        ErrorKind::OverLimit { value, limit },
                    ));
                }
                total = value;
                known.insert(key, entry.number());
                Turn::Read
            });
            plan.turns.push(turn);
        }
        plan
    }

    pub fn turn(&self, number: usize) -> Turn {
        self.turns.get(number).copied().unwrap_or(Turn::Read)
    }
}

impl Key {
    fn of(file: &File<'_>, entry: &Entry<'_>, part: Part) -> Option<Self> {
        let chunk = file.chunk_at(entry.number())?;
        let (range, compression, output) = match part {
            Part::Headers => {
                chunk.header().ok()?;
                (entry.header_range().ok()?, 0, 0)
            }
            Part::Compressed if entry.compression() == Compression::None => return None,
            Part::Data | Part::Compressed | Part::Contents => {
                chunk.stored().ok()?;
                (entry.stored_range().ok()?, entry.compression().number(), entry.output_size().ok()?)
            }
        };
        let size = range.end.saturating_sub(range.start);
        let content = match part {
            Part::Contents => Some((entry.identifier(), entry.version(), entry.header_range().ok()?.start)),
            _ => None,
        };
        // An empty range costs nothing.
        (size > 0).then_some(Self { start: range.start, size, compression, output, content })
    }
}

/// The results that later entries share.
pub struct Shared<R>(HashMap<usize, Result<R, Error>>);

impl<R: Clone> Shared<R> {
    pub fn new() -> Self {
        Self(HashMap::new())
    }

    /// The result of an entry: its own, or that of the earlier one with the same bytes.
    pub fn result(
        &mut self,
        plan: &Plan,
        file: &File<'_>,
        entry: &Entry<'_>,
        own: Option<Result<R, Error>>,
    ) -> Option<Result<R, Error>> {
        let number = entry.number();
        match plan.turn(number) {
            Turn::Read => {
                if let (true, Some(own)) = (plan.shared.contains(&number), &own) {
                    self.0.insert(number, own.clone());
                }
                own
            }
            Turn::As(first) => {
                let shared = self.0.get(&first).cloned();
                // An error in a field of the other entry is an error in the same field of this one.
                let of_entry =
                    |error: &Error| error.element() == COMPRESSION || error.element() == UNCOMPRESSED_SIZE;
                shared.map(|result| {
                    result.map_err(|error| {
                        if !of_entry(&error) {
                            return error;
                        }
                        let from = file.index().get(first).map_or(0, |first| first.offset());
                        let offset = error.offset().saturating_sub(from).saturating_add(entry.offset());
                        Error::new(offset, error.element(), error.kind())
                    })
                })
            }
            Turn::Beyond(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_noticed() {
        let mut covered = Covered::default();
        let ranges = [(10, 20), (30, 40), (20, 30), (5, 11), (0, 5), (39, 41), (50, 60), (0, 100), (70, 71)];
        let met = ranges.map(|(start, end)| covered.add(start, end));
        assert_eq!(met, [false, false, false, true, false, true, false, true, true]);
        assert_eq!(covered.0, BTreeMap::from([(0, 100)]));
    }
}
