//! Records, put together from frames.

use super::scan::Event;
use super::value::{Content, Known, Text, time_json};
use super::{Rtc, STREAMS, Walk};
use crate::output::{DIM, LABEL, Out, bytes, hex};
use crate::status::{Failure, Result, Status};
use crate::verbs::cat;
use serde_json::Map;
use std::collections::VecDeque;
use traceglass::rtc::{Clocks, Frame, Time};

/// How many bytes of finished records wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;
/// A longer record is not joined.
const LONGEST: usize = 256 << 20;

impl Rtc<'_> {
    pub(super) fn print(&self, args: &cat::Args, out: &mut Out) -> Result<Status> {
        let wanted = args.rtc.stream.as_deref();
        let mut seen = wanted.is_none();
        let mut records = Records::new();
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
                        return out.bytes(frame.payload());
                    }
                    records.take(walk, frame, args.json, out);
                }
                Event::Gap(gap) => {
                    out.warn(&args.path, format_args!("{}; {} lost", gap.cause(), bytes(gap.len())));
                    records.interrupt();
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
                Event::Unit(_) | Event::Finding(_) => {}
            }
            records.print(out)
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

/// A record that is being put together, or that waits for an earlier one.
struct Pending {
    place: usize,
    offset: u64,
    payload_offset: u64,
    session: u64,
    time: Option<Time>,
    data: Vec<u8>,
    state: State,
}

enum State {
    /// It goes on.
    Open,
    /// It was interrupted, or is too long.
    Lost,
    /// It is complete, and this is the line to be printed.
    Done(String),
}

/// Puts records together, and hands them out in the order in which they begin.
struct Records {
    queue: VecDeque<Pending>,
    waiting: usize,
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

    fn take(&mut self, walk: &Walk<'_>, frame: &Frame<'_>, json: bool, out: &Out) {
        let Some(place) = frame.place() else { return };
        let is_clock = self.clocks.clock_of(place) == Some(place);
        let now = self.clocks.time_at(place);
        let is_open = |pending: &Pending| pending.place == place && matches!(pending.state, State::Open);
        let at = if frame.continues() {
            // The rest of a record whose beginning was lost has none.
            let Some(at) = self.queue.iter().rposition(is_open) else { return };
            at
        } else {
            self.queue.push_back(Pending {
                place,
                offset: frame.offset(),
                payload_offset: frame.payload_offset(),
                session: walk.session(),
                time: now,
                data: Vec::new(),
                state: State::Open,
            });
            self.queue.len() - 1
        };
        let record = &mut self.queue[at];
        record.data.extend(frame.payload());
        self.waiting += frame.payload().len();
        if is_clock {
            record.time = now;
        }
        if record.data.len() > LONGEST {
            record.state = State::Lost;
            record.data = Vec::new();
        } else if !frame.more() {
            self.learn(place, walk);
            let line = self.line(&self.queue[at], json, walk, out);
            let record = &mut self.queue[at];
            record.data = Vec::new();
            self.waiting += line.len();
            record.state = State::Done(line);
        }
    }

    /// Prints what is complete.
    fn print(&mut self, out: &mut Out) -> Result<()> {
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
                out.line(line)?;
            }
        }
        if self.queue.is_empty() {
            self.waiting = 0;
        }
        Ok(())
    }

    /// The line of a complete record.
    fn line(&self, record: &Pending, json: bool, walk: &Walk<'_>, out: &Out) -> String {
        let streams = walk.streams();
        let (Some(stream), Some(known)) = (streams.at(record.place), self.known(Some(record.place))) else {
            return String::new();
        };
        let content = Content::of(stream, known, &record.data, record.payload_offset, walk, !json);
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = known.about;
        let time = content.time.or(record.time);
        let clock = match content.time {
            Some(_) => about.or(Some(record.place)).and_then(|place| self.clocks.clock_of(place)),
            None => self.clocks.clock_of(record.place),
        };
        if json {
            let mut object = Map::new();
            known.name.insert(&mut object, "stream");
            object.insert("id".into(), stream.id().into());
            object.insert("session".into(), record.session.into());
            object.insert("offset".into(), record.offset.into());
            object.insert("len".into(), record.data.len().into());
            object.insert("time".into(), time.map(time_json).into());
            match self.known(clock) {
                Some(clock) => clock.name.insert(&mut object, "clock"),
                None => Text::default().insert(&mut object, "clock"),
            }
            if let Some(about) = self.known(about) {
                about.name.insert(&mut object, "about");
            }
            object.insert("value".into(), content.value);
            if content.is_odd {
                object.insert("value_hex".into(), hex(&record.data).into());
            }
            // Not `to_string` of the value, which formats piece by piece.
            return serde_json::to_string(&object).unwrap_or_default();
        }
        let time = time.map_or_else(|| String::from("-"), |time| time.to_string());
        let name = &known.shown;
        let time = out.paint(DIM, format_args!("{time:>20}"));
        let name = out.paint(LABEL, format_args!("{name:<16}"));
        format!("{time}  {name}  {}", content.shown())
    }
}
