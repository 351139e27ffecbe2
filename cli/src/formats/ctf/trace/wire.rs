//! Captures: streams of several processors in one file, as they came over a link or lay in a ring.

use super::files::{Files, Stream};
use super::{Compiled, Ctf};
use crate::input::slice;
use crate::output::{bytes, counted, printable, shortened};
use crate::status::Result;
use crate::trace::{Damage, DamageExt as _, Findings, Part, Parts, Reading};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use traceglass::Severity;
use traceglass::ctf::data::Packets;
use traceglass::ctf::data::wire::{Capture, Scan, WireKind, WireSlot, is_capture};
use traceglass::ctf::schema::Schema;

/// The number of bytes of text that are shown of a gap that is not asked for.
const SHOWN: usize = 160;
/// The least length of text that is shown from other bytes.
const TEXT_MIN: usize = 12;

/// The packets of a file, if it is to be read as a capture.
pub fn capture(stream: &Stream, schema: &Schema<'_, '_>, reading: Reading) -> Option<Capture<Vec<WireSlot>>> {
    let data = stream.data.data();
    let skipped = reading.skip.unwrap_or(0);
    let is_asked = reading.wire || skipped > 0;
    if reading.no_wire || (!is_asked && !is_capture(data, schema)) {
        return None;
    }
    let scan = Scan::new(data, schema).skip_bytes(skipped);
    // A file that needs more slots than can be numbered is read as a plain stream.
    let capture = Capture::read(scan, Vec::new()).ok()?;
    (is_asked || capture.tracks().next().is_some()).then_some(capture)
}

/// Packets that are read one after the other: a stream that is a file, or a track of a capture.
#[derive(Clone, Copy)]
pub struct Lane<'c> {
    pub stream: &'c Stream,
    /// The numbers of its trace, and of the file among all.
    pub trace: usize,
    pub file: usize,
    schema: &'c Schema<'c, 'c>,
    track: Option<&'c [WireSlot]>,
    pub session: Option<u32>,
    /// True if its capture has several sessions.
    pub has_restarts: bool,
}

impl<'c> Lane<'c> {
    pub fn packets(&self) -> Packets<'c, 'c> {
        let data = self.stream.data.data();
        match self.track {
            Some(track) => Packets::of_track(data, self.schema, track),
            None => Packets::new(data, self.schema),
        }
    }

    pub fn schema(&self) -> &'c Schema<'c, 'c> {
        self.schema
    }

    /// The number of bytes its packets take; all of the file where that is one stream.
    pub fn bytes(&self) -> u64 {
        let file = self.stream.data.data().len() as u64;
        self.track.map_or(file, |track| track.iter().map(WireSlot::len).sum())
    }

    /// False for an empty file, as tracers make for processors on which nothing happened: what reads events needs no room
    /// for it.
    pub fn has_bytes(&self) -> bool {
        !self.stream.data.data().is_empty()
    }

    /// The packets, if they are those of a capture.
    pub fn track(&self) -> Option<&'c [WireSlot]> {
        self.track
    }
}

/// All that is read one after the other, in the order of files.
pub fn lanes<'c>(traces: &'c [Compiled<'c>]) -> Vec<Lane<'c>> {
    let mut lanes = Vec::new();
    let mut file = 0;
    for (number, trace) in traces.iter().enumerate() {
        for (place, stream) in trace.files.streams.iter().enumerate() {
            let lane = Lane {
                stream,
                trace: number,
                file,
                schema: &trace.schema,
                track: None,
                session: None,
                has_restarts: false,
            };
            match trace.capture(place) {
                None => lanes.push(lane),
                Some(capture) => lanes.extend(capture.tracks().map(|track| Lane {
                    track: Some(track),
                    session: track.first().map(WireSlot::session),
                    has_restarts: capture.sessions() > 1,
                    ..lane
                })),
            }
            file += 1;
        }
    }
    lanes
}

/// The captures among the files, each with its number among all of them.
pub fn captures<'c>(
    traces: &'c [Compiled<'c>],
) -> impl Iterator<Item = (usize, &'c Stream, &'c Capture<Vec<WireSlot>>)> {
    let streams = traces.iter().flat_map(|trace| {
        trace.files.streams.iter().enumerate().map(move |(place, stream)| (stream, trace.capture(place)))
    });
    streams.enumerate().filter_map(|(number, (stream, capture))| Some((number, stream, capture?)))
}

/// All packets and gaps of a capture, in the order of its bytes.
pub fn in_order(capture: &Capture<Vec<WireSlot>>) -> Vec<WireSlot> {
    let mut slots = capture.slots().to_vec();
    slots.sort_by_key(WireSlot::offset);
    slots
}

/// The damage in a capture, in the order of its bytes.
pub fn damage(capture: &Capture<Vec<WireSlot>>) -> Vec<&WireSlot> {
    let mut slots: Vec<_> = capture.slots().iter().filter(|slot| slot.is_damage()).collect();
    slots.sort_by_key(|slot| slot.offset());
    slots
}

/// The offsets at which the device started anew, and the number of the session that begins there.
fn restarts(capture: &Capture<Vec<WireSlot>>) -> Vec<(u64, u32)> {
    let slots = capture.slots().iter().filter(|slot| slot.is_restart());
    let mut restarts: Vec<_> = slots.map(|slot| (slot.offset(), slot.session())).collect();
    restarts.sort();
    restarts
}

/// The bytes of which nothing is delivered.
fn lost<'d>(slot: &WireSlot, data: &'d [u8]) -> &'d [u8] {
    slot.lost().map_or(&[], |(start, end)| slice(data, start, end))
}

/// All bytes of a packet or a gap.
fn all<'d>(slot: &WireSlot, data: &'d [u8]) -> &'d [u8] {
    slice(data, slot.offset(), slot.end())
}

/// The text in what was lost, as people look for it there: log lines, what a boot loader printed.
pub fn text(slot: &WireSlot, data: &[u8]) -> Option<String> {
    // A record that may be wrong may have taken a part of it.
    let lost = if slot.is_doubtful() { all(slot, data) } else { lost(slot, data) };
    if slot.kind() == WireKind::Text {
        return Some(String::from_utf8_lossy(lost).into_owned());
    }
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let runs = lost.split(|byte| !is_text(byte)).filter(|run| run.len() >= TEXT_MIN);
    let runs: Vec<_> = runs.map(String::from_utf8_lossy).collect();
    (!runs.is_empty()).then(|| runs.join(" "))
}

/// The message about a gap, in a line.
pub fn message(slot: &WireSlot, data: &[u8]) -> String {
    message_of(slot, data, slot.certain_records())
}

/// The same where so many records are taken to be right.
pub fn message_of(slot: &WireSlot, data: &[u8], certain: u64) -> String {
    let (start, end) = slot.lost().unwrap_or((slot.offset(), slot.end()));
    let text = text(slot, data).map(|text| format!(": \"{}\"", printable(&shortened(text.trim(), SHOWN))));
    let doubtful = match slot.records().saturating_sub(certain) {
        count if slot.is_doubtful() && count > 0 => {
            format!("; {} before it may be wrong", counted(count, "record", "records"))
        }
        _ => String::new(),
    };
    let name = slot.kind().element();
    format!("{} at {start:#x}: {}{doubtful}{}", name.name(), bytes(end - start), text.unwrap_or_default())
}

/// A gap as an object of JSON.
pub fn object(slot: &WireSlot, stream: &Stream) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), "gap".into());
    crate::output::insert_path(&mut object, &stream.path);
    let (start, end) = slot.lost().unwrap_or((slot.offset(), slot.end()));
    object.insert("offset".into(), start.into());
    object.insert("len".into(), (end - start).into());
    object.insert("what".into(), slot.kind().name().into());
    object.insert("session".into(), slot.session().into());
    object.insert("text".into(), text(slot, stream.data.data()).into());
    object.into()
}

/// Reports the gaps of a capture, and where the device started anew.
pub fn check(stream: &Stream, capture: &Capture<Vec<WireSlot>>, findings: &mut Findings<'_>) {
    let data = stream.data.data();
    let mut notes: Vec<(u64, Severity, &str, String)> = Vec::new();
    for slot in damage(capture) {
        let offset = slot.lost().map_or(slot.offset(), |(start, _)| start);
        notes.push((offset, Severity::Error, slot.kind().name(), message(slot, data)));
    }
    for (offset, session) in restarts(capture) {
        let message = format!("the device started anew at {offset:#x}: session {session}");
        notes.push((offset, Severity::Warning, "restart", message));
    }
    if let Some(slot) = capture.others().iter().find(|slot| slot.is_erased()) {
        let message = format!("fill at {:#x} to the end: {}", slot.offset(), bytes(slot.len()));
        notes.push((slot.offset(), Severity::Warning, slot.kind().name(), message));
    }
    notes.sort_by_key(|note| note.0);
    for (offset, severity, what, message) in notes {
        findings.tell(Some(&stream.path), severity, offset, what, &message);
    }
}

/// The captures that there are, for people and as JSON.
pub fn about(traces: &[Compiled<'_>]) -> (Vec<String>, Vec<Value>) {
    let lanes = lanes(traces);
    let (mut lines, mut values) = (Vec::new(), Vec::new());
    for (number, stream, capture) in captures(traces) {
        let (mut streams, mut processors) = (BTreeSet::new(), BTreeSet::new());
        for lane in lanes.iter().filter(|lane| lane.file == number) {
            if let Ok(Some(packet)) = lane.packets().next_packet() {
                processors.extend(packet.cpu());
                streams.insert((packet.stream_class().id(), packet.stream_id(), packet.cpu()));
            }
        }
        let restarts = restarts(capture);
        let damage = damage(capture);
        let lost: u64 = damage.iter().filter_map(|slot| slot.lost()).map(|(start, end)| end - start).sum();
        let erased: u64 = capture.others().iter().filter(|slot| slot.is_erased()).map(WireSlot::len).sum();
        let count = |count: usize, one: &str, many: &str| counted(count as u64, one, many);
        let mut line = format!("of {}", count(streams.len(), "stream", "streams"));
        if !processors.is_empty() {
            line += &format!(" on {}", count(processors.len(), "processor", "processors"));
        }
        if !restarts.is_empty() {
            line += &format!(", {}", count(restarts.len(), "restart", "restarts"));
        }
        if !damage.is_empty() {
            line += &format!(", {} of {}", count(damage.len(), "gap", "gaps"), bytes(lost));
        }
        if erased > 0 {
            line += &format!(", {} of fill at the end", bytes(erased));
        }
        lines.push(line);
        let mut object = Map::new();
        crate::output::insert_path(&mut object, &stream.path);
        let facts = json!({
            "streams": streams.len(), "processors": processors.len(), "sessions": capture.sessions(),
            "restarts": restarts.iter().map(|restart| restart.0).collect::<Vec<_>>(),
            "gaps": damage.len(), "lost_bytes": lost, "fill_bytes": erased,
        });
        object.extend(facts.as_object().cloned().unwrap_or_default());
        values.push(object.into());
    }
    (lines, values)
}

/// A message that bytes were skipped, as was asked for: what is in them is not known.
pub fn skipped(reading: Reading) -> Option<String> {
    let skipped = reading.skip.filter(|skipped| *skipped > 0)?;
    Some(format!("{} were skipped", bytes(skipped)))
}

/// One line for each gap of all captures, as `info` and `export` tell them.
pub fn problems(ctf: &Ctf<'_>, traces: &[Compiled<'_>]) -> Damage {
    let mut problems: Damage = skipped(ctf.reading).into_iter().collect();
    for (_, stream, capture) in captures(traces) {
        for slot in damage(capture) {
            problems.add_in(Some(&stream.path), message(slot, stream.data.data()));
        }
    }
    problems
}

/// A session of a capture, which is a trace of its own: a file for each track.
pub struct Session<'c> {
    pub folder: String,
    pub lanes: Vec<Lane<'c>>,
}

impl Session<'_> {
    /// True if it is one of a trace.
    pub fn is_of(&self, files: &Files) -> bool {
        let own = |lane: &Lane<'_>| files.streams.iter().any(|stream| std::ptr::eq(stream, lane.stream));
        self.lanes.first().is_some_and(own)
    }
}

/// The name of the file that a track is written to.
pub fn file_name(number: u64) -> String {
    format!("stream-{number}")
}

/// The sessions of all captures.
pub fn sessions<'c>(traces: &'c [Compiled<'c>]) -> Vec<Session<'c>> {
    let lanes = lanes(traces);
    let mut sessions = Vec::new();
    for (number, stream, capture) in captures(traces) {
        let file = stream.path.file_name().unwrap_or_default().to_string_lossy();
        for session in 0..capture.sessions() {
            let folder = match capture.sessions() {
                1 => file.clone().into_owned(),
                _ => format!("{file}-session-{session}"),
            };
            let of_session = |lane: &&Lane<'_>| lane.file == number && lane.session == Some(session);
            let lanes: Vec<_> = lanes.iter().filter(of_session).copied().collect();
            if !lanes.is_empty() {
                sessions.push(Session { folder, lanes });
            }
        }
    }
    sessions
}

/// Writes each session of each capture as a folder of CTF: the metadata, and a file for each track, of packets that are
/// whole.
pub fn extract(traces: &[Compiled<'_>], parts: &mut dyn Parts) -> Result<()> {
    for Session { folder, lanes } in sessions(traces) {
        let Some(trace) = lanes.first().and_then(|lane| traces.get(lane.trace)) else { continue };
        let path = Some(trace.files.metadata_path.as_path());
        let place = Some((folder.as_str(), "metadata"));
        let metadata = Part { kind: "metadata", path, offset: Some(0), place, ..Part::default() };
        let part = parts.part(&metadata)?;
        parts.write(part, trace.files.metadata.data())?;
        parts.end(part)?;
        for (lane, number) in lanes.into_iter().zip(0_u64..) {
            let name = file_name(number);
            let place = Some((folder.as_str(), name.as_str()));
            let path = Some(lane.stream.path.as_path());
            let part = parts.part(&Part { kind: "stream", number, path, place, ..Part::default() })?;
            for slot in lane.track().unwrap_or_default().iter().filter(|slot| !slot.is_doubtful()) {
                parts.write(part, all(slot, lane.stream.data.data()))?;
                parts.advance(slot.len());
            }
            parts.end(part)?;
        }
    }
    Ok(())
}
