//! The bytes of units that become a session.

use super::super::session::Rtc;
use super::front::pad;
use super::pieces::{Place, Plan};
use super::range::Range;
use super::units::{Units, is_wrong};
use crate::status::{Failure, Result};
use crate::trace::NewTrace;
use crc32fast::Hasher;
use traceglass::ByteOrder;
use traceglass::rtc::{CrcStatus, Frame, Index, MARKER, WriterCrc, id};

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
                plan,
                at: range.start,
                number: range.front.is_some().then_some(0),
                covered: range.start,
                changes: Vec::new(),
                rest: range.front.as_ref().filter(|front| front.has_head()).map(|_| Default::default()),
                order: None,
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
    plan: &'w Plan,
    /// The offset up to which the input has been written.
    at: u64,
    /// The number of the unit in its new session.
    number: Option<u64>,
    /// The start of the bytes that the unit's checksum covers.
    covered: u64,
    /// The places of these bytes that were made new, and what they are now: a checksum follows from the one before, and
    /// from these.
    changes: Vec<(u64, Vec<u8>)>,
    /// In the rest of a unit, whose checksum covered more, those of what was written.
    rest: Option<(WriterCrc<16>, Hasher)>,
    /// The byte order of checksums, once one was seen: it is that of the session.
    order: Option<ByteOrder>,
    to: &'w mut dyn NewTrace,
}

impl Emitter<'_, '_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some((writer, ieee)) = &mut self.rest {
            writer.update(bytes);
            ieee.update(bytes);
        }
        self.to.put(bytes)
    }

    /// Writes other bytes in place of as many.
    fn change(&mut self, new: Vec<u8>) -> Result<()> {
        let start = self.at;
        self.at = start.saturating_add(new.len() as u64);
        self.put(&new)?;
        if new != bytes(self.data, start, self.at) {
            self.changes.push((start, new));
        }
        Ok(())
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
        let mut padding = Vec::new();
        pad(end.saturating_sub(start), &mut |bytes| {
            padding.extend(bytes);
            Ok(())
        })?;
        self.change(padding)
    }

    /// Writes a frame of which something may be made new.
    fn mark(&mut self, frame: &Frame<'_>) -> Result<()> {
        if frame.id() == id::MARKER {
            self.raw(frame.end())?;
            self.number = Some(self.number.map_or(0, |number| number.saturating_add(1)));
            self.covered = frame.end();
            self.rest = None;
            self.changes.clear();
            return Ok(());
        }
        if let Some(Ok(index)) = Index::from_frame(frame) {
            self.raw(frame.payload_offset())?;
            let number = self.number.filter(|_| frame.id() == id::INDEX && !self.range.is_as_it_was);
            let (start, plan) = (self.range.start, self.plan);
            let keeps = |entry: &traceglass::rtc::Entry| {
                entry.target().is_some_and(|target| target >= start && !plan.leaves_out(target))
            };
            let mut new = Vec::new();
            index.rewrite(frame.payload(), number, keeps, &mut |bytes: &[u8]| {
                new.extend(bytes);
                Ok::<_, Failure>(())
            })?;
            return self.change(new);
        }
        if frame.id() == id::CRC {
            self.raw(frame.offset())?;
            let new = self.stamped(frame);
            self.raw(frame.payload_offset())?;
            return self.change(new.to_vec());
        }
        Ok(())
    }

    /// A checksum by the algorithm, and in the byte order, of the one that was there; one that was wrong stays.
    fn stamped(&mut self, frame: &Frame<'_>) -> [u8; 4] {
        let stored = frame.payload().first_chunk().copied().unwrap_or_default();
        if let Some((writer, ieee)) = &self.rest {
            let is_ieee = self.units.is_ieee;
            let sum = if is_ieee { ieee.clone().finalize() } else { writer.value() };
            return in_order(sum, self.units.order);
        }
        let status = self.units.sum(frame);
        if is_wrong(status) {
            return stored;
        }
        let algorithm = if status == Some(CrcStatus::Ieee) { Algorithm::Ieee } else { Algorithm::Writer };
        let is_right = matches!(status, Some(CrcStatus::Ieee | CrcStatus::Writer));
        let (old, order) = match self.order.filter(|_| is_right) {
            Some(ByteOrder::Little) => (u32::from_le_bytes(stored), ByteOrder::Little),
            Some(ByteOrder::Big) => (u32::from_be_bytes(stored), ByteOrder::Big),
            None => {
                let old = algorithm.sum(bytes(self.data, self.covered, frame.offset()));
                let is = |order: &ByteOrder| in_order(old, *order) == stored;
                let found = [ByteOrder::Little, ByteOrder::Big].into_iter().find(is);
                self.order = self.order.or(found);
                (old, self.order.unwrap_or(self.units.order))
            }
        };
        let new = self.changes.iter().fold(old, |sum, (start, new)| {
            let end = start.saturating_add(new.len() as u64);
            let difference = algorithm.sum(new) ^ algorithm.sum(bytes(self.data, *start, end));
            algorithm.combine(difference, sum, frame.offset().saturating_sub(end))
        });
        in_order(new, order)
    }
}

/// How a checksum is computed.
#[derive(Clone, Copy)]
enum Algorithm {
    Ieee,
    Writer,
}

impl Algorithm {
    fn sum(self, data: &[u8]) -> u32 {
        match self {
            Self::Ieee => crc32fast::hash(data),
            Self::Writer => WriterCrc::<16>::of(data),
        }
    }

    /// That of two pieces, one after the other, of which the second has so many bytes.
    fn combine(self, first: u32, second: u32, len: u64) -> u32 {
        match self {
            Self::Ieee => {
                let mut sum = Hasher::new_with_initial(first);
                sum.combine(&Hasher::new_with_initial_len(second, len));
                sum.finalize()
            }
            Self::Writer => WriterCrc::<16>::combine(first, second, len),
        }
    }
}

fn in_order(sum: u32, order: ByteOrder) -> [u8; 4] {
    match order {
        ByteOrder::Little => sum.to_le_bytes(),
        ByteOrder::Big => sum.to_be_bytes(),
    }
}

fn bytes(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}
