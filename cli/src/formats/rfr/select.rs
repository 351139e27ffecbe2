//! The records of a recording that `cat` prints.

use super::files::{Files, Kind, Part};
use super::scan;
use super::sites::Names;
use crate::status::Result;
use crate::trace::{Bounds, Damage, READ_WHOLE, Reference, Selection, Window};
use traceglass::rfr::{Chunk, ChunkHeader, Item, Object, RecordKind, StreamData, Streaming};

/// A range of time, in microseconds since the Unix epoch.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Range {
    from: u64,
    to: Option<u64>,
    /// True if chunks are skipped by what their headers state: of large recordings.
    skips: bool,
}

/// A range in the times of a chunk: from the first to the last one that is in it. No time is in it if the first is the
/// later one.
#[derive(Clone, Copy)]
pub struct Within {
    pub first: u64,
    pub last: u64,
    /// All times less than this are before it.
    pub before: u64,
    /// The greatest time that has no more than 64 bits since the Unix epoch.
    pub fits: u64,
}

impl Within {
    /// Of a chunk whose base time has more bits.
    const NEVER: Self = Self { first: 1, last: 0, before: 0, fits: u64::MAX };

    #[inline]
    pub fn wants(&self, time: u64) -> bool {
        self.first <= time && time <= self.last
    }
}

/// By how much the records of a chunk may lie outside of what its header states if chunks are skipped, in microseconds.
const AROUND: u64 = 10_000_000;

/// True if a recording is so large that headers are believed.
pub(super) fn is_large(files: &Files<'_>) -> bool {
    files.parts.iter().map(|part| part.size).sum::<u64>() > READ_WHOLE
}

/// The times that a chunk's header states, in microseconds since the Unix epoch.
pub(super) fn stated(header: &ChunkHeader) -> (u128, u128) {
    let base = u128::from(header.base_time()).saturating_mul(1_000_000);
    let first = base.saturating_add(u128::from(header.start().min(header.earliest())));
    (first, base.saturating_add(u128::from(header.end().max(header.latest()))))
}

/// The range that is asked for, in nanoseconds since the Unix epoch.
pub fn bounds(window: &Window, files: &Files<'_>) -> Result<Bounds> {
    let start = || Ok(start(files)?.map(|micros| i128::from(micros).saturating_mul(1000)));
    window.resolve(&Reference {
        is_absolute: &|| Ok(true),
        start: &start,
        of_clock: &|micros| Ok(micros.saturating_mul(1000)),
    })
}

/// The first time of a chunk's records, in microseconds since the Unix epoch.
fn first_of(part: &Part<'_>, header: &ChunkHeader) -> Result<Option<u64>> {
    let (data, mut first) = (part.data()?, None);
    let Ok(chunk) = Chunk::parse(data.bytes()) else { return Ok(None) };
    scan::items(&chunk, None, &mut Damage::default(), |item, _| {
        if let Item::Record(record) = item {
            first = Some(first.map_or(record.micros(), |first: u64| first.min(record.micros())));
        }
        Ok(())
    })?;
    Ok(first.and_then(|first| header.unix_micros(first).ok()))
}

impl Range {
    /// The range that is asked for.
    pub fn of(window: &Window, files: &Files<'_>) -> Result<Self> {
        let bounds = bounds(window, files)?;
        // A time between two microseconds: the later one is the first that is not before it.
        let micros = |ns: i128| u64::try_from(ceil(ns).max(0)).unwrap_or(u64::MAX);
        Ok(Self { from: bounds.from.map_or(0, micros), to: bounds.to.map(micros), skips: is_large(files) })
    }

    /// True if a chunk may have records in it. Headers do not tell, as a writer's clock may step back; but in a large
    /// recording, what is stated to be far away is.
    pub fn wants_chunk(&self, header: &ChunkHeader) -> bool {
        let (first, last) = stated(header);
        let around = u128::from(AROUND);
        !self.skips
            || last.saturating_add(around) >= u128::from(self.from)
                && self.to.is_none_or(|to| first < u128::from(to).saturating_add(around))
    }

    /// True if a chunk may have records before it. As [`Self::wants_chunk`].
    pub fn begins_after(&self, header: &ChunkHeader) -> bool {
        let begin = u128::from(self.from).saturating_add(AROUND.into());
        self.from > 0 && (!self.skips || stated(header).0 < begin)
    }

    /// The same in the times of a chunk, which count from its base time.
    pub fn within(&self, header: &ChunkHeader) -> Within {
        let Ok(base) = header.base_micros() else { return Within::NEVER };
        let (fits, first) = (u64::MAX.saturating_sub(base), self.from.saturating_sub(base));
        let last = match self.to {
            Some(to) => to.checked_sub(base).and_then(|to| to.checked_sub(1)),
            None => Some(fits),
        };
        last.map_or(Within { fits, before: first, ..Within::NEVER }, |last| Within {
            first,
            last: last.min(fits),
            before: first,
            fits,
        })
    }

    /// The first time, if it has one.
    pub fn start(&self) -> Option<u64> {
        (self.from > 0).then_some(self.from)
    }

    /// True if all times are in it, and what has none.
    pub fn is_everything(&self) -> bool {
        self.from == 0 && self.to.is_none()
    }

    /// True if what lies from one time to another reaches into it. Nothing does if it ends where it begins.
    pub fn meets(&self, span: Option<(u64, u64)>) -> bool {
        let meets =
            |(first, last)| last >= self.from && self.to.is_none_or(|to| first < to && self.from < to);
        self.is_everything() || span.is_some_and(meets)
    }

    /// True if a time is in it. One that does not fit is in no range.
    pub fn wants(&self, micros: Option<u64>) -> bool {
        match micros {
            Some(micros) => micros >= self.from && self.to.is_none_or(|to| micros < to),
            None => self.is_everything(),
        }
    }
}

/// Whole microseconds, rounded up.
fn ceil(nanoseconds: i128) -> i128 {
    nanoseconds.div_euclid(1000).saturating_add(i128::from(nanoseconds.rem_euclid(1000) != 0))
}

/// A selection, with all that depends on the recording found out.
#[derive(Clone)]
pub struct Filter {
    pub range: Range,
    /// The task that is wanted, by name or by instrumentation id.
    task: Option<(String, Option<u64>)>,
    kinds: Vec<RecordKind>,
}

impl Filter {
    pub fn of(args: &Selection, files: &Files<'_>) -> Result<Self> {
        let task = args.select.task.as_ref().map(|task| (task.clone(), task.parse().ok()));
        let kinds = args.rfr.kind.clone();
        Ok(Self { range: Range::of(&args.window, files)?, task, kinds })
    }

    /// True if a chunk has a record in the range: objects have no time of their own.
    pub fn is_met_by(&self, chunk: &Chunk<'_>) -> Result<bool> {
        let mut is_met = self.range.is_everything();
        if !is_met {
            scan::items(chunk, None, &mut Damage::default(), |item, _| {
                if let Item::Record(record) = item {
                    is_met |= self.range.wants(record.unix_micros(&chunk.header()).ok());
                }
                Ok(())
            })?;
        }
        Ok(is_met)
    }

    /// True if an object is wanted.
    pub fn wants_object(&self, object: &Object<'_>) -> bool {
        self.task.as_ref().is_none_or(|(name, iid)| {
            *iid == Some(object.iid()) || object.as_task().is_some_and(|task| task.name() == name)
        })
    }

    /// True if a record is wanted.
    #[inline]
    pub fn wants(&self, kind: RecordKind, micros: Option<u64>, iid: Option<u64>, names: &Names<'_>) -> bool {
        self.range.wants(micros)
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.task.as_ref().is_none_or(|(name, id)| {
                let named = |iid| names.get(iid).is_some_and(|named| named.task() == Some(name));
                iid.is_some_and(|iid| *id == Some(iid) || named(iid))
            })
    }
}

/// The start of a recording: the earliest time of a record in its chunks; of a stream, that of the first record of what happened.
fn start(files: &Files<'_>) -> Result<Option<u64>> {
    let mut first: Option<u64> = None;
    for part in files.chunks() {
        let Some(header) = part.header() else { continue };
        let is_later = |first: u64| stated(&header).0 > u128::from(first.saturating_add(AROUND));
        if first.is_some_and(is_later) && is_large(files) {
            continue;
        }
        let own = first_of(part, &header)?;
        first = first.into_iter().chain(own).min();
    }
    for part in files.of(Kind::Stream) {
        let data = part.data()?;
        let Ok(stream) = Streaming::parse(data.bytes()) else { continue };
        let mut records = stream.records().map_while(traceglass::Result::ok);
        // Nothing has happened while it says what there is.
        let record = records.find(|record| matches!(record.data(), StreamData::Record(_)));
        if let (None, Some(record)) = (first, record) {
            first = record.unix_micros().ok();
        }
    }
    Ok(first)
}
