//! CTF traces: metadata and data streams.

mod cat;
mod events;
mod files;
mod hex;
mod info;
#[cfg(feature = "tables")]
mod tables;
mod time;
mod value;
#[cfg(feature = "view")]
mod view;

use crate::input::Mapped;
use crate::json::Line;
use crate::output::{Out, counted, grouped, shown};
use crate::status::{Failure, Result, Status, Unreadable};
use crate::table::{Table, left, right};
use crate::trace::{Events, Fields, Findings, Info, Listing, Outcome, Parts, Selection, Trace};
use files::{Found, Stream, compile, marked_line};
use std::path::Path;
use traceglass::ctf::data::{Losses, Packet, Packets, check};
use traceglass::ctf::metadata::{Language, ParseOptions};
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Finding, Format, Severity};

struct Ctf<'a> {
    found: Found,
    options: ParseOptions,
    /// The bytes of a data stream that was named itself.
    named: Option<&'a Mapped>,
}

/// A trace with its schema.
struct Compiled<'c> {
    schema: Schema<'c, 'c>,
    streams: &'c [Stream],
}

/// A folder with a trace or several; `None` if there is none.
pub fn open_directory(path: &Path, lenient: bool) -> Result<Option<Box<dyn Trace>>, Unreadable> {
    let Some(found) = Found::below(path)? else { return Ok(None) };
    open(found, lenient, None).map(Some)
}

/// A data stream, with the metadata beside it.
pub fn open_stream<'a>(
    mapped: &'a Mapped,
    path: &Path,
    lenient: bool,
) -> Result<Box<dyn Trace + 'a>, Unreadable> {
    open(Found::stream(path)?, lenient, Some(mapped))
}

/// Looks at the traces in a folder, or at a data stream that was named; false if there is no trace in the folder.
#[cfg(feature = "view")]
pub fn browse(
    path: &Path,
    stream: Option<&Mapped>,
    lenient: bool,
    look: &mut dyn FnMut(&dyn crate::trace::Browse),
) -> Result<bool, Unreadable> {
    let found = match stream {
        Some(_) => Found::stream(path)?,
        None => match Found::below(path)? {
            Some(found) => found,
            None => return Ok(false),
        },
    };
    view::browse(&parse(found, lenient, stream)?, look).map(|()| true)
}

fn open(found: Found, lenient: bool, named: Option<&Mapped>) -> Result<Box<dyn Trace + '_>, Unreadable> {
    Ok(Box::new(parse(found, lenient, named)?))
}

fn parse(found: Found, lenient: bool, named: Option<&Mapped>) -> Result<Ctf<'_>, Unreadable> {
    let options = if lenient { ParseOptions::LENIENT } else { ParseOptions::STRICT };
    let ctf = Ctf { found, options, named };
    // Metadata that describes nothing makes all data unreadable.
    ctf.with(|_| Ok(())).map_err(|failure| match failure {
        Failure::Unreadable(unreadable) => unreadable,
        other => Unreadable::new(other.to_string()),
    })?;
    Ok(ctf)
}

impl Ctf<'_> {
    /// Compiles all metadata, and hands out the traces.
    fn with<T>(&self, read: impl FnOnce(&[Compiled<'_>]) -> Result<T>) -> Result<T> {
        let mut storage: Vec<Vec<Node>> = self.found.traces.iter().map(|_| Vec::new()).collect();
        let mut traces = Vec::new();
        for (files, nodes) in self.found.traces.iter().zip(&mut storage) {
            let metadata = files.parse(self.options);
            let schema = metadata.and_then(|metadata| compile(&metadata, nodes)).map_err(|error| {
                let line = metadata.ok().and_then(|metadata| marked_line(&metadata, &error));
                let message = format!("{}: {error}{}", shown(&files.metadata_path), line.unwrap_or_default());
                Unreadable { format: Some(self.format()), error: Some(error), message }
            })?;
            traces.push(Compiled { schema, streams: &files.streams });
        }
        read(&traces)
    }

    fn problems(&self) -> Vec<String> {
        let problem = |(path, message): &(std::path::PathBuf, String)| format!("{}: {message}", shown(path));
        self.found.problems.iter().map(problem).collect()
    }

    fn is_tsdl(&self) -> bool {
        self.found.traces.first().is_some_and(|files| {
            files.parse(self.options).is_ok_and(|stream| stream.language() == Language::Tsdl)
        })
    }
}

/// What the packets of a stream say, and of their records if they are counted.
#[derive(Default)]
struct Scan {
    packets: u64,
    records: Option<u64>,
    discarded: Option<u64>,
    lost_packets: u64,
    class: Option<u64>,
    id: Option<u64>,
    is_unix: bool,
    begin: Option<i128>,
    end: Option<i128>,
    damage: Vec<String>,
}

impl Scan {
    /// Reads a stream: its packets, and each record if they are to be counted.
    fn read(
        stream: &Stream,
        schema: &Schema<'_, '_>,
        counts: bool,
        mut record: impl FnMut(&traceglass::ctf::data::Record<'_, '_, '_>),
        mut each: impl FnMut(&Packet<'_, '_>),
    ) -> Self {
        let mut scan = Self { records: counts.then_some(0), ..Self::default() };
        let mut losses = Losses::default();
        let place = |error| format!("{}: {error}", shown(&stream.path));
        for packet in Packets::new(stream.data.data(), schema) {
            let packet = match packet {
                Ok(packet) => packet,
                Err(error) => {
                    scan.damage.push(place(error));
                    break;
                }
            };
            each(&packet);
            scan.packets += 1;
            let loss = losses.observe(&packet);
            scan.lost_packets += loss.packets().unwrap_or(0);
            if let Some(records) = loss.records() {
                *scan.discarded.get_or_insert(0) += records;
            }
            scan.class = scan.class.or(Some(packet.stream_class().id()));
            scan.id = scan.id.or(packet.stream_id());
            let clock = packet.stream_class().clock();
            scan.is_unix |= clock.is_some_and(|clock| clock.is_unix());
            let nanoseconds = |cycles: Option<u64>| Some(clock?.nanoseconds(cycles?));
            let mut meet = |time: Option<i128>| {
                if let Some(time) = time {
                    scan.begin = Some(scan.begin.map_or(time, |begin| begin.min(time)));
                    scan.end = Some(scan.end.map_or(time, |end| end.max(time)));
                }
            };
            meet(nanoseconds(packet.begin()));
            meet(nanoseconds(packet.end()));
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
                    Err(error) => scan.damage.push(place(error)),
                }
            }
        }
        scan
    }
}

impl Trace for Ctf<'_> {
    fn format(&self) -> Format {
        if self.is_tsdl() { Format::Ctf1 } else { Format::Ctf2 }
    }

    fn bytes(&self) -> u64 {
        self.found.bytes()
    }

    fn events(&self, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(events)
    }

    #[cfg(feature = "tables")]
    fn tables(&self, _name: &str, read: &mut crate::trace::ReadTables<'_>) -> Result<()> {
        self.lend_streams(read)
    }

    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        self.extract_streams(parts)
    }

    fn info(&self) -> Result<Info> {
        self.with(|traces| Ok(info::info(self, traces)))
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        self.with(|traces| {
            let mut damage = self.problems();
            let mut line = Line::new();
            let mut table = Table::new(&[
                left("stream"),
                right("class"),
                right("packets"),
                right("records"),
                right("discarded"),
                left("begin"),
                right("length"),
            ]);
            let (mut count, mut records) = (0_u64, 0_u64);
            for trace in traces {
                for stream in trace.streams {
                    let scan = Scan::read(stream, &trace.schema, true, |_| {}, |_| {});
                    count += 1;
                    records += scan.records.unwrap_or(0);
                    if args.json {
                        line.begin().text("kind", "stream").path(Some(&stream.path));
                        line.int_or_null("data_stream_class", scan.class).int_or_null("data_stream", scan.id);
                        line.int("packets", scan.packets).int("records", scan.records.unwrap_or(0));
                        line.int_or_null("discarded", scan.discarded);
                        nanoseconds(&mut line, "time_ns", scan.begin);
                        nanoseconds(&mut line, "end_time_ns", scan.end);
                        out.json_text(line.end())?;
                    } else {
                        let length = scan.begin.zip(scan.end).map(|(begin, end)| time::duration(end - begin));
                        let number = |number: Option<u64>| number.map(grouped).unwrap_or_default();
                        let cells = vec![
                            shown(&stream.path),
                            number(scan.class),
                            grouped(scan.packets),
                            number(scan.records),
                            number(scan.discarded),
                            scan.begin.map(|begin| shown_time(begin, scan.is_unix)).unwrap_or_default(),
                            length.unwrap_or_default(),
                        ];
                        table.row(out, cells)?;
                    }
                    damage.extend(scan.damage);
                }
            }
            if !args.json {
                table.finish(out)?;
                let streams = counted(count, "stream", "streams");
                out.line(format_args!("{streams}, {}", counted(records, "record", "records")))?;
            }
            for message in &damage {
                out.warn(&args.path, message);
            }
            Ok(Status::damaged_if(!damage.is_empty()))
        })
    }

    fn cat(&self, args: &Selection, out: &mut Out) -> Result<Status> {
        self.with(|traces| cat::cat(self, traces, args, out))
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        for files in &self.found.traces {
            let path = files.metadata_path.as_path();
            let checked = files
                .parse(self.options)
                .and_then(|stream| stream.check(&mut |finding| findings.report_in(Some(path), finding)));
            if let Err(error) = checked {
                findings.report_in(Some(path), Finding::new(Severity::Error, error));
            }
        }
        self.with(|traces| {
            for trace in traces {
                for stream in trace.streams {
                    check(stream.data.data(), &trace.schema, &mut |finding| {
                        findings.report_in(Some(&stream.path), finding);
                    });
                }
            }
            Ok(findings.status())
        })
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        let Some(named) = self.named else {
            return Err(Failure::unreadable("a directory; name one of the files in it"));
        };
        self.with(|traces| match traces.first() {
            Some(trace) => hex::hex(named.data(), &trace.schema, fields),
            None => Ok(Status::Clean),
        })
    }
}

/// A time as JSON: an integer, of more than 64 bits a string.
fn nanoseconds(line: &mut Line, key: &str, value: Option<i128>) {
    match value {
        Some(value) if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() => line.raw(key, value),
        Some(value) => line.text(key, &value.to_string()),
        None => line.null(key),
    };
}

fn shown_time(nanoseconds: i128, is_unix: bool) -> String {
    let date = if is_unix { time::rfc3339(nanoseconds) } else { None };
    date.unwrap_or_else(|| format!("{} s", time::seconds(nanoseconds)))
}
