//! Finding units where reading cannot simply go on.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::element::UNIT;
use crate::rtc::index::{leads_to_frame, starts_like_one};
use crate::rtc::unit::{MAGIC, MARKER_BYTES, MARKER_HEADER, Unit, check_marker, is_confirmed, signed};
use crate::rtc::{Index, frame, work};
use core::ops::Range;

/// The length of a Marker's payload.
const RUN: usize = 1024;

/// True if `data` is an RTC file, or the rest of one: some part of it can be found again.
///
/// A file that begins with a Marker is one. Otherwise the first Marker is searched, in linear time: only every
/// 1024th byte is looked at where there is none.
pub fn detect(data: &[u8]) -> bool {
    let whole = Bytes::new(data);
    check_marker(whole).is_ok()
        || damaged_marker(whole).is_some()
        || find(whole, 0, to_u64(data.len())).is_some()
}

/// The number of bytes from `at` on that are those of a Marker.
fn run_after(data: &[u8], at: usize) -> usize {
    data.get(at..).unwrap_or_default().iter().take_while(|&&byte| byte == MAGIC).count()
}

/// Calls `found` with the offset of each Marker from `from` on whose frame begins before `to`, until it gives
/// something. What looks like a Marker must be followed by the header of an Index, and not be longer.
///
/// Each byte is looked at a bounded number of times, also where all of them are those of a Marker.
fn markers<T>(data: Bytes<'_>, from: u64, to: u64, mut found: impl FnMut(u64) -> Option<T>) -> Option<T> {
    let all = data.as_slice();
    let position = |offset: u64| usize::try_from(offset.saturating_sub(data.offset())).unwrap_or(usize::MAX);
    let (from, to) = (position(from), position(to));
    // A run of 1024 bytes covers one of any positions that are 1024 bytes apart: only those are probed.
    let mut probe = from.saturating_add(RUN);
    let mut floor = from;
    // A run that is met farther on begins after `to`.
    let last = to.saturating_add(RUN);
    while let Some(&byte) = all.get(probe).filter(|_| probe <= last) {
        work::count(1);
        if byte != MAGIC {
            floor = probe.saturating_add(1);
            probe = probe.saturating_add(RUN);
            continue;
        }
        let before = all.get(floor..probe).unwrap_or_default();
        let back = before.iter().rev().take_while(|&&byte| byte == MAGIC).count();
        let start = probe.saturating_sub(back);
        let end = probe.saturating_add(run_after(all, probe));
        work::count(end.saturating_sub(start));
        if let Some(header) = start.checked_sub(1) {
            if header >= to {
                return None;
            }
            let fits = end.saturating_sub(start) == RUN
                && header >= from
                && all.get(header) == Some(&MARKER_HEADER)
                && matches!(all.get(end), Some(0x06 | 0x07));
            if fits && let Some(found) = found(data.offset().saturating_add(to_u64(header))) {
                return Some(found);
            }
        }
        floor = end;
        probe = end.saturating_add(RUN);
    }
    None
}

/// The first unit whose Marker begins in `from..to` and which the grid confirms.
pub(crate) fn find(data: Bytes<'_>, from: u64, to: u64) -> Option<Unit<'_>> {
    markers(data, from, to, |at| {
        let after = data.range(at, data.end_offset().saturating_sub(at))?;
        let (_, index) = after.split(MARKER_BYTES)?;
        Unit::at_index(index).ok().filter(|unit| is_confirmed(data, unit))
    })
}

/// The unit at the start of the input whose Marker is damaged: most of its bytes are those of one all the same.
pub(crate) fn damaged_marker(data: Bytes<'_>) -> Option<Unit<'_>> {
    let (marker, index) = data.split(MARKER_BYTES)?;
    let filled = marker.as_slice().iter().filter(|&&byte| byte == MAGIC).count();
    Unit::at_index(index).ok().filter(|unit| filled >= MARKER_BYTES / 2 && is_confirmed(data, unit))
}

/// The first index in `range` that belongs to a unit of the sizes of `like`, wherever that begins.
///
/// For input that was shifted and in which no Marker follows. The next index, or two frames that this one leads to,
/// confirm it. Where the input ends before the next index, and the damage lies between this one and all that it leads
/// to, it is enough that all streams that it names are declared, and that of the frame after it.
pub(crate) fn find_minor<'a>(
    data: Bytes<'a>,
    range: Range<u64>,
    like: &Unit<'a>,
    is_declared: impl Fn(u64) -> bool,
) -> Option<(u64, Unit<'a>)> {
    let from = range.start;
    let mut at = data.range(from, data.end_offset().saturating_sub(from))?;
    loop {
        let skip = at.as_slice().iter().position(|byte| matches!(byte, 0x08 | 0x09))?;
        work::count(skip.saturating_add(1));
        at.advance(skip);
        if at.offset() >= range.end {
            return None;
        }
        if let Some(unit) = minor_at(data, at, from, like, &is_declared) {
            return Some((at.offset(), unit));
        }
        at.advance(1);
    }
}

fn minor_at<'a>(
    data: Bytes<'a>,
    at: Bytes<'a>,
    from: u64,
    like: &Unit<'a>,
    is_declared: &impl Fn(u64) -> bool,
) -> Option<Unit<'a>> {
    let head = at.as_slice();
    // One or two bytes of length, then the entry of stream 3.
    if !starts_like_one(head.get(2..)?) && !starts_like_one(head.get(3..)?) {
        return None;
    }
    let (index, after) = Index::parse(at, false).ok()?;
    let back = index.entries().next()?.ok()?;
    let place = back.distance().checked_rem(like.minor_size());
    if back.id() != 3 || place != Some(0) || back.distance() >= like.major_size() {
        return None;
    }
    let origin = signed(at.offset()).saturating_sub(signed(back.distance()));
    let unit = like.moved(origin.saturating_sub(like.origin()), like.number());
    let next = unit.boundary_after(at.offset());
    if next < unit.end() && unit.minor_index(data, next).is_ok() {
        return Some(unit);
    }
    let mut hits = 0_u32;
    let mut last = 0;
    let mut strange = false;
    for entry in index.entries() {
        let entry = entry.ok().filter(|entry| entry.id() > last)?;
        last = entry.id();
        strange |= last >= frame::id::USER && !is_declared(last);
        hits = hits.saturating_add(u32::from(leads_to_frame(data, &entry, from)));
    }
    let is_last = next >= data.end_offset() && last >= frame::id::USER && !strange;
    let goes_on = || frame::read_header(after).is_ok_and(|((id, _), _)| is_declared(id));
    (hits >= 2 || is_last && goes_on()).then_some(unit)
}

/// Checks that something can be read.
///
/// # Errors
///
/// No unit is in the input.
pub fn probe(data: &[u8]) -> Result<()> {
    let first = match Unit::parse(data, 0) {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let whole = Bytes::new(data);
    if damaged_marker(whole).is_some() || find(whole, 0, to_u64(data.len())).is_some() {
        return Ok(());
    }
    Err(match first.kind() {
        ErrorKind::BadMagic { .. } => Error::new(0, UNIT, ErrorKind::Missing),
        _ => first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn all_markers(data: &[u8]) -> Vec<u64> {
        let mut found = Vec::new();
        let none: Option<()> = markers(Bytes::new(data), 0, u64::MAX, |at| {
            found.push(at);
            None
        });
        assert_eq!(none, None);
        found
    }

    /// A run at every distance from the probes.
    #[test]
    fn a_marker_is_found_wherever_it_is() {
        for before in (0..3000).step_by(7).chain([1022, 1023, 1024, 1025, 2047, 2048, 2049]) {
            let mut data = vec![1; before];
            data.push(4);
            data.extend([MAGIC; RUN]);
            data.push(6);
            assert_eq!(all_markers(&data), [before as u64]);
            // Another one right after.
            data.push(4);
            data.extend([MAGIC; RUN]);
            data.push(7);
            assert_eq!(all_markers(&data), [before as u64, before as u64 + 1026]);
        }
    }

    #[test]
    fn lookalikes_are_none() {
        let marker = |run: usize, after: u8| {
            let mut data = vec![4];
            data.extend(vec![MAGIC; run]);
            data.push(after);
            data
        };
        assert_eq!(all_markers(&marker(RUN, 6)), [0]);
        for (run, after) in [(RUN - 1, 6), (RUN + 1, 6), (RUN, 1), (RUN, 8), (5000, 6)] {
            assert!(all_markers(&marker(run, after)).is_empty(), "{run} {after}");
        }
        assert!(all_markers(&vec![MAGIC; 1 << 16]).is_empty());
    }
}
