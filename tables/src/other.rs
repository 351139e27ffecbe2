//! RDF and RTC: a file is one piece.

use crate::error::Result;
use crate::events::{Common, Part, Place};
use crate::file::File;
use crate::query::Wanted;
use crate::rdf::Typed;
use crate::sink::Sink;
use crate::table::Table;
use traceglass::event::rtc::Timeline;
use traceglass::rtc::recover::{UnitSpan, Units};
use traceglass::zstd::{Detected, Workspace};
use traceglass::{Format, rdf, rtc};
use traceglass_open::time::READ_WHOLE;

/// The longest record of an RTC file that is joined.
const LONGEST: usize = 256 << 20;

/// A file that is read as a whole.
pub(crate) struct Whole<'t>(&'t dyn File);

impl<'t> Whole<'t> {
    pub(crate) const fn new(file: &'t dyn File) -> Self {
        Self(file)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.size()
    }

    /// The tables that a file of its format has besides the common ones.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let data = self.0.open();
        match data.as_ref().ok().and_then(|data| Format::detect((**data).as_ref())) {
            Some(Format::Rdf) => crate::rdf::tables(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn read(
        &self,
        wanted: Wanted<'_>,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let file = self.0;
        let data = match file.open() {
            Ok(data) => data,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        let data = (*data).as_ref();
        let done = match Format::detect(data) {
            Some(Format::Rdf) => {
                let typed = Typed::new(file.name(), wanted);
                chunks(file.name(), data, typed, common, sink)?
            }
            Some(Format::Rtc) => {
                units(file.name(), data, common, sink)?;
                if common.needs_events() {
                    records(file.name(), data, common, sink)?;
                }
                Ok(())
            }
            _ => return common.problem(file.name(), None, "not a format that has tables", sink),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => common.problem(file.name(), Some(&error), &error.to_string(), sink),
        }
    }
}

/// The records of an RTC file.
fn records(name: &str, data: &[u8], common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
    // Memory that is not touched costs nothing.
    let mut buffer = vec![0; data.len().saturating_mul(2).min(LONGEST)];
    let mut timeline = Timeline::new(0, data, Vec::new(), Vec::new(), &mut buffer);
    if data.len() as u64 <= READ_WHOLE {
        timeline.read_all();
    }
    common.drive(&mut timeline, &Place { file: name, seed: name, ..Place::default() }, None, sink)
}

/// The chunks of an RDF file, as its index has them, and their events.
fn chunks(
    name: &str,
    data: &[u8],
    mut typed: Typed<'_>,
    common: &mut Common<'_>,
    sink: &mut Sink<'_>,
) -> Result<traceglass::Result<()>> {
    // Damage to the index is reported with the events.
    let file = match rdf::File::recover(data) {
        Ok((file, _)) => file,
        Err(error) => return Ok(Err(error)),
    };
    for (number, entry) in (0..).zip(file.entries()) {
        let identifier = entry.identifier().to_string();
        let range = match entry.stored_range() {
            Ok(range) => range,
            Err(error) => {
                common.problem(name, Some(&error), &error.to_string(), sink)?;
                continue;
            }
        };
        let part = Part {
            file: name,
            kind: "chunk",
            number,
            name: Some(&identifier),
            offset: range.start,
            bytes: range.end.saturating_sub(range.start),
            begin: None,
            end: None,
            is_absolute: false,
        };
        common.part(&part, sink)?;
    }
    if !common.needs_events() && !typed.any() {
        return Ok(Ok(()));
    }
    let mut buffer = match traceglass_open::rdf::buffer(&file) {
        Ok(buffer) => buffer,
        Err((needed, limit)) => {
            let message = format!("its chunks take {needed} bytes at a time; at most {limit} are read");
            return common.problem(name, None, &message, sink).map(Ok);
        }
    };
    let (tracks, lanes) = (Vec::new(), Vec::new());
    let mut decoder = Workspace::on(Detected::new());
    let timeline = traceglass::event::rdf::Timeline::new(0, data, &mut buffer, &mut decoder, tracks, lanes);
    let mut timeline = match timeline {
        Ok(timeline) => timeline,
        Err(error) => return Ok(Err(error)),
    };
    let place = Place { file: name, seed: name, ..Place::default() };
    common.drive(
        &mut timeline,
        &place,
        Some(&mut |event, track, sink| typed.event(event, track, sink)),
        sink,
    )?;
    typed.finish(sink).map(Ok)
}

/// The major units of an RTC file, including those after damage, which is reported with the events.
fn units(name: &str, data: &[u8], common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
    if !common.needs_parts() {
        return Ok(());
    }
    let mut part = |span: &UnitSpan<'_>| -> Result<()> {
        let part = Part {
            file: name,
            kind: "unit",
            number: span.unit().number(),
            name: None,
            offset: span.offset(),
            bytes: span.end().saturating_sub(span.offset()),
            begin: None,
            end: None,
            is_absolute: false,
        };
        common.part(&part, sink)
    };
    let mut frames = rtc::recover::Frames::new(data, Vec::new());
    let mut units = Units::new();
    loop {
        let frame = match frames.next_frame() {
            Ok(Some(frame)) if !frame.is_user() => frame,
            Ok(Some(_)) => continue,
            _ if frames.recover().is_some() => continue,
            _ => break,
        };
        units.follow(&frames, &frame);
        units.take_ended().as_ref().map_or(Ok(()), &mut part)?;
    }
    units.finish(data.len() as u64).as_ref().map_or(Ok(()), part)
}
