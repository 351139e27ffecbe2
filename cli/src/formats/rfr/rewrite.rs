//! Recordings of some sequences of another one, or of the chunks of several.

mod chunk;
mod digest;
mod merge;
mod names;
mod polls;
mod runs;
mod stream;
mod writer;

use digest::Bytes;
pub use digest::hash_parts;
pub use merge::merge;

use super::files::{Files, Kind, Part};
use super::scan;
use super::select::Range;
use crate::input::slice;
use crate::status::Result;
use crate::trace::{Anew, By, NewTrace, Rewritten, Tally, Wanted};
use chunk::{Read, Wants};
use names::Names;
use polls::Polls;
use runs::Runs;
use std::path::Path;
use traceglass::rfr::{Callsites, Chunk, Meta, Streaming, write_count};
use traceglass::{Format, Severity};
use writer::Writer;

/// Writes what is wanted of a recording: sequences, as a whole if they are not to be exact, and records of streams.
pub fn write(files: &Files<'_>, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let is_stream = files.of(Kind::Stream).next().is_some();
    wanted.refuse_others(Format::Rfr, &[By::Time])?;
    let exact = wanted.exact;
    let range = Range::of(wanted.window, files)?;
    let unit = if is_stream { "records" } else { "sequences" };
    let mut done = Rewritten { anew: Anew::nowhere(), ..Rewritten::of(unit) };
    done.is_absolute = true;
    for (path, problem) in &files.problems {
        done.lose(path.as_deref(), 0, 0, problem);
    }
    let mut writer = Writer { range, exact, polls: Polls::default(), to, done, items: 0 };
    // Which polls are open when the range begins is known when all chunks have been read.
    let mut read = Vec::new();
    for part in &files.parts {
        read.push(writer.read(part)?);
    }
    writer.polls.close();
    let mut names = Names::default();
    for (part, read) in files.parts.iter().zip(&mut read) {
        if let Some(read) = read {
            names.join(read.keep(writer.polls.take(part.path.as_deref())));
        }
    }
    if exact {
        names.follow(read.iter().flatten().flat_map(Read::objects));
        read.iter_mut().flatten().for_each(|read| read.leave_out_objects(&names));
    }
    for (part, read) in files.parts.iter().zip(read) {
        writer.part(part, read)?;
    }
    let Writer { mut done, items, .. } = writer;
    done.is_copy = wanted.window.is_everything() && done.lost.is_empty();
    done.proof = Some(Tally { units: 0, records: items });
    Ok(done)
}

impl Writer<'_> {
    /// Reads a chunk that can have something to do with the range, and notes its polls before it.
    fn read(&mut self, part: &Part<'_>) -> Result<Option<Read>> {
        let Kind::Chunk(header) = part.kind else { return Ok(None) };
        let Self { range, exact, polls, .. } = self;
        if part.path.is_some() && !range.wants_chunk(&header) && !range.begins_after(&header) {
            return Ok(None);
        }
        let data = part.data()?;
        let Ok(chunk) = Chunk::parse(data.bytes()) else { return Ok(None) };
        polls.begin(part.path.as_deref());
        let is_everything = range.is_everything();
        let wants =
            Wants { within: range.within(&header), is_everything, is_exact: *exact && !is_everything };
        Ok(Some(chunk::read(&chunk, data.bytes().len() as u64, &wants, |kind, record| {
            if let Ok(micros) = header.unix_micros(record.time) {
                polls.note(kind, micros, record);
            }
        })))
    }

    fn part(&mut self, part: &Part<'_>, read: Option<Read>) -> Result<()> {
        let data = part.data()?;
        let data = data.bytes();
        let path = part.path.as_deref();
        let is_alone = path.is_none();
        match part.kind {
            Kind::Chunk(_) => {
                let Some((read, chunk)) = read.zip(Chunk::parse(data).ok()) else { return Ok(()) };
                self.chunk(&chunk, data, path, is_alone, read)
            }
            Kind::Stream => {
                let Ok(stream) = Streaming::parse(data) else { return Ok(()) };
                self.stream(&stream, data, path)
            }
            Kind::Callsites => self.callsites(data, path),
            Kind::Meta => self.meta(part, data),
        }
    }

    fn begin(&mut self, path: Option<&Path>) -> Result<()> {
        self.to.file(path.unwrap_or(Path::new("")))
    }

    /// Notes the bytes of a file, of which something was left out.
    fn anew(&mut self, path: Option<&Path>, bytes: Bytes<'_>) {
        bytes.end(0, &mut self.done.digest);
        self.done.anew.add(path.unwrap_or(Path::new("")), 0..u64::MAX);
    }

    /// Copies what can be read of a file that says of what kind others are.
    fn meta(&mut self, part: &Part<'_>, data: &[u8]) -> Result<()> {
        let path = part.path.as_deref();
        let Ok(meta) = Meta::parse(data) else { return Ok(()) };
        let mut formats = meta.formats();
        let start = formats.offset();
        let mut names = Vec::new();
        let (at, error) = loop {
            let at = formats.offset();
            match formats.next_format() {
                Ok(Some(name)) => names.push(name),
                Ok(None) => return self.as_it_is(part, data),
                Err(error) => break (at, error),
            }
        };
        self.done.lose(path, at, (data.len() as u64).saturating_sub(at), error);
        self.done.carried = self.done.carried.saturating_add(u64::from(meta.created().is_err()));
        self.begin(path)?;
        self.to.put(slice(data, 0, start))?;
        let mut put = |bytes: &[u8]| self.to.put(bytes);
        write_count(names.len() as u64, &mut put)?;
        for name in &names {
            write_count(name.len() as u64, &mut put)?;
            put(name.as_bytes())?;
        }
        Ok(())
    }

    /// Copies a file, with what is wrong in it.
    fn as_it_is(&mut self, part: &Part<'_>, data: &[u8]) -> Result<()> {
        let mut errors = 0_u64;
        let items = scan::check(part, |finding| {
            errors = errors.saturating_add(u64::from(finding.severity() == Severity::Error));
        })?;
        self.items = self.items.saturating_add(items);
        self.done.carried = self.done.carried.saturating_add(errors);
        self.begin(part.path.as_deref())?;
        self.to.put(data)
    }

    /// Copies the callsites that are whole: records name them by numbers that stay.
    fn callsites(&mut self, data: &[u8], path: Option<&Path>) -> Result<()> {
        let Ok(mut callsites) = Callsites::parse(data) else { return Ok(()) };
        self.begin(path)?;
        let mut runs = Runs { data, start: 0 };
        let mut bytes = Bytes::of(data);
        let mut is_whole = true;
        loop {
            let at = callsites.offset();
            match callsites.next_callsite() {
                Ok(Some(_)) => {
                    self.items = self.items.saturating_add(1);
                    bytes.add(at, callsites.offset());
                }
                Ok(None) => {
                    if !is_whole {
                        self.anew(path, bytes);
                    }
                    return runs.end(at, self.to);
                }
                Err(error) => {
                    is_whole = false;
                    runs.end(at, self.to)?;
                    let gap = callsites.recover();
                    let len = gap.map_or((data.len() as u64).saturating_sub(at), |gap| gap.len());
                    self.done.lose(path, at, len, error);
                    if gap.is_none() {
                        self.anew(path, bytes);
                        return Ok(());
                    }
                    runs.start = callsites.offset();
                }
            }
        }
    }
}
