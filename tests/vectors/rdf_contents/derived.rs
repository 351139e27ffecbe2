//! Facts that take several chunks.

use super::Read;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use traceglass::rdf::contents::joins::{
    BufferMarkers, CodeFact, Holder, OpenMarker, buffer_states, explain_address, join_code,
};
use traceglass::rdf::contents::rmt::{ResourceDetail, TokenValue};
use traceglass::rdf::contents::{Content, EventValue, MarkerStruct, Provider};

/// Compares the facts that a file of these chunks should have.
pub fn compare(name: &str, read: &[Read], facts: &Value) {
    let contents: Vec<Content<'_>> = read.iter().filter_map(|chunk| chunk.content().ok()).collect();
    let streams: Vec<_> = contents
        .iter()
        .filter_map(|content| match content {
            Content::Rmt(rmt) => Some(rmt.stream()),
            _ => None,
        })
        .collect();
    let system = contents.iter().find_map(|content| match content {
        Content::System(system) => Some(system),
        _ => None,
    });
    let process = contents.iter().find_map(|content| match content {
        Content::Process(process) => Some((process.pid(), process.path().to_string())),
        _ => None,
    });
    let process = process.or_else(|| {
        let pid = streams.iter().map(|stream| stream.process()).find(|&process| process != 0)?;
        let mut processes = system?.processes()?;
        let path = processes.find(|process| process.id() == Some(pid.into()))?.path()?;
        Some((pid, path.to_string()))
    });
    if let Some(expected) = facts.get("target_pid") {
        let (pid, path) = process.clone().expect("a process");
        assert_eq!(*expected, pid, "{name}");
        assert_eq!(facts["target_path"], path, "{name}");
    }
    let events = |provider| {
        contents.iter().find_map(|content| match content {
            Content::DriverEvents(events) if events.fields().provider() == provider => Some(*events),
            _ => None,
        })
    };
    if let Some(expected) = facts.get("command_buffers") {
        let umd = events(Provider::Umd).expect("events");
        let states: Vec<_> = buffer_states(umd).collect();
        let in_flight: Vec<_> = states.iter().copied().filter(|state| state.is_in_flight()).collect();
        let found = json!({
            "total": states.len(),
            "never_seen": states.iter().filter(|state| state.is_never_seen()).count(),
            "not_started": states.iter().filter(|state| state.is_not_started()).count(),
            "completed": states.iter().filter(|state| state.is_completed()).count(),
            "in_flight": in_flight.iter().map(|state| {
                json!({"cmd_buffer": state.cmd_buffer(), "begin": state.begin(), "end": state.end()})
            }).collect::<Vec<_>>(),
        });
        assert_eq!(*expected, found, "{name}");
        for state in in_flight {
            let mut storage = [OpenMarker::EMPTY; 64];
            let markers = BufferMarkers::find(umd, state, &mut storage).expect("enough room");
            assert_eq!(markers.begun().map(|seen| seen.marker().number()), Some(state.begin()), "{name}");
            assert_eq!(markers.ended().map(|seen| seen.marker().number()), Some(state.end()), "{name}");
            assert!(markers.open().iter().any(|open| open.marker().number() == state.begin()), "{name}");
        }
    }
    if let Some(expected) = facts.get("page_fault") {
        let kmd = events(Provider::Kmd).expect("events");
        let (fault, ticks) = kmd
            .events()
            .flatten()
            .find_map(|event| match event.value() {
                Ok(EventValue::PageFault(fault)) => Some((fault, event.ticks().expect("a time"))),
                _ => None,
            })
            .expect("a page fault");
        let pid = process.expect("a process").0;
        let stream = *streams.iter().find(|stream| stream.process() == pid).expect("its stream");
        let mut storage = [Holder::EMPTY; 64];
        let history = explain_address(fault.address(), ticks, stream, streams.iter().copied(), &mut storage)
            .expect("enough room");
        let resources: Vec<Value> = history
            .holders()
            .iter()
            .map(|holder| {
                json!({
                    "ticks": holder.ticks(), "resource": holder.resource(),
                    "kind": holder.kind().and_then(|kind| kind.name()),
                    "name": holder.name().map(super::text),
                })
            })
            .collect();
        assert_eq!(expected["address"], fault.address(), "{name}");
        assert_eq!(expected["vm"], fault.vm(), "{name}");
        assert_eq!(expected["ticks"], ticks, "{name}");
        assert_eq!(expected["resources"], json!(resources), "{name}");
        let last = history.last_allocation().expect("an allocation");
        assert_eq!(expected["last_free_ticks"], json!(last.freed()), "{name}");
        let allocations = expected["allocations"].as_array().expect("allocations");
        assert_eq!(allocations.len() as u64, history.allocations(), "{name}");
        let found = json!({"ticks": last.ticks(), "address": last.address(), "size": last.size()});
        assert_eq!(allocations.last(), Some(&found), "{name}");
        let names = resources.iter().rev().find_map(|resource| resource["name"].as_str());
        assert_eq!(
            history.culprit().and_then(|holder| holder.name()).map(super::text),
            names.map(Value::from)
        );
        println!("{name}: {names:?} freed {:?} ticks before the page fault", history.freed_before(ticks));
        // Room for one less is refused, with the number that suffices.
        let needed = history.holders().len();
        let mut small = vec![Holder::EMPTY; needed - 1];
        let error = explain_address(fault.address(), ticks, stream, [], &mut small).expect_err("too small");
        let kind =
            traceglass::ErrorKind::CapacityExceeded { capacity: needed as u64 - 1, needed: needed as u64 };
        assert_eq!(error.kind(), kind, "{name}");
    }
    if let Some(expected) = facts.get("code_objects") {
        let found = code_objects(&contents);
        assert_eq!(*expected, found, "{name}");
    }
}

fn code_objects(contents: &[Content<'_>]) -> Value {
    let (mut hashes, mut loaded, mut correlated, mut api) =
        (Vec::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut pipelines, mut binds) = (BTreeSet::new(), BTreeSet::new());
    for content in contents {
        match content {
            Content::CodeObject(code) => {
                let noted = code.pipeline_note().and_then(|note| note.hash());
                assert_eq!(noted, Some(code.hash()), "the note of a code object");
                hashes.push(code.hash());
            }
            Content::LoadEvents(loads) => loaded.extend(loads.events().map(|event| event.fields().hash())),
            Content::PipelineHashes(all) => {
                for (_, pipeline) in all.pipelines() {
                    correlated.insert(pipeline.hash());
                    api.insert(pipeline.api_hash());
                }
            }
            Content::Rmt(rmt) => {
                for token in rmt.tokens().flatten() {
                    if let TokenValue::ResourceCreate {
                        detail: ResourceDetail::Pipeline { hash, .. }, ..
                    } = token.value()
                    {
                        pipelines.insert(hash);
                    }
                }
            }
            Content::DriverEvents(events) => {
                for event in events.events().flatten() {
                    if let Ok(EventValue::MarkerInfo(info)) = event.value()
                        && let MarkerStruct::PipelineBind(bind) = info.content()
                    {
                        binds.insert(bind.api_hash());
                    }
                }
            }
            _ => {}
        }
    }
    let among = |set: &BTreeSet<_>| hashes.iter().filter(|&hash| set.contains(hash)).count();
    let (in_load_events, in_pso_correlation) = joined(contents);
    assert_eq!((in_load_events, in_pso_correlation), (among(&loaded), among(&correlated)));
    json!({
        "count": hashes.len(), "in_load_events": in_load_events, "in_pso_correlation": in_pso_correlation,
        "in_rmt_pipelines": among(&pipelines), "rmt_pipelines": pipelines.len(),
        "distinct_pipeline_binds": binds.len(),
        "binds_found_by_api_hash": binds.iter().filter(|bind| api.contains(bind)).count(),
    })
}

/// Of how many code objects the join finds loadings and pipelines.
fn joined(contents: &[Content<'_>]) -> (usize, usize) {
    let objects = contents.iter().filter_map(|content| match content {
        Content::CodeObject(object) => Some(*object),
        _ => None,
    });
    let pipelines = contents.iter().filter_map(|content| match content {
        Content::PipelineHashes(all) => Some(all.pipelines().map(|(_, pipeline)| pipeline)),
        _ => None,
    });
    let loads = contents.iter().filter_map(|content| match content {
        Content::LoadEvents(loads) => Some(loads.events()),
        _ => None,
    });
    let (pipelines, loads) = (pipelines.flatten(), loads.flatten());
    let needed = objects.clone().count() + pipelines.clone().count() + loads.clone().count();
    let mut storage = vec![CodeFact::EMPTY; needed];
    let all = join_code(objects.clone(), pipelines, loads, &mut storage).expect("there is room");
    let found: Vec<_> = objects.map(|object| all.get(object.hash()).expect("a code object")).collect();
    let loaded =
        found.iter().filter(|code| code.base_at(u64::MAX).is_some() || code.loads().next().is_some());
    (loaded.count(), found.iter().filter(|code| code.pipelines().next().is_some()).count())
}
