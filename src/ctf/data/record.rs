use super::cursor::Cursor;
use super::element;
use super::fields::Fields;
use super::packet::{Meaning, Packet, clock_bits, update};
use super::plan::Plan;
use super::value::Value;
use crate::ctf::schema::EventClass;
use crate::ctf::schema::builder::Scope;
use crate::ctf::schema::finish::root_of;
use crate::ctf::schema::node::{LAST, NONE, Node, PLAIN};
use crate::error::{ErrorKind, Result};
use crate::gap::Gap;
use core::iter::FusedIterator;

/// How the root of a payload is marked.
const PAYLOAD: u32 = 5;
const _: () = assert!(Scope::Payload.number() == 5);

/// Where the parts of a record are.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The node of its class.
    class: u32,
    start: u64,
    /// Where the common context begins.
    body: u64,
    end: u64,
    clock: u64,
    /// Whether the last field before `start`, and before `body`, was big-endian.
    orders: (bool, bool),
}

/// Goes from record to record.
#[derive(Clone)]
pub(super) struct Reader<'a, 's> {
    cursor: Cursor<'a, 's>,
    meaning: Meaning,
    info: &'s Node,
    plan: Option<Plan>,
    pub(super) fault: bool,
    /// The end of the padding has been looked for.
    ended: bool,
}

impl<'a, 's> Reader<'a, 's> {
    pub(super) fn new(packet: &Packet<'a, 's>) -> Self {
        let mut cursor = Cursor::new(packet.window, packet.schema, packet.records_at, &packet.slots);
        cursor.last_big = packet.last_big;
        let meaning = Meaning::new(packet.clock);
        let plan = Plan::new(packet.schema.nodes, packet.event_header);
        Self { cursor, meaning, info: packet.info(), plan, fault: false, ended: false }
    }

    #[inline]
    pub(super) fn next(&mut self, packet: &Packet<'a, 's>) -> Result<Option<Parts>> {
        if self.fault {
            return Ok(None);
        }
        if self.cursor.at >= packet.content {
            return self.end(packet);
        }
        if let Some(parts) = self.quick(packet) {
            return Ok(Some(parts));
        }
        match self.read(packet) {
            Ok(parts) => Ok(Some(parts)),
            Err(error) => {
                self.fault = true;
                Err(error)
            }
        }
    }

    /// After the last record.
    #[cold]
    fn end(&mut self, packet: &Packet<'a, 's>) -> Result<Option<Parts>> {
        if packet.is_cut() && !self.ended {
            self.ended = true;
            self.fault = true;
            return Err(packet.missing_padding());
        }
        Ok(None)
    }

    /// A record of the usual kind with which nothing is wrong; if it is none, nothing has happened.
    #[inline(always)]
    fn quick(&mut self, packet: &Packet<'a, 's>) -> Option<Parts> {
        let plan = self.plan.as_ref()?;
        let cursor = &mut self.cursor;
        let (start, order) = (cursor.at, cursor.last_big);
        let head = plan.read(&cursor.window, start)?;
        if self.info.has(LAST) {
            cursor.slots = packet.slots;
        }
        if let Some(slot) = cursor.slots.get_mut(usize::from(plan.slot())) {
            *slot = head.id.unwrap_or(0);
        }
        let class = packet.schema.event_class(self.info, head.id)?;
        let orders = (order, if plan.is_empty() { order } else { plan.big });
        let nodes = packet.schema.nodes;
        let end = nodes.end(class);
        let first = class.wrapping_add(2);
        let second = nodes.end(first);
        let common = packet.common_context;
        let (at, last_big) = if common == NONE && first < end && second >= end {
            cursor.pass(first, head.end, orders.1)?
        } else {
            let roots = if first >= end {
                [common, NONE, NONE]
            } else if second >= end {
                [common, first, NONE]
            } else if nodes.get(first).name == PAYLOAD {
                [common, second, first]
            } else {
                [common, first, second]
            };
            cursor.pass_all(roots, head.end, orders.1)?
        };
        if at == start {
            return None;
        }
        if let Some((time, len)) = head.time {
            self.meaning.clock = update(self.meaning.clock, time, len);
        }
        (cursor.at, cursor.last_big) = (at, last_big);
        Some(Parts { class, start, body: head.end, end: at, clock: self.meaning.clock, orders })
    }

    #[inline(never)]
    fn read(&mut self, packet: &Packet<'a, 's>) -> Result<Parts> {
        let cursor = &mut self.cursor;
        let start = cursor.at;
        let order = cursor.last_big;
        if self.info.has(LAST) {
            // A length may be that of an earlier record.
            cursor.slots = packet.slots;
        }
        let id = Self::read_header(cursor, &mut self.meaning, packet)?;
        let body = cursor.at;
        let orders = (order, cursor.last_big);
        let Some(class) = packet.schema.event_class(self.info, id) else {
            let kind = ErrorKind::NoSuchClass { id: id.unwrap_or(0) };
            return Err(cursor.window.error(body, element::EVENT_CLASS_ID, kind));
        };
        let nodes = packet.schema.nodes;
        let scopes = [
            (Scope::CommonContext, packet.common_context),
            (Scope::SpecificContext, root_of(nodes, class, Scope::SpecificContext)),
            (Scope::Payload, root_of(nodes, class, Scope::Payload)),
        ];
        for (scope, root) in scopes {
            if root != NONE {
                cursor.skip(scope, root)?;
            }
        }
        if cursor.at == start {
            return Err(cursor.window.error(start, element::EVENT_RECORD, ErrorKind::Empty));
        }
        Ok(Parts { class, start, body, end: cursor.at, clock: self.meaning.clock, orders })
    }

    /// A header of any form; the identifier in it.
    #[inline(never)]
    fn read_header(
        cursor: &mut Cursor<'a, 's>,
        meaning: &mut Meaning,
        packet: &Packet<'a, 's>,
    ) -> Result<Option<u64>> {
        meaning.event_class = None;
        if packet.event_header != NONE {
            cursor.begin(Scope::EventHeader, packet.event_header)?;
            while let Some(field) = cursor.step::<true>()? {
                if let Value::Unsigned(value) = field.value {
                    let node = cursor.node(field.index);
                    meaning.note(node.roles, value, clock_bits(node, field.start, cursor.at));
                }
            }
        }
        Ok(meaning.event_class)
    }

    /// The bit that is read next; after an error, the one that could not be read.
    pub(super) fn at(&self) -> u64 {
        self.cursor.at
    }
}

/// The event records of a packet.
///
/// A record is delivered when all of it is known to be readable. After an error there is none.
#[derive(Clone)]
pub struct Records<'p, 'a, 's> {
    packet: &'p Packet<'a, 's>,
    reader: Reader<'a, 's>,
}

impl<'p, 'a, 's> Records<'p, 'a, 's> {
    pub(super) fn new(packet: &'p Packet<'a, 's>) -> Self {
        Self { packet, reader: packet.reader() }
    }

    /// The next record; `None` at the end of the packet's content, and after an error.
    ///
    /// # Errors
    /// The element is that of the scope in which a field cannot be read.
    ///
    /// | kind | |
    /// |---|---|
    /// | `UnexpectedEnd` | the stream ends before the content, or (`PADDING`) before the packet: it may still grow |
    /// | `CrossesBoundary` | a field does not end within the packet's content |
    /// | `NoSuchClass` | `EVENT_CLASS_ID` |
    /// | `NoSuchOption` | no option of a variant is selected |
    /// | `ByteOrderChanged` | within a byte |
    /// | `IntegerTooWide` | a variable-length integer has more than 64 bits |
    /// | `OverLimit` | an array of elements that may be empty is longer than the content |
    /// | `Empty` | a record has no bits |
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'p, 'a, 's>>> {
        let parts = self.reader.next(self.packet)?;
        Ok(parts.map(|parts| Record { packet: self.packet, parts }))
    }

    /// The bit that is read next, or that could not be read.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub fn position(&self) -> u64 {
        self.reader.at()
    }

    /// What an error has cost: the rest of the packet's content, from the record that could not be read.
    ///
    /// Reading goes on with the next packet.
    pub fn gap(&self, cause: crate::Error) -> Gap {
        let start = cause.offset();
        let end = self.packet.offset().saturating_add(self.packet.content.div_ceil(8));
        Gap::new(start, end.saturating_sub(start), cause)
    }
}

impl<'p, 'a, 's> Iterator for Records<'p, 'a, 's> {
    type Item = Result<Record<'p, 'a, 's>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

impl FusedIterator for Records<'_, '_, '_> {}

impl core::fmt::Debug for Records<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records").field("position", &self.reader.at()).finish_non_exhaustive()
    }
}

/// An event record.
#[derive(Clone, Copy)]
pub struct Record<'p, 'a, 's> {
    pub(super) packet: &'p Packet<'a, 's>,
    pub(super) parts: Parts,
}

impl<'p, 'a, 's> Record<'p, 'a, 's> {
    /// Its class.
    #[inline]
    pub fn class(&self) -> EventClass<'a, 's> {
        EventClass { schema: self.packet.schema, index: self.parts.class }
    }

    /// The packet that it is in.
    pub fn packet(&self) -> &'p Packet<'a, 's> {
        self.packet
    }

    /// When it was recorded; `None` if its stream has no clock.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[inline]
    pub fn cycles(&self) -> Option<u64> {
        (self.packet.info().a != NONE).then_some(self.parts.clock)
    }

    /// When it was recorded; `None` if its stream has no clock.
    ///
    /// # Units
    /// Nanoseconds since the origin of the clock of its stream class, rounded down.
    pub fn nanoseconds(&self) -> Option<i128> {
        let clock = self.packet.stream_class().clock()?;
        Some(clock.nanoseconds(self.parts.clock))
    }

    /// Where it begins.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub const fn start(&self) -> u64 {
        self.parts.start
    }

    /// The first bit after it.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub const fn end(&self) -> u64 {
        self.parts.end
    }

    /// Offset of its first byte in the stream.
    pub const fn offset(&self) -> u64 {
        self.packet.window.offset.saturating_add(self.parts.start >> 3)
    }

    /// Offset in the stream after its last byte, which the record after it may begin in.
    pub const fn end_offset(&self) -> u64 {
        self.packet.window.offset.saturating_add(self.parts.end.div_ceil(8))
    }

    /// The fields of its header; `None` if it has none.
    pub fn header(&self) -> Option<Fields<'a, 's>> {
        self.fields(Scope::EventHeader)
    }

    /// The fields of the context that all records of its stream have; `None` if there is none.
    pub fn common_context(&self) -> Option<Fields<'a, 's>> {
        self.fields(Scope::CommonContext)
    }

    /// The fields of the context that the records of its class have; `None` if there is none.
    pub fn specific_context(&self) -> Option<Fields<'a, 's>> {
        self.fields(Scope::SpecificContext)
    }

    /// The fields of its payload; `None` if it has none.
    #[inline]
    pub fn payload(&self) -> Option<Fields<'a, 's>> {
        let packet = self.packet;
        let nodes = packet.schema.nodes;
        let class = self.parts.class;
        let first = class.wrapping_add(2);
        let (root, end) = (nodes.get(first), nodes.end(class));
        let is_alone = root.name == PAYLOAD && first < end && nodes.end(first) >= end;
        if packet.common_context != NONE
            || !is_alone
            || nodes.get(class).has(LAST)
            || packet.info().has(PLAIN)
        {
            return self.fields(Scope::Payload);
        }
        // It follows the header, of which nothing is needed.
        Some(Fields {
            cursor: Cursor::in_scope(packet, self.parts.body, self.parts.orders.1, first),
            done: false,
        })
    }

    /// The fields of one of its scopes, or of its packet's.
    pub fn fields(&self, scope: Scope) -> Option<Fields<'a, 's>> {
        let packet = self.packet;
        let nodes = packet.schema.nodes;
        let class = self.parts.class;
        match scope {
            Scope::PacketHeader => return packet.header(),
            Scope::PacketContext => return packet.context(),
            _ => {}
        }
        // The header is gone through only if a length or a selector in it is needed.
        let needs_header = nodes.get(class).has(LAST) || packet.info().has(PLAIN);
        let from_start = needs_header || scope == Scope::EventHeader;
        let (start, order) = if from_start {
            (self.parts.start, self.parts.orders.0)
        } else {
            (self.parts.body, self.parts.orders.1)
        };
        let mut cursor = Cursor::new(packet.window, packet.schema, start, &packet.slots);
        cursor.last_big = order;
        let before = [
            (Scope::EventHeader, packet.event_header),
            (Scope::CommonContext, packet.common_context),
            (Scope::SpecificContext, root_of(nodes, class, Scope::SpecificContext)),
            (Scope::Payload, root_of(nodes, class, Scope::Payload)),
        ];
        for (this, root) in before.into_iter().skip(usize::from(!from_start)) {
            if root == NONE {
                if this == scope {
                    return None;
                }
                continue;
            }
            if this == scope {
                cursor.begin(scope, root).ok()?;
                return Some(Fields::new(cursor));
            }
            cursor.skip(this, root).ok()?;
        }
        None
    }
}

impl core::fmt::Debug for Record<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Record")
            .field("class", &self.class().id())
            .field("start", &self.parts.start)
            .field("end", &self.parts.end)
            .finish_non_exhaustive()
    }
}
