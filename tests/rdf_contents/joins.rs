//! Answers that take several chunks.

use super::common::rdf_contents as build;
use traceglass::ErrorKind;
use traceglass::rdf::contents::joins::{
    BufferMarkers, CodeFact, Holder, OpenMarker, QueueTime, buffer_states, explain_address, join_code,
    queue_times,
};
use traceglass::rdf::contents::rmt::{Stream, join};
use traceglass::rdf::contents::{CodeObject, Content, DriverEvents, Hash128, LoadEvent, QueueEvent};

fn stream(process: u32, number: u32, data: &[u8]) -> Stream<'_> {
    Stream::from_parts(process, number, (1, 9), data)
}

#[test]
fn a_page_fault_is_explained() {
    let (tokens, names) = (build::process_tokens(), build::name_tokens());
    let (process, names) = (stream(77, 1, &tokens), stream(0, 2, &names));
    let mut storage = [Holder::EMPTY; 2];
    let history = explain_address(0x10010, 3520, process, [process, names], &mut storage).unwrap();
    assert_eq!(history.allocations(), 1);
    let last = history.last_allocation().unwrap();
    assert_eq!(
        (last.address(), last.size(), last.ticks(), last.freed()),
        (0x10000, 0x4000, Some(320), Some(3200))
    );
    assert_eq!(history.freed_before(3520), Some(320));
    let culprit = history.culprit().unwrap();
    assert_eq!((culprit.resource(), culprit.name()), (7, Some(&b"shadow map"[..])));
    assert_eq!((culprit.kind().unwrap().name(), culprit.destroyed()), (Some("image"), Some(3200)));
    // Before it was freed, and beside it.
    let history = explain_address(0x10010, 400, process, [names], &mut storage).unwrap();
    assert_eq!((history.last_allocation().unwrap().freed(), history.freed_before(400)), (None, None));
    let history = explain_address(0x14000, 3520, process, [names], &mut storage).unwrap();
    assert!(history.holders().is_empty() && history.last_allocation().is_none());
}

/// A resource whose number is used again, and names that come before and after the memory.
#[test]
fn numbers_that_are_used_again_are_told_apart() {
    let create = |kind: u128| build::token(if kind == 1 { 18 } else { 17 }, 13 | 7 << 8 | kind << 48);
    let bind = build::token(17, 7 | 0x10000 << 8 | 0x2000 << 56 | 7 << 104);
    let correlate = |id: u128| build::token(12, 4 | 4 << 8 | 8 << 12 | 7 << 32 | id << 64);
    let destroy = build::token(5, 15 | 7 << 8);
    let tokens =
        [create(1), correlate(98), bind.clone(), bind.clone(), destroy, create(11), bind, correlate(99)]
            .concat();
    let names = build::name_tokens();
    let (process, names) = (stream(77, 1, &tokens), stream(0, 2, &names));
    let mut storage = [Holder::EMPTY; 3];
    let history = explain_address(0x10000, u64::MAX, process, [names], &mut storage).unwrap();
    let found: Vec<_> = history
        .holders()
        .iter()
        .map(|holder| {
            (holder.kind().unwrap().name().unwrap(), holder.name().is_some(), holder.destroyed().is_some())
        })
        .collect();
    assert_eq!(found, [("buffer", false, true), ("buffer", false, true), ("heap", true, false)]);
    let error = explain_address(0x10000, u64::MAX, process, [names], &mut storage[..2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
}

fn events(chunk: &super::Chunk) -> DriverEvents<'_> {
    match Content::parse("DDEvent".try_into().unwrap(), 1, &chunk.header, &chunk.stored).unwrap() {
        Content::DriverEvents(events) => events,
        other => panic!("{other:?}"),
    }
}

#[test]
fn markers_in_flight_are_found() {
    let chunk = build::driver_events(build::UMD, 100, &build::markers());
    let events = events(&chunk);
    let states: Vec<_> = buffer_states(events).collect();
    assert_eq!(states.len(), 1);
    assert!(states[0].is_in_flight());
    let mut storage = [OpenMarker::EMPTY; 3];
    let markers = BufferMarkers::find(events, states[0], &mut storage).unwrap();
    assert_eq!(markers.begun().unwrap().name(), Some(&b"Draw"[..]));
    assert_eq!(markers.ended().unwrap().name(), Some(&b"Barrier"[..]));
    let open: Vec<_> = markers.open().iter().map(|marker| marker.name()).collect();
    assert_eq!(open, [&b"Frame"[..], b"Clear", b"Draw"]);
    let error = BufferMarkers::find(events, states[0], &mut [OpenMarker::EMPTY; 2]).unwrap_err();
    // One has ended by the time another one begins, but which is not known without a place for it.
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 4 });
}

/// Deltas count from the base, and a large one is for the next event alone.
#[test]
fn times_count_from_the_base() {
    let end = |delta| build::event(17, delta, &[0; 8]);
    let list = [end(7), end(9), build::event(0, 0, &300_u64.to_le_bytes()), end(0), end(9)].concat();
    let chunk = build::driver_events(build::UMD, 100, &list);
    let times: Vec<_> =
        events(&chunk).events().map(|event| event.unwrap().ticks().unwrap() / 32 - 100).collect();
    assert_eq!(times, [7 * 32, 9 * 32, 300 * 32, 300 * 32, 9 * 32]);
    let ticks = events(&chunk).events().next().unwrap().unwrap().ticks();
    assert_eq!(ticks, Some((100 + 7 * 32) * 32));
}

#[test]
fn the_work_of_queues_adds_up_and_overlaps_count_once() {
    let chunk = build::chunks().into_iter().find(|chunk| chunk.identifier == b"QueueEvent").unwrap();
    let mut other = chunk.stored.clone();
    other[8] = 3; // queue
    let backwards = [&chunk.stored[..56], &chunk.stored[64..72], &chunk.stored[56..64]].concat();
    let parse = |data| match Content::parse("QueueEvent".try_into().unwrap(), 1, &[], data).unwrap() {
        Content::QueueEvent(event) => event,
        other => panic!("{other:?}"),
    };
    let during =
        |begin: u64, end: u64| [&chunk.stored[..56], &begin.to_le_bytes(), &end.to_le_bytes()].concat();
    // Within the first one, over its end, and after both.
    let (inside, over, after) = (during(120, 130), during(200, 280), during(300, 310));
    let all = [&chunk.stored, &other, &backwards, &inside, &over, &after];
    let all: [QueueEvent<'_>; 6] = all.map(|data| parse(data));
    let mut storage = [QueueTime::EMPTY; 2];
    let times = queue_times(all, &mut storage).unwrap();
    let found: Vec<_> =
        times.iter().map(|time| (time.queue(), time.submits(), time.gpu_ticks(), time.span())).collect();
    assert_eq!(found, [(3, 1, 150, Some((100, 250))), (11, 5, 190, Some((100, 310)))]);
    let error = queue_times(all, &mut [QueueTime::EMPTY; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
}

#[test]
fn streams_are_joined_where_tokens_cross_chunks() {
    let tokens = build::process_tokens();
    let whole: Vec<_> = stream(77, 1, &tokens).tokens().map(|token| token.unwrap().offset()).collect();
    for cut in 0..=tokens.len() {
        let chunks = [build::rmt(77, 1, &tokens[..cut]), build::rmt(77, 1, &tokens[cut..])];
        let pieces = chunks.iter().map(|chunk| {
            match Content::parse("RmtData".try_into().unwrap(), 1, &chunk.header, &chunk.stored).unwrap() {
                Content::Rmt(rmt) => rmt,
                other => panic!("{other:?}"),
            }
        });
        let mut storage = vec![0; tokens.len()];
        let joined = join(pieces.clone(), &mut storage).unwrap().unwrap();
        assert!(
            joined.tokens().map(|token| token.unwrap().offset()).eq(whole.iter().copied()),
            "cut at {cut}"
        );
        let error = join(pieces, &mut storage[1..]).unwrap_err();
        let needed = tokens.len() as u64;
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: needed - 1, needed });
    }
}

/// A load event of a code object with the hash `(0, hash)`.
fn load(kind: u32, base: u64, hash: u64, ticks: u64) -> Vec<u8> {
    let words = [u64::from(kind) << 32 | 1, base, hash, 0, ticks];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn code_objects_are_found_with_their_loads_and_pipelines() {
    let records = [
        load(0, 0x2000, 7, 30),
        load(0, 0x1000, 7, 10),
        load(1, 0x1000, 7, 20),
        load(1, 0x2000, 7, 40),
        load(0, 0x1000, 7, 35),
        load(0, 0x9000, 8, 5),
    ]
    .concat();
    let content = |id: &str, version, header: &'static [u8], data| {
        Content::parse(id.try_into().unwrap(), version, header, data).unwrap()
    };
    let Content::LoadEvents(loads) = content("COLoadEvent", 3, &[6, 0, 0, 0], &records) else { panic!() };
    let Content::CodeObject(object) =
        content("CodeObject", 1, &[7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], b"no")
    else {
        panic!()
    };
    let pipeline = [&[99, 7, 0].map(u64::to_le_bytes).concat()[..], b"sky", &[0; 61]].concat();
    let Content::PipelineHashes(pipelines) = content("PsoCorrelation", 1, &[], &pipeline) else { panic!() };
    let pipelines = || pipelines.pipelines().map(|(_, pipeline)| pipeline);

    let mut storage = [CodeFact::EMPTY; 8];
    let all = join_code([object], pipelines(), loads.events(), &mut storage).unwrap();
    let hashes: Vec<_> = all.iter().map(|code| code.hash().lower()).collect();
    assert_eq!(hashes, [7, 8]);
    let code = all.get(object.hash()).unwrap();
    assert_eq!(code.object().unwrap().data(), b"no");
    assert!(code.note().is_none());
    let names: Vec<_> = code.pipelines().map(|one| (one.api_hash(), one.name().bytes())).collect();
    assert_eq!(names, [(99, &b"sky"[..])]);
    let ticks: Vec<_> = code.loads().map(|load: LoadEvent<'_>| load.fields().ticks()).collect();
    assert_eq!(ticks, [10, 20, 35, 30, 40]);
    let bases = [9, 10, 19, 20, 30, 34, 35, 39, 40, u64::MAX].map(|ticks| code.base_at(ticks));
    let (low, high) = (Some(0x1000), Some(0x2000));
    assert_eq!(bases, [None, low, low, None, high, high, low, low, low, low]);

    let other = all.get(Hash128::new(0, 8)).unwrap();
    assert!(other.object().is_none() && other.pipelines().next().is_none());
    assert_eq!(other.base_at(5), Some(0x9000));
    assert!(all.get(Hash128::new(1, 7)).is_none());

    let error = join_code([object], pipelines(), loads.events(), &mut storage[..7]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 7, needed: 8 });
    let none: [CodeObject<'_>; 0] = [];
    assert_eq!(join_code(none, [], [], &mut []).unwrap().iter().count(), 0);
}
