//! Events that follow each other: nothing between them changes what they refer to.

use super::class::EventClass;
use super::event::{TAG, TYPED, moment_of, values};
use super::schema::Schema;
use super::storage::{Batch, PoolSlot, SchemaSlot};
use super::tell::{self, Pools, SLOTS};
use super::value::Stack;
use crate::bytes::to_u64;
use crate::record::{ClassId, Head, Listener, Scope, Time};

/// The events from a place on. The rooms of the batch are looked up once for all of them.
pub(super) struct Stretch<'a, 't, 's> {
    data: &'a [u8],
    batch: &'t Batch<'s>,
    schemas: &'t [SchemaSlot],
    strings: &'t [PoolSlot],
    /// The offset of the next event, and the time that it is counted from.
    pub(super) at: usize,
    pub(super) base: u64,
}

/// The fate of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Whole,
    /// It cannot be read, and was abandoned.
    Abandoned,
    /// It was not begun: there is none, or its class is not where it is looked for first.
    Nothing,
}

impl<'a, 't, 's> Stretch<'a, 't, 's> {
    #[inline(always)]
    pub(super) fn new(data: &'a [u8], batch: &'t Batch<'s>, at: usize, base: u64) -> Self {
        Self { data, batch, schemas: batch.schema_slots(), strings: batch.string_slots(), at, base }
    }

    /// Tells the next event, and goes on after it if all of it could be read.
    #[inline(always)]
    pub(super) fn tell<L: Listener>(&mut self, to: &mut L) -> Told {
        let (data, at) = (self.data, self.at);
        let Some(rest) = data.get(at..) else { return Told::Nothing };
        let Some(&[TAG, low, high]) = rest.first_chunk::<TYPED>() else { return Told::Nothing };
        let type_id = u16::from_le_bytes([low, high]);
        let Some(slot) = self.batch.noted(self.schemas, type_id) else { return Told::Nothing };
        let place = slot.place_ref();
        let Some((class, fields_before)) = slot.class() else { return Told::Nothing };
        let Some((values_at, time)) = values(rest, at, *place, self.base) else { return Told::Nothing };
        let first_slot = fields_before.wrapping_mul(SLOTS);
        let unit = |field| {
            let notes = self.batch.annotations(data, type_id);
            notes.filter(|note| note.field() == field && note.key() == "unit").last().map(|note| note.value())
        };
        let class = EventClass { id: ClassId(class), schema: Schema::at(data, *place), first_slot, unit };
        let head = Head {
            class: class.id,
            time: moment_of(time).map(|ns| Time::since_origin(ns.into())),
            offset: to_u64(at),
            bit: 0,
            len: None,
        };
        let plan = slot.plan();
        let wants_fields = to.begin(&head, &class).has(Scope::Fields);
        let skipped = || plan.end(data, values_at, &Schema::at(data, *place));
        let end = if wants_fields {
            to.scope(Scope::Fields);
            let told = tell::fields(self, data, place, &plan.numbers, first_slot, values_at, to);
            if told.is_some() && to.is_full() { skipped() } else { told }
        } else {
            skipped()
        };
        let Some(end) = end.filter(|end| *end <= data.len()) else {
            to.abandon();
            return Told::Abandoned;
        };
        self.at = end;
        self.base = time.unwrap_or(self.base);
        if wants_fields {
            to.end_scope();
        }
        to.end();
        Told::Whole
    }
}

impl<'a> Pools<'a> for Stretch<'a, '_, '_> {
    #[inline(always)]
    fn string(&self, id: u32) -> Option<&'a [u8]> {
        self.batch.string_in(self.strings, self.data, id)
    }

    fn stack(&self, id: u32) -> Option<Stack<'a>> {
        self.batch.stack(self.data, id)
    }
}
