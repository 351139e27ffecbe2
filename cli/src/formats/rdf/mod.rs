//! RDF for each verb.

mod cat;
mod contents;
mod create;
mod decoder;
mod export;
mod extract;
mod loaded;
pub mod neighbor;
mod plan;
mod redact;
mod rewrite;
#[cfg(feature = "view")]
mod view;
mod walk;

use crate::output::{ERROR, Out, add, bytes, counted, grouped, hex, percent, printable};
use crate::parallel;
use crate::progress::Progress;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::table::{Table, left, right};
use crate::trace::{
    Bounds, Cursor, Damage, DamageExt as _, Events, Field, Fields, Findings, Info, Inquiry, Listing,
    NewTrace, Outcome, Parts as Extracted, Private, Reference, Rewritten, Selection, Trace, Untold, Wanted,
};
pub use create::{append, create};
use decoder::Decoder;
use loaded::{fault, is_known};
use plan::{Part, Plan, Shared, Turn};
pub use rewrite::merge;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use traceglass::event::Window;

use traceglass::rdf::{Compression, Entry, File, Identifier, Index};
use traceglass::{Error, Finding, Format, Gap, Severity};

struct Rdf<'a> {
    file: File<'a>,
    /// The part of the index that is lost.
    gap: Option<Gap>,
}

pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    match File::recover(data) {
        Ok((file, gap)) => Ok(Box::new(Rdf { file, gap })),
        Err(error) => Err(Unreadable::content(Format::Rdf, error)),
    }
}

impl Rdf<'_> {
    /// The error in the index.
    fn damage(&self) -> Option<Error> {
        self.gap.map(|gap| gap.cause())
    }

    /// The first error in the entries and what they lead to.
    fn first_error(&self) -> Result<Option<Error>> {
        let mut first = None;
        self.each_entry(|_, findings| {
            let error = findings.iter().find(|finding| finding.severity() == Severity::Error);
            first = first.or(error.map(|error| error.cause()));
        })?;
        Ok(first)
    }

    /// Reads and verifies everything; the findings come in file order.
    fn verify(&self, mut report: impl FnMut(Finding)) -> Result<()> {
        if let Err(error) = self.file.check_header(&mut report) {
            report(Finding::new(Severity::Error, error));
        }
        if let Some(damage) = self.damage() {
            report(Finding::new(Severity::Error, damage));
        }
        self.each_entry(|_, findings| findings.into_iter().for_each(&mut report))
    }

    /// Reads and verifies each entry, in file order.
    fn each_entry(&self, checked: impl FnMut(&Entry<'_>, Vec<Finding>)) -> Result<()> {
        self.each_entry_of(&|_| true, checked)
    }

    /// The same of entries that are wanted.
    fn each_entry_of(
        &self,
        is_wanted: &(dyn Fn(&Entry<'_>) -> bool + Sync),
        mut checked: impl FnMut(&Entry<'_>, Vec<Finding>),
    ) -> Result<()> {
        let plan = Plan::of(&self.file, Part::Compressed);
        let mut shared = Shared::new();
        let check = |decoder: &mut Decoder, entry: &Entry<'_>| {
            let mut found = Vec::new();
            let summary = self.file.check_entry(*entry, &mut |finding| found.push(finding));
            let sound = summary.is_ok_and(|summary| summary.items() > 0);
            let read = match (plan.turn(entry.number()), self.file.chunk_at(entry.number())) {
                (Turn::Read, Some(chunk)) if sound => Some(decoder.read(chunk, |_| ())),
                _ => None,
            };
            (found, read)
        };
        let progress = Progress::new(self.size());
        parallel::in_order(
            self.size(),
            self.file.entries().filter(|entry| is_wanted(entry)),
            Decoder::new,
            check,
            |entry, (mut found, read)| {
                progress.advance(u64::try_from(entry.stored_size()).unwrap_or(0));
                if let Some(Err(error)) = shared.result(&plan, &self.file, entry, read) {
                    found.push(Finding::new(Severity::Error, error));
                }
                checked(entry, found);
                Ok(())
            },
        )
    }

    /// The damage of chunks that are not known to have events, of some entries.
    fn untold_of(&self, is_wanted: impl Fn(u64) -> bool, mut tell: impl FnMut(Error)) -> Result<()> {
        self.each_entry_of(&|entry| !is_known(entry.identifier()), |entry, found| {
            let errors = found.iter().filter(|finding| finding.severity() == Severity::Error);
            let errors = errors.filter(|_| is_wanted(entry.number() as u64));
            errors.for_each(|finding| tell(finding.cause()));
        })
    }

    /// True if an entry is damaged and a part of it lies in a range. Data is decompressed if all of it lies there.
    fn is_damaged_in(&self, shown: &Range<u64>) -> Result<bool> {
        let own = |entry: &Entry<'_>| entry.offset()..entry.offset().saturating_add(Index::ENTRY_SIZE as u64);
        let is_seen = |entry: &Entry<'_>| {
            let mut ranges =
                [Ok(own(entry)), entry.header_range(), entry.stored_range()].into_iter().flatten();
            ranges.any(|range| range.start < shown.end && range.end > shown.start)
        };
        let is_whole = |entry: &Entry<'_>| {
            // Where nothing is stored, only its entry can be shown.
            let range = entry.stored_range().map(|range| if range.is_empty() { own(entry) } else { range });
            range.is_ok_and(|range| range.start >= shown.start && range.end <= shown.end)
        };
        let mut is_damaged =
            self.file.entries().any(|entry| is_seen(&entry) && fault(&self.file, entry).is_some());
        self.each_entry_of(&is_whole, |_, found| {
            is_damaged |= found.iter().any(|finding| finding.severity() == Severity::Error);
        })?;
        Ok(is_damaged)
    }

    fn size(&self) -> u64 {
        self.file.data().len() as u64
    }
}

impl Trace for Rdf<'_> {
    fn format(&self) -> Format {
        Format::Rdf
    }

    #[cfg(feature = "view")]
    fn browse(&self, path: &std::path::Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self, path, look);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.size()
    }

    fn events_in(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, events)
    }

    /// Damage of chunks that are known to have events is told with these.
    fn untold(&self, tell: &mut Untold<'_>) -> Result<()> {
        self.untold_of(|_| true, |error| tell(None, error))
    }

    fn bounds(&self, window: &crate::trace::Window) -> Result<Bounds> {
        window.resolve(&Reference {
            is_absolute: &|| Ok(false),
            start: &|| self.start().map(Some),
            of_clock: &|_| {
                Err(Failure::usage(
                    "--from and --to: the chunks of RDF count in ticks of different clocks, so @VALUE is for the records of `cat` alone; count from the first record as +1.5s",
                ))
            },
        })
    }

    #[cfg(feature = "tables")]
    fn tables(
        &self,
        name: &str,
        pairs: &crate::states::Pairs,
        read: &mut crate::trace::ReadTables<'_>,
    ) -> Result<()> {
        let file = crate::trace::Lent::bytes(name.to_owned(), self.file.data());
        let whole = crate::trace::Whole { trace: self, name, pairs };
        let mut trace = traceglass_tables::Trace::whole(&file);
        trace.set_lasting(&whole);
        read(&trace)
    }

    #[cfg(not(target_family = "wasm"))]
    fn private(&self, private: &mut Private<'_>) -> Result<()> {
        self.tell_private(private)
    }

    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        self.write(wanted, to)
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Extracted) -> Result<Outcome> {
        self.extract_chunks(parts)
    }

    fn info(&self, args: &Inquiry) -> Result<Info> {
        let complete = args.wants_all(self.size());
        let header = self.file.header();
        let mut fields = Map::new();
        fields.insert("magic".into(), String::from_utf8_lossy(header.magic()).into());
        fields.insert("version".into(), header.version().into());
        fields.insert("index_offset".into(), header.index_offset().into());
        fields.insert("index_size".into(), header.index_size().into());
        fields.insert("entries".into(), self.file.index().len().into());

        let summary = contents::summarize(&self.file, complete);
        fields.extend(summary.fields);
        let mut lines = summary.lines;
        let at = format!("at {:#x}", header.index_offset());
        let entries = counted(self.file.index().len() as u64, "entry", "entries");
        lines.push(("index", format!("{entries} {at}")));
        let mut by_compression: BTreeMap<u8, u64> = BTreeMap::new();
        let mut identifiers: Vec<(Identifier, u64)> = Vec::new();
        let mut counts: BTreeMap<Identifier, usize> = BTreeMap::new();
        let (mut stored, mut data, mut headers) = (0_u64, 0_u64, 0_u64);
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        for entry in self.file.entries() {
            add(by_compression.entry(entry.compression().number()).or_default(), 1);
            let place = *counts.entry(entry.identifier()).or_insert_with(|| {
                identifiers.push((entry.identifier(), 0));
                identifiers.len().saturating_sub(1)
            });
            if let Some((_, count)) = identifiers.get_mut(place) {
                add(count, 1);
            }
            headers = headers.saturating_add(size(entry.header_size()));
            stored = stored.saturating_add(size(entry.stored_size()));
            data = data.saturating_add(size(entry.data_size()));
        }
        let kinds: Vec<String> = by_compression
            .iter()
            .map(|(&number, &count)| match number {
                0 => format!("{} raw", grouped(count)),
                1 => format!("{} zstd", grouped(count)),
                other => format!("{} of unknown compression {other}", grouped(count)),
            })
            .collect();
        if !kinds.is_empty() {
            lines.push(("chunks", kinds.join(", ")));
            lines.push(("headers", bytes(headers)));
            lines.push(("stored", bytes(stored)));
            let ratio = if stored == data {
                String::new()
            } else {
                format!(", stored in {} of that", percent(stored, data))
            };
            lines.push(("data", format!("{}{ratio}", bytes(data))));
        }
        fields.insert("header_bytes".into(), headers.into());
        fields.insert("stored_bytes".into(), stored.into());
        fields.insert("data_bytes".into(), data.into());
        let names = identifiers.iter().map(|&(id, count)| (name(id), count.into()));
        fields.insert("chunks_by_id".into(), names.collect::<Map<_, _>>().into());
        const SHOWN: usize = 12;
        let more = identifiers.len().saturating_sub(SHOWN);
        for (number, (id, count)) in identifiers.into_iter().take(SHOWN).enumerate() {
            let times = if count == 1 { String::new() } else { format!(" ×{}", grouped(count)) };
            let label = if number == 0 { "identifiers" } else { "" };
            lines.push((label, format!("{}{times}", name(id))));
        }
        if more > 0 {
            lines.push(("", format!("and {} more", grouped(more as u64))));
        }
        let mut damage = Damage::default();
        let mut report = |finding: Finding| {
            if finding.severity() == Severity::Error {
                damage.add(finding.cause().to_string());
            }
        };
        if complete {
            self.verify(&mut report)?;
            contents::check(&self.file, &mut report);
        } else if let Some(error) = self.damage() {
            report(Finding::new(Severity::Error, error));
        }
        let status = damage.status();
        let legacy = if header.is_legacy() { ", legacy magic RTA_DATA" } else { "" };
        Ok(Info {
            bytes: self.file.data().len() as u64,
            status,
            fields,
            title: format!("RDF, Radeon Data File, version {}{legacy}", header.version()),
            lines,
            tables: Vec::new(),
            damage,
            complete,
        })
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.window.refuse("the index of an RDF file has no times")?;
        let mut columns = vec![
            right("entry"),
            left("identifier"),
            right("n").spare(3),
            right("version").spare(6),
            left("kind").spare(2),
            right("header").spare(7),
            right("offset").spare(4),
        ];
        columns.extend([right("stored").spare(1), right("data"), right("ratio").spare(5)]);
        if args.sha256 {
            columns.push(left("data sha256"));
        }
        let mut table = Table::new(&columns);
        let mut numbers: BTreeMap<Identifier, u64> = BTreeMap::new();
        let mut status = Status::damaged_if(self.damage().is_some());
        let (mut stored, mut data) = (0_u64, 0_u64);
        let headers = args.sha256.then(|| Plan::of(&self.file, Part::Headers));
        let contents = args.sha256.then(|| Plan::of(&self.file, Part::Data));
        let plans = headers.as_ref().zip(contents.as_ref());
        let (mut shared_headers, mut shared_contents) = (Shared::new(), Shared::new());
        let read = |decoder: &mut Decoder, entry: &Entry<'_>| match plans {
            Some(plans) => Parts::read(&self.file, *entry, plans, decoder),
            None => Parts::check(&self.file, *entry),
        };
        let read_bytes = if args.sha256 { self.size() } else { 0 };
        let progress = Progress::new(read_bytes);
        parallel::in_order(read_bytes, self.file.entries(), Decoder::new, read, |&entry, mut parts| {
            progress.advance(u64::try_from(entry.stored_size()).unwrap_or(0));
            if let Some((headers, contents)) = plans {
                parts.header = shared_headers.result(headers, &self.file, &entry, parts.header);
                parts.data = shared_contents.result(contents, &self.file, &entry, parts.data);
            }
            let next = numbers.entry(entry.identifier()).or_default();
            let index = *next;
            add(next, 1);
            let error = parts.error();
            if error.is_some() {
                status = Status::Damaged;
            }
            if args.json {
                return out.json(&parts.json(entry, index, args.sha256));
            }
            stored = stored.saturating_add(u64::try_from(entry.stored_size()).unwrap_or(0));
            data = data.saturating_add(u64::try_from(entry.data_size()).unwrap_or(0));
            let ratio = match (u64::try_from(entry.stored_size()), u64::try_from(entry.data_size())) {
                (Ok(stored), Ok(data)) if entry.compression() != Compression::None => percent(stored, data),
                _ => String::new(),
            };
            let mut cells = vec![
                entry.number().to_string(),
                name(entry.identifier()),
                index.to_string(),
                entry.version().to_string(),
                entry.compression().to_string(),
                grouped(entry.header_size()),
                format!("{:#x}", entry.data_offset()),
                grouped(entry.stored_size()),
                grouped(entry.data_size()),
                ratio,
            ];
            if args.sha256 {
                cells.push(Parts::digest(&parts.data).unwrap_or_default());
            }
            match error {
                Some(error) => {
                    table.styled_row(out, ERROR, cells)?;
                    table.note(out, ERROR, error.to_string())
                }
                None => table.row(out, cells),
            }
        })?;
        if !args.json {
            table.finish(out)?;
            let total = counted(self.file.index().len() as u64, "chunk", "chunks");
            out.wrapped("", format_args!("{total}, {} stored, {} of data", bytes(stored), bytes(data)))?;
        }
        if let Some(damage) = self.damage() {
            out.warn(&args.path, format_args!("the index is not whole: {damage}"));
        }
        Ok(status)
    }

    fn cat(&self, args: &Selection, _: &mut Cursor, out: &mut Out) -> Result<Status> {
        self.print(args, out)
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        self.verify(|finding| findings.report(finding))?;
        findings.count(self.file.index().len() as u64, 0);
        if let Some(digest) = findings.digest() {
            self.file.entries().for_each(|entry| rewrite::hash(&self.file, &entry, digest));
        }
        let mut storage = vec![0; self.file.index().len().saturating_mul(2)];
        if let Err(error) = self.file.overlaps(&mut storage, &mut |finding| findings.report(finding)) {
            findings.report(Finding::new(Severity::Warning, error));
        }
        contents::check(&self.file, &mut |finding| findings.report(finding));
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let header = self.file.header();
        for field in header.fields() {
            fields.field(&Field::new(field.offset(), field.size(), field.name(), field.value()))?;
        }
        // The parts stand in any order and may overlap: those in the range, by where they begin.
        let shown = fields.range();
        let mut parts: Vec<Field> = Vec::new();
        let mut met = HashSet::new();
        for entry in self.file.entries() {
            // The same bytes are shown once, however many entries name them.
            let content =
                (entry.identifier(), entry.version(), entry.header_range().ok(), entry.stored_range().ok());
            let known = match met.insert(content) {
                true => contents::hex_fields(&self.file, entry, &shown),
                false => Vec::new(),
            };
            let ranges = [("header", entry.header_range()), ("data", entry.stored_range())];
            for (part, range) in ranges {
                let Ok(range) = range else { continue };
                // The bytes after the fields that are known.
                let within = known.iter().filter(|field| range.contains(&field.offset));
                let start =
                    within.map(|field| field.offset.saturating_add(field.len)).fold(range.start, u64::max);
                if start < shown.end && range.end > shown.start && range.end > start {
                    let label = format!("entry {} {part}", entry.number());
                    let len = range.end.saturating_sub(start);
                    parts.push(Field::new(start, len, label, name(entry.identifier())));
                }
            }
            parts.extend(known);
            let at = entry.offset();
            if at < shown.end && at.saturating_add(Index::ENTRY_SIZE as u64) > shown.start {
                parts.extend(entry_fields(entry));
            }
        }
        parts.extend(self.gap.map(|gap| Field::new(gap.offset(), gap.len(), "(lost)", gap.cause())));
        parts.sort_by_key(|field| (field.offset, std::cmp::Reverse(field.len)));
        for field in &parts {
            fields.field(field)?;
        }
        Ok(Status::damaged_if(self.damage().is_some() || self.is_damaged_in(&shown)?))
    }
}

/// The fields of an index entry.
fn entry_fields(entry: Entry<'_>) -> impl Iterator<Item = Field> {
    entry.fields().map(move |field| {
        let name = format!("entry {} {}", entry.number(), field.name());
        Field::new(field.offset(), field.size(), name, field.value())
    })
}

/// The findings of `ls` about an entry after looking at its chunk.
struct Parts {
    /// The SHA-256 of the header, if it was read.
    header: Option<Result<String, Error>>,
    /// The SHA-256 of the decompressed data, if it was read.
    data: Option<Result<String, Error>>,
    /// The error in the entry itself.
    fault: Option<Error>,
}

impl Parts {
    /// Looks at the entry alone.
    fn check(file: &File<'_>, entry: Entry<'_>) -> Self {
        Self { header: None, data: None, fault: fault(file, entry) }
    }

    /// Reads the header and the data if it is their turn.
    fn read(
        file: &File<'_>,
        entry: Entry<'_>,
        (headers, contents): (&Plan, &Plan),
        decoder: &mut Decoder,
    ) -> Self {
        let mut parts = Self { header: None, data: None, fault: None };
        let Some(chunk) = file.chunk_at(entry.number()) else { return parts };
        if matches!(headers.turn(entry.number()), Turn::Read) {
            parts.header = Some(chunk.header().map(|header| hex(&Sha256::digest(header))));
        }
        if matches!(contents.turn(entry.number()), Turn::Read) {
            let mut data = Sha256::new();
            let read = decoder.read(chunk, |piece| data.update(piece));
            parts.data = Some(read.map(|()| hex(&data.finalize())));
        }
        parts
    }

    fn digest(part: &Option<Result<String, Error>>) -> Option<String> {
        part.as_ref()?.as_ref().ok().cloned()
    }

    fn error(&self) -> Option<Error> {
        let of = |part: &Option<Result<String, Error>>| part.as_ref()?.as_ref().err().copied();
        self.fault.or(of(&self.header)).or(of(&self.data))
    }

    fn json(&self, entry: Entry<'_>, index: u64, digest: bool) -> Value {
        let mut object = Map::new();
        object.insert("kind".into(), "entry".into());
        object.insert("entry".into(), entry.number().into());
        object.insert("id".into(), entry.identifier().text().ok().into());
        object.insert("id_hex".into(), hex(entry.identifier_bytes()).into());
        object.insert("index".into(), index.into());
        object.insert("version".into(), entry.version().into());
        object.insert("compression".into(), entry.compression().number().into());
        object.insert("header_offset".into(), entry.header_offset().into());
        object.insert("header_size".into(), entry.header_size().into());
        object.insert("data_offset".into(), entry.data_offset().into());
        object.insert("stored_size".into(), entry.stored_size().into());
        object.insert("data_size".into(), entry.data_size().into());
        if digest {
            object.insert("header_sha256".into(), Self::digest(&self.header).into());
            object.insert("data_sha256".into(), Self::digest(&self.data).into());
        }
        if let Some(error) = self.error() {
            object.insert("error".into(), error.to_string().into());
        }
        object.into()
    }
}

/// An identifier for people.
fn name(id: Identifier) -> String {
    match id.text() {
        Ok("") => "(empty)".to_owned(),
        Ok(text) => printable(text),
        Err(_) => id.to_string(),
    }
}
