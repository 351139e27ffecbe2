//! Records, in the order in which they begin.

use super::scan::Event;
use super::session::{Record, Rtc, Streams};
use super::value::{Content, Known};
use crate::json::Line;
use crate::output::{DIM, LABEL, Out, bytes};
use crate::status::{Failure, Result, Status};
use crate::trace::Selection;
use std::collections::BTreeMap;
use std::io::Write;
use traceglass::rtc::Stream;
use traceglass::{ErrorKind, Severity};

/// How many bytes of finished records wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;

impl Rtc<'_> {
    pub(super) fn print(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        let wanted = args.rtc.stream.as_deref();
        let mut seen = wanted.is_none();
        let mut records = Records::default();
        let mut choice = Choice { wanted, revision: None, slot: None };
        let mut lost = None;
        let status = self.scan(false, false, |event| {
            match event {
                Event::Frame(frame, streams) => {
                    if frame.is_user() && choice.has(frame.slot(), streams) {
                        seen = true;
                        if args.rtc.raw {
                            return out.raw(frame.payload());
                        }
                    }
                }
                Event::Record(record) => {
                    if !args.rtc.raw
                        && (wanted.is_none() || choice.has(Some(record.slot()), record.streams()))
                    {
                        match record.bytes() {
                            Ok(data) => records.take(record, data, args.json, out)?,
                            Err(error) => out.warn(&args.path, error),
                        }
                    }
                }
                Event::Open(first) => records.print_before(first, args.json, out)?,
                Event::Gap(gap, _) => {
                    out.warn(&args.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                    lost = Some(gap.cause());
                }
                // What was lost is told with its gap.
                Event::Finding(finding) => {
                    let cause = finding.cause();
                    let is_told = matches!(cause.kind(), ErrorKind::Lost { .. }) || lost == Some(cause);
                    if finding.severity() == Severity::Error && !is_told {
                        out.warn(&args.path, cause);
                    }
                }
                Event::Session(session) => {
                    // Declared, though nothing was written.
                    seen |= wanted.is_some_and(|wanted| {
                        session.rows.iter().any(|row| {
                            row.name.text.as_deref() == Some(wanted) || wanted.parse() == Ok(row.id)
                        })
                    });
                    records.print_before(None, args.json, out)?;
                    records.known.clear();
                }
                Event::Unit(_) => {}
            }
            Ok(())
        })?;
        if !seen {
            let wanted = wanted.unwrap_or_default();
            return Err(Failure::unreadable(format!(
                "no stream {wanted}; `traceglass ls` lists what there is"
            )));
        }
        Ok(status)
    }
}

/// The stream that was asked for: by name, or by number if none has that name.
struct Choice<'w> {
    wanted: Option<&'w str>,
    /// The state of the table in which it was looked up, and its slot there.
    revision: Option<u32>,
    slot: Option<usize>,
}

impl Choice<'_> {
    fn has(&mut self, slot: Option<usize>, streams: &Streams<'_>) -> bool {
        let Some(wanted) = self.wanted else { return false };
        if self.revision != Some(streams.revision()) {
            self.revision = Some(streams.revision());
            let named = streams.by_name(wanted).map(Stream::id);
            self.slot = named.or_else(|| wanted.parse().ok()).and_then(|id| streams.slot(id));
        }
        slot.is_some() && slot == self.slot
    }
}

/// Writes records, and hands them out in the order in which they begin.
#[derive(Default)]
struct Records {
    /// Lines that wait, by where their records begin.
    waiting: BTreeMap<u64, Vec<u8>>,
    /// How many bytes they have.
    size: usize,
    /// Where the first record begins that is not finished.
    open: Option<u64>,
    line: Line,
    /// What was looked up of the streams, by their slots.
    known: Vec<Option<Known>>,
}

impl Records {
    fn take(&mut self, record: &Record<'_, '_>, data: &[u8], json: bool, out: &mut Out) -> Result<()> {
        self.write(record, data, json, out);
        if self.open.is_none_or(|open| record.offset() < open) && self.waiting.is_empty() {
            // Most are in one piece, and wait for none.
            return emit(json, &self.line.text, out);
        }
        self.size += self.line.text.len();
        self.waiting.insert(record.offset(), self.line.text.clone());
        Ok(())
    }

    /// Prints what begins before the first record that is open.
    fn print_before(&mut self, open: Option<u64>, json: bool, out: &mut Out) -> Result<()> {
        self.open = open;
        while let Some(entry) = self.waiting.first_entry() {
            // One that never ends must not hold back all others for ever.
            if open.is_some_and(|open| *entry.key() > open) && self.size <= WAITING {
                break;
            }
            let line = entry.remove();
            self.size -= line.len();
            emit(json, &line, out)?;
        }
        Ok(())
    }

    /// What is known of a stream.
    fn learn(&mut self, slot: usize, stream: &Stream<'_>) -> &Known {
        if self.known.len() <= slot {
            self.known.resize_with(slot + 1, || None);
        }
        let known = &mut self.known[slot];
        if known.as_ref().is_some_and(|known| known.declared != stream.object().offset()) {
            *known = None;
        }
        known.get_or_insert_with(|| Known::of(stream))
    }

    /// The line of a record.
    fn write(&mut self, record: &Record<'_, '_>, data: &[u8], json: bool, out: &Out) {
        let mut line = std::mem::take(&mut self.line);
        line.text.clear();
        let content = Content::of(record);
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = record.annotated();
        let clock = match (content.time, about) {
            (Some(_), Some(about)) => {
                record.streams().slot(about.id()).and_then(|slot| record.streams().clock_of(slot))
            }
            _ => record.clock(),
        };
        if json {
            let known = self.learn(record.slot(), record.stream());
            known.name.write(line.begin(), "stream");
            line.int("id", known.id).int("session", record.session());
            line.int("offset", record.offset()).int("len", record.len());
            match content.time.or(record.time()) {
                // Exact, as a number of any precision.
                Some(time) => line.raw("time", format_args!("{time}")),
                None => line.null("time"),
            };
            for (key, stream) in [("clock", clock), ("about", about)] {
                match stream.and_then(|stream| Some((record.streams().slot(stream.id())?, stream))) {
                    Some((slot, stream)) => self.learn(slot, stream).name.write(&mut line, key),
                    None if key == "clock" => {
                        line.null(key);
                    }
                    None => {}
                }
            }
            let known = self.learn(record.slot(), record.stream());
            if !content.write(&mut line.key("value").text, known) {
                line.hex("value_hex", data);
            }
            line.end();
        } else {
            let known = self.learn(record.slot(), record.stream());
            let time = content.time.or(record.time());
            let time = time.map_or_else(|| String::from("-"), |time| time.to_string());
            let time = out.paint(DIM, format_args!("{time:>20}"));
            let name = out.paint(LABEL, format_args!("{:<16}", known.shown));
            // A vector takes all that is written to it.
            let _ = writeln!(line.text, "{time}  {name}  {}", content.shown(known));
        }
        self.line = line;
    }
}

/// Prints a line that is complete.
fn emit(json: bool, line: &[u8], out: &mut Out) -> Result<()> {
    if json { out.json_text(line) } else { out.line(String::from_utf8_lossy(line).trim_end()) }
}
