//! The event records of all streams, ordered by time.

use super::follow::{take_ends, whole};
use super::merge::{Seen, merge};
use super::place::Places;
use super::{Compiled, programs, span, window};
use crate::output::Out;
use crate::progress::Progress;
use crate::record::Lines;
use crate::status::{Result, Status};
use crate::trace::{Bounds, Cursor, Selection};
use std::path::Path;
use traceglass::ctf::data::{Loss, Packet, Stream};
use traceglass::record::{Nobody, Source, Time};

/// How many bytes are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 20;

pub fn cat(
    traces: &[Compiled<'_>],
    problems: Vec<String>,
    args: &Selection,
    cursor: &mut Cursor,
    out: &mut Out,
) -> Result<Status> {
    let mut damage = 0_u64;
    let told = cursor.follows && cursor.kept.is_some();
    for message in problems.iter().filter(|_| !told) {
        out.warn(&args.path, message);
        damage += 1;
    }
    let bounds = window::range(traces, &args.window)?;
    let mut slots = programs::room(traces);
    let programs = programs::compile(traces, &mut slots)?;
    let mut ends = take_ends(cursor);
    let count = traces.iter().map(|trace| trace.files.streams.len()).sum::<usize>();
    let (mut sources, mut total) = (Vec::new(), 0_u64);
    for (trace, programs) in traces.iter().zip(programs) {
        for stream in &trace.files.streams {
            let packets = match cursor.follows {
                true => whole(stream, trace, &mut ends, out),
                false => window::packets(stream, &trace.schema, &bounds),
            };
            total += (stream.data.data().len() as u64).saturating_sub(packets.offset());
            sources.push(Printed {
                stream: Stream::new(packets, programs),
                path: &stream.path,
                places: Places::new(&stream.path, count == 1, args),
                place: Vec::new(),
                packet: None,
                read: 0,
            });
        }
    }
    if cursor.follows {
        cursor.kept = Some(Box::new(ends));
    }
    let progress = Progress::new(total);
    let mut printer = Printer { lines: Lines::new(args.json, out), last: None, bounds, damage, progress };
    merge(&mut sources, |sources, at, seen| printer.see(&mut sources[at], at, seen, out))?;
    printer.lines.settle(out)?;
    Ok(Status::damaged_if(printer.damage > 0))
}

/// A stream that is printed.
struct Printed<'c> {
    stream: Stream<'c, 'c, 'c>,
    path: &'c Path,
    places: Places,
    /// The place of the packet's records, as it is written.
    place: Vec<u8>,
    /// The packet of which the records are printed, by its number.
    packet: Option<u64>,
    /// How far progress was reported.
    read: u64,
}

impl<'c> AsMut<Stream<'c, 'c, 'c>> for Printed<'c> {
    fn as_mut(&mut self) -> &mut Stream<'c, 'c, 'c> {
        &mut self.stream
    }
}

struct Printer {
    lines: Lines,
    /// The source whose place was said last.
    last: Option<usize>,
    bounds: Bounds,
    damage: u64,
    progress: Progress,
}

impl Printer {
    /// Prints what was met in a source.
    fn see(&mut self, source: &mut Printed<'_>, at: usize, seen: Seen, out: &mut Out) -> Result<()> {
        match seen {
            Seen::Record => {}
            Seen::Error(error) => return self.fail(source, error, out),
            Seen::End => return self.losses(source, None, out),
        }
        let time = source.stream.head().and_then(|head| head.time);
        if source.stream.packet().map(Packet::number) != source.packet {
            self.begin_packet(source, time, out)?;
            self.last = None;
        }
        // What packets say of their times does not bound those of records, and after one with a stamp that is wrong come
        // those that were recorded before: all are looked at that are read.
        let told = if self.bounds.wants(time.map(Time::ns)) {
            if self.last != Some(at) {
                self.last = Some(at);
                self.lines.set_spelled_place(&source.place);
            }
            self.lines.next_of(&mut source.stream)
        } else {
            source.stream.tell(&mut Nobody)
        };
        if let Err(error) = told {
            return self.fail(source, error, out);
        }
        self.lines.pass(out)
    }

    /// Goes to another packet, whose first record has this time.
    fn begin_packet(&mut self, source: &mut Printed<'_>, time: Option<Time>, out: &mut Out) -> Result<()> {
        let packet = source.stream.packet();
        let here = packet.map_or(0, Packet::offset);
        if here.saturating_sub(source.read) >= STEP {
            self.progress.advance(here.saturating_sub(source.read));
            source.read = here;
        }
        source.packet = packet.map(Packet::number);
        source.place = self.lines.spell_place(source.places.of(packet));
        self.losses(source, time, out)
    }

    /// Reports what cannot be read, after the records before it.
    fn fail(&mut self, source: &Printed<'_>, error: traceglass::Error, out: &mut Out) -> Result<()> {
        self.damage += 1;
        self.lines.settle(out)?;
        out.warn(source.path, error);
        Ok(())
    }

    /// Reports what is missing before the end of a packet whose first record has this time.
    fn losses(&mut self, source: &mut Printed<'_>, time: Option<Time>, out: &mut Out) -> Result<()> {
        let loss = source.stream.take_loss();
        if !loss.is_some() || !self.is_near(source.stream.packet(), time) {
            return Ok(());
        }
        self.lines.settle(out)?;
        let counts = [Loss::packets, Loss::records].map(|of| of(&loss).filter(|count| *count > 0));
        if let [Some(count), _] = counts {
            out.warn(source.path, format_args!("{count} packets are missing here"));
        }
        if let [_, Some(count)] = counts {
            out.warn(source.path, format_args!("{count} event records were discarded about here"));
        }
        Ok(())
    }

    /// True if a packet whose first record has this time may have something of the range.
    fn is_near(&self, packet: Option<&Packet<'_, '_>>, time: Option<Time>) -> bool {
        let (begin, end) = packet.map_or((None, None), span);
        let time = time.map(Time::ns);
        let first = begin.into_iter().chain(time).min();
        let last = end.into_iter().chain(time).max();
        first.zip(last).map_or(self.bounds.is_everything(), |(first, last)| self.bounds.meets(first, last))
    }
}
