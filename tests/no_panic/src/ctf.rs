//! The entries of `traceglass::ctf`.

use crate::slice_mut;
use crate::sum::Sum;
use traceglass::ctf::data::wire::{Capture, Scan, WireSlot, is_capture};
use traceglass::ctf::data::{Merge, MergeSlot, Packets, ProgramSlot, Programs, Stream, Value, check};
use traceglass::ctf::metadata::{Decoder, Form, MetadataStream, PacketHeader, ParseOptions, Step, compact};
use traceglass::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};
use traceglass::ctf::schema::{Node, Schema};
use traceglass::record::Source;

entries! {
    ctf_metadata_detect(data) { u64::from(Form::detect(data).is_some()) }
    ctf_metadata_header(data) {
        PacketHeader::parse(data).map_or(1, |header| u64::from(header.total_bytes() ^ header.padding_bytes()))
    }
    ctf_metadata_packets(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        let mut packets = stream.packets();
        let mut sum = 0;
        loop {
            for packet in packets.by_ref() {
                sum ^= packet.map_or(0, |packet| packet.offset() ^ packet.content().len() as u64 ^ packet.missing_padding());
            }
            match packets.recover() {
                Some(gap) => sum ^= gap.end(),
                None => return sum,
            }
        }
    }
    ctf_metadata_pieces(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        stream.pieces().map(|piece| piece.map_or(0, <[u8]>::len) as u64).sum()
    }
    ctf_metadata_fragments(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        let mut sum = 0;
        for fragment in stream.fragments() {
            let Ok(fragment) = fragment else { continue };
            sum ^= fragment.offset() ^ u64::from(fragment.check().is_ok()) ^ u64::from(fragment.kind().is_ok());
            for member in fragment.members() {
                sum ^= u64::from(member.is_ok());
            }
        }
        sum
    }
    ctf_metadata_classes(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        let mut sum = 0;
        for fragment in stream.fragments() {
            let Ok(fragment) = fragment else { continue };
            if let Ok(Some(preamble)) = fragment.preamble() {
                sum ^= preamble.version().unwrap_or(0);
            }
            if let Ok(Some(clock)) = fragment.clock_class() {
                sum ^= clock.frequency().unwrap_or(0) ^ clock.offset_cycles();
                if let Some(name) = clock.name() {
                    sum ^= name.decode(&mut [0; 32]).map_or(0, str::len) as u64;
                    sum ^= name.chars().count() as u64;
                }
            }
            if let Ok(Some(trace)) = fragment.trace_class() {
                sum ^= trace.environment().into_iter().count() as u64;
            }
        }
        sum
    }
    ctf_metadata_check(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        let mut found = 0;
        let checked = stream.check(&mut |finding| found ^= finding.cause().offset());
        found ^= checked.map_or(1, |summary| summary.errors());
        found
    }
    ctf_tsdl_compile(data) {
        let Ok(stream) = MetadataStream::parse_text(data) else { return 1 };
        let mut types = [TypeNode::default(); 64];
        let mut names = [NameEntry::default(); 64];
        let needed = tsdl::needed(stream, Workspace { nodes: &mut types, names: &mut names });
        let mut nodes = [Node::EMPTY; 64];
        let schema = tsdl::compile(stream, &mut nodes, Workspace { nodes: &mut types, names: &mut names });
        let sum = needed.map_or(0, |needed| needed.nodes);
        schema.map_or(sum, |schema| sum ^ schema.stream_classes().count() as u64)
    }
    ctf_tsdl_position(data) {
        let Ok(stream) = MetadataStream::parse_text(data) else { return 1 };
        let at = tsdl::position(stream, data.len() as u64 / 2);
        at.line ^ at.column ^ at.text.len()
    }
    ctf_metadata_decoder(data) {
        let mut decoder = Decoder::new(ParseOptions::STRICT);
        let (mut input, mut sum) = (data, 0);
        loop {
            match decoder.step(&mut input) {
                Ok(Step::Packet(header)) => sum ^= u64::from(header.content_bytes()),
                Ok(Step::Content(content)) => sum ^= content.len() as u64,
                Ok(Step::NeedMore(needed)) => return sum ^ needed ^ u64::from(decoder.finish().is_ok()),
                Ok(_) => {}
                Err(error) => return sum ^ error.offset(),
            }
        }
    }
}

/// # Safety
///
/// As `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_metadata_compact(data: *mut u8, len: usize) -> u64 {
    compact(unsafe { slice_mut(data, len) }, ParseOptions::STRICT)
        .map_or(1, |compacted| compacted.text().len() as u64)
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_metadata_copy(data: *const u8, len: usize, buffer: *mut u8, room: usize) -> u64 {
    let (data, buffer) = unsafe { (crate::slice(data, len), slice_mut(buffer, room)) };
    let Ok(stream) = MetadataStream::parse(data) else { return 1 };
    let Ok(text) = stream.text() else { return 2 };
    text.copy_to(buffer).map_or(3, |text| text.len() as u64)
}

/// The values of the fields of a scope, folded.
fn fold(fields: Option<traceglass::ctf::data::Fields<'_, '_>>) -> u64 {
    let mut sum = 0_u64;
    for field in fields.into_iter().flatten() {
        let Ok(field) = field else { return sum ^ 1 };
        sum ^= match field.value() {
            Value::Unsigned(value) => value ^ field.class().labels(value.into()).count() as u64,
            Value::Signed(value) => value as u64,
            Value::Boolean(value) => value.into(),
            Value::Bits(bits) | Value::Wide(bits) => bits.words().fold(0, |sum, word| sum ^ word),
            Value::Float(value) => value.to_f64().map_or(0, f64::to_bits),
            Value::Text(text) => text.chars().filter(|c| c.is_ok()).count() as u64,
            Value::Blob(bytes) => bytes.len() as u64,
            Value::Array(count) => count,
            Value::Variant(index) => index.into(),
            _ => 2,
        };
        if let Some(name) = field.name() {
            sum ^= name.chars().count() as u64;
        }
    }
    sum
}

/// Any metadata with any data.
///
/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_data_read(data: *const u8, len: usize, metadata: *const u8, size: usize) -> u64 {
    let (data, metadata) = unsafe { (crate::slice(data, len), crate::slice(metadata, size)) };
    let Ok(stream) = MetadataStream::parse(metadata) else { return 1 };
    let mut nodes = [Node::EMPTY; 128];
    let Ok(schema) = Schema::compile(&stream, &mut nodes) else { return 2 };
    let mut sum = 0;
    for packet in Packets::new(data, &schema) {
        let Ok(packet) = packet else { continue };
        sum ^= fold(packet.header()) ^ fold(packet.context()) ^ packet.total_bits();
        if let Ok(Some(short)) = packet.shortened(packet.header_bits()) {
            let done = short.write(&mut |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) });
            sum ^= u64::from(done.is_ok()) ^ short.size();
        }
        if let Ok(Some(reframed)) = packet.with_records(|record| record.class().id() & 1 == 0) {
            let done = reframed.write(&mut |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) });
            sum ^= u64::from(done.is_ok()) ^ reframed.size() ^ reframed.content_bits();
            sum ^= reframed.begin().unwrap_or(1) ^ reframed.end().unwrap_or(1);
        }
        for record in packet.records() {
            let Ok(record) = record else { continue };
            sum ^= record.nanoseconds().unwrap_or(0) as u64 ^ record.class().id();
            sum ^= fold(record.header()) ^ fold(record.common_context());
            sum ^= fold(record.specific_context()) ^ fold(record.payload());
        }
        let mut records = packet.records();
        while let Ok(Some(_)) = records.next_record() {
            let Some(fields) = records.payload() else { continue };
            let read = fields.each_field(|field| {
                if let Value::Unsigned(value) = field.value() {
                    sum ^= value;
                }
            });
            sum ^= u64::from(read.is_ok());
        }
    }
    sum
}

/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_data_merge(
    data: *const u8,
    len: usize,
    metadata: *const u8,
    size: usize,
) -> u64 {
    let (data, metadata) = unsafe { (crate::slice(data, len), crate::slice(metadata, size)) };
    let Ok(stream) = MetadataStream::parse(metadata) else { return 1 };
    let mut nodes = [Node::EMPTY; 128];
    let Ok(schema) = Schema::compile(&stream, &mut nodes) else { return 2 };
    let mut slots = [const { MergeSlot::EMPTY }; 2];
    let mut merge = Merge::new(&mut slots);
    let mut sum = u64::from(merge.add(Packets::new(data, &schema)).is_ok());
    sum ^= u64::from(merge.add(Packets::new(data, &schema)).is_ok());
    loop {
        match merge.next_record() {
            Ok(Some(merged)) => sum ^= merged.record().end(),
            Ok(None) => break,
            Err(_) => sum ^= u64::from(merge.recover().is_some()),
        }
    }
    sum
}

/// Captures: packets found, sorted, and read.
///
/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_data_wire(data: *const u8, len: usize, metadata: *const u8, size: usize) -> u64 {
    let (data, metadata) = unsafe { (crate::slice(data, len), crate::slice(metadata, size)) };
    let Ok(stream) = MetadataStream::parse(metadata) else { return 1 };
    let mut nodes = [Node::EMPTY; 128];
    let Ok(schema) = Schema::compile(&stream, &mut nodes) else { return 2 };
    let mut slots = [WireSlot::EMPTY; 64];
    let scan = Scan::new(data, &schema).skip_bytes(data.len() as u64 / 8);
    let Ok(capture) = Capture::read(scan, &mut slots[..]) else { return 3 };
    let mut sum = capture.work() ^ u64::from(is_capture(data, &schema));
    for track in capture.tracks() {
        for packet in Packets::of_track(data, &schema, track) {
            let Ok(packet) = packet else { continue };
            sum ^= packet.records().count() as u64 ^ u64::from(packet.is_doubtful());
        }
    }
    for slot in capture.others() {
        sum ^= slot.lost().map_or(0, |(start, end)| start ^ end) ^ slot.kind().name().len() as u64;
    }
    sum
}

/// Records told by steps and without them, and checked.
///
/// # Safety
///
/// As `slice`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctf_data_tell(data: *const u8, len: usize, metadata: *const u8, size: usize) -> u64 {
    let (data, metadata) = unsafe { (crate::slice(data, len), crate::slice(metadata, size)) };
    let Ok(stream) = MetadataStream::parse(metadata) else { return 1 };
    let mut nodes = [Node::EMPTY; 128];
    let Ok(schema) = Schema::compile(&stream, &mut nodes) else { return 2 };
    let mut steps = [ProgramSlot::EMPTY; 128];
    let mut sum = Sum(Programs::needed(&schema));
    for programs in [Programs::compile(&schema, &mut steps).unwrap_or(Programs::NONE), Programs::NONE] {
        let mut stream = Stream::new(Packets::new(data, &schema), programs);
        loop {
            match stream.peek() {
                Ok(Some(_)) => sum.0 ^= u64::from(stream.tell(&mut sum).is_ok()),
                Ok(None) => break,
                Err(error) => sum.0 ^= error.offset(),
            }
        }
        let summary = check(data, &schema, programs, &mut |finding| sum.0 ^= finding.cause().offset());
        sum.0 ^= summary.records();
    }
    sum.0
}

entries! {
    ctf_schema_compile(data) {
        let Ok(stream) = MetadataStream::parse(data) else { return 1 };
        let mut nodes = [Node::EMPTY; 128];
        let needed = Schema::needed(&stream).unwrap_or(0);
        match Schema::compile(&stream, &mut nodes) {
            Ok(schema) => schema.stream_classes().flat_map(|class| class.event_classes()).map(|class| class.id()).sum(),
            Err(error) => error.offset() ^ needed,
        }
    }
}

entries! {
    ctf_schema_table(data) {
        let mut nodes = [Node::EMPTY; 128];
        let copied = Schema::load(data, &mut nodes);
        let sum = match &copied {
            Ok(schema) => schema.environment().map(|(name, _)| name.chars().count() as u64).sum(),
            Err(error) => error.offset(),
        };
        let mut buffer = [0; 256];
        let written = copied.and_then(|schema| schema.write(&mut buffer).map(|table| table.len() as u64));
        sum ^ written.unwrap_or(1) ^ Schema::parse(data).map_or(2, |schema| schema.metadata_hash())
    }
}
