//! Classes of event records and of packets, for listeners: everything that is the same in each record of a class.
//!
//! A field's slot is the number of its class's node, after the numbers of other schemas. Optionals and variants are not told: their content is, by their
//! name. So a variant has a field for each option, and an absent optional is told by the slot of its content.

use crate::ctf::schema::node::{self, DEPTH, NONE, Nodes};
use crate::ctf::schema::scope::root_of;
use crate::ctf::schema::{EventClass, FieldClass, FieldKind, Name, Schema, Scope, StreamClass};
use crate::record::{self, ClassId, Fact, FieldInfo, Hint, Kind, Slot, Step};
use core::fmt::{self, Display};

/// The scopes of an event record, as listeners and as schemas call them.
pub(super) const SCOPES: [(record::Scope, Scope); 4] = [
    (record::Scope::Header, Scope::EventHeader),
    (record::Scope::CommonContext, Scope::CommonContext),
    (record::Scope::SpecificContext, Scope::SpecificContext),
    (record::Scope::Payload, Scope::Payload),
];

/// The bits of the widest integer that is told as one.
pub(super) const WIDE_MAX: u32 = 1024;

/// The class of an event record.
pub(super) struct Described<'a, 's> {
    id: ClassId,
    class: EventClass<'a, 's>,
    clock: ClockName<'a, 's>,
    /// The number of the schema's first slot.
    base: u32,
}

/// The name of a clock, looked up when it is shown.
struct ClockName<'a, 's>(StreamClass<'a, 's>);

impl<'a> ClockName<'a, '_> {
    fn get(&self) -> Option<Name<'a>> {
        self.0.clock().and_then(|clock| clock.name())
    }
}

impl Display for ClockName<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().map_or(Ok(()), |name| name.fmt(f))
    }
}

impl<'a, 's> Described<'a, 's> {
    #[inline(always)]
    pub(super) fn new(class: EventClass<'a, 's>, id: ClassId, base: u32) -> Self {
        Self { id, class, clock: ClockName(class.stream_class()), base }
    }
}

/// Tells all classes of event records of a schema, with numbers from `base` on.
#[cfg_attr(not(feature = "event"), allow(dead_code))]
pub(super) fn each_class(schema: &Schema<'_, '_>, base: u32, each: &mut dyn FnMut(&dyn record::Class)) {
    for place in 0..schema.event_count() {
        let class = EventClass { schema, index: schema.event_at(place) };
        each(&Described::new(class, ClassId(base.wrapping_add(place)), base));
    }
}

impl record::Class for Described<'_, '_> {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &self.class
    }

    fn clock(&self) -> Option<&dyn Display> {
        self.clock.get().map(|_| -> &dyn Display { &self.clock })
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&"event"));
        let mut name = |fact, name: Option<Name<'_>>| match &name {
            Some(name) => each(fact, Fact::Text(name)),
            None => each(fact, Fact::Absent),
        };
        name("namespace", self.class.namespace());
        name("name", self.class.name());
        each("id", Fact::Number(self.class.id()));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        let schema = self.class.schema;
        let stream = self.class.stream_class().index;
        for (told, scope) in SCOPES {
            let of = if scope <= Scope::CommonContext { stream } else { self.class.index };
            let root = root_of(schema.nodes, of, scope);
            if root != NONE {
                each(Step::Scope(told));
                members(schema, self.base, root, each);
                each(Step::End);
            }
        }
    }
}

/// The class of the packets of a stream class: what their contexts say.
pub(super) struct PacketClass<'a, 's> {
    id: ClassId,
    class: StreamClass<'a, 's>,
    clock: ClockName<'a, 's>,
}

impl<'a, 's> PacketClass<'a, 's> {
    pub(super) fn new(class: StreamClass<'a, 's>) -> Self {
        // After the classes of event records.
        let (schema, place) = (class.schema, class.schema.stream_place(class.index));
        let id = ClassId(schema.event_count().saturating_add(place));
        Self { id, class, clock: ClockName(class) }
    }
}

/// The name of the group with a packet's context.
pub(super) const CONTEXT: &str = "packet_context";

impl record::Class for PacketClass<'_, '_> {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &"packet"
    }

    fn clock(&self) -> Option<&dyn Display> {
        self.clock.get().map(|_| -> &dyn Display { &self.clock })
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&"data-packet"));
        each("data_stream_class", Fact::Number(self.class.id()));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        let root = root_of(self.class.schema.nodes, self.class.index, Scope::PacketContext);
        each(Step::Scope(record::Scope::Fields));
        if root == NONE {
            // Told as absent, by the number of the class.
            let info = FieldInfo { slot: Slot(self.class.index), ..FieldInfo::new(&CONTEXT, Kind::Any) };
            each(Step::Field(info));
        } else {
            each(Step::Field(FieldInfo { slot: Slot(root), ..FieldInfo::new(&CONTEXT, Kind::Group) }));
            members(self.class.schema, 0, root, each);
            each(Step::End);
        }
        each(Step::End);
    }
}

/// A structure, an array, an optional or a variant that began and has not ended.
#[derive(Clone, Copy)]
struct Open {
    /// The node after all that is in it.
    end: u32,
    /// The node that names its content; `NONE` if that has names of its own.
    names: u32,
}

/// Steps through the members of a structure.
fn members(schema: &Schema<'_, '_>, base: u32, root: u32, each: &mut dyn FnMut(Step<'_>)) {
    let nodes = schema.nodes;
    let mut open = [Open { end: 0, names: NONE }; DEPTH];
    let mut depth = 0_usize;
    let (mut next, end) = (root.saturating_add(1), nodes.end(root));
    loop {
        let around = depth.checked_sub(1).and_then(|at| open.get(at)).copied();
        if let Some(ended) = around.filter(|open| open.end <= next) {
            if ended.names == NONE {
                each(Step::End);
            }
            depth = depth.saturating_sub(1);
            continue;
        }
        if next >= end {
            return;
        }
        let index = next;
        let named = around.map(|open| open.names).filter(|named| *named != NONE).unwrap_or(index);
        next = index.saturating_add(1);
        let names = match nodes.get(index).kind {
            node::Kind::Choice => continue,
            node::Kind::Optional | node::Kind::Variant if content_of(nodes, index) != index => named,
            node::Kind::Structure | node::Kind::StaticArray | node::Kind::DynamicArray => {
                field(FieldClass::new(schema, index), base, schema.name_of(named), each);
                NONE
            }
            _ => {
                field(FieldClass::new(schema, index), base, schema.name_of(named), each);
                next = nodes.end(index).max(next);
                continue;
            }
        };
        // A schema nests no deeper than there is room for.
        if let Some(slot) = open.get_mut(depth) {
            *slot = Open { end: nodes.end(index), names };
            depth = depth.saturating_add(1);
        }
    }
}

/// The node by which a field is told: the first content of an optional or a variant, any other one itself.
pub(super) fn content_of(nodes: Nodes<'_>, mut index: u32) -> u32 {
    // Each step goes into the class: there are no more than levels.
    for _ in 0..DEPTH {
        let inner = match nodes.get(index).kind {
            node::Kind::Optional => index.saturating_add(1),
            node::Kind::Variant => index.saturating_add(2),
            _ => return index,
        };
        if inner >= nodes.end(index) {
            return index;
        }
        index = inner;
    }
    index
}

/// The step of a field.
fn field(class: FieldClass<'_, '_>, base: u32, name: Option<Name<'_>>, each: &mut dyn FnMut(Step<'_>)) {
    let bits = class.bits().unwrap_or(64);
    let kind = match class.kind() {
        // Told as its digits.
        _ if bits > WIDE_MAX => Kind::Text,
        FieldKind::Unsigned | FieldKind::BitArray => Kind::Unsigned { bits },
        FieldKind::BitMap => Kind::Flags { bits },
        FieldKind::Signed => Kind::Signed { bits },
        FieldKind::Boolean => Kind::Boolean,
        FieldKind::Float => Kind::Float { bits },
        FieldKind::String => Kind::Text,
        FieldKind::Blob => Kind::Bytes,
        FieldKind::Structure => Kind::Group,
        FieldKind::Array => Kind::List,
        // One without an option: it is never told.
        FieldKind::Optional | FieldKind::Variant => Kind::Any,
    };
    let hint = match (class.kind(), class.base()) {
        (FieldKind::BitArray | FieldKind::BitMap, _) | (FieldKind::Unsigned, 16) => Hint::Hexadecimal,
        (FieldKind::Unsigned, 2) => Hint::Binary,
        (FieldKind::Unsigned, 8) => Hint::Octal,
        // People read negative numbers in decimal only.
        _ => Hint::None,
    };
    let labels = |each: &mut dyn FnMut(&dyn Display, i128, i128)| {
        for mapping in class.mappings() {
            if let Some(name) = mapping.name() {
                mapping.ranges().for_each(|(first, last)| each(&name, first, last));
            }
        }
    };
    each(Step::Field(FieldInfo {
        slot: Slot(base.wrapping_add(class.index)),
        name: name.as_ref().map(|name| -> &(dyn Display + Sync) { name }),
        kind,
        hint,
        unit: None,
        labels: if class.has_labels() { Some(&labels) } else { None },
        label_set: class.has_labels().then(|| base.wrapping_add(class.mappings().key())),
    }));
}
