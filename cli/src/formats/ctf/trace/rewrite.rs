//! Traces of some packets of another one, or of the streams of several.

mod exact;
mod index;
mod merge;
mod streams;

pub use exact::hash as hash_records;
pub use merge::merge;

use super::files::Files;
use super::parts::Parts;
use super::wire::{self, Lane, Session};
use super::{Compiled, Ctf, programs, span, window};
use crate::input::slice;
use crate::output::{bytes, counted, shown};
use crate::status::{Failure, Result};
use crate::trace::{Anew, Bounds, By, Digest, NewTrace, READ_WHOLE, Rewritten, Trace, Wanted};
use index::{Index, times};
use std::path::{Path, PathBuf};
use streams::Streams;
use traceglass::ctf::data::wire::WireSlot;
use traceglass::ctf::data::{Packet, Packets, Programs, Record, check_packets};
use traceglass::{Error, Severity};

/// The limit of the metadata of all sessions, as a multiple of the input, and the size that is allowed in any case.
const LARGER: u64 = 4;
const LEAST: u64 = 64 << 20;

/// Writes the packets that are wanted, each whole.
pub fn write(
    ctf: &Ctf<'_>,
    traces: &[Compiled<'_>],
    problems: Vec<String>,
    wanted: &Wanted<'_>,
    to: &mut dyn NewTrace,
) -> Result<Rewritten> {
    wanted.refuse_others(ctf.format(), &[By::Stream, By::Time])?;
    let bounds = window::range(traces, wanted.window)?;
    let mut done = Rewritten { anew: Anew::nowhere(), ..Rewritten::of("packets") };
    for problem in problems {
        done.lose(None, 0, 0, problem);
    }
    let mut room = programs::room(traces);
    let programs = programs::compile(traces, &mut room)?;
    let (lanes, sessions) = (wire::lanes(traces), wire::sessions(traces));
    let parts = Parts::new(wanted.stream, wanted.cpus);
    let is_all = bounds.is_everything() && parts.are_all();
    for (_, stream, capture) in wire::captures(traces) {
        for slot in wire::damage(capture) {
            let (start, end) = slot.lost().unwrap_or((slot.offset(), slot.end()));
            let what = wire::message_of(slot, stream.data.data(), certain(slot, is_all));
            done.lose(Some(&stream.path), start, end.saturating_sub(start), what);
        }
    }
    if let Some(skipped) = ctf.reading.skip.filter(|skipped| *skipped > 0) {
        done.lose(None, 0, skipped, "skipped, as was asked for");
    }
    let metadata = sessions.iter().filter_map(|session| traces.get(session.lanes.first()?.trace));
    let metadata =
        metadata.map(|trace| trace.files.metadata.data().len() as u64).fold(0, u64::saturating_add);
    if metadata > ctf.found.bytes().saturating_mul(LARGER).saturating_add(LEAST) {
        let sessions = counted(sessions.len() as u64, "session", "sessions");
        let metadata = bytes(metadata);
        return Err(Failure::unreadable(format!(
            "{sessions}, each with its metadata, would take {metadata}"
        )));
    }
    let exact = wanted.exact && !bounds.is_everything();
    let to = Streams::new(to);
    let mut writer = Writer { is_all, bounds, exact, parts, has_part: false, first: None, to, done };
    for (trace, steps) in traces.iter().zip(&programs) {
        let folder = trace.files.metadata_path.parent().unwrap_or(Path::new(""));
        let own: Vec<_> = sessions.iter().filter(|session| session.is_of(trace.files)).collect();
        let is_own = |lane: &&Lane<'_>| lane.track().is_none() && std::ptr::eq(lane.schema(), &trace.schema);
        let streams: Vec<_> = lanes.iter().filter(is_own).collect();
        // One trace is the folder itself; several are folders in it.
        let is_only = own.len().saturating_add(usize::from(!streams.is_empty())) < 2;
        let below = |name: &str| if is_only { folder.to_owned() } else { folder.join(name) };
        if !streams.is_empty() || own.is_empty() {
            let folder = below("streams");
            writer.metadata(&folder, trace.files)?;
            for lane in streams {
                let name = lane.stream.path.file_name().unwrap_or_default();
                writer.stream(&folder.join(name), lane, *steps)?;
            }
        }
        for Session { folder, lanes } in own {
            let folder = below(folder);
            writer.metadata(&folder, trace.files)?;
            for (lane, number) in lanes.iter().zip(0..) {
                writer.stream(&folder.join(wire::file_name(number)), lane, *steps)?;
            }
        }
    }
    if let (0, true, Some(path)) = (writer.done.kept, wanted.verb == "cut", writer.first.take()) {
        // With a stream, if an empty one, it is a trace without records. Metadata alone is text.
        writer.to.file(&path)?;
    }
    let Writer { mut done, parts, has_part, to, .. } = writer;
    // Captures are taken apart, and an index is made anew. Of all other streams, what is neither lost nor left out is a copy.
    let are_copied = lanes.iter().all(|lane| lane.track().is_none() && !lane.stream.is_indexed);
    done.is_copy = bounds.is_everything() && done.lost.is_empty() && done.dropped == 0 && are_copied;
    for (path, part) in to.end()? {
        done.anew.add(&path, part);
    }
    if !has_part && !parts.are_all() {
        let name = wanted.stream.map_or_else(String::new, |name| format!(" {name}"));
        let of = if wanted.cpus.is_empty() { "" } else { " of these processors" };
        return Err(Failure::usage(format!(
            "no stream{name}{of} is in this trace: `traceglass ls` lists them"
        )));
    }
    done.is_absolute =
        traces.iter().flat_map(|trace| trace.schema.clocks()).next().is_some_and(|clock| clock.is_unix());
    Ok(done)
}

/// The number of records of a packet of a capture that are kept. Of one with damage, nothing is if not all is wanted.
fn certain(slot: &WireSlot, is_all: bool) -> u64 {
    if is_all || !slot.is_doubtful() { slot.certain_records() } else { 0 }
}

/// The fate of a packet.
enum Fate {
    /// It stays as it is.
    Whole,
    /// Records up to this bit stay.
    Up(u64),
    Gone,
}

struct Writer<'w> {
    /// True if nothing is left out that can be kept.
    is_all: bool,
    bounds: Bounds,
    /// True if records outside of the range are left out of their packets.
    exact: bool,
    /// The streams that are wanted, and whether one was met.
    parts: Parts<'w>,
    has_part: bool,
    /// The first file of a stream.
    first: Option<PathBuf>,
    to: Streams<'w>,
    done: Rewritten,
}

impl Writer<'_> {
    fn metadata(&mut self, folder: &Path, files: &Files) -> Result<()> {
        // Metadata that cannot be read is carried along.
        let data = files.metadata.data();
        let checked = files.parse(traceglass::ctf::metadata::ParseOptions::LENIENT).map(|stream| {
            let mut errors = 0_u64;
            let done = stream.check(&mut |finding| errors = errors.saturating_add(is_error(&finding)));
            errors.saturating_add(u64::from(done.is_err()))
        });
        let errors = checked.unwrap_or(1);
        self.done.carried = self.done.carried.saturating_add(errors);
        self.to.file(&folder.join("metadata"))?;
        self.to.put(data)
    }

    /// Writes a stream, and its index, if it had one.
    fn stream(&mut self, path: &Path, lane: &Lane<'_>, programs: Programs<'_>) -> Result<()> {
        if !(lane.stream.data.data().is_empty() && self.is_all) {
            self.first.get_or_insert_with(|| path.to_owned());
        }
        let mut index = Index::default();
        self.packets(path, lane, programs, &mut index)?;
        if lane.stream.is_indexed && lane.track().is_none() {
            index.write(path, &mut self.to)
        } else {
            Ok(())
        }
    }

    /// Writes the packets of a stream; one without packets has no file, unless it was empty.
    fn packets(
        &mut self,
        path: &Path,
        lane: &Lane<'_>,
        programs: Programs<'_>,
        index: &mut Index,
    ) -> Result<()> {
        let data = lane.stream.data.data();
        let mut is_open = data.is_empty() && self.is_all;
        if is_open {
            self.to.file(path)?;
        }
        let reads_all = self.bounds.is_everything() || data.len() as u64 <= READ_WHOLE;
        let mut slots = lane.track().unwrap_or_default().iter();
        let mut packets = lane.packets();
        let mut begun = 0_u64;
        loop {
            let packet = match packets.next_packet() {
                Ok(Some(packet)) => packet,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let rest = (data.len() as u64).saturating_sub(packets.offset());
                    self.done.lose(Some(&lane.stream.path), packets.offset(), rest, error);
                    return Ok(());
                }
            };
            let slot = slots.next();
            let end = match slot {
                Some(slot) => slot.end(),
                None => packet.end_offset().min(data.len() as u64),
            };
            let bytes = slice(data, packet.offset(), end);
            if !self.parts.have(&lane.stream.path, Some(&packet)) {
                self.done.dropped = self.done.dropped.saturating_add(1);
                continue;
            }
            self.has_part = true;
            let certain = slot.filter(|slot| slot.is_doubtful()).map(|slot| certain(slot, self.is_all));
            if certain == Some(0) {
                // Told already, with the bytes that it lost.
                self.done.dropped = self.done.dropped.saturating_add(1);
                continue;
            }
            let stated = span(&packet);
            let (mut first, mut last) = stated;
            if (first.is_none() || last.is_none() || reads_all) && !self.bounds.is_everything() {
                for time in packet.records().map_while(Result::ok).filter_map(|record| record.nanoseconds()) {
                    // Some records are earlier than their packet says.
                    first = Some(first.map_or(time, |first| first.min(time)));
                    last = last.max(Some(time));
                }
            }
            if !self.bounds.meets(first.zip(last.or(first))) {
                self.done.dropped = self.done.dropped.saturating_add(1);
                continue;
            }
            let bounds = self.bounds;
            let mut apart = None;
            if self.exact {
                let kept = exact::Kept::of(&packet, &bounds);
                if kept.records == 0 {
                    self.done.dropped = self.done.dropped.saturating_add(1);
                    continue;
                }
                (first, last) = kept.span.unzip();
                apart = Some(kept.records).filter(|records| *records < kept.of);
            }
            let (fate, mut records) = match certain {
                Some(count) => {
                    let place = usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX);
                    let last = packet.records().map_while(Result::ok).nth(place);
                    (last.map_or(Fate::Gone, |last| Fate::Up(last.end())), count)
                }
                None => self.judge(lane, &packet, bytes, programs),
            };
            let short = match fate {
                Fate::Up(content) => packet.shortened(content).ok().flatten(),
                _ => None,
            };
            if !matches!(fate, Fate::Whole) && short.is_none() {
                if certain.is_some() {
                    let (path, len) = (Some(lane.stream.path.as_path()), bytes.len() as u64);
                    self.done.lose(path, packet.offset(), len, "a packet without room for other lengths");
                }
                self.done.dropped = self.done.dropped.saturating_add(1);
                continue;
            }
            let is_first = begun == 0 && !is_open;
            if is_first && alone(lane, bytes).is_some_and(|begin| Some(begin) != packet.begin()) {
                return Err(Failure::usage(format!(
                    "{}: the upper bits of the time are known from the packets before the range alone: keep these, too",
                    shown(&lane.stream.path)
                )));
            }
            // A packet without lengths is the whole of its file.
            let is_endless =
                slot.is_some() && short.is_none() && states_no_length(lane, data, &packet, bytes);
            if is_endless || !is_open {
                self.to.file(&numbered(path, begun))?;
                begun = begun.saturating_add(1);
                is_open = !is_endless;
            }
            let content = match fate {
                Fate::Up(content) => Some(content),
                _ => None,
            };
            let reframed = match apart {
                Some(kept) => {
                    records = kept;
                    Some(exact::reframed(lane, &packet, &bounds)?)
                }
                None => {
                    hash(&packet, data, content, &mut self.done.digest);
                    None
                }
            };
            match (reframed, short) {
                (Some(reframed), _) => {
                    let wants = |record: &Record<'_, '_, '_>| bounds.wants(record.nanoseconds());
                    exact::hash(&packet, wants, &mut self.done.digest);
                    let times = reframed.begin().zip(reframed.end());
                    index.add(&packet, times, reframed.size(), reframed.content_bits());
                    self.to.anew(reframed.size());
                    reframed.write(&mut |bytes: &[u8]| self.to.put(bytes))?;
                }
                (None, Some(short)) => {
                    index.add(&packet, times(&packet), short.size(), content.unwrap_or_default());
                    short.write(&mut |bytes: &[u8]| self.to.put(bytes))?;
                }
                (None, None) => {
                    index.add(&packet, times(&packet), bytes.len() as u64, packet.content_bits());
                    self.to.put(bytes)?;
                }
            }
            self.done.kept = self.done.kept.saturating_add(1);
            self.done.records = self.done.records.saturating_add(records);
            if let Some((first, last)) = first.zip(last) {
                self.done.meet(first, last);
            }
        }
    }

    /// Reads a packet as it will be read when it stands alone. What is lost of it is told.
    fn judge(
        &mut self,
        lane: &Lane<'_>,
        packet: &Packet<'_, '_>,
        bytes: &[u8],
        programs: Programs<'_>,
    ) -> (Fate, u64) {
        let mut first: Option<Error> = None;
        let alone = Packets::new(bytes, lane.schema());
        let read = check_packets(alone, programs, &mut |finding| {
            if finding.severity() == Severity::Error {
                first.get_or_insert(finding.cause());
            }
        });
        let is_one = read.packets() == 1;
        let Some(error) = first else {
            return if is_one { (Fate::Whole, read.records()) } else { (Fate::Gone, 0) };
        };
        let error = error.rebased(packet.offset());
        // Records before the fault are certain: nothing after it is read, and lengths say so.
        let mut content = packet.header_bits();
        let mut records = 0_u64;
        for record in packet.records().map_while(Result::ok) {
            content = record.end();
            records = records.saturating_add(1);
        }
        let kept = content.div_ceil(8);
        let is_short = lane.track().is_none()
            && is_one
            && (records > 0 || packet.is_cut())
            && packet.shortened(content).is_ok_and(|short| short.is_some());
        let (start, records) = match is_short {
            // Padding that is missing is no loss.
            true if content == packet.content_bits() => (bytes.len() as u64, records),
            true => (kept, records),
            false => (0, 0),
        };
        let len = (bytes.len() as u64).saturating_sub(start);
        let offset = packet.offset().saturating_add(start);
        self.done.lose(Some(&lane.stream.path), offset, len, error);
        if is_short { (Fate::Up(content), records) } else { (Fate::Gone, 0) }
    }
}

/// Adds a packet: what tells it from others, and its records, which end at bit `content` if not where it says.
pub fn hash(packet: &Packet<'_, '_>, data: &[u8], content: Option<u64>, digest: &mut Digest) {
    let at = |bits: u64| packet.offset().saturating_add(bits);
    let start = at(packet.header_bits() / 8);
    let end = at(content.unwrap_or(packet.content_bits()).div_ceil(8)).min(data.len() as u64);
    let number = |number: Option<u64>| number.unwrap_or(u64::MAX);
    let about = [
        packet.stream_class().id(),
        number(packet.stream_id()),
        number(packet.sequence()),
        number(packet.begin()),
        number(packet.discarded()),
    ];
    digest.add(&about, slice(data, start, end));
}

/// The begin of a packet, if no packet is in front of it.
fn alone(lane: &Lane<'_>, bytes: &[u8]) -> Option<u64> {
    Packets::new(bytes, lane.schema()).next_packet().ok()??.begin()
}

/// True if a packet ends only where its stream does, as it has no lengths.
fn states_no_length(lane: &Lane<'_>, data: &[u8], packet: &Packet<'_, '_>, bytes: &[u8]) -> bool {
    let stated = Packets::new(slice(data, packet.offset(), data.len() as u64), lane.schema()).next_packet();
    !stated.is_ok_and(|stated| stated.is_some_and(|stated| stated.total_bits() / 8 == bytes.len() as u64))
}

/// The path for another packet that has a file of its own.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    if number > 0 {
        name.push(format!("-{number}"));
    }
    path.with_file_name(name)
}

fn is_error(finding: &traceglass::Finding) -> u64 {
    u64::from(finding.severity() == Severity::Error)
}
