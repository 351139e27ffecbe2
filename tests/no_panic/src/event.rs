//! The entries of `traceglass::event`.

use traceglass::event::rfr::{Lane, Registry, RegistrySlot, Timeline};
use traceglass::event::{EventKind, Fields, Item, Label, Source, Value, Window};

fn label(label: Label<'_>) -> u64 {
    label.as_str().map_or(1, str::len) as u64
}

fn fields(fields: Fields<'_>) -> u64 {
    let mut sum = 0;
    for field in fields {
        let Ok(field) = field else { return 1 };
        sum ^= field.name().map_or(0, label);
        sum ^= match field.value() {
            Value::Unsigned(value) => value as u64,
            Value::Text(text) => label(text),
            Value::Bytes(bytes) => bytes.len() as u64,
            _ => 1,
        };
    }
    sum
}

/// All that a source yields.
fn drain(mut source: impl Source) -> u64 {
    source.set_window(Window::new(Some(1), None));
    let mut sum = 0_u64;
    loop {
        match source.next_item() {
            Ok(Some(Item::Track(track))) => {
                sum ^= track.id().number() ^ label(track.label()) ^ fields(track.fields());
            }
            Ok(Some(Item::Event(event))) => {
                sum ^= event.time().map_or(0, |time| time.ns() as u64) ^ event.offset();
                sum ^= label(event.name()) ^ fields(event.fields()) ^ event.ends().count() as u64;
                if let EventKind::Gap(gap) = event.kind() {
                    sum ^= gap.end();
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => return sum,
            Err(error) => return error.offset(),
        }
    }
}

entries! {
    event_rfr(data) {
        let mut registry = Registry::new([RegistrySlot::EMPTY; 8]);
        let mut timeline = Timeline::new(&mut registry, [const { Lane::EMPTY }; 4]);
        if timeline.add(0, data).and_then(|()| timeline.add(1, data)).is_err() {
            return 1;
        }
        drain(timeline)
    }
}
