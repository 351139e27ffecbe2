//! The records of a file, in its order.

use super::fields::RtcData;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::data::Data;
use crate::event::event::{Event, EventKind, Flows, Number};
use crate::event::label::Label;
use crate::event::time::Window;
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::record::Decimal;
use crate::room::Room;
use crate::rtc::class::Scale;
use crate::rtc::recover::{Found, Records};
use crate::rtc::{
    self, Format, Grid, NameSlot, NamedRecord, Names, Sample, Samples, StreamClass, StreamSlot,
};

/// The track of the file.
const ROOT: TrackId = TrackId::new(0);

/// Attoseconds in a nanosecond.
const NANOSECOND: i128 = 1_000_000_000;

/// The tracks and events of an RTC file.
///
/// ```
/// use traceglass::event::{EventKind, Item, Source, rtc};
/// use traceglass::rtc::{NameSlot, StreamSlot};
///
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// let mut buffer = [0; 4096]; // for records that lie in several frames
/// let (slots, names) = ([StreamSlot::EMPTY; 64], [NameSlot::EMPTY; 64]); // of the streams of a session
/// let mut timeline = rtc::Timeline::new(0, data, slots, names, &mut buffer);
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
pub struct Timeline<'a, 'b, R, S> {
    data: &'a [u8],
    input: usize,
    records: Records<'a, 'b, R>,
    names: Names<'a, S>,
    /// The session that was announced last, its track, and how many of its streams were announced.
    session: Option<u64>,
    session_track: TrackId,
    announced: usize,
    /// The number of tracks.
    tracks: u64,
    window: Window,
    begun: bool,
    /// True if one session is all there is, as far as its units tell.
    single: bool,
    /// All clocks in the slots before this one have reached the end of the window.
    over: usize,
    /// The offset where all had, if they have.
    past: Option<u64>,
    /// Nothing more comes.
    done: bool,
}

impl<'a, 'b, R: Room<StreamSlot<'a>>, S: Room<NameSlot<'a>>> Timeline<'a, 'b, R, S> {
    /// The timeline of a file, which events refer to as `input`, with slots and names for the streams of a session.
    ///
    /// Records that lie in several frames are joined in `buffer`, as [`Records`] says. The fields of one for which
    /// it is too small are an error that tells how large it has to be.
    #[inline(never)] // Built in place: inlined, it is built on the stack and copied.
    pub fn new(input: usize, data: &'a [u8], slots: R, names: S, buffer: &'b mut [u8]) -> Self {
        Self {
            data,
            input,
            records: Records::new(data, slots, buffer),
            names: Names::new(names),
            session: None,
            session_track: ROOT,
            announced: 0,
            tracks: 0,
            window: Window::ALL,
            begun: false,
            single: false,
            over: 0,
            past: None,
            done: false,
        }
    }

    /// Reads all of the input whatever the window is: then clocks that step back by more than
    /// [`Grid::SLACK`](rtc::Grid::SLACK), and records in several pieces that are not complete where the window ends, cost
    /// nothing. To be called before the first item.
    pub const fn read_all(&mut self) {
        self.begun = true;
    }

    /// Goes to where the window begins, if it can be found without reading what lies before.
    fn begin(&mut self) {
        if core::mem::replace(&mut self.begun, true) || self.window == Window::ALL {
            return;
        }
        let Ok(grid) = Grid::new(self.data) else { return };
        let from = self.window.from().unwrap_or(i128::MIN).saturating_mul(NANOSECOND);
        self.single = self.records.seek(&grid, rtc::Time::from_attoseconds(from)).is_some();
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
    fn announce(&mut self) -> Result<Option<Item<'a>>> {
        let plain = |id, parent, label| {
            let (kind, clock) = (TrackKind::Recording, Clock::new(None, false));
            Ok(Some(Item::Track(Track { id, parent, kind, label, clock, data: Data::None })))
        };
        if self.tracks == 0 {
            return plain(self.new_track(), None, Label::Text("RTC trace"));
        }
        let streams = self.records.streams();
        if streams.is_empty() {
            return Ok(None);
        }
        let session = self.records.frames().session();
        if self.session != Some(session) {
            let id = self.new_track();
            (self.session, self.session_track, self.announced) = (Some(session), id, 0);
            return plain(id, Some(ROOT), Label::Numbered("session", session));
        }
        let slot = self.announced;
        let Some(&stream) = streams.at(slot) else { return Ok(None) };
        self.announced = slot.saturating_add(1);
        let class = self.names.class(slot, session, self.records.streams())?;
        let Some(class) = class else { return Ok(None) };
        let clock = class.clock_name().and_then(|clock| clock.borrowed());
        let (label, clock) = (label(class), Clock::new(clock, class.is_absolute()));
        let unit = || stream.attribute("unit")?.as_name()?.borrowed();
        let kind = if is_counter(class) { TrackKind::Counter { unit: unit() } } else { TrackKind::Stream };
        let id = self.track_of(slot);
        self.tracks = self.tracks.max(id.number().saturating_add(1));
        let (parent, data) = (Some(self.session_track), Data::Rtc(RtcData::Stream(stream)));
        Ok(Some(Item::Track(Track { id, parent, kind, label, clock, data })))
    }

    /// The event of what cannot be read.
    fn gap(&mut self, gap: Gap) -> Result<Item<'static>> {
        if is_full(gap.cause()) {
            return self.fail(gap.cause());
        }
        let track = self.session.map_or(ROOT, |_| self.session_track);
        Ok(Item::Event(Event::gap(self.input, None, track, gap)))
    }

    /// Ends with an error.
    fn fail<T>(&mut self, error: Error) -> Result<T> {
        self.done = true;
        Err(error)
    }

    /// True if no clock will be in the window any more.
    fn is_over(&mut self) -> bool {
        if !self.single {
            return false;
        }
        let streams = self.records.streams();
        while let Some(stream) = streams.at(self.over) {
            let time = self.records.time_at(self.over);
            let surely = |time: rtc::Time| time.attoseconds().saturating_sub(Grid::SLACK.attoseconds());
            let ns = time.map(|time| surely(time).div_euclid(NANOSECOND));
            let is_clock = stream.links().is_clock;
            if is_clock && !ns.is_some_and(|ns| self.window.ends_before(ns)) {
                return false;
            }
            self.over = self.over.saturating_add(1);
        }
        true
    }
}

fn label<'a>(class: &StreamClass<'a>) -> Label<'a> {
    class.stream_name().map_or(Label::Numbered("stream", class.stream().id()), Label::Rtc)
}

/// True if lent room is full.
const fn is_full(error: Error) -> bool {
    matches!(error.kind(), ErrorKind::CapacityExceeded { .. })
}

/// True if the records of a stream are the values of a counter.
const fn is_counter(class: &StreamClass<'_>) -> bool {
    is_number(class.stream().format()) && !class.is_clock()
}

/// True if what a stream holds is a counter's values.
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
fn last_number(samples: Samples<'_>, scale: &Scale) -> Option<Number> {
    let mut last = None;
    for sample in samples {
        last = Some(sample.ok()?);
    }
    match last? {
        Sample::Unsigned(value) if scale.is_none() => Some(Number::Integer(value.into())),
        Sample::Signed(value) if scale.is_none() => Some(Number::Integer(value.into())),
        number => {
            let exact = scale.exact(number).map(Decimal::to_f64);
            exact.or_else(|| number.scaled(scale.gain, scale.offset)).map(Number::Float)
        }
    }
}

/// The kind of event that a record is.
fn kind(record: &NamedRecord<'_, '_>) -> EventKind {
    let class = record.class();
    let samples = if is_counter(class) { record.samples() } else { None };
    let value = samples.and_then(|samples| last_number(samples, class.scale()));
    value.map_or(EventKind::Instant, EventKind::Counter)
}

impl<'a, R: Room<StreamSlot<'a>>, S: Room<NameSlot<'a>>> Source for Timeline<'a, '_, R, S> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        self.begin();
        // First finds a record in the window, then borrows it.
        let found = loop {
            if self.done {
                return Ok(None);
            }
            match self.announce() {
                Ok(Some(track)) => return Ok(Some(track)),
                Ok(None) => {}
                Err(error) => return self.fail(error),
            }
            match self.records.advance() {
                Found::End => return Ok(None),
                Found::Frame(_) => {}
                Found::Record(frame) => {
                    let Some(record) = self.records.record(frame) else { continue };
                    let named = match self.names.record(&record) {
                        Ok(named) => named,
                        Err(error) if is_full(error) => return self.fail(error),
                        Err(_) => continue,
                    };
                    let is_clock = named.class().is_clock();
                    if self.window.contains(named.time()) {
                        break frame;
                    }
                    let offset = record.offset();
                    if is_clock && self.is_over() {
                        // A record in several pieces may have begun before.
                        let past = *self.past.get_or_insert(offset);
                        if self.records.first_open().is_none_or(|open| open > past) {
                            self.done = true;
                            return Ok(None);
                        }
                    }
                }
                Found::Gap(gap) => return self.gap(gap).map(Some),
            }
        };
        let Some(record) = self.records.record(found) else { return Ok(None) };
        let (input, track) = (self.input, self.track_of(record.slot()));
        let offset = record.offset();
        let named = self.names.record(&record)?;
        Ok(Some(Item::Event(Event {
            input,
            offset,
            len: found.end().saturating_sub(offset),
            time: named.time(),
            track,
            kind: kind(&named),
            name: label(named.class()),
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::Rtc(RtcData::Record(named)),
        })))
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}

impl<R, S> core::fmt::Debug for Timeline<'_, '_, R, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timeline").field("input", &self.input).finish_non_exhaustive()
    }
}
