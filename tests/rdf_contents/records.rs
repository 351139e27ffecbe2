//! Records: what chunks tell, held against their classes, and streams of tokens in pieces.

use super::build;
use super::common::random::Random;
use super::common::rdf::Chunk;
use super::common::told::{Checked, told};
use std::collections::{BTreeMap, BTreeSet};
use traceglass::rdf::contents::rmt::{Progress, RmtData, Stream, TokenRecord};
use traceglass::rdf::contents::{ChunkRecord, ChunkRecords, Content};
use traceglass::record::{Class, Head, Listener, Record, Slot, Step, Wants};

fn id(chunk: &Chunk) -> traceglass::rdf::Identifier {
    std::str::from_utf8(&chunk.identifier).unwrap().try_into().unwrap()
}

fn records(chunk: &Chunk) -> ChunkRecords<'_> {
    ChunkRecords::new(id(chunk), chunk.version, &chunk.header, &chunk.stored).cpu_hz(Some(10_000_000))
}

/// The records of a chunk, a line each.
fn lines(chunk: &Chunk, to: &mut Checked) -> Vec<String> {
    let mut lines = Vec::new();
    records(chunk).each(|record| {
        lines.push(match record {
            Ok(record) => to.tell(&record).unwrap().expect("a record says something"),
            Err(error) => format!("{error}"),
        });
        true
    });
    lines
}

fn of(identifier: &[u8], version: u32) -> Vec<String> {
    let chunks = build::chunks();
    let is_it = |chunk: &&Chunk| chunk.identifier == identifier && chunk.version == version;
    lines(chunks.iter().find(is_it).unwrap(), &mut Checked::default())
}

/// Each kind of chunk, as its classes say it; classes of all chunks have numbers of their own.
#[test]
fn every_chunk_tells_what_its_classes_promise() {
    let mut checked = Checked::default();
    let chunks = [build::chunks(), build::sample()].concat();
    for chunk in &chunks {
        let told = lines(chunk, &mut checked);
        assert!(!told.is_empty(), "{} tells nothing", chunk.identifier.escape_ascii());
    }
    assert_eq!(of(b"ApiInfo", 2), ["ApiInfo  api=4(Vulkan) major=1 minor=3}"]);
    assert_eq!(
        of(b"PsoCorrelation", 3),
        [
            "PsoCorrelation  count=1}",
            "PsoCorrelation  pci=1 api_hash=0x5 hash=36893488147419103233 name=gbuffer}",
        ]
    );
    assert_eq!(of(b"TraceProcessInfo", 1), ["TraceProcessInfo  pid=77 path_length=5 process_path=game}"]);
    assert_eq!(
        of(b"TraceError", 1),
        ["TraceError  missing=SqttData missing_index=1 result=-7 payload=1(string) text=lost}"]
    );
    assert_eq!(
        of(b"COLoadEvent", 3)[1],
        "COLoadEvent @900  pci=1 event=0(load) base=0x1000 hash=36893488147419103233 ticks=9}"
    );
    assert_eq!(of(b"HistoryMetadata", 1), ["user_marker  cmd_buffer=7 number=3}"]);
    assert_eq!(of(b"StringTable", 1)[1..], ["string  number=0 text=a}", "string  number=1 text=bc}"]);
    assert_eq!(
        of(b"SystemInfo", 1),
        [concat!(
            "SystemInfo  { version: { major: 2} cpus: [ { name: cpu ä cpuTimeClockFreq: 10000000}]",
            " gpus: [ {}] processes: [ { processId: 7 path: p}]}}"
        )]
    );
}

/// Tokens and events have their values, addresses as such, and the times of their clocks.
#[test]
fn tokens_and_events_say_what_they_are_about() {
    let tokens = lines(&build::rmt(77, 1, &build::process_tokens()), &mut Checked::default());
    assert_eq!(
        tokens[1..4],
        [
            "timestamp @32000  stream=1 ticks=320 hz=10000000}",
            "virtual_allocate @32000  stream=1 ticks=320 address=0x10000 size=16384 owner=0(app) heaps=[ 2(system) \
             3(none) 3(none) 3(none)] heap_count=0 is_external=false}",
            "resource_create @32000  stream=1 ticks=320 resource=7 resource_type=0(image) owner=0(app) category=0 \
             commit=0(committed) dimensions=[ 1 1 1] format=0 mips=0 slices=1 size=0}",
        ]
    );
    let chunk = build::driver_events(build::UMD, 100, &build::markers());
    let events = lines(&chunk, &mut Checked::default());
    let bind = events.iter().find(|event| event.starts_with("marker_info")).unwrap();
    assert!(bind.contains("info=2(pipeline_bind) bind_point=1 api_hash=0xabcd}"), "{bind}");
    let begin = events.iter().find(|event| event.starts_with("marker_begin")).unwrap();
    assert!(begin.contains("marker=1 source=0(application) name=Frame}"), "{begin}");
    assert!(begin.starts_with("marker_begin @422400 "), "(100 + 1 × 32) × 32 ticks of 100 ns: {begin}");
}

/// Waves and registers are lists of groups.
#[test]
fn waves_and_registers_are_told_one_by_one() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let waves =
        [&[1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1][..], &[1, 5 | 2 << 8 | 3 << 10 | 1 << 16 | 4 << 18, 1, 0]];
    let events = [
        build::event(17, 0, &words(&waves.concat())),
        build::event(19, 0, &words(&[1, 0, 1, 0x10, 0xff])),
        build::event(18, 0, &words(&[1, 0, 1, 1, 2, 3, 4])),
    ];
    let chunk = build::driver_events(build::KMD, 0, &events.concat());
    let told = lines(&chunk, &mut Checked::default());
    assert!(told[1].ends_with(
        "hung=1 active=1 waves=[ { version=1 shader=1117701 shader_engine=4 shader_array=1 wgp=3 simd=2 wave=5} { \
         version=1 shader=0 shader_engine=0 shader_array=0 wgp=0 simd=0 wave=0}]}"
    ), "{}", told[1]);
    assert!(told[2].ends_with("gpu=0 registers=[ { offset=16 value=255}]}"), "{}", told[2]);
    assert!(told[3].ends_with("gpu=0 engines=[ { version=1 values=[ 2 3 4]}]}"), "{}", told[3]);
}

/// An event that is too short is an error between the others.
#[test]
fn what_cannot_be_read_is_no_record() {
    let events = [build::event(17, 0, &[0; 3]), build::page_fault(0x1000)].concat();
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    records(&build::driver_events(build::KMD, 0, &events)).each(|record| {
        match record {
            Ok(record) => good.push(told(&record).unwrap().unwrap()),
            Err(error) => bad.push((error.offset(), error.kind().code())),
        }
        true
    });
    assert_eq!((good.len(), bad), (2, vec![(36, "unexpected-end")]));
    // Text is no GPU; its bytes are told all the same.
    let chunk = Chunk::raw("AsicInfo", b"no GPU");
    let told = lines(&chunk, &mut Checked::default());
    assert_eq!(told[0], "unknown  size=6 header= data=6e6f20475055}");
    assert!(told[1].starts_with("RDF AsicInfo"), "{}", told[1]);
    // Whoever has enough is asked no more.
    let mut count = 0;
    records(&build::driver_events(build::UMD, 0, &build::markers())).each(|_| {
        count += 1;
        count < 3
    });
    assert_eq!(count, 3);
}

/// The slots and the names of all fields of a class.
#[derive(Default)]
struct Slots(BTreeMap<u32, (String, Vec<Slot>)>, BTreeSet<String>);

impl Listener for Slots {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        let mut slots = Vec::new();
        let mut depth = 0;
        class.fields(&mut |step| match step {
            Step::Field(field) => {
                slots.push(field.slot);
                if depth == 0 {
                    self.1.extend(field.name.map(|name| name.to_string()));
                }
                use traceglass::record::Kind::{Group, List, Map};
                depth += u32::from(matches!(field.kind, Group | List | Map));
            }
            Step::End => depth = depth.saturating_sub(1),
            _ => {}
        });
        let known = self.0.insert(head.class.0, (class.name().to_string(), slots.clone()));
        assert!(known.is_none_or(|known| known == (class.name().to_string(), slots)));
        Wants::NOTHING
    }
}

/// A field has a number of its own in all the file, and no name that stands beside the fields in JSON.
#[test]
fn fields_have_numbers_and_names_of_their_own() {
    let mut slots = Slots::default();
    for chunk in [build::chunks(), build::sample()].concat() {
        records(&chunk).each(|record| {
            record.into_iter().for_each(|record: ChunkRecord<'_>| record.tell(&mut slots).unwrap());
            true
        });
    }
    let all: Vec<Slot> = slots.0.values().flat_map(|(_, slots)| slots).copied().collect();
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert!(distinct.len() == all.len() && all.len() > 300, "{} of {}", distinct.len(), all.len());
    for taken in
        ["kind", "chunk", "entry", "index", "path", "offset", "bit", "len", "time_ns", "time", "clock"]
    {
        assert!(!slots.1.contains(taken), "{taken} stands in each line");
    }
}

struct Numbers(Random);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next() % limit
    }
}

/// Streams in pieces, cut anywhere, tell what they tell as a whole.
#[test]
fn a_stream_in_pieces_is_the_stream() {
    let mut random = Numbers(Random(42));
    for round in 0..200 {
        // Tokens of random kinds; now and then one that cannot be read.
        let mut data = build::process_tokens();
        for _ in 0..random.below(40) {
            let kind = [0_u8, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15][random.below(13) as usize];
            let size = [12, 14, 0, 18, 0, 2, 8, 17, 6, 10, 8, 7, 12, 0, 3, 5][usize::from(kind)];
            let mut token: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
            token[0] = if kind == 14 { 0x2e } else { token[0] & 0xf0 | kind };
            data.extend(token);
        }
        data.extend(if round % 5 == 0 { vec![2] } else { build::name_tokens() });
        let chunk = build::rmt(77, 9, &data);
        let rmt = rmt(&chunk);
        let whole: Vec<_> = rmt
            .tokens()
            .map_while(Result::ok)
            .map(|token| (token.offset(), token.ticks(), token.bytes().to_vec()))
            .collect();
        // The starts of chunks.
        let mut cuts: Vec<usize> =
            (0..random.below(6)).map(|_| random.below(data.len() as u64) as usize).collect();
        cuts.extend([0, data.len()]);
        cuts.sort_unstable();
        let mut progress = Progress::of(rmt.fields());
        let (mut found, mut rest, mut start, mut faults) = (Vec::new(), Vec::new(), 0_u64, Vec::new());
        for piece in cuts.windows(2).map(|cut| &data[cut[0]..cut[1]]) {
            let bytes = [&rest[..], piece].concat();
            let mut fault = None;
            let read = progress.each(&bytes, start, usize::MAX, |token| {
                match token {
                    Ok(token) => found.push(of_token(&token)),
                    Err(error) => fault = Some(error.kind().code()),
                }
                true
            });
            rest = bytes[read..].to_vec();
            start += read as u64;
            faults.extend(fault);
            if fault.is_some_and(|fault| fault != "unexpected-end") {
                break;
            }
        }
        assert_eq!(found, whole, "cut at {cuts:?}");
        let last = rmt.tokens().find_map(Result::err).map(|error| error.kind().code());
        assert_eq!(faults.last().copied().filter(|_| !rest.is_empty()), last);
    }
}

fn rmt(chunk: &Chunk) -> RmtData<'_> {
    match Content::parse(id(chunk), 1, &chunk.header, &chunk.stored) {
        Ok(Content::Rmt(rmt)) => rmt,
        other => panic!("{other:?}"),
    }
}

fn of_token(token: &TokenRecord<'_>) -> (u64, Option<u64>, Vec<u8>) {
    let one = token.token();
    (token.offset(), one.ticks(), one.bytes().to_vec())
}

/// The stream of a chunk, for what reads it as a whole.
#[test]
fn a_limit_ends_reading_between_tokens() {
    let data = build::process_tokens();
    let chunk = build::rmt(77, 1, &data);
    let stream: Stream<'_> = rmt(&chunk).stream();
    let mut progress = Progress::of(rmt(&chunk).fields());
    let first = progress.each(&data, 0, 2, |_| true);
    let next = stream.tokens().nth(2).unwrap().unwrap().offset();
    assert_eq!(first as u64, next);
    let mut offsets = Vec::new();
    progress.each(&data[first..], next, 1, |token| {
        offsets.push(token.unwrap().offset());
        true
    });
    assert_eq!(offsets, [next]);
}
