//! The lines of `info`.

use super::scan::{Event, Pass, StreamRow};
use super::session::Rtc;
use super::value::in_ns;
use crate::output::{bytes, counted, grouped, printable};
use crate::status::{Result, Status};
use crate::table::{Table, date, left, right};
use crate::trace::{Damage, Extent, Info, Inquiry, aligned, duration, insert_span, shown_time};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use traceglass::Severity;
use traceglass::rtc::{Grid, Unit};

impl Rtc<'_> {
    pub(super) fn summarise(&self, args: &Inquiry) -> Result<Info> {
        let size = self.data.len() as u64;
        if !args.wants_all(size) {
            return self.glance();
        }
        let mut summary = Summary::default();
        let pass = Pass { counts: true, ..Pass::default() };
        let status = self.scan(&pass, |event| {
            summary.take(event);
            Ok(())
        })?;
        Ok(summary.info(size, status))
    }

    /// Looks at the first unit and the last one.
    fn glance(&self) -> Result<Info> {
        /// The number of bytes that are read where there is no grid to rely on.
        const START: usize = 16 << 20;
        let mut summary = Summary { is_glance: true, ..Summary::default() };
        let grid = self.grid();
        let last = grid.and_then(|grid| grid.unit_at((self.data.len() as u64).saturating_sub(1)).ok());
        let part = Rtc { data: self.data.get(..START).unwrap_or(self.data) };
        let (file, start) =
            if grid.is_some() { (self, last.map(|unit: Unit<'_>| unit.offset())) } else { (&part, None) };
        let pass = Pass { counts: true, start, follows: true, ..Pass::default() };
        let status = file.scan(&pass, |event| {
            summary.take(event);
            Ok(())
        })?;
        if let Some(first) = part.first_time()? {
            summary.is_without_end |= summary.extent.times.is_none();
            summary.extent.meet(first.ns(), first.ns(), first.is_absolute());
        }
        summary.units = grid.as_ref().map_or(0, Grid::len);
        summary.sizes = Unit::parse(self.data, 0).ok().map(|unit| (unit.major_size(), unit.minor_size()));
        summary.is_without_end |= grid.is_none();
        Ok(summary.info(self.data.len() as u64, status))
    }
}

/// The facts that `info` gathers.
#[derive(Default)]
struct Summary {
    /// True if not all of the file is read.
    is_glance: bool,
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
    damage: Damage,
    extent: Extent,
    /// True if the end of it is not known.
    is_without_end: bool,
    rows: Vec<Vec<String>>,
    details: Vec<Value>,
}

/// The number of streams it shows.
const STREAMS: usize = 64;

impl Summary {
    fn take(&mut self, event: Event<'_, '_>) {
        match event {
            Event::Unit(row) => {
                self.units += 1;
                let unit = row.span.unit();
                self.sizes.get_or_insert((unit.major_size(), unit.minor_size()));
                *self.verdicts.entry(row.counts.crc).or_default() += 1;
            }
            Event::Gap(gap, _) => {
                self.gaps += 1;
                self.lost += gap.len();
            }
            Event::Finding(finding) if finding.severity() == Severity::Error => {
                self.damage.add(finding.cause().to_string());
            }
            Event::Session(session) => {
                self.sessions += 1;
                self.streams += session.rows.len() as u64;
                self.frames += session.frames();
                for row in session.sorted() {
                    self.stream(session.number, row);
                }
            }
            Event::Finding(_) | Event::Record(_) | Event::Frame(..) | Event::Open(_) => {}
        }
    }

    fn stream(&mut self, session: u64, row: &StreamRow) {
        self.records += row.records;
        self.payload += row.bytes;
        if let Some((first, last)) = row.times {
            self.extent.meet(in_ns(first), in_ns(last), row.details.is_absolute);
        }
        let mut details = row.json(session);
        if self.is_glance {
            for counted in
                ["frames", "records", "bytes", "time_ns", "time", "end_time_ns", "end_time", "rate_hz"]
            {
                details.insert(counted.into(), Value::Null);
            }
        }
        self.details.push(details.into());
        if self.rows.len() < STREAMS {
            self.rows.push(self.cells(session, row));
        }
    }

    fn cells(&self, session: u64, row: &StreamRow) -> Vec<String> {
        let details = &row.details;
        let known = ["id", "name", "format", "type", "length", "clock", "delta", "gain", "offset"];
        let more = details.object.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let more: Vec<String> = more.map(|(name, value)| format!("{}={value}", printable(name))).collect();
        let counted = |text: String| if self.is_glance { String::from("-") } else { text };
        let length = row.times.map(|(first, last)| aligned(in_ns(last).saturating_sub(in_ns(first))));
        let clock = match details.object.get("delta").and_then(Value::as_str) {
            Some(base) => format!("+ {base}"),
            None => details.clock.shown(),
        };
        vec![
            session.to_string(),
            row.id.to_string(),
            row.name.shown(),
            row.format_shown(),
            counted(grouped(row.records)),
            counted(row.rate().map(rate).unwrap_or_default()),
            clock,
            details.gain.map(|gain| gain.to_f64().to_string()).unwrap_or_default(),
            details.offset.map(|offset| offset.to_f64().to_string()).unwrap_or_default(),
            counted(length.unwrap_or_default()),
            counted(
                row.times.map(|(first, _)| shown_time(in_ns(first), details.is_absolute)).unwrap_or_default(),
            ),
            more.join(" "),
        ]
    }

    fn info(self, size: u64, status: Status) -> Info {
        let counted_only = |count: u64| if self.is_glance { Value::Null } else { count.into() };
        let mut fields = Map::new();
        let units = if self.is_glance && self.units == 0 { Value::Null } else { self.units.into() };
        fields.insert("units".into(), units);
        fields.insert(
            "sessions".into(),
            if self.units == 0 && self.is_glance { Value::Null } else { self.sessions.into() },
        );
        fields.insert("streams".into(), self.streams.into());
        fields.insert("frames".into(), counted_only(self.frames));
        fields.insert("unit_bytes".into(), self.sizes.map(|(major, _)| major).into());
        fields.insert("subunit_bytes".into(), self.sizes.map(|(_, minor)| minor).into());
        fields.insert("gaps".into(), counted_only(self.gaps));
        fields.insert("lost_bytes".into(), counted_only(self.lost));
        fields.insert("records".into(), counted_only(self.records));
        fields.insert("payload_bytes".into(), counted_only(self.payload));
        let verdicts: Map<String, Value> =
            self.verdicts.iter().map(|(name, &count)| ((*name).to_owned(), count.into())).collect();
        fields.insert("checksums".into(), if self.is_glance { Value::Null } else { verdicts.into() });
        let Extent { times, is_absolute } = self.extent;
        let (begin, end) =
            (times.map(|(begin, _)| begin), times.map(|(_, end)| end).filter(|_| !self.is_without_end));
        insert_span(&mut fields, [begin, end], is_absolute);

        let mut lines = Vec::new();
        if let Some(begin) = begin {
            let length = end.map(|end| format!(", {}", duration(end.saturating_sub(begin))));
            lines.push(("time", format!("{}{}", shown_time(begin, is_absolute), length.unwrap_or_default())));
        }
        let sizes = self.sizes.map_or_else(String::new, |(major, minor)| {
            let minor =
                if minor < major { format!(", minor ones of {}", bytes(minor)) } else { String::new() };
            format!(" of {}{minor}", bytes(major))
        });
        match (self.is_glance, self.units) {
            (true, 0) => lines.push(("units", format!("not counted{sizes}"))),
            (_, units) => lines.push(("units", format!("{}{sizes}", grouped(units)))),
        }
        if self.sessions > 1 {
            lines.push(("sessions", grouped(self.sessions)));
        }
        if self.is_glance {
            lines.push(("records", "not counted".to_owned()));
        } else {
            lines.push(("checksums", checksums(&self.verdicts)));
            lines.push((
                "records",
                format!(
                    "{} in {}, {} of payload",
                    grouped(self.records),
                    counted(self.frames, "frame", "frames"),
                    bytes(self.payload)
                ),
            ));
        }
        if self.lost > 0 {
            lines.push(("lost", format!("{} in {}", bytes(self.lost), counted(self.gaps, "gap", "gaps"))));
        }
        let more = self.streams.saturating_sub(self.rows.len() as u64);
        if more > 0 {
            lines.push((
                "streams",
                format!("the first {} of {}", grouped(self.rows.len() as u64), grouped(self.streams)),
            ));
        }
        let tables = table(self.rows, self.sessions > 1);
        fields.insert("stream_list".into(), self.details.into());
        let title = String::from("RTC, Ruler Trace Container");
        let (damage, complete) = (self.damage, !self.is_glance);
        Info { bytes: size, status, fields, title, lines, tables, damage, complete }
    }
}

/// The streams, one a row, without empty columns.
fn table(rows: Vec<Vec<String>>, names_sessions: bool) -> Vec<(&'static str, Table)> {
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = [
        right("session"),
        right("id").spare(5),
        left("stream"),
        left("format").spare(4),
        right("records"),
        right("per second").spare(3),
        left("clock").spare(2),
        left("gain").spare(1),
        left("offset").spare(6),
        right("length").spare(7),
        date("first record").spare(8),
        left("attributes").spare(9),
    ];
    let is_used = |place: usize| {
        let says = rows.iter().any(|row| row.get(place).is_some_and(|cell| !cell.is_empty()));
        says && (place > 0 || names_sessions)
    };
    let used: Vec<bool> = (0..columns.len()).map(is_used).collect();
    let keep = |place: usize| used.get(place) == Some(&true);
    let shown: Vec<_> =
        columns.iter().enumerate().filter(|(place, _)| keep(*place)).map(|(_, one)| *one).collect();
    let mut table = Table::new(&shown);
    for row in rows {
        let cells = row.into_iter().enumerate().filter(|(place, _)| keep(*place)).map(|(_, cell)| cell);
        table.add(cells.collect());
    }
    vec![("streams", table)]
}

fn checksums(verdicts: &BTreeMap<&'static str, u64>) -> String {
    let meaning = |name| match name {
        "ieee" => "right (CRC-32/IEEE)",
        "writer" => "right (the writer's CRC)",
        "mismatch" => "wrong",
        other => other,
    };
    let each = verdicts.iter().map(|(name, count)| format!("{} {}", grouped(*count), meaning(name)));
    each.collect::<Vec<_>>().join(", ")
}

/// Records a second, with three digits after the point, so that the points line up.
fn rate(rate: f64) -> String {
    let (value, unit) = match rate {
        ..1e3 => (rate, "  "),
        1e3..1e6 => (rate / 1e3, " k"),
        _ => (rate / 1e6, " M"),
    };
    format!("{value:.3}{unit}")
}
