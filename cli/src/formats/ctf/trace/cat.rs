//! The event records of all streams, ordered by time.

use super::names::{shown_name, told};
use super::value::{self, ByKey, Names};
use super::window;
use super::{Compiled, Stream, span};
use crate::json::{Line, int};
use crate::measure::pad;
use crate::output::{DIM, HEADING, Out, printable, shown};
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::trace::{Bounds, Cursor, Selection, Stamps};
use anstyle::Style;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use traceglass::ctf::data::{Fields, Merge, MergeSlot, Packets, Record};
use traceglass::ctf::schema::{EventClass, Scope};

/// The columns of a time that is no date.
const TIME: usize = 20;

/// The scopes of a record, as they are called in JSON.
const SCOPES: [(&str, Scope); 4] = [
    ("header", Scope::EventHeader),
    ("common_context", Scope::CommonContext),
    ("specific_context", Scope::SpecificContext),
    ("payload", Scope::Payload),
];

/// How many bytes are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 20;

pub fn cat(
    traces: &[Compiled<'_>],
    problems: Vec<String>,
    args: &Selection,
    cursor: &mut Cursor,
    out: &mut Out,
) -> Result<Status> {
    let mut damage = 0_u64;
    let told = cursor.follows && cursor.kept.is_some();
    for message in problems.iter().filter(|_| !told) {
        out.warn(&args.path, message);
        damage += 1;
    }
    let bounds = window::range(traces, &args.window)?;
    let sources: Vec<_> = traces
        .iter()
        .enumerate()
        .flat_map(|(at, trace)| trace.files.streams.iter().map(move |stream| (at, stream)))
        .collect();
    let mut ends = take_ends(cursor);
    let mut slots = vec![MergeSlot::EMPTY; sources.len()];
    let mut merge = Merge::new(&mut slots);
    let mut total = 0_u64;
    for (at, stream) in &sources {
        let mut packets = window::packets(stream, &traces[*at].schema, &bounds);
        if cursor.follows {
            packets = whole(stream, &traces[*at], &mut ends, out);
        }
        total += (stream.data.data().len() as u64).saturating_sub(packets.offset());
        // There is a slot for each.
        let _ = merge.add(packets);
    }
    if cursor.follows {
        cursor.kept = Some(Box::new(ends));
    }
    let mut printer = Printer {
        line: Line::new(),
        text: String::new(),
        part: String::new(),
        stamps: Stamps::default(),
        names: traces.iter().map(|_| Names::default()).collect(),
        events: traces.iter().map(|_| ByKey::default()).collect(),
        paths: sources.iter().map(|(_, stream)| shown(&stream.path)).collect(),
        constants: sources.iter().map(|(_, stream)| Constant::new(&stream.path)).collect(),
        place: None,
    };
    let progress = Progress::new(total);
    let mut read = vec![0_u64; sources.len()];
    loop {
        let failed = match merge.next_record() {
            Ok(None) => break,
            Ok(Some(merged)) => {
                let source = merged.source();
                let (trace, stream) = sources[source];
                let record = merged.record();
                let time = record.nanoseconds();
                let loss = Some(merged.loss()).filter(|loss| loss.is_some() && near(&record, &bounds));
                if let Some(count) = loss.and_then(|loss| loss.packets()).filter(|count| *count > 0) {
                    out.warn(&stream.path, format_args!("{count} packets are missing here"));
                }
                if let Some(count) = loss.and_then(|loss| loss.records()).filter(|count| *count > 0) {
                    out.warn(&stream.path, format_args!("{count} event records were discarded about here"));
                }
                let ahead = record.offset().saturating_sub(read[source]);
                if ahead >= STEP {
                    read[source] = record.offset();
                    progress.advance(ahead);
                }
                // What packets say of their times does not bound those of records, and after one with a stamp that is
                // wrong come those that were recorded before: all are looked at that are read.
                if !bounds.wants(time) {
                    continue;
                }
                let printed = if args.json {
                    printer.json(trace, source, &record)
                } else {
                    printer.text(trace, source, &record, out)
                };
                match printed {
                    Ok(()) if args.json => {
                        out.json_text(printer.line.end())?;
                        continue;
                    }
                    Ok(()) => {
                        out.buffered(&printer.text)?;
                        continue;
                    }
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        damage += 1;
        let path = merge.recover().map_or(args.path.as_path(), |source| sources[source].1.path.as_path());
        out.warn(path, failed);
    }
    Ok(Status::damaged_if(damage > 0))
}

/// Whether the packet that begins with a record may have something of a range.
fn near(record: &Record<'_, '_, '_>, bounds: &Bounds) -> bool {
    let (begin, end) = span(record.packet());
    let time = record.nanoseconds();
    let first = begin.into_iter().chain(time).min();
    let last = end.into_iter().chain(time).max();
    first.zip(last).map_or(bounds.is_everything(), |(first, last)| bounds.meets(first, last))
}

/// How far a stream was printed: its last packet, with number and end.
#[derive(Clone, Copy, Default)]
struct End {
    offset: u64,
    number: u64,
    end: u64,
    /// Whether it cannot be followed.
    is_lost: bool,
}

type Ends = HashMap<PathBuf, End>;

fn take_ends(cursor: &mut Cursor) -> Ends {
    cursor.kept.take().and_then(|kept| kept.downcast::<Ends>().ok()).map_or_else(Ends::default, |ends| *ends)
}

/// The packets of a stream that grows which are whole, and were not printed before.
fn whole<'c>(stream: &'c Stream, trace: &'c Compiled<'c>, ends: &mut Ends, out: &mut Out) -> Packets<'c, 'c> {
    let data = stream.data.data();
    let none = Packets::new(&[], &trace.schema);
    let known = ends.entry(stream.path.clone()).or_default();
    if known.is_lost {
        return none;
    }
    let mut packets = Packets::new(data, &trace.schema);
    if known.end > 0 {
        packets = Packets::from_packet(data, &trace.schema, known.offset, known.number);
        let last = packets.next_packet().ok().flatten();
        if last.is_none_or(|last| last.end_offset() != known.end) {
            known.is_lost = true;
            out.warn(&stream.path, "cannot be followed: its packets do not say how long they are");
            return none;
        }
    }
    let (first, number) = (packets.offset(), known.number.saturating_add(u64::from(known.end > 0)));
    let mut end = first;
    loop {
        match packets.next_packet() {
            Ok(Some(packet)) if !packet.is_cut() => {
                end = packet.end_offset();
                *known = End { offset: packet.offset(), number: packet.number(), end, is_lost: false };
            }
            Err(error) if !error.is_truncation() => {
                // Whoever reads it reports what is wrong.
                known.is_lost = true;
                end = data.len() as u64;
                break;
            }
            _ => break,
        }
    }
    let data = usize::try_from(end).ok().and_then(|end| data.get(..end)).unwrap_or(data);
    Packets::from_packet(data, &trace.schema, first, number)
}

/// What is looked up of an event record class once.
struct EventNames {
    /// For people.
    shown: String,
    /// Its part of a line of JSON: from the clock to the identifier.
    json: Vec<u8>,
    /// The scopes that its records have, and what stands before each in JSON.
    scopes: Vec<(Vec<u8>, Scope)>,
    /// What stands after them.
    end: Vec<u8>,
    is_unix: bool,
}

impl EventNames {
    fn new(class: EventClass<'_, '_>) -> Self {
        let clock = class.stream_class().clock();
        let name = class.name().map(told);
        let mut line = Line::new();
        line.text_or_null("clock", clock.and_then(|clock| clock.name()).map(told).as_deref());
        line.text_or_null("namespace", class.namespace().map(told).as_deref());
        line.text_or_null("name", name.as_deref()).int("id", class.id());
        // The line that it stands in has begun.
        line.text[0] = b',';
        let (mut scopes, mut before) = (Vec::new(), Vec::new());
        for (key, scope) in SCOPES {
            before.extend_from_slice(format!(",\"{key}\":").as_bytes());
            if class.scope(scope).or_else(|| class.stream_class().scope(scope)).is_some() {
                scopes.push((std::mem::take(&mut before), scope));
            } else {
                before.extend_from_slice(b"null");
            }
        }
        Self {
            scopes,
            end: before,
            shown: name.map_or_else(|| format!("#{}", class.id()), |name| printable(&shown_name(name))),
            json: line.text,
            is_unix: clock.is_some_and(|clock| clock.is_unix()),
        }
    }
}

/// What all records of a stream, or of one of its packets, say in the same words.
struct Constant {
    /// Where a line of JSON begins, up to the offset of the record.
    begin: Vec<u8>,
    /// The offset of the packet that was printed last.
    packet: Option<u64>,
    /// What its records say of their stream and of its context.
    context: Vec<u8>,
}

impl Constant {
    fn new(path: &Path) -> Self {
        let mut line = Line::new();
        line.plain("kind", "event").path(Some(path));
        Self { begin: line.text, packet: None, context: Vec::new() }
    }
}

struct Printer<'t> {
    line: Line,
    text: String,
    part: String,
    stamps: Stamps,
    /// The names of fields of each trace.
    names: Vec<Names>,
    /// The event record classes of each trace.
    events: Vec<ByKey<Box<EventNames>>>,
    /// The streams, for people.
    paths: Vec<String>,
    constants: Vec<Constant>,
    /// Where the fields of a scope are read.
    place: Option<Fields<'t, 't>>,
}

impl<'t> Printer<'t> {
    fn json(&mut self, trace: usize, source: usize, record: &Record<'_, 't, 't>) -> traceglass::Result<()> {
        let packet = record.packet();
        let bit = packet.offset() * 8 + record.start();
        let Self { line, stamps, names, events, constants, place, .. } = self;
        let (names, constant) = (&mut names[trace], &mut constants[source]);
        let class = record.class();
        let event = events[trace].of(class.key(), || Box::new(EventNames::new(class)));
        let text = &mut line.begin().text;
        text.extend_from_slice(&constant.begin);
        text.extend_from_slice(b",\"offset\":");
        int(text, bit / 8);
        text.extend_from_slice(b",\"bit\":");
        text.push(b'0' | (bit % 8) as u8);
        line.time(record.nanoseconds(), event.is_unix, stamps).text.extend_from_slice(&event.json);
        if constant.packet != Some(packet.offset()) {
            let start = line.text.len();
            line.int_or_null("data_stream", packet.stream_id());
            let context = record.fields_in(Scope::PacketContext, place);
            value::json(&mut line.key("packet_context").text, context, names)?;
            constant.packet = Some(packet.offset());
            constant.context = line.text.split_off(start);
        }
        line.text.extend_from_slice(&constant.context);
        for (before, scope) in &event.scopes {
            line.text.extend_from_slice(before);
            value::json(&mut line.text, record.fields_in(*scope, place), names)?;
        }
        line.text.extend_from_slice(&event.end);
        Ok(())
    }

    fn text(
        &mut self,
        trace: usize,
        source: usize,
        record: &Record<'_, 't, 't>,
        out: &Out,
    ) -> traceglass::Result<()> {
        let Self { text, part, stamps, names, events, paths, place, .. } = self;
        let names = &mut names[trace];
        let class = record.class();
        let event = events[trace].of(class.key(), || Box::new(EventNames::new(class)));
        text.clear();
        part.clear();
        match record.nanoseconds() {
            None => part.push('-'),
            Some(time) => stamps.push(part, time, event.is_unix),
        }
        if part.len() < TIME {
            let mut padded = String::new();
            pad(&mut padded, part, TIME, true);
            *part = padded;
        }
        styled(text, DIM, part, out);
        if let (Some(path), true) = (paths.get(source), paths.len() > 1) {
            text.push_str("  ");
            styled(text, DIM, path, out);
        }
        text.push_str("  ");
        styled(text, HEADING, &event.shown, out);
        for scope in [Scope::CommonContext, Scope::SpecificContext] {
            let Some(context) = record.fields_in(scope, place) else { continue };
            part.clear();
            part.push('{');
            value::text(part, context, names)?;
            if part.len() > 1 {
                part.push('}');
                text.push_str("  ");
                styled(text, DIM, part, out);
            }
        }
        if let Some(payload) = record.fields_in(Scope::Payload, place) {
            text.push_str("  ");
            value::text(text, payload, names)?;
        }
        text.truncate(text.trim_end().len());
        Ok(())
    }
}

/// Appends text in a style, where colour is on.
fn styled(to: &mut String, style: Style, text: &str, out: &Out) {
    if out.is_colored() {
        to.push_str(&out.paint(style, text));
    } else {
        to.push_str(text);
    }
}
