//! The streams, or their packets.

use super::place::push_context;
use super::window;
use super::wire::{self, lanes};
use super::{Compiled, Ctf, Scan, span};
use crate::json::Line;
use crate::output::{Out, bytes, counted, grouped, shown};
use crate::progress::Progress;
use crate::record::Json;
use crate::status::{Result, Status};
use crate::table::{Table, date, path, right};
use crate::trace::{Bounds, Damage, DamageExt as _, Listing, Stamps, aligned, shown_time, widen};
use traceglass::ctf::data::Packet;

pub fn ls(
    ctf: &Ctf<'_>,
    traces: &[Compiled<'_>],
    mut damage: Damage,
    args: &Listing,
    out: &mut Out,
) -> Result<Status> {
    let bounds = window::range(traces, &args.window)?;
    let progress = Progress::new(ctf.found.bytes());
    if args.ctf.packets {
        packets(traces, &bounds, &progress, &mut damage, args, out)?;
    } else {
        streams(traces, &bounds, &progress, &mut damage, args, out)?;
    }
    damage.append(wire::problems(ctf, traces));
    Ok(damage.tell(&args.path, out))
}

fn streams(
    traces: &[Compiled<'_>],
    bounds: &Bounds,
    progress: &Progress,
    damage: &mut Damage,
    args: &Listing,
    out: &mut Out,
) -> Result<()> {
    let (mut line, mut stamps) = (Line::new(), Stamps::default());
    let mut table = Table::new(&[
        path("stream"),
        right("class").spare(3),
        right("packets").spare(4),
        right("records"),
        right("discarded").spare(2),
        date("first record").spare(1),
        right("length"),
    ]);
    let (mut count, mut records) = (0_u64, 0_u64);
    for lane in lanes(traces) {
        let scan = Scan::read(lane.stream, lane.packets(), true, progress, |_| {});
        let stream = lane.stream;
        damage.append(scan.damage);
        if !bounds.meets(scan.begin.zip(scan.end)) {
            continue;
        }
        count += 1;
        records += scan.records.unwrap_or(0);
        if args.json {
            line.begin().plain("kind", "stream").path(Some(&stream.path));
            line.int_or_null("data_stream_class", scan.class).int_or_null("data_stream", scan.id);
            line.int("bytes", lane.bytes());
            if let Some(session) = lane.session {
                line.int("session", session.into()).int_or_null("cpu", scan.cpu);
            }
            line.int("packets", scan.packets).int("records", scan.records.unwrap_or(0));
            line.int_or_null("discarded", scan.discarded).int("lost_packets", scan.lost_packets);
            line.time(scan.begin, scan.is_unix, &mut stamps);
            line.end_time(scan.end, scan.is_unix, &mut stamps);
            out.json_text(line.text_or_null("clock", scan.clock.as_deref()).end())?;
            continue;
        }
        let length = scan.begin.zip(scan.end).map(|(begin, end)| aligned(end.saturating_sub(begin)));
        let number = |number: Option<u64>| number.map(grouped).unwrap_or_default();
        let cells = vec![
            shown(&stream.path),
            number(scan.class),
            grouped(scan.packets),
            number(scan.records),
            number(scan.discarded),
            scan.begin.map(|begin| shown_time(begin, scan.is_unix)).unwrap_or_default(),
            length.unwrap_or_default(),
        ];
        table.row(out, cells)?;
    }
    // Where nothing lies in a range, nothing is counted: the verb says so.
    if !args.json && (count > 0 || bounds.is_everything()) {
        table.finish(out)?;
        let streams = counted(count, "stream", "streams");
        out.wrapped("", format_args!("{streams}, {}", counted(records, "record", "records")))?;
    }
    Ok(())
}

fn packets(
    traces: &[Compiled<'_>],
    bounds: &Bounds,
    progress: &Progress,
    damage: &mut Damage,
    args: &Listing,
    out: &mut Out,
) -> Result<()> {
    let (mut line, mut stamps) = (Line::new(), Stamps::default());
    let mut table = Table::new(&[
        path("stream"),
        right("packet"),
        right("offset"),
        right("content").spare(4),
        right("total").spare(5),
        right("sequence").spare(6),
        right("discarded").spare(3),
        date("begin").spare(1),
        right("length"),
    ]);
    let (mut count, mut size) = (0_u64, 0_u64);
    for lane in lanes(traces) {
        let stream = lane.stream;
        // Another schema has other fields.
        let mut context = Json::default();
        for packet in lane.packets() {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    damage.add_in(Some(&stream.path), error);
                    break;
                }
            };
            let total = packet.end_offset().saturating_sub(packet.offset());
            progress.advance(total);
            // The records of others are not read for what is wrong in them.
            if packet.is_cut() {
                let wrong = packet.records().filter_map(traceglass::Result::err);
                wrong.for_each(|error| damage.add_in(Some(&stream.path), error));
            }
            if !bounds.is_everything() && !bounds.meets(times(&packet)) {
                continue;
            }
            let (begin, end) = span(&packet);
            (count, size) = (count + 1, size + total);
            let clock = packet.stream_class().clock();
            let is_unix = clock.is_some_and(|clock| clock.is_unix());
            if args.json {
                line.begin().plain("kind", "data-packet").path(Some(&stream.path));
                line.int("packet", packet.number()).int("offset", packet.offset());
                line.int("total_bits", packet.total_bits()).int("content_bits", packet.content_bits());
                line.time(begin, is_unix, &mut stamps).end_time(end, is_unix, &mut stamps);
                line.text_or_null(
                    "clock",
                    clock.and_then(|clock| clock.name()).map(|name| name.to_string()).as_deref(),
                );
                line.int_or_null("sequence", packet.sequence()).int_or_null("discarded", packet.discarded());
                if let Some(session) = lane.session {
                    line.int("session", session.into()).raw("doubtful", packet.is_doubtful());
                }
                push_context(&packet, &mut context, &mut line.text);
                out.json_text(line.end())?;
                continue;
            }
            let number = |number: Option<u64>| number.map(grouped).unwrap_or_default();
            table.row(
                out,
                vec![
                    shown(&stream.path),
                    packet.number().to_string(),
                    format!("{:#x}", packet.offset()),
                    grouped(packet.content_bits().div_ceil(8)),
                    grouped(total),
                    number(packet.sequence()),
                    number(packet.discarded()),
                    begin.map(|begin| shown_time(begin, is_unix)).unwrap_or_default(),
                    begin.zip(end).map(|(begin, end)| aligned(end.saturating_sub(begin))).unwrap_or_default(),
                ],
            )?;
        }
    }
    if !args.json && (count > 0 || bounds.is_everything()) {
        table.finish(out)?;
        out.wrapped("", format_args!("{}, {}", counted(count, "packet", "packets"), bytes(size)))?;
    }
    Ok(())
}

/// The times that a packet lies between. Its records are read for that only where its header does not say both.
fn times(packet: &Packet<'_, '_>) -> Option<(i128, i128)> {
    let (begin, end) = span(packet);
    let stated = begin.zip(end);
    if stated.is_some() {
        return stated;
    }
    let mut times = None;
    let records = packet.records().map_while(traceglass::Result::ok);
    let known = begin.into_iter().chain(end).chain(records.filter_map(|record| record.nanoseconds()));
    known.for_each(|time| widen(&mut times, time, time));
    times
}
