//! Any bytes as a capture: each byte is in one slot, the records can be read, and the work is linear.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::data::Packets;
use traceglass::ctf::data::wire::{Capture, Scan, ScanMark, WireSlot, is_capture};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema, Scope};

/// Packets with a magic number, sizes, a processor and a sequence number, and one kind of event.
const FRAMED: &str = concat!(
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; } := u32;",
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u8 stream_id; }; };",
    "clock { name = c; freq = 1000000; };",
    "typealias integer { size = 16; align = 8; map = clock.c.value; } := t;",
    "stream { id = 0; packet.context := struct { u8 packet_size; u8 content_size; u8 packet_seq_num; t timestamp_begin;",
    " t timestamp_end; u8 cpu_id; }; event.header := struct { u8 id; t timestamp; }; };",
    "event { id = 0; name = e; stream_id = 0; fields := struct { u8 a; string b; }; };",
);

/// No packets: one record after the other.
const BARE: &str = concat!(
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8;",
    "trace { major = 1; minor = 8; byte_order = be; }; clock { name = c; freq = 1000; };",
    "typealias integer { size = 16; align = 8; map = clock.c.value; } := t;",
    "stream { event.header := struct { t timestamp; u8 id; }; };",
    "event { id = 1; name = e; fields := struct { u8 a; }; }; event { id = 2; name = f; fields := struct { string s; }; };",
);

fuzz_target!(|data: &[u8]| {
    for metadata in [FRAMED, BARE] {
        let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
        let mut nodes = [Node::EMPTY; 256];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        read(data, &schema);
        // The packets that a device would have sent, with what is in between changed by the input.
        let magic = 0xc1fc_1fc1_u32.to_le_bytes();
        let framed: Vec<u8> = data.chunks(40).flat_map(|chunk| [&magic[..], chunk].concat()).collect();
        read(&framed, &schema);
    }
});

fn read(data: &[u8], schema: &Schema<'_, '_>) {
    let capture = Capture::read(Scan::new(data, schema), Vec::<WireSlot>::new()).unwrap();
    let most = 64 * data.len() as u64 + 8192;
    assert!(capture.work() <= most, "{} steps for {} bytes", capture.work(), data.len());
    let mut slots: Vec<&WireSlot> = capture.slots().iter().chain(capture.others()).collect();
    slots.sort_by_key(|slot| (slot.offset(), slot.end()));
    for slot in &slots {
        assert!(slot.offset() <= slot.end() && slot.end() <= data.len() as u64);
    }
    let mut count = 0_u64;
    for track in capture.tracks() {
        assert!(!track.is_empty() && track.iter().all(|slot| slot.session() < capture.sessions().max(1)));
        for packet in Packets::of_track(data, schema, track).map_while(Result::ok) {
            count += packet.records().map_while(Result::ok).count() as u64;
        }
    }
    // The smallest record has three bytes.
    assert!(count <= data.len() as u64 / 3);
    is_capture(data, schema);
    grow(data, schema);
}

/// Packets found while the bytes come are those found in all of them; records without packets come in more runs.
fn grow(data: &[u8], schema: &Schema<'_, '_>) {
    let step = 1 + usize::from(data.first().copied().unwrap_or(0)) % 64;
    let (mut mark, mut end, mut found) = (ScanMark::default(), 0, Vec::new());
    while end < data.len() {
        end = (end + step).min(data.len());
        let mut scan = Scan::from_mark(&data[..end], schema, mark).growing();
        found.extend(scan.by_ref());
        mark = scan.mark();
    }
    found.extend(Scan::from_mark(data, schema, mark));
    let whole: Vec<WireSlot> = Scan::new(data, schema).collect();
    let facts =
        |slot: &WireSlot| (slot.kind(), slot.offset(), slot.len(), slot.content_bits(), slot.records());
    let records = |slots: &[WireSlot]| slots.iter().map(WireSlot::records).sum::<u64>();
    assert_eq!(records(&found), records(&whole));
    if schema.stream_classes().any(|class| class.scope(Scope::PacketContext).is_some()) {
        assert!(found.iter().map(facts).eq(whole.iter().map(facts)), "{found:?}\n{whole:?}");
    }
    let sorted = Capture::of_growing(data, found);
    assert_eq!(sorted.slots().iter().map(WireSlot::len).sum::<u64>(), data.len() as u64);
}
