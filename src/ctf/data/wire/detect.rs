//! True if a file is a capture.

use super::alike::{Alike, Facts};
use super::kind::WireKind;
use super::layout::Layout;
use super::scan::Scan;
use crate::bytes::to_u64;
use crate::ctf::data::packets::Packets;
use crate::ctf::schema::Schema;

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
    let (mut owner, mut last, mut alike) = (None, None, None::<Alike<'_>>);
    let (mut offset, mut number) = (0_u64, 0_u64);
    while let Some(rest) =
        usize::try_from(offset).ok().and_then(|at| data.get(at..)).filter(|rest| !rest.is_empty())
    {
        if number > LOOK_MAX {
            return false;
        }
        let facts = match alike.as_ref().and_then(|alike| alike.facts(rest)) {
            Some(facts) => facts,
            None => {
                let packet = match Packets::from_packet(data, schema, offset, number).next_packet() {
                    Ok(Some(packet)) => packet,
                    Ok(None) => return false,
                    // A header in which the input ends is still being written.
                    Err(error) => return layout.magic.is_some() && !error.is_truncation(),
                };
                let this = (packet.stream_class().id(), packet.stream_id(), packet.cpu());
                if owner.is_some_and(|owner| owner != this) {
                    return true;
                }
                // A length that is wrong reaches over other packets.
                if packet.is_cut() {
                    let next = Scan::new(data, schema).skip_bytes(offset).next_slot();
                    return is_back(last, &Facts::of(&packet))
                        || (layout.magic.is_some() && next.is_some_and(|next| next.kind() != WireKind::Cut));
                }
                owner = Some(this);
                alike = alike.or_else(|| Alike::of(&packet, schema));
                Facts::of(&packet)
            }
        };
        if is_back(last, &facts) {
            return true;
        }
        let known = last.and_then(|(_, begin)| begin);
        last = Some((facts.sequence, facts.stamp().or(known)));
        offset = offset.saturating_add(facts.bytes);
        number = number.saturating_add(1);
    }
    false
}

/// True if a packet comes before the last one, by the number and the begin of that.
fn is_back(last: Option<(Option<u64>, Option<u64>)>, facts: &Facts) -> bool {
    last.is_some_and(|(sequence, begin)| {
        sequence.zip(facts.sequence).is_some_and(|(last, this)| this < last)
            || begin.zip(facts.stamp()).is_some_and(|(last, this)| this < last)
    })
}
