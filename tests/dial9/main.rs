//! dial9, read from traces that are built frame by frame.
#![cfg(feature = "dial9")]

#[path = "../common/mod.rs"]
mod common;

mod check;
mod damage;
mod frames;
mod order;
mod records;
mod storage;

use traceglass::dial9::{
    AnnotationSlot, ClassSlot, Event, Frame, Frames, PoolSlot, SchemaSlot, Storage, Value,
};
use traceglass::{Error, Gap, Room};

/// A room that grows.
pub struct Growing<T>(pub Vec<T>, pub T);

impl<T: Clone> Room<T> for Growing<T> {
    fn slots(&self) -> &[T] {
        &self.0
    }
    fn slots_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
    fn grow(&mut self, needed: usize) -> bool {
        self.0.resize(needed, self.1.clone());
        true
    }
}

/// Rooms for everything.
pub struct Rooms {
    pub schemas: Growing<SchemaSlot>,
    pub strings: Growing<PoolSlot>,
    pub stacks: Growing<PoolSlot>,
    pub annotations: Growing<AnnotationSlot>,
    pub classes: Growing<ClassSlot>,
}

impl Default for Rooms {
    fn default() -> Self {
        Self {
            schemas: Growing(Vec::new(), SchemaSlot::EMPTY),
            strings: Growing(Vec::new(), PoolSlot::EMPTY),
            stacks: Growing(Vec::new(), PoolSlot::EMPTY),
            annotations: Growing(Vec::new(), AnnotationSlot::EMPTY),
            classes: Growing(Vec::new(), ClassSlot::EMPTY),
        }
    }
}

impl Rooms {
    pub fn lend(&mut self) -> Storage<'_> {
        Storage::new(&mut self.schemas)
            .strings(&mut self.strings)
            .stacks(&mut self.stacks)
            .annotations(&mut self.annotations)
            .classes(&mut self.classes)
    }
}

/// Everything that a reader gives: frames, with what events and pools hold, and what was lost.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub frames: Vec<(u64, String)>,
    pub errors: Vec<Error>,
    pub gaps: Vec<Gap>,
}

/// Where an event begins and ends, and its time.
type Place = (u64, u64, Option<u64>);

/// All events up to the first error, one by one or many at once.
fn places(data: &[u8], at_once: bool) -> (Vec<Place>, Option<Error>) {
    let mut rooms = Rooms::default();
    let mut frames = Frames::new(data, rooms.lend());
    let mut all = Vec::new();
    loop {
        if at_once {
            frames.each_event(|event| all.push((event.offset(), event.end_offset(), event.nanoseconds())));
        }
        match frames.next_frame() {
            Ok(Some(Frame::Event(event))) => {
                assert!(!at_once, "it is no event, or cannot be read");
                all.push((event.offset(), event.end_offset(), event.nanoseconds()));
            }
            Ok(Some(_)) => {}
            Ok(None) => return (all, None),
            Err(error) => {
                frames.each_event(|event| panic!("{event:?}"));
                return (all, Some(error));
            }
        }
    }
}

/// Reads to the end, with what every reader relies on checked.
pub fn read(data: &[u8]) -> Told {
    let mut rooms = Rooms::default();
    let mut frames = Frames::new(data, rooms.lend());
    let mut told = Told::default();
    let mut last = 0;
    assert_eq!(places(data, true), places(data, false));
    loop {
        match frames.next_frame() {
            Ok(Some(frame)) => {
                assert!(frame.offset() >= last && frames.offset() > frame.offset());
                // Each byte of a frame belongs to one of its fields.
                let fields = frames.fields(&frame);
                let mut at = frame.offset();
                for field in fields {
                    assert_eq!(field.offset(), at);
                    at += field.size();
                }
                assert_eq!(at, frames.offset());
                last = frames.offset();
                told.frames.push((frame.offset(), say(&frame, &frames, data)));
            }
            Ok(None) => {
                assert!(frames.recover().is_none() && frames.next().is_none());
                assert_eq!(frames.offset(), data.len() as u64);
                return told;
            }
            Err(error) => {
                assert!(frames.next().is_none() && frames.next_event().unwrap().is_none());
                assert!(error.offset() >= frames.offset() && error.offset() <= data.len() as u64, "{error}");
                let gap = frames.recover().expect("what was lost");
                assert_eq!((gap.offset(), gap.cause()), (last, error));
                assert!(gap.end() <= data.len() as u64 && (gap.len() > 0 || data.is_empty()));
                last = gap.end();
                told.errors.push(error);
                told.gaps.push(gap);
            }
        }
        assert!(told.frames.len() + told.gaps.len() <= data.len() + 1);
    }
}

/// All that a frame says.
fn say(frame: &Frame<'_>, frames: &Frames<'_, '_>, data: &[u8]) -> String {
    match frame {
        Frame::Schema(schema) => {
            assert_eq!(frames.schema(schema.type_id()), Some(*schema));
            format!("{} {}: {:?}", schema.type_id(), schema.name(), schema.fields().collect::<Vec<_>>())
        }
        Frame::Event(event) => say_event(event, frames, data),
        Frame::Strings(pool) => {
            assert!(pool.entries().all(|(_, text)| common::lies_in(text, data)));
            assert_eq!(pool.entries().count(), pool.count() as usize);
            format!(
                "{:?}",
                pool.entries().map(|(id, text)| (id, text.escape_ascii().to_string())).collect::<Vec<_>>()
            )
        }
        Frame::Stacks(pool) => {
            assert_eq!(pool.entries().count(), pool.count() as usize);
            format!(
                "{:?}",
                pool.entries()
                    .map(|(id, stack)| (id, stack.addresses().collect::<Vec<_>>()))
                    .collect::<Vec<_>>()
            )
        }
        Frame::TimeReset(reset) => format!("reset {}", reset.nanoseconds()),
        Frame::Annotations(annotations) => {
            assert_eq!(annotations.entries().count(), annotations.count().into());
            format!(
                "{} {:?}",
                annotations.type_id(),
                annotations
                    .entries()
                    .map(|entry| (entry.field(), entry.key(), entry.value()))
                    .collect::<Vec<_>>()
            )
        }
        other => other.kind_name().to_owned(),
    }
}

fn say_event(event: &Event<'_>, frames: &Frames<'_, '_>, data: &[u8]) -> String {
    assert!(common::lies_in(event.as_slice(), data));
    assert_eq!(event.end_offset(), frames.offset());
    let mut at = None;
    let mut fields = Vec::new();
    for field in event.fields() {
        // Fields follow each other to the end of the event.
        assert!(at.is_none_or(|at| at == field.offset()));
        at = Some(field.offset() + field.size());
        let said = field.value().map_or_else(|| "-".to_owned(), |value| say_value(&value, frames));
        fields.push(format!("{}={said}", field.name()));
    }
    assert_eq!(fields.len(), event.schema().field_count().into());
    assert!(at.is_none_or(|at| at == event.end_offset()));
    let time = event.nanoseconds().map_or_else(|| "-".to_owned(), |time| time.to_string());
    format!("{time} {} {}", event.name(), fields.join(" "))
}

fn say_value(value: &Value<'_>, frames: &Frames<'_, '_>) -> String {
    let text = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
    let values = |values: traceglass::dial9::Values<'_>| -> Vec<String> {
        values.map(|value| say_value(&value, frames)).collect()
    };
    match *value {
        Value::String(bytes) | Value::Bytes(bytes) => text(bytes),
        Value::PooledString(id) => frames.string(id).map_or_else(|| format!("#{id}"), text),
        Value::PooledStack(id) => frames
            .stack(id)
            .map_or_else(|| format!("#{id}"), |stack| format!("{:?}", stack.addresses().collect::<Vec<_>>())),
        Value::Stack(stack) => format!("{:?}", stack.addresses().collect::<Vec<_>>()),
        Value::StringMap(map) => {
            assert_eq!(map.pairs().count(), map.len() as usize);
            format!("{:?}", map.pairs().map(|(key, value)| (text(key), text(value))).collect::<Vec<_>>())
        }
        Value::List(list) => {
            assert_eq!(list.values().count() as u64, list.len());
            format!("[{}]", values(list.values()).join(" "))
        }
        Value::Map(map) => {
            assert_eq!(map.pairs().count() as u64, map.len());
            format!("{{{}}}", values(map.values()).join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// The events' texts.
pub fn events(data: &[u8]) -> Vec<String> {
    let told = read(data);
    assert!(told.errors.is_empty(), "{:?}", told.errors);
    let is_event = |said: &&String| said.contains('=') || said.ends_with(' ');
    told.frames.iter().map(|(_, said)| said).filter(is_event).cloned().collect()
}
