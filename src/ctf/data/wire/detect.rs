//! What tells a capture from a stream.

use super::kind::WireKind;
use super::layout::Layout;
use super::scan::Scan;
use crate::bytes::to_u64;
use crate::ctf::data::packets::Packets;
use crate::ctf::schema::Schema;

/// True if records come without packets: then a file of them is read as a capture while it grows.
pub fn is_bare(schema: &Schema<'_, '_>) -> bool {
    let layout = Layout::of(schema);
    layout.is_bare && !layout.has_sizes
}

/// The number of packets that are looked at.
const LOOK_MAX: u64 = 1 << 16;

/// True if the bytes are those of a capture rather than of one stream, by the headers of up to 65,536 packets: they are
/// of several streams or processors, not in order, or there is something between them.
///
/// False if packets have no magic number: they cannot be found again after damage.
pub fn is_capture(data: &[u8], schema: &Schema<'_, '_>) -> bool {
    let layout = Layout::of(schema);
    if !layout.has_sizes {
        // Without a magic number, the scan would go over all of it for nothing.
        let first = layout.magic.and_then(|_| Scan::new(data, schema).next_slot());
        return first.is_some_and(|first| first.end() < to_u64(data.len()));
    }
    let (mut owner, mut last) = (None, None);
    let mut packets = Packets::new(data, schema);
    for _ in 0..LOOK_MAX {
        if packets.offset() >= to_u64(data.len()) {
            return false;
        }
        let packet = match packets.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => return false,
            // A header in which the input ends is still being written.
            Err(error) => return layout.magic.is_some() && !error.is_truncation(),
        };
        let this = (packet.stream_class().id(), packet.stream_id(), packet.cpu());
        if owner.is_some_and(|owner| owner != this) {
            return true;
        }
        // A stamp that contradicts the packet's own end says nothing about the order.
        let begin = packet.begin().filter(|begin| packet.end().is_none_or(|end| *begin <= end));
        let is_back = last.is_some_and(|(sequence, known): (Option<u64>, Option<u64>)| {
            sequence.zip(packet.sequence()).is_some_and(|(last, this)| this < last)
                || known.zip(begin).is_some_and(|(last, this)| this < last)
        });
        if is_back {
            return true;
        }
        // A length that is wrong reaches over other packets.
        if packet.is_cut() {
            let next = Scan::new(data, schema).skip_bytes(packet.offset()).next_slot();
            return layout.magic.is_some() && next.is_some_and(|next| next.kind() != WireKind::Cut);
        }
        let known = last.and_then(|(_, begin)| begin);
        (owner, last) = (Some(this), Some((packet.sequence(), begin.or(known))));
    }
    false
}
