use super::cursor::Cursor;
use super::fields::Fields;
use super::packet::Packet;
use crate::ctf::schema::EventClass;
use crate::ctf::schema::node::{LAST, NONE, Nodes, PLAIN};
use crate::ctf::schema::scope::{Scope, root_of};

/// The mark of a payload's root.
const PAYLOAD: u32 = 5;
const _: () = assert!(Scope::Payload.number() == 5);

/// The root structures of the specific context and of the payload of a class.
#[inline(always)]
pub(super) fn roots(nodes: Nodes<'_>, class: u32) -> (u32, u32) {
    let end = nodes.end(class);
    let first = class.wrapping_add(2);
    if first >= end {
        return (NONE, NONE);
    }
    let second = nodes.end(first);
    let second = if second < end { second } else { NONE };
    if nodes.get(first).name == PAYLOAD { (second, first) } else { (first, second) }
}

/// The places of the parts of a record.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The node of its class.
    pub(super) class: u32,
    pub(super) start: u64,
    /// The start of the common context.
    pub(super) body: u64,
    pub(super) end: u64,
    pub(super) clock: u64,
    /// True if the last field before `start`, and before `body`, was big-endian.
    pub(super) orders: (bool, bool),
}

/// An event record.
#[derive(Clone, Copy)]
pub struct Record<'p, 'a, 's> {
    pub(super) packet: &'p Packet<'a, 's>,
    pub(super) parts: Parts,
}

impl<'p, 'a, 's> Record<'p, 'a, 's> {
    /// The class.
    #[inline]
    pub fn class(&self) -> EventClass<'a, 's> {
        EventClass { schema: self.packet.schema, index: self.parts.class }
    }

    /// The packet that it is in.
    pub fn packet(&self) -> &'p Packet<'a, 's> {
        self.packet
    }

    /// The time of its recording; `None` if its stream has no clock.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    #[inline]
    pub fn cycles(&self) -> Option<u64> {
        self.packet.has_clock.then_some(self.parts.clock)
    }

    /// The time of its recording; `None` if its stream has no clock.
    ///
    /// # Units
    /// Nanoseconds since the origin of the clock of its stream class, rounded down.
    pub fn nanoseconds(&self) -> Option<i128> {
        let clock = self.packet.stream_class().clock()?;
        Some(clock.nanoseconds(self.parts.clock))
    }

    /// The start.
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
    pub fn payload(&self) -> Option<Fields<'a, 's>> {
        self.fields(Scope::Payload)
    }

    /// The fields of one of its scopes, or of its packet's.
    pub fn fields(&self, scope: Scope) -> Option<Fields<'a, 's>> {
        let packet = self.packet;
        let mut cursor = Cursor::new(packet.window, packet.schema, 0, &packet.slots);
        self.begin_scope(&mut cursor, scope).then(|| Fields::new(cursor))
    }

    /// As [`Self::fields`], in a place that is used again: over a kilobyte is not written anew for each scope.
    ///
    /// ```
    /// # use traceglass::ctf::data::Packet;
    /// # use traceglass::ctf::schema::Scope;
    /// # fn count(packet: &Packet<'_, '_>) -> traceglass::Result<u64> {
    /// let (mut count, mut place) = (0_u64, None);
    /// for record in packet.records() {
    ///     let record = record?;
    ///     for scope in [Scope::EventHeader, Scope::Payload] {
    ///         if let Some(fields) = record.fields_in(scope, &mut place) {
    ///             fields.each_field(|_| count = count.saturating_add(1))?;
    ///         }
    ///     }
    /// }
    /// # Ok(count)
    /// # }
    /// ```
    pub fn fields_in<'f>(
        &self,
        scope: Scope,
        place: &'f mut Option<Fields<'a, 's>>,
    ) -> Option<&'f mut Fields<'a, 's>> {
        let packet = self.packet;
        let fields = place
            .get_or_insert_with(|| Fields::new(Cursor::new(packet.window, packet.schema, 0, &packet.slots)));
        if self.begin_scope(&mut fields.cursor, scope) { Some(fields) } else { None }
    }

    /// Goes to the fields of one of its scopes, or of its packet's; `false` if there are none.
    pub(super) fn begin_scope(&self, cursor: &mut Cursor<'a, 's>, scope: Scope) -> bool {
        let packet = self.packet;
        if matches!(scope, Scope::PacketHeader | Scope::PacketContext) {
            return packet.begin_scope(cursor, scope);
        }
        let nodes = packet.schema.nodes;
        let class = self.parts.class;
        let root_of = |scope| match scope {
            Scope::EventHeader => packet.event_header,
            Scope::CommonContext => packet.common_context,
            _ => root_of(nodes, class, scope),
        };
        let wanted = root_of(scope);
        if wanted == NONE {
            return false;
        }
        // The header is read only if a length or a selector in it is needed.
        let needs_header = nodes.get(class).has(LAST) || packet.info().has(PLAIN);
        let from_start = needs_header || scope == Scope::EventHeader;
        let (start, order) = if from_start {
            (self.parts.start, self.parts.orders.0)
        } else {
            (self.parts.body, self.parts.orders.1)
        };
        cursor.restart(packet.window, packet.schema, start, &packet.slots);
        cursor.last_big = order;
        let before = [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext];
        for this in before.into_iter().skip(usize::from(!from_start)).take_while(|this| *this != scope) {
            let root = root_of(this);
            if root != NONE && cursor.skip(this, root).is_err() {
                return false;
            }
        }
        cursor.begin(scope, wanted).is_ok()
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
