//! Going from record to record.

use super::bits::bits_of;
use super::cursor::Cursor;
use super::element;
use super::fields::Fields;
use super::meaning::{Meaning, clock_bits, update};
use super::packet::Packet;
use super::plan::{Plan, Word};
use super::record::{Parts, Record};
use super::shape::{Shapes, roots};
use super::value::Value;
use crate::bytes::to_u64;
use crate::ctf::schema::node::{LAST, NONE, Node};
use crate::ctf::schema::scope::Scope;
use crate::error::{ErrorKind, Result};

/// The start of the payload of a record.
#[derive(Clone, Copy)]
struct Payload {
    at: u64,
    last_big: bool,
    /// Its root structure; `NONE` if there is none.
    root: u32,
    /// `at` is where the contexts begin that precede it.
    has_contexts: bool,
    /// The record, if lengths and selectors have to be those before it: they may be needed before they are read.
    anew: Option<Parts>,
}

impl Payload {
    const NONE: Self = Self { at: 0, last_big: false, root: NONE, has_contexts: false, anew: None };
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
    plan: Option<Plan>,
    /// The same, in the usual case.
    word: Word,
    /// The whole bytes of the packet's content.
    content: &'a [u8],
    shapes: Shapes,
    /// The payload of the record that was read last.
    payload: Payload,
    pub(super) fault: bool,
    /// The end of the padding has been looked for.
    ended: bool,
}

impl<'a, 's> Reader<'a, 's> {
    pub(super) fn new(packet: &Packet<'a, 's>) -> Self {
        let plan = Plan::new(packet.schema.nodes, packet.event_header);
        Self {
            fields: Fields::new(Cursor::new(packet.window, packet.schema, packet.records_at, &packet.slots)),
            at: packet.records_at,
            last_big: packet.last_big,
            idle: 0,
            clock: packet.clock,
            info: packet.info(),
            word: plan.map_or(Word::NEVER, |plan| plan.word()),
            plan,
            content: packet.window.content(),
            shapes: Shapes::EMPTY,
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
        self.fields.cursor.idle = self.idle;
        if let Some(parts) = self.go_over(packet) {
            self.idle = self.fields.cursor.idle;
            self.payload.anew = self.info.has(LAST).then_some(parts);
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
                (self.plan, self.word) = (None, Word::NEVER);
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

    /// A record whose class has a shape, and with which nothing is wrong; if it is none, nothing has happened.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Positions lie in memory.
    fn quick(&mut self) -> Option<Parts> {
        let start = self.at;
        let head = self.word.read(self.content, (start.wrapping_add(7) >> 3) as usize)?;
        let shape = self.shapes.known(head.id)?;
        let (end, known) = shape.after(self.content, head.end)?;
        let (end, body) = (to_u64(end).wrapping_mul(8), to_u64(head.end).wrapping_mul(8));
        if end == start {
            return None;
        }
        let (class, root, has_contexts) = (shape.class, shape.payload, shape.has_contexts);
        self.clock = self.word.clock(self.clock, head.time);
        // All fields end with a byte: what their byte order was does not matter.
        self.at = end;
        self.fields.cursor.known = known;
        self.payload = Payload { at: body, last_big: false, root, has_contexts, anew: None };
        Some(Parts { class, start, body, end, clock: self.clock, orders: (false, false) })
    }

    /// A record of the usual kind with which nothing is wrong; if it is none, nothing has happened.
    fn go_over(&mut self, packet: &Packet<'a, 's>) -> Option<Parts> {
        let plan = self.plan.as_ref()?;
        let cursor = &mut self.fields.cursor;
        let (start, order) = (self.at, self.last_big);
        let head = plan.read(&packet.window, start)?;
        if self.info.has(LAST) {
            cursor.slots = packet.slots;
        }
        if let Some(slot) = cursor.slots.get_mut(usize::from(plan.slot())) {
            *slot = head.id.unwrap_or(0);
        }
        let class = self.shapes.class(packet, head.id)?;
        let orders = (order, if plan.is_empty() { order } else { plan.big });
        let (context, root) = roots(packet, class);
        let (payload, last_big) = cursor.pass_all([packet.common_context, context], head.end, orders.1)?;
        self.payload = Payload { at: payload, last_big, root, has_contexts: false, anew: None };
        let (at, last_big) = cursor.pass_all([root, NONE], payload, last_big)?;
        if at == start {
            return None;
        }
        if let Some((time, len)) = head.time {
            self.clock = update(self.clock, time, len);
        }
        (self.at, self.last_big) = (at, last_big);
        Some(Parts { class, start, body: head.end, end: at, clock: self.clock, orders })
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
        let id = Self::read_header(cursor, &mut meaning, packet)?;
        let body = cursor.at;
        let orders = (order, cursor.last_big);
        let Some(class) = packet.schema.event_class(self.info, id) else {
            let kind = ErrorKind::NoSuchClass { id: id.unwrap_or(0) };
            return Err(cursor.window.error(body, element::EVENT_CLASS_ID, kind));
        };
        let (context, payload) = roots(packet, class);
        for (scope, root) in
            [(Scope::CommonContext, packet.common_context), (Scope::SpecificContext, context)]
        {
            if root != NONE {
                cursor.skip(scope, root)?;
            }
        }
        let place = Payload {
            at: cursor.at,
            last_big: cursor.last_big,
            root: payload,
            has_contexts: false,
            anew: None,
        };
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

    /// A header of any form; the identifier in it.
    #[inline(never)]
    fn read_header(
        cursor: &mut Cursor<'a, 's>,
        meaning: &mut Meaning,
        packet: &Packet<'a, 's>,
    ) -> Result<Option<u64>> {
        if packet.event_header != NONE {
            cursor.begin(Scope::EventHeader, packet.event_header)?;
            while let Some(field) = cursor.next_role()? {
                if let Value::Unsigned(value) = field.value {
                    let node = cursor.node(field.index);
                    meaning.note(node.roles, value, clock_bits(node, field.start, cursor.at));
                }
            }
        }
        Ok(meaning.event_class)
    }

    /// The fields of the payload of the record that was read last, in place.
    #[inline(always)]
    pub(super) fn payload(&mut self, packet: &Packet<'a, 's>) -> Option<&mut Fields<'a, 's>> {
        let Payload { mut at, last_big, root, has_contexts, anew } = self.payload;
        if root == NONE {
            return None;
        }
        if anew.is_some() {
            return self.payload_anew(packet);
        }
        if has_contexts {
            at = self.after_contexts(at)?;
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

    #[inline(never)]
    fn after_contexts(&self, at: u64) -> Option<u64> {
        let shape = self.shapes.last()?;
        Some(bits_of(shape.after_contexts(self.content, usize::try_from(at >> 3).ok()?)?))
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
