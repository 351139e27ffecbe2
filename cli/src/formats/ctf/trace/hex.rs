//! The field of the record that each byte belongs to.

use crate::status::{Result, Status};
use crate::trace::{Field, Fields};
use std::fmt::Write as _;
use traceglass::ctf::data::wire::{WireKind, WireSlot};
use traceglass::ctf::data::{self, BitString, Packet, Packets, Record, Value};
use traceglass::ctf::schema::{FieldKind, Schema, Scope};

/// Hands out the fields of a stream.
pub fn hex(data: &[u8], schema: &Schema<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Status> {
    let range = fields.range();
    for packet in Packets::new(data, schema) {
        let Ok(packet) = packet else { return Ok(Status::Damaged) };
        if packet.offset() >= range.end {
            break;
        }
        if packet.end_offset() > range.start && self::packet(&packet, fields)? == Status::Damaged {
            return Ok(Status::Damaged);
        }
    }
    Ok(Status::Clean)
}

/// Hands out the fields of a capture, and its gaps.
pub fn capture(
    data: &[u8],
    schema: &Schema<'_, '_>,
    slots: &[WireSlot],
    fields: &mut Fields<'_, '_>,
) -> Result<Status> {
    let range = fields.range();
    for slot in slots.iter().filter(|slot| slot.offset() < range.end && slot.end() > range.start) {
        match packet_of(data, schema, slot) {
            Some(packet) => drop(self::packet(&packet, fields)?),
            None => {
                let name = slot.kind().element().name();
                fields.field(&Field::new(slot.offset(), slot.len(), name, ""))?;
            }
        }
    }
    Ok(Status::damaged_if(slots.iter().any(WireSlot::is_damage)))
}

/// The packet of a slot; none of a gap.
pub fn packet_of<'c>(
    data: &'c [u8],
    schema: &'c Schema<'c, 'c>,
    slot: &'c WireSlot,
) -> Option<Packet<'c, 'c>> {
    let is_packet = slot.track().is_some() || slot.kind() == WireKind::Empty;
    let slots = std::slice::from_ref(slot).get(..usize::from(is_packet))?;
    Packets::of_track(data, schema, slots).next_packet().ok().flatten()
}

/// Hands out the fields of a packet.
fn packet(packet: &Packet<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Status> {
    let range = fields.range();
    let mut damaged = false;
    let number = packet.number();
    scope(packet, packet.header(), &format!("packet {number} header"), fields)?;
    scope(packet, packet.context(), &format!("packet {number} context"), fields)?;
    for (place, record) in packet.records().enumerate() {
        let Ok(record) = record else {
            damaged = true;
            break;
        };
        if record.offset() >= range.end {
            break;
        }
        if packet.offset() + record.end().div_ceil(8) <= range.start {
            continue;
        }
        of_record(&record, &format!("record {place} "), fields)?;
    }
    let content = packet.offset() + packet.content_bits().div_ceil(8);
    let padding = packet.end_offset().saturating_sub(content);
    if !damaged && padding > 0 {
        let what = if packet.is_doubtful() { "lost" } else { "padding" };
        fields.field(&Field::new(content, padding, format!("packet {number} {what}"), ""))?;
    }
    Ok(Status::damaged_if(damaged))
}

/// Hands out the fields of a record. What stands in front of its name begins each label.
pub fn of_record(record: &Record<'_, '_, '_>, front: &str, fields: &mut Fields<'_, '_>) -> Result<()> {
    let class = record.class();
    let name = class.to_string();
    for (part, label) in [
        (Scope::EventHeader, "header"),
        (Scope::CommonContext, "common context"),
        (Scope::SpecificContext, "specific context"),
        (Scope::Payload, ""),
    ] {
        let label = format!("{front}{name} {label}");
        scope(record.packet(), record.fields(part), label.trim_end(), fields)?;
    }
    Ok(())
}

pub fn scope(
    packet: &Packet<'_, '_>,
    scope: Option<traceglass::ctf::data::Fields<'_, '_>>,
    label: &str,
    fields: &mut Fields<'_, '_>,
) -> Result<()> {
    let Some(mut scope) = scope else { return Ok(()) };
    while let Ok(Some(field)) = scope.next_field() {
        if matches!(
            field.value(),
            Value::End | Value::Structure | Value::Array(_) | Value::Optional(_) | Value::Variant(_)
        ) {
            continue;
        }
        let start = packet.offset() + field.start() / 8;
        let end = packet.offset() + scope.position().div_ceil(8);
        let name = field.name().map(|name| format!(" {name}")).unwrap_or_default();
        fields.field(&Field::new(start, end - start, format!("{label}{name}"), shown(&field)))?;
    }
    Ok(())
}

/// A value without others in it, as text.
fn shown(field: &data::Field<'_, '_>) -> String {
    match field.value() {
        Value::Unsigned(value) if field.class().base() == 16 => format!("{value:#x}"),
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Wide(bits) => wide(bits, field.class().kind() == FieldKind::Signed),
        Value::Bits(bits) => bits.to_u64().map_or_else(|| wide(bits, false), |bits| format!("{bits:#x}")),
        Value::Float(value) => {
            value.to_f64().map_or_else(|| wide(value.bits(), false), |value| format!("{value:?}"))
        }
        Value::Text(value) => format!("\"{value}\""),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
        _ => String::new(),
    }
}

/// Decimal if it has at most 128 bits, else hexadecimal.
fn wide(bits: BitString<'_>, is_signed: bool) -> String {
    match bits.to_u128() {
        Some(value) if is_signed => {
            let shift = 128 - bits.len();
            (value.cast_signed() << shift >> shift).to_string()
        }
        Some(value) => value.to_string(),
        None => {
            let words: Vec<u64> = bits.words().collect();
            words.iter().rev().fold(String::from("0x"), |mut text, word| {
                // A string takes all that is written to it.
                let _ = write!(text, "{word:016x}");
                text
            })
        }
    }
}
