//! What an event record says, as fields.

use crate::ctf::data;
use crate::ctf::schema::Scope;
use crate::error::Result;
use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::record::Listener;

/// The scopes of a record, and the names of those that are structures of an event.
const SCOPES: [(Scope, Option<&str>); 3] = [
    (Scope::CommonContext, Some("common_context")),
    (Scope::SpecificContext, Some("specific_context")),
    (Scope::Payload, None),
];

/// An event record.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) struct CtfData<'a> {
    pub(super) record: data::Record<'a, 'a, 'a>,
    /// The number of the first class and field of its trace.
    pub(super) base: u32,
}

impl<'a> CtfData<'a> {
    #[inline]
    pub(in crate::event) const fn fields(self) -> CtfFields<'a> {
        CtfFields { record: self.record, scope: 0, is_open: false, place: Place(None) }
    }

    #[inline]
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.record.tell_from(self.base, to)
    }
}

/// The fields of an event record: contexts as structures, then the payload.
#[derive(Clone, Debug)]
pub(in crate::event) struct CtfFields<'e> {
    record: data::Record<'e, 'e, 'e>,
    /// The number of the scope that is read next, or now.
    scope: usize,
    is_open: bool,
    place: Place<'e>,
}

/// The fields of all scopes, one after the other: they are large.
#[derive(Clone)]
struct Place<'e>(Option<data::Fields<'e, 'e>>);

impl core::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Place").field(&self.0.as_ref().map(data::Fields::position)).finish()
    }
}

impl<'e> CtfFields<'e> {
    pub(in crate::event) fn next_field(&mut self) -> Result<Option<Field<'e>>> {
        loop {
            let Some(&(scope, name)) = SCOPES.get(self.scope) else { return Ok(None) };
            if !self.is_open {
                self.is_open = self.record.fields_in(scope, &mut self.place.0).is_some();
                match name {
                    _ if !self.is_open => self.scope = self.scope.saturating_add(1),
                    Some(name) => return Ok(Some(Field::new(Label::Text(name), Value::Struct))),
                    None => {}
                }
                continue;
            }
            let Some(fields) = &mut self.place.0 else { return Ok(None) };
            let Some(field) = fields.next_field()? else {
                self.is_open = false;
                self.scope = self.scope.saturating_add(1);
                if name.is_some() {
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
