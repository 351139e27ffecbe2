//! What `info` says.

use super::scan::Event;
use super::session::{Record, Rtc};
use super::value::Text;
use crate::output::{bytes, counted, grouped};
use crate::status::{Result, Status};
use crate::trace::Info;
use serde_json::Map;
use std::collections::BTreeMap;
use traceglass::rtc::Time;
use traceglass::{Error, Severity};

impl Rtc<'_> {
    pub(super) fn summarise(&self) -> Result<Info> {
        let mut summary = Summary::default();
        let status = self.scan(true, false, |event| {
            summary.take(event);
            Ok(())
        })?;
        Ok(summary.info(self.data.len() as u64, status))
    }
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
    times: Vec<(u64, usize, String, Time, Time)>,
}

/// How many lines of a kind `info` shows.
const SHOWN: usize = 12;

impl Summary {
    fn take(&mut self, event: Event<'_, '_>) {
        match event {
            Event::Unit(row) => {
                self.units += 1;
                self.sizes.get_or_insert((row.major, row.minor));
                *self.verdicts.entry(row.crc).or_default() += 1;
            }
            Event::Gap(gap, _) => {
                self.gaps += 1;
                self.lost += gap.len();
            }
            Event::Finding(finding) if finding.severity() == Severity::Error => {
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
            Event::Record(record) => self.time(record),
            Event::Frame(..) | Event::Open(_) => {}
        }
    }

    /// Follows the clocks, for the range of time.
    fn time(&mut self, record: &Record<'_, '_>) {
        if !record.is_stamp() {
            return;
        }
        let Some(time) = record.time() else { return };
        let key = (record.session(), record.slot());
        if let Some((.., last)) = self.times.iter_mut().find(|(session, slot, ..)| (*session, *slot) == key) {
            *last = time;
        } else if self.times.len() < SHOWN {
            self.times.push((key.0, key.1, Text::of(record.stream().name()).shown(), time, time));
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
        let meaning = |name| match name {
            "ieee" => "right (CRC-32/IEEE)",
            "writer" => "right (the writer's CRC)",
            "mismatch" => "wrong",
            other => other,
        };
        let verdicts: Vec<String> = self
            .verdicts
            .iter()
            .map(|(name, count)| format!("{} {}", grouped(*count), meaning(name)))
            .collect();
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
