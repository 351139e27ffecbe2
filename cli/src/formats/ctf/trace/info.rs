//! What a trace holds, in short.

use super::time::{duration, rfc3339};
use super::{Compiled, Ctf, Scan, shown_time};
use crate::output::{counted, grouped, printable, shown};
use crate::status::Status;
use crate::trace::Info;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use traceglass::ctf::metadata::{EnvironmentValue, FragmentKind};

/// So many event record classes are shown, the most frequent ones.
const SHOWN: usize = 12;
/// Of more bytes than these, records are not counted.
const LARGE: u64 = 256 << 20;

pub fn info(ctf: &Ctf<'_>, traces: &[Compiled<'_>]) -> Info {
    let bytes = ctf.found.bytes();
    let complete = bytes <= LARGE;
    let mut damage = ctf.problems();
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    let (mut streams, mut packets, mut records) = (0_u64, 0_u64, 0_u64);
    let (mut discarded, mut lost_packets) = (0_u64, 0_u64);
    let (mut begin, mut end, mut is_unix) = (None::<i128>, None::<i128>, false);
    let mut classes: Vec<(u64, String)> = Vec::new();
    let mut environment = Map::new();
    for trace in traces {
        let mut counts: HashMap<u32, (u64, String)> = HashMap::new();
        for stream in trace.streams {
            let scan = Scan::read(
                stream,
                &trace.schema,
                complete,
                |record| {
                    let class = record.class();
                    counts
                        .entry(class.key())
                        .or_insert_with(|| {
                            let name = class.name().map(|name| name.to_string());
                            (0, name.unwrap_or_else(|| format!("#{}", class.id())))
                        })
                        .0 += 1;
                },
                |_| {},
            );
            streams += 1;
            packets += scan.packets;
            records += scan.records.unwrap_or(0);
            discarded += scan.discarded.unwrap_or(0);
            lost_packets += scan.lost_packets;
            is_unix |= scan.is_unix;
            begin = [begin, scan.begin].into_iter().flatten().min();
            end = [end, scan.end].into_iter().flatten().max();
            damage.extend(scan.damage);
        }
        classes.extend(counts.into_values());
        for fragment in trace.schema.metadata().fragments().map_while(traceglass::Result::ok) {
            if !matches!(fragment.kind(), Ok(FragmentKind::TraceClass)) {
                continue;
            }
            if let Ok(Some(class)) = fragment.trace_class() {
                for (name, value) in class.environment().map_while(traceglass::Result::ok) {
                    let value: Value = match value {
                        EnvironmentValue::Integer(value) => match i64::try_from(value) {
                            Ok(value) => value.into(),
                            Err(_) => value.to_string().into(),
                        },
                        EnvironmentValue::String(value) => value.to_string().into(),
                        _ => Value::Null,
                    };
                    environment.entry(name.to_string()).or_insert(value);
                }
            }
        }
    }
    classes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));

    let mut fields = Map::new();
    fields.insert("traces".into(), traces.len().into());
    fields.insert("streams".into(), streams.into());
    fields.insert("packets".into(), packets.into());
    fields.insert("records".into(), if complete { records.into() } else { Value::Null });
    fields.insert("discarded".into(), discarded.into());
    fields.insert("lost_packets".into(), lost_packets.into());
    let number = |time: Option<i128>| match time.map(|time| (i64::try_from(time), time)) {
        Some((Ok(time), _)) => time.into(),
        Some((Err(_), time)) => time.to_string().into(),
        None => Value::Null,
    };
    let date = |time: Option<i128>| time.filter(|_| is_unix).and_then(rfc3339).into();
    fields.insert("time_ns".into(), number(begin));
    fields.insert("time".into(), date(begin));
    fields.insert("end_time_ns".into(), number(end));
    fields.insert("end_time".into(), date(end));
    let uuid = traces.first().and_then(|trace| trace.schema.uuid()).map(|uuid| uuid.to_string());
    fields.insert("uuid".into(), uuid.into());
    let list: Vec<Value> =
        classes.iter().map(|(count, name)| json!({"name": name, "records": count})).collect();
    fields.insert("event_classes".into(), list.into());
    fields.insert("complete".into(), complete.into());

    let text = |key: &str| {
        environment.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    if let Some(tracer) = text("tracer_name") {
        let version: Vec<String> =
            ["tracer_major", "tracer_minor", "tracer_patch"].into_iter().map_while(text).collect();
        lines.push(("tracer", printable(format!("{tracer} {}", version.join(".")).trim_end())));
    }
    if let Some(host) = text("hostname") {
        lines.push(("host", printable(&host)));
    }
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
    lines.push(("streams", grouped(streams)));
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
        lines.push(("from", shown_time(begin, is_unix)));
        lines.push(("to", format!("{}, {}", shown_time(end, is_unix), duration(end - begin))));
    }
    for (number, (count, name)) in classes.iter().take(SHOWN).enumerate() {
        let label = if number == 0 { "events" } else { "" };
        lines.push((label, format!("{} × {}", grouped(*count), printable(name))));
    }
    if classes.len() > SHOWN {
        lines.push(("", format!("and {} more", counted((classes.len() - SHOWN) as u64, "class", "classes"))));
    }
    let title = if ctf.is_tsdl() { "CTF 1.8 trace" } else { "CTF 2 trace" };
    Info { bytes, status: Status::damaged_if(!damage.is_empty()), fields, title: title.into(), lines, damage }
}
