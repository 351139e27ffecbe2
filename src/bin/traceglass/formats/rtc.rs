//! RTC for each verb.

use super::Trace;
use crate::output::{DIM, ERROR, LABEL, Out, WARNING, bytes, counted, grouped, hex, printable};
use crate::status::{Failure, Result, Status, Unreadable};
use crate::table::{Table, left, right};
use crate::verbs::check::Findings;
use crate::verbs::hex::{Field, Fields};
use crate::verbs::info::Info;
use crate::verbs::{cat, ls};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use traceglass::rtc::{
    self, Annotation, Checker, Clocks, Frame, Gap, Name, Sample, Samples, Stream, Time, Unit,
};
use traceglass::{Error, Finding, Format};

/// How many streams a session may have.
const STREAMS: usize = 4096;
/// How many bytes of finished records wait for an earlier one that is not finished yet.
const WAITING: usize = 16 << 20;
/// A longer record is not joined.
const LONGEST: usize = 256 << 20;

type Walk<'a> = rtc::Walk<'a, STREAMS>;

/// Which part of an RTC file `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "rtc")]
#[command(next_help_heading = "RTC")]
pub struct Select {
    /// The stream of this name, or of this number
    #[arg(long, value_name = "NAME|ID")]
    stream: Option<String>,
    /// The payload bytes of the stream, one after the other
    #[arg(long, requires = "stream", conflicts_with = "json")]
    raw: bool,
}

struct Rtc<'a> {
    data: &'a [u8],
}

pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    match rtc::probe(data) {
        Ok(()) => Ok(Box::new(Rtc { data })),
        Err(error) => {
            Err(Unreadable { format: Some(Format::Rtc), error: Some(error), message: error.to_string() })
        }
    }
}

/// What happens on a pass over the file, in file order.
enum Event<'e, 'a> {
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
struct UnitRow {
    offset: u64,
    number: u64,
    session: u64,
    major: u64,
    minor: u64,
    end: u64,
    crc: &'static str,
}

/// The streams of a session and what they held.
struct Session {
    number: u64,
    rows: Vec<StreamRow>,
    revision: u32,
}

struct StreamRow {
    id: u64,
    name: Text,
    format: Value,
    length: Option<u64>,
    frames: u64,
    records: u64,
    bytes: u64,
    digest: Option<Sha256>,
    /// Whether a record has begun and goes on.
    is_open: bool,
}

/// A name that may not be UTF-8.
#[derive(Clone, Default)]
struct Text {
    text: Option<String>,
    raw: Option<Vec<u8>>,
}

impl Text {
    fn of(name: Option<Name<'_>>) -> Self {
        match name {
            Some(name) if name.is_utf8() => Self { text: Some(name.to_string()), raw: None },
            Some(name) => Self { text: None, raw: Some(name.raw().bytes().collect()) },
            None => Self::default(),
        }
    }

    fn insert(&self, object: &mut Map<String, Value>, key: &str) {
        object.insert(key.into(), self.text.clone().into());
        if let Some(raw) = &self.raw {
            object.insert(format!("{key}_hex"), hex(raw).into());
        }
    }

    fn shown(&self) -> String {
        match (&self.text, &self.raw) {
            (Some(text), _) => printable(text),
            (None, Some(raw)) => raw.escape_ascii().to_string(),
            (None, None) => String::new(),
        }
    }
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

    fn frames(&self) -> u64 {
        self.rows.iter().map(|row| row.frames).sum()
    }

    /// The rows by ascending id.
    fn sorted(&self) -> Vec<&StreamRow> {
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
    session: u64,
    crc: &'static str,
}

impl Current<'_> {
    fn row(&self, end: u64) -> UnitRow {
        let unit = &self.unit;
        UnitRow {
            offset: unit.offset(),
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
    /// Reads the file once. Gives how many sessions there were, and whether something is wrong.
    fn scan(
        &self,
        verify: bool,
        digest: bool,
        mut event: impl FnMut(Event<'_, 'a>, &Walk<'a>) -> Result<()>,
    ) -> Result<Status> {
        let mut walk = Box::new(Walk::new(self.data));
        let mut checker = Checker::new();
        let mut session = Session::new(0);
        let mut current: Option<Current<'a>> = None;
        let mut status = Status::Clean;
        let mut found = Vec::new();
        loop {
            while let Some(Ok(frame)) = walk.next_frame() {
                if frame.is_user() {
                    session.update(&walk, digest);
                    session.count(&frame);
                    event(Event::Frame(&frame), &walk)?;
                    continue;
                }
                self.enter(&walk, &frame, &mut current, &mut session, &mut event)?;
                if verify {
                    let verdict = checker.frame(&walk, &frame, |finding| found.push(finding));
                    if let (Some(verdict), Some(current)) = (verdict, &mut current) {
                        current.crc = verdict.name();
                    }
                }
                for finding in found.drain(..) {
                    status =
                        status.max(Status::damaged_if(finding.severity() == traceglass::Severity::Error));
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
        if let Some(current) = current {
            event(Event::Unit(current.row(frame.offset())), walk)?;
        }
        if walk.session() != session.number {
            event(Event::Session(session), walk)?;
            *session = Session::new(walk.session());
        }
        *current = Some(Current { unit: *unit, session: walk.session(), crc: "missing" });
        Ok(())
    }

    /// Where to begin, so that the unit at `offset` is read: at the Marker before it, if the grid has one there.
    fn unit_before(&self, offset: u64) -> u64 {
        let Ok(first) = Unit::parse(self.data, 0) else { return 0 };
        let at = offset - offset % first.major_size();
        if Unit::parse(self.data, at).is_ok() { at } else { 0 }
    }
}

impl Trace for Rtc<'_> {
    fn format(&self) -> Format {
        Format::Rtc
    }

    fn info(&self) -> Result<Info> {
        let mut summary = Summary::default();
        let status = self.scan(true, false, |event, walk| {
            summary.take(event, walk);
            Ok(())
        })?;
        Ok(summary.info(self.data.len() as u64, status))
    }

    fn ls(&self, args: &ls::Args, out: &mut Out) -> Result<Status> {
        if args.json {
            return self.scan(true, args.sha256, |event, _| match event {
                Event::Unit(row) => out.json(&row.json()),
                Event::Gap(gap) => out.json(&gap_json(gap)),
                Event::Session(session) => {
                    session.sorted().iter().try_for_each(|row| out.json(&row.json(session.number)))
                }
                Event::Frame(_) | Event::Finding(_) => Ok(()),
            });
        }
        let mut units = Table::new(&[
            right("unit"),
            right("session"),
            right("at"),
            right("bytes"),
            right("minor"),
            left("crc"),
        ]);
        let mut sessions: Vec<(u64, Vec<Vec<String>>)> = Vec::new();
        let (mut count, mut lost) = (0_u64, 0_u64);
        let status = self.scan(true, args.sha256, |event, _| match event {
            Event::Unit(row) => {
                count += 1;
                let minor = if row.minor < row.major { grouped(row.minor) } else { String::from("-") };
                let cells = vec![
                    row.number.to_string(),
                    row.session.to_string(),
                    format!("{:#x}", row.offset),
                    grouped(row.end.saturating_sub(row.offset)),
                    minor,
                    row.crc.to_owned(),
                ];
                match row.crc {
                    "mismatch" => units.styled_row(out, ERROR, cells),
                    "missing" | "stale" => units.styled_row(out, WARNING, cells),
                    _ => units.row(out, cells),
                }
            }
            Event::Gap(gap) => {
                lost += gap.len();
                let cells = vec![
                    String::from("gap"),
                    String::new(),
                    format!("{:#x}", gap.offset()),
                    grouped(gap.len()),
                    String::new(),
                    gap.reason().name().to_owned(),
                ];
                units.styled_row(out, ERROR, cells)
            }
            Event::Session(session) => {
                let rows = session.sorted().iter().map(|row| row.cells(session.number)).collect();
                sessions.push((session.number, rows));
                Ok(())
            }
            Event::Frame(_) | Event::Finding(_) => Ok(()),
        })?;
        units.finish(out)?;
        let mut columns =
            vec![right("session"), right("id"), left("stream"), left("format"), right("length")];
        columns.extend([right("frames"), right("records"), right("bytes")]);
        if args.sha256 {
            columns.push(left("sha256"));
        }
        let mut streams = Table::new(&columns);
        out.line("")?;
        for (_, rows) in sessions {
            for cells in rows {
                streams.row(out, cells)?;
            }
        }
        streams.finish(out)?;
        let lost = if lost > 0 { format!(", {} lost", bytes(lost)) } else { String::new() };
        out.line(format_args!("{}{lost}", counted(count, "unit", "units")))?;
        Ok(status)
    }

    fn cat(&self, args: &cat::Args, out: &mut Out) -> Result<Status> {
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
                    let Some(stream) = frame.place().and_then(|place| walk.streams().at(place)) else {
                        return Ok(());
                    };
                    if !wanted.is_none_or(|wanted| records.is_wanted(wanted, stream, walk)) {
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

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        self.scan(true, false, |event, _| {
            if let Event::Finding(finding) = event {
                findings.report(finding);
            }
            Ok(())
        })?;
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let shown = fields.range();
        let mut walk = Box::new(Walk::at_unit(self.data, self.unit_before(shown.start)));
        let mut status = Status::Clean;
        loop {
            while let Some(Ok(frame)) = walk.next_frame() {
                if frame.offset() >= shown.end {
                    return Ok(status);
                }
                if frame.end() > shown.start {
                    show(&walk, &frame, fields)?;
                }
            }
            let Some(gap) = walk.resync() else { return Ok(status) };
            if gap.offset() >= shown.end {
                return Ok(status);
            }
            if gap.end() >= shown.start {
                status = Status::Damaged;
            }
            let what = format!("{}: {}", gap.reason().name(), gap.cause());
            fields.field(&Field::new(gap.offset(), gap.len(), "(lost)", what))?;
        }
    }
}

/// The fields of a frame.
fn show(walk: &Walk<'_>, frame: &Frame<'_>, fields: &mut Fields<'_, '_>) -> Result<()> {
    let stream = frame.place().and_then(|place| walk.streams().at(place));
    let name = match (frame.id(), stream) {
        (0, _) => "nul".into(),
        (1, _) => "padding".into(),
        (2, _) => "Marker".into(),
        (3, _) => "Index".into(),
        (4, _) => "index".into(),
        (5, _) => "Meta".into(),
        (6, _) => "meta".into(),
        (7, _) => "platform".into(),
        (8, _) => "Crc".into(),
        (_, Some(stream)) => {
            stream.name().map_or_else(|| stream.id().to_string(), |name| printable(&name.to_string()))
        }
        (id, None) => id.to_string(),
    };
    let more = if frame.more() { ", more" } else { "" };
    let continues = if frame.continues() { ", continued" } else { "" };
    let header = format!("id {}, {} bytes{more}{continues}", frame.id(), frame.payload().len());
    fields.field(&Field::new(frame.offset(), frame.header_size().into(), format!("{name} frame"), header))?;
    let (at, len) = (frame.payload_offset(), frame.payload().len() as u64);
    if let Some(Ok(index)) = rtc::Index::of_frame(frame) {
        let mut entries = index.entries();
        if let Some(number) = index.number() {
            fields.field(&Field::new(at, entries.offset() - at, "unit number", number))?;
        }
        loop {
            let start = entries.offset();
            let Some(Ok(entry)) = entries.next() else { break };
            let what = match (entry.target(), entry.id(), index.number()) {
                (_, 3 | 4, Some(_)) => format!("{} bytes a unit", entry.distance()),
                (Some(target), id, _) => format!("stream {id} at {target:#x}"),
                (None, id, _) => format!("stream {id}: none yet"),
            };
            fields.field(&Field::new(start, entries.offset() - start, "entry", what))?;
        }
        return Ok(());
    }
    let value = match stream {
        Some(stream) if !frame.more() && !frame.continues() => {
            Content::of(stream, frame.payload(), at, walk).shown()
        }
        _ => String::new(),
    };
    fields.field(&Field::new(at, len, "  payload", value))
}

impl UnitRow {
    fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("kind".into(), "unit".into());
        object.insert("offset".into(), self.offset.into());
        object.insert("number".into(), self.number.into());
        object.insert("session".into(), self.session.into());
        object.insert("unit_bytes".into(), self.major.into());
        object.insert("subunit_bytes".into(), self.minor.into());
        object.insert("end".into(), self.end.into());
        object.insert("crc".into(), self.crc.into());
        object.into()
    }
}

impl StreamRow {
    fn json(&self, session: u64) -> Value {
        let mut object = Map::new();
        object.insert("kind".into(), "stream".into());
        object.insert("session".into(), session.into());
        object.insert("id".into(), self.id.into());
        self.name.insert(&mut object, "name");
        object.insert("format".into(), self.format.clone());
        object.insert("length".into(), self.length.into());
        object.insert("frames".into(), self.frames.into());
        object.insert("records".into(), self.records.into());
        object.insert("bytes".into(), self.bytes.into());
        if let Some(digest) = self.digest() {
            object.insert("sha256".into(), digest.into());
        }
        object.into()
    }

    fn cells(&self, session: u64) -> Vec<String> {
        let format = match &self.format {
            Value::String(text) => printable(text),
            Value::Null => String::from("-"),
            other => other.to_string(),
        };
        let mut cells = vec![
            session.to_string(),
            self.id.to_string(),
            self.name.shown(),
            format,
            self.length.map_or_else(String::new, grouped),
            grouped(self.frames),
            grouped(self.records),
            grouped(self.bytes),
        ];
        cells.extend(self.digest());
        cells
    }

    fn digest(&self) -> Option<String> {
        self.digest.as_ref().map(|digest| hex(&digest.clone().finalize()))
    }
}

fn gap_json(gap: &Gap) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), "gap".into());
    object.insert("offset".into(), gap.offset().into());
    object.insert("len".into(), gap.len().into());
    object.insert("reason".into(), gap.reason().name().into());
    object.insert("message".into(), gap.cause().to_string().into());
    object.into()
}

/// What `info` gathers.
#[derive(Default)]
struct Summary {
    units: u64,
    sessions: u64,
    streams: u64,
    frames: u64,
    records: u64,
    payload: u64,
    sizes: Option<(u64, u64)>,
    gaps: u64,
    lost: u64,
    verdicts: BTreeMap<&'static str, u64>,
    names: Vec<String>,
    damage: Vec<Error>,
    damages: u64,
    clocks: Option<Box<Clocks<STREAMS>>>,
    times: Vec<(u64, usize, String, Time, Time)>,
}

/// How many lines of a kind `info` shows.
const SHOWN: usize = 12;

impl Summary {
    fn take(&mut self, event: Event<'_, '_>, walk: &Walk<'_>) {
        match event {
            Event::Unit(row) => {
                self.units += 1;
                self.sizes.get_or_insert((row.major, row.minor));
                *self.verdicts.entry(row.crc).or_default() += 1;
            }
            Event::Gap(gap) => {
                self.gaps += 1;
                self.lost += gap.len();
                if let Some(clocks) = &mut self.clocks {
                    clocks.interrupt();
                }
            }
            Event::Finding(finding) if finding.severity() == traceglass::Severity::Error => {
                self.damages += 1;
                if self.damage.len() < SHOWN {
                    self.damage.push(finding.cause());
                }
            }
            Event::Finding(_) => {}
            Event::Session(session) => {
                self.sessions += 1;
                self.streams += session.rows.len() as u64;
                self.frames += session.frames();
                for row in session.sorted() {
                    self.records += row.records;
                    self.payload += row.bytes;
                    if self.names.len() < SHOWN {
                        let name = match row.name.shown() {
                            name if name.is_empty() => format!("stream {}", row.id),
                            name => name,
                        };
                        self.names.push(format!("{name}: {}", counted(row.records, "record", "records")));
                    }
                }
            }
            Event::Frame(frame) => self.time(frame, walk),
        }
    }

    /// Follows the clocks, for the range of time.
    fn time(&mut self, frame: &Frame<'_>, walk: &Walk<'_>) {
        let Some(place) = frame.place() else { return };
        let clocks = self.clocks.get_or_insert_with(|| Box::new(Clocks::new()));
        clocks.observe(walk.streams(), walk.byte_order(), frame);
        if clocks.clock_of(place) != Some(place) {
            return;
        }
        let (Some(time), session) = (clocks.time_at(place), walk.session()) else { return };
        if let Some((.., last)) = self.times.iter_mut().find(|(s, p, ..)| (*s, *p) == (session, place)) {
            *last = time;
        } else if self.times.len() < SHOWN {
            let name = walk.streams().at(place).map(|stream| Text::of(stream.name()).shown());
            self.times.push((session, place, name.unwrap_or_default(), time, time));
        }
    }

    fn info(self, size: u64, status: Status) -> Info {
        let mut fields = Map::new();
        fields.insert("units".into(), self.units.into());
        fields.insert("sessions".into(), self.sessions.into());
        fields.insert("streams".into(), self.streams.into());
        fields.insert("frames".into(), self.frames.into());
        fields.insert("unit_bytes".into(), self.sizes.map(|(major, _)| major).into());
        fields.insert("subunit_bytes".into(), self.sizes.map(|(_, minor)| minor).into());
        fields.insert("gaps".into(), self.gaps.into());
        let mut lines = Vec::new();
        let sizes = self.sizes.map_or_else(String::new, |(major, minor)| {
            let minor = if minor < major {
                format!(", each in minor ones of {}", bytes(minor))
            } else {
                String::new()
            };
            format!(" of {}{minor}", bytes(major))
        });
        lines.push(("units", format!("{}{sizes}", grouped(self.units))));
        if self.sessions > 1 {
            lines.push(("sessions", grouped(self.sessions)));
        }
        let verdicts: Vec<String> =
            self.verdicts.iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
        lines.push(("checksums", verdicts.join(", ")));
        lines.push((
            "records",
            format!(
                "{} in {}, {}",
                grouped(self.records),
                counted(self.frames, "frame", "frames"),
                bytes(self.payload)
            ),
        ));
        let more = self.streams.saturating_sub(self.names.len() as u64);
        for (number, name) in self.names.into_iter().enumerate() {
            lines.push((if number == 0 { "streams" } else { "" }, name));
        }
        if more > 0 {
            lines.push(("", format!("and {} more", grouped(more))));
        }
        for (number, (_, _, name, first, last)) in self.times.into_iter().enumerate() {
            let label = if number == 0 { "clocks" } else { "" };
            lines.push((label, format!("{name}: {first} s to {last} s")));
        }
        if self.lost > 0 {
            lines.push(("lost", format!("{} in {}", bytes(self.lost), counted(self.gaps, "gap", "gaps"))));
        }
        let mut damage: Vec<String> = self.damage.iter().map(Error::to_string).collect();
        let hidden = self.damages.saturating_sub(damage.len() as u64);
        if hidden > 0 {
            damage.push(format!("and {} more", grouped(hidden)));
        }
        let title = String::from("RTC, Ruler Trace Container");
        Info { bytes: size, status, fields, title, lines, damage }
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
}

impl Records {
    fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: 0,
            clocks: Box::new(Clocks::new()),
            session: 0,
            by_name: None,
        }
    }

    /// Whether a stream is the one that was asked for: by name, or by number if none has that name.
    fn is_wanted(&mut self, wanted: &str, stream: &Stream<'_>, walk: &Walk<'_>) -> bool {
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
            stream.name().is_some_and(|name| name.is(wanted))
        } else {
            wanted.parse() == Ok(stream.id())
        }
    }

    fn enter(&mut self, walk: &Walk<'_>) {
        if self.session != walk.session() {
            self.session = walk.session();
            self.interrupt();
            *self.clocks = Clocks::new();
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
        let Some(stream) = streams.at(record.place) else { return String::new() };
        let content = Content::of(stream, &record.data, record.payload_offset, walk);
        // An annotation says itself when it belongs, on the clock of the stream that it is about.
        let about = stream.stream().and_then(|name| {
            (0..streams.len())
                .find(|&place| streams.at(place).is_some_and(|other| other.name() == Some(name)))
        });
        let time = content.time.or(record.time);
        let clock = match content.time {
            Some(_) => about.or(Some(record.place)).and_then(|place| self.clocks.clock_of(place)),
            None => self.clocks.clock_of(record.place),
        };
        let clock = clock.and_then(|place| streams.at(place));
        if json {
            let mut object = Map::new();
            Text::of(stream.name()).insert(&mut object, "stream");
            object.insert("id".into(), stream.id().into());
            object.insert("session".into(), record.session.into());
            object.insert("offset".into(), record.offset.into());
            object.insert("len".into(), record.data.len().into());
            object.insert("time".into(), time.map(time_json).into());
            Text::of(clock.and_then(Stream::name)).insert(&mut object, "clock");
            if let Some(about) = about.and_then(|place| streams.at(place)) {
                Text::of(about.name()).insert(&mut object, "about");
            }
            object.insert("value".into(), content.value);
            if content.is_odd {
                object.insert("value_hex".into(), hex(&record.data).into());
            }
            return Value::from(object).to_string();
        }
        let time = time.map_or_else(|| String::from("-"), |time| time.to_string());
        let name = match Text::of(stream.name()).shown() {
            name if name.is_empty() => stream.id().to_string(),
            name => name,
        };
        let time = out.paint(DIM, format_args!("{time:>20}"));
        let name = out.paint(LABEL, format_args!("{name:<16}"));
        format!("{time}  {name}  {}", content.shown())
    }
}

/// An exact number of seconds.
fn time_json(time: Time) -> Value {
    time.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

/// What a record says.
struct Content {
    /// The time that an annotation carries.
    time: Option<Time>,
    value: Value,
    /// The bytes are not what the format says.
    is_odd: bool,
}

impl Content {
    fn of(stream: &Stream<'_>, data: &[u8], offset: u64, walk: &Walk<'_>) -> Self {
        let order = walk.byte_order();
        let odd = Self { time: None, value: Value::Null, is_odd: true };
        let (time, samples) = match Annotation::parse(data, offset, stream.format(), order) {
            Some(Ok(annotation)) => (Some(annotation.time), annotation.samples),
            Some(Err(_)) => return odd,
            None => (None, stream.samples(data, offset, order)),
        };
        match values(stream, samples) {
            Ok(mut values) => {
                let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
                Self { time, value, is_odd: false }
            }
            Err(_) => Self { time, ..odd },
        }
    }

    /// For people: a line at most.
    fn shown(&self) -> String {
        const LONGEST: usize = 120;
        let text = match &self.value {
            Value::String(text) => printable(text.trim_end_matches(['\n', '\r'])),
            Value::Array(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
            Value::Null if self.is_odd => String::from("(not what its format says)"),
            other => other.to_string(),
        };
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

fn values(stream: &Stream<'_>, samples: Samples<'_>) -> Result<Vec<Value>, Error> {
    let (gain, offset) = (stream.gain(), stream.offset());
    let is_raw = gain.is_none() && offset.is_none();
    samples
        .map(|sample| {
            let sample = sample?;
            Ok(match sample {
                Sample::Unsigned(value) if is_raw => value.into(),
                Sample::Signed(value) if is_raw => value.into(),
                Sample::Timespec(seconds, nanoseconds) if is_raw => {
                    time_json(Time::new(seconds, nanoseconds))
                }
                Sample::Text(text) => text.into(),
                Sample::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
                Sample::Bytes(bytes) => hex(bytes).into(),
                number => match number.scaled(gain, offset) {
                    Some(value) if value.is_finite() => value.into(),
                    Some(value) => {
                        let mut text = String::new();
                        let _ = write!(text, "{value}");
                        text.into()
                    }
                    None => Value::Null,
                },
            })
        })
        .collect()
}
