//! Files with RDF's extensions that are not RDF: those that RADV writes, a header and a list of chunks.

use crate::output::{Out, add, bytes, counted, grouped, hex};
use crate::status::{Failure, Result, Status};
use crate::table::{Table, left, right};
use crate::trace::{
    Cursor, Damage, Field, Fields, Findings, Info, Inquiry, Listing, Outcome, Part, Parts, Selection, Trace,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use traceglass::rdf::contents::neighbors::{ChunkFile, Kind, NeighborChunk};
use traceglass::{Error, Finding, Format, Severity};

struct Neighbor<'a> {
    data: &'a [u8],
    file: ChunkFile<'a>,
}

/// A file of RADV's; `None` if it is something else.
pub fn open(data: &[u8]) -> Option<Box<dyn Trace + '_>> {
    let file = ChunkFile::parse(data).ok()?;
    Some(Box::new(Neighbor { data, file }))
}

impl<'a> Neighbor<'a> {
    /// The chunks, and what ends the list before the file does.
    fn chunks(&self) -> (Vec<NeighborChunk<'a>>, Option<Error>) {
        let mut chunks = Vec::new();
        for chunk in self.file.chunks() {
            match chunk {
                Ok(chunk) => chunks.push(chunk),
                Err(error) => return (chunks, Some(error)),
            }
        }
        (chunks, None)
    }
}

/// The name of a chunk's type, or its number.
fn type_of(chunk: &NeighborChunk<'_>) -> String {
    chunk.type_name().map_or_else(|| format!("type {}", chunk.header().chunk_type()), str::to_owned)
}

impl Trace for Neighbor<'_> {
    fn format(&self) -> Format {
        Format::Rdf
    }

    fn format_name(&self) -> &'static str {
        self.file.kind().name()
    }

    fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let (chunks, error) = self.chunks();
        for (number, chunk) in (0..).zip(&chunks) {
            let (name, offset) = (type_of(chunk), Some(chunk.offset()));
            let part = Part { kind: "chunk", name: Some(&name), number, offset, ..Part::default() };
            parts.whole(&part, chunk.content())?;
        }
        Ok(error.iter().map(ToString::to_string).collect::<Damage>().into())
    }

    fn info(&self, _: &Inquiry) -> Result<Info> {
        let header = self.file.header();
        let (chunks, error) = self.chunks();
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        chunks.iter().for_each(|chunk| add(kinds.entry(type_of(chunk)).or_default(), 1));
        // Local time, without a zone.
        let made = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            i64::from(header.year()).saturating_add(1900),
            i64::from(header.month()).saturating_add(1),
            header.day(),
            header.hour(),
            header.minute(),
            header.second()
        );
        let mut fields = Map::new();
        fields.insert("major".into(), header.major().into());
        fields.insert("minor".into(), header.minor().into());
        fields.insert("made_local".into(), made.as_str().into());
        fields.insert("chunks".into(), chunks.len().into());
        let by_type = kinds.iter().map(|(name, &count)| (name.clone(), count.into()));
        fields.insert("chunks_by_id".into(), by_type.collect::<Map<String, Value>>().into());
        let mut lines = vec![("made", format!("{made}, local time"))];
        let adapter =
            chunks.iter().find_map(NeighborChunk::adapter).map(|adapter| adapter.name().to_string());
        if let Some(adapter) = adapter.filter(|name| !name.is_empty()) {
            fields.insert("gpus".into(), serde_json::json!([{"name": adapter}]));
            lines.push(("GPU", adapter));
        }
        lines.push(("chunks", grouped(chunks.len() as u64)));
        for (number, (name, count)) in kinds.iter().enumerate() {
            let times = if *count == 1 { String::new() } else { format!(" ×{}", grouped(*count)) };
            lines.push((if number == 0 { "identifiers" } else { "" }, format!("{name}{times}")));
        }
        let (what, by) = match self.file.kind() {
            Kind::Rmt => ("RMT, Radeon Memory Trace", "MINI"),
            _ => ("SQTT, Radeon GPU profile", "B00P"),
        };
        Ok(Info {
            bytes: self.bytes(),
            status: Status::damaged_if(error.is_some()),
            fields,
            title: format!(
                "{what} ({by}), version {}.{}: no RDF, its chunks are listed",
                header.major(),
                header.minor()
            ),
            lines,
            tables: Vec::new(),
            damage: error.iter().map(ToString::to_string).collect(),
            complete: true,
        })
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.window.refuse("the list of chunks has no times")?;
        let (chunks, error) = self.chunks();
        let mut columns = vec![
            right("entry"),
            left("type"),
            right("n"),
            left("version").spare(1),
            right("offset").spare(2),
            right("bytes"),
        ];
        if args.sha256 {
            columns.push(left("sha256"));
        }
        let mut table = Table::new(&columns);
        for (number, chunk) in chunks.iter().enumerate() {
            let header = chunk.header();
            let digest = args.sha256.then(|| hex(&Sha256::digest(chunk.content())));
            if args.json {
                let mut object = Map::new();
                object.insert("kind".into(), "entry".into());
                object.insert("entry".into(), number.into());
                object.insert("id".into(), chunk.type_name().into());
                object.insert("type".into(), header.chunk_type().into());
                object.insert("index".into(), header.index().into());
                object.insert("version".into(), format!("{}.{}", header.major(), header.minor()).into());
                object.insert("offset".into(), chunk.offset().into());
                object.insert("data_size".into(), chunk.content().len().into());
                if let Some(digest) = digest {
                    object.insert("data_sha256".into(), digest.into());
                }
                out.json(&object.into())?;
                continue;
            }
            let mut cells = vec![
                number.to_string(),
                type_of(chunk),
                header.index().to_string(),
                format!("{}.{}", header.major(), header.minor()),
                format!("{:#x}", chunk.offset()),
                grouped(chunk.content().len() as u64),
            ];
            cells.extend(digest);
            table.row(out, cells)?;
        }
        if !args.json {
            table.finish(out)?;
            let chunks = counted(chunks.len() as u64, "chunk", "chunks");
            out.wrapped("", format_args!("{chunks}, {}", bytes(self.bytes())))?;
        }
        if let Some(error) = error {
            out.warn(&args.path, error);
        }
        Ok(Status::damaged_if(error.is_some()))
    }

    fn cat(&self, args: &Selection, _: &mut Cursor, out: &mut Out) -> Result<Status> {
        args.refuse_follow("such a file is written at once")?;
        args.window.refuse("the list of chunks has no times")?;
        if args.json || args.rdf.records || args.rdf.header || args.rdf.stored {
            return Err(Failure::usage("of this format no records are read, only the bytes of a chunk"));
        }
        let (chunks, error) = self.chunks();
        let found = match (&args.rdf.chunk, args.rdf.entry) {
            (Some(id), _) => {
                let index = args.rdf.index.unwrap_or(0);
                chunks.iter().filter(|chunk| type_of(chunk) == *id).nth(index)
            }
            (None, Some(entry)) => chunks.get(entry),
            (None, None) => {
                return Err(Failure::usage(
                    "of this format no records are read, only the bytes of a chunk: --chunk or --entry; \
                     `traceglass ls` lists them",
                ));
            }
        };
        let missing = || Failure::unreadable("no such chunk; `traceglass ls` lists what there is");
        out.raw(found.ok_or_else(missing)?.content())?;
        if let Some(error) = error {
            out.warn(&args.path, error);
        }
        Ok(Status::damaged_if(error.is_some()))
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        if let (_, Some(error)) = self.chunks() {
            findings.report(Finding::new(Severity::Error, error));
        }
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let shown = fields.range();
        let (chunks, error) = self.chunks();
        let first = chunks.first().map_or(56, NeighborChunk::offset);
        fields.field(&Field::new(0, first, "file header", self.file.kind().name()))?;
        for (number, chunk) in chunks.iter().enumerate() {
            if chunk.offset() >= shown.end {
                break;
            }
            let header = format!("chunk {number} header");
            fields.field(&Field::new(chunk.offset(), 16, header, type_of(chunk)))?;
            let len = chunk.content().len() as u64;
            fields.field(&Field::new(
                chunk.offset().saturating_add(16),
                len,
                format!("chunk {number} data"),
                type_of(chunk),
            ))?;
        }
        Ok(Status::damaged_if(error.is_some()))
    }
}
