//! The facts of a batch that must be remembered, in slots that the caller lends.

use super::annotation::{AnnotationEntries, Annotations};
use super::element::{ANNOTATIONS, CLASS, SCHEMA, STACK_POOL, STRING_POOL};
use super::pool::{StackPool, StringPool};
use super::schema::{Place, Plan, Schema};
use super::size::number;
use super::tree::{Key as _, Links, Node, Root};
use super::value::Stack;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::room::Room;
use core::fmt;

/// A schema in a [`Storage`].
#[derive(Clone, Copy, Debug)]
pub struct SchemaSlot {
    links: Links,
    place: Place,
    plan: Plan,
    /// The first and the last of its annotations.
    notes: Option<(u32, u32)>,
    /// The class, if classes are kept, and how many fields the classes before it have.
    class: Option<(u32, u32)>,
}

impl SchemaSlot {
    /// A slot that is not in use.
    pub const EMPTY: Self =
        Self { links: Links::EMPTY, place: Place::EMPTY, plan: Plan::EMPTY, notes: None, class: None };

    #[inline(always)]
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    #[inline(always)]
    pub(super) const fn place_ref(&self) -> &Place {
        &self.place
    }

    #[inline(always)]
    pub(super) const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The class, if classes are kept, and how many fields the classes before it have.
    #[inline(always)]
    pub(super) const fn class(&self) -> Option<(u32, u32)> {
        self.class
    }
}

default_is_empty!(SchemaSlot);

/// Text or a stack in a [`Storage`].
#[derive(Clone, Copy, Debug)]
pub struct PoolSlot {
    links: Links,
    id: u32,
    /// The number of bytes of the text, or of addresses.
    count: u32,
    /// The offset of the first one.
    at: usize,
}

impl PoolSlot {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { links: Links::EMPTY, id: 0, count: 0, at: 0 };

    /// The text, or the addresses of so many bytes each.
    #[inline(always)]
    fn bytes<'a>(&self, data: &'a [u8], each: usize) -> Option<&'a [u8]> {
        // All of it was there when it was kept: no slice is so long that this does not fit in an integer.
        data.get(self.at..)?.get(..to_usize(self.count).wrapping_mul(each))
    }
}

default_is_empty!(PoolSlot);

/// An annotations frame in a [`Storage`].
#[derive(Clone, Copy, Debug)]
pub struct AnnotationSlot {
    /// The offset of the count.
    at: usize,
    /// The next one of the same schema.
    next: Option<u32>,
}

impl AnnotationSlot {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { at: 0, next: None };
}

default_is_empty!(AnnotationSlot);

/// A class in a [`Storage`]: what schemas with the same name and fields are in all batches.
#[derive(Clone, Copy, Debug)]
pub struct ClassSlot {
    links: Links,
    /// The offset of the first of them.
    place: Place,
    /// The number of fields it has, and all classes before it.
    fields: u16,
    fields_before: u32,
}

impl ClassSlot {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { links: Links::EMPTY, place: Place::EMPTY, fields: 0, fields_before: 0 };
}

default_is_empty!(ClassSlot);

macro_rules! nodes {
    ($($slot:ty)*) => {$(
        impl Node for $slot {
            #[inline(always)]
            fn links(&self) -> &Links {
                &self.links
            }
            fn links_mut(&mut self) -> &mut Links {
                &mut self.links
            }
        }
    )*};
}

nodes!(SchemaSlot PoolSlot ClassSlot);

/// A reference to a room, so that it may be an array, a slice, or one that grows.
type Lent<'s, T> = &'s mut (dyn Room<T> + 's);

/// Room for what must be remembered of a batch, and of the classes of a whole trace.
///
/// Only schemas are needed to read events. Of a pool for which nothing is lent, the ids remain.
pub struct Storage<'s> {
    schemas: Lent<'s, SchemaSlot>,
    strings: Option<Lent<'s, PoolSlot>>,
    stacks: Option<Lent<'s, PoolSlot>>,
    annotations: Option<Lent<'s, AnnotationSlot>>,
    classes: Option<Lent<'s, ClassSlot>>,
}

impl<'s> Storage<'s> {
    /// Room for a slot for each schema of a batch; writers have some tens of them.
    pub fn new(schemas: Lent<'s, SchemaSlot>) -> Self {
        Self { schemas, strings: None, stacks: None, annotations: None, classes: None }
    }

    /// The same with room for a slot for each text in the pool of a batch.
    #[must_use]
    pub fn strings(self, strings: Lent<'s, PoolSlot>) -> Self {
        Self { strings: Some(strings), ..self }
    }

    /// The same with room for a slot for each stack in the pool of a batch.
    #[must_use]
    pub fn stacks(self, stacks: Lent<'s, PoolSlot>) -> Self {
        Self { stacks: Some(stacks), ..self }
    }

    /// The same with room for a slot for each annotations frame of a batch.
    #[must_use]
    pub fn annotations(self, annotations: Lent<'s, AnnotationSlot>) -> Self {
        Self { annotations: Some(annotations), ..self }
    }

    /// The same with room for a slot for each class of the whole trace.
    #[must_use]
    pub fn classes(self, classes: Lent<'s, ClassSlot>) -> Self {
        Self { classes: Some(classes), ..self }
    }
}

impl Storage<'_> {
    /// True if text and stacks are kept.
    pub(super) const fn has_pools(&self) -> (bool, bool) {
        (self.strings.is_some(), self.stacks.is_some())
    }
}

impl fmt::Debug for Storage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

/// The slots in use.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    len: usize,
    root: Root,
}

/// Takes the next slot, if there is one or the room grows.
fn take<'t, T>(
    used: &mut Used,
    room: &'t mut (dyn Room<T> + '_),
    element: Element,
    at: u64,
) -> Result<&'t mut [T]> {
    let needed = used.len.saturating_add(1);
    if room.slots().len() < needed && !room.grow(needed) {
        let capacity = to_u64(room.slots().len());
        return Err(Error::new(
            at,
            element,
            ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) },
        ));
    }
    used.len = needed;
    Ok(room.slots_mut().get_mut(..needed).unwrap_or_default())
}

/// The slot that a schema is probably in, by the lowest bits of its number.
const HINTS: usize = 64;

/// The state of a batch.
pub(super) struct Batch<'s> {
    storage: Storage<'s>,
    schemas: Used,
    strings: Used,
    stacks: Used,
    annotations: Used,
    classes: Used,
    hints: [u16; HINTS],
}

impl<'s> Batch<'s> {
    pub(super) fn new(storage: Storage<'s>) -> Self {
        let used = Used::default();
        let hints = [0; HINTS];
        Self { storage, schemas: used, strings: used, stacks: used, annotations: used, classes: used, hints }
    }

    /// Forgets the classes; all else is forgotten where the next batch begins.
    pub(super) fn forget_classes(&mut self) {
        self.classes = Used::default();
    }

    /// Forgets all but the classes.
    pub(super) fn begin(&mut self) {
        self.schemas = Used::default();
        self.strings = Used::default();
        self.stacks = Used::default();
        self.annotations = Used::default();
    }

    /// The number of schemas.
    pub(super) const fn schema_count(&self) -> usize {
        self.schemas.len
    }

    /// The slots of the schemas.
    #[inline(always)]
    pub(super) fn schema_slots(&self) -> &[SchemaSlot] {
        self.storage.schemas.slots().get(..self.schemas.len).unwrap_or_default()
    }

    /// The slot of the schema with this number.
    #[inline(always)]
    pub(super) fn slot(&mut self, type_id: u16) -> Option<&SchemaSlot> {
        let slots = self.storage.schemas.slots().get(..self.schemas.len)?;
        let hint = self.hints.get_mut(usize::from(type_id) % HINTS)?;
        match slots.get(usize::from(*hint)) {
            Some(slot) if slot.place.type_id() == type_id => Some(slot),
            _ => find_schema(slots, self.schemas.root, type_id, hint),
        }
    }

    /// The same of these slots, if it is where one with such a number was found last.
    #[inline(always)]
    pub(super) fn noted<'t>(&self, slots: &'t [SchemaSlot], type_id: u16) -> Option<&'t SchemaSlot> {
        let hint = self.hints.get(usize::from(type_id) % HINTS)?;
        slots.get(usize::from(*hint)).filter(|slot| slot.place.type_id() == type_id)
    }

    /// The same, without a note of where it was found.
    #[inline]
    pub(super) fn find_slot(&self, type_id: u16) -> Option<&SchemaSlot> {
        let slots = self.schema_slots();
        let noted = self.noted(slots, type_id);
        noted.or_else(|| find_schema(slots, self.schemas.root, type_id, &mut 0))
    }

    /// The schema with this number.
    pub(super) fn find_schema<'a>(&self, data: &'a [u8], type_id: u16) -> Option<Schema<'a>> {
        Some(Schema::at(data, self.find_slot(type_id)?.place))
    }

    /// Keeps a schema.
    ///
    /// # Errors
    /// `Contradictory` if there is another one with its number; `CapacityExceeded`.
    pub(super) fn add_schema(&mut self, data: &[u8], schema: &Schema<'_>) -> Result<()> {
        if let Some(present) = self.find_schema(data, schema.type_id()) {
            return if present == *schema {
                Ok(())
            } else {
                Err(Error::new(schema.offset(), SCHEMA, ErrorKind::Contradictory))
            };
        }
        let class = self.add_class(data, schema)?;
        let key = u32::from(schema.type_id());
        let nearest = self.schemas.root.nearest(self.schema_slots(), key);
        let other = nearest.and_then(|place| self.schema_slots().get(place));
        let difference = other.and_then(|slot| u32::from(slot.place.type_id()).difference(key));
        let nodes = take(&mut self.schemas, &mut *self.storage.schemas, SCHEMA, schema.offset())?;
        if let Some(slot) = nodes.last_mut() {
            *slot = SchemaSlot { place: schema.place(), plan: schema.plan(), class, ..SchemaSlot::EMPTY };
        }
        self.schemas.root.insert(nodes, key, difference);
        Ok(())
    }

    /// The class of a schema, new or not, and how many fields those before it have; `None` if classes are not kept.
    fn add_class(&mut self, data: &[u8], schema: &Schema<'_>) -> Result<Option<(u32, u32)>> {
        let Some(room) = &mut self.storage.classes else { return Ok(None) };
        let slots = room.slots().get(..self.classes.len).unwrap_or_default();
        let key = schema.definition();
        let mut difference = None;
        if let Some(place) = self.classes.root.nearest(slots, key)
            && let Some(slot) = slots.get(place)
        {
            difference = Schema::at(data, slot.place).definition().difference(key);
            if difference.is_none() {
                return Ok(u32::try_from(place).ok().map(|class| (class, slot.fields_before)));
            }
        }
        let fields_before =
            slots.last().map_or(0, |last| last.fields_before.saturating_add(last.fields.into()));
        let nodes = take(&mut self.classes, &mut **room, CLASS, schema.offset())?;
        if let Some(slot) = nodes.last_mut() {
            *slot = ClassSlot {
                place: schema.place(),
                fields: schema.field_count(),
                fields_before,
                ..ClassSlot::EMPTY
            };
        }
        self.classes.root.insert(nodes, key, difference);
        Ok(u32::try_from(self.classes.len.saturating_sub(1)).ok().map(|class| (class, fields_before)))
    }

    /// The number of a schema's class; `None` if classes are not kept.
    pub(super) fn class(&self, type_id: u16) -> Option<u32> {
        self.find_slot(type_id)?.class.map(|(class, _)| class)
    }

    /// Keeps the text of a frame.
    pub(super) fn add_strings(&mut self, pool: &StringPool<'_>) -> Result<()> {
        let Some(room) = &mut self.storage.strings else { return Ok(()) };
        let mut entries = pool.entries();
        while let Some((id, at)) = entries.next_place() {
            put(&mut self.strings, &mut **room, pool.data(), (id, at), STRING_POOL)?;
        }
        Ok(())
    }

    /// Keeps the stacks of a frame.
    pub(super) fn add_stacks(&mut self, pool: &StackPool<'_>) -> Result<()> {
        let Some(room) = &mut self.storage.stacks else { return Ok(()) };
        let mut entries = pool.entries();
        while let Some((id, at)) = entries.next_place() {
            put(&mut self.stacks, &mut **room, pool.data(), (id, at), STACK_POOL)?;
        }
        Ok(())
    }

    /// The slots of text.
    #[inline(always)]
    pub(super) fn string_slots(&self) -> &[PoolSlot] {
        slots_of(self.strings, self.storage.strings.as_deref())
    }

    /// The text with this id, which has one of these slots.
    #[inline(always)]
    pub(super) fn string_in<'a>(&self, slots: &[PoolSlot], data: &'a [u8], id: u32) -> Option<&'a [u8]> {
        find(self.strings.root, slots, id)?.bytes(data, 1)
    }

    /// The stack with this id.
    #[inline]
    pub(super) fn stack<'a>(&self, data: &'a [u8], id: u32) -> Option<Stack<'a>> {
        let slots = slots_of(self.stacks, self.storage.stacks.as_deref());
        find(self.stacks.root, slots, id)?.bytes(data, 8).map(Stack::new)
    }

    /// Keeps annotations, unless they are about no schema.
    pub(super) fn add_annotations(&mut self, annotations: &Annotations<'_>) -> Result<()> {
        let Some(room) = &mut self.storage.annotations else { return Ok(()) };
        let Ok(type_id) = u16::try_from(annotations.type_id()) else { return Ok(()) };
        let slots = self.storage.schemas.slots().get(..self.schemas.len).unwrap_or_default();
        let Some(place) = self.schemas.root.nearest(slots, u32::from(type_id)) else { return Ok(()) };
        let schema = self.storage.schemas.slots_mut().get_mut(place);
        let Some(schema) = schema.filter(|slot| slot.place.type_id() == type_id) else { return Ok(()) };
        let nodes = take(&mut self.annotations, &mut **room, ANNOTATIONS, annotations.offset())?;
        let number = u32::try_from(nodes.len().saturating_sub(1)).unwrap_or(u32::MAX);
        if let Some(slot) = nodes.last_mut() {
            *slot = AnnotationSlot { at: annotations.count_at(), next: None };
        }
        let first = schema.notes.map_or(number, |(first, last)| {
            if let Some(last) = nodes.get_mut(to_usize(last)) {
                last.next = Some(number);
            }
            first
        });
        schema.notes = Some((first, number));
        Ok(())
    }

    /// The annotations of a schema, in the order of the input.
    pub(super) fn annotations<'a>(&self, data: &'a [u8], type_id: u16) -> KeptAnnotations<'a, '_> {
        let slots = self.storage.annotations.as_ref().map_or(&[][..], |room| room.slots());
        let next = self.find_slot(type_id).and_then(|slot| slot.notes).map(|(first, _)| first);
        KeptAnnotations { data, slots, next, entries: AnnotationEntries::NONE }
    }

    /// The number of slots in use, of the room that `element` lies in.
    pub(super) fn used(&self, element: Element) -> usize {
        let used = [
            (SCHEMA, self.schemas),
            (CLASS, self.classes),
            (STRING_POOL, self.strings),
            (STACK_POOL, self.stacks),
            (ANNOTATIONS, self.annotations),
        ];
        used.iter().find(|(name, _)| *name == element).map_or(0, |(_, used)| used.len)
    }
}

/// The slot of the schema with this number, which is noted in `hint`.
#[inline(never)]
fn find_schema<'t>(
    slots: &'t [SchemaSlot],
    root: Root,
    type_id: u16,
    hint: &mut u16,
) -> Option<&'t SchemaSlot> {
    let place = root.nearest(slots, u32::from(type_id))?;
    let slot = slots.get(place).filter(|slot| slot.place.type_id() == type_id)?;
    *hint = u16::try_from(place).unwrap_or(0);
    Some(slot)
}

/// Keeps where an entry of a pool stands: its id, and where its count does.
fn put(
    used: &mut Used,
    room: &mut (dyn Room<PoolSlot> + '_),
    data: &[u8],
    (id, counted): (u32, usize),
    element: Element,
) -> Result<()> {
    let (at, count) = (counted.saturating_add(4), number(data, counted).unwrap_or(0));
    let slots = room.slots_mut().get_mut(..used.len).unwrap_or_default();
    let mut difference = None;
    if let Some(place) = used.root.nearest(slots, id)
        && let Some(slot) = slots.get_mut(place)
    {
        difference = slot.id.difference(id);
        if difference.is_none() {
            (slot.at, slot.count) = (at, count);
            return Ok(());
        }
    }
    let nodes = take(used, room, element, to_u64(counted.saturating_sub(4)))?;
    if let Some(slot) = nodes.last_mut() {
        *slot = PoolSlot { id, count, at, ..PoolSlot::EMPTY };
    }
    used.root.insert(nodes, id, difference);
    Ok(())
}

/// The slot with this id: writers count ids from 0, so that it is mostly the place, too.
#[inline(always)]
fn find(root: Root, slots: &[PoolSlot], id: u32) -> Option<&PoolSlot> {
    match slots.get(to_usize(id)) {
        Some(slot) if slot.id == id => Some(slot),
        _ => find_in_tree(root, slots, id),
    }
}

#[inline(never)]
fn find_in_tree(root: Root, slots: &[PoolSlot], id: u32) -> Option<&PoolSlot> {
    slots.get(root.nearest(slots, id)?).filter(|slot| slot.id == id)
}

/// The slots in use of a pool, if room for it was lent.
#[inline(always)]
fn slots_of<'t>(used: Used, room: Option<&'t (dyn Room<PoolSlot> + '_)>) -> &'t [PoolSlot] {
    room.and_then(|room| room.slots().get(..used.len)).unwrap_or_default()
}

/// The annotations of a [`Schema`], in the order of the input: see
/// [`Frames::annotations`](super::Frames::annotations).
#[derive(Clone, Debug)]
pub struct KeptAnnotations<'a, 't> {
    data: &'a [u8],
    slots: &'t [AnnotationSlot],
    next: Option<u32>,
    entries: AnnotationEntries<'a>,
}

impl<'a> Iterator for KeptAnnotations<'a, '_> {
    type Item = super::annotation::Annotation<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(entry);
            }
            let slot = self.slots.get(to_usize(self.next?))?;
            self.next = slot.next;
            let rest = self.data.get(slot.at..)?;
            let mut input = Bytes::at(rest, to_u64(slot.at));
            self.entries = Annotations::read_entries(&mut input, slot.at, 0).ok()?.entries();
        }
    }
}

impl core::iter::FusedIterator for KeptAnnotations<'_, '_> {}
