//! The bytes of units that become a session.

use super::super::scan::{Event, Pass};
use super::super::session::Rtc;
use super::units::Range;
use crate::output::add;
use crate::status::Result;
use crate::trace::{Digest, NewTrace, Rewritten};
use flate2::Crc;
use std::collections::{HashMap, HashSet};
use traceglass::rtc::{Frame, Index, WriterCrc, id, padding};

/// A Marker: its header, and superscript one.
const MARKER: [u8; 1025] = {
    let mut marker = [0xb9; 1025];
    let [header, ..] = &mut marker;
    *header = 0x04;
    marker
};

/// What is found out before anything is written.
#[derive(Default)]
struct Plan {
    /// Where frames begin that become padding.
    padded: HashSet<u64>,
    units: u64,
    records: u64,
    digest: Digest,
}

impl Rtc<'_> {
    /// Writes a range.
    pub(super) fn emit(&self, range: &Range, done: &mut Rewritten, to: &mut dyn NewTrace) -> Result<()> {
        let plan = self.plan(range)?;
        add(&mut done.kept, plan.units);
        add(&mut done.records, plan.records);
        done.digest.join(plan.digest);
        if range.is_as_it_was && plan.padded.is_empty() {
            return to.put(bytes(self.data, range.start, range.end));
        }
        let mut emitter = Emitter {
            data: self.data,
            range,
            padded: &plan.padded,
            at: range.start,
            number: range.lacks_marker.then_some(0),
            covered: range.start,
            crc: WriterCrc::new(),
            ieee: Crc::new(),
            to,
        };
        if range.lacks_marker {
            emitter.to.put(&MARKER)?;
        }
        self.scan(&Pass::default(), |event| match event {
            Event::Frame(frame, _) if is_in(range, frame) => emitter.frame(frame),
            _ => Ok(()),
        })?;
        emitter.raw(range.end)
    }

    /// Which frames become padding: pieces of records of which a part is left out.
    fn plan(&self, range: &Range) -> Result<Plan> {
        let mut plan = Plan { units: u64::from(range.lacks_marker), ..Plan::default() };
        let mut open: HashMap<usize, Vec<u64>> = HashMap::new();
        let mut is_here = false;
        self.scan(&Pass::default(), |event| {
            match event {
                Event::Frame(frame, _) if is_in(range, frame) => {
                    is_here = true;
                    plan.units = plan.units.saturating_add(u64::from(frame.id() == id::MARKER));
                    let Some(slot) = frame.slot().filter(|_| frame.is_user()) else { return Ok(()) };
                    if !frame.is_certain() {
                        // It may be the rest of a record that was lost: it is none, and must not become one.
                        open.remove(&slot);
                        plan.padded.insert(frame.offset());
                    } else if !frame.continues() {
                        open.remove(&slot);
                        if frame.more() {
                            open.insert(slot, vec![frame.offset()]);
                        }
                    } else if let Some(pieces) = open.get_mut(&slot) {
                        pieces.push(frame.offset());
                        if !frame.more() {
                            open.remove(&slot);
                        }
                    } else {
                        plan.padded.insert(frame.offset());
                    }
                }
                Event::Frame(..) => is_here = false,
                // It ends with the last frame.
                Event::Record(record) if is_here && record.offset() >= range.start => {
                    add(&mut plan.records, 1);
                    super::digest::hash(record, &mut plan.digest);
                }
                _ => {}
            }
            Ok(())
        })?;
        plan.padded.extend(open.into_values().flatten());
        Ok(plan)
    }
}

fn is_in(range: &Range, frame: &Frame<'_>) -> bool {
    frame.offset() >= range.start && frame.end() <= range.end
}

struct Emitter<'w, 'a> {
    data: &'a [u8],
    range: &'w Range,
    padded: &'w HashSet<u64>,
    /// How far the input has been written.
    at: u64,
    /// The number of the unit in its new session.
    number: Option<u64>,
    /// Where the checksum of the unit begins.
    covered: u64,
    crc: WriterCrc<16>,
    ieee: Crc,
    to: &'w mut dyn NewTrace,
}

impl Emitter<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.ieee.update(bytes);
        self.to.put(bytes)
    }

    /// Writes up to `end` as it is.
    fn raw(&mut self, end: u64) -> Result<()> {
        let all = bytes(self.data, self.at, end);
        self.at = self.at.max(end);
        self.put(all)
    }

    fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        if frame.id() == id::MARKER {
            self.raw(frame.end())?;
            self.number = Some(self.number.map_or(0, |number| number.saturating_add(1)));
            self.covered = frame.end();
            (self.crc, self.ieee) = (WriterCrc::new(), Crc::new());
            return Ok(());
        }
        if frame.is_user() && self.padded.contains(&frame.offset()) {
            self.raw(frame.offset())?;
            self.at = frame.end();
            let len = frame.end().saturating_sub(frame.offset());
            let Some((header, used, payload)) = padding(len) else { return self.put(&[0]) };
            self.put(header.get(..used).unwrap_or_default())?;
            let zeros = [0; 1024];
            return self.put(zeros.get(..usize::try_from(payload).unwrap_or(0)).unwrap_or(&zeros));
        }
        if let Some(Ok(index)) = Index::from_frame(frame) {
            self.raw(frame.payload_offset())?;
            self.at = frame.end();
            let number = self.number.filter(|_| frame.id() == id::INDEX && !self.range.is_as_it_was);
            let (start, padded) = (self.range.start, self.padded);
            let keeps = |entry: &traceglass::rtc::Entry| {
                entry.target().is_some_and(|target| target >= start && !padded.contains(&target))
            };
            return index.rewrite(frame.payload(), number, keeps, &mut |bytes: &[u8]| self.put(bytes));
        }
        if frame.id() == id::CRC {
            self.raw(frame.offset())?;
            let (writer, ieee) = (self.crc.value(), self.ieee.sum());
            self.raw(frame.payload_offset())?;
            self.at = frame.end();
            let new = stamped(frame.payload(), bytes(self.data, self.covered, frame.offset()), writer, ieee);
            return self.put(&new);
        }
        Ok(())
    }
}

/// The checksum by the algorithm, and in the byte order, of the one that was there.
fn stamped(stored: &[u8], covered: &[u8], writer: u32, ieee: u32) -> [u8; 4] {
    let old = crc32fast::hash(covered);
    if stored == old.to_le_bytes() {
        return ieee.to_le_bytes();
    }
    if stored == old.to_be_bytes() {
        return ieee.to_be_bytes();
    }
    if stored == WriterCrc::<16>::of(covered).to_be_bytes() {
        writer.to_be_bytes()
    } else {
        writer.to_le_bytes()
    }
}

fn bytes(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}
