//! One pass over a file: units, frames, gaps, findings and sessions in file order.

use super::session::{Frames, Rtc, Slots};
use super::value::{Text, of_ns};
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::trace::{Extent, widen};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use traceglass::rtc::recover::{GapReason, Records, UnitSpan, Units};
use traceglass::rtc::{
    self, Checker, ClockLink, ClockTimes, Decimal, Format, Frame, Grid, NameSlot, Names, Record, Step,
    Stream, Streams, Time,
};
use traceglass::{Finding, Gap, Severity};

/// The options of a pass over a file.
#[derive(Default)]
pub(super) struct Pass {
    /// True if records are counted, by streams and by units.
    pub(super) counts: bool,
    /// True if the payload of each stream is hashed.
    pub(super) digest: bool,
    /// The offset to begin at, if not at the start.
    pub(super) start: Option<u64>,
    /// True if the file grows: then what it ends in is no damage.
    pub(super) follows: bool,
    /// Set by a visitor that has seen enough.
    pub(super) stop: Cell<bool>,
}

/// The events of a pass over the file, in file order.
pub(super) enum Event<'e, 'a> {
    /// A major unit has ended, or reading has left it.
    Unit(UnitRow<'a>),
    /// A frame, of a user's stream or not, and the streams.
    Frame(&'e Frame<'a>, Streams<'e, 'a>),
    /// A record, after the frame that completes it.
    Record(&'e Record<'e, 'a>),
    /// The first record that is open, after a piece of one: no later record begins before it.
    Open(Option<u64>),
    Gap(&'e Gap, GapReason),
    Finding(Finding),
    /// A session has ended.
    Session(&'e Session),
}

/// The row of `ls` for a major unit.
pub(super) struct UnitRow<'a> {
    pub(super) span: UnitSpan<'a>,
    pub(super) counts: UnitCounts,
}

/// The counts of a unit.
pub(super) struct UnitCounts {
    pub(super) crc: &'static str,
    /// The number of records that end in it, and the earliest and latest time of them.
    pub(super) records: u64,
    pub(super) extent: Extent<Time>,
}

impl UnitCounts {
    const NONE: Self =
        Self { crc: "missing", records: 0, extent: Extent { times: None, is_absolute: false } };
}

/// The streams of a session and what they held.
pub(super) struct Session {
    pub(super) number: u64,
    pub(super) rows: Vec<StreamRow>,
}

/// The longest record that is joined.
pub(super) const LONGEST: usize = 256 << 20;

/// The facts about a stream that its object has.
#[derive(Default)]
pub(super) struct Details {
    /// The whole object.
    pub(super) object: Map<String, Value>,
    pub(super) gain: Option<Decimal>,
    pub(super) offset: Option<Decimal>,
    /// The clock that it tells its time by.
    pub(super) clock: Text,
    /// True if that counts from the Unix epoch.
    pub(super) is_absolute: bool,
}

impl Details {
    fn of(slot: usize, stream: &Stream<'_>, streams: Streams<'_, '_>) -> Self {
        let text: Vec<u8> = stream.object().bytes().collect();
        let value = std::str::from_utf8(&text).ok().and_then(crate::json::value);
        let object = match value {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        let is_clock = stream.clock() == Some(ClockLink::IsClock);
        let clock = if is_clock { Some(stream) } else { streams.clock_of(slot) };
        Self {
            object,
            // One that cannot be read is reported by `check`.
            gain: stream.gain().ok().flatten(),
            offset: stream.offset().ok().flatten(),
            clock: Text::of(clock.filter(|_| !is_clock).and_then(|clock| clock.name())),
            is_absolute: streams.is_absolute(slot),
        }
    }
}

pub(super) struct StreamRow {
    pub(super) id: u64,
    pub(super) details: Details,
    /// Earliest and latest time of its records.
    pub(super) times: Option<(Time, Time)>,
    pub(super) name: Text,
    pub(super) format: Value,
    pub(super) length: Option<u64>,
    pub(super) frames: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) digest: Option<Sha256>,
    /// The offset of the object that this was taken from.
    declared: u64,
}

impl Session {
    fn new(number: u64) -> Self {
        Self { number, rows: Vec::new() }
    }

    /// The row of a stream, as the table declares it.
    fn row(&mut self, slot: usize, streams: Streams<'_, '_>, digest: bool) -> Option<&mut StreamRow> {
        for slot in self.rows.len()..=slot {
            self.rows.push(StreamRow::new(streams.at(slot)?.id(), digest));
        }
        let (row, stream) = (self.rows.get_mut(slot)?, streams.at(slot)?);
        if row.declared != stream.object().offset() {
            row.declared = stream.object().offset();
            row.name = Text::of(stream.name());
            row.format = format_of(stream);
            row.length = stream.length();
            row.details = Details::of(slot, stream, streams);
        }
        Some(row)
    }

    /// Enters the streams that are new.
    fn declare(&mut self, streams: Streams<'_, '_>, digest: bool) {
        for slot in self.rows.len()..streams.len() {
            self.row(slot, streams, digest);
        }
    }

    /// Takes over what the table says of all streams.
    fn update(&mut self, streams: Streams<'_, '_>, digest: bool) {
        for slot in 0..streams.len() {
            self.row(slot, streams, digest);
        }
    }

    fn count(&mut self, frame: &Frame<'_>, streams: Streams<'_, '_>, digest: bool) {
        let Some(row) = frame.slot().and_then(|slot| self.row(slot, streams, digest)) else { return };
        row.frames += 1;
        row.bytes += frame.payload().len() as u64;
        if let Some(digest) = &mut row.digest {
            digest.update(frame.payload());
        }
    }

    /// Counts a record, of which the frames are counted.
    fn count_record<'r, 'a>(
        &mut self,
        record: &Record<'r, 'a>,
        names: &'r mut Names<'a, Vec<NameSlot<'a>>>,
        counts: &mut UnitCounts,
    ) {
        counts.records += 1;
        let Some(row) = self.rows.get_mut(record.slot()) else { return };
        row.records += 1;
        if let Some(time) = time_of(names, record) {
            widen(&mut row.times, time, time);
            counts.extent.meet(time, time, row.details.is_absolute);
        }
    }

    pub(super) fn frames(&self) -> u64 {
        self.rows.iter().map(|row| row.frames).sum()
    }

    /// The rows by ascending id.
    pub(super) fn sorted(&self) -> Vec<&StreamRow> {
        let mut rows: Vec<&StreamRow> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.id);
        rows
    }
}

impl StreamRow {
    fn new(id: u64, digest: bool) -> Self {
        Self {
            id,
            details: Details::default(),
            times: None,
            name: Text::default(),
            format: Value::Null,
            length: None,
            frames: 0,
            records: 0,
            bytes: 0,
            digest: digest.then(Sha256::new),
            declared: u64::MAX,
        }
    }
}

/// The value of the attribute `format`: mostly its name.
fn format_of(stream: &Stream<'_>) -> Value {
    if let Some(name) = stream.format_name() {
        return Value::String(name.to_string());
    }
    let value = stream.attribute("format").or_else(|| stream.attribute("type"));
    let text: Vec<u8> = value.map(|value| value.text().bytes().collect()).unwrap_or_default();
    std::str::from_utf8(&text).ok().and_then(crate::json::value).unwrap_or(Value::Null)
}

/// The time of a record, which an annotation says itself.
pub(super) fn time_of<'r, 'a>(
    names: &'r mut Names<'a, Vec<NameSlot<'a>>>,
    record: &Record<'r, 'a>,
) -> Option<Time> {
    if !matches!(record.stream().format(), Format::Annotate(_)) {
        return record.time();
    }
    // The room for names grows.
    names.record(record).ok().and_then(|named| named.time()).map(|time| of_ns(time.ns()))
}

impl<'a> Rtc<'a> {
    /// Reads the file once, or a part of it, and verifies it. Gives whether something is wrong.
    pub(super) fn scan(
        &self,
        pass: &Pass,
        mut event: impl FnMut(Event<'_, 'a>) -> Result<()>,
    ) -> Result<Status> {
        let mut buffer = self.buffer();
        let mut records = match pass.start.and_then(|at| self.frames_at(at)) {
            Some((frames, clocks)) => {
                let mut records = Records::of(frames, &mut buffer);
                records.prime(&clocks);
                records
            }
            None => Records::new(self.data, Slots::new(), &mut buffer),
        };
        let digest = pass.digest;
        // A unit that is read from its middle has a checksum that cannot be verified.
        let is_whole = pass.start.is_none();
        let mut checker = Checker::by(crc32fast::hash);
        let mut session = Session::new(records.frames().session());
        let (mut units, mut counts) = (Units::new(), UnitCounts::NONE);
        let mut names = Names::new(Vec::new());
        let mut status = Status::Clean;
        let mut found = Vec::new();
        let from = pass.start.unwrap_or(0);
        let progress = Progress::new((self.data.len() as u64).saturating_sub(from));
        let mut told = from;
        loop {
            if pass.stop.get() {
                break;
            }
            let gap = match records.next_frame_or_record() {
                Step::Frame(frame) => {
                    if frame.is_user() {
                        if pass.counts {
                            session.count(&frame, records.streams(), digest);
                        }
                        event(Event::Frame(&frame, records.streams()))?;
                        event(Event::Open(records.first_open()))?;
                        continue;
                    }
                    progress.advance(frame.offset().saturating_sub(told));
                    told = told.max(frame.offset());
                    let frames = records.frames();
                    if units.follow(frames, &frame) {
                        let counts = std::mem::replace(&mut counts, UnitCounts::NONE);
                        if let Some(span) = units.take_ended() {
                            event(Event::Unit(UnitRow { span, counts }))?;
                        }
                        if frames.session() != session.number {
                            event(Event::Session(&session))?;
                            session = Session::new(frames.session());
                        }
                    }
                    if is_whole {
                        let crc = checker.frame(frames, &frame, |finding| found.push(finding));
                        if let Some(crc) = crc {
                            counts.crc = crc.name();
                        }
                    }
                    for finding in found.drain(..) {
                        status = status.max(Status::damaged_if(finding.severity() == Severity::Error));
                        event(Event::Finding(finding))?;
                    }
                    if matches!(frame.id(), rtc::id::META | rtc::id::MINOR_META) {
                        // The table is read again at the end of the session, at which it may be another one's.
                        session.declare(frames.streams(), digest);
                    }
                    event(Event::Frame(&frame, frames.streams()))?;
                    continue;
                }
                Step::Record(record) => {
                    let frame = *record.frame();
                    if pass.counts {
                        session.count(&frame, record.streams(), digest);
                        session.count_record(&record, &mut names, &mut counts);
                    }
                    event(Event::Frame(&frame, record.streams()))?;
                    event(Event::Record(&record))?;
                    if frame.continues() {
                        event(Event::Open(records.first_open()))?;
                    }
                    continue;
                }
                Step::Gap(gap) => gap,
                _ => break,
            };
            if pass.follows && gap.end() >= self.data.len() as u64 && gap.cause().is_truncation() {
                // The rest of it is to come.
                break;
            }
            status = Status::Damaged;
            checker.gap(&gap, |finding| found.push(finding));
            let reason = records.frames().gap_reason().unwrap_or(GapReason::Frames);
            event(Event::Gap(&gap, reason))?;
            event(Event::Open(records.first_open()))?;
            for finding in found.drain(..) {
                event(Event::Finding(finding))?;
            }
        }
        if is_whole && !pass.stop.get() && !pass.follows {
            checker.end(records.frames().session(), |finding| found.push(finding));
        }
        for finding in found.drain(..) {
            event(Event::Finding(finding))?;
        }
        if let Some(span) = units.finish(self.data.len() as u64) {
            event(Event::Unit(UnitRow { span, counts }))?;
        }
        if pass.follows {
            event(Event::Open(records.first_open()))?;
        }
        session.update(records.streams(), digest);
        event(Event::Session(&session))?;
        Ok(status)
    }

    /// Room for the records that are joined. Memory that is not touched costs nothing.
    pub(super) fn buffer(&self) -> Vec<u8> {
        vec![0; self.data.len().saturating_mul(2).min(LONGEST)]
    }

    /// The frames from a place on that a grid gives, and what clocks said before.
    fn frames_at(&self, at: u64) -> Option<(Frames<'a>, ClockTimes)> {
        let grid = Grid::new(self.data).ok()?;
        let frames = grid.frames(at, Slots::new()).ok()?;
        let clocks = grid.clocks_before(frames.offset(), &mut Slots::new());
        Some((Frames::from_strict(frames), clocks))
    }
}
