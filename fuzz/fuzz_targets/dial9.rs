//! Any bytes as a dial9 trace, and after a header: frames, records and the check agree, and damage ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::dial9::{Event, Frame, Frames, PoolSlot, Records, Storage, Value, check};
use traceglass::record::{Class, Head, Listener, Nobody, Slot, Source as _, Text, Wants};
use traceglass::{ErrorKind, Severity};
use traceglass_fuzz::{found, lies_in, located_in};

fuzz_target!(|data: &[u8]| {
    read(data);
    read(&[b"TRC\0\x01", data].concat());
});

/// Calls `with` with storage that grows.
fn lent<T>(with: impl FnOnce(Storage<'_>) -> T) -> T {
    let mut schemas = Vec::new();
    let mut strings = Vec::new();
    let mut stacks = Vec::new();
    let mut annotations = Vec::new();
    let mut classes = Vec::new();
    let storage = Storage::new(&mut schemas).strings(&mut strings).stacks(&mut stacks);
    with(storage.annotations(&mut annotations).classes(&mut classes))
}

fn read(data: &[u8]) {
    let (events, errors) = lent(|storage| walk(data, storage));
    let told = lent(|storage| tell(data, storage));
    assert_eq!((events, errors), (told.ended, told.errors));
    assert_eq!(told.begun, told.ended + told.abandoned);

    let mut bad = 0;
    let summary = lent(|storage| {
        check(data, storage, &mut |finding| {
            found(&finding);
            bad += u64::from(finding.severity() == Severity::Error);
        })
    });
    let summary = summary.expect("room that grows");
    assert_eq!((summary.items(), summary.errors(), bad), (events, errors, errors));
    needs(data);
}

/// Frames, with damage passed: how many events and errors there are.
fn walk(data: &[u8], storage: Storage<'_>) -> (u64, u64) {
    let mut frames = Frames::new(data, storage);
    let (mut last, mut events, mut errors) = (0, 0, 0);
    for step in 0.. {
        assert!(step <= data.len() + 1, "more steps than bytes");
        match frames.next_frame() {
            Ok(Some(frame)) => {
                assert!(frame.offset() >= last && frames.offset() > frame.offset());
                last = frames.offset();
                match frame {
                    Frame::Event(event) => {
                        events += 1;
                        assert_eq!(event.end_offset(), last);
                        fields(&event, &frames, data);
                    }
                    Frame::Strings(pool) => {
                        assert_eq!(pool.entries().count(), pool.count() as usize);
                        // The last one with an id holds.
                        for (id, text) in pool.entries() {
                            lies_in(text, data);
                            let kept = frames.string(id).expect("what was kept");
                            assert_eq!(
                                Some(kept),
                                pool.entries().filter(|(other, _)| *other == id).last().map(|(_, text)| text)
                            );
                            if pool.count() > 64 {
                                break;
                            }
                        }
                    }
                    Frame::Stacks(pool) => {
                        assert_eq!(pool.entries().count(), pool.count() as usize);
                        for (id, stack) in pool.entries() {
                            lies_in(stack.as_slice(), data);
                            assert!(frames.stack(id).is_some());
                        }
                    }
                    Frame::Schema(schema) => {
                        assert_eq!(frames.schema(schema.type_id()), Some(schema));
                        lies_in(schema.definition(), data);
                        assert_eq!(schema.fields().count(), usize::from(schema.field_count()));
                        assert!(frames.class(schema.type_id()).is_some());
                    }
                    Frame::Annotations(notes) => {
                        assert_eq!(notes.entries().count(), usize::from(notes.count()));
                        if let Ok(id) = u16::try_from(notes.type_id())
                            && frames.schema(id).is_some()
                            && let Some(last) = notes.entries().last()
                        {
                            assert_eq!(frames.annotations(id).last(), Some(last));
                        }
                    }
                    _ => {}
                }
            }
            Ok(None) => break,
            Err(error) => {
                located_in(&error, data);
                errors += 1;
                assert!(frames.next().is_none());
                let gap = frames.recover().expect("what was lost");
                assert_eq!((gap.offset(), gap.cause()), (last, error));
                assert!(gap.len() > 0 || data.is_empty());
                last = gap.end();
            }
        }
    }
    assert_eq!(last, data.len() as u64);
    (events, errors)
}

/// Fields follow each other to the end of their event, and what is in them can be read.
fn fields(event: &Event<'_>, frames: &Frames<'_, '_>, data: &[u8]) {
    let (mut at, mut count) = (None, 0);
    for field in event.fields() {
        assert!(at.is_none_or(|at| at == field.offset()));
        at = Some(field.offset() + field.size());
        count += 1;
        match field.value() {
            Some(Value::String(bytes) | Value::Bytes(bytes)) => lies_in(bytes, data),
            Some(Value::StringMap(map)) => assert_eq!(map.pairs().count(), map.len() as usize),
            Some(Value::List(list)) => assert_eq!(list.values().count() as u64, list.len()),
            Some(Value::Map(map)) => assert_eq!(map.pairs().count() as u64, map.len()),
            Some(Value::PooledString(id)) => drop(frames.string(id)),
            _ => {}
        }
    }
    assert_eq!(count, event.schema().field_count());
    assert!(at.is_none_or(|at| at == event.end_offset()));
}

/// Counts records, and checks that groups and lists are closed.
#[derive(Default)]
struct Count {
    begun: u64,
    ended: u64,
    abandoned: u64,
    errors: u64,
    open: u64,
}

impl Listener for Count {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        assert_eq!((self.begun, head.class), (self.ended + self.abandoned, class.id()));
        self.begun += 1;
        self.open = 0;
        Wants::ALL
    }
    fn end(&mut self) {
        assert_eq!(self.open, 0);
        self.ended += 1;
    }
    fn abandon(&mut self) {
        self.abandoned += 1;
    }
    fn group(&mut self, _: Slot) {
        self.open += 1;
    }
    fn end_group(&mut self) {
        self.open -= 1;
    }
    fn list(&mut self, _: Slot, _: Option<u64>) {
        self.open += 1;
    }
    fn end_list(&mut self) {
        self.open -= 1;
    }
    fn key(&mut self, name: Text<'_>) {
        let _ = name.to_string();
    }
}

fn tell(data: &[u8], storage: Storage<'_>) -> Count {
    let mut records = Records::new(data, storage);
    let mut count = Count::default();
    loop {
        let told = match records.peek() {
            Ok(None) => return count,
            Ok(Some(_)) => records.tell(&mut count),
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            located_in(&error, data);
            assert!(records.take_gap().is_some());
            count.errors += 1;
        }
    }
}

/// Of storage that is too small, the error says how much is enough, at least for its batch.
fn needs(data: &[u8]) {
    let mut strings = 1;
    loop {
        let mut schemas = Vec::new();
        let mut slots = vec![PoolSlot::EMPTY; strings];
        let mut slots = &mut slots[..];
        let mut frames = Frames::new(data, Storage::new(&mut schemas).strings(&mut slots));
        let mut needed = None;
        loop {
            match frames.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    if let ErrorKind::CapacityExceeded { capacity, needed: more } = error.kind() {
                        assert!(capacity == strings as u64 && more > capacity);
                        needed = Some(more as usize);
                        break;
                    }
                    frames.recover();
                }
            }
        }
        let Some(needed) = needed else { break };
        assert!(needed <= data.len());
        strings = needed;
    }
    let mut schemas = Vec::new();
    let mut classes = Vec::new();
    let mut records = Records::new(data, Storage::new(&mut schemas).classes(&mut classes));
    while records.tell_all(&mut Nobody).is_err() {}
}
