//! RTC files of the reference writer with the truth about each record, and damaged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use traceglass::rtc::{self, Grid, Sample, Step, StreamSlot, recover};
use traceglass::{Finding, Severity};

fn folder() -> Option<PathBuf> {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the rtc-more vectors are not read");
        return None;
    };
    Some(PathBuf::from(root).join("rtc-more"))
}

/// A record as the truth has it, or as it was read: the same fields in the same words.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub session: u64,
    pub id: u64,
    pub bytes: Vec<u8>,
    pub crc: u32,
    pub time: Option<i128>,
    pub clock: Option<u64>,
    pub pieces: String,
    pub values: String,
    pub scaled: String,
    pub annotates: Option<i128>,
    pub offset: u64,
    /// Whether the writer damaged its declaration, as it does in a Meta longer than 1,024 bytes.
    pub is_damaged: bool,
}

struct Truth {
    records: Vec<Row>,
    open: BTreeSet<u64>,
    approximate: BTreeSet<u64>,
    /// The end of each session's first minor unit, and sizes.
    sessions: Vec<(u64, u64, u64, u64)>,
}

fn truth(path: &Path) -> Truth {
    let text = std::fs::read_to_string(path.with_extension("truth")).expect("a truth");
    let mut truth = Truth {
        records: Vec::new(),
        open: BTreeSet::new(),
        approximate: BTreeSet::new(),
        sessions: Vec::new(),
    };
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        match fields[0] {
            "S" => truth.sessions.push((number(2), number(3), number(5), number(6))),
            kind @ ("R" | "O") => {
                let offset = fields[7].split(':').next().unwrap().parse().unwrap();
                if kind == "O" {
                    truth.open.insert(offset);
                    continue;
                }
                if fields[11] == "a" {
                    truth.approximate.insert(offset);
                }
                let none = |text: &str| (text != "-").then(|| text.parse().unwrap());
                truth.records.push(Row {
                    session: number(1),
                    id: number(2),
                    bytes: vec![0; fields[3].parse().unwrap()],
                    crc: u32::from_str_radix(fields[4], 16).unwrap(),
                    time: none(fields[5]),
                    clock: (fields[6] != "-").then(|| number(6)),
                    pieces: fields[7].into(),
                    values: fields[8].into(),
                    scaled: fields[9].into(),
                    annotates: none(fields[10]),
                    offset,
                    is_damaged: false,
                });
            }
            _ => {}
        }
    }
    truth
}

/// The samples of a record, and their values after gain and offset, in the words of the truth.
fn values(stream: &rtc::Stream<'_>, samples: rtc::Samples<'_>) -> (String, String) {
    let (gain, offset) = (stream.gain().ok().flatten(), stream.offset().ok().flatten());
    let (mut tags, mut scaled) = (String::new(), String::new());
    for sample in samples.map_while(Result::ok) {
        let space = if tags.is_empty() { "" } else { " " };
        match sample {
            Sample::Unsigned(value) => write!(tags, "{space}U{value}"),
            Sample::Signed(value) => write!(tags, "{space}I{value}"),
            Sample::Float32(value) => write!(tags, "{space}f{:08x}", value.to_bits()),
            Sample::Float64(value) => write!(tags, "{space}d{:016x}", value.to_bits()),
            Sample::Timespec(seconds, nanoseconds) => write!(tags, "{space}T{seconds}.{nanoseconds}"),
            Sample::Text(_) => write!(tags, "{space}S"),
            Sample::Json(_) => write!(tags, "{space}J"),
            _ => write!(tags, "{space}B"),
        }
        .unwrap();
        let value = match sample.scaled(gain, offset) {
            Some(value) if value.is_nan() => "nan".into(),
            Some(value) => format!("{:016x}", value.to_bits()),
            None => "-".into(),
        };
        write!(scaled, "{space}{value}").unwrap();
    }
    (tags, scaled)
}

fn row(record: &rtc::Record<'_, '_>) -> Row {
    let bytes = record.bytes().unwrap().to_vec();
    let annotation = record.annotation().and_then(Result::ok);
    let samples = annotation.map_or_else(|| record.samples().unwrap(), |annotation| annotation.samples);
    let (values, scaled) = values(record.stream(), samples);
    let mut pieces = String::new();
    for (offset, payload) in record.pieces() {
        let comma = if pieces.is_empty() { "" } else { "," };
        write!(pieces, "{comma}{offset}:{}", payload.len()).unwrap();
    }
    Row {
        session: record.session(),
        id: record.stream().id(),
        crc: rtc::crc_ieee(&bytes),
        bytes,
        time: record.time().map(|time| time.attoseconds()),
        clock: record.clock().map(|clock| clock.id()),
        pieces,
        values,
        scaled,
        annotates: annotation.map(|annotation| annotation.time.attoseconds()),
        offset: record.offset(),
        is_damaged: [Some(record.stream()), record.clock()]
            .into_iter()
            .flatten()
            .any(|stream| stream.damage().is_some()),
    }
}

/// All records, and the gaps.
pub fn read(data: &[u8]) -> (Vec<Row>, Vec<traceglass::Gap>) {
    let mut buffer = vec![0; 1 << 20];
    let mut records = recover::Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
    let (mut rows, mut gaps) = (Vec::new(), Vec::new());
    loop {
        match records.next_step() {
            Step::Record(record) => rows.push(row(&record)),
            Step::Gap(gap) => gaps.push(gap),
            _ => return (rows, gaps),
        }
    }
}

/// The records up to the first fault.
fn read_strictly(data: &[u8]) -> Vec<Row> {
    let mut buffer = vec![0; 1 << 20];
    let mut records = rtc::Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
    let mut rows = Vec::new();
    while let Ok(Some(record)) = records.next_record() {
        rows.push(row(&record));
    }
    rows
}

fn files() -> Option<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()?)
        .expect("a folder")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rtc"))
        .collect();
    files.sort();
    println!("{} files", files.len());
    assert!(!files.is_empty(), "no file was read");
    Some(files)
}

/// The words differ in what they say of pieces (headers) and of values that are no numbers.
fn same(read: &Row, written: &Row, approximate: bool) -> Result<(), String> {
    let shown = |row: &Row| format!("{:?}", Row { bytes: Vec::new(), ..row.clone() });
    let fail = |what: &str| Err(format!("{what}: read {}, written {}", shown(read), shown(written)));
    if (read.session, read.id, read.bytes.len(), read.crc)
        != (written.session, written.id, written.bytes.len(), written.crc)
    {
        return fail("bytes");
    }
    let pieces: Vec<(u64, u64)> = written
        .pieces
        .split(',')
        .map(|piece| {
            let mut fields = piece.split(':').map(|field| field.parse::<u64>().unwrap());
            (fields.next().unwrap(), fields.nth(1).unwrap())
        })
        .collect();
    let found: Vec<(u64, u64)> = read
        .pieces
        .split(',')
        .map(|piece| piece.split_once(':').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap())
        .collect();
    if found != pieces {
        return fail("pieces");
    }
    if read.is_damaged {
        // What it was declared as is not in the file.
        return Ok(());
    }
    let is_near = |a: i128, b: i128| approximate && (a - b).abs() as f64 <= 1e-15 * b.abs() as f64 + 2.0;
    let times = match (read.time, written.time) {
        (Some(a), Some(b)) => a == b || is_near(a, b),
        (a, b) => a == b,
    };
    if !times || read.annotates != written.annotates {
        return fail("time");
    }
    if read.clock != written.clock {
        return fail("clock");
    }
    if read.values != written.values {
        return fail("values");
    }
    let is_number = !matches!(written.values.as_bytes().first(), Some(b'S' | b'B' | b'J') | None);
    if is_number && read.scaled != written.scaled {
        return fail("scaled");
    }
    Ok(())
}

fn compare(name: &str, rows: &[Row], truth: &Truth, faults: &mut Vec<String>) {
    let by_offset: BTreeMap<u64, &Row> = rows.iter().map(|row| (row.offset, row)).collect();
    let written: BTreeSet<u64> = truth.records.iter().map(|row| row.offset).collect();
    for record in &truth.records {
        let approximate = truth.approximate.contains(&record.offset);
        match by_offset.get(&record.offset) {
            None => faults.push(format!("{name}: lost {} of {}", record.offset, record.id)),
            Some(row) => {
                if let Err(fault) = same(row, record, approximate) {
                    faults.push(format!("{name}: {fault}"));
                }
            }
        }
    }
    for row in rows.iter().filter(|row| !written.contains(&row.offset)) {
        faults.push(format!("{name}: invented {row:?}"));
    }
}

fn report(faults: &[String]) {
    for fault in faults.iter().take(12) {
        eprintln!("{}", fault.chars().take(700).collect::<String>());
    }
    assert!(faults.is_empty(), "{} faults", faults.len());
}

#[test]
fn every_record_is_delivered_bit_for_bit() {
    let Some(files) = files() else { return };
    let mut faults = Vec::new();
    let mut count = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let data = std::fs::read(&path).unwrap();
        let truth = truth(&path);
        count += truth.records.len();
        let (rows, gaps) = read(&data);
        if !gaps.is_empty() {
            faults.push(format!("{name}: {gaps:?}"));
        }
        compare(&name, &rows, &truth, &mut faults);
        let rows = read_strictly(&data);
        compare(&format!("{name} strictly"), &rows, &truth, &mut faults);
        let mut errors: Vec<Finding> = Vec::new();
        let _ = rtc::check(&mut recover::Frames::new(&data, [StreamSlot::EMPTY; 64]), &mut |finding| {
            // The writer damages a Meta that is longer than 1,024 bytes.
            if finding.severity() == Severity::Error && finding.cause().element() != rtc::element::META {
                errors.push(finding);
            }
        });
        if !errors.is_empty() {
            faults.push(format!("{name}: {errors:?}"));
        }
    }
    println!("{count} records");
    assert!(count > 0);
    report(&faults);
}

/// A file of `damaged/`.
fn damaged(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join("damaged").join(name)).unwrap()
}

fn offsets(rows: &[Row]) -> Vec<(u64, u64, u64)> {
    rows.iter().map(|row| (row.session, row.id, row.offset)).collect()
}

#[test]
fn damaged_files_give_the_right_answers() {
    let Some(folder) = folder() else { return };
    let read_all = |name: &str| read(&damaged(&folder, name));
    let count = |rows: &[Row], session: u64, id: u64| {
        rows.iter().filter(|row| (row.session, row.id) == (session, id)).count()
    };
    let sound = ["01-equal-units.rtc", "02-two-sessions.rtc", "04-fixed-over-last-index.rtc"];
    for name in sound.into_iter().chain(["05-minor-without-begin.rtc", "09-gain-of-20-digits.rtc"]) {
        let (rows, gaps) = read_all(name);
        assert!(gaps.is_empty() && !rows.is_empty(), "{name}: {gaps:?}");
    }

    // The units of a session whose head is lost are not read with the streams of the session before.
    let (whole, _) = read_all("02-two-sessions.rtc");
    let (rows, gaps) = read_all("02-second-session-head-zeroed.rtc");
    assert_eq!(gaps.len(), 1);
    assert!(rows.iter().all(|row| whole.contains(row)), "a record was never written");
    for id in [9, 10] {
        assert_eq!(count(&rows, 0, id), count(&whole, 0, id));
        assert!(count(&rows, 1, id) >= 765, "{}", count(&rows, 1, id));
    }

    // The rest of a record of fixed length, over the last index: read on, begun there, and after damage.
    let data = damaged(&folder, "04-fixed-over-last-index.rtc");
    let (whole, _) = read_all("04-fixed-over-last-index.rtc");
    let all: Vec<_> = rtc::Frames::new(&data, [StreamSlot::EMPTY; 64]).map(Result::unwrap).collect();
    for offset in [18_000, 0, 0x2000, 1025, data.len() as u64 - 1] {
        let frames = Grid::new(&data).unwrap().frames(offset, [StreamSlot::EMPTY; 64]).unwrap();
        let from = frames.offset();
        let seen: Vec<_> = frames.map(Result::unwrap).map(|frame| (frame.offset(), frame.end())).collect();
        let expected: Vec<_> = all.iter().map(|frame| (frame.offset(), frame.end())).collect();
        assert!(from <= offset.max(1) && expected.ends_with(&seen) && !seen.is_empty(), "from {offset}");
    }
    let (rows, gaps) = read_all("04-one-bad-word-before-last-index.rtc");
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    let after = |rows: &[Row]| offsets(rows).into_iter().filter(|row| row.2 > 0x4401).collect::<Vec<_>>();
    assert_eq!(after(&rows), after(&whole));
    assert!(rows.iter().all(|row| whole.contains(row)));

    // Within a record: the next index proves that nothing began there.
    let data = damaged(&folder, "05-minor-without-begin.rtc");
    let frames = Grid::new(&data).unwrap().frames(3500, [StreamSlot::EMPTY; 64]).unwrap();
    let first = frames.map(Result::unwrap).find(|frame| frame.is_user()).unwrap();
    assert!(first.continues());

    // Pieces of fixed length have that length, all together.
    let (rows, _) = read_all("06-inserted-5-bytes.rtc");
    assert!(!rows.is_empty() && rows.iter().all(|row| row.bytes.len() == 600));

    let (rows, gaps) = read_all("07-100-records-zeroed-nocrc.rtc");
    assert!(!rows.is_empty() && gaps.len() == 1);

    // Damage to a Meta costs its own unit, and no other. The first frame after it may be the rest of a record.
    for (name, all, costs) in
        [("08-gain-digit-in-first-meta.rtc", 4000, 0), ("08b-one-byte-in-first-meta.rtc", 3007, 3)]
    {
        let data = damaged(&folder, name);
        let (rows, gaps) = read(&data);
        assert_eq!((rows.len(), gaps.len()), (all, costs), "{name}");
        let second = rtc::Unit::parse(&data, 0).unwrap().end();
        // No more than the end of the record that it cut is lost after that unit.
        assert!(gaps.iter().all(|gap| gap.end() <= second || gap.len() <= 2), "{name}: {gaps:?}");
        let scale = |row: &Row| {
            let (raw, scaled) =
                (row.values.trim_start_matches(['U', 'I']), u64::from_str_radix(&row.scaled, 16));
            f64::from_bits(scaled.unwrap()) / raw.parse::<f64>().unwrap()
        };
        let is_zero = |row: &&Row| row.values.ends_with('0') && row.values.len() == 2;
        let scales: Vec<f64> = rows.iter().filter(|row| !is_zero(row)).map(scale).collect();
        let last = scales.last().copied().unwrap();
        let later = rows.iter().filter(|row| row.offset > second && !is_zero(row)).map(scale);
        assert!(later.into_iter().all(|scale| (scale / last - 1.0).abs() < 1e-9), "{name}");
        let mut contradictions = 0;
        let _ = rtc::check(&mut recover::Frames::new(&data, [StreamSlot::EMPTY; 64]), &mut |finding| {
            contradictions += u32::from(finding.cause().kind().code() == "contradictory");
        });
        assert_eq!(contradictions, 1, "{name}");
    }

    // A gain as `%.20f` prints it.
    let data = damaged(&folder, "09-gain-of-20-digits.rtc");
    let table = Grid::new(&data).unwrap().streams([StreamSlot::EMPTY; 64]).unwrap();
    let gains = table.streams().iter().filter(|stream| matches!(stream.gain(), Ok(Some(_)))).count();
    assert!(gains > 0);

    // No rest is a record: all of them begin as the program wrote them.
    let (rows, _) = read_all("11-rest-delivered-as-record.rtc");
    assert!(rows.len() >= 7 && rows.iter().all(|row| row.bytes.starts_with(b"message ")), "{}", rows.len());

    // What a shorter prefix delivers, a longer one delivers, too.
    let data = damaged(&folder, "14-cut-in-appended-marker.rtc");
    let mut before = Vec::new();
    for len in (58_000..=data.len()).step_by(7).chain([data.len()]) {
        let rows = offsets(&read(&data[..len]).0);
        assert!(rows.starts_with(&before), "{len} bytes deliver less than fewer");
        before = rows;
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Records delivered of those that are undamaged, in minor and major units that are.
#[derive(Default, Debug)]
struct Shares {
    minor: (u64, u64),
    major: (u64, u64),
    before: Vec<u64>,
    invented: u64,
    cases: u64,
}

/// Damage anywhere in files of one session: what is intact is delivered, and nothing that was never written.
#[test]
fn random_damage_costs_little_and_invents_nothing() {
    let Some(files) = files() else { return };
    let mut shares = Shares::default();
    let mut random = Random(17);
    for path in files {
        let truth = truth(&path);
        let [(base, end, major, minor)] = truth.sessions[..] else { continue };
        let data = std::fs::read(&path).unwrap();
        if base != 0 || end != data.len() as u64 {
            continue;
        }
        for case in 0..16 {
            damage(&data, &truth, (major, minor.min(major)), case % 4, &mut random, &mut shares);
        }
    }
    shares.before.sort_unstable();
    let at = |part: usize| shares.before.get(shares.before.len() * part / 100).copied().unwrap_or(0);
    let percent = |(read, all): (u64, u64)| 100.0 * read as f64 / all as f64;
    println!(
        "{} cases: in intact minor units {:.3} %, in intact major units {:.4} % of the records; {} invented; \
         lost before a wrong byte: median {}, 95 % {}, at most {}",
        shares.cases,
        percent(shares.minor),
        percent(shares.major),
        shares.invented,
        at(50),
        at(95),
        shares.before.last().unwrap_or(&0),
    );
    assert!(shares.cases > 500);
    assert!(percent(shares.minor) >= 98.98 && percent(shares.major) >= 99.99, "{shares:?}");
    assert!(shares.invented * 500 <= shares.cases, "{} invented", shares.invented);
    assert!(at(95) <= 1100, "{shares:?}");
}

fn damage(
    data: &[u8],
    truth: &Truth,
    sizes: (u64, u64),
    kind: u64,
    random: &mut Random,
    shares: &mut Shares,
) {
    let (start, len) = (random.below(data.len() as u64), 1 + random.below(40));
    let (start, len) = (start as usize, if kind == 0 { 1 } else { len as usize });
    let mut damaged = data.to_vec();
    let (end, shift) = match kind {
        0 | 1 => {
            let end = (start + len).min(data.len());
            for byte in &mut damaged[start..end] {
                *byte ^= 1 + random.below(255) as u8;
            }
            (end, 0)
        }
        2 => {
            let end = (start + len).min(data.len());
            damaged.drain(start..end);
            (end, -((end - start) as i64))
        }
        _ => {
            damaged.splice(start..start, (0..len).map(|_| random.below(256) as u8));
            (start, len as i64)
        }
    };
    let (start, end) = (start as u64, end as u64);
    shares.cases += 1;
    let (rows, gaps) = read(&damaged);
    let back = |offset: u64| if offset < start { offset } else { offset.wrapping_add_signed(-shift) };
    let read: BTreeSet<(u64, u64, u32)> =
        rows.iter().map(|row| (back(row.offset), row.id, row.crc)).collect();
    let touches = |from: u64, to: u64| from < end.max(start + 1) && start < to;
    let (major, minor) = sizes;
    let units = |from: u64, to: u64, size: u64, from_origin: u64| {
        let unit = |at: u64| (at / major, (at % major).saturating_sub(from_origin) / size);
        (unit(from), unit(to - 1))
    };
    let (hit_minor, hit_major) =
        (units(start, end.max(start + 1), minor, 1025), units(start, end.max(start + 1), major, 0));
    let is_hit = |(a, b), (c, d)| a <= d && c <= b;
    let written: BTreeSet<(u64, u64, u32)> =
        truth.records.iter().map(|row| (row.offset, row.id, row.crc)).collect();
    for record in &truth.records {
        let mut bounds = record.pieces.split(',').map(|piece| {
            let mut fields = piece.split(':').map(|field| field.parse::<u64>().unwrap());
            let (from, payload, len) =
                (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
            (from, payload + len)
        });
        let first = bounds.next().unwrap();
        let last = bounds.next_back().unwrap_or(first);
        if touches(first.0, last.1) {
            continue;
        }
        let is_read = u64::from(read.contains(&(record.offset, record.id, record.crc)));
        if !is_hit(units(first.0, last.1, minor, 1025), hit_minor) {
            shares.minor = (shares.minor.0 + is_read, shares.minor.1 + 1);
        }
        if !is_hit(units(first.0, last.1, major, 0), hit_major) {
            shares.major = (shares.major.0 + is_read, shares.major.1 + 1);
        }
    }
    if kind == 0
        && let Some(gap) = gaps.first().filter(|gap| gap.offset() <= start)
    {
        shares.before.push(start - gap.offset());
    }
    for row in &rows {
        let from = back(row.offset);
        let last = row.pieces.rsplit(',').next().and_then(|piece| piece.split_once(':')).unwrap();
        let to = back(last.0.parse::<u64>().unwrap() + last.1.parse::<u64>().unwrap() + 4);
        let is_known = written.contains(&(from, row.id, row.crc)) || truth.open.contains(&from);
        // A record over the damage is what is left of it.
        if !is_known && !touches(from, to) {
            shares.invented += 1;
        }
    }
}
