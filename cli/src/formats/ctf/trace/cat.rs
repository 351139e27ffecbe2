//! The event records of all streams, ordered by time.

use super::apart::Apart;
use super::follow::{News, news, take_known};
use super::gaps::Gaps;
use super::merge::{Seen, merge};
use super::parts::{Parts, Span, tell_loss};
use super::place::Places;
use super::wire::{self, Lane, lanes};
use super::{Compiled, programs, window};
use crate::output::{Out, printable, shown};
use crate::progress::Progress;
use crate::record::Lines;
use crate::status::{Result, Status};
use crate::trace::{Bounds, Cursor, Selection};
use std::path::Path;
use traceglass::ctf::data::wire::WireSlot;
use traceglass::ctf::data::{Packet, Packets, Programs, Stream};
use traceglass::ctf::schema::Schema;
use traceglass::record::{Nobody, Source, Time};

/// The number of bytes that are read between reports of progress, so that these cost nothing.
const STEP: u64 = 1 << 20;

pub fn cat<'c>(
    traces: &'c [Compiled<'c>],
    problems: Vec<String>,
    args: &'c Selection,
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
    let mut known = take_known(cursor);
    let mut fresh = Vec::new();
    if cursor.follows {
        for (number, trace) in traces.iter().enumerate() {
            for stream in &trace.files.streams {
                fresh.push((number, trace, stream, news(stream, trace, &mut known, cursor.has_ended, out)));
            }
        }
        cursor.kept = Some(Box::new(known));
    }
    let count = traces.iter().map(|trace| trace.files.streams.len()).sum::<usize>();
    let (mut sources, mut total) = (Vec::new(), 0_u64);
    let mut add =
        |packets, before: Option<&_>, trace: usize, file: usize, stream: &'c super::Stream, session| {
            let steps = programs.get(trace).copied().unwrap_or(Programs::NONE);
            let records = Stream::new(packets, steps);
            sources.push(Printed {
                stream: match before {
                    Some(packet) => records.after(packet),
                    None => records,
                },
                path: &stream.path,
                file,
                session,
                places: Places::new(&stream.path, session, count == 1, args),
                place: Vec::new(),
                packet: None,
                is_wanted: true,
                read: 0,
            });
        };
    let mut gaps = Gaps::new(args);
    if cursor.follows {
        for (file, (number, trace, stream, news)) in fresh.iter().enumerate() {
            match news {
                News::Stream(packets, before) => {
                    total += (stream.data.data().len() as u64).saturating_sub(packets.offset());
                    add(packets.clone(), before.as_deref(), *number, file, stream, None);
                }
                News::Capture(captured) => {
                    let (data, schema): (_, &Schema<'_, '_>) = (stream.data.data(), &trace.schema);
                    for track in &captured.tracks {
                        let packets = Packets::of_track(data, schema, &track.slots);
                        let before = track.before(data, schema);
                        add(packets, before.as_ref(), *number, file, stream, Some(track.session));
                    }
                    gaps.add(file, stream, captured.gaps.iter().copied());
                }
            }
        }
    } else {
        let lanes: Vec<_> = lanes(traces).into_iter().filter(Lane::has_bytes).collect();
        let apart = Apart::of(&lanes, &programs, &bounds, args, out);
        if let Some(apart) = apart.filter(|_| wire::captures(traces).next().is_none()) {
            damage += apart.print(out)?;
            if let Some(message) = wire::skipped(args.reading) {
                out.warn(&args.path, message);
                damage += 1;
            }
            return Ok(Status::damaged_if(damage > 0));
        }
        for lane in lanes {
            let packets = window::packets(&lane, &bounds);
            if lane.track().is_none() {
                total += (lane.stream.data.data().len() as u64).saturating_sub(packets.offset());
            }
            add(packets, None, lane.trace, lane.file, lane.stream, lane.session);
        }
        for (file, stream, capture) in wire::captures(traces) {
            gaps.add(file, stream, wire::damage(capture).into_iter().copied());
        }
    }
    damage += gaps.count();
    if let Some(message) = wire::skipped(args.reading).filter(|_| !told) {
        out.warn(&args.path, message);
        damage += 1;
    }
    let progress = Progress::new(total);
    let lines = Lines::new(&args.shape(), out);
    let parts = Parts::new(args.select.stream.as_deref(), &args.select.cpu);
    let mut printer = Printer { lines, parts, last: None, gaps, bounds, damage, progress };
    // Sessions follow each other: their times are not to be compared.
    let sessions = sources.iter().filter_map(|source| source.session).max().unwrap_or(0);
    for session in 0..=sessions {
        let is_now = |source: &Printed<'_>| source.session.unwrap_or(0) == session;
        let (mut now, later): (Vec<_>, Vec<_>) = sources.into_iter().partition(is_now);
        sources = later;
        printer.last = None;
        merge(&mut now, |sources, at, seen| printer.see(&mut sources[at], at, seen, out))?;
    }
    printer.rest_of_gaps(out)?;
    printer.lines.settle(out)?;
    Ok(Status::damaged_if(printer.damage > 0))
}

/// A stream that is printed.
struct Printed<'c> {
    stream: Stream<'c, 'c, 'c>,
    path: &'c Path,
    /// The number of its file, and of its session in a capture.
    file: usize,
    session: Option<u32>,
    places: Places,
    /// The place of the packet's records, as it is written.
    place: Vec<u8>,
    /// The packet of which the records are printed, by its number.
    packet: Option<u64>,
    /// False while its records are not asked for.
    is_wanted: bool,
    /// The bytes for which progress was reported.
    read: u64,
}

impl<'c> AsMut<Stream<'c, 'c, 'c>> for Printed<'c> {
    fn as_mut(&mut self) -> &mut Stream<'c, 'c, 'c> {
        &mut self.stream
    }
}

struct Printer<'c> {
    lines: Lines,
    parts: Parts<'c>,
    /// The source whose place was said last.
    last: Option<usize>,
    gaps: Gaps<'c>,
    bounds: Bounds,
    damage: u64,
    progress: Progress,
}

impl Printer<'_> {
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
        // The times that packets state do not bound those of records, and after a record with a wrong time come records
        // of earlier times: all that are read are looked at.
        let told = if source.is_wanted && self.bounds.wants(time.map(Time::ns)) {
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
        while let Some(gap) = self.gaps.before(source.file, here) {
            self.gap(gap, out)?;
        }
        let packet = source.stream.packet();
        source.is_wanted = self.parts.have(source.path, packet);
        source.place = self.lines.spell_place(source.places.of(packet));
        self.losses(source, time, out)
    }

    /// Prints a gap: as a message, or as a line if gaps are asked for.
    fn gap(&mut self, (stream, slot): (&super::Stream, WireSlot), out: &mut Out) -> Result<()> {
        let slot = &slot;
        self.lines.settle(out)?;
        self.last = None;
        let data = stream.data.data();
        if self.gaps.is_json {
            return out.json(&wire::object(slot, stream));
        }
        let message = wire::message(slot, data);
        if !self.gaps.is_asked {
            out.warn(&stream.path, message);
            return Ok(());
        }
        out.line(format_args!("{}: {message}", shown(&stream.path)))?;
        for line in wire::text(slot, data).unwrap_or_default().lines().filter(|line| !line.trim().is_empty())
        {
            out.line(format_args!("    {}", printable(line)))?;
        }
        Ok(())
    }

    /// Prints the gaps after all records.
    fn rest_of_gaps(&mut self, out: &mut Out) -> Result<()> {
        while let Some(gap) = self.gaps.next() {
            self.gap(gap, out)?;
        }
        Ok(())
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
        if !loss.is_some() || !Span::of(source.stream.packet(), time).is_near(&self.bounds) {
            return Ok(());
        }
        self.lines.settle(out)?;
        tell_loss(source.path, loss, out);
        Ok(())
    }
}
