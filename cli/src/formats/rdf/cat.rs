//! The bytes of a chunk, or the records in it.

use super::contents::{Loaded, Records, Streams, is_known, located};
use super::decoder::Decoder;
use super::plan::{Part, Plan, Turn};
use super::{Rdf, name};
use crate::json::Line;
use crate::output::{Out, add, counted};
use crate::progress::Progress;
use crate::status::{Failure, Result, Status};
use crate::trace::{RdfSelect, Selection};
use std::collections::BTreeMap;
use traceglass::rdf::{Chunk, Identifier};
use traceglass::{Error, Format};

/// The chunk whose pieces are joined.
const TOKENS: &str = "RmtData";
/// The other chunk whose records have times.
const EVENTS: &str = "DDEvent";

impl Rdf<'_> {
    pub(super) fn print(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        args.refuse_follow("an RDF file is written at once")?;
        let is_all = args.rdf.chunk.is_none() && args.rdf.entry.is_none();
        let wants_records = args.json || args.rdf.records;
        if !wants_records || args.rdf.header || args.rdf.stored {
            args.refuse_window("only records have times: say --records or --json")?;
        }
        if let Some(damage) = self.damage {
            out.warn(&args.path, damage);
        }
        if wants_records && (args.rdf.header || args.rdf.stored || args.raw) {
            return Err(Failure::usage(
                "--header, --stored and --raw are bytes, which --json and --records do not give",
            ));
        }
        if wants_records && is_all && !(args.rdf.header || args.rdf.stored) {
            return self.all_records(args, out);
        }
        let chunk = self.selected(&args.rdf)?;
        if wants_records {
            let is_joined = args.rdf.chunk.as_deref() == Some(TOKENS) && args.rdf.index.is_none();
            let start = self.start(args)?;
            let mut records = Records::new(out, args, start)?;
            let fault = if is_joined {
                self.tokens(&Plan::of(&self.file, Part::Contents), &mut records)?.0
            } else {
                let loaded = Loaded::read(chunk, &mut Decoder::new()).map_err(fail)?;
                records.write(&loaded, self.place(chunk))?.map(|error| located(error, chunk))
            };
            return Ok(self.ended(fault, args, out));
        }
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
        Ok(Status::damaged_if(self.damage.is_some()))
    }

    fn ended(&self, fault: Option<Error>, args: &Selection, out: &mut Out) -> Status {
        if let Some(error) = fault {
            out.warn(&args.path, error);
        }
        Status::damaged_if(fault.is_some() || self.damage.is_some())
    }

    /// The records of all chunks, one after the other.
    fn all_records(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        let mut decoder = Decoder::new();
        let mut status = Status::damaged_if(self.damage.is_some());
        let mut seen: BTreeMap<Identifier, u64> = BTreeMap::new();
        let plan = Plan::of(&self.file, Part::Contents);
        let progress = Progress::new(self.size());
        let start = self.start(args)?;
        for entry in self.file.entries() {
            let index = seen.entry(entry.identifier()).or_default();
            let place = (entry.number() as u64, *index);
            add(index, 1);
            let Some(chunk) = self.file.chunk_at(entry.number()) else { continue };
            let is_tokens = entry.identifier() == Identifier::from(TOKENS);
            let is_read = match plan.turn(entry.number()) {
                Turn::Read => true,
                Turn::As(first) => {
                    same(entry.number(), &name(entry.identifier()), first, args.json, out)?;
                    false
                }
                Turn::Beyond(_) if is_tokens => false,
                Turn::Beyond(error) => {
                    out.warn(&args.path, error);
                    status = Status::Damaged;
                    false
                }
            };
            // With the first chunk of tokens come those of all others.
            let is_first = is_tokens && place.1 == 0;
            if !is_read && !is_first {
                continue;
            }
            let mut records = Records::new(out, args, start)?;
            if is_tokens {
                if is_first {
                    let (fault, read) = self.tokens(&plan, &mut records)?;
                    if let Some(error) = fault {
                        out.warn(&args.path, error);
                    }
                    status = status.max(read);
                }
                continue;
            }
            let fault = match () {
                () if !is_known(entry.identifier()) => {
                    records.unknown(&entry, place)?;
                    None
                }
                () => match Loaded::read(chunk, &mut decoder) {
                    Ok(loaded) => {
                        if loaded.content().is_err() {
                            // The content is not what the identifier says.
                            records.unknown(&entry, place)?;
                        }
                        records.write(&loaded, place)?
                    }
                    Err(error) => {
                        out.warn(&args.path, error);
                        status = Status::Damaged;
                        continue;
                    }
                },
            };
            // A warning, as in `check`: the container can be read, but its content is not what the identifier says.
            if let Some(error) = fault {
                out.warn(&args.path, located(error, chunk));
            }
            progress.advance(u64::try_from(entry.stored_size()).unwrap_or(0));
        }
        Ok(status)
    }

    /// The earliest time of all records of the file, if the range that is asked for counts from it: chunks lie in any order.
    fn start(&self, args: &Selection) -> Result<Option<i128>> {
        if !args.window.needs_start() {
            return Ok(None);
        }
        let (plan, mut decoder) = (Plan::of(&self.file, Part::Contents), Decoder::new());
        let mut records = Records::times();
        // What cannot be read is reported when it is to be printed.
        self.tokens(&plan, &mut records)?;
        for chunk in self.file.chunks(EVENTS.into()) {
            if let (Turn::Read, Ok(loaded)) =
                (plan.turn(chunk.entry().number()), Loaded::read(chunk, &mut decoder))
            {
                records.write(&loaded, (0, 0))?;
            }
        }
        let start = records.earliest();
        start.map(Some).ok_or_else(|| Failure::unreadable("no record from which time could count"))
    }

    /// The tokens of all chunks that hold some: one may begin in a chunk and end in the next one of its stream.
    /// Bytes that several entries name are read once. Returns the first fault, and whether chunks could not be read.
    fn tokens(&self, plan: &Plan, records: &mut Records<'_>) -> Result<(Option<Error>, Status)> {
        let mut decoder = Decoder::new();
        let mut streams = Streams::default();
        let (mut first, mut status) = (None, Status::Clean);
        for (index, chunk) in (0..).zip(self.file.chunks(TOKENS.into())) {
            let entry = chunk.entry();
            let place = (entry.number() as u64, index);
            let read = match plan.turn(entry.number()) {
                Turn::Read => Loaded::read(chunk, &mut decoder),
                Turn::As(_) => continue,
                Turn::Beyond(error) => Err(error),
            };
            let error = match read {
                Ok(loaded) => match records.structures(&loaded, place)? {
                    Some(error) => {
                        records.unknown(&entry, place)?;
                        located(error, chunk)
                    }
                    None => {
                        streams.add(&loaded, place);
                        continue;
                    }
                },
                Err(error) => {
                    status = Status::Damaged;
                    error
                }
            };
            first = first.or(Some(error));
        }
        for (stream, chunks) in streams.parts() {
            let Some(error) = records.tokens(&stream, chunks)? else { continue };
            let begin = chunks.iter().rfind(|begin| begin.offset <= error.offset());
            let chunk = begin.and_then(|begin| self.file.chunk_at(usize::try_from(begin.place.0).ok()?));
            first = first.or(match (begin, chunk) {
                (Some(begin), Some(chunk)) => {
                    let offset = error.offset().saturating_sub(begin.offset);
                    Some(located(Error::new(offset, error.element(), error.kind()), chunk))
                }
                _ => Some(error),
            });
        }
        Ok((first, status))
    }

    /// The number of a chunk's entry, and which one of its identifier it is.
    fn place(&self, chunk: Chunk<'_>) -> (u64, u64) {
        let (number, id) = (chunk.entry().number(), chunk.entry().identifier());
        let before = self.file.entries().take(number).filter(|entry| entry.identifier() == id);
        (number as u64, before.count() as u64)
    }

    fn selected(&self, select: &RdfSelect) -> Result<Chunk<'_>> {
        let (chunk, asked) = match (&select.chunk, select.entry) {
            (Some(id), _) => {
                let n = select.index.unwrap_or(0);
                // An identifier that is too long would be cut, and could then match another chunk.
                let found =
                    (id.len() <= 16).then(|| self.file.chunk(Identifier::from(id.as_str()), n)).flatten();
                (found, format!("chunk {id} number {n}"))
            }
            (None, Some(entry)) => (self.file.chunk_at(entry), format!("entry {entry}")),
            (None, None) => {
                return Err(Failure::usage(
                    "an RDF file has many chunks: select one with --chunk or --entry, or say --records or --json to see \
                     what is in all of them; `traceglass ls` lists them",
                ));
            }
        };
        chunk.ok_or_else(|| match self.damage {
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

/// Says that an entry names the same as an earlier one.
fn same(entry: usize, id: &str, first: usize, json: bool, out: &mut Out) -> Result<()> {
    if json {
        let mut line = Line::new();
        line.begin().text("kind", "same").int("entry", entry as u64).text("id", id);
        return out.json_text(line.int("as", first as u64).end());
    }
    out.line(format_args!("{entry} {id}: the same as entry {first}"))
}
