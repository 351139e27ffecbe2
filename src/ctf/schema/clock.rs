//! Clocks.

use super::name::Name;
use super::schema::Schema;
use crate::ctf::metadata::Text;

impl<'a, 's> Schema<'a, 's> {
    /// The clock classes, in the order in which they are described.
    pub fn clocks(&'s self) -> impl Iterator<Item = Clock<'a, 's>> + use<'a, 's> {
        let schema = self;
        (0..self.clocks.len).map(move |at| Clock { schema, index: schema.clocks.get(schema.nodes, at) })
    }
}

/// A class of clocks: what a time stamp counts, and from when.
#[derive(Clone, Copy)]
pub struct Clock<'a, 's> {
    pub(crate) schema: &'s Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a> Clock<'a, '_> {
    /// The name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The identifier by which stream classes refer to it.
    pub fn id(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index.saturating_add(1))
    }

    /// The frequency.
    ///
    /// # Units
    /// Cycles per second; never 0.
    pub fn frequency(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// The whole seconds from its origin to its zero.
    pub fn offset_seconds(&self) -> i64 {
        self.schema.nodes.get(self.index.saturating_add(2)).y().cast_signed()
    }

    /// The cycles to be added to [`Self::offset_seconds`].
    pub fn offset_cycles(&self) -> u64 {
        self.schema.nodes.get(self.index.saturating_add(1)).y()
    }

    /// True if it counts from 1970-01-01T00:00:00Z.
    pub fn is_unix(&self) -> bool {
        self.schema.nodes.get(self.index.saturating_add(2)).slot == 1
    }

    /// The text of the metadata from its description on.
    pub fn text(&self) -> Text<'a> {
        self.schema.stream.text_from(self.schema.nodes.get(self.index.saturating_add(3)).name.into())
    }

    /// A time in nanoseconds from the clock's origin, rounded down.
    ///
    /// It may be negative, and may need more than 64 bits.
    ///
    /// # Units
    /// `cycles` is a value of the clock.
    pub fn nanoseconds(&self, cycles: u64) -> i128 {
        const SECOND: u128 = 1_000_000_000;
        let frequency = u128::from(self.frequency().max(1));
        let seconds = i128::from(self.offset_seconds()).saturating_mul(1_000_000_000);
        let cycles = u128::from(self.offset_cycles()).saturating_add(cycles.into());
        let nanos = if frequency == SECOND {
            cycles
        } else {
            // At most 65 and 30 bits, 95 together.
            cycles.saturating_mul(SECOND).checked_div(frequency).unwrap_or(0)
        };
        seconds.saturating_add(i128::try_from(nanos).unwrap_or(i128::MAX))
    }
}

impl core::fmt::Debug for Clock<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Clock").field("frequency", &self.frequency()).finish_non_exhaustive()
    }
}
