//! Frames and records of undamaged files.

use crate::*;

#[test]
fn what_was_written_is_read() {
    for (major, minor) in [(4096, 2048), (8192, 2048), (16384, 16384), (65536, 4096), (1 << 20, 1 << 17)] {
        for crc in [Crc::Writer, Crc::Ieee, Crc::None] {
            for big_endian in [false, true] {
                let options = Options { crc, big_endian, ..Options::sizes(major, minor) };
                let (data, written) = file(options, 60_000);
                let seen = walk::<8>(&data);
                assert_eq!(seen.gaps, [], "{major} {minor}");
                let read: BTreeMap<u64, Vec<Vec<u8>>> =
                    seen.records.into_iter().map(|((_, id), records)| (id, records)).collect();
                assert!(read == written, "{major} {minor}");
                let verdict = match crc {
                    Crc::Writer => Verdict::Writer,
                    Crc::Ieee => Verdict::Ieee,
                    Crc::None => Verdict::Missing,
                };
                assert!(seen.verdicts.iter().all(|seen| *seen == verdict), "{major} {minor}");
                assert_eq!(seen.verdicts.is_empty(), crc == Crc::None);
                let found = findings(&data);
                assert!(found.iter().all(|finding| finding.severity() == Severity::Warning), "{found:?}");
                assert_eq!(found.len(), usize::from(crc == Crc::None), "{found:?}");
            }
        }
    }
}

#[test]
fn alignment_does_not_matter() {
    let (data, _) = small_file();
    let frames = walk::<8>(&data).frames;
    at_alignments(&data, |data| assert_eq!(walk::<8>(data).frames, frames));
}

/// A cut at the end costs the frame that it goes through and nothing else.
#[test]
fn records_of_fixed_length_are_cut_without_a_length() {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let fixed = writer.stream(r#""name":"f","length":100"#);
    let mut written = Vec::new();
    while writer.out.len() < 40_000 {
        let record: Vec<u8> = (0..100).map(|i| (i + written.len()) as u8).collect();
        writer.write(fixed, &record);
        written.push(record);
    }
    let data = writer.stop();
    assert_eq!(walk::<4>(&data).records[&(0, fixed)], written);
    let frames = walk::<4>(&data).frames;
    let pieces = frames.iter().filter(|frame| frame.1 == fixed && frame.2 - frame.0 != 101).count();
    assert!(pieces > 30, "{pieces} pieces");
    // A minor unit in the middle is lost, and with it the beginning of the record at its end.
    let mut damaged = data.clone();
    damaged[8192 + 1025 + 2048 + 30..8192 + 1025 + 4096 - 30].fill(0xff);
    let seen = walk::<4>(&damaged);
    assert_eq!(seen.gaps.len(), 1, "{:?}", seen.gaps);
    assert_eq!(seen.gaps[0].end(), 8192 + 1025 + 4096);
    assert!(seen.frames.iter().all(|frame| frames.contains(frame)));
    assert!(seen.records[&(0, fixed)].iter().all(|record| written.contains(record)));
    assert!(seen.records[&(0, fixed)].len() + 24 > written.len());
}

#[test]
fn sessions_follow_each_other() {
    let (first, _) = file(Options::sizes(8192, 2048), 20_000);
    let options = Options::sizes(4096, 2048);
    // The second begins behind a Crc, behind a frame, or in the middle of one.
    for cut in [0, 5, 40] {
        let mut out = first[..first.len() - cut].to_vec();
        let from = out.len() as u64;
        out = {
            let mut writer = Writer::append_to(out, options.clone());
            let other = writer.stream(r#""name":"other""#);
            (0..200_u32).for_each(|n| writer.write(other, &n.to_le_bytes()));
            writer.stop()
        };
        let seen = walk::<8>(&out);
        assert_eq!(seen.records[&(1, 9)].len(), 200, "{cut}");
        assert!(seen.records[&(0, 9)].len() > 50);
        let gaps: Vec<_> = seen.gaps.iter().map(|gap| gap.end()).collect();
        assert_eq!(gaps, if cut <= 5 { vec![] } else { vec![from] }, "{cut}");
        let mut walk = Walk::<8>::new(&out);
        while let Some(Ok(_)) | Some(Err(_)) =
            walk.next_frame().or_else(|| walk.resync().and(walk.next_frame()))
        {}
        assert_eq!(walk.session(), 1);
        assert!(walk.streams().by_name("other").is_some() && walk.streams().by_name("text").is_none());
    }
}

/// An appended session begins anywhere: also where its Marker crosses a boundary of the session before.
#[test]
fn a_session_begins_at_any_distance_to_a_boundary() {
    for (fill, crc) in (300..3000).step_by(171).flat_map(|fill| [(fill, Crc::Writer), (fill, Crc::None)]) {
        let options = Options { crc, ..Options::sizes(4096, 2048) };
        let mut writer = Writer::new(options.clone());
        let a = writer.stream(r#""name":"a""#);
        writer.write(a, &vec![1; fill]);
        let first = writer.stop();
        let from = first.len() as u64;
        let mut writer = Writer::append_to(first, options);
        writer.stream(r#""name":"b""#);
        writer.write(a, &[2; 100]);
        let seen = walk::<8>(&writer.stop());
        assert_eq!(seen.gaps, [], "{fill}");
        assert_eq!(
            (&seen.records[&(0, a)], &seen.records[&(1, a)]),
            (&vec![vec![1; fill]], &vec![vec![2; 100]])
        );
        assert!(seen.frames.contains(&(from, rtc::id::MARKER, from + 1025)), "{fill}");
    }
}

#[test]
fn a_table_that_is_too_small_says_so_once() {
    let (data, written) = small_file();
    let mut walk = Walk::<1>::new(&data);
    let error = loop {
        match walk.next_frame() {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("no error"),
        }
    };
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
    let gap = walk.resync().unwrap();
    assert_eq!((gap.len(), gap.reason()), (0, Reason::Capacity));
    assert_eq!(written.len(), 4);
    assert_eq!(walk.streams().len(), 1);
}

#[test]
fn records_are_joined_over_everything_in_between() {
    let mut writer = Writer::new(Options::sizes(4096, 2048));
    let a = writer.stream(r#""name":"a""#);
    let b = writer.stream(r#""name":"b""#);
    let long: Vec<u8> = (0..9000_u32).map(|n| n as u8).collect();
    writer.write_more(a, b"be", true);
    writer.write(b, &long);
    writer.write_more(a, b"gin", true);
    writer.write(b, b"short");
    writer.write(a, b"ning");
    writer.write_more(b, b"never ends", true);
    let data = writer.stop();
    let mut walk = Walk::<4>::new(&data);
    let mut buffer = vec![0; 9000];
    let mut joined = Vec::new();
    while let Some(frame) = walk.next_frame() {
        let frame = frame.unwrap();
        if !frame.is_user() || frame.continues() {
            continue;
        }
        let record = walk.record(frame);
        match record.join(&mut buffer) {
            Ok(bytes) => {
                assert_eq!(record.len().unwrap(), bytes.len() as u64);
                joined.push((frame.id(), bytes.to_vec()));
            }
            Err(error) => assert!(error.is_truncation() && frame.payload() == b"never ends", "{error}"),
        }
        if frame.payload() == b"short" {
            assert!(lies_in(record.as_slice().unwrap(), &data));
        }
        if frame.id() == a {
            let pieces: Vec<_> = record.pieces().map(Result::unwrap).collect();
            assert_eq!(pieces, [&b"be"[..], b"gin", b"ning"]);
            let error = record.join(&mut [0; 8]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 8, needed: 9 });
        }
    }
    assert_eq!(joined, [(a, b"beginning".to_vec()), (b, long), (b, b"short".to_vec())]);
}

/// What a session has left open does not go on in the next one, whose streams have the same numbers.
#[test]
fn records_end_with_their_session() {
    let options = Options::sizes(4096, 2048);
    let mut writer = Writer::new(options.clone());
    let a = writer.stream(r#""name":"a""#);
    writer.write_more(a, b"begins", true);
    let mut writer = Writer::append_to(writer.stop(), options);
    let b = writer.stream(r#""name":"b""#);
    writer.write(b, b"of another");
    let data = writer.stop();
    let mut walk = Walk::<4>::new(&data);
    let first = walk.by_ref().map(Result::unwrap).find(|frame| frame.is_user()).unwrap();
    assert_eq!((first.id(), first.payload(), a), (b, &b"begins"[..], b));
    let mut pieces = walk.record(first).pieces();
    assert_eq!(pieces.next(), Some(Ok(first.payload())));
    let error = pieces.next().unwrap().unwrap_err();
    assert_eq!((error.element(), error.kind()), (rtc::PAYLOAD, ErrorKind::UnexpectedEnd { needed: 1 }));
    let other = data.windows(10).position(|bytes| bytes == b"of another").unwrap() as u64;
    assert!((first.end()..other).contains(&error.offset()), "{error}");
    assert_eq!(pieces.next(), None);
}

/// Only a record of one piece can be known to be empty.
#[test]
fn empty_records_are_told() {
    let mut writer = Writer::new(Options::sizes(4096, 2048));
    let a = writer.stream(r#""name":"a""#);
    writer.write(a, b"x");
    writer.out.extend([(a << 1) as u8, 0]); //     no bytes
    writer.out.extend([(a << 1 | 1) as u8, 0]); // none in the first piece
    writer.write(a, b"y");
    let data = writer.stop();
    let mut walk = Walk::<4>::new(&data);
    let mut seen = Vec::new();
    while let Some(frame) = walk.next_frame() {
        let frame = frame.unwrap();
        if frame.is_user() && !frame.continues() {
            let record = walk.record(frame);
            assert_eq!(format!("{record:?}"), format!("Record({frame:?})"));
            seen.push((record.is_empty(), record.len().unwrap()));
        }
    }
    assert_eq!(seen, [(false, 1), (true, 0), (false, 1)]);
}

/// A file that grows: what is there is read, and reading goes on where it stopped.
#[test]
fn growing_files_are_followed() {
    let (data, _) = small_file();
    let whole = walk::<8>(&data).frames;
    for cut in [5000, 8191, 8192, 9000, 9300] {
        let mut walk = Walk::<8>::new(&data[..cut]);
        let mut frames = Vec::new();
        while let Some(Ok(frame)) = walk.next_frame() {
            frames.push((frame.offset(), frame.id(), frame.end()));
        }
        let (unit, next) = (walk.unit().unwrap().offset(), walk.offset());
        // The table and what is open are read again from the Marker on: at most a unit.
        let mut walk = Walk::<8>::at_unit(&data, unit);
        while let Some(Ok(frame)) = walk.next_frame() {
            if frame.offset() >= next {
                frames.push((frame.offset(), frame.id(), frame.end()));
            }
        }
        assert_eq!(frames, whole, "{cut}");
    }
}

/// Without a Crc, the byte where one would begin is that of a record: the next Index says that none was written.
#[test]
fn a_record_that_looks_like_a_crc_is_none() {
    let mut writer = Writer::new(Options { crc: Crc::None, ..Options::sizes(4096, 2048) });
    let fixed = writer.stream(r#""name":"f","length":213"#);
    while writer.out.len() < 20_000 {
        writer.write(fixed, &[0x10; 213]);
    }
    let data = writer.stop();
    assert_eq!(data[4096 - 5], 0x10);
    let seen = walk::<4>(&data);
    assert_eq!(seen.gaps, []);
    assert!(seen.records[&(0, fixed)].iter().all(|record| record == &[0x10; 213]));
}

/// The writer gives a nul one byte, but an integer may be longer than it need be.
#[test]
fn a_nul_may_have_a_longer_header() {
    let mut writer = Writer::new(Options::default());
    let id = writer.stream(r#""name":"a""#);
    writer.write(id, b"before");
    let at = writer.out.len() as u64;
    writer.out.extend([0, 0x80, 0, 0, 0, 0x80, 0x80, 0]);
    writer.write(id, b"behind");
    let data = writer.stop();
    let seen = walk::<4>(&data);
    assert_eq!((seen.gaps, &seen.records[&(0, id)]), (vec![], &vec![b"before".to_vec(), b"behind".to_vec()]));
    let nuls: Vec<_> = seen.frames.iter().filter(|frame| frame.1 == rtc::id::NUL).copied().collect();
    let expected = [(0, 1), (1, 3), (3, 4), (4, 5), (5, 8)].map(|(from, to)| (at + from, 0, at + to));
    assert_eq!(nuls[..5], expected);
}

/// It is little-endian until a platform frame was delivered that says otherwise.
#[test]
fn the_byte_order_is_that_of_the_platform_frame() {
    for (big_endian, expected) in [(false, rtc::ByteOrder::Little), (true, rtc::ByteOrder::Big)] {
        let (data, _) = file(Options { big_endian, ..Options::sizes(4096, 2048) }, 6000);
        let mut walk = Walk::<8>::new(&data);
        let mut is_platform = |frame: rtc::Frame<'_>| frame.id() == rtc::id::PLATFORM;
        while !walk.next_frame().unwrap().is_ok_and(&mut is_platform) {
            assert_eq!(walk.byte_order(), rtc::ByteOrder::Little);
        }
        assert_eq!(walk.byte_order(), expected);
    }
}
