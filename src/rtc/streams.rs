//! The streams of a session.

use crate::Error;
use crate::bytes::to_u64;
use crate::error::{ErrorKind, Result};
use crate::rtc::name::{Name, hash, name_hash};
use crate::rtc::{Decimal, Format, Stream, element, work};

/// The number of clocks that may count from each other.
pub(crate) const LEVELS: usize = 8;
/// No slot.
const END: u16 = u16::MAX;

/// Slots of the table by a key: a digital search tree, which no choice of keys makes deeper than their 64 bits.
#[derive(Clone, Debug)]
struct Tree<const N: usize> {
    root: u16,
    below: [[u16; 2]; N],
}

impl<const N: usize> Tree<N> {
    const fn new() -> Self {
        Self { root: END, below: [[END; 2]; N] }
    }

    /// The slot with a key, or where one would be added: below which slot, on which side.
    fn seek(&self, key: u64, key_of: impl Fn(usize) -> u64) -> Result<usize, Option<(usize, usize)>> {
        let (mut next, mut parent, mut bits) = (self.root, None, key);
        while let Some(below) = self.below.get(usize::from(next)) {
            work::count(1);
            let slot = usize::from(next);
            if key_of(slot) == key {
                return Ok(slot);
            }
            let side = usize::from(bits & 1 == 1);
            next = below.get(side).copied().unwrap_or(END);
            (parent, bits) = (Some((slot, side)), bits >> 1);
        }
        Err(parent)
    }

    /// Adds a slot that is not in it, unless another one has the key.
    fn insert(&mut self, slot: u16, key: u64, key_of: impl Fn(usize) -> u64) {
        let Err(parent) = self.seek(key, key_of) else { return };
        let Some(below) = self.below.get_mut(usize::from(slot)) else { return };
        *below = [END; 2];
        let link = match parent {
            None => Some(&mut self.root),
            Some((parent, side)) => self.below.get_mut(parent).and_then(|below| below.get_mut(side)),
        };
        if let Some(link) = link {
            *link = slot;
        }
    }

    /// Removes all.
    const fn clear(&mut self) {
        self.root = END;
    }
}

/// The streams of a session, at most `N`, each in a slot that it keeps.
///
/// # Examples
///
/// ```
/// use traceglass::rtc::{Meta, Streams};
///
/// let mut streams = Streams::<4>::new();
/// let mut meta = Meta::new(br#"[{"id":9,"name":"adc","length":2,"format":"int16le"},10]"#, 0);
/// while let Some(stream) = meta.next_stream() {
///     streams.insert(stream?)?;
/// }
/// assert_eq!(streams.get(9).unwrap().length(), Some(2));
/// assert!(streams.by_name("adc").is_some());
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Streams<'a, const N: usize> {
    list: heapless::Vec<Stream<'a>, N>,
    ids: Tree<N>,
    /// The first stream of each name, and the first clock of each clock's name.
    names: Tree<N>,
    clocks: Tree<N>,
    /// True if a stream in these two has another name now.
    is_renamed: bool,
    /// The number of streams that may be entered again, so that all such work is linear in what was declared.
    credit: u64,
    revision: u32,
    /// Of the clocks and their slots: the same for the same ones.
    clock_revision: u64,
}

impl<const N: usize> Default for Streams<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, const N: usize> Streams<'a, N> {
    /// An empty table.
    pub const fn new() -> Self {
        const { assert!(N < 0xffff, "a table has fewer than 65,535 streams") };
        Self {
            list: heapless::Vec::new(),
            ids: Tree::new(),
            names: Tree::new(),
            clocks: Tree::new(),
            is_renamed: false,
            credit: 0,
            revision: 0,
            clock_revision: 0,
        }
    }

    /// Adds a stream, or replaces one of the same id that is damaged, or whose object lies in two pieces.
    ///
    /// Any other one stays: ids are never used again within a session.
    ///
    /// # Errors
    ///
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded).
    pub fn insert(&mut self, stream: Stream<'a>) -> Result<()> {
        if let Some(slot) = self.slot(stream.id()) {
            let is_better = |known: &Stream<'a>| match (known.damage(), stream.damage()) {
                (Some(_), None) => true,
                (None, None) => known.object().is_split() && !stream.object().is_split(),
                _ => false,
            };
            if self.at(slot).is_some_and(is_better) {
                self.replace(slot, stream);
            }
            return Ok(());
        }
        let slot = u16::try_from(self.list.len()).unwrap_or(END);
        if self.list.push(stream).is_err() {
            let kind =
                ErrorKind::CapacityExceeded { capacity: to_u64(N), needed: to_u64(N).saturating_add(1) };
            return Err(Error::new(stream.object().offset(), element::META, kind));
        }
        let list = &self.list;
        self.ids.insert(slot, stream.id(), |slot| list.get(slot).map_or(0, Stream::id));
        self.credit = self.credit.saturating_add(to_u64(stream.object().len()));
        self.link(slot);
        self.enter_again();
        Ok(())
    }

    /// Puts another declaration of the same id into a slot.
    pub(crate) fn replace(&mut self, slot: usize, stream: Stream<'a>) {
        let Ok(link) = u16::try_from(slot) else { return };
        let Some(known) = self.list.get_mut(slot) else { return };
        let before = core::mem::replace(known, stream).links();
        let after = stream.links();
        self.credit = self.credit.saturating_add(to_u64(stream.object().len()));
        if before.is_clock {
            self.note_clock(link);
        }
        if after.is_clock {
            self.note_clock(link);
        }
        self.revision = self.revision.wrapping_add(1);
        self.is_renamed |= (before.name, before.is_clock) != (after.name, after.is_clock);
        self.enter_again();
    }

    /// Enters all names again if one has changed; if that costs too much, by what is declared next.
    fn enter_again(&mut self) {
        let Some(credit) = self.credit.checked_sub(to_u64(self.list.len())).filter(|_| self.is_renamed)
        else {
            return;
        };
        (self.credit, self.is_renamed) = (credit, false);
        self.names.clear();
        self.clocks.clear();
        (0..END).take(self.list.len()).for_each(|slot| self.link(slot));
    }

    /// Enters the names of a slot.
    fn link(&mut self, slot: u16) {
        self.revision = self.revision.wrapping_add(1);
        let Some(links) = self.at(usize::from(slot)).map(Stream::links) else { return };
        let list = &self.list;
        let key_of = |slot: usize| list.get(slot).map_or(0, |stream| stream.links().name);
        if links.name != 0 {
            self.names.insert(slot, links.name, key_of);
        }
        if links.name != 0 && links.is_clock {
            self.clocks.insert(slot, links.name, key_of);
            self.note_clock(slot);
        }
    }

    /// The clock in a slot is another one than before.
    fn note_clock(&mut self, slot: u16) {
        let says = self.at(slot.into()).map_or(0, Stream::fingerprint);
        let state = self.clock_revision ^ says ^ u64::from(slot);
        self.clock_revision = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).max(1);
    }

    /// The slot that a tree has for a hash, if `is_it` confirms what that stands for.
    #[inline(never)]
    fn find(&self, tree: &Tree<N>, hash: u64, is_it: &dyn Fn(Name<'a>) -> bool) -> Option<usize> {
        let slot = tree.seek(hash, |slot| self.at(slot).map_or(0, |stream| stream.links().name)).ok()?;
        self.at(slot)?.name().filter(|&name| is_it(name)).map(|_| slot)
    }

    /// The slot of the clock with a name, given its hash; the name itself is read if a clock has the same one.
    pub(crate) fn find_clock<'n>(&self, hash: u64, name: &dyn Fn() -> Option<Name<'n>>) -> Option<usize> {
        self.find(&self.clocks, hash, &|own| name().is_some_and(|name| own == name))
    }

    /// The stream of that id.
    pub fn get(&self, id: u64) -> Option<&Stream<'a>> {
        self.at(self.slot(id)?)
    }

    /// The stream of that name; the first one, if several have it.
    pub fn by_name(&self, name: &str) -> Option<&Stream<'a>> {
        self.at(self.find(&self.names, hash(name.chars()), &|own| own.is(name))?)
    }

    /// The clock of the stream in a slot; the same stream, if that is one.
    pub fn clock_of(&self, slot: usize) -> Option<&Stream<'a>> {
        self.at(self.clock_slot(slot)?)
    }

    /// The slot of that clock.
    fn clock_slot(&self, slot: usize) -> Option<usize> {
        let stream = self.at(slot)?;
        if stream.links().is_clock {
            return Some(slot);
        }
        let hash = Some(stream.links().clock).filter(|&hash| hash != 0)?;
        self.find_clock(hash, &|| stream.clock_name())
    }

    /// The slot of the stream that the one in a slot annotates, if its format is that of an annotation.
    pub(crate) fn annotated(&self, slot: usize) -> Option<usize> {
        // The name stands in JSON, which is slow to read.
        let stream = self.at(slot).filter(|stream| matches!(stream.format(), Format::Annotate(_)))?;
        self.slot_of_name(stream.stream()?)
    }

    /// The slot of the clock that the records of a stream tell their time by: of annotations that of the stream that they
    /// are about.
    pub(crate) fn told_clock(&self, slot: usize) -> Option<usize> {
        self.clock_slot(self.annotated(slot).unwrap_or(slot))
    }

    /// The slot of the stream that another one names, as in [`Stream::stream`]; the first one, if several have the name.
    pub fn slot_of_name(&self, name: Name<'_>) -> Option<usize> {
        self.find(&self.names, name_hash(name), &|own| own == name)
    }

    /// The slot of the clock that another stream names, as in [`Stream::clock`] and [`Stream::delta`].
    pub fn slot_of_clock(&self, name: Name<'_>) -> Option<usize> {
        self.find_clock(name_hash(name), &|| Some(name))
    }

    /// True if the times of the stream in a slot count from the Unix epoch.
    ///
    /// Those of a clock do that has the format `timespec` without gain and offset, which would move its origin, or that
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

    /// The slot of the stream of that id.
    #[inline(never)] // Many places ask, and none in a hot loop.
    pub fn slot(&self, id: u64) -> Option<usize> {
        self.ids.seek(id, |slot| self.at(slot).map_or(0, Stream::id)).ok()
    }

    /// The stream in a slot, as [`Frame::slot`](crate::rtc::Frame::slot) gives it.
    #[inline]
    pub fn at(&self, slot: usize) -> Option<&Stream<'a>> {
        self.list.get(slot)
    }

    /// All, in the order of their slots: that in which they were declared.
    pub fn iter(&self) -> impl Iterator<Item = &Stream<'a>> {
        self.list.iter()
    }

    /// A number that changes with the table.
    pub const fn revision(&self) -> u32 {
        self.revision
    }

    /// A number that changes with the clocks, and is the same for the same ones.
    pub(crate) const fn clock_revision(&self) -> u64 {
        self.clock_revision
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets all: a new session begins.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.names.clear();
        self.clocks.clear();
        (self.is_renamed, self.credit) = (false, 0);
        self.list.clear();
        self.revision = self.revision.wrapping_add(1);
        self.clock_revision = 0;
    }
}
