//! The text of a trace about a person or a computer: variables of its environment, and fields of packets and records.

use super::{Ctf, wire};
use crate::output::shown;
use crate::status::Result;
use crate::trace::Private;
use std::path::Path;
use traceglass::ctf::data::{Fields, Record, Value};
use traceglass::ctf::schema::{EnvironmentValue, Schema};

impl Ctf<'_> {
    pub(super) fn tell_private(&self, private: &mut Private<'_>) -> Result<()> {
        self.with(|traces, _| {
            for trace in traces {
                environment(&trace.schema, &trace.files.metadata_path, private);
            }
            for lane in wire::lanes(traces) {
                let (path, data) = (lane.stream.path.as_path(), lane.stream.data.data());
                // A file that was written has no packets that cannot be read.
                for packet in lane.packets().map_while(Result::ok) {
                    [packet.header(), packet.context()]
                        .into_iter()
                        .flatten()
                        .for_each(|mut fields| texts(&mut fields, None, path, data, private));
                    for record in packet.records().map_while(Result::ok) {
                        [record.common_context(), record.specific_context(), record.payload()]
                            .into_iter()
                            .flatten()
                            .for_each(|mut fields| texts(&mut fields, Some(&record), path, data, private));
                    }
                }
            }
            Ok(())
        })
    }
}

/// The text of variables, in the metadata at a path.
pub fn environment(schema: &Schema<'_, '_>, path: &Path, private: &mut Private<'_>) {
    for (name, value) in schema.environment() {
        let EnvironmentValue::Text(text) = value else { continue };
        let name = name.to_string();
        if !private.hides(&name) {
            continue;
        }
        match text.borrowed() {
            Some(value) => private.text(Some(path), &name, text.offset(), value.as_bytes()),
            None => {
                private.refuse(format!("{name} in {} has escapes, or goes on in another packet", shown(path)))
            }
        }
    }
}

/// The text in fields: of a record, or else of a packet.
fn texts(
    fields: &mut Fields<'_, '_>,
    of: Option<&Record<'_, '_, '_>>,
    path: &Path,
    data: &[u8],
    private: &mut Private<'_>,
) {
    // LTTng's dumps of the state say the names of processes and of what they use so.
    let is_dump = || {
        let class = of.and_then(|record| record.class().name()).map(|name| name.to_string());
        class.is_some_and(|name| name.starts_with("lttng_statedump"))
    };
    let read = fields.each_field(|field| {
        let (Value::Text(text), Some(name)) = (field.value(), field.name()) else { return };
        let name = name.to_string();
        if private.hides(&name) || (name.trim_start_matches('_') == "name" && is_dump()) {
            private.part(Some(path), &name, data, text.bytes());
        }
    });
    if let Err(error) = read {
        private.refuse(format!("a field in {} cannot be read: {error}", shown(path)));
    }
}
