//! Chrome's trace event format: JSON that speedscope, chrome://tracing and others read. Nothing is patched later, and memory
//! grows with what is open.
//!
//! # Layout
//! `{"displayTimeUnit":"ns","traceEvents":[…],"otherData":{…}}`, an event a line. An input is a process, a track is a thread of
//! it. Slices are complete events (`X`), flows `s` and `f`, counters `C`, all else instants (`i`).
//!
//! # Units
//! Times are microseconds with three decimals, since the first time that is met: readers hold them as floats of 64 bits, which
//! cannot tell nanoseconds apart since 1970. `otherData.origin_ns` is that time.

use super::Summary;
use crate::output::{NAME_MAX, push_label};
use crate::record::Json;
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use std::io::Write as _;
use traceglass::event::{Event, EventKind, FlowId, Number, Time, Track, TrackId, TrackKind, Window};
use traceglass_open::members::members;
use traceglass_open::slices::push_args;
use traceglass_open::text::quote;

// A vector takes all that is written to it: no error can come.

/// The output of text.
pub type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// Writes a trace.
#[derive(Default)]
pub struct Chrome {
    /// The number of the input, from 1.
    process: u64,
    /// True if something has been written.
    is_open: bool,
    /// The first time, and whether times count from the Unix epoch.
    origin: Option<Time>,
    line: Vec<u8>,
    name: String,
    json: Json,
}

/// Writes an input.
pub struct Process<'p> {
    chrome: &'p mut Chrome,
    /// The text before its events, until it is written.
    head: Vec<u8>,
    out: &'p mut Sink<'p>,
    window: Window,
    /// The first and the last time of it.
    first: Option<i128>,
    last: Option<i128>,
    summary: Summary,
}

/// The number of a track among the threads of its process.
const fn thread_of(track: TrackId) -> u64 {
    track.number().saturating_add(1)
}

/// A key, in its quotes, that no argument has.
fn unused(key: &str, args: &[u8]) -> String {
    let mut key = format!("\"{key}\"");
    while members(args).any(|(known, _)| known == key.as_bytes()) {
        key.insert(key.len().saturating_sub(1), '_');
    }
    key
}

impl Chrome {
    /// Begins another input, which is shown by this name. Nothing is written of one that cannot be read.
    pub fn begin<'p>(&'p mut self, name: &str, window: Window, out: &'p mut Sink<'p>) -> Process<'p> {
        self.process = self.process.saturating_add(1);
        self.json = Json::merged();
        let mut head = if self.is_open {
            b",\n".to_vec()
        } else {
            b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n".to_vec()
        };
        let _ = write!(head, "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{}", self.process);
        head.extend(b",\"tid\":0,\"args\":{\"name\":");
        quote(&mut head, name);
        head.extend(b"}}");
        Process { chrome: self, head, out, window, first: None, last: None, summary: Summary::default() }
    }

    /// Says that there is no more, if there was anything.
    pub fn finish(&mut self, out: &mut Sink<'_>) -> Result<()> {
        if !self.is_open {
            return Ok(());
        }
        self.line.clear();
        self.line.extend(b"\n],\"otherData\":{");
        if let Some(origin) = self.origin {
            // A number of this size is not exact in all readers.
            let _ = write!(self.line, "\"origin_ns\":\"{}\",\"clock\":", origin.ns());
            quote(&mut self.line, if origin.is_absolute() { "unix" } else { "monotonic" });
        }
        self.line.extend(b"}}\n");
        out(&self.line)
    }

    /// Begins an event, of this phase and on this track.
    fn event(&mut self, phase: &str, name: &str, track: TrackId) {
        self.line.clear();
        let (process, thread) = (self.process, thread_of(track));
        let _ = write!(self.line, ",\n{{\"ph\":\"{phase}\",\"pid\":{process},\"tid\":{thread},\"name\":");
        quote(&mut self.line, name);
    }

    /// Appends a member that is a time.
    fn time(&mut self, key: &str, ns: i128) {
        let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
        let _ = write!(self.line, ",\"{key}\":{sign}{}.{:03}", ns / 1000, ns % 1000);
    }
}

impl Process<'_> {
    /// The things that were left out.
    pub fn finish(mut self) -> Result<Summary> {
        self.begin()?;
        Ok(self.summary)
    }

    /// Writes what comes before its events.
    fn begin(&mut self) -> Result<()> {
        if !self.head.is_empty() {
            self.chrome.is_open = true;
            (self.out)(&std::mem::take(&mut self.head))?;
        }
        Ok(())
    }

    /// A time since the origin; none if it is of another kind of clock.
    fn since_origin(&mut self, time: Time) -> Option<i128> {
        let origin = *self.chrome.origin.get_or_insert(time);
        let ns = time.ns();
        if origin.is_absolute() != time.is_absolute() {
            self.summary.misfits = self.summary.misfits.saturating_add(1);
            return None;
        }
        self.first = Some(self.first.map_or(ns, |first| first.min(ns)));
        self.last = Some(self.last.map_or(ns, |last| last.max(ns)));
        ns.checked_sub(origin.ns())
    }

    fn write(&mut self) -> Result<()> {
        self.begin()?;
        self.chrome.line.extend(b"}");
        (self.out)(&self.chrome.line)
    }

    /// An arrow's begin or end.
    fn flow(&mut self, phase: &str, flow: FlowId, track: TrackId, at: i128) -> Result<()> {
        self.chrome.event(phase, "wake", track);
        self.chrome.time("ts", at);
        let Self { chrome, .. } = self;
        let (process, thread, number) = (chrome.process, thread_of(flow.track()), flow.number());
        let _ = write!(chrome.line, ",\"cat\":\"flow\",\"id\":\"{process}.{thread}.{number}\"");
        if phase == "f" {
            // It leads to the slice that begins here.
            chrome.line.extend(b",\"bp\":\"e\"");
        }
        self.write()
    }
}

impl TakeSlices for Process<'_> {
    type Error = Failure;

    fn track(&mut self, track: &Track<'_>) -> Result<()> {
        let chrome = &mut *self.chrome;
        chrome.name.clear();
        push_label(&mut chrome.name, track.label(), NAME_MAX);
        if let Some(alias) = track.alias() {
            chrome.name.push_str(" (");
            chrome.name.push_str(alias);
            chrome.name.push(')');
        }
        // Counters are known by their own names.
        if matches!(track.kind(), TrackKind::Counter { .. }) {
            return Ok(());
        }
        chrome.event("M", "thread_name", track.id());
        chrome.line.extend(b",\"args\":{\"name\":");
        quote(&mut chrome.line, &chrome.name);
        chrome.line.extend(b"}");
        self.write()
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        let begun = slice.begin.map(|time| self.since_origin(time));
        let ended = slice.end.map(|time| self.since_origin(time));
        if !slice.touches(self.window) || begun == Some(None) || ended == Some(None) {
            return Ok(());
        }
        let ends = slice.begin.or(slice.end);
        let Some(origin) = self.chrome.origin.filter(|_| ends.is_some()).map(Time::ns) else {
            self.summary.untimed = self.summary.untimed.saturating_add(1);
            return Ok(());
        };
        // A slice that is open at an edge is drawn up to it.
        let edge = |window: Option<i128>, trace: Option<i128>| {
            window.or(trace).unwrap_or(origin).saturating_sub(origin)
        };
        let from = edge(self.window.from(), self.first);
        let to = edge(self.window.to(), self.last);
        let begin = begun.flatten().unwrap_or(from);
        let end = ended.flatten().unwrap_or(to);
        let begin = if self.window.from().is_some() { begin.max(from) } else { begin };
        let end = if self.window.to().is_some() { end.min(to) } else { end };
        self.summary.has_events = true;
        self.chrome.event("X", slice.name, slice.id());
        self.chrome.time("ts", begin);
        self.chrome.time("dur", end.saturating_sub(begin).max(0));
        let line = &mut self.chrome.line;
        line.extend(b",\"args\":{");
        line.extend(slice.args);
        let mut comma: &[u8] = if slice.args.is_empty() { b"" } else { b"," };
        if let Some(time) = slice.begin.filter(|time| time.ns().checked_sub(origin) != Some(begin)) {
            line.extend(comma);
            let _ = write!(line, "{}:\"{}\"", unused("began_ns", slice.args), time.ns());
            comma = b",";
        }
        if slice.edges.names().next().is_some() {
            line.extend(comma);
            let flags: Vec<_> = slice.edges.names().collect();
            let _ = write!(line, "{}:\"{}\"", unused("flags", slice.args), flags.join(" "));
        }
        line.extend(b"}");
        self.write()
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let is_loss = event.kind().is_loss();
        let origin = self.chrome.origin.map_or(0, Time::ns);
        let at = match event.time() {
            Some(time) => {
                let Some(at) = self.since_origin(time) else { return Ok(()) };
                if !self.window.contains(Some(time)) {
                    return Ok(());
                }
                at
            }
            // A loss is shown where reading came upon it.
            None if is_loss => self.last.map_or(0, |last| last.saturating_sub(origin)),
            None => {
                if !matches!(event.kind(), EventKind::Begin | EventKind::End) {
                    self.summary.untimed = self.summary.untimed.saturating_add(1);
                }
                return Ok(());
            }
        };
        for flow in event.ends() {
            self.flow("f", flow, event.track(), at)?;
        }
        if let Some(flow) = event.starts() {
            self.flow("s", flow, event.track(), at)?;
        }
        let chrome = &mut *self.chrome;
        let mut name = std::mem::take(&mut chrome.name);
        name.clear();
        match event.kind() {
            EventKind::Begin | EventKind::End => {
                chrome.name = name;
                return Ok(());
            }
            EventKind::Gap(gap) => name.push_str(&format!("gap: {gap}")),
            EventKind::Discarded { .. } => name.push_str("discarded"),
            _ => push_label(&mut name, event.name(), NAME_MAX),
        }
        let is_counter = matches!(event.kind(), EventKind::Counter(_));
        self.summary.has_events |= !is_loss;
        chrome.event(if is_counter { "C" } else { "i" }, &name, event.track());
        chrome.name = name;
        chrome.time("ts", at);
        match event.kind() {
            // Counters of one name are told apart by the id.
            EventKind::Counter(number) => {
                let thread = thread_of(event.track());
                let _ = match number {
                    Number::Integer(value) => {
                        write!(chrome.line, ",\"id\":{thread},\"args\":{{\"value\":{value}}}")
                    }
                    Number::Float(value) if value.is_finite() => {
                        write!(chrome.line, ",\"id\":{thread},\"args\":{{\"value\":{value:?}}}")
                    }
                    // No number of JSON.
                    _ => write!(chrome.line, ",\"id\":{thread},\"args\":{{}}"),
                };
            }
            EventKind::Discarded { count: Some(count) } => {
                let _ = write!(chrome.line, ",\"s\":\"t\",\"args\":{{\"count\":{count}}}");
            }
            _ => {
                chrome.line.extend(b",\"s\":\"t\",\"args\":{");
                push_args(&mut chrome.json, event, &mut chrome.line);
                chrome.line.extend(b"}");
            }
        }
        self.write()
    }
}
