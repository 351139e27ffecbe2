//! RDF: what chunks tell of queues, memory, markers and counters, merged by time.

use crate::common::rdf::{Chunk, file, zstd_frame};
use crate::common::rdf_contents::{self, UMD, driver_events, event, process_tokens, rmt, token};
use crate::common::{mutations, prefixes};
use crate::pulled::{Field, Value, fields};
use traceglass::event::rdf::{Lane, Timeline, TrackSlot, needed};
use traceglass::event::{EventKind, Item, Number, Source, Window};
use traceglass::rdf::File;
use traceglass::rdf::contents::Content;
use traceglass::rdf::contents::rmt::TokenKind;
use traceglass::zstd::Workspace;
use traceglass::{ErrorKind, Result};

fn text(fields: Vec<Field>) -> String {
    let fields = fields.into_iter().map(|field| {
        let value = match field.value() {
            Value::Unsigned(value) => value.to_string(),
            Value::Text(label) => label.to_string(),
            Value::Bool(value) => value.to_string(),
            other => format!("{other:?}"),
        };
        format!("{}={value}", field.name().unwrap_or_default())
    });
    fields.collect::<Vec<_>>().join(" ")
}

fn read(data: &[u8], window: Window) -> Result<(Vec<String>, Vec<String>)> {
    let (tracks, events) = read_damaged(data, window)?;
    let times = events.iter().filter_map(|event| event.split(' ').next()?.parse::<i128>().ok());
    assert!(times.is_sorted(), "{events:#?}");
    Ok((tracks, events))
}

/// Of damaged input, a stream may go back in time.
fn read_damaged(data: &[u8], window: Window) -> Result<(Vec<String>, Vec<String>)> {
    let size = File::recover(data).map_or(0, |(file, _)| needed(&file)).min(2 << 20);
    read_in(size as usize, data, window)
}

/// With a buffer of so many bytes.
fn read_in(size: usize, data: &[u8], window: Window) -> Result<(Vec<String>, Vec<String>)> {
    let (mut tracks, mut events) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; size];
    let mut workspace = Workspace::new();
    let slots = ([const { TrackSlot::EMPTY }; 200], [const { Lane::EMPTY }; 400]);
    let mut timeline = Timeline::new(0, data, &mut buffer, &mut workspace, slots.0, slots.1)?;
    timeline.set_window(window);
    while let Some(item) = timeline.next_item()? {
        match item {
            Item::Track(track) => {
                let parent = track.parent().map(|parent| parent.number());
                let (number, kind) = (track.id().number(), track.kind().name());
                tracks.push(format!("{number} < {parent:?}: {kind} {}", track.label()));
            }
            Item::Event(event) => {
                assert!(event.end_offset() <= data.len() as u64);
                let time = event.time().map(|time| time.ns());
                let kind = match event.kind() {
                    EventKind::Counter(Number::Integer(value)) => format!("= {value}"),
                    EventKind::Gap(gap) => format!("gap of {}: {}", gap.len(), gap.cause().kind().code()),
                    kind => format!("{} {}", kind.name(), event.name()),
                };
                let time = time.map_or_else(|| "?".to_owned(), |time| time.to_string());
                events.push(format!("{time} {} {kind}", event.track().number()));
                let _ = text(fields(&event).unwrap_or_default());
            }
            _ => unreachable!(),
        }
    }
    assert!(timeline.next_item()?.is_none());
    Ok((tracks, events))
}

#[test]
fn a_profile_is_merged_by_time() {
    let data = file(&rdf_contents::sample());
    let (tracks, events) = read(&data, Window::ALL).unwrap();
    let expected = [
        "0 < None: recording RDF file",
        "1 < Some(0): thread user markers of command buffer 1",
        "2 < Some(0): stream memory of process 77",
        "3 < Some(2): counter virtual memory",
        "4 < Some(0): queue queue 1",
        "5 < Some(0): counter SQ 4",
        "6 < Some(0): queue queue 2",
        "8 < Some(6): queue queue 2",
    ];
    for line in expected {
        let is_same = |track: &String| track.split_once(" < ") == line.split_once(" < ");
        assert!(tracks.iter().any(is_same), "{line} in {tracks:#?}");
    }
    let track = |label: &str| {
        let found = tracks.iter().find(|track| track.ends_with(label)).expect(label);
        found.split(' ').next().unwrap().to_owned()
    };
    let on = |track: &str| -> Vec<String> {
        let of = |event: &&String| event.split(' ').nth(1) == Some(track);
        let cut = |event: &String| event.replacen(&format!(" {track} "), " ", 1);
        events.iter().filter(of).map(cut).collect()
    };
    // 50,000 GPU ticks of 10 ns were at 1,000 CPU ticks of 100 ns.
    let at = |gpu: i128| 100_000 + gpu * 10;
    assert_eq!(
        on(&track("queue queue 1")),
        [
            format!("{} begin CmdBufSubmit", at(100)),
            format!("{} end CmdBufSubmit", at(900)),
            format!("{} begin CmdBufSubmit", at(900)),
            format!("{} end CmdBufSubmit", at(2500)),
            format!("{} instant SignalSemaphore", at(2500)),
            format!("{} instant Present", at(3100)),
        ]
    );
    let second: Vec<_> = tracks.iter().filter(|track| track.ends_with("queue queue 2")).collect();
    let numbers: Vec<_> = second.iter().map(|track| track.split(' ').next().unwrap()).collect();
    assert_eq!(second.len(), 2);
    assert!(second[1].contains(&format!("< Some({}): ", numbers[0])), "{second:?}");
    assert_eq!(
        on(numbers[0]),
        [format!("{} begin CmdBufSubmit", at(400)), format!("{} end CmdBufSubmit", at(3000))]
    );
    // It overlaps.
    assert_eq!(
        on(numbers[1]),
        [format!("{} begin CmdBufSubmit", at(2000)), format!("{} end CmdBufSubmit", at(2600))]
    );
    assert_eq!(
        on(&track("counter SQ 4")),
        [format!("{} = 3", at(100)), format!("{} = 700", at(1100)), format!("{} = 42", at(2100))]
    );
    assert_eq!(on(&track("snapshots")), ["140000 instant level loaded"]);
    // Nobody knows when.
    assert_eq!(
        on(&track("user markers of command buffer 1")),
        ["? begin Frame", "? begin Shadows", "? end string 0", "? end string 0"]
    );
    // From 10 × 32 ticks of 100 ns on, then 90 × 32 later.
    let memory = on(&track("memory of process 77"));
    assert_eq!(memory.first().unwrap(), "32000 instant virtual_allocate");
    assert_eq!(memory.last().unwrap(), "320000 instant virtual_free");
    // (35 + 1 × 32) × 32 ticks of 100 ns.
    let markers = on(&track("command buffer 5"));
    assert_eq!(
        markers,
        [
            "214400 begin Frame",
            "214400 begin Clear",
            "214400 begin Barrier",
            "316800 end marker_end",
            "316800 end marker_end",
            "316800 begin Draw",
            "419200 instant marker_info",
            "30832000 end marker_end",
            "30934400 end marker_end",
        ]
    );
    assert_eq!(on(&track("driver in the kernel")), ["128000 instant page_fault"]);
    // A window, of which what has no time is a part.
    let (_, part) = read(&data, Window::new(Some(at(900)), Some(at(2500)))).unwrap();
    let expected: Vec<_> = events
        .iter()
        .filter(|event| {
            let time = event.split(' ').next().unwrap().parse::<i128>();
            time.is_ok_and(|time| (at(900)..at(2500)).contains(&time))
        })
        .map(|event| event.split(' ').next().unwrap())
        .collect();
    let found: Vec<_> =
        part.iter().map(|event| event.split(' ').next().unwrap()).filter(|time| *time != "?").collect();
    assert_eq!(found, expected);
}

/// The end of a marker that began before the file, or twice: an instant.
#[test]
fn an_end_without_a_begin_is_an_instant() {
    let begin = event(16, 1, &[&[5_u32, 1].map(u32::to_le_bytes).concat()[..], b"\x01\0f"].concat());
    let end = event(17, 1, &[5_u32, 1].map(u32::to_le_bytes).concat());
    let list = [&end[..], &begin, &end, &end].concat();
    let (_, events) = read(&file(&[driver_events(UMD, 0, &list)]), Window::ALL).unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.split(' ').skip(2).collect::<Vec<_>>()).collect();
    assert_eq!(
        kinds,
        [["instant", "marker_end"], ["begin", "f"], ["end", "marker_end"], ["instant", "marker_end"]]
    );
}

/// Counters of both versions say the same of themselves.
#[test]
fn counters_have_the_fields_of_their_headers() {
    let header: Vec<u8> = [6_u32, 7, 8, 2].into_iter().flat_map(u32::to_le_bytes).collect();
    let counter = Chunk::raw("SpmCounterData", &[1, 0, 2, 0]);
    let first = counter.clone().header(&header);
    let second = counter.version(2).header(&[&0x0c_0000_u32.to_le_bytes()[..], &header].concat());
    for (chunk, pci) in [(first, ""), (second, "pci=786432 ")] {
        let data = file(std::slice::from_ref(&chunk));
        let slots = ([const { TrackSlot::EMPTY }; 9], [const { Lane::EMPTY }; 9]);
        let mut workspace = Workspace::new();
        let mut timeline = Timeline::new(0, &data, &mut [], &mut workspace, slots.0, slots.1).unwrap();
        let mut found = Vec::new();
        while let Some(item) = timeline.next_item().unwrap() {
            if let Item::Track(track) = item
                && track.parent().is_some()
            {
                found.push(format!(
                    "{} {}: {}",
                    track.kind().name(),
                    track.label(),
                    text(fields(&track).unwrap())
                ));
            }
        }
        assert_eq!(
            found,
            [format!("counter SQ 8: {pci}block=SQ instance=7 event=8 item_size=2")],
            "version {}",
            chunk.version
        );
    }
}

#[test]
fn every_token_but_those_of_time_is_an_event() {
    let chunks: Vec<_> = rdf_contents::chunks();
    let data = file(&chunks);
    let mut expected = 0;
    let file = File::parse(&data).unwrap();
    let mut workspace = Workspace::new();
    for entry in file.entries() {
        let chunk = file.chunk_at(entry.number()).unwrap();
        if let Ok(Content::Rmt(rmt)) = chunk.content(&mut [], &mut workspace) {
            let tokens = rmt.tokens().map(|token| token.unwrap().kind());
            expected +=
                tokens.filter(|kind| !matches!(kind, TokenKind::Timestamp | TokenKind::TimeDelta)).count();
        }
    }
    let (tracks, events) = read(&data, Window::ALL).unwrap();
    let memory: Vec<_> = tracks.iter().filter(|track| track.contains("stream memory")).collect();
    let of_memory =
        |event: &&String| memory.iter().any(|track| track.split(' ').next() == event.split(' ').nth(1));
    assert_eq!(events.iter().filter(of_memory).count(), expected);
    assert!(expected > 5 && memory.len() == 2);
}

#[test]
fn a_stream_in_pieces_is_one() {
    let tokens = process_tokens();
    let (_, whole) = read(&file(&[rmt(77, 1, &tokens)]), Window::ALL).unwrap();
    for at in [1, 13, 30, tokens.len() - 1] {
        let (front, rest) = tokens.split_at(at);
        let mut second = rmt(77, 1, rest);
        second.stored = crate::common::rdf::zstd_frame(&second.stored);
        (second.compression, second.uncompressed_size) = (1, rest.len() as i64);
        let (_, found) = read(&file(&[rmt(77, 1, front), rmt(5, 2, &tokens), second]), Window::ALL).unwrap();
        // The other stream says the same, at the same times, on tracks of its own.
        let (all, mut once) = (found.len(), found.clone());
        once.retain(|event| matches!(event.split(' ').nth(1), Some("1" | "2")));
        assert_eq!(all, whole.len() * 2, "{found:#?}");
        assert_eq!(once, whole, "cut at {at}: {found:#?}");
    }
}

/// A piece that does not say of which stream it is may be one of each that has begun: what follows is not joined.
#[test]
fn a_piece_of_any_stream_ends_all() {
    let tokens = process_tokens();
    for at in [1, 13, 30, tokens.len() - 1] {
        let (front, rest) = tokens.split_at(at);
        let (_, expected) = read(&file(&[rmt(77, 1, front)]), Window::ALL).unwrap();
        let (_, other) = read(&file(&[rmt(5, 2, &tokens)]), Window::ALL).unwrap();
        let mut nameless = rmt(77, 1, b"\0");
        nameless.header.pop();
        let chunks = [rmt(77, 1, front), nameless, rmt(77, 1, rest), rmt(5, 2, &tokens)];
        let (_, found) = read(&file(&chunks), Window::ALL).unwrap();
        // The gap is told as well.
        assert_eq!(found.len(), expected.len() + 1 + other.len(), "cut at {at}: {found:#?}");
    }
}

/// Of a stream in many pieces, no more than one is held at a time, with the token that the one before it ends in.
#[test]
fn pieces_are_read_when_their_turn_comes() {
    let text = [token(4, 4 | 300_000 << 12), vec![b'x'; 300_000]].concat();
    let pairs = [[5, 3].repeat(9_000), text].concat();
    let tokens: Vec<u8> = [process_tokens(), pairs.repeat(5)].concat();
    let (_, whole) = read(&file(&[rmt(77, 1, &tokens)]), Window::ALL).unwrap();
    assert!(whole.len() > 45_000);
    for size in [10_001, 150_000] {
        let piece = |(number, piece): (usize, &[u8])| match number % 2 {
            0 => rmt(77, 1, piece),
            _ => Chunk {
                compression: 1,
                uncompressed_size: piece.len() as i64,
                stored: zstd_frame(piece),
                ..rmt(77, 1, &[])
            },
        };
        let mut chunks: Vec<_> = tokens.chunks(size).enumerate().map(piece).collect();
        let data = file(&chunks);
        let room = needed(&File::parse(&data).unwrap());
        assert_eq!(room, (tokens.len() as u64).min(size as u64 + (1 << 20) + 4));
        let (_, events) = read_in(room as usize, &data, Window::ALL).unwrap();
        assert!(events == whole, "pieces of {size}");
        // What cannot be decompressed is told after what lies before it. The next piece may begin within a token.
        chunks[1].uncompressed_size += 1;
        let (_, events) = read_in(room as usize + 1, &file(&chunks), Window::ALL).unwrap();
        let lost = events.iter().position(|event| event.ends_with("size-mismatch")).unwrap();
        assert!(lost > 1_000 && events[..lost] == whole[..lost] && events.len() == lost + 1, "{lost}");
    }
}

/// Against a map of what is reserved.
#[test]
fn what_is_reserved_is_counted() {
    let mut state = 11_u64;
    for _ in 0..60 {
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let mut tokens = token(12, 10 << 4 | 10_000_000 << 64);
        let (mut known, mut expected) = (std::collections::BTreeMap::new(), Vec::new());
        let mut time = 10 * 32 * 100;
        for _ in 0..random(80) {
            let (address, pages) = (0x10000 * (1 + random(9)), 1 + random(5));
            let before: u64 = known.values().sum();
            match random(5) {
                0 => {
                    tokens.extend(token(2, 14 | 1 << 4 | 3 << 8));
                    time += 3 * 32 * 100;
                    continue;
                }
                1 | 2 => {
                    tokens.extend(token(7, 11 | u128::from(address) << 8));
                    known.remove(&address);
                }
                _ => {
                    let bits = 12 | u128::from(pages - 1) << 8 | u128::from(address) << 34;
                    tokens.extend(token(12, bits));
                    known.insert(address, pages * 4096);
                }
            }
            let after: u64 = known.values().sum();
            if before != after {
                expected.push((time, after));
            }
        }
        let data = file(&[rmt(77, 1, &tokens)]);
        for from in [0, 10 * 32 * 100, time / 2, time] {
            let (_, events) = read(&data, Window::new(Some(from), None)).unwrap();
            let found = events.iter().filter_map(|event| {
                let (place, bytes) = event.split_once(" = ")?;
                Some((place.split(' ').next()?.parse::<i128>().ok()?, bytes.parse::<u64>().ok()?))
            });
            let expected: Vec<_> = expected.iter().copied().filter(|(at, _)| *at >= from).collect();
            assert_eq!(found.collect::<Vec<_>>(), expected, "from {from}");
        }
    }
}

#[test]
fn faults_are_told_and_the_rest_is_read() {
    let reserved = [token(12, 10 << 4 | 10_000_000 << 64), vec![0x05, 3], vec![2, 2, 2]].concat();
    let cut = [event(16, 0, b"12345678\0\0"), vec![16, 0, 9, 0]].concat();
    let bad = Chunk { stored: vec![1, 2, 3], ..Chunk::zstd("QueueEvent", &[0; 72]) };
    let data =
        file(&[rmt(1, 1, &reserved), driver_events(UMD, 1, &cut), bad, Chunk::raw("DDEvent", b"short")]);
    let (_, events) = read(&data, Window::ALL).unwrap();
    let gaps: Vec<_> = events.iter().filter(|event| event.contains(" gap ")).collect();
    assert_eq!(gaps.len(), 4, "{events:#?}");
    assert!(gaps.iter().any(|gap| gap.contains("gap of 3: invalid")), "{gaps:?}");
    assert!(events.iter().any(|event| event.contains("present")), "{events:?}");
}

/// Places are those of the file. A table that claims more than it has says so after what it has; a fact that is none is
/// no loss of what happened.
#[test]
fn faults_have_their_places_in_the_file() {
    let chunk = |id: &str| rdf_contents::chunks().into_iter().find(|one| one.identifier == id.as_bytes());
    let mut loads = chunk("COLoadEvent").unwrap();
    loads.header = vec![3, 0, 0, 0];
    let mut samples = chunk("SpmCounterData").unwrap();
    samples.stored.push(9);
    let mut markers = chunk("UserMarkerHist").unwrap();
    markers.header[8] = 7;
    let cut = [event(16, 0, b"12345678\0\0"), vec![16, 0, 9, 0]].concat();
    let reserved = [token(12, 10 << 4 | 10_000_000 << 64), vec![2, 2, 2]].concat();
    let chunks = [
        Chunk::raw("AsicInfo", b"short"),
        loads,
        samples.clone(),
        markers,
        driver_events(UMD, 1, &cut),
        rmt(1, 1, &reserved),
        // What is compressed is located where it begins, a version in the index.
        Chunk {
            compression: 1,
            uncompressed_size: 5,
            stored: zstd_frame(&samples.stored),
            ..samples.clone()
        },
        Chunk::raw("DDEvent", b"").version(99),
        // The file lacks the end of this one, whatever it holds.
        Chunk { uncompressed_size: 9, ..Chunk::zstd("SystemInfo", b"{}") },
    ];
    let data = file(&chunks);
    let entries: Vec<_> = File::parse(&data).unwrap().entries().collect();
    let header = |entry: usize| entries[entry].header_range().unwrap().start;
    let start = |entry: usize| entries[entry].stored_range().unwrap().start;
    let end = |entry: usize| entries[entry].stored_range().unwrap().end;
    let mut workspace = Workspace::new();
    let slots = ([const { TrackSlot::EMPTY }; 20], [const { Lane::EMPTY }; 20]);
    let mut buffer = [0; 20];
    let mut timeline = Timeline::new(0, &data, &mut buffer, &mut workspace, slots.0, slots.1).unwrap();
    let mut gaps = Vec::new();
    while let Some(item) = timeline.next_item().unwrap() {
        if let Item::Event(event) = item
            && let EventKind::Gap(gap) = event.kind()
        {
            gaps.push((gap.cause().kind().code(), gap.cause().offset(), gap.offset(), gap.len()));
        }
    }
    gaps.sort_by_key(|(_, at, ..)| *at);
    let expected = [
        ("count-too-large", header(1), header(1), 0),
        ("unexpected-end", end(2) - 1, end(2) - 1, 1),
        ("count-too-large", header(3) + 8, header(3) + 8, 0),
        ("unexpected-end", end(4) - 4, end(4) - 4, 4),
        ("invalid", end(5) - 3, end(5) - 3, 3),
        ("unexpected-end", start(6), start(6), 0),
        ("size-mismatch", start(8), start(8), end(8) - start(8)),
        ("unsupported-version", entries[7].offset() + 20, start(7), 0),
    ];
    assert_eq!(gaps, expected);
}

/// No room is asked for what repeats a byte so often that it can be no table.
#[test]
fn what_is_out_of_proportion_is_left_out() {
    assert_eq!((Content::limit(0), Content::limit(10)), (8 << 20, (8 << 20) + 320));
    let repeated = |id: &str| Chunk::zstd(id, &vec![0; 9 << 20]);
    let chunks = [repeated("DDEvent"), repeated("SystemInfo"), rmt(1, 1, &process_tokens())];
    let data = file(&chunks);
    assert_eq!(needed(&File::parse(&data).unwrap()), 0);
    let (_, events) = read(&data, Window::ALL).unwrap();
    // Of what happened, not of facts.
    assert_eq!(events.iter().filter(|event| event.ends_with("over-limit")).count(), 1, "{events:?}");
    assert!(events.len() > 3, "{events:?}");
}

#[test]
fn rooms_that_are_too_small_are_errors() {
    let data = file(&rdf_contents::sample());
    let mut workspace = Workspace::new();
    let error =
        Timeline::new(0, &data, &mut [], &mut workspace, [TrackSlot::EMPTY; 3], [const { Lane::EMPTY }; 99])
            .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 3, needed: 4 });
    let error =
        Timeline::new(0, &data, &mut [], &mut workspace, [TrackSlot::EMPTY; 99], [const { Lane::EMPTY }; 2])
            .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
    let packed = file(&[Chunk::zstd("SystemInfo", b"{}")]);
    let slots = ([TrackSlot::EMPTY; 9], [const { Lane::EMPTY }; 9]);
    let error = Timeline::new(0, &packed, &mut [0], &mut workspace, slots.0, slots.1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
}

/// A file of one chunk of tokens, which so many entries name, and what is read of it: events, and gaps over the limit.
fn named(times: usize, stream: u32) -> (Vec<u8>, usize, usize) {
    let text = [token(4, 4 | 38_000 << 12), vec![b'x'; 38_000]].concat();
    let tokens = [token(12, 10 << 4 | 10_000_000 << 64), [5, 3].repeat(999), text].concat();
    let mut data = file(&[rmt(1, stream, &tokens)]);
    let index = File::parse(&data).unwrap().index().offset() as usize;
    let entry: [u8; 64] = data[index..].try_into().unwrap();
    (1..times).for_each(|_| data.extend(entry));
    data[24..32].copy_from_slice(&(times as i64 * 64).to_le_bytes());
    let (_, events) = read(&data, Window::ALL).unwrap();
    let gaps = events.iter().filter(|event| event.ends_with("over-limit")).count();
    (data, events.len() - gaps, gaps)
}

/// Many entries for the same bytes do not make more work than a few times the file, and what is left out is told.
#[test]
fn chunks_that_overlap_are_read_within_bounds() {
    let (data, events, gaps) = named(60, 300);
    // As many chunks as the file allows, of 1,000 events each.
    let room = (2 * data.len() + (1 << 20)) / (40_014 + 24);
    assert_eq!((events, gaps), (room * 1_000, 60 - room));
    // Pieces of a stream, one after the other.
    let (data, events, gaps) = named(300, 1);
    let room = Content::limit(data.len() as u64) as usize / (40_014 + 24);
    assert_eq!((events, gaps), (room * 1_000, 300 - room));
}

/// Many markers may have one long name, which is not read with each of them.
#[test]
fn of_a_long_string_a_marker_has_the_beginning() {
    for (text, most) in [("x".repeat(5_000), 1024), ("ä".repeat(5_000), 1024), ("€".repeat(5_000), 1023)] {
        let table = [&8_u32.to_le_bytes()[..], &[0; 4], text.as_bytes(), &[0]].concat();
        let mut header = [1_u32, 2].map(u32::to_le_bytes).concat();
        let strings = Chunk::raw("StringTable", &table).header(&header);
        header = [1_u32, 1, 1].map(u32::to_le_bytes).concat();
        let push = Chunk::raw("UserMarkerHist", &(1_u32 | 1 << 2).to_le_bytes()).header(&header);
        let (_, events) = read(&file(&[strings, push]), Window::ALL).unwrap();
        let name = events[0].split(' ').next_back().unwrap();
        assert!(text.starts_with(name) && name.len() == most, "{events:?}");
    }
}

#[test]
fn any_damage_ends() {
    let data = file(&rdf_contents::sample());
    for prefix in prefixes(&data).step_by(7) {
        let _ = read_damaged(prefix, Window::ALL);
    }
    mutations(&data, |place, mutant| {
        if place % 5 == 0 {
            let _ = read_damaged(mutant, Window::ALL);
        }
    });
}
