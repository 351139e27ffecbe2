//! Every event and every track of each format's sample keeps to the rules of listeners.

use crate::common::random::Random;
use crate::common::told::Checked;
use std::path::Path;
use traceglass::event::{EventKind, Item, Source, Trace, Window};

fn read(name: &str) -> Vec<Vec<u8>> {
    fn add(path: &Path, all: &mut Vec<Vec<u8>>) {
        if path.is_dir() {
            let mut paths: Vec<_> = path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
            // The metadata of CTF stands before its streams.
            paths.sort_by_key(|path| (!path.ends_with("metadata"), path.clone()));
            return paths.iter().for_each(|path| add(path, all));
        }
        all.push(std::fs::read(path).unwrap());
    }
    let mut all = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(name), &mut all);
    all
}

/// Hands out the items of a trace that a window has.
pub fn each(inputs: &[&[u8]], window: Window, item: &mut dyn FnMut(&Item<'_>)) -> traceglass::Result<()> {
    Trace::read(inputs, |trace| {
        trace.set_window(window);
        while let Some(next) = trace.next_item()? {
            item(&next);
        }
        Ok(())
    })
}

/// All that the events and tracks of a trace tell.
fn told(inputs: &[&[u8]]) -> Vec<String> {
    let mut checked = Checked::default();
    let mut all = Vec::new();
    each(inputs, Window::ALL, &mut |item| {
        let line = match item {
            Item::Track(track) => checked.tell(track),
            Item::Event(event) => checked.tell(event),
            _ => Ok(None),
        };
        all.extend(line.unwrap_or_else(|error| Some(format!("({error})"))));
    })
    .unwrap();
    all
}

#[test]
fn samples_keep_to_the_rules() {
    for (name, least) in [
        ("sample.rfr", 20),
        ("stream.rfr", 5),
        ("sample.ctf", 7),
        ("sample.ctf1", 7),
        ("sample.rtc", 100),
        ("sample.rgp", 4),
        ("sample.rdf", 0),
    ] {
        let inputs = read(name);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let lines = told(&inputs);
        assert!(lines.len() >= least, "{name}: {}", lines.len());
        // The same again, from the beginning.
        assert_eq!(told(&inputs), lines, "{name}");
    }
}

/// The events that are records, by their places and times.
fn places(inputs: &[&[u8]], window: Window) -> Vec<(usize, u64, Option<i128>)> {
    let (mut places, mut tracks) = (Vec::new(), std::collections::HashSet::new());
    each(inputs, window, &mut |item| match item {
        Item::Track(track) => drop(tracks.insert(track.id())),
        Item::Event(event) => {
            assert!(tracks.contains(&event.track()), "an event before its track");
            // A loss happened at about that time.
            let is_lost = matches!(event.kind(), EventKind::Gap(_) | EventKind::Discarded { .. });
            if !event.is_inferred() && !is_lost {
                places.push((event.input(), event.offset(), event.time().map(|time| time.ns())));
            }
        }
        _ => {}
    })
    .unwrap();
    places.sort_unstable();
    places
}

/// A window has what reading everything and looking at each time leaves, however it is reached.
#[test]
fn windows_have_what_a_slow_filter_leaves() {
    let mut random = Random(0x5eed_0042);
    for name in ["sample.rfr", "stream.rfr", "sample.ctf", "sample.ctf1", "sample.rtc", "sample.rgp"] {
        let inputs = read(name);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let all = places(&inputs, Window::ALL);
        let mut times: Vec<i128> = all.iter().filter_map(|(_, _, time)| *time).collect();
        times.sort_unstable();
        times.dedup();
        assert!(times.len() > 2, "{name}");
        let (mut some, mut none) = (0, 0);
        for _ in 0..60 {
            let mut edge = || {
                let at = usize::try_from(random.next() % times.len() as u64).unwrap();
                // At an event, just before it, just after it.
                times[at] + i128::from(random.next() % 3) - 1
            };
            let (one, other) = (edge(), edge());
            let (from, to) = (one.min(other), one.max(other));
            let inside = |time: Option<i128>| time.is_some_and(|time| (from..to).contains(&time));
            let expected: Vec<_> = all.iter().filter(|(_, _, time)| inside(*time)).collect();
            let found = places(&inputs, Window::new(Some(from), Some(to)));
            let found: Vec<_> = found.iter().filter(|(_, _, time)| time.is_some()).collect();
            assert_eq!(found, expected, "{name}: {from}..{to}");
            some += usize::from(!expected.is_empty() && expected.len() < times.len());
            none += usize::from(expected.is_empty());
        }
        assert!(some > 20 && none < 40, "{name}: {some} {none}");
    }
}
