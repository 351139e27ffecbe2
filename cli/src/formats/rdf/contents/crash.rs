//! A crash dump in words: the process, the page fault, and the GPU's work at that time.

use super::{Loaded, Loader, Streams, Summary, duration};
use crate::output::grouped;
use serde_json::{Value, json};
use std::collections::HashMap;
use traceglass::ErrorKind;
use traceglass::rdf::contents::joins::{
    AddressHistory, BufferMarkers, Holder, OpenMarker, SeenMarker, buffer_states, explain_address,
};
use traceglass::rdf::contents::rmt::Stream;
use traceglass::rdf::contents::{
    CodeObject, Content, DriverEvents, EventValue, Hash128, MarkerStruct, PipelineHash, SystemInfo,
    ticks_to_ns,
};

/// The number of page faults that are shown, and how many command buffers of each chunk.
const SHOWN: usize = 8;

/// The number of holders of an address that are listed: of a crash there are some, and each takes a kilobyte.
const HOLDERS: usize = 64;

/// The number of markers of a command buffer that are shown.
const MARKERS: usize = 8;

pub fn summarize(
    loader: &mut Loader<'_, '_>,
    system: Option<SystemInfo<'_>>,
    streams: &Streams,
    summary: &mut Summary,
) {
    let chunks = loader.load("DDEvent");
    let events: Vec<DriverEvents<'_>> = chunks
        .iter()
        .filter_map(|chunk| match chunk.content() {
            Ok(Content::DriverEvents(events)) => Some(events),
            _ => None,
        })
        .collect();
    let mut more = 0_usize;
    let mut faults: Vec<_> = Vec::new();
    let found = events
        .iter()
        .flat_map(|events| events.events().map_while(Result::ok).map(move |event| (events, event)))
        .filter_map(|(events, event)| match event.value() {
            Ok(EventValue::PageFault(fault)) => Some((events.fields().hz(), event.ticks(), fault)),
            _ => None,
        });
    for fault in found {
        if faults.len() < SHOWN { faults.push(fault) } else { more = more.saturating_add(1) }
    }
    let processes = loader.load("TraceProcessInfo");
    let process = processes.iter().find_map(|chunk| match chunk.content() {
        // One without a path is not of AMD's tools.
        Ok(Content::Process(process)) if !process.path().is_empty() => {
            Some((process.pid(), Some(process.path().to_string())))
        }
        _ => None,
    });
    let process = process.or_else(|| {
        let pid = streams.iter().map(|stream| stream.process()).find(|&pid| pid != 0)?;
        let mut processes = system.and_then(|system| system.processes()).into_iter().flatten();
        let path = processes.find(|one| one.id() == Some(pid.into())).and_then(|one| one.path());
        Some((pid, path.map(|path| path.to_string())))
    });
    if let Some((pid, path)) = &process {
        let path = path.as_deref().unwrap_or("");
        summary.line("process", format!("{path} ({pid})").trim().to_owned());
        summary.field("process", json!({"id": pid, "path": path}));
    }
    let mut all = Vec::new();
    for (hz, ticks, fault) in faults {
        let mut line = format!("at {:#x} (VM {})", fault.address(), fault.vm());
        let mut object =
            json!({"address": format!("{:#x}", fault.address()), "vm": fault.vm(), "ticks": ticks});
        let stream =
            streams.iter().find(|stream| process.as_ref().is_some_and(|one| one.0 == stream.process()));
        if let (Some(stream), Some(ticks)) = (stream, ticks) {
            explain(fault.address(), ticks, hz, stream, streams, |text, found| {
                line.push_str(&text);
                if let (Some(object), Value::Object(found)) = (object.as_object_mut(), found) {
                    object.extend(found);
                }
            });
        }
        summary.line("page fault", line);
        all.push(object);
    }
    summary.more("page fault", more, 0);
    if !all.is_empty() {
        summary.field("page_faults", all.into());
        summary.field("more_page_faults", more.into());
    }
    in_flight(loader, &events, summary);
}

/// Says what held the address.
fn explain(
    address: u64,
    ticks: u64,
    hz: u64,
    stream: Stream<'_>,
    streams: &Streams,
    say: impl FnOnce(String, Value),
) {
    let mut storage = vec![Holder::EMPTY; 64];
    if let Err(error) = explain_address(address, ticks, stream, [], &mut storage) {
        let ErrorKind::CapacityExceeded { needed, .. } = error.kind() else { return };
        storage.resize(usize::try_from(needed).unwrap_or(0), Holder::EMPTY);
    }
    let Ok(history) = explain_address(address, ticks, stream, streams.iter(), &mut storage) else { return };
    let name = |holder: &Holder<'_>| holder.name().map(|name| String::from_utf8_lossy(name).into_owned());
    let culprit = history.culprit();
    let freed = history.freed_before(ticks).and_then(|ticks| ticks_to_ns(ticks, hz));
    let what = culprit.map(|holder| {
        let kind = holder.kind().map_or_else(|| "resource".to_owned(), |kind| kind.to_string());
        match name(holder) {
            Some(name) => format!(": {kind} \"{name}\""),
            None => format!(": {kind} without a name"),
        }
    });
    let size = culprit.map_or_else(String::new, |holder| format!(", {} bytes", grouped(holder.size())));
    let when = match (history.last_allocation(), freed) {
        (None, _) => "; nothing held the address".to_owned(),
        (_, Some(ns)) => format!(", freed {} before", duration(ns)),
        (_, None) => ", not freed before".to_owned(),
    };
    let (holders, more) = history.holders().split_at_checked(HOLDERS).unwrap_or((history.holders(), &[]));
    let holders: Vec<Value> = holders.iter().map(|holder| describe(holder, name(holder))).collect();
    let found = json!({
        "resource_name": culprit.and_then(name), "freed_before_ns": freed.map(super::number),
        "freed_ticks": freed_ticks(&history), "resources": holders,
        "more_resources": more.len(),
    });
    say(format!("{}{size}{when}", what.unwrap_or_default()), found);
}

fn freed_ticks(history: &AddressHistory<'_, '_>) -> Option<u64> {
    history.last_allocation().and_then(|allocation| allocation.freed())
}

fn describe(holder: &Holder<'_>, name: Option<String>) -> Value {
    json!({
        "resource": holder.resource(), "type": holder.kind().map(|kind| kind.to_string()), "name": name,
        "address": format!("{:#x}", holder.address()), "size": holder.size(), "ticks": holder.ticks(),
        "destroyed_ticks": holder.destroyed(),
    })
}

/// Says what the GPU was doing.
fn in_flight(loader: &mut Loader<'_, '_>, events: &[DriverEvents<'_>], summary: &mut Summary) {
    let is_any = events.iter().any(|events| buffer_states(*events).any(|state| state.is_in_flight()));
    let (objects, hashes) = match is_any {
        true => (loader.load("CodeObject"), loader.load("PsoCorrelation")),
        false => (Vec::new(), Vec::new()),
    };
    let programs = Programs::new(&objects, &hashes);
    let (mut all, mut more) = (Vec::new(), 0_usize);
    let words = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    for events in events {
        for (number, state) in buffer_states(*events).filter(|state| state.is_in_flight()).enumerate() {
            if number >= SHOWN {
                more = more.saturating_add(1);
                continue;
            }
            let mut storage = vec![OpenMarker::EMPTY; 64];
            let mut found = BufferMarkers::find(*events, state, &mut storage).map(|_| ());
            if let Err(error) = found
                && let ErrorKind::CapacityExceeded { needed, .. } = error.kind()
            {
                storage.resize(usize::try_from(needed).unwrap_or(0), OpenMarker::EMPTY);
                found = Ok(());
            }
            let Ok(()) = found else { continue };
            let Ok(markers) = BufferMarkers::find(*events, state, &mut storage) else { continue };
            let open: Vec<String> = markers.open().iter().map(|marker| words(marker.name())).collect();
            let begun = markers.begun().and_then(|seen| seen.name()).map(words);
            let ended = markers.ended().and_then(|seen| seen.name()).map(words);
            let last = |what: &str, name: &Option<String>| {
                name.as_ref().map_or_else(String::new, |name| format!(", last {what} \"{name}\""))
            };
            let states = format!("{}{}", last("begun", &begun), last("ended", &ended));
            let line = format!("command buffer {}{states}", state.cmd_buffer());
            summary.line("in flight", line);
            if !open.is_empty() {
                // The outermost come first.
                let more = open.len().saturating_sub(MARKERS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let names: Vec<&str> = open.iter().take(MARKERS).map(String::as_str).collect();
                summary.line("in flight", format!("  begun and not ended: {}{more}", names.join(", ")));
            }
            let bound = markers.begun().and_then(|begun| bound(events, state.cmd_buffer(), begun));
            let (line, pipeline) = bound.map_or((None, Value::Null), |api_hash| programs.describe(api_hash));
            if let Some(line) = line {
                summary.line("in flight", format!("  {line}"));
            }
            all.push(json!({
                "cmd_buffer": state.cmd_buffer(), "begin": state.begin(), "end": state.end(),
                "last_begun": begun, "last_ended": ended, "open_markers": open, "pipeline": pipeline,
            }));
        }
    }
    summary.more("in flight", more, 0);
    if !all.is_empty() {
        summary.field("in_flight", all.into());
        summary.field("more_in_flight", more.into());
    }
}

/// The pipeline that was bound when the GPU began a marker: its hash in the API.
fn bound(events: &DriverEvents<'_>, cmd_buffer: u32, begun: SeenMarker<'_>) -> Option<u64> {
    let events = events.events().map_while(Result::ok);
    let infos = events.filter_map(|event| match event.value() {
        Ok(EventValue::MarkerInfo(info)) if info.cmd_buffer() == cmd_buffer => Some((event.offset(), info)),
        _ => None,
    });
    let before = infos.filter(|(offset, info)| *offset < begun.offset() || info.marker() == begun.marker());
    let binds = before.filter_map(|(_, info)| match info.content() {
        MarkerStruct::PipelineBind(bind) => Some(bind.api_hash()),
        _ => None,
    });
    binds.last()
}

/// The pipelines of a workload, by their hashes in the API, and what they were compiled to.
struct Programs<'c> {
    pipelines: HashMap<u64, PipelineHash<'c>>,
    objects: HashMap<Hash128, CodeObject<'c>>,
}

impl<'c> Programs<'c> {
    fn new(objects: &'c [Loaded<'_>], hashes: &'c [Loaded<'_>]) -> Self {
        let objects = objects.iter().filter_map(|chunk| match chunk.content() {
            Ok(Content::CodeObject(code)) => Some((code.hash(), code)),
            _ => None,
        });
        let pipelines = hashes.iter().filter_map(|chunk| match chunk.content() {
            Ok(Content::PipelineHashes(hashes)) => Some(hashes.pipelines()),
            _ => None,
        });
        let pipelines = pipelines.flatten().map(|(_, pipeline)| (pipeline.api_hash(), pipeline));
        Self { pipelines: pipelines.collect(), objects: objects.collect() }
    }

    /// A pipeline for people, and as JSON: its name, and the functions of its shaders.
    fn describe(&self, api_hash: u64) -> (Option<String>, Value) {
        let pipeline = self.pipelines.get(&api_hash);
        let name = pipeline.map(|pipeline| pipeline.name().to_string()).filter(|name| !name.is_empty());
        let object = pipeline.and_then(|pipeline| self.objects.get(&pipeline.hash()));
        let functions = object.and_then(|code| code.elf().ok()).into_iter().flat_map(|elf| elf.functions());
        let functions: Vec<String> =
            functions.take(MARKERS).map(|function| function.name().to_string()).collect();
        let mut line = format!("pipeline {api_hash:#x}");
        name.iter().for_each(|name| line.push_str(&format!(" \"{name}\"")));
        if let Some(pipeline) = pipeline {
            line.push_str(&format!(", code object {:#x}", pipeline.hash().value()));
        }
        if !functions.is_empty() {
            line.push_str(&format!(": {}", functions.join(", ")));
        }
        let hash = pipeline.map(|pipeline| format!("{:#x}", pipeline.hash().value()));
        let object = json!({
            "api_hash": format!("{api_hash:#x}"), "name": name, "hash": hash, "functions": functions,
        });
        (Some(line), object)
    }
}
