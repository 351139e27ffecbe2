//! The parts of a trace's packets by which they are recognized.

use crate::ctf::data::packet::MAGIC_NUMBER;
use crate::ctf::schema::Schema;
use crate::ctf::schema::node::{BIG, Kind, NONE, Node, role};
use crate::ctf::schema::scope::{Scope, root_of};

/// The beginning and the end of a trace's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The bytes with which each packet begins.
    pub(super) magic: Option<[u8; 4]>,
    pub(super) has_uuid: bool,
    /// All stream classes have sizes.
    pub(super) has_sizes: bool,
    /// There is nothing but records, each of which begins with any byte.
    pub(super) is_bare: bool,
}

impl Layout {
    pub(super) fn of(schema: &Schema<'_, '_>) -> Self {
        let magic = fields(schema, schema.header).find(|node| node.meaning() & role::MAGIC != 0);
        let magic = magic
            .map(|node| if node.has(BIG) { MAGIC_NUMBER.to_be_bytes() } else { MAGIC_NUMBER.to_le_bytes() });
        let has_uuid = schema.uuid().is_some()
            && fields(schema, schema.header).any(|node| node.meaning() & role::UUID != 0);
        let sizes = role::TOTAL_LENGTH | role::CONTENT_LENGTH;
        let has_sizes = (0..schema.stream_count()).all(|at| {
            let root = root_of(schema.nodes, schema.stream_at(at), Scope::PacketContext);
            fields(schema, root).any(|node| node.meaning() & sizes != 0)
        });
        let has_packets = schema.header != NONE
            || (0..schema.stream_count())
                .any(|at| root_of(schema.nodes, schema.stream_at(at), Scope::PacketContext) != NONE);
        let is_bare = !has_packets && schema.nodes.0.iter().all(|node| node.align_log2() <= 3);
        Self { magic, has_uuid, has_sizes, is_bare }
    }
}

/// The number of bits of the time the fields of a scope have that say one; 0 if none does.
pub(super) fn time_bits(schema: &Schema<'_, '_>, root: u32) -> u8 {
    let time = fields(schema, root).find(|node| node.meaning() & role::TIMESTAMP != 0);
    time.map_or(0, |node| match node.kind {
        Kind::Unsigned => u8::try_from(node.a).unwrap_or(64).min(64),
        _ => 64,
    })
}

/// The classes of all fields of a scope.
fn fields<'s>(schema: &Schema<'_, 's>, root: u32) -> impl Iterator<Item = &'s Node> + use<'s> {
    let nodes = schema.nodes;
    let range = if root == NONE { 0..0 } else { root..nodes.end(root) };
    range.map(move |index| nodes.get(index))
}
