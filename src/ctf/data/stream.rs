//! The event records of a stream, told to a listener.

use super::class::Described;
use super::fields::Fields;
use super::loss::{Loss, Losses};
use super::packet::Packet;
use super::packets::Packets;
use super::plan::Plan;
use super::program::{ProgramSlot, Programs};
use super::reader::Reader;
use super::record::{Parts, Record};
use super::tell::{tell_fields, tell_scopes, time_of};
use super::walk::{Memory, scopes, walk};
use crate::bytes::to_u64;
use crate::ctf::schema::node::{NONE, Node};
use crate::ctf::schema::{EventClass, Schema, Scope};
use crate::error::Result;
use crate::record::{self, ClassId, Head, Listener, Source, Time, Wants};

/// The event records of a data stream, one after the other, as a [`Source`] for listeners.
///
/// A record whose class has steps is decoded and told in one pass, any other one as [`Records`](super::Records) reads
/// it. After a record that cannot be read, the next packet goes on.
///
/// # Examples
/// ```
/// use traceglass::ctf::data::{Packets, Programs, Stream};
/// use traceglass::ctf::schema::Schema;
/// use traceglass::record::{Nobody, Source};
///
/// /// How many records of a stream can be read.
/// fn count(data: &[u8], schema: &Schema<'_, '_>, programs: Programs<'_>) -> u64 {
///     let mut stream = Stream::new(Packets::new(data, schema), programs);
///     let mut count = 0;
///     loop {
///         match stream.peek() {
///             Ok(Some(_)) => count += u64::from(stream.tell(&mut Nobody).is_ok()),
///             Ok(None) => return count,
///             Err(error) => eprintln!("{error}"),
///         }
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Stream<'a, 's, 't> {
    packets: Packets<'a, 's>,
    programs: Programs<'t>,
    open: Option<Open<'a, 's, 't>>,
    losses: Losses,
    loss: Loss,
}

impl<'a, 's, 't> Stream<'a, 's, 't> {
    /// The records of these packets. The programs are those of the packets' schema.
    pub fn new(packets: Packets<'a, 's>, programs: Programs<'t>) -> Self {
        Self { packets, programs, open: None, losses: Losses::default(), loss: Loss::default() }
    }

    /// The records of packets that follow others, of which the losses are known.
    pub(super) fn of_share(packets: Packets<'a, 's>, losses: Losses, programs: Programs<'t>) -> Self {
        Self { losses, ..Self::new(packets, programs) }
    }

    /// As after this packet: what is missing is counted from there.
    pub fn after(mut self, packet: &Packet<'a, 's>) -> Self {
        // A loss before it was told with it.
        let _ = self.losses.observe(packet);
        self
    }

    /// The packet of the record that was seen or told last; `None` before the first record, and after an error.
    pub fn packet(&self) -> Option<&Packet<'a, 's>> {
        self.open.as_ref().map(|open| &open.packet)
    }

    /// The head of the record that was seen or told last.
    pub fn head(&self) -> Option<&Head> {
        self.open.as_ref().map(Open::head)
    }

    /// The record that was told last, until the next one is looked for.
    pub fn record(&self) -> Option<Record<'_, 'a, 's>> {
        self.open.as_ref()?.record()
    }

    /// The losses between the packets that were read since the last call.
    pub fn take_loss(&mut self) -> Loss {
        core::mem::take(&mut self.loss)
    }

    /// Goes to the next record, if need be of another packet; `false` at the end.
    #[inline(never)]
    fn find(&mut self) -> Result<bool> {
        loop {
            if let Some(open) = &mut self.open {
                if open.next().inspect_err(|_| self.open = None)? {
                    return Ok(true);
                }
                self.open = None;
            }
            match self.packets.next_packet()? {
                Some(packet) => {
                    self.loss = self.loss.and(self.losses.observe(&packet));
                    self.open = Some(Open::new(packet, self.programs));
                }
                None => return Ok(false),
            }
        }
    }
}

impl core::fmt::Debug for Stream<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream").field("packets", &self.packets).finish_non_exhaustive()
    }
}

impl Source for Stream<'_, '_, '_> {
    #[inline(always)]
    fn peek(&mut self) -> Result<Option<&Head>> {
        let is_found = match &mut self.open {
            Some(open) => open.is_found() || open.next_by_steps().is_some(),
            None => false,
        };
        if !is_found && !self.find()? {
            return Ok(None);
        }
        Ok(self.open.as_ref().map(|open| &open.next.head))
    }

    #[inline(always)]
    fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.tell(to).inspect_err(|_| self.open = None)
    }
}

/// The way in which the next record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It has not been looked for: the last one was told, or there is none yet.
    None,
    Steps,
    General,
}

/// The next record, or the one that was told last.
#[derive(Clone, Copy)]
struct Next<'t> {
    head: Head,
    way: Way,
    /// The same as in the head, as a place in the table of classes.
    class: u32,
    clock: u64,
    /// The first bit, and the first byte after its header.
    start: u64,
    body: usize,
    /// The steps of its contexts and its payload, but for the common context.
    steps: &'t [ProgramSlot],
    /// The record as the general reader found it.
    parts: Option<Parts>,
}

impl Next<'_> {
    const NONE: Self = Self {
        head: Head { class: ClassId(0), time: None, offset: 0, bit: 0, len: None },
        way: Way::None,
        class: 0,
        clock: 0,
        // After all that can be told.
        start: u64::MAX,
        body: 0,
        steps: &[],
        parts: None,
    };
}

/// The conversion from cycles to nanoseconds.
#[derive(Clone, Copy)]
struct Scale {
    /// The time at cycle 0, where cycles are nanoseconds and few enough.
    base: Option<i64>,
    is_absolute: bool,
}

/// A packet that is being read.
#[derive(Clone)]
pub(super) struct Open<'a, 's, 't> {
    packet: Packet<'a, 's>,
    programs: Programs<'t>,
    /// The whole bytes of its content.
    content: &'a [u8],
    info: &'s Node,
    /// The plan for reading headers at once, and the bits of a byte at which none begins.
    plan: Plan,
    within_byte: u64,
    header: Option<&'t [ProgramSlot]>,
    common: &'t [ProgramSlot],
    /// The bit after the record that was told last, the byte order before it, and the clock.
    at: u64,
    last_big: bool,
    clock: u64,
    scale: Option<Scale>,
    /// The next record. It is large: written and read in place.
    next: Next<'t>,
    memory: Memory,
    /// The reader of records that have no steps; it also reads fields.
    reader: Reader<'a, 's>,
    fields: Option<Fields<'a, 's>>,
}

impl<'a, 's, 't> Open<'a, 's, 't> {
    pub(super) fn new(packet: Packet<'a, 's>, programs: Programs<'t>) -> Self {
        let schema = packet.schema;
        let stream = packet.stream_class();
        let [header, common] = programs.stream(schema.stream_place(stream.index));
        let scale = stream.clock().map(|clock| Scale {
            base: i64::try_from(clock.nanoseconds(0)).ok().filter(|_| clock.frequency() == 1_000_000_000),
            is_absolute: clock.is_unix(),
        });
        let info = packet.info();
        Self {
            programs,
            content: packet.window.content(),
            info,
            plan: if common.is_some() { Plan::new(schema, info, packet.event_header) } else { Plan::NEVER },
            // A header is aligned. Without one, a record begins where the one before it ends.
            within_byte: if packet.event_header == NONE { 7 } else { 0 },
            header,
            common: common.unwrap_or_default(),
            at: packet.records_at,
            last_big: packet.last_big,
            clock: packet.clock,
            scale,
            next: Next::NONE,
            memory: Memory::NOTHING,
            reader: packet.reader(),
            fields: None,
            packet,
        }
    }

    fn schema(&self) -> &'s Schema<'a, 's> {
        self.packet.schema
    }

    #[inline(always)]
    fn is_found(&self) -> bool {
        self.next.way != Way::None
    }

    /// True if the next record is to be told by steps.
    #[inline(always)]
    pub(super) fn is_by_steps(&self) -> bool {
        self.next.way == Way::Steps
    }

    /// The values of the next record's header.
    pub(super) fn head(&self) -> &Head {
        &self.next.head
    }

    /// The time of the next record.
    pub(super) fn cycles(&self) -> Option<u64> {
        self.packet.has_clock.then_some(self.next.clock)
    }

    /// Goes to the next record; `false` at the end.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<bool> {
        if self.is_found() || self.next_by_steps().is_some() { Ok(true) } else { self.next_in_general() }
    }

    /// Goes to the next record, if its class has steps.
    #[inline(always)]
    fn next_by_steps(&mut self) -> Option<()> {
        (self.at & self.within_byte == 0).then_some(())?;
        let at = usize::try_from(self.at.wrapping_add(7) >> 3).ok()?;
        let head = self.plan.read(self.content, at)?;
        let (class, steps) = self.programs.find(self.packet.schema, self.info, head.id)?;
        self.next.steps = steps;
        let clock = self.plan.clock(self.clock, head.time);
        self.next.body = head.end;
        self.found(Way::Steps, class, self.at, clock);
        Some(())
    }

    /// Goes to the next record as the general reader finds it.
    #[inline(never)]
    fn next_in_general(&mut self) -> Result<bool> {
        self.next.way = Way::None;
        self.reader.resume(self.at, self.last_big, self.clock);
        let Some(parts) = self.reader.next(&self.packet)? else { return Ok(false) };
        let id = self.schema().nodes.get(parts.class).y();
        let class = self.schema().event_place(self.info, Some(id)).unwrap_or(0);
        self.found(Way::General, class, parts.start, parts.clock);
        self.next.parts = Some(parts);
        Ok(true)
    }

    /// Notes what is known of the next record before its fields are read.
    #[inline(always)]
    fn found(&mut self, way: Way, class: u32, start: u64, clock: u64) {
        let next = &mut self.next;
        (next.way, next.class, next.start, next.clock) = (way, class, start, clock);
        next.head.class = ClassId(self.programs.base().wrapping_add(class));
        next.head.offset = self.packet.window.offset.wrapping_add(start >> 3);
        next.head.bit = (start & 7).to_le_bytes()[0];
        let Some(Scale { base, is_absolute }) = self.scale else { return };
        let short = base.and_then(|base| base.checked_add(i64::try_from(clock).ok()?));
        next.head.time = match short {
            Some(ns) if is_absolute => Some(Time::since_epoch(ns.into())),
            Some(ns) => Some(Time::since_origin(ns.into())),
            None => slow_time(&self.packet, clock),
        };
    }

    /// Tells the next record. After an error there is no other one.
    #[inline(always)]
    pub(super) fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        if self.is_by_steps() && self.tell_by_steps(to).is_some() { Ok(()) } else { self.tell_in_general(to) }
    }

    /// Tells the next record by its steps; `None` if the listener was told to abandon it.
    #[inline(always)]
    fn tell_by_steps<L: Listener>(&mut self, to: &mut L) -> Option<()> {
        let schema = self.packet.schema;
        let class = EventClass { schema, index: schema.event_at(self.next.class) };
        let wants =
            to.begin(&self.next.head, &Described::new(class, self.next.head.class, self.programs.base()));
        let Some(end) = self.steps(wants, to).filter(|end| *end > self.at) else {
            to.abandon();
            return None;
        };
        to.end();
        (self.at, self.last_big, self.clock) = (end, false, self.next.clock);
        self.next.way = Way::None;
        Some(())
    }

    /// Takes the steps of all scopes, and returns the bit at which the record ends.
    #[inline(always)]
    fn steps<L: Listener>(&mut self, wants: Wants, to: &mut L) -> Option<u64> {
        if self.packet.event_header != NONE && wants.has(record::Scope::Header) {
            self.header(wants, to)?;
        }
        let (content, mut at) = (self.content, self.next.body);
        if !self.common.is_empty() {
            at = walk(self.common, content, at, &mut self.memory, wants, false, to)?;
        }
        // Most of the time is spent here; on bare metal, size counts more.
        let walk = if cfg!(target_os = "none") { walk } else { scopes };
        let end = walk(self.next.steps, content, at, &mut self.memory, wants, false, to)?;
        Some(to_u64(end).wrapping_mul(8))
    }

    /// Tells the header.
    #[inline(always)]
    fn header<L: Listener>(&mut self, wants: Wants, to: &mut L) -> Option<()> {
        let Some(steps) = self.header else { return self.header_in_general(to) };
        let at = usize::try_from(self.next.start.wrapping_add(7) >> 3).ok()?;
        walk(steps, self.content, at, &mut self.memory, wants, false, to).map(drop)
    }

    /// Tells a header that has no steps, such as one of bit fields.
    #[inline(never)]
    fn header_in_general(&mut self, to: &mut dyn Listener) -> Option<()> {
        let record = Record { packet: &self.packet, parts: self.parts(self.next.start) };
        let fields = record.fields_in(Scope::EventHeader, &mut self.fields)?;
        to.scope(record::Scope::Header);
        tell_fields(fields, self.programs.base(), to).ok()?;
        to.end_scope();
        Some(())
    }

    /// Tells the next record as the general reader reads it.
    #[inline(never)]
    fn tell_in_general(&mut self, to: &mut dyn Listener) -> Result<()> {
        if self.next.way == Way::None || (self.next.way == Way::Steps && !self.next_in_general()?) {
            return Ok(());
        }
        let Some(parts) = self.next.parts else { return Ok(()) };
        let record = Record { packet: &self.packet, parts };
        let wants = to.begin(
            &self.next.head,
            &Described::new(record.class(), self.next.head.class, self.programs.base()),
        );
        if let Err(error) = tell_scopes(&record, wants, self.programs.base(), &mut self.fields, to) {
            to.abandon();
            return Err(error);
        }
        to.end();
        (self.at, self.last_big, self.clock) = (parts.end, self.reader.last_big(), parts.clock);
        self.next.way = Way::None;
        Ok(())
    }

    /// The record that was told last, until the next one is looked for.
    pub(super) fn record(&self) -> Option<Record<'_, 'a, 's>> {
        let is_told = self.next.way == Way::None && self.at > self.next.start;
        is_told.then(|| Record { packet: &self.packet, parts: self.parts(self.at) })
    }

    /// The record of `next`, with its end.
    fn parts(&self, end: u64) -> Parts {
        let Next { class, start, body, clock, parts, .. } = self.next;
        parts.filter(|parts| parts.start == start).unwrap_or_else(|| Parts {
            class: self.schema().event_at(class),
            start,
            body: to_u64(body).wrapping_mul(8),
            end,
            clock,
            // It begins and ends with a byte: no byte order precedes.
            orders: (false, false),
        })
    }
}

/// The time at a clock of any kind.
#[cold]
#[inline(never)]
fn slow_time(packet: &Packet<'_, '_>, cycles: u64) -> Option<Time> {
    Some(time_of(packet.stream_class().clock()?, cycles))
}
