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
                    Crc::Writer => CrcStatus::Writer,
                    Crc::Ieee => CrcStatus::Ieee,
                    Crc::None => CrcStatus::Missing,
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
    // The second begins after a Crc, after a frame, or in the middle of one.
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
        let mut walk = Frames::new(&out, [StreamSlot::EMPTY; 8]);
        while let Some(Ok(_)) | Some(Err(_)) = walk.next().or_else(|| walk.recover().and(walk.next())) {}
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
    let mut walk = Frames::new(&data, [StreamSlot::EMPTY; 1]);
    let error = loop {
        match walk.next() {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("no error"),
        }
    };
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
    let gap = walk.recover().unwrap();
    assert_eq!((gap.len(), walk.gap_reason()), (0, Some(GapReason::Capacity)));
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
    let mut buffer = vec![0; 9400];
    let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 4], &mut buffer);
    let mut joined = Vec::new();
    while let Some(record) = records.next_record().unwrap() {
        let bytes = record.bytes().unwrap();
        assert_eq!(record.len(), bytes.len() as u64);
        joined.push((record.stream().id(), bytes.to_vec()));
        let pieces: Vec<_> = record.pieces().map(|(_, piece)| piece).collect();
        assert_eq!(pieces.concat(), bytes);
        assert!(pieces.iter().all(|piece| lies_in(piece, &data)));
        assert_eq!(lies_in(bytes, &data), pieces.len() == 1);
        if record.stream().id() == a {
            assert_eq!(pieces, [&b"be"[..], b"gin", b"ning"]);
        }
    }
    assert!(
        records.first_open().is_some_and(|offset| data[offset as usize..].starts_with(b"\x15\x0anever ends"))
    );
    assert_eq!(joined, [(b, long.clone()), (b, b"short".to_vec()), (a, b"beginning".to_vec())]);

    // With too small a buffer, each record that does not fit says how large a one does.
    for capacity in (0..9400).step_by(8) {
        let mut buffer = vec![0; capacity];
        let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 4], &mut buffer);
        let mut needed = Vec::new();
        while let Some(record) = records.next_record().unwrap() {
            match record.bytes() {
                Ok(bytes) => assert!(joined.contains(&(record.stream().id(), bytes.to_vec()))),
                Err(error) => {
                    let ErrorKind::CapacityExceeded { capacity: had, needed: size } = error.kind() else {
                        panic!("{error}")
                    };
                    assert_eq!((had, error.offset()), (capacity as u64, record.offset()));
                    assert!(size > had);
                    needed.push((record.offset(), size));
                }
            }
        }
        for (offset, size) in needed {
            let mut buffer = vec![0; size as usize];
            let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 4], &mut buffer);
            while let Some(record) = records.next_record().unwrap() {
                assert!(record.offset() != offset || record.bytes().is_ok(), "{size} bytes do not suffice");
            }
        }
    }
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
    let mut buffer = [0; 64];
    let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 4], &mut buffer);
    let record = records.next_record().unwrap().unwrap();
    assert_eq!((record.stream().id(), record.session(), record.bytes().unwrap()), (b, 1, &b"of another"[..]));
    assert_eq!(a, b);
    assert!(records.next_record().unwrap().is_none());
}

/// Nothing is written of nothing: a frame without payload is damage.
#[test]
fn frames_without_payload_are_damage() {
    for header in [&b"\x12\x00"[..], b"\x13\x00", b"\x12\x80\x00"] {
        let mut writer = Writer::new(Options::sizes(4096, 2048));
        let a = writer.stream(r#""name":"a""#);
        (0..20).for_each(|_| writer.write(a, b"x"));
        let at = writer.out.len() as u64;
        writer.out.extend(header);
        (0..20).for_each(|_| writer.write(a, b"y"));
        let data = writer.stop();
        let mut strict = rtc::Frames::new(&data, [StreamSlot::EMPTY; 4]);
        let error = strict.by_ref().find_map(Result::err).unwrap();
        assert_eq!((error.offset(), error.kind()), (at, ErrorKind::UnderLimit { value: 0, limit: 1 }));
        assert!(strict.next().is_none() && strict.next().is_none());
        assert_eq!(walk::<4>(&data).gaps.len(), 1);
    }
}

/// A file that grows: what is there is read, and reading goes on where it stopped.
#[test]
fn growing_files_are_followed() {
    let (data, _) = small_file();
    let whole = walk::<8>(&data).frames;
    for cut in [5000, 8191, 8192, 9000, 9300] {
        let mut walk = Frames::new(&data[..cut], [StreamSlot::EMPTY; 8]);
        let mut frames = Vec::new();
        while let Some(Ok(frame)) = walk.next() {
            frames.push((frame.offset(), frame.id(), frame.end()));
        }
        let (unit, next) = (walk.unit().unwrap().offset(), walk.offset());
        // The table and what is open are read again from the Marker on: at most a unit.
        let mut walk = Frames::at_unit(&data, unit, [StreamSlot::EMPTY; 8]);
        while let Some(Ok(frame)) = walk.next() {
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

/// The writer fills one or two bytes before a boundary with nuls: anywhere else they are damage.
#[test]
fn nuls_fill_up_to_a_boundary() {
    for room in 1..5_usize {
        let mut writer = Writer::new(Options::sizes(4096, 2048));
        let a = writer.stream(r#""name":"a""#);
        writer.begin();
        let boundary = 1025 + 2048;
        while boundary - writer.out.len() > 180 {
            writer.write(a, &[0xaa; 40]);
        }
        let rest = boundary - room - writer.out.len();
        writer.write(a, &vec![1; rest / 2 - 2]);
        writer.write(a, &vec![2; rest - rest / 2 - 2]);
        let at = writer.out.len();
        assert_eq!(boundary - at, room);
        (0..9).for_each(|n| writer.write(a, &[n; 30]));
        let mut data = writer.stop();
        data[at..boundary].fill(0);
        let error = rtc::Frames::new(&data, [StreamSlot::EMPTY; 4]).find_map(Result::err);
        let expected = (room > 2).then_some((at as u64, ErrorKind::Misplaced));
        assert_eq!(error.map(|error| (error.offset(), error.kind())), expected, "{room}");
        assert_eq!(walk::<4>(&data).gaps.len(), usize::from(room > 2));
    }
}

/// It is little-endian until a platform frame was delivered that says otherwise.
#[test]
fn the_byte_order_is_that_of_the_platform_frame() {
    for (big_endian, expected) in [(false, traceglass::ByteOrder::Little), (true, traceglass::ByteOrder::Big)]
    {
        let (data, _) = file(Options { big_endian, ..Options::sizes(4096, 2048) }, 6000);
        let mut walk = Frames::new(&data, [StreamSlot::EMPTY; 8]);
        let mut is_platform = |frame: rtc::Frame<'_>| frame.id() == rtc::id::PLATFORM;
        while !walk.next().unwrap().is_ok_and(&mut is_platform) {
            assert_eq!(walk.byte_order(), traceglass::ByteOrder::Little);
        }
        assert_eq!(walk.byte_order(), expected);
    }
}

/// When the first of two streams with one name turns out to be called something else, the second one is found.
#[test]
fn a_name_is_that_of_the_next_stream_when_the_first_is_replaced() {
    let object = |text: &'static str| {
        let mut meta = Meta::new(text.as_bytes(), 0);
        meta.next_stream().unwrap().unwrap()
    };
    for clock in ["", ",\"clock\":true"] {
        let text = |id: u32, name: &str, more: &str| {
            let text = format!("[{{\"id\":{id},\"name\":\"{name}\"{clock}{more}}},12]");
            object(Box::leak(text.into_boxed_str()))
        };
        let mut table = StreamTable::new([StreamSlot::EMPTY; 8]);
        let damaged = text(9, "a", ",\"length\":-1");
        assert!(damaged.damage().is_some());
        for stream in [damaged, text(10, "a", ""), text(11, "a", "")] {
            table.insert(stream).unwrap();
        }
        assert_eq!(table.streams().by_name("a").unwrap().id(), 9);
        table.insert(text(9, "b", "")).unwrap();
        let streams = table.streams();
        let name = streams.get(10).unwrap().name().unwrap();
        assert_eq!((streams.by_name("a").unwrap().id(), streams.by_name("b").unwrap().id()), (10, 9));
        assert_eq!(streams.slot_of_clock(name), if clock.is_empty() { None } else { Some(1) });
    }
}
