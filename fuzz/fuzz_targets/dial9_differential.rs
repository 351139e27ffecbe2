//! Any bytes as a dial9 trace, read here and by the format's own crate: the events are the same, up to where either stops.
//!
//! The differences that are meant, each of which ends the comparison where it is met: the crate takes any version; stops
//! at text that is not UTF-8, drops it from pools, and at a schema that is told again after its annotations; takes an optional type within a
//! list, a schema that is told again with a time or without, more than 64 bits of an integer, and a time beyond 64 bits.
#![no_main]

use dial9_trace_format::decoder::{Decoder, RawEvent};
use dial9_trace_format::types::FieldValueRef;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use std::fmt::Write as _;
use traceglass::ErrorKind;
use traceglass::dial9::{Event, Frame, Frames, Storage, Value};

fuzz_target!(|data: &[u8]| {
    compare(data);
    compare(&[b"TRC\0\x01", data].concat());
});

/// The events that are read here.
struct Read {
    events: Vec<String>,
    /// How much was read.
    end: usize,
    /// Why nothing was read after that.
    error: Option<ErrorKind>,
    /// How many events there are before something that only one of the two takes.
    sure: Option<usize>,
}

fn compare(data: &[u8]) {
    let read = read(data);
    let goes_on = match read.error {
        Some(ErrorKind::Invalid { value }) => value & 0x80 != 0,
        Some(
            ErrorKind::UnsupportedVersion { .. }
            | ErrorKind::IntegerTooWide { .. }
            | ErrorKind::Overflow { .. }
            | ErrorKind::Contradictory,
        ) => true,
        _ => false,
    };
    // What only the crate reads is not given to it: where times overflow, its build with checks panics.
    let given = if goes_on || read.sure.is_some() { &data[..read.end] } else { data };
    let Some(mut decoder) = Decoder::new(given) else {
        assert!(
            read.events.is_empty() && (read.error.is_some() || read.sure.is_some()),
            "only the crate refuses it"
        );
        return;
    };
    let mut events = Vec::new();
    let done = decoder.for_each_event(|event| events.push(theirs(&event)));
    if let Some(sure) = read.sure {
        assert_eq!(read.events[..], events[..sure]);
        return;
    }
    assert_eq!(read.events, events);
    assert_eq!(done.is_err(), read.error.is_some() && !goes_on, "{:?} {done:?}", read.error);
    assert!(done.is_err() || decoder.position() == given.len());
}

fn read(data: &[u8]) -> Read {
    let (mut schemas, mut strings, mut stacks, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let storage =
        Storage::new(&mut schemas).strings(&mut strings).stacks(&mut stacks).annotations(&mut notes);
    let mut frames = Frames::new(data, storage);
    let mut read = Read { events: Vec::new(), end: 0, error: None, sure: None };
    let mut annotated: HashSet<u16> = HashSet::new();
    let mut base = 0;
    loop {
        let mut is_odd = false;
        match frames.next_frame() {
            Ok(None) => return read,
            Ok(Some(Frame::Header(_))) => {
                annotated.clear();
                base = 0;
            }
            Ok(Some(Frame::TimeReset(reset))) => base = reset.nanoseconds(),
            Ok(Some(Frame::Event(event))) => {
                is_odd = event.fields().any(|field| field.value().is_some_and(|value| !is_text(&value)));
                if !is_odd {
                    base = event.nanoseconds().unwrap_or(base);
                    read.events.push(ours(&event, base, &frames));
                }
            }
            Ok(Some(Frame::Annotations(notes))) if notes.count() > 0 => {
                // The crate cuts the number to 16 bits.
                annotated.insert(notes.type_id() as u16);
            }
            Ok(Some(Frame::Schema(schema))) => is_odd = annotated.contains(&schema.type_id()),
            // The crate does not keep it: what had its id before holds on.
            Ok(Some(Frame::Strings(pool))) => {
                is_odd = pool.entries().any(|(_, text)| std::str::from_utf8(text).is_err());
            }
            Ok(Some(_)) => {}
            Err(error) => {
                read.error = Some(error.kind());
                return read;
            }
        }
        read.end = frames.offset() as usize;
        if is_odd {
            read.sure = Some(read.events.len());
            return read;
        }
    }
}

/// True if all text in a value is UTF-8.
fn is_text(value: &Value<'_>) -> bool {
    let is_utf8 = |text: &[u8]| std::str::from_utf8(text).is_ok();
    match value {
        Value::String(text) => is_utf8(text),
        Value::StringMap(map) => map.pairs().all(|(key, value)| is_utf8(key) && is_utf8(value)),
        Value::List(list) => list.values().all(|value| is_text(&value)),
        Value::Map(map) => map.values().all(|value| is_text(&value)),
        _ => true,
    }
}

fn ours(event: &Event<'_>, base: u64, frames: &Frames<'_, '_>) -> String {
    // An event without a time has that of the one before it, as the crate tells it.
    let mut text = format!("{:?} {}", event.name(), event.nanoseconds().unwrap_or(base));
    for field in event.fields() {
        let _ = write!(text, " {:?}=", field.name());
        match field.value() {
            Some(value) => push_ours(&mut text, &value),
            None => text.push('-'),
        }
        match field.value() {
            Some(Value::PooledString(id)) => {
                text.push('~');
                if let Some(found) = frames.string(id) {
                    let _ = write!(text, "{:?}", lossy(found));
                }
            }
            Some(Value::PooledStack(id)) => {
                let stack = frames.stack(id).map(|stack| stack.addresses().collect::<Vec<_>>());
                let _ = write!(text, "~{stack:?}");
            }
            _ => {}
        }
    }
    text
}

fn push_ours(text: &mut String, value: &Value<'_>) {
    let _ = match value {
        Value::I64(value) => write!(text, "i{value}"),
        Value::F64(value) => write!(text, "f{:x}", value.to_bits()),
        Value::Bool(value) => write!(text, "{value}"),
        Value::String(value) => write!(text, "{:?}", String::from_utf8_lossy(value)),
        Value::Bytes(value) => write!(text, "b{value:?}"),
        Value::PooledString(id) => write!(text, "p{id}"),
        Value::PooledStack(id) => write!(text, "s{id}"),
        Value::Stack(stack) => write!(text, "{:?}", stack.addresses().collect::<Vec<_>>()),
        Value::StringMap(map) => {
            map.pairs().try_for_each(|(key, value)| write!(text, "{:?}:{:?},", lossy(key), lossy(value)))
        }
        Value::List(list) => {
            text.push('[');
            list.values().for_each(|value| {
                push_ours(text, &value);
                text.push(',');
            });
            write!(text, "]")
        }
        Value::Map(map) => {
            text.push('{');
            map.values().for_each(|value| {
                push_ours(text, &value);
                text.push(',');
            });
            write!(text, "}}")
        }
        other => write!(text, "u{}", other.unsigned().expect("an integer")),
    };
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn theirs(event: &RawEvent<'_, '_>) -> String {
    let mut text = format!("{:?} {}", event.name, event.timestamp_ns);
    for (name, value) in event.field_names().zip(event.fields) {
        let _ = write!(text, " {name:?}=");
        push_theirs(&mut text, value);
        match value {
            FieldValueRef::PooledString(id) => match event.string_pool.get(*id) {
                Some(found) => drop(write!(text, "~{found:?}")),
                None => text.push('~'),
            },
            FieldValueRef::PooledStackFrames(id) => {
                let stack = event.stack_pool.get(*id).map(<[u64]>::to_vec);
                let _ = write!(text, "~{stack:?}");
            }
            _ => {}
        }
    }
    text
}

fn push_theirs(text: &mut String, value: &FieldValueRef<'_>) {
    let _ = match value {
        FieldValueRef::I64(value) => write!(text, "i{value}"),
        FieldValueRef::F64(value) => write!(text, "f{:x}", value.to_bits()),
        FieldValueRef::Bool(value) => write!(text, "{value}"),
        FieldValueRef::String(value) => write!(text, "{value:?}"),
        FieldValueRef::Bytes(value) => write!(text, "b{value:?}"),
        FieldValueRef::PooledString(id) => write!(text, "p{}", id.raw_id()),
        FieldValueRef::PooledStackFrames(id) => write!(text, "s{}", id.raw_id()),
        FieldValueRef::StackFrames(stack) => write!(text, "{:?}", stack.iter().collect::<Vec<_>>()),
        FieldValueRef::Varint(value) => write!(text, "u{value}"),
        FieldValueRef::StringMap(map) => {
            map.iter().try_for_each(|(key, value)| write!(text, "{key:?}:{value:?},"))
        }
        FieldValueRef::List(list) => {
            text.push('[');
            list.iter().for_each(|value| {
                push_theirs(text, value);
                text.push(',');
            });
            write!(text, "]")
        }
        FieldValueRef::Map(map) => {
            text.push('{');
            map.iter().for_each(|(key, value)| {
                push_theirs(text, key);
                text.push(',');
                push_theirs(text, value);
                text.push(',');
            });
            write!(text, "}}")
        }
        FieldValueRef::None => write!(text, "-"),
        other => panic!("{other:?}"),
    };
}
