//! The tables that are read back hold what was in the samples, by whichever way it went.

mod common;

use arrow_array::cast::AsArray;
use common::{Memory, Scratch, ids, lent, names, read, recording, rows, sample, times};
use std::collections::BTreeMap;
use std::fs;
use traceglass::event::Window;
use traceglass::rfr::{Chunk, Item, RecordKind};
use traceglass_tables::{Damage, Error, File, Query, Seen, Trace, observe, parquet};

#[test]
fn each_record_is_a_row_of_its_kind() {
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    // By the library itself: offset, time and id of each record.
    let mut expected: BTreeMap<RecordKind, Vec<(u64, i64, Option<u64>)>> = BTreeMap::new();
    for Memory(_, data) in &files[2..] {
        let data = data.as_ref().unwrap();
        let chunk = Chunk::parse(data).unwrap();
        for item in chunk.items() {
            if let Item::Record(record) = item.unwrap() {
                let micros = record.unix_micros(&chunk.header()).unwrap();
                let row = (record.offset(), i64::try_from(micros).unwrap() * 1000, record.iid());
                expected.entry(record.kind()).or_default().push(row);
            }
        }
    }
    assert!(expected.len() >= 5);
    for (kind, table, id) in [
        (RecordKind::NewTask, "new_task", "iid"),
        (RecordKind::TaskPollStart, "task_poll_start", "iid"),
        (RecordKind::TaskPollEnd, "task_poll_end", "iid"),
        (RecordKind::TaskDrop, "task_drop", "iid"),
        (RecordKind::WakerWakeByRef, "waker_wake_by_ref", "task_iid"),
        (RecordKind::WakerClone, "waker_clone", "task_iid"),
    ] {
        let batches = read(&trace, table, &Query::default(), 2);
        let offsets = ids(&batches, "offset").into_iter().map(Option::unwrap);
        let all = offsets.zip(times(&batches)).zip(ids(&batches, id));
        let found: Vec<_> = all.map(|((offset, time), id)| (offset, time.unwrap(), id)).collect();
        assert_eq!(found, expected.remove(&kind).unwrap_or_default(), "{table}");
    }
    let tasks = names(&read(&trace, "task_poll_start", &Query::default(), 1), "task");
    assert!(tasks.contains(&Some("ping".to_owned())));
}

#[test]
fn threads_and_batches_change_nothing() {
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    let whole = read(&trace, "events", &Query::default(), 1);
    for (threads, rows_max) in [(1, 1), (2, 3), (8, 1), (8, 1 << 16)] {
        let query = Query { rows: rows_max, ..Query::default() };
        let batches = read(&trace, "events", &query, threads);
        assert!(batches.iter().all(|batch| batch.num_rows() <= rows_max));
        for column in ["offset", "bytes", "track"] {
            assert_eq!(ids(&batches, column), ids(&whole, column), "{column}");
        }
        assert_eq!(times(&batches), times(&whole));
        assert_eq!(names(&batches, "name"), names(&whole, "name"));
    }
}

#[test]
fn what_is_not_wanted_is_not_made() {
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    let whole = read(&trace, "events", &Query::default(), 1);
    let columns = Some(vec!["kind".to_owned(), "time_ns".to_owned()]);
    let few = read(&trace, "events", &Query { columns, ..Query::default() }, 1);
    let schema = few[0].schema();
    // In the table's order.
    assert_eq!(schema.fields().iter().map(|field| &**field.name()).collect::<Vec<_>>(), ["time_ns", "kind"]);
    assert_eq!(names(&few, "kind"), names(&whole, "kind"));
    // Not even one column: the rows are counted.
    let none = read(&trace, "events", &Query { columns: Some(Vec::new()), ..Query::default() }, 1);
    assert_eq!(rows(&none), rows(&whole));
    let mut sorted: Vec<_> = times(&whole).into_iter().flatten().collect();
    sorted.sort_unstable();
    let middle = i128::from(sorted[sorted.len() / 2]);
    let window = |from, to| Query { window: Window::new(from, to), ..Query::default() };
    let early = rows(&read(&trace, "events", &window(None, Some(middle)), 1));
    assert_eq!(early, sorted.iter().filter(|&&time| i128::from(time) < middle).count());
    assert_eq!(early + rows(&read(&trace, "events", &window(Some(middle), None), 2)), rows(&whole));
    let kinds = Some(["begin".to_owned()].into());
    let begins = read(&trace, "events", &Query { kinds, ..Query::default() }, 1);
    assert!(rows(&begins) > 0 && names(&begins, "kind").iter().all(|kind| kind.as_deref() == Some("begin")));
    let query = Query { columns: Some(vec!["none".to_owned()]), ..Query::default() };
    assert!(matches!(trace.check_columns(&[0], &query), Err(Error::NoColumn(name)) if name == "none"));
    assert!(matches!(trace.table("none"), Err(Error::NoTable(_))));
}

#[test]
fn tracks_are_told_once_and_have_all_events() {
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    for threads in [1, 4] {
        let tracks = ids(&read(&trace, "tracks", &Query::default(), threads), "track");
        let mut unique = tracks.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), tracks.len());
        assert!(
            ids(&read(&trace, "events", &Query::default(), 1), "track").iter().all(|id| tracks.contains(id))
        );
        // The first bit is left to engines that know no unsigned integers.
        assert!(tracks.iter().all(|id| id.is_some_and(|id| id <= i64::MAX as u64)));
    }
}

#[test]
fn parquet_has_what_was_read() {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let scratch = Scratch::new("round-trip");
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    let query = Query { rows: 10, ..Query::default() };
    let summary = parquet::export(&trace, "a b/..", &scratch.0, &query, 2, &|_| ()).unwrap();
    assert_eq!(summary.damage.count(), 0);
    for table in trace.tables() {
        let expected = read(&trace, table.name(), &Query::default(), 1);
        let told = summary.rows.iter().find(|(name, _)| name == table.name()).map_or(0, |(_, rows)| *rows);
        assert_eq!(told, rows(&expected) as u64, "{}", table.name());
        let folder = scratch.0.join(table.name()).join("trace=a%20b%2F..");
        let mut parts: Vec<_> =
            fs::read_dir(&folder).into_iter().flatten().map(|part| part.unwrap().path()).collect();
        parts.sort();
        let batches = parts.iter().flat_map(|part| {
            ParquetRecordBatchReaderBuilder::try_new(fs::File::open(part).unwrap()).unwrap().build().unwrap()
        });
        let batches: Vec<_> = batches.map(Result::unwrap).collect();
        assert_eq!(rows(&batches), rows(&expected), "{}", table.name());
        if expected.is_empty() {
            // A table that is empty has its columns all the same.
            let [part] = &parts[..] else { panic!("{}: {parts:?}", table.name()) };
            let part = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(part).unwrap()).unwrap();
            assert_eq!(part.schema().fields(), table.schema().fields(), "{}", table.name());
        }
        if table.name() == "events" {
            assert!(parts.len() > 1);
            assert_eq!(ids(&batches, "offset"), ids(&expected, "offset"));
            assert_eq!(names(&batches, "name"), names(&expected, "name"));
        }
    }
    // Nothing is overwritten.
    let again = parquet::export(&trace, "a b/..", &scratch.0, &query, 2, &|_| ());
    assert!(matches!(again, Err(Error::Write(..))));
}

#[test]
fn damage_is_a_row_and_the_rest_is_read() {
    let mut files = recording();
    let whole = rows(&read(&Trace::rfr(lent(&files)), "events", &Query::default(), 1));
    // A chunk that is cut, a file that cannot be opened, another that is no file of a recording.
    files[3].1.as_mut().unwrap().truncate(200);
    files[0].1 = Err("cannot read: gone".to_owned());
    files[1].1 = Ok(b"\x0brfr-c/9.9.9".to_vec());
    let trace = Trace::rfr(lent(&files));
    let gaps = read(&trace, "gaps", &Query::default(), 2);
    let what = names(&gaps, "what").into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(what, ["unreadable", "unsupported-release", "unexpected-end"]);
    assert_eq!(ids(&gaps, "offset")[0], None);
    let mut damage = Damage::default();
    for batch in &gaps {
        observe(&mut damage, trace.table("gaps").unwrap(), batch);
        observe(&mut damage, trace.table("events").unwrap(), batch);
    }
    assert_eq!((damage.count(), damage.first().len()), (3, 3));
    assert!(damage.first()[0].ends_with("cannot read: gone"), "{:?}", damage.first());
    let left = rows(&read(&trace, "events", &Query::default(), 1));
    assert!(0 < left && left < whole);
    // Every prefix, without a panic and with one that says where it ends.
    let Ok(chunk) = &recording()[2].1 else { unreachable!() };
    for len in 0..chunk.len() {
        let file = [Memory("cut.rfr", Ok(chunk[..len].to_vec()))];
        let trace = Trace::rfr(lent(&file));
        for table in 0..trace.tables().len() {
            let mut count = 0;
            trace
                .read(0, &[table], &Query::default(), &Seen::default(), &mut |_, batch| {
                    count += batch.num_rows();
                    Ok(())
                })
                .unwrap();
            assert!(table != trace.table("gaps").unwrap() || count > 0, "{len}");
        }
    }
}

#[test]
fn whoever_has_enough_stops_reading() {
    let files = recording();
    let trace = Trace::rfr(lent(&files));
    let query = Query { rows: 1, ..Query::default() };
    for threads in [1, 8] {
        let mut taken = 0;
        let stopped =
            trace.stream(0..trace.pieces(), &[0], &query, &Seen::default(), threads, &|_| (), &mut |_, _| {
                taken += 1;
                if taken < 3 { Ok(()) } else { Err(Error::Stopped) }
            });
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert_eq!(taken, 3);
    }
}

#[test]
fn other_formats_have_parts_and_events() {
    // A session of an RTC file has thousands of streams, of which the table is moved as a whole.
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(read_other_formats).unwrap();
    thread.join().unwrap();
}

fn read_other_formats() {
    for (name, parts, events) in [("sample.rdf", 6, 1), ("sample.rtc", 3, 642)] {
        let file = sample(name);
        let trace = Trace::whole(&file);
        assert_eq!(rows(&read(&trace, "parts", &Query::default(), 2)), parts, "{name}");
        let found = read(&trace, "events", &Query::default(), 1);
        assert_eq!(rows(&found), events, "{name}");
    }
    // A signed time since the clock's own origin has no moment in UTC; every event has its bytes in the file.
    let file = sample("sample.rtc");
    let trace = Trace::whole(&file);
    for batch in read(&trace, "events", &Query::default(), 1) {
        let (offsets, sizes) = (ids(std::slice::from_ref(&batch), "offset"), ids(&[batch], "bytes"));
        assert!(offsets.iter().zip(&sizes).all(|(at, len)| at.unwrap() + len.unwrap() <= file.size()));
    }
}

/// Each segment of dial9 is a piece of its own; workers and tasks are the same ones in all of them.
#[test]
fn segments_are_pieces_that_share_their_tracks() {
    let files = [sample("trace.0.bin"), sample("trace.0.bin")];
    let (one, two) = (Trace::dial9(lent(&files[..1])), Trace::dial9(lent(&files)));
    let count = |trace: &Trace<'_>, table| rows(&read(trace, table, &Query::default(), 2));
    assert_eq!((one.pieces(), count(&one, "parts"), count(&one, "gaps")), (1, 4, 0));
    assert_eq!((two.pieces(), count(&two, "parts")), (2, 8));
    assert!(count(&one, "events") > 90);
    assert_eq!(count(&two, "events"), 2 * count(&one, "events"));
    assert_eq!(count(&two, "tracks"), count(&one, "tracks"));
    let sizes = ids(&read(&one, "parts", &Query::default(), 1), "bytes");
    assert_eq!(sizes.into_iter().map(Option::unwrap).sum::<u64>(), files[0].size());
    // A batch lasts from the first to the last of its events.
    let read_one = |table| read(&one, table, &Query::default(), 1);
    let (events, parts) = (read_one("events"), read_one("parts"));
    let at: Vec<_> = ids(&events, "offset").into_iter().map(Option::unwrap).zip(times(&events)).collect();
    let ends = parts.iter().flat_map(|batch| {
        let column = batch.column_by_name("end_time_ns").unwrap();
        column.as_primitive::<arrow_array::types::Int64Type>().iter().collect::<Vec<_>>()
    });
    let bytes = ids(&parts, "offset").into_iter().zip(ids(&parts, "bytes"));
    for (((offset, len), begin), end) in bytes.zip(times(&parts)).zip(ends) {
        let (offset, len) = (offset.unwrap(), len.unwrap());
        let inside = at.iter().filter(|(at, _)| (offset..offset + len).contains(at));
        let inside: Vec<_> = inside.filter_map(|(_, time)| *time).collect();
        assert_eq!((begin, end), (inside.iter().min().copied(), inside.iter().max().copied()), "{offset:#x}");
    }
    let tracks = names(&read(&one, "tracks", &Query::default(), 1), "kind");
    assert!(["thread", "task"].iter().all(|kind| tracks.contains(&Some((*kind).to_owned()))), "{tracks:?}");
}

/// Labels, signs beyond 64 bits, and what is in an optional are in the columns of an event's own table.
#[test]
fn events_of_ctf_have_labels_and_signs() {
    use arrow_array::{Array, StringArray};
    use traceglass::ctf::metadata::MetadataStream;
    use traceglass::ctf::schema::{Node, Schema};
    let metadata = concat!(
        "\x1e",
        r#"{"type": "preamble", "version": 2}"#,
        "\x1e",
        r#"{"type": "data-stream-class"}"#,
        "\x1e",
        r#"{"type": "event-record-class", "name": "e", "payload-field-class": {"type": "structure", "member-classes": [
            {"name": "state", "field-class": {"type": "fixed-length-unsigned-integer", "length": 8,
                "byte-order": "little-endian", "mappings": {"A": [[2, 4]], "B": [[4, 4]]}}},
            {"name": "w", "field-class": {"type": "fixed-length-signed-integer", "length": 104, "alignment": 8,
                "byte-order": "little-endian"}},
            {"name": "list", "field-class": {"type": "static-length-array", "length": 2, "element-field-class":
                {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}}},
            {"name": "text", "field-class": {"type": "null-terminated-string"}}]}}"#,
    );
    let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let record =
        |state: u8, list: [u8; 2], text: &[u8]| [&[state][..], &[0xff; 13], &list, text, &[0]].concat();
    let files = [Memory("s", Ok([record(4, [5, 6], "µ".as_bytes()), record(1, [7, 8], b"\xb5")].concat()))];
    let trace = Trace::ctf(vec![(schema, lent(&files))]);
    let batches = read(&trace, "e", &Query::default(), 1);
    let text = |column: &str| -> Vec<Option<String>> {
        let all = batches.iter().flat_map(|batch| {
            let column = batch.column_by_name(column).unwrap();
            let column = column.as_any().downcast_ref::<StringArray>().unwrap();
            (0..column.len())
                .map(|at| (!column.is_null(at)).then(|| column.value(at).to_owned()))
                .collect::<Vec<_>>()
        });
        all.collect()
    };
    assert_eq!(ids(&batches, "state"), [Some(4), Some(1)]);
    assert_eq!(text("state_labels"), [Some("A|B".to_owned()), None]);
    assert_eq!(text("w"), [Some("\"-1\"".to_owned()), Some("\"-1\"".to_owned())]);
    assert_eq!(text("list"), [Some("[5,6]".to_owned()), Some("[7,8]".to_owned())]);
    // Bytes that are no text are none.
    assert_eq!(text("text"), [Some("µ".to_owned()), None]);
}
