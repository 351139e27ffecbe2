//! Events, segment by segment: of each in the order of time.

use super::Dial9;
use super::segments::{Opened, Reached, name_of, read_frames};
use crate::json::Line;
use crate::output::{Out, bytes, shown};
use crate::progress::Progress;
use crate::record::{Lines, Place};
use crate::status::{Failure, Result, Status};
use crate::trace::{Bounds, Cursor, DamageExt as _, Selection, Trace as _, in_file};
use std::cell::Cell;
use traceglass::dial9::{Frame, Order, OrderStorage};
use traceglass::{Error, Format};

impl Dial9<'_> {
    pub(super) fn print(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        let bounds = self.range(&args.window)?;
        // Who follows is told once.
        let damage = self.damage();
        let mut status =
            if cursor.places.is_empty() { damage.tell(&args.path, out) } else { damage.status() };
        let progress = Progress::new(self.bytes());
        for segment in &self.segments {
            let printed = segment.open(|segment| {
                let reached = Reached::new(&progress, segment);
                print_segment(segment, args, bounds, cursor, reached, out)
            })?;
            status = status.max(printed);
        }
        Ok(status)
    }
}

fn print_segment(
    segment: &Opened<'_>,
    args: &Selection,
    bounds: Bounds,
    cursor: &mut Cursor,
    mut reached: Reached<'_>,
    out: &mut Out,
) -> Result<Status> {
    let content = |error: Error| Failure::content(Format::Dial9, error);
    let mut status = Status::Clean;
    // The recorder renames it when it is full, and when it is packed.
    let file = segment.path.map(name_of).unwrap_or_default();
    let is_new = !cursor.places.contains_key(&file);
    let told = cursor.places.entry(file).or_default();
    let (printed, place, follows) = (*told, Cell::new(*told), cursor.follows);
    let mut storage = OrderStorage::default();
    let mut order = Order::new(storage.rooms());
    let each = |frame: &Frame<'_>, _: &Order<'_, '_>| match frame {
        Frame::Event(event) => place.set(event.end_offset()),
        Frame::Header(header) => reached.at(header.offset()),
        _ => {}
    };
    read_frames(&mut order, &segment.data, each, |gap| {
        let error = gap.cause();
        // What is cut may be going on to be written.
        if follows && error.is_truncation() && gap.end() == segment.data.len() as u64 {
            return;
        }
        if error.offset() >= printed {
            let lost = format_args!("{error}; {} lost", bytes(gap.len()));
            out.warn(&args.path, in_file(segment.path, lost));
        }
        place.set(gap.end());
        status = Status::Damaged;
    })?;
    *told = place.get();
    // Classes are numbered in each segment anew.
    let mut lines = Lines::new(&args.shape(), out);
    if let Some(path) = segment.path {
        lines.set_place(&Place { shown: shown(path), json: Line::new().path(Some(path)).more() });
    }
    // Symbols have no time, and are in no place of the order: they come last.
    let mut of_no_time = Vec::new();
    while let Some(ordered) = order.next_event() {
        let event = ordered.event();
        if event.offset() < printed || !bounds.wants(event.moment().map(i128::from)) {
            continue;
        }
        if ordered.nanoseconds() == 0 {
            of_no_time.push(ordered);
            continue;
        }
        lines.record(&order.record(&ordered)).map_err(content)?;
        lines.pass(out)?;
    }
    for ordered in &of_no_time {
        lines.record(&order.record(ordered)).map_err(content)?;
        lines.pass(out)?;
    }
    lines.settle(out)?;
    if let Some(error) = segment.damage {
        if is_new {
            out.warn(&args.path, in_file(segment.path, error));
        }
        status = Status::Damaged;
    }
    Ok(status)
}
