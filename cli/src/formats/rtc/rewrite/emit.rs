//! The bytes of units that become a session.

use super::super::session::Rtc;
use super::front::pad;
use super::pieces::{Place, Plan};
use super::range::Range;
use super::units::Units;
use crate::status::Result;
use crate::trace::NewTrace;
use flate2::Crc;
use traceglass::ByteOrder;
use traceglass::rtc::{Frame, Index, MARKER, WriterCrc, id};

impl Rtc<'_> {
    /// Writes ranges without what their plans leave out.
    pub(super) fn emit(
        &self,
        units: &Units<'_>,
        ranges: &[Range],
        plans: &[Plan],
        to: &mut dyn NewTrace,
    ) -> Result<()> {
        for (range, plan) in ranges.iter().zip(plans) {
            if range.is_as_it_was && plan.padded.is_empty() {
                to.put(bytes(self.data, range.start, range.end))?;
                continue;
            }
            let mut emitter = Emitter {
                data: self.data,
                units,
                range,
                padded: &plan.padded,
                at: range.start,
                number: range.front.is_some().then_some(0),
                covered: range.start,
                crc: WriterCrc::new(),
                ieee: Crc::new(),
                order: None,
                is_rest: range.front.as_ref().is_some_and(|front| front.has_head()),
                to,
            };
            emitter.front()?;
            let mut padded = plan.padded.iter().peekable();
            for mark in units.marks(range) {
                while let Some(place) = padded.next_if(|(start, _)| *start < mark.offset()) {
                    emitter.pad(*place)?;
                }
                emitter.mark(mark)?;
            }
            padded.try_for_each(|place| emitter.pad(*place))?;
            emitter.raw(range.end)?;
        }
        Ok(())
    }
}

struct Emitter<'w, 'a> {
    data: &'a [u8],
    units: &'w Units<'a>,
    range: &'w Range,
    /// The frames that become padding, in order.
    padded: &'w [Place],
    /// The offset up to which the input has been written.
    at: u64,
    /// The number of the unit in its new session.
    number: Option<u64>,
    /// The start of the bytes that the unit's checksum covers.
    covered: u64,
    crc: WriterCrc<16>,
    ieee: Crc,
    /// The byte order of the writer's checksums, once one was seen: it is that of the session.
    order: Option<ByteOrder>,
    /// True in the rest of a unit: its checksum covered more.
    is_rest: bool,
    to: &'w mut dyn NewTrace,
}

impl Emitter<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.ieee.update(bytes);
        self.to.put(bytes)
    }

    /// Writes what the beginning lacks.
    fn front(&mut self) -> Result<()> {
        let Some(front) = &self.range.front else { return Ok(()) };
        self.to.put(&MARKER)?;
        front.put(&mut |bytes| self.put(bytes))
    }

    /// Writes up to `end` as it is.
    fn raw(&mut self, end: u64) -> Result<()> {
        let all = bytes(self.data, self.at, end);
        self.at = self.at.max(end);
        self.put(all)
    }

    /// Writes a frame as padding.
    fn pad(&mut self, (start, end): Place) -> Result<()> {
        self.raw(start)?;
        self.at = end;
        pad(end.saturating_sub(start), &mut |bytes| self.put(bytes))
    }

    /// Writes a frame of which something may be made new.
    fn mark(&mut self, frame: &Frame<'_>) -> Result<()> {
        if frame.id() == id::MARKER {
            self.raw(frame.end())?;
            self.number = Some(self.number.map_or(0, |number| number.saturating_add(1)));
            self.covered = frame.end();
            self.is_rest = false;
            (self.crc, self.ieee) = (WriterCrc::new(), Crc::new());
            return Ok(());
        }
        if let Some(Ok(index)) = Index::from_frame(frame) {
            self.raw(frame.payload_offset())?;
            self.at = frame.end();
            let number = self.number.filter(|_| frame.id() == id::INDEX && !self.range.is_as_it_was);
            let (start, padded) = (self.range.start, self.padded);
            let keeps = |entry: &traceglass::rtc::Entry| {
                entry.target().is_some_and(|target| {
                    target >= start && padded.binary_search_by_key(&target, |(at, _)| *at).is_err()
                })
            };
            return index.rewrite(frame.payload(), number, keeps, &mut |bytes: &[u8]| self.put(bytes));
        }
        if frame.id() == id::CRC && !self.units.is_wrong(frame) {
            self.raw(frame.offset())?;
            let (writer, ieee) = (self.crc.value(), self.ieee.sum());
            self.raw(frame.payload_offset())?;
            self.at = frame.end();
            let new =
                self.stamped(frame.payload(), bytes(self.data, self.covered, frame.offset()), writer, ieee);
            return self.put(&new);
        }
        Ok(())
    }

    /// The checksum by the algorithm, and in the byte order, of the one that was there.
    fn stamped(&mut self, stored: &[u8], covered: &[u8], writer: u32, ieee: u32) -> [u8; 4] {
        if self.is_rest {
            return match (self.units.order, self.units.is_ieee) {
                (ByteOrder::Little, true) => ieee.to_le_bytes(),
                (ByteOrder::Big, true) => ieee.to_be_bytes(),
                (ByteOrder::Little, false) => writer.to_le_bytes(),
                (ByteOrder::Big, false) => writer.to_be_bytes(),
            };
        }
        let old = crc32fast::hash(covered);
        if stored == old.to_le_bytes() {
            return ieee.to_le_bytes();
        }
        if stored == old.to_be_bytes() {
            return ieee.to_be_bytes();
        }
        let order =
            *self.order.get_or_insert_with(|| match stored == WriterCrc::<16>::of(covered).to_be_bytes() {
                true => ByteOrder::Big,
                false => ByteOrder::Little,
            });
        match order {
            ByteOrder::Big => writer.to_be_bytes(),
            ByteOrder::Little => writer.to_le_bytes(),
        }
    }
}

fn bytes(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}
