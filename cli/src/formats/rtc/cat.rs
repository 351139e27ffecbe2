//! Records, in the order in which they begin.

use super::scan::{Event, Pass};
use super::session::{Record, Rtc, Streams};
use super::value::{Content, Known, in_ns};
use super::window::{AROUND, time_of};
use crate::json::Line;
use crate::measure::pad;
use crate::output::{DIM, LABEL, Out, bytes};
use crate::status::{Failure, Result, Status};
use crate::trace::{Bounds, Cursor, Selection, Stamps};
use std::collections::BTreeMap;
use std::path::PathBuf;
use traceglass::rtc::{Stream, Time};
use traceglass::{ErrorKind, Severity};

/// How many bytes of finished records wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;

/// The columns of a time that is no date, and of a stream's name.
const TIME: usize = 20;
const NAME: usize = 12;

impl Rtc<'_> {
    pub(super) fn print(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        let wanted = args.rtc.stream.as_deref();
        let mut seen = wanted.is_none() || cursor.kept.is_some();
        // As exact as times are: to divide each one takes long.
        let bounds = self.range(&args.window)?.scaled(1_000_000_000);
        let mut records = Records { names_sessions: self.grid().is_none(), ..Records::default() };
        let mut choice = Choice { wanted, revision: None, slot: None };
        let mut lost = None;
        // What was printed before, of a file that grows; and from where on it is to be read again.
        let place = cursor.places.entry(PathBuf::new()).or_default();
        let printed = *place;
        let again = cursor.kept.take().and_then(|kept| kept.downcast::<u64>().ok()).map_or(0, |again| *again);
        let is_sought = !cursor.follows && self.is_sought(&bounds);
        let from = if is_sought { self.start(&bounds) } else { None };
        let start = Some(again).filter(|&again| again > 0 && self.can_go_on()).or(from);
        // Where the first record is that comes after the range and after the last record in it.
        let mut after: Option<u64> = None;
        let pass = Pass { start, follows: cursor.follows, ..Pass::default() };
        let (mut end, mut open) = (printed, None);
        let status = self.scan(&pass, |event| {
            match event {
                Event::Frame(frame, streams) => {
                    if frame.is_user() && choice.has(frame.slot(), streams) {
                        seen = true;
                        // Of a range, whole records are printed.
                        if args.raw && bounds.is_everything() && frame.offset() >= printed {
                            end = frame.end();
                            return out.raw(frame.payload());
                        }
                    }
                }
                Event::Record(record) => {
                    if is_sought && let Some(time) = time_of(record).map(|time| time.attoseconds()) {
                        if bounds.is_past(time) {
                            let after = *after.get_or_insert(record.offset());
                            pass.stop.set(record.offset() > after.saturating_add(AROUND));
                        } else if bounds.wants(Some(time)) {
                            after = None;
                        }
                    }
                    if record.offset() < printed || args.raw && bounds.is_everything() {
                        return Ok(());
                    }
                    if wanted.is_some() && !choice.has(Some(record.slot()), record.streams()) {
                        return Ok(());
                    }
                    if args.raw {
                        let is_wanted = bounds.wants(time_of(record).map(|time| time.attoseconds()));
                        return match record.bytes() {
                            Ok(data) if is_wanted => {
                                end = end.max(record.offset().saturating_add(1));
                                out.raw(data)
                            }
                            Err(error) if is_wanted => {
                                out.warn(&args.path, error);
                                Ok(())
                            }
                            _ => Ok(()),
                        };
                    }
                    records.take(record, &bounds, args, out)?;
                }
                Event::Open(first) => {
                    open = first;
                    records.print_before(first, args.json, out)?;
                }
                Event::Gap(gap, _) => {
                    out.warn(&args.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                    lost = Some(gap.cause());
                }
                // The gap reports what was lost.
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
                    if !cursor.follows {
                        records.print_before(None, args.json, out)?;
                    }
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
        if cursor.follows {
            *place = records.last.map_or(end, |last| last.saturating_add(1)).max(end);
            // The minor unit of the first record that is not finished, or of the last one that was printed.
            let from = open.unwrap_or(u64::MAX).min(*place);
            cursor.kept = Some(Box::new(if args.raw { *place } else { from }));
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
    /// Where the last one that was printed begins.
    last: Option<u64>,
    line: Line,
    text: String,
    stamps: Stamps,
    /// The time that was written last, and its text.
    time: Option<(Time, bool)>,
    time_text: String,
    /// What was looked up of the streams, by their slots.
    known: Vec<Option<Known>>,
    /// Whether there may be several sessions.
    names_sessions: bool,
}

impl Records {
    fn take(
        &mut self,
        record: &Record<'_, '_>,
        bounds: &Bounds,
        args: &Selection,
        out: &mut Out,
    ) -> Result<()> {
        let time = time_of(record);
        if !bounds.wants(time.map(|time| time.attoseconds())) {
            return Ok(());
        }
        let content = Content::of(record);
        let data = match record.bytes() {
            Ok(data) => data,
            Err(error) => {
                out.warn(&args.path, error);
                return Ok(());
            }
        };
        self.write(record, &content, time, data, args.json, out);
        if self.open.is_none_or(|open| record.offset() < open) && self.waiting.is_empty() {
            // Most are in one piece, and wait for none.
            self.last = Some(record.offset());
            return if args.json { out.json_text(&self.line.text) } else { out.buffered(&self.text) };
        }
        let line = if args.json { &self.line.text } else { self.text.as_bytes() };
        self.size += line.len();
        self.waiting.insert(record.offset(), line.to_vec());
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
            self.last = self.last.max(Some(*entry.key()));
            let line = entry.remove();
            self.size -= line.len();
            if json {
                out.json_text(&line)?;
            } else {
                out.buffered(&String::from_utf8_lossy(&line))?;
            }
        }
        Ok(())
    }

    /// What is known of a stream.
    fn learn<'k>(known: &'k mut Vec<Option<Known>>, slot: usize, streams: &Streams<'_>) -> Option<&'k Known> {
        if known.len() <= slot {
            known.resize_with(slot + 1, || None);
        }
        let entry = &mut known[slot];
        if entry.as_ref().is_some_and(|known| known.revision != streams.revision()) {
            *entry = None;
        }
        if entry.is_none() {
            *entry = streams.at(slot).map(|stream| Known::of(stream, streams));
        }
        entry.as_ref()
    }

    /// The line of a record.
    fn write(
        &mut self,
        record: &Record<'_, '_>,
        content: &Content<'_>,
        time: Option<Time>,
        data: &[u8],
        json: bool,
        out: &Out,
    ) {
        let streams = record.streams();
        let Self { line, text, stamps, known, .. } = self;
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = record.annotated();
        let clock = match (content.time, about) {
            (Some(_), Some(about)) => streams.slot(about.id()).and_then(|slot| streams.clock_of(slot)),
            _ => record.clock(),
        };
        let clock = clock.and_then(|clock| streams.slot(clock.id()));
        let clock_known = clock.and_then(|slot| Self::learn(known, slot, streams));
        // An annotation on no clock is on the one of the Epoch.
        let is_absolute = clock_known.map_or(content.time.is_some(), |clock| clock.is_absolute);
        if json {
            line.begin().plain("kind", "record");
            let Some(stream) = Self::learn(known, record.slot(), streams) else { return };
            stream.name.write(line, "stream");
            line.int("id", stream.id).int("session", record.session());
            line.int("offset", record.offset()).int("len", record.len());
            line.time(time.map(in_ns), is_absolute, stamps);
            match clock.and_then(|slot| Self::learn(known, slot, streams)) {
                Some(clock) => clock.name.write(line, "clock"),
                None => {
                    line.null("clock");
                }
            }
            let about = about.and_then(|about| streams.slot(about.id()));
            if let Some(about) = about.and_then(|slot| Self::learn(known, slot, streams)) {
                about.name.write(line, "about");
            }
            let Some(stream) = Self::learn(known, record.slot(), streams) else { return };
            if !content.write(&mut line.key("value").text, stream) {
                line.hex("value_hex", data);
            }
            line.end();
            return;
        }
        text.clear();
        match time {
            Some(time) => {
                if self.time != Some((time, is_absolute)) {
                    self.time = Some((time, is_absolute));
                    self.time_text.clear();
                    stamps.push(&mut self.time_text, in_ns(time), is_absolute);
                }
                column(text, DIM, &self.time_text, TIME, true, out);
            }
            None => column(text, DIM, "-", TIME, true, out),
        }
        if self.names_sessions {
            text.push_str("  session ");
            text.push_str(itoa::Buffer::new().format(record.session()));
        }
        let Some(stream) = Self::learn(known, record.slot(), streams) else { return };
        text.push_str("  ");
        column(text, LABEL, &stream.shown, NAME, false, out);
        text.push_str("  ");
        content.show(text, stream);
        text.truncate(text.trim_end().len());
    }
}

/// Appends a cell in its style.
fn column(to: &mut String, style: anstyle::Style, text: &str, width: usize, right: bool, out: &Out) {
    if out.is_colored() {
        let mut cell = String::new();
        pad(&mut cell, text, width, right);
        to.push_str(&out.paint(style, cell));
    } else {
        pad(to, text, width, right);
    }
}
