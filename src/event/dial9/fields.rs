//! The fields of events.

use crate::dial9::class::EventClass;
use crate::dial9::tell::SLOTS;
use crate::dial9::{Event, Plan, PoolsAt};
use crate::error::Result;
use crate::record::{ClassId, Head, Listener, Scope, Time};

/// The source of an event's fields.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) struct Dial9Data<'a> {
    pub(super) event: Event<'a>,
    pub(super) pools: PoolsAt<'a, 'a>,
    pub(super) plan: &'a Plan,
    pub(super) kind: u32,
    pub(super) fields_before: u32,
}

impl Dial9Data<'_> {
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let schema = self.event.schema();
        let first_slot = self.fields_before.wrapping_mul(SLOTS);
        // Annotations are not kept for as long as events are.
        let class = EventClass { id: ClassId(self.kind), schema, first_slot, unit: |_| None };
        let time = self.event.nanoseconds().map(|ns| Time::since_origin(ns.into()));
        let head = Head { class: class.id, time, offset: self.event.offset(), bit: 0, len: None };
        let wants = to.begin(&head, &class);
        if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            // All of them were read before.
            let _ = self.event.tell_fields(self.plan, &self.pools, first_slot, to);
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}
