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
use std::iter;
use std::ops::{Bound, Range};
use std::path::{Component, Path, PathBuf};
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

/// The folder of a trace, from the one that its input is.
fn folder_of(files: &Files) -> &Path {
    files.metadata_path.parent().unwrap_or(Path::new(""))
}

/// Puts the traces together that become one. They are of different inputs, have the same metadata, and lie in folders of
/// the same name; or each is the only one of its input that has this metadata. Those of one input stay apart: sessions
/// of a device count from the start again.
fn groups<'m>(opened: &'m [(String, Ctf<'m>)]) -> Vec<Vec<Member<'m>>> {
    let mut groups: Vec<Vec<Member<'m>>> = Vec::new();
    // The groups of earlier inputs: by their metadata and folders; and by metadata, if only one has it.
    let mut named: HashMap<(&[u8], &Path), usize, RandomState> = HashMap::default();
    let mut alone: HashMap<&[u8], Option<usize>, RandomState> = HashMap::default();
    for (name, ctf) in opened {
        let mut counts: HashMap<&[u8], usize, RandomState> = HashMap::default();
        for files in &ctf.found.traces {
            let count = counts.entry(files.metadata.data()).or_default();
            *count = count.saturating_add(1);
        }
        let mut begun = Vec::new();
        for files in &ctf.found.traces {
            let (metadata, member) = (files.metadata.data(), (name.as_str(), ctf, files));
            let same = named.get(&(metadata, folder_of(files))).copied();
            let only = || alone.get(metadata).copied().flatten().filter(|_| counts.get(metadata) == Some(&1));
            let known = same.or_else(only).and_then(|number| groups.get_mut(number));
            match known {
                Some(group) => group.push(member),
                None => {
                    begun.push((files, groups.len()));
                    groups.push(vec![member]);
                }
            }
        }
        for (files, number) in begun {
            let metadata = files.metadata.data();
            named.insert((metadata, folder_of(files)), number);
            alone.entry(metadata).and_modify(|known| *known = None).or_insert(Some(number));
        }
    }
    groups
}

/// Writes the streams of several traces side by side: as one trace where their metadata is the same and they are of
/// different inputs, else as a folder for each, which is named as it is in its input. Packets that are in several inputs
/// are written once.
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
    let groups = groups(&opened);
    let mut to = Streams::new(to);
    let is_only = groups.len() == 1;
    let mut folders = BTreeSet::new();
    for members in &groups {
        let Some((name, _, first)) = members.first() else { continue };
        let folder = match folder_of(first) {
            own if is_only => own.to_owned(),
            own if own == Path::new("") => free(&mut folders, Path::new(name)),
            own => free(&mut folders, own),
        };
        to.file(&folder.join("metadata"))?;
        to.put(first.metadata.data())?;
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

/// The bytes of each stream that are not written yet. A member is of an input of its own. Two inputs whose packets have
/// the same numbers, and are not the same, contradict each other.
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
    let name = folder.and_then(|folder| folder.file_name()).unwrap_or(OsStr::new("trace"));
    name.to_string_lossy().into_owned()
}

/// The folder, or one like it, that is neither another one nor below or around it: in the folder of a trace, no other
/// trace is looked for.
fn free(taken: &mut BTreeSet<PathBuf>, folder: &Path) -> PathBuf {
    let is_free = |folder: &PathBuf| {
        // What is below it comes next to it.
        let next = taken.range::<Path, _>((Bound::Included(folder.as_path()), Bound::Unbounded)).next();
        !folder.ancestors().any(|above| taken.contains(above))
            && !next.is_some_and(|below| below.starts_with(folder))
    };
    let numbered = |number: u64| -> PathBuf {
        let mut parts = folder.components();
        let mut first = parts.next().map(Component::as_os_str).unwrap_or_default().to_owned();
        first.push(format!("-{number}"));
        iter::once(first.as_os_str()).chain(parts.map(Component::as_os_str)).collect()
    };
    let own = Some(folder.to_owned()).filter(is_free);
    let folder = own.or_else(|| (2..).map(numbered).find(is_free)).unwrap_or_default();
    taken.insert(folder.clone());
    folder
}

/// The name, or one like it, that no other has.
fn unique(names: &mut BTreeSet<String>, name: &str) -> String {
    let free = (2..).map(|number| format!("{name}-{number}")).find(|name| !names.contains(name));
    let name = if names.contains(name) { free.unwrap_or_default() } else { name.to_owned() };
    names.insert(name.clone());
    name
}
