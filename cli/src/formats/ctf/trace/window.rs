//! Ranges of time: what they stand for in a trace.

use super::Compiled;
use crate::status::{Failure, Result};
use crate::trace::{Bounds, Reference, Window};
use traceglass::ctf::data::Packets;
use traceglass::ctf::schema::Clock;

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
    let streams =
        traces.iter().flat_map(|trace| trace.files.streams.iter().map(move |stream| (trace, stream)));
    let starts = streams.filter_map(|(trace, stream)| {
        let packets = Packets::new(stream.data.data(), &trace.schema).map_while(traceglass::Result::ok);
        // The first packets may be empty.
        packets.take(16).find_map(|packet| {
            packet.records().map_while(traceglass::Result::ok).find_map(|record| record.nanoseconds())
        })
    });
    starts.min()
}
