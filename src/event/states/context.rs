//! The values from which templates are filled.

use super::classes::{ArgSlot, MatchSlot, Name};
use super::counts::Counts;
use super::emit::Moment;
use super::hashed::Entries;
use super::op::{Condition, Inner, Op, OpSlot, Ops, Source};
use super::open::{NamedFor, Open};
use super::plan::{Number, Plan, Test};
use super::table::Rules;
use super::text::{Scratch, joined, name_hash, number_hash};
use super::value::{Texts, Value, ValueSlot};
use crate::event::track::TrackId;
use core::fmt::{Display, Write as _};
use core::ops::Range;

/// Text that templates give.
pub(super) type Output = Scratch<2048>;

/// A text that a map remembers. A long one is cut.
pub(super) type Kept = Scratch<96>;

/// The values from which templates are filled: an event, and everything remembered; and what comes of it.
pub(super) struct Context<'c, 'e, 'r, 't> {
    pub(super) rules: Rules<'r, 't>,
    pub(super) values: &'c [ValueSlot],
    pub(super) texts: &'c Texts,
    /// The number of the event whose values are of now.
    pub(super) number: u32,
    /// The arguments of all rules.
    pub(super) args: &'c [ArgSlot],
    pub(super) maps: &'c mut Entries<'r, KeptSlot>,
    /// The number of values that were remembered.
    pub(super) remembered: &'c mut u64,
    pub(super) open: &'c mut Open<'r>,
    pub(super) output: &'c mut Output,
    pub(super) counts: &'c mut Counts,
    pub(super) root: Option<(TrackId, bool)>,
    pub(super) inputs: &'r [&'r str],
    pub(super) moment: &'c Moment<'c, 'e>,
    /// The number of the processor, if templates have it in decimal digits.
    pub(super) written: Option<u64>,
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

impl<'t> Context<'_, '_, '_, 't> {
    /// The text of a template, which need not be put together if it is one of the table; `None` if it has no value.
    pub(super) fn piece(&mut self, found: &MatchSlot, ops: Ops) -> Option<Piece<'t>> {
        let slots = self.rules.range(ops);
        match slots {
            [OpSlot(Op::Text(text))] => return Some(Piece::Text(text)),
            // A place, and nothing else.
            [OpSlot(Op::Try { more, .. }), rest @ ..] if usize::try_from(*more) == Ok(rest.len()) => {}
            _ => return self.template(found, ops).map(Piece::Given),
        }
        slots.iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::Text(text), .. } => Some(Piece::Text(text)),
            Op::Try { source: Source::Table(ops, inner, mask), .. } => {
                self.entry(found, ops, inner, mask).map(Piece::Text)
            }
            Op::Try { source, mask, hex, .. } => {
                let start = self.output.len();
                self.source(found, &source, mask, hex).then(|| Piece::Given(start..self.output.len()))
            }
            _ => None,
        })
    }

    /// The text that stands for a value in a table.
    fn entry(&mut self, found: &MatchSlot, ops: Ops, inner: Inner<'t>, mask: Option<u64>) -> Option<&'t str> {
        let mut entries = self.rules.range(ops).iter();
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
        let start = self.output.len();
        if !self.inner(found, inner, mask) {
            return None;
        }
        let key = self.output.bytes(start..self.output.len());
        let text = entries.find_map(|slot| match slot.0 {
            Op::Entry(value, text, _) if value.as_bytes() == key => Some(text),
            _ => None,
        });
        self.output.truncate(start);
        text
    }

    /// The text of a template; `None` if it has no value.
    pub(super) fn template(&mut self, found: &MatchSlot, ops: Ops) -> Option<Range<usize>> {
        let start = self.output.len();
        let mut slots = self.rules.range(ops).iter();
        while let Some(OpSlot(op)) = slots.next() {
            match op {
                Op::Text(text) => self.output.push(text),
                Op::Try { source, mask, hex, more } => {
                    let is_put = match source {
                        Source::Field(name) => self.value(*name).put(self.texts, *mask, *hex, self.output),
                        _ => self.source(found, source, *mask, *hex),
                    };
                    match is_put {
                        // The other alternatives are not needed.
                        true if *more > 0 => {
                            let _ = slots.nth(usize::try_from(more.saturating_sub(1)).unwrap_or(usize::MAX));
                        }
                        false if *more == 0 => {
                            self.output.truncate(start);
                            return None;
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Some(start..self.output.len())
    }

    /// The name that a template gives.
    pub(super) fn named(&mut self, found: &MatchSlot, ops: Ops) -> Option<Named> {
        if let Some(number) = self.number(found.track.number) {
            return Some(Named::Hash(found.track.hash(number)));
        }
        if !found.is_of_stream {
            return self.template(found, ops).map(Named::Text);
        }
        let Moment { cpu, stream, .. } = *self.moment;
        let of = NamedFor { template: ops.first, remembered: *self.remembered, cpu };
        match self.open.stream_at(stream)?.name {
            Some((known, hash)) if known == of => Some(Named::Hash(hash)),
            _ => {
                let hash = self.hash(found, &Plan::NONE, 0, ops)?;
                self.open.stream_at(stream)?.name = Some((of, hash));
                Some(Named::Hash(hash))
            }
        }
    }

    /// The hash of a template's text, after another hash.
    pub(super) fn hash(&mut self, found: &MatchSlot, plan: &Plan, state: u64, ops: Ops) -> Option<u64> {
        if let Some(number) = self.number(plan.number) {
            return Some(plan.hash(number));
        }
        let start = self.output.len();
        let text = self.template(found, ops)?;
        let hash = name_hash(state, self.output.bytes(text));
        self.output.truncate(start);
        Some(hash)
    }

    /// A number; `None` if it is not written as one.
    #[inline]
    pub(super) fn number(&self, number: Number) -> Option<u64> {
        match number {
            Number::None => None,
            Number::Field(name) => self.value(name).number(),
            Number::Processor => self.written,
            Number::Fixed => Some(0),
            Number::OfProcessor(map) => match self.kept(joined(map, number_hash(self.written?)))? {
                Remembered::Number(number) => Some(*number),
                Remembered::Text(_) => None,
            },
        }
    }

    /// The number of the processor, if templates have it in decimal digits.
    pub(super) fn processor_as_written(&self) -> Option<u64> {
        self.rules.cpu.iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::PacketCpu, .. } => self.moment.cpu.map(Some),
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
    #[inline]
    pub(super) fn holds(&mut self, found: &MatchSlot, test: Test, condition: Option<Condition<'_>>) -> bool {
        let is = match test {
            Test::Never => Some(false),
            Test::Field(name, number) => self.value(name).is(number),
            Test::Text => None,
        };
        is.unwrap_or_else(|| self.text_holds(found, condition))
    }

    /// The same, by its text.
    pub(super) fn text_holds(&mut self, found: &MatchSlot, condition: Option<Condition<'_>>) -> bool {
        let Some(condition) = condition else { return false };
        let start = self.output.len();
        let text = self.template(found, condition.template);
        let holds = text.is_some_and(|text| self.output.bytes(text) == condition.value.as_bytes());
        self.output.truncate(start);
        holds
    }

    /// Puts the part of the event's name that `*` stands for.
    fn put_star(&mut self, found: &MatchSlot) {
        let (first, end) = found.star;
        match self.moment.event.name.as_str() {
            Some(name) => self.output.push(name.get(first..end).unwrap_or_default()),
            None => {
                let mut name = Name::EMPTY;
                // A scratch takes all that is written to it.
                let _ = write!(name, "{}", self.moment.event.name);
                self.output.push_piece(&name, first..end);
            }
        }
    }

    /// The number of the processor.
    pub(super) fn processor(&self) -> Option<u64> {
        self.rules.cpu.iter().find_map(|slot| match slot.0 {
            Op::Try { source: Source::PacketCpu, .. } => self.moment.cpu,
            Op::Try { source: Source::Field(name), .. } => self.value(name).number(),
            _ => None,
        })
    }

    #[inline]
    fn value(&self, name: u32) -> Value {
        let at = usize::try_from(name).unwrap_or(usize::MAX);
        self.values.get(at).map_or(Value::None, |slot| slot.of(self.number))
    }

    fn source(&mut self, found: &MatchSlot, source: &Source<'t>, mask: Option<u64>, hex: bool) -> bool {
        match *source {
            Source::Field(name) => self.value(name).put(self.texts, mask, hex, self.output),
            Source::Cpu => self.put_processor(found),
            Source::Thread => self.rules.thread.iter().any(|slot| match &slot.0 {
                Op::Try { source: Source::Thread, .. } => false,
                Op::Try { source: Source::Cpu, .. } => self.put_processor(found),
                Op::Try { source, mask, hex, .. } => self.simple(found, source, *mask, *hex),
                _ => false,
            }),
            _ => self.simple(found, source, mask, hex),
        }
    }

    fn put_processor(&mut self, found: &MatchSlot) -> bool {
        self.rules.cpu.iter().any(|slot| match &slot.0 {
            Op::Try { source, mask, hex, .. } => self.simple(found, source, *mask, *hex),
            _ => false,
        })
    }

    /// A value that needs no list of others.
    fn simple(&mut self, found: &MatchSlot, source: &Source<'t>, mask: Option<u64>, hex: bool) -> bool {
        let start = self.output.len();
        match *source {
            Source::Cpu | Source::Thread => return false,
            Source::Field(name) => return self.value(name).put(self.texts, mask, hex, self.output),
            Source::Key => {
                let put = |key| self.value(key).put(self.texts, None, hex, self.output);
                return found.key.is_some_and(put);
            }
            Source::Text(text) => self.output.push(text),
            Source::Event => match self.moment.event.name.as_str() {
                Some(name) => self.output.push(name),
                // Text takes all that is written to it.
                None => drop(write!(self.output, "{}", self.moment.event.name)),
            },
            Source::Star => {
                self.put_star(found);
                return self.output.len() > start;
            }
            Source::PacketCpu => {
                let Some(cpu) = self.moment.cpu else { return false };
                self.output.push_number(cpu);
            }
            Source::Stream => {
                let stream = self.open.stream_at(self.moment.stream);
                let input = stream.and_then(|stream| stream.input).unwrap_or(self.moment.event.input);
                let name: &dyn Display = match self.inputs.get(input) {
                    Some(name) => name,
                    None => &input,
                };
                // Text takes all that is written to it.
                let _ = write!(self.output, "stream {name}");
            }
            Source::Map(map, inner) => {
                if !self.inner(found, inner, None) {
                    return false;
                }
                let key = name_hash(map, self.output.bytes(start..self.output.len()));
                self.output.truncate(start);
                match self.maps.find(key).and_then(|at| self.maps.get(at)) {
                    None => return false,
                    Some(KeptSlot(Remembered::Number(number))) => self.output.push_number(*number),
                    Some(KeptSlot(Remembered::Text(text))) => self.output.push_piece(text, 0..text.len()),
                }
            }
            Source::Table(ops, inner, mask) => {
                let Some(text) = self.entry(found, ops, inner, mask) else { return false };
                self.output.push(text);
            }
        }
        true
    }

    fn inner(&mut self, found: &MatchSlot, inner: Inner<'t>, mask: Option<u64>) -> bool {
        match inner {
            Inner::Field(name) => self.value(name).put(self.texts, mask, false, self.output),
            Inner::Cpu => self.put_processor(found),
            Inner::Text(text) => {
                self.output.push(text);
                true
            }
        }
    }
}
