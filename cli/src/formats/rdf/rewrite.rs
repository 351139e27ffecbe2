//! Files of some chunks of another one, or of the chunks of several.

use super::decoder::Decoder;
use super::loaded::Loaded;
use super::{Rdf, contents, name, redact};
use crate::status::{Failure, Result};
use crate::trace::{By, Digest, NewTrace, Rewritten, Wanted};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use traceglass::rdf::contents::rmt::PieceOf;
use traceglass::rdf::{Compression, Entry, File, Header, Identifier, NewChunk, Span, file_header};
use traceglass::{Format, Severity};

/// Chunks without which AMD's tools do not open a file.
const NEEDED: [&str; 4] = ["AsicInfo", "SystemInfo", "ApiInfo", "TraceProcessInfo"];

/// The chunks that `--keep` and `--drop` name: an identifier, or the n-th chunk of it.
struct Named<'n> {
    id: Identifier,
    n: Option<u64>,
    text: &'n str,
}

impl<'n> Named<'n> {
    fn parse(text: &'n str) -> Result<Self> {
        let split = text.rsplit_once('#').and_then(|(id, n)| Some((id, Some(n.parse().ok()?))));
        let (id, n) = split.unwrap_or((text, None));
        let id = Identifier::try_from(id)
            .map_err(|error| Failure::usage(format!("{id} is no identifier of a chunk: {error}")))?;
        Ok(Self { id, n, text })
    }

    fn is(&self, id: Identifier, n: u64) -> bool {
        self.id == id && self.n.is_none_or(|wanted| wanted == n)
    }
}

impl Rdf<'_> {
    pub(super) fn write(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        wanted.refuse_others(Format::Rdf, &[By::Chunk])?;
        if !wanted.window.is_everything() {
            return Err(self.refuse_window());
        }
        let mut done = Rewritten::of("chunks");
        let keeps = self.keeps(wanted, &mut done)?;
        let is_all = keeps.iter().all(|keep| *keep) && self.damage().is_none();
        if keeps.is_empty() && self.damage().is_some() {
            return Err(Failure::unreadable(
                "nothing is recoverable: the index is lost, and without it no chunk has a name or a place",
            ));
        }
        done.carried = self.carried(&keeps);
        let kept = |entry: &Entry<'_>| keeps.get(entry.number()) == Some(&true);
        let moves = |entry: &Entry<'_>| {
            wanted.redacts && redact::is_private(entry) && entry.compression() != Compression::None
        };
        for entry in self.file.entries().filter(|entry| kept(entry) && !moves(entry)) {
            hash(&self.file, &entry, &mut done.digest);
        }
        let moved = self.unpacked(|entry| kept(entry) && moves(entry), &mut done)?;
        to.file(Path::new(""))?;
        if is_all && moved.is_empty() {
            to.put(self.file.data())?;
            return Ok(done);
        }
        if wanted.verb == "cut" {
            self.note(&keeps, &mut done);
        }
        let keep = |entry: &Entry<'_>| kept(entry) && !moves(entry);
        let mut storage = vec![Span::EMPTY; keeps.len().saturating_mul(2)];
        let selected =
            self.file.select(keep, &mut storage).map_err(|error| Failure::content(Format::Rdf, error))?;
        let more = moved.iter().map(|loaded| {
            NewChunk::raw(loaded.id, &loaded.data).version(loaded.version).header(loaded.header)
        });
        selected.write_with(more, &mut |bytes: &[u8]| to.put(bytes))?;
        Ok(done)
    }

    /// Chunks that are not to be compressed any more.
    fn unpacked(&self, is: impl Fn(&Entry<'_>) -> bool, done: &mut Rewritten) -> Result<Vec<Loaded<'_>>> {
        let mut decoder = Decoder::new();
        let mut all = Vec::new();
        for entry in self.file.entries().filter(is) {
            let Some(chunk) = self.file.chunk_at(entry.number()) else { continue };
            let loaded =
                Loaded::read(chunk, &mut decoder).map_err(|error| Failure::content(Format::Rdf, error))?;
            let about = [loaded.version.into(), 0, 0];
            hash_parts(loaded.id.bytes(), about, loaded.header, &loaded.data, &mut done.digest);
            all.push(loaded);
        }
        Ok(all)
    }

    /// The entries that are kept; damage of those that are wanted is told.
    fn keeps(&self, wanted: &Wanted<'_>, done: &mut Rewritten) -> Result<Vec<bool>> {
        let keep = wanted.keep.iter().map(|text| Named::parse(text)).collect::<Result<Vec<_>>>()?;
        let drop = wanted.drop.iter().map(|text| Named::parse(text)).collect::<Result<Vec<_>>>()?;
        let mut met = vec![false; keep.len().saturating_add(drop.len())];
        let mut numbers: BTreeMap<Identifier, u64> = BTreeMap::new();
        let (mut is_wanted, mut streams) = (Vec::new(), HashMap::new());
        for entry in self.file.entries() {
            let next = numbers.entry(entry.identifier()).or_default();
            let n = std::mem::replace(next, next.saturating_add(1));
            for (name, met) in keep.iter().chain(&drop).zip(&mut met) {
                *met |= name.is(entry.identifier(), n);
            }
            let is = |names: &[Named<'_>]| names.iter().any(|name| name.is(entry.identifier(), n));
            let wants = (keep.is_empty() || is(&keep)) && !is(&drop);
            is_wanted.push(wants);
            let Some(stream) = self.piece_of(&entry).fields().map(|fields| fields.stream()) else { continue };
            let (first, is_first_wanted) = *streams.entry(stream).or_insert((n, wants));
            if wants != is_first_wanted {
                return Err(Failure::usage(format!(
                    "{0}#{first} and {0}#{n} are pieces of one stream of tokens: all of them are kept, or none",
                    name(entry.identifier())
                )));
            }
        }
        if let Some((missing, _)) = keep.iter().chain(&drop).zip(&met).find(|(_, met)| !**met) {
            return Err(Failure::usage(format!("no chunk {} is in this file", missing.text)));
        }
        let mut keeps = is_wanted;
        self.each_entry(|entry, findings| {
            let errors = findings.iter().find(|finding| finding.severity() == Severity::Error);
            let Some(keep) = keeps.get_mut(entry.number()) else { return };
            if let (true, Some(finding)) = (*keep, errors) {
                *keep = false;
                let range = entry.stored_range().unwrap_or(0..0);
                let what = format!("chunk {}: {}", name(entry.identifier()), finding.cause());
                done.lose(None, range.start, range.end.saturating_sub(range.start), what);
            }
        })?;
        // The next piece of a stream may begin within a token.
        let (mut begun, mut lost) = (HashSet::new(), HashSet::new());
        for (entry, keep) in self.file.entries().zip(&mut keeps) {
            let stream = match self.piece_of(&entry) {
                PieceOf::Stream(fields) => fields.stream(),
                PieceOf::Any if !*keep => {
                    lost.extend(begun.drain());
                    continue;
                }
                _ => continue,
            };
            if !*keep {
                lost.insert(stream);
            } else if !lost.contains(&stream) {
                begun.insert(stream);
            } else {
                *keep = false;
                let range = entry.stored_range().unwrap_or(0..0);
                let what = format!("chunk {}: a piece before it is lost", name(entry.identifier()));
                done.lose(None, range.start, range.end.saturating_sub(range.start), what);
            }
        }
        if let Some(damage) = self.damage() {
            let rest = (self.file.data().len() as u64).saturating_sub(damage.offset());
            done.lose(None, damage.offset(), rest, format!("entries of the index: {damage}"));
        }
        done.kept = keeps.iter().filter(|keep| **keep).count() as u64;
        done.dropped = (keeps.len() as u64).saturating_sub(done.kept);
        Ok(keeps)
    }

    /// The stream of tokens that a chunk is a piece of.
    fn piece_of(&self, entry: &Entry<'_>) -> PieceOf<'_> {
        self.file.chunk_at(entry.number()).map_or(PieceOf::None, |chunk| PieceOf::of(&chunk))
    }

    /// The number of errors that are inside the chunks that are kept: what is in a chunk is not rewritten.
    fn carried(&self, keeps: &[bool]) -> u64 {
        let kept = self.file.entries().filter(|entry| keeps.get(entry.number()).copied().unwrap_or(false));
        let parts = kept.flat_map(|entry| [entry.header_range(), entry.stored_range()]);
        let mut ranges: Vec<_> = parts.filter_map(Result::ok).collect();
        ranges.sort_by_key(|range| range.start);
        // Each begins where it does, and ends no earlier than those before it.
        let mut reached = 0;
        for range in &mut ranges {
            reached = range.end.max(reached);
            range.end = reached;
        }
        let mut count = 0_u64;
        contents::check(&self.file, &mut |finding| {
            let at = finding.cause().offset();
            let after = ranges.partition_point(|range| range.start <= at);
            let is_inside =
                after.checked_sub(1).and_then(|last| ranges.get(last)).is_some_and(|range| at <= range.end);
            if finding.severity() == Severity::Error && is_inside {
                count = count.saturating_add(1);
            }
        });
        count
    }

    /// Says what may be missed in the file.
    fn note(&self, keeps: &[bool], done: &mut Rewritten) {
        let kept = |entry: &Entry<'_>| keeps.get(entry.number()).copied().unwrap_or(false);
        for id in NEEDED {
            let mut of = self.file.entries().filter(|entry| Identifier::new(id) == Some(entry.identifier()));
            if of.clone().next().is_some() && !of.any(|entry| kept(&entry)) {
                done.notes.push(format!("without {id}, AMD's tools may not open it"));
            }
        }
        let mut gone: Vec<Identifier> = Vec::new();
        for entry in self.file.entries() {
            let id = entry.identifier();
            if !kept(&entry) {
                gone.push(id);
            } else if gone.contains(&id) {
                gone.retain(|known| *known != id);
                done.notes.push(format!(
                    "an earlier {0} is left out: those that follow have another number, by which chunks may name them",
                    name(id)
                ));
            }
        }
    }

    fn refuse_window(&self) -> Failure {
        let is_timed = |id: &&&str| {
            Identifier::new(id).is_some_and(|id| self.file.entries().any(|entry| entry.identifier() == id))
        };
        let timed: Vec<_> = contents::HAPPENED.iter().filter(is_timed).copied().collect();
        let those = match timed.as_slice() {
            [] => "none of its chunks has any".to_owned(),
            timed => format!("only records inside {} have any", timed.join(", ")),
        };
        Failure::usage(format!(
            "--from and --to: the chunks of an RDF file have no common time, {those}: choose chunks with --keep or --drop"
        ))
    }
}

/// Adds a chunk of a file: what its entry says but for places, and both its parts.
pub(super) fn hash(file: &File<'_>, entry: &Entry<'_>, digest: &mut Digest) {
    let part = |range: traceglass::Result<Range<u64>>| {
        let range = range
            .ok()
            .and_then(|range| Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?));
        range.and_then(|range| file.data().get(range)).unwrap_or_default()
    };
    let about = [
        entry.version().into(),
        entry.compression().number().into(),
        entry.uncompressed_size().cast_unsigned(),
    ];
    hash_parts(
        entry.identifier_bytes(),
        about,
        part(entry.header_range()),
        part(entry.stored_range()),
        digest,
    );
}

/// The same of what is known of it: version, compression and the size of what is compressed.
pub(super) fn hash_parts(id: &[u8; 16], about: [u64; 3], header: &[u8], data: &[u8], digest: &mut Digest) {
    digest.add(&about, &[id.as_slice(), header].concat());
    digest.add(&[header.len() as u64, data.len() as u64], data);
}

/// Writes the chunks of several files into one, in the order of the files.
pub fn merge(files: &[&[u8]], wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut done = Rewritten::of("chunks");
    let mut parsed = Vec::new();
    let mut owners: BTreeMap<Identifier, usize> = BTreeMap::new();
    for (number, data) in files.iter().enumerate() {
        let file = File::parse(data).map_err(|error| Failure::content(Format::Rdf, error))?;
        for entry in file.entries() {
            let id = entry.identifier();
            let owner = *owners.entry(id).or_insert(number);
            if owner != number && !wanted.allow_same_id {
                return Err(Failure::usage(format!(
                    "two files have chunks {}: readers tell them by number, --allow-same-id numbers them on",
                    name(id)
                )));
            }
        }
        parsed.push(file);
    }
    let mut storage: Vec<Vec<Span>> =
        parsed.iter().map(|file| vec![Span::EMPTY; file.index().len().saturating_mul(2)]).collect();
    let mut selections = Vec::new();
    for (file, storage) in parsed.iter().zip(&mut storage) {
        let rdf = Rdf { file: *file, gap: None };
        if let Some(error) = rdf.first_error()? {
            return Err(Failure::usage(format!("one of the files is damaged, recover it first: {error}")));
        }
        let all = vec![true; file.index().len()];
        done.carried = done.carried.saturating_add(rdf.carried(&all));
        file.entries().for_each(|entry| hash(file, &entry, &mut done.digest));
        let selected = file.select(|_| true, storage);
        selections.push(selected.map_err(|error| Failure::content(Format::Rdf, error))?);
    }
    let size = selections.iter().fold(0_u64, |sum, selected| sum.saturating_add(selected.size()));
    done.kept = selections.iter().fold(0_u64, |sum, selected| sum.saturating_add(selected.count()));
    to.file(Path::new(""))?;
    let Some(first) = parsed.first() else { return Ok(done) };
    if let [only] = files {
        // One file is itself.
        to.put(only)?;
        return Ok(done);
    }
    to.put(&file_header(*first.header().magic(), size, done.kept))?;
    for selected in &selections {
        selected.write_chunks(&mut |bytes: &[u8]| to.put(bytes))?;
    }
    let mut base = Header::SIZE as u64;
    for selected in &selections {
        selected.write_entries(base, &mut |bytes: &[u8]| to.put(bytes))?;
        base = base.saturating_add(selected.size());
    }
    Ok(done)
}
