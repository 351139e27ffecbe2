//! Rules of a table.

use super::op::{Condition, Ops};
use super::text::split;

/// The effect of a rule on events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// A value that holds until the next one of the track.
    #[default]
    State,
    /// Remembers a value.
    Let,
    /// Names a track.
    Label,
    /// Begins and ends a slice.
    Slice,
}

/// Room for a rule of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSlot<'t>(pub(super) Rule<'t>);

impl RuleSlot<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self(Rule::EMPTY);
}

/// A rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rule<'t> {
    pub(super) kind: RuleKind,
    /// Patterns of the events; of a slice, of those that begin it.
    pub(super) on: Ops,
    /// Patterns of the events that end a slice.
    pub(super) end: Ops,
    pub(super) track: Option<Ops>,
    pub(super) key: Option<Ops>,
    /// The value of a state and of what is remembered, the name of a slice and of a track.
    pub(super) value: Option<Ops>,
    /// The value that held before the first event.
    pub(super) was: Option<Ops>,
    pub(super) none: Option<Condition<'t>>,
    pub(super) was_none: Option<Condition<'t>>,
    pub(super) skip: Option<Condition<'t>>,
    /// Names of arguments: of the begin, and of the end.
    pub(super) args: Ops,
    pub(super) end_args: Ops,
    /// Hashes of the values that stay.
    pub(super) keep: Ops,
    /// The hash of the map's name.
    pub(super) map: u64,
    pub(super) key_optional: bool,
    /// True if at most one slice is open on a track.
    pub(super) one: bool,
    pub(super) generic: bool,
}

impl Rule<'_> {
    pub(super) const EMPTY: Self = Self {
        kind: RuleKind::State,
        on: Ops { first: 0, len: 0 },
        end: Ops { first: 0, len: 0 },
        track: None,
        key: None,
        value: None,
        was: None,
        none: None,
        was_none: None,
        skip: None,
        args: Ops { first: 0, len: 0 },
        end_args: Ops { first: 0, len: 0 },
        keep: Ops { first: 0, len: 0 },
        map: 0,
        key_optional: false,
        one: false,
        generic: false,
    };
}

/// The range of a name for which the `*` of a pattern stands; `None` if the name does not match.
pub(super) fn star(pattern: &str, name: &str) -> Option<(usize, usize)> {
    match split(pattern, b'*') {
        None => (pattern == name).then_some((name.len(), name.len())),
        Some((front, back)) => {
            let end = name.len().checked_sub(back.len()).filter(|&end| end >= front.len())?;
            (name.starts_with(front) && name.ends_with(back)).then_some((front.len(), end))
        }
    }
}
