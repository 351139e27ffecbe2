//! From a field location to the fields it means, and from roles to where they may stand.

use super::Name;
use super::builder::Builder;
use super::element::{FIELD_CLASS, FIELD_LOCATION, RANGE, ROLE};
use super::node::{
    BIG, DEPTH, Kind, LAST, NAMED, NO_SLOT, NONE, Node, PLAIN, REVERSED, SIGNED_KEY, SLOTS, role,
};
use super::scope::Scope;
use crate::ctf::metadata::{Language, MetadataStream};
use crate::error::{Element, Error, ErrorKind, Result};

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

/// What the scopes of a record belong to.
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
}

/// The class that is being looked at, and what it is in.
struct Place<'p> {
    scope: Scope,
    index: u32,
    ancestors: &'p [u32],
}

/// What a location says, with inner steps up taken.
struct Path {
    origin: Option<Scope>,
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
    ) -> Self {
        let by_option = stream.language() == Language::Tsdl;
        Self { builder, stream, level, slots, by_option }
    }

    /// How many slots are in use.
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
                    return Err(self.error(index, FIELD_CLASS, ErrorKind::TooDeep { limit }));
                };
                *slot = index;
                depth = depth.saturating_add(1);
            }
        }
        Ok(())
    }

    /// An error at a class: at its name, or else at that of one before it.
    #[cold]
    fn error(&self, index: u32, element: Element, kind: ErrorKind) -> Error {
        let named = (0..=index).rev().find(|at| self.builder.node(*at).has(NAMED));
        let offset = named.map_or(0, |at| self.builder.node(at).name);
        Error::new(offset.into(), element, kind)
    }

    fn check_roles(&self, place: &Place<'_>, node: &Node, owner: Owner, root: u32) -> Result<()> {
        if matches!(node.kind, Kind::NulString | Kind::StaticString | Kind::DynamicString) {
            return Ok(());
        }
        let roles = node.roles;
        if roles == 0 {
            return Ok(());
        }
        let misplaced = || Err(self.error(place.index, ROLE, ErrorKind::Misplaced));
        let allowed = match place.scope {
            Scope::PacketHeader => role::MAGIC | role::UUID | role::STREAM_CLASS_ID | role::STREAM_ID,
            Scope::PacketContext => {
                role::TOTAL_LENGTH
                    | role::CONTENT_LENGTH
                    | role::TIMESTAMP
                    | role::END_TIMESTAMP
                    | role::DISCARDED
                    | role::SEQUENCE
            }
            Scope::EventHeader => role::EVENT_CLASS_ID | role::TIMESTAMP,
            _ => 0,
        };
        if roles & !allowed != 0 {
            return misplaced();
        }
        if roles & role::UUID != 0 {
            let is_uuid = matches!(node.kind, Kind::StaticBlob | Kind::StaticArray) && node.a == 16;
            if !is_uuid || self.builder.uuid.is_none() {
                return misplaced();
            }
        } else if !matches!(node.kind, Kind::Unsigned | Kind::VariableUnsigned) {
            return misplaced();
        }
        if roles & role::MAGIC != 0 {
            let is_magic =
                node.kind == Kind::Unsigned && node.a == 32 && place.index == root.saturating_add(1);
            if !is_magic {
                return misplaced();
            }
        }
        if roles & (role::TIMESTAMP | role::END_TIMESTAMP) != 0 {
            let info = self.builder.node(owner.stream.saturating_add(1)).b;
            if self.builder.node(info).a == NONE {
                return misplaced();
            }
        }
        Ok(())
    }

    fn dependent(&mut self, owner: Owner, place: &Place<'_>, node: &Node) -> Result<()> {
        let first = node.a;
        let origin = Scope::ALL.get(usize::from(self.builder.node(first).slot)).copied();
        let target = origin.unwrap_or(place.scope);
        if self.level != Level::of(target) {
            return Ok(());
        }
        let path = self.path(first)?;
        let misplaced = Error::new(path.offset, FIELD_LOCATION, ErrorKind::Misplaced);
        if target > place.scope {
            return Err(misplaced);
        }
        let start = match origin {
            Some(scope) => {
                let at = match Level::of(scope) {
                    Level::Packet => owner.trace,
                    Level::Stream => owner.stream,
                    Level::Event => owner.event,
                };
                if path.up > 0 {
                    return Err(misplaced);
                }
                self.builder.root_of(at, scope)
            }
            None => {
                let structures = place
                    .ancestors
                    .iter()
                    .rev()
                    .filter(|at| matches!(self.builder.node(**at).kind, Kind::Structure));
                structures.copied().nth(path.up).ok_or(misplaced)?
            }
        };
        if start == NONE {
            return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Missing));
        }
        let dependent = if target == place.scope { place.index } else { NONE };
        if target >= Scope::EventHeader && target != place.scope {
            // Who reads this scope alone has to begin with those before it.
            let info = self.builder.node(owner.stream.saturating_add(1)).b;
            if owner.event == NONE {
                self.builder.update(info, |info| info.set(PLAIN, true));
            } else {
                self.builder.update(owner.event, |event| event.set(LAST, true));
            }
        }
        if self.connect(place.index, node, start, dependent, &path)? && owner.stream != NONE {
            let info = self.builder.node(owner.stream.saturating_add(1)).b;
            self.builder.update(info, |info| info.set(LAST, true));
        }
        Ok(())
    }

    /// The steps of the location that begins at node `first`.
    fn path(&self, first: u32) -> Result<Path> {
        let node = self.builder.node(first);
        let mut path = Path {
            origin: Scope::ALL.get(usize::from(node.slot)).copied(),
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
        debug_assert!(path.origin.is_none() || node.slot != NO_SLOT);
        Ok(path)
    }

    /// Whether the name of `index` is that of a step.
    fn is_named(&self, index: u32, step: u32) -> bool {
        match (self.builder.node(index).place(), self.builder.node(step).place()) {
            (Some(name), Some(wanted)) => Name::at(&self.stream, name).same(&Name::at(&self.stream, wanted)),
            _ => false,
        }
    }

    /// Finds all fields that a path means from `start`, and gives them and the dependent class one slot. `true` if some
    /// option of a variant on the way has no such field.
    fn connect(&mut self, index: u32, node: &Node, start: u32, dependent: u32, path: &Path) -> Result<bool> {
        let mut lacks = false;
        let mut slot = NO_SLOT;
        let mut kind = None;
        // Twice: to learn the slot that one of them may have, then to give it to all.
        for store in [false, true] {
            let mut choices = [(NONE, NONE, 0); DEPTH];
            let mut depth = 0_usize;
            let mut at = Some((start, 0_usize));
            let mut found = false;
            loop {
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
                match self.step(class, position, dependent, path)? {
                    Found::Class(class, position) => at = Some((class, position)),
                    Found::Variant(position) => {
                        let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
                        let too_deep = Error::new(path.offset, FIELD_LOCATION, ErrorKind::TooDeep { limit });
                        let end = self.builder.view().end(class);
                        *choices.get_mut(depth).ok_or(too_deep)? = (class.saturating_add(1), end, position);
                        depth = depth.saturating_add(1);
                    }
                    Found::Nothing if depth > 0 => lacks = true,
                    Found::Nothing => {
                        return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Missing));
                    }
                    Found::Key => {
                        found = true;
                        let target = self.builder.node(class);
                        if *kind.get_or_insert(key_kind(target.kind)) != key_kind(target.kind) {
                            return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Misplaced));
                        }
                        if store {
                            if target.slot != NO_SLOT && target.slot != slot {
                                return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Misplaced));
                            }
                            self.builder.update(class, |node| node.slot = slot);
                        } else if target.slot != NO_SLOT {
                            slot = target.slot;
                        }
                    }
                }
            }
            if !found {
                return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Missing));
            }
            if !store && slot == NO_SLOT {
                let capacity = u64::from(SLOTS);
                if self.slots >= SLOTS {
                    let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
                    return Err(Error::new(path.offset, FIELD_LOCATION, kind));
                }
                slot = self.slots;
                self.slots = self.slots.saturating_add(1);
            }
        }
        let kind = kind.unwrap_or(Key::Boolean);
        let fits = match node.kind {
            Kind::Optional => (node.b == NONE) == (kind == Key::Boolean),
            Kind::Variant => kind != Key::Boolean,
            _ => kind == Key::Unsigned,
        };
        if !fits {
            return Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Misplaced));
        }
        self.builder.update(index, |node| {
            node.slot = slot;
            node.set(SIGNED_KEY, kind == Key::Signed);
        });
        self.check_ranges(index, node, kind)?;
        Ok(lacks)
    }

    /// One step of the way from `class`, of which the names before `position` are taken.
    fn step(&self, class: u32, position: usize, dependent: u32, path: &Path) -> Result<Found> {
        let node = self.builder.node(class);
        let view = self.builder.view();
        let misplaced = || Err(Error::new(path.offset, FIELD_LOCATION, ErrorKind::Misplaced));
        let contains = class < dependent && dependent < view.end(class) && dependent != NONE;
        let wanted = if position < path.len { path.names.get(position).copied() } else { None };
        let next = position.saturating_add(1);
        Ok(match (node.kind, wanted) {
            (Kind::Structure, Some(name)) => match view.children(class).find(|at| self.is_named(*at, name)) {
                Some(member) if member >= dependent => return misplaced(),
                Some(member) => Found::Class(member, next),
                None => Found::Nothing,
            },
            (Kind::Optional | Kind::StaticArray | Kind::DynamicArray, _) if contains => {
                Found::Class(class.saturating_add(1), position)
            }
            (Kind::Variant, _) if contains => {
                match view.children(class).find(|choice| dependent < view.end(*choice)) {
                    // TSDL names the option.
                    Some(choice)
                        if self.by_option && wanted.is_some_and(|name| self.is_named(choice, name)) =>
                    {
                        Found::Class(choice.saturating_add(1), next)
                    }
                    Some(choice) => Found::Class(choice.saturating_add(1), position),
                    None => Found::Nothing,
                }
            }
            (Kind::Variant, Some(name)) if self.by_option => {
                match view.children(class).find(|choice| self.is_named(*choice, name)) {
                    Some(choice) => Found::Class(choice.saturating_add(1), next),
                    None => Found::Variant(position),
                }
            }
            (Kind::Variant, _) => Found::Variant(position),
            (kind, None) if kind.is_integer() || kind == Kind::Boolean => Found::Key,
            _ => return misplaced(),
        })
    }

    /// The ranges of a selector must be of its type, and those of different options must not overlap.
    fn check_ranges(&mut self, index: u32, node: &Node, kind: Key) -> Result<()> {
        match node.kind {
            Kind::Optional => self.check_list(index, node.b, kind),
            Kind::Variant => {
                let (mut choice, end) = (index.saturating_add(1), self.builder.view().end(index));
                while choice < end {
                    self.check_list(index, self.builder.node(choice).b, kind)?;
                    choice = self.builder.view().end(choice).max(choice.saturating_add(1));
                }
                if self.by_option { Ok(()) } else { self.check_overlap(index, kind) }
            }
            _ => Ok(()),
        }
    }

    /// The ranges from node `first` on must be of the selector's type. They are put in order, so that a value is found
    /// among many of them in few steps.
    fn check_list(&mut self, index: u32, first: u32, kind: Key) -> Result<()> {
        for at in self.builder.view().list(first) {
            check_range(&self.builder.node(at), kind == Key::Signed)
                .map_err(|kind| self.error(index, RANGE, kind))?;
        }
        self.builder.order_ranges(first);
        Ok(())
    }

    /// Pairs are compared of up to 1024 ranges. With more of them, the first option that holds a value is taken.
    fn check_overlap(&self, variant: u32, kind: Key) -> Result<()> {
        let view = self.builder.view();
        let ranges = || {
            view.children(variant)
                .flat_map(|choice| view.list(view.get(choice).b).map(move |at| (choice, view.get(at))))
        };
        if ranges().take(1025).count() > 1024 {
            return Ok(());
        }
        for (position, (choice, a)) in ranges().enumerate() {
            for (other, b) in ranges().take(position) {
                let (a, b) = ((a.x(), a.y()), (b.x(), b.y()));
                let apart = if kind == Key::Signed {
                    let signed = |(x, y): (u64, u64)| (x.cast_signed(), y.cast_signed());
                    let (a, b) = (signed(a), signed(b));
                    a.1 < b.0 || b.1 < a.0
                } else {
                    a.1 < b.0 || b.1 < a.0
                };
                if !apart && other != choice {
                    return Err(self.error(choice, RANGE, ErrorKind::Repeated));
                }
            }
        }
        Ok(())
    }
}

/// Whether a range is one of signed, or else of unsigned integers of 64 bits.
pub(crate) fn check_range(range: &Node, signed: bool) -> Result<(), ErrorKind> {
    for (value, negative) in [(range.x(), range.has(BIG)), (range.y(), range.has(REVERSED))] {
        if negative && !signed {
            return Err(ErrorKind::Negative { value: value.cast_signed() });
        }
        if !negative && signed && value > i64::MAX.cast_unsigned() {
            return Err(ErrorKind::Overflow { value });
        }
    }
    Ok(())
}

enum Found {
    /// Another class, and the position of the next name.
    Class(u32, usize),
    /// A variant, each option of which is to be looked at.
    Variant(usize),
    Key,
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Boolean,
    Unsigned,
    Signed,
}

fn key_kind(kind: Kind) -> Key {
    match kind {
        Kind::Boolean => Key::Boolean,
        Kind::Unsigned | Kind::VariableUnsigned => Key::Unsigned,
        _ => Key::Signed,
    }
}

const _: () = assert!(LAST & NAMED == 0);
