//! One folder a format: what it can say for each verb.

#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)] // Does not keep to these lints yet.
pub mod ctf;
pub mod dial9;
mod lookalike;
pub mod rdf;
pub mod rfr;
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)]
// Does not keep to these lints yet.
pub mod rtc;

use crate::input::Input;
use crate::status::{Failure, Result, Unreadable};
use crate::trace::{NewParts, NewTrace, Reading, Rewritten, Trace, Wanted};
use traceglass::{Format, Lookalike};

/// Opens a trace of any format.
pub fn open<'a>(input: &'a Input, reading: Reading) -> Result<Box<dyn Trace + 'a>, Unreadable> {
    let data = match input {
        Input::File(mapped, _) => mapped.data(),
        Input::Stream(mapped, path) => return ctf::open_stream(mapped, path, reading),
        Input::Directory(path) => {
            if let Some(trace) = ctf::open_directory(path, reading)? {
                return Ok(trace);
            }
            let recording = rfr::open_directory(path);
            if let Ok(Some(recording)) = recording {
                return Ok(recording);
            }
            // A file that cannot be read may be a segment.
            if let Some(segments) = dial9::open_directory(path) {
                return Ok(segments);
            }
            recording?;
            return Err(Unreadable::new(
                "no trace in this directory: neither files of an RFR recording nor CTF 2's `metadata`, nor segments \
                 of dial9",
            ));
        }
    };
    let format = Format::detect(data);
    if let (None, Some(trace)) = (format, rdf::neighbor::open(data)) {
        return Ok(trace);
    }
    if let (None, Some(trace)) = (format, dial9::open_packed(data)) {
        return Ok(trace);
    }
    match format {
        Some(Format::Rdf) => rdf::open(data),
        Some(Format::Rtc) => rtc::open(data),
        Some(Format::Ctf1 | Format::Ctf2) => ctf::open(data, reading.lenient),
        Some(Format::Rfr) => rfr::open(data),
        Some(Format::Dial9) => dial9::open(data),
        _ if data.is_empty() => Err(Unreadable::new("the file is empty")),
        _ => Err(Unreadable::new(match Lookalike::detect(data) {
            Some(found) => lookalike::advice(found).to_owned(),
            None => {
                format!(
                    "not a known format: begins with \"{}\"",
                    data.get(..8).unwrap_or(data).escape_ascii()
                )
            }
        })),
    }
}

/// Writes several traces of one format as one.
pub fn merge(
    inputs: &[Input],
    reading: Reading,
    wanted: &Wanted<'_>,
    to: &mut dyn NewTrace,
) -> Result<Rewritten> {
    let Some(first) = inputs.first() else { return Err(Failure::usage("nothing to merge")) };
    let format = open(first, reading)?.format();
    let mut data = Vec::new();
    for input in inputs {
        if let Input::File(mapped, _) | Input::Stream(mapped, _) = input {
            data.push(mapped.data());
        }
    }
    match format {
        Format::Rdf => rdf::merge(&data, wanted, to),
        Format::Ctf1 | Format::Ctf2 => ctf::merge(inputs, reading, to),
        Format::Rtc => rtc::merge(&data, to),
        Format::Rfr => rfr::merge(inputs, wanted, to),
        Format::Dial9 => dial9::merge(inputs, wanted, to),
        _ => Err(wanted.unsupported(format.name())),
    }
}

/// Writes a file of parts that lie in files of their own.
pub fn create(parts: &NewParts<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    rdf::create(parts, to)
}

/// Adds such parts to a file.
pub fn append(input: &Input, parts: &NewParts<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    match input {
        Input::File(mapped, _) if Format::detect(mapped.data()) == Some(Format::Rdf) => {
            rdf::append(mapped.data(), parts, to)
        }
        _ => Err(Failure::usage("append: this is no RDF, of which alone chunks are added to a file")),
    }
}
