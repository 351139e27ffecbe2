//! dial9: each segment of a recording is a piece. A batch has all that is needed to read it.

mod columns;
mod heard;
mod symbols;
mod typed;

use crate::error::{Error, Result};
use crate::events::{Common, Part, Place};
use crate::file::{Bytes, File};
use crate::query::Query;
use crate::sink::Sink;
use crate::table::Table;
use columns::SAMPLES;
pub(crate) use columns::tables;
use symbols::Symbols;
use traceglass::dial9::{self, Frame, Frames};
use traceglass::event::dial9::{Storage, Timeline};
use traceglass::event::{Item, Source as _};
use typed::{Reading, Typed};

/// The segments of a recording.
pub(crate) struct Segments<'t>(Vec<&'t dyn File>);

impl<'t> Segments<'t> {
    pub(crate) const fn new(files: Vec<&'t dyn File>) -> Self {
        Self(files)
    }

    pub(crate) fn pieces(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn piece_bytes(&self, piece: usize) -> u64 {
        self.0.get(piece).map_or(0, |file| file.size())
    }

    pub(crate) fn read(&self, piece: usize, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let Some(file) = self.0.get(piece) else { return Ok(()) };
        let (data, damage) = match file.open_part() {
            Ok(opened) => opened,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        if let Some(cause) = damage {
            common.problem(file.name(), Some(&cause), &cause.to_string(), sink)?;
        }
        let data = (*data).as_ref();
        if common.needs_parts() {
            batches(file.name(), data, common, sink)?;
        }
        if !common.needs_events() {
            return Ok(());
        }
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        if let Err(error) = timeline.add(0, data) {
            return common.problem(file.name(), Some(&error), &error.to_string(), sink);
        }
        // Workers and tasks are the same in all segments.
        let place = Place { file: file.name(), base: 0, skipped: 0, seed: "" };
        if common.needs_gaps_alone() {
            return common.damage(&mut timeline, &place, sink);
        }
        common.drive(&mut timeline, &place, None, sink)
    }

    /// Reads the tables of a recording's own, all segments at once. What cannot be read is reported with the pieces.
    pub(crate) fn read_whole(
        &self,
        wanted: &[usize],
        all: &[Table],
        query: &Query,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let opened: Vec<Option<Bytes<'_>>> =
            self.0.iter().map(|file| file.open_part().ok().map(|(data, _)| data)).collect();
        let data = |number: usize| opened.get(number).and_then(Option::as_ref).map(|data| (**data).as_ref());
        let names: Vec<&str> = self.0.iter().map(|file| file.name()).collect();
        let symbols: Vec<Symbols> = match wanted.contains(&SAMPLES) {
            true => {
                (0..names.len()).map(|number| data(number).map(Symbols::of).unwrap_or_default()).collect()
            }
            false => Vec::new(),
        };
        let content = |number: usize| {
            let file = names.get(number).copied().unwrap_or_default().to_owned();
            move |cause| Error::Content { file, cause }
        };
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        for number in 0..names.len() {
            if let Some(data) = data(number) {
                timeline.add(number, data).map_err(content(number))?;
            }
        }
        let mut typed = Typed::new(Reading { files: &names, symbols: &symbols, query }, all, wanted);
        while let Some(item) = timeline.next_item().map_err(content(0))? {
            if let Item::Event(event) = item {
                typed.event(&event, sink)?;
            }
        }
        typed.finish(sink)
    }
}

/// The batches of a segment; what cannot be read is reported with the events.
fn batches(name: &str, data: &[u8], common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let (mut schemas, mut number) = (Vec::new(), 0_u64);
    let mut frames = Frames::new(data, dial9::Storage::new(&mut schemas));
    let mut batch: Option<Part<'_>> = None;
    loop {
        let frame = match frames.next_frame() {
            Ok(frame) => frame,
            Err(_) if frames.recover().is_some() => continue,
            Err(_) => None,
        };
        let starts = match &frame {
            Some(Frame::Header(header)) => Some(header.offset()),
            _ => None,
        };
        if frame.is_none() || starts.is_some() {
            if let Some(part) = batch.take() {
                common.part(&part, sink)?;
                number = number.saturating_add(1);
            }
            let Some(offset) = starts else { return Ok(()) };
            batch = Some(Part {
                file: name,
                kind: "batch",
                number,
                name: None,
                offset,
                bytes: 0,
                begin: None,
                end: None,
                is_absolute: false,
            });
        }
        let Some(part) = &mut batch else { continue };
        part.bytes = frames.offset().saturating_sub(part.offset);
        // Symbols have the time 0, which says nothing.
        if let Some(Frame::Event(event)) = &frame
            && let Some(time) = event.time().filter(|&time| time > 0).map(i128::from)
        {
            part.begin = Some(part.begin.map_or(time, |begin| begin.min(time)));
            part.end = Some(part.end.map_or(time, |end| end.max(time)));
        }
    }
}
