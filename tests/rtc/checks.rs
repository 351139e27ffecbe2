//! What `check` reports.

use crate::*;

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
        let expected: Vec<_> = places.iter().map(|place| (place * 8192, 0, GapReason::Units)).collect();
        assert_eq!(gaps, expected);
        let kind = seen.gaps[0].cause().kind();
        assert!(matches!(kind, ErrorKind::OutOfSequence { .. }), "{kind:?}");
        assert!(seen.verdicts.iter().all(|verdict| *verdict == CrcStatus::Writer));
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
    assert!(matches!(wrong[..], [CrcStatus::Mismatch { .. }]), "{wrong:?}");
    let found = findings(&data);
    assert!(matches!(found[0].cause().kind(), ErrorKind::ChecksumMismatch { .. }), "{found:?}");
    assert_eq!((found.len(), found[0].cause().offset()), (1, 4096 - 5));
}

/// A Meta in two pieces, of which the second one is damaged in a later unit; no Crc tells.
#[test]
fn every_piece_of_a_meta_is_checked_where_it_changes() {
    let mut writer = Writer::new(Options { crc: Crc::None, ..Options::sizes(8192, 2048) });
    let ids: Vec<u64> =
        (0..30).map(|n| writer.stream(&format!(r#""name":"a stream with number {n}""#))).collect();
    while writer.out.len() < 30_000 {
        writer.write(ids[0], &[7; 100]);
    }
    let mut data = writer.stop();
    assert_eq!(findings(&data).iter().filter(|found| found.severity() == Severity::Error).count(), 0);
    let place = 8192 * 2 + data[8192 * 2..].windows(9).position(|text| text == b"number 29").unwrap();
    data[place - 30] = b'x';
    let found = findings(&data);
    let first = found.iter().find(|finding| finding.severity() == Severity::Error).expect("an error").cause();
    assert_eq!(first.element(), rtc::element::META);
    assert!((place as u64 - 60..place as u64).contains(&first.offset()), "{first}, before {place}");
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
    assert_eq!((seen.gaps.len(), &seen.verdicts[..]), (0, &[CrcStatus::Stale][..]));
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
