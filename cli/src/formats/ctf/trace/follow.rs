//! Streams that grow.

use super::{Compiled, Stream};
use crate::output::Out;
use crate::trace::Cursor;
use std::collections::HashMap;
use std::path::PathBuf;
use traceglass::ctf::data::Packets;

/// How far a stream was printed: its last packet, with number and end.
#[derive(Clone, Copy, Default)]
pub struct End {
    offset: u64,
    number: u64,
    end: u64,
    /// Whether it cannot be followed.
    is_lost: bool,
}

pub type Ends = HashMap<PathBuf, End>;

pub fn take_ends(cursor: &mut Cursor) -> Ends {
    cursor.kept.take().and_then(|kept| kept.downcast::<Ends>().ok()).map_or_else(Ends::default, |ends| *ends)
}

/// The packets of a stream that grows which are whole, and were not printed before.
pub fn whole<'c>(
    stream: &'c Stream,
    trace: &'c Compiled<'c>,
    ends: &mut Ends,
    out: &mut Out,
) -> Packets<'c, 'c> {
    let data = stream.data.data();
    let none = Packets::new(&[], &trace.schema);
    let known = ends.entry(stream.path.clone()).or_default();
    if known.is_lost {
        return none;
    }
    let mut packets = Packets::new(data, &trace.schema);
    if known.end > 0 {
        packets = Packets::from_packet(data, &trace.schema, known.offset, known.number);
        let last = packets.next_packet().ok().flatten();
        if last.is_none_or(|last| last.end_offset() != known.end) {
            known.is_lost = true;
            out.warn(&stream.path, "cannot be followed: its packets do not say how long they are");
            return none;
        }
    }
    let (first, number) = (packets.offset(), known.number.saturating_add(u64::from(known.end > 0)));
    let mut end = first;
    loop {
        match packets.next_packet() {
            Ok(Some(packet)) if !packet.is_cut() => {
                end = packet.end_offset();
                *known = End { offset: packet.offset(), number: packet.number(), end, is_lost: false };
            }
            Err(error) if !error.is_truncation() => {
                // Whoever reads it reports what is wrong.
                known.is_lost = true;
                end = data.len() as u64;
                break;
            }
            _ => break,
        }
    }
    let data = usize::try_from(end).ok().and_then(|end| data.get(..end)).unwrap_or(data);
    Packets::from_packet(data, &trace.schema, first, number)
}
