//! The event records of all streams, ordered by time.

use super::time::{Clock, seconds};
use super::value::{self, Names};
use super::{Compiled, Ctf, nanoseconds};
use crate::json::Line;
use crate::output::{DIM, HEADING, Out, printable, shown};
use crate::status::{Result, Status};
use crate::trace::Selection;
use std::collections::HashMap;
use std::fmt::Write as _;
use traceglass::ctf::data::{Merge, MergeSlot, Packets, Record};

pub fn cat(ctf: &Ctf<'_>, traces: &[Compiled<'_>], args: &Selection, out: &mut Out) -> Result<Status> {
    let mut damage = 0_u64;
    for message in ctf.problems() {
        out.warn(&args.path, message);
        damage += 1;
    }
    let sources: Vec<_> = traces
        .iter()
        .enumerate()
        .flat_map(|(at, trace)| trace.streams.iter().map(move |stream| (at, stream)))
        .collect();
    let mut slots = vec![MergeSlot::EMPTY; sources.len()];
    let mut merge = Merge::new(&mut slots);
    for (at, stream) in &sources {
        // There is a slot for each.
        let _ = merge.add(Packets::new(stream.data.data(), &traces[*at].schema));
    }
    let mut printer = Printer {
        line: Line::new(),
        text: String::new(),
        clock: Clock::default(),
        names: traces.iter().map(|_| Names::default()).collect(),
        events: HashMap::new(),
        has_paths: sources.len() > 1,
    };
    loop {
        let failed = match merge.next_record() {
            Ok(None) => break,
            Ok(Some(merged)) => {
                let (trace, stream) = sources[merged.source()];
                let loss = merged.loss();
                if let Some(count) = loss.packets().filter(|count| *count > 0) {
                    out.warn(&stream.path, format_args!("{count} packets are missing here"));
                }
                if let Some(count) = loss.records().filter(|count| *count > 0) {
                    out.warn(&stream.path, format_args!("{count} event records were discarded about here"));
                }
                let record = merged.record();
                let printed = if args.json {
                    printer.json(trace, &stream.path, &record)
                } else {
                    printer.text(trace, &stream.path, &record, out)
                };
                match printed {
                    Ok(()) if args.json => {
                        out.json_text(printer.line.end())?;
                        continue;
                    }
                    Ok(()) => {
                        out.line(&printer.text)?;
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

/// The name and the namespace of an event record class, and the name of its clock.
type ClassNames = (Option<String>, Option<String>, Option<String>);

struct Printer {
    line: Line,
    text: String,
    clock: Clock,
    /// The names of fields of each trace.
    names: Vec<Names>,
    /// Names and namespaces of event record classes, by trace and key.
    events: HashMap<(usize, u32), ClassNames>,
    has_paths: bool,
}

impl Printer {
    /// Name, namespace and clock's name of a record.
    fn event(
        &mut self,
        trace: usize,
        record: &Record<'_, '_, '_>,
    ) -> &(Option<String>, Option<String>, Option<String>) {
        let class = record.class();
        self.events.entry((trace, class.key())).or_insert_with(|| {
            let clock = class.stream_class().clock();
            (
                class.name().map(value::told),
                class.namespace().map(value::told),
                clock.and_then(|clock| clock.name()).map(value::told),
            )
        })
    }

    fn json(
        &mut self,
        trace: usize,
        path: &std::path::Path,
        record: &Record<'_, '_, '_>,
    ) -> traceglass::Result<()> {
        let packet = record.packet();
        let bit = packet.offset() * 8 + record.start();
        let is_unix = packet.stream_class().clock().is_some_and(|clock| clock.is_unix());
        let time = record.nanoseconds();
        self.event(trace, record);
        let Self { line, clock, names, events, .. } = self;
        let names = &mut names[trace];
        line.begin().text("kind", "event").path(Some(path)).int("offset", bit / 8).int("bit", bit % 8);
        nanoseconds(line, "time_ns", time);
        line.text_or_null("time", time.filter(|_| is_unix).and_then(|time| clock.rfc3339(time)));
        if let Some((name, namespace, clock)) = events.get(&(trace, record.class().key())) {
            line.text_or_null("clock", clock.as_deref());
            line.text_or_null("namespace", namespace.as_deref());
            line.text_or_null("name", name.as_deref());
        }
        line.int("id", record.class().id()).int_or_null("data_stream", packet.stream_id());
        value::json(line, "packet_context", packet.context(), names)?;
        value::json(line, "header", record.header(), names)?;
        value::json(line, "common_context", record.common_context(), names)?;
        value::json(line, "specific_context", record.specific_context(), names)?;
        value::json(line, "payload", record.payload(), names)
    }

    fn text(
        &mut self,
        trace: usize,
        path: &std::path::Path,
        record: &Record<'_, '_, '_>,
        out: &Out,
    ) -> traceglass::Result<()> {
        let class = record.class();
        let is_unix = class.stream_class().clock().is_some_and(|clock| clock.is_unix());
        let time = match record.nanoseconds() {
            None => "-".to_owned(),
            Some(time) => match self.clock.rfc3339(time).filter(|_| is_unix) {
                Some(date) => date.to_owned(),
                None => format!("{:>20}", seconds(time)),
            },
        };
        let name = match self.event(trace, record) {
            (Some(name), ..) => printable(&value::shown_name(name)),
            (None, ..) => format!("#{}", class.id()),
        };
        let Self { text, names, .. } = self;
        let names = &mut names[trace];
        text.clear();
        // A string takes all that is written to it.
        let _ = write!(text, "{}  ", out.paint(DIM, time));
        if self.has_paths {
            let _ = write!(text, "{}  ", out.paint(DIM, shown(path)));
        }
        let _ = write!(text, "{}", out.paint(HEADING, name));
        for context in [record.common_context(), record.specific_context()].into_iter().flatten() {
            let mut inner = String::new();
            value::text(&mut inner, context, names)?;
            if !inner.is_empty() {
                let _ = write!(text, "  {}", out.paint(DIM, format_args!("{{{inner}}}")));
            }
        }
        if let Some(payload) = record.payload() {
            text.push_str("  ");
            value::text(text, payload, names)?;
        }
        Ok(())
    }
}
