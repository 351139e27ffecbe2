//! A rule, and the event that follows it.

use super::emit::Moment;
use super::rule::Rule;

/// A rule that an event follows.
pub(super) struct Following<'f, 'e, 't> {
    pub(super) rule: &'f Rule<'t>,
    /// The number of the rule.
    pub(super) number: u32,
    /// The place of what its class has to do with the rule.
    pub(super) at: u32,
    pub(super) moment: &'f Moment<'f, 'e>,
}
