//! RFR for each verb.

mod cat;
mod export;
mod files;
mod hex;
mod info;
mod redact;
mod rewrite;
mod scan;
mod select;
mod sites;
#[cfg(feature = "tables")]
mod tables;
mod tasks;
#[cfg(feature = "view")]
mod view;

use crate::json::Line;
use crate::output::{Out, add, counted, grouped, shown};
use crate::parallel;
use crate::progress::Progress;
use crate::status::{Result, Status, Unreadable};
use crate::table::{Table, date, path, right};
use crate::trace::{
    Cursor, Damage, DamageExt as _, Events, Fields, Findings, Info, Inquiry, Listing, NewTrace, Outcome,
    Parts, Private, Rewritten, Selection, Stamps, Trace, Untold, Wanted, aligned, shown_micros, widen,
};
use files::{Files, Kind, Part, Problem};
pub use rewrite::merge;
use select::Range;
use std::path::Path;
use traceglass::event::Window;
use traceglass::rfr::{Chunk, Item, RecordKind, SequenceHeader, Streaming};
use traceglass::{Finding, Format, Severity};

/// The number of findings of a file that are kept until its turn comes; one with more is read again, so that memory
/// stays flat.
const KEPT: usize = 10_000;

struct Rfr<'a> {
    files: Files<'a>,
    /// True if it is a folder.
    is_folder: bool,
}

/// One file of a recording.
pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    Ok(Box::new(Rfr { files: Files::one(data)?, is_folder: false }))
}

/// A recording's directory; `None` if no file of a recording is in it.
pub fn open_directory(path: &Path) -> Result<Option<Box<dyn Trace>>, Unreadable> {
    let files = Files::directory(path)?;
    Ok(files.map(|files| Box::new(Rfr { files, is_folder: true }) as Box<dyn Trace>))
}

/// A sequence, and what of it could be read.
struct Listed {
    header: SequenceHeader,
    objects: u64,
    records: u64,
    /// The earliest and the latest time of its records.
    span: Option<(u64, u64)>,
}

/// A span of microseconds for a column.
fn aligned_micros(micros: u64) -> String {
    aligned(i128::from(micros).saturating_mul(1000))
}

/// The sequences of a chunk, all of it checked.
fn list(chunk: &Chunk<'_>, path: Option<&Path>, damage: &mut Damage) -> Result<Vec<Listed>> {
    let mut sequences: Vec<Listed> = Vec::new();
    let header = chunk.header();
    if let Err(error) = header.base_micros() {
        damage.add_in(path, error);
    }
    let based = header.base_micros().is_ok();
    scan::items(chunk, path, damage, |item, damage| {
        match (item, sequences.last_mut()) {
            (Item::Sequence(header), _) => {
                sequences.push(Listed { header, objects: 0, records: 0, span: None })
            }
            (Item::Object(_), Some(sequence)) => add(&mut sequence.objects, 1),
            (Item::Record(record), Some(sequence)) => {
                add(&mut sequence.records, 1);
                match record.unix_micros(&header) {
                    Ok(micros) => widen(&mut sequence.span, micros, micros),
                    Err(error) if based => damage.add_in(path, error),
                    Err(_) => {}
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(sequences)
}

/// Lists the contents of a stream.
fn list_stream(
    part: &Part<'_>,
    args: &Listing,
    range: &Range,
    damage: &mut Damage,
    out: &mut Out,
) -> Result<()> {
    let data = part.data()?;
    let Ok(stream) = Streaming::parse(data.bytes()) else { return Ok(()) };
    let [mut callsites, mut objects, mut records] = [0_u64; 3];
    let mut span: Option<(u64, u64)> = None;
    scan::stream(&stream, part.path.as_deref(), damage, |record, damage| {
        match record.kind() {
            RecordKind::Callsite => add(&mut callsites, 1),
            RecordKind::Span | RecordKind::Task => add(&mut objects, 1),
            _ => {}
        }
        add(&mut records, 1);
        match record.unix_micros() {
            Ok(micros) => widen(&mut span, micros, micros),
            Err(error) => damage.add_in(part.path.as_deref(), error),
        }
        Ok(())
    })?;
    let path = part.path.as_deref().unwrap_or(&args.path);
    let (first, last) = span.unzip();
    if !range.meets(span) {
        return Ok(());
    }
    if args.json {
        let (mut line, mut stamps) = (Line::new(), Stamps::default());
        let in_ns = |micros: Option<u64>| micros.map(|micros| i128::from(micros).saturating_mul(1000));
        line.begin().text("kind", "stream").path(Some(path)).text("identifier", &part.identifier);
        line.time(in_ns(first), true, &mut stamps).end_time(in_ns(last), true, &mut stamps).null("clock");
        line.int_or_null("start_micros", first).int_or_null("end_micros", last).int("bytes", part.size);
        line.int("callsites", callsites).int("objects", objects);
        return out.json_text(line.int("records", records).end());
    }
    let mut table = Table::new(&[
        date("first record").spare(3),
        right("length"),
        right("callsites").spare(2),
        right("objects").spare(1),
        right("records"),
        self::path("stream"),
    ]);
    let length = span.map(|(first, last)| aligned_micros(last.saturating_sub(first)));
    let mut cells = vec![first.map(shown_micros).unwrap_or_default(), length.unwrap_or_default()];
    cells.extend([callsites, objects, records].map(grouped));
    cells.push(shown(path));
    table.row(out, cells)?;
    table.finish(out)
}

impl Trace for Rfr<'_> {
    fn format(&self) -> Format {
        Format::Rfr
    }

    #[cfg(feature = "view")]
    fn browse(&self, path: &Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self, path, look)
    }

    fn bytes(&self) -> u64 {
        self.files.bytes
    }

    fn events_in(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, events)
    }

    fn time_before(&self, time: i128, bytes: u64) -> Option<i128> {
        self.begin_of_chunks(time, bytes)
    }

    fn untold(&self, tell: &mut Untold<'_>) -> Result<()> {
        self.tell_untold(tell)
    }

    fn bounds(&self, window: &crate::trace::Window) -> Result<crate::trace::Bounds> {
        select::bounds(window, &self.files)
    }

    #[cfg(feature = "tables")]
    fn tables(
        &self,
        name: &str,
        pairs: &crate::states::Pairs,
        read: &mut crate::trace::ReadTables<'_>,
    ) -> Result<()> {
        self.lend_files(name, pairs, read)
    }

    fn is_written_as_folder(&self) -> bool {
        self.is_folder
    }

    #[cfg(not(target_family = "wasm"))]
    fn private(&self, private: &mut Private<'_>) -> Result<()> {
        redact::tell(&self.files, private)
    }

    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        rewrite::write(&self.files, wanted, to)
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        self.extract_files(parts)
    }

    fn info(&self, args: &Inquiry) -> Result<Info> {
        info::info(self, args)
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.refuse_sha256(
            "chunks and sequences are no files of their own; `sha256sum` hashes a recording's",
        )?;
        let range = Range::of(&args.window, &self.files)?;
        let mut damage = scan::unopened(&self.files);
        let (mut line, mut stamps) = (Line::new(), Stamps::default());
        let mut table = Table::new(&[
            path("chunk"),
            right("offset").spare(4),
            date("start, or sequence"),
            right("length").spare(2),
            right("objects").spare(3),
            right("records").spare(1),
        ]);
        let progress = Progress::new(self.files.bytes);
        let mut totals = [0_u64; 4];
        for part in &self.files.parts {
            progress.advance(part.size);
            if part.kind == Kind::Stream {
                list_stream(part, args, &range, &mut damage, out)?;
                continue;
            }
            let Some(header) = part.header() else {
                scan::errors(part, &mut damage)?;
                continue;
            };
            if !range.wants_chunk(&header) {
                continue;
            }
            let data = part.data()?;
            let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
            let mut sequences = list(&chunk, part.path.as_deref(), &mut damage)?;
            if !range.is_everything() && !sequences.iter().any(|sequence| range.meets(sequence.span)) {
                continue;
            }
            let count = sequences.len() as u64;
            // A file that was named on the command line goes by that name.
            let path = part.path.as_deref().unwrap_or(&args.path);
            let header = chunk.header();
            if args.json {
                let in_ns = |micros| Some(i128::from(header.unix_micros(micros).ok()?).saturating_mul(1000));
                line.begin().text("kind", "chunk").path(Some(path)).text("identifier", &part.identifier);
                line.time(in_ns(header.start()), true, &mut stamps).end_time(
                    in_ns(header.end()),
                    true,
                    &mut stamps,
                );
                line.null("clock").int("bytes", part.size);
                line.int("base_time_secs", header.base_time());
                line.int("start_micros", header.start()).int("end_micros", header.end());
                line.int("earliest_micros", header.earliest()).int("latest_micros", header.latest());
                out.json_text(line.int("sequences", count).end())?;
            } else {
                let start = header.unix_micros(header.start()).map(shown_micros).unwrap_or_default();
                let length = aligned_micros(header.end().saturating_sub(header.start()));
                let objects: u64 = sequences.iter().map(|sequence| sequence.objects).sum();
                let records: u64 = sequences.iter().map(|sequence| sequence.records).sum();
                let cells = [shown(path), String::new(), start, length];
                let cells = cells.into_iter().chain([grouped(objects), grouped(records)]).collect();
                table.row(out, cells)?;
            }
            sequences.retain(|sequence| range.meets(sequence.span));
            add(&mut totals[0], 1);
            for Listed { header, objects, records, .. } in sequences {
                let counts = [0, 1, objects, records];
                totals.iter_mut().zip(counts).for_each(|(total, count)| add(total, count));
                if args.json {
                    line.begin().plain("kind", "sequence").path(Some(path)).int("offset", header.offset());
                    line.int("seq_id", header.seq_id()).int("earliest_micros", header.earliest());
                    line.int("latest_micros", header.latest()).int("objects", objects);
                    out.json_text(line.int("records", records).end())?;
                } else {
                    let length = match header.is_empty() {
                        true => "empty".to_owned(),
                        false => aligned_micros(header.latest().saturating_sub(header.earliest())),
                    };
                    let offset = format!("{:#x}", header.offset());
                    let cells = [String::new(), offset, format!("  sequence {}", header.seq_id()), length];
                    let cells = cells.into_iter().chain([grouped(objects), grouped(records)]).collect();
                    table.row(out, cells)?;
                }
            }
        }
        drop(progress);
        if !args.json {
            table.finish(out)?;
            let [chunks, sequences, objects, records] = totals;
            if chunks > 0 {
                let chunks = counted(chunks, "chunk", "chunks");
                let sequences = counted(sequences, "sequence", "sequences");
                let objects = counted(objects, "object", "objects");
                out.wrapped(
                    "",
                    format_args!(
                        "{chunks}, {sequences}, {objects}, {}",
                        counted(records, "record", "records")
                    ),
                )?;
            } else if args.window.is_everything()
                && self.files.parts.iter().all(|part| part.kind != Kind::Stream)
            {
                out.warn(&args.path, "no chunks in it; `traceglass cat` prints what it holds");
            }
        }
        Ok(damage.tell(&args.path, out))
    }

    fn cat(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        cat::cat(&self.files, args, cursor, out)
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        for (path, problem) in &self.files.problems {
            match problem {
                Problem::Content(error) => {
                    findings.report_in(path.as_deref(), Finding::new(Severity::Error, *error))
                }
                Problem::Unreadable(why) => findings.unreadable(path.as_deref(), why),
            }
        }
        let progress = Progress::new(self.files.bytes);
        let check = |(): &mut (), part: &&Part<'_>| {
            let (mut found, mut count) = (Vec::new(), 0_usize);
            scan::check(part, |finding| {
                count = count.saturating_add(1);
                if count <= KEPT {
                    found.push(finding);
                }
            })
            .map(|items| (found, count, items))
        };
        parallel::in_order(
            self.files.bytes,
            &self.files.parts,
            || (),
            check,
            |part, found| {
                let (found, count, items) = found?;
                findings.count(0, items);
                let parts = findings.hashed_parts(part.path.as_deref());
                if let Some(digest) = findings.digest() {
                    rewrite::hash_parts(part, &parts, count == 0, digest)?;
                }
                let mut report = |finding| findings.report_in(part.path.as_deref(), finding);
                if count > KEPT {
                    scan::check(part, report)?;
                } else {
                    found.into_iter().for_each(&mut report);
                }
                progress.advance(part.size);
                Ok(())
            },
        )?;
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        match self.files.parts.first() {
            Some(part) => hex::hex(part, fields),
            None => Ok(Status::Clean),
        }
    }
}
