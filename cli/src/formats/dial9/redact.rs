//! The text of a recording about a person or a computer: fields of events by their names.

use super::Dial9;
use super::segments::{Opened, Rooms};
use crate::status::Result;
use crate::trace::Private;
use traceglass::dial9::{Frame, Frames, Value};

impl Dial9<'_> {
    pub(super) fn tell_private(&self, private: &mut Private<'_>) -> Result<()> {
        self.segments.iter().try_for_each(|segment| {
            segment.open(|opened| {
                texts(opened, private);
                Ok(())
            })
        })
    }
}

fn texts(opened: &Opened<'_>, private: &mut Private<'_>) {
    let data = &*opened.data;
    if matches!(opened.data, std::borrow::Cow::Owned(_)) {
        private.refuse("a segment is compressed".to_owned());
        return;
    }
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    // What cannot be read is not in a file that was written.
    while let Ok(Some(frame)) = frames.next_frame() {
        let Frame::Event(event) = frame else { continue };
        for field in event.fields() {
            let name = field.name();
            // Lists and maps have values in them, which may be such again.
            let mut todo: Vec<_> = field
                .value()
                .map(|value| (value, name.to_owned(), private.hides(name)))
                .into_iter()
                .collect();
            while let Some((value, name, is_private)) = todo.pop() {
                match value {
                    Value::String(text) | Value::Bytes(text) if is_private => {
                        private.part(opened.path, &name, data, text)
                    }
                    // Text of the pool is hidden wherever it is named.
                    Value::PooledString(id) if is_private => {
                        frames
                            .string(id)
                            .into_iter()
                            .for_each(|text| private.part(opened.path, &name, data, text));
                    }
                    Value::StringMap(map) => {
                        for (key, value) in map.pairs() {
                            let key = String::from_utf8_lossy(key);
                            if private.hides(&key) || is_private {
                                private.part(opened.path, &key, data, value);
                            }
                        }
                    }
                    Value::List(list) => {
                        todo.extend(list.values().map(|value| (value, name.clone(), is_private)));
                    }
                    Value::Map(map) => {
                        for (key, value) in map.pairs() {
                            let key = match key {
                                Value::String(text) => text,
                                Value::PooledString(id) => frames.string(id).unwrap_or_default(),
                                _ => &[],
                            };
                            let key = String::from_utf8_lossy(key).into_owned();
                            let is_private = is_private || private.hides(&key);
                            todo.push((value, key, is_private));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}
