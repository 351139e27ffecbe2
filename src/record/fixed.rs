//! Classes whose fields are known when the program is compiled.

use super::class::{Class, ClassId, EachLabel, Fact, FieldInfo, Hint, Kind, Scope, Slot, Step};
use super::listener::Head;
use super::time::Time;
use core::fmt::Display;

impl<'c> FieldInfo<'c> {
    /// A field that is read as it is, without a unit or labels.
    pub const fn new(name: &'c &'c str, kind: Kind) -> Self {
        Self {
            slot: Slot(0),
            name: Some(name),
            kind,
            hint: Hint::None,
            unit: None,
            labels: None,
            label_set: None,
        }
    }

    /// A value without a name: an element of a list or map, or all of what a record says.
    pub const fn unnamed(kind: Kind) -> Self {
        Self { slot: Slot(0), name: None, kind, hint: Hint::None, unit: None, labels: None, label_set: None }
    }

    /// The same, read in another way.
    #[must_use]
    pub const fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    /// The same, with a unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'c str) -> Self {
        self.unit = Some(unit);
        self
    }

    /// The same, with labels.
    #[must_use]
    pub const fn labels(mut self, labels: EachLabel<'c>) -> Self {
        self.labels = Some(labels);
        self
    }
}

/// A class of records, as a constant.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fixed {
    name: &'static str,
    fields: &'static [FieldInfo<'static>],
}

impl Fixed {
    /// A class of records with these fields. A group, list or map is followed by its fields or its element, and by
    /// [`END`](Self::END).
    pub const fn new(name: &'static str, fields: &'static [FieldInfo<'static>]) -> Self {
        Self { name, fields }
    }

    /// The end of a group, list or map. It takes a number as fields do.
    pub const END: FieldInfo<'static> = FieldInfo {
        slot: Slot(u32::MAX),
        name: None,
        kind: Kind::Any,
        hint: Hint::None,
        unit: None,
        labels: None,
        label_set: None,
    };
}

/// A [`Fixed`] class with its number.
#[derive(Clone, Copy, Debug)]
pub struct FixedClass {
    id: ClassId,
    class: &'static Fixed,
}

impl FixedClass {
    /// The numbers that are set aside for the fields of one class.
    pub const SLOTS: u32 = 64;

    /// A class with a number that is its own within its source.
    #[inline(always)]
    pub const fn new(id: u32, class: &'static Fixed) -> Self {
        Self { id: ClassId(id), class }
    }

    /// The slot of the field at this place of the table.
    #[inline(always)]
    pub const fn slot(&self, place: u32) -> Slot {
        Slot(self.id.0.wrapping_mul(Self::SLOTS).wrapping_add(place))
    }

    /// The head of a record of this class.
    #[inline(always)]
    pub const fn head(&self, time: Option<Time>, offset: u64) -> Head {
        Head { class: self.id, time, offset, bit: 0, len: None }
    }
}

impl Class for FixedClass {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &self.class.name
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&self.class.name));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Scope(Scope::Fields));
        for (place, field) in (0_u32..).zip(self.class.fields) {
            if field.slot == Fixed::END.slot {
                each(Step::End);
            } else {
                each(Step::Field(FieldInfo { slot: self.slot(place), ..*field }));
            }
        }
        each(Step::End);
    }
}
