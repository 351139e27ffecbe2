//! The constant facts about events of a schema, for listeners.

use super::kind::FieldType;
use super::schema::{FieldDef, Schema};
use super::tell::SLOTS;
use super::tokio;
use crate::record::{Class, ClassId, Fact, FieldInfo, Hint, Kind, Scope, Slot, Step};
use core::fmt::{self, Display};

impl Display for Schema<'_> {
    /// The name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names that front ends give to what every record has, beside its fields.
const OF_RECORDS: [&str; 6] = ["kind", "path", "offset", "time_ns", "time", "clock"];

/// The name of a field as it is told: one that a record has already ends in `_`.
struct Name<'s>(&'s str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        if OF_RECORDS.contains(&self.0) { f.write_str("_") } else { Ok(()) }
    }
}

/// The class of the events of a schema.
pub(crate) struct EventClass<'a, U> {
    pub(crate) id: ClassId,
    pub(crate) schema: Schema<'a>,
    /// The slot of the first field.
    pub(crate) first_slot: u32,
    /// Returns the unit that annotations give a field.
    pub(crate) unit: U,
}

impl<'u, U: Fn(u16) -> Option<&'u str>> Class for EventClass<'_, U> {
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
        fields(&self.schema, self.first_slot, &self.unit, each);
    }
}

/// Tells the fields of a schema, the first of which has this slot. `unit` says what annotations say of a field.
fn fields<'a>(
    schema: &Schema<'_>,
    first_slot: u32,
    unit: &dyn Fn(u16) -> Option<&'a str>,
    each: &mut dyn FnMut(Step<'_>),
) {
    each(Step::Scope(Scope::Fields));
    for (place, def) in (0_u16..).zip(schema.fields()) {
        let slot = Slot(first_slot.wrapping_add(u32::from(place).wrapping_mul(SLOTS)));
        tell_field(schema, &def, unit(place), slot, each);
    }
    each(Step::End);
}

/// Tells what is constant about a field.
fn tell_field(
    schema: &Schema<'_>,
    def: &FieldDef<'_>,
    unit: Option<&str>,
    slot: Slot,
    each: &mut dyn FnMut(Step<'_>),
) {
    let (kind, element) = match def.field_type() {
        FieldType::I64 => (Kind::Signed { bits: 64 }, None),
        FieldType::F64 => (Kind::Float { bits: 64 }, None),
        FieldType::Bool => (Kind::Boolean, None),
        FieldType::String | FieldType::PooledString => (Kind::Text, None),
        FieldType::Bytes => (Kind::Bytes, None),
        FieldType::Varint => (Kind::Unsigned { bits: 64 }, None),
        FieldType::U8 => (Kind::Unsigned { bits: 8 }, None),
        FieldType::U16 => (Kind::Unsigned { bits: 16 }, None),
        FieldType::U32 => (Kind::Unsigned { bits: 32 }, None),
        FieldType::Stack | FieldType::PooledStack => {
            (Kind::List, Some(FieldInfo::unnamed(Kind::Unsigned { bits: 64 }).hint(Hint::Address)))
        }
        FieldType::StringMap => (Kind::Map, Some(FieldInfo::unnamed(Kind::Text))),
        FieldType::List => (Kind::List, Some(FieldInfo::unnamed(Kind::Any))),
        FieldType::Map => (Kind::Map, Some(FieldInfo::unnamed(Kind::Any))),
    };
    let name = def.name();
    let known = tokio::known_field(schema.name(), name);
    let (hint, unit) = match (unit, known) {
        (Some("ns"), _) => (Hint::Duration, None),
        (Some("bytes"), _) => (Hint::None, Some("B")),
        (Some(unit), _) => (Hint::None, Some(unit)),
        (None, Some(known)) => (known.hint, known.unit),
        (None, None) => (Hint::None, None),
    };
    let labels = |each: &mut dyn FnMut(&dyn Display, i128, i128)| {
        for (number, label) in known.map_or(&[][..], |known| known.labels) {
            each(label, i128::from(*number), i128::from(*number));
        }
    };
    let has_labels = known.is_some_and(|known| !known.labels.is_empty());
    let info = FieldInfo {
        slot,
        name: Some(&Name(name)),
        kind,
        hint,
        unit,
        labels: has_labels.then_some(&labels),
        label_set: None,
    };
    each(Step::Field(info));
    if let Some(element) = element {
        each(Step::Field(FieldInfo { slot: Slot(slot.0.wrapping_add(1)), ..element }));
        each(Step::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn no_field_has_the_name_of_another_member() {
        assert_eq!(
            ["kind", "offset", "kinds"].map(|name| Name(name).to_string()),
            ["kind_", "offset_", "kinds"]
        );
    }
}
