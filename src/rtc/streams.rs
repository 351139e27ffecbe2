//! The streams of a session.

use crate::Error;
use crate::bytes::to_u64;
use crate::error::{ErrorKind, Result};
use crate::rtc::name::{Name, hash, name_hash};
use crate::rtc::{Stream, element, work};

/// The end of a chain.
const END: u16 = u16::MAX;

/// Slots of the table by a number that is computed from what is looked up: chains of those with the same number.
#[derive(Clone, Debug)]
struct Chains<const N: usize> {
    heads: [u16; N],
    next: [u16; N],
}

impl<const N: usize> Chains<N> {
    const fn new() -> Self {
        Self { heads: [END; N], next: [END; N] }
    }

    fn bucket(hash: u64) -> usize {
        // The high half of the product is as good as any.
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        mixed.checked_rem(to_u64(N)).and_then(|bucket| usize::try_from(bucket).ok()).unwrap_or(0)
    }

    fn find(&self, hash: u64, mut is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        let mut slot = *self.heads.get(Self::bucket(hash))?;
        while slot != END {
            work::count(1);
            if is_it(usize::from(slot)) {
                return Some(usize::from(slot));
            }
            slot = *self.next.get(usize::from(slot))?;
        }
        None
    }

    /// Adds a slot that is in no chain.
    fn insert(&mut self, hash: u64, slot: u16) {
        let head = self.heads.get_mut(Self::bucket(hash));
        if let (Some(head), Some(next)) = (head, self.next.get_mut(usize::from(slot))) {
            *next = *head;
            *head = slot;
        }
    }

    /// Empties the chain of `hash`.
    fn forget(&mut self, hash: u64) {
        if let Some(head) = self.heads.get_mut(Self::bucket(hash)) {
            *head = END;
        }
    }

    /// Removes a slot, if it is in the chain of `hash`.
    fn remove(&mut self, hash: u64, slot: u16) {
        let mut at = Self::bucket(hash);
        let Some(mut link) = self.heads.get(at).copied() else { return };
        let mut is_head = true;
        while link != END && link != slot {
            work::count(1);
            (at, is_head) = (usize::from(link), false);
            link = self.next.get(at).copied().unwrap_or(END);
        }
        let after = self.next.get(usize::from(link)).copied();
        let from = if is_head { self.heads.get_mut(at) } else { self.next.get_mut(at) };
        if let (Some(after), Some(from)) = (after, from) {
            *from = after;
        }
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
    ids: Chains<N>,
    /// Of each name the first stream, and of each clock's name the first clock.
    names: Chains<N>,
    clocks: Chains<N>,
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
            ids: Chains::new(),
            names: Chains::new(),
            clocks: Chains::new(),
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
        self.ids.insert(stream.id(), slot);
        self.link(slot);
        Ok(())
    }

    /// Puts another declaration of the same id into a slot.
    pub(crate) fn replace(&mut self, slot: usize, stream: Stream<'a>) {
        let Ok(link) = u16::try_from(slot) else { return };
        let Some(known) = self.list.get_mut(slot) else { return };
        let known = core::mem::replace(known, stream);
        let (before, name) = (known.links(), known.name());
        self.names.remove(before.name.into(), link);
        if before.is_clock {
            self.clocks.remove(before.name.into(), link);
            self.note_clock(link);
        }
        self.link(link);
        // The next one of that name is found by it from now on.
        for only_clocks in [false, true] {
            let has_name = |other: &Stream<'a>| {
                let links = other.links();
                links.name == before.name && other.name() == name && (links.is_clock || !only_clocks)
            };
            let heir = name.and_then(|_| self.list.iter().position(has_name));
            if let Some(Ok(heir)) = heir.map(u16::try_from) {
                self.link(heir);
            }
        }
    }

    /// Enters the names of a slot.
    fn link(&mut self, slot: u16) {
        self.revision = self.revision.wrapping_add(1);
        let Some(links) = self.at(usize::from(slot)).map(Stream::links) else { return };
        let Some(name) = self.at(usize::from(slot)).and_then(Stream::name) else { return };
        if self.find_name(links.name, name).is_none() {
            self.names.insert(links.name.into(), slot);
        }
        if links.is_clock && self.find_clock(links.name, &|| Some(name)).is_none() {
            self.clocks.insert(links.name.into(), slot);
            self.note_clock(slot);
        }
    }

    /// The clock in a slot is another one than before.
    fn note_clock(&mut self, slot: u16) {
        let says = self.at(slot.into()).map_or(0, Stream::fingerprint);
        let state = self.clock_revision ^ says ^ u64::from(slot);
        self.clock_revision = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).max(1);
    }

    #[inline(never)]
    fn find_name(&self, hash: u32, name: Name<'_>) -> Option<usize> {
        let is_it = |other: &Stream<'a>| other.links().name == hash && other.name() == Some(name);
        self.names.find(hash.into(), |slot| self.at(slot).is_some_and(is_it))
    }

    /// The slot of the clock with a name, given its hash; the name itself is read if a clock has the same one.
    #[inline(never)]
    pub(crate) fn find_clock<'n>(&self, hash: u32, name: &dyn Fn() -> Option<Name<'n>>) -> Option<usize> {
        let is_it = |other: &Stream<'a>| {
            let same = || other.name().zip(name()).is_some_and(|(other, name)| other == name);
            other.links().name == hash && same()
        };
        self.clocks.find(hash.into(), |slot| self.at(slot).is_some_and(is_it))
    }

    /// The stream of that id.
    pub fn get(&self, id: u64) -> Option<&Stream<'a>> {
        self.at(self.slot(id)?)
    }

    /// The stream of that name; the first one, if several have it.
    pub fn by_name(&self, name: &str) -> Option<&Stream<'a>> {
        let hash = hash(name.chars());
        let is_it =
            |other: &Stream<'a>| other.links().name == hash && other.name().is_some_and(|own| own.is(name));
        self.at(self.names.find(hash.into(), |slot| self.at(slot).is_some_and(is_it))?)
    }

    /// The clock of the stream in a slot; the same stream, if that is one.
    pub fn clock_of(&self, slot: usize) -> Option<&Stream<'a>> {
        let stream = self.at(slot)?;
        if stream.links().is_clock {
            return Some(stream);
        }
        let hash = Some(stream.links().clock).filter(|&hash| hash != 0)?;
        self.at(self.find_clock(hash, &|| stream.clock_name())?)
    }

    /// The slot of the stream that another one names, as in [`Stream::stream`]; the first one, if several have the name.
    pub fn slot_of_name(&self, name: Name<'_>) -> Option<usize> {
        self.find_name(name_hash(name), name)
    }

    /// The slot of the clock that another stream names, as in [`Stream::clock`] and [`Stream::delta`].
    pub fn slot_of_clock(&self, name: Name<'_>) -> Option<usize> {
        self.find_clock(name_hash(name), &|| Some(name))
    }

    /// The slot of the stream of that id.
    #[inline(never)] // Many places ask, and none in a hot loop.
    pub fn slot(&self, id: u64) -> Option<usize> {
        self.ids.find(id, |slot| self.at(slot).is_some_and(|stream| stream.id() == id))
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets all: a new session begins.
    pub fn clear(&mut self) {
        for stream in &self.list {
            self.ids.forget(stream.id());
            self.names.forget(stream.links().name.into());
            self.clocks.forget(stream.links().name.into());
        }
        self.list.clear();
        self.revision = self.revision.wrapping_add(1);
        self.clock_revision = 0;
    }
}
