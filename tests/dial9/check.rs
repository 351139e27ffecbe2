//! Findings.

use crate::common::dial9::{POOLED_STACK, POOLED_STRING, STRING, VARINT, Writer, sample};
use traceglass::dial9::check;
use traceglass::dial9::element::{ANNOTATIONS, EVENT, FRAME, STRING_POOL, VALUE};
use traceglass::{Element, ErrorKind, Severity, Summary};

type Found = Vec<(Severity, u64, Element, ErrorKind)>;

fn found(data: &[u8]) -> (Found, Summary) {
    let mut found = Vec::new();
    let mut rooms = crate::Rooms::default();
    let summary = check(data, rooms.lend(), &mut |finding| {
        let cause = finding.cause();
        found.push((finding.severity(), cause.offset(), cause.element(), cause.kind()));
    })
    .unwrap();
    let count = |severity| found.iter().filter(|(found, ..)| *found == severity).count() as u64;
    assert_eq!((summary.errors(), summary.warnings()), (count(Severity::Error), count(Severity::Warning)));
    (found, summary)
}

#[test]
fn a_good_file_is_clean_and_its_events_are_counted() {
    let (found, summary) = found(&sample());
    assert_eq!((found, summary.items(), summary.is_clean()), (vec![], 5, true));
}

#[test]
fn damage_is_an_error_and_oddities_are_warnings() {
    let fields = [("s", POOLED_STRING), ("k", POOLED_STACK), ("t", STRING)];
    let start = Writer::new().header().schema(1, "A", &fields);
    let notes = start.0.len() as u64;
    let start = start.annotations(9, &[]).annotations(1, &[(2, "unit", "s"), (3, "unit", "s")]);
    let pool = start.0.len() as u64;
    let start = start.raw(&[3]).u32(1).u32(0).text(b"\xff").stacks(&[(0, &[])]);
    let event = start.0.len() as u64;
    let start = start.event(1, 0).u32(0).u32(5).text("ok").event(1, 0).u32(1).u32(0).text(b"\xfe");
    let bad = start.0.len() as u64;
    let data = start.raw(&[0xee]).header().schema(1, "B", &[("n", VARINT)]).event(1, 0).varint(1);
    let (found, summary) = found(&data.0);
    let (warning, error) = (Severity::Warning, Severity::Error);
    assert_eq!(
        found,
        [
            (warning, notes, ANNOTATIONS, ErrorKind::NoSuchClass { id: 9 }),
            (warning, notes + 4 + 4 + 13, ANNOTATIONS, ErrorKind::OutsideRange { start: 0, end: 3 }),
            (warning, pool, STRING_POOL, ErrorKind::NotUtf8),
            (warning, event + 10, VALUE, ErrorKind::NoSuchClass { id: 5 }),
            (error, bad, FRAME, ErrorKind::Invalid { value: 0xee }),
        ]
    );
    assert_eq!(summary.items(), 3);
}

/// Months of segments went unnoticed in which the recorder says no more than that it runs.
#[test]
fn a_segment_in_which_nothing_was_recorded_is_told() {
    let start = Writer::new().header();
    let nothing = start.clone().schema(1, "ClockSyncEvent", &[("realtime_ns", VARINT)]).event(1, 0).varint(1);
    for data in [&start, &nothing] {
        let end = data.0.len() as u64;
        assert_eq!(found(&data.0).0, [(Severity::Warning, end, EVENT, ErrorKind::Missing)]);
    }
    let something = nothing.schema(2, "Own", &[]).event(2, 0);
    assert_eq!(found(&something.0).0, []);
}
