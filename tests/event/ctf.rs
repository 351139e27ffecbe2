//! CTF: records are instants on the track of their processor; what was discarded and what cannot be read is reported.

use crate::common::told::Checked;
use crate::pulled::{Field, Value, fields};
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass::{ErrorKind, Result};

/// Packets of a context (size in bytes, first time, processor, discarded) and records of an id, a time and a payload.
const METADATA: &str = concat!(
    "\x1e",
    r#"{"type": "preamble", "version": 2}"#,
    "\x1e",
    r#"{"type": "field-class-alias", "name": "u8", "field-class":
        {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}}"#,
    "\x1e",
    r#"{"type": "clock-class", "id": "c", "name": "boot", "frequency": 1000000000,
        "origin": "unix-epoch", "offset-from-origin": {"seconds": 1}}"#,
    "\x1e",
    r#"{"type": "trace-class"}"#,
    "\x1e",
    r#"{"type": "data-stream-class", "default-clock-class-id": "c",
        "packet-context-field-class": {"type": "structure", "member-classes": [
            {"name": "total", "field-class": {"type": "fixed-length-unsigned-integer", "length": 16,
                "byte-order": "little-endian", "roles": ["packet-total-length", "packet-content-length"]}},
            {"name": "cpu_id", "field-class": "u8"},
            {"name": "lost", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["discarded-event-record-counter-snapshot"]}}]},
        "event-record-header-field-class": {"type": "structure", "member-classes": [
            {"name": "id", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["event-record-class-id"]}},
            {"name": "time", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["default-clock-timestamp"]}}]},
        "event-record-common-context-field-class": {"type": "structure", "member-classes": [
            {"name": "tid", "field-class": "u8"}]}}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 1, "name": "plain"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 2, "name": "nested", "payload-field-class":
        {"type": "structure", "member-classes": [
            {"name": "list", "field-class": {"type": "static-length-array", "length": 2, "element-field-class": "u8"}},
            {"name": "inner", "field-class": {"type": "structure", "member-classes": [
                {"name": "text", "field-class": {"type": "null-terminated-string"}}]}}]}}"#,
);

/// A member of a byte.
pub fn number(name: &str, role: &str) -> String {
    format!(
        r#"{{"name": "{name}", "field-class": {{"type": "fixed-length-unsigned-integer", "length": 8,
            "byte-order": "little-endian", "roles": ["{role}"]}}}}"#
    )
}

/// The same metadata, where packets have times before the number of what they lost.
fn timed() -> String {
    let times = [
        number("begin", "default-clock-timestamp"),
        number("end", "packet-end-default-clock-timestamp"),
        r#"{"name": "lost""#.to_owned(),
    ];
    METADATA.replacen(r#"{"name": "lost""#, &times.join(", "), 1)
}

fn packet(cpu: u8, lost: u8, records: &[&[u8]]) -> Vec<u8> {
    let records = records.concat();
    let bits = ((4 + records.len()) * 8) as u16;
    [&bits.to_le_bytes()[..], &[cpu, lost], &records].concat()
}

fn tree(fields: Vec<Field>) -> String {
    let mut text = String::new();
    for field in fields {
        if let Some(name) = field.name() {
            text.push_str(&format!("{name}="));
        }
        match field.value() {
            Value::Struct => text.push_str("{ "),
            Value::List => text.push_str("[ "),
            Value::End => text.push_str("^ "),
            Value::Unsigned(value) => text.push_str(&format!("{value} ")),
            Value::Text(label) => text.push_str(&format!("{label} ")),
            other => text.push_str(&format!("{other:?} ")),
        }
    }
    text
}

fn lines(streams: &[Vec<u8>], window: Window) -> Result<Vec<String>> {
    lines_of(METADATA, streams, window)
}

fn lines_of(metadata: &str, streams: &[Vec<u8>], window: Window) -> Result<Vec<String>> {
    let metadata = MetadataStream::parse(metadata.as_bytes())?;
    let mut nodes = [Node::EMPTY; 256];
    let schema = Schema::compile(&metadata, &mut nodes)?;
    let mut slots = [const { MergeSlot::EMPTY }; 3];
    let mut timeline = Timeline::new(&mut slots, [const { StreamSlot::EMPTY }; 3]);
    timeline.set_window(window);
    for (input, stream) in streams.iter().enumerate() {
        timeline.add(input, stream, &schema)?;
    }
    let mut lines = Vec::new();
    while let Some(item) = timeline.next_item()? {
        lines.push(match item {
            Item::Track(track) => {
                let clock = track.clock();
                let parent = track.parent().map(|parent| parent.number());
                let number = track.id().number();
                format!("{number} < {parent:?}: {} {} {:?}", track.kind().name(), track.label(), clock.name())
            }
            Item::Event(event) => {
                assert!(event.time().is_none_or(|time| time.is_absolute()));
                let time = event.time().map(|time| time.ns() - 1_000_000_000);
                let (input, offset, track) = (event.input(), event.offset(), event.track().number());
                let mut line =
                    format!("{input}:{offset} @{time:?} {track} {} {}", event.kind().name(), event.name());
                match event.kind() {
                    EventKind::Gap(gap) => line.push_str(&format!(" +{}", gap.len())),
                    EventKind::Discarded { count } => line.push_str(&format!(" {count:?}")),
                    _ => line.push_str(&format!(" {}", tree(fields(&event).unwrap()))),
                }
                line
            }
            _ => unreachable!(),
        });
    }
    Ok(lines)
}

#[test]
fn records_are_instants_on_the_track_of_their_processor() {
    let streams = [
        packet(3, 0, &[&[1, 10, 7], &[2, 30, 7, 1, 2, b'h', b'i', 0]]),
        [packet(0, 0, &[&[1, 20, 8]]), packet(0, 5, &[&[1, 40, 8]])].concat(),
    ];
    assert_eq!(
        lines(&streams, Window::ALL).unwrap(),
        [
            "0 < None: recording CTF trace None",
            "1 < Some(0): cpu CPU 3 Some(\"boot\")",
            "2 < Some(0): cpu CPU 0 Some(\"boot\")",
            "0:4 @Some(10) 1 instant plain common_context={ tid=7 ^ ",
            "1:4 @Some(20) 2 instant plain common_context={ tid=8 ^ ",
            "0:7 @Some(30) 1 instant nested common_context={ tid=7 ^ list=[ 1 2 ^ inner={ text=hi ^ ",
            "1:11 @Some(40) 2 instant plain common_context={ tid=8 ^ ",
            "1:7 @Some(40) 2 discarded discarded Some(5)",
        ]
    );
    let found = lines(&streams, Window::new(Some(1_000_000_020), Some(1_000_000_040))).unwrap();
    assert_eq!(found.iter().filter(|line| line.contains("instant")).count(), 2);
    // Nobody knows when a loss was, between the records around it: it is in each window that has a part of that.
    let losses = |from: i128, to: i128| {
        let window = Window::new(Some(1_000_000_000 + from), Some(1_000_000_000 + to));
        lines(&streams, window).unwrap().iter().filter(|line| line.contains("discarded")).count()
    };
    assert_eq!([losses(20, 40), losses(0, 21), losses(40, 50), losses(30, 35)], [1; 4]);
    assert_eq!([losses(0, 20), losses(41, 50)], [0; 2]);
}

/// Packets without records have none that could tell of a loss: the next record does, or the end of the stream.
#[test]
fn losses_of_packets_without_records_are_told() {
    let streams = [
        [packet(3, 0, &[&[1, 10, 7]]), packet(3, 2, &[]), packet(3, 5, &[&[1, 20, 7]])].concat(),
        [packet(0, 1, &[]), packet(0, 1, &[&[1, 30, 8]]), packet(0, 3, &[]), packet(0, 7, &[])].concat(),
        packet(1, 4, &[]),
    ];
    let found = lines(&streams, Window::ALL).unwrap();
    let told = |line: &&String| line.contains("discarded");
    let counts: Vec<_> = found.iter().filter(told).map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(counts, ["Some(5)", "Some(1)", "Some(6)", "Some(4)"]);
    // A fault at a packet's first record does not hide what was lost before it.
    let broken =
        [[packet(3, 0, &[&[1, 10, 7]]), packet(3, 2, &[&[9, 9, 9]]), packet(3, 2, &[&[1, 20, 7]])].concat()];
    let found = lines(&broken, Window::ALL).unwrap();
    assert_eq!(found.iter().filter(told).count(), 1, "{found:?}");
}

/// A loss is from the record before it up to the end of the packet that tells of it.
#[test]
fn losses_are_in_the_ranges_that_their_packets_meet() {
    let metadata = timed();
    let packet = |begin: u8, end: u8, lost: u8, records: &[u8]| {
        let bits = ((6 + records.len()) * 8) as u16;
        [&bits.to_le_bytes()[..], &[3, begin, end, lost], records].concat()
    };
    let stream =
        [packet(10, 20, 0, &[1, 12, 7]), packet(30, 60, 7, &[1, 35, 7]), packet(70, 90, 9, &[])].concat();
    let losses = |from: i128, to: i128| {
        let window = Window::new(Some(1_000_000_000 + from), Some(1_000_000_000 + to));
        let lines = lines_of(&metadata, std::slice::from_ref(&stream), window).unwrap();
        lines
            .iter()
            .filter_map(|line| line.split_once("discarded Some"))
            .map(|(_, count)| count.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(losses(0, 100), ["(7)", "(2)"]);
    assert_eq!([losses(0, 12), losses(91, 95)], [Vec::<String>::new(), Vec::new()]);
    for range in [(13, 20), (25, 29), (31, 34), (45, 60)] {
        assert_eq!(losses(range.0, range.1)[0], "(7)", "{range:?}");
    }
    for range in [(36, 50), (61, 65), (71, 80), (90, 91)] {
        assert_eq!(losses(range.0, range.1).last().map(String::as_str), Some("(2)"), "{range:?}");
    }
}

/// Tracers begin a new file as a stream grows: what follows with the same number is on the same track.
#[test]
fn files_of_one_stream_are_one_track() {
    let header = format!(
        r#"{{"type": "trace-class", "packet-header-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        number("stream", "data-stream-id")
    );
    let metadata = timed().replace(r#"{"type": "trace-class"}"#, &header);
    let numbered = |stream: u8, begin: u8, length: u8| {
        let record = [1, begin, 7];
        [&[stream, 10 * 8, 0, 3, begin, begin + length, 0][..], &record].concat()
    };
    let tracks = |numbers: [u8; 3], length: u8| {
        let times = (1..).map(|time| time * 10);
        let streams = times.zip(numbers).map(|(time, number)| numbered(number, time, length));
        let streams: Vec<_> = streams.collect();
        let lines = lines_of(&metadata, &streams, Window::ALL).unwrap();
        let announced = lines.iter().filter(|line| line.contains(": cpu CPU 3")).count();
        let events = lines.iter().filter(|line| line.contains(" instant "));
        let on = events.map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect::<Vec<_>>();
        (announced, on.join(" "))
    };
    assert_eq!(tracks([5, 5, 5], 9), (1, "1 1 1".to_owned()));
    assert_eq!(tracks([5, 5, 5], 10), (1, "1 1 1".to_owned()));
    assert_eq!(tracks([5, 5, 6], 10), (2, "1 1 3".to_owned()));
    assert_eq!(tracks([5, 6, 6], 10), (2, "1 2 2".to_owned()));
    assert_eq!(tracks([5, 6, 5], 10), (3, "1 2 3".to_owned()));
    // Streams that were recorded side by side are not one, whatever their number is.
    assert_eq!(tracks([5, 5, 5], 11), (3, "1 2 3".to_owned()));
}

#[test]
fn a_window_has_what_was_recorded_before_a_stamp_that_is_wrong() {
    let streams = [
        [packet(3, 0, &[&[1, 2, 7], &[1, 200, 7]]), packet(3, 0, &[&[1, 5, 7], &[1, 8, 7]])].concat(),
        packet(0, 0, &[&[1, 4, 8], &[1, 9, 8]]),
    ];
    let found = lines(&streams, Window::new(Some(1_000_000_004), Some(1_000_000_009))).unwrap();
    let times: Vec<_> =
        found.iter().filter_map(|line| line.split_once(" @")).map(|(_, time)| &time[..7]).collect();
    assert_eq!(times, ["Some(4)", "Some(5)", "Some(8)"]);
}

#[test]
fn what_cannot_be_read_is_a_gap_and_the_next_packet_follows() {
    // No class has the id 9.
    let bad = packet(1, 0, &[&[1, 10, 7], &[9, 11, 7], &[1, 12, 7]]);
    let size = bad.len();
    let streams = [[bad, packet(1, 0, &[&[1, 20, 8]])].concat(), packet(2, 0, &[&[1, 15, 9]])];
    let found = lines(&streams, Window::ALL).unwrap();
    let gap = found.iter().find(|line| line.contains(" gap ")).unwrap();
    // From the record to the end of its packet.
    assert!(gap.starts_with("0:9 @None 1 gap ") && gap.ends_with(&format!(" +{}", size - 9)), "{gap}");
    let instants: Vec<_> = found.iter().filter(|line| line.contains("instant")).collect();
    assert_eq!(instants.len(), 3, "{found:?}");
    assert!(instants[1].starts_with("1:4 @Some(15)") && instants[2].starts_with("0:17 @Some(20)"));
}

#[test]
fn room_that_is_too_small_is_an_error() {
    let stream = packet(1, 0, &[]);
    let error = lines(&[stream.clone(), stream.clone(), stream.clone(), stream], Window::ALL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 3, needed: 4 });
}

#[test]
fn any_prefix_ends() {
    let stream = [packet(1, 0, &[&[1, 10, 7]]), packet(1, 2, &[&[2, 20, 8, 1, 2, 0]])].concat();
    let whole = lines(std::slice::from_ref(&stream), Window::ALL).unwrap().len();
    for end in 0..stream.len() {
        assert!(lines(&[stream[..end].to_vec()], Window::ALL).unwrap().len() <= whole + 1, "{end}");
    }
}

/// Two traces of one folder: fields with the same places in their metadata say different things.
#[test]
fn events_of_several_traces_tell_their_own_fields() {
    let metadata = |members: &str| {
        format!(
            "\x1e{{\"type\": \"preamble\", \"version\": 2}}\x1e{{\"type\": \"data-stream-class\"}}\
             \x1e{{\"type\": \"event-record-class\", \"name\": \"e\", \
             \"payload-field-class\": {{\"type\": \"structure\", \"member-classes\": [{members}]}}}}"
        )
    };
    // Labels, a sign beyond 64 bits, and labels in an optional: none of them was told before events told their records.
    let [first, second] = [
        r#"{"name": "state", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
            "byte-order": "little-endian", "mappings": {"RUNNING": [[0, 0]], "BLOCKED": [[2, 4]]}}},
           {"name": "w", "field-class": {"type": "fixed-length-signed-integer", "length": 100, "alignment": 8,
            "byte-order": "little-endian"}}"#,
        r#"{"name": "is", "field-class": {"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian"}},
           {"name": "maybe", "field-class": {"type": "optional", "selector-field-location": {"path": ["is"]},
            "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "mappings": {"HOT": [[7, 9]]}}}}"#,
    ]
    .map(metadata);
    let mut nodes = [[Node::EMPTY; 64]; 2];
    let [first_nodes, second_nodes] = &mut nodes;
    let first_stream = MetadataStream::parse(first.as_bytes()).unwrap();
    let second_stream = MetadataStream::parse(second.as_bytes()).unwrap();
    let first = Schema::compile(&first_stream, first_nodes).unwrap();
    let second = Schema::compile(&second_stream, second_nodes).unwrap();
    let mut data = vec![2];
    data.extend([0xff; 13]);
    let mut slots = [const { MergeSlot::EMPTY }; 3];
    let mut timeline = Timeline::new(&mut slots, [const { StreamSlot::EMPTY }; 3]);
    timeline.add(0, &data, &first).unwrap();
    timeline.add(1, &[1, 9, 0], &second).unwrap();
    timeline.add(2, &[1, 5], &second).unwrap();
    // One listener for all, that spells a class once.
    let mut checked = Checked::default();
    let mut said = Vec::new();
    while let Some(item) = timeline.next_item().unwrap() {
        if let Item::Event(event) = item {
            said.extend(checked.tell(&event).unwrap());
        }
    }
    assert_eq!(
        said,
        [
            "e { state=2(BLOCKED) w=-1}",
            "e { is=true maybe=9(HOT)}",
            "e { is=false maybe=-}",
            "e { is=true maybe=5}",
        ]
    );
}
