//! The values from which templates are filled.

use super::classes::{MatchSlot, Name};
use super::hashed::Entries;
use super::op::{Condition, Inner, Op, OpSlot, Ops, Source};
use super::plan::{Number, Plan};
use super::table::Table;
use super::text::{Scratch, joined, name_hash, number_hash};
use super::value::{Texts, Value, ValueSlot};
use crate::event::label::Label;
use core::fmt::Write as _;
use core::ops::Range;

/// Text that templates give.
pub(super) type Output = Scratch<2048>;

/// A text that a map remembers. A long one is cut.
pub(super) type Kept = Scratch<96>;

/// The values from which templates are filled: an event, and everything remembered.
pub(super) struct Context<'c, 't, 'r> {
    pub(super) table: &'c Table<'t, 'r>,
    pub(super) values: &'c [ValueSlot],
    pub(super) texts: &'c Texts,
    pub(super) maps: &'c Entries<'r, KeptSlot>,
    /// The number of the event, and its name.
    pub(super) number: u32,
    pub(super) event: Label<'c>,
    /// What its class has to do with the rule that is followed.
    pub(super) found: &'c MatchSlot,
    pub(super) stream: &'c dyn core::fmt::Display,
    /// The processor of the packet.
    pub(super) cpu: Option<u64>,
}

/// Room for something that is remembered.
#[derive(Clone, Copy, Debug)]
pub struct KeptSlot(pub(super) Remembered);

/// Something that is remembered: a number need not be written as text to be looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Remembered {
    Number(u64),
    Text(Kept),
}

/// The name of a track: its hash, if that is known without it, or where it was put.
pub(super) enum Named {
    Hash(u64),
    Text(Range<usize>),
}

/// The text of a template: one of the table, or a piece of what templates gave.
#[derive(Clone)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Given(Range<usize>),
}

impl Piece<'_> {
    pub(super) fn bytes<'o>(&'o self, given: &'o Output) -> &'o [u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Given(range) => given.bytes(range.clone()),
        }
    }

    pub(super) fn text<'o>(&'o self, given: &'o Output) -> &'o str {
        match self {
            Self::Text(text) => text,
            Self::Given(range) => given.get(range.clone()),
        }
    }
}

impl<'t> Context<'_, 't, '_> {
    /// The text of a template, which need not be put together if it is one of the table; `None` if it has no value.
    pub(super) fn piece(&self, ops: Ops, to: &mut Output) -> Option<Piece<'t>> {
        let slots = self.table.range(ops);
        match slots {
            [OpSlot(Op::Text(text))] => return Some(Piece::Text(text)),
            // A place, and nothing else.
            [OpSlot(Op::Try { more, .. }), rest @ ..] if usize::try_from(*more) == Ok(rest.len()) => {}
            _ => return self.template(ops, to).map(Piece::Given),
        }
        slots.iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::Text(text), .. } => Some(Piece::Text(text)),
            Op::Try { source: Source::Table(ops, inner, mask), .. } => {
                self.entry(ops, inner, mask, to).map(Piece::Text)
            }
            Op::Try { source, mask, hex, .. } => {
                let start = to.len();
                self.source(source, mask, hex, to).then(|| Piece::Given(start..to.len()))
            }
            _ => None,
        })
    }

    /// The text that stands for a value in a table.
    fn entry(&self, ops: Ops, inner: Inner<'t>, mask: Option<u64>, to: &mut Output) -> Option<&'t str> {
        let mut entries = self.table.range(ops).iter();
        let number = match inner {
            Inner::Field(name) => self.value(name).masked(mask),
            _ => None,
        };
        if number.is_some() {
            return entries.find_map(|slot| match slot.0 {
                Op::Entry(_, text, value) if value == number => Some(text),
                _ => None,
            });
        }
        let start = to.len();
        if !self.inner(inner, mask, to) {
            return None;
        }
        let key = to.bytes(start..to.len());
        let found = entries.find_map(|slot| match slot.0 {
            Op::Entry(value, text, _) if value.as_bytes() == key => Some(text),
            _ => None,
        });
        to.truncate(start);
        found
    }

    /// The text of a template; `None` if it has no value.
    pub(super) fn template(&self, ops: Ops, to: &mut Output) -> Option<Range<usize>> {
        let start = to.len();
        let mut slots = self.table.range(ops).iter();
        while let Some(OpSlot(op)) = slots.next() {
            match op {
                Op::Text(text) => to.push(text),
                Op::Try { source, mask, hex, more } => {
                    let is_put = match source {
                        Source::Field(name) => self.value(*name).put(self.texts, *mask, *hex, to),
                        _ => self.source(*source, *mask, *hex, to),
                    };
                    match is_put {
                        // The other alternatives are not needed.
                        true if *more > 0 => {
                            let _ = slots.nth(usize::try_from(more.saturating_sub(1)).unwrap_or(usize::MAX));
                        }
                        false if *more == 0 => {
                            to.truncate(start);
                            return None;
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Some(start..to.len())
    }

    /// The name that a template gives.
    pub(super) fn named(&self, plan: &Plan, ops: Ops, to: &mut Output) -> Option<Named> {
        match self.number(plan.number) {
            Some(number) => Some(Named::Hash(plan.hash(number))),
            None => self.template(ops, to).map(Named::Text),
        }
    }

    /// The hash of a template's text, after another hash.
    pub(super) fn hash(&self, plan: &Plan, state: u64, ops: Ops, to: &mut Output) -> Option<u64> {
        if let Some(number) = self.number(plan.number) {
            return Some(plan.hash(number));
        }
        let start = to.len();
        let found = self.template(ops, to)?;
        let hash = name_hash(state, to.bytes(found));
        to.truncate(start);
        Some(hash)
    }

    /// A number; `None` if it is not written as one.
    #[inline]
    pub(super) fn number(&self, number: Number) -> Option<u64> {
        match number {
            Number::None => None,
            Number::Field(name) => self.value(name).number(),
            Number::Processor => self.processor_as_written(),
            Number::OfProcessor(map) => {
                match self.kept(joined(map, number_hash(self.processor_as_written()?)))? {
                    Remembered::Number(number) => Some(*number),
                    Remembered::Text(_) => None,
                }
            }
        }
    }

    /// The number of the processor, if templates have it in decimal digits.
    fn processor_as_written(&self) -> Option<u64> {
        self.table.range(self.table.cpu).iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::PacketCpu, .. } => self.cpu.map(Some),
            Op::Try { source: Source::Field(name), mask: None, hex: false, .. } => match self.value(name) {
                Value::None => None,
                value => Some(value.number()),
            },
            _ => Some(None),
        })?
    }

    /// The value that is remembered.
    fn kept(&self, key: u64) -> Option<&Remembered> {
        self.maps.find(key).and_then(|at| self.maps.get(at)).map(|slot| &slot.0)
    }

    /// True if a condition holds.
    pub(super) fn holds(&self, condition: Option<Condition<'_>>, to: &mut Output) -> bool {
        let Some(condition) = condition else { return false };
        if let Some(is) = self.is_number(&condition) {
            return is;
        }
        let start = to.len();
        let holds = self
            .template(condition.template, to)
            .is_some_and(|found| to.bytes(found) == condition.value.as_bytes());
        to.truncate(start);
        holds
    }

    /// True if a template of fields alone is a number; `None` if that takes its text to be told.
    fn is_number(&self, condition: &Condition<'_>) -> Option<bool> {
        let number = condition.number?;
        let mut places = self.table.range(condition.template).iter().map(|slot| match slot.0 {
            Op::Try { source: Source::Field(name), mask: None, hex: false, more } => Some((name, more)),
            _ => None,
        });
        loop {
            let (name, more) = places.next()??;
            let value = self.value(name);
            if value.is_none() && more == 0 {
                return Some(false);
            }
            if !value.is_none() {
                // After the place comes text of the template.
                let rest = usize::try_from(more).unwrap_or(usize::MAX);
                return if places.nth(rest).is_none() { value.is(number) } else { None };
            }
        }
    }

    /// Puts the part of the event's name that `*` stands for.
    pub(super) fn put_star(&self, to: &mut Output) {
        let (first, end) = self.found.star;
        match self.event.as_str() {
            Some(name) => to.push(name.get(first..end).unwrap_or_default()),
            None => {
                let mut name = Name::EMPTY;
                // A scratch takes all that is written to it.
                let _ = write!(name, "{}", self.event);
                to.push_piece(&name, first..end);
            }
        }
    }

    /// The number of the processor.
    pub(super) fn processor(&self) -> Option<u64> {
        self.table.range(self.table.cpu).iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::PacketCpu, .. } => self.cpu,
            Op::Try { source: Source::Field(name), .. } => self.value(name).number(),
            _ => None,
        })
    }

    fn value(&self, name: u32) -> Value {
        let at = usize::try_from(name).unwrap_or(usize::MAX);
        self.values.get(at).map_or(Value::None, |slot| slot.of(self.number))
    }

    fn source(&self, source: Source<'t>, mask: Option<u64>, hex: bool, to: &mut Output) -> bool {
        match source {
            Source::Cpu => self.put_processor(to),
            Source::Thread => self.table.range(self.table.thread).iter().any(|slot| match slot.0 {
                Op::Try { source: Source::Thread, .. } => false,
                Op::Try { source: Source::Cpu, .. } => self.put_processor(to),
                Op::Try { source, mask, hex, .. } => self.simple(source, mask, hex, to),
                _ => false,
            }),
            _ => self.simple(source, mask, hex, to),
        }
    }

    fn put_processor(&self, to: &mut Output) -> bool {
        self.table.range(self.table.cpu).iter().any(|slot| match slot.0 {
            Op::Try { source, mask, hex, .. } => self.simple(source, mask, hex, to),
            _ => false,
        })
    }

    /// A value that needs no list of others.
    fn simple(&self, source: Source<'t>, mask: Option<u64>, hex: bool, to: &mut Output) -> bool {
        let start = to.len();
        match source {
            Source::Cpu | Source::Thread => return false,
            Source::Field(name) => return self.value(name).put(self.texts, mask, hex, to),
            Source::Key => {
                return self.found.key.is_some_and(|key| self.value(key).put(self.texts, None, hex, to));
            }
            Source::Text(text) => to.push(text),
            Source::Event => match self.event.as_str() {
                Some(name) => to.push(name),
                // Text takes all that is written to it.
                None => drop(write!(to, "{}", self.event)),
            },
            Source::Star => {
                self.put_star(to);
                return to.len() > start;
            }
            Source::PacketCpu => {
                let Some(cpu) = self.cpu else { return false };
                to.push_number(cpu);
            }
            Source::Stream => drop(write!(to, "stream {}", self.stream)),
            Source::Map(map, inner) => {
                if !self.inner(inner, None, to) {
                    return false;
                }
                let key = name_hash(map, to.bytes(start..to.len()));
                to.truncate(start);
                match self.kept(key) {
                    None => return false,
                    Some(Remembered::Number(number)) => to.push_number(*number),
                    Some(Remembered::Text(text)) => to.push_piece(text, 0..text.len()),
                }
            }
            Source::Table(ops, inner, mask) => {
                let Some(text) = self.entry(ops, inner, mask, to) else { return false };
                to.push(text);
            }
        }
        true
    }

    fn inner(&self, inner: Inner<'t>, mask: Option<u64>, to: &mut Output) -> bool {
        match inner {
            Inner::Field(name) => self.value(name).put(self.texts, mask, false, to),
            Inner::Cpu => self.put_processor(to),
            Inner::Text(text) => {
                to.push(text);
                true
            }
        }
    }
}
