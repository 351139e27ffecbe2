//! Pieces and windows, beside what the whole trace says.

#[path = "../../tests/common/mod.rs"]
mod build;
mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use build::random::Random;
use build::rfr::{Chunk, Sequence};
use common::{Memory, ids, lent, names, read, times};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::ctf::{StreamSlot, Timeline};
use traceglass::event::rfr::{self, Registry};
use traceglass::event::{EventKind, Item, Source, Window};
use traceglass_tables::{Lasting, Query, TakeItems, Trace};

/// The key of a row, and its time.
type Row = (Option<u64>, Option<i64>);

fn found(trace: &Trace<'_>, table: &str, window: Window) -> Vec<Row> {
    let batches = read(trace, table, &Query { window, ..Query::default() }, 2);
    ids(&batches, "offset").into_iter().zip(times(&batches)).collect()
}

/// Windows that begin and end where records are, or beside that, have the rows of the whole that lie in them. What was
/// discarded is left out: when that was is not known, and a window has it where its packet is read.
fn windows_are_filters(trace: &Trace<'_>, table: &str) {
    let kinds = ["instant", "begin", "end", "gap"].map(str::to_owned);
    let found = |trace: &Trace<'_>, table, window| {
        let query = Query { window, kinds: Some(kinds.clone().into()), ..Query::default() };
        let batches = read(trace, table, &query, 2);
        ids(&batches, "offset").into_iter().zip(times(&batches)).collect::<Vec<Row>>()
    };
    let whole = found(trace, table, Window::ALL);
    assert!(!whole.is_empty(), "{table}");
    let mut edges: Vec<i64> =
        whole.iter().filter_map(|row| row.1).flat_map(|ns| [ns - 1, ns, ns + 1]).collect();
    edges.sort_unstable();
    edges.dedup();
    let pick = |at: usize| edges[at * (edges.len() - 1) / 24];
    for &from in &edges {
        let is_in = |row: &&Row| row.1.is_none_or(|ns| ns >= from);
        let expected: Vec<Row> = whole.iter().filter(is_in).copied().collect();
        assert_eq!(
            found(trace, table, Window::new(Some(from.into()), None)),
            expected,
            "{table} from {from}"
        );
    }
    for from in (0..=24).map(pick) {
        for to in [Some(from), Some(from + 1), Some(pick(12)), Some(pick(24))] {
            let window = Window::new(Some(from.into()), to.map(i128::from));
            let is_in = |row: &&Row| row.1.is_none_or(|ns| ns >= from && to.is_none_or(|to| ns < to));
            let expected: Vec<Row> = whole.iter().filter(is_in).copied().collect();
            let found = found(trace, table, window);
            let lost: Vec<_> = expected.iter().filter(|row| !found.contains(row)).collect();
            let more: Vec<_> = found.iter().filter(|row| !expected.contains(row)).collect();
            assert_eq!((lost, more), (vec![], vec![]), "{table} from {from} to {to:?}");
            assert_eq!(found, expected, "{table} from {from} to {to:?}");
        }
    }
}

#[test]
fn windows_of_recordings_are_filters() {
    let mut random = Random(0x5eed_0007);
    // Records at both ends of what headers state, and after it.
    let chunk = |second: u64, random: &mut Random| {
        let mut sequence = Sequence::new(second % 2).task(5, 1, "a", None);
        let mut time = 0;
        for number in 0..12 {
            sequence = sequence.about(time, 6 + (number % 2) as u8, 5);
            time = (time + random.next() % 200_000).min(1_000_000);
        }
        Chunk::new(second).sequence(sequence.about(1_000_000, 8, 5)).bytes()
    };
    let files: Vec<Memory> =
        [1, 2, 3, 5].map(|second| Memory("a.rfr", Ok(chunk(second, &mut random)))).into();
    let trace = Trace::rfr(lent(&files));
    for table in ["task_poll_start", "task_poll_end", "task_drop", "events"] {
        windows_are_filters(&trace, table);
    }
}

/// The files of a recording, one after the other.
struct Recorded(Vec<Vec<u8>>);

impl Lasting for Recorded {
    fn items(&self, _: Window, to: &mut dyn TakeItems) -> traceglass_tables::Result<()> {
        let mut registry = Registry::new(Vec::new());
        for data in &self.0 {
            let mut timeline = rfr::Timeline::new(&mut registry, Vec::new(), Vec::new());
            timeline.add(0, data).unwrap();
            while let Some(item) = timeline.next_item().unwrap() {
                to.item(&item)?;
            }
        }
        Ok(())
    }
}

/// A poll and a span that begin in one chunk and end in the next are ends there.
#[test]
fn slices_end_in_the_next_piece() {
    let span = build::rfr::span(6, 1, build::rfr::Parent::Root, &[], &[]);
    let first = Sequence::new(1).object(0, &span).task(5, 1, "a", None).about(1, 1, 6).about(2, 6, 5);
    let second = Sequence::new(1).object(0, &span).task(5, 1, "a", None).about(3, 7, 5).about(4, 2, 6);
    let files = [(1, first), (2, second)]
        .map(|(second, sequence)| Memory("a.rfr", Ok(Chunk::new(second).sequence(sequence).bytes())));
    let events = read(&Trace::rfr(lent(&files)), "events", &Query::default(), 1);
    let rows: Vec<_> = names(&events, "kind").into_iter().zip(names(&events, "name")).collect();
    let rows: Vec<_> =
        rows.iter().map(|(kind, name)| (kind.as_deref().unwrap(), name.as_deref().unwrap())).collect();
    assert_eq!(rows, [("begin", "enter"), ("begin", "poll"), ("end", "poll"), ("end", "enter")]);
    let tracks = ids(&events, "track");
    assert!(tracks[0] == tracks[3] && tracks[1] == tracks[2] && tracks[0] != tracks[1]);
    // In the table of slices each of them is one row, in all ways of reading.
    let whole = Recorded(files.iter().map(|file| file.1.clone().unwrap()).collect());
    let mut trace = Trace::rfr(lent(&files));
    assert_eq!(read(&trace, "slices", &Query::default(), 1).len(), 0);
    trace.set_lasting(&whole);
    let at = times(&events);
    for threads in [1, 4] {
        let slices = read(&trace, "slices", &Query::default(), threads);
        assert_eq!(names(&slices, "name"), [Some("poll".to_owned()), Some("enter".to_owned())]);
        assert_eq!(times(&slices), [at[1], at[0]]);
        let ends: Vec<_> =
            slices[0].column_by_name("end_time_ns").unwrap().as_primitive::<Int64Type>().iter().collect();
        assert_eq!(ends, [at[2], at[3]]);
    }
    let touching = |from, to| {
        let query = Query { window: Window::new(Some(from), Some(to)), ..Query::default() };
        names(&read(&trace, "slices", &query, 1), "name").len()
    };
    let at: Vec<i128> = at.into_iter().map(|at| at.unwrap().into()).collect();
    assert_eq!([touching(at[0], at[1]), touching(at[1] + 1, at[1] + 2), touching(at[2], at[3])], [1, 2, 1]);
}

/// The size of a packet of the stream below, most of it padding.
const PACKET: usize = 512 << 10;

/// A data stream of the sample's trace: packets of a few records each, in the order of time.
fn stream(random: &mut Random, packets: u32) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut discarded = 0_u32;
    for packet in 0..packets {
        let begin = packet * 1000;
        let mut records = Vec::new();
        // The last packet of a piece has a record where it ends.
        let count = if packet % 4 == 3 { 6 } else { random.next() as u32 % 6 };
        for record in 0..count {
            records.push(1); // battery
            records.extend((begin + record * 100).to_le_bytes());
            records.extend((record as u16).to_le_bytes());
        }
        // Between some packets, records were discarded.
        discarded += (random.next() % 3 / 2 * (packet as u64 + 1)) as u32;
        stream.extend(u64::from(begin).to_le_bytes());
        stream.extend(u64::from(begin + 500).to_le_bytes());
        for field in [(32 + records.len() as u32) * 8, PACKET as u32 * 8, packet, discarded] {
            stream.extend(field.to_le_bytes());
        }
        stream.extend(records);
        stream.resize(PACKET * (packet as usize + 1), 0);
    }
    stream
}

/// Has the trace of the sample's metadata and this data stream read.
fn with_trace(data: Vec<u8>, read: impl FnOnce(&Trace<'_>, &[u8], &Schema<'_, '_>)) {
    let metadata = build::ctf::sample_trace().remove(0).1;
    let metadata = MetadataStream::parse(&metadata).unwrap();
    let compile = |nodes| Schema::compile(&metadata, nodes).unwrap();
    let needed = Schema::needed(&metadata).unwrap() as usize;
    let (mut nodes, mut others) = (vec![Node::EMPTY; needed], vec![Node::EMPTY; needed]);
    let file = [Memory("stream", Ok(data))];
    let trace = Trace::ctf(vec![(compile(&mut nodes), lent(&file))]);
    let Memory(_, Ok(data)) = &file[0] else { unreachable!() };
    read(&trace, data, &compile(&mut others));
}

/// More tables than are written at a time: files are closed and others begun, and nothing is lost or moved.
#[test]
fn many_tables_have_all_rows_in_order() {
    const CLASSES: u32 = 150;
    // Of 90 KB: two pieces.
    const PACKETS: u32 = 110;
    let class = |id: u32| {
        let integer =
            "{\"type\": \"fixed-length-unsigned-integer\", \"length\": 8, \"byte-order\": \"little-endian\"}";
        build::ctf::fragment(&format!(
            "{{\"type\": \"event-record-class\", \"id\": {}, \"name\": \"class_{id}\", \"payload-field-class\": \
             {{\"type\": \"structure\", \"member-classes\": [{{\"name\": \"n\", \"field-class\": {integer}}}]}}}}",
            id + 2
        ))
    };
    let mut metadata = build::ctf::sample_trace().remove(0).1;
    (0..CLASSES).for_each(|id| metadata.extend(class(id).bytes()));
    let mut data = Vec::new();
    for packet in 0..PACKETS {
        let mut records = Vec::new();
        for record in 0..CLASSES * 100 {
            records.push((2 + record % CLASSES) as u8);
            records.extend((packet * 20_000 + record).to_le_bytes());
            records.push(7);
        }
        let bits = (32 + records.len() as u32) * 8;
        data.extend(
            [u64::from(packet * 20_000), u64::from(packet * 20_000 + 19_999)].map(u64::to_le_bytes).concat(),
        );
        data.extend([bits, bits, packet, 0].map(u32::to_le_bytes).concat());
        data.extend(records);
    }
    let metadata = MetadataStream::parse(&metadata).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&metadata).unwrap() as usize];
    let file = [Memory("stream", Ok(data))];
    let trace = Trace::ctf(vec![(Schema::compile(&metadata, &mut nodes).unwrap(), lent(&file))]);
    let scratch = common::Scratch::new("many");
    traceglass_tables::parquet::export(&trace, "t", &scratch.0, &Query::default(), 1, &|_| ()).unwrap();
    let mut files = 0;
    for class in 0..CLASSES {
        let table = format!("class_{class}");
        let (batches, count) = common::parquet(&scratch.0.join(&table).join("trace=t"));
        let offsets = ids(&batches, "offset");
        assert_eq!(offsets.len() as u32, PACKETS * 100, "{table}");
        assert!(offsets.is_sorted(), "{table}");
        files += count;
    }
    assert!(files > CLASSES as usize, "{files}");
    // Those that never happened have none, and what each trace has is there.
    assert!(!scratch.0.join("battery").exists());
    assert_eq!(ids(&common::parquet(&scratch.0.join("gaps/trace=t")).0, "offset"), []);
}

/// Offsets and times of events, and how many records each loss took, of the whole stream at once.
fn whole(data: &[u8], schema: &Schema<'_, '_>) -> (Vec<Row>, Vec<Option<u64>>) {
    let mut slots = [traceglass::ctf::data::MergeSlot::EMPTY];
    let mut timeline = Timeline::new(&mut slots, [const { StreamSlot::EMPTY }]);
    timeline.add(0, data, schema).unwrap();
    let (mut events, mut losses) = (Vec::new(), Vec::new());
    while let Some(item) = timeline.next_item().unwrap() {
        let Item::Event(event) = item else { continue };
        if event.is_inferred() {
            continue;
        }
        if let EventKind::Discarded { count } = event.kind() {
            losses.push(count);
        }
        let ns = event.time().map(|time| i64::try_from(time.ns()).unwrap());
        events.push((Some(event.offset()), ns));
    }
    (events, losses)
}

#[test]
fn pieces_of_a_stream_are_the_stream() {
    let mut random = Random(0x5eed_0008);
    with_trace(stream(&mut random, 75), |trace, data, schema| {
        assert!(trace.pieces() > 3, "{}", trace.pieces());
        let (events, losses) = whole(data, schema);
        assert!(events.len() > 100 && losses.len() > 15, "{} {}", events.len(), losses.len());
        assert_eq!(found(trace, "events", Window::ALL), events);
        assert_eq!(ids(&read(trace, "gaps", &Query::default(), 2), "discarded"), losses);
        let parts = ids(&read(trace, "parts", &Query::default(), 2), "number");
        assert_eq!(parts, (0..75).map(Some).collect::<Vec<_>>());
        windows_are_filters(trace, "events");
        windows_are_filters(trace, "battery");
    });
}

/// A range that cannot be read may be of any time, whatever the packets before it said: it is in every window.
#[test]
fn damage_is_in_every_window() {
    let mut random = Random(0x5eed_0009);
    for damaged in [3, 20, 38] {
        let mut data = stream(&mut random, 40);
        // More content than the packet is large.
        data[damaged * PACKET + 16..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        with_trace(data, |trace, data, schema| {
            let (events, _) = whole(data, schema);
            assert_eq!(found(trace, "events", Window::ALL), events);
            windows_are_filters(trace, "events");
        });
    }
}
