//! The bytes of units that become a session.

use super::super::session::Rtc;
use super::front::pad;
use super::pieces::{Place, Plan};
use super::range::Range;
use super::units::{Units, is_wrong};
use crate::input::slice;
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
                to.put(slice(self.data, range.start, range.end))?;
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
                front: None,
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
    /// These bytes as far as they were made new: from which offset on, and what they are now.
    changes: Vec<(u64, Vec<u8>)>,
    /// In the rest of a unit, the sum of what was written in front of it: the checksum covers that, too.
    front: Option<Sum>,
    /// The byte order of checksums, once one was seen: it is that of the session.
    order: Option<ByteOrder>,
    to: &'w mut dyn NewTrace,
}

impl Emitter<'_, '_> {
    /// Writes other bytes in place of as many.
    fn change(&mut self, new: Vec<u8>) -> Result<()> {
        let start = self.at;
        self.at = start.saturating_add(new.len() as u64);
        self.to.put(&new)?;
        if new != slice(self.data, start, self.at) {
            self.changes.push((start, new));
        }
        Ok(())
    }

    /// Writes what the beginning lacks.
    fn front(&mut self) -> Result<()> {
        let Some(front) = &self.range.front else { return Ok(()) };
        self.to.put(&MARKER)?;
        let mut sum = Sum::new(self.units.is_ieee);
        front.put(&mut |bytes| {
            sum.update(bytes);
            self.to.put(bytes)
        })?;
        self.front = Some(sum).filter(|_| front.has_head());
        Ok(())
    }

    /// Writes up to `end` as it is.
    fn raw(&mut self, end: u64) -> Result<()> {
        let all = slice(self.data, self.at, end);
        self.at = self.at.max(end);
        self.to.put(all)
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
            self.front = None;
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

    /// A checksum by the algorithm, and in the byte order, of the one that was there. One that was wrong stays, and so does that
    /// of bytes of which none is new.
    fn stamped(&mut self, frame: &Frame<'_>) -> [u8; 4] {
        let stored = frame.payload().first_chunk().copied().unwrap_or_default();
        let (mut sum, order) = match self.front.take() {
            Some(sum) => (sum, self.units.order),
            None => {
                let status = self.units.sum(frame);
                if self.changes.is_empty() || status.is_some_and(is_wrong) {
                    return stored;
                }
                let sum = Sum::new(status == Some(CrcStatus::Ieee));
                (sum.clone(), self.order_of(stored, sum, frame.offset()))
            }
        };
        let mut at = self.covered;
        for (start, new) in &self.changes {
            sum.update(slice(self.data, at, *start));
            sum.update(new);
            at = start.saturating_add(new.len() as u64);
        }
        sum.update(slice(self.data, at, frame.offset()));
        in_order(sum.value(), order)
    }

    /// The byte order of a checksum, given the sum of nothing.
    fn order_of(&mut self, stored: [u8; 4], mut sum: Sum, end: u64) -> ByteOrder {
        self.order = self.order.or_else(|| {
            sum.update(slice(self.data, self.covered, end));
            let orders = [ByteOrder::Little, ByteOrder::Big];
            orders.into_iter().find(|order| in_order(sum.value(), *order) == stored)
        });
        self.order.unwrap_or(self.units.order)
    }
}

/// A checksum of the bytes so far.
#[derive(Clone)]
enum Sum {
    Ieee(Hasher),
    Writer(WriterCrc<16>),
}

impl Sum {
    fn new(is_ieee: bool) -> Self {
        if is_ieee { Self::Ieee(Hasher::new()) } else { Self::Writer(WriterCrc::new()) }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Ieee(sum) => sum.update(bytes),
            Self::Writer(sum) => sum.update(bytes),
        }
    }

    fn value(&self) -> u32 {
        match self {
            Self::Ieee(sum) => sum.clone().finalize(),
            Self::Writer(sum) => sum.value(),
        }
    }
}

fn in_order(sum: u32, order: ByteOrder) -> [u8; 4] {
    match order {
        ByteOrder::Little => sum.to_le_bytes(),
        ByteOrder::Big => sum.to_be_bytes(),
    }
}
