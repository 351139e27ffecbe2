//! The streams of a session.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::name::{Name, hash, name_hash};
use crate::rtc::slot::{NONE, StreamSlot};
use crate::rtc::{Decimal, Format, Stream, element, work};
use core::fmt;
use core::marker::PhantomData;

/// The number of clocks that may count from each other.
pub(super) const LEVELS: usize = 8;

/// The trees of slots: by id, by name, and clocks by name.
const IDS: usize = 0;
const NAMES: usize = 1;
const CLOCKS: usize = 2;

/// The state of all slots together. The trees are digital search trees, which no choice of keys makes deeper than their
/// 64 bits; the links are in the slots.
#[derive(Clone, Debug)]
struct Table {
    len: usize,
    roots: [u16; 3],
    revision: u32,
    /// Counts changes of clocks, from 1 on.
    clock_revision: u32,
}

/// The streams of a session, as far as they have been declared: each in a slot that it keeps.
#[derive(Clone, Copy)]
pub struct Streams<'r, 'a> {
    slots: &'r [StreamSlot<'a>],
    table: &'r Table,
}

impl<'r, 'a> Streams<'r, 'a> {
    /// The key of a slot in a tree.
    fn key(&self, tree: usize, slot: u16) -> u64 {
        let stream = self.slots.get(usize::from(slot)).map(|slot| &slot.stream);
        stream.map_or(0, |stream| if tree == IDS { stream.id() } else { stream.links().name })
    }

    /// The slot with a key, or where one would be added: below which slot, on which side.
    #[inline(never)] // Many places ask, and none in a hot loop.
    fn seek(&self, tree: usize, key: u64) -> Result<usize, Option<(usize, usize)>> {
        let mut next = self.table.roots.get(tree).copied().unwrap_or(NONE);
        let (mut parent, mut bits) = (None, key);
        while let Some(slot) = self.slots.get(usize::from(next)) {
            work::count(1);
            if self.key(tree, next) == key {
                return Ok(usize::from(next));
            }
            let side = usize::from(bits & 1 == 1);
            (parent, bits) = (Some((usize::from(next), side)), bits >> 1);
            next = slot.below.get(tree).and_then(|below| below.get(side)).copied().unwrap_or(NONE);
        }
        Err(parent)
    }

    /// The slot that a tree has for the hash of a name, if `is_it` confirms that name.
    fn find(&self, tree: usize, hash: u64, is_it: &dyn Fn(Name<'a>) -> bool) -> Option<usize> {
        let slot = self.seek(tree, hash).ok().filter(|_| hash != 0)?;
        self.at(slot)?.name().filter(|&name| is_it(name)).map(|_| slot)
    }

    /// The slot of the clock that a stream names, given the hash of that name, which is read if there is one like it.
    pub(super) fn find_clock(&self, hash: u64, name: &dyn Fn() -> Option<Name<'a>>) -> Option<usize> {
        self.find(CLOCKS, hash, &|own| name().is_some_and(|name| own == name))
    }

    /// The slot of the stream of that id.
    pub fn slot(&self, id: u64) -> Option<usize> {
        self.seek(IDS, id).ok()
    }

    /// The stream in a slot, as [`Frame::slot`](crate::rtc::Frame::slot) gives it.
    #[inline]
    pub fn at(&self, slot: usize) -> Option<&'r Stream<'a>> {
        self.slots.get(slot).map(|slot| &slot.stream)
    }

    #[inline(always)]
    pub(super) const fn slots(&self) -> &'r [StreamSlot<'a>] {
        self.slots
    }

    /// The stream of that id.
    pub fn get(&self, id: u64) -> Option<&'r Stream<'a>> {
        self.at(self.slot(id)?)
    }

    /// The stream of that name; the first one, if several have it.
    pub fn by_name(&self, name: &str) -> Option<&'r Stream<'a>> {
        self.at(self.find(NAMES, hash(name.chars()), &|own| own.is(name))?)
    }

    /// The slot of the stream that another one names, as in [`Stream::stream`]; the first one, if several have the name.
    pub fn slot_of_name(&self, name: Name<'_>) -> Option<usize> {
        self.find(NAMES, name_hash(name), &|own| own == name)
    }

    /// The slot of the clock that another stream names, as in [`Stream::clock`] and [`Stream::delta`].
    pub fn slot_of_clock(&self, name: Name<'_>) -> Option<usize> {
        self.find(CLOCKS, name_hash(name), &|own| own == name)
    }

    /// The clock of the stream in a slot; the same stream, if that is one.
    pub fn clock_of(&self, slot: usize) -> Option<&'r Stream<'a>> {
        self.at(self.clock_slot(slot)?)
    }

    /// True if the stream in a slot is a clock: its records say what the time is.
    pub fn is_clock(&self, slot: usize) -> bool {
        self.clock_slot(slot) == Some(slot)
    }

    /// The slot of that clock.
    pub(super) fn clock_slot(&self, slot: usize) -> Option<usize> {
        let stream = self.at(slot)?;
        let links = stream.links();
        if links.is_clock { Some(slot) } else { self.find_clock(links.clock, &|| stream.clock_name()) }
    }

    /// The slot of the stream that the one in a slot annotates, if its format is that of an annotation.
    pub(super) fn annotated(&self, slot: usize) -> Option<usize> {
        // The name stands in JSON, which is slow to read.
        let stream = self.at(slot).filter(|stream| matches!(stream.format(), Format::Annotate(_)))?;
        self.slot_of_name(stream.stream()?)
    }

    /// The slot of the clock that the records of a stream tell their time by: of annotations that of the stream that they
    /// are about.
    pub(super) fn told_clock(&self, slot: usize) -> Option<usize> {
        self.clock_slot(self.annotated(slot).unwrap_or(slot))
    }

    /// True if the times of the stream in a slot count from the Unix epoch.
    ///
    /// A clock's do if it has the format `timespec` without gain and offset, which would move its origin, or if it
    /// counts from such a clock; and those of annotations of what belongs to no clock.
    pub fn is_absolute(&self, slot: usize) -> bool {
        let Some(mut clock) = self.told_clock(slot).and_then(|clock| self.at(clock)) else {
            let is_annotation = |stream: &Stream<'a>| matches!(stream.format(), Format::Annotate(_));
            // One that names a clock that is not there belongs to an unknown one.
            let about = self.at(self.annotated(slot).unwrap_or(slot));
            return self.at(slot).is_some_and(is_annotation)
                && about.is_some_and(|about| about.links().clock == 0);
        };
        // Clocks may count from each other in a circle.
        for _ in 0..LEVELS {
            let Some(base) = clock.delta() else {
                let is_plain = |number: Result<Option<Decimal>>| matches!(number, Ok(None));
                return clock.format() == Format::Timespec
                    && is_plain(clock.gain())
                    && is_plain(clock.offset());
            };
            match self.slot_of_clock(base).and_then(|slot| self.at(slot)) {
                Some(base) => clock = base,
                None => return false,
            }
        }
        false
    }

    /// Each stream, in the order of the slots: that in which they were declared.
    pub fn iter(&self) -> impl Iterator<Item = &'r Stream<'a>> + use<'r, 'a> {
        self.slots.iter().map(|slot| &slot.stream)
    }

    /// A number that changes with the table.
    pub const fn revision(&self) -> u32 {
        self.table.revision
    }

    /// The number of streams.
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if there is none.
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

impl fmt::Debug for Streams<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A table of streams in lent slots.
///
/// # Examples
///
/// ```
/// use traceglass::rtc::{Meta, StreamSlot, StreamTable};
///
/// let mut table = StreamTable::new([StreamSlot::EMPTY; 4]);
/// let mut meta = Meta::new(br#"[{"id":9,"name":"adc","length":2,"format":"int16le"},10]"#, 0);
/// while let Some(stream) = meta.next_stream() {
///     table.insert(stream?)?;
/// }
/// assert_eq!(table.streams().get(9).unwrap().length(), Some(2));
/// assert!(table.streams().by_name("adc").is_some());
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone)]
pub struct StreamTable<'a, R> {
    slots: R,
    table: Table,
    /// True if a stream in the trees of names has another name now.
    is_renamed: bool,
    /// The number of streams that may be entered again, so that all such work is linear in what was declared.
    credit: u64,
    streams: PhantomData<&'a ()>,
}

impl<'a, R: Room<StreamSlot<'a>>> StreamTable<'a, R> {
    /// An empty table.
    pub const fn new(slots: R) -> Self {
        let table = Table { len: 0, roots: [NONE; 3], revision: 0, clock_revision: 1 };
        Self { slots, table, is_renamed: false, credit: 0, streams: PhantomData }
    }

    /// The streams.
    #[inline]
    pub fn streams(&self) -> Streams<'_, 'a> {
        Streams { slots: self.slots.slots().get(..self.table.len).unwrap_or_default(), table: &self.table }
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: usize) -> Option<&StreamSlot<'a>> {
        self.slots.slots().get(slot)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut StreamSlot<'a>> {
        self.slots.slots_mut().get_mut(slot)
    }

    /// The slots, while the table is empty: for another one.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(super) const fn slots_mut(&mut self) -> &mut R {
        &mut self.slots
    }

    #[inline(always)]
    pub(super) const fn clock_revision(&self) -> u32 {
        self.table.clock_revision
    }

    /// Adds a stream, or replaces one of the same id that is damaged, or whose object lies in two pieces.
    ///
    /// Any other one stays: ids are never used again within a session.
    ///
    /// # Errors
    ///
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded).
    pub fn insert(&mut self, stream: Stream<'a>) -> Result<()> {
        if let Some(slot) = self.streams().slot(stream.id()) {
            let is_better = |known: &Stream<'a>| match (known.damage(), stream.damage()) {
                (Some(_), None) => true,
                (None, None) => known.object().is_split() && !stream.object().is_split(),
                _ => false,
            };
            if self.streams().at(slot).is_some_and(is_better) {
                self.replace(slot, stream);
            }
            return Ok(());
        }
        let (len, needed) = (self.table.len, self.table.len.saturating_add(1));
        let link = u16::try_from(len).ok().filter(|&link| link != NONE);
        if link.is_none() || self.slots.slots().len() < needed && !self.slots.grow(needed) {
            let capacity = to_u64(self.slots.slots().len());
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) };
            return Err(Error::new(stream.object().offset(), element::META, kind));
        }
        if let (Some(link), Some(slot)) = (link, self.get_mut(len)) {
            *slot = StreamSlot::new(stream);
            self.table.len = needed;
            self.credit = self.credit.saturating_add(to_u64(stream.object().len()));
            self.link(IDS, link);
            self.link_names(link);
            self.enter_again();
        }
        Ok(())
    }

    /// Puts another declaration of the same id into a slot.
    pub(super) fn replace(&mut self, slot: usize, stream: Stream<'a>) {
        let Some(known) = self.get_mut(slot) else { return };
        known.clock.is_read = false;
        let before = core::mem::replace(&mut known.stream, stream).links();
        let after = stream.links();
        self.credit = self.credit.saturating_add(to_u64(stream.object().len()));
        self.table.revision = self.table.revision.wrapping_add(1);
        if before.is_clock || after.is_clock || before != after {
            self.note_clock();
        }
        self.is_renamed |= (before.name, before.is_clock) != (after.name, after.is_clock);
        self.enter_again();
    }

    /// Enters all names again if one has changed; if that costs too much, by what is declared next.
    fn enter_again(&mut self) {
        let Some(credit) = self.credit.checked_sub(to_u64(self.table.len)).filter(|_| self.is_renamed) else {
            return;
        };
        (self.credit, self.is_renamed) = (credit, false);
        let [ids, ..] = self.table.roots;
        self.table.roots = [ids, NONE, NONE];
        (0..NONE).take(self.table.len).for_each(|slot| self.link_names(slot));
    }

    /// Enters the names of a slot.
    fn link_names(&mut self, slot: u16) {
        self.table.revision = self.table.revision.wrapping_add(1);
        let links = self.get(usize::from(slot)).map(|slot| slot.stream.links()).unwrap_or_default();
        if links.name != 0 {
            self.link(NAMES, slot);
        }
        if links.name != 0 && links.is_clock {
            self.link(CLOCKS, slot);
            self.note_clock();
        }
    }

    /// Adds a slot to a tree, unless another one has its key.
    fn link(&mut self, tree: usize, slot: u16) {
        if let Some(below) = self.get_mut(usize::from(slot)).and_then(|slot| slot.below.get_mut(tree)) {
            *below = [NONE; 2];
        }
        let streams = self.streams();
        let Err(parent) = streams.seek(tree, streams.key(tree, slot)) else { return };
        let link = match parent {
            None => self.table.roots.get_mut(tree),
            Some((parent, side)) => {
                self.get_mut(parent).and_then(|parent| parent.below.get_mut(tree)?.get_mut(side))
            }
        };
        link.into_iter().for_each(|link| *link = slot);
    }

    fn note_clock(&mut self) {
        self.table.clock_revision = self.table.clock_revision.wrapping_add(1).max(1);
    }

    /// Forgets all: a new session begins.
    pub fn clear(&mut self) {
        (self.is_renamed, self.credit) = (false, 0);
        (self.table.len, self.table.roots) = (0, [NONE; 3]);
        self.table.revision = self.table.revision.wrapping_add(1);
        self.note_clock();
    }
}

impl<R> fmt::Debug for StreamTable<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamTable").field("len", &self.table.len).finish_non_exhaustive()
    }
}
