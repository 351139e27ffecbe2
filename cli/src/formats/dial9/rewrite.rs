//! Recordings of some events of another one, or of the segments of several.

use super::segments::{Folder, Opened, Rooms, Segment, packing};
use super::{Dial9, segments};
use crate::input::{Input, Mapped, slice};
use crate::output::shown;
use crate::record::Names;
use crate::status::{Failure, Result};
use crate::trace::{Anew, Bounds, By, Digest, NewTrace, Rewritten, Wanted, in_order_of_time};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use traceglass::dial9::tokio::is_about_the_recorder;
use traceglass::dial9::{Event, Frame, Frames, Header, MAGIC, Reframed, Schema, VERSION};
use traceglass::{Error, Finding, Format, Severity};

/// A header alone: a trace without events.
const EMPTY: [u8; Header::SIZE] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION];

/// A part of a segment without gaps, between two headers or up to a gap.
#[derive(Default)]
struct Piece {
    start: u64,
    end: u64,
    events: u64,
    /// Events that say something of others, or have no time; and true if one has no time and a name that is wanted.
    about: u64,
    has_timeless: bool,
    /// Others with a name that is wanted, and the first and the last of their times.
    named: u64,
    span: Span,
    /// The times of all events.
    all: Span,
    /// The times of those events that say something of others, and are wanted themselves.
    told: Span,
    /// The number of others in the range of time, once it is known; and true if anything is that is wanted.
    inside: u64,
    is_wanted: bool,
}

/// From the least time to the greatest one; none yet.
#[derive(Clone, Copy)]
struct Span {
    least: u64,
    greatest: u64,
}

impl Default for Span {
    fn default() -> Self {
        Self { least: u64::MAX, greatest: 0 }
    }
}

impl Span {
    fn meet(&mut self, time: u64) {
        self.least = self.least.min(time);
        self.greatest = self.greatest.max(time);
    }

    fn times(self) -> Option<(u64, u64)> {
        (self.least <= self.greatest).then_some((self.least, self.greatest))
    }
}

/// The range of time and the names that are wanted.
type Wants<'w> = (Bounds, &'w Names);

/// The reason for which an event is kept or left out.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    /// It is, if its time lies in the range.
    Named,
    /// It is, if its piece is.
    About,
    /// Both.
    Told,
    /// It is, if its piece is; if no range is asked for, it is wanted: it has no time.
    Timeless,
    Outside,
}

/// The most names that are remembered.
const NAMES: usize = 64;

/// Tells what is wanted of the events of a segment. Names are compared once for each schema, and not for each event.
struct Turns<'w> {
    names: &'w Names,
    /// By the lowest bits of a type's number: where its schema stands, and what is wanted if the event has a time.
    known: [(u64, Turn); NAMES],
}

impl<'w> Turns<'w> {
    const fn new(names: &'w Names) -> Self {
        Self { names, known: [(u64::MAX, Turn::Outside); NAMES] }
    }

    /// The event's turn, and its time, if it has one.
    #[inline]
    fn of(&mut self, event: &Event<'_>) -> (Turn, u64) {
        let (schema, time) = (event.schema(), event.moment().unwrap_or(0));
        let turn = match self.known.get(usize::from(schema.type_id()) % NAMES) {
            Some((at, turn)) if *at == schema.offset() => *turn,
            _ => self.learn(schema),
        };
        match turn {
            Turn::Named | Turn::Told if time == 0 => (Turn::Timeless, time),
            turn => (turn, time),
        }
    }

    /// Compares the name of a schema.
    #[cold]
    fn learn(&mut self, schema: Schema<'_>) -> Turn {
        let name = schema.name();
        let turn = match (is_about_the_recorder(name), self.names.has(name)) {
            (false, true) => Turn::Named,
            (true, true) => Turn::Told,
            (true, false) => Turn::About,
            (false, false) => Turn::Outside,
        };
        let known = self.known.get_mut(usize::from(schema.type_id()) % NAMES);
        known.into_iter().for_each(|known| *known = (schema.offset(), turn));
        turn
    }

    /// True if it is wanted.
    fn keeps(&mut self, event: &Event<'_>, bounds: &Bounds) -> bool {
        match self.of(event) {
            (Turn::Named, time) => bounds.wants(Some(time.into())),
            (turn, _) => turn != Turn::Outside,
        }
    }
}

impl Dial9<'_> {
    pub(super) fn write(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        wanted.refuse_others(Format::Dial9, &[By::Name, By::Time])?;
        let is_everything = wanted.window.is_everything() && wanted.names.are_all();
        let mut done = Rewritten { anew: Anew::nowhere(), is_copy: true, ..Rewritten::of("events") };
        self.unreadable.iter().for_each(|(path, why)| done.lose(Some(path), 0, 0, why));
        // What a segment consists of is read once; a range may count from the first time.
        let mut all = Vec::new();
        for segment in &self.segments {
            all.push(segment.open(|opened| Ok(pieces(opened, wanted.names)))?);
        }
        let first = all.iter().find_map(|(pieces, _)| {
            pieces.iter().filter_map(|piece| piece.all.times()).map(|(least, _)| least).min()
        });
        let start = || Ok(first.map(i128::from));
        let bounds: Wants<'_> = (Self::range_from(wanted.window, &start)?, wanted.names);
        let mut has_files = false;
        for (segment, (mut pieces, lost)) in self.segments.iter().zip(all) {
            let file = segment.file()?;
            segment.open(|opened| {
                let path = opened.path;
                lost.into_iter().for_each(|(offset, len, error)| done.lose(path, offset, len, error));
                pieces.iter_mut().for_each(|piece| piece.judge(opened, &bounds, &mut done));
                let events = pieces.iter().map(|piece| piece.events).fold(0, u64::saturating_add);
                if !is_everything && !pieces.iter().any(|piece| piece.is_wanted) {
                    done.is_copy = false;
                    done.dropped = done.dropped.saturating_add(events);
                    return Ok(());
                }
                has_files = true;
                let is_sound = opened.damage.is_none() && covers(&pieces, &opened.data);
                let is_all =
                    pieces.iter().all(|piece| piece.inside.saturating_add(piece.about) == piece.events);
                let is_unpacked = wanted.redacts && matches!(opened.data, Cow::Owned(_));
                if is_sound && is_all && !is_unpacked {
                    done.kept = done.kept.saturating_add(events);
                    to.file(&name(opened.path, false))?;
                    return to.put(file.as_ref().map_or(self.given(), |file| file.data()));
                }
                done.is_copy = false;
                let path = name(opened.path, true);
                to.file(&path)?;
                if pieces.is_empty() {
                    to.put(&EMPTY)?;
                }
                pieces.iter().try_for_each(|piece| write(opened, piece, &bounds, &path, &mut done, to))
            })?;
        }
        if !has_files {
            // Nothing of it lies in the range.
            done.is_copy = false;
            let path = self.segments.first().and_then(|segment| segment.path());
            to.file(&name(path, true))?;
            to.put(&EMPTY)?;
        }
        Ok(done)
    }

    /// The bytes of a segment that was given, as they are.
    fn given(&self) -> &[u8] {
        match self.segments.first() {
            Some(Segment::Given(data)) => data,
            _ => &[],
        }
    }
}

impl Segment<'_> {
    /// The bytes of its file as they are, if it is one of a folder.
    fn file(&self) -> Result<Option<Mapped>> {
        match self {
            Self::Given(_) => Ok(None),
            Self::File(path) => {
                Mapped::open(path).map(Some).map_err(|error| Failure::unreadable(error.message))
            }
        }
    }
}

/// Adds an event: its time, and its bytes but for what the time counts from.
fn hash(event: &Event<'_>, digest: &mut Digest) {
    let bytes = event.as_slice();
    let front = if event.nanoseconds().is_some() { 6 } else { 3 };
    let kind = bytes.get(1..3).and_then(|kind| kind.try_into().ok()).map_or(0, u16::from_le_bytes);
    digest
        .add(&[event.nanoseconds().unwrap_or(u64::MAX), kind.into()], bytes.get(front..).unwrap_or_default());
}

/// Counts all events that can be read, and tells why others cannot.
pub(super) fn count_all(data: &[u8], tell: &mut dyn FnMut(Finding)) -> u64 {
    let mut events = 0_u64;
    let lost = |error| tell(Finding::new(Severity::Error, error));
    each_event(data, |_| events = events.saturating_add(1), lost);
    events
}

/// Adds all events that can be read; the data begins with a header.
pub(super) fn hash_all(data: &[u8], digest: &mut Digest) {
    // Errors were told.
    each_event(data, |event| hash(event, digest), drop);
}

/// Hands out all events that can be read, and the errors after which others are looked for.
fn each_event(data: &[u8], mut each: impl FnMut(&Event<'_>), mut lost: impl FnMut(Error)) {
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    loop {
        frames.each_event(&mut each);
        match frames.next_frame() {
            Ok(Some(Frame::Event(event))) => each(&event),
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => {
                lost(error);
                frames.recover();
            }
        }
    }
}

/// The name of a segment's file; without `.gz` or `.zst` where it is not packed.
fn name(path: Option<&Path>, is_plain: bool) -> PathBuf {
    let path = path.unwrap_or(Path::new(""));
    let is_packed = path.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
    if is_plain && is_packed { path.with_extension("") } else { path.to_owned() }
}

/// True if all bytes are in pieces.
fn covers(pieces: &[Piece], data: &[u8]) -> bool {
    let mut at = 0;
    let follows = |piece: &Piece| std::mem::replace(&mut at, piece.end) == piece.start;
    pieces.iter().all(follows) && at == data.len() as u64
}

/// Bytes that cannot be read: where, how many, and why.
type Unread = (u64, u64, Error);

/// The pieces of a segment, and what lies between them.
fn pieces(opened: &Opened<'_>, names: &Names) -> (Vec<Piece>, Vec<Unread>) {
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(&opened.data, rooms.lend());
    let (mut pieces, mut lost) = (Vec::new(), Vec::new());
    let mut turns = Turns::new(names);
    // Nothing comes before a header.
    let mut piece = Piece::default();
    let mut is_open = false;
    loop {
        frames.each_event(|event| piece.event(&mut turns, event));
        let offset = frames.offset();
        match frames.next_frame() {
            Ok(Some(frame)) => {
                if !is_open || matches!(frame, Frame::Header(_)) {
                    let next = Piece { start: offset, ..Piece::default() };
                    let last = std::mem::replace(&mut piece, next);
                    pieces.extend(is_open.then_some(Piece { end: offset, ..last }));
                    is_open = true;
                }
            }
            Ok(None) => break,
            Err(error) => {
                let last = std::mem::take(&mut piece);
                pieces.extend(is_open.then_some(Piece { end: offset, ..last }));
                is_open = false;
                lost.extend(frames.recover().map(|gap| (gap.offset(), gap.len(), error)));
            }
        }
    }
    pieces.extend(is_open.then_some(Piece { end: frames.offset(), ..piece }));
    lost.extend(opened.damage.map(|error| (error.offset(), 0, error)));
    (pieces, lost)
}

impl Piece {
    #[inline]
    fn event(&mut self, turns: &mut Turns<'_>, event: &Event<'_>) {
        self.events = self.events.saturating_add(1);
        let (turn, time) = turns.of(event);
        if time > 0 {
            self.all.meet(time);
        }
        match turn {
            Turn::Named => {
                self.named = self.named.saturating_add(1);
                self.span.meet(time);
            }
            Turn::About => self.about = self.about.saturating_add(1),
            Turn::Timeless => {
                self.about = self.about.saturating_add(1);
                self.has_timeless = true;
            }
            Turn::Told => {
                self.about = self.about.saturating_add(1);
                self.told.meet(time);
            }
            Turn::Outside => {}
        }
    }

    /// Counts what is in the range; of a piece that lies only partly in it, by reading it again.
    fn judge(&mut self, opened: &Opened<'_>, (bounds, names): &Wants<'_>, done: &mut Rewritten) {
        let wants = |time: u64| bounds.wants(Some(time.into()));
        let spans = || [self.span, self.told].into_iter().filter_map(Span::times);
        if spans().all(|(first, last)| wants(first) && wants(last)) {
            spans().for_each(|(first, last)| done.meet(first.into(), last.into()));
            let is_timeless = self.has_timeless && bounds.is_everything();
            (self.inside, self.is_wanted) = (self.named, is_timeless || spans().next().is_some());
            return;
        }
        if !spans().any(|(first, last)| bounds.meets(Some((first.into(), last.into())))) {
            return;
        }
        let mut rooms = Rooms::new();
        let mut frames = Frames::new(slice(&opened.data, self.start, self.end), rooms.lend());
        let mut turns = Turns::new(names);
        while let Ok(Some(event)) = frames.next_event() {
            if let (turn @ (Turn::Named | Turn::Told), time) = turns.of(&event)
                && wants(time)
            {
                self.inside = self.inside.saturating_add(u64::from(turn == Turn::Named));
                self.is_wanted = true;
                done.meet(time.into(), time.into());
            }
        }
    }
}

/// Writes what is wanted of a piece: as it is, if that is all of it.
fn write(
    opened: &Opened<'_>,
    piece: &Piece,
    bounds: &Wants<'_>,
    path: &Path,
    done: &mut Rewritten,
    to: &mut dyn NewTrace,
) -> Result<()> {
    let kept = piece.inside.saturating_add(piece.about);
    done.kept = done.kept.saturating_add(kept);
    done.dropped = done.dropped.saturating_add(piece.events.saturating_sub(kept));
    if kept == 0 && !(bounds.0.is_everything() && bounds.1.are_all()) {
        return Ok(());
    }
    let data = slice(&opened.data, piece.start, piece.end);
    if kept == piece.events {
        return to.put(data);
    }
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    let mut reframed = Reframed::default();
    let mut turns = Turns::new(bounds.1);
    let start = to.position();
    while let Ok(Some(frame)) = frames.next_frame() {
        if let Frame::Event(event) = &frame {
            if !turns.keeps(event, &bounds.0) {
                continue;
            }
            hash(event, &mut done.digest);
        }
        let bytes = slice(data, frame.offset(), frames.offset());
        reframed.write(&frame, bytes, &mut |bytes: &[u8]| to.put(bytes))?;
    }
    done.anew.add(path, start..to.position());
    Ok(())
}

/// Writes the segments of several recordings into one file, one recording after the other, in order of time.
pub fn merge(inputs: &[Input], wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut done = Rewritten { anew: Anew::nowhere(), ..Rewritten::of("events") };
    let mut recordings = Vec::new();
    for input in inputs {
        let path = match input {
            Input::File(mapped, _) | Input::Stream(mapped, _) => {
                recordings.push(Dial9::of_file(mapped.data()));
                continue;
            }
            Input::Directory(path) => path,
        };
        let Folder { segments, unreadable } = segments::of_folder(path).unwrap_or_default();
        if let Some((file, why)) = unreadable.first() {
            let file = shown(&path.join(file));
            return Err(Failure::usage(format!("a segment is damaged: recover it first {file}: {why}")));
        }
        recordings.push(Dial9 { segments, unreadable, is_folder: false });
    }
    let recordings = in_order_of_time(recordings, Dial9::first_time)?;
    let segments: Vec<_> = recordings.into_iter().flat_map(|recording| recording.segments).collect();
    let mut packings = Vec::new();
    for segment in &segments {
        let file = segment.file()?;
        let data = match segment {
            Segment::Given(data) => data,
            Segment::File(_) => file.as_ref().map_or(&[][..], |file| file.data()),
        };
        packings.push(packing(data));
    }
    // Of one kind: whoever unpacks one need not know the other.
    let is_one = packings.iter().all(|packing| packing.is_some() && Some(packing) == packings.first());
    let stays_packed = is_one && !wanted.redacts;
    done.notes.push(
        "ids of workers, tasks and spans are kept: that all of it is of one process is not seen from it"
            .into(),
    );
    to.file(Path::new(""))?;
    for segment in &segments {
        let file = segment.file()?;
        segment.open(|opened| {
            let (pieces, lost) = pieces(opened, wanted.names);
            if !lost.is_empty() {
                let path = opened.path.map(shown).unwrap_or_default();
                return Err(Failure::usage(format!("a segment is damaged: recover it first {path}")));
            }
            let events = pieces.iter().map(|piece| piece.events).fold(0, u64::saturating_add);
            done.kept = done.kept.saturating_add(events);
            let spans = pieces.iter().filter_map(|piece| piece.span.times());
            spans.for_each(|(first, last)| done.meet(first.into(), last.into()));
            match segment {
                Segment::Given(data) if stays_packed => to.put(data),
                Segment::File(_) if stays_packed => to.put(file.as_ref().map_or(&[][..], |file| file.data())),
                _ => to.put(&opened.data),
            }
        })?;
    }
    Ok(done)
}
