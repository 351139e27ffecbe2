//! What every event and every track tells keeps to the rules of listeners, in each sample of each format.

use crate::common::told::Checked;
use std::path::Path;
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::schema::Node;
use traceglass::event::{Item, Rooms, Source, Trace, ctf, rdf, rfr};
use traceglass::rfr::Site;

fn read(name: &str) -> Vec<Vec<u8>> {
    fn add(path: &Path, all: &mut Vec<Vec<u8>>) {
        if path.is_dir() {
            let mut paths: Vec<_> = path.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
            // The metadata of CTF stands before its streams.
            paths.sort_by_key(|path| (!path.ends_with("metadata"), path.clone()));
            return paths.iter().for_each(|path| add(path, all));
        }
        all.push(std::fs::read(path).unwrap());
    }
    let mut all = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(name), &mut all);
    all
}

/// All that the events and tracks of a trace tell.
fn told(inputs: &[&[u8]]) -> Vec<String> {
    let mut registry = vec![rfr::RegistrySlot::EMPTY; 256];
    let mut lanes = [const { rfr::Lane::EMPTY }; 16];
    let mut callsites = [Site::EMPTY; 64];
    let mut names = vec![rfr::NameSlot::EMPTY; 256];
    let (mut schema, mut nodes) = (None, vec![Node::EMPTY; 512]);
    let mut merge = [MergeSlot::EMPTY; 4];
    let mut streams = [ctf::StreamSlot::EMPTY; 4];
    let mut buffer = vec![0; 1 << 16];
    let mut decoded = vec![0; 1 << 20];
    let mut workspace = traceglass::zstd::Workspace::new();
    let mut tracks = vec![rdf::TrackSlot::EMPTY; 256];
    let mut chunks: Vec<_> = (0..64).map(|_| rdf::Lane::EMPTY).collect();
    let (mut tracks, mut chunks, mut registry, mut names) =
        (&mut tracks[..], &mut chunks[..], &mut registry[..], &mut names[..]);
    let rooms = Rooms::new()
        .rfr(&mut registry, &mut names, &mut lanes, &mut callsites)
        .ctf(&mut schema, &mut nodes, &mut merge, &mut streams)
        .rtc(&mut buffer)
        .rdf(&mut decoded, &mut workspace, &mut tracks, &mut chunks);
    let mut trace = Trace::<'_, '_, '_, 64>::open(inputs, rooms).unwrap();
    let mut checked = Checked::default();
    let mut all = Vec::new();
    while let Some(item) = trace.next_item().unwrap() {
        let line = match &item {
            Item::Track(track) => checked.tell(track),
            Item::Event(event) => checked.tell(event),
            _ => Ok(None),
        };
        all.extend(line.unwrap_or_else(|error| Some(format!("({error})"))));
    }
    all
}

#[test]
fn samples_keep_to_the_rules() {
    for (name, least) in [
        ("sample.rfr", 20),
        ("stream.rfr", 5),
        ("sample.ctf", 7),
        ("sample.ctf1", 7),
        ("sample.rtc", 100),
        ("sample.rgp", 4),
        ("sample.rdf", 0),
    ] {
        let inputs = read(name);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let lines = told(&inputs);
        assert!(lines.len() >= least, "{name}: {}", lines.len());
        // The same again, from the beginning.
        assert_eq!(told(&inputs), lines, "{name}");
    }
}
