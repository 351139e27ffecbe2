//! Units and streams, for `ls`.

use super::scan::{Event, Pass, StreamRow, UnitCounts, UnitRow};
use super::session::Rtc;
use super::value::{in_ns, of_ns};
use crate::output::{ERROR, Out, WARNING, bytes, counted, grouped, hex, printable};
use crate::status::{Failure, Result, Status};
use crate::table::{Table, date, left, right};
use crate::trace::{Bounds, Listing, aligned, insert_span, shown_time};
use serde_json::{Map, Value};
use sha2::Digest;
use traceglass::Gap;
use traceglass::rtc::recover::GapReason;

impl Rtc<'_> {
    /// Reads what is listed: all of it, or the units with something in the range that is asked for.
    fn listed<'a>(
        &'a self,
        args: &Listing,
        bounds: &Bounds,
        mut event: impl FnMut(Event<'_, 'a>) -> Result<()>,
    ) -> Result<Status> {
        let pass = Pass { counts: true, digest: args.sha256, ..Pass::default() };
        if args.sha256 && !bounds.is_everything() {
            return Err(Failure::usage("--sha256 is of whole streams: not of those of a range of time"));
        }
        let times = bounds.map(of_ns);
        self.scan(&pass, |one| match &one {
            // Units are listed as a whole.
            Event::Unit(row) if !times.meets(row.counts.extent.times) => Ok(()),
            _ => event(one),
        })
    }

    pub(super) fn list_json(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        let bounds = self.range(&args.window)?;
        self.listed(args, &bounds, |event| match event {
            Event::Unit(row) => out.json(&row.json()),
            Event::Gap(gap, reason) => out.json(&gap_json(gap, reason)),
            Event::Session(session) => session
                .sorted()
                .iter()
                .filter(|row| bounds.map(of_ns).meets(row.times))
                .try_for_each(|row| out.json(&row.json(session.number).into())),
            Event::Frame(..) | Event::Record(_) | Event::Open(_) | Event::Finding(_) => Ok(()),
        })
    }

    pub(super) fn list(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        let mut units = Table::new(&[
            right("unit"),
            right("session").spare(3),
            right("offset"),
            right("bytes"),
            right("minor").spare(2),
            left("crc"),
            date("first record").spare(1),
            right("length").spare(4),
        ]);
        let mut sessions: Vec<(u64, Vec<Vec<String>>)> = Vec::new();
        let (mut count, mut lost, mut records) = (0_u64, 0_u64, 0_u64);
        // Gaps are reported before the unit that they lie in has ended: they wait for its row.
        let mut gaps: Vec<(u64, Vec<String>)> = Vec::new();
        let bounds = self.range(&args.window)?;
        let status = self.listed(args, &bounds, |event| match event {
            Event::Unit(row) => {
                count += 1;
                let (span, counts, unit) = (&row.span, &row.counts, row.span.unit());
                if !bounds.is_everything() {
                    records += counts.records;
                }
                for (_, cells) in gaps.extract_if(.., |(offset, _)| *offset < span.offset()) {
                    units.styled_row(out, ERROR, cells)?;
                }
                let has_minor = unit.minor_size() < unit.major_size();
                let minor = if has_minor { grouped(unit.minor_size()) } else { String::from("-") };
                let cells = vec![
                    unit.number().to_string(),
                    span.session().to_string(),
                    format!("{:#x}", span.offset()),
                    grouped(span.end().saturating_sub(span.offset())),
                    minor,
                    counts.crc.to_owned(),
                    counts.first(),
                    counts
                        .extent
                        .times
                        .map(|(first, last)| aligned(in_ns(last).saturating_sub(in_ns(first))))
                        .unwrap_or_default(),
                ];
                match counts.crc {
                    "mismatch" => units.styled_row(out, ERROR, cells),
                    "missing" | "stale" => units.styled_row(out, WARNING, cells),
                    _ => units.row(out, cells),
                }?;
                gaps.drain(..).try_for_each(|(_, cells)| units.styled_row(out, ERROR, cells))
            }
            Event::Gap(gap, reason) => {
                lost += gap.len();
                let cells = vec![
                    String::from("gap"),
                    String::new(),
                    format!("{:#x}", gap.offset()),
                    grouped(gap.len()),
                    String::new(),
                    reason.name().to_owned(),
                    String::new(),
                    String::new(),
                ];
                gaps.push((gap.offset(), cells));
                Ok(())
            }
            Event::Session(session) => {
                if bounds.is_everything() {
                    records += session.rows.iter().map(|row| row.records).sum::<u64>();
                }
                let rows = session.sorted().into_iter().filter(|row| bounds.map(of_ns).meets(row.times));
                let rows = rows.map(|row| row.cells(session.number)).collect();
                sessions.push((session.number, rows));
                Ok(())
            }
            Event::Frame(..) | Event::Record(_) | Event::Open(_) | Event::Finding(_) => Ok(()),
        })?;
        // Where nothing lies in a range, nothing is counted: the verb says so.
        let is_empty = count == 0 && lost == 0 && sessions.iter().all(|(_, rows)| rows.is_empty());
        if is_empty && !bounds.is_everything() {
            return Ok(status);
        }
        gaps.drain(..).try_for_each(|(_, cells)| units.styled_row(out, ERROR, cells))?;
        units.finish(out)?;
        let mut columns = vec![
            right("session").spare(5),
            right("id"),
            left("stream"),
            left("format").spare(2),
            right("length").spare(6),
        ];
        columns.extend([right("frames").spare(4), right("records"), right("bytes").spare(3)]);
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
        let (units, records) = (counted(count, "unit", "units"), counted(records, "record", "records"));
        out.wrapped("", format_args!("{units}, {}, {records}{lost}", bytes(self.data.len() as u64)))?;
        Ok(status)
    }
}

impl UnitRow<'_> {
    fn json(&self) -> Value {
        let (span, unit) = (&self.span, self.span.unit());
        let mut object = Map::new();
        object.insert("kind".into(), "unit".into());
        object.insert("offset".into(), span.offset().into());
        object.insert("number".into(), unit.number().into());
        object.insert("session".into(), span.session().into());
        object.insert("unit_bytes".into(), unit.major_size().into());
        object.insert("subunit_bytes".into(), unit.minor_size().into());
        object.insert("end".into(), span.end().into());
        object.insert("crc".into(), self.counts.crc.into());
        let extent = &self.counts.extent;
        let (first, last) = extent.times.map(|(first, last)| (in_ns(first), in_ns(last))).unzip();
        insert_span(&mut object, [first, last], extent.is_absolute);
        object.into()
    }
}

impl UnitCounts {
    fn first(&self) -> String {
        let first = self.extent.times.map(|(first, _)| first);
        first.map(|first| shown_time(in_ns(first), self.extent.is_absolute)).unwrap_or_default()
    }
}

impl StreamRow {
    /// All that is known of a stream.
    pub(super) fn json(&self, session: u64) -> Map<String, Value> {
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
        let details = &self.details;
        let (first, last) = self.times.map(|(first, last)| (in_ns(first), in_ns(last))).unzip();
        insert_span(&mut object, [first, last], details.is_absolute);
        details.clock.insert(&mut object, "clock");
        object.insert("rate_hz".into(), self.rate().into());
        object.insert("gain".into(), details.gain.map(|gain| gain.to_f64()).into());
        object.insert("gain_offset".into(), details.offset.map(|offset| offset.to_f64()).into());
        object.insert("attributes".into(), details.object.clone().into());
        object
    }

    /// The number of records in a second, on average.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = self.times?;
        let span = in_ns(last).saturating_sub(in_ns(first));
        #[allow(clippy::cast_precision_loss)]
        let rate = self.records.checked_sub(1)? as f64 * 1e9 / span as f64;
        (span > 0).then_some(rate)
    }

    pub(super) fn format_shown(&self) -> String {
        match &self.format {
            Value::String(text) => printable(text),
            Value::Null => String::from("-"),
            other => other.to_string(),
        }
    }

    fn cells(&self, session: u64) -> Vec<String> {
        let mut cells = vec![
            session.to_string(),
            self.id.to_string(),
            self.name.shown(),
            self.format_shown(),
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

fn gap_json(gap: &Gap, reason: GapReason) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), "gap".into());
    object.insert("offset".into(), gap.offset().into());
    object.insert("len".into(), gap.len().into());
    object.insert("reason".into(), reason.name().into());
    object.insert("message".into(), gap.cause().to_string().into());
    object.into()
}
