//! Any text as a table of pairs, and the states that it finds in a trace.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::ctf::Timeline;
use traceglass::event::states::{Rooms, States, Storage, Table};
use traceglass::event::{EventKind, Item, Source as _};
use traceglass_fuzz::located_in;

const METADATA: &str = concat!(
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8;",
    "trace { major = 1; minor = 8; byte_order = le; }; clock { name = c; freq = 1000; };",
    "typealias integer { size = 8; align = 8; map = clock.c.value; } := t;",
    "stream { event.header := struct { t timestamp; u8 id; }; };",
    "event { id = 0; name = a_entry; fields := struct { u8 tid; }; };",
    "event { id = 1; name = a_exit; fields := struct { u8 tid; }; };",
    "event { id = 2; name = b_begin; fields := struct { u8 id; string s; }; };",
    "event { id = 3; name = b_end; fields := struct { u8 id; }; };",
    "event { id = 4; name = thread_switched_in; fields := struct { u8 thread_id; string name; }; };",
    "event { id = 5; name = thread_switched_out; fields := struct { u8 thread_id; string name; }; };",
);

fuzz_target!(|data: &[u8]| {
    // No byte of UTF-8 is 0xff.
    let at = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len());
    let (text, data) = data.split_at(at);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (mut rules, mut ops, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut table = Table::new(Rooms { rules: &mut rules, ops: &mut ops, names: &mut names });
    if let Err(error) = table.add(text) {
        return located_in(&error, text.as_bytes());
    }
    table.add(Table::BUILT_IN).unwrap();

    let stream = MetadataStream::parse(METADATA.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 256];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let mut storage = Storage::default();
    let mut states = States::new(&table, &["stream"], storage.rooms()).unwrap();
    let mut slots = [MergeSlot::EMPTY; 1];
    let mut before = Timeline::new(&mut slots, Vec::new());
    before.add(0, data, &schema).unwrap();
    while let Some(item) = before.next_item().unwrap() {
        if let Item::Event(event) = &item {
            states.learn(event).unwrap();
        }
    }
    let mut slots = [MergeSlot::EMPTY; 1];
    let mut timeline = Timeline::new(&mut slots, Vec::new());
    timeline.add(0, data, &schema).unwrap();
    let (begun, ended) = (Cell::new(0_u64), Cell::new(0_u64));
    let mut take = |item: &Item<'_>| {
        if let Item::Event(event) = item
            && event.slice().is_some()
        {
            match event.kind() {
                EventKind::Begin => begun.set(begun.get() + 1),
                EventKind::End => ended.set(ended.get() + 1),
                _ => {}
            }
        }
        Ok::<(), traceglass::Error>(())
    };
    while let Some(item) = timeline.next_item().unwrap() {
        states.item(&item, &mut take).unwrap();
    }
    states.finish(&mut take).unwrap();
    // Each begin has an end, open or not, and nothing ends twice.
    assert_eq!(begun.get(), ended.get());
});
