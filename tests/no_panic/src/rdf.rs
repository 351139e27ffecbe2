//! The entries of `traceglass::rdf`.

use crate::slice_mut;
use traceglass::rdf::{File, Header, Identifier, Index, NewChunk, NoDecoder, Span, write};
use traceglass::zstd::Workspace;

entries! {
    rdf_header(data) {
        let Ok(header) = Header::parse(data) else { return 1 };
        let range = header.index_range().unwrap_or(0..0);
        range.start ^ range.end ^ u64::from(header.version()) ^ u64::from(header.reserved())
    }
    rdf_index(data) {
        let Ok(index) = Index::parse(data, 7) else { return 1 };
        let mut sum = index.count("AsicInfo") as u64;
        for entry in index.entries().rev() {
            let header = entry.header_range().unwrap_or(0..0);
            let stored = entry.stored_range().unwrap_or(0..0);
            sum ^= header.start ^ header.end ^ stored.start ^ stored.end ^ entry.output_size().unwrap_or(0);
            sum ^= entry.offset() ^ u64::from(entry.version()) ^ u64::from(entry.compression().number());
            sum ^= entry.identifier().text().map_or(0, str::len) as u64;
        }
        sum
    }
    rdf_file(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        let mut sum = 0;
        for entry in file.entries() {
            let Some(chunk) = file.chunk_at(entry.number()) else { continue };
            for part in [chunk.header(), chunk.stored(), chunk.data(&mut [], &mut NoDecoder)] {
                sum += part.map_or(0, <[u8]>::len);
            }
        }
        sum as u64
    }
    rdf_recover(data) { File::recover(data).map_or(1, |(file, _)| file.index().len() as u64) }
    rdf_find(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        file.chunk("AsicInfo", 3).map_or(0, |chunk| chunk.entry().offset())
            ^ file.chunks("DDEvent").rev().count() as u64
    }
    rdf_select(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        let mut storage = [Span::EMPTY; 32];
        let Ok(selected) = file.select(|entry| entry.version() != 1, &mut storage) else { return 2 };
        let mut sum = selected.size() ^ selected.count();
        let done = selected.write(&mut |bytes: &[u8]| {
            sum = sum.wrapping_add(bytes.len() as u64);
            if sum == 7 { Err(()) } else { Ok(()) }
        });
        sum ^ u64::from(done.is_ok())
    }
    rdf_write(data) {
        let Some(id) = Identifier::new("AsicInfo") else { return 1 };
        let chunk = NewChunk::raw(id, data).header(data);
        let mut sum = 0_u64;
        let done = write([chunk, NewChunk::zstd(id, data, 7)].into_iter(), &mut |bytes: &[u8]| {
            sum = sum.wrapping_add(bytes.len() as u64);
            if sum == 7 { Err(()) } else { Ok(()) }
        });
        sum ^ u64::from(done.is_ok())
    }
    rdf_check(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        let mut found = 0;
        let checked = file.check(&mut [0; 64], &mut NoDecoder, &mut |finding| found ^= finding.cause().offset());
        found ^= checked.map_or(1, |summary| summary.errors());
        found
    }
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_sort(data: *const u8, len: usize, room: *mut u32, places: usize) -> u64 {
    let (data, room) = unsafe { (crate::slice(data, len), core::slice::from_raw_parts_mut(room, places)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let Ok(sorted) = file.sort(room) else { return 2 };
    sorted.chunk("AsicInfo", 3).map_or(0, |chunk| chunk.entry().offset())
        ^ sorted.chunks("DDEvent").rev().count() as u64
        ^ sorted.count("Snapshot") as u64
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_overlaps(data: *const u8, len: usize, room: *mut u32, places: usize) -> u64 {
    let (data, room) = unsafe { (crate::slice(data, len), core::slice::from_raw_parts_mut(room, places)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let mut found = 0;
    let _ = file.overlaps(room, &mut |finding| found ^= finding.cause().offset());
    found
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_decompress(
    data: *const u8,
    len: usize,
    buffer: *mut u8,
    room: usize,
    workspace: &mut Workspace,
) -> u64 {
    let (data, buffer) = unsafe { (crate::slice(data, len), slice_mut(buffer, room)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let Some(chunk) = file.chunk("Snapshot", 0) else { return 2 };
    chunk.data(buffer, workspace).map_or(3, |data| data.len() as u64)
}

/// The identifier of a name; an unknown one if the name is too long.
fn id(name: &str) -> Identifier {
    Identifier::new(name).unwrap_or(Identifier::from_bytes([0; 16]))
}

/// The chunks that are known, and one that is not.
fn identifier(number: u8) -> Identifier {
    use traceglass::rdf::contents::Content;
    Content::IDENTIFIERS.get(usize::from(number)).map_or(Identifier::from_bytes([0; 16]), |name| id(name))
}

entries! {
    rdf_contents_check(data) {
        use traceglass::rdf::contents::{Content, Structure};
        let Some((&[number, version, size], data)) = data.split_first_chunk::<3>() else { return 1 };
        let (header, data) = data.split_at(usize::from(size).min(data.len()));
        let mut sum = 0;
        for structure in Structure::of_chunk(identifier(number), version.into(), header, data) {
            for field in structure.fields() {
                sum ^= field.values(structure.bytes()).count() as u64 ^ structure.offset();
            }
        }
        let Ok(content) = Content::parse(identifier(number), version.into(), header, data) else { return sum };
        content.check(&mut |finding| sum ^= finding.cause().offset());
        sum
    }
    rdf_contents_system(data) {
        use traceglass::rdf::contents::Content;
        let Ok(Content::System(system)) = Content::parse(id("SystemInfo"), 1, &[], data) else { return 1 };
        let mut sum = system.cpu_hz().unwrap_or(1) ^ system.gpu_hz().unwrap_or(2) ^ system.memory_bytes().unwrap_or(3);
        sum ^= system.hostname().map_or(0, |text| text.chars().count() as u64);
        sum ^= system.driver_name().map_or(0, |text| text.decode(&mut [0; 32]).map_or(1, str::len) as u64);
        for process in system.processes().into_iter().flatten() {
            sum ^= process.id().unwrap_or(0) ^ u64::from(process.path().is_some());
        }
        sum
    }
    rdf_contents_overrides(data) {
        use traceglass::rdf::contents::Content;
        let Ok(Content::DriverOverrides(all)) = Content::parse(id("DriverOverrides"), 3, &[], data) else { return 1 };
        let names = all.overridden().filter_map(|one| one.name().map(|name| name.raw().len() as u64 ^ u64::from(one.component().is_some())));
        names.sum::<u64>() ^ u64::from(all.is_experiments() == Some(true))
    }
    rdf_contents_code(data) {
        use traceglass::rdf::contents::Content;
        let Ok(Content::CodeObject(code)) = Content::parse(id("CodeObject"), 1, &[0; 16], data) else { return 1 };
        let mut sum = code.pipeline_note().and_then(|note| note.hash()).map_or(0, |hash| hash.lower() ^ hash.upper());
        let Ok(elf) = code.elf() else { return 2 };
        sum ^= elf.functions().map(|one| one.value() ^ one.size() ^ one.name().bytes().len() as u64).sum::<u64>();
        sum ^= elf.notes().map(|one| one.content().len() as u64).sum::<u64>();
        for stage in code.pipeline_note().into_iter().flat_map(|note| note.stages()) {
            sum ^= stage.vgprs().unwrap_or(0) ^ stage.entry_point().map_or(0, str::len) as u64;
        }
        sum
    }
    rdf_contents_tokens(data) {
        use traceglass::rdf::contents::rmt::{Stream, TokenValue};
        let mut sum = 0;
        for token in Stream::from_parts(1, 2, (1, 9), data).tokens() {
            let Ok(token) = token else { return sum };
            sum ^= token.offset() ^ token.ticks().unwrap_or(7);
            sum ^= match token.value() {
                TokenValue::UserData(data) => data.name().map_or(0, |(text, id)| text.bytes().len() as u64 ^ u64::from(id)) ^ data.lag().unwrap_or(0),
                TokenValue::ResourceBind { address, size, .. } => address ^ size,
                TokenValue::ResourceCreate { detail, .. } => u64::from(detail == traceglass::rdf::contents::rmt::ResourceDetail::None),
                _ => 0,
            };
        }
        sum
    }
    rdf_contents_address(data) {
        use traceglass::rdf::contents::joins::{Holder, explain_address};
        use traceglass::rdf::contents::rmt::Stream;
        let stream = Stream::from_parts(1, 2, (1, 9), data);
        let mut storage = [Holder::EMPTY; 8];
        let Ok(history) = explain_address(7, 8, stream, [stream], &mut storage) else { return 1 };
        history.allocations() ^ history.freed_before(9).unwrap_or(0) ^ history.culprit().map_or(0, |one| u64::from(one.resource()))
    }
    rdf_contents_in_flight(data) {
        use traceglass::rdf::contents::joins::{BufferMarkers, OpenMarker, buffer_states};
        use traceglass::rdf::contents::Content;
        let Some((header, data)) = data.split_first_chunk::<32>() else { return 1 };
        let Ok(Content::DriverEvents(events)) = Content::parse(id("DDEvent"), 1, header, data) else { return 2 };
        let mut sum = 0;
        for state in buffer_states(events) {
            let mut storage = [OpenMarker::EMPTY; 8];
            let Ok(markers) = BufferMarkers::find(events, state, &mut storage) else { continue };
            sum ^= markers.open().len() as u64 ^ markers.begun().map_or(0, |seen| u64::from(seen.marker().number()));
        }
        sum
    }
    rdf_contents_queues(data) {
        use traceglass::rdf::contents::joins::{QueueTime, queue_times};
        use traceglass::rdf::contents::Content;
        let events = data.chunks(72).filter_map(|data| match Content::parse(id("QueueEvent"), 1, &[], data) {
            Ok(Content::QueueEvent(event)) => Some(event),
            _ => None,
        });
        let mut storage = [QueueTime::EMPTY; 4];
        queue_times(events, &mut storage).map_or(1, |times| times.iter().map(|time| time.gpu_ticks()).sum())
    }
    rdf_contents_neighbors(data) {
        use traceglass::rdf::contents::neighbors::ChunkFile;
        let Ok(file) = ChunkFile::parse(data) else { return 1 };
        file.chunks().map(|chunk| chunk.map_or(1, |chunk| chunk.offset() ^ chunk.rmt().map_or(0, |stream| stream.data().len() as u64))).sum()
    }
    rdf_contents_clocks(data) {
        use traceglass::rdf::contents::{Clocks, Content};
        let Ok(Content::ClockCalibration(clock)) = Content::parse(id("ClockCalibration"), 2, &[], data) else { return 1 };
        let Some(clocks) = Clocks::new(clock, clock.cpu_ticks(), clock.gpu_ticks()) else { return 2 };
        (clocks.cpu_ticks(7) ^ clocks.gpu_to_ns(8) ^ clocks.gpu_duration_ns(9)) as u64
    }
}
