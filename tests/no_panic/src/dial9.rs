//! The entries of `traceglass::dial9`.

use traceglass::dial9::{
    AnnotationSlot, ClassSlot, Frame, Frames, PoolSlot, Records, Reframed, SchemaSlot, Storage, Trace, Value,
    Values,
};
use traceglass::record::Source as _;

use crate::sum::Sum;

/// Adds up what a value says.
fn sum_of(value: &Value<'_>) -> u64 {
    match *value {
        Value::I64(value) => value as u64,
        Value::F64(value) => value.to_bits(),
        Value::Bool(value) => value.into(),
        Value::String(bytes) | Value::Bytes(bytes) => bytes.len() as u64,
        Value::Stack(stack) => stack.addresses().fold(0, |sum, address| sum ^ address),
        Value::StringMap(map) => {
            map.pairs().fold(0, |sum, (key, value)| sum ^ (key.len() ^ value.len()) as u64)
        }
        Value::List(list) => flat(list.values()),
        Value::Map(map) => flat(map.values()) ^ map.pairs().count() as u64,
        ref other => other.unsigned().unwrap_or(1),
    }
}

fn flat(values: Values<'_>) -> u64 {
    values.fold(0, |sum, value| sum ^ value.unsigned().unwrap_or(2))
}

/// Calls `with` with storage of a few slots.
fn lent(with: impl FnOnce(Storage<'_>) -> u64) -> u64 {
    let mut schemas = [SchemaSlot::EMPTY; 8];
    let mut strings = [PoolSlot::EMPTY; 8];
    let mut stacks = [PoolSlot::EMPTY; 8];
    let mut annotations = [AnnotationSlot::EMPTY; 8];
    let mut classes = [ClassSlot::EMPTY; 8];
    let storage = Storage::new(&mut schemas).strings(&mut strings).stacks(&mut stacks);
    with(storage.annotations(&mut annotations).classes(&mut classes))
}

entries! {
    dial9_reframed(data) {
        let Ok(trace) = Trace::parse(data) else { return 1 };
        lent(|storage| {
            let mut frames = trace.frames(storage);
            let (mut reframed, mut sum) = (Reframed::default(), 0);
            while let Ok(Some(frame)) = frames.next_frame() {
                let mut put = |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) };
                sum ^= u64::from(reframed.write(&frame, data, &mut put).is_ok());
            }
            sum
        })
    }
    dial9_events(data) {
        let Ok(trace) = Trace::parse(data) else { return 1 };
        lent(|storage| {
            let mut frames = trace.frames(storage);
            let mut sum = 0;
            loop {
                match frames.next_event() {
                    Ok(Some(event)) => {
                        sum ^= event.nanoseconds().unwrap_or(0) ^ event.name().len() as u64;
                        for field in event.fields() {
                            sum ^= field.name().len() as u64 ^ field.value().map_or(0, |value| sum_of(&value));
                        }
                    }
                    Ok(None) => return sum,
                    Err(_) => sum ^= frames.recover().map_or(0, |gap| gap.len()),
                }
            }
        })
    }
    dial9_frames(data) {
        lent(|storage| {
            let mut frames = Frames::new(data, storage);
            let mut sum = 0;
            while let Some(frame) = frames.next() {
                let Ok(frame) = frame else { continue };
                sum ^= frame.offset();
                match frame {
                    Frame::Schema(schema) => {
                        sum ^= schema.fields().fold(0, |sum, field| sum ^ field.name().len() as u64);
                        sum ^= u64::from(frames.class(schema.type_id()).unwrap_or(9));
                        sum ^= u64::from(schema.position("worker_id").unwrap_or(3));
                    }
                    Frame::Strings(pool) => {
                        for (id, text) in pool.entries() {
                            sum ^= text.len() as u64 ^ frames.string(id).map_or(0, |text| text.len() as u64);
                        }
                    }
                    Frame::Stacks(pool) => {
                        for (id, stack) in pool.entries() {
                            sum ^= stack.len() as u64 ^ frames.stack(id).map_or(0, |stack| stack.len() as u64);
                        }
                    }
                    Frame::TimeReset(reset) => sum ^= reset.nanoseconds(),
                    Frame::Annotations(annotations) => {
                        sum ^= annotations.entries().fold(0, |sum, entry| sum ^ entry.value().len() as u64);
                        let id = annotations.type_id() as u16;
                        sum ^= frames.annotations(id).fold(0, |sum, entry| sum ^ entry.key().len() as u64);
                    }
                    _ => {}
                }
            }
            sum
        })
    }
    dial9_records(data) {
        lent(|storage| {
            let mut records = Records::new(data, storage);
            let mut sum = Sum(0);
            for _ in data {
                match records.peek() {
                    Ok(None) => break,
                    Ok(Some(head)) => sum.0 ^= head.offset,
                    Err(error) => sum.0 ^= error.offset(),
                }
                sum.0 ^= u64::from(records.tell(&mut sum).is_ok());
                sum.0 ^= u64::from(records.tell_all(&mut sum).is_ok());
                sum.0 ^= records.take_gap().map_or(0, |gap| gap.len());
            }
            sum.0
        })
    }
    dial9_check(data) {
        lent(|storage| {
            let mut found = 0;
            let checked = traceglass::dial9::check(data, storage, &mut |finding| found ^= finding.cause().offset());
            found ^ checked.map_or(1, |summary| summary.errors())
        })
    }
}
