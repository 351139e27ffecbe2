//! The text of a trace about a person or a computer: variables of its environment, and fields of packets and records.

use super::{Ctf, wire};
use crate::output::shown;
use crate::status::Result;
use crate::trace::Private;
use std::path::Path;
use traceglass::ctf::data::{Fields, Record, Value};
use traceglass::ctf::metadata::{FragmentKind, Fragments, ParseOptions};
use traceglass::ctf::schema::{Encoding, EnvironmentValue, Schema};

impl Ctf<'_> {
    pub(super) fn tell_private(&self, private: &mut Private<'_>) -> Result<()> {
        self.with(|traces, _| {
            for trace in traces {
                let path = &trace.files.metadata_path;
                match trace.files.parse(ParseOptions::LENIENT) {
                    Ok(metadata) => private_metadata(&trace.schema, metadata.fragments(), path, private),
                    Err(error) => private.refuse(format!("{} cannot be read: {error}", shown(path))),
                }
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

/// The text of variables, and the name of the trace, in the metadata at a path.
pub fn private_metadata(
    schema: &Schema<'_, '_>,
    fragments: Fragments<'_>,
    path: &Path,
    private: &mut Private<'_>,
) {
    let mut text = |name: &str, borrowed: Option<&str>, offset: u64| match borrowed {
        _ if !private.hides(name) => {}
        Some(value) => private.text(Some(path), name, offset, value.as_bytes()),
        None => {
            private.refuse(format!("{name} in {} has escapes, or goes on in another packet", shown(path)));
        }
    };
    for (name, value) in schema.environment() {
        if let EnvironmentValue::Text(value) = value {
            text(&name.to_string(), value.borrowed(), value.offset());
        }
    }
    // What is no fragment was told by `check`.
    for fragment in fragments.map_while(Result::ok) {
        if let (Ok(FragmentKind::TraceClass), Ok(Some(class))) = (fragment.kind(), fragment.trace_class())
            && let Some(name) = class.name()
        {
            text("trace_name", name.borrowed(), name.offset());
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
        class.is_some_and(|name| {
            name.starts_with("lttng_statedump") || name.starts_with("lttng_ust_statedump")
        })
    };
    // Of each field that has begun, the name by which what is in it is private.
    let mut begun: Vec<Option<String>> = Vec::new();
    let read = loop {
        let field = match fields.next_field() {
            Ok(Some(field)) => field,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let private_name = || {
            let own = || {
                let name = field.name()?.to_string();
                let is_of_dump = || name.trim_start_matches('_') == "name" && is_dump();
                (private.hides(&name) || is_of_dump()).then_some(name)
            };
            begun.last().cloned().flatten().or_else(own)
        };
        match field.value() {
            Value::Structure | Value::Array(_) | Value::Optional(true) | Value::Variant(_) => {
                let name = private_name();
                begun.push(name);
            }
            Value::End => drop(begun.pop()),
            Value::Blob(bytes) => {
                private_name().into_iter().for_each(|name| private.part(Some(path), &name, data, bytes));
            }
            Value::Text(text) => {
                let Some(name) = private_name() else { continue };
                if text.encoding() != Encoding::Utf8 {
                    private.refuse(format!("{name} in {} is not UTF-8", shown(path)));
                }
                let stored = Fields::position(fields).saturating_sub(field.start()) / 8;
                let start = text.bytes().as_ptr().addr().saturating_sub(data.as_ptr().addr());
                let field = data.get(start..).and_then(|rest| rest.get(..usize::try_from(stored).ok()?));
                private.field(Some(path), &name, data, field.unwrap_or(text.bytes()));
            }
            _ => {}
        }
    };
    if let Err(error) = read {
        private.refuse(format!("a field in {} cannot be read: {error}", shown(path)));
    }
}
