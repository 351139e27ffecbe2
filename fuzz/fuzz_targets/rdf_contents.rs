//! Any bytes as the content of a chunk: the first says which, the second its version, the third the header's size.
//!
//! `CHUNKS=RmtData,DDEvent` keeps to those chunks.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use traceglass::rdf::contents::joins::{BufferMarkers, Holder, OpenMarker, buffer_states, explain_address};
use traceglass::rdf::contents::neighbors::ChunkFile;
use traceglass::rdf::contents::rmt::TokenValue;
use traceglass::rdf::contents::{Content, Structure};
use traceglass_fuzz::{found, lies_in, located_in, walk};

/// The identifiers to choose from.
static IDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut ids = Content::IDENTIFIERS.to_vec();
    if let Ok(chosen) = std::env::var("CHUNKS") {
        let chosen: Vec<&str> = chosen.split(',').collect();
        ids.retain(|id| chosen.contains(id));
        assert_eq!(ids.len(), chosen.len(), "CHUNKS names chunks that are not known");
    }
    ids
});

fuzz_target!(|input: &[u8]| {
    if let Ok(file) = ChunkFile::parse(input) {
        walk(file.chunks(), input.len() as u64, input, |chunk| {
            lies_in(chunk.content(), input);
            Some(chunk.offset())
        });
    }
    let Some((&[kind, version, size], rest)) = input.split_first_chunk::<3>() else { return };
    let id = IDS[usize::from(kind) % IDS.len()].try_into().unwrap();
    let (header, data) = rest.split_at(usize::from(size).min(rest.len()));
    for structure in Structure::of_chunk(id, version.into(), header, data) {
        lies_in(structure.bytes(), rest);
        for field in structure.fields() {
            assert!(field.values(structure.bytes()).count() > 0);
        }
    }
    let content = match Content::parse(id, version.into(), header, data) {
        Ok(content) => content,
        Err(error) => return located_in(&error, rest),
    };
    content.check(&mut |finding| found(&finding));
    match content {
        Content::Rmt(rmt) => {
            let stream = rmt.stream();
            stream.check(&mut |finding| found(&finding));
            let mut address = 0;
            walk(stream.tokens(), data.len() as u64, data, |token| {
                lies_in(token.bytes(), data);
                if let TokenValue::ResourceBind { address: bound, .. } = token.value() {
                    address = bound;
                }
                Some(token.offset())
            });
            let mut storage = vec![Holder::EMPTY; data.len()];
            let history = explain_address(address, u64::MAX, stream, [stream], &mut storage).unwrap();
            assert!(history.holders().is_sorted_by_key(|holder| holder.offset()));
        }
        Content::DriverEvents(events) => {
            walk(events.events(), data.len() as u64, data, |event| {
                lies_in(event.payload(), data);
                let _ = event.value();
                Some(event.offset())
            });
            for state in buffer_states(events).take(4) {
                let mut storage = vec![OpenMarker::EMPTY; data.len()];
                BufferMarkers::find(events, state, &mut storage).unwrap();
            }
        }
        Content::System(system) => {
            let _ = (system.cpu_hz(), system.gpu_hz(), system.processes().map(Iterator::count));
        }
        Content::DriverOverrides(overrides) => {
            for setting in overrides.overridden() {
                let _ = (setting.component().map(|text| text.to_string()), setting.name().is_some());
            }
        }
        Content::CodeObject(code) => {
            if let Ok(elf) = code.elf() {
                elf.notes().for_each(|note| lies_in(note.content(), data));
                elf.functions().for_each(|function| lies_in(function.name().bytes(), data));
            }
            if let Some(note) = code.pipeline_note() {
                let _ = (note.hash(), note.stages().count());
            }
        }
        Content::HistoryMetadata(history) => {
            walk(history.records(), data.len() as u64, data, |record| {
                lies_in(record.content(), data);
                Some(record.offset())
            });
        }
        Content::StringTable(strings) => {
            strings.strings().flatten().for_each(|text| lies_in(text.bytes(), data))
        }
        Content::SpmCounter(counter) => assert_eq!(counter.samples().count() as u64, counter.len()),
        _ => {}
    }
});
