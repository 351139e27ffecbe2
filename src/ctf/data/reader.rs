//! Going from record to record.

use super::bits::bits_of;
use super::cursor::Cursor;
use super::element;
use super::fields::Fields;
use super::layout::Layouts;
use super::meaning::Meaning;
use super::packet::Packet;
use super::plan::Plan;
use super::record::{Parts, Record, roots};
use crate::bytes::to_u64;
use crate::ctf::schema::node::{LAST, NONE, Node};
use crate::ctf::schema::scope::Scope;
use crate::error::{ErrorKind, Result};

/// The start of the payload of a record.
#[derive(Clone, Copy)]
struct Payload {
    at: u64,
    last_big: bool,
    /// The root structure; `NONE` if there is none.
    root: u32,
    /// The record, if lengths and selectors have to be those before it: they may be needed before they are read.
    anew: Option<Parts>,
}

impl Payload {
    const NONE: Self = Self { at: 0, last_big: false, root: NONE, anew: None };
}

/// Goes from record to record.
#[derive(Clone)]
pub(super) struct Reader<'a, 's> {
    /// The fields: first for going over a record, then those of its payload.
    fields: Fields<'a, 's>,
    /// The next record's first bit, and the byte order before it.
    at: u64,
    last_big: bool,
    /// The number of fields before it that take no bits.
    idle: u64,
    clock: u64,
    info: &'s Node,
    plan: Plan,
    layouts: Layouts,
    /// The whole bytes of the packet's content.
    content: &'a [u8],
    /// The payload of the record that was read last.
    payload: Payload,
    pub(super) fault: bool,
    /// The end of the padding has been looked for.
    ended: bool,
}

impl<'a, 's> Reader<'a, 's> {
    pub(super) fn new(packet: &Packet<'a, 's>) -> Self {
        let info = packet.info();
        // The general reader finds where a record without a header begins.
        let has_plan = packet.event_header != NONE;
        Self {
            fields: Fields::new(Cursor::new(packet.window, packet.schema, packet.records_at, &packet.slots)),
            at: packet.records_at,
            last_big: packet.last_big,
            idle: 0,
            clock: packet.clock,
            info,
            plan: if has_plan { Plan::new(packet.schema, info, packet.event_header) } else { Plan::NEVER },
            layouts: Layouts::EMPTY,
            content: packet.window.content(),
            payload: Payload::NONE,
            fault: false,
            ended: false,
        }
    }

    #[inline(always)]
    pub(super) fn next(&mut self, packet: &Packet<'a, 's>) -> Result<Option<Parts>> {
        // After a fault, nothing is left: see `slow`.
        if let Some(parts) = self.quick() {
            return Ok(Some(parts));
        }
        self.slow(packet)
    }

    #[inline(never)]
    fn slow(&mut self, packet: &Packet<'a, 's>) -> Result<Option<Parts>> {
        self.payload = Payload::NONE;
        if self.fault {
            return Ok(None);
        }
        if self.at >= packet.content {
            return self.end(packet);
        }
        if let Some(parts) = self.go_over(packet) {
            return Ok(Some(parts));
        }
        let cursor = &mut self.fields.cursor;
        (cursor.at, cursor.last_big, cursor.idle) = (self.at, self.last_big, self.idle);
        match self.read(packet) {
            Ok(parts) => {
                self.idle = self.fields.cursor.idle;
                self.payload.anew = self.info.has(LAST).then_some(parts);
                Ok(Some(parts))
            }
            Err(error) => {
                self.fault = true;
                self.at = self.fields.cursor.at;
                self.plan = Plan::NEVER;
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

    /// A record of a simple layout with which nothing is wrong; if it is none, nothing has happened.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Positions lie in memory.
    fn quick(&mut self) -> Option<Parts> {
        let start = self.at;
        let head = self.plan.read(self.content, (start.wrapping_add(7) >> 3) as usize)?;
        let layout = self.layouts.known(head.id)?;
        let (class, root) = (layout.class, layout.root);
        let payload = head.end.wrapping_add(layout.contexts as usize);
        let (end, known) = layout.after(self.content, payload)?;
        let (end, body) = (to_u64(end).wrapping_mul(8), to_u64(head.end).wrapping_mul(8));
        if end == start || end > self.fields.cursor.window.limit {
            return None;
        }
        self.clock = self.plan.clock(self.clock, head.time);
        // All fields end with a byte: what their byte order was does not matter.
        self.at = end;
        self.fields.cursor.known = known;
        self.payload = Payload { at: to_u64(payload).wrapping_mul(8), last_big: false, root, anew: None };
        Some(Parts { class, start, body, end, clock: self.clock, orders: (false, false) })
    }

    /// The same for a record of the usual kinds of fields.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // As above.
    fn go_over(&mut self, packet: &Packet<'a, 's>) -> Option<Parts> {
        let (start, cursor) = (self.at, &mut self.fields.cursor);
        let head = self.plan.read(self.content, (start.wrapping_add(7) >> 3) as usize)?;
        let class = self.layouts.class(packet, head.id)?;
        let (context, root) = roots(packet.schema.nodes, class);
        let body = bits_of(head.end);
        cursor.idle = self.idle;
        if let Some(slot) = cursor.slots.get_mut(usize::from(self.plan.slot)) {
            *slot = head.id;
        }
        let (mut payload, mut order) = (body, false);
        for root in [packet.common_context, context] {
            if root != NONE {
                (payload, order) = cursor.pass(root, payload, order)?;
            }
        }
        let (end, last_big) =
            if root == NONE { (payload, order) } else { cursor.pass(root, payload, order)? };
        if end == start || end > cursor.window.limit {
            return None;
        }
        self.clock = self.plan.clock(self.clock, head.time);
        (self.at, self.last_big, self.idle) = (end, last_big, cursor.idle);
        self.payload = Payload { at: payload, last_big: order, root, anew: None };
        Some(Parts { class, start, body, end, clock: self.clock, orders: (false, false) })
    }

    #[inline(never)]
    fn read(&mut self, packet: &Packet<'a, 's>) -> Result<Parts> {
        let cursor = &mut self.fields.cursor;
        let start = cursor.at;
        let order = cursor.last_big;
        if self.info.has(LAST) {
            // A length may be that of an earlier record.
            cursor.slots = packet.slots;
        }
        let mut meaning = Meaning::new(self.clock);
        if packet.event_header != NONE {
            Packet::read_scope(cursor, Scope::EventHeader, packet.event_header, &mut meaning)?;
        }
        let id = meaning.event_class;
        let body = cursor.at;
        let orders = (order, cursor.last_big);
        let Some(class) = packet.schema.event_class(self.info, id) else {
            let kind = ErrorKind::NoSuchClass { id: id.unwrap_or(0) };
            return Err(cursor.window.error(body, element::EVENT_CLASS_ID, kind));
        };
        let (context, payload) = roots(packet.schema.nodes, class);
        for (scope, root) in
            [(Scope::CommonContext, packet.common_context), (Scope::SpecificContext, context)]
        {
            if root != NONE {
                cursor.skip(scope, root)?;
            }
        }
        let place = Payload { at: cursor.at, last_big: cursor.last_big, root: payload, anew: None };
        if payload != NONE {
            cursor.skip(Scope::Payload, payload)?;
        }
        if cursor.at == start {
            return Err(cursor.window.error(start, element::EVENT_RECORD, ErrorKind::Empty));
        }
        self.clock = meaning.clock;
        self.payload = place;
        (self.at, self.last_big) = (cursor.at, cursor.last_big);
        Ok(Parts { class, start, body, end: cursor.at, clock: self.clock, orders })
    }

    /// The fields of the payload of the record that was read last, in place.
    #[inline(always)]
    pub(super) fn payload(&mut self, packet: &Packet<'a, 's>) -> Option<&mut Fields<'a, 's>> {
        let Payload { at, last_big, root, anew } = self.payload;
        if root == NONE {
            return None;
        }
        if anew.is_some() {
            return self.payload_anew(packet);
        }
        self.fields.cursor.begin_payload(at, last_big, root);
        Some(&mut self.fields)
    }

    #[inline(never)]
    fn payload_anew(&mut self, packet: &Packet<'a, 's>) -> Option<&mut Fields<'a, 's>> {
        let parts = self.payload.anew?;
        let is_there = Record { packet, parts }.begin_scope(&mut self.fields.cursor, Scope::Payload);
        is_there.then_some(&mut self.fields)
    }

    /// Goes on after records that were read in another way: at a bit, with the byte order before it and the clock.
    pub(super) fn resume(&mut self, at: u64, last_big: bool, clock: u64) {
        (self.at, self.last_big, self.clock) = (at, last_big, clock);
    }

    /// True if the last field before the next record was big-endian.
    pub(super) fn last_big(&self) -> bool {
        self.last_big
    }

    /// The bit that is read next; after an error, the one that could not be read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }
}

impl<'a, 's> Packet<'a, 's> {
    pub(super) fn reader(&self) -> Reader<'a, 's> {
        Reader::new(self)
    }
}
