//! Fields as the general reader reads them, told to a listener.

use super::bits::BitString;
use super::class::{Described, PacketClass, SCOPES, WIDE_MAX, content_of};
use super::fields::Fields;
use super::packet::Packet;
use super::program::{ProgramSlot, Programs};
use super::record::Record;
use super::value::Value;
use super::walk::{Memory, walk};
use crate::ctf::schema::node::NONE;
use crate::ctf::schema::scope::root_of;
use crate::ctf::schema::{Clock, Encoding, FieldKind, Scope};
use crate::error::Result;
use crate::record::{self, Class, ClassId, Head, Listener, Slot, Text, Time, Wants, Wide};
use core::fmt;

/// Tells all fields that are left. `base` is the number of the schema's first slot.
///
/// The general reader costs more than a call by a pointer, and its code would be in a program once for each listener.
pub(super) fn tell_fields(fields: &mut Fields<'_, '_>, base: u32, to: &mut dyn Listener) -> Result<()> {
    let nodes = fields.cursor.schema.nodes;
    let mut levels = Levels::default();
    fields.each_field(|field| {
        if to.is_full() {
            return;
        }
        let class = field.class();
        let slot = Slot(base.wrapping_add(class.index));
        match field.value() {
            Value::Unsigned(value) => to.unsigned(slot, value),
            Value::Signed(value) => to.signed(slot, value),
            Value::Boolean(value) => to.boolean(slot, value),
            Value::Wide(bits) => wide(slot, bits, class.kind() == FieldKind::Signed, to),
            Value::Bits(bits) => match bits.to_u64() {
                Some(value) => to.unsigned(slot, value),
                None => wide(slot, bits, false, to),
            },
            Value::Float(value) => match value.to_f64() {
                Some(value) => to.float(slot, value),
                None => wide(slot, value.bits(), false, to),
            },
            Value::Text(text) if text.encoding() == Encoding::Utf8 => to.text(slot, Text::Utf8(text.bytes())),
            Value::Text(text) => {
                let (stored, is_valid) = (text.bytes(), text.is_valid());
                to.text(slot, Text::Other { text: &text, stored, is_valid });
            }
            Value::Blob(bytes) => to.bytes(slot, bytes),
            Value::Structure => {
                levels.push(Levels::GROUP);
                to.group(slot);
            }
            Value::Array(len) => {
                levels.push(Levels::LIST);
                to.list(slot, Some(len));
            }
            Value::Optional(true) | Value::Variant(_) => levels.push(Levels::THROUGH),
            Value::Optional(false) => to.absent(Slot(base.wrapping_add(content_of(nodes, class.index)))),
            Value::End => match levels.pop() {
                Levels::GROUP => to.end_group(),
                Levels::LIST => to.end_list(),
                _ => {}
            },
        }
    })
}

/// The groups and lists that have begun and not ended: two bits for each level. A schema nests no deeper than 64
/// levels.
#[derive(Default)]
struct Levels(u128);

impl Levels {
    /// An optional or a variant, which its content stands for.
    const THROUGH: u128 = 0;
    const GROUP: u128 = 1;
    const LIST: u128 = 2;

    fn push(&mut self, level: u128) {
        self.0 = self.0 << 2 | level;
    }

    fn pop(&mut self) -> u128 {
        let last = self.0 & 3;
        self.0 >>= 2;
        last
    }
}

/// Tells an integer of more than 64 bits; one of very many bits as its hexadecimal digits.
#[cold]
#[inline(never)]
fn wide(slot: Slot, bits: BitString<'_>, is_signed: bool, to: &mut dyn Listener) {
    const _: () = assert!(WIDE_MAX == 16 * 64);
    let mut room = [0; 16];
    let count = usize::try_from(bits.len().div_ceil(64)).unwrap_or(usize::MAX);
    let Some(words) = room.get_mut(..count) else {
        return to.text(slot, Text::Other { text: &Digits(bits), stored: &[], is_valid: true });
    };
    for (to, word) in words.iter_mut().zip(bits.words()) {
        *to = word;
    }
    let unused = 64_u32.saturating_sub(bits.len() % 64) % 64;
    if let Some(last) = words.last_mut().filter(|_| is_signed) {
        *last = last.cast_signed().wrapping_shl(unused).wrapping_shr(unused).cast_unsigned();
    }
    let low = match words {
        [low, high, ..] => u128::from(*low) | u128::from(*high) << 64,
        [low] => u128::from(*low),
        [] => 0,
    };
    to.wide(slot, Wide { low, words: if bits.len() > 128 { words } else { &[] }, is_signed });
}

/// The digits of an integer of any width.
struct Digits<'a>(BitString<'a>);

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.both_ways().rev().try_for_each(|word| write!(f, "{word:016x}"))
    }
}

/// Tells the fields of the scopes of a record that are wanted.
pub(super) fn tell_scopes<'a, 's>(
    record: &Record<'_, 'a, 's>,
    wants: Wants,
    base: u32,
    place: &mut Option<Fields<'a, 's>>,
    to: &mut dyn Listener,
) -> Result<()> {
    for (told, scope) in SCOPES {
        if wants.has(told)
            && let Some(fields) = record.fields_in(scope, place)
        {
            to.scope(told);
            tell_fields(fields, base, to)?;
            to.end_scope();
        }
    }
    Ok(())
}

/// Tells it as the only trace that the listener is told of.
impl record::Record for Record<'_, '_, '_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.tell_from(0, &Programs::NONE, to)
    }
}

impl Record<'_, '_, '_> {
    /// Tells it with the numbers of classes and fields from `base` on: see [`Programs::compile_from`]. Programs have
    /// the same numbers, or no steps.
    ///
    /// # Errors
    /// As [`record::Record::tell`].
    pub(crate) fn tell_from<L: Listener>(
        &self,
        base: u32,
        programs: &Programs<'_>,
        to: &mut L,
    ) -> Result<()> {
        let to = crate::record::any_listener!(to);
        let (packet, class) = (self.packet, self.class());
        let place = packet.schema.event_place(packet.info(), Some(class.id())).unwrap_or(0);
        let id = ClassId(base.wrapping_add(place));
        let head = Head {
            class: id,
            time: packet.stream_class().clock().map(|clock| time_of(clock, self.parts.clock)),
            offset: self.offset(),
            bit: (self.start() & 7).to_le_bytes()[0],
            len: None,
        };
        let described = Described::new(class, id, base);
        let mut wants = to.begin(&head, &described);
        if wants == Wants::NOTHING {
            to.end();
            return Ok(());
        }
        if let Some(scopes) = self.steps(programs, place, wants) {
            if self.tell_steps(scopes, wants, to).is_some() {
                to.end();
                return Ok(());
            }
            to.abandon();
            wants = to.begin(&head, &described);
        }
        if let Err(error) = tell_scopes(self, wants, base, &mut None, to) {
            to.abandon();
            return Err(error);
        }
        to.end();
        Ok(())
    }

    /// The steps of the contexts and the payload; `None` if the header is wanted, or something has no steps.
    fn steps<'t>(&self, programs: &Programs<'t>, place: u32, wants: Wants) -> Option<[&'t [ProgramSlot]; 2]> {
        let class = programs.class(place)?;
        let is_told = self.parts.body & 7 == 0 && !wants.has(record::Scope::Header);
        is_told.then_some(())?;
        let packet = self.packet;
        let common = match packet.common_context {
            NONE => &[],
            _ => programs.stream(packet.schema.stream_place(packet.stream_class().index))[1]?,
        };
        Some([common, class])
    }

    fn tell_steps<L: Listener>(&self, steps: [&[ProgramSlot]; 2], wants: Wants, to: &mut L) -> Option<()> {
        let [common, class] = steps;
        let content = self.packet.window.content();
        let at = usize::try_from(self.parts.body >> 3).ok()?;
        let mut memory = Memory::NOTHING;
        let at = walk(common, content, at, &mut memory, wants, false, to)?;
        walk(class, content, at, &mut memory, wants, true, to).map(drop)
    }
}

/// Tells what its context says, as a group.
impl record::Record for Packet<'_, '_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let to = &mut record::Any(to);
        let stream = self.stream_class();
        let class = PacketClass::new(stream);
        let clock = stream.clock();
        let head = Head {
            class: class.id(),
            time: clock.zip(self.begin()).map(|(clock, begin)| time_of(clock, begin)),
            offset: self.offset(),
            bit: 0,
            len: Some(self.end_offset().saturating_sub(self.offset())),
        };
        if to.begin(&head, &class).has(record::Scope::Fields) {
            to.scope(record::Scope::Fields);
            match self.context() {
                Some(mut fields) => {
                    to.group(Slot(root_of(self.schema.nodes, stream.index, Scope::PacketContext)));
                    if let Err(error) = tell_fields(&mut fields, 0, to) {
                        to.abandon();
                        return Err(error);
                    }
                    to.end_group();
                }
                None => to.absent(Slot(stream.index)),
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

/// The time at a value of a clock.
pub(super) fn time_of(clock: Clock<'_, '_>, cycles: u64) -> Time {
    let ns = clock.nanoseconds(cycles);
    if clock.is_unix() { Time::since_epoch(ns) } else { Time::since_origin(ns) }
}
