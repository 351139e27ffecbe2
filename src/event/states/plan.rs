//! Names that are a number between texts, hashed without being put together.

use super::op::{Condition, Inner, Op, OpSlot, Ops, Source};
use super::table::Table;
use super::text::{hash, joined, name_hash, number_hash};

/// The way to the hash of a template's text, for the events of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The hash of what stands before the number.
    before: u64,
    pub(super) number: Number,
    /// The hash of the text after it.
    after: Option<u64>,
}

/// The source of a number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Number {
    /// There is no plan: the text has to be put together.
    #[default]
    None,
    /// A field, by the number of its name.
    Field(u32),
    Processor,
    /// The value that is remembered for the processor, in the map whose name has this hash.
    OfProcessor(u64),
    /// None is needed: the text is the same for all events of the class.
    Fixed,
}

impl Plan {
    pub(super) const NONE: Self = Self { before: 0, number: Number::None, after: None };

    /// The plan for a template whose hash goes on from another one. `fields` are those that the events have.
    pub(super) fn new(table: &Table<'_, '_>, template: Ops, state: u64, fields: &Fields<'_>) -> Self {
        Self::find(table, template, state, fields).unwrap_or(Self::NONE)
    }

    /// The plan for a key that is the part of the name for which `*` stands; `None` if it is another one, or empty.
    pub(super) fn of_star(table: &Table<'_, '_>, key: Ops, state: u64, star: &[u8]) -> Option<Self> {
        let is_star = matches!(
            table.range(key),
            [OpSlot(Op::Try { source: Source::Star, .. })] if !star.is_empty()
        );
        is_star.then(|| Self { before: name_hash(state, star), number: Number::Fixed, after: None })
    }

    fn find(table: &Table<'_, '_>, template: Ops, state: u64, fields: &Fields<'_>) -> Option<Self> {
        let is_text = |text: &str| !text.is_empty() && !text.bytes().any(|byte| byte.is_ascii_digit());
        let (before, rest) = match table.range(template) {
            [OpSlot(Op::Text(text)), rest @ ..] if is_text(text) => (joined(state, hash(0, text)), rest),
            rest => (state, rest),
        };
        let [OpSlot(Op::Try { more, .. }), ..] = rest else { return None };
        let (places, rest) = rest.split_at_checked(usize::try_from(*more).ok()?.checked_add(1)?)?;
        let after = match rest {
            [] => None,
            [OpSlot(Op::Text(text))] if is_text(text) => Some(hash(0, text)),
            _ => return None,
        };
        let number = number(table, places, fields)?;
        // Without a number, a plan is what stands before it, and nothing else.
        (after.is_none() || !matches!(number, Number::Fixed)).then_some(Self { before, number, after })
    }

    /// The number, if there is nothing but that.
    pub(super) fn alone(&self, state: u64) -> Number {
        let is_alone = self.after.is_none() && self.before == state && !matches!(self.number, Number::Fixed);
        if is_alone { self.number } else { Number::None }
    }

    /// The hash of the text with this number.
    pub(super) fn hash(&self, number: u64) -> u64 {
        if matches!(self.number, Number::Fixed) {
            return self.before;
        }
        let state = joined(self.before, number_hash(number));
        self.after.map_or(state, |after| joined(state, after))
    }
}

/// The fields that the events of a class have.
pub(super) struct Fields<'f> {
    /// Tells if they have one, by the number of its name.
    pub(super) has: &'f dyn Fn(u32) -> bool,
    /// The field that tells calls of a generic rule apart.
    pub(super) key: Option<u32>,
}

/// True if a template, or a list, gives the same text for all events of a class in a stream, until something is remembered.
/// `has` tells if the events have a field.
pub(super) fn is_of_stream(table: &Table<'_, '_>, template: Ops, has: &dyn Fn(u32) -> bool) -> bool {
    table.range(template).iter().all(|slot| {
        let Op::Try { source, .. } = slot.0 else { return true };
        match source {
            Source::Field(name) | Source::Map(_, Inner::Field(name)) => !has(name),
            // Neither list has itself in it, and that of processors no threads.
            Source::Cpu | Source::Map(_, Inner::Cpu) => is_of_stream(table, table.cpu, has),
            Source::Thread => is_of_stream(table, table.thread, has),
            Source::Text(_) | Source::PacketCpu | Source::Stream | Source::Map(_, Inner::Text(_)) => true,
            Source::Event | Source::Star | Source::Key | Source::Table(..) => false,
        }
    })
}

/// The first of some places that events have, if it is a number as it stands.
fn number(table: &Table<'_, '_>, places: &[OpSlot<'_>], fields: &Fields<'_>) -> Option<Number> {
    places.iter().find_map(|slot| {
        let Op::Try { source, mask: None, hex: false, .. } = slot.0 else { return Some(None) };
        match source {
            Source::Field(name) if (fields.has)(name) => Some(Some(Number::Field(name))),
            Source::Field(_) => None,
            Source::Key => fields.key.map(|key| Some(Number::Field(key))),
            Source::Text("") => Some(Some(Number::Fixed)),
            Source::Cpu => Some(Some(Number::Processor)),
            Source::Map(map, Inner::Cpu) => Some(Some(Number::OfProcessor(map))),
            // No list of threads has another one in it.
            Source::Thread => Some(number(table, table.range(table.thread), fields)),
            _ => Some(None),
        }
    })?
}

/// The way to a condition, for the events of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// There is none.
    Never,
    /// A field is this number, if it has one: by the number of its name.
    Field(u32, i64),
    /// The text has to be put together.
    Text,
}

impl Test {
    /// The way to a condition. `fields` are those that the events have.
    pub(super) fn new(table: &Table<'_, '_>, condition: Option<Condition<'_>>, fields: &Fields<'_>) -> Self {
        let Some(condition) = condition else { return Self::Never };
        let ops = table.range(condition.template);
        let field = match ops.first() {
            Some(OpSlot(Op::Try { more, .. })) if usize::try_from(*more).ok() == ops.len().checked_sub(1) => {
                number(table, ops, fields)
            }
            _ => None,
        };
        match (field, condition.number) {
            (Some(Number::Field(name)), Some(number)) => Self::Field(name, number),
            _ => Self::Text,
        }
    }
}
