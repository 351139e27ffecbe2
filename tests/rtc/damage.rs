//! Damage, cuts and what is still read.

use crate::*;

#[test]
fn every_prefix_is_read_to_its_last_whole_frame() {
    let (data, _) = small_file();
    let whole = walk::<8>(&data).frames;
    for prefix in prefixes(&data) {
        let seen = walk::<8>(prefix);
        let len = prefix.len() as u64;
        if seen.frames.is_empty() {
            assert!(len < 1200, "{len}");
            continue;
        }
        let fit: Vec<_> = whole.iter().copied().filter(|frame| frame.2 <= len).collect();
        // A Marker is taken with its Index alone.
        let marker = fit.last().is_some_and(|last| last.1 == rtc::id::MARKER);
        assert_eq!(seen.frames, fit[..fit.len() - usize::from(marker)], "{len}");
        let end = seen.frames.last().unwrap().2;
        let expected: &[(u64, u64)] = if end < len { &[(end, len - end)] } else { &[] };
        let gaps: Vec<_> = seen.gaps.iter().map(|gap| (gap.offset(), gap.len())).collect();
        assert_eq!(gaps, expected, "{len}");
        for gap in seen.gaps {
            assert!(gap.cause().is_truncation() && gap.reason() == GapReason::Truncated, "{gap:?}");
        }
    }
}

/// Frames before the first Marker are read as far as an index leads to them, and none that were not written.
#[test]
fn every_cut_at_the_start_is_survived() {
    let (data, _) = file(Options::sizes(8192, 2048), 30_000);
    let whole = walk::<8>(&data).frames;
    let mut lost_most = 0;
    for cut in (0..16_384).step_by(3).chain(8185..8200).chain(9210..9240) {
        let seen = walk::<8>(&data[cut..]);
        let shifted: HashSet<_> = whole
            .iter()
            .filter_map(|f| Some((f.0.checked_sub(cut as u64)?, f.1, f.2 - cut as u64)))
            .collect();
        assert!(seen.frames.iter().all(|frame| shifted.contains(frame)), "{cut}");
        assert_eq!(seen.gaps.len(), usize::from(cut > 0), "{cut}: {:?}", seen.gaps);
        let lost = seen.gaps.first().map_or(0, Gap::len);
        lost_most = lost_most.max(lost);
        // No more than what a minor unit holds, the longest record that is cut in it, and what a Marker takes.
        assert!(lost < 2048 + 1100, "{cut}: {lost} lost");
        assert!(rtc::detect(&data[cut..]) && rtc::recover::probe(&data[cut..]).is_ok(), "{cut}");
    }
    assert!(lost_most > 0);
}

/// Whatever byte is wrong: reading ends, the input is tiled, and hardly a frame is delivered that never was.
#[test]
fn single_bytes_may_be_anything() {
    let (data, _) = small_file();
    let whole: HashSet<_> = walk::<8>(&data).frames.into_iter().collect();
    let (mut invented, mut runs) = (0, 0);
    let mut lost = 0;
    mutations(&data, |place, mutant| {
        // Each place costs 8 runs: all around the Marker and the indices, and a sample of the others.
        if place >= 256 && place % 37 != 0 && !(1000..1100).contains(&(place % 2048)) {
            return;
        }
        let seen = walk::<8>(mutant);
        runs += 1;
        lost += seen.gaps.iter().map(Gap::len).sum::<u64>();
        let place = place as u64;
        invented += seen
            .frames
            .iter()
            .filter(|frame| !(whole.contains(*frame) || frame.0 <= place && place < frame.2))
            .count();
        check::<8>(mutant, |finding| assert!(finding.cause().offset() <= mutant.len() as u64));
    });
    assert!(runs > 5_000, "{runs}");
    // A changed length may lead to the very place where another frame begins.
    assert!(invented * 50 < runs, "{invented} frames invented in {runs} runs");
    assert!(lost / runs as u64 <= 600, "{} bytes lost a run", lost / runs as u64);
}

#[test]
fn damage_costs_no_more_than_a_minor_unit() {
    let (data, _) = file(Options::sizes(8192, 2048), 60_000);
    let whole = walk::<8>(&data).frames;
    let unit = 8192 * 3;
    // A Marker; the header of an Index; a minor index; a run of frames.
    for (at, len) in [(unit, 1025), (unit + 1025, 1), (unit + 1025 + 2048, 2), (unit + 5000, 300)] {
        let mut damaged = data.clone();
        damaged[at..at + len].fill(0xff);
        let seen = walk::<8>(&damaged);
        let lost: u64 = seen.gaps.iter().map(Gap::len).sum();
        assert!(lost < 2 * 2048 + 1025, "{at}: {lost}");
        assert!(!seen.gaps.is_empty() && seen.frames.iter().all(|frame| whole.contains(frame)), "{at}");
        let (first, last) = (seen.gaps.first().unwrap(), seen.gaps.last().unwrap());
        // A frame is whole if only its payload is wrong.
        assert!(
            first.offset() < (at + len) as u64 && (at + len) as u64 <= last.end(),
            "{at}: {:?}",
            seen.gaps
        );
        let checked = findings(&damaged);
        assert!(checked.iter().any(|finding| finding.severity() == Severity::Error));
    }
}

/// Nothing confirms the last index of a file whose bytes were shifted but what it says itself: all that it leads to
/// lies on the other side of the damage, and no other index follows.
#[test]
fn the_last_index_is_found_after_a_shift() {
    let mut writer = Writer::new(Options::sizes(32_768, 4096));
    let a = writer.stream(r#""name":"a""#);
    let index = 1025 + 4096;
    while writer.out.len() < index {
        writer.write(a, &[0xaa; 150]);
    }
    (0..20).for_each(|n| writer.write(a, &[n; 30]));
    let data = writer.stop();
    let last: Vec<_> = walk::<4>(&data).frames.into_iter().filter(|frame| frame.0 >= index as u64).collect();
    for shift in [-7_i64, 7] {
        let mut shifted = data.clone();
        match shift {
            ..0 => drop(shifted.drain(4500..4507)),
            _ => drop(shifted.splice(4500..4500, [0xee; 7])),
        }
        let seen = walk::<4>(&shifted);
        assert_eq!(seen.gaps.len(), 1, "{shift}");
        let moved = |at: u64| at.wrapping_add_signed(shift);
        assert_eq!(seen.gaps[0].end(), moved(index as u64), "{shift}");
        let expected: Vec<_> = last.iter().map(|frame| (moved(frame.0), frame.1, moved(frame.2))).collect();
        assert!(seen.frames.ends_with(&expected), "{shift}");
    }
}

/// A byte of zero fills up to the boundary, and the input ends in the index after it: nothing else is lost.
#[test]
fn a_cut_in_an_index_after_filling_costs_that_index() {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let a = writer.stream(r#""name":"a""#);
    let boundary = 1025 + 2048;
    writer.begin();
    while boundary - writer.out.len() > 180 {
        writer.write(a, &[0xaa; 40]);
    }
    let rest = boundary - 1 - writer.out.len();
    writer.write(a, &vec![1; rest / 2 - 2]);
    writer.write(a, &vec![2; rest - rest / 2 - 2]);
    assert_eq!(writer.out.len(), boundary - 1);
    (0..9).for_each(|n| writer.write(a, &[n; 30]));
    let data = writer.stop();
    let frames = walk::<4>(&data).frames;
    let index = frames.iter().find(|frame| frame.1 == rtc::id::MINOR_INDEX).unwrap();
    assert_eq!((index.0, data[boundary - 1]), (boundary as u64, 0));
    let before: Vec<_> = frames.iter().copied().filter(|frame| frame.2 <= index.0).collect();
    for end in index.0..index.2 {
        let seen = walk::<4>(&data[..end as usize]);
        assert_eq!(seen.frames, before, "cut at {end:#x}");
        assert_eq!(seen.gaps.len(), usize::from(end > index.0));
    }
}

/// Bytes that are lost or added move the grid; every index tells where it belongs.
#[test]
fn the_grid_may_shift() {
    let (data, _) = file(Options::sizes(8192, 2048), 60_000);
    let whole: HashSet<_> = walk::<8>(&data).frames.into_iter().collect();
    let at = 8192 * 3 + 1500;
    for shift in [-777_i64, -1, 1, 777, 5000] {
        let mut shifted = data.clone();
        if shift < 0 {
            shifted.drain(at..at + shift.unsigned_abs() as usize);
        } else {
            shifted.splice(at..at, vec![0xee; shift as usize]);
        }
        let seen = walk::<8>(&shifted);
        let unshift = |frame: &(u64, u64, u64)| {
            let back = |at: u64| (at as i64 - shift) as u64;
            whole.contains(frame) || whole.contains(&(back(frame.0), frame.1, back(frame.2)))
        };
        assert!(seen.frames.iter().all(unshift), "{shift}");
        let lost: u64 = seen.gaps.iter().map(Gap::len).sum();
        assert!(lost < 3 * 2048 + shift.unsigned_abs(), "{shift}: {lost}");
        assert_eq!(seen.verdicts.iter().filter(|verdict| !verdict.is_right()).count(), 1, "{shift}");
    }
}

/// In the last unit, which no Marker follows, an index is found by what it says.
#[test]
fn an_index_is_found_without_a_marker() {
    let (data, _) = file(Options::sizes(1 << 20, 2048), 20_000);
    let whole: HashSet<_> = walk::<8>(&data).frames.into_iter().collect();
    let mut shifted = data.clone();
    shifted.drain(6000..6100);
    let seen = walk::<8>(&shifted);
    assert_eq!(seen.gaps.len(), 1, "{:?}", seen.gaps);
    assert!(seen.gaps[0].len() < 2 * 2048);
    let back = |frame: &(u64, u64, u64)| (frame.0 + 100, frame.1, frame.2 + 100);
    assert!(seen.frames.iter().all(|frame| whole.contains(frame) || whole.contains(&back(frame))));
    assert!(seen.frames.last().unwrap().2 == shifted.len() as u64);
}

/// The rest of a record of fixed length, whose beginning was lost, is measured by the next index.
#[test]
fn markers_in_payloads_are_none() {
    let mut writer = Writer::new(Options::sizes(16384, 4096));
    let names: Vec<u64> = (9..=93).map(|_| writer.stream(r#""name":"s""#)).collect();
    let forger = names[92 - 9];
    assert_eq!(forger, 92);
    let mut lookalike = vec![4];
    lookalike.extend([0xb9; 1023]);
    // The header of the next piece is the last byte of a Marker.
    lookalike.extend([0x06, 0x22, 0x00, 0x07, 0x80, 0x80, 0x01, 0x09, 0x80, 0x20]);
    for n in 0..40_u8 {
        writer.write(forger, &lookalike);
        writer.write(9, &[n; 70]);
    }
    let data = writer.stop();
    let seen = walk::<128>(&data);
    assert_eq!((seen.gaps.len(), seen.records[&(0, forger)].len()), (0, 40));
    // Searching must not stop at them either.
    let seen = walk::<128>(&data[3000..]);
    assert_eq!(seen.gaps.len(), 1);
    assert!(
        seen.records[&(0, forger)]
            .iter()
            .all(|record| record.len() == lookalike.len() || record.len() < 1024)
    );
}

/// One that looked at everything again for every byte would take hours.
#[test]
fn a_search_is_linear() {
    for byte in [0xb9, 0x04, 0x08, 0x00, 0x07] {
        let data = vec![byte; 4 << 20];
        assert!(!rtc::detect(&data) && rtc::recover::probe(&data).is_err());
        assert_eq!(walk::<4>(&data).frames, []);
    }
    // After a good start, a search for whatever comes next.
    let (mut data, _) = small_file();
    for pattern in
        [&b"\x08\x07\x07\x80\x20\x13\x02"[..], b"\xb9", b"\x04\xb9\xb9\x06\x22\x00\x07", b"{\"id\":"]
    {
        let filled = data.len();
        data.extend(pattern.iter().cycle().take(4 << 20));
        let seen = walk::<8>(&data);
        assert!(seen.gaps.last().is_some_and(|gap| gap.len() > 4_000_000), "{pattern:?}");
        data.truncate(filled);
    }
}

/// No index follows the last minor unit that would tell how much is left of the record that goes on there.
#[test]
fn nothing_is_invented_of_the_rest_of_a_record() {
    let mut runs = 0;
    for len in 60..100 {
        for writes in 18..30 {
            let mut writer = Writer::new(Options { crc: Crc::None, ..Options::sizes(8192, 2048) });
            let fixed = writer.stream(&format!(r#""name":"f","length":{len}"#));
            for _ in 0..writes {
                // Each byte looks like the header of a frame.
                writer.write(fixed, &vec![(fixed << 1) as u8; len]);
            }
            let mut data = writer.stop();
            let whole = walk::<4>(&data);
            let Some(first) = whole.frames.iter().find(|frame| frame.1 == fixed) else { continue };
            data[first.0 as usize] = 0xff;
            let seen = walk::<4>(&data);
            // More frames than are held back would prove each other.
            let after = whole.frames.iter().filter(|frame| frame.0 >= seen.gaps[0].end()).count();
            if !(1..8).contains(&after) {
                continue;
            }
            runs += 1;
            for frame in &seen.frames {
                assert!(whole.frames.contains(frame), "{len} {writes}: {frame:?} of {:?}", seen.gaps);
            }
        }
    }
    assert!(runs > 100, "{runs}");
}

/// The first Index says that the unit is larger than it is, so that a record seems to be cut within the next Marker: that
/// is all that is lost, and no byte is delivered twice.
#[test]
fn a_unit_that_says_to_be_larger_ends_where_the_next_begins() {
    let mut writer = Writer::new(Options { crc: Crc::None, ..Options::sizes(4096, 4096) });
    let ids = ["f", "g"].map(|name| writer.stream(&format!(r#""name":"{name}","length":249"#)));
    for n in 0..60 {
        writer.write(ids[usize::from(n == 11)], &[n; 249]);
    }
    let mut data = writer.stop();
    let whole = walk::<4>(&data).frames;
    assert!(whole.iter().any(|frame| (frame.1, frame.2) == (ids[1], 4096)), "{whole:?}");
    // The entry of stream 3, as it stands there.
    let at = data.windows(3).position(|entry| entry == [7, 0x80, 0x40]).unwrap();
    data[at + 1] += 32;
    let seen = walk::<4>(&data);
    let apart = |frames: &[(u64, u64, u64)]| {
        frames.iter().copied().filter(|frame| !(3872..4096 + 1025).contains(&frame.0)).collect::<Vec<_>>()
    };
    assert_eq!(apart(&seen.frames), apart(&whole));
    assert_eq!(seen.frames.len(), whole.len() - 1);
    assert!(seen.frames.is_sorted_by(|a, b| a.2 <= b.0));
    assert_eq!(seen.gaps.len(), 1);
}

/// Files of one stream of records of 60 bytes, whose first unit ends within one; where that record begins.
fn cut_in_the_first_unit(crc: Crc) -> (Vec<u8>, u64, u64) {
    let mut writer = Writer::new(Options { crc, ..Options::sizes(4096, 2048) });
    let id = writer.stream(r#""name":"f","length":60"#);
    for n in 0..60_u8 {
        // Each byte looks like the header of a Crc.
        writer.write(id, &[&[0x10; 59][..], &[n]].concat());
    }
    let data = writer.stop();
    let last = walk::<4>(&data).frames.into_iter().rfind(|frame| frame.1 == id && frame.2 <= 4096).unwrap();
    assert_eq!(last.2, if crc == Crc::None { 4096 } else { 4091 });
    assert!(last.2 - last.0 < 61);
    (data, id, last.0)
}

/// Where the next Index is missing, the last bytes of a record may look like a Crc: its checksum is wrong then, and no
/// more than they are lost.
#[test]
fn bytes_of_a_record_that_look_like_a_crc_are_reported() {
    let (data, id, last) = cut_in_the_first_unit(Crc::None);
    let whole = walk::<4>(&data).frames;
    let before: Vec<_> = whole.iter().copied().filter(|frame| frame.2 <= last).collect();
    for cut in 4096..4096 + 1025 + 4 {
        let seen = walk::<4>(&data[..cut]);
        let (fit, rest) = seen.frames.split_at(before.len());
        assert_eq!(fit, before, "{cut}");
        assert_eq!(rest[..2], [(last, id, 4091), (4091, rtc::id::CRC, 4096)], "{cut}");
        assert!(matches!(seen.verdicts[..], [CrcStatus::Mismatch { .. }]), "{cut} {:?}", seen.verdicts);
    }
}

#[test]
fn a_crc_is_taken_for_one_by_its_checksum() {
    for crc in [Crc::Writer, Crc::Ieee] {
        let (data, ..) = cut_in_the_first_unit(crc);
        let whole = walk::<4>(&data).frames;
        for cut in 4096..4096 + 1025 + 4 {
            let seen = walk::<4>(&data[..cut]);
            let fit: Vec<_> = whole.iter().copied().filter(|frame| frame.2 <= 4096).collect();
            assert_eq!(seen.frames, fit, "{cut}");
            assert_eq!(seen.verdicts, [if crc == Crc::Ieee { CrcStatus::Ieee } else { CrcStatus::Writer }]);
        }
        // The next Index is damaged, and all is read but that.
        let mut damaged = data.clone();
        damaged[4096 + 1025] = 0xff;
        let seen = walk::<4>(&damaged);
        assert!(seen.frames.contains(&(4091, rtc::id::CRC, 4096)));
        assert_eq!(seen.gaps.iter().map(Gap::offset).collect::<Vec<_>>(), [4096]);
    }
}

/// Where the input is cut before a Crc would be, the header of the last record may say that there is none.
#[test]
fn a_record_that_ends_where_a_crc_would_be_costs_none_before_it() {
    let mut runs = 0;
    for filler in 1..60 {
        let mut writer = Writer::new(Options { crc: Crc::None, ..Options::sizes(4096, 2048) });
        let (text, id) = (writer.stream(r#""name":"t""#), writer.stream(r#""name":"f","length":46"#));
        writer.write(text, &vec![b'x'; filler]);
        for _ in 0..100 {
            // Each byte looks like the header of a Crc.
            writer.write(id, &[0x10; 46]);
        }
        let data = writer.stop();
        let whole = walk::<4>(&data).frames;
        let last = whole.iter().copied().find(|frame| frame.2 == 4096).unwrap();
        if last.1 != id || last.2 - last.0 != 47 {
            continue;
        }
        runs += 1;
        // From 4091 on, a byte of the record is where the header of a Crc would be, and looks like one.
        for cut in last.0..4091 {
            let fit: Vec<_> = whole.iter().copied().filter(|frame| frame.2 <= cut).collect();
            let seen = walk::<4>(&data[..cut as usize]);
            assert_eq!(seen.frames, fit, "{filler} {cut}");
            assert!(seen.gaps.iter().all(|gap| gap.reason() == GapReason::Truncated), "{:?}", seen.gaps);
        }
    }
    assert!(runs > 0);
}

/// A cut file may begin with any byte, and so like metadata, unless an object or a magic number leaves no doubt.
#[cfg(feature = "ctf")]
#[test]
fn a_cut_file_may_begin_like_metadata() {
    use traceglass::Format;
    let (data, _) = small_file();
    let begins = |front: &[u8]| Format::detect(&[front, &data].concat());
    for front in [&b""[..], b"\x1e", b"\x1egarbage", b"\x1e \n\x1e[", b"\x1d{"] {
        assert_eq!(begins(front), Some(Format::Rtc), "{}", front.escape_ascii());
    }
    for front in [&b"\x1e{"[..], b"\x1e \n\r\t\x1e{", b"\x57\x1d\xd1\x75", b"\x75\xd1\x1d\x57"] {
        assert_eq!(begins(front), Some(Format::Ctf2), "{}", front.escape_ascii());
    }
}

/// Up to the first fault, what is strict and what recovers find the same frames.
#[test]
fn until_the_first_fault_both_readers_find_the_same() {
    type Told<'a> = traceglass::Result<Option<(u64, u64, u64, bool, &'a [u8])>>;
    fn told<'a>(frame: traceglass::Result<Option<rtc::Frame<'a>>>) -> Told<'a> {
        let told = |frame: rtc::Frame<'a>| {
            (frame.offset(), frame.end(), frame.id(), frame.continues(), frame.payload())
        };
        frame.map(|frame| frame.map(told))
    }
    let (mut compared, mut held_back) = (0, 0);
    let mut compare = |data: &[u8]| {
        let mut strict = rtc::Frames::new(data, [StreamSlot::EMPTY; 8]);
        let mut recovering = Frames::new(data, [StreamSlot::EMPTY; 8]);
        loop {
            let (found, other) = (told(strict.next_frame()), told(recovering.next_frame()));
            match (found, other) {
                // Frames that what follows does not prove are not delivered by what recovers.
                (Ok(Some(_)), Err(_)) => break held_back += 1,
                (_, Ok(Some(frame))) if found != other => {
                    // It may know a stream from a later Meta, if the first one is damaged.
                    let [strict, recovering] =
                        [strict.streams().get(frame.2), recovering.streams().get(frame.2)]
                            .map(|stream| stream.map(|stream| stream.object().offset()));
                    assert_ne!(strict, recovering, "{found:?} {other:?}");
                    break;
                }
                _ => assert_eq!(found, other),
            }
            if !matches!(found, Ok(Some(_))) {
                break compared += 1;
            }
        }
    };
    let (data, _) = small_file();
    prefixes(&data).for_each(&mut compare);
    (0..data.len()).for_each(|cut| compare(&data[cut..]));
    mutations(&data[..data.len() / 4], |_, mutant| compare(mutant));
    assert!(compared > 10_000 && held_back > 100, "{compared} {held_back}");
}

/// A record that its writer cuts itself: the index after a gap leads to its second piece, which began to be written in the
/// minor unit.
#[test]
fn a_piece_to_which_an_index_leads_is_no_record() {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let a = writer.stream(r#""name":"a""#);
    let b = writer.stream(r#""name":"b""#);
    let fill = |writer: &mut Writer, to: usize| {
        while writer.out.len() < to {
            writer.write(b, format!("{:06}", writer.out.len()).as_bytes());
        }
    };
    // The first piece lies before the boundary, as far as there is room; the second one begins a minor unit.
    fill(&mut writer, 1025 + 2048 + 1000);
    let first = writer.out.len();
    writer.write_more(a, b"begins", true);
    let second = writer.out.len();
    writer.write_more(a, b", and ends", false);
    writer.write(a, b"another");
    fill(&mut writer, 1025 + 3 * 2048 + 300);
    let mut data = writer.stop();
    let written = walk::<8>(&data).records;
    assert_eq!(written[&(0, a)], [&b"begins, and ends"[..], b"another"]);
    let of_a = |data: &[u8]| {
        let mut buffer = [0; 256];
        let mut records = Records::new(data, [StreamSlot::EMPTY; 8], &mut buffer);
        let mut all = Vec::new();
        loop {
            match records.next_step() {
                Step::Record(record) if record.stream().id() == a => {
                    all.push(record.bytes().unwrap().to_vec())
                }
                Step::End => return all,
                _ => {}
            }
        }
    };
    // The index leads to the second piece, as it would if the first one had been written in another minor unit.
    let index = 1025 + 2 * 2048;
    let [low, high] =
        [index - first, index - second].map(|back| [(back << 1) as u8 | 0x80, (back >> 6) as u8]);
    let at = index + data[index..].windows(2).position(|two| two == low).unwrap();
    data[at..at + 2].copy_from_slice(&high);
    data[first - 16..first - 2].fill(0xff);
    assert_eq!(of_a(&data), [b"another"]);
}

/// Two sessions of a stream each, with the names and as many records as given, and where the second one begins.
fn two_sessions(sessions: [(Options, &str, u32); 2]) -> (Vec<u8>, usize) {
    let (mut data, mut head) = (Vec::new(), 0);
    for (options, name, records) in sessions {
        head = data.len();
        let mut writer = Writer::append_to(data, options);
        let id = writer.stream(&format!(r#""name":"{name}""#));
        (0..records).for_each(|n| writer.write(id, &[&[n as u8], name.as_bytes()].concat().repeat(15)));
        data = writer.stop();
    }
    (data, head)
}

/// A session of the same sizes whose head is lost: its units are not read with the streams of the session before.
#[test]
fn a_session_without_its_head_is_another_one() {
    let options = Options::sizes(4096, 2048);
    let (mut data, head) = two_sessions([(options.clone(), "first", 30), (options, "second", 160)]);
    let whole = walk::<4>(&data);
    data[head..head + 1025 + 200].fill(0);
    let seen = walk::<4>(&data);
    assert_eq!(seen.gaps.len(), 1, "{:?}", seen.gaps);
    assert_eq!(seen.records[&(0, 9)], whole.records[&(0, 9)]);
    let (read, written) = (&seen.records[&(1, 9)], &whole.records[&(1, 9)]);
    assert!(read.len() * 2 > written.len() && written.ends_with(read), "{} of {}", read.len(), written.len());
}

/// What follows a gap is of the session that begins there, though no frame of a default stream has told so yet.
#[test]
fn records_right_after_a_gap_are_of_its_session() {
    let options = Options::sizes(4096, 2048);
    let (mut data, head) = two_sessions([(options.clone(), "first", 30), (options, "second", 160)]);
    data[head..head + 1025 + 200].fill(0);
    let mut buffer = [0; 4096];
    let mut records = rtc::recover::Records::new(&data, [StreamSlot::EMPTY; 4], &mut buffer);
    let mut sessions = Vec::new();
    loop {
        match records.next_step() {
            Step::Record(record) => sessions.push(record.session()),
            Step::Gap(_) => sessions.clear(),
            Step::Frame(_) => {}
            _ => break,
        }
    }
    assert!(sessions.len() > 80 && sessions.iter().all(|session| *session == 1), "{sessions:?}");
}

/// A session may end where the index of a minor unit is due, and another one begin.
#[test]
fn a_session_may_end_at_a_boundary() {
    let (sound, _) = file(Options::sizes(8192, 2048), 20_000);
    let boundary = 1025 + 2048;
    let data = [&sound[..boundary], &sound].concat();
    let seen = walk::<8>(&data);
    assert_eq!((seen.gaps.len(), seen.frames.len() > 100), (0, true));
    // A later unit of the same session is none.
    let data = [&sound[..boundary], &sound[8192..]].concat();
    let seen = walk::<8>(&data);
    assert_eq!(seen.gaps.first().map(|gap| gap.cause().kind().code()), Some("unexpected"));
}

/// Sessions whose Metas say the same are told apart by the numbers, the sizes and the grid of their units.
#[test]
fn sessions_are_told_apart_by_their_units() {
    let small = || (Options::sizes(4096, 2048), "same", 30);
    let long = || (Options::sizes(4096, 2048), "same", 400);
    let resized = || (Options::sizes(8192, 2048), "same", 400);
    // The end of the first session is damaged; or the head of the second one is lost.
    for (sessions, before, after) in
        [([small(), long()], 5, 0), ([small(), resized()], 0, 1225), ([long(), long()], 0, 1225)]
    {
        let (mut data, head) = two_sessions(sessions);
        data[head - before..head + after].fill(0xff);
        let seen = walk::<4>(&data);
        assert_eq!(seen.gaps.len(), 1, "{:?}", seen.gaps);
        assert_eq!(seen.records.keys().collect::<Vec<_>>(), [&(0, 9), &(1, 9)]);
    }
}

/// Most bytes of the only Marker are there: its unit is read all the same.
#[test]
fn the_only_marker_may_be_damaged() {
    let (data, _) = file(Options::sizes(1 << 16, 2048), 20_000);
    let whole = walk::<8>(&data).frames;
    for (at, len) in [(0, 1), (500, 1), (0, 400)] {
        let mut damaged = data.clone();
        damaged[at..at + len].fill(0);
        let seen = walk::<8>(&damaged);
        assert_eq!(seen.frames, whole[1..], "{at} {len}");
        assert_eq!(seen.gaps.iter().map(|gap| (gap.offset(), gap.len())).collect::<Vec<_>>(), [(0, 1025)]);
        assert!(rtc::detect(&damaged) && rtc::recover::probe(&damaged).is_ok());
    }
}
