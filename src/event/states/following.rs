//! A rule, and the event that follows it.

use super::classes::MatchSlot;
use super::emit::Moment;
use super::rule::Rule;

/// A rule that an event follows.
pub(super) struct Following<'f, 'e, 't> {
    pub(super) rule: &'f Rule<'t>,
    /// The part of its class in the rule.
    pub(super) found: &'f MatchSlot,
    pub(super) moment: &'f Moment<'f, 'e>,
}
