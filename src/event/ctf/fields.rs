//! What an event record says, as fields.

use crate::ctf::data;
use crate::error::Result;
use crate::event::field::{Field, Value};
use crate::event::label::Label;

/// The fields of an event record: contexts as structures, then the payload.
#[derive(Clone, Debug)]
pub(in crate::event) struct CtfFields<'e> {
    record: data::Record<'e, 'e, 'e>,
    /// Which part is being read.
    part: u8,
    fields: Option<Fields<'e>>,
}

/// Fields that tell what they are in.
type Inner<'e> = data::Fields<'e, 'e>;

#[derive(Clone)]
struct Fields<'e>(Inner<'e>);

impl core::fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Fields").field("position", &self.0.position()).finish_non_exhaustive()
    }
}

impl<'e> CtfFields<'e> {
    pub(in crate::event) const fn new(record: data::Record<'e, 'e, 'e>) -> Self {
        Self { record, part: 0, fields: None }
    }

    pub(in crate::event) fn next_field(&mut self) -> Result<Option<Field<'e>>> {
        loop {
            let Some(fields) = &mut self.fields else {
                let (fields, name) = match self.part {
                    0 => (self.record.common_context(), Some("common_context")),
                    1 => (self.record.specific_context(), Some("specific_context")),
                    2 => (self.record.payload(), None),
                    _ => return Ok(None),
                };
                if fields.is_none() {
                    self.part = self.part.saturating_add(1);
                    continue;
                }
                self.fields = fields.map(Fields);
                match name {
                    Some(name) => return Ok(Some(Field::new(Label::Text(name), Value::Struct))),
                    None => continue,
                }
            };
            let Some(field) = fields.0.next_field()? else {
                self.fields = None;
                let is_structure = self.part < 2;
                self.part = self.part.saturating_add(1);
                if is_structure {
                    return Ok(Some(Field::unnamed(Value::End)));
                }
                continue;
            };
            let value = match field.value() {
                data::Value::Unsigned(value) => Value::Unsigned(value.into()),
                data::Value::Signed(value) => Value::Signed(value.into()),
                data::Value::Boolean(value) => Value::Bool(value),
                data::Value::Wide(bits) | data::Value::Bits(bits) => {
                    bits.to_u128().map_or(Value::Null, Value::Unsigned)
                }
                data::Value::Float(float) => float.to_f64().map_or(Value::Null, Value::Float),
                data::Value::Text(text) => {
                    Value::Text(text.as_str().map_or(Label::Bytes(text.bytes()), Label::Text))
                }
                data::Value::Blob(bytes) => Value::Bytes(bytes),
                data::Value::Structure | data::Value::Variant(_) | data::Value::Optional(true) => {
                    Value::Struct
                }
                data::Value::Array(_) => Value::List,
                data::Value::Optional(false) => Value::Null,
                data::Value::End => return Ok(Some(Field::unnamed(Value::End))),
            };
            return Ok(Some(match field.name() {
                Some(name) => Field::new(Label::Ctf(name), value),
                None => Field::unnamed(value),
            }));
        }
    }
}
