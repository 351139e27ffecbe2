//! Invariants of TSDL, whatever the text.

use crate::located_in;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::tsdl::{NameEntry, TypeNode, Workspace, compile, needed, position};
use traceglass::ctf::schema::{Node, Scope};
use traceglass::{ErrorKind, Result};

/// Compiles a text in one piece and in packets of a size that cuts it anywhere, and reads a stream with the schema.
pub fn check(text: &[u8], size: usize, data: &[u8]) {
    if matches!(text, [0x1e, ..] | [0x75, 0x1d, ..] | [0x75, 0xd1, ..] | [0x57, 0x1d, ..]) {
        return;
    }
    let packets: Vec<u8> = text.chunks(size).flat_map(packet).collect();
    let whole = outline(text, data);
    if !text.is_empty() {
        let parts = outline(&packets, data);
        assert_eq!(whole.is_ok(), parts.is_ok());
        if let (Ok(whole), Ok(parts)) = (whole, parts) {
            assert_eq!(whole, parts);
        }
    }
}

/// A packet of version 1.8, little-endian, with padding that looks like text.
fn packet(content: &[u8]) -> Vec<u8> {
    let padding = b"};";
    let content_size = (37 + content.len()) as u32 * 8;
    let mut packet = Vec::from(0x75d1_1d57_u32.to_le_bytes());
    packet.extend([7; 20]);
    packet.extend(content_size.to_le_bytes());
    packet.extend((content_size + padding.len() as u32 * 8).to_le_bytes());
    packet.extend([0, 0, 0, 1, 8]);
    packet.extend(content);
    packet.extend(padding);
    packet
}

fn outline(metadata: &[u8], data: &[u8]) -> Result<String> {
    let stream = MetadataStream::parse_text(metadata)?;
    let mut types = [TypeNode::default(); 400];
    let mut names = [NameEntry::default(); 400];
    let tell = |error: traceglass::Error| {
        located_in(&error, metadata);
        let at = position(stream, error.offset());
        assert!(at.line >= 1 && at.column >= 1 && at.column <= at.text.len() + 2);
        error
    };
    let needed = needed(stream, Workspace { nodes: &mut types, names: &mut names }).map_err(tell)?;
    // The stated need suffices, and one less does not.
    let types = &mut types[..needed.workspace_nodes as usize];
    let names = &mut names[..needed.workspace_names as usize];
    let mut nodes = vec![Node::EMPTY; needed.nodes as usize];
    if let Some((_, less)) = nodes.split_last_mut() {
        let error = compile(stream, less, Workspace { nodes: types, names }).unwrap_err();
        assert!(
            !matches!(error.kind(), ErrorKind::CapacityExceeded { capacity, needed } if needed <= capacity)
        );
    }
    let schema = match compile(stream, &mut nodes, Workspace { nodes: types, names }) {
        Ok(schema) => schema,
        Err(error) => {
            let is_slot = error.element() != traceglass::ctf::schema::element::SCHEMA;
            assert!(is_slot || !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }), "{error}");
            return Err(tell(error));
        }
    };
    let mut outline = format!("{}", needed.nodes);
    for class in schema.stream_classes() {
        outline += &format!(" {}", class.id());
        for event in class.event_classes() {
            let fields = event.scope(Scope::Payload).map_or(0, |payload| payload.children().count());
            outline += &format!(" {}:{fields}", event.id());
            outline.extend(event.name().iter().flat_map(|name| name.chars()));
        }
    }
    let mut budget = 10_000;
    let mut packets = Packets::new(data, &schema);
    while let Ok(Some(packet)) = packets.next_packet() {
        let mut records = packet.records();
        while let Ok(Some(record)) = records.next_record() {
            outline += &format!(" {}", record.end());
            let mut fields = record.payload();
            while let Some(field) = fields.as_mut().and_then(|fields| fields.next_field().expect("a field")) {
                budget -= 1;
                if budget == 0 {
                    return Ok(outline);
                }
                if let Value::Unsigned(value) = field.value() {
                    outline += &format!(",{value}");
                }
            }
        }
    }
    Ok(outline)
}
