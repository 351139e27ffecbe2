//! The records of a file, in its order.

use super::fields::{RtcData, Scale};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::data::Data;
use crate::event::event::{Event, EventKind, Flows, Number};
use crate::event::label::Label;
use crate::event::time::{Time, Window};
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::rtc::records::{Found, Step};
use crate::rtc::{self, ClockLink, Format, Grid, Record, Records, Sample, Samples, Stream, recover};

/// The track of the file.
const ROOT: TrackId = TrackId::new(0);

/// Attoseconds in a nanosecond.
const NANOSECOND: i128 = 1_000_000_000;

/// What is looked up of a stream once.
#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    /// The object that this was taken from, by its place in memory.
    declared: u64,
    label: Label<'a>,
    scale: Scale,
    is_counter: bool,
    is_annotation: bool,
    is_clock: bool,
    /// Whether its times count from the Unix epoch.
    absolute: bool,
}

impl Known<'_> {
    const NONE: Self = Self {
        declared: u64::MAX,
        label: Label::Text(""),
        scale: Scale { gain: None, offset: None },
        is_counter: false,
        is_annotation: false,
        is_clock: false,
        absolute: false,
    };
}

/// The tracks and events of an RTC file, of at most `N` streams a session.
///
/// ```
/// use traceglass::event::{EventKind, Item, Source, rtc};
///
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// let mut buffer = [0; 4096]; // for records that lie in several frames
/// let mut timeline = rtc::Timeline::<64>::new(0, data, &mut buffer);
/// while let Some(item) = timeline.next_item()? {
///     if let Item::Event(event) = item
///         && let (Some(time), EventKind::Counter(value)) = (event.time(), event.kind())
///     {
///         println!("{time} {}: {value:?}", event.name());
///     }
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap();
/// ```
pub struct Timeline<'a, 'b, const N: usize> {
    data: &'a [u8],
    input: usize,
    records: Records<'b, recover::Frames<'a, N>, N>,
    known: [Known<'a>; N],
    /// The session that was announced last, its track, and how many of its streams were announced.
    session: Option<u64>,
    session_track: TrackId,
    announced: usize,
    /// How many tracks there are.
    tracks: u64,
    window: Window,
    begun: bool,
    /// Whether one session is all there is, as far as its units tell.
    single: bool,
    /// All clocks in the slots before this one have reached the end of the window.
    over: usize,
    /// Nothing more comes.
    done: bool,
}

impl<'a, 'b, const N: usize> Timeline<'a, 'b, N> {
    /// The timeline of a file, which events refer to as `input`.
    ///
    /// Records that lie in several frames are joined in `buffer`, as [`Records`] says. The fields of one for which
    /// it is too small are an error that tells how large it has to be.
    #[inline(never)] // Built in place: inlined, it is built on the stack and copied.
    pub fn new(input: usize, data: &'a [u8], buffer: &'b mut [u8]) -> Self {
        Self {
            data,
            input,
            records: Records::new(recover::Frames::new(data), buffer),
            known: [Known::NONE; N],
            session: None,
            session_track: ROOT,
            announced: 0,
            tracks: 0,
            window: Window::ALL,
            begun: false,
            single: false,
            over: 0,
            done: false,
        }
    }

    /// Goes to where the window begins, if it can be found without reading what lies before.
    fn begin(&mut self) {
        if core::mem::replace(&mut self.begun, true) || self.window == Window::ALL {
            return;
        }
        let Ok(grid) = Grid::new(self.data) else { return };
        let from = self.window.from().unwrap_or(i128::MIN).saturating_mul(NANOSECOND);
        let Some(place) = grid.seek_all::<N>(rtc::Time::from_attoseconds(from)) else { return };
        self.single = true;
        if place == 0 {
            return;
        }
        if let Ok(frames) = grid.frames::<N>(place) {
            self.records.restart(recover::Frames::from_strict(frames));
            grid.prime(&mut self.records);
        }
    }

    fn track_of(&self, slot: usize) -> TrackId {
        TrackId::new(self.session_track.number().saturating_add(1).saturating_add(to_u64(slot)))
    }

    fn new_track(&mut self) -> TrackId {
        let number = self.tracks;
        self.tracks = number.saturating_add(1);
        TrackId::new(number)
    }

    /// The track that is to be announced next.
    fn announce(&mut self) -> Option<Item<'a>> {
        let plain = |id, parent, label| {
            let (kind, clock) = (TrackKind::Recording, Clock::new(None, false));
            Some(Item::Track(Track { id, parent, kind, label, clock, data: Data::None }))
        };
        if self.tracks == 0 {
            return plain(self.new_track(), None, Label::Text("RTC trace"));
        }
        let streams = self.records.streams();
        if streams.is_empty() {
            return None;
        }
        let session = self.records.frames().session();
        if self.session != Some(session) {
            let id = self.new_track();
            (self.session, self.session_track, self.announced) = (Some(session), id, 0);
            return plain(id, Some(ROOT), Label::Numbered("session", session));
        }
        let slot = self.announced;
        let &stream = streams.at(slot)?;
        self.announced = slot.saturating_add(1);
        let known = self.learn(slot, &stream)?;
        let clock = self.records.streams().clock_of(slot).and_then(|clock| clock.name()?.borrowed());
        let id = self.track_of(slot);
        self.tracks = self.tracks.max(id.number().saturating_add(1));
        let unit = || stream.attribute("unit")?.as_name()?.borrowed();
        Some(Item::Track(Track {
            id,
            parent: Some(self.session_track),
            kind: if known.is_counter { TrackKind::Counter { unit: unit() } } else { TrackKind::Stream },
            label: known.label,
            clock: Clock::new(clock, known.absolute),
            data: Data::Rtc(RtcData::Stream(stream)),
        }))
    }

    /// What is known of the stream in a slot.
    fn learn(&mut self, slot: usize, stream: &Stream<'a>) -> Option<Known<'a>> {
        let known = self.known.get_mut(slot)?;
        let declared = stream.object().offset();
        if known.declared != declared {
            let streams = self.records.streams();
            let is_clock = stream.clock() == Some(ClockLink::IsClock);
            *known = Known {
                declared,
                label: stream.name().map_or(Label::Numbered("stream", stream.id()), Label::Rtc),
                scale: Scale::of(stream),
                is_counter: is_number(stream.format()) && !is_clock,
                is_clock,
                is_annotation: matches!(stream.format(), Format::Annotate(_)),
                absolute: streams.is_absolute(slot),
            };
        }
        Some(*known)
    }

    /// The event of what cannot be read.
    fn gap(&mut self, error: Error) -> Result<Item<'static>> {
        let rest = || {
            let len = to_u64(self.data.len()).saturating_sub(error.offset());
            Gap::new(error.offset(), len, error)
        };
        let gap = self.records.recover().unwrap_or_else(rest);
        if let ErrorKind::CapacityExceeded { .. } = gap.cause().kind() {
            self.done = true;
            return Err(gap.cause());
        }
        let track = self.session.map_or(ROOT, |_| self.session_track);
        Ok(Item::Event(Event::gap(self.input, None, track, gap)))
    }

    /// Whether no clock will be in the window any more.
    fn is_over(&mut self) -> bool {
        if !self.single {
            return false;
        }
        let streams = self.records.streams();
        while let Some(known) = self.known.get(self.over).filter(|_| self.over < streams.len()) {
            let time = self.records.clocks().time_at(self.over);
            let surely = |time: rtc::Time| time.attoseconds().saturating_sub(Grid::SLACK.attoseconds());
            let ns = time.map(|time| surely(time).div_euclid(NANOSECOND));
            if known.is_clock && !ns.is_some_and(|ns| self.window.ends_before(ns)) {
                return false;
            }
            self.over = self.over.saturating_add(1);
        }
        true
    }

    /// When a record was written, or, if it is an annotation, what it says.
    fn time(&mut self, found: &Found<'a>, known: &Known<'a>) -> Option<Time> {
        let mut time = self.records.record(found).and_then(|record| record.time());
        if known.is_annotation
            && let Some(Ok(annotation)) = self.records.record(found).and_then(|record| record.annotation())
        {
            time = Some(annotation.time);
        }
        let ns = time?.attoseconds().div_euclid(NANOSECOND);
        Some(if known.absolute { Time::since_epoch(ns) } else { Time::since_origin(ns) })
    }
}

/// Whether what a stream holds is a counter's values.
const fn is_number(format: Format) -> bool {
    matches!(
        format,
        Format::Unsigned(..)
            | Format::Signed(..)
            | Format::Float32(_)
            | Format::Float64(_)
            | Format::Uleb128
            | Format::Leb128
    )
}

/// The value that a counter has after these samples; `None` if they are not what their format says, or there is none.
fn last_number(samples: Samples<'_>, scale: Scale) -> Option<Number> {
    let mut last = None;
    for sample in samples {
        last = Some(sample.ok()?);
    }
    match last? {
        Sample::Unsigned(value) if scale.is_none() => Some(Number::Integer(value.into())),
        Sample::Signed(value) if scale.is_none() => Some(Number::Integer(value.into())),
        number => number.scaled(scale.gain, scale.offset).map(Number::Float),
    }
}

/// What kind of event a record is, and its fields.
fn content<'r, const N: usize>(record: &Record<'r, '_, N>, known: &Known<'_>) -> (EventKind, Data<'r>) {
    let bytes = match record.bytes() {
        Ok(bytes) => bytes,
        Err(error) => return (EventKind::Instant, Data::Rtc(RtcData::TooLong(error))),
    };
    let samples = match record.annotation() {
        Some(annotation) => annotation.map(|annotation| annotation.samples),
        None => record.samples(),
    };
    let kind = |mut samples: Samples<'_>| {
        if known.is_counter {
            return last_number(samples, known.scale).map(EventKind::Counter);
        }
        samples.all(|sample| sample.is_ok()).then_some(EventKind::Instant)
    };
    match samples.ok().and_then(|samples| Some((kind(samples)?, samples))) {
        Some((kind, samples)) => (kind, Data::Rtc(RtcData::Samples(samples, known.scale))),
        // Its bytes are what was written, nevertheless.
        None => (EventKind::Instant, Data::Rtc(RtcData::Bytes(bytes))),
    }
}

impl<const N: usize> Source for Timeline<'_, '_, N> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        self.begin();
        // First finds a record in the window, then borrows it.
        let (found, known, time) = loop {
            if self.done {
                return Ok(None);
            }
            if let Some(track) = self.announce() {
                return Ok(Some(track));
            }
            match self.records.next_step() {
                Ok(None) => return Ok(None),
                Ok(Some(Step::Frame(_))) => {}
                Ok(Some(Step::Record(found))) => {
                    let slot = found.slot;
                    let Some(&stream) = self.records.streams().at(slot) else { continue };
                    let Some(known) = self.learn(slot, &stream) else { continue };
                    let time = self.time(&found, &known);
                    if self.window.contains(time) {
                        break (found, known, time);
                    }
                    if known.is_clock && self.is_over() {
                        self.done = true;
                        return Ok(None);
                    }
                }
                Err(error) => return self.gap(error).map(Some),
            }
        };
        let end = found.frame.end();
        let (input, track) = (self.input, self.track_of(found.slot));
        let Some(record) = self.records.record(&found) else { return Ok(None) };
        let offset = record.offset();
        let len = end.saturating_sub(offset);
        let (kind, data) = content(&record, &known);
        Ok(Some(Item::Event(Event {
            input,
            offset,
            len,
            time,
            track,
            kind,
            name: known.label,
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data,
        })))
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}

impl<const N: usize> core::fmt::Debug for Timeline<'_, '_, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timeline").field("input", &self.input).finish_non_exhaustive()
    }
}
