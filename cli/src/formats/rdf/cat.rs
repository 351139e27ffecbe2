//! One chunk as it is, or the records of one or all.

use super::contents::{Loaded, Records, To, is_known, located};
use super::decoder::Decoder;
use super::plan::{Part, Plan, Turn};
use super::{Rdf, name};
use crate::json::Line;
use crate::output::{Out, add, counted, hex};
use crate::status::{Failure, Result, Status};
use crate::trace::{RdfSelect, Selection};
use traceglass::rdf::{Chunk, Identifier};
use traceglass::{Error, Format};

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
            let (begun, error) = self.records_of(chunk, None, args, &mut Decoder::new(), out)?;
            return match error {
                Some(error) if !begun => Err(fail(error)),
                Some(error) => {
                    out.warn(&args.path, error);
                    Ok(Status::Damaged)
                }
                None => Ok(Status::damaged_if(self.damage.is_some())),
            };
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
            let error = match plan.turn(number) {
                Turn::Read => self.records_of(chunk, Some(number), args, &mut decoder, out)?.1,
                Turn::As(first) => {
                    let id = name(entry.identifier());
                    if args.json {
                        let mut line = Line::new();
                        line.begin().text("kind", "same").int("entry", number as u64).text("id", &id);
                        out.json_text(line.int("as", first as u64).end())?;
                    } else {
                        out.line(format_args!("{number} {id}: the same as entry {first}"))?;
                    }
                    None
                }
                Turn::Beyond(error) => Some(error),
            };
            if let Some(error) = error {
                out.warn(&args.path, format_args!("entry {number}: {error}"));
                status = Status::Damaged;
            }
        }
        Ok(status)
    }

    /// The records of a chunk: whether any was written, and what is wrong.
    fn records_of(
        &self,
        chunk: Chunk<'_>,
        entry: Option<usize>,
        args: &Selection,
        decoder: &mut Decoder,
        out: &mut Out,
    ) -> Result<(bool, Option<Error>)> {
        let json = args.json;
        if is_known(chunk.entry().identifier()) {
            let loaded = match Loaded::read(chunk, decoder) {
                Ok(loaded) => loaded,
                Err(error) => return Ok((false, Some(error))),
            };
            match (entry, loaded.content()) {
                // Of all chunks, one that is not what it is called is bytes; `check` warns of it as well.
                (Some(number), Err(error)) => {
                    out.warn(&args.path, format_args!("entry {number}: {}", located(error, chunk)));
                }
                _ => return Ok((true, Records { to: To::out(out, json), entry }.write(&loaded)?)),
            }
        }
        // Bytes of which it is not known what they are: piece by piece, since there may be any number.
        let header = match chunk.header() {
            Ok(header) => header,
            Err(error) => return Ok((false, Some(error))),
        };
        let id = chunk.entry().identifier();
        let mut line = Line::new();
        if json {
            line.begin().text("kind", &id.to_string());
            if let Some(entry) = entry {
                line.int("entry", entry as u64);
            }
            line.hex("header_hex", header).key("data_hex").text.push(b'"');
        } else {
            let entry = entry.map(|entry| format!("{entry} ")).unwrap_or_default();
            line.text =
                format!("{entry}{} header_hex=\"{}\" data_hex=\"", name(id), hex(header)).into_bytes();
        }
        let (mut begun, mut written) = (false, Ok(()));
        let mut put = |piece: &[u8], out: &mut Out| {
            if !std::mem::replace(&mut begun, true) {
                out.json_text(&line.text)?;
            }
            piece.chunks(1 << 14).try_for_each(|part| out.json_text(hex(part).as_bytes()))
        };
        let read = decoder.read(chunk, |piece| {
            if written.is_ok() {
                written = put(piece, out);
            }
        });
        written?;
        if read.is_ok() {
            put(&[], out)?;
        }
        if begun {
            out.json_text(if json { b"\"}\n" } else { b"\"\n" })?;
        }
        Ok((begun, read.err()))
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
