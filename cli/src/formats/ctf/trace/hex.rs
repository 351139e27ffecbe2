//! Which field of which record each byte belongs to.

use super::value::shown;
use crate::status::{Result, Status};
use crate::trace::{Field, Fields};
use traceglass::ctf::data::{Packet, Packets, Value};
use traceglass::ctf::schema::{Schema, Scope};

pub fn hex(data: &[u8], schema: &Schema<'_, '_>, fields: &mut Fields<'_, '_>) -> Result<Status> {
    let range = fields.range();
    let mut damaged = false;
    for packet in Packets::new(data, schema) {
        let Ok(packet) = packet else {
            damaged = true;
            break;
        };
        if packet.offset() >= range.end {
            break;
        }
        if packet.end_offset() <= range.start {
            continue;
        }
        let number = packet.number();
        scope(&packet, packet.header(), &format!("packet {number} header"), fields)?;
        scope(&packet, packet.context(), &format!("packet {number} context"), fields)?;
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
            let class = record.class();
            let name = class.name().map_or_else(|| format!("#{}", class.id()), |name| name.to_string());
            for (part, label) in [
                (Scope::EventHeader, "header"),
                (Scope::CommonContext, "common context"),
                (Scope::SpecificContext, "specific context"),
                (Scope::Payload, ""),
            ] {
                let label = format!("record {place} {name} {label}");
                scope(&packet, record.fields(part), label.trim_end(), fields)?;
            }
        }
        let content = packet.offset() + packet.content_bits().div_ceil(8);
        let padding = packet.end_offset().saturating_sub(content);
        if !damaged && padding > 0 {
            fields.field(&Field::new(content, padding, format!("packet {number} padding"), ""))?;
        }
    }
    Ok(Status::damaged_if(damaged))
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
