//! Who kept the executor busy: the tasks of a recording, by the time spent in polling them, and where they were spawned.
//!
//!     cargo run --example rfr_tasks -- RECORDING
//!
//! Shows how the parts of `traceglass::rfr` go together: chunks are ordered by their headers, a directory finds the
//! sequences of each, a merge puts their records in order, and names lead from a record to its task and to its callsite. A
//! registry tells the tasks of all chunks apart.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk, Directory, DirectoryEntry, Item, Merge, MergeSlot, NameSlot, Named,
    Names, RecordKind, Registry, RegistrySlot, Site,
};

/// The facts about a task.
#[derive(Default)]
struct Task {
    name: String,
    place: String,
    polls: u64,
    busy: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args_os().nth(1).ok_or("usage: rfr_tasks RECORDING")?;
    let root = Path::new(&root);

    // Storage is lent: a vector here, an array where there is no allocator.
    let file = fs::read(root.join("callsites.rfr"))?;
    let callsites = Callsites::parse(&file)?;
    let mut entries = vec![Site::EMPTY; callsites.clone().count()];
    let callsites = CallsiteTable::build(&callsites, &mut entries)?;
    if let Some(damage) = callsites.error() {
        eprintln!("callsites.rfr: {damage}");
    }

    let files = chunks(root)?.into_iter().map(|(_, path)| fs::read(path)).collect::<Result<Vec<_>, _>>()?;
    let chunks = files.iter().map(|file| Chunk::parse(file)).collect::<Result<Vec<_>, _>>()?;

    // Instrumentation ids are addresses, and recur: a task is known by the number of its life.
    let count = |chunk: &Chunk<'_>| chunk.items().filter(|item| matches!(item, Ok(Item::Object(_)))).count();
    let mut slots = vec![RegistrySlot::<()>::EMPTY; chunks.iter().map(count).sum()];
    let mut registry = Registry::new(&mut slots[..]);
    let mut tasks: HashMap<u64, Task> = HashMap::new();
    for chunk in &chunks {
        let mut views = vec![NameSlot::EMPTY; count(chunk)];
        let mut names = Names::lend(&mut registry, &mut views[..]);
        names.set_callsites(callsites);
        read(chunk, &mut names, &mut tasks)?;
    }

    let mut tasks: Vec<Task> = tasks.into_values().filter(|task| task.polls > 0).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.busy));
    println!("{:>10}  {:>7}  {:<20}  spawned at", "busy, µs", "polls", "task");
    for Task { name, place, polls, busy } in tasks.iter().take(20) {
        println!("{busy:>10}  {polls:>7}  {name:<20}  {place}");
    }
    Ok(())
}

/// The chunk files below a directory, by the time in their headers: what they are called does not matter.
fn chunks(root: &Path) -> Result<Vec<(u64, PathBuf)>, Box<dyn Error>> {
    let (mut chunks, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(chunk) = Chunk::parse(&fs::read(&path)?) {
                // The first `Chunk::HEADER_SIZE_MAX` bytes would have been enough.
                chunks.push((chunk.header().unix_micros(chunk.header().start())?, path));
            }
        }
    }
    chunks.sort();
    Ok(chunks)
}

/// Adds up the polls of a chunk.
fn read<'a>(
    chunk: &Chunk<'a>,
    names: &mut Names<'a, '_, &mut [RegistrySlot], &mut [NameSlot<'a>]>,
    tasks: &mut HashMap<u64, Task>,
) -> Result<(), traceglass::Error> {
    let mut entries = vec![DirectoryEntry::EMPTY; chunk.sequence_count_max() as usize];
    let directory = Directory::build(chunk, &mut entries)?;
    if let Some(damage) = directory.error() {
        // A recorder may still be writing: what is in front of it is read.
        eprintln!("{damage}");
    }
    let mut slots = vec![MergeSlot::EMPTY; directory.entries().len()];
    let mut merge = Merge::new(&mut slots);
    for entry in directory.entries() {
        let sequence = entry.sequence(chunk);
        for object in sequence.objects() {
            names.meet(&object?)?;
        }
        merge.add(&chunk.header(), sequence.records()?)?;
    }
    let mut started: HashMap<(usize, u64), u64> = HashMap::new();
    for merged in merge {
        let merged = merged?;
        names.follow(&merged.record().data());
        let Some(iid) = merged.record().iid() else { continue };
        match merged.record().kind() {
            RecordKind::TaskPollStart => drop(started.insert((merged.source(), iid), merged.unix_micros())),
            RecordKind::TaskPollEnd => {
                let start = started.remove(&(merged.source(), iid)).unwrap_or(merged.unix_micros());
                // One whose object is not there has no name.
                let (Some(life), Some(named)) = (names.life(iid), names.get(iid)) else { continue };
                let task = tasks.entry(life).or_insert_with(|| Task::new(named));
                task.polls += 1;
                task.busy += merged.unix_micros().saturating_sub(start);
            }
            _ => {}
        }
    }
    Ok(())
}

impl Task {
    fn new(named: &Named<'_>) -> Self {
        let id = named.object().as_task().map_or(0, |task| task.task_id());
        let name = named.task().map_or_else(|| format!("#{id}"), Into::into);
        let place = named.site().and_then(|site| Some(format!("{}:{}", site.file()?, site.line()?)));
        Self { name, place: place.unwrap_or_default(), ..Self::default() }
    }
}
