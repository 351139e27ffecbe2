//! From a field location to the fields it means, and from roles to where they may stand.

use super::Name;
use super::builder::Builder;
use super::element::{FIELD_CLASS, FIELD_LOCATION, ROLE};
use super::node::{DEPTH, Kind, LAST, NAMED, NO_SLOT, NONE, Node, PLAIN, SIGNED_KEY, SLOT_COUNT, SLOTS};
use super::roles::Around;
use super::scope::Scope;
use super::slots::MANY;
use super::tsdl;
use crate::ctf::metadata::{Language, MetadataStream};
use crate::error::{Error, ErrorKind, Result};

/// Whose field is meant: of all packets, of a stream class, of an event record class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    Packet,
    Stream,
    Event,
}

impl Level {
    const fn of(scope: Scope) -> Self {
        match scope {
            Scope::PacketHeader => Self::Packet,
            Scope::PacketContext | Scope::EventHeader | Scope::CommonContext => Self::Stream,
            Scope::SpecificContext | Scope::Payload => Self::Event,
        }
    }
}

/// The owner of a record's scopes.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) trace: u32,
    pub(super) stream: u32,
    pub(super) event: u32,
}

/// Gives slots to keys.
pub(super) struct Resolver<'b, 's, 'a> {
    builder: &'b mut Builder<'s>,
    stream: MetadataStream<'a>,
    level: Level,
    slots: u8,
    by_option: bool,
    known: &'b mut Known,
}

/// The options of variants, as found: of each slot, the last way to its fields through a variant.
///
/// Fields that are chosen by the same way have the same slot. So a variant is not gone through for each class that
/// depends on fields in it.
pub(super) struct Known([Option<Way>; SLOT_COUNT]);

impl Known {
    pub(super) const fn new() -> Self {
        Self([None; SLOT_COUNT])
    }
}

/// A way from a variant to fields in its options.
#[derive(Clone, Copy)]
struct Way {
    variant: u32,
    /// The location whose names lead on, and the first of them.
    location: u32,
    position: usize,
    target: Target,
    /// True if some option has no such field.
    lacks: bool,
}

/// The fields that a location means, which are all of a kind.
#[derive(Clone, Copy)]
struct Target {
    key: Key,
    /// The first label of the enumeration that all of them are; else `NONE`. In TSDL labels select options.
    labels: u32,
}

impl Target {
    fn of(node: &Node) -> Self {
        Self { key: Key::of(node), labels: node.b }
    }
}

/// The class that is being looked at, and what it is in.
struct Place<'p> {
    scope: Scope,
    index: u32,
    ancestors: &'p [u32],
}

/// The path of a location, with inner steps up taken.
struct Path {
    /// The first node.
    first: u32,
    up: usize,
    names: [u32; DEPTH],
    len: usize,
    offset: u64,
}

impl<'b, 's, 'a> Resolver<'b, 's, 'a> {
    pub(super) fn new(
        builder: &'b mut Builder<'s>,
        stream: MetadataStream<'a>,
        level: Level,
        slots: u8,
        known: &'b mut Known,
    ) -> Self {
        let by_option = stream.language() == Language::Tsdl;
        Self { builder, stream, level, slots, by_option, known }
    }

    /// The number of slots that are in use.
    pub(super) fn slots(&self) -> u8 {
        self.slots
    }

    /// Resolves what stands in the scopes of `index`.
    pub(super) fn owner(&mut self, owner: Owner, index: u32) -> Result<()> {
        for scope in Scope::ALL {
            let root = self.builder.root_of(index, scope);
            if index != NONE && root != NONE {
                self.scope(owner, scope, root)?;
            }
        }
        Ok(())
    }

    fn scope(&mut self, owner: Owner, scope: Scope, root: u32) -> Result<()> {
        let mut ancestors = [NONE; DEPTH];
        let mut depth = 0_usize;
        for index in root..self.builder.view().end(root) {
            while let Some(top) = depth.checked_sub(1)
                && ancestors.get(top).is_some_and(|top| self.builder.view().end(*top) <= index)
            {
                depth = top;
            }
            let node = self.builder.node(index);
            let place = Place { scope, index, ancestors: ancestors.get(..depth).unwrap_or_default() };
            if self.level == Level::of(scope) {
                self.check_roles(&place, &node, owner, root)?;
            }
            if node.kind.is_dependent() {
                self.dependent(owner, &place, &node)?;
            }
            if node.kind.is_compound() {
                let Some(slot) = ancestors.get_mut(depth) else {
                    let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
                    return Err(self.builder.error_at(index, FIELD_CLASS, ErrorKind::TooDeep { limit }));
                };
                *slot = index;
                depth = depth.saturating_add(1);
            }
        }
        Ok(())
    }

    fn check_roles(&self, place: &Place<'_>, node: &Node, owner: Owner, root: u32) -> Result<()> {
        let info = self.builder.stream_info(owner.stream);
        let around = Around {
            scope: place.scope,
            is_first: place.index == root.saturating_add(1),
            has_uuid: self.builder.uuid.is_some(),
            has_clock: self.builder.node(info).a != NONE,
        };
        if around.allows(node) {
            return Ok(());
        }
        Err(self.builder.error_at(place.index, ROLE, ErrorKind::Misplaced))
    }

    fn dependent(&mut self, owner: Owner, place: &Place<'_>, node: &Node) -> Result<()> {
        let first = node.a;
        let origin = Scope::ALL.get(usize::from(self.builder.node(first).slot)).copied();
        let target = origin.unwrap_or(place.scope);
        if self.level != Level::of(target) {
            return Ok(());
        }
        let path = self.path(first)?;
        if target > place.scope {
            return Err(self.fault(node, &path, Fault::Misplaced));
        }
        let dependent = Dependent {
            index: if target == place.scope { place.index } else { NONE },
            ancestors: place.ancestors,
        };
        let start = match origin {
            Some(_) if path.up > 0 => return Err(self.fault(node, &path, Fault::Misplaced)),
            Some(scope) => {
                let at = match Level::of(scope) {
                    Level::Packet => owner.trace,
                    Level::Stream => owner.stream,
                    Level::Event => owner.event,
                };
                self.builder.root_of(at, scope)
            }
            None => {
                let is_structure = |at: &u32| self.builder.node(*at).kind == Kind::Structure;
                let mut around = place.ancestors.iter().copied().rev().filter(is_structure);
                if self.by_option {
                    around.find(|at| self.leads_on(*at, &dependent, &path)).unwrap_or(NONE)
                } else {
                    let up = around.nth(path.up);
                    up.ok_or_else(|| self.fault(node, &path, Fault::Misplaced))?
                }
            }
        };
        if start == NONE {
            return Err(self.fault(node, &path, Fault::Missing));
        }
        if target >= Scope::EventHeader && target != place.scope {
            // Who reads this scope alone has to begin with those before it.
            let info = self.builder.stream_info(owner.stream);
            if owner.event == NONE {
                self.builder.update(info, |info| info.set(PLAIN, true));
            } else {
                self.builder.update(owner.event, |event| event.set(LAST, true));
            }
        }
        if self.connect(place.index, node, start, &dependent, &path)? && owner.stream != NONE {
            let info = self.builder.stream_info(owner.stream);
            self.builder.update(info, |info| info.set(LAST, true));
        }
        Ok(())
    }

    /// The steps of the location that begins at node `first`.
    fn path(&self, first: u32) -> Result<Path> {
        let mut path = Path {
            first,
            up: 0,
            names: [NONE; DEPTH],
            len: 0,
            offset: self
                .builder
                .view()
                .list(first)
                .map(|at| self.builder.node(at))
                .find(|node| node.has(NAMED))
                .map_or(self.builder.offset, |node| node.name.into()),
        };
        let mut ends_up = true;
        for at in self.builder.view().list(first) {
            ends_up = !self.builder.node(at).has(NAMED);
            match (ends_up, path.len.checked_sub(1)) {
                (true, Some(less)) => path.len = less,
                (true, None) => path.up = path.up.saturating_add(1),
                (false, _) => {
                    let Some(slot) = path.names.get_mut(path.len) else {
                        let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
                        return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::TooDeep { limit }));
                    };
                    *slot = at;
                    path.len = path.len.saturating_add(1);
                }
            }
        }
        if ends_up || path.len == 0 {
            return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Missing));
        }
        Ok(path)
    }

    /// The member or option of `class` that a step names.
    fn child_named(&self, class: u32, step: u32) -> Option<u32> {
        let name = self.builder.node(step).place().map(|place| Name::at(&self.stream, place))?;
        self.builder.child_named(&self.stream, class, &name)
    }

    /// True if two steps have the same name.
    fn same_name(&self, a: u32, b: u32) -> bool {
        let name = |step| self.builder.node(step).place().map(|place| Name::at(&self.stream, place));
        match (name(a), name(b)) {
            (Some(a), Some(b)) => super::trie::difference(&mut a.spelled(), &mut b.spelled()).is_none(),
            _ => false,
        }
    }

    /// The slot of the fields that a path leads to through a variant, if another path did so before.
    fn known(&self, variant: u32, position: usize, path: &Path) -> Option<(u8, Way)> {
        let rest = path.names.get(position..path.len)?;
        let ways = (0..SLOTS).zip(self.known.0.iter()).filter_map(|(slot, way)| way.map(|way| (slot, way)));
        ways.into_iter().find(|(_, way)| {
            let other = if way.variant == variant { self.path(way.location).ok() } else { None };
            let other = other.as_ref().and_then(|other| other.names.get(way.position..other.len));
            other.is_some_and(|other| {
                other.len() == rest.len() && other.iter().zip(rest).all(|(a, b)| self.same_name(*a, *b))
            })
        })
    }

    /// Finds all fields that a path means from `start`, and gives them and the dependent class one slot. `true` if some
    /// option of a variant on the way has no such field.
    fn connect(
        &mut self,
        index: u32,
        node: &Node,
        start: u32,
        dependent: &Dependent<'_>,
        path: &Path,
    ) -> Result<bool> {
        let mut lacks = false;
        let mut slot = NO_SLOT;
        let mut found = None;
        let mut through = None;
        // Twice: to learn the slot that one of them may have, then to give it to all.
        for store in [false, true] {
            let mut choices = [(NONE, NONE, 0); DEPTH];
            let mut depth = 0_usize;
            let mut at = Some((start, 0_usize));
            found = None;
            loop {
                super::work::count(1);
                let Some((class, position)) = at.take() else {
                    // The next option of the innermost variant.
                    let Some(top) = depth.checked_sub(1) else { break };
                    let Some(entry) = choices.get_mut(top) else { break };
                    let (choice, end, position) = *entry;
                    if choice >= end {
                        depth = top;
                        continue;
                    }
                    entry.0 = self.builder.view().end(choice);
                    at = Some((choice.saturating_add(1), position));
                    continue;
                };
                match self.step(class, position, dependent, path) {
                    Found::Class(class, position) => at = Some((class, position)),
                    Found::Variant(position) => {
                        if depth == 0 {
                            if let Some((known, way)) = self.known(class, position, path) {
                                (slot, found, lacks) = (known, Some(way.target), way.lacks);
                                break;
                            }
                            through = Some((class, position));
                        }
                        let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
                        let too_deep = Error::new(path.offset, FIELD_LOCATION, ErrorKind::TooDeep { limit });
                        let end = self.builder.view().end(class);
                        *choices.get_mut(depth).ok_or(too_deep)? = (class.saturating_add(1), end, position);
                        depth = depth.saturating_add(1);
                    }
                    Found::Nothing if depth > 0 => lacks = true,
                    Found::Nothing => return Err(self.fault(node, path, Fault::Missing)),
                    Found::Fault(fault) => return Err(self.fault(node, path, fault)),
                    Found::Key => {
                        let target = self.builder.node(class);
                        let before = found.get_or_insert(Target::of(&target));
                        if before.key != Key::of(&target) {
                            return Err(self.fault(node, path, Fault::Kind));
                        }
                        if before.labels != target.b {
                            before.labels = NONE;
                        }
                        if store {
                            if target.slot != NO_SLOT && target.slot != slot {
                                return Err(self.fault(node, path, Fault::Misplaced));
                            }
                            self.builder.update(class, |node| node.slot = slot);
                        } else if target.slot != NO_SLOT {
                            slot = target.slot;
                        }
                    }
                }
            }
            if found.is_none() {
                return Err(self.fault(node, path, Fault::Missing));
            }
            if !store && slot == NO_SLOT {
                // Those of records are shared later.
                let is_shared = self.level == Level::Event && through.is_none();
                let capacity = u64::from(SLOTS);
                if self.slots >= if is_shared { MANY } else { SLOTS } {
                    let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
                    return Err(Error::new(path.offset, FIELD_LOCATION, kind));
                }
                slot = self.slots;
                self.slots = self.slots.saturating_add(1);
            }
        }
        let Some(target) = found else { return Ok(lacks) };
        if let Some((variant, position)) = through
            && let Some(way) = self.known.0.get_mut(usize::from(slot))
        {
            *way = Some(Way { variant, location: path.first, position, target, lacks });
        }
        let Target { key, labels } = target;
        let fits = match node.kind {
            Kind::Optional => (node.b == NONE) == (key == Key::Boolean),
            Kind::Variant if self.by_option => labels != NONE,
            Kind::Variant => key != Key::Boolean,
            _ => key == Key::Unsigned,
        };
        if !fits {
            return Err(self.fault(node, path, Fault::Kind));
        }
        if self.by_option && node.kind == Kind::Variant {
            self.builder.select_options(&self.stream, index, labels);
        }
        self.builder.update(index, |node| {
            node.slot = slot;
            node.set(SIGNED_KEY, key == Key::Signed);
        });
        self.builder.check_ranges(index, node, key == Key::Signed, self.by_option)?;
        Ok(lacks)
    }

    /// True if a path leads from a structure to its end, or to a variant, of which each option is to be looked at: the
    /// rule of TSDL, where a path without a scope begins in the innermost structure that has it.
    fn leads_on(&self, structure: u32, dependent: &Dependent<'_>, path: &Path) -> bool {
        let (mut class, mut position) = (structure, 0);
        loop {
            super::work::count(1);
            match self.step(class, position, dependent, path) {
                Found::Class(next, after) => (class, position) = (next, after),
                Found::Nothing | Found::Fault(Fault::Misplaced | Fault::Missing) => return false,
                Found::Variant(_) | Found::Key | Found::Fault(Fault::Kind) => return true,
            }
        }
    }

    /// The error of the location of a class.
    #[cold]
    fn fault(&self, node: &Node, path: &Path, fault: Fault) -> Error {
        let byte = self.stream.byte_at(path.offset);
        let expected = match node.kind {
            Kind::Optional if node.b == NONE => "the path of a boolean",
            Kind::Variant if self.by_option => "the path of an enumeration",
            Kind::Optional | Kind::Variant => "the path of an integer",
            _ => "the path of an unsigned integer",
        };
        let kind = match fault {
            Fault::Kind => ErrorKind::Unexpected { byte, expected },
            _ if self.by_option => ErrorKind::Undeclared,
            Fault::Misplaced => ErrorKind::Misplaced,
            Fault::Missing => ErrorKind::Missing,
        };
        let element = if self.by_option { tsdl::element::PATH } else { FIELD_LOCATION };
        Error::new(path.offset, element, kind)
    }

    /// One step of the way from `class`, of which the names before `position` are taken.
    fn step(&self, class: u32, position: usize, dependent: &Dependent<'_>, path: &Path) -> Found {
        let node = self.builder.node(class);
        let view = self.builder.view();
        let contains =
            class < dependent.index && dependent.index < view.end(class) && dependent.index != NONE;
        let wanted = if position < path.len { path.names.get(position).copied() } else { None };
        let next = position.saturating_add(1);
        match (node.kind, wanted) {
            (Kind::Structure, Some(name)) => match self.child_named(class, name) {
                Some(member) if member >= dependent.index => Found::Fault(Fault::Misplaced),
                Some(member) => Found::Class(member, next),
                None => Found::Nothing,
            },
            (Kind::Optional | Kind::StaticArray | Kind::DynamicArray, _) if contains => {
                Found::Class(class.saturating_add(1), position)
            }
            (Kind::Variant, _) if contains => {
                // The option that the dependent class lies in. TSDL names it.
                match dependent.ancestors.iter().find(|at| **at > class).copied() {
                    Some(choice) => {
                        let named = wanted.filter(|_| self.by_option);
                        let is_named = named.is_some_and(|name| self.same_name(choice, name));
                        Found::Class(choice.saturating_add(1), if is_named { next } else { position })
                    }
                    None => Found::Nothing,
                }
            }
            (Kind::Variant, Some(name)) if self.by_option => match self.child_named(class, name) {
                Some(choice) => Found::Class(choice.saturating_add(1), next),
                None => Found::Variant(position),
            },
            (Kind::Variant, _) => Found::Variant(position),
            (kind, None) if kind.is_integer() || kind == Kind::Boolean => Found::Key,
            (_, None) => Found::Fault(Fault::Kind),
            _ => Found::Fault(Fault::Misplaced),
        }
    }
}

/// The class that is to be connected, if it lies in the scope that its path leads through; else `NONE`.
struct Dependent<'p> {
    index: u32,
    ancestors: &'p [u32],
}

enum Found {
    /// Another class, and the position of the next name.
    Class(u32, usize),
    /// A variant, each option of which is to be looked at.
    Variant(usize),
    Key,
    Nothing,
    Fault(Fault),
}

/// The reason why a location does not lead to the fields that it should.
#[derive(Clone, Copy)]
enum Fault {
    Missing,
    /// It leads to a field that is read later, or through one that has no members.
    Misplaced,
    /// The field at its end is of the wrong kind.
    Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Boolean,
    Unsigned,
    Signed,
}

impl Key {
    fn of(node: &Node) -> Self {
        match node.kind {
            Kind::Boolean => Self::Boolean,
            Kind::Unsigned | Kind::VariableUnsigned => Self::Unsigned,
            _ => Self::Signed,
        }
    }
}

const _: () = assert!(LAST & NAMED == 0);
