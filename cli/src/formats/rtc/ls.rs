//! Units and streams, for `ls`.

use super::scan::{Event, StreamRow, UnitRow};
use super::session::Rtc;
use crate::output::{ERROR, Out, WARNING, bytes, counted, grouped, hex, printable};
use crate::status::{Result, Status};
use crate::table::{Table, left, right};
use crate::trace::Listing;
use serde_json::{Map, Value};
use sha2::Digest;
use traceglass::Gap;
use traceglass::rtc::recover::GapReason;

impl Rtc<'_> {
    pub(super) fn list_json(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        self.scan(true, args.sha256, |event| match event {
            Event::Unit(row) => out.json(&row.json()),
            Event::Gap(gap, reason) => out.json(&gap_json(gap, reason)),
            Event::Session(session) => {
                session.sorted().iter().try_for_each(|row| out.json(&row.json(session.number)))
            }
            Event::Frame(..) | Event::Record(_) | Event::Open(_) | Event::Finding(_) => Ok(()),
        })
    }

    pub(super) fn list(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        let mut units = Table::new(&[
            right("unit"),
            right("session"),
            right("offset"),
            right("bytes"),
            right("minor"),
            left("crc"),
        ]);
        let mut sessions: Vec<(u64, Vec<Vec<String>>)> = Vec::new();
        let (mut count, mut lost, mut records) = (0_u64, 0_u64, 0_u64);
        // Gaps are told before the unit that they lie in has ended: they wait for its row.
        let mut gaps: Vec<(u64, Vec<String>)> = Vec::new();
        let status = self.scan(true, args.sha256, |event| match event {
            Event::Unit(row) => {
                count += 1;
                for (_, cells) in gaps.extract_if(.., |(offset, _)| *offset < row.offset) {
                    units.styled_row(out, ERROR, cells)?;
                }
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
                ];
                gaps.push((gap.offset(), cells));
                Ok(())
            }
            Event::Session(session) => {
                records += session.rows.iter().map(|row| row.records).sum::<u64>();
                let rows = session.sorted().iter().map(|row| row.cells(session.number)).collect();
                sessions.push((session.number, rows));
                Ok(())
            }
            Event::Frame(..) | Event::Record(_) | Event::Open(_) | Event::Finding(_) => Ok(()),
        })?;
        gaps.drain(..).try_for_each(|(_, cells)| units.styled_row(out, ERROR, cells))?;
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
        let (units, records) = (counted(count, "unit", "units"), counted(records, "record", "records"));
        out.line(format_args!("{units}, {}, {records}{lost}", bytes(self.data.len() as u64)))?;
        Ok(status)
    }
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

fn gap_json(gap: &Gap, reason: GapReason) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), "gap".into());
    object.insert("offset".into(), gap.offset().into());
    object.insert("len".into(), gap.len().into());
    object.insert("reason".into(), reason.name().into());
    object.insert("message".into(), gap.cause().to_string().into());
    object.into()
}
