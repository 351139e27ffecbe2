//! Packets whose headers are laid out like that of the first one.

use crate::bytes::to_u64;
use crate::ctf::data::meaning::update;
use crate::ctf::data::packet::Packet;
use crate::ctf::data::value::Value;
use crate::ctf::schema::Schema;
use crate::ctf::schema::node::{BIG, Kind, NONE, REVERSED, role};
use crate::ctf::schema::scope::{Scope, root_of};

/// The number of fields a context may have.
const FIELDS: usize = 16;

/// The offsets of a packet's fields, read once, so that most packets of a stream need not be read field by field.
#[derive(Clone, Debug)]
pub(super) struct Alike<'a> {
    /// The bytes of its header, which are the same in all packets of the stream.
    header: &'a [u8],
    fields: [Number; FIELDS],
    count: usize,
    header_bits: u64,
}

/// An integer of a packet's context.
#[derive(Clone, Copy, Debug, Default)]
struct Number {
    at: usize,
    len: usize,
    is_big: bool,
    meaning: u16,
    /// The owner that the packet must have to be of the same stream.
    owner: Option<u64>,
}

/// The values by which packets are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) bytes: u64,
    pub(super) sequence: Option<u64>,
    pub(super) begin: Option<u64>,
    pub(super) end: Option<u64>,
}

impl Facts {
    pub(super) fn of(packet: &Packet<'_, '_>) -> Self {
        Self {
            bytes: packet.total_bits() / 8,
            sequence: packet.sequence(),
            begin: packet.begin(),
            end: packet.end(),
        }
    }

    /// The time of its begin; a stamp that contradicts the packet's own end says nothing about the order.
    pub(super) fn stamp(&self) -> Option<u64> {
        self.begin.filter(|begin| self.end.is_none_or(|end| *begin <= end))
    }
}

impl<'a> Alike<'a> {
    /// The offsets of this packet's fields; `None` if they are not whole bytes, or may be elsewhere in another one.
    pub(super) fn of(packet: &Packet<'a, '_>, schema: &Schema<'a, '_>) -> Option<Self> {
        let root = root_of(schema.nodes, packet.stream_class().index, Scope::PacketContext);
        let mut context = packet.context().filter(|_| root != NONE)?;
        let mut alike = Self {
            header: &[],
            fields: [Number::default(); FIELDS],
            count: 0,
            header_bits: packet.header_bits(),
        };
        for index in root.saturating_add(1)..schema.nodes.end(root) {
            let node = schema.nodes.get(index);
            let field = context.next_field().ok()??;
            let (Kind::Unsigned, Value::Unsigned(value)) = (node.kind, field.value()) else { return None };
            let (start, end) = (field.start(), context.position());
            if alike.count == 0 {
                alike.header = packet.window.data.get(..usize::try_from(start / 8).ok()?)?;
            }
            let is_plain = start % 8 == 0 && end % 8 == 0 && end.checked_sub(start)? <= 64;
            let is_cpu = field.name().is_some_and(|name| name == "cpu_id");
            let is_owner = is_cpu || node.meaning() & (role::STREAM_CLASS_ID | role::STREAM_ID) != 0;
            let number = Number {
                at: usize::try_from(start / 8).ok()?,
                len: usize::try_from(end.checked_sub(start)? / 8).ok()?,
                is_big: node.has(BIG),
                meaning: node.meaning(),
                owner: is_owner.then_some(value),
            };
            *alike.fields.get_mut(alike.count).filter(|_| is_plain && !node.has(REVERSED))? = number;
            alike.count = alike.count.saturating_add(1);
            if number.read(packet.window.data)? != value {
                return None;
            }
        }
        (alike.count > 0).then_some(alike)
    }

    /// The values of the packet at the start of `data`; `None` if the packet has to be read to know.
    pub(super) fn facts(&self, data: &[u8]) -> Option<Facts> {
        if !data.starts_with(self.header) {
            return None;
        }
        let (mut facts, mut total, mut content) = (Facts::default(), None, None);
        for field in self.fields.get(..self.count)? {
            let value = field.read(data)?;
            if field.owner.is_some_and(|owner| owner != value) {
                return None;
            }
            for (meaning, to) in [
                (role::TOTAL_LENGTH, &mut total),
                (role::CONTENT_LENGTH, &mut content),
                (role::TIMESTAMP, &mut facts.begin),
                (role::SEQUENCE, &mut facts.sequence),
            ] {
                if field.meaning & meaning != 0 {
                    *to = Some(value);
                }
            }
            if field.meaning & role::END_TIMESTAMP != 0 {
                let bits = u32::try_from(field.len).unwrap_or(8).saturating_mul(8);
                facts.end = Some(update(facts.begin.unwrap_or(0), value, bits));
            }
        }
        let total = total.or(content)?;
        let content = content.unwrap_or(total);
        facts.bytes = total / 8;
        let is_size = total % 8 == 0 && content <= total && content >= self.header_bits;
        (is_size && facts.bytes <= to_u64(data.len())).then_some(facts)
    }
}

impl Number {
    fn read(&self, data: &[u8]) -> Option<u64> {
        let bytes = data.get(self.at..self.at.checked_add(self.len)?)?;
        let add = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(if self.is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }
}
