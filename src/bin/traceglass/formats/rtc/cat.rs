//! Records, put together from frames.

use super::scan::Event;
use super::value::{Content, Scale, Text, time_json};
use super::{Rtc, STREAMS, Walk};
use crate::output::{DIM, LABEL, Out, bytes, hex};
use crate::status::{Failure, Result, Status};
use crate::verbs::cat;
use serde_json::Map;
use std::collections::VecDeque;
use traceglass::rtc::{Clocks, Frame, Stream, Time};

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
                    records.learn(wanted, walk);
                    if !frame
                        .place()
                        .and_then(|place| records.streams.get(place))
                        .is_some_and(|row| row.wanted)
                    {
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
    /// What the attributes of each stream say, read once for each revision of the table.
    streams: Vec<Known>,
    revision: Option<u32>,
}

/// What the attributes of a stream say.
struct Known {
    name: Text,
    wanted: bool,
    scale: Scale,
    /// The stream that an annotation is about.
    about: Option<usize>,
}

impl Records {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: 0,
            clocks: Box::new(Clocks::new()),
            session: 0,
            streams: Vec::new(),
            revision: None,
        }
    }

    /// Takes over what the table says. What is wanted is so by name, or by number if no stream has that name.
    fn learn(&mut self, wanted: Option<&str>, walk: &Walk<'_>) {
        let streams = walk.streams();
        if self.revision == Some(streams.revision()) {
            return;
        }
        self.revision = Some(streams.revision());
        let by_name = wanted.is_some_and(|wanted| streams.by_name(wanted).is_some());
        let is_wanted = |wanted: &str, stream: &Stream<'_>| match by_name {
            true => stream.name().is_some_and(|name| name.is(wanted)),
            false => wanted.parse() == Ok(stream.id()),
        };
        let known = streams.iter().map(|stream| Known {
            name: Text::of(stream.name()),
            wanted: wanted.is_none_or(|wanted| is_wanted(wanted, stream)),
            scale: Scale::of(stream),
            about: stream
                .stream()
                .and_then(|name| streams.iter().position(|other| other.name() == Some(name))),
        });
        self.streams = known.collect();
    }

    fn enter(&mut self, walk: &Walk<'_>) {
        if self.session != walk.session() {
            self.session = walk.session();
            self.interrupt();
            *self.clocks = Clocks::new();
            self.revision = None;
        }
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
        let known = self.streams.get(record.place);
        let Some((stream, known)) = streams.at(record.place).zip(known) else { return String::new() };
        let content = Content::of(stream, known.scale, &record.data, record.payload_offset, walk);
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = known.about;
        let time = content.time.or(record.time);
        let clock = match content.time {
            Some(_) => about.or(Some(record.place)).and_then(|place| self.clocks.clock_of(place)),
            None => self.clocks.clock_of(record.place),
        };
        let name_of =
            |place: Option<usize>| place.and_then(|place| self.streams.get(place)).map(|row| &row.name);
        if json {
            let mut object = Map::new();
            known.name.insert(&mut object, "stream");
            object.insert("id".into(), stream.id().into());
            object.insert("session".into(), record.session.into());
            object.insert("offset".into(), record.offset.into());
            object.insert("len".into(), record.data.len().into());
            object.insert("time".into(), time.map(time_json).into());
            name_of(clock).unwrap_or(&Text::default()).insert(&mut object, "clock");
            if let Some(about) = name_of(about) {
                about.insert(&mut object, "about");
            }
            object.insert("value".into(), content.value);
            if content.is_odd {
                object.insert("value_hex".into(), hex(&record.data).into());
            }
            // Not `to_string` of the value, which formats piece by piece.
            return serde_json::to_string(&object).unwrap_or_default();
        }
        let time = time.map_or_else(|| String::from("-"), |time| time.to_string());
        let name = match known.name.shown() {
            name if name.is_empty() => stream.id().to_string(),
            name => name,
        };
        let time = out.paint(DIM, format_args!("{time:>20}"));
        let name = out.paint(LABEL, format_args!("{name:<16}"));
        format!("{time}  {name}  {}", content.shown())
    }
}
