//! What a slice that was found by a table says.

use super::edges::Edges;
use super::op::Op;
use crate::error::Result;
use crate::event::data::StateData;
use crate::event::time::Time;
use crate::record::{Class, FieldInfo, Head, Kind, Listener, Record, Scope, Slot, Step, Text, Wants, Wide};

/// One end of a slice that was found by a [`Table`](super::Table).
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a>(pub(in crate::event) StateData<'a>);

impl<'a> Slice<'a> {
    /// What is not known, or out of the ordinary.
    pub const fn edges(&self) -> Edges {
        self.0.edges
    }

    /// The time of the event that tells of it: known also of a begin that lies before the trace.
    pub const fn noticed(&self) -> Time {
        self.0.noticed
    }

    /// The processor, if it is an argument.
    pub fn cpu(&self) -> Option<u64> {
        self.0.cpu.filter(|_| self.0.args.iter().any(|arg| matches!(arg.0, Op::Cpu)))
    }

    /// The arguments: a record of those fields of the event that the rule names.
    pub const fn args(&self) -> Args<'a> {
        Args(self.0)
    }
}

/// The arguments of a slice, as a record: see [`Slice::args`].
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(StateData<'a>);

impl Record for Args<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let mut filter =
            Filter { to, args: self.0, fields: [Slot(0); MAX], count: 0, depth: 0, inside: false };
        self.0.of.tell(&mut filter)
    }
}

/// The most arguments that are told of an event.
const MAX: usize = 64;

/// Passes on the fields that are wanted.
struct Filter<'l, 'a, L> {
    to: &'l mut L,
    args: StateData<'a>,
    /// The members of scopes that are wanted, by their slots.
    fields: [Slot; MAX],
    count: usize,
    /// How many groups and lists are open.
    depth: u32,
    /// True in a group or list that is wanted.
    inside: bool,
}

impl<L: Listener> Filter<'_, '_, L> {
    /// True if the field is wanted.
    fn wants(&mut self, slot: Slot) -> bool {
        if self.depth > 0 {
            return self.inside;
        }
        let known = self.fields.get(..self.count).unwrap_or_default();
        known.contains(&slot)
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

    /// Finds the members that are wanted, in the order of their class.
    fn find(&mut self, class: &dyn Class) {
        let (mut depth, mut scope) = (0_u32, Scope::Fields);
        class.fields(&mut |step| match step {
            Step::Scope(inside) => (depth, scope) = (1, inside),
            Step::Field(field) => {
                if depth == 1 && is_named(self.args.args, scope, &field) {
                    if let Some(to) = self.fields.get_mut(self.count) {
                        *to = field.slot;
                        self.count = self.count.saturating_add(1);
                    }
                }
                if matches!(field.kind, Kind::Group | Kind::List | Kind::Map) {
                    depth = depth.saturating_add(1);
                }
            }
            Step::End => depth = depth.saturating_sub(1),
        });
    }
}

/// True if a rule names the field.
fn is_named(args: &[super::op::OpSlot<'_>], scope: Scope, field: &FieldInfo<'_>) -> bool {
    use core::fmt::Write as _;
    let is_payload = matches!(scope, Scope::Payload | Scope::Fields);
    let mut name = super::text::Scratch::<256>::EMPTY;
    if let Some(given) = field.name {
        // A scratch takes all that is written to it.
        let _ = write!(name, "{given}");
    }
    args.iter().any(|arg| match arg.0 {
        Op::All => is_payload,
        Op::Text(wanted) => wanted == name.text() && scope != Scope::Header,
        _ => false,
    })
}

impl<L: Listener> Listener for Filter<'_, '_, L> {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        self.find(class);
        match self.to.begin(head, class) {
            Wants::NOTHING => Wants::NOTHING,
            wants if self.count > 0 => wants.without(Scope::Header),
            _ => Wants::NOTHING,
        }
    }

    fn end(&mut self) {
        self.to.end();
    }

    fn abandon(&mut self) {
        self.to.abandon();
    }

    fn is_full(&self) -> bool {
        self.to.is_full()
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
