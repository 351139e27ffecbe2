//! RTC as deployed: every rule, damage everywhere, at any alignment.
#![cfg(feature = "rtc")]

mod common;

use common::rtc::{Crc, Options, Writer, deployed, int};
use common::{at_alignments, lies_in, mutations, prefixes};
use std::collections::{BTreeMap, HashSet};
use traceglass::rtc::{self, Clocks, Gap, Meta, Reason, Streams, Verdict, Walk};
use traceglass::{ErrorKind, Finding, Severity};

/// What a walk gives.
#[derive(Default)]
struct Seen {
    /// Offset, id and end of each frame.
    frames: Vec<(u64, u64, u64)>,
    /// By session and id: the records that were seen from their beginning to their end.
    records: BTreeMap<(u64, u64), Vec<Vec<u8>>>,
    gaps: Vec<Gap>,
    verdicts: Vec<Verdict>,
}

/// Walks all of it, and checks on the way what holds for any input.
fn walk<const N: usize>(data: &[u8]) -> Seen {
    let mut walk = Walk::<N>::new(data);
    let mut seen = Seen::default();
    let mut open: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let mut at = 0;
    loop {
        while let Some(item) = walk.next_frame() {
            let frame = match item {
                Ok(frame) => frame,
                Err(error) => {
                    assert!(error.offset() <= data.len() as u64, "{error}");
                    assert!(walk.next_frame().is_none() && walk.next_frame().is_none(), "after {error}");
                    break;
                }
            };
            assert_eq!(frame.offset(), at, "frames and gaps tile the input");
            assert!(lies_in(frame.payload(), data));
            at = frame.end();
            seen.frames.push((frame.offset(), frame.id(), frame.end()));
            if frame.id() == rtc::id::CRC {
                seen.verdicts.push(walk.verdict::<1>());
            }
            if frame.is_user() {
                let key = (walk.session(), frame.id());
                if !frame.continues() {
                    open.insert(key, Vec::new());
                }
                let Some(record) = open.get_mut(&key) else { continue };
                record.extend(frame.payload());
                if !frame.more() {
                    let record = open.remove(&key).unwrap();
                    seen.records.entry(key).or_default().push(record);
                }
            }
        }
        let Some(gap) = walk.resync() else { break };
        assert_eq!(gap.offset(), at, "frames and gaps tile the input");
        at = gap.end();
        open.clear();
        seen.gaps.push(gap);
        assert!(seen.gaps.len() <= data.len() + 1);
    }
    assert_eq!(at, data.len() as u64, "frames and gaps tile the input");
    assert!(walk.resync().is_none() && walk.next_frame().is_none());
    seen
}

fn findings(data: &[u8]) -> Vec<Finding> {
    let mut found = Vec::new();
    Walk::<64>::new(data).check(|finding| found.push(finding));
    found
}

/// Three streams of all sorts, and what was written to each.
fn file(options: Options, len: usize) -> (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>) {
    let mut writer = Writer::new(options);
    let text = writer.stream(r#""name":"text","format":"utf-8""#);
    let fixed = writer.stream(r#""name":"fixed","length":100,"format":"raw""#);
    let small = writer.stream(r#""name":"small","length":4,"format":"uint32""#);
    let mut late = None;
    let mut written: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let mut n = 0_u32;
    while writer.out.len() < len {
        n += 1;
        let mut write = |writer: &mut Writer, id, data: Vec<u8>| {
            writer.write(id, &data);
            written.entry(id).or_default().push(data);
        };
        write(&mut writer, text, format!("line {n}").repeat(1 + n as usize % 5).into_bytes());
        write(&mut writer, fixed, (0..100).map(|i| (n + i) as u8).collect());
        write(&mut writer, small, n.to_le_bytes().to_vec());
        if n.is_multiple_of(11) {
            write(&mut writer, text, vec![b'x'; 1000 + n as usize % 2500]);
        }
        if n == 30 {
            late = Some(writer.stream(r#""name":"late","length":3"#));
        }
        if let Some(late) = late {
            write(&mut writer, late, vec![n as u8; 3]);
        }
    }
    (writer.stop(), written)
}

fn small_file() -> (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>) {
    file(Options::sizes(4096, 2048), 14_000)
}

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
            assert!(gap.cause().is_truncation() && gap.reason() == Reason::Truncated, "{gap:?}");
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
        assert!(rtc::detect(&data[cut..]) && rtc::probe(&data[cut..]).is_ok(), "{cut}");
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
    let part = &data[..];
    mutations(part, |place, mutant| {
        // Each place costs 8 runs: a sample of them, denser where the structure is.
        if place % 17 != 0 && place % 2048 > 1024 + 300 {
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
        Walk::<8>::new(mutant).check(|finding| assert!(finding.cause().offset() <= mutant.len() as u64));
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

#[test]
fn a_search_is_linear() {
    for byte in [0xb9, 0x04, 0x08, 0x00, 0x07] {
        let data = vec![byte; 4 << 20];
        let begun = std::time::Instant::now();
        assert!(!rtc::detect(&data) && rtc::probe(&data).is_err());
        assert_eq!(walk::<4>(&data).frames, []);
        assert!(begun.elapsed().as_millis() < 3000, "{byte:#x}: {:?}", begun.elapsed());
    }
    // Behind a good start, a search for whatever comes next.
    let (mut data, _) = small_file();
    for pattern in
        [&b"\x08\x07\x07\x80\x20\x13\x02"[..], b"\xb9", b"\x04\xb9\xb9\x06\x22\x00\x07", b"{\"id\":"]
    {
        let filled = data.len();
        data.extend(pattern.iter().cycle().take(4 << 20));
        let begun = std::time::Instant::now();
        walk::<8>(&data);
        assert!(begun.elapsed().as_millis() < 5000, "{pattern:?}: {:?}", begun.elapsed());
        data.truncate(filled);
    }
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

#[test]
fn units_out_of_order_are_read_and_reported() {
    let (data, _) = file(Options::sizes(8192, 2048), 60_000);
    let unit = |n: usize| &data[n * 8192..(n + 1) * 8192];
    let missing = [&data[..8192 * 2], &data[8192 * 3..]].concat();
    let twice = [&data[..8192 * 3], unit(2), &data[8192 * 3..]].concat();
    let swapped = [&data[..8192 * 2], unit(3), unit(2), &data[8192 * 4..]].concat();
    for (damaged, places) in [(missing, vec![2]), (twice, vec![3]), (swapped, vec![2, 3, 4])] {
        let seen = walk::<8>(&damaged);
        let gaps: Vec<_> = seen.gaps.iter().map(|gap| (gap.offset(), gap.len(), gap.reason())).collect();
        let expected: Vec<_> = places.iter().map(|place| (place * 8192, 0, Reason::Units)).collect();
        assert_eq!(gaps, expected);
        let kind = seen.gaps[0].cause().kind();
        assert!(matches!(kind, ErrorKind::OutOfSequence { .. }), "{kind:?}");
        assert!(seen.verdicts.iter().all(|verdict| *verdict == Verdict::Writer));
    }
}

#[test]
fn checksums_tell_damage_that_frames_do_not_show() {
    let (mut data, _) = small_file();
    let place = data.windows(6).position(|window| window == b"line 3").unwrap() + 5;
    data[place] ^= 1;
    let seen = walk::<8>(&data);
    assert_eq!(seen.gaps, []);
    let wrong: Vec<_> = seen.verdicts.iter().filter(|verdict| !verdict.is_right()).collect();
    assert!(matches!(wrong[..], [Verdict::Mismatch { .. }]), "{wrong:?}");
    let found = findings(&data);
    assert!(matches!(found[0].cause().kind(), ErrorKind::ChecksumMismatch { .. }), "{found:?}");
    assert_eq!((found.len(), found[0].cause().offset()), (1, 4096 - 5));
}

#[test]
fn a_stale_checksum_is_told_from_a_wrong_one() {
    let mut writer = Writer::new(Options::sizes(16384, 2048));
    let a = writer.stream(r#""name":"a""#);
    // Up to 3 bytes before the first minor unit.
    writer.begin();
    loop {
        match 1025 + 2048 - 3 - writer.out.len() {
            0 => break,
            left @ ..=102 => writer.write(a, &vec![1; left - 2]),
            left => writer.write(a, &vec![1; (left - 10).min(90)]),
        }
    }
    let mut data = writer.out.clone();
    assert_eq!(data.len(), 1025 + 2048 - 3);
    let crc = deployed(&data[1025..]);
    data.extend([2, 1, 0]);
    let mut index = Vec::new();
    [7, 2048 * 2].into_iter().for_each(|n| int(&mut index, n));
    data.extend([8, index.len() as u8]);
    data.extend(&index);
    data.push(16);
    data.extend(crc.to_le_bytes());
    let seen = walk::<8>(&data);
    assert_eq!((seen.gaps.len(), &seen.verdicts[..]), (0, &[Verdict::Stale][..]));
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

fn streams<'a>(text: &'a str) -> (Streams<'a, 16>, Vec<(u64, &'static str)>) {
    let mut meta = Meta::new(text.as_bytes(), 100);
    let mut streams = Streams::new();
    let mut errors = Vec::new();
    while let Some(stream) = meta.next_stream() {
        match stream {
            Ok(stream) => streams.insert(stream).unwrap(),
            Err(error) => errors.push((error.offset(), error.kind().code())),
        }
    }
    errors.extend(meta.check().err().map(|error| (error.offset(), error.kind().code())));
    (streams, errors)
}

#[test]
fn a_meta_is_read_leniently() {
    let ids = |text| streams(text).0.iter().map(rtc::Stream::id).collect::<Vec<_>>();
    assert_eq!(ids(r#"[{"id":9,"name":"a"},{"id":10},11]"#), [9, 10]);
    // Two arrays, the first one unfinished.
    let (table, errors) = streams(r#"[{"id":9},{"id":10},[{"id":9},{"id":10},{"id":11},12]"#);
    assert_eq!((table.len(), errors), (3, vec![]));
    // An object that breaks off: the next one is read.
    let (table, errors) = streams(r#"[{"id":9,"na"name":"b"},{"id":10,"name":"c"},11]"#);
    assert_eq!((table.len(), errors), (2, vec![]));
    assert!(table.get(9).unwrap().damage().is_some() && table.get(10).unwrap().damage().is_none());
    // No array, no id, ids of other types, nesting without end.
    assert_eq!(streams(r#"{"id":9}"#).1[0], (100, "unexpected"));
    assert_eq!(streams(r#"[{"name":"a"},11]"#).1, [(101, "missing")]);
    assert_eq!(streams(r#"[{"id":"9"},11]"#).1, [(107, "unexpected")]);
    assert_eq!(streams(r#"[{"id":9.5},11]"#).1, [(107, "unexpected")]);
    assert_eq!(streams(r#"[{"id":8},11]"#).1, [(101, "invalid")]);
    assert_eq!(streams("").1, [(100, "unexpected-end")]);
    assert_eq!(streams(&"[".repeat(10_000)).1, [(101, "unexpected")]);
    let nested = format!(r#"[{{"id":9,"a":{}}},{{"id":10}},11]"#, "[".repeat(10_000));
    let (table, _) = streams(&nested);
    assert_eq!(table.get(9).unwrap().damage().unwrap().kind().code(), "too-deep");
    assert!(table.get(10).is_some());
}

#[test]
fn attributes_have_their_defaults_and_synonyms() {
    let (table, errors) = streams(
        r#"[{"id":9,"name":"a\u0062\"c","type":"uint16le","length":null,"x":{"y":[1,2]}},
            {"id":10,"format":"utf-8","type":"raw","length":3,"clock":true,"gain":-1.5e-3,"offset":7},
            {"id":11,"clock":"ab\"c","delta":null,"length":-1,"format":5,"cont":true},12]"#,
    );
    assert_eq!(errors, []);
    let (a, b, c) = (table.get(9).unwrap(), table.get(10).unwrap(), table.get(11).unwrap());
    assert!(a.name().unwrap().is("ab\"c") && a.name().unwrap().borrowed().is_none());
    assert_eq!(
        (a.format(), a.length(), a.clock(), a.cont()),
        (rtc::Format::of("uint16le"), None, None, false)
    );
    assert_eq!(a.attribute("x").unwrap().text().as_slice(), Some(&br#"{"y":[1,2]}"#[..]));
    assert_eq!(a.attributes().count(), 5);
    assert_eq!((b.name(), b.length(), b.format()), (None, Some(3), rtc::Format::Utf8));
    assert_eq!((b.gain().unwrap().digits(), b.gain().unwrap().exponent()), (-15, -4));
    assert_eq!(b.clock(), Some(rtc::ClockOf::Own));
    assert!(matches!(c.clock(), Some(rtc::ClockOf::Named(name)) if name == a.name().unwrap()));
    assert_eq!(c.damage().unwrap().kind(), ErrorKind::Negative { value: -1 });
    assert_eq!((c.delta(), c.length(), c.format(), c.cont()), (None, None, rtc::Format::Raw, true));
}

/// The writer's fault: at a limit of 1024 bytes, the chunk that it was writing begins once more.
#[test]
fn a_meta_in_pieces_is_read_over_its_limits() {
    let objects: Vec<String> = (9..120)
        .map(|id| format!("{{\"id\":{id},\"name\":\"stream {id}\",\"length\":4,\"format\":\"uint32le\"}}"))
        .collect();
    let text = format!("[{},120]", objects.join(","));
    for piece in [1024, 1000, 77, 64] {
        let mut meta = Meta::in_pieces(0);
        let mut table = Streams::<128>::new();
        let count = text.len().div_ceil(piece);
        for (n, part) in text.as_bytes().chunks(piece).enumerate() {
            meta.push(part, (n * piece) as u64, n + 1 < count);
            while let Some(stream) = meta.next_stream() {
                table.insert(stream.unwrap()).unwrap();
            }
        }
        meta.check().unwrap();
        assert_eq!(meta.next_id(), Some(120));
        assert_eq!(table.len(), objects.len(), "pieces of {piece}");
        let sound = |s: &&rtc::Stream| {
            s.damage().is_none() && s.name().is_some_and(|n| n.is(&format!("stream {}", s.id())))
        };
        assert_eq!(table.iter().filter(sound).count(), objects.len(), "pieces of {piece}");
        assert!(table.iter().all(|stream| stream.length() == Some(4)));
    }
}

#[test]
fn deltas_are_latched() {
    let mut writer = Writer::new(Options::sizes(16384, 16384));
    let clk = writer.stream(r#""name":"clk","clock":true,"format":"timespec""#);
    let delta = writer.stream(r#""name":"d","clock":true,"format":"uleb128","gain":1e-3,"delta":"clk""#);
    let deeper = writer.stream(r#""name":"dd","clock":true,"format":"uleb128","gain":1e-9,"delta":"d""#);
    let a = writer.stream(r#""name":"a","clock":"d""#);
    let b = writer.stream(r#""name":"b","clock":"dd""#);
    let c = writer.stream(r#""name":"c","clock":"round""#);
    let none = writer.stream(r#""name":"none","clock":"nowhere""#);
    let round = writer.stream(r#""name":"round","clock":true,"format":"uint8","delta":"round""#);
    let stamp = |seconds: u64, nanoseconds: u32| {
        let mut stamp = seconds.to_le_bytes().to_vec();
        stamp.extend(nanoseconds.to_le_bytes());
        stamp
    };
    let mut expected = Vec::new();
    let mut event = |writer: &mut Writer, id, time: Option<&str>| {
        writer.write(id, b"x");
        expected.push(time.map(str::to_owned));
    };
    event(&mut writer, a, None);
    writer.write(delta, &[100]);
    event(&mut writer, a, None);
    // In two pieces, as one program writes it.
    writer.write_more(clk, &stamp(1000, 556_000_000)[..8], true);
    event(&mut writer, a, None);
    writer.write(clk, &stamp(1000, 556_000_000)[8..]);
    event(&mut writer, a, None);
    writer.write(delta, &[100]);
    event(&mut writer, a, Some("1000.656"));
    writer.write(deeper, &[7]);
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(clk, &stamp(2000, 0));
    event(&mut writer, a, Some("1000.656"));
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(delta, &[1]);
    event(&mut writer, a, Some("2000.001"));
    event(&mut writer, b, Some("1000.656000007"));
    writer.write(round, &[1]);
    event(&mut writer, c, None);
    event(&mut writer, none, None);
    let data = writer.stop();
    let mut walk = Walk::<16>::new(&data);
    let mut clocks = Clocks::<16>::new();
    let mut times = Vec::new();
    while let Some(frame) = walk.next_frame() {
        let frame = frame.unwrap();
        clocks.observe(walk.streams(), walk.byte_order(), &frame);
        if [a, b, c, none].contains(&frame.id()) {
            times.push(clocks.time(&frame).map(|time| time.to_string()));
        }
    }
    assert_eq!(times, expected);
    let warnings = findings(&data);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!((warnings[0].severity(), warnings[0].cause().kind()), (Severity::Warning, ErrorKind::Missing));
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

#[test]
fn misuse_of_a_fixed_length_is_reported_and_survived() {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let fixed = writer.stream(r#""name":"f","length":8"#);
    let other = writer.stream(r#""name":"o""#);
    for n in 0..1500_u32 {
        writer.write(fixed, &u64::from(n).to_le_bytes());
        writer.write(other, b"text");
        if n == 500 {
            writer.write(fixed, b"not eight bytes");
        }
    }
    let seen = walk::<4>(&writer.stop());
    assert!((1..=2).contains(&seen.gaps.len()), "{:?}", seen.gaps);
    assert!(seen.gaps.iter().map(Gap::len).sum::<u64>() <= 2 * 2048);
    assert!(seen.records[&(0, other)].iter().filter(|record| *record == b"text").count() > 1200);
}
