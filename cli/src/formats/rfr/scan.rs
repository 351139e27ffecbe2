//! Walking through files, on after damage where that is possible.

use super::files::{Files, Kind, Part};
use crate::status::Result;
use crate::trace::{Damage, DamageExt as _};
use std::path::Path;
use traceglass::rfr::{Callsite, Callsites, Chunk, Item, Meta, StreamRecord, StreamRecords, Streaming};
use traceglass::{Finding, Severity};

/// The damage of the files that cannot be opened.
pub fn unopened(files: &Files<'_>) -> Damage {
    let mut damage = Damage::default();
    files.problems.iter().for_each(|(path, problem)| damage.add_in(path.as_deref(), problem));
    damage
}

/// Everything that is wrong in a file.
///
/// Gives how many things were read in it.
pub fn check(part: &Part<'_>, mut report: impl FnMut(Finding)) -> Result<u64> {
    let data = part.data()?;
    let data = data.bytes();
    let report: &mut dyn FnMut(Finding) = &mut report;
    let checked = match part.kind {
        Kind::Chunk(_) => Chunk::parse(data).and_then(|chunk| chunk.check(report)),
        Kind::Stream => Streaming::parse(data).and_then(|stream| stream.check(report)),
        Kind::Callsites => Callsites::parse(data).and_then(|callsites| callsites.check(report)),
        Kind::Meta => Meta::parse(data).and_then(|meta| meta.check(report)),
    };
    match checked {
        Ok(read) => Ok(read.items()),
        Err(error) => {
            report(Finding::new(Severity::Error, error));
            Ok(0)
        }
    }
}

/// The damage of a file of which nothing is printed.
pub fn errors(part: &Part<'_>, damage: &mut Damage) -> Result<()> {
    check(part, |finding| {
        if finding.severity() == Severity::Error {
            damage.add_in(part.path.as_deref(), finding.cause());
        }
    })
    .map(drop)
}

/// All items of a chunk that can be read.
pub fn items<'a>(
    chunk: &Chunk<'a>,
    path: Option<&Path>,
    damage: &mut Damage,
    mut each: impl FnMut(Item<'a>, &mut Damage) -> Result<()>,
) -> Result<()> {
    let mut items = chunk.items();
    loop {
        match items.next_item() {
            Ok(Some(item)) => each(item, damage)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                damage.add_in(path, error);
                if items.recover().is_none() {
                    return Ok(());
                }
            }
        }
    }
}

/// All records of a stream that can be read.
pub fn stream<'a>(
    stream: &Streaming<'a>,
    path: Option<&Path>,
    damage: &mut Damage,
    mut each: impl FnMut(StreamRecord<'a>, &mut Damage) -> Result<()>,
) -> Result<()> {
    records(stream.records(), false, path, damage, |record, _, damage| each(record, damage)).map(drop)
}

/// All records that can be read, each with its end; gives where reading ended. Of a stream that grows, what it ends in is no damage.
pub fn records<'a>(
    mut records: StreamRecords<'a>,
    grows: bool,
    path: Option<&Path>,
    damage: &mut Damage,
    mut each: impl FnMut(StreamRecord<'a>, u64, &mut Damage) -> Result<()>,
) -> Result<u64> {
    loop {
        match records.next_record() {
            Ok(Some(record)) => each(record, records.offset(), damage)?,
            Ok(None) => return Ok(records.offset()),
            Err(error) if grows && error.is_truncation() => return Ok(records.offset()),
            Err(error) => {
                damage.add_in(path, error);
                if records.recover().is_none() {
                    return Ok(records.offset());
                }
            }
        }
    }
}

/// All callsites that can be read.
pub fn callsites<'a>(
    callsites: &Callsites<'a>,
    path: Option<&Path>,
    damage: &mut Damage,
    mut each: impl FnMut(Callsite<'a>) -> Result<()>,
) -> Result<()> {
    let mut callsites = callsites.clone();
    loop {
        match callsites.next_callsite() {
            Ok(Some(callsite)) => each(callsite)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                damage.add_in(path, error);
                if callsites.recover().is_none() {
                    return Ok(());
                }
            }
        }
    }
}
