//! Input that is made to cost time.

use crate::*;

/// The start of a file: a Marker, an Index with these sizes, a Meta, the platform.
fn start(major: u64, minor: u64, meta: &str) -> Vec<u8> {
    let mut data = vec![4];
    data.extend([0xb9; 1024]);
    let mut index = vec![0];
    [7, major * 2, 9, minor * 2].into_iter().for_each(|n| int(&mut index, n));
    data.extend([6, index.len() as u8]);
    data.extend(index);
    data.extend([10, meta.len() as u8]);
    data.extend(meta.bytes());
    data.extend([14, 4, 3, 2, 1]);
    data
}

/// The index of a minor unit.
fn minor_index(back: u64) -> Vec<u8> {
    let mut index = Vec::new();
    [7, back * 2].into_iter().for_each(|n| int(&mut index, n));
    [&[8, index.len() as u8], &index[..]].concat()
}

/// Longer than a file that takes time in proportion to its size could take, by far.
const LEN: usize = 2 << 20;

/// An index that is right at each boundary, a fault after it, and then frames of default streams alone: none of them
/// says what record goes on there, and to look for one to the end of the file each time would take hours.
#[test]
fn looking_for_a_record_that_goes_on_is_linear() {
    let mut data = start(1 << 40, 2048, "[9]");
    for at in (1025 + 2048..LEN).step_by(2048) {
        data.resize(at, 0);
        data.extend(minor_index(at as u64 - 1025));
        // A Crc in the middle of a unit.
        data.extend([16, 1, 2, 3, 5]);
    }
    let seen = walk::<8>(&data);
    let boundaries = LEN / 2048 - 1;
    assert!(seen.gaps.len() >= boundaries - 1, "{}", seen.gaps.len());
}

/// The next unit has no Meta, but what looks as if one might follow to the end of the file.
#[test]
fn looking_for_a_meta_is_linear() {
    let half = LEN as u64 / 2;
    let mut data = start(half, 2048, "[9]");
    for at in (1025 + 2048..half as usize).step_by(2048) {
        data.resize(at, 0);
        data.extend(minor_index(at as u64 - 1025));
        data.extend([16, 1, 2, 3, 5]);
    }
    data.resize(half as usize, 0);
    let mut next = start(half, 2048, "");
    next.truncate(next.len() - 7);
    data.extend(next);
    data.resize(LEN, 0);
    let gaps = walk::<8>(&data).gaps.len();
    assert!(gaps > LEN / 2 / 2048 - 10, "{gaps}");
}

/// Indices of units that were shifted, each leading to two frames and to a place of its own in a large unit: there is
/// much to be looked for after each.
#[test]
fn looking_for_units_is_linear() {
    for major in [1 << 13, 1 << 40] {
        let mut data = start(major, 2048, "[9]");
        let cycle = [0x7e, 0x12, 0x14, 8, 7, 7, 0x80, 0x20, 0x13, 4, 0x15, 2];
        data.extend(cycle.iter().cycle().take(LEN / 4));
        assert!(walk::<8>(&data).gaps.len() > LEN / 4 / cycle.len() - 10);
    }
}

/// A checksum in each minor unit, in front of a Marker that does not count: each would cover all from the first on.
#[test]
fn checksums_are_linear() {
    let mut data = start(1 << 40, 2048, "[9]");
    for at in (1025 + 2048..8 * LEN).step_by(2048) {
        data.resize(at, 0);
        data.extend(minor_index(at as u64 - 1025));
        data.extend([16, 1, 2, 3, 5]);
        let mut other = start(1 << 30, 2048, "[9]");
        other[1025 + 2] = 5;
        data.extend(other);
    }
    let mut wrong = 0;
    let frames = check::<8>(&data, |finding| {
        wrong += u32::from(matches!(finding.cause().kind(), ErrorKind::ChecksumMismatch { .. }));
    });
    assert_eq!(wrong, 1, "that of the bytes that no other covers");
    assert!(frames > 2 * (8 * LEN as u64 / 2048 - 2), "{frames}");
}
