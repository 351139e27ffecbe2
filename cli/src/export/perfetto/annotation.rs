//! Fields as debug annotations, structures and lists in them included.

use super::message::Message;
use super::names::Names;
use crate::output::{NAME_MAX, push_label};
use traceglass::event::{Field, Fields, Value};

/// Fields of `DebugAnnotation`.
const NAME_IID: u32 = 1;
const BOOL: u32 = 2;
const UINT: u32 = 3;
const INT: u32 = 4;
const DOUBLE: u32 = 5;
const STRING: u32 = 6;
const NAME: u32 = 10;
const DICT_ENTRIES: u32 = 11;
const ARRAY_VALUES: u32 = 12;

/// `InternedData.debug_annotation_names`.
const DEBUG_ANNOTATION_NAMES: u32 = 3;

/// Writes fields, in room that is kept.
#[derive(Default)]
pub struct Annotations {
    names: Names,
    /// One message a level, and the field that its elements are in the one around it.
    levels: Vec<(Message, u32)>,
    text: String,
    /// How many bytes of text the event may have besides.
    left: usize,
}

impl Annotations {
    /// The texts of the event that comes next have no more than so many bytes.
    pub fn limit(&mut self, most: usize) {
        self.left = most;
    }

    /// Writes each of the fields into `event` as `field`; names that are new are defined in `interned`.
    ///
    /// An error ends them: the source itself reports the damage.
    pub fn write(&mut self, mut fields: Fields<'_>, field: u32, event: &mut Message, interned: &mut Message) {
        let mut depth = 0_usize;
        // Fields are large: they are read where they are.
        while let Ok(Some(found)) = fields.next_field() {
            if matches!(found.value(), Value::End) {
                if let Some(above) = depth.checked_sub(1) {
                    self.close(depth, field, event);
                    depth = above;
                }
                continue;
            }
            let level = depth.saturating_add(1);
            self.begin(level, &found, interned);
            if matches!(found.value(), Value::Struct | Value::List) {
                depth = level;
            } else {
                self.close(level, field, event);
            }
        }
        // Keeps what was read of a tree that ended early.
        for level in (1..=depth).rev() {
            self.close(level, field, event);
        }
    }

    /// Writes the name and the value of a field as the message of this level.
    fn begin(&mut self, level: usize, field: &Field<'_>, interned: &mut Message) {
        if self.levels.len() < level {
            self.levels.resize_with(level, Default::default);
        }
        let Self { names, levels, text, left } = self;
        let Some((message, children)) = levels.get_mut(level.saturating_sub(1)) else { return };
        message.clear();
        if let Some(name) = field.name() {
            text.clear();
            push_label(text, name, NAME_MAX);
            match names.number(text, DEBUG_ANNOTATION_NAMES, interned) {
                Some(number) => message.uint(NAME_IID, number),
                None => message.text(NAME, text),
            };
        }
        text.clear();
        match field.value() {
            Value::Bool(value) => drop(message.uint(BOOL, value.into())),
            Value::Unsigned(value) => match u64::try_from(value) {
                Ok(value) => drop(message.uint(UINT, value)),
                Err(_) => drop(message.text(STRING, &value.to_string())),
            },
            Value::Signed(value) => match i64::try_from(value) {
                Ok(value) => drop(message.int(INT, value)),
                Err(_) => drop(message.text(STRING, &value.to_string())),
            },
            Value::Float(value) => drop(message.double(DOUBLE, value)),
            Value::Text(label) => {
                push_label(text, label, *left);
                *left = left.saturating_sub(text.len());
                message.text(STRING, text);
            }
            Value::Bytes(bytes) => {
                text.push_str(&crate::output::hex(bytes));
                message.text(STRING, text);
            }
            Value::Struct => *children = DICT_ENTRIES,
            Value::List => *children = ARRAY_VALUES,
            // A name without a value.
            _ => {}
        }
    }

    /// Puts the message of this level into the one around it.
    fn close(&mut self, level: usize, field: u32, event: &mut Message) {
        let Some((around, rest)) = self.levels.split_at_mut_checked(level.saturating_sub(1)) else { return };
        let Some((message, _)) = rest.first() else { return };
        match around.last_mut() {
            Some((above, children)) => above.nested(*children, message.bytes()),
            None => event.nested(field, message.bytes()),
        };
    }
}
