//! Values of fields that rules name.

use super::text::Scratch;
use core::fmt::Write as _;

/// Room for the texts of an event's fields.
pub(super) type Texts = Scratch<2048>;

/// The longest text of a field that is looked at.
pub(super) const TEXT_MAX: usize = 256;

/// Room for the value of a field that a table names.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueSlot {
    value: Value,
    /// The number of the event that has it.
    event: u32,
}

impl ValueSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { value: Value::None, event: 0 };

    pub(super) const fn new(value: Value, event: u32) -> Self {
        Self { value, event }
    }

    /// The value that this event has.
    #[inline]
    pub(super) fn of(&self, event: u32) -> Value {
        if self.event == event { self.value } else { Value::None }
    }
}

/// A value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Value {
    #[default]
    None,
    Unsigned(u64),
    Signed(i64),
    Boolean(bool),
    /// A range of the texts.
    Text(usize, usize),
}

impl Value {
    /// The value as an unsigned number.
    pub(super) fn number(self) -> Option<u64> {
        match self {
            Self::Unsigned(value) => Some(value),
            Self::Signed(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The number that is written of it; `None` if it is none.
    pub(super) fn masked(self, mask: Option<u64>) -> Option<i128> {
        match (self, mask) {
            (Self::Unsigned(value), mask) => Some(mask.map_or(value, |mask| value & mask).into()),
            (Self::Signed(value), None) => Some(value.into()),
            (Self::Signed(value), Some(mask)) => Some((value.cast_unsigned() & mask).into()),
            _ => None,
        }
    }

    /// True if it is this number; `None` if it is none, but text.
    pub(super) fn is(self, number: i64) -> Option<bool> {
        match self {
            Self::Unsigned(value) => Some(i64::try_from(value) == Ok(number)),
            Self::Signed(value) => Some(value == number),
            _ => None,
        }
    }

    /// Puts the value as text; false if there is none.
    #[inline]
    pub(super) fn put<const N: usize>(
        self,
        texts: &Texts,
        mask: Option<u64>,
        hex: bool,
        to: &mut Scratch<N>,
    ) -> bool {
        let number = match self {
            Self::None => return false,
            Self::Unsigned(value) if mask.is_none() && !hex => {
                to.push_number(value);
                return true;
            }
            Self::Text(first, end) => {
                to.push_piece(texts, first..end);
                return true;
            }
            Self::Boolean(value) => {
                to.push(if value { "true" } else { "false" });
                return true;
            }
            Self::Unsigned(value) => value,
            Self::Signed(value) if mask.is_none() && !hex => {
                if value < 0 {
                    to.push("-");
                }
                to.push_number(value.unsigned_abs());
                return true;
            }
            Self::Signed(value) => value.cast_unsigned(),
        };
        let number = mask.map_or(number, |mask| number & mask);
        if hex {
            // Text takes all that is written to it.
            let _ = write!(to, "{number:#x}");
        } else {
            to.push_number(number);
        }
        true
    }
}
