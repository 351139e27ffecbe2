//! Recordings of the real writer in which instrumentation ids recur.

use crate::folder;
use traceglass::rfr::{Chunk, LifetimeEntry, Lifetimes};

/// Ids that recur in a recording of the real writer.
#[test]
fn ids_of_a_real_recording_recur() {
    let Some(root) = folder("rfr-more") else { return };
    let root = root.join("iid-reused/2026-11/21-00");
    let files = ["chunk-00-00.rfr", "chunk-00-01.rfr"].map(|name| std::fs::read(root.join(name)).unwrap());
    let chunks = [Chunk::parse(&files[0]).unwrap(), Chunk::parse(&files[1]).unwrap()];
    let mut entries = vec![LifetimeEntry::EMPTY; 10_000];
    let objects = Lifetimes::of_chunks(&chunks, &mut entries).unwrap();
    let mut reused = 0;
    for lifetime in objects.iter() {
        let iid = lifetime.object().iid();
        let [first, second] = [0, 1].map(|place| objects.get(place, iid));
        if let (Some(first), Some(second)) = (first, second)
            && first.number() != second.number()
        {
            let [first, second] = [first, second].map(|one| one.object().as_task().map(|task| task.name()));
            assert_ne!(first, second);
            reused += 1;
        }
    }
    println!("rfr-more: 2 files read, {reused} ids are of several objects");
    assert!(reused > 0);
}
