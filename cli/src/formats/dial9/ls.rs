//! Batches, for `ls`.

use super::Dial9;
use super::segments::{Reached, Rooms};
use crate::output::{ERROR, Out, grouped, insert_path, shown};
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::table::{Table, left, path, right};
use crate::trace::{DamageExt as _, Listing, Trace as _, aligned, insert_span, shown_time, widen};
use serde_json::{Map, Value};
use traceglass::dial9::{Frame, Frames};

/// A batch, or a part of the input that is lost.
#[derive(Default)]
struct Row {
    offset: u64,
    end: u64,
    events: u64,
    schemas: u64,
    times: Option<(u64, u64)>,
    lost: Option<String>,
}

impl Dial9<'_> {
    pub(super) fn list(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        let bounds = self.range(&args.window)?;
        let is_folder = self.segments.len() > 1;
        let mut table = Table::new(&[
            path(if is_folder { "segment" } else { "" }),
            right("batch"),
            right("offset"),
            right("bytes"),
            right("schemas").spare(2),
            right("events"),
            left("first event").spare(1),
            right("length").spare(3),
        ]);
        let mut damage = self.damage();
        let (mut status, mut next, progress) = (Status::Clean, 0_u64, Progress::new(self.bytes()));
        for segment in &self.segments {
            segment.open(|segment| {
                for row in rows(&segment.data, Reached::new(&progress, segment)) {
                    let number = next;
                    next = next.saturating_add(u64::from(row.lost.is_none()));
                    if !bounds.meets(row.times.map(|(first, last)| (first.into(), last.into()))) {
                        continue;
                    }
                    if row.lost.is_some() {
                        status = Status::Damaged;
                    }
                    let name = segment.path.map(shown).unwrap_or_default();
                    if args.json {
                        let mut object = Map::new();
                        object.insert("kind".into(), if row.lost.is_some() { "gap" } else { "batch" }.into());
                        if let Some(path) = segment.path {
                            insert_path(&mut object, path);
                        }
                        if row.lost.is_none() {
                            object.insert("batch".into(), number.into());
                        }
                        object.insert("offset".into(), row.offset.into());
                        object.insert("bytes".into(), row.end.saturating_sub(row.offset).into());
                        match &row.lost {
                            Some(cause) => drop(object.insert("cause".into(), cause.as_str().into())),
                            None => {
                                object.insert("schemas".into(), row.schemas.into());
                                object.insert("events".into(), row.events.into());
                                let (first, last) = row.times.unzip();
                                insert_span(
                                    &mut object,
                                    [first, last].map(|time| time.map(i128::from)),
                                    false,
                                );
                            }
                        }
                        out.json(&Value::Object(object))?;
                    } else if let Some(cause) = row.lost.clone() {
                        let lost = grouped(row.end.saturating_sub(row.offset));
                        let cells = vec![name, "lost".into(), format!("{:#x}", row.offset), lost];
                        let rest = [String::new(), String::new(), cause, String::new()];
                        table.styled_row(out, ERROR, cells.into_iter().chain(rest).collect())?;
                    } else {
                        let length =
                            row.times.map(|(first, last)| aligned(last.saturating_sub(first).into()));
                        table.row(
                            out,
                            vec![
                                name,
                                number.to_string(),
                                format!("{:#x}", row.offset),
                                grouped(row.end.saturating_sub(row.offset)),
                                grouped(row.schemas),
                                grouped(row.events),
                                row.times
                                    .map(|(first, _)| shown_time(first.into(), false))
                                    .unwrap_or_default(),
                                length.unwrap_or_default(),
                            ],
                        )?;
                    }
                }
                segment.damage.into_iter().for_each(|error| damage.add_in(segment.path, error));
                Ok(())
            })?;
        }
        if !args.json {
            table.finish(out)?;
        }
        Ok(status.max(damage.tell(&args.path, out)))
    }
}

/// The batches of a segment, and what is lost of it.
fn rows(data: &[u8], mut reached: Reached<'_>) -> Vec<Row> {
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    let mut rows: Vec<Row> = Vec::new();
    loop {
        match frames.next_frame() {
            Ok(Some(Frame::Header(header))) => {
                reached.at(header.offset());
                rows.push(Row { offset: header.offset(), ..Row::default() });
            }
            Ok(Some(frame)) => {
                let Some(row) = rows.last_mut() else { continue };
                match frame {
                    Frame::Event(event) => {
                        row.events = row.events.saturating_add(1);
                        if let Some(time) = event.moment() {
                            widen(&mut row.times, time, time);
                        }
                    }
                    Frame::Schema(_) => row.schemas = row.schemas.saturating_add(1),
                    _ => {}
                }
            }
            Ok(None) => return rows,
            Err(error) => {
                let Some(gap) = frames.recover() else { return rows };
                let lost = Some(error.to_string());
                rows.push(Row { offset: gap.offset(), end: gap.end(), lost, ..Row::default() });
            }
        }
        let end = frames.offset();
        if let Some(row) = rows.last_mut().filter(|row| row.lost.is_none()) {
            row.end = end;
        }
    }
}
