//! Parts of one recording, put together again.

use super::super::files::{Files, Kind, Part};
use super::super::scan;
use crate::input::Input;
use crate::output::shown;
use crate::status::{Failure, Result};
use crate::trace::{Anew, NewTrace, Rewritten, Tally, Wanted, widen};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use traceglass::rfr::{Chunk, Item, NewChunk};
use traceglass::{Finding, Severity};

/// Writes the chunks of several folders into one. They must be of one recording: numbers mean nothing in another.
pub fn merge(inputs: &[Input], _: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let mut recordings = Vec::new();
    for input in inputs {
        let Input::Directory(path) = input else {
            return Err(Failure::usage(
                "merge puts the folders of a recording together: name folders, not files in them",
            ));
        };
        let Some(files) = Files::directory(path)? else {
            return Err(Failure::usage(format!("no recording in {}", shown(path))));
        };
        if let Some((_, problem)) = files.problems.first() {
            return Err(Failure::usage(format!("{} is damaged, recover it first: {problem}", shown(path))));
        }
        recordings.push(files);
    }
    // Sequences are copied: their bytes prove them.
    let mut done = Rewritten { anew: Anew::nowhere(), ..Rewritten::of("sequences") };
    done.is_absolute = true;
    let mut proof = Tally::default();
    let mut by_path: BTreeMap<PathBuf, Vec<&Part<'_>>> = BTreeMap::new();
    for files in &recordings {
        for part in &files.parts {
            if part.kind == Kind::Stream {
                return Err(Failure::usage(
                    "streams name tasks by numbers of their own: they are not merged",
                ));
            }
            by_path.entry(part.path.clone().unwrap_or_default()).or_default().push(part);
        }
    }
    for (path, parts) in &by_path {
        let Some((first, others)) = parts.split_first() else { continue };
        let data = first.data()?;
        let mut longest = data.bytes().to_vec();
        let mut chunks = vec![];
        for other in others {
            let other_data = other.data()?;
            let bytes = other_data.bytes();
            match first.kind {
                Kind::Chunk(_) if bytes != longest => chunks.push(other_data),
                _ if longest.starts_with(bytes) => {}
                Kind::Callsites if bytes.starts_with(&longest) => longest = bytes.to_vec(),
                _ => {
                    return Err(Failure::usage(format!(
                        "{} is another one in each: these are not parts of one recording",
                        shown(path)
                    )));
                }
            }
        }
        to.file(path)?;
        let written = if chunks.is_empty() {
            to.put(&longest)?;
            longest
        } else {
            let mut all: Vec<&[u8]> = vec![data.bytes()];
            all.extend(chunks.iter().map(|data| data.bytes()));
            join(path, &all, to)?
        };
        count(&written, first.kind, &mut done, &mut proof);
    }
    for part in recordings.iter().flat_map(|files| &files.parts) {
        scan::check(part, |finding: Finding| {
            done.carried = done.carried.saturating_add(u64::from(finding.severity() == Severity::Error));
        })?;
    }
    done.proof = Some(proof);
    Ok(done)
}

/// The sequences of one chunk that lie in several files, each once.
fn join(path: &Path, all: &[&[u8]], to: &mut dyn NewTrace) -> Result<Vec<u8>> {
    let other = || {
        Failure::usage(format!(
            "{} is of another time in each: these are not parts of one recording",
            shown(path)
        ))
    };
    let mut first: Option<Chunk<'_>> = None;
    let mut sequences: Vec<&[u8]> = Vec::new();
    let mut met = HashSet::new();
    let mut span = None;
    for data in all {
        let chunk = Chunk::parse(data).map_err(|error| Failure::content(traceglass::Format::Rfr, error))?;
        let known = *first.get_or_insert(chunk);
        let [a, b] = [known, chunk].map(|chunk| {
            let header = chunk.header();
            (chunk.identifier().as_str().to_owned(), header.base_time(), header.start(), header.end())
        });
        if a != b {
            return Err(other());
        }
        let mut items = chunk.items();
        let mut starts = Vec::new();
        loop {
            match items.next_item() {
                Ok(Some(Item::Sequence(header))) => starts.push(header.offset()),
                Ok(Some(Item::Record(record))) => widen(&mut span, record.micros(), record.micros()),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return Err(Failure::content(traceglass::Format::Rfr, error)),
            }
        }
        let ends = starts.iter().skip(1).copied().chain([items.offset()]);
        for (start, end) in starts.iter().zip(ends) {
            let bytes = crate::input::slice(data, *start, end);
            if met.insert(bytes) {
                sequences.push(bytes);
            }
        }
    }
    let Some(chunk) = first else { return Ok(Vec::new()) };
    let header = chunk.header();
    let mut written =
        all.first().map_or(&[][..], |data| crate::input::slice(data, 0, header.offset())).to_vec();
    let front = NewChunk::like(&header).sequences(sequences.len() as u64).spans(span);
    let append = &mut |bytes: &[u8]| {
        written.extend_from_slice(bytes);
        Ok::<_, Failure>(())
    };
    front.write(append)?;
    sequences.iter().for_each(|bytes| written.extend_from_slice(bytes));
    to.put(&written)?;
    Ok(written)
}

/// Counts what there is in a file that was written.
fn count(data: &[u8], kind: Kind, done: &mut Rewritten, proof: &mut Tally) {
    let Ok(files) = Files::one(data) else { return };
    if let Some(part) = files.parts.first() {
        // In memory nothing fails.
        let items = scan::check(part, |_| {}).unwrap_or(0);
        proof.records = proof.records.saturating_add(items);
    }
    let (Kind::Chunk(header), Ok(chunk)) = (kind, Chunk::parse(data)) else { return };
    for item in chunk.items().map_while(Result::ok) {
        match item {
            Item::Sequence(_) => done.kept = done.kept.saturating_add(1),
            Item::Record(record) => {
                done.records = done.records.saturating_add(1);
                if let Ok(micros) = record.unix_micros(&header) {
                    let ns = i128::from(micros).saturating_mul(1000);
                    done.meet(ns, ns);
                }
            }
            _ => {}
        }
    }
}
