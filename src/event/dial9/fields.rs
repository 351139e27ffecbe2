//! What events say, as fields and as records.

use super::moment::PoolsAt;
use crate::dial9::tell::{self, Pools as _, SLOTS};
use crate::dial9::{Event, Fields, Schema, Value as Stored, class};
use crate::error::Result;
use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::record::{Class, ClassId, Fact, Head, Listener, Scope, Slot, Step, Time};
use core::fmt::Display;

/// Where the fields of an event come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) struct Dial9Data<'a> {
    pub(super) event: Event<'a>,
    pub(super) pools: PoolsAt<'a, 'a>,
    pub(super) kind: u32,
    pub(super) fields_before: u32,
}

/// The class of an event.
struct EventClass<'a> {
    id: ClassId,
    schema: Schema<'a>,
    first_slot: u32,
}

impl Class for EventClass<'_> {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &self.schema
    }

    fn clock(&self) -> Option<&dyn Display> {
        Some(&"monotonic")
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&self.schema));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        class::fields(&self.schema, self.first_slot, &|_| None, each);
    }
}

impl<'a> Dial9Data<'a> {
    pub(in crate::event) fn fields(self) -> Dial9Fields<'a> {
        Dial9Fields { fields: self.event.fields(), pools: self.pools, open: Open::Nothing }
    }

    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let schema = self.event.schema();
        let first_slot = self.fields_before.wrapping_mul(SLOTS);
        let class = EventClass { id: ClassId(self.kind), schema, first_slot };
        let time = self.event.time().map(|ns| Time::since_origin(ns.into()));
        let head = Head { class: class.id, time, offset: self.event.offset(), bit: 0, len: None };
        let wants = to.begin(&head, &class);
        if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            for (slot, field) in (0_u32..).zip(self.event.fields()) {
                if to.is_full() {
                    break;
                }
                let slot = Slot(first_slot.wrapping_add(slot.wrapping_mul(SLOTS)));
                match field.value() {
                    Some(value) => tell::value_of(&self.pools, slot, value, to),
                    None => to.absent(slot),
                }
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

/// The fields of an event. Lists and maps of any values are given as their bytes.
#[derive(Clone, Debug)]
pub(in crate::event) struct Dial9Fields<'a> {
    fields: Fields<'a>,
    pools: PoolsAt<'a, 'a>,
    open: Open<'a>,
}

/// What is in the value that began last.
#[derive(Clone, Debug)]
enum Open<'a> {
    Nothing,
    /// The bytes of addresses.
    Stack(&'a [u8]),
    Map(crate::dial9::StringMap<'a>, usize),
}

impl<'a> Dial9Fields<'a> {
    pub(in crate::event) fn next_field(&mut self) -> Option<Field<'a>> {
        match &mut self.open {
            Open::Nothing => {}
            Open::Stack(bytes) => {
                let Some((address, rest)) = bytes.split_first_chunk() else {
                    self.open = Open::Nothing;
                    return Some(Field::unnamed(Value::End));
                };
                *bytes = rest;
                return Some(Field::unnamed(Value::Unsigned(u64::from_le_bytes(*address).into())));
            }
            Open::Map(map, at) => {
                let Some(((key, value), next)) = map.pair_at(*at) else {
                    self.open = Open::Nothing;
                    return Some(Field::unnamed(Value::End));
                };
                *at = next;
                return Some(Field::new(Label::of(key), Value::Text(Label::of(value))));
            }
        }
        let field = self.fields.next()?;
        let stack = |this: &mut Self, bytes| {
            this.open = Open::Stack(bytes);
            Value::List
        };
        let value = match field.value() {
            None => Value::Null,
            Some(Stored::I64(value)) => Value::Signed(value.into()),
            Some(Stored::F64(value)) => Value::Float(value),
            Some(Stored::Bool(value)) => Value::Bool(value),
            Some(Stored::String(text)) => Value::Text(Label::of(text)),
            Some(Stored::Bytes(bytes)) => Value::Bytes(bytes),
            Some(Stored::PooledString(id)) => match self.pools.string(id) {
                Some(text) => Value::Text(Label::of(text)),
                None => Value::Unsigned(id.into()),
            },
            Some(Stored::PooledStack(id)) => match self.pools.stack(id) {
                Some(pooled) => stack(self, pooled.as_slice()),
                None => Value::Unsigned(id.into()),
            },
            Some(Stored::Stack(inline)) => stack(self, inline.as_slice()),
            Some(Stored::StringMap(map)) => {
                self.open = Open::Map(map, 0);
                Value::Struct
            }
            Some(Stored::List(list)) => Value::Bytes(list.as_slice()),
            Some(Stored::Map(map)) => Value::Bytes(map.as_slice()),
            Some(other) => Value::Unsigned(other.unsigned().unwrap_or_default().into()),
        };
        Some(Field::new(Label::Text(field.name()), value))
    }
}
