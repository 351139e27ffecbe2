//! Damage: what is lost, and what is not.

use crate::common::dial9::{LIST, STRING, VARINT, Writer, sample};
use crate::common::{mutations, prefixes};
use crate::read;
use traceglass::dial9::element::{
    ANNOTATIONS, EVENT, FIELD, FRAME, HEADER, SCHEMA, STACK_POOL, STRING_POOL, TIME_RESET, VALUE,
};
use traceglass::dial9::{Frames, Trace};
use traceglass::{Element, ErrorKind};

#[test]
fn every_prefix_gives_its_whole_frames() {
    let data = sample();
    let whole = read(&data).frames;
    let mut boundaries = 0;
    for prefix in prefixes(&data) {
        let told = read(prefix);
        let end = prefix.len() as u64;
        let count = told.frames.len();
        assert_eq!(told.frames, whole[..count]);
        let next = whole.get(count).map_or(data.len() as u64, |(offset, _)| *offset);
        if next == end && !prefix.is_empty() {
            // The input ends where a frame does: nothing is missing.
            assert_eq!(told.errors, []);
            boundaries += 1;
        } else {
            assert_eq!(told.errors.len(), 1);
            assert!(told.errors[0].is_truncation(), "{}", told.errors[0]);
            assert_eq!((told.gaps[0].offset(), told.gaps[0].end()), (next, end));
        }
    }
    assert_eq!(boundaries, whole.len());
}

/// What must hold is checked while reading. What lies before the damage is as it was.
#[test]
fn every_mutation_is_read_to_the_end() {
    let data = sample();
    let whole = read(&data).frames;
    let second = whole.iter().rev().find(|(_, said)| said == "header").unwrap().0;
    let mut reached = 0;
    mutations(&data, |place, mutant| {
        let told = read(mutant);
        let before: Vec<_> = whole.windows(2).take_while(|pair| pair[1].0 <= place as u64).collect();
        assert_eq!(told.frames[..before.len()], whole[..before.len()], "byte {place}");
        // A batch is read whatever is in the one before it, unless that claims it.
        if (place as u64) < second && told.frames.iter().any(|(offset, _)| *offset == second) {
            let after = told.frames.iter().filter(|(offset, _)| *offset >= second);
            assert!(after.eq(whole.iter().filter(|(offset, _)| *offset >= second)), "byte {place}");
            reached += 1;
        }
    });
    assert!(reached > 8 * second / 2, "{reached} of {}", 8 * second);
}

/// A batch whose frame is damaged, and one after it.
fn damaged(bad: &Writer) -> (u64, Vec<u8>) {
    let start = Writer::new().header().schema(1, "A", &[("s", STRING)]).event(1, 1).text("before");
    let at = start.0.len() as u64;
    let data = start.raw(&bad.0).header().schema(1, "B", &[("n", VARINT)]).event(1, 2).varint(9);
    (at, data.0)
}

#[test]
fn each_error_is_located_and_the_next_batch_is_read() {
    let new = Writer::new;
    let end = |needed| ErrorKind::UnexpectedEnd { needed };
    let event = |value: Writer| new().event(1, 0).raw(&value.0);
    let list = |value: Writer| new().schema(2, "L", &[("l", LIST)]).event(2, 0).raw(&value.0);
    let deep = (0..40).fold(new(), |writer, _| writer.u32(1).raw(&[LIST]));
    // The bytes of the batch after it.
    let (at, all) = damaged(&new());
    let rest = all.len() as u64 - at;
    let cases: Vec<(Writer, u64, Element, ErrorKind)> = vec![
        (new().raw(&[0]), 0, FRAME, ErrorKind::Invalid { value: 0 }),
        (new().raw(&[7]), 0, FRAME, ErrorKind::Invalid { value: 7 }),
        (new().raw(b"TRX"), 0, HEADER, ErrorKind::BadMagic { found: *b"TRXT\0\0\0\0" }),
        (new().raw(b"TRC\0\x02"), 0, HEADER, ErrorKind::UnsupportedVersion { found: 2, supported: 1 }),
        (new().event(2, 0), 0, EVENT, ErrorKind::NoSuchClass { id: 2 }),
        (new().reset(u64::MAX).event(1, 1).text(""), 9, EVENT, ErrorKind::Overflow { value: 1 }),
        (event(new().u32(100)), 6, VALUE, end(100 - rest)),
        (event(new().u32(u32::MAX)), 6, VALUE, end(u64::from(u32::MAX) - rest)),
        (
            new().schema(2, "N", &[("n", VARINT)]).event(2, 0).raw(&[0xff; 11]),
            19,
            VALUE,
            ErrorKind::IntegerTooWide { bits: 64 },
        ),
        (list(new().u32(1).raw(&[0])), 23, VALUE, ErrorKind::Invalid { value: 0 }),
        (list(new().u32(1).raw(&[0x8b])), 23, VALUE, ErrorKind::Invalid { value: 0x8b }),
        (list(new().u32(1000)), 19, VALUE, end(2000 - rest)),
        (list(deep), 19 + 33 * 5, VALUE, ErrorKind::TooDeep { limit: 33 }),
        (new().schema(1, "A", &[("s", VARINT)]), 0, SCHEMA, ErrorKind::Contradictory),
        (new().schema(1, "B", &[("s", STRING)]), 0, SCHEMA, ErrorKind::Contradictory),
        (new().schema(2, "B", &[("s", 0)]), 12, FIELD, ErrorKind::Invalid { value: 0 }),
        (new().schema(2, "B", &[("s", 0x90)]), 12, FIELD, ErrorKind::Invalid { value: 0x90 }),
        (new().raw(&[1]).u16(2).u16(2).raw(b"\xff\xfe\x01\0\0"), 5, SCHEMA, ErrorKind::NotUtf8),
        (new().raw(&[1]).u16(2).short("").raw(&[1]).u16(500), 6, SCHEMA, end(1500 - rest)),
        (new().raw(&[3]).u32(1000), 1, STRING_POOL, end(8000 - rest)),
        (new().raw(&[3]).u32(1).u32(0).u32(90), 5, STRING_POOL, end(90 - rest)),
        (new().raw(&[4]).u32(1000), 1, STACK_POOL, end(8000 - rest)),
        (new().raw(&[4]).u32(1).u32(0).u32(0x2000_0001), 5, STACK_POOL, end(0x1_0000_0008 - rest)),
        (new().raw(&[6]).varint(1).u16(300), 2, ANNOTATIONS, end(2400 - rest)),
        (
            new().raw(&[6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]),
            1,
            ANNOTATIONS,
            ErrorKind::IntegerTooWide { bits: 64 },
        ),
    ];
    for (bad, within, element, kind) in cases {
        let (at, data) = damaged(&bad);
        let told = read(&data);
        let resync = at + bad.0.len() as u64;
        // What stands before the damage within `bad` is read.
        let gap = told.gaps[0];
        let error = told.errors[0];
        assert_eq!((error.offset(), error.element(), error.kind()), (at + within, element, kind), "{error}");
        assert!((at..=at + within).contains(&gap.offset()));
        assert_eq!((told.gaps.len(), gap.end()), (1, resync), "{error}");
        let said: Vec<&str> = told.frames.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(said[2], "1 A s=\"before\"");
        assert_eq!(said[said.len() - 3..], ["header", "1 B: [n: Varint]", "2 B n=Varint(9)"]);
    }
    // The last frame is cut.
    let data = Writer::new().header().raw(&[5, 1]).0;
    let error = read(&data).errors[0];
    assert_eq!((error.offset(), error.element(), error.kind()), (6, TIME_RESET, end(7)));
}

#[test]
fn what_looks_like_a_header_is_none_without_a_frame_after_it() {
    let decoys: [&[u8]; 5] = [
        // Nothing that can follow a header.
        b"TRC\0\x01\x02\0\0",
        b"TRC\0\x01\0",
        b"TRC\0\x01TRX",
        // A schema with more fields than there are bytes.
        b"TRC\0\x01\x01\0\0\0\0\x01\xff\xff",
        // Text that is longer than the input.
        b"TRC\0\x01\x03\x01\0\0\0\0\0\0\0\xff\xff\0\0",
    ];
    for decoy in decoys {
        let (at, data) = damaged(&Writer::new().raw(&[0xee]).raw(decoy).raw(&[0; 20]));
        let told = read(&data);
        assert_eq!(told.gaps.len(), 1, "{}", decoy.escape_ascii());
        assert_eq!(told.gaps[0].end(), at + 21 + decoy.len() as u64, "{}", decoy.escape_ascii());
    }
}

/// Each of many decoys claims everything up to the end, which is damaged: to look at all of each would be work without
/// bounds. The steps of the test end; how many bytes are looked at is counted by instructions in the benchmarks.
#[test]
fn decoys_in_each_other_end() {
    let decoy = Writer::new().header().raw(&[3]).u32(2).u32(0).u32(14);
    let mut data = Writer::new().header().raw(&[0xee]);
    for _ in 0..4_000 {
        data = data.raw(&decoy.0);
    }
    let told = read(&data.0);
    assert!(told.frames.len() + told.gaps.len() <= 8_000);
}

#[test]
fn a_damaged_start_costs_only_its_batch() {
    let data = sample();
    let second = read(&data).frames.iter().rev().find(|(_, said)| said == "header").unwrap().0;
    for start in [1, 3, 5, 40] {
        let cut = &data[start..];
        assert!(Trace::parse(cut).is_err());
        let told = read(cut);
        assert_eq!(told.gaps[0].end(), second - start as u64);
        assert_eq!(told.frames.len(), 7);
    }
    let empty = read(b"");
    assert_eq!((empty.errors.len(), empty.errors[0].kind()), (1, ErrorKind::UnexpectedEnd { needed: 5 }));
    let mut rooms = crate::Rooms::default();
    assert_eq!(Frames::new(b"no trace", rooms.lend()).count(), 1);
    assert!(Trace::parse(&data).is_ok());
}
