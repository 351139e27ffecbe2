use super::bits::bits_of;
use super::cursor::Cursor;
use super::element;
use super::fields::Fields;
use super::value::Value;
use super::window::{NO_SLOTS, Slots, Window};
use crate::bytes::to_u64;
use crate::ctf::schema::node::{Kind, NONE, Node, role};
use crate::ctf::schema::scope::{Scope, root_of};
use crate::ctf::schema::{Schema, StreamClass};
use crate::error::{Error, ErrorKind, Result};
use core::iter::FusedIterator;

/// The magic number of packets.
const MAGIC_NUMBER: u64 = 0xc1fc_1fc1;

/// The packets of a data stream, one after the other.
///
/// A packet's records may be damaged: that does not keep the next packet from being found, as its place follows from the
/// header alone.
#[derive(Clone, Debug)]
pub struct Packets<'a, 's> {
    schema: &'s Schema<'a, 's>,
    data: &'a [u8],
    /// Where the next packet begins.
    offset: u64,
    number: u64,
    /// The bit at which the last packet could not be read.
    fault: Option<u64>,
}

impl<'a, 's> Packets<'a, 's> {
    /// The packets of a stream that lies in `data`.
    pub const fn new(data: &'a [u8], schema: &'s Schema<'a, 's>) -> Self {
        Self { schema, data, offset: 0, number: 0, fault: None }
    }

    /// As [`Self::new`], from the packet that begins at `offset` and is number `number`.
    pub const fn from_packet(data: &'a [u8], schema: &'s Schema<'a, 's>, offset: u64, number: u64) -> Self {
        Self { schema, data, offset, number, fault: None }
    }

    /// Whether they are described by this schema.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub(crate) fn is_of(&self, schema: &Schema<'_, '_>) -> bool {
        core::ptr::eq(self.schema.nodes.0, schema.nodes.0)
    }

    /// Offset of the packet that is read next; after an error, of that with the fault.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// After an error, the first bit from the start of the stream that could not be read.
    pub const fn fault_bit(&self) -> Option<u64> {
        self.fault
    }

    /// The header and the context of the next packet; `None` at the end and after an error.
    ///
    /// # Errors
    ///
    /// | kind | element |
    /// |---|---|
    /// | `UnexpectedEnd` | `PACKET_HEADER`, `PACKET_CONTEXT`: the stream ends; it may still grow |
    /// | `BadMagic` | `MAGIC` |
    /// | `UuidMismatch` | `UUID` |
    /// | `NoSuchClass` | `STREAM_CLASS_ID` |
    /// | `NotMultiple` | `TOTAL_LENGTH`: no whole bytes |
    /// | `OverLimit` | `CONTENT_LENGTH`: more than the total length |
    /// | `UnderLimit` | `TOTAL_LENGTH`, `CONTENT_LENGTH`: less than header and context |
    /// | `ByteOrderChanged`, `NoSuchOption`, `IntegerTooWide`, `OverLimit` | a field |
    pub fn next_packet(&mut self) -> Result<Option<Packet<'a, 's>>> {
        let data = usize::try_from(self.offset).ok().and_then(|offset| self.data.get(offset..));
        let (Some(data), None) = (data.filter(|data| !data.is_empty()), self.fault) else { return Ok(None) };
        let mut at = 0;
        match Packet::read(self.schema, data, self.offset, self.number, &mut at) {
            Ok(packet) => {
                self.offset = self.offset.saturating_add(packet.total / 8).min(to_u64(self.data.len()));
                self.number = self.number.saturating_add(1);
                Ok(Some(packet))
            }
            Err(error) => {
                self.fault = Some(self.offset.saturating_mul(8).saturating_add(at));
                Err(error)
            }
        }
    }
}

impl<'a, 's> Iterator for Packets<'a, 's> {
    type Item = Result<Packet<'a, 's>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_packet().transpose()
    }
}

impl FusedIterator for Packets<'_, '_> {}

/// What the fields of a header or a context mean, as far as they have been read.
#[derive(Clone, Copy, Default)]
pub(super) struct Meaning {
    pub(super) clock: u64,
    pub(super) event_class: Option<u64>,
    stream_class: Option<u64>,
    stream: Option<u64>,
    total: Option<u64>,
    content: Option<u64>,
    begin: Option<u64>,
    end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
}

impl Meaning {
    /// Nothing yet but the value of the clock.
    pub(super) fn new(clock: u64) -> Self {
        Self { clock, ..Self::default() }
    }

    /// Records an integer of `len` bits that has roles. The last one of a role counts.
    #[inline(always)]
    pub(super) fn note(&mut self, roles: u16, value: u64, len: u32) {
        if roles & role::EVENT_CLASS_ID != 0 {
            self.event_class = Some(value);
        }
        if roles & role::TIMESTAMP != 0 {
            self.clock = update(self.clock, value, len);
            self.begin = Some(self.clock);
        }
        if roles & !(role::EVENT_CLASS_ID | role::TIMESTAMP) != 0 {
            self.note_packet(roles, value, len);
        }
    }

    #[cold]
    fn note_packet(&mut self, roles: u16, value: u64, len: u32) {
        let set = |role: u16, to: &mut Option<u64>, value| {
            if roles & role != 0 {
                *to = Some(value);
            }
        };
        set(role::STREAM_CLASS_ID, &mut self.stream_class, value);
        set(role::STREAM_ID, &mut self.stream, value);
        set(role::TOTAL_LENGTH, &mut self.total, value);
        set(role::CONTENT_LENGTH, &mut self.content, value);
        set(role::END_TIMESTAMP, &mut self.end, update(self.clock, value, len));
        set(role::DISCARDED, &mut self.discarded, value);
        set(role::SEQUENCE, &mut self.sequence, value);
    }
}

/// The value of a clock after a time stamp of `len` bits: the next one with these lower bits.
#[inline(always)]
pub(super) fn update(clock: u64, value: u64, len: u32) -> u64 {
    let Some(step) = 1_u64.checked_shl(len) else { return value };
    let mask = step.wrapping_sub(1);
    let clock = if value & mask < clock & mask { clock.wrapping_add(step) } else { clock };
    (clock & !mask) | (value & mask)
}

/// How many bits an integer that was read has for the clock.
#[inline(always)]
pub(super) fn clock_bits(node: &Node, start: u64, end: u64) -> u32 {
    match node.kind {
        Kind::Unsigned => node.a,
        // 7 of each 8 bits.
        _ => u32::try_from(end.saturating_sub(start) / 8).map_or(64, |bytes| bytes.saturating_mul(7)),
    }
}

/// A packet: what its header and its context say, and where its records are.
#[derive(Clone)]
pub struct Packet<'a, 's> {
    pub(super) window: Window<'a>,
    pub(super) schema: &'s Schema<'a, 's>,
    number: u64,
    /// The node of its stream class.
    stream: u32,
    pub(super) total: u64,
    pub(super) content: u64,
    stream_id: Option<u64>,
    begin: Option<u64>,
    end: Option<u64>,
    discarded: Option<u64>,
    sequence: Option<u64>,
    /// Where the context begins, and where the records do.
    context_at: u64,
    pub(super) records_at: u64,
    pub(super) clock: u64,
    pub(super) last_big: bool,
    pub(super) slots: Slots,
    /// The roots of event record headers and common contexts.
    pub(super) event_header: u32,
    pub(super) common_context: u32,
    /// Whether its records have times.
    pub(super) has_clock: bool,
}

impl<'a, 's> Packet<'a, 's> {
    fn read(
        schema: &'s Schema<'a, 's>,
        data: &'a [u8],
        offset: u64,
        number: u64,
        at: &mut u64,
    ) -> Result<Self> {
        let available = bits_of(data.len());
        let window = Window { data, offset, limit: available, is_cut: true };
        let mut cursor = Cursor::new(window, schema, 0, &NO_SLOTS);
        let mut meaning = Meaning::default();
        let read = Self::read_scopes(&mut cursor, &mut meaning, at);
        let (stream, context_at) = read?;
        let here = cursor.at;
        let (total, content) = match (meaning.total, meaning.content) {
            (None, None) => (available, available),
            (Some(total), content) => (total, content.unwrap_or(total)),
            (None, Some(content)) => (content, content),
        };
        let fail = |element, kind| Err(window.error(here, element, kind));
        if total % 8 != 0 {
            return fail(element::TOTAL_LENGTH, ErrorKind::NotMultiple { value: total, of: 8 });
        }
        if content > total {
            return fail(element::CONTENT_LENGTH, ErrorKind::OverLimit { value: content, limit: total });
        }
        if content < here {
            return fail(element::CONTENT_LENGTH, ErrorKind::UnderLimit { value: content, limit: here });
        }
        Ok(Self {
            // Without a length, the packet is the rest of the stream, and ends where that does.
            window: Window {
                limit: content.min(available),
                is_cut: content > available || (meaning.total, meaning.content) == (None, None),
                ..window
            },
            schema,
            number,
            stream,
            total,
            content,
            stream_id: meaning.stream,
            begin: meaning.begin,
            end: meaning.end,
            discarded: meaning.discarded,
            sequence: meaning.sequence,
            context_at,
            records_at: here,
            clock: meaning.clock,
            last_big: cursor.last_big,
            slots: cursor.slots,
            event_header: root_of(schema.nodes, stream, Scope::EventHeader),
            common_context: root_of(schema.nodes, stream, Scope::CommonContext),
            has_clock: schema.stream_info(stream).a != NONE,
        })
    }

    /// Header and context: the stream class, and where the context begins. `at` follows.
    fn read_scopes(cursor: &mut Cursor<'a, 's>, meaning: &mut Meaning, at: &mut u64) -> Result<(u32, u64)> {
        let schema = cursor.schema;
        Self::read_scope(cursor, Scope::PacketHeader, schema.header, meaning, at)?;
        *at = cursor.at;
        let class = match meaning.stream_class {
            None if schema.stream_count() == 1 => Some(schema.first_stream()),
            id => schema.stream_class(id.unwrap_or(0)).map(|class| class.index),
        };
        let id = meaning.stream_class.unwrap_or(0);
        let unknown = cursor.window.error(cursor.at, element::STREAM_CLASS_ID, ErrorKind::NoSuchClass { id });
        let class = class.ok_or(unknown)?;
        let context_at = cursor.at;
        let root = root_of(schema.nodes, class, Scope::PacketContext);
        Self::read_scope(cursor, Scope::PacketContext, root, meaning, at)?;
        *at = cursor.at;
        Ok((class, context_at))
    }

    fn read_scope(
        cursor: &mut Cursor<'a, 's>,
        scope: Scope,
        root: u32,
        meaning: &mut Meaning,
        at: &mut u64,
    ) -> Result<()> {
        let mut walk = || {
            cursor.begin(scope, root)?;
            while let Some(field) = cursor.next_role()? {
                let node = cursor.node(field.index);
                let start = field.start;
                match field.value {
                    Value::Unsigned(value) => {
                        if node.roles & role::MAGIC != 0 && value != MAGIC_NUMBER {
                            let mut found = [0; 8];
                            for (to, from) in found.iter_mut().take(4).zip(cursor.window.data) {
                                *to = *from;
                            }
                            let error =
                                cursor.window.error(start, element::MAGIC, ErrorKind::BadMagic { found });
                            cursor.at = start;
                            return Err(error);
                        }
                        meaning.note(node.roles, value, clock_bits(node, start, cursor.at));
                    }
                    Value::Blob(bytes) => check_uuid(cursor, bytes, start)?,
                    Value::Array(16) => {
                        // CTF 1.8 has it as an array of bytes, each of them aligned.
                        let byte = usize::try_from(start / 8).unwrap_or(usize::MAX);
                        let bytes = cursor.window.data.get(byte..).and_then(|rest| rest.get(..16));
                        check_uuid(cursor, bytes.unwrap_or_default(), start)?;
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        let walked = walk();
        *at = cursor.at;
        walked
    }

    /// Offset in bytes from the start of the stream.
    pub const fn offset(&self) -> u64 {
        self.window.offset
    }

    /// Its number in the stream, from 0.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Offset of the next packet; it may lie beyond the end of a stream that was cut.
    pub const fn end_offset(&self) -> u64 {
        self.window.offset.saturating_add(self.total / 8)
    }

    /// The length of header, context, records and padding.
    ///
    /// # Units
    /// Bits; whole bytes.
    #[doc(alias = "packet-total-length")]
    #[doc(alias = "packet_size")]
    pub const fn total_bits(&self) -> u64 {
        self.total
    }

    /// The length of header, context and records.
    ///
    /// # Units
    /// Bits.
    #[doc(alias = "packet-content-length")]
    #[doc(alias = "content_size")]
    pub const fn content_bits(&self) -> u64 {
        self.content
    }

    /// Where its first record begins.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub const fn header_bits(&self) -> u64 {
        self.records_at
    }

    /// Whether the stream ends before this packet does: it is still being written, or it was cut.
    pub const fn is_cut(&self) -> bool {
        self.total > bits_of(self.window.data.len())
    }

    /// The class of its stream.
    pub fn stream_class(&self) -> StreamClass<'a, 's> {
        StreamClass { schema: self.schema, index: self.stream }
    }

    /// The identifier of its stream among those of the class.
    #[doc(alias = "data-stream-id")]
    #[doc(alias = "stream_instance_id")]
    pub const fn stream_id(&self) -> Option<u64> {
        self.stream_id
    }

    /// The processor that it was recorded on, as tracers of operating systems say it: `cpu_id` in its context.
    #[doc(alias = "cpu_id")]
    pub fn cpu(&self) -> Option<u64> {
        match self.context()?.find("cpu_id").ok()??.value() {
            Value::Unsigned(cpu) => Some(cpu),
            _ => None,
        }
    }

    /// When it begins.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[doc(alias = "default-clock-timestamp")]
    #[doc(alias = "timestamp_begin")]
    pub const fn begin(&self) -> Option<u64> {
        self.begin
    }

    /// When it ends.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[doc(alias = "packet-end-default-clock-timestamp")]
    #[doc(alias = "timestamp_end")]
    pub const fn end(&self) -> Option<u64> {
        self.end
    }

    /// Its number in the stream as the tracer counts: a number that is missing is a packet that was lost.
    #[doc(alias = "packet-sequence-number")]
    pub const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// How many event records of the stream had been discarded when it ended.
    #[doc(alias = "discarded-event-record-counter-snapshot")]
    #[doc(alias = "events_discarded")]
    pub const fn discarded(&self) -> Option<u64> {
        self.discarded
    }

    /// The fields of its header; `None` if it has none.
    pub fn header(&self) -> Option<Fields<'a, 's>> {
        self.scope(Scope::PacketHeader)
    }

    /// The fields of its context; `None` if it has none.
    pub fn context(&self) -> Option<Fields<'a, 's>> {
        self.scope(Scope::PacketContext)
    }

    fn scope(&self, scope: Scope) -> Option<Fields<'a, 's>> {
        let mut cursor = Cursor::new(self.window, self.schema, 0, &self.slots);
        self.begin_scope(&mut cursor, scope).then(|| Fields::new(cursor))
    }

    /// Goes to the fields of its header or its context; `false` if there are none.
    pub(super) fn begin_scope(&self, cursor: &mut Cursor<'a, 's>, scope: Scope) -> bool {
        let (root, at) = match scope {
            Scope::PacketHeader => (self.schema.header, 0),
            _ => (root_of(self.schema.nodes, self.stream, Scope::PacketContext), self.context_at),
        };
        // They were read before the content's length was known.
        let window = Window { limit: bits_of(self.window.data.len()), ..self.window };
        cursor.restart(window, self.schema, at, &self.slots);
        root != NONE && cursor.begin(scope, root).is_ok()
    }

    pub(super) fn info(&self) -> &'s Node {
        self.schema.stream_info(self.stream)
    }

    /// The error that the stream ends in the packet's padding.
    pub(super) fn missing_padding(&self) -> Error {
        let needed = self.total.saturating_sub(bits_of(self.window.data.len())) / 8;
        self.window.error(self.content, element::PADDING, ErrorKind::UnexpectedEnd { needed })
    }
}

fn check_uuid(cursor: &mut Cursor<'_, '_>, bytes: &[u8], start: u64) -> Result<()> {
    let found = bytes.first_chunk::<16>().copied().unwrap_or_default();
    if cursor.schema.uuid().is_none_or(|uuid| *uuid.as_bytes() == found) {
        return Ok(());
    }
    cursor.at = start;
    Err(cursor.window.error(start, element::UUID, ErrorKind::UuidMismatch { found }))
}

impl core::fmt::Debug for Packet<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Packet")
            .field("number", &self.number)
            .field("offset", &self.window.offset)
            .field("total_bits", &self.total)
            .field("content_bits", &self.content)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::update;

    #[test]
    fn a_clock_goes_on_with_the_lower_bits() {
        assert_eq!(update(0x1_0005, 7, 16), 0x1_0007);
        assert_eq!(update(0x1_0005, 5, 16), 0x1_0005);
        assert_eq!(update(0x1_0005, 4, 16), 0x2_0004);
        assert_eq!(update(0x1_0005, 4, 64), 4);
        assert_eq!(update(0x1_0005, 4, 70), 4);
        assert_eq!(update(u64::MAX, 0, 16), 0);
    }
}
