//! The origin of event records, as each of them says it.

use crate::json::Line;
use crate::output::shown;
use crate::record::{Json, Place};
use crate::trace::Selection;
use std::path::Path;
use traceglass::ctf::data::Packet;
use traceglass::record::Record;

/// The places of the records of a stream.
pub struct Places {
    place: Place,
    /// The members of JSON that all of its records have.
    path: Vec<u8>,
    is_json: bool,
    shows_cpu: bool,
    /// Of a capture, the session.
    session: Option<u32>,
    /// As people see it.
    shown: String,
    /// Writes contexts, where they are asked for.
    context: Option<Json>,
}

impl Places {
    /// The path is left out for people if there is no other stream.
    pub fn new(path: &Path, session: Option<u32>, is_alone: bool, args: &Selection) -> Self {
        let shown = if is_alone { String::new() } else { shown(path) };
        Self {
            place: Place { shown: shown.clone(), json: Vec::new() },
            session,
            shown,
            path: Line::new().path(Some(path)).more(),
            is_json: args.json,
            shows_cpu: args.ctf.show_cpu,
            context: args.ctf.context.then(Json::default),
        }
    }

    /// The place of the records of a packet.
    pub fn of(&mut self, packet: Option<&Packet<'_, '_>>) -> &Place {
        if let (Some(packet), true) = (packet, self.is_json) {
            let mut line = Line::new();
            line.int_or_null("data_stream", packet.stream_id()).int_or_null("cpu", packet.cpu());
            line.int("packet", packet.number());
            if let Some(session) = self.session {
                line.int("session", session.into()).raw("doubtful", packet.is_doubtful());
            }
            self.place.json.clone_from(&self.path);
            self.place.json.extend(line.more());
            if let Some(json) = &mut self.context {
                push_context(packet, json, &mut self.place.json);
            }
        }
        if let (Some(packet), false) = (packet, self.is_json) {
            let cpu = packet.cpu().map_or_else(|| "-".to_owned(), |cpu| format!("CPU {cpu}"));
            let columns = [self.shown.as_str(), if self.shows_cpu { &cpu } else { "" }];
            let columns: Vec<_> = columns.into_iter().filter(|column| !column.is_empty()).collect();
            self.place.shown = columns.join("  ");
            if self.session.is_some() && packet.is_doubtful() {
                let space = if self.place.shown.is_empty() { "" } else { " " };
                self.place.shown.push_str(&format!("{space}doubtful"));
            }
        }
        &self.place
    }
}

/// Appends a packet's context as a member; null if it has none, or cannot be read.
pub fn push_context(packet: &Packet<'_, '_>, json: &mut Json, to: &mut Vec<u8>) {
    const MEMBER: &[u8] = b",\"packet_context\":";
    json.buffer.clear();
    // Reading its records says what is wrong with it.
    let is_told = packet.tell(json).is_ok();
    let line = json.buffer.text();
    // A text in JSON has no quotation mark without a backslash before it: only a member looks so.
    let member = line.windows(MEMBER.len()).position(|text| text == MEMBER).filter(|_| is_told);
    match member.and_then(|at| line.get(at..)?.strip_suffix(b"}\n")) {
        Some(member) => to.extend_from_slice(member),
        None => to.extend([MEMBER, b"null"].concat()),
    }
}
