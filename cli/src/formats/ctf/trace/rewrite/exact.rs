//! Packets of which only the records in the range are kept.

use super::super::wire::Lane;
use crate::output::shown;
use crate::status::{Failure, Result};
use crate::trace::{Bounds, Digest, widen};
use traceglass::ctf::data::{Fields, Packet, Record, Reframed, Value};

/// The records of a packet that are in the range: how many, of how many there are, and the first and the last time.
#[derive(Clone, Copy, Default)]
pub struct Kept {
    pub records: u64,
    pub of: u64,
    pub span: Option<(i128, i128)>,
}

impl Kept {
    pub fn of(packet: &Packet<'_, '_>, bounds: &Bounds) -> Self {
        let mut kept = Self::default();
        for record in packet.records().map_while(Result::ok) {
            kept.of = kept.of.saturating_add(1);
            let Some(time) = record.nanoseconds().filter(|time| bounds.wants(Some(*time))) else { continue };
            kept.records = kept.records.saturating_add(1);
            widen(&mut kept.span, time, time);
        }
        kept
    }
}

/// The packet with the records in the range alone.
pub fn reframed<'p, 'a, 's>(
    lane: &Lane<'_>,
    packet: &'p Packet<'a, 's>,
    bounds: &'p Bounds,
) -> Result<Reframed<'p, 'a, 's, impl Fn(&Record<'_, 'a, 's>) -> bool + use<'p, 'a, 's>>> {
    let wants = |record: &Record<'_, 'a, 's>| bounds.wants(record.nanoseconds());
    let reframed = packet.with_records(wants).ok().flatten();
    reframed.ok_or_else(|| {
        Failure::usage(format!(
            "{}: the packet at {:#x} cannot be taken apart: its lengths or times have no room for other ones. Without \
             --exact it is kept as a whole",
            shown(&lane.stream.path),
            packet.offset()
        ))
    })
}

/// Adds a packet whose records were moved: what tells it from others, and what its records say.
pub fn hash(packet: &Packet<'_, '_>, keep: impl Fn(&Record<'_, '_, '_>) -> bool, digest: &mut Digest) {
    let number = |number: Option<u64>| number.unwrap_or(u64::MAX);
    let (class, stream) = (packet.stream_class().id(), number(packet.stream_id()));
    digest.add(&[class, stream, number(packet.sequence()), number(packet.discarded())], &[]);
    for record in packet.records().map_while(Result::ok).filter(|record| keep(record)) {
        let mut said = Vec::new();
        let scopes = [record.common_context(), record.specific_context(), record.payload()];
        scopes.into_iter().flatten().for_each(|mut fields| add(&mut fields, &mut said));
        digest.add(&[class, stream, record.class().id(), number(record.cycles())], &said);
    }
}

/// Adds the values of fields.
fn add(fields: &mut Fields<'_, '_>, said: &mut Vec<u8>) {
    // Fields of a record that was delivered can be read.
    let _ = fields.each_field(|field| match field.value() {
        Value::Unsigned(value) | Value::Array(value) => said.extend(value.to_le_bytes()),
        Value::Signed(value) => said.extend(value.to_le_bytes()),
        Value::Boolean(value) | Value::Optional(value) => said.push(value.into()),
        Value::Variant(option) => said.extend(option.to_le_bytes()),
        Value::Wide(bits) | Value::Bits(bits) => said.extend(bits.words().flat_map(u64::to_le_bytes)),
        Value::Float(float) => said.extend(float.bits().words().flat_map(u64::to_le_bytes)),
        Value::Text(text) => said.extend(text.bytes()),
        Value::Blob(bytes) => said.extend(bytes),
        _ => said.push(b'.'),
    });
}
