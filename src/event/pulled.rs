//! Fields that are pulled, told: until each format tells its records itself.

use super::field::{Field, Value};
use crate::error::Result;
use crate::record::{FieldInfo, Fixed, FixedClass, Kind, Listener, Scope, Text, Wants, Wide};

/// A class whose fields' names come with each record.
static ANY: Fixed = Fixed::new("event", &[FieldInfo::unnamed(Kind::Any)]);

/// Fields, one after the other.
pub(super) trait Pull<'a> {
    fn pull(&mut self) -> Result<Option<Field<'a>>>;
}

macro_rules! pull {
    ($($feature:literal $type:ty: |$fields:ident| $next:expr;)*) => {$(
        #[cfg(feature = $feature)]
        impl<'a> Pull<'a> for $type {
            fn pull(&mut self) -> Result<Option<Field<'a>>> {
                let $fields = self;
                $next
            }
        }
    )*};
}

pull! {
    "rfr" super::rfr::fields::RfrFields<'a>: |fields| Ok(fields.next_field());
    "rtc" super::rtc::fields::RtcFields<'a>: |fields| fields.next_field();
    "ctf" super::ctf::fields::CtfFields<'a>: |fields| fields.next_field();
}

#[allow(dead_code)] // Where no format is built.
pub(super) fn tell<'a, L: Listener>(mut fields: impl Pull<'a>, to: &mut L) -> Result<()> {
    let class = FixedClass::new(0, &ANY);
    let slot = class.slot(0);
    if to.begin(&class.head(None, 0), &class) == Wants::NOTHING {
        to.end();
        return Ok(());
    }
    to.scope(Scope::Fields);
    // A bit for each level: whether it is a list.
    let mut levels = 1_u128;
    loop {
        let field = match fields.pull() {
            Ok(Some(field)) => field,
            Ok(None) => break,
            Err(error) => {
                to.abandon();
                return Err(error);
            }
        };
        if let Some(name) = field.name() {
            to.key(Text::Other { text: &name, stored: &[], is_valid: true });
        }
        match field.value() {
            Value::Null => to.absent(slot),
            Value::Bool(value) => to.boolean(slot, value),
            Value::Unsigned(value) => match u64::try_from(value) {
                Ok(value) => to.unsigned(slot, value),
                Err(_) => to.wide(slot, Wide { low: value, words: &[], is_signed: false }),
            },
            Value::Signed(value) => match i64::try_from(value) {
                Ok(value) => to.signed(slot, value),
                Err(_) => to.wide(slot, Wide { low: value.cast_unsigned(), words: &[], is_signed: true }),
            },
            Value::Float(value) => to.float(slot, value),
            Value::Text(label) => to.text(slot, Text::Other { text: &label, stored: &[], is_valid: true }),
            Value::Bytes(bytes) => to.bytes(slot, bytes),
            Value::Struct => {
                levels <<= 1;
                to.group(slot);
            }
            Value::List => {
                levels = levels << 1 | 1;
                to.list(slot, None);
            }
            Value::End => {
                if levels & 1 == 1 {
                    to.end_list()
                } else {
                    to.end_group()
                }
                levels >>= 1;
            }
        }
    }
    to.end_scope();
    to.end();
    Ok(())
}
