//! The text of a file about a person or a computer.

use super::decoder::Decoder;
use super::loaded::Loaded;
use super::{Rdf, name};
use crate::status::Result;
use crate::trace::Private;
use traceglass::rdf::contents::{Content, EventValue, Json};
use traceglass::rdf::{Compression, Entry, Identifier};

/// The chunks with text that is private.
const CHUNKS: [&str; 2] = ["SystemInfo", "TraceProcessInfo"];

/// True for chunks that are stored so that text in them can be written over.
pub fn is_private(entry: &Entry<'_>) -> bool {
    CHUNKS.iter().any(|id| Identifier::new(id) == Some(entry.identifier()))
}

impl Rdf<'_> {
    pub(super) fn tell_private(&self, private: &mut Private<'_>) -> Result<()> {
        let mut decoder = Decoder::new();
        let events = Identifier::new("DDEvent");
        for entry in
            self.file.entries().filter(|entry| is_private(entry) || Some(entry.identifier()) == events)
        {
            let Some(chunk) = self.file.chunk_at(entry.number()) else { continue };
            let Ok(loaded) = Loaded::read(chunk, &mut decoder) else { continue };
            if is_private(&entry) && entry.compression() != Compression::None {
                private.refuse(format!("chunk {} is compressed", name(entry.identifier())));
                continue;
            }
            match loaded.content() {
                Ok(Content::System(system)) => texts(system.json(), self.file.data(), private),
                // All that follows the number of the process and the length, whether it can be read as a path or not.
                Ok(Content::Process(_)) => {
                    private.field(None, "path", self.file.data(), loaded.data.get(8..).unwrap_or_default());
                }
                // A page fault has room for the name of its process. Drivers leave it empty, so the chunk stays compressed.
                Ok(Content::DriverEvents(events)) => {
                    for event in events.events().flatten() {
                        if let Ok(EventValue::PageFault(fault)) = event.value()
                            && !fault.process().is_empty()
                        {
                            private.part(None, "process", self.file.data(), fault.process());
                        }
                    }
                }
                Err(_) if Some(entry.identifier()) == events => {}
                _ => private.refuse(format!("chunk {} cannot be read", name(entry.identifier()))),
            }
        }
        Ok(())
    }
}

/// The private strings of an object.
fn texts(json: Json<'_>, data: &[u8], private: &mut Private<'_>) {
    let mut todo = vec![(json, String::new(), false)];
    while let Some((json, key, is_process)) = todo.pop() {
        if json.text().is_some() {
            let is_named = private.hides(&key) || (is_process && key == "name");
            if let [b'"', text @ .., b'"'] = json.raw()
                && is_named
            {
                private.part(None, &key, data, text);
            }
            continue;
        }
        let is_process = is_process || key == "processes";
        todo.extend(json.elements().map(|element| (element, key.clone(), is_process)));
        todo.extend(json.members().map(|(key, value)| (value, key.to_string(), is_process)));
    }
}
