//! Values, told to listeners.

use super::kind::{FieldType, OPTIONAL};
use super::schema::{NUMBERED, Place, Schema};
use super::size::{self, DEPTH};
use super::value::{Stack, Value, Values};
use crate::bytes::to_u64;
use crate::record::{Listener, Slot, Text};
use crate::varint;
use core::fmt::{self, Display};

/// The number of slots a field has: its own, and that of what is in it.
pub(crate) const SLOTS: u32 = 2;

/// The numbers of the most frequent types.
const VARINT: u8 = FieldType::Varint.number();
const POOLED_STRING: u8 = FieldType::PooledString.number();
const U8: u8 = FieldType::U8.number();
const U32: u8 = FieldType::U32.number();

/// The pools that values refer to.
pub(crate) trait Pools<'a> {
    /// The pooled text with this id.
    fn string(&self, id: u32) -> Option<&'a [u8]>;

    /// The pooled stack with this id.
    fn stack(&self, id: u32) -> Option<Stack<'a>>;
}

/// Tells the values of an event of a schema that stands there, which begin at `at`: the types of the first ones have these
/// numbers, and the first of them has this slot. Returns where what was told ends, which may not be all; `None` if one
/// cannot be read.
#[inline(always)]
pub(crate) fn fields<'a, P: Pools<'a>, L: Listener>(
    pools: &P,
    data: &'a [u8],
    place: &Place,
    numbers: &[u8; NUMBERED],
    mut slot: u32,
    mut at: usize,
    to: &mut L,
) -> Option<usize> {
    for &number in numbers {
        // There is no field any more.
        if number == 0 || to.is_full() {
            return Some(at);
        }
        at = field(pools, data, Slot(slot), at, number, to)?;
        slot = slot.wrapping_add(SLOTS);
    }
    rest(pools, data, place, slot, at, to)
}

/// As [`fields`], of those whose types are not in the plan.
#[inline(never)]
fn rest<'a, P: Pools<'a>, L: Listener>(
    pools: &P,
    data: &'a [u8],
    place: &Place,
    mut slot: u32,
    mut at: usize,
    to: &mut L,
) -> Option<usize> {
    for def in Schema::at(data, *place).fields().skip(NUMBERED) {
        if to.is_full() {
            return Some(at);
        }
        at = field(pools, data, Slot(slot), at, def.number(), to)?;
        slot = slot.wrapping_add(SLOTS);
    }
    Some(at)
}

/// Tells the value at `at`, and returns where it ends; `None` if it cannot be read.
#[inline(always)]
fn field<'a, P: Pools<'a>, L: Listener>(
    pools: &P,
    data: &'a [u8],
    slot: Slot,
    at: usize,
    number: u8,
    to: &mut L,
) -> Option<usize> {
    // The most frequent ones in line: a jump by a table takes more than they do.
    if number == VARINT {
        integer(data, slot, at, to)
    } else if number == POOLED_STRING {
        string(pools, slot, size::number(data, at)?, to);
        Some(at.wrapping_add(4))
    } else if number == U8 {
        to.unsigned(slot, u64::from(*data.get(at)?));
        Some(at.wrapping_add(1))
    } else if number & OPTIONAL == 0 {
        other(pools, data, slot, at, number, to)
    } else if *data.get(at)? == 0 {
        to.absent(slot);
        Some(at.wrapping_add(1))
    } else {
        let (at, number) = (at.wrapping_add(1), number & !OPTIONAL);
        if number == VARINT {
            integer(data, slot, at, to)
        } else if number == POOLED_STRING {
            string(pools, slot, size::number(data, at)?, to);
            Some(at.wrapping_add(4))
        } else {
            other(pools, data, slot, at, number, to)
        }
    }
}

#[inline(always)]
fn integer<L: Listener>(data: &[u8], slot: Slot, at: usize, to: &mut L) -> Option<usize> {
    let rest = data.get(at..)?;
    // Each length by itself: what is known of it need not be looked at again.
    let len = match rest.first_chunk() {
        Some(&[first, _]) if first < 0x80 => {
            to.unsigned(slot, first.into());
            1
        }
        Some(&[first, second]) if second < 0x80 => {
            to.unsigned(slot, u64::from(first & 0x7f) | u64::from(second).wrapping_shl(7));
            2
        }
        _ => {
            let (value, len) = varint::read_u64_long(rest);
            to.unsigned(slot, value);
            if len == 0 {
                return None;
            }
            len
        }
    };
    Some(at.wrapping_add(len))
}

/// As [`field`], of the types that are not the most frequent ones.
#[inline(never)]
fn other<'a, P: Pools<'a>, L: Listener>(
    pools: &P,
    data: &'a [u8],
    slot: Slot,
    at: usize,
    number: u8,
    to: &mut L,
) -> Option<usize> {
    match number {
        U8 => {
            to.unsigned(slot, u64::from(*data.get(at)?));
            Some(at.wrapping_add(1))
        }
        U32 => {
            to.unsigned(slot, u64::from(size::number(data, at)?));
            Some(at.wrapping_add(4))
        }
        number => {
            let kind = FieldType::from_number(number)?;
            let end = size::end(data, at, kind).filter(|end| *end <= data.len())?;
            value_of(pools, slot, Value::read(data, at, kind)?.0, to);
            Some(end)
        }
    }
}

#[inline(always)]
fn string<'a, P: Pools<'a>, L: Listener>(pools: &P, slot: Slot, id: u32, to: &mut L) {
    pooled(pools, id, |text| to.text(slot, text));
}

/// Passes on the pooled text with an id; if there is none, text that says so.
#[inline(always)]
fn pooled<'a, P: Pools<'a>>(pools: &P, id: u32, to: impl FnOnce(Text<'_>)) {
    match pools.string(id) {
        Some(text) => to(Text::Utf8(text)),
        None => to(Text::Other {
            text: &format_args!("pooled string {id}"),
            stored: &id.to_le_bytes(),
            is_valid: false,
        }),
    }
}

/// Tells a value: what is in it, if anything, has the slot of elements.
pub(crate) fn value_of<'a, P: Pools<'a>, L: Listener>(pools: &P, slot: Slot, value: Value<'a>, to: &mut L) {
    let element = Slot(slot.0.wrapping_add(1));
    match value {
        Value::List(_) | Value::Map(_) => nested(pools, slot, element, value, to),
        flat => told_flat(pools, slot, element, flat, to),
    }
}

/// The same of what is no list and no map of any values.
fn told_flat<'a, P: Pools<'a>, L: Listener>(
    pools: &P,
    slot: Slot,
    element: Slot,
    value: Value<'a>,
    to: &mut L,
) {
    let stack = match value {
        Value::Stack(stack) => Some(stack),
        Value::PooledStack(id) => pools.stack(id),
        _ => None,
    };
    match value {
        Value::Stack(_) | Value::PooledStack(_) => match stack {
            Some(stack) => {
                to.list(slot, Some(to_u64(stack.len())));
                stack.addresses().for_each(|address| to.unsigned(element, address));
                to.end_list();
            }
            None => to.absent(slot),
        },
        Value::StringMap(map) => {
            to.group(slot);
            for (key, value) in map.pairs() {
                to.key(Text::Utf8(key));
                to.text(element, Text::Utf8(value));
            }
            to.end_group();
        }
        Value::PooledString(id) => string(pools, slot, id, to),
        Value::I64(value) => to.signed(slot, value),
        Value::F64(value) => to.float(slot, value),
        Value::Bool(value) => to.boolean(slot, value),
        Value::String(text) => to.text(slot, Text::Utf8(text)),
        Value::Bytes(bytes) => to.bytes(slot, bytes),
        other => to.unsigned(slot, other.unsigned().unwrap_or_default()),
    }
}

/// Tells a list or a map and all that is in it, without calling itself.
fn nested<'a, P: Pools<'a>, L: Listener>(pools: &P, slot: Slot, element: Slot, value: Value<'a>, to: &mut L) {
    // What follows on each level; of a map, whether a key does.
    let mut levels: [Option<(Values<'a>, bool, bool)>; DEPTH] = [const { None }; DEPTH];
    let (mut depth, mut value, mut slot) = (0_usize, value, slot);
    loop {
        let opened = match value {
            Value::List(list) => {
                to.list(slot, Some(list.len()));
                Some((list.values(), false, false))
            }
            Value::Map(map) => {
                to.group(slot);
                Some((map.values(), true, true))
            }
            flat => {
                told_flat(pools, slot, element, flat, to);
                None
            }
        };
        if let Some(opened) = opened
            && let Some(level) = levels.get_mut(depth)
        {
            *level = Some(opened);
            depth = depth.saturating_add(1);
        }
        slot = element;
        loop {
            let top = depth.checked_sub(1).and_then(|top| levels.get_mut(top));
            let Some(Some((values, is_map, key_follows))) = top else { return };
            let Some(next) = values.next() else {
                if *is_map {
                    to.end_group();
                } else {
                    to.end_list();
                }
                depth = depth.saturating_sub(1);
                continue;
            };
            if *key_follows {
                *key_follows = false;
                key(pools, next, to);
                continue;
            }
            *key_follows = *is_map;
            value = next;
            break;
        }
    }
}

/// The key of a map: text, or another value as text.
fn key<'a, P: Pools<'a>, L: Listener>(pools: &P, key: Value<'a>, to: &mut L) {
    match key {
        Value::String(text) => to.key(Text::Utf8(text)),
        Value::PooledString(id) => pooled(pools, id, |text| to.key(text)),
        _ => to.key(Text::Other { text: &Key(key), stored: &[], is_valid: true }),
    }
}

/// The value of a key that is no text.
struct Key<'a>(Value<'a>);

impl Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match self.0 {
            Value::I64(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::Bytes(bytes) => hex(f, bytes),
            Value::PooledStack(id) => write!(f, "pooled stack {id}"),
            // As they are stored: nothing better is text.
            Value::Stack(stack) => hex(f, stack.as_slice()),
            Value::StringMap(map) => hex(f, map.as_slice()),
            Value::List(list) => hex(f, list.as_slice()),
            Value::Map(map) => hex(f, map.as_slice()),
            ref other => other.unsigned().unwrap_or_default().fmt(f),
        }
    }
}
