//! Recordings of the real writer in which instrumentation ids recur.

use crate::folder;
use std::collections::HashMap;
use traceglass::rfr::{Chunk, Item, NameSlot, Names, Registry, RegistrySlot};

/// Ids that recur in a recording of the real writer.
#[test]
fn ids_of_a_real_recording_recur() {
    let Some(root) = folder("rfr-more") else { return };
    let root = root.join("iid-reused/2026-11/21-00");
    let files = ["chunk-00-00.rfr", "chunk-00-01.rfr"].map(|name| std::fs::read(root.join(name)).unwrap());
    let mut slots = vec![RegistrySlot::<()>::EMPTY; 10_000];
    let mut registry = Registry::new(&mut slots[..]);
    // The life of each id when a task began, and its name then.
    let mut known: HashMap<u64, (u64, Option<&str>)> = HashMap::new();
    let mut reused = 0;
    for file in &files {
        let chunk = Chunk::parse(file).unwrap();
        let mut views = vec![NameSlot::EMPTY; 10_000];
        let mut names = Names::lend(&mut registry, &mut views[..]);
        for item in chunk.items() {
            match item.unwrap() {
                Item::Object(object) => drop(names.meet(&object).unwrap()),
                Item::Record(record) => {
                    names.follow(&record.data());
                    let Some(iid) = record.iid() else { continue };
                    let (Some(life), Some(named)) = (names.life(iid), names.get(iid)) else { continue };
                    let task = named.object().as_task().map(|task| task.name());
                    let (before, name) = *known.entry(iid).or_insert((life, task));
                    if before != life {
                        assert_ne!(name, task, "iid {iid}");
                        known.insert(iid, (life, task));
                        reused += 1;
                    } else {
                        assert_eq!(name, task, "iid {iid}");
                    }
                }
                _ => {}
            }
        }
    }
    println!("rfr-more: 2 files read, {reused} ids are of several objects");
    assert!(reused > 0);
}
