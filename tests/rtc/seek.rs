//! RTC's grid: units, streams and times found without reading what lies before, against a walk over everything.

use crate::common::rtc::{Options, Writer, int, sample, stamps_that_step_back};
use traceglass::ErrorKind;
use traceglass::rtc::{self, Frames, Grid, Records, StreamSlot, Time, recover};

/// A frame that begins a record: where, of which stream, in which minor unit, at what time.
struct Begun {
    offset: u64,
    id: u64,
    minor: u64,
    time: Option<Time>,
}

/// The minor unit, counted over the file, in which `offset` lies: its index is at X + n · minor, X after the Marker.
fn minor_of(offset: u64) -> u64 {
    offset.saturating_sub(1025) / 2048
}

/// A walk that has read the first Meta.
fn walk_with_streams(data: &[u8]) -> Frames<'_, [StreamSlot<'_>; 16]> {
    let mut walk = Frames::new(data, [StreamSlot::EMPTY; 16]);
    while walk.streams().is_empty() {
        walk.next().unwrap().unwrap();
    }
    walk
}

fn begun(data: &[u8]) -> Vec<Begun> {
    let mut buffer = [0; 1 << 14];
    let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
    let mut begun = Vec::new();
    while let Some(record) = records.next_record().expect("an undamaged file") {
        let offset = record.offset();
        begun.push(Begun { offset, id: record.stream().id(), minor: minor_of(offset), time: record.time() });
    }
    begun.sort_by_key(|record| record.offset);
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
    assert_eq!((error.element(), error.kind()), (rtc::element::UNIT, ErrorKind::Missing));
}

/// A unit whose Marker lies before the input, as the walk over a cut file gives it, still has a grid.
#[test]
fn the_grid_of_a_unit_that_is_cut() {
    let data = sample(Options::default(), 60_000);
    let cut = &data[100..];
    let mut walk = recover::Frames::new(cut, [StreamSlot::EMPTY; 16]);
    assert!(walk.next().unwrap().is_err() && walk.recover().is_some() && walk.next().is_some());
    let (cut, whole) = (Grid::from_unit(cut, *walk.unit().unwrap()), Grid::new(&data).unwrap());
    assert_eq!((cut.first().position(), cut.len()), (-100, 8));
    assert_eq!([0, 1, 5].map(|number| cut.unit(number).unwrap().position()), [-100, 8092, 5 * 8192 - 100]);
    assert_eq!([0, 8091, 8092].map(|offset| cut.unit_at(offset).unwrap().number()), [0, 0, 1]);
    for offset in (1100..60_000).step_by(97) {
        let found = cut.before(11, offset - 100).unwrap().map(|at| at + 100);
        assert_eq!(found, whole.before(11, offset).unwrap(), "{offset}");
    }
    let first = cut.frames(1000, [StreamSlot::EMPTY; 16]).unwrap().next().unwrap().unwrap();
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
    for offset in (0..data.len() as u64).step_by(999).chain([1, 1025, 8192, 8200]) {
        let walk = grid.frames(offset, [StreamSlot::EMPTY; 16]).unwrap();
        let first = walk.offset();
        assert!(first <= offset && offset - first < 2048 + 1025 + 2048, "{first:#x} for {offset:#x}");
        let mut found = Vec::new();
        for frame in walk {
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
    let walk = walk_with_streams(&data);
    let clock = walk.streams().by_name("clk delta").unwrap().id();
    let stamps: Vec<_> = begun.iter().filter(|frame| frame.id == clock && frame.time.is_some()).collect();
    assert!(stamps.len() > 500);
    let mut skipped = 0;
    for stamp in stamps.iter().step_by(7) {
        let time = stamp.time.unwrap();
        let found = grid.seek_time(clock, time, &mut [StreamSlot::EMPTY; 16]).unwrap();
        let first = stamps.iter().find(|other| other.time.unwrap() >= time).unwrap();
        assert!(found <= first.offset, "{found:#x} is after {:#x}, where it is first {time}", first.offset);
        // Not far before it either: the clock is in every minor unit of this file.
        assert!(first.offset - found <= 3 * 2048, "{found:#x} is far before {:#x}", first.offset);
        skipped += usize::from(found > 0);
    }
    assert!(skipped > 50);
    let missing = grid.seek_time(12, Time::ZERO, &mut [StreamSlot::EMPTY; 16]).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Missing);
}

/// The records of a clock: where each begins, and what time it then is.
fn stamps(data: &[u8], id: u64) -> Vec<(u64, Time)> {
    let mut buffer = [0; 1 << 14];
    let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
    let mut stamps = Vec::new();
    while let Ok(Some(record)) = records.next_record() {
        if let (true, Some(time)) = (record.stream().id() == id, record.time()) {
            stamps.push((record.offset(), time));
        }
    }
    stamps
}

/// Every stamp of the clock is found by its time: not after it, and not far before it.
fn every_stamp_is_found(data: &[u8], id: u64) {
    let grid = Grid::new(data).unwrap();
    let stamps = stamps(data, id);
    assert!(stamps.is_sorted_by_key(|stamp| stamp.1) && stamps.len() > 20);
    for &(_, time) in stamps.iter().step_by(3) {
        let first = stamps.iter().find(|stamp| stamp.1 >= time).unwrap().0;
        let found = grid.seek_time(id, time, &mut [StreamSlot::EMPTY; 16]).unwrap();
        assert!(found <= first, "{found:#x} is after {first:#x}, where it is first {time}");
        let minor = minor_of(first);
        let before = stamps.iter().rev().map(|stamp| minor_of(stamp.0)).find(|&other| other < minor);
        let nearest = before.unwrap_or(0);
        assert!(minor_of(found + 1025) + 1 >= nearest, "{found:#x} is far before {first:#x} of {time}");
    }
}

fn timespec(seconds: u64, nanoseconds: u32) -> Vec<u8> {
    [&seconds.to_le_bytes()[..], &nanoseconds.to_le_bytes()].concat()
}

#[test]
fn stamps_in_pieces_are_found() {
    let mut writer = Writer::new(Options::default());
    let pieces = writer.stream(r#""name":"pieces","clock":true,"format":"timespec""#);
    let fixed = writer.stream(r#""name":"fixed","clock":true,"format":"timespec","length":12"#);
    let delta =
        writer.stream(r#""name":"delta","clock":true,"format":"uint32le","gain":1e-4,"delta":"pieces""#);
    let blob = writer.stream(r#""name":"blob""#);
    for n in 0..3000_u32 {
        let stamp = timespec(1000 + u64::from(n / 10), n % 10 * 100_000_000);
        // Long since, now and then.
        if n % 1000 < 700 {
            writer.write_more(pieces, &stamp[..8], true);
            writer.write(blob, &[7; 20][..n as usize % 20]);
            writer.write(pieces, &stamp[8..]);
        }
        writer.write(blob, &[8; 40]);
        writer.write(delta, &((n % 1000).saturating_sub(699) * 1000).to_le_bytes());
        // The only one of a minor unit is cut by its end, often.
        if n % 13 == 0 {
            writer.write(fixed, &stamp);
        }
    }
    let data = writer.stop();
    for id in [pieces, fixed, delta] {
        every_stamp_is_found(&data, id);
    }
}

/// The only stamp of each minor unit has no length of its own, and is cut by the boundary.
#[test]
fn stamps_that_boundaries_cut_are_found() {
    let mut writer = Writer::new(Options::sizes(1 << 20, 2048));
    let fixed = writer.stream(r#""name":"fixed","clock":true,"format":"timespec","length":12"#);
    let blob = writer.stream(r#""name":"blob""#);
    writer.begin();
    for n in 0..60 {
        let place = 1025 + 2048 * (n as usize + 1) - 4;
        while place - writer.out.len() > 200 {
            writer.write(blob, &[7; 60]);
        }
        let rest = place - writer.out.len();
        writer.write(blob, &vec![8; rest / 2 - 2]);
        writer.write(blob, &vec![9; rest - rest / 2 - 2]);
        assert_eq!(writer.out.len(), place);
        // Three bytes of it, so that what follows would make another number.
        writer.write(fixed, &timespec(0x0100_0000 + n, 0));
    }
    every_stamp_is_found(&writer.stop(), fixed);
}

#[test]
fn a_base_that_was_stamped_long_ago_is_read_to_its_last_stamp() {
    let mut writer = Writer::new(Options::default());
    let base = writer.stream(r#""name":"base","clock":true,"format":"timespec""#);
    let delta = writer.stream(r#""name":"delta","clock":true,"format":"uleb128","gain":1e-3,"delta":"base""#);
    let deeper =
        writer.stream(r#""name":"deeper","clock":true,"format":"uleb128","gain":1e-6,"delta":"delta""#);
    let blob = writer.stream(r#""name":"blob""#);
    let leb128 = |writer: &mut Writer, id, value| {
        let mut stamp = Vec::new();
        int(&mut stamp, value);
        writer.write(id, &stamp);
    };
    for second in 0..400 {
        // Many at once, and then none in many minor units.
        if second % 100 < 50 {
            writer.write(base, &timespec(5000 + second, 0));
        }
        let since = (second % 100).saturating_sub(49);
        leb128(&mut writer, delta, since * 1000);
        for n in 0..10 {
            leb128(&mut writer, deeper, n * 100_000);
            writer.write(blob, &[n as u8; 30]);
        }
    }
    let data = writer.stop();
    for id in [base, delta, deeper] {
        every_stamp_is_found(&data, id);
    }
}

#[test]
fn clocks_that_lead_nowhere_are_refused() {
    let mut writer = Writer::new(Options::default());
    for attributes in [
        r#""name":"a","clock":true,"format":"uint8","delta":"b""#,
        r#""name":"b","clock":true,"format":"uint8","delta":"a""#,
        r#""name":"c","clock":true,"format":"uint8","delta":"none""#,
        r#""name":"d","clock":true,"format":"utf-8""#,
    ] {
        writer.stream(attributes);
    }
    for n in 0..1000 {
        (9..=12).for_each(|id| writer.write(id, &[n as u8]));
    }
    let data = writer.stop();
    let grid = Grid::new(&data).unwrap();
    for id in 9..=11 {
        let error = grid.seek_time(id, Time::ZERO, &mut [StreamSlot::EMPTY; 16]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Missing, 0));
    }
    // Not a number: the stamp that was looked at is what is wrong.
    let error = grid.seek_time(12, Time::ZERO, &mut [StreamSlot::EMPTY; 16]).unwrap_err();
    assert_eq!((error.element(), error.kind()), (rtc::element::PAYLOAD, ErrorKind::Missing));
    assert_eq!(data[error.offset() as usize], 12 << 1);
}

/// Of a file that is still being written, all but the index that it ends in can be used.
#[test]
fn a_cut_hides_one_index() {
    let data = sample(Options::default(), 20_000);
    let clock = 10;
    let whole = Grid::new(&data).unwrap();
    let time = stamps(&data, clock)[30].1;
    let found = whole.seek_time(clock, time, &mut [StreamSlot::EMPTY; 16]);
    let after = whole.after(clock, 1025);
    for end in 8000..data.len() {
        let grid = Grid::new(&data[..end]).unwrap();
        assert_eq!(grid.after(clock, 1025), after, "of {end} bytes");
        assert_eq!(grid.seek_time(clock, time, &mut [StreamSlot::EMPTY; 16]), found, "of {end} bytes");
        // What lies at the end is looked for in the last index.
        let late = grid.after(clock, end as u64);
        assert_eq!(late, Ok(None), "of {end} bytes");
    }
}

#[test]
fn a_place_for_all_clocks_misses_nothing() {
    for data in [sample(Options::default(), 60_000), stamps_that_step_back(50, 500)] {
        let grid = Grid::new(&data).unwrap();
        let all = begun(&data);
        let mut times: Vec<Time> = all.iter().filter_map(|frame| frame.time).collect();
        times.sort_unstable();
        for part in 0..40 {
            let time = times[times.len() * part / 40];
            let place = grid.seek_all(time, &mut [StreamSlot::EMPTY; 16]).unwrap();
            let is_missed = |one: &&Begun| one.offset < place && one.time.is_some_and(|own| own >= time);
            assert_eq!(all.iter().filter(is_missed).count(), 0, "{time} from {place}");
        }
        let last = grid.seek_all(times[times.len() - 1], &mut [StreamSlot::EMPTY; 16]).unwrap();
        assert!(last > data.len() as u64 / 2, "sought: {last}");
    }
}

#[test]
fn what_is_not_sure_is_not_sought() {
    let sound = sample(Options::default(), 60_000);
    let time = stamps(&sound, 10)[30].1;
    let place = |data: &[u8]| Grid::new(data).unwrap().seek_all(time, &mut [StreamSlot::EMPTY; 32]);
    assert!(place(&sound).is_some());
    // As long as the grid leaves room for it in the last unit's place.
    let small = sample(Options::default(), 10);
    let short = (60_000..70_000).step_by(500).map(|size| sample(Options::default(), size));
    let short = short
        .clone()
        .find(|data| data.len() % 8192 > 1200 && data.len() % 8192 + small.len() < 8192)
        .unwrap();
    assert!(place(&short).is_some());
    let mut marker = sound.clone();
    marker[3 * 8192..][..1025].fill(0);
    let mut first = sound.clone();
    first[100] = 0;
    for (what, data) in [
        ("cut at its start", sound[1_700..].to_vec()),
        ("two sessions", sound.repeat(2)),
        ("a session in the last unit's place", [short, small].concat()),
        ("a hole", [&sound[..20_000], &sound[20_100..]].concat()),
        ("a Marker that is damaged", marker),
        ("the first Marker is damaged", first),
    ] {
        assert_eq!(place(&data), None, "{what}");
    }
    // Very many clocks.
    for (count, is_sought) in [(Grid::CLOCKS, true), (Grid::CLOCKS + 1, false)] {
        let mut writer = Writer::new(Options::default());
        let clocks: Vec<u64> = (0..count)
            .map(|number| {
                writer.stream(&format!(r#""name":"{number}","clock":true,"format":"uint8","length":1"#))
            })
            .collect();
        clocks.iter().for_each(|&clock| writer.write(clock, &[7]));
        let data = writer.stop();
        assert_eq!(
            Grid::new(&data).unwrap().seek_all(Time::ZERO, &mut [StreamSlot::EMPTY; 32]).is_some(),
            is_sought,
            "{count}"
        );
    }
}

/// The records from where frames are: where each begins, and its time.
fn read<'a>(frames: Frames<'a, [StreamSlot<'a>; 16]>, clocks: &[(u64, Time)]) -> Vec<(u64, Option<Time>)> {
    let mut buffer = [0; 4096];
    let mut records = Records::of(frames, &mut buffer);
    records.prime(clocks);
    let mut times = Vec::new();
    while let Some(record) = records.next_record().unwrap() {
        times.push((record.offset(), record.time()));
    }
    times
}

/// A boundary at which reading begins cuts a stamp: what it says is not known then, and the stamp before it is over.
#[test]
fn after_a_seek_no_time_is_that_of_a_stamp_before() {
    let mut writer = Writer::new(Options::sizes(1 << 20, 2048));
    let fixed = writer.stream(r#""name":"fixed","clock":true,"format":"timespec","length":12"#);
    let blob = writer.stream(r#""name":"blob","clock":"fixed""#);
    writer.begin();
    for n in 0..60 {
        let place = 1025 + 2048 * (n as usize + 1) - 4;
        writer.write(blob, &[6; 60]);
        writer.write(fixed, &timespec(500 + n, 0));
        while place - writer.out.len() > 200 {
            writer.write(blob, &[7; 60]);
        }
        let rest = place - writer.out.len();
        writer.write(blob, &vec![8; rest / 2 - 2]);
        writer.write(blob, &vec![9; rest - rest / 2 - 2]);
        writer.write(fixed, &timespec(1000 + n, 0));
    }
    let data = writer.stop();
    let all = read(Frames::new(&data, [StreamSlot::EMPTY; 16]), &[]);
    let grid = Grid::new(&data).unwrap();
    let (mut same, mut unknown) = (0, 0);
    for minor in 1..60 {
        let frames = grid.frames(1025 + 2048 * minor + 1, [StreamSlot::EMPTY; 16]).unwrap();
        let clocks = grid.clocks_before(frames.offset(), &mut [StreamSlot::EMPTY; 16]);
        for (offset, time) in read(frames, &clocks) {
            let expected = all.iter().find(|record| record.0 == offset).unwrap().1;
            assert!(time.is_none() || time == expected, "{offset:#x} from {minor}: {time:?} {expected:?}");
            *(if time == expected { &mut same } else { &mut unknown }) += 1;
        }
    }
    assert!(same > 10 * unknown && unknown > 0, "{same} {unknown}");
}

/// The rest of a record reaches over two boundaries into the last unit, which no index follows.
#[test]
fn frames_begin_within_a_long_rest() {
    let mut writer = Writer::new(Options::sizes(4096, 2048));
    let long = writer.stream(r#""name":"long","length":9000"#);
    let blob = writer.stream(r#""name":"blob""#);
    (0..3).for_each(|n| writer.write(blob, &[n; 40]));
    writer.write(long, &[1; 9000]);
    writer.write(blob, &[9; 40]);
    let data = writer.stop();
    let all: Vec<_> =
        Frames::new(&data, [StreamSlot::EMPTY; 16]).map(|frame| frame.unwrap().offset()).collect();
    let grid = Grid::new(&data).unwrap();
    for offset in (0..data.len() as u64).step_by(333) {
        let found: Vec<_> = grid
            .frames(offset, [StreamSlot::EMPTY; 16])
            .unwrap()
            .map(|frame| frame.unwrap().offset())
            .collect();
        assert!(!found.is_empty() && all.ends_with(&found), "from {offset:#x}");
    }
}

/// Another session begins where the next unit would: what it declares is not of the one before it.
#[test]
fn streams_of_the_next_session_are_not_learned() {
    let options = Options::sizes(4096, 2048);
    let mut writer = Writer::new(options.clone());
    let a = writer.stream(r#""name":"a""#);
    (0..100).for_each(|n| writer.write(a, &[n; 90]));
    let mut data = writer.stop();
    data.truncate(2 * 4096);
    let mut writer = Writer::append_to(data, options);
    for id in [r#""name":"b""#, r#""name":"c""#].map(|name| writer.stream(name)) {
        writer.write(id, b"in the second session");
    }
    let data = writer.stop();
    assert_eq!(
        crate::walk::<8>(&data).records.keys().copied().collect::<Vec<_>>(),
        [(0, 9), (1, 9), (1, 10)]
    );
    let grid = Grid::new(&data).unwrap();
    let frames = grid.frames(4096 + 1025 + 2048, [StreamSlot::EMPTY; 8]).unwrap();
    assert_eq!(frames.streams().iter().map(rtc::Stream::id).collect::<Vec<_>>(), [a]);
}
