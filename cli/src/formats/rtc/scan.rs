//! One pass over a file: units, frames, gaps, findings and sessions in the order in which they stand.

use super::value::Text;
use super::{Rtc, Walk};
use crate::progress::Progress;
use crate::status::{Result, Status};
use serde_json::Value;
use sha2::{Digest, Sha256};
use traceglass::rtc::{self, Checker, Frame, Gap, Stream, Unit};
use traceglass::{Finding, Severity};

/// What happens on a pass over the file, in file order.
pub(super) enum Event<'e, 'a> {
    /// A major unit has ended, or reading has left it.
    Unit(UnitRow),
    /// A frame, of a user's stream or not.
    Frame(&'e Frame<'a>),
    Gap(&'e Gap),
    Finding(Finding),
    /// A session has ended.
    Session(&'e Session),
}

/// What `ls` says of a major unit.
pub(super) struct UnitRow {
    pub(super) offset: u64,
    pub(super) number: u64,
    pub(super) session: u64,
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) end: u64,
    pub(super) crc: &'static str,
}

/// The streams of a session and what they held.
pub(super) struct Session {
    pub(super) number: u64,
    pub(super) rows: Vec<StreamRow>,
    pub(super) revision: u32,
}

pub(super) struct StreamRow {
    pub(super) id: u64,
    pub(super) name: Text,
    pub(super) format: Value,
    pub(super) length: Option<u64>,
    pub(super) frames: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) digest: Option<Sha256>,
    /// Whether a record has begun and goes on.
    pub(super) is_open: bool,
}

impl Session {
    fn new(number: u64) -> Self {
        Self { number, rows: Vec::new(), revision: 0 }
    }

    /// Takes over what the table says.
    fn update(&mut self, walk: &Walk<'_>, digest: bool) {
        let streams = walk.streams();
        if streams.revision() == self.revision {
            return;
        }
        self.revision = streams.revision();
        for place in 0..streams.len() {
            let Some(stream) = streams.at(place) else { break };
            if place == self.rows.len() {
                self.rows.push(StreamRow {
                    id: stream.id(),
                    name: Text::default(),
                    format: Value::Null,
                    length: None,
                    frames: 0,
                    records: 0,
                    bytes: 0,
                    digest: digest.then(Sha256::new),
                    is_open: false,
                });
            }
            let row = &mut self.rows[place];
            row.name = Text::of(stream.name());
            row.format = format_of(stream);
            row.length = stream.length();
        }
    }

    fn count(&mut self, frame: &Frame<'_>) {
        let Some(row) = frame.place().and_then(|place| self.rows.get_mut(place)) else { return };
        row.frames += 1;
        row.bytes += frame.payload().len() as u64;
        if let Some(digest) = &mut row.digest {
            digest.update(frame.payload());
        }
        // The rest of a record whose beginning was lost is none.
        let begun = !frame.continues() || row.is_open;
        row.records += u64::from(begun && !frame.more());
        row.is_open = begun && frame.more();
    }

    fn interrupt(&mut self) {
        for row in &mut self.rows {
            row.is_open = false;
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

/// The value of the attribute `format`: mostly its name.
fn format_of(stream: &Stream<'_>) -> Value {
    if let Some(name) = stream.format_name() {
        return Value::String(name.to_string());
    }
    let value = stream.attribute("format").or_else(|| stream.attribute("type"));
    let text: Vec<u8> = value.map(|value| value.text().bytes().collect()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or(Value::Null)
}

/// The unit that reading is in.
struct Current<'a> {
    unit: Unit<'a>,
    /// Where it begins: behind the unit before, even if bytes are missing there.
    offset: u64,
    session: u64,
    crc: &'static str,
}

impl Current<'_> {
    fn row(&self, end: u64) -> UnitRow {
        let unit = &self.unit;
        UnitRow {
            offset: self.offset,
            number: unit.number(),
            session: self.session,
            major: unit.major_size(),
            minor: unit.minor_size(),
            end: end.min(unit.end()),
            crc: self.crc,
        }
    }
}

impl<'a> Rtc<'a> {
    /// Reads the file once, and verifies it. Gives whether something is wrong.
    ///
    /// What prints records as it goes has no need of a bar between them.
    pub(super) fn scan(
        &self,
        bar: bool,
        digest: bool,
        mut event: impl FnMut(Event<'_, 'a>, &Walk<'a>) -> Result<()>,
    ) -> Result<Status> {
        let mut walk = Box::new(Walk::new(self.data));
        let mut checker = Checker::new();
        let mut session = Session::new(0);
        let mut current: Option<Current<'a>> = None;
        let mut status = Status::Clean;
        let mut found = Vec::new();
        let progress = bar.then(|| Progress::new(self.data.len() as u64));
        let mut told = 0;
        loop {
            while let Some(Ok(frame)) = walk.next_frame() {
                if frame.is_user() {
                    session.update(&walk, digest);
                    session.count(&frame);
                    event(Event::Frame(&frame), &walk)?;
                    continue;
                }
                if let Some(progress) = &progress {
                    progress.advance(frame.offset().saturating_sub(told));
                    told = frame.offset();
                }
                self.enter(&walk, &frame, &mut current, &mut session, &mut event)?;
                let verdict = checker.frame(&walk, &frame, |finding| found.push(finding));
                if let (Some(verdict), Some(current)) = (verdict, &mut current) {
                    current.crc = verdict.name();
                }
                for finding in found.drain(..) {
                    status = status.max(Status::damaged_if(finding.severity() == Severity::Error));
                    event(Event::Finding(finding), &walk)?;
                }
                session.update(&walk, digest);
                event(Event::Frame(&frame), &walk)?;
            }
            let Some(gap) = walk.resync() else { break };
            status = Status::Damaged;
            session.interrupt();
            checker.gap(&gap, |finding| found.push(finding));
            event(Event::Gap(&gap), &walk)?;
            for finding in found.drain(..) {
                event(Event::Finding(finding), &walk)?;
            }
        }
        checker.end(walk.session(), |finding| found.push(finding));
        for finding in found.drain(..) {
            event(Event::Finding(finding), &walk)?;
        }
        if let Some(current) = &current {
            event(Event::Unit(current.row(self.data.len() as u64)), &walk)?;
        }
        session.update(&walk, digest);
        event(Event::Session(&session), &walk)?;
        Ok(status)
    }

    /// Notices that another unit or session has begun with this frame.
    fn enter(
        &self,
        walk: &Walk<'a>,
        frame: &Frame<'a>,
        current: &mut Option<Current<'a>>,
        session: &mut Session,
        event: &mut impl FnMut(Event<'_, 'a>, &Walk<'a>) -> Result<()>,
    ) -> Result<()> {
        let Some(unit) = walk.unit() else { return Ok(()) };
        let same = current.as_ref().is_some_and(|current| {
            current.session == walk.session() && current.unit.position() == unit.position()
        });
        if same {
            return Ok(());
        }
        if frame.id() != rtc::id::MARKER {
            // The same unit goes on, only that bytes are missing in it, or were added.
            let moved = |current: &&mut Current<'_>| {
                current.session == walk.session() && current.unit.number() == unit.number()
            };
            if let Some(current) = current.as_mut().filter(moved) {
                current.unit = *unit;
                return Ok(());
            }
        }
        let mut offset = unit.offset();
        if let Some(current) = current {
            // Where a Marker is, the unit before has ended, even if reading went on a little.
            let begins = Unit::parse(self.data, offset).is_ok();
            let end = if begins { offset.max(current.offset) } else { u64::MAX };
            let row = current.row(end.min(frame.offset()));
            offset = offset.max(row.end);
            event(Event::Unit(row), walk)?;
        }
        if walk.session() != session.number {
            event(Event::Session(session), walk)?;
            *session = Session::new(walk.session());
        }
        *current = Some(Current { unit: *unit, offset, session: walk.session(), crc: "missing" });
        Ok(())
    }
}
