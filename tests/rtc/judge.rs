//! How much of damaged files is still read: each record that was written and not damaged, and none that was not written.
//!
//! The truth is what the strict reader delivers of the sound file. Twelve kinds of damage, at places from a seed,
//! alone and with the end of the file cut off soon after them.

use crate::*;
use std::path::PathBuf;

/// A record as it was written or read: where its pieces lie, of which stream it is, and what it says.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: u64,
    /// Where each frame begins, and its payload's length.
    pieces: Vec<(u64, u64)>,
    bytes: Vec<u8>,
    /// After gain and offset.
    values: String,
}

impl Row {
    /// From the first byte of its first frame to the last one of its last.
    fn end(&self) -> u64 {
        self.pieces.last().map_or(0, |&(at, len)| at + 20 + len)
    }
}

fn row(record: &rtc::Record<'_, '_>) -> Row {
    let value = |(sample, scaled): (rtc::Sample<'_>, Option<f64>)| match scaled {
        Some(number) => format!("{:016x} ", number.to_bits()),
        None => format!("{sample:?} "),
    };
    Row {
        id: record.stream().id(),
        pieces: record.pieces().map(|(at, payload)| (at, payload.len() as u64)).collect(),
        bytes: record.bytes().expect("room").to_vec(),
        values: record
            .values()
            .map_or(String::new(), |values| values.map_while(Result::ok).map(value).collect()),
    }
}

/// What recovery delivers.
fn read(data: &[u8]) -> Vec<Row> {
    let mut buffer = vec![0; 1 << 20];
    let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
    let mut rows = Vec::new();
    loop {
        match records.next_step() {
            Step::Record(record) => rows.push(row(&record)),
            Step::End => return rows,
            _ => {}
        }
    }
}

/// A sound file of one session, its records, and where its units begin.
struct Sound {
    data: Vec<u8>,
    rows: Vec<Row>,
    /// Of all minor units, the first one of each major unit at its Marker; and which begin a major unit.
    units: Vec<(u64, bool)>,
    /// From each Marker to the end of the platform frame: what a file without a single one cannot be read without.
    heads: Vec<(u64, u64)>,
}

impl Sound {
    /// `None` if it has several sessions, or is not read to its end.
    fn new(data: Vec<u8>) -> Option<Self> {
        let mut buffer = vec![0; 1 << 20];
        let mut records = rtc::Records::new(&data, [StreamSlot::EMPTY; 64], &mut buffer);
        let (mut rows, mut units, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match records.next_step().ok()? {
                Step::Frame(frame) => match frame.id() {
                    rtc::id::MARKER => {
                        units.push((frame.offset(), true));
                        heads.push((frame.offset(), frame.end()));
                    }
                    rtc::id::PLATFORM => heads.last_mut()?.1 = frame.end(),
                    rtc::id::MINOR_INDEX if !frame.continues() => units.push((frame.offset(), false)),
                    _ => {}
                },
                Step::Record(record) => rows.push(row(&record)),
                _ => break,
            }
        }
        let is_one = records.frames().session() == 0;
        (is_one && !rows.is_empty() && data.len() > 4000).then_some(Self { data, rows, units, heads })
    }

    /// Whether no byte of the units that a record lies in is in a range.
    fn is_apart(&self, row: &Row, damage: &(u64, u64), is_major: bool) -> bool {
        let starts = || self.units.iter().filter(|unit| unit.1 || !is_major).map(|unit| unit.0);
        row.pieces.iter().all(|&(at, _)| {
            let start = starts().rfind(|&start| start <= at).unwrap_or(0);
            let end = starts().find(|&start| start > at).unwrap_or(self.data.len() as u64);
            damage.1 <= start || end <= damage.0
        })
    }
}

/// A damaged file: which bytes of the sound one are not as they were, and how far those after them moved.
struct Damage {
    data: Vec<u8>,
    from: u64,
    to: u64,
    moved: i64,
    /// Bytes that are there a second time, in the damaged file.
    copied: (u64, u64),
    /// The end of what is left of the sound file.
    end: u64,
}

/// A sequence of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

const KINDS: usize = 12;

/// The number of bytes after damage within which a file is cut.
const SOON: usize = 3000;

fn damage(sound: &Sound, kind: usize, is_cut: bool, random: &mut Random) -> Damage {
    let mut data = sound.data.clone();
    let whole = data.len();
    let len = [1, 4, 40, 300, 1500][random.below(5)].min(whole / 4);
    let at = random.below(whole - len);
    let marker = {
        let markers: Vec<u64> = sound.units.iter().filter(|unit| unit.1).map(|unit| unit.0).collect();
        markers[random.below(markers.len())] as usize
    };
    let (mut from, mut to, mut moved, mut copied) = (at, at + len, 0, (0, 0));
    match kind {
        0 => {
            data[at] ^= 1 << random.below(8);
            to = at + 1;
        }
        1 => {
            data[at] = random.below(256) as u8;
            to = at + 1;
        }
        2 => data[at..to].fill(0),
        3 => data[at..to].fill(0xff),
        4 => data[at..to].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        5 => {
            data.drain(at..to);
            moved = -(len as i64);
        }
        6 => {
            data.splice(at..at, (0..len).map(|n| (n * 31) as u8));
            (to, moved) = (at, len as i64);
        }
        7 => {
            let block = data[at..to].to_vec();
            data.splice(to..to, block);
            (from, to, moved) = (at + len, at + len, len as i64);
            copied = ((at + len) as u64, (at + 2 * len) as u64);
        }
        8 => {
            to = (marker + 1025).min(whole);
            from = marker;
            data[from..to].fill(0);
        }
        9 => data[at..to].fill(0x10),
        10 => {
            // Written to a wrong place.
            let other = random.below(whole - len);
            data.copy_within(other..other + len, at);
        }
        _ => {
            // The start is missing.
            data.drain(..at);
            (from, to, moved) = (0, at, -(at as i64));
        }
    }
    let mut end = whole as u64;
    if is_cut {
        let stop = (to as i64 + moved.max(0)) as usize + random.below(SOON);
        data.truncate(stop);
        end = end.min((stop as u64).saturating_add_signed(-moved));
    }
    Damage { data, from: from as u64, to: to as u64, moved, copied, end }
}

/// Records that were written, of those delivered: in all, in intact minor units, in intact major units.
#[derive(Debug, Default)]
struct Verdict {
    cases: u64,
    written: [u64; 3],
    delivered: [u64; 3],
    invented: u64,
    misdeclared: u64,
    /// Of each kind of damage: in intact minor units, written and delivered.
    kinds: [(u64, u64); KINDS],
}

impl Verdict {
    fn judge(&mut self, sound: &Sound, case: &Damage, kind: usize) {
        self.cases += 1;
        let range = (case.from, case.to.max(case.from + 1));
        let back = |at: u64| {
            if at < case.from { at } else { at.wrapping_add_signed(-case.moved) }
        };
        let mut found: BTreeMap<u64, Row> = BTreeMap::new();
        for mut row in read(&case.data) {
            let (start, end) = (row.pieces[0].0, row.end());
            if start < case.copied.1 && case.copied.0 < end {
                continue;
            }
            row.pieces.iter_mut().for_each(|piece| piece.0 = back(piece.0));
            found.insert(row.pieces[0].0, row);
        }
        let is_declared = sound.heads.iter().any(|head| range.1 <= head.0 || head.1 <= range.0);
        for row in sound.rows.iter().filter(|row| is_declared && row.end() <= case.end) {
            let touches = |&(at, len): &(u64, u64)| at < range.1 && range.0 < at + 20 + len;
            let is_apart = !row.pieces.iter().any(touches);
            let is_read = found.get(&row.pieces[0].0).is_some_and(|other| {
                (other.id, &other.pieces, &other.bytes) == (row.id, &row.pieces, &row.bytes)
            });
            let is_in = |is_major| sound.is_apart(row, &range, is_major);
            for (at, counts) in
                [is_apart, is_apart && is_in(false), is_apart && is_in(true)].into_iter().enumerate()
            {
                self.written[at] += u64::from(counts);
                self.delivered[at] += u64::from(counts && is_read);
            }
            let counts = is_apart && is_in(false);
            self.kinds[kind].0 += u64::from(counts);
            self.kinds[kind].1 += u64::from(counts && is_read);
            if is_read && found.get(&row.pieces[0].0).is_some_and(|other| other.values != row.values) {
                self.misdeclared += 1;
            }
        }
        let written: BTreeMap<u64, &Row> = sound.rows.iter().map(|row| (row.pieces[0].0, row)).collect();
        for (at, row) in &found {
            let is_real =
                written.get(at).is_some_and(|real| (real.id, &real.pieces) == (row.id, &row.pieces));
            let touches = row.pieces.iter().any(|&(at, len)| at < range.1 && range.0 < at + 20 + len);
            self.invented += u64::from(!is_real && !touches);
        }
    }

    fn share(&self, at: usize) -> f64 {
        100.0 * self.delivered[at] as f64 / self.written[at].max(1) as f64
    }

    fn shown(&self) -> String {
        format!(
            "{} cases: {:.3} % of all, {:.3} % in intact minor units, {:.4} % in intact major units; {} invented, {} misdeclared",
            self.cases,
            self.share(0),
            self.share(1),
            self.share(2),
            self.invented,
            self.misdeclared
        )
    }
}

fn judge_all(sounds: &[Sound], rounds: usize, is_cut: bool) -> Verdict {
    let (mut verdict, mut random) = (Verdict::default(), Random(7));
    for sound in sounds {
        for _ in 0..rounds {
            for kind in 0..KINDS {
                verdict.judge(sound, &damage(sound, kind, is_cut, &mut random), kind);
            }
        }
    }
    println!("{} {:?}", verdict.shown(), verdict.kinds);
    verdict
}

/// The project's own samples: all kinds of streams, units of many sizes, with and without Crc.
#[test]
fn of_damaged_samples_nearly_all_is_read() {
    let mut sounds = Vec::new();
    for (major, minor) in [(4096, 2048), (8192, 2048), (16_384, 4096), (8192, 8192)] {
        for crc in [Crc::Writer, Crc::None] {
            let options = Options { crc, ..Options::sizes(major, minor) };
            sounds.extend(Sound::new(file(options.clone(), 40_000).0));
            sounds.extend(Sound::new(common::rtc::sample(options, 40_000)));
        }
    }
    assert_eq!(sounds.len(), 16);
    let verdict = judge_all(&sounds, 8, false);
    assert!(
        verdict.share(0) >= 97.5 && verdict.share(1) >= 99.95 && verdict.share(2) >= 99.99,
        "{}",
        verdict.shown()
    );
    assert!(verdict.invented == 0 && verdict.misdeclared * 5 <= verdict.cases, "{}", verdict.shown());
    let verdict = judge_all(&sounds, 8, true);
    assert!(
        verdict.share(0) >= 95.5 && verdict.share(1) >= 99.6 && verdict.share(2) >= 99.9,
        "{}",
        verdict.shown()
    );
    assert!(verdict.invented == 0, "{}", verdict.shown());
}

/// Files of the real writer.
#[test]
fn of_damaged_files_nearly_all_is_read() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the files of rtc-more are not damaged");
        return;
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(PathBuf::from(root).join("rtc-more"))
        .expect("a folder")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rtc"))
        .collect();
    paths.sort();
    let sounds: Vec<Sound> =
        paths.iter().map(|path| std::fs::read(path).unwrap()).filter_map(Sound::new).collect();
    println!("{} of {} files have one session", sounds.len(), paths.len());
    assert!(sounds.len() > 50);
    let verdict = judge_all(&sounds, 6, false);
    assert!(
        verdict.share(0) >= 95.0 && verdict.share(1) >= 99.5 && verdict.share(2) >= 99.99,
        "{}",
        verdict.shown()
    );
    assert!(
        verdict.invented * 16 <= verdict.cases && verdict.misdeclared * 4 <= verdict.cases,
        "{}",
        verdict.shown()
    );
    let verdict = judge_all(&sounds, 6, true);
    assert!(
        verdict.share(0) >= 93.0 && verdict.share(1) >= 99.0 && verdict.share(2) >= 99.9,
        "{}",
        verdict.shown()
    );
    assert!(verdict.invented * 32 <= verdict.cases, "{}", verdict.shown());
}
