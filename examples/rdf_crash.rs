//! Explains a crash of a GPU: what held the address of the page fault, and what the GPU was doing.
//!
//!     cargo run --release --example rdf_crash -- crash.rgd

use traceglass::rdf::File;
use traceglass::rdf::contents::joins::{BufferMarkers, Holder, OpenMarker, buffer_states, explain_address};
use traceglass::rdf::contents::{Content, DriverEvents, EventValue, ticks_to_ns};
use traceglass::zstd::Workspace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let data = std::fs::read(path)?;
    let file = File::parse(&data)?;
    // Views borrow from the data of chunks, which is decompressed first.
    let mut workspace = Workspace::new();
    let mut chunks = Vec::new();
    for id in ["DDEvent", "RmtData", "TraceProcessInfo"] {
        for chunk in file.chunks(id) {
            let mut buffer = vec![0; usize::try_from(chunk.entry().output_size()?)?];
            let data = chunk.data(&mut buffer, &mut workspace)?.to_vec();
            chunks.push((chunk.entry(), chunk.header()?, data));
        }
    }
    let parse = |(entry, header, data)| -> traceglass::Result<Content<'_>> {
        let entry: &traceglass::rdf::Entry<'_> = entry;
        Content::parse(entry.identifier(), entry.version(), header, data)
    };
    let mut contents = Vec::new();
    for (entry, header, data) in &chunks {
        contents.push(parse((entry, *header, data.as_slice()))?);
    }
    let streams = contents.iter().filter_map(|content| match content {
        Content::Rmt(rmt) => Some(rmt.stream()),
        _ => None,
    });
    let process = contents.iter().find_map(|content| match content {
        Content::Process(process) => Some(process.pid()),
        _ => None,
    });
    for content in &contents {
        let Content::DriverEvents(events) = content else { continue };
        for event in events.events() {
            let event = event?;
            let EventValue::PageFault(fault) = event.value()? else { continue };
            println!("page fault at {:#x}", fault.address());
            let stream = streams.clone().find(|stream| Some(stream.process()) == process);
            if let (Some(stream), Some(ticks)) = (stream, event.ticks()) {
                let mut storage = vec![Holder::EMPTY; 1024];
                let history = explain_address(fault.address(), ticks, stream, streams.clone(), &mut storage)?;
                for holder in history.holders() {
                    let name = String::from_utf8_lossy(holder.name().unwrap_or(b"no name"));
                    println!("  resource {} ({:?}): {name}", holder.resource(), holder.kind());
                }
                let freed =
                    history.freed_before(ticks).and_then(|ticks| ticks_to_ns(ticks, events.fields().hz()));
                if let Some(ns) = freed {
                    println!("  freed {} ms before", ns / 1_000_000);
                }
            }
        }
        in_flight(*events)?;
    }
    Ok(())
}

fn in_flight(events: DriverEvents<'_>) -> traceglass::Result<()> {
    for state in buffer_states(events).filter(|state| state.is_in_flight()) {
        let mut storage = [OpenMarker::EMPTY; 256];
        let markers = BufferMarkers::find(events, state, &mut storage)?;
        let open: Vec<_> = markers.open().iter().map(|one| String::from_utf8_lossy(one.name())).collect();
        println!("command buffer {} in flight: {}", state.cmd_buffer(), open.join(" > "));
    }
    Ok(())
}
