//! CTF traces: metadata and data streams.

mod apart;
mod cat;
mod check;
mod events;
mod files;
mod follow;
mod gaps;
mod hex;
mod info;
mod ls;
mod merge;
mod parts;
mod place;
mod programs;
mod redact;
mod rewrite;
#[cfg(feature = "tables")]
mod tables;
#[cfg(feature = "view")]
mod view;
mod window;
mod wire;

use crate::input::Mapped;
use crate::output::{Out, counted, shown};
use crate::progress::Progress;
use crate::states::Pairs;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{
    Cursor, Damage, DamageExt as _, Events, Fields, Findings, Info, Inquiry, Listing, NewTrace, Outcome,
    Parts, Private, Reading, Rewritten, Selection, Trace, Wanted, in_file,
};
use files::{Files, Found, Stream, marked_line};
pub use files::{compile, write_table};
#[cfg(not(target_family = "wasm"))]
pub use redact::private_metadata;
pub use rewrite::merge;
use std::path::Path;
use std::sync::OnceLock;
use traceglass::ctf::data::wire::{Capture, WireSlot};
use traceglass::ctf::data::{Losses, Packet, Packets, Programs};
use traceglass::ctf::metadata::{Language, MetadataStream, ParseOptions};
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::Window;
use traceglass::{Finding, Format, Severity};

struct Ctf<'a> {
    found: Found,
    reading: Reading,
    /// The bytes of a data stream that was named itself.
    named: Option<&'a Mapped>,
}

/// A trace with its schema.
struct Compiled<'c> {
    schema: Schema<'c, 'c>,
    files: &'c Files,
    reading: Reading,
    /// The captures among its files, as far as that was asked.
    captures: Vec<OnceLock<Option<Capture<Vec<WireSlot>>>>>,
}

impl Compiled<'_> {
    /// The packets of a file, if it is a capture.
    fn capture(&self, number: usize) -> Option<&Capture<Vec<WireSlot>>> {
        let stream = self.files.streams.get(number)?;
        let known = self.captures.get(number)?;
        known.get_or_init(|| wire::capture(stream, &self.schema, self.reading)).as_ref()
    }
}

/// A folder with a trace or several; `None` if there is none.
pub fn open_directory(path: &Path, reading: Reading) -> Result<Option<Box<dyn Trace>>, Unreadable> {
    let Some(found) = Found::below(path)? else { return Ok(None) };
    open(found, reading, None).map(Some)
}

/// A data stream, with the metadata beside it.
pub fn open_stream<'a>(
    mapped: &'a Mapped,
    path: &Path,
    reading: Reading,
) -> Result<Box<dyn Trace + 'a>, Unreadable> {
    open(Found::stream(path, mapped)?, reading, Some(mapped))
}

fn open(found: Found, reading: Reading, named: Option<&Mapped>) -> Result<Box<dyn Trace + '_>, Unreadable> {
    Ok(Box::new(parse(found, reading, named)?))
}

fn parse(found: Found, reading: Reading, named: Option<&Mapped>) -> Result<Ctf<'_>, Unreadable> {
    let ctf = Ctf { found, reading, named };
    // Metadata that describes nothing makes all data unreadable.
    ctf.with(|_, _| Ok(())).map_err(|failure| match failure {
        Failure::Unreadable(unreadable) => unreadable,
        other => Unreadable::new(other.to_string()),
    })?;
    Ok(ctf)
}

impl Ctf<'_> {
    /// The way its metadata is read.
    fn options(&self) -> ParseOptions {
        if self.reading.lenient { ParseOptions::LENIENT } else { ParseOptions::STRICT }
    }

    /// Compiles all metadata, and hands out the traces, and what is wrong with the others and with files. It is an error
    /// if there is none that can be read.
    fn with<T>(&self, read: impl FnOnce(&[Compiled<'_>], Vec<String>) -> Result<T>) -> Result<T> {
        let mut storage: Vec<Vec<Node>> = self.found.traces.iter().map(|_| Vec::new()).collect();
        let mut traces = Vec::new();
        let found = self.found.problems.iter();
        let mut problems: Vec<String> = found.map(|(path, message)| in_file(Some(path), message)).collect();
        let mut first = None;
        for (files, nodes) in self.found.traces.iter().zip(&mut storage) {
            let metadata = files.parse(self.options());
            match metadata.and_then(|metadata| compile(&metadata, nodes)) {
                Ok(schema) => {
                    let path = Some(&*files.metadata_path);
                    problems.extend(wrong_in(metadata).into_iter().map(|error| in_file(path, error)));
                    let captures = files.streams.iter().map(|_| OnceLock::new()).collect();
                    traces.push(Compiled { schema, files, reading: self.reading, captures });
                }
                Err(error) => {
                    let line = metadata.ok().and_then(|metadata| marked_line(&metadata, &error));
                    let path = shown(&files.metadata_path);
                    let streams = match files.streams.len() {
                        0 => String::new(),
                        count => format!("; {} cannot be read", counted(count as u64, "stream", "streams")),
                    };
                    problems.push(format!("{path}: {error}{streams}"));
                    let message = format!("{path}: {error}{}", line.unwrap_or_default());
                    let format = Some(if self.is_tsdl() { Format::Ctf1 } else { Format::Ctf2 });
                    first.get_or_insert(Unreadable { format, error: Some(error), message });
                }
            }
        }
        match first {
            Some(unreadable) if traces.is_empty() => Err(unreadable.into()),
            _ => read(&traces, problems),
        }
    }

    fn is_tsdl(&self) -> bool {
        self.found.traces.first().is_some_and(|files| {
            files.parse(self.options()).is_ok_and(|stream| stream.language() == Language::Tsdl)
        })
    }

    /// The metadata of each trace, read as a file of its own.
    fn metadata(&self, mut read: impl FnMut(&dyn Trace) -> Result<Status>) -> Result<Status> {
        let mut worst = Status::Clean;
        for files in &self.found.traces {
            let lenient = self.reading.lenient;
            worst = worst.max(read(&super::parse_text(files.metadata.data(), lenient)?)?);
        }
        Ok(worst)
    }
}

/// The first few errors in metadata all of whose classes could be read nevertheless.
fn wrong_in(metadata: traceglass::Result<MetadataStream<'_>>) -> Vec<traceglass::Error> {
    const SHOWN: usize = 12;
    let mut errors = Vec::new();
    let Ok(metadata) = metadata else { return errors };
    let checked = metadata.check(&mut |finding| {
        if finding.severity() == Severity::Error && errors.len() < SHOWN {
            errors.push(finding.cause());
        }
    });
    errors.extend(checked.err());
    errors
}

/// The facts that the packets of a stream tell, and their records if they are counted.
#[derive(Default)]
struct Scan {
    packets: u64,
    records: Option<u64>,
    discarded: Option<u64>,
    lost_packets: u64,
    class: Option<u64>,
    id: Option<u64>,
    cpu: Option<u64>,
    clock: Option<String>,
    is_unix: bool,
    begin: Option<i128>,
    end: Option<i128>,
    damage: Damage,
}

impl Scan {
    /// Reads a stream: its packets, and each record if they are to be counted.
    fn read(
        stream: &Stream,
        packets: Packets<'_, '_>,
        counts: bool,
        progress: &Progress,
        mut record: impl FnMut(&traceglass::ctf::data::Record<'_, '_, '_>),
    ) -> Self {
        let mut scan = Self { records: counts.then_some(0), ..Self::default() };
        let mut losses = Losses::default();
        for packet in packets {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    scan.damage.add_in(Some(&stream.path), error);
                    break;
                }
            };
            scan.packets += 1;
            let loss = losses.observe(&packet);
            scan.lost_packets += loss.packets().unwrap_or(0);
            if let Some(records) = loss.records() {
                *scan.discarded.get_or_insert(0) += records;
            }
            scan.class = scan.class.or(Some(packet.stream_class().id()));
            scan.id = scan.id.or(packet.stream_id());
            scan.cpu = scan.cpu.or_else(|| packet.cpu());
            let clock = packet.stream_class().clock();
            scan.is_unix |= clock.is_some_and(|clock| clock.is_unix());
            if scan.clock.is_none() {
                scan.clock = clock.and_then(|clock| clock.name()).map(|name| name.to_string());
            }
            let mut meet = |time: Option<i128>| {
                if let Some(time) = time {
                    scan.begin = Some(scan.begin.map_or(time, |begin| begin.min(time)));
                    scan.end = Some(scan.end.map_or(time, |end| end.max(time)));
                }
            };
            let (begin, end) = span(&packet);
            meet(begin);
            meet(end);
            progress.advance(packet.end_offset().saturating_sub(packet.offset()));
            if !counts {
                continue;
            }
            for found in packet.records() {
                match found {
                    Ok(found) => {
                        *scan.records.get_or_insert(0) += 1;
                        meet(found.nanoseconds());
                        record(&found);
                    }
                    Err(error) => scan.damage.add_in(Some(&stream.path), error),
                }
            }
        }
        scan
    }
}

/// The period of a packet in nanoseconds, where it says it.
fn span(packet: &Packet<'_, '_>) -> (Option<i128>, Option<i128>) {
    let clock = packet.stream_class().clock();
    let nanoseconds = |cycles: Option<u64>| Some(clock?.nanoseconds(cycles?));
    let (begin, end) = packet.period();
    (nanoseconds(begin), nanoseconds(end))
}

impl Trace for Ctf<'_> {
    fn format(&self) -> Format {
        if self.is_tsdl() { Format::Ctf1 } else { Format::Ctf2 }
    }

    #[cfg(feature = "view")]
    fn browse(&self, _path: &Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self, look)
    }

    fn bytes(&self) -> u64 {
        self.found.bytes()
    }

    fn events_in(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, None, events)
    }

    fn states_in(&self, window: Window, pairs: &Pairs, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, Some(pairs), events)
    }

    fn time_before(&self, time: i128, bytes: u64) -> Option<i128> {
        self.with(|traces, _| Ok(window::begin_of_packets(traces, time, bytes))).ok().flatten()
    }

    fn bounds(&self, window: &crate::trace::Window) -> Result<crate::trace::Bounds> {
        self.with(|traces, _| window::range(traces, window))
    }

    #[cfg(feature = "tables")]
    fn tables(
        &self,
        _name: &str,
        pairs: &crate::states::Pairs,
        read: &mut crate::trace::ReadTables<'_>,
    ) -> Result<()> {
        self.lend_streams(pairs, read)
    }

    fn is_written_as_folder(&self) -> bool {
        true
    }

    #[cfg(not(target_family = "wasm"))]
    fn private(&self, private: &mut Private<'_>) -> Result<()> {
        self.tell_private(private)
    }

    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        self.with(|traces, problems| rewrite::write(self, traces, problems, wanted, to))
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        self.extract_streams(parts)
    }

    fn info(&self, args: &Inquiry) -> Result<Info> {
        self.with(|traces, problems| Ok(info::info(self, traces, problems.into_iter().collect(), args)))
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        args.refuse_sha256("streams are files of their own: `sha256sum` hashes them")?;
        if args.ctf.fragments {
            args.window.refuse("metadata has no time")?;
            return self.metadata(|trace| trace.ls(args, out));
        }
        self.with(|traces, problems| ls::ls(self, traces, problems.into_iter().collect(), args, out))
    }

    fn cat(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        if args.ctf.metadata {
            return self.metadata(|trace| trace.cat(args, cursor, out));
        }
        self.with(|traces, problems| cat::cat(traces, problems, args, cursor, out))
    }

    #[cfg(not(target_family = "wasm"))]
    fn compile(&self) -> Result<Vec<u8>> {
        self.with(|traces, _| match traces {
            [trace] => write_table(&trace.schema),
            _ => {
                let traces = counted(traces.len() as u64, "trace", "traces");
                Err(Failure::usage(format!(
                    "{traces} are in this folder, and a table has one: name its folder"
                )))
            }
        })
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        for (path, message) in &self.found.problems {
            findings.unreadable(Some(path), message);
        }
        for files in &self.found.traces {
            let path = files.metadata_path.as_path();
            let mut nodes = Vec::new();
            let checked = files.parse(self.options()).and_then(|stream| {
                stream.check(&mut |finding| findings.report_in(Some(path), finding))?;
                compile(&stream, &mut nodes).map(|_| ())
            });
            if let Err(error) = checked {
                findings.report_in(Some(path), Finding::new(Severity::Error, error));
            }
        }
        let progress = Progress::new(self.found.bytes());
        self.with(|traces, _| {
            let mut room = programs::room(traces);
            let programs = programs::compile(traces, &mut room)?;
            for (_, stream, capture) in wire::captures(traces) {
                wire::check(stream, capture, findings);
                progress.advance(stream.data.data().len() as u64);
            }
            for lane in wire::lanes(traces) {
                let steps = programs.get(lane.trace).copied().unwrap_or(Programs::NONE);
                check::check(&lane, steps, findings)?;
                let anew = findings.hashed_parts(Some(&lane.stream.path));
                if let Some(digest) = findings.digest() {
                    let data = lane.stream.data.data();
                    // What cannot be read was told.
                    for packet in lane.packets().flatten() {
                        // The parts are in the order of their places.
                        let part = anew.partition_point(|part| part.end <= packet.offset());
                        match anew.get(part).is_some_and(|part| part.contains(&packet.offset())) {
                            true => rewrite::hash_records(&packet, |_| true, digest),
                            false => rewrite::hash(&packet, data, None, digest),
                        }
                    }
                }
                if lane.session.is_none() {
                    progress.advance(lane.stream.data.data().len() as u64);
                }
            }
            if let Some(message) = wire::skipped(self.reading) {
                findings.tell(None, Severity::Error, 0, "skipped", &message);
            }
            Ok(findings.status())
        })
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let Some(named) = self.named else {
            return Err(Failure::unreadable("a directory; name one of the files in it"));
        };
        self.with(|traces, _| match traces.first() {
            Some(trace) => match trace.capture(0) {
                Some(capture) => hex::capture(named.data(), &trace.schema, &wire::in_order(capture), fields),
                None => hex::hex(named.data(), &trace.schema, fields),
            },
            None => Ok(Status::Clean),
        })
    }
}
