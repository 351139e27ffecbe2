//! Events in their order, as records.

use super::pools::PoolsAt;
use super::rooms::LayoutSlot;
use crate::dial9::class::EventClass;
use crate::dial9::event::Event;
use crate::dial9::tell::SLOTS;
use crate::error::Result;
use crate::record::{ClassId, Head, Listener, Record, Scope, Time};

/// An event of an [`Order`](super::Order) with what it refers to: a record, told as by [`Records`](super::super::Records).
///
/// Classes are numbered over all inputs. A field has the unit that the annotations of its class said last.
#[derive(Clone, Copy, Debug)]
pub struct OrderedRecord<'r> {
    pub(super) event: Event<'r>,
    pub(super) pools: PoolsAt<'r, 'r>,
    pub(super) class: u32,
    pub(super) layout: &'r LayoutSlot<'r>,
}

impl Record for OrderedRecord<'_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        let Self { event, layout, .. } = self;
        let first_slot = layout.fields_before.wrapping_mul(SLOTS);
        let unit = |field| layout.unit(field);
        let class = EventClass { id: ClassId(self.class), schema: event.schema(), first_slot, unit };
        let time = event.moment().map(|ns| Time::since_origin(ns.into()));
        let head = Head { class: class.id, time, offset: event.offset(), bit: 0, len: None };
        let wants = to.begin(&head, &class);
        if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            // All of them were read before.
            let _ = event.tell_fields(&layout.plan, &self.pools, first_slot, to);
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}
