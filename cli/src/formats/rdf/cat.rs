//! One chunk as it is, or the records of one or all.

use super::contents::{Loaded, Records, To};
use super::decoder::Decoder;
use super::plan::{Part, Plan, Turn};
use super::{Rdf, name};
use crate::json::Line;
use crate::output::{Out, add, counted};
use crate::status::{Failure, Result, Status};
use crate::trace::{RdfSelect, Selection};
use traceglass::Format;
use traceglass::rdf::{Chunk, Identifier};

impl Rdf<'_> {
    pub(super) fn print(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        args.refuse_window("an RDF file's chunks have no time")?;
        if let Some(damage) = self.damage {
            out.warn(&args.path, damage);
        }
        let select = &args.rdf;
        let records = args.json || select.records;
        if records && (select.header || select.stored) {
            return Err(Failure::usage(
                "--header and --stored are bytes, which --json and --records do not give",
            ));
        }
        if records && select.chunk.is_none() && select.entry.is_none() {
            return self.all_records(args, out);
        }
        let chunk = self.selected(select)?;
        let fail = |error| Failure::content(Format::Rdf, error);
        if records {
            let loaded = Loaded::read(chunk, &mut Decoder::new()).map_err(fail)?;
            if let Some(error) = (Records { to: To::out(out, args.json), entry: None }).write(&loaded)? {
                out.warn(&args.path, error);
                return Ok(Status::Damaged);
            }
            return Ok(Status::damaged_if(self.damage.is_some()));
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

    /// The records of all chunks, in file order. What several entries name is written once.
    fn all_records(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        let plan = Plan::of(&self.file, Part::Contents);
        let mut decoder = Decoder::new();
        let mut status = Status::damaged_if(self.damage.is_some());
        for entry in self.file.entries() {
            let number = entry.number();
            let Some(chunk) = self.file.chunk_at(number) else { continue };
            let read = match plan.turn(number) {
                Turn::Read => Loaded::read(chunk, &mut decoder),
                Turn::As(first) => {
                    let id = name(entry.identifier());
                    if args.json {
                        let mut line = Line::new();
                        line.begin().text("kind", "same").int("entry", number as u64).text("id", &id);
                        out.json_text(line.int("as", first as u64).end())?;
                    } else {
                        out.line(format_args!("{number} {id}: the same as entry {first}"))?;
                    }
                    continue;
                }
                Turn::Beyond(error) => Err(error),
            };
            let mut records = Records { to: To::out(out, args.json), entry: Some(number) };
            let found = match read {
                Ok(loaded) => records.write(&loaded)?,
                Err(error) => Some(error),
            };
            if let Some(error) = found {
                out.warn(&args.path, format_args!("entry {number}: {error}"));
                status = Status::Damaged;
            }
        }
        Ok(status)
    }

    fn selected(&self, select: &RdfSelect) -> Result<Chunk<'_>> {
        let (chunk, asked) = match (&select.chunk, select.entry) {
            (Some(id), _) => {
                let n = select.index.unwrap_or(0);
                // An identifier that is too long would be cut, and then find another chunk.
                let found =
                    (id.len() <= 16).then(|| self.file.chunk(Identifier::from(id.as_str()), n)).flatten();
                (found, format!("chunk {id} number {n}"))
            }
            (None, Some(entry)) => (self.file.chunk_at(entry), format!("entry {entry}")),
            (None, None) => {
                return Err(Failure::usage(
                    "an RDF file has many chunks: select one with --chunk or --entry; `traceglass ls` lists them",
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
