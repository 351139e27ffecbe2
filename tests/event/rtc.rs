//! RTC: records are events on the track of their stream, with the time of its clock; what is lost is reported.

use crate::common::rtc::{Crc, Options, Writer, sample, stamps_that_step_back};
use crate::common::{mutations, prefixes};
use crate::pulled::{Field, Value, fields};
use traceglass::event::rtc::Timeline;
use traceglass::event::{EventKind, Item, Number, Source, TrackKind, Window};
use traceglass::rtc::recover::Records;
use traceglass::rtc::{NameSlot, Step, StreamSlot};
use traceglass::{ErrorKind, Result};

fn tree(fields: Result<Vec<Field>>) -> Result<String> {
    let mut text = String::new();
    for field in fields? {
        if let Some(name) = field.name() {
            text.push_str(&format!("{name}="));
        }
        text.push_str(&match field.value() {
            Value::Struct => "{ ".to_owned(),
            Value::List => "[ ".to_owned(),
            Value::End => "^ ".to_owned(),
            Value::Unsigned(value) => format!("{value} "),
            Value::Signed(value) => format!("{value:+} "),
            Value::Float(value) => format!("{value:?} "),
            Value::Text(label) => format!("{label} "),
            Value::Bool(value) => format!("{value} "),
            Value::Bytes(bytes) => format!("{bytes:02x?} "),
        });
    }
    Ok(text.trim_end().to_owned())
}

/// An event as a line, and where and when it is.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    offset: u64,
    end: u64,
    ns: Option<i128>,
    line: String,
}

#[derive(Default, Debug)]
struct All {
    tracks: Vec<String>,
    events: Vec<Seen>,
    gaps: Vec<(u64, u64)>,
}

fn read(data: &[u8], window: Window) -> Result<All> {
    let mut buffer = vec![0; data.len() * 2];
    let mut timeline = Timeline::new(0, data, [StreamSlot::EMPTY; 16], [NameSlot::EMPTY; 16], &mut buffer);
    timeline.set_window(window);
    let mut all = All::default();
    while let Some(item) = timeline.next_item()? {
        match item {
            Item::Track(track) => {
                let parent = track.parent().map(|parent| parent.number());
                let clock = track.clock();
                let absolute = if clock.is_absolute() { ", absolute" } else { "" };
                let kind = match track.kind() {
                    TrackKind::Counter { unit: Some(unit) } => format!("counter of {unit}"),
                    kind => kind.name().to_owned(),
                };
                let number = track.id().number();
                all.tracks.push(format!(
                    "{number} < {parent:?}: {kind} {}{absolute}: {}",
                    track.label(),
                    tree(fields(&track))?
                ));
            }
            Item::Event(event) => {
                let what = match event.kind() {
                    EventKind::Gap(gap) => {
                        all.gaps.push((gap.offset(), gap.len()));
                        "gap".to_owned()
                    }
                    EventKind::Counter(Number::Integer(value)) => format!("counter {value}"),
                    EventKind::Counter(Number::Float(value)) => format!("counter {value:?}"),
                    kind => kind.name().to_owned(),
                };
                let told = tree(fields(&event)).unwrap_or_else(|error| format!("({})", error.kind().code()));
                let line = format!("{} {} {what}: {told}", event.track().number(), event.name());
                let (offset, end) = (event.offset(), event.end_offset());
                all.events.push(Seen { offset, end, ns: event.time().map(|time| time.ns()), line });
            }
            _ => unreachable!(),
        }
    }
    assert!(timeline.next_item()?.is_none());
    Ok(all)
}

fn timespec(seconds: u64, nanoseconds: u32) -> Vec<u8> {
    [&seconds.to_le_bytes()[..], &nanoseconds.to_le_bytes()].concat()
}

/// A stream of each kind.
fn file(out: Vec<u8>) -> Vec<u8> {
    let mut writer = Writer::append_to(out, Options::sizes(8192, 4096));
    let clk = writer.stream(r#""name":"clk","clock":true,"format":"timespec","length":12"#);
    let cycles = writer.stream(r#""name":"cycles","clock":true,"format":"uint64le","gain":1e-10"#);
    let raw = writer.stream(r#""name":"raw","clock":"clk","format":"int16le""#);
    let volts = writer.stream(r#""name":"volts","clock":"cycles","format":"uint8","gain":0.5,"unit":"V""#);
    let text = writer.stream(r#""name":"t\u0065xt","clock":"clk","format":"utf-8""#);
    let note = writer.stream(r#""name":"note","clock":"clk","stream":"raw","format":"annotate/utf-8""#);
    let blob = writer.stream(r#""format":"png""#);
    writer.write(raw, &[1, 0]); // no clock yet
    writer.write(clk, &timespec(10, 999_999_999));
    writer.write(raw, &[0xff, 0xff, 5, 0]);
    writer.write(cycles, &17_u64.to_le_bytes());
    writer.write(volts, &[3]);
    writer.write(text, b"hello");
    writer.write(note, &[&timespec(7, 5)[..], b"look"].concat());
    writer.write(blob, &[1, 2]);
    writer.write(raw, &[1, 2, 3]); // half a sample
    writer.write(text, &[b'x'; 2000]); // in two pieces
    writer.stop()
}

#[test]
fn records_are_events_with_their_values() {
    let data = file(Vec::new());
    let all = read(&data, Window::ALL).unwrap();
    assert_eq!(
        all.tracks,
        [
            "0 < None: recording RTC trace: ",
            "1 < Some(0): recording session 0: ",
            "2 < Some(1): stream clk, absolute: id=9 format=timespec length=12 clock=true",
            "3 < Some(1): stream cycles: id=10 format=uint64le clock=true gain=1e-10",
            "4 < Some(1): counter raw, absolute: id=11 format=int16le clock=clk",
            "5 < Some(1): counter of V volts: id=12 format=uint8 clock=cycles gain=0.5",
            "6 < Some(1): stream text, absolute: id=13 format=utf-8 clock=clk",
            "7 < Some(1): stream note, absolute: id=14 format=annotate/utf-8 clock=clk stream=raw",
            "8 < Some(1): stream stream 15: id=15 format=png",
        ]
    );
    let found: Vec<_> = all.events.iter().map(|event| (event.ns, event.line.as_str())).collect();
    let long = format!("6 text instant: {}", "x".repeat(2000));
    assert_eq!(
        found,
        [
            (None, "4 raw counter 1: +1"),
            (Some(10_999_999_999), "2 clk instant: 10.999999999"),
            (Some(10_999_999_999), "4 raw counter 5: [ -1 +5 ^"),
            // 17 of 10⁻¹⁰ seconds, rounded down.
            (Some(1), "3 cycles instant: 1.7e-9"),
            (Some(1), "5 volts counter 1.5: 1.5"),
            (Some(10_999_999_999), "6 text instant: hello"),
            (Some(7_000_000_005), "7 note instant: look"),
            (None, "8 stream 15 instant: [01, 02]"),
            (Some(10_999_999_999), "4 raw instant: value_hex=[01, 02, 03]"),
            (Some(10_999_999_999), long.as_str()),
        ]
    );
    for event in &all.events {
        assert!(event.end > event.offset && event.end <= data.len() as u64);
    }
}

#[test]
fn sessions_are_told_apart() {
    let data = file(file(Vec::new()));
    let all = read(&data, Window::ALL).unwrap();
    let sessions: Vec<_> = all.tracks.iter().filter(|track| track.contains(": recording session")).collect();
    assert_eq!(sessions, ["1 < Some(0): recording session 0: ", "9 < Some(0): recording session 1: "]);
    assert_eq!(all.tracks.len(), 1 + 2 * 8);
    let of =
        |track| all.events.iter().filter(|event| event.line.starts_with(&format!("{track} raw"))).count();
    // The same stream of the other session is another track; no clock goes on.
    assert_eq!((of(4), of(12)), (3, 3));
    let first: Vec<_> = all.events.iter().filter(|event| event.line.contains("raw counter 1")).collect();
    assert!(first.len() == 2 && first.iter().all(|event| event.ns.is_none()));
}

/// The offset and the time of each record.
type Found = Vec<(u64, Option<i128>)>;

/// The reader's own records, and its gaps.
fn records(data: &[u8]) -> (Found, Vec<(u64, u64)>) {
    let mut buffer = vec![0; data.len() * 2];
    let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
    let (mut found, mut gaps) = (Vec::new(), Vec::new());
    loop {
        match records.next_step() {
            Step::Record(record) => {
                let time = record.time().map(|time| time.attoseconds().div_euclid(1_000_000_000));
                found.push((record.offset(), time));
            }
            Step::Gap(gap) => gaps.push((gap.offset(), gap.len())),
            _ => return (found, gaps),
        }
    }
}

#[test]
fn each_record_is_an_event_and_each_gap_is_one() {
    for options in [
        Options::default(),
        Options::sizes(4096, 2048),
        Options { crc: Crc::None, ..Options::sizes(8192, 8192) },
    ] {
        let mut data = sample(options, 60_000);
        for damage in [None, Some(20_000), Some(41_000)] {
            if let Some(at) = damage {
                data[at..at + 50].fill(0xee);
            }
            let all = read(&data, Window::ALL).unwrap();
            let (expected, gaps) = records(&data);
            let (lost, found): (Vec<_>, Vec<_>) = all.events.iter().partition(|event| {
                event.line.contains(" gap: ") && gaps.contains(&(event.offset, event.end - event.offset))
            });
            let found: Vec<_> = found.iter().map(|event| (event.offset, event.ns)).collect();
            assert_eq!(found, expected);
            assert!(expected.len() > 500 && lost.len() == gaps.len());
            assert_eq!(damage.is_some(), !gaps.is_empty());
        }
    }
}

#[test]
fn a_window_has_what_is_in_it_however_it_is_reached() {
    for options in [Options::default(), Options::sizes(4096, 2048)] {
        let data = sample(options, 200_000);
        let all = read(&data, Window::ALL).unwrap();
        let timed: Vec<_> = all.events.iter().filter(|event| event.ns.is_some()).cloned().collect();
        let times: Vec<_> = timed.iter().filter_map(|event| event.ns).collect();
        let (first, last) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        for (from, to) in [(0, 10), (30, 31), (70, 100), (99, 101), (-5, 0), (50, 50)] {
            let at = |percent: i128| first + (last - first) * percent / 100;
            let window = Window::new(Some(at(from)), Some(at(to)));
            let expected: Vec<_> = timed
                .iter()
                .filter(|event| event.ns.is_some_and(|ns| at(from) <= ns && ns < at(to)))
                .collect();
            let found = read(&data, window).unwrap();
            let found: Vec<_> = found.events.iter().filter(|event| event.ns.is_some()).collect();
            assert_eq!(found, expected, "{from} % to {to} %");
        }
        let from = Window::new(Some(last), None);
        assert!(read(&data, from).unwrap().events.len() < all.events.len() / 4, "sought, not read");
    }
}

/// As where several processors write one clock.
#[test]
fn a_clock_that_steps_back_a_little_loses_nothing_of_a_window() {
    let data = stamps_that_step_back(97, 2);
    let all = read(&data, Window::ALL).unwrap();
    let times: Vec<_> = all.events.iter().filter_map(|event| event.ns).collect();
    for (from, to) in (0..5_900).step_by(31).map(|at| (times[at], times[at + 97])) {
        let expected = all.events.iter().filter(|event| event.ns.is_some_and(|ns| from <= ns && ns < to));
        let found = read(&data, Window::new(Some(from), Some(to))).unwrap();
        assert!(found.events.iter().eq(expected), "{from} to {to}");
    }
}

#[test]
fn a_record_that_is_too_long_tells_what_it_takes() {
    let data = file(Vec::new());
    let mut timeline = Timeline::new(0, &data, [StreamSlot::EMPTY; 16], [NameSlot::EMPTY; 16], &mut []);
    let (mut short, mut long) = (0, 0);
    while let Some(item) = timeline.next_item().unwrap() {
        let Item::Event(event) = item else { continue };
        match fields(&event) {
            Ok(_) => short += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 0, needed: 2 * 16 + 2000 });
                long += 1;
            }
        }
    }
    assert_eq!((short, long), (9, 1));
}

#[test]
fn streams_that_do_not_fit_are_an_error() {
    let data = file(Vec::new());
    for few in [0, 1] {
        let (mut slots, mut names) = ([StreamSlot::EMPTY; 64], [NameSlot::EMPTY; 64]);
        let slots = &mut slots[..if few == 0 { 3 } else { 64 }];
        let names = &mut names[..if few == 1 { 3 } else { 64 }];
        let mut timeline = Timeline::new(0, &data, slots, names, &mut []);
        let error = loop {
            match timeline.next_item() {
                Ok(item) => assert!(item.is_some(), "no error"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::CapacityExceeded { capacity: 3, .. }), "{error}");
        assert!(timeline.next_item().unwrap().is_none());
    }
}

#[test]
fn any_damage_ends() {
    let data = file(Vec::new());
    let whole = read(&data, Window::ALL).unwrap().events.len();
    for prefix in prefixes(&data).step_by(97) {
        assert!(read(prefix, Window::ALL).unwrap().events.len() <= whole + 2);
    }
    let small = &data[..3000];
    mutations(small, |place, mutant| {
        if place % 61 == 0 {
            read(mutant, Window::new(Some(2), Some(9_000_000_000))).unwrap();
        }
    });
}
