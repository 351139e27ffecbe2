//! RDF and RTC: a file is one piece.

use crate::error::Result;
use crate::events::{Common, Part};
use crate::trace::{File, Sink};
use traceglass::{Format, rdf, rtc};

/// A file that is read as a whole.
pub(crate) struct Whole<'t>(&'t dyn File);

impl<'t> Whole<'t> {
    pub(crate) const fn new(file: &'t dyn File) -> Self {
        Self(file)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.size()
    }

    pub(crate) fn read(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let file = self.0;
        let data = match file.open() {
            Ok(data) => data,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        let data = (*data).as_ref();
        let done = match Format::detect(data) {
            Some(Format::Rdf) => chunks(file.name(), data, common, sink)?,
            Some(Format::Rtc) => units(file.name(), data, common, sink)?,
            _ => return common.problem(file.name(), None, "not a format that has tables", sink),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => common.problem(file.name(), Some(&error), &error.to_string(), sink),
        }
    }
}

/// The chunks of an RDF file, as its index has them.
fn chunks(
    name: &str,
    data: &[u8],
    common: &mut Common<'_>,
    sink: &mut Sink<'_>,
) -> Result<traceglass::Result<()>> {
    let file = match rdf::File::parse(data) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    for (number, entry) in (0..).zip(file.entries()) {
        let identifier = entry.identifier().to_string();
        let Ok(range) = entry.stored_range() else {
            if let Err(error) = entry.stored_range() {
                common.problem(name, Some(&error), &error.to_string(), sink)?;
            }
            continue;
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
    Ok(Ok(()))
}

/// The major units of an RTC file, up to the first that cannot be read.
fn units(
    name: &str,
    data: &[u8],
    common: &mut Common<'_>,
    sink: &mut Sink<'_>,
) -> Result<traceglass::Result<()>> {
    let size = data.len() as u64;
    let mut at = 0;
    while at < size {
        let unit = match rtc::Unit::parse(data, at) {
            Ok(unit) => unit,
            Err(error) => return Ok(Err(error)),
        };
        let end = unit.end().min(size).max(at.saturating_add(1));
        let part = Part {
            file: name,
            kind: "unit",
            number: unit.number(),
            name: None,
            offset: at,
            bytes: end.saturating_sub(at),
            begin: None,
            end: None,
            is_absolute: false,
        };
        common.part(&part, sink)?;
        at = end;
    }
    Ok(Ok(()))
}
