//! The table of pairs: which events make intervals.

use super::element::TABLE_ROOM;
use super::op::{Op, OpSlot, Ops};
use super::rule::{Rule, RuleSlot};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use core::fmt;

/// Room for a table: a slot for each rule, one for each part of a template or list, and one for each name of a field.
pub struct Rooms<'t, 'r> {
    /// A slot for each rule.
    pub rules: &'r mut (dyn Room<RuleSlot<'t>> + 'r),
    /// A slot for each text, place and item of a list: about 20 for each rule.
    pub ops: &'r mut (dyn Room<OpSlot<'t>> + 'r),
    /// A slot for each name of a field.
    pub names: &'r mut (dyn Room<&'t str> + 'r),
}

impl fmt::Debug for Rooms<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rooms").finish_non_exhaustive()
    }
}

/// Rules, read from text: which events make intervals.
pub struct Table<'t, 'r> {
    rooms: Rooms<'t, 'r>,
    rules: usize,
    ops: usize,
    names: usize,
    /// The lookups of an event's processor and thread: those of the first text that has them.
    pub(super) cpu: Ops,
    pub(super) thread: Ops,
    /// The names of fields that tell calls apart.
    pub(super) keys: Ops,
    /// The table of values that was read last.
    pub(super) values: Ops,
}

impl<'t, 'r> Table<'t, 'r> {
    /// The table that ships with the library: LTTng, perf, Zephyr, ROS 2, OTF2, and names of one's own that end in
    /// `_begin` and `_end` and the like.
    pub const BUILT_IN: &'static str = include_str!("table.toml");

    /// A table without a rule.
    pub const fn new(rooms: Rooms<'t, 'r>) -> Self {
        let none = Ops { first: 0, len: 0 };
        Self { rooms, rules: 0, ops: 0, names: 0, cpu: none, thread: none, keys: none, values: none }
    }

    /// The number of rules.
    pub const fn len(&self) -> usize {
        self.rules
    }

    /// True if there is no rule.
    pub const fn is_empty(&self) -> bool {
        self.rules == 0
    }

    /// The entries of a table of values.
    pub(super) fn find_values(&self, name: &str) -> Option<Ops> {
        let mut at = self.values;
        while let Some(&Op::Table(found, before)) = self.op(at.first).filter(|_| at.len > 0) {
            if found == name {
                return Some(Ops { first: at.first.saturating_add(1), len: at.len.saturating_sub(1) });
            }
            at = before;
        }
        None
    }

    pub(super) fn push_rule(&mut self, rule: Rule<'t>) -> Result<()> {
        let needed = self.rules.saturating_add(1);
        room(self.rooms.rules, needed)?;
        if let Some(slot) = self.rooms.rules.slots_mut().get_mut(self.rules) {
            *slot = RuleSlot(rule);
        }
        self.rules = needed;
        Ok(())
    }

    pub(super) fn rule_at(&self, at: u32) -> Option<&Rule<'t>> {
        let at = usize::try_from(at).ok().filter(|&at| at < self.rules)?;
        self.rooms.rules.slots().get(at).map(|slot| &slot.0)
    }

    /// The rules, all of which have been added.
    pub(super) fn at_hand(&self) -> Rules<'_, 't> {
        Rules {
            rules: self.rooms.rules.slots().get(..self.rules).unwrap_or_default(),
            ops: self.rooms.ops.slots(),
            cpu: self.range(self.cpu),
            thread: self.range(self.thread),
        }
    }

    pub(super) fn op(&self, at: u32) -> Option<&Op<'t>> {
        let at = usize::try_from(at).ok().filter(|&at| at < self.ops)?;
        self.rooms.ops.slots().get(at).map(|slot| &slot.0)
    }

    /// The operations of a range.
    pub(super) fn range(&self, ops: Ops) -> &[OpSlot<'t>] {
        let end = ops.first.saturating_add(ops.len);
        let (Ok(first), Ok(end)) = (usize::try_from(ops.first), usize::try_from(end)) else { return &[] };
        self.rooms.ops.slots().get(first..end).unwrap_or_default()
    }

    /// The names of all fields.
    pub(super) fn names(&self) -> &[&'t str] {
        self.rooms.names.slots().get(..self.names).unwrap_or_default()
    }

    pub(super) fn op_count(&self) -> u32 {
        u32::try_from(self.ops).unwrap_or(u32::MAX)
    }

    pub(super) fn ops_since(&self, first: u32) -> Ops {
        Ops { first, len: self.op_count().saturating_sub(first) }
    }

    pub(super) fn push_op(&mut self, op: Op<'t>) -> Result<()> {
        let needed = self.ops.saturating_add(1);
        room(self.rooms.ops, needed)?;
        if let Some(slot) = self.rooms.ops.slots_mut().get_mut(self.ops) {
            *slot = OpSlot(op);
        }
        self.ops = needed;
        Ok(())
    }

    /// The number of a name, which is added if it is new.
    pub(super) fn name(&mut self, name: &'t str) -> Result<u32> {
        let known = self.names().iter().position(|known| *known == name);
        let at = match known {
            Some(at) => at,
            None => {
                let at = self.names;
                let needed = at.saturating_add(1);
                room(self.rooms.names, needed)?;
                if let Some(slot) = self.rooms.names.slots_mut().get_mut(at) {
                    *slot = name;
                }
                self.names = needed;
                at
            }
        };
        Ok(u32::try_from(at).unwrap_or(u32::MAX))
    }
}

/// The rules of a table that is complete.
#[derive(Clone, Copy)]
pub(super) struct Rules<'r, 't> {
    pub(super) rules: &'r [RuleSlot<'t>],
    pub(super) ops: &'r [OpSlot<'t>],
    pub(super) cpu: &'r [OpSlot<'t>],
    pub(super) thread: &'r [OpSlot<'t>],
}

impl<'r, 't> Rules<'r, 't> {
    #[inline]
    pub(super) fn rule(&self, number: u32) -> Option<&'r Rule<'t>> {
        self.rules.get(usize::try_from(number).ok()?).map(|slot| &slot.0)
    }

    /// The operations of a range.
    #[inline]
    pub(super) fn range(&self, ops: Ops) -> &'r [OpSlot<'t>] {
        let end = ops.first.saturating_add(ops.len);
        let (Ok(first), Ok(end)) = (usize::try_from(ops.first), usize::try_from(end)) else { return &[] };
        self.ops.get(first..end).unwrap_or_default()
    }
}

impl fmt::Debug for Table<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Sees to it that a room has so many slots.
fn room<T>(room: &mut (dyn Room<T> + '_), needed: usize) -> Result<()> {
    let capacity = room.slots().len();
    if needed <= capacity || room.grow(needed) {
        return Ok(());
    }
    let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(needed) };
    Err(Error::new(0, TABLE_ROOM, kind))
}
