//! The work of a GPU that was in flight, beside an oracle that keeps all markers in a list.

use super::common::random::Random;
use super::common::rdf_contents::{UMD, driver_events, event};
use traceglass::ErrorKind;
use traceglass::rdf::contents::Content;
use traceglass::rdf::contents::joins::{BufferMarkers, OpenMarker, buffer_states};

/// A marker of the test: its command buffer, its number, and its name if it begins.
#[derive(Clone, Debug)]
struct Told {
    buffer: u32,
    marker: u32,
    name: Option<String>,
}

impl Told {
    fn event(&self) -> Vec<u8> {
        let head = [self.buffer.to_le_bytes(), self.marker.to_le_bytes()].concat();
        match &self.name {
            Some(name) => {
                let len = u16::try_from(name.len()).unwrap().to_le_bytes();
                event(16, 1, &[&head, &len[..], name.as_bytes()].concat())
            }
            None => event(17, 1, &head),
        }
    }
}

fn counter(marker: u32) -> u32 {
    marker & 0x0fff_ffff
}

/// The names of the last begun and the last ended marker, and the markers that are open, with their names.
type Expected = (Option<String>, Option<Option<String>>, Vec<(u32, String)>);

fn expected(told: &[Told], buffer: u32, begin: u32, end: u32) -> Expected {
    let mine: Vec<&Told> = told.iter().filter(|one| one.buffer == buffer).collect();
    let begun = mine.iter().position(|one| one.name.is_some() && counter(one.marker) == counter(begin));
    let ended = mine.iter().position(|one| one.name.is_none() && counter(one.marker) == counter(end));
    let name_of_end = ended.map(|at| {
        let before = mine[..at].iter().find(|one| one.name.is_some() && counter(one.marker) == counter(end));
        before.and_then(|one| one.name.clone())
    });
    let mut open: Vec<(u32, String)> = Vec::new();
    for (at, one) in mine.iter().enumerate() {
        match &one.name {
            Some(name) if begun.is_some_and(|last| at <= last) => open.push((one.marker, name.clone())),
            None if ended.is_some_and(|last| at <= last) => {
                let place = open.iter().rposition(|(marker, _)| *marker == one.marker);
                if let Some(place) = place.filter(|place| open.len() - place <= 64) {
                    open.remove(place);
                }
            }
            _ => {}
        }
    }
    (begun.and_then(|at| mine[at].name.clone()), name_of_end, open)
}

fn text(name: &[u8]) -> String {
    String::from_utf8(name.to_vec()).unwrap()
}

#[test]
fn markers_in_flight_are_those_of_an_oracle() {
    let mut random = Random(0x5eed_0002);
    let (mut repeated, mut retried) = (0, 0);
    for round in 0..2_000_u64 {
        let mut told = Vec::new();
        for number in 0..random.next() % 40 {
            // Of few numbers, so that some come again, and from two sources.
            let marker = (random.next() % 8 + 1) as u32 | ((random.next().is_multiple_of(4)) as u32) << 28;
            let name = (random.next() % 5 < 3).then(|| format!("marker {number}"));
            told.push(Told { buffer: 5 + (random.next().is_multiple_of(4)) as u32, marker, name });
        }
        let (begin, end) = ((random.next() % 9 + 1) as u32, (random.next() % 9 + 1) as u32);
        let state = event(18, 0, &[5, begin, end].map(u32::to_le_bytes).concat());
        let list: Vec<u8> = told.iter().flat_map(Told::event).collect();
        let chunk = driver_events(UMD, 100, &[state, list.clone()].concat());
        let head = chunk.stored.len() - list.len();
        let Content::DriverEvents(events) =
            Content::parse("DDEvent".try_into().unwrap(), 1, &chunk.header, &chunk.stored).unwrap()
        else {
            panic!()
        };
        let state = buffer_states(events).next().unwrap();
        let expected = expected(&told, 5, begin, end);
        // From however little, what is said to be needed suffices.
        let capacity = (random.next() % 5) as usize;
        let mut storage = vec![OpenMarker::EMPTY; capacity];
        let markers = match BufferMarkers::find(events, state, &mut storage) {
            Ok(markers) => markers,
            Err(error) => {
                let ErrorKind::CapacityExceeded { capacity: had, needed } = error.kind() else { panic!() };
                assert_eq!(had, capacity as u64);
                assert!(needed > had && needed <= told.len() as u64);
                retried += 1;
                storage.resize(needed as usize, OpenMarker::EMPTY);
                BufferMarkers::find(events, state, &mut storage).unwrap()
            }
        };
        // Where each is told: one event after the other, after what comes first.
        let at = |is_it: &dyn Fn(&Told) -> bool| {
            let before = told.iter().position(|one| one.buffer == 5 && is_it(one))?;
            Some((head + told[..before].iter().map(|one| one.event().len()).sum::<usize>()) as u64)
        };
        let begins = at(&|one| one.name.is_some() && counter(one.marker) == begin);
        let ends = at(&|one| one.name.is_none() && counter(one.marker) == end);
        let offsets = (markers.begun().map(|seen| seen.offset()), markers.ended().map(|seen| seen.offset()));
        assert_eq!(offsets, (begins, ends), "round {round}");
        let begun = markers.begun().and_then(|seen| seen.name()).map(text);
        let ended = markers.ended().map(|seen| seen.name().map(text));
        let open = markers.open().iter().map(|one| (one.marker().number(), text(one.name()))).collect();
        assert_eq!((begun, ended, open), expected, "round {round}: begin {begin}, end {end}: {told:#?}");
        repeated += usize::from(
            told.iter()
                .filter(|one| one.buffer == 5 && one.name.is_some() && counter(one.marker) == begin)
                .count()
                > 1,
        );
    }
    assert!(repeated > 100 && retried > 100, "{repeated} {retried}");
}

/// The end of a marker that is further out than programs nest leaves it open.
#[test]
fn markers_are_looked_for_64_deep() {
    for depth in [64, 65] {
        let begins = (1..=depth).map(|marker| Told { buffer: 5, marker, name: Some("n".into()) });
        let list: Vec<u8> =
            begins.chain([Told { buffer: 5, marker: 1, name: None }]).flat_map(|one| one.event()).collect();
        let state = event(18, 0, &[5, depth, 1].map(u32::to_le_bytes).concat());
        let chunk = driver_events(UMD, 100, &[state, list].concat());
        let Content::DriverEvents(events) =
            Content::parse("DDEvent".try_into().unwrap(), 1, &chunk.header, &chunk.stored).unwrap()
        else {
            panic!()
        };
        let state = buffer_states(events).next().unwrap();
        let mut storage = [OpenMarker::EMPTY; 65];
        let open = BufferMarkers::find(events, state, &mut storage).unwrap().open().len();
        assert_eq!(open, if depth == 64 { 63 } else { 65 });
    }
}

#[test]
fn states_of_buffers_are_told_apart() {
    let states = [[1, 0, 0], [2, 0xffff_aaaa, 0], [3, 7, 0xffff_bbbb], [4, 7, 6]];
    let list: Vec<u8> =
        states.iter().flat_map(|state| event(18, 0, &state.map(u32::to_le_bytes).concat())).collect();
    let chunk = driver_events(UMD, 100, &list);
    let content = Content::parse("DDEvent".try_into().unwrap(), 1, &chunk.header, &chunk.stored).unwrap();
    let Content::DriverEvents(events) = content else { panic!() };
    let told: Vec<_> = buffer_states(events)
        .map(|state| {
            (state.is_never_seen(), state.is_not_started(), state.is_completed(), state.is_in_flight())
        })
        .collect();
    let expected = [
        (true, false, false, false),
        (false, true, false, false),
        (false, false, true, false),
        (false, false, false, true),
    ];
    assert_eq!(told, expected);
}
