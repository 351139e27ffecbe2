//! Recordings of some events of another one, or of the segments of several.

use super::segments::{Opened, Rooms, Segment, packing};
use super::{Dial9, segments};
use crate::input::{Input, Mapped};
use crate::record::Names;
use crate::status::{Failure, Result};
use crate::trace::{Bounds, By, Digest, NewTrace, Rewritten, Wanted};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use traceglass::Format;
use traceglass::dial9::tokio::is_about_the_recorder;
use traceglass::dial9::{Event, Frame, Frames, Header, MAGIC, Reframed, VERSION};

/// A header alone: a trace without events.
const EMPTY: [u8; Header::SIZE] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION];

/// A part of a segment without gaps, between two headers or up to a gap.
#[derive(Default)]
struct Piece {
    start: u64,
    end: u64,
    events: u64,
    /// Events in the range of time, and events that say something of others, or have no time.
    inside: u64,
    about: u64,
    digest: Digest,
}

/// The range of time and the names that are wanted.
type Wants<'w> = (Bounds, &'w Names);

/// What is wanted of an event.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Inside,
    About,
    Outside,
}

fn turn(event: &Event<'_>, (bounds, names): &Wants<'_>) -> Turn {
    match event.time().filter(|time| *time > 0) {
        _ if is_about_the_recorder(event.name()) => Turn::About,
        _ if !names.has(event.name()) => Turn::Outside,
        None => Turn::About,
        Some(time) if bounds.wants(Some(time.into())) => Turn::Inside,
        Some(_) => Turn::Outside,
    }
}

impl Dial9<'_> {
    pub(super) fn write(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        wanted.refuse_others(Format::Dial9, &[By::Name, By::Time])?;
        let bounds = (self.range(wanted.window)?, wanted.names);
        let is_everything = wanted.window.is_everything() && wanted.names.are_all();
        let mut done = Rewritten::of("events");
        let mut has_files = false;
        for segment in &self.segments {
            let file = segment.file()?;
            segment.open(|opened| {
                let pieces = pieces(opened, &bounds, &mut done);
                let inside = pieces.iter().map(|piece| piece.inside).fold(0, u64::saturating_add);
                let events = pieces.iter().map(|piece| piece.events).fold(0, u64::saturating_add);
                if inside == 0 && !is_everything {
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
                    pieces.iter().for_each(|piece| done.digest.join(piece.digest));
                    to.file(&name(opened.path, false))?;
                    return to.put(file.as_ref().map_or(self.given(), |file| file.data()));
                }
                to.file(&name(opened.path, true))?;
                if pieces.is_empty() {
                    to.put(&EMPTY)?;
                }
                pieces.iter().try_for_each(|piece| write(opened, piece, &bounds, &mut done, to))
            })?;
        }
        if !has_files {
            // Nothing of it lies in the range.
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
    let front = if event.time().is_some() { 6 } else { 3 };
    let kind = bytes.get(1..3).and_then(|kind| kind.try_into().ok()).map_or(0, u16::from_le_bytes);
    digest.add(&[event.time().unwrap_or(u64::MAX), kind.into()], bytes.get(front..).unwrap_or_default());
}

/// Adds all events that can be read.
pub(super) fn hash_all(data: &[u8], digest: &mut Digest) {
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    loop {
        match frames.next_frame() {
            Ok(Some(Frame::Event(event))) => hash(&event, digest),
            Ok(Some(_)) => {}
            Ok(None) => return,
            // It was told.
            Err(_) => drop(frames.recover()),
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

/// The pieces of a segment; what lies between them is told as lost.
fn pieces(opened: &Opened<'_>, bounds: &Wants<'_>, done: &mut Rewritten) -> Vec<Piece> {
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(&opened.data, rooms.lend());
    let mut pieces: Vec<Piece> = Vec::new();
    let mut is_open = false;
    loop {
        let offset = frames.offset();
        match frames.next_frame() {
            Ok(Some(frame)) => {
                if !is_open || matches!(frame, Frame::Header(_)) {
                    pieces.push(Piece { start: offset, ..Piece::default() });
                    is_open = true;
                }
                let Some(piece) = pieces.last_mut() else { continue };
                piece.end = frames.offset();
                let Frame::Event(event) = frame else { continue };
                piece.events = piece.events.saturating_add(1);
                let turn = turn(&event, bounds);
                if turn != Turn::Outside {
                    hash(&event, &mut piece.digest);
                }
                match turn {
                    Turn::Inside => {
                        piece.inside = piece.inside.saturating_add(1);
                        let time = i128::from(event.time().unwrap_or(0));
                        done.meet(time, time);
                    }
                    Turn::About => piece.about = piece.about.saturating_add(1),
                    Turn::Outside => {}
                }
            }
            Ok(None) => break,
            Err(error) => {
                is_open = false;
                if let Some(gap) = frames.recover() {
                    done.lose(opened.path, gap.offset(), gap.len(), error);
                }
            }
        }
    }
    if let Some(error) = opened.damage {
        done.lose(opened.path, error.offset(), 0, error);
    }
    pieces
}

/// Writes what is wanted of a piece: as it is, if that is all of it.
fn write(
    opened: &Opened<'_>,
    piece: &Piece,
    bounds: &Wants<'_>,
    done: &mut Rewritten,
    to: &mut dyn NewTrace,
) -> Result<()> {
    let kept = piece.inside.saturating_add(piece.about);
    done.kept = done.kept.saturating_add(kept);
    done.dropped = done.dropped.saturating_add(piece.events.saturating_sub(kept));
    if kept == 0 && !(bounds.0.is_everything() && bounds.1.are_all()) {
        return Ok(());
    }
    done.digest.join(piece.digest);
    let data = segments::range(&opened.data, piece.start, piece.end);
    if kept == piece.events {
        return to.put(data);
    }
    let mut rooms = Rooms::new();
    let mut frames = Frames::new(data, rooms.lend());
    let mut reframed = Reframed::default();
    while let Ok(Some(frame)) = frames.next_frame() {
        if let Frame::Event(event) = &frame
            && turn(event, bounds) == Turn::Outside
        {
            continue;
        }
        let bytes = segments::range(data, frame.offset(), frames.offset());
        reframed.write(&frame, bytes, &mut |bytes: &[u8]| to.put(bytes))?;
    }
    Ok(())
}

/// Writes the segments of several recordings into one file, one after the other.
pub fn merge(inputs: &[Input], wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut done = Rewritten::of("events");
    let mut segments = Vec::new();
    for input in inputs {
        match input {
            Input::File(mapped, _) | Input::Stream(mapped, _) => segments.push(Segment::Given(mapped.data())),
            Input::Directory(path) => segments.extend(super::segments::of_folder(path).unwrap_or_default()),
        }
    }
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
            let before = done.lost.len();
            let pieces = pieces(opened, &(Bounds::default(), wanted.names), &mut done);
            if done.lost.len() > before {
                let path = opened.path.map(crate::output::shown).unwrap_or_default();
                return Err(Failure::usage(format!("a segment is damaged: recover it first {path}")));
            }
            let events = pieces.iter().map(|piece| piece.events).fold(0, u64::saturating_add);
            done.kept = done.kept.saturating_add(events);
            pieces.iter().for_each(|piece| done.digest.join(piece.digest));
            match segment {
                Segment::Given(data) if stays_packed => to.put(data),
                Segment::File(_) if stays_packed => to.put(file.as_ref().map_or(&[][..], |file| file.data())),
                _ => to.put(&opened.data),
            }
        })?;
    }
    Ok(done)
}
