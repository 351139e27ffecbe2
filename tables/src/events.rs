//! The tables that each format has: events, tracks, gaps, parts.

use crate::error::{Error, Result};
use crate::json::with_text;
use crate::query::Query;
use crate::rows::Rows;
use crate::seen::{Number, Seen};
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use traceglass::Gap;
use traceglass::ctf::data::wire::WireSlot;
use traceglass::event::{Event, EventKind, Item, Number as Value, Source, Track, TrackId};
use traceglass::record::Record;
use traceglass_open::record::Json;
use traceglass_open::tracks::Tracks;

pub(crate) const EVENTS: usize = 0;
pub(crate) const TRACKS: usize = 1;
pub(crate) const GAPS: usize = 2;
pub(crate) const PARTS: usize = 3;
/// The first table of a format's own.
pub(crate) const OWN: usize = 5;

/// The file that a source reads, and the place in it.
#[derive(Default)]
pub(crate) struct Place<'p> {
    /// The name of the file.
    pub file: &'p str,
    /// The number that is added to offsets: the input is the part of a file from there on.
    pub base: u64,
    /// Events before this offset, in the input, belong to another piece.
    pub skipped: u64,
    /// The text that distinguishes the tracks of this file from those of others; empty where all files share their
    /// tracks.
    pub seed: &'p str,
    /// True of a part of RFR, a chunk or a range: the begin of what ends in it may lie before it.
    pub is_part: bool,
}

/// Takes the events that become rows of a format's own tables: each with its track.
pub(crate) type Typed<'y> = dyn FnMut(&Event<'_>, u64, &mut Sink<'_>) -> Result<()> + 'y;

/// A part of a file.
pub(crate) struct Part<'p> {
    pub file: &'p str,
    pub kind: &'static str,
    pub number: u64,
    pub name: Option<&'p str>,
    pub offset: u64,
    pub bytes: u64,
    pub begin: Option<i128>,
    pub end: Option<i128>,
    pub is_absolute: bool,
}

/// The rows of the common tables; those that are not read are `None`.
pub(crate) struct Common<'q> {
    events: Option<Rows>,
    tracks: Option<Rows>,
    gaps: Option<Rows>,
    parts: Option<Rows>,
    query: &'q Query,
    seen: &'q Seen,
    /// The numbers of the source's tracks in these tables. A source may announce them in any order.
    ids: HashMap<TrackId, u64, RandomState>,
    /// The tracks that are asked for.
    wanted: Tracks,
    json: Json,
    buffer: String,
}

impl<'q> Common<'q> {
    /// The tables that each format has, in the order of their numbers.
    pub(crate) fn tables() -> Vec<Table> {
        vec![table::events(), table::tracks(), table::gaps(), table::parts(), crate::slices::table()]
    }

    pub(crate) fn new(tables: &[usize], query: &'q Query, seen: &'q Seen) -> Self {
        let all = Self::tables();
        let rows = |number: usize| {
            let table = all.get(number).filter(|_| tables.contains(&number));
            table.map(|table| Rows::new(table, query))
        };
        Self {
            events: rows(EVENTS),
            tracks: rows(TRACKS),
            gaps: rows(GAPS),
            parts: rows(PARTS),
            query,
            seen,
            ids: HashMap::default(),
            wanted: Tracks::new(query.tracks.clone()),
            json: Json::bare(),
            buffer: String::new(),
        }
    }

    pub(crate) const fn seen(&self) -> &Seen {
        self.seen
    }

    /// True if these tables need the content of files.
    pub(crate) const fn needs_events(&self) -> bool {
        self.events.is_some() || self.tracks.is_some() || self.gaps.is_some()
    }

    /// Hands out what is left.
    pub(crate) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        let all = [&mut self.events, &mut self.tracks, &mut self.gaps, &mut self.parts];
        for (number, rows) in all.into_iter().enumerate() {
            if let Some(rows) = rows {
                hand_out_rest(number, rows, sink)?;
            }
        }
        Ok(())
    }

    /// All that a source yields.
    pub(crate) fn drive(
        &mut self,
        source: &mut dyn Source,
        place: &Place<'_>,
        mut typed: Option<&mut Typed<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        source.set_window(self.query.window);
        self.ids.clear();
        loop {
            let item =
                source.next_item().map_err(|cause| Error::Content { file: place.file.to_owned(), cause })?;
            let Some(item) = item else { return Ok(()) };
            if self.item(&item, None, place, sink)?
                && let (Some(typed), Item::Event(event)) = (&mut typed, &item)
            {
                typed(event, self.id_of(event.track()), sink)?;
            }
        }
    }

    /// An item of a source, and of an event its fields if they are known; returns true if it is an event that has a row.
    pub(crate) fn item(
        &mut self,
        item: &Item<'_>,
        fields: Option<&str>,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        self.wanted.meet(item);
        match item {
            Item::Track(track) => self.track(track, place, sink).map(|()| false),
            Item::Ended(track) => {
                self.ids.remove(track);
                Ok(false)
            }
            Item::Event(event) if event.offset() >= place.skipped && !event.is_inferred() => {
                self.event(event, fields, place, sink).map(|()| true)
            }
            _ => Ok(false),
        }
    }

    /// True if of all these tables the one of gaps is the only one that needs the content of files.
    pub(crate) const fn needs_gaps_alone(&self) -> bool {
        self.gaps.is_some() && self.events.is_none() && self.tracks.is_none()
    }

    /// Reads the damage of a source that tells all of it before the first event.
    pub(crate) fn damage(
        &mut self,
        source: &mut dyn Source,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.ids.clear();
        loop {
            let item =
                source.next_item().map_err(|cause| Error::Content { file: place.file.to_owned(), cause })?;
            match item {
                Some(Item::Track(track)) => self.track(&track, place, sink)?,
                Some(Item::Event(event)) if matches!(event.kind(), EventKind::Gap(_)) => {
                    self.event(&event, None, place, sink)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn id_of(&self, track: TrackId) -> u64 {
        self.ids.get(&track).copied().unwrap_or(0)
    }

    fn track(&mut self, track: &Track<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let Self { ids, json, buffer, tracks, seen, .. } = self;
        let text = fields_of(json, track);
        let parent = track.parent().and_then(|parent| ids.get(&parent)).copied();
        with_text(&track.label(), buffer, |label| {
            let number = Number::new().bytes(place.seed.as_bytes()).id(parent.unwrap_or(0));
            let number = number.bytes(track.kind().name().as_bytes());
            // An id depends on the track alone, so that a task has the same one in each file that it is met in.
            let id = number.bytes(label.as_bytes()).bytes(text.unwrap_or_default().as_bytes()).finish();
            // One that comes again is described anew.
            ids.insert(track.id(), id);
            let Some(rows) = tracks.as_mut().filter(|_| seen.is_new_track(id)) else { return Ok(()) };
            rows.u64(0, Some(id));
            rows.u64(1, parent);
            rows.name(2, Some(track.kind().name()));
            rows.text(3, Some(label));
            rows.name(4, track.clock().name());
            rows.text(5, text);
            hand_out(TRACKS, rows, sink)
        })
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        fields: Option<&str>,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let file = place.file;
        let offset = event.offset().saturating_add(place.base);
        let track = self.id_of(event.track());
        let time = event.time();
        let (ns, is_absolute) = (time.map(|time| time.ns()), time.is_some_and(|time| time.is_absolute()));
        match event.kind() {
            EventKind::Gap(gap) => self.gap(file, &gap, place.base, Some(track), ns, is_absolute, sink)?,
            EventKind::Discarded { count } => {
                if let Some(rows) = &mut self.gaps {
                    rows.name(0, Some(file));
                    rows.u64(1, Some(offset));
                    rows.u64(3, Some(track));
                    rows.time(4, ns, is_absolute);
                    rows.name(6, Some("discarded"));
                    rows.u64(8, count);
                    hand_out(GAPS, rows, sink)?;
                }
            }
            _ => {}
        }
        let Self { events: Some(rows), query, json, buffer, wanted, .. } = self else { return Ok(()) };
        if !wanted.has(event.track()) {
            return Ok(());
        }
        with_text(&event.name(), buffer, |name| {
            let is_instant = event.kind() == EventKind::Instant;
            let (kind, name) = match name {
                "TaskPollEnd" if is_instant && place.is_part => ("end", "poll"),
                "SpanExit" if is_instant && place.is_part => ("end", "enter"),
                name => (event.kind().name(), name),
            };
            if !query.wants_event(kind, name) {
                return Ok(());
            }
            rows.name(0, Some(file));
            rows.u64(1, Some(offset));
            rows.u64(2, Some(event.len()));
            rows.u64(3, Some(track));
            rows.time(4, ns, is_absolute);
            rows.name(6, Some(kind));
            rows.name(7, Some(name));
            if let EventKind::Counter(value) = event.kind() {
                #[allow(clippy::cast_precision_loss)] // The column is one of floats.
                let value = match value {
                    Value::Integer(value) => Some(value as f64),
                    Value::Float(value) => Some(value),
                    _ => None,
                };
                rows.f64(8, value);
            }
            if rows.wants(9) {
                rows.text(9, fields.or_else(|| fields_of(json, event)));
            }
            hand_out(EVENTS, rows, sink)
        })
    }

    /// A range that cannot be read.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn gap(
        &mut self,
        file: &str,
        gap: &Gap,
        base: u64,
        track: Option<u64>,
        ns: Option<i128>,
        is_absolute: bool,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(rows) = &mut self.gaps else { return Ok(()) };
        let cause = gap.cause().rebased(base);
        rows.name(0, Some(file));
        rows.u64(1, Some(gap.offset().saturating_add(base)));
        rows.u64(2, Some(gap.len()));
        rows.u64(3, track);
        rows.time(4, ns, is_absolute);
        rows.name(6, Some(cause.kind().code()));
        rows.name(7, Some(cause.element().name()));
        rows.text(9, Some(&cause.to_string()));
        hand_out(GAPS, rows, sink)
    }

    /// A range of a capture of which nothing is read.
    pub(crate) fn lost(
        &mut self,
        file: &str,
        slot: &WireSlot,
        message: &str,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let (Some(rows), Some((start, end))) = (&mut self.gaps, slot.lost()) else { return Ok(()) };
        rows.name(0, Some(file));
        rows.u64(1, Some(start));
        rows.u64(2, Some(end.saturating_sub(start)));
        rows.name(6, Some(slot.kind().name()));
        rows.name(7, Some(slot.kind().element().name()));
        rows.text(9, Some(message));
        hand_out(GAPS, rows, sink)
    }

    /// The problem that keeps a file, or the rest of one, from being read.
    pub(crate) fn problem(
        &mut self,
        file: &str,
        cause: Option<&traceglass::Error>,
        message: &str,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(rows) = &mut self.gaps else { return Ok(()) };
        rows.name(0, Some(file));
        rows.u64(1, cause.map(traceglass::Error::offset));
        rows.name(6, Some(cause.map_or("unreadable", |cause| cause.kind().code())));
        rows.name(7, cause.map(|cause| cause.element().name()));
        rows.text(9, Some(message));
        hand_out(GAPS, rows, sink)
    }

    /// A part of a file.
    pub(crate) fn part(&mut self, part: &Part<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let Some(rows) = &mut self.parts else { return Ok(()) };
        rows.name(0, Some(part.file));
        rows.name(1, Some(part.kind));
        rows.u64(2, Some(part.number));
        rows.text(3, part.name);
        rows.u64(4, Some(part.offset));
        rows.u64(5, Some(part.bytes));
        rows.time(6, part.begin, part.is_absolute);
        rows.time(8, part.end, part.is_absolute);
        hand_out(PARTS, rows, sink)
    }

    /// True if rows of `gaps` are wanted.
    pub(crate) const fn needs_gaps(&self) -> bool {
        self.gaps.is_some()
    }

    /// True if rows of `parts` are wanted.
    pub(crate) const fn needs_parts(&self) -> bool {
        self.parts.is_some()
    }
}

/// The fields of a record as a JSON object; nothing if it has none, or cannot be read.
pub(crate) fn fields_of<'j>(json: &'j mut Json, record: &impl Record) -> Option<&'j str> {
    json.buffer.clear();
    record.tell(json).ok()?;
    let text = std::str::from_utf8(json.buffer.text()).ok()?;
    (!matches!(text, "" | "{}")).then_some(text)
}
