//! A trace as it was written, then damaged at one place: what precedes the damage is delivered as it was, a cut costs
//! the frame that it goes through, and after bytes that cannot be frames nothing is invented.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/common/rtc.rs"]
mod build;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use traceglass::rtc::recover::{Frames, GapReason};
use traceglass::rtc::{self, CrcStatus, StreamSlot};
use traceglass::{Gap, Severity};
use traceglass_fuzz::damage::{Damage, Damaged};
use traceglass_fuzz::{found, lies_in, located_in};

#[derive(Arbitrary, Debug)]
struct Recipe {
    major: u8,
    minor: u8,
    crc: Crc,
    big_endian: bool,
    piece: u8,
    streams: Vec<Stream>,
    writes: Vec<Write>,
    damage: Damage,
    /// Whether frames are made impossible, instead of any damage.
    impossible: bool,
    /// How much of the file is there while it grows.
    grown: u16,
}

#[derive(Arbitrary, Debug)]
enum Crc {
    None,
    Writer,
    Ieee,
}

#[derive(Arbitrary, Debug)]
struct Stream {
    /// The length of its records, if that is fixed.
    length: Option<u8>,
    is_late: bool,
}

#[derive(Arbitrary, Debug)]
struct Write {
    stream: u8,
    len: u16,
    fill: u8,
    repeats: u8,
}

/// The most that is written.
const MOST: usize = 40_000;
/// The most streams.
const STREAMS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Frame {
    at: usize,
    end: usize,
    id: u64,
}

#[derive(Default)]
struct Seen {
    frames: Vec<Frame>,
    gaps: Vec<Gap>,
    reasons: Vec<GapReason>,
    /// By session and stream.
    records: BTreeMap<(u64, u64), Vec<Vec<u8>>>,
    verdicts: Vec<CrcStatus>,
}

fuzz_target!(|recipe: Recipe| {
    let (whole, written) = recipe.write();
    let frames = recipe.read_back(&whole, &written);
    recipe.growing(&whole, &frames);
    if recipe.impossible {
        recipe.frames_made_impossible(&whole, &frames);
        return;
    }
    let marks: Vec<usize> = frames
        .iter()
        .filter(|frame| frame.id < rtc::id::USER && frame.id > rtc::id::PADDING)
        .chain(&frames[..frames.len().min(20)])
        .flat_map(|frame| [frame.at, frame.at + 1, frame.end])
        .collect();
    let damaged = recipe.damage.apply(&whole, &marks);
    let seen = walk(&damaged.data);
    if recipe.damage.is_cut() {
        recipe.cut(&damaged, &frames, &seen);
    }
    before_damage(&damaged, &frames, &seen);
});

impl Recipe {
    fn options(&self) -> build::Options {
        let major = 4096 << (self.major % 4);
        build::Options {
            major,
            minor: (2048 << (self.minor % 5)).min(major),
            crc: match self.crc {
                Crc::None => build::Crc::None,
                Crc::Writer => build::Crc::Writer,
                Crc::Ieee => build::Crc::Ieee,
            },
            big_endian: self.big_endian,
            piece: [1024, 300][usize::from(self.piece % 2)],
        }
    }

    /// The file, and what was written to each stream.
    fn write(&self) -> (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>) {
        let mut writer = build::Writer::new(self.options());
        let mut written: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        let streams = &self.streams[..self.streams.len().min(STREAMS)];
        let mut ids = Vec::new();
        for late in [false, true] {
            for stream in streams.iter().filter(|stream| stream.is_late == late) {
                let length = stream.length.map(|length| usize::from(length.max(1)));
                let attributes = length.map_or(String::new(), |length| format!(r#","length":{length}"#));
                ids.push((writer.stream(&format!(r#""name":"s"{attributes}"#)), length));
            }
            writer.begin();
        }
        for write in self.writes.iter().take(100) {
            let Some(&(id, length)) = ids.get(usize::from(write.stream) % ids.len().max(1)) else { break };
            for n in 0..=write.repeats % 64 {
                if writer.out.len() > MOST {
                    break;
                }
                let len = length.unwrap_or(usize::from(write.len % 3000).max(1));
                let record: Vec<u8> =
                    (0..len).map(|at| write.fill.wrapping_add(n).wrapping_add(at as u8 & 3)).collect();
                writer.write(id, &record);
                written.entry(id).or_default().push(record);
            }
        }
        (writer.stop(), written)
    }

    fn read_back(&self, whole: &[u8], written: &BTreeMap<u64, Vec<Vec<u8>>>) -> Vec<Frame> {
        let seen = walk(whole);
        assert_eq!(seen.gaps, []);
        let records: BTreeMap<u64, Vec<Vec<u8>>> =
            seen.records.into_iter().map(|((_, id), records)| (id, records)).collect();
        assert!(records == *written);
        let verdict = match self.crc {
            Crc::None => None,
            Crc::Writer => Some(CrcStatus::Writer),
            Crc::Ieee => Some(CrcStatus::Ieee),
        };
        assert!(seen.verdicts.iter().all(|seen| Some(*seen) == verdict));
        let _ = rtc::check(&mut Frames::new(whole, [StreamSlot::EMPTY; 8]), &mut |finding| {
            found(&finding);
            assert_eq!(finding.severity(), Severity::Warning, "{finding}");
        });
        seen.frames
    }

    fn has_fixed(&self) -> bool {
        self.streams.iter().take(STREAMS).any(|stream| stream.length.is_some())
    }

    /// The strict reader gives all frames of a sound file, and of its beginning those that are whole.
    fn growing(&self, whole: &[u8], frames: &[Frame]) {
        assert_eq!(strictly(whole), frames);
        let len = whole.len() * usize::from(self.grown) / usize::from(u16::MAX);
        let mut seen = strictly(&whole[..len]);
        if matches!(self.crc, Crc::None) && self.has_fixed() {
            // The last one may be cut where a Crc would be: see below.
            let reserve = self.options().major as usize - 5;
            // What follows may look like a Crc, until the next unit says that there is none.
            seen.pop_if(|last| last.id == rtc::id::CRC && last.at == reserve);
            seen.pop_if(|last| last.end == reserve);
        }
        assert!(frames.starts_with(&seen), "what {len:#x} bytes deliver, more of them do not");
        let fit = frames.iter().filter(|frame| frame.end <= len).count();
        assert!(seen.len() + 2 >= fit, "{} of {fit} frames in {len:#x} bytes", seen.len());
    }

    /// A cut at the end costs the frame that it goes through, and nothing else.
    fn cut(&self, damaged: &Damaged, frames: &[Frame], seen: &Seen) {
        let len = damaged.data.len();
        let mut fit: Vec<Frame> = frames.iter().copied().filter(|frame| frame.end <= len).collect();
        if fit.last().is_some_and(|last| last.id == rtc::id::MARKER) {
            // A Marker is taken with its Index alone.
            fit.pop();
        }
        let end = fit.last().map_or(0, |last| last.end);
        if matches!(self.crc, Crc::None) && self.has_fixed() {
            // In the first unit, nothing says yet that no place is kept free for a Crc: a record may seem to be cut in
            // front of it, of which the bytes up to there are delivered.
            let reserve = self.options().major as usize - 5;
            // What is left of it may look like one.
            let is_crc = |last: &&Frame| last.id == rtc::id::CRC && last.at == reserve;
            let crc = usize::from(seen.frames.last().filter(is_crc).is_some());
            let frames_read = &seen.frames[..seen.frames.len() - crc];
            let is_short = |last: &&Frame| {
                last.end == reserve && frames.iter().any(|frame| frame.at == last.at && frame.end > reserve)
            };
            let short = usize::from(frames_read.last().filter(is_short).is_some());
            let certain = &frames_read[..frames_read.len() - short];
            assert!(fit.starts_with(certain) && certain.len() + 2 >= fit.len());
            return;
        }
        assert_eq!(seen.frames, fit);
        if len == 0 {
            return;
        }
        let gaps: Vec<(u64, u64)> = seen.gaps.iter().map(|gap| (gap.offset(), gap.end())).collect();
        let expected = if end < len { vec![(end as u64, len as u64)] } else { vec![] };
        assert_eq!(gaps, expected);
        for (gap, reason) in seen.gaps.iter().zip(&seen.reasons) {
            assert!(gap.cause().is_truncation(), "{}", gap.cause());
            assert!(end == 0 || *reason == GapReason::Truncated, "{gap:?}");
        }
    }

    /// Frames of streams are overwritten by bytes that no frame begins with.
    fn frames_made_impossible(&self, whole: &[u8], frames: &[Frame]) {
        let users: Vec<usize> =
            (0..frames.len()).filter(|&number| frames[number].id >= rtc::id::USER).collect();
        let Some(&first) = users.get(usize::from(self.damage.byte()) * users.len() / 256) else { return };
        let run = frames[first..].iter().take_while(|frame| frame.id >= rtc::id::USER);
        let count = run.take(1 + usize::from(self.major / 4)).count();
        let range = frames[first].at..frames[first + count - 1].end;
        let damaged = Damage::fill(whole, range.clone(), 0xff);
        let seen = walk(&damaged.data);
        before_damage(&damaged, frames, &seen);
        let lost = |frame: &&Frame| frame.at >= range.start && frame.end <= range.end;
        assert!(!seen.frames.iter().any(|frame| lost(&frame)), "what is not there any more was read");
        assert!(!seen.gaps.is_empty());
        // How much is left of a record of fixed length is measured by the index after it: there is none after the last
        // minor unit, of which a frame may be taken for a whole record.
        let boundaries: Vec<usize> = frames
            .iter()
            .filter(|frame| matches!(frame.id, rtc::id::MARKER | rtc::id::MINOR_INDEX))
            .map(|frame| frame.at)
            .collect();
        let measured = boundaries.last().copied().filter(|_| self.has_fixed()).unwrap_or(whole.len());
        for frame in seen.frames.iter().filter(|frame| frame.end <= measured) {
            // The last bytes of a short run may be read as a part of what follows.
            assert!(frames.contains(frame) || range.len() < 10, "{frame:?} was never written");
        }
        // From the next boundary on, all is read again.
        let Some(&next) = boundaries.iter().find(|&&at| at >= range.end && at < measured) else { return };
        let after: Vec<Frame> =
            frames.iter().copied().filter(|frame| frame.at >= next && frame.end <= measured).collect();
        let read: Vec<Frame> =
            seen.frames.iter().copied().filter(|frame| frame.at >= next && frame.end <= measured).collect();
        assert_eq!(read, after, "frames after {next:#x} are lost");
    }
}

/// All frames of the minor units before the damage are delivered as they were.
fn before_damage(damaged: &Damaged, frames: &[Frame], seen: &Seen) {
    // A boundary counts if the index that stands there is whole.
    let boundaries = frames.windows(2).filter_map(|pair| match pair {
        [one, next] if one.id == rtc::id::MARKER => Some((one.at, next.end)),
        [one, _] if one.id == rtc::id::MINOR_INDEX => Some((one.at, one.end)),
        _ => None,
    });
    let proven = boundaries.filter(|(_, end)| *end <= damaged.start).map(|(at, _)| at).last().unwrap_or(0);
    let certain: Vec<Frame> = frames.iter().copied().filter(|frame| frame.end <= proven).collect();
    assert!(seen.frames.starts_with(&certain), "a frame before {proven:#x} is lost");
    if let Some(gap) = seen.gaps.first() {
        assert!(gap.offset() as usize >= proven, "{gap:?}");
    }
}

fn strictly(data: &[u8]) -> Vec<Frame> {
    let frames = rtc::Frames::new(data, [StreamSlot::EMPTY; 8]).map_while(Result::ok);
    frames
        .map(|frame| Frame { at: frame.offset() as usize, end: frame.end() as usize, id: frame.id() })
        .collect()
}

/// Walks all of it; frames and gaps tile the input, whatever it is.
fn walk(data: &[u8]) -> Seen {
    let mut frames = Frames::new(data, [StreamSlot::EMPTY; 8]);
    let mut seen = Seen::default();
    let mut open: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let mut at = 0;
    loop {
        while let Some(item) = frames.next() {
            let frame = match item {
                Ok(frame) => frame,
                Err(error) => {
                    located_in(&error, data);
                    assert!(frames.next().is_none(), "a frame after {error}");
                    break;
                }
            };
            assert_eq!(frame.offset(), at);
            lies_in(frame.payload(), data);
            at = frame.end();
            seen.frames.push(Frame { at: frame.offset() as usize, end: at as usize, id: frame.id() });
            if frame.id() == rtc::id::CRC {
                seen.verdicts.push(frames.crc_status::<1>());
            }
            if !frame.is_user() {
                continue;
            }
            let key = (frames.session(), frame.id());
            if !frame.continues() {
                open.insert(key, Vec::new());
            }
            let Some(record) = open.get_mut(&key) else { continue };
            record.extend(frame.payload());
            if !frame.more() {
                seen.records.entry(key).or_default().push(open.remove(&key).unwrap());
            }
        }
        let Some(gap) = frames.recover() else { break };
        assert_eq!(gap.offset(), at);
        at = gap.end();
        open.clear();
        seen.gaps.push(gap);
        seen.reasons.extend(frames.gap_reason());
        assert!(seen.gaps.len() <= data.len() + 1);
    }
    assert_eq!(at, data.len() as u64, "all is read or lost");
    seen
}
