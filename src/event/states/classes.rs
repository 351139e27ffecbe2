//! Classes of events, and the rules that their events follow: found once for each class.

use super::hashed::{Entries, grow};
use super::op::{Op, Ops, Source};
use super::plan::{Fields, Number, Plan, Test, is_of_stream};
use super::rule::{Rule, RuleKind, star};
use super::table::Table;
use super::text::{Scratch, hash, split};
use crate::error::Result;
use crate::record::{Class, Kind, Scope, Slot, Step};
use crate::room::Room;
use core::ops::Range;

/// No field.
pub(super) const NO_FIELD: u32 = u32::MAX;

/// A name of a class. One that does not fit follows no rule.
pub(super) type Name = Scratch<256>;

/// Room for a class of events.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassSlot {
    pub(super) is_known: bool,
    /// True if its name is known to occur.
    has_name: bool,
    first: u32,
    pub(super) len: u32,
    /// The number of its fields that rules name.
    pub(super) named: u32,
}

impl ClassSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { is_known: false, has_name: false, first: 0, len: 0, named: 0 };

    /// The range of its rules.
    pub(super) const fn matches(&self) -> Range<u32> {
        self.first..self.first.saturating_add(self.len)
    }
}

/// Room for a rule that a class of events follows.
#[derive(Clone, Copy, Debug)]
pub struct MatchSlot {
    pub(super) rule: u32,
    pub(super) role: Role,
    /// The part of the name that `*` stands for.
    pub(super) star: (usize, usize),
    /// The field that tells calls of a generic rule apart.
    pub(super) key: Option<u32>,
    /// The first argument, and how many there are.
    args: (usize, usize),
    /// True if the processor is an argument.
    pub(super) has_cpu: bool,
    /// The hash of what a generic rule tells calls apart by, besides their keys.
    pub(super) what: u64,
    /// The ways to the names of tracks, to keys, and to values that are remembered.
    pub(super) track: Plan,
    /// True if the name of the track is the same for all events of a stream, until something is remembered.
    pub(super) is_of_stream: bool,
    pub(super) key_plan: Plan,
    pub(super) value: Number,
    /// The ways to its conditions.
    pub(super) skip: Test,
    pub(super) none: Test,
}

impl MatchSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        rule: 0,
        role: Role::On,
        star: (0, 0),
        key: None,
        args: (0, 0),
        has_cpu: false,
        what: 0,
        track: Plan::NONE,
        is_of_stream: false,
        key_plan: Plan::NONE,
        value: Number::None,
        skip: Test::Never,
        none: Test::Never,
    };

    /// The arguments of an event that follows the rule, of those of all.
    pub(super) fn args<'a>(&self, all: &'a [ArgSlot]) -> &'a [ArgSlot] {
        let (first, len) = self.args;
        all.get(first..first.saturating_add(len)).unwrap_or_default()
    }
}

default_is_empty!(MatchSlot);

/// The part that an event has in a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    On,
    End,
    Begin,
}

/// Room for an argument: a field of a class that a rule names.
#[derive(Clone, Copy, Debug)]
pub struct ArgSlot(pub(in crate::event) Slot);

impl ArgSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self(Slot(0));
}

default_is_empty!(ArgSlot);

/// Room for a field: the numbers of its names in the table.
#[derive(Clone, Copy, Debug)]
pub struct FieldSlot {
    pub(super) name: u32,
    /// Of a field of a context, the number of the name that only contexts have: `tid_context`.
    pub(super) context: u32,
}

impl FieldSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { name: NO_FIELD, context: NO_FIELD };
}

default_is_empty!(FieldSlot);

/// Room for the name of a class: which of the fields it has that tell calls apart, as bits.
#[derive(Clone, Copy, Debug)]
pub struct NameSlot(u64);

/// The classes that were met.
pub(super) struct Classes<'r> {
    pub(super) classes: &'r mut (dyn Room<ClassSlot> + 'r),
    pub(super) matches: &'r mut (dyn Room<MatchSlot> + 'r),
    pub(super) fields: &'r mut (dyn Room<FieldSlot> + 'r),
    pub(super) args: &'r mut (dyn Room<ArgSlot> + 'r),
    pub(super) names: Entries<'r, NameSlot>,
    pub(super) count: usize,
    pub(super) arg_count: usize,
}

impl Classes<'_> {
    /// True if the name of a class is known to occur.
    pub(super) fn has_name(&self, class: usize) -> bool {
        self.classes.slots().get(class).is_some_and(|slot| slot.has_name)
    }

    /// True if rules for any name, and no others, may begin or end something with events of this class.
    pub(super) fn may_learn(&self, table: &Table<'_, '_>, class: &dyn Class) -> bool {
        let takes = |rule: &Rule<'_>| matches!(rule.kind, RuleKind::State | RuleKind::Slice) && !rule.generic;
        self.may_pair(table, class) && !has_rule(table, class, takes)
    }

    /// True if rules for any name look for events of this name.
    pub(super) fn may_pair(&self, table: &Table<'_, '_>, class: &dyn Class) -> bool {
        has_rule(table, class, |rule| rule.generic)
    }

    /// Learns that there is a class of this name.
    pub(super) fn learn_name(&mut self, table: &Table<'_, '_>, class: &dyn Class) -> Result<()> {
        let at = class.id().index();
        grow(self.classes, at.saturating_add(1))?;
        if let Some(slot) = self.classes.slots_mut().get_mut(at) {
            slot.has_name = true;
        }
        let Some(name) = name_of(class) else { return Ok(()) };
        let mut keys = 0_u64;
        each_field(class, &mut |_, scope, field| {
            if matches!(scope, Scope::Payload | Scope::Fields) {
                for (at, key) in (0_u32..).zip(table.range(table.keys)) {
                    let named = matches!(key.0, Op::Try { source: Source::Field(number), .. }
                        if table.names().get(usize::try_from(number).unwrap_or(usize::MAX)) == Some(&field));
                    if named {
                        keys |= 1_u64.checked_shl(at).unwrap_or(0);
                    }
                }
            }
        });
        let hash = hash(0, name.text());
        match self.names.find(hash).and_then(|at| self.names.get_mut(at)) {
            Some(known) => known.0 &= keys,
            None => drop(self.names.insert(hash, NameSlot(keys))?),
        }
        Ok(())
    }

    /// Learns a class: the rules that its events follow, and the fields that these name.
    pub(super) fn learn(&mut self, table: &Table<'_, '_>, class: &dyn Class) -> Result<()> {
        let first = self.count;
        if let Some(name) = name_of(class) {
            self.find_rules(table, name.text())?;
        }
        for at in first..self.count {
            self.learn_args(table, class, at)?;
            self.plan(table, class, at);
        }
        let (mut failed, mut named) = (Ok(()), 0_u32);
        if self.count > first {
            each_field(class, &mut |slot, scope, field| {
                if failed.is_ok() {
                    let found = self.learn_field(table, slot.index(), scope, field);
                    named = named.saturating_add(found.as_ref().is_ok_and(|found| *found).into());
                    failed = found.map(drop);
                }
            });
        }
        failed?;
        let at = class.id().index();
        grow(self.classes, at.saturating_add(1))?;
        if let Some(slot) = self.classes.slots_mut().get_mut(at) {
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let len = number(self.count.saturating_sub(first));
            (slot.is_known, slot.first, slot.len, slot.named) = (true, number(first), len, named);
        }
        Ok(())
    }

    /// Finds the fields that are arguments.
    fn learn_args(&mut self, table: &Table<'_, '_>, class: &dyn Class, at: usize) -> Result<()> {
        let Some(&found) = self.matches.slots().get(at) else { return Ok(()) };
        let Some(rule) = table.rule_at(found.rule) else { return Ok(()) };
        let ops = if found.role == Role::End { rule.end_args } else { rule.args };
        let first = self.arg_count;
        let mut failed = Ok(());
        each_field(class, &mut |slot, scope, field| {
            let is_wanted = table.range(ops).iter().any(|arg| match arg.0 {
                Op::All => matches!(scope, Scope::Payload | Scope::Fields),
                Op::Text(wanted) => wanted == field && scope != Scope::Header,
                _ => false,
            });
            if is_wanted && failed.is_ok() {
                failed = self.push_arg(slot);
            }
        });
        failed?;
        if let Some(found) = self.matches.slots_mut().get_mut(at) {
            found.args = (first, self.arg_count.saturating_sub(first));
            found.has_cpu = table.range(ops).iter().any(|arg| matches!(arg.0, Op::Cpu));
        }
        Ok(())
    }

    /// Finds the ways to names and keys.
    fn plan(&mut self, table: &Table<'_, '_>, class: &dyn Class, at: usize) {
        let Some(found) = self.matches.slots_mut().get_mut(at) else { return };
        let Some(rule) = table.rule_at(found.rule) else { return };
        let has = |name: u32| {
            let name = table.names().get(usize::try_from(name).unwrap_or(usize::MAX));
            let mut has = false;
            each_field(class, &mut |_, scope, field| {
                has |= name.is_some_and(|name| is_named(scope, field, name));
            });
            has
        };
        let Some(name) = name_of(class) else { return };
        let star = name.bytes(found.star.0..found.star.1);
        let what = hash(0, if rule.generic { star } else { &[] });
        let state = if rule.kind == RuleKind::Let { rule.map } else { what };
        let fields = Fields { has: &has, key: found.key };
        let plan =
            |ops: Option<Ops>, state| ops.map_or(Plan::NONE, |ops| Plan::new(table, ops, state, &fields));
        found.what = what;
        found.track = plan(rule.track, 0);
        found.is_of_stream = rule.track.is_some_and(|track| is_of_stream(table, track, &has));
        let fixed = rule.key.and_then(|key| Plan::of_star(table, key, state, star));
        found.key_plan = fixed.unwrap_or_else(|| plan(rule.key, state));
        found.skip = Test::new(table, rule.skip, &fields);
        found.none = Test::new(table, rule.none, &fields);
        if rule.kind == RuleKind::Let {
            found.value = plan(rule.value, 0).alone(0);
        }
    }

    fn push_arg(&mut self, slot: Slot) -> Result<()> {
        let needed = self.arg_count.saturating_add(1);
        grow(self.args, needed)?;
        if let Some(to) = self.args.slots_mut().get_mut(self.arg_count) {
            *to = ArgSlot(slot);
        }
        self.arg_count = needed;
        Ok(())
    }

    fn find_rules(&mut self, table: &Table<'_, '_>, name: &str) -> Result<()> {
        let mut is_taken = false;
        let rules = || (0_u32..).map_while(|at| Some((at, table.rule_at(at)?)));
        for kind in [RuleKind::State, RuleKind::Let, RuleKind::Label] {
            for (at, rule) in rules().filter(|(_, rule)| rule.kind == kind) {
                if let Some(star) = any(table, rule.on, name) {
                    is_taken |= kind == RuleKind::State;
                    self.push(MatchSlot { rule: at, role: Role::On, star, ..MatchSlot::EMPTY })?;
                }
            }
        }
        let slices = || rules().filter(|(_, rule)| rule.kind == RuleKind::Slice && !rule.generic);
        for role in [Role::End, Role::Begin] {
            let found = slices().find_map(|(rule, of)| {
                let star = any(table, if role == Role::End { of.end } else { of.on }, name)?;
                Some(MatchSlot { rule, role, star, ..MatchSlot::EMPTY })
            });
            if let Some(found) = found {
                is_taken = true;
                self.push(found)?;
            }
        }
        if is_taken {
            return Ok(());
        }
        for (at, rule) in rules().filter(|(_, rule)| rule.generic) {
            for role in [Role::End, Role::Begin] {
                if let Some((star, key)) = self.counterpart(table, rule, role, name) {
                    return self.push(MatchSlot { rule: at, role, star, key, ..MatchSlot::EMPTY });
                }
            }
        }
        Ok(())
    }

    /// The part of the name that `*` of a generic rule stands for, if the trace has the other end, too; and the field
    /// that all of these classes have.
    fn counterpart(
        &self,
        table: &Table<'_, '_>,
        rule: &Rule<'_>,
        role: Role,
        name: &str,
    ) -> Option<((usize, usize), Option<u32>)> {
        let star = any(table, if role == Role::End { rule.end } else { rule.on }, name)?;
        let what = name.get(star.0..star.1).filter(|what| !what.is_empty())?;
        let (mut begins, mut ends, mut keys) = (0_u32, 0_u32, u64::MAX);
        for (patterns, count) in [(rule.on, &mut begins), (rule.end, &mut ends)] {
            for slot in table.range(patterns) {
                let Op::Text(pattern) = slot.0 else { continue };
                let Some((front, back)) = split(pattern, b'*') else { continue };
                let mut other = Name::EMPTY;
                [front, what, back].into_iter().for_each(|part| other.push(part));
                if let Some(known) = self.names.find(hash(0, other.text())).and_then(|at| self.names.get(at))
                {
                    *count = count.saturating_add(1);
                    keys &= known.0;
                }
            }
        }
        if begins == 0 || ends == 0 {
            return None;
        }
        let place = usize::try_from(keys.trailing_zeros()).unwrap_or(usize::MAX);
        let key = match table.range(table.keys).get(place).map(|slot| slot.0) {
            Some(Op::Try { source: Source::Field(name), .. }) => Some(name),
            _ => None,
        };
        Some((star, key))
    }

    /// Notes the numbers of a field's names; `true` if it has any.
    fn learn_field(&mut self, table: &Table<'_, '_>, slot: usize, scope: Scope, name: &str) -> Result<bool> {
        let mut field = FieldSlot::EMPTY;
        for (number, known) in (0_u32..).zip(table.names()) {
            if *known == name {
                field.name = number;
            } else if is_named(scope, name, known) {
                field.context = number;
            }
        }
        if field.name == NO_FIELD && field.context == NO_FIELD {
            return Ok(false);
        }
        grow(self.fields, slot.saturating_add(1))?;
        if let Some(place) = self.fields.slots_mut().get_mut(slot) {
            *place = field;
        }
        Ok(true)
    }

    fn push(&mut self, found: MatchSlot) -> Result<()> {
        let needed = self.count.saturating_add(1);
        grow(self.matches, needed)?;
        if let Some(slot) = self.matches.slots_mut().get_mut(self.count) {
            *slot = found;
        }
        self.count = needed;
        Ok(())
    }
}

const fn is_context(scope: Scope) -> bool {
    matches!(scope, Scope::CommonContext | Scope::SpecificContext)
}

/// True if a table can mean a field by this name.
fn is_named(scope: Scope, field: &str, name: &str) -> bool {
    field == name || is_context(scope) && name.strip_suffix("_context") == Some(field)
}

/// True if one of those rules has this class among its begins or ends.
fn has_rule(table: &Table<'_, '_>, class: &dyn Class, is_meant: fn(&Rule<'_>) -> bool) -> bool {
    let Some(name) = name_of(class) else { return false };
    let has = |patterns| any(table, patterns, name.text()).is_some();
    let mut rules = (0_u32..).map_while(|at| table.rule_at(at));
    rules.any(|rule| is_meant(rule) && (has(rule.on) || has(rule.end)))
}

fn name_of(class: &dyn Class) -> Option<Name> {
    use core::fmt::Write as _;
    let mut name = Name::EMPTY;
    // A scratch takes all that is written to it.
    let _ = write!(name, "{}", class.name());
    (!name.is_full()).then_some(name)
}

/// The part of a name that `*` stands for, in the first of some patterns that matches it.
fn any(table: &Table<'_, '_>, patterns: Ops, name: &str) -> Option<(usize, usize)> {
    table.range(patterns).iter().find_map(|slot| match slot.0 {
        Op::Text(pattern) => star(pattern, name),
        _ => None,
    })
}

/// Calls `each` with the slot, the scope and the name of each member of a scope.
fn each_field(class: &dyn Class, each: &mut dyn FnMut(Slot, Scope, &str)) {
    use core::fmt::Write as _;
    let (mut depth, mut inside) = (0_u32, Scope::Fields);
    class.fields(&mut |step| match step {
        Step::Scope(scope) => (depth, inside) = (1, scope),
        Step::Field(field) => {
            if let (1, Some(given)) = (depth, field.name) {
                let mut name = Name::EMPTY;
                // A scratch takes all that is written to it.
                let _ = write!(name, "{given}");
                each(field.slot, inside, name.text());
            }
            if matches!(field.kind, Kind::Group | Kind::List | Kind::Map) {
                depth = depth.saturating_add(1);
            }
        }
        Step::End => depth = depth.saturating_sub(1),
    });
}
