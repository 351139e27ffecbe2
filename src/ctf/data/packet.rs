use super::bits::bits_of;
use super::cursor::Cursor;
use super::element;
use super::fields::Fields;
use super::meaning::{Meaning, clock_bits};
use super::value::Value;
use super::window::{NO_SLOTS, Slots, Window};
use super::wire::slot::WireSlot;
use crate::ctf::schema::node::{NONE, Node, role};
use crate::ctf::schema::scope::{Scope, root_of};
use crate::ctf::schema::{Schema, StreamClass};
use crate::error::{Error, ErrorKind, Result};

/// The magic number of packets.
pub(super) const MAGIC_NUMBER: u32 = 0xc1fc_1fc1;

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
    /// The starts of the context and of the records.
    context_at: u64,
    pub(super) records_at: u64,
    pub(super) clock: u64,
    pub(super) last_big: bool,
    pub(super) slots: Slots,
    /// The roots of event record headers and common contexts.
    pub(super) event_header: u32,
    pub(super) common_context: u32,
    /// True if its records have times.
    pub(super) has_clock: bool,
    /// Bytes are missing in it or were added to it.
    is_doubtful: bool,
}

impl<'a, 's> Packet<'a, 's> {
    /// Reads header and context, with a value of the clock before it, and with sizes that may be wrong.
    pub(super) fn read_as_stated(
        schema: &'s Schema<'a, 's>,
        data: &'a [u8],
        offset: u64,
        number: u64,
        clock: u64,
        at: &mut u64,
    ) -> Result<Self> {
        Self::read_with(schema, data, offset, number, clock, false, at)
    }

    /// The same with sizes that must be right, if it `is_strict`; `at` is the bit after the last one that was read.
    ///
    /// Inlined, so that the cursor's stack and what follows it share their room on the caller's.
    #[inline(always)]
    pub(super) fn read_with(
        schema: &'s Schema<'a, 's>,
        data: &'a [u8],
        offset: u64,
        number: u64,
        clock: u64,
        is_strict: bool,
        at: &mut u64,
    ) -> Result<Self> {
        let available = bits_of(data.len());
        let window = Window { data, offset, limit: available, is_cut: true };
        let mut cursor = Cursor::new(window, schema, 0, &NO_SLOTS);
        let mut meaning = Meaning::new(clock);
        let read = Self::read_scopes(&mut cursor, &mut meaning);
        *at = cursor.at;
        let (stream, context_at) = read?;
        let (total, content) = match (meaning.total, meaning.content) {
            (None, None) => (available, available),
            (Some(total), content) => (total, content.unwrap_or(total)),
            (None, Some(content)) => (content, content),
        };
        if is_strict {
            let here = cursor.at;
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
            records_at: cursor.at,
            clock: meaning.clock,
            last_big: cursor.last_big,
            slots: cursor.slots,
            event_header: root_of(schema.nodes, stream, Scope::EventHeader),
            common_context: root_of(schema.nodes, stream, Scope::CommonContext),
            has_clock: schema.stream_info(stream).a != NONE,
            is_doubtful: false,
        })
    }

    /// The packet of a slot of a capture, as far as its records can be read.
    pub(super) fn of_slot(schema: &'s Schema<'a, 's>, data: &'a [u8], slot: &WireSlot) -> Result<Self> {
        let number = slot.number();
        let start = usize::try_from(slot.offset()).unwrap_or(usize::MAX);
        let data = data.get(start..).unwrap_or_default();
        let mut packet = Self::read_as_stated(schema, data, slot.offset(), number, slot.clock(), &mut 0)?;
        packet.bound(slot.len(), slot.content_bits());
        packet.is_doubtful =
            slot.is_doubtful() && (slot.records() == 0 || slot.certain_records() < slot.records());
        Ok(packet)
    }

    /// False if the content length is 0: so it stands in a packet that is still being written.
    pub(super) const fn is_closed(&self) -> bool {
        self.content > 0
    }

    /// Forgets when it ends, where that is not to be trusted.
    pub(super) const fn forget_end(&mut self) {
        self.end = None;
    }

    /// Ends the packet after as many bytes, and its records after as many bits, whatever it says.
    pub(super) fn bound(&mut self, len: u64, content: u64) {
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.window.data.len());
        self.window.data = self.window.data.get(..len).unwrap_or_default();
        self.total = bits_of(len);
        self.content = content.min(self.total);
        (self.window.limit, self.window.is_cut) = (self.content, false);
    }

    /// Header and context: the stream class, and where the context begins.
    fn read_scopes(cursor: &mut Cursor<'a, 's>, meaning: &mut Meaning) -> Result<(u32, u64)> {
        let schema = cursor.schema;
        Self::read_scope(cursor, Scope::PacketHeader, schema.header, meaning)?;
        let class = match meaning.stream_class {
            None if schema.stream_count() == 1 => Some(schema.stream_at(0)),
            id => schema.stream_class(id.unwrap_or(0)).map(|class| class.index),
        };
        let id = meaning.stream_class.unwrap_or(0);
        let unknown = cursor.window.error(cursor.at, element::STREAM_CLASS_ID, ErrorKind::NoSuchClass { id });
        let class = class.ok_or(unknown)?;
        let context_at = cursor.at;
        let root = root_of(schema.nodes, class, Scope::PacketContext);
        Self::read_scope(cursor, Scope::PacketContext, root, meaning)?;
        Ok((class, context_at))
    }

    /// The fields of a scope that have roles.
    #[inline(never)]
    pub(super) fn read_scope(
        cursor: &mut Cursor<'a, 's>,
        scope: Scope,
        root: u32,
        meaning: &mut Meaning,
    ) -> Result<()> {
        cursor.begin(scope, root)?;
        Self::read_roles(cursor, meaning)
    }

    /// The same of a scope that has begun.
    pub(super) fn read_roles(cursor: &mut Cursor<'a, 's>, meaning: &mut Meaning) -> Result<()> {
        while let Some(field) = cursor.next_role()? {
            let node = cursor.node(field.index);
            let start = field.start;
            match field.value {
                Value::Unsigned(value) => {
                    if node.roles & role::MAGIC != 0 && value != u64::from(MAGIC_NUMBER) {
                        let found = ErrorKind::bad_magic(cursor.window.data.iter().take(4));
                        let error = cursor.window.error(start, element::MAGIC, found);
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
    }

    /// Offset in bytes from the start of the stream.
    pub const fn offset(&self) -> u64 {
        self.window.offset
    }

    /// The number in the stream, from 0.
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

    /// The start of its first record.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub const fn header_bits(&self) -> u64 {
        self.records_at
    }

    /// True if the stream ends before this packet does: it is still being written, or it was cut.
    pub const fn is_cut(&self) -> bool {
        self.total > bits_of(self.window.data.len())
    }

    /// True if one of its records may consist of two halves: bytes of it are missing, changed, or were added.
    ///
    /// Only packets of a [capture](super::wire::Capture) say so.
    pub const fn is_doubtful(&self) -> bool {
        self.is_doubtful
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

    /// The time of its begin.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[doc(alias = "default-clock-timestamp")]
    #[doc(alias = "timestamp_begin")]
    pub const fn begin(&self) -> Option<u64> {
        self.begin
    }

    /// The time of its end.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[doc(alias = "packet-end-default-clock-timestamp")]
    #[doc(alias = "timestamp_end")]
    pub const fn end(&self) -> Option<u64> {
        self.end
    }

    /// The times of its begin and its end, as far as they do not contradict each other: in a packet that was never closed
    /// the end is 0, which says nothing.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    pub fn period(&self) -> (Option<u64>, Option<u64>) {
        (self.begin, self.end.filter(|end| self.begin.is_none_or(|begin| begin <= *end)))
    }

    /// The number in the stream as the tracer counts: a number that is missing is a packet that was lost.
    #[doc(alias = "packet-sequence-number")]
    pub const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// The number of event records of the stream that had been discarded when it ended.
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
