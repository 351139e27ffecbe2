//! States: what a table finds in random events is what the obvious slow way finds.

use crate::common::random::Random;
use crate::ctf::number;
use std::collections::BTreeMap;
use traceglass::ctf::data::{MergeSlot, ProgramSlot, Programs};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::states::{
    ArgSlot, ClassSlot, Counts, Edges, FieldSlot, Hashed, HeadSlot, MatchSlot, OpSlot, OpenSlot, Rooms,
    RuleSlot, StateRooms, States, StreamSlot as Fed, Table, ValueSlot,
};
use traceglass::event::{EventKind, Item, Source, TrackId};
use traceglass::{Error, ErrorKind};

/// Packets of a size in bits, a processor and a count of discarded records; records of an id, a time, a place and a key.
const METADATA: &str = concat!(
    "\x1e",
    r#"{"type": "preamble", "version": 2}"#,
    "\x1e",
    r#"{"type": "field-class-alias", "name": "u8", "field-class":
        {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}}"#,
    "\x1e",
    r#"{"type": "field-class-alias", "name": "two", "field-class": {"type": "structure", "member-classes": [
        {"name": "place", "field-class": "u8"}, {"name": "id", "field-class": "u8"}]}}"#,
    "\x1e",
    r#"{"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch"}"#,
    "\x1e",
    r#"{"type": "trace-class"}"#,
    "\x1e",
    r#"{"type": "data-stream-class", "default-clock-class-id": "c",
        "packet-context-field-class": {"type": "structure", "member-classes": [
            {"name": "total", "field-class": {"type": "fixed-length-unsigned-integer", "length": 32,
                "byte-order": "little-endian", "roles": ["packet-total-length", "packet-content-length"]}},
            {"name": "cpu_id", "field-class": "u8"},
            {"name": "lost", "field-class": {"type": "fixed-length-unsigned-integer", "length": 32,
                "byte-order": "little-endian", "roles": ["discarded-event-record-counter-snapshot"]}}]},
        "event-record-header-field-class": {"type": "structure", "member-classes": [
            {"name": "id", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "roles": ["event-record-class-id"]}},
            {"name": "time", "field-class": {"type": "fixed-length-unsigned-integer", "length": 32,
                "byte-order": "little-endian", "roles": ["default-clock-timestamp"]}}]}}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 0, "name": "lock", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 1, "name": "unlock", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 2, "name": "call", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 3, "name": "return", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 4, "name": "set", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 5, "name": "adc_start", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 6, "name": "adc_stop", "payload-field-class": "two"}"#,
    "\x1e",
    r#"{"type": "event-record-class", "id": 7, "name": "led_start", "payload-field-class": "two"}"#,
);

const TABLE: &str = r##"
cpu = ["packet_context.cpu_id"]
keys = ["none", "id"]
let = [{ on = "call", map = "caller", key = "last", value = "place {place}" }]
table.names = { 1 = "one", 2 = "two" }
slice = [
  { begin = "lock", end = "unlock", track = "locks {place}", key = "{id}", name = "lock {#names[id&3]|id:x}" },
  { begin = "call", end = ["return"], track = "calls {place}", name = "call {$cpu}" },
  { generic = true, begin = "*_start", end = "*_stop", track = "any {@caller['last']|'none'} {$cpu} {$stream}", key = "{$key|''}", name = "{$1}" },
]
state = [
  { on = "set", track = "state {place}", value = "{id}", was = "before {id}", none = "{id} == 0", was_none = "{id} == 1", keep = ["3"] },
]
"##;

/// An event: its time, its stream, whether others were lost before it, its id, place and key.
#[derive(Clone, Copy, Debug)]
struct Happened {
    time: u32,
    stream: usize,
    after_loss: bool,
    id: u8,
    place: u8,
    key: u8,
}

/// A slice: track, name, begin, end, edges.
type Found = (String, String, Option<i128>, Option<i128>, Vec<&'static str>);

/// A slice that has begun: name, begin, edges.
type Begun = (String, Option<i128>, Edges);

/// Random events, at times of their own.
fn random(random: &mut Random, count: u32, keys: u64) -> Vec<Happened> {
    (0..count)
        .map(|time| Happened {
            time,
            stream: (random.next() % 2) as usize,
            after_loss: random.next().is_multiple_of(40),
            id: (random.next() % 8) as u8,
            place: (random.next() % 3) as u8,
            key: (random.next() % keys) as u8,
        })
        .collect()
}

/// The processor of a stream's packet: a stream goes on on another one after each loss.
fn processor(stream: usize, losses: u32) -> u8 {
    stream as u8 + 2 * (losses % 2) as u8
}

/// The events of a stream as packets: a new one after each loss.
fn packets(events: &[Happened], stream: usize) -> Vec<u8> {
    let mut packets: Vec<Vec<u8>> = vec![Vec::new()];
    for event in events.iter().filter(|event| event.stream == stream) {
        if event.after_loss {
            packets.push(Vec::new());
        }
        let last = packets.last_mut().unwrap();
        last.extend([&[event.id][..], &event.time.to_le_bytes(), &[event.place, event.key]].concat());
    }
    let whole = packets.iter().zip(0_u32..).map(|(records, lost)| {
        let bits = (9 + records.len() as u32) * 8;
        [&bits.to_le_bytes()[..], &[processor(stream, lost)], &lost.to_le_bytes(), records].concat()
    });
    whole.collect::<Vec<_>>().concat()
}

/// The open slices, kept in the slow way.
#[derive(Clone, Debug)]
struct Open {
    rule: u8,
    key: u8,
    name: String,
    begin: i128,
    stream: usize,
    losses: u32,
}

/// The obvious way: all is searched for each event.
fn oracle(events: &[Happened]) -> (Vec<Found>, u64) {
    let (mut found, mut stray) = (Vec::new(), 0);
    let mut stacks: BTreeMap<String, Vec<Open>> = BTreeMap::new();
    // `None` is not known, an empty name is nothing.
    let mut states: BTreeMap<String, Option<(String, i128)>> = BTreeMap::new();
    let mut fed: BTreeMap<String, usize> = BTreeMap::new();
    let (mut last, mut losses) = ([None; 2], [0; 2]);
    let mut caller = "none".to_owned();
    let occurs = |id| events.iter().any(|event| event.id == id);
    let is_pair = occurs(5) && occurs(6);
    for event in events {
        let &Happened { time, stream, id, place, key, .. } = event;
        let time = i128::from(time);
        if event.after_loss {
            losses[stream] += 1;
            let lost: Vec<_> =
                fed.iter().filter(|(_, of)| **of == stream).map(|(track, _)| track.clone()).collect();
            for track in lost.into_iter().filter(|_| last[stream].is_some()) {
                fed.remove(&track);
                if let Some(Some((name, begin))) = states.insert(track.clone(), None)
                    && !name.is_empty()
                {
                    found.push((track.clone(), name, Some(begin), last[stream], vec!["end_lost"]));
                }
                let stack = stacks.entry(track.clone()).or_default();
                if stack.iter().any(|open| open.rule == 2) {
                    for open in stack.drain(..) {
                        found.push((
                            track.clone(),
                            open.name,
                            Some(open.begin),
                            last[stream],
                            vec!["end_lost"],
                        ));
                    }
                }
            }
        }
        last[stream] = Some(time);
        let across = |open: &Open, mut flags: Vec<&'static str>| {
            if losses[open.stream] != open.losses {
                flags.insert(0, "across_loss");
            }
            flags
        };
        let cpu = processor(stream, losses[stream]);
        if id == 2 {
            caller = format!("place {place}");
        }
        let (track, name, rule) = match id {
            0 | 1 => {
                let name = ["", "one", "two", ""][usize::from(key & 3)];
                let name = if name.is_empty() { format!("lock {key:#x}") } else { format!("lock {name}") };
                (format!("locks {place}"), name, 0)
            }
            2 | 3 => (format!("calls {place}"), format!("call {cpu}"), 2),
            5 | 6 if is_pair => {
                (format!("any {caller} {cpu} stream {}", ["a", "b"][stream]), "adc".to_owned(), 5)
            }
            4 => {
                let track = format!("state {place}");
                let state = states.entry(track.clone()).or_default();
                let value = if key == 0 { String::new() } else { key.to_string() };
                if matches!(state, Some((now, _)) if now == "3") {
                    continue;
                }
                match state.clone() {
                    None if key != 1 => {
                        let was =
                            (track.clone(), format!("before {key}"), None, Some(time), vec!["open_start"]);
                        found.push(was);
                    }
                    Some((now, _)) if now == value && !now.is_empty() => continue,
                    Some((now, begin)) if !now.is_empty() => {
                        found.push((track.clone(), now, Some(begin), Some(time), vec![]));
                    }
                    _ => {}
                }
                *state = Some((value, time));
                fed.insert(track, stream);
                continue;
            }
            _ => continue,
        };
        let stack = stacks.entry(track.clone()).or_default();
        let key = if rule == 2 { 0 } else { key };
        if matches!(id, 0 | 2 | 5) {
            stack.push(Open { rule, key, name, begin: time, stream, losses: losses[stream] });
            if rule == 2 {
                fed.insert(track, stream);
            }
            continue;
        }
        match stack.iter().rposition(|open| open.key == key) {
            Some(at) => {
                for (depth, open) in stack.drain(at..).enumerate() {
                    let flags = across(&open, if depth == 0 { vec![] } else { vec!["end_missing"] });
                    found.push((track.clone(), open.name, Some(open.begin), Some(time), flags));
                }
            }
            None if stack.is_empty() => {
                let flag = if losses[stream] > 0 { "begin_lost" } else { "open_start" };
                found.push((track, name, None, Some(time), vec![flag]));
            }
            None => stray += 1,
        }
    }
    for (track, stack) in stacks {
        for open in stack {
            let mut flags = vec!["open_end"];
            if losses[open.stream] != open.losses {
                flags.insert(0, "across_loss");
            }
            found.push((track.clone(), open.name, Some(open.begin), None, flags));
        }
    }
    for (track, state) in states {
        if let Some((name, begin)) = state.filter(|(name, _)| !name.is_empty()) {
            found.push((track, name, Some(begin), None, vec!["open_end"]));
        }
    }
    found.sort();
    (found, stray)
}

/// Room of so many slots of each kind, lent.
macro_rules! rooms {
    ($rooms:ident, $count:expr) => {
        let count = $count;
        let (mut classes, mut names) = (vec![ClassSlot::EMPTY; count], vec![Hashed::EMPTY; count]);
        let (mut matches, mut fields) = (vec![MatchSlot::EMPTY; count], vec![FieldSlot::EMPTY; 256]);
        let (mut values, mut tracks) = (vec![ValueSlot::EMPTY; count], vec![Hashed::EMPTY; count]);
        let (mut open, mut kept) = (vec![OpenSlot::EMPTY; count], vec![Hashed::EMPTY; count]);
        let (mut streams, mut args) = (vec![Fed::EMPTY; count], vec![ArgSlot::EMPTY; count]);
        let [mut names_heads, mut tracks_heads, mut kept_heads] =
            [const { HeadSlot::EMPTY }; 3].map(|head| vec![head; 2 * count]);
        let $rooms = StateRooms {
            classes: &mut &mut classes[..],
            names: &mut &mut names[..],
            names_heads: &mut &mut names_heads[..],
            matches: &mut &mut matches[..],
            args: &mut &mut args[..],
            fields: &mut &mut fields[..],
            values: &mut &mut values[..],
            tracks: &mut &mut tracks[..],
            tracks_heads: &mut &mut tracks_heads[..],
            open: &mut &mut open[..],
            kept: &mut &mut kept[..],
            kept_heads: &mut &mut kept_heads[..],
            streams: &mut &mut streams[..],
        };
    };
}

/// The slices that a table finds; how many slots of each kind there are.
fn matched(events: &[Happened], slots: usize) -> Result<(Vec<Found>, Counts), Error> {
    matched_by(TABLE, &["adc_start", "adc_stop", "led_start"], events, slots)
}

/// The same of another table; `learned` are the names of the classes that its rules for any name may pair.
fn matched_by(
    text: &str,
    learned: &[&str],
    events: &[Happened],
    slots: usize,
) -> Result<(Vec<Found>, Counts), Error> {
    // Steps are another way to read the same.
    let has_steps = events.len().is_multiple_of(2);
    matched_in(METADATA, &[packets(events, 0), packets(events, 1)], has_steps, text, learned, slots)
}

/// The same of streams as they are written.
fn matched_in(
    metadata: &str,
    data: &[Vec<u8>; 2],
    has_steps: bool,
    text: &str,
    learned: &[&str],
    slots: usize,
) -> Result<(Vec<Found>, Counts), Error> {
    let metadata = MetadataStream::parse(metadata.as_bytes())?;
    let mut nodes = vec![Node::EMPTY; 1024];
    let schema = Schema::compile(&metadata, &mut nodes)?;
    let (mut rules, mut ops, mut names) = ([RuleSlot::EMPTY; 8], [OpSlot::EMPTY; 128], [""; 16]);
    let mut table = Table::new(Rooms { rules: &mut rules, ops: &mut ops, names: &mut names });
    table.add(text)?;
    rooms!(rooms, slots);
    let mut states = States::new(&table, &["a", "b"], rooms)?;
    let mut found = Vec::new();
    let mut lanes: BTreeMap<TrackId, (String, Vec<Begun>)> = BTreeMap::new();
    for is_learning in [true, false] {
        let mut merge = [MergeSlot::EMPTY; 2];
        let mut timeline = Timeline::new(&mut merge, [StreamSlot::EMPTY; 2]);
        let mut steps = vec![ProgramSlot::EMPTY; Programs::needed(&schema) as usize];
        if has_steps {
            timeline.set_programs(Programs::compile(&schema, &mut steps)?);
        }
        for (number, data) in data.iter().enumerate() {
            timeline.add(number, data, &schema)?;
        }
        let (mut names, mut left) = (Vec::new(), 0);
        timeline.each_class(&mut |class| {
            left += usize::from(states.may_pair(class));
            names.extend(states.may_learn(class).then(|| class.name().to_string()));
        });
        assert_eq!(names, learned);
        let mut take = |item: &Item<'_>| {
            match item {
                Item::Track(track) => lanes.entry(track.id()).or_default().0 = track.label().to_string(),
                Item::Event(event) => {
                    let lane = lanes.entry(event.track()).or_default();
                    let time = event.time().map(|time| time.ns());
                    let edges = event.slice().map_or(Edges::NONE, |slice| slice.edges());
                    match event.kind() {
                        EventKind::Begin => lane.1.push((event.name().to_string(), time, edges)),
                        EventKind::End => {
                            let (name, begin, before) = lane.1.pop().expect("a begin comes before its end");
                            let flags = before.with(edges).names().collect();
                            found.push((lane.0.clone(), name, begin, time, flags));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
            Ok::<(), Error>(())
        };
        while let Some(item) = timeline.next_item()? {
            match &item {
                Item::Event(event) if is_learning => {
                    left -= usize::from(states.learn(event)?);
                    if left == 0 {
                        break;
                    }
                }
                _ if is_learning => {}
                item => states.item(item, &mut take)?,
            }
        }
        if !is_learning {
            states.finish(&mut take)?;
        }
    }
    assert!(lanes.values().all(|(_, open)| open.is_empty()), "all is given out at the end");
    found.sort();
    Ok((found, states.counts()))
}

#[test]
fn what_is_found_is_what_the_slow_way_finds() {
    let mut numbers = Random(36);
    let (mut slices, mut flags) = (0, std::collections::BTreeSet::new());
    for round in 0..300 {
        let events = random(&mut numbers, 1 + round * 2, 2 + u64::from(round) % 5);
        let (expected, stray) = oracle(&events);
        let (found, counts) = matched(&events, 1024).unwrap();
        assert_eq!(found, expected, "round {round}: {events:?}");
        assert_eq!(counts.stray, stray);
        assert_eq!(counts.events, events.len() as u64);
        slices += found.len();
        flags.extend(found.iter().flat_map(|found| found.4.iter().copied()));
    }
    assert!(slices > 10_000, "{slices}");
    let all = ["across_loss", "begin_lost", "end_lost", "end_missing", "open_end", "open_start"];
    assert!(flags.iter().eq(&all), "{flags:?}");
}

/// What `*` stands for tells slices of a track apart. Where it stands for nothing, there is no key, and no slice.
#[test]
fn a_part_of_the_name_is_a_key() {
    let table = r#"slice = [
      { begin = ["*_start", "call*"], end = ["*_stop", "return*"], track = "any", key = "{$1}", name = "{$1}" },
    ]"#;
    // Begins `adc` and `led`, calls, ends `adc`, and returns.
    let events: Vec<_> = [5, 7, 2, 6, 3]
        .into_iter()
        .zip(0..)
        .map(|(id, time)| Happened { time, stream: 0, after_loss: false, id, place: 0, key: 1 })
        .collect();
    let (found, counts) = matched_by(table, &[], &events, 64).unwrap();
    let slice = |name: &str, begin, flags| ("any".to_owned(), name.to_owned(), Some(begin), Some(3), flags);
    assert_eq!(found, [slice("adc", 0, vec![]), slice("led", 1, vec!["end_missing"])]);
    assert_eq!((counts.followed, counts.stray), (5, 0));
}

/// Lists of places, of which the events have one or another; and a text that is remembered, though it is empty.
#[test]
fn a_name_is_that_of_the_place_that_an_event_has() {
    let table = r#"
cpu = ["place", "packet_context.cpu_id"]
thread = ["none", "id"]
let = [{ on = "set", map = "last", key = "set", value = "{none|''}" }]
slice = [
  { begin = "lock", end = "unlock", track = "cpu {$cpu} {$cpu}", name = "lock" },
  { begin = "call", end = "return", track = "thread {$thread} {$thread}", name = "call" },
  { begin = "adc_start", end = "adc_stop", track = "set '{@last['set']|'never'}'", name = "adc" },
]"#;
    let happened = [
        (4, 0, 0),
        (0, 1, 9),
        (0, 2, 9),
        (1, 1, 9),
        (1, 2, 9),
        (2, 9, 1),
        (2, 9, 2),
        (3, 9, 1),
        (3, 9, 2),
        (5, 1, 1),
        (6, 2, 2),
    ];
    let events: Vec<_> = happened
        .into_iter()
        .zip(0..)
        .map(|((id, place, key), time)| Happened { time, stream: 0, after_loss: false, id, place, key })
        .collect();
    let (found, _) = matched_by(table, &[], &events, 64).unwrap();
    let slice = |track: &str, name: &str, begin| {
        (track.to_owned(), name.to_owned(), Some(begin), Some(begin + 2), vec![])
    };
    let adc = ("set ''".to_owned(), "adc".to_owned(), Some(9), Some(10), vec![]);
    assert_eq!(
        found,
        [
            slice("cpu 1 1", "lock", 1),
            slice("cpu 2 2", "lock", 2),
            adc,
            slice("thread 1 1", "call", 5),
            slice("thread 2 2", "call", 6),
        ]
    );
}

/// Rules and events one after the other: no name is that of the one before.
#[test]
fn each_rule_names_its_tracks_for_each_event() {
    let (both, lock) = (r#"["lock", "led_start"]"#, r#""lock""#);
    let cases: [(&[[&str; 2]], [&str; 2]); 5] = [
        (&[[both, "{$event}."]], ["led_start.", "lock."]),
        (&[[r#"["l*k", "l*d_start"]"#, "{$1}."]], ["e.", "oc."]),
        (&[[both, "{#names[place]}."]], ["one.", "two."]),
        (&[[lock, "a {$stream}"], [lock, "b {$stream}"]], ["a stream a", "b stream a"]),
        (&[[lock, "a {none|''} b"], [lock, "a {none|''} c"]], ["a  b", "a  c"]),
    ];
    let happened = [(0, 0, 1), (1, 7, 2)];
    let events =
        happened.map(|(time, id, place)| Happened { time, stream: 0, after_loss: false, id, place, key: 5 });
    for (rules, tracks) in cases {
        let rules =
            rules.iter().map(|[on, track]| format!(r#"{{ on = {on}, track = "{track}", value = "on" }},"#));
        let table = format!(
            "table.names = {{ 1 = \"one\", 2 = \"two\" }}\nstate = [\n{}\n]",
            rules.collect::<Vec<_>>().join("\n")
        );
        let (found, _) = matched_by(&table, &[], &events, 64).unwrap();
        assert!(found.iter().map(|found| &found.0).eq(&tracks), "{table}: {found:?}");
    }
}

/// A tracer goes on with a stream in another file: what began in the first one ends in the second.
#[test]
fn a_stream_has_the_name_of_its_first_file() {
    let header = format!(
        r#"{{"type": "trace-class", "packet-header-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        number("stream", "data-stream-id")
    );
    let cpu = r#"{"name": "cpu_id", "field-class": "u8"}"#;
    let period =
        [number("from", "default-clock-timestamp"), number("to", "packet-end-default-clock-timestamp")]
            .join(", ");
    let metadata =
        METADATA.replace(r#"{"type": "trace-class"}"#, &header).replace(cpu, &format!("{cpu}, {period}"));
    let packet = |records: &[(u8, u8)]| {
        let (first, last) = (records[0].1, records[records.len() - 1].1);
        let context = [0, (12 + 7 * records.len() as u8) * 8, 0, 0, 0, 0, first, last, 0, 0, 0, 0];
        let records = records.iter().flat_map(|&(id, time)| [id, time, 0, 0, 0, 1, 1]);
        context.into_iter().chain(records).collect::<Vec<_>>()
    };
    let table = r#"
let = [{ on = "set", map = "last", key = "set", value = "{id}" }]
slice = [{ begin = "call", end = "return", track = "calls of {$stream}", name = "call" }]"#;
    for has_steps in [false, true] {
        // What is remembered in between may be part of a name.
        let data = [packet(&[(2, 10)]), packet(&[(4, 20), (3, 20)])];
        let (found, _) = matched_in(&metadata, &data, has_steps, table, &[], 64).unwrap();
        let call = ("calls of stream a".to_owned(), "call".to_owned(), Some(10), Some(20), vec![]);
        assert_eq!(found, [call]);
    }
}

/// Begins that nothing ends lie below each end: it looks at 512 of them, not at all.
#[test]
fn work_is_linear_in_the_events() {
    let event = |time, id, key| Happened { time, stream: 0, after_loss: false, id, place: 0, key };
    let (begun, ended) = (4000, 1000);
    let events: Vec<_> = (0..begun)
        .map(|time| event(time, 0, 7))
        .chain((begun..begun + ended).map(|time| event(time, 1, 9)))
        .collect();
    let (found, counts) = matched(&events, 4096).unwrap();
    assert_eq!(found.len(), begun as usize);
    assert_eq!((counts.stray, counts.followed), (ended.into(), (begun + ended).into()));
    assert_eq!(counts.compared, u64::from(ended) * 512);
    // Slices that are nested as they should be cost one look each.
    let nested: Vec<_> = (0..2000).map(|time| event(time, u8::from(time >= 1000), 7)).collect();
    assert_eq!(matched(&nested, 4096).unwrap().1.compared, 1000);
}

#[test]
fn a_room_that_is_full_is_an_error() {
    let events: Vec<_> = (0..100)
        .map(|time| Happened { time, stream: 0, after_loss: false, id: 0, place: 0, key: 1 })
        .collect();
    let error = matched(&events, 64).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 64, needed: 65 });
    assert!(matched(&events[..64], 64).is_ok());
}

/// Every prefix of the built-in table, and every byte of a small one changed: an error has its place in the text.
#[test]
fn text_of_any_kind_is_a_table_or_a_located_error() {
    let read = |text: &str| {
        let (mut rules, mut ops, mut names) =
            (vec![RuleSlot::EMPTY; 64], vec![OpSlot::EMPTY; 1024], vec![""; 128]);
        let rooms = Rooms { rules: &mut &mut rules[..], ops: &mut &mut ops[..], names: &mut &mut names[..] };
        let mut table = Table::new(rooms);
        table.add(text).map(|()| table.len())
    };
    assert_eq!(read(Table::BUILT_IN), Ok(32));
    let mut refused = 0;
    for (end, _) in Table::BUILT_IN.char_indices().step_by(7) {
        if let Err(error) = read(&Table::BUILT_IN[..end]) {
            assert!(error.offset() <= end as u64, "{error}");
            refused += 1;
        }
    }
    for at in 0..TABLE.len() {
        for byte in [b'{', b'}', b'"', b'|', b'[', b'\n', b'x'] {
            let mut text = TABLE.as_bytes().to_vec();
            text[at] = byte;
            if let Err(error) = read(std::str::from_utf8(&text).unwrap()) {
                assert!(error.offset() <= text.len() as u64, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    for (text, offset) in [
        ("state = [ { on = \"a\" } ]", 21),
        ("slice = [ { begins = \"a\" } ]", 12),
        ("x = 1", 0),
        ("state = [ { value = \"{a\" } ]", 22),
        ("let = [ { map = \"a\\n\" } ]", 16),
        // Lists that lead back to themselves.
        ("cpu = [\"@of[$cpu]\"]", 8),
        ("cpu = [\"core\", \"$thread\"]", 16),
        ("thread = [\"$thread\"]", 11),
    ] {
        assert_eq!(read(text).unwrap_err().offset(), offset, "{text}");
    }
}
