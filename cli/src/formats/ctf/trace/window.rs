//! Ranges of time: what they stand for in a trace.

use super::wire::{Lane, lanes};
use super::{Compiled, span};
use crate::status::{Failure, Result};
use crate::trace::{Bounds, READ_WHOLE, Reference, Window, begin_before};
use std::collections::VecDeque;
use traceglass::ctf::data::Packets;
use traceglass::ctf::schema::Clock;

/// The number of packets more that are read before and after those that a range lies in: records may be later than what
/// their packet says of its end.
const AROUND: usize = 2;

/// The number of bytes at the start of a stream in which names are looked for, though a range begins later.
const NAMES: usize = 4 << 20;

/// The range that is asked for.
pub fn range(traces: &[Compiled<'_>], window: &Window) -> Result<Bounds> {
    window.resolve(&Reference {
        is_absolute: &|| Ok(clocks(traces).any(|clock| clock.is_unix())),
        start: &|| Ok(start(traces)),
        of_clock: &|value| {
            let clock = clocks(traces).next();
            let clock = clock.ok_or_else(|| Failure::usage("--from and --to: it has no clock"))?;
            let why = if value < 0 { "is not negative" } else { "has 64 bits at most" };
            let cycles = u64::try_from(value)
                .map_err(|_| Failure::usage(format!("--from and --to: a clock's value {why}")))?;
            Ok(clock.nanoseconds(cycles))
        },
    })
}

fn clocks<'t>(traces: &'t [Compiled<'_>]) -> impl Iterator<Item = Clock<'t, 't>> {
    let classes = traces.iter().flat_map(|trace| trace.schema.stream_classes());
    classes.filter_map(|class| class.clock())
}

/// The time of the first record of all streams.
fn start(traces: &[Compiled<'_>]) -> Option<i128> {
    let lanes = lanes(traces).into_iter().filter(|lane| lane.session.is_none_or(|session| session == 0));
    let starts = lanes.filter_map(|lane| {
        let packets = lane.packets().map_while(traceglass::Result::ok);
        // The first packets may be empty.
        packets.take(16).find_map(|packet| {
            packet.records().map_while(traceglass::Result::ok).find_map(|record| record.nanoseconds())
        })
    });
    starts.min()
}

/// The packets that a range may lie in, by what they say of their beginnings; all of a stream that is not large.
pub fn packets<'c>(lane: &Lane<'c>, bounds: &Bounds) -> Packets<'c, 'c> {
    if lane.stream.data.data().len() as u64 <= READ_WHOLE { lane.packets() } else { from(lane, bounds) }
}

/// The same, however large the stream is.
pub fn from<'c>(lane: &Lane<'c>, bounds: &Bounds) -> Packets<'c, 'c> {
    let data = lane.stream.data.data();
    let all = lane.packets();
    if lane.track().is_some() || bounds.is_everything() {
        return all;
    }
    // The last packets that begin before the range, offset and number, the last of which it begins in.
    let mut before = VecDeque::new();
    let (mut begun, mut after) = (false, 0);
    let mut read = data;
    let mut next = all;
    while let Ok(Some(packet)) = next.next_packet() {
        let (begin, end) = span(&packet);
        let reaches = |time: i128| bounds.from.is_none_or(|from| time >= from);
        begun |= begin.is_none_or(reaches) || end.is_some_and(reaches);
        if !begun {
            before.push_back((packet.offset(), packet.number()));
            if before.len() > AROUND + 1 {
                before.pop_front();
            }
        }
        let is_past = begin.is_some_and(|begin| bounds.is_past(begin));
        after = if is_past { after + 1 } else { 0 };
        if after > AROUND {
            read = usize::try_from(next.offset()).ok().and_then(|end| data.get(..end)).unwrap_or(data);
            break;
        }
    }
    let (offset, number) = before.front().copied().unwrap_or_default();
    Packets::from_packet(read, lane.schema(), offset, number)
}

/// The packets at the start of a stream, where tracers describe what there is, if those from a time on are read.
pub fn start_of<'c>(lane: &Lane<'c>, since: i128) -> Packets<'c, 'c> {
    let data = lane.stream.data.data();
    let mut next = lane.packets();
    let mut end = 0;
    while let Ok(Some(packet)) = next.next_packet() {
        let at = usize::try_from(next.offset()).unwrap_or(usize::MAX);
        if at > NAMES || span(&packet).0.is_none_or(|begin| begin >= since) {
            break;
        }
        end = at;
    }
    Packets::from_packet(data.get(..end).unwrap_or(data), lane.schema(), 0, 0)
}

/// The begin of the packets that have so many bytes before a time; `None` if all are needed, or packets do not tell.
pub fn begin_of_packets(traces: &[Compiled<'_>], time: i128, bytes: u64) -> Option<i128> {
    let lanes = lanes(traces);
    if lanes.iter().any(|lane| lane.track().is_some()) {
        return None;
    }
    let mut are_timed = true;
    let packets =
        lanes.iter().flat_map(|lane| lane.packets().map_while(traceglass::Result::ok)).map_while(|packet| {
            let begin = span(&packet).0;
            are_timed &= begin.is_some();
            Some((begin?, packet.end_offset().saturating_sub(packet.offset())))
        });
    begin_before(packets, time, bytes).filter(|_| are_timed)
}
