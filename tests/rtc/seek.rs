//! RTC's grid: units, streams and times found without reading what lies before, against a walk over everything.

use crate::common::rtc::{Options, sample};
use traceglass::ErrorKind;
use traceglass::rtc::{self, Clocks, Grid, Time, Walk};

/// A frame that begins a record: where, of which stream, in which minor unit, at what time.
struct Begun {
    offset: u64,
    id: u64,
    minor: u64,
    time: Option<Time>,
}

/// The minor unit, counted over the file, in which `offset` lies: its index is at X + n · minor, X behind the Marker.
fn minor_of(offset: u64) -> u64 {
    offset.saturating_sub(1025) / 2048
}

fn begun(data: &[u8]) -> Vec<Begun> {
    let mut walk = Walk::<16>::new(data);
    let mut clocks = Clocks::<16>::new();
    let mut begun = Vec::new();
    while let Some(frame) = walk.next_frame() {
        let frame = frame.expect("an undamaged file");
        clocks.observe(walk.streams(), walk.byte_order(), &frame);
        if frame.is_user() && !frame.continues() {
            let offset = frame.offset();
            begun.push(Begun { offset, id: frame.id(), minor: minor_of(offset), time: clocks.time(&frame) });
        }
    }
    begun
}

/// The first frame of each minor unit in which the stream began to be written: what the indices lead to.
fn targets(begun: &[Begun], id: u64) -> Vec<(u64, u64)> {
    let mut targets: Vec<(u64, u64)> = Vec::new();
    for frame in begun.iter().filter(|frame| frame.id == id) {
        if targets.last().is_none_or(|last| last.1 != frame.minor) {
            targets.push((frame.offset, frame.minor));
        }
    }
    targets
}

#[test]
fn units_are_found_by_number_and_verified() {
    let mut data = sample(Options::default(), 60_000);
    let grid = Grid::new(&data).unwrap();
    assert_eq!((grid.len(), grid.is_empty()), (8, false));
    for number in 0..8 {
        let unit = grid.unit(number).unwrap();
        assert_eq!((unit.number(), unit.offset()), (number, number * 8192));
        assert_eq!(grid.unit_at(number * 8192 + 8191).unwrap().number(), number);
    }
    assert!(grid.unit(8).is_err() && grid.unit(u64::MAX).is_err());

    // Cut at the front, it begins with the first unit that is whole, and still knows the numbers.
    let cut = &data[100..];
    let grid = Grid::new(cut).unwrap();
    assert_eq!((grid.first().number(), grid.first().offset()), (1, 8092));
    assert_eq!(grid.unit(5).unwrap().offset(), 5 * 8192 - 100);
    assert_eq!(grid.unit(0).unwrap_err().kind(), ErrorKind::Missing);

    // A unit that is not where it should be is an error, not another unit.
    data.drain(20_000..20_001);
    let grid = Grid::new(&data).unwrap();
    assert!(grid.unit(2).is_ok() && grid.unit(3).is_err());
    let error = Grid::new(&[0; 5000]).unwrap_err();
    assert_eq!((error.element(), error.kind()), (rtc::UNIT, ErrorKind::Missing));
}

/// A unit whose Marker lies before the input, as the walk over a cut file gives it, still has a grid.
#[test]
fn the_grid_of_a_unit_that_is_cut() {
    let data = sample(Options::default(), 60_000);
    let cut = &data[100..];
    let mut walk = Walk::<16>::new(cut);
    assert!(walk.next_frame().unwrap().is_err() && walk.resync().is_some() && walk.next_frame().is_some());
    let (cut, whole) = (Grid::from_unit(cut, *walk.unit().unwrap()), Grid::new(&data).unwrap());
    assert_eq!((cut.first().position(), cut.len()), (-100, 8));
    assert_eq!([0, 1, 5].map(|number| cut.unit(number).unwrap().position()), [-100, 8092, 5 * 8192 - 100]);
    assert_eq!([0, 8091, 8092].map(|offset| cut.unit_at(offset).unwrap().number()), [0, 0, 1]);
    for offset in (1100..60_000).step_by(97) {
        let found = cut.before(11, offset - 100).unwrap().map(|at| at + 100);
        assert_eq!(found, whole.before(11, offset).unwrap(), "{offset}");
    }
    let first = cut.walk::<16>(1000).unwrap().next_frame().unwrap().unwrap();
    assert_eq!((first.id(), first.offset()), (rtc::id::INDEX, 1025 - 100));
}

#[test]
fn streams_are_followed_through_the_indices() {
    let data = sample(Options::default(), 60_000);
    let begun = begun(&data);
    let grid = Grid::new(&data).unwrap();
    let last_index = minor_of(data.len() as u64 - 1);
    for id in 9..=13 {
        let targets = targets(&begun, id);
        assert!(targets.len() > 5);
        for offset in (1025..data.len() as u64).step_by(97) {
            let here = minor_of(offset);
            // The index of this minor unit knows the ones before it.
            let before = targets.iter().rev().find(|target| target.1 < here).map(|target| target.0);
            assert_eq!(grid.before(id, offset), Ok(before), "stream {id} before {offset:#x}");
            let after = targets.iter().find(|target| target.0 > offset && target.1 < last_index);
            assert_eq!(
                grid.after(id, offset),
                Ok(after.map(|target| target.0)),
                "stream {id} after {offset:#x}"
            );
        }
    }
    assert_eq!(grid.before(99, 30_000), Ok(None));
    // Nothing is known before the first index; what follows it can be found from there.
    assert_eq!(grid.before(9, 1024).unwrap_err().kind(), ErrorKind::Missing);
    assert_eq!(grid.after(9, 0), grid.after(9, 1025));
    let cut = Grid::new(&data[100..]).unwrap();
    assert_eq!(cut.before(9, 5000).unwrap_err().kind(), ErrorKind::Missing);
    assert!(cut.after(9, 5000).unwrap().is_some_and(|found| found > 5000));
    assert_eq!(grid.after(99, 30_000), Ok(None));
}

#[test]
fn a_walk_begins_at_any_minor_unit() {
    let data = sample(Options::default(), 60_000);
    let all = begun(&data);
    let grid = Grid::new(&data).unwrap();
    for offset in (1025..data.len() as u64).step_by(1999) {
        let mut walk = grid.walk::<16>(offset).unwrap();
        let first = walk.offset();
        assert!(first <= offset && offset - first < 2048 + 1025 + 2048, "{first:#x} for {offset:#x}");
        let mut found = Vec::new();
        while let Some(frame) = walk.next_frame() {
            let frame = frame.unwrap();
            if frame.is_user() {
                found.push((frame.offset(), frame.id()));
            }
        }
        // It knows the streams, and reads to the end what a walk over everything reads.
        let expected: Vec<_> =
            all.iter().filter(|frame| frame.offset >= first).map(|frame| (frame.offset, frame.id)).collect();
        assert!(expected.iter().all(|frame| found.contains(frame)), "from {first:#x}");
    }
}

#[test]
fn a_time_is_found_by_binary_search() {
    let data = sample(Options::default(), 200_000);
    let begun = begun(&data);
    let grid = Grid::new(&data).unwrap();
    let mut walk = Walk::<16>::new(&data);
    while walk.streams().is_empty() {
        walk.next_frame().unwrap().unwrap();
    }
    let clock = walk.streams().by_name("clk delta").unwrap().id();
    let stamps: Vec<_> = begun.iter().filter(|frame| frame.id == clock && frame.time.is_some()).collect();
    assert!(stamps.len() > 500);
    let mut skipped = 0;
    for stamp in stamps.iter().step_by(7) {
        let time = stamp.time.unwrap();
        let found = grid.seek(walk.streams(), clock, time).unwrap();
        let first = stamps.iter().find(|other| other.time.unwrap() >= time).unwrap();
        assert!(found <= first.offset, "{found:#x} is behind {:#x}, where it is first {time}", first.offset);
        // Not far before it either: the clock is in every minor unit of this file.
        assert!(first.offset - found <= 5 * 2048, "{found:#x} is far before {:#x}", first.offset);
        skipped += usize::from(found > 0);
    }
    assert!(skipped > 50);
    let missing = grid.seek(walk.streams(), 12, Time::ZERO).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Missing);
}
