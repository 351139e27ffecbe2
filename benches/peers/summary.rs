//! The table of `cargo bench --bench summary`.

#[path = "../common/mod.rs"]
#[allow(dead_code)] // The other benchmarks use more.
mod common;
mod ctf;
mod dial9;
#[path = "../common/dial9.rs"]
#[allow(dead_code)] // The other benchmarks use more.
mod dial9_traces;
mod rfr;
mod rtc;
mod table;
mod zstd;

use common::rfr::Input;
use common::zstd::MIB;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use table::{Table, Unit, way};
use traceglass::rdf::{File, Identifier};
use traceglass::rtc::{WriterCrc, crc_ieee};
use traceglass::zstd::Detected;

fn main() {
    let (options, filters): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let asked = |option: &str| options.iter().any(|asked| asked == option);
    if let Some(unknown) = options.iter().find(|option| !["--large", "--write"].contains(&option.as_str())) {
        eprintln!("{unknown}? --large measures larger data, --write writes the table into benches/README.md");
        std::process::exit(2);
    }
    let large = asked("--large");
    let mut table = Table::new(filters.clone());
    if table.begin("RDF") {
        measure_rdf(&mut table, large);
    }
    if table.begin("zstd") {
        measure_zstd(&mut table, if large { 64 } else { 16 } * MIB);
    }
    if table.begin("RTC") {
        measure_rtc(&mut table, large);
    }
    if table.begin("CTF 2") {
        measure_ctf(&mut table, if large { 256 } else { 64 } * MIB);
    }
    if table.begin("CTF") {
        measure_ctf_data(&mut table, if large { 256 } else { 64 } * MIB);
    }
    if table.begin("RDF contents") {
        measure_rdf_contents(&mut table, if large { 256 } else { 64 } * MIB);
    }
    if table.begin("RFR") {
        measure_rfr(&mut table, large);
    }
    if table.begin("dial9") {
        measure_dial9(&mut table, large);
    }
    let text = format!("{}\n\n{}", machine(), table.text());
    println!("{text}");
    if asked("--write") {
        assert!(filters.is_empty(), "only a whole table is written");
        write(&text);
    }
}

fn measure_rdf(table: &mut Table, large: bool) {
    let entries = if large { 4_000_000 } else { 100_000 };
    let data = common::rdf::index(entries);
    let data = data.as_slice();
    let file = File::parse(data).unwrap();
    let index = &data[data.len() - 64 * entries as usize..];
    table.row(
        "open",
        Unit::Time,
        vec![way("", || File::parse(black_box(data)).unwrap().index().len() as u64)],
    );
    let fields = Unit::Nanoseconds("n entry", entries.into());
    table.row(
        &format!("every field of {entries} entries"),
        fields,
        vec![
            way("", || common::rdf::iterate(black_box(file))),
            way("from_le_bytes by hand", || by_hand(black_box(index))),
        ],
    );

    let asked = common::rdf::asked(entries, 10_000);
    let identifiers: Vec<(Identifier, usize)> =
        asked.iter().map(|(id, n)| (Identifier::new(id).unwrap(), *n)).collect();
    let keys: Vec<([u8; 16], usize)> = asked.iter().map(|(id, n)| (key(id.as_bytes()), *n)).collect();
    let lookups = Unit::Nanoseconds(" lookup", asked.len() as u64);
    let mut storage = vec![0; entries as usize];
    table.row(
        "sort, to look up",
        Unit::Nanoseconds("n entry", entries.into()),
        vec![
            way("", || file.sort(&mut storage).unwrap().order().len() as u64),
            way("~a HashMap by hand", || by_identifier(index).len() as u64),
        ],
    );
    let sorted = file.sort(&mut storage).unwrap();
    let map = by_identifier(index);
    let in_map = || {
        keys.iter().fold(0_u64, |sum, (id, n)| {
            let entry = map[id][*n] as usize * 64;
            sum.wrapping_add(u64::from_le_bytes(index[entry + 40..][..8].try_into().unwrap()))
        })
    };
    table.row(
        "look up",
        lookups,
        vec![
            way("", || common::rdf::look_up(black_box(&sorted), &identifiers)),
            way("a HashMap by hand, which allocates", in_map),
        ],
    );

    let bytes = if large { 256 } else { 64 } * MIB;
    let data = common::rdf::raw_chunks(bytes);
    let file = File::parse(&data).unwrap();
    let mut copy = vec![0; bytes];
    table.row(
        &format!("the data of all raw chunks, {} MiB", bytes / MIB),
        Unit::Time,
        vec![
            way("", || common::rdf::borrow(black_box(file))),
            way("memcpy", || {
                copy.copy_from_slice(black_box(&data[32..32 + bytes]));
                copy.len() as u64
            }),
        ],
    );
}

fn measure_dial9(table: &mut Table, large: bool) {
    let count = if large { 4_000_000 } else { 400_000 };
    let polls = ("every field of polls", dial9_traces::polls(count / 2));
    let mixed = ("every field of a mixed trace", dial9_traces::mixed(count));
    for (work, data) in [polls, mixed] {
        let data = data.as_slice();
        table.row(
            work,
            Unit::Millions("events", count),
            vec![
                way("", || dial9_traces::told(black_box(data))),
                way("a bare walk by hand", || dial9_traces::bare_walk(black_box(data))),
                way("dial9-trace-format", || dial9::visited(black_box(data))),
            ],
        );
    }
}

fn key(id: &[u8]) -> [u8; 16] {
    let mut key = [0; 16];
    key[..id.len()].copy_from_slice(id);
    key
}

/// The numbers of the entries of each identifier.
fn by_identifier(index: &[u8]) -> HashMap<[u8; 16], Vec<u32>> {
    let mut map: HashMap<_, Vec<u32>> = HashMap::new();
    for (entry, number) in index.chunks_exact(64).zip(0..) {
        map.entry(key(&entry[..16])).or_default().push(number);
    }
    map
}

/// The sum of `common::rdf::iterate`, without a check.
fn by_hand(index: &[u8]) -> u64 {
    index.chunks_exact(64).fold(0_u64, |sum, entry| {
        let long = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
        let sum = [24, 32, 40, 48, 56].iter().fold(sum, |sum, &at| sum.wrapping_add(long(at)));
        // Raw chunks have no size after decompression; the data is as long as it is stored.
        let sum = if entry[16] == 0 { sum.wrapping_sub(long(56)).wrapping_add(long(48)) } else { sum };
        let version = u32::from_le_bytes(entry[20..24].try_into().unwrap());
        sum.wrapping_add(u64::from(entry[5]) + u64::from(version) + u64::from(entry[16]))
    })
}

fn measure_zstd(table: &mut Table, size: usize) {
    let mut decoders = zstd::Decoders::default();
    let data = common::zstd::mix(size);
    for chunk in [4 << 10, 64 << 10, MIB, size] {
        let frames = std::thread::scope(|scope| {
            let data = &data;
            let levels = [1, 3, 19]
                .map(|level| (level, scope.spawn(move || common::zstd::compress(&data, chunk, level))));
            levels.map(|(level, thread)| (level, thread.join().unwrap()))
        });
        for (level, frames) in &frames {
            let shown =
                if chunk < MIB { format!("{} KiB", chunk >> 10) } else { format!("{} MiB", chunk / MIB) };
            measure_frames(
                table,
                &format!("level {level}, chunks of {shown}"),
                &data,
                chunk,
                frames,
                &mut decoders,
            );
        }
    }
    table.means("geometric mean of these");
    for (what, data) in real_data() {
        for chunk in [4 << 10, 64 << 10] {
            let frames = common::zstd::compress(&data, chunk, 3);
            let work = format!("{what}, level 3, chunks of {} KiB", chunk >> 10);
            measure_frames(table, &work, &data, chunk, &frames, &mut decoders);
        }
    }
    table.means("real data, geometric mean");
}

/// Data that was not made for a benchmark, as far as it is at hand wherever this runs.
fn real_data() -> [(&'static str, Vec<u8>); 2] {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    let mut folders = vec![project.join("src"), project.join("cli/src"), project.join("tests")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => sources.extend(std::fs::read(path).unwrap()),
                _ => {}
            }
        }
    }
    let mut program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    program.truncate(4 * MIB);
    [("a program", program), ("sources", sources)]
}

/// A row: all decoders, each of which is verified once, before it is measured.
fn measure_frames(
    table: &mut Table,
    work: &str,
    data: &[u8],
    chunk: usize,
    frames: &[Vec<u8>],
    decoders: &mut zstd::Decoders,
) {
    let output = RefCell::new(vec![0; data.len()]);
    let verify = |length: u64| {
        let mut output = output.borrow_mut();
        assert!(*output == data);
        output.fill(0);
        length
    };
    let zstd::Decoders { workspace, baseline, reference, translated, mzstd, ruzstd } = decoders;
    let mut ours = || common::zstd::decode(frames, chunk, &mut output.borrow_mut(), workspace);
    verify(ours());
    let mut plain = || common::zstd::decode(frames, chunk, &mut output.borrow_mut(), baseline);
    verify(plain());
    let mut c = || {
        zstd::all(frames, chunk, &mut output.borrow_mut(), |to, from| reference.decompress(to, from).unwrap())
    };
    verify(c());
    let mut c2rust =
        || zstd::all(frames, chunk, &mut output.borrow_mut(), |to, from| translated.decompress(to, from));
    verify(c2rust());
    let mut safe = || {
        let decode = |to: &mut [u8], from: &[u8]| mzstd.decompress_to_slice(from, to).unwrap();
        zstd::all(frames, chunk, &mut output.borrow_mut(), decode)
    };
    verify(safe());
    let mut slow = || {
        let decode = |to: &mut [u8], from: &[u8]| ruzstd.decode_all(from, to).unwrap();
        zstd::all(frames, chunk, &mut output.borrow_mut(), decode)
    };
    verify(slow());
    let packed = frames.iter().map(Vec::len).sum::<usize>();
    table.row(
        &format!("{work}, {} % packed", 100 * packed / data.len()),
        Unit::Gigabytes(data.len() as u64),
        vec![
            way("", ours),
            way("built for any x86-64", plain),
            way("C zstd 1.5.7", c),
            way("libzstd-rs-sys", c2rust),
            way("mzstd", safe),
            way("ruzstd", slow),
        ],
    );
}

fn measure_rtc(table: &mut Table, large: bool) {
    for mib in if large { [4, 600] } else { [4, 64] } {
        let data = common::rtc::data(mib * MIB);
        let frames = common::rtc::walk(&data);
        table.row(
            &format!("all frames of {mib} MiB, with streams, splits and gaps"),
            Unit::Millions("frames", frames),
            vec![
                way("", || common::rtc::walk(black_box(&data))),
                way("strict", || common::rtc::walk_strictly(black_box(&data))),
                way("a walk that only skips", || rtc::naive(black_box(&data))),
            ],
        );
        if mib == 4 {
            continue;
        }
        table.row(
            "the same with the time of each",
            Unit::Millions("frames", frames),
            vec![way("", || common::rtc::walk_with_times(black_box(&data)))],
        );
        let wanted = common::rtc::time_in_the_middle(&data);
        table.row(
            &format!("a time in the middle of {mib} MiB"),
            Unit::Time,
            vec![way("", || common::rtc::seek(black_box(&data), &wanted))],
        );
    }
    let data = common::rtc::data(MIB);
    let writer_table = rtc::writer_table();
    let bytes = Unit::Gigabytes(data.len() as u64);
    table.row(
        "the writer's checksum, 16 tables",
        bytes,
        vec![
            way("", || WriterCrc::<16>::of(black_box(&data)).into()),
            way("byte by byte", || rtc::bytewise(black_box(&writer_table), &data)),
        ],
    );
    table.row(
        "the writer's checksum, 1 table",
        bytes,
        vec![
            way("", || WriterCrc::<1>::of(black_box(&data)).into()),
            way("byte by byte", || rtc::bytewise(black_box(&writer_table), &data)),
        ],
    );
    let crc16 = crc::Crc::<u32, crc::Table<16>>::new(&crc::CRC_32_ISO_HDLC);
    table.row(
        "CRC-32/IEEE, 1 table",
        bytes,
        vec![
            way("", || crc_ieee(black_box(&data)).into()),
            way("crc, 16 tables", || crc16.checksum(black_box(&data)).into()),
            way("crc32fast, with SIMD", || crc32fast::hash(black_box(&data)).into()),
        ],
    );
}

fn measure_ctf(table: &mut Table, bytes: usize) {
    let data = common::ctf::data(bytes);
    let data = data.as_slice();
    let mib = bytes / MIB;
    let text = common::ctf::pieces(data);
    let len = text as usize;
    let buffer = RefCell::new(data.to_vec());
    table.row(
        &format!("{mib} MiB in packets of 4 KiB, as borrowed pieces"),
        Unit::Time,
        vec![
            way("", || common::ctf::pieces(black_box(data))),
            way("memcpy", || {
                buffer.borrow_mut()[..len].copy_from_slice(black_box(&data[..len]));
                text
            }),
        ],
    );
    table.row(
        "the text, compacted in place",
        Unit::Gigabytes(text),
        vec![
            way("", || common::ctf::compacted(&mut buffer.borrow_mut()))
                .before(|| buffer.borrow_mut().copy_from_slice(data)),
            way("copy_within", || {
                buffer.borrow_mut().copy_within(bytes - len.., 0);
                text
            })
            .before(|| buffer.borrow_mut().copy_from_slice(data)),
        ],
    );
    table.row(
        "the text, copied",
        Unit::Gigabytes(text),
        vec![
            way("", || common::ctf::copied(black_box(data), &mut buffer.borrow_mut())),
            way("memcpy", || {
                buffer.borrow_mut()[..len].copy_from_slice(black_box(&data[..len]));
                text
            }),
        ],
    );
    table.row(
        "split into fragments",
        Unit::Gigabytes(text),
        vec![
            way("", || common::ctf::fragments(black_box(data))),
            way("~memchr alone", || memchr::memchr_iter(0x1e, black_box(data)).count() as u64),
        ],
    );
    table.row(
        "fragments with their kinds",
        Unit::Gigabytes(text),
        vec![way("", || common::ctf::kinds(black_box(data)))],
    );
    table.row("check", Unit::Gigabytes(text), vec![way("", || common::ctf::check(black_box(data)))]);
    table.row(
        "decoded as it arrives, 1,500 bytes at a time",
        Unit::Gigabytes(text),
        vec![way("", || common::ctf::decoder(black_box(data)))],
    );
}

fn measure_ctf_data(table: &mut Table, bytes: usize) {
    use common::ctf_trace;
    for (what, more) in [("4 KB of LTTng-UST's", 0), ("1 MB, of 1,000 more classes", 1000)] {
        let metadata = ctf_trace::metadata(more).into_bytes();
        let mut nodes = ctf_trace::nodes(&metadata);
        table.row(
            &format!("metadata compiled, {what}"),
            Unit::Time,
            vec![way("", || ctf_trace::schema(black_box(&metadata), &mut nodes).has_trace_class().into())],
        );
    }
    let metadata = ctf_trace::metadata(0).into_bytes();
    let mut nodes = ctf_trace::nodes(&metadata);
    let schema = &ctf_trace::schema(&metadata, &mut nodes);
    let data = ctf_trace::stream(bytes);
    let data = data.as_slice();
    let of_records = Unit::Millions("records", ctf::count(data));
    table.row(
        &format!("the {} packets of {} MiB found", bytes.div_ceil(128 << 10), bytes / MIB),
        Unit::Time,
        vec![way("", || ctf_trace::index(black_box(data), schema))],
    );
    table.row(
        "class and time of every record",
        of_records,
        vec![
            way("", || ctf_trace::heads(black_box(data), schema)),
            way("by hand, for this layout alone", || ctf::heads(black_box(data))),
        ],
    );
    table.row(
        "every field of every record",
        of_records,
        vec![
            way("", || ctf_trace::fields(black_box(data), schema)),
            way("pulled one by one", || ctf_trace::pulled(black_box(data), schema)),
            way("told to a listener", || ctf_trace::told(black_box(data), schema)),
            way("by hand, for this layout alone", || ctf::fields(black_box(data))),
        ],
    );
}

fn measure_rdf_contents(table: &mut Table, bytes: usize) {
    use common::rdf_contents;
    let walk = |data: &[u8]| {
        let words = data.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        words.fold(0_u64, |sum, word| sum.wrapping_add(word))
    };
    let (tokens, events, queues) =
        (rdf_contents::tokens(bytes), rdf_contents::events(bytes), rdf_contents::queue_events(bytes));
    type Work = fn(&[u8]) -> u64;
    let rows: [(&str, &str, &(Vec<u8>, u64), Work); 4] = [
        ("time and kind of every memory token", "tokens", &tokens, rdf_contents::token_times),
        ("what every memory token says", "tokens", &tokens, rdf_contents::token_values),
        ("driver's events", "events", &events, rdf_contents::driver_events),
        ("queue events, a chunk each", "events", &queues, rdf_contents::queues),
    ];
    for (work, what, (data, count), read) in rows {
        table.row(
            work,
            Unit::Millions(what, *count),
            vec![way("", || read(black_box(data))), way("~a walk over its bytes", || walk(black_box(data)))],
        );
    }
}

fn measure_rfr(table: &mut Table, large: bool) {
    // The bare walk looks at everything, but counts only records.
    type Work = fn(&Input) -> u64;
    for records in if large { [100_000, 32_000_000] } else { [100_000, 4_000_000] } {
        let input = Input::recording(records);
        let input = input.as_slice();
        let mib = input.iter().map(|input| input.data.len()).sum::<usize>() as f64 / MIB as f64;
        let all = |work: Work| {
            move || black_box(input).iter().fold(0_u64, |sum, input| sum.wrapping_add(work(input)))
        };
        let unit = Unit::Nanoseconds(" record", records);
        table.row(
            &format!("every field of {records} records, {mib:.0} MiB"),
            unit,
            vec![
                way("", all(common::rfr::decode)),
                way("postcard with borrowed structs", all(rfr::postcard_borrowed)),
                way("~a bare walk over its integers", all(rfr::bare_walk)),
            ],
        );
        table.row(
            "the same, matching on the kind",
            unit,
            vec![
                way("", all(common::rfr::decode_matching)),
                way("postcard with borrowed structs", all(rfr::postcard_borrowed)),
            ],
        );
        table.row(
            "records skipped",
            unit,
            vec![way("", all(common::rfr::skip)), way("a bare walk over its integers", all(rfr::bare_walk))],
        );
        if records == 100_000 {
            continue;
        }
        table.row(
            "every field, as a flat walk",
            unit,
            vec![
                way("", all(common::rfr::decode_flat)),
                way("postcard with borrowed structs", all(rfr::postcard_borrowed)),
            ],
        );
        table.row(
            "every field, finding the sequences",
            unit,
            vec![way("", all(common::rfr::decode_by_sequence))],
        );
        table.row("every field, merged by time", unit, vec![way("", all(common::rfr::merge))]);
        table.row("every field, with the task of each", unit, vec![way("", all(common::rfr::resolve))]);
        table.row("a directory of the sequences", unit, vec![way("", all(common::rfr::directory))]);
    }
}

/// The machine it ran on, as the system names it.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let (name, system) = (model.unwrap_or("an unknown processor"), std::env::consts::OS);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let with = if Detected::new().has_bmi2() { "with" } else { "without" };
    format!("Measured on {name}, {count} cores, {system}, {with} BMI2 in zstd, at a load of {load}:")
}

/// Puts the table between the two marks in benches/README.md.
fn write(text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let (begin, end) = ("<!-- speed table -->\n", "<!-- end of speed table -->");
    let start = readme.find(begin).expect("a mark in the README") + begin.len();
    let stop = readme.find(end).expect("an end mark in the README");
    std::fs::write(path, format!("{}{text}{}", &readme[..start], &readme[stop..]))
        .expect("the README is written");
}
