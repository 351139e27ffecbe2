//! RDF's own tables: their rows are what the records tell.

#[path = "../../tests/common/mod.rs"]
mod build;
mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use build::rdf::{self, Chunk};
use build::rdf_contents::{UMD, driver_events, event, rmt};
use common::{Memory, Scratch, ids, names, read, rows, sample, times};
use traceglass::event::Window;
use traceglass_tables::{Damage, Query, Trace, observe, parquet};

const OWN: [&str; 4] = ["markers", "queues", "memory", "resources"];

/// A column of signed integers.
fn signed(batches: &[RecordBatch], column: &str) -> Vec<Option<i64>> {
    let columns = batches.iter().map(|batch| batch.column_by_name(column).unwrap());
    columns.flat_map(|column| column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()).collect()
}

fn text(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    names(batches, column)
}

#[test]
fn markers_are_rows_with_what_is_told_of_them() {
    let file = sample("sample.rgp");
    let trace = Trace::whole(&file);
    let markers = read(&trace, "markers", &Query::default(), 1);
    let found: Vec<_> = text(&markers, "name").into_iter().zip(signed(&markers, "duration_ns")).collect();
    let of = |name: &str, ns| (Some(name.to_owned()), ns);
    let expected = [
        of("Shadows", None),
        of("Frame", None),
        of("Barrier", Some(102_400)),
        of("Clear", Some(102_400)),
        of("Draw", Some(30_515_200)),
        of("Frame", Some(30_720_000)),
    ];
    assert_eq!(found, expected);
    assert_eq!(ids(&markers, "depth"), [1, 0, 2, 1, 1, 0].map(Some));
    // What more the driver noted of the draw.
    let hash = ids(&markers, "api_hash");
    assert_eq!((hash[4], text(&markers, "info")[4].as_deref()), (Some(0xabcd), Some("pipeline_bind")));
    assert_eq!(hash.iter().flatten().count(), 1);
}

/// What is told of a marker belongs to it if it is the one that began last; else it has a row of its own.
#[test]
fn notes_belong_to_the_marker_that_they_name() {
    let numbers = |marker: u32| [5_u32, marker].map(u32::to_le_bytes).concat();
    let begin = |marker: u32| event(16, 1, &[&numbers(marker)[..], &[1, 0, b'a']].concat());
    let note = |marker: u32, hash: u64| {
        event(19, 1, &[&numbers(marker)[..], &[13, 0, 2, 1, 0, 0, 0], &hash.to_le_bytes()].concat())
    };
    let end = |marker: u32| event(17, 1, &numbers(marker));
    let events = [begin(1), begin(2), note(1, 0x11), note(2, 0x22), end(2), end(1)].concat();
    let file = Memory("a.rdf", Ok(rdf::file(&[driver_events(UMD, 0, &events)])));
    let markers = read(&Trace::whole(&file), "markers", &Query::default(), 1);
    let numbers = ids(&markers, "marker").into_iter().zip(ids(&markers, "api_hash"));
    let has_ended = signed(&markers, "duration_ns").into_iter().map(|ns| ns.is_some());
    let found: Vec<_> = numbers.zip(has_ended).collect();
    let row = |marker, hash, has_ended| ((Some(marker), hash), has_ended);
    assert_eq!(found, [row(1, Some(0x11), false), row(2, Some(0x22), true), row(1, None, true)]);
}

#[test]
fn work_on_queues_has_both_its_times() {
    let file = sample("sample.rgp");
    let trace = Trace::whole(&file);
    let queues = read(&trace, "queues", &Query::default(), 1);
    let events = text(&queues, "event");
    let submitted = events.iter().filter(|event| event.as_deref() == Some("CmdBufSubmit")).count();
    assert_eq!((rows(&queues), submitted), (6, 4));
    let times = times(&queues).into_iter().zip(signed(&queues, "end_time_ns"));
    let mut found: Vec<_> = ids(&queues, "queue").into_iter().zip(times).collect();
    found.sort_unstable();
    let row = |queue, begin, end| (Some(queue), (Some(begin), end));
    let expected = [
        row(1, 101_000, Some(109_000)),
        row(1, 109_000, Some(125_000)),
        row(1, 125_000, None),
        row(1, 131_000, None),
        row(2, 104_000, Some(130_000)),
        row(2, 120_000, Some(126_000)),
    ];
    assert_eq!(found, expected);
    assert_eq!(signed(&queues, "cpu_time_ns"), [Some(100_000); 6]);
}

#[test]
fn tokens_are_rows_and_resources_last() {
    let file = sample("sample.rgp");
    let trace = Trace::whole(&file);
    let memory = read(&trace, "memory", &Query::default(), 1);
    let kinds = [
        "virtual_allocate",
        "resource_create",
        "resource_bind",
        "userdata",
        "resource_destroy",
        "virtual_free",
    ];
    assert_eq!(text(&memory, "kind"), kinds.map(|kind| Some(kind.to_owned())));
    assert_eq!(ids(&memory, "size")[0], Some(16_384));
    let resources = read(&trace, "resources", &Query::default(), 1);
    assert_eq!(ids(&resources, "resource"), [Some(7)]);
    assert_eq!(
        (ids(&resources, "address"), signed(&resources, "duration_ns")),
        (vec![Some(0x10000)], vec![Some(288_000)])
    );
    let heaps = memory[0].column_by_name("heaps").unwrap().as_string::<i32>().value(0);
    assert_eq!(heaps, r#"["system","none","none","none"]"#);
    assert_eq!(text(&resources, "resource_type"), [Some("image".to_owned())]);
}

/// A `userdata` token of a kind.
fn user_data(kind: u32, payload: &[u8]) -> Vec<u8> {
    [&(4 | kind << 8 | (payload.len() as u32) << 12).to_le_bytes()[..], payload].concat()
}

#[test]
fn resources_have_their_names() {
    let stamp = |units: u64| [&(units << 4).to_le_bytes()[..], &1_000_000_000_u32.to_le_bytes()].concat();
    let create = |resource: u32| {
        let mut token = vec![13];
        token.extend(resource.to_le_bytes());
        token.extend([0, 2, 0]); // a GPU event, which has one byte more
        token
    };
    let destroy = |resource: u32| [&[15][..], &resource.to_le_bytes()].concat();
    let name = |text: &str, id: u32| user_data(0, &[text.as_bytes(), &[0], &id.to_le_bytes()].concat());
    let name_v2 = |text: &str, id: u32| {
        user_data(6, &[text.as_bytes(), &[0], &id.to_le_bytes()[..], &0_u64.to_le_bytes()].concat())
    };
    let correlated =
        |resource: u32, id: u32| user_data(4, &[resource.to_le_bytes(), id.to_le_bytes()].concat());
    let tokens = [
        stamp(1),
        create(7),
        name("old", 7),
        destroy(7),
        // The number comes back, without a name.
        create(7),
        create(8),
        correlated(8, 99),
        name_v2("new", 99),
        stamp(100),
        destroy(8),
    ];
    let file = Memory("a.rdf", Ok(rdf::file(&[rmt(77, 1, &tokens.concat())])));
    let trace = Trace::whole(&file);
    let resources = read(&trace, "resources", &Query::default(), 1);
    let found: Vec<_> = ids(&resources, "resource").into_iter().zip(text(&resources, "name")).collect();
    let of = |number, name: Option<&str>| (Some(number), name.map(str::to_owned));
    assert_eq!(found, [of(7, Some("old")), of(8, Some("new")), of(7, None)]);
    assert_eq!(signed(&resources, "end_time_ns"), [Some(32), Some(3200), None]);
}

#[test]
fn windows_cut_what_lasts() {
    let file = sample("sample.rgp");
    let trace = Trace::whole(&file);
    let query = |from, to| Query { window: Window::new(from, to), ..Query::default() };
    // Of what began before, the end is an instant, as in `events`.
    let late = read(&trace, "queues", &query(Some(126_000), Some(131_000)), 1);
    assert_eq!(times(&late), [Some(126_000), Some(130_000)]);
    assert_eq!(
        (signed(&late, "end_time_ns"), ids(&late, "gpu_end")),
        (vec![None, None], vec![Some(52_600), Some(53_000)])
    );
    // Their begin alone.
    let early = read(&trace, "queues", &query(None, Some(104_500)), 1);
    assert_eq!(
        (times(&early), signed(&early, "end_time_ns")),
        (vec![Some(101_000), Some(104_000)], vec![None, None])
    );
}

#[test]
fn empty_tables_are_there_and_other_formats_have_none() {
    let scratch = Scratch::new("rdf");
    let file = Memory("a.rdf", Ok(rdf::file(&[Chunk::raw("Nothing", b"")])));
    let summary =
        parquet::export(&Trace::whole(&file), "a", &scratch.0, &Query::default(), 1, &|_| ()).unwrap();
    assert!(!summary.rows.iter().any(|(name, _)| OWN.contains(&name.as_str())));
    for table in OWN {
        assert!(scratch.0.join(table).join("trace=a/part-0000.parquet").exists(), "{table}");
    }
    let file = sample("sample.rtc");
    assert!(OWN.iter().all(|table| Trace::whole(&file).table(table).is_err()));
}

#[test]
fn an_unknown_version_is_told_and_no_damage() {
    let queue = |version| Chunk::raw("QueueEvent", &[0; 72]).version(version);
    let file = Memory("a.rdf", Ok(rdf::file(&[queue(9), queue(1)])));
    let trace = Trace::whole(&file);
    let gaps = read(&trace, "gaps", &Query::default(), 1);
    assert_eq!(text(&gaps, "what"), [Some("unsupported-version".to_owned())]);
    assert!(gaps[0].column_by_name("message").unwrap().is_valid(0));
    let mut damage = Damage::default();
    let number = trace.table("gaps").unwrap();
    gaps.iter().for_each(|batch| observe(&mut damage, number, batch));
    assert_eq!(damage.count(), 0);
    // A chunk that is cut is damage.
    let file = Memory("a.rdf", Ok(rdf::file(&[Chunk::raw("QueueEvent", &[0; 71])])));
    let gaps = read(&Trace::whole(&file), "gaps", &Query::default(), 1);
    gaps.iter().for_each(|batch| observe(&mut damage, number, batch));
    assert_eq!(damage.count(), 1);
}
