//! CTF 2 metadata for each verb.

mod extract;
mod fragment;
mod ls;
mod summary;
mod trace;
#[cfg(feature = "view")]
mod view;

use crate::output::{Out, bytes, grouped, percent};
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{
    Cursor, Damage, DamageExt as _, Field, Fields, Findings, Info, Inquiry, Listing, NewTrace, Outcome,
    Parts, Private, Rewritten, Selection, Trace, Wanted,
};
use fragment::kind;
#[cfg(feature = "view")]
use fragment::label;
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::Path;
use summary::Summary;
pub use trace::{merge, open_directory, open_stream};
use traceglass::ctf::metadata::{
    ByteOrder, Form, Fragment, Language, MetadataStream, Packet, PacketHeader, ParseOptions,
};
use traceglass::{Error, Finding, Format, Severity};

struct Ctf2<'a> {
    data: &'a [u8],
    stream: MetadataStream<'a>,
    /// The stream up to where it cannot be read, and from each packet on that is found after such a place.
    segments: Vec<MetadataStream<'a>>,
}

/// A metadata stream.
pub fn open(data: &[u8], lenient: bool) -> Result<Box<dyn Trace + '_>, Unreadable> {
    Ok(Box::new(parse(data, lenient)?))
}

fn parse(data: &[u8], lenient: bool) -> Result<Ctf2<'_>, Unreadable> {
    parse_with(data, lenient, |options| MetadataStream::parse_with(data, options))
}

/// A file that is called `metadata`: it may be TSDL without the signature.
fn parse_text(data: &[u8], lenient: bool) -> Result<Ctf2<'_>, Unreadable> {
    parse_with(data, lenient, |options| MetadataStream::parse_text_with(data, options))
}

fn parse_with<'a>(
    data: &'a [u8],
    lenient: bool,
    parse: impl Fn(ParseOptions) -> traceglass::Result<MetadataStream<'a>>,
) -> Result<Ctf2<'a>, Unreadable> {
    let refuse = |error: Error| {
        let mut message = error.to_string();
        if !lenient
            && MetadataStream::parse_with(data, ParseOptions::LENIENT).is_ok()
            && MetadataStream::parse(data).is_err()
        {
            message.push_str(
                "; it looks like a header of 37 bytes, which is that of version 1.8: --lenient reads it",
            );
        }
        Unreadable { format: Some(Format::Ctf2), error: Some(error), message }
    };
    let leniency = if lenient { ParseOptions::LENIENT } else { ParseOptions::STRICT };
    let stream = parse(leniency).map_err(refuse)?;
    let mut segments = Vec::new();
    let mut next = Some(stream);
    while let Some(segment) = next {
        let mut packets = segment.packets();
        let is_damaged = packets.any(|packet| packet.is_err());
        let gap = if is_damaged { packets.recover() } else { None };
        next = gap.and_then(|gap| stream.resumed_at(gap.end()));
        // A size that is wrong, and not just cut, would swallow the packets after it.
        segments.push(if is_damaged && next.is_none() { segment.with_cut_content() } else { segment });
    }
    let first = segments.iter().flat_map(MetadataStream::packets).next();
    match first {
        // Without the first packet, all of the text is lost.
        Some(Err(error)) => return Err(refuse(error)),
        Some(Ok(packet)) if packet.content().is_empty() => packet.check_content().map_err(refuse)?,
        _ => {}
    }
    Ok(Ctf2 { data, stream, segments })
}

impl Ctf2<'_> {
    /// Everything that cannot be delivered.
    fn errors(&self) -> Vec<Error> {
        let mut errors = Vec::new();
        for segment in &self.segments {
            let checked = segment.check(&mut |finding| {
                if finding.severity() == Severity::Error {
                    errors.push(finding.cause());
                }
            });
            errors.extend(checked.err());
        }
        errors
    }

    /// The errors, and what follows the packet that cannot be read.
    fn damage(&self, errors: &[Error]) -> Damage {
        let mut damage: Damage = errors.iter().map(Error::to_string).collect();
        for (number, segment) in self.segments.iter().enumerate().take(Damage::KEPT) {
            let mut packets = segment.packets();
            if !packets.any(|packet| packet.is_err()) {
                continue;
            }
            let lost = packets.offset();
            let next = self.segments.get(number + 1).and_then(MetadataStream::first_header);
            let end = next.map_or(self.data.len() as u64, PacketHeader::offset);
            damage.add(format!("{} from {lost:#x} are lost", bytes(end - lost)));
        }
        damage
    }

    fn status(&self) -> Status {
        Status::damaged_if(!self.errors().is_empty())
    }

    /// Warns of what could not be delivered.
    fn tell(&self, path: &Path, out: &mut Out) -> Status {
        let errors = self.errors();
        self.damage(&errors).tell(path, out)
    }

    /// The fragments that can be read, from 0. The rest, after damage, of one that began before it is not one.
    fn fragments(&self) -> impl Iterator<Item = (usize, Fragment<'_>)> {
        self.segments
            .iter()
            .enumerate()
            .flat_map(|(number, segment)| {
                let fragments = segment.fragments().map_while(Result::ok);
                fragments.filter(move |fragment| number == 0 || fragment.is_separated())
            })
            .enumerate()
    }

    /// The packets that can be read.
    fn packets(&self) -> impl Iterator<Item = Packet<'_>> {
        self.segments.iter().flat_map(|segment| segment.packets().map_while(Result::ok))
    }

    /// The pieces of the text that can be read.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.segments.iter().flat_map(|segment| segment.pieces().map_while(Result::ok))
    }

    /// The size of the text that can be read.
    fn text_bytes(&self) -> u64 {
        self.pieces().map(|piece| piece.len() as u64).sum()
    }

    fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for (_, fragment) in self.fragments() {
            summary.add(fragment);
        }
        let mut nodes = Vec::new();
        if self.stream.language() == Language::Tsdl
            && let Ok(schema) = trace::compile(&self.stream, &mut nodes)
        {
            summary.environment = schema.environment().map(summary::variable).collect();
        }
        summary
    }

    /// The fields about the text's wrapping.
    fn form_fields(&self) -> Map<String, Value> {
        let first = self.stream.first_header();
        let (form, order) = match self.stream.form() {
            Form::Plain => ("plain", None),
            Form::Packets(ByteOrder::Little) => ("packetized", Some("le")),
            Form::Packets(ByteOrder::Big) => ("packetized", Some("be")),
        };
        let mut fields = Map::new();
        fields.insert("form".into(), form.into());
        fields.insert("major".into(), first.map(PacketHeader::major).into());
        fields.insert("minor".into(), first.map(PacketHeader::minor).into());
        fields.insert("byte_order".into(), order.into());
        fields
    }
}

impl Trace for Ctf2<'_> {
    fn format(&self) -> Format {
        match self.stream.language() {
            Language::Tsdl => Format::Ctf1,
            _ => Format::Ctf2,
        }
    }

    #[cfg(feature = "view")]
    fn browse(&self, path: &Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self, path, look);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    fn is_written_as_folder(&self) -> bool {
        true
    }

    /// A trace without streams has nothing to be chosen.
    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        wanted.refuse_others(self.format(), &[])?;
        let mut done = Rewritten::of("packets");
        done.carried = self.errors().len() as u64;
        to.file(Path::new("metadata"))?;
        to.put(self.data)?;
        Ok(done)
    }

    #[cfg(not(target_family = "wasm"))]
    fn private(&self, private: &mut Private<'_>) -> Result<()> {
        let mut nodes = Vec::new();
        match trace::compile(&self.stream, &mut nodes) {
            Ok(schema) => {
                trace::private_metadata(&schema, self.stream.fragments(), Path::new("metadata"), private)
            }
            Err(error) => private.refuse(format!("the metadata cannot be compiled: {error}")),
        }
        Ok(())
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        self.extract_packets(parts)
    }

    #[cfg(not(target_family = "wasm"))]
    fn compile(&self) -> Result<Vec<u8>> {
        let mut nodes = Vec::new();
        let schema = trace::compile(&self.stream, &mut nodes)
            .map_err(|error| Failure::content(self.format(), error))?;
        trace::write_table(&schema)
    }

    fn info(&self, _args: &Inquiry) -> Result<Info> {
        let text = self.text_bytes();
        let (mut packets, mut padding) = (0_u64, 0_u64);
        for packet in self.packets() {
            packets += 1;
            padding += u64::from(packet.header().padding_bytes());
        }
        let summary = self.summary();
        let errors = self.errors();
        let first = self.stream.first_header();
        let language = match self.stream.language() {
            Language::Tsdl => "tsdl",
            _ => "json",
        };

        let mut fields = self.form_fields();
        fields.insert("uuid".into(), self.stream.uuid().map(|uuid| uuid.to_string()).into());
        fields.insert("packets".into(), packets.into());
        fields.insert("content_bytes".into(), text.into());
        fields.insert("padding_bytes".into(), padding.into());
        fields.insert("language".into(), language.into());
        fields.insert("fragments".into(), summary.count.into());
        fields.insert("fragments_by_kind".into(), summary.by_kind.clone().into());
        fields.insert("ctf_version".into(), summary.version.into());
        fields.insert("trace_uuid".into(), summary.uuid.clone().into());
        fields.insert("trace_name".into(), summary.trace_name.clone().into());
        fields.insert("environment".into(), summary.environment.clone().into());
        fields.insert("clocks".into(), summary.clocks.clone().into());

        let mut lines = Vec::new();
        if let Some(header) = first {
            let header_bytes = header.header_bytes();
            let is_little = self.stream.form() == Form::Packets(ByteOrder::Little);
            let order = if is_little { "little" } else { "big" };
            lines.push(("packets", format!("{}, {order}-endian", grouped(packets))));
            lines.push((
                "headers",
                format!("{} each, version {}.{}", bytes(header_bytes.into()), header.major(), header.minor()),
            ));
            lines.push((
                "padding",
                format!("{}, {} of the file", bytes(padding), percent(padding, self.data.len() as u64)),
            ));
            lines.push(("stream", header.uuid().to_string()));
        }
        lines.push(("text", bytes(text)));
        if language == "tsdl" {
            let signed = if self.stream.has_tsdl_signature() { "with" } else { "without" };
            lines.push(("language", format!("TSDL, {signed} its signature")));
        }
        lines.extend(summary.lines());
        Ok(Info {
            bytes: self.data.len() as u64,
            status: Status::damaged_if(!errors.is_empty()),
            fields,
            title: match (self.stream.form(), language) {
                (Form::Plain, "tsdl") => "CTF 1.8 metadata, plain text".into(),
                (Form::Plain, _) => "CTF 2 metadata, plain JSON text sequence".into(),
                (_, "tsdl") => "CTF 1.8 metadata in packets".into(),
                _ => "CTF 2 metadata in packets".into(),
            },
            lines,
            tables: Vec::new(),
            damage: self.damage(&errors),
            complete: true,
        })
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        self.list(args, out)
    }

    fn cat(&self, args: &Selection, _: &mut Cursor, out: &mut Out) -> Result<Status> {
        args.window.refuse("metadata has no time")?;
        if !args.select.name.is_empty() || args.select.stream.is_some() || !args.select.cpu.is_empty() {
            return Err(Failure::usage(
                "--name, --stream and --cpu: metadata without its trace has no records",
            ));
        }
        args.refuse_follow("of CTF, traces with data streams can be followed, not their metadata")?;
        if !args.json {
            out.content(self.pieces())?;
            return Ok(self.tell(&args.path, out));
        }
        if self.stream.language() == Language::Tsdl {
            out.warn(&args.path, "TSDL text has no JSON fragments; without --json it is printed as it is");
        }
        let mut line = Vec::new();
        for (number, fragment) in self.fragments() {
            if let Err(error) = fragment.check() {
                out.warn(&args.path, format_args!("fragment {number} is left out: {error}"));
                continue;
            }
            line.clear();
            crate::json::minify(fragment.text().pieces().flatten().copied(), &mut line);
            line.push(b'\n');
            out.json_text(&line)?;
        }
        Ok(self.tell(&args.path, out))
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        for segment in &self.segments {
            if let Err(error) = segment.check(&mut |finding| findings.report(finding)) {
                findings.report(Finding::new(Severity::Error, error));
            }
        }
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let shown = fields.range();
        let mut parts = Vec::new();
        let mut contents: Vec<Range<u64>> = Vec::new();
        for (number, packet) in self.packets().enumerate() {
            let header = packet.header();
            let end = header.offset().saturating_add(header.total_bytes().into());
            if header.offset() >= shown.end {
                break;
            }
            if end > shown.start {
                let content =
                    packet.content_offset()..packet.content_offset() + packet.content().len() as u64;
                header_fields(number, header, &mut parts);
                let padding = packet.padding().len() as u64;
                parts.push(Field::new(content.end, padding, format!("packet {number} padding"), ""));
                contents.push(content);
            }
        }
        if self.stream.form() == Form::Plain {
            contents.push(0..self.data.len() as u64);
        }
        match self.stream.language() {
            Language::Tsdl => {
                parts.extend(
                    contents.iter().map(|part| Field::new(part.start, part.end - part.start, "TSDL", "")),
                );
            }
            _ => self.fragment_fields(&shown, &contents, &mut parts),
        }
        parts.sort_by_key(|field| field.offset);
        parts.extend(separators(&contents, &parts));
        parts.sort_by_key(|field| field.offset);
        for field in parts.iter().filter(|field| field.len > 0) {
            fields.field(field)?;
        }
        Ok(self.status())
    }
}

impl Ctf2<'_> {
    /// The pieces of fragments in the range to be shown, each with the 0x1E before it.
    fn fragment_fields(&self, shown: &Range<u64>, contents: &[Range<u64>], parts: &mut Vec<Field>) {
        for (number, fragment) in self.fragments() {
            // The 0x1E lies before the text.
            if fragment.offset() > shown.end {
                break;
            }
            let mut pieces = fragment.text().pieces();
            let mut first = true;
            loop {
                let start = pieces.offset();
                let Some(piece) = pieces.next() else { break };
                let end = start + piece.len() as u64;
                let name = format!("fragment {number}");
                if start <= shown.end && end > shown.start {
                    let at = |place: u64| contents.partition_point(|part| part.end <= place);
                    let separated = first
                        && start > 0
                        && self.data.get(start as usize - 1) == Some(&0x1e)
                        && contents.get(at(start - 1)).is_some_and(|part| part.contains(&(start - 1)));
                    let begin = if separated { start - 1 } else { start };
                    let value = if first { kind(&fragment) } else { "continues".into() };
                    parts.push(Field::new(begin, end - begin, name, value));
                }
                first = false;
            }
        }
    }
}

/// Bytes of the contents that are in no fragment: 0x1E that are repeated, or that end a packet. `parts` are in order.
fn separators(contents: &[Range<u64>], parts: &[Field]) -> Vec<Field> {
    let mut gaps = Vec::new();
    for content in contents {
        let mut next = content.start;
        let first = parts.partition_point(|part| part.offset < content.start);
        let inside = parts[first..].iter().take_while(|part| part.offset < content.end);
        for part in inside
            .map(|part| part.offset..part.offset + part.len)
            .chain(std::iter::once(content.end..content.end))
        {
            if part.start > next {
                gaps.push(Field::new(next, part.start - next, "separator", ""));
            }
            next = next.max(part.end);
        }
    }
    gaps
}

/// The header's fields, as they lie in the file.
fn header_fields(number: usize, header: &PacketHeader, parts: &mut Vec<Field>) {
    parts.extend(header.fields().map(|field| {
        Field::new(field.offset(), field.size(), format!("packet {number} {}", field.name()), field.value())
    }));
}
