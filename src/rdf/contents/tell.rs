//! Fields that tell themselves: the types that records are made of, and the rows that a class of records consists of.
//!
//! A row stands once, in the [`record!`] of its record: its name, its type, how people read it, and its value.

use super::{FixedText, Hash128};
use crate::record::{
    Any, Class, ClassId, EachLabel, Fact, FieldInfo, FixedClass, Head, Hint, Kind, Listener, Scope, Slot,
    Step, Text, Wants, Wide,
};
use core::fmt::Display;
use core::marker::PhantomData;

/// A type of fields.
pub(super) trait Said: Copy {
    /// The number of slots a field takes: one, and those of what is in it.
    const PLACES: u32 = 1;
    const KIND: Kind;
    /// The way people read it, unless the row says otherwise.
    const HINT: Hint = Hint::None;
    const LABELS: Option<EachLabel<'static>> = None;

    /// Calls `each` with the steps through a field, which has its slot, name and unit already.
    fn describe(field: FieldInfo<'_>, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Field(headed::<Self>(field)));
    }

    fn say(self, slot: Slot, to: &mut Any<'_>);
}

/// A field with what its type says of it.
fn headed<T: Said>(field: FieldInfo<'_>) -> FieldInfo<'_> {
    let hint = if let Hint::None = field.hint { T::HINT } else { field.hint };
    FieldInfo { kind: T::KIND, hint, labels: T::LABELS, ..field }
}

/// The slot that comes `places` later.
#[inline(always)]
pub(super) const fn after(slot: Slot, places: u32) -> Slot {
    Slot(slot.0.wrapping_add(places))
}

macro_rules! said {
    ($($type:ty: $kind:expr, $say:ident($value:expr) $(, $hint:ident)?;)*) => {$(
        impl Said for $type {
            const KIND: Kind = $kind;
            $(const HINT: Hint = Hint::$hint;)?

            #[inline(always)]
            fn say(self, slot: Slot, to: &mut Any<'_>) {
                let value: fn(Self) -> _ = $value;
                to.$say(slot, value(self));
            }
        }
    )*};
}

said! {
    u8: Kind::Unsigned { bits: 8 }, unsigned(u64::from);
    u16: Kind::Unsigned { bits: 16 }, unsigned(u64::from);
    u32: Kind::Unsigned { bits: 32 }, unsigned(u64::from);
    u64: Kind::Unsigned { bits: 64 }, unsigned(|value| value);
    bool: Kind::Boolean, boolean(|value| value);
}

impl Said for Hash128 {
    const KIND: Kind = Kind::Unsigned { bits: 128 };
    const HINT: Hint = Hint::Address;

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.wide(slot, Wide { low: self.value(), words: &[], is_signed: false });
    }
}

impl Said for FixedText<'_> {
    const KIND: Kind = Kind::Text;

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.text(slot, Text::Utf8(self.bytes()));
    }
}

impl Said for &str {
    const KIND: Kind = Kind::Text;

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.text(slot, Text::new(self));
    }
}

impl Said for &[u8] {
    const KIND: Kind = Kind::Bytes;

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.bytes(slot, self);
    }
}

/// Bytes that claim to be text.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(pub &'a [u8]);

impl Said for Words<'_> {
    const KIND: Kind = Kind::Text;

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.text(slot, Text::Utf8(self.0));
    }
}

impl<T: Said> Said for Option<T> {
    const PLACES: u32 = T::PLACES;
    const KIND: Kind = T::KIND;
    const HINT: Hint = T::HINT;
    const LABELS: Option<EachLabel<'static>> = T::LABELS;

    fn describe(field: FieldInfo<'_>, each: &mut dyn FnMut(Step<'_>)) {
        T::describe(field, each);
    }

    #[inline(always)]
    fn say(self, slot: Slot, to: &mut Any<'_>) {
        match self {
            Some(value) => value.say(slot, to),
            None => to.absent(slot),
        }
    }
}

/// A list of records, each of which is told as an `E`.
pub(super) struct List<'a, T, E>(&'a [T], PhantomData<E>);

impl<'a, T, E> List<'a, T, E> {
    pub const fn new(elements: &'a [T]) -> Self {
        Self(elements, PhantomData)
    }
}

impl<T, E> Clone for List<'_, T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for List<'_, T, E> {}

impl<T: Copy, E: Said + From<T>> Said for List<'_, T, E> {
    const PLACES: u32 = E::PLACES.saturating_add(1);
    const KIND: Kind = Kind::List;

    fn describe(field: FieldInfo<'_>, each: &mut dyn FnMut(Step<'_>)) {
        let element = FieldInfo { slot: after(field.slot, 1), name: None, ..field };
        each(Step::Field(FieldInfo { hint: Hint::None, unit: None, ..headed::<Self>(field) }));
        E::describe(element, each);
        each(Step::End);
    }

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        to.list(slot, Some(crate::bytes::to_u64(self.0.len())));
        for element in self.0 {
            if to.is_full() {
                break;
            }
            E::from(*element).say(after(slot, 1), to);
        }
        to.end_list();
    }
}

/// As many values as that.
impl<T: Said, const N: usize> Said for [T; N] {
    const PLACES: u32 = T::PLACES.saturating_add(1);
    const KIND: Kind = Kind::List;

    fn describe(field: FieldInfo<'_>, each: &mut dyn FnMut(Step<'_>)) {
        List::<T, T>::describe(field, each);
    }

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        List::<T, T>::new(&self).say(slot, to);
    }
}

/// Calls its second argument with the steps through a field of a type.
type Describe = fn(FieldInfo<'_>, &mut dyn FnMut(Step<'_>));

/// A row of a class: everything about a field but its value.
pub(super) struct Row {
    pub name: &'static str,
    pub hint: Hint,
    pub unit: Option<&'static str>,
    pub places: u32,
    pub describe: Describe,
}

impl Row {
    pub const fn new<T: Said>(name: &'static str, hint: Hint, unit: Option<&'static str>) -> Self {
        Self { name, hint, unit, places: T::PLACES, describe: T::describe }
    }

    /// Calls `each` with the steps through rows from `slot` on; those without a name are the value itself.
    pub fn each(rows: &[Self], mut slot: Slot, each: &mut dyn FnMut(Step<'_>)) {
        for row in rows {
            let name: Option<&(dyn Display + Sync)> =
                if row.name.is_empty() { None } else { Some(&row.name) };
            let field =
                FieldInfo { slot, name, hint: row.hint, unit: row.unit, ..FieldInfo::unnamed(Kind::Any) };
            (row.describe)(field, each);
            slot = after(slot, row.places);
        }
    }
}

/// The number of slots each class has.
pub(super) const SLOTS: u32 = FixedClass::SLOTS;

/// The first slot of a class.
#[inline(always)]
pub(super) const fn first_slot(class: ClassId) -> Slot {
    Slot(class.0.wrapping_mul(SLOTS))
}

/// A class of records that is known when the program is compiled.
pub(super) struct Rows {
    pub id: ClassId,
    pub name: &'static str,
    /// True if its records have times.
    pub is_timed: bool,
    pub rows: &'static [Row],
}

/// The clock of all times.
pub(super) const CLOCK: &str = "cpu";

impl Class for Rows {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &self.name
    }

    fn clock(&self) -> Option<&dyn Display> {
        if self.is_timed { Some(&CLOCK) } else { None }
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&self.name));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Scope(Scope::Fields));
        Row::each(self.rows, first_slot(self.id), each);
        each(Step::End);
    }
}

/// Hears of records only which class they have.
pub(super) struct Classes<'e>(pub &'e mut dyn FnMut(&dyn Class));

impl Listener for Classes<'_> {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        (self.0)(class);
        Wants::NOTHING
    }
}

/// Begins a record; true if its fields are wanted.
#[inline(always)]
pub(super) fn begin(to: &mut Any<'_>, head: &Head, class: &dyn Class) -> bool {
    let is_wanted = to.begin(head, class).has(Scope::Fields);
    if is_wanted {
        to.scope(Scope::Fields);
    }
    is_wanted
}

/// Tells a record: to whom, its head but for the class, the number and the name of its class, whether its records have
/// times; its rows.
macro_rules! record {
    (
        $to:expr, $head:expr, $id:expr, $name:expr, $timed:literal,
        { $($row:ident: $type:ty $([$hint:ident $($unit:literal)?])? = $value:expr;)* }
    ) => {{
        static CLASS: $crate::rdf::contents::tell::Rows = $crate::rdf::contents::tell::Rows {
            id: $crate::record::ClassId($id),
            name: $name,
            is_timed: $timed,
            rows: &[$($crate::rdf::contents::tell::Row::new::<$type>(
                record!(@name $row), record!(@hint $($hint)?), record!(@unit $($($unit)?)?),
            )),*],
        };
        let to: &mut $crate::record::Any<'_> = $to;
        let head = $crate::record::Head { class: CLASS.id, ..$head };
        if $crate::rdf::contents::tell::begin(to, &head, &CLASS) {
            let mut slot = $crate::rdf::contents::tell::first_slot(CLASS.id);
            $(
                if !to.is_full() {
                    let value: $type = $value;
                    $crate::rdf::contents::tell::Said::say(value, slot, to);
                }
                slot = $crate::rdf::contents::tell::after(
                    slot, <$type as $crate::rdf::contents::tell::Said>::PLACES,
                );
            )*
            let _ = slot;
            to.end_scope();
        }
        to.end();
    }};
    (@name value) => { "" };
    (@name $row:ident) => { stringify!($row) };
    (@hint) => { $crate::record::Hint::None };
    (@hint $hint:ident) => { $crate::record::Hint::$hint };
    (@unit) => { None };
    (@unit $unit:literal) => { Some($unit) };
}

/// A type of fields that consists of fields: a group, made of another value.
macro_rules! group {
    ($name:ident($stored:ident: $from:ty) { $($row:ident: $type:ty $([$hint:ident])? = $value:expr;)* }) => {
        #[derive(Clone, Copy)]
        struct $name($from);

        impl From<$from> for $name {
            fn from(stored: $from) -> Self {
                Self(stored)
            }
        }

        impl $crate::rdf::contents::tell::Said for $name {
            const PLACES: u32 = 1_u32 $(.saturating_add(<$type as $crate::rdf::contents::tell::Said>::PLACES))*;
            const KIND: $crate::record::Kind = $crate::record::Kind::Group;

            fn describe(
                field: $crate::record::FieldInfo<'_>,
                each: &mut dyn FnMut($crate::record::Step<'_>),
            ) {
                use $crate::rdf::contents::tell::{Row, after, record};
                let slot = after(field.slot, 1);
                each($crate::record::Step::Field($crate::record::FieldInfo { kind: Self::KIND, ..field }));
                let rows = [$(Row::new::<$type>(stringify!($row), record!(@hint $($hint)?), None)),*];
                Row::each(&rows, slot, each);
                each($crate::record::Step::End);
            }

            fn say(self, slot: $crate::record::Slot, to: &mut $crate::record::Any<'_>) {
                use $crate::rdf::contents::tell::after;
                let $stored = self.0;
                to.group(slot);
                let mut slot = after(slot, 1);
                $(
                    let value: $type = $value;
                    value.say(slot, to);
                    slot = after(slot, <$type as $crate::rdf::contents::tell::Said>::PLACES);
                )*
                let _ = slot;
                to.end_group();
            }
        }
    };
}

pub(super) use {group, record};

/// A listener that wants only heads is told no field.
const _: () = assert!(!Wants::NOTHING.has(Scope::Fields));
