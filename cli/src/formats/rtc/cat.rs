//! Records, put together from frames.

use super::scan::Event;
use super::value::{Content, Known};
use super::{Rtc, STREAMS, Walk};
use crate::json::Line;
use crate::output::{DIM, LABEL, Out, bytes};
use crate::status::{Failure, Result, Status};
use crate::trace::Selection;
use std::collections::VecDeque;
use std::io::Write;
use traceglass::rtc::{Clocks, Frame, Time};
use traceglass::{ErrorKind, Severity};

/// How many bytes of finished records wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;
/// A longer record is not joined.
const LONGEST: usize = 256 << 20;

impl Rtc<'_> {
    pub(super) fn print(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        let wanted = args.rtc.stream.as_deref();
        let mut seen = wanted.is_none();
        let mut records = Records::new();
        let mut lost = None;
        let status = self.scan(false, false, |event, walk| {
            match event {
                Event::Frame(frame) => {
                    records.enter(walk);
                    if !frame.is_user() {
                        return Ok(());
                    }
                    records.clocks.observe(walk.streams(), walk.byte_order(), frame);
                    let Some(place) = frame.place() else { return Ok(()) };
                    if !wanted.is_none_or(|wanted| records.is_wanted(wanted, place, walk)) {
                        return Ok(());
                    }
                    seen = true;
                    if args.rtc.raw {
                        return out.raw(frame.payload());
                    }
                    records.take(walk, frame, args.json, out)?;
                }
                Event::Gap(gap) => {
                    out.warn(&args.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                    records.interrupt();
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
                    records.interrupt();
                }
                Event::Unit(_) => {}
            }
            records.print(args.json, out)
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

/// Where a record begins, and when.
#[derive(Clone, Copy)]
struct Begin {
    place: usize,
    offset: u64,
    payload_offset: u64,
    session: u64,
    time: Option<Time>,
}

/// A record that is being put together, or that waits for an earlier one.
struct Pending {
    begin: Begin,
    data: Vec<u8>,
    state: State,
}

enum State {
    /// It goes on.
    Open,
    /// It was interrupted, or is too long.
    Lost,
    /// It is complete, and this is the line to be printed.
    Done(Vec<u8>),
}

/// Puts records together, and hands them out in the order in which they begin.
struct Records {
    queue: VecDeque<Pending>,
    waiting: usize,
    line: Line,
    clocks: Box<Clocks<STREAMS>>,
    session: u64,
    /// What was wanted was looked up for this table, and is there by name.
    by_name: Option<(u32, bool)>,
    /// What was looked up of the streams of a table with this revision, by their places.
    known: Vec<Option<Known>>,
    revision: u32,
}

impl Records {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: 0,
            line: Line::new(),
            clocks: Box::new(Clocks::new()),
            session: 0,
            by_name: None,
            known: Vec::new(),
            revision: 0,
        }
    }

    /// Whether a stream is the one that was asked for: by name, or by number if none has that name.
    fn is_wanted(&mut self, wanted: &str, place: usize, walk: &Walk<'_>) -> bool {
        let revision = walk.streams().revision();
        let named = match self.by_name {
            Some((known, named)) if known == revision => named,
            _ => {
                let named = walk.streams().by_name(wanted).is_some();
                self.by_name = Some((revision, named));
                named
            }
        };
        if named {
            self.learn_one(place, walk);
            self.known(Some(place)).is_some_and(|known| known.name.text.as_deref() == Some(wanted))
        } else {
            walk.streams().at(place).is_some_and(|stream| wanted.parse() == Ok(stream.id()))
        }
    }

    fn enter(&mut self, walk: &Walk<'_>) {
        if self.session != walk.session() {
            self.session = walk.session();
            self.interrupt();
            *self.clocks = Clocks::new();
            self.known.clear();
            self.by_name = None;
        }
    }

    /// Looks up what is asked of a stream for each record: of the stream, of the one that it annotates, of their clocks.
    fn learn(&mut self, place: usize, walk: &Walk<'_>) {
        self.learn_one(place, walk);
        let about = self.known(Some(place)).and_then(|known| known.about);
        let clocks = [Some(place), about].map(|place| self.clocks.clock_of(place?));
        for place in about.into_iter().chain(clocks.into_iter().flatten()) {
            self.learn_one(place, walk);
        }
    }

    fn known(&self, place: Option<usize>) -> Option<&Known> {
        self.known.get(place?)?.as_ref()
    }

    fn learn_one(&mut self, place: usize, walk: &Walk<'_>) {
        let streams = walk.streams();
        if self.revision != streams.revision() || self.known.len() < streams.len() {
            self.revision = streams.revision();
            self.known.clear();
            self.known.resize_with(streams.len(), || None);
        }
        let Some(known @ None) = self.known.get_mut(place) else { return };
        *known = streams.at(place).map(|stream| Known::of(stream, streams));
    }

    /// Frames were lost: what is open stays so.
    fn interrupt(&mut self) {
        for pending in self.queue.iter_mut().filter(|pending| matches!(pending.state, State::Open)) {
            pending.state = State::Lost;
            pending.data = Vec::new();
        }
        self.clocks.interrupt();
    }

    fn take(&mut self, walk: &Walk<'_>, frame: &Frame<'_>, json: bool, out: &mut Out) -> Result<()> {
        let Some(place) = frame.place() else { return Ok(()) };
        let is_clock = self.clocks.clock_of(place) == Some(place);
        let now = self.clocks.time_at(place);
        let is_open =
            |pending: &Pending| pending.begin.place == place && matches!(pending.state, State::Open);
        let at = if frame.continues() {
            // The rest of a record whose beginning was lost has none.
            let Some(at) = self.queue.iter().rposition(is_open) else { return Ok(()) };
            at
        } else {
            let (offset, payload_offset) = (frame.offset(), frame.payload_offset());
            let begin = Begin { place, offset, payload_offset, session: walk.session(), time: now };
            if self.queue.is_empty() && !frame.more() {
                // Most are in one piece, and wait for none.
                self.write(&begin, frame.payload(), json, walk, out);
                return emit(json, &self.line.text, out);
            }
            self.queue.push_back(Pending { begin, data: Vec::new(), state: State::Open });
            self.queue.len() - 1
        };
        let record = &mut self.queue[at];
        record.data.extend(frame.payload());
        self.waiting += frame.payload().len();
        if is_clock {
            record.begin.time = now;
        }
        if record.data.len() > LONGEST {
            record.state = State::Lost;
            record.data = Vec::new();
        } else if !frame.more() {
            let (begin, data) = (record.begin, std::mem::take(&mut record.data));
            self.write(&begin, &data, json, walk, out);
            self.waiting += self.line.text.len();
            self.queue[at].state = State::Done(self.line.text.clone());
        }
        Ok(())
    }

    /// Prints what is complete.
    fn print(&mut self, json: bool, out: &mut Out) -> Result<()> {
        loop {
            let place = match self.queue.front() {
                None => break,
                Some(first) if !matches!(first.state, State::Open) => 0,
                // One that never ends must not hold back all others for ever.
                Some(_) if self.waiting > WAITING => {
                    match self.queue.iter().position(|pending| !matches!(pending.state, State::Open)) {
                        Some(place) => place,
                        None => break,
                    }
                }
                Some(_) => return Ok(()),
            };
            let Some(record) = self.queue.remove(place) else { break };
            if let State::Done(line) = record.state {
                self.waiting = self.waiting.saturating_sub(line.len());
                emit(json, &line, out)?;
            }
        }
        if self.queue.is_empty() {
            self.waiting = 0;
        }
        Ok(())
    }

    /// Writes the line of a complete record.
    fn write(&mut self, begin: &Begin, data: &[u8], json: bool, walk: &Walk<'_>, out: &Out) {
        self.learn(begin.place, walk);
        let mut line = std::mem::take(&mut self.line);
        line.text.clear();
        let stream = walk.streams().at(begin.place);
        if let (Some(stream), Some(known)) = (stream, self.known(Some(begin.place))) {
            let content = Content::of(stream, data, begin.payload_offset, walk);
            if json {
                self.write_json(&mut line, begin, known, &content, data.len());
                if !content.write(&mut line.key("value").text, known) {
                    line.hex("value_hex", data);
                }
                line.end();
            } else {
                let time = content.time.or(begin.time);
                let time = time.map_or_else(|| String::from("-"), |time| time.to_string());
                let time = out.paint(DIM, format_args!("{time:>20}"));
                let name = out.paint(LABEL, format_args!("{:<16}", known.shown));
                // A vector takes all that is written to it.
                let _ = writeln!(line.text, "{time}  {name}  {}", content.shown(known));
            }
        }
        self.line = line;
    }

    /// All but the value.
    fn write_json(&self, line: &mut Line, begin: &Begin, known: &Known, content: &Content<'_>, len: usize) {
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = known.about;
        let time = content.time.or(begin.time);
        let clock = match content.time {
            Some(_) => about.or(Some(begin.place)).and_then(|place| self.clocks.clock_of(place)),
            None => self.clocks.clock_of(begin.place),
        };
        known.name.write(line.begin(), "stream");
        line.int("id", known.id).int("session", begin.session);
        line.int("offset", begin.offset).int("len", len as u64);
        match time {
            // Exact, as a number of any precision.
            Some(time) => line.raw("time", format_args!("{time}")),
            None => line.null("time"),
        };
        match self.known(clock) {
            Some(clock) => clock.name.write(line, "clock"),
            None => {
                line.null("clock");
            }
        }
        if let Some(about) = self.known(about) {
            about.name.write(line, "about");
        }
    }
}

/// Prints a line that is complete.
fn emit(json: bool, line: &[u8], out: &mut Out) -> Result<()> {
    if json { out.json_text(line) } else { out.line(String::from_utf8_lossy(line).trim_end()) }
}
