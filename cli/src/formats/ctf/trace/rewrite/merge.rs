//! The streams of several traces, put together.

use super::super::files::{Files, Found, Stream};
use super::super::wire::{self, Lane};
use super::super::{Ctf, parse, programs, span};
use super::index::{Index, times};
use super::streams::Streams;
use super::{hash, is_error};
use crate::input::{Input, slice};
use crate::output::shown;
use crate::status::{Failure, Result};
use crate::trace::{Anew, NewTrace, Reading, Rewritten};
use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use traceglass::ctf::data::{Packet, Programs, check_packets};

/// The key that tells a packet from the others of a trace: its stream, and its number or its time there, as far as they
/// are known.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    class: u64,
    stream: Option<u64>,
    cpu: Option<u64>,
    sequence: Option<u64>,
    begin: Option<u64>,
}

impl Key {
    fn of(packet: &Packet<'_, '_>) -> Self {
        let sequence = packet.sequence();
        let begin = if sequence.is_some() { None } else { packet.begin() };
        let class = packet.stream_class().id();
        Self { class, stream: packet.stream_id(), cpu: packet.cpu(), sequence, begin }
    }
}

/// A trace of an input: the input's name, and its files.
type Member<'m> = (&'m str, &'m Ctf<'m>, &'m Files);

/// The packets that were met.
#[derive(Default)]
struct Known<'f> {
    /// By their keys and the hashes of their bytes.
    packets: HashMap<(Key, u64), Copies<'f>, RandomState>,
    /// The inputs of the first packets with these numbers in a stream; if packets do not name their streams, in a file.
    first: HashMap<(Key, Option<&'f OsStr>), usize, RandomState>,
}

/// The copies of a packet.
struct Copies<'f> {
    bytes: &'f [u8],
    /// The number of them that are written.
    written: usize,
    /// The last input that had one, and how many it had.
    member: usize,
    met: usize,
}

impl<'f> Known<'f> {
    /// True if a packet has to be written: as often as the input has it that has it most often.
    fn is_new(&mut self, key: Key, bytes: &'f [u8], member: usize) -> bool {
        let hash = self.packets.hasher().hash_one(bytes);
        let copies = self.packets.entry((key, hash)).or_insert(Copies { bytes, written: 0, member, met: 0 });
        if copies.bytes != bytes {
            return true;
        }
        let met = if copies.member == member { copies.met } else { 0 };
        (copies.member, copies.met) = (member, met.saturating_add(1));
        let is_new = copies.met > copies.written;
        copies.written = copies.written.max(copies.met);
        is_new
    }

    /// True if another input has another packet of this number in the same stream.
    fn contradicts(&mut self, key: Key, member: usize, file: &'f OsStr) -> bool {
        let is_named = key.stream.is_some() || key.cpu.is_some();
        let stream = (key, (!is_named).then_some(file));
        key.sequence.is_some() && *self.first.entry(stream).or_insert(member) != member
    }
}

/// Writes the streams of several traces side by side: as one trace where their metadata is the same, else as a folder
/// for each. Packets that are in several inputs are written once.
pub fn merge(inputs: &[Input], reading: Reading, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut opened = Vec::new();
    for input in inputs {
        let (path, found, named) = match input {
            Input::Directory(path) => (path, Found::below(path)?, None),
            Input::Stream(mapped, path) => (path, Some(Found::stream(path, mapped)?), Some(mapped)),
            // A trace without streams is named by its metadata.
            Input::File(_, path) => (path, Found::below(path.parent().unwrap_or(Path::new(".")))?, None),
        };
        let Some(found) = found else { return Err(Failure::usage(format!("no trace in {}", shown(path)))) };
        if let Some((path, message)) = found.problems.first() {
            return Err(Failure::usage(format!("{} is damaged, recover it first: {message}", shown(path))));
        }
        opened.push((base_name(path), parse(found, reading, named)?));
    }
    let mut done = Rewritten { anew: Anew::nowhere(), ..Rewritten::of("packets") };
    // Those with the same metadata are one trace.
    let mut groups: Vec<(&[u8], Vec<Member<'_>>)> = Vec::new();
    for (name, ctf) in &opened {
        for files in &ctf.found.traces {
            let (metadata, member) = (files.metadata.data(), (name.as_str(), ctf, files));
            match groups.iter_mut().find(|(known, _)| *known == metadata) {
                Some((_, members)) => members.push(member),
                None => groups.push((metadata, vec![member])),
            }
        }
    }
    let mut to = Streams::new(to);
    let is_only = groups.len() == 1;
    let mut folders = BTreeSet::new();
    for (metadata, members) in &groups {
        let folder = match members.first() {
            Some((name, ..)) if !is_only => PathBuf::from(unique(&mut folders, name)),
            _ => PathBuf::new(),
        };
        to.file(&folder.join("metadata"))?;
        to.put(metadata)?;
        let mut names = BTreeSet::from(["metadata".to_owned()]);
        let mut known = Known::default();
        for (number, (name, ctf, files)) in members.iter().enumerate() {
            let all = runs(ctf, files, number, &mut known, &mut done)?;
            for (stream, (runs, index)) in files.streams.iter().zip(all) {
                let data = stream.data.data();
                if runs.is_empty() && !data.is_empty() {
                    continue;
                }
                let own = stream.path.file_name().unwrap_or_default().to_string_lossy();
                let own = if names.contains(&*own) { format!("{name}-{own}") } else { own.into_owned() };
                let path = folder.join(unique(&mut names, &own));
                to.file(&path)?;
                runs.iter().try_for_each(|run| to.put(slice(data, run.start, run.end)))?;
                if stream.is_indexed {
                    index.write(&path, &mut to)?;
                }
            }
        }
    }
    to.end()?;
    Ok(done)
}

/// The bytes of each stream that are not written yet. Two inputs whose packets have the same numbers, and are not the
/// same, contradict each other.
fn runs<'f>(
    ctf: &Ctf<'_>,
    files: &'f Files,
    member: usize,
    known: &mut Known<'f>,
    done: &mut Rewritten,
) -> Result<Vec<(Vec<Range<u64>>, Index)>> {
    ctf.with(|traces, _| {
        let Some(number) = traces.iter().position(|trace| std::ptr::eq(trace.files, files)) else {
            return Err(Failure::usage(format!(
                "{} cannot be read: recover it",
                shown(&files.metadata_path)
            )));
        };
        let mut room = programs::room(traces);
        let programs = programs::compile(traces, &mut room)?;
        let steps = programs.get(number).copied().unwrap_or(Programs::NONE);
        let lanes = wire::lanes(traces).into_iter().filter(|lane| lane.trace == number);
        let clock = traces.iter().flat_map(|trace| trace.schema.clocks()).next();
        done.is_absolute |= clock.is_some_and(|clock| clock.is_unix());
        lanes
            .zip(&files.streams)
            .map(|(lane, stream)| of_stream(&lane, stream, steps, member, known, done))
            .collect()
    })
}

fn of_stream<'f>(
    lane: &Lane<'_>,
    stream: &'f Stream,
    programs: Programs<'_>,
    member: usize,
    known: &mut Known<'f>,
    done: &mut Rewritten,
) -> Result<(Vec<Range<u64>>, Index)> {
    let (path, data) = (shown(&lane.stream.path), stream.data.data());
    let file = stream.path.file_name().unwrap_or_default();
    if lane.track().is_some() {
        return Err(Failure::usage(format!("{path} is a capture of several streams: recover it first")));
    }
    let mut runs: Vec<Range<u64>> = Vec::new();
    let mut index = Index::default();
    for packet in lane.packets() {
        let packet = packet
            .map_err(|error| Failure::usage(format!("{path} is damaged, recover it first: {error}")))?;
        let (start, end) = (packet.offset(), packet.end_offset().min(data.len() as u64));
        let bytes = slice(data, start, end);
        let key = Key::of(&packet);
        if !known.is_new(key, bytes, member) {
            done.dropped = done.dropped.saturating_add(1);
            continue;
        }
        if known.contradicts(key, member, file) {
            let sequence = key.sequence.unwrap_or_default();
            return Err(Failure::usage(format!(
                "{path} has a packet {sequence}, and another input has another one"
            )));
        }
        let alone = traceglass::ctf::data::Packets::new(bytes, lane.schema());
        let read = check_packets(alone, programs, &mut |finding| {
            done.carried = done.carried.saturating_add(is_error(&finding));
        });
        done.kept = done.kept.saturating_add(1);
        hash(&packet, data, None, &mut done.digest);
        done.records = done.records.saturating_add(read.records());
        if let (Some(first), last) = span(&packet) {
            done.meet(first, last.unwrap_or(first));
        }
        match runs.last_mut() {
            Some(run) if run.end == start => run.end = end,
            _ => runs.push(start..end),
        }
        index.add(&packet, times(&packet), bytes.len() as u64, packet.content_bits());
    }
    Ok((runs, index))
}

/// The name of an input, for a folder or for files of it.
fn base_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = if full.is_dir() { Some(full.as_path()) } else { full.parent() };
    let name = folder.and_then(|folder| folder.file_name()).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The name, or one like it, that no other has.
fn unique(names: &mut BTreeSet<String>, name: &str) -> String {
    let free = (2..).map(|number| format!("{name}-{number}")).find(|name| !names.contains(name));
    let name = if names.contains(name) { free.unwrap_or_default() } else { name.to_owned() };
    names.insert(name.clone());
    name
}
