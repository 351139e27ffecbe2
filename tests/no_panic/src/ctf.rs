//! The entries of `traceglass::ctf`.

use crate::slice_mut;
use traceglass::ctf::metadata::{Decoder, Form, ParseOptions, MetadataStream, PacketHeader, Step, compact};
use traceglass::ctf::schema::Node;
use traceglass::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};

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
