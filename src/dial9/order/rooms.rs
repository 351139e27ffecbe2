//! The memory of an order, and how much of it is in use.

use super::pools::PoolPlace;
use super::runs::Run;
use crate::dial9::annotation::{Annotation, AnnotationEntries};
use crate::dial9::schema::{Plan, Schema};
use crate::dial9::storage::{ClassSlot, SchemaSlot};
use crate::room::Room;

/// A reference to a room, so that it may be an array, a slice, or one that grows.
type Lent<'t, T> = &'t mut (dyn Room<T> + 't);

/// The memory of an [`Order`](super::Order).
pub struct OrderRooms<'a, 't> {
    /// A slot for each schema of a batch.
    pub schemas: Lent<'t, SchemaSlot>,
    /// A slot for each class of events of an input.
    pub classes: Lent<'t, ClassSlot>,
    /// The same of all inputs together.
    pub layouts: Lent<'t, LayoutSlot<'a>>,
    /// A slot for each run of events whose times do not go back.
    pub runs: Lent<'t, Run>,
    /// A slot for each schema of each batch.
    pub types: Lent<'t, TypeSlot>,
    /// A slot for each entry of a pool.
    pub pools: Lent<'t, PoolPlace>,
    /// A slot for each input.
    pub inputs: Lent<'t, Input<'a>>,
}

impl core::fmt::Debug for OrderRooms<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("OrderRooms").finish_non_exhaustive()
    }
}

/// Room that grows.
#[cfg(feature = "alloc")]
#[derive(Debug, Default)]
pub struct OrderStorage<'a> {
    schemas: alloc::vec::Vec<SchemaSlot>,
    classes: alloc::vec::Vec<ClassSlot>,
    layouts: alloc::vec::Vec<LayoutSlot<'a>>,
    runs: alloc::vec::Vec<Run>,
    types: alloc::vec::Vec<TypeSlot>,
    pools: alloc::vec::Vec<PoolPlace>,
    inputs: alloc::vec::Vec<Input<'a>>,
}

#[cfg(feature = "alloc")]
impl<'a> OrderStorage<'a> {
    /// All of it, to be lent.
    pub fn rooms(&mut self) -> OrderRooms<'a, '_> {
        let Self { schemas, classes, layouts, runs, types, pools, inputs } = self;
        OrderRooms { schemas, classes, layouts, runs, types, pools, inputs }
    }
}

/// An input, and the number of its first batch among those of all inputs.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub(super) number: usize,
    pub(super) data: &'a [u8],
    pub(super) first_batch: u32,
}

impl Input<'_> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { number: 0, data: &[], first_batch: 0 };
}

default_is_empty!(Input<'_>);

/// The schema of a class, the plan by which its events are read, and what was said of its fields last.
#[derive(Clone, Debug)]
pub struct LayoutSlot<'a> {
    pub(super) schema: Schema<'a>,
    pub(super) plan: Plan,
    pub(super) annotations: AnnotationEntries<'a>,
    /// The number of fields that the classes before it have.
    pub(super) fields_before: u32,
}

impl LayoutSlot<'_> {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self {
        schema: Schema::EMPTY,
        plan: Plan::EMPTY,
        annotations: AnnotationEntries::NONE,
        fields_before: 0,
    };

    /// The number of fields up to this class.
    pub(super) fn fields_until(&self) -> u32 {
        self.fields_before.saturating_add(self.schema.field_count().into())
    }

    /// The unit that annotations give a field.
    pub(super) fn unit(&self, field: u16) -> Option<&str> {
        let of_field = |said: &Annotation<'_>| said.field() == field && said.key() == "unit";
        self.annotations.clone().filter(of_field).last().map(|said| said.value())
    }
}

default_is_empty!(LayoutSlot<'_>);

/// The class of a batch's type.
#[derive(Clone, Copy, Debug)]
pub struct TypeSlot {
    pub(super) batch: u32,
    pub(super) class: u32,
    pub(super) type_id: u16,
    /// The number of entries of pools in the batches before.
    pub(super) pools_before: u32,
}

impl TypeSlot {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { batch: 0, class: 0, type_id: 0, pools_before: 0 };

    /// No two schemas of a batch have one number.
    pub(super) const fn key(self) -> (u32, u16) {
        (self.batch, self.type_id)
    }
}

default_is_empty!(TypeSlot);
