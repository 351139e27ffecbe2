//! The bytes of a chunk, or the records in it.

use super::contents::is_damage;
use super::decoder::Decoder;
use super::loaded::is_too_much;
use super::walk::{Pick, Place, Step, TOKENS, walk};
use super::{Rdf, name};
use crate::json::Line;
use crate::output::{Out, add, counted};
use crate::progress::Progress;
use crate::record::Lines;
use crate::status::{Failure, Result, Status};
use crate::trace::{RdfSelect, Selection, Time, Window};
use std::collections::HashSet;
use traceglass::rdf::Chunk;
use traceglass::rdf::contents::ChunkRecord;
use traceglass::{Error, Format};

impl Rdf<'_> {
    pub(super) fn print(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        args.refuse_follow("an RDF file is written at once")?;
        let is_all = args.rdf.chunk.is_none() && args.rdf.entry.is_none();
        let wants_bytes = args.rdf.header || args.rdf.stored || args.raw;
        let wants_records = args.json || args.rdf.records || (is_all && !wants_bytes);
        if !wants_records {
            args.window.refuse("only records have times: say --records or --json")?;
            if !args.select.name.is_empty() {
                return Err(Failure::usage("--name: only records have names: say --records or --json"));
            }
        }
        if let Some(damage) = self.damage() {
            out.warn(&args.path, damage);
        }
        if !wants_records {
            return self.bytes(args, out);
        }
        if wants_bytes {
            return Err(Failure::usage(
                "--header, --stored and --raw are bytes, which --json and --records do not give",
            ));
        }
        let pick = match (&args.rdf.chunk, args.rdf.index) {
            _ if is_all => Pick::All,
            // All chunks of tokens belong together.
            (Some(id), None) if id == TOKENS => Pick::Tokens,
            _ => Pick::Entry(self.selected(&args.rdf)?.entry().number() as u64),
        };
        self.records(pick, args, out)
    }

    fn bytes(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        let chunk = self.selected(&args.rdf)?;
        if args.rdf.header {
            out.raw(chunk.header().map_err(fail)?)?;
        } else if args.rdf.stored {
            out.raw(chunk.stored().map_err(fail)?)?;
        } else {
            let (mut written, mut result) = (0_u64, Ok(()));
            let read = Decoder::new().read(chunk, |piece| {
                if result.is_ok() {
                    result = out.raw(piece);
                    add(&mut written, piece.len() as u64);
                }
            });
            result?;
            if let Err(error) = read {
                if written == 0 {
                    return Err(fail(error));
                }
                out.warn(&args.path, error);
                return Ok(Status::Damaged);
            }
        }
        Ok(Status::damaged_if(self.damage().is_some()))
    }

    /// The records of the chunks that are picked, in the order of the index.
    fn records(&self, pick: Pick, args: &Selection, out: &mut Out) -> Result<Status> {
        let range = Range::of(args, || self.start())?;
        let mut lines = Lines::new(&args.shape(), out);
        let mut status = Status::damaged_if(self.damage().is_some());
        let progress = Progress::new(self.size());
        let (mut last, mut told) = (None, HashSet::new());
        walk(&self.file, pick, &mut |step| {
            match step {
                Step::Record(place, record) => {
                    if !range.wants(&record) {
                        return Ok(true);
                    }
                    if last.replace(place) != Some(place) {
                        lines.set_place(&shown(place));
                    }
                    if let Err(error) = lines.record(&record) {
                        lines.settle(out)?;
                        out.warn(&args.path, error);
                        status = Status::Damaged;
                    }
                    lines.pass(out)?;
                }
                Step::Lost(place, error) => {
                    told.insert(place.entry);
                    lines.settle(out)?;
                    out.warn(&args.path, error);
                    status = status.max(Status::damaged_if(is_damage(place.id, &error)));
                }
                Step::Unread(place, error) => {
                    told.insert(place.entry);
                    lines.settle(out)?;
                    out.warn(&args.path, error);
                    let is_lost = !is_too_much(&error) || is_damage(place.id, &error);
                    status = status.max(Status::damaged_if(is_lost));
                }
                Step::Same(place, first) => {
                    lines.settle(out)?;
                    same(place, first, args.json, out)?;
                }
                Step::Done(bytes) => progress.advance(bytes),
            }
            Ok(true)
        })?;
        lines.settle(out)?;
        if pick == Pick::All && range.window.is_everything() {
            self.untold_of(
                |entry| !told.contains(&entry),
                |error| {
                    out.warn(&args.path, error);
                    status = Status::Damaged;
                },
            )?;
        }
        Ok(status)
    }

    /// The earliest time of all records of the file: chunks lie in any order. What cannot be read is reported when it
    /// is printed.
    pub(super) fn start(&self) -> Result<i128> {
        let mut start: Option<i128> = None;
        walk(&self.file, Pick::All, &mut |step| {
            if let Step::Record(_, record) = step {
                start = [start, record.ns()].into_iter().flatten().min();
            }
            Ok(true)
        })?;
        start.ok_or_else(|| Failure::unreadable("no record from which time could count"))
    }

    fn selected(&self, select: &RdfSelect) -> Result<Chunk<'_>> {
        let (chunk, asked) = match (&select.chunk, select.entry) {
            (Some(id), _) => {
                let n = select.index.unwrap_or(0);
                (self.file.chunk(id.as_str(), n), format!("chunk {id} number {n}"))
            }
            (None, Some(entry)) => (self.file.chunk_at(entry), format!("entry {entry}")),
            (None, None) => {
                return Err(Failure::usage(
                    "an RDF file has many chunks: select one with --chunk or --entry; `traceglass ls` lists them",
                ));
            }
        };
        chunk.ok_or_else(|| match self.damage() {
            Some(damage) => {
                Failure::unreadable(format!("{asked} is not in what is left of the index: {damage}"))
            }
            None => {
                let entries = counted(self.file.index().len() as u64, "entry", "entries");
                Failure::unreadable(format!("no {asked}; `traceglass ls` lists the {entries} of the file"))
            }
        })
    }
}

fn fail(error: Error) -> Failure {
    Failure::content(Format::Rdf, error)
}

/// The range of times that is asked for.
struct Range {
    window: Window,
    /// The time from which `+1s` counts.
    start: i128,
}

impl Range {
    fn of(args: &Selection, start: impl FnOnce() -> Result<i128>) -> Result<Self> {
        let window = args.window;
        if [window.from, window.to]
            .iter()
            .any(|time| matches!(time, Some(Time::Absolute(_) | Time::OfDay(_))))
        {
            return Err(Failure::usage(
                "--from and --to: the clocks of an RDF file do not tell the date: count from the first record as +1.5s, or \
                 in ticks as @VALUE",
            ));
        }
        Ok(Self { window, start: if window.needs_start() { start()? } else { 0 } })
    }

    /// True if a record is wanted; what has no time is in no range.
    fn wants(&self, record: &ChunkRecord<'_>) -> bool {
        if self.window.is_everything() {
            return true;
        }
        // `None` if it cannot be told.
        let reached = |time: Time| match time {
            Time::Clock(value) => Some(i128::from(record.ticks()?) >= value),
            Time::SinceStart(since) => Some(record.ns()? >= self.start.saturating_add(since)),
            Time::Absolute(_) | Time::OfDay(_) => None,
        };
        self.window.from.is_none_or(|from| reached(from) == Some(true))
            && self.window.to.is_none_or(|to| reached(to) == Some(false))
    }
}

/// The chunk that records come from, as lines have it.
fn shown(place: Place) -> crate::record::Place {
    let (id, mut json) = (place.id.to_string(), Vec::new());
    json.extend(b",\"chunk\":");
    crate::json::quote(&mut json, &id);
    json.extend(format!(",\"entry\":{},\"index\":{}", place.entry, place.index).bytes());
    crate::record::Place { shown: format!("{} {}", name(place.id), place.index), json }
}

/// Says that an entry names the same as an earlier one.
fn same(place: Place, first: usize, json: bool, out: &mut Out) -> Result<()> {
    let id = name(place.id);
    if json {
        let mut line = Line::new();
        line.begin().text("kind", "same").int("entry", place.entry).text("id", &id);
        return out.json_text(line.int("as", first as u64).end());
    }
    out.line(format_args!("{} {id}: the same as entry {first}", place.entry))
}
