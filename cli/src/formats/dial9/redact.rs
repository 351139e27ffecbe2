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
            match field.value() {
                Some(Value::String(text)) if private.hides(name) => {
                    private.part(opened.path, name, data, text);
                }
                // Text of the pool is hidden wherever it is named.
                Some(Value::PooledString(id)) if private.hides(name) => {
                    if let Some(text) = frames.string(id) {
                        private.part(opened.path, name, data, text);
                    }
                }
                Some(Value::StringMap(map)) => {
                    for (key, value) in map.pairs() {
                        let key = String::from_utf8_lossy(key);
                        if private.hides(&key) || private.hides(name) {
                            private.part(opened.path, &key, data, value);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
