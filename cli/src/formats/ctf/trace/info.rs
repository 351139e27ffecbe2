//! A summary of a trace.

use super::super::summary::{environment_lines, variable};
use super::wire::{self, lanes};
use super::{Compiled, Ctf, Scan};
use crate::output::{counted, grouped, printable, shown};
use crate::progress::Progress;
use crate::table::{Table, left, right};
use crate::trace::{
    Damage, DamageExt as _, Info, Inquiry, duration, insert_span, rfc3339, shown_time, time_json,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The number of event record classes that are shown: the most frequent ones.
const SHOWN: usize = 12;

pub fn info(ctf: &Ctf<'_>, traces: &[Compiled<'_>], mut damage: Damage, args: &Inquiry) -> Info {
    let bytes = ctf.found.bytes();
    let complete = args.wants_all(bytes);
    let progress = Progress::new(if complete { bytes } else { 0 });
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    let (mut streams, mut files, mut packets, mut records) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut discarded, mut lost_packets) = (0_u64, 0_u64);
    let (mut begin, mut end, mut is_unix) = (None::<i128>, None::<i128>, false);
    let mut classes: Vec<(u64, String)> = Vec::new();
    let mut environment = Map::new();
    let (mut form, mut fragments, mut content_bytes) = (None, 0_u64, 0_u64);
    let lenient = ctf.reading.lenient;
    let lanes = lanes(traces);
    for (number, trace) in traces.iter().enumerate() {
        let mut counts: HashMap<u32, (u64, String)> = HashMap::new();
        let mut last = None;
        for lane in lanes.iter().filter(|lane| lane.trace == number) {
            let scan = Scan::read(lane.stream, lane.packets(), complete, &progress, |record| {
                let class = record.class();
                counts.entry(class.key()).or_insert_with(|| (0, class.to_string())).0 += 1;
            });
            // Tracers begin new files as a stream grows.
            let key = scan.class.zip(scan.id).map(|key| (lane.session, key));
            let goes_on = last.is_some_and(|(of, end)| key == Some(of) && scan.begin >= end && end.is_some());
            streams += u64::from(!goes_on);
            (last, files) = (key.map(|key| (key, scan.end)), files + 1);
            packets += scan.packets;
            records += scan.records.unwrap_or(0);
            discarded += scan.discarded.unwrap_or(0);
            lost_packets += scan.lost_packets;
            is_unix |= scan.is_unix;
            // The times of two sessions are not to be compared.
            if lane.session.is_none_or(|session| session == 0) {
                begin = [begin, scan.begin].into_iter().flatten().min();
                end = [end, scan.end].into_iter().flatten().max();
            }
            damage.append(scan.damage);
        }
        classes.extend(counts.into_values());
        if let Ok(metadata) = super::super::parse_text(trace.files.metadata.data(), lenient) {
            let summary = metadata.summary();
            fragments += summary.count;
            content_bytes += metadata.text_bytes();
            form.get_or_insert_with(|| metadata.form_fields());
        }
        // A variable that is listed again has its last value, and that of the first trace.
        let variables: Map<String, Value> = trace.schema.environment().map(variable).collect();
        for (name, value) in variables {
            environment.entry(name).or_insert(value);
        }
    }
    classes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));

    let mut fields = form.unwrap_or_default();
    fields.insert("content_bytes".into(), content_bytes.into());
    fields.insert("fragments".into(), fragments.into());
    fields.insert("traces".into(), traces.len().into());
    fields.insert("streams".into(), streams.into());
    fields.insert("packets".into(), packets.into());
    fields.insert("records".into(), if complete { records.into() } else { Value::Null });
    fields.insert("discarded".into(), discarded.into());
    fields.insert("lost_packets".into(), lost_packets.into());
    insert_span(&mut fields, [begin, end], is_unix);
    let uuid = traces.first().and_then(|trace| trace.schema.uuid()).map(|uuid| uuid.to_string());
    fields.insert("uuid".into(), uuid.into());
    let list: Vec<Value> =
        classes.iter().map(|(count, name)| json!({"name": name, "records": count})).collect();
    fields.insert("event_classes".into(), list.into());
    let (clock_lines, clocks) = clocks(traces);
    fields.insert("clocks".into(), clocks.into());

    lines.extend(environment_lines(&environment));
    fields.insert("environment".into(), environment.clone().into());
    if traces.len() > 1 {
        let paths: Vec<String> = ctf
            .found
            .traces
            .iter()
            .map(|files| shown(files.metadata_path.parent().unwrap_or(&files.metadata_path)))
            .collect();
        lines.push(("traces", format!("{}: {}", traces.len(), paths.join(", "))));
    }
    let (capture_lines, captures) = wire::about(traces);
    for line in capture_lines {
        lines.push(("capture", line));
    }
    if !captures.is_empty() {
        fields.insert("captures".into(), captures.into());
        damage.append(wire::problems(ctf, traces));
    }
    let pieces = if files > streams { format!(", in {} files", grouped(files)) } else { String::new() };
    lines.push(("streams", format!("{}{pieces}", grouped(streams))));
    let lost = match lost_packets {
        0 => String::new(),
        lost => format!(", {} lost", grouped(lost)),
    };
    lines.push(("packets", format!("{}{lost}", grouped(packets))));
    let dropped = match discarded {
        0 => String::new(),
        discarded => format!(", {} discarded by the tracer", grouped(discarded)),
    };
    lines.push(match complete {
        true => ("records", format!("{}{dropped}", grouped(records))),
        false => ("records", format!("not counted{dropped}")),
    });
    if let (Some(begin), Some(end)) = (begin, end) {
        let length = duration(end.saturating_sub(begin));
        lines.push(("time", format!("{}, {length}", shown_time(begin, is_unix))));
    }
    for (number, line) in clock_lines.into_iter().enumerate() {
        lines.push((if number == 0 { "clocks" } else { "" }, line));
    }
    let mut table = Table::new(&[right("records"), left("event")]);
    for (count, name) in classes.iter().take(SHOWN) {
        table.add(vec![grouped(*count), printable(name)]);
    }
    if classes.len() > SHOWN {
        let rest = classes.iter().skip(SHOWN).map(|(count, _)| *count).fold(0, u64::saturating_add);
        let more = counted(classes.len().saturating_sub(SHOWN) as u64, "more class", "more classes");
        table.add(vec![grouped(rest), format!("of {more}")]);
    }
    let tables = if classes.is_empty() { Vec::new() } else { vec![("events", table)] };
    let title = if ctf.is_tsdl() { "CTF 1.8 trace" } else { "CTF 2 trace" };
    let status = damage.status();
    Info { bytes, status, fields, title: title.into(), lines, tables, damage, complete }
}

/// The clocks, for people and as JSON; those of several traces that say the same once.
fn clocks(traces: &[Compiled<'_>]) -> (Vec<String>, Vec<Value>) {
    let (mut lines, mut values, mut told) = (Vec::new(), Vec::new(), HashSet::new());
    for clock in traces.iter().flat_map(|trace| trace.schema.clocks()) {
        let name = clock.name().or(clock.id()).map(|name| name.to_string());
        let zero = clock.nanoseconds(0);
        let since = match clock.is_unix() {
            true => format!("zero is {}", shown_time(zero, true)),
            false => "it does not tell the date".to_owned(),
        };
        let hertz = frequency(clock.frequency());
        let line =
            format!("{}: {hertz}, {since}", name.as_deref().map_or_else(|| "unnamed".to_owned(), printable));
        let value = json!({
            "name": name, "frequency": clock.frequency(), "offset_seconds": clock.offset_seconds(),
            "offset_cycles": clock.offset_cycles(), "is_absolute": clock.is_unix(),
            "time_ns": time_json(Some(zero)), "time": if clock.is_unix() { rfc3339(zero) } else { None },
        });
        if told.insert(value.to_string()) {
            lines.push(line);
            values.push(value);
        }
    }
    (lines, values)
}

fn frequency(hertz: u64) -> String {
    match hertz {
        _ if hertz > 0 && hertz.is_multiple_of(1_000_000_000) => {
            format!("{} GHz", grouped(hertz / 1_000_000_000))
        }
        _ if hertz > 0 && hertz.is_multiple_of(1_000_000) => format!("{} MHz", grouped(hertz / 1_000_000)),
        _ => format!("{} Hz", grouped(hertz)),
    }
}
