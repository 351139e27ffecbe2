//! A slice that was found by a table.

use super::classes::ArgSlot;
use super::edges::Edges;
use crate::error::Result;
use crate::event::data::StateData;
use crate::event::time::Time;
use crate::record::{Class, Head, Listener, Record, Scope, Slot, Text, Wants, Wide};

/// One end of a slice that was found by a [`Table`](super::Table).
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a>(pub(in crate::event) StateData<'a>);

impl<'a> Slice<'a> {
    /// Everything that is unknown or unusual about its ends.
    pub const fn edges(&self) -> Edges {
        self.0.edges
    }

    /// The time of the event that tells of it: known also of a begin that lies before the trace.
    pub const fn noticed(&self) -> Time {
        self.0.noticed
    }

    /// The processor, if it is an argument.
    pub const fn cpu(&self) -> Option<u64> {
        self.0.cpu
    }

    /// The arguments: a record of those fields of the event that the rule names.
    pub const fn args(&self) -> Args<'a> {
        Args(self.0)
    }
}

/// The arguments of a slice, as a record: see [`Slice::args`].
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(StateData<'a>);

impl Args<'_> {
    /// True if there is none: no field of the event is one.
    pub const fn is_empty(&self) -> bool {
        self.0.args.is_empty()
    }
}

impl Record for Args<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let mut filter = Filter { to, args: self.0.args, depth: 0, inside: false, told: 0 };
        self.0.of.tell(&mut filter)
    }
}

/// Passes on the fields that are wanted: few, so that they may go by a pointer.
struct Filter<'l, 'a> {
    to: &'l mut dyn Listener,
    args: &'a [ArgSlot],
    /// The number of groups and lists that are open.
    depth: u32,
    /// True in a group or list that is wanted.
    inside: bool,
    /// The number of fields that were told: no record has one twice.
    told: usize,
}

impl Filter<'_, '_> {
    /// True if the field is wanted.
    #[inline]
    fn wants(&mut self, slot: Slot) -> bool {
        if self.depth > 0 {
            return self.inside;
        }
        let wanted = self.args.iter().any(|arg| arg.0 == slot);
        self.told = self.told.saturating_add(wanted.into());
        wanted
    }

    fn open(&mut self, slot: Slot) -> bool {
        let wanted = self.wants(slot);
        if self.depth == 0 {
            self.inside = wanted;
        }
        self.depth = self.depth.saturating_add(1);
        wanted
    }

    fn close(&mut self) -> bool {
        self.depth = self.depth.saturating_sub(1);
        self.inside
    }
}

impl Listener for Filter<'_, '_> {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        match self.to.begin(head, class) {
            Wants::NOTHING => Wants::NOTHING,
            wants if !self.args.is_empty() => wants.without(Scope::Header),
            _ => Wants::NOTHING,
        }
    }

    fn end(&mut self) {
        self.to.end();
    }

    fn abandon(&mut self) {
        self.to.abandon();
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.depth == 0 && self.told >= self.args.len() || self.to.is_full()
    }

    fn scope(&mut self, scope: Scope) {
        self.depth = 0;
        self.to.scope(scope);
    }

    fn end_scope(&mut self) {
        self.to.end_scope();
    }

    fn group(&mut self, slot: Slot) {
        if self.open(slot) {
            self.to.group(slot);
        }
    }

    fn end_group(&mut self) {
        if self.close() {
            self.to.end_group();
        }
    }

    fn list(&mut self, slot: Slot, len: Option<u64>) {
        if self.open(slot) {
            self.to.list(slot, len);
        }
    }

    fn end_list(&mut self) {
        if self.close() {
            self.to.end_list();
        }
    }

    fn key(&mut self, name: Text<'_>) {
        if self.inside {
            self.to.key(name);
        }
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        if self.wants(slot) {
            self.to.unsigned(slot, value);
        }
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        if self.wants(slot) {
            self.to.signed(slot, value);
        }
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        if self.wants(slot) {
            self.to.wide(slot, value);
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        if self.wants(slot) {
            self.to.boolean(slot, value);
        }
    }

    fn float(&mut self, slot: Slot, value: f64) {
        if self.wants(slot) {
            self.to.float(slot, value);
        }
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        if self.wants(slot) {
            self.to.text(slot, value);
        }
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        if self.wants(slot) {
            self.to.bytes(slot, value);
        }
    }

    fn absent(&mut self, slot: Slot) {
        if self.wants(slot) {
            self.to.absent(slot);
        }
    }
}
