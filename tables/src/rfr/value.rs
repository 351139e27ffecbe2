//! Values of fields as JSON.

use crate::json::quote;
use std::fmt::Write;
use traceglass::rfr::FieldValue;

/// Appends a value as the command writes it.
pub(super) fn value(to: &mut String, value: &FieldValue<'_>) {
    // A string takes all that is written to it.
    let _ = match *value {
        FieldValue::F64(value) if value.is_finite() => write!(to, "{value:?}"),
        FieldValue::F64(value) => write!(to, "\"{value}\""),
        FieldValue::I64(value) => write!(to, "{value}"),
        FieldValue::U64(value) => write!(to, "{value}"),
        FieldValue::I128(value) => write!(to, "\"{value}\""),
        FieldValue::U128(value) => write!(to, "\"{value}\""),
        FieldValue::Bool(value) => write!(to, "{value}"),
        FieldValue::Str(value) => {
            quote(to, value);
            Ok(())
        }
        _ => write!(to, "null"),
    };
}
