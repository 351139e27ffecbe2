//! Inputs that fuzzing has collected are read to their end, as any trace: as a file of the same bytes, or as a CTF
//! trace whose metadata ends at the first 0xff. `.ci/steps.sh` gives them to their own targets, too.

use crate::told::each;
use std::collections::HashSet;
use std::path::Path;
use traceglass::event::{Item, Window};

/// The inputs of a file of `fuzz/seeds`: each after its length.
fn inputs(packed: &[u8]) -> Vec<&[u8]> {
    let mut inputs = Vec::new();
    let mut rest = packed;
    while let Some((len, after)) = rest.split_first_chunk() {
        let (input, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        inputs.push(input);
        rest = after;
    }
    assert!(rest.is_empty(), "the file is cut");
    inputs
}

/// Reads a trace; whether it is one.
fn walk(files: &[&[u8]]) -> bool {
    let len: usize = files.iter().map(|file| file.len()).sum();
    let (mut items, mut ended) = (0_usize, HashSet::new());
    let read = each(files, Window::ALL, &mut |item| {
        items += 1;
        // An event takes bytes: no bit stands for more than a few.
        assert!(items <= 4096 + len * 64, "{items} items in {len} bytes");
        if let Item::Event(event) = item {
            let file = files[event.input()];
            assert!(event.offset() <= file.len() as u64, "{event:?}");
            assert!(!ended.contains(&event.track()), "{event:?}");
        }
        if let Item::Ended(track) = item {
            assert!(ended.insert(*track), "{track} ends twice");
        }
    });
    read.is_ok()
}

#[test]
fn collected_inputs_are_read_to_their_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let (mut count, mut traces, mut targets, mut size) = (0, 0, 0, 0);
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let packed = std::fs::read(&path).unwrap();
        let inputs = inputs(&packed);
        assert!(!inputs.is_empty(), "{}", path.display());
        (targets, size) = (targets + 1, size + packed.len());
        let is_call = path.file_stem().is_some_and(|name| name == "command");
        for input in inputs {
            let input = input.get(if is_call { 2 } else { 0 }..).unwrap_or_default();
            traces += usize::from(walk(&[input]));
            if let Some(at) = input.iter().position(|byte| *byte == 0xff) {
                let (metadata, stream) = input.split_at(at);
                traces += usize::from(walk(&[metadata, stream]));
            }
            count += 1;
        }
    }
    println!("{count} inputs of {targets} targets, {traces} of them traces");
    assert!(targets >= 28 && count > 5_000 && traces > 500, "{targets} {count} {traces}");
    assert!(size <= 2_000_000, "{size} bytes");
}
