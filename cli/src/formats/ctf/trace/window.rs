//! Ranges of time: what they stand for in a trace.

use super::wire::{Lane, lanes};
use super::{Compiled, span};
use crate::status::{Failure, Result};
use crate::trace::{Bounds, READ_WHOLE, Reference, Window};
use std::collections::VecDeque;
use traceglass::ctf::data::Packets;
use traceglass::ctf::schema::Clock;

/// The number of packets more that are read before and after those that a range lies in: records may be later than what
/// their packet says of its end.
const AROUND: usize = 2;

/// The range that is asked for.
pub fn range(traces: &[Compiled<'_>], window: &Window) -> Result<Bounds> {
    window.resolve(&Reference {
        is_absolute: &|| Ok(clocks(traces).any(|clock| clock.is_unix())),
        start: &|| Ok(start(traces)),
        of_clock: &|value| {
            let clock = clocks(traces).next();
            let clock = clock.ok_or_else(|| Failure::usage("--from and --to: it has no clock"))?;
            let cycles = u64::try_from(value)
                .map_err(|_| Failure::usage("--from and --to: a clock's value is not negative"))?;
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
    let mut end = data;
    let mut next = all;
    while let Ok(Some(packet)) = next.next_packet() {
        let begin = span(&packet).0;
        begun |= begin.is_none_or(|begin| bounds.from.is_none_or(|from| begin >= from));
        if !begun {
            before.push_back((packet.offset(), packet.number()));
            if before.len() > AROUND + 1 {
                before.pop_front();
            }
        }
        let is_past = begin.is_some_and(|begin| bounds.is_past(begin));
        after = if is_past { after + 1 } else { 0 };
        if after > AROUND {
            end = usize::try_from(next.offset()).ok().and_then(|end| data.get(..end)).unwrap_or(data);
            break;
        }
    }
    let (offset, number) = before.front().copied().unwrap_or_default();
    Packets::from_packet(end, lane.schema(), offset, number)
}
