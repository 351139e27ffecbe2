//! From an id to what it names, through tables in storage that the caller lends.

use super::callsite::{Callsite, Callsites};
use super::chunk::Chunk;
use super::element::{CALLSITE, OBJECT};
use super::object::Object;
use super::read::{Part, Reader};
use crate::bytes::to_u64;
use crate::error::{Element, Error, ErrorKind, Result};
use crate::sort::sort_by_key;

/// An id, and the offset of what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableEntry {
    id: u64,
    offset: u64,
}

impl TableEntry {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { id: 0, offset: 0 };
}

/// Entries in ascending order.
#[derive(Clone, Copy, Debug)]
struct Table<'t> {
    entries: &'t [TableEntry],
    error: Option<Error>,
}

impl<'t> Table<'t> {
    /// Notes everything up to the first error.
    fn build(
        items: impl Iterator<Item = Result<TableEntry>>,
        storage: &'t mut [TableEntry],
        at: Reader<'_>,
        element: Element,
    ) -> Result<Self> {
        let mut used = 0_usize;
        let mut stopped = None;
        for item in items {
            match item {
                Ok(entry) => {
                    if let Some(slot) = storage.get_mut(used) {
                        *slot = entry;
                    }
                    used = used.saturating_add(1);
                }
                Err(error) => {
                    stopped = Some(error);
                    break;
                }
            }
        }
        let capacity = to_u64(storage.len());
        let Some(entries) = storage.get_mut(..used) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(used) };
            return Err(at.error(element, kind));
        };
        // Writers mostly count upwards.
        if !entries.iter().zip(entries.iter().skip(1)).all(|(before, after)| before <= after) {
            sort_by_key(entries, |entry| entry);
        }
        Ok(Self { entries, error: stopped })
    }

    /// The offset of the first element with this id.
    fn find(&self, id: u64) -> Option<u64> {
        let first = self.entries.partition_point(|entry| entry.id < id);
        self.entries.get(first).filter(|entry| entry.id == id).map(|entry| entry.offset)
    }
}

/// Objects by their instrumentation id.
///
/// ```
/// use traceglass::rfr::{Chunk, ObjectTable, TableEntry};
/// # let file = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x01\x01\0\x09\x01\x01\x05\x07\x63\x04main\0\0\x01\x04\x06\x05";
///
/// let chunk = Chunk::parse(file)?;
/// for sequence in chunk.sequences() {
///     let sequence = sequence?;
///     let mut entries = [TableEntry::EMPTY; 16];
///     let objects = ObjectTable::build(&chunk, sequence.objects(), &mut entries)?;
///     for record in sequence.records()? {
///         let iid = record?.data().iid().unwrap();
///         assert_eq!(objects.get(iid).and_then(|object| object.as_task()).unwrap().name(), "main");
///     }
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ObjectTable<'a, 't> {
    table: Table<'t>,
    input: Reader<'a>,
}

impl<'a, 't> ObjectTable<'a, 't> {
    /// A table of objects of a chunk: those of a sequence, or of all of them.
    ///
    /// If one of them is damaged, the table has those before it.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed.
    pub fn build(
        chunk: &Chunk<'a>,
        objects: impl IntoIterator<Item = Result<Object<'a>>>,
        storage: &'t mut [TableEntry],
    ) -> Result<Self> {
        let items = objects
            .into_iter()
            .map(|object| object.map(|object| TableEntry { id: object.iid(), offset: object.offset() }));
        let input = chunk.body();
        Ok(Self { table: Table::build(items, storage, input, OBJECT)?, input })
    }

    /// The object with this instrumentation id; the first in the file if there are several.
    pub fn get(&self, iid: u64) -> Option<Object<'a>> {
        Object::read(self.input.seek(self.table.find(iid)?)).ok().map(|(object, _)| object)
    }

    /// What kept further objects from being read.
    pub const fn error(&self) -> Option<Error> {
        self.table.error
    }
}

/// Callsites by their id.
#[derive(Clone, Copy, Debug)]
pub struct CallsiteTable<'a, 't> {
    table: Table<'t>,
    input: Reader<'a>,
}

impl<'a, 't> CallsiteTable<'a, 't> {
    /// A table of all callsites of a file.
    ///
    /// If the file ends inside a callsite, or one is damaged, the table has those before it.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed.
    pub fn build(callsites: &Callsites<'a>, storage: &'t mut [TableEntry]) -> Result<Self> {
        let items = callsites.clone().map(|callsite| {
            callsite.map(|callsite| TableEntry { id: callsite.id(), offset: callsite.offset() })
        });
        let input = callsites.reader();
        Ok(Self { table: Table::build(items, storage, input, CALLSITE)?, input })
    }

    /// The callsite with this id; the first in the file if there are several.
    pub fn get(&self, id: u64) -> Option<Callsite<'a>> {
        Callsite::read(&mut self.input.seek(self.table.find(id)?)).ok()
    }

    /// The same, unless it has more than `most` bytes: for those who look it up with each event.
    #[cfg(feature = "event")]
    pub(crate) fn get_within(&self, id: u64, most: usize) -> Option<Callsite<'a>> {
        Callsite::read(&mut self.input.seek(self.table.find(id)?).within(most)).ok()
    }

    /// What kept further callsites from being read.
    pub const fn error(&self) -> Option<Error> {
        self.table.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_of_several() {
        let entries = [(1, 9), (4, 2), (4, 7), (u64::MAX, 3)].map(|(id, offset)| TableEntry { id, offset });
        let table = Table { entries: &entries, error: None };
        assert_eq!([0, 1, 4, 5, u64::MAX].map(|id| table.find(id)), [None, Some(9), Some(2), None, Some(3)]);
    }
}
