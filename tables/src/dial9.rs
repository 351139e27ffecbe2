//! dial9: each segment of a recording is a piece. A batch has all that is needed to read it.

mod columns;
mod heard;
mod symbols;
mod typed;

use crate::error::{Error, Result};
use crate::events::{Common, Part, Place, fields_of};
use crate::file::{Bytes, File};
use crate::query::Query;
use crate::sink::Sink;
use crate::slices::{Making, SLICES};
use crate::table::Table;
use columns::SAMPLES;
pub(crate) use columns::tables;
use symbols::Symbols;
use traceglass::dial9::{self, Frame, Frames};
use traceglass::event::dial9::{Storage, Timeline};
use traceglass::event::{Item, Source as _};
use traceglass_open::record::Json;
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
        let Some(data) = opened(*file, common, sink)? else { return Ok(()) };
        let data = (*data).as_ref();
        if !common.needs_events() {
            return Ok(());
        }
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        if let Err(error) = timeline.add(0, data) {
            return common.problem(file.name(), Some(&error), &error.to_string(), sink);
        }
        let place = place(file.name());
        if common.needs_gaps_alone() {
            return common.damage(&mut timeline, &place, sink);
        }
        common.drive(&mut timeline, &place, None, sink)
    }

    /// Reads the tables that need all segments at once; those of the pieces, too, if they are given. What cannot be read
    /// is reported with the pieces.
    pub(crate) fn read_whole(
        &self,
        wanted: &[usize],
        all: &[Table],
        query: &Query,
        mut common: Option<&mut Common<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let mut segments: Vec<Option<Bytes<'_>>> = Vec::new();
        for file in &self.0 {
            segments.push(match &mut common {
                Some(common) => opened(*file, common, sink)?,
                None => file.open_part().ok().map(|(data, _)| data),
            });
        }
        let data =
            |number: usize| segments.get(number).and_then(Option::as_ref).map(|data| (**data).as_ref());
        let names: Vec<&str> = self.0.iter().map(|file| file.name()).collect();
        let name = |number: usize| names.get(number).copied().unwrap_or_default();
        let symbols: Vec<Symbols> = match wanted.contains(&SAMPLES) {
            true => {
                (0..names.len()).map(|number| data(number).map(Symbols::of).unwrap_or_default()).collect()
            }
            false => Vec::new(),
        };
        let content = |number: usize, cause| Error::Content { file: name(number).to_owned(), cause };
        let mut storage = Storage::default();
        let mut timeline = Timeline::new(storage.rooms());
        for number in 0..names.len() {
            if let Some(data) = data(number) {
                timeline.add(number, data).map_err(|cause| content(number, cause))?;
            }
        }
        let mut slices =
            all.get(SLICES).filter(|_| wanted.contains(&SLICES)).map(|table| Making::new(table, query));
        // Several tables have the fields of an event.
        let mut json = Json::bare();
        let mut typed = Typed::new(Reading { files: &names, symbols: &symbols, query }, all, wanted);
        // What these tables need of an event is kept, some of it to the end: in vain if none is wanted.
        let is_typed = typed.has_tables();
        loop {
            // Items are large: they stay where they are.
            let next = timeline.next_item();
            let item = match &next {
                Ok(Some(item)) => item,
                Ok(None) => break,
                Err(cause) => return Err(content(0, *cause)),
            };
            let fields = match item {
                Item::Event(event) if common.is_some() && !event.is_inferred() => fields_of(&mut json, event),
                _ => None,
            };
            if let Some(slices) = &mut slices {
                slices.item(item, fields, sink)?;
            }
            let input = if let Item::Event(event) = item { event.input() } else { 0 };
            if let Some(common) = &mut common {
                common.item(item, fields, &place(name(input)), sink)?;
            }
            if let (Item::Event(event), true) = (item, is_typed) {
                typed.event(event, fields, sink)?;
            }
        }
        if let Some(slices) = slices {
            slices.finish(sink)?;
        }
        typed.finish(sink)
    }
}

/// The place of a segment. Workers and tasks are the same in all of them.
fn place(name: &str) -> Place<'_> {
    Place { file: name, ..Place::default() }
}

/// Opens a segment, and reads what it consists of; `None` if it cannot be opened, which is reported.
fn opened<'f>(file: &'f dyn File, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<Option<Bytes<'f>>> {
    let (data, damage) = match file.open_part() {
        Ok(opened) => opened,
        Err(message) => return common.problem(file.name(), None, &message, sink).map(|()| None),
    };
    if let Some(cause) = damage {
        common.problem(file.name(), Some(&cause), &cause.to_string(), sink)?;
    }
    if common.needs_parts() {
        batches(file.name(), (*data).as_ref(), common, sink)?;
    }
    Ok(Some(data))
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
        // Symbols have no time.
        if let Some(Frame::Event(event)) = &frame
            && let Some(time) = event.moment().map(i128::from)
        {
            part.begin = Some(part.begin.map_or(time, |begin| begin.min(time)));
            part.end = Some(part.end.map_or(time, |end| end.max(time)));
        }
    }
}
