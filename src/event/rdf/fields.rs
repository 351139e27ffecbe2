//! What structures, tokens and events of drivers say, as fields.

use crate::error::Result;
use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::rdf::contents::rmt::{ResourceDetail, TokenRecord, TokenValue, UserData};
use crate::rdf::contents::{
    self, ChunkRecord, EventRecord, EventValue, FieldValue, FixedText, MarkerOp, MarkerStruct,
    StructureRecord,
};
use crate::record::{Listener, Record};

/// Where the fields of a track or an event come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RdfData<'a> {
    None,
    Structure(StructureRecord<'a>),
    Token(TokenRecord<'a>),
    /// What a driver noted, and the rate of its clock.
    Driver(contents::Event<'a>, u64),
    /// A marker of a command buffer, and the number of its string.
    Marker(MarkerOp, u32),
}

/// A name and its value.
type Entry<'a> = Option<(&'static str, Value<'a>)>;

/// As many fields as tokens and events have.
const MOST: usize = 8;

/// Fields that are to come.
#[derive(Clone, Debug)]
pub(in crate::event) struct RdfFields<'a> {
    structure: Option<StructureRecord<'a>>,
    entries: [Entry<'a>; MOST],
    next: usize,
}

/// Fills entries from the front.
macro_rules! entries {
    ($($name:literal: $value:expr),* $(,)?) => {{
        let mut entries: [Entry<'_>; MOST] = [const { None }; MOST];
        let given = [$(Some(($name, $value))),*];
        entries.iter_mut().zip(given).for_each(|(to, from)| *to = from);
        entries
    }};
}

/// One of a list: its name, or its number.
macro_rules! named {
    ($value:expr) => {{
        let value = $value;
        value.name().map_or(Value::Unsigned(value.number().into()), |name| Value::Text(Label::Text(name)))
    }};
}

fn number<'a>(value: impl Into<u128>) -> Value<'a> {
    Value::Unsigned(value.into())
}

/// Text that may not be UTF-8.
pub(super) fn label(text: &[u8]) -> Label<'_> {
    core::str::from_utf8(text).map_or(Label::Bytes(text), Label::Text)
}

fn text(text: FixedText<'_>) -> Value<'_> {
    Value::Text(label(text.bytes()))
}

impl<'a> RdfData<'a> {
    /// Tells the record that it is.
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        match *self {
            Self::None => Ok(()),
            Self::Structure(structure) => structure.tell(to),
            Self::Token(token) => token.tell(to),
            Self::Driver(event, hz) => EventRecord::new(event, hz)?.tell(to),
            Self::Marker(op, string) => ChunkRecord::marker(0, op, string).tell(to),
        }
    }

    pub(in crate::event) fn fields(self) -> RdfFields<'a> {
        let none = [const { None }; MOST];
        let (structure, entries) = match self {
            Self::None => (None, none),
            Self::Structure(structure) => (Some(structure), none),
            Self::Token(token) => (None, of_token(token.token().value())),
            Self::Driver(event, _) => (None, of_event(&event)),
            Self::Marker(op, string) => (None, entries!("op": named!(op), "string": number(string))),
        };
        RdfFields { structure, entries, next: 0 }
    }
}

impl<'a> RdfFields<'a> {
    pub(in crate::event) fn next_field(&mut self) -> Option<Field<'a>> {
        if let Some(structure) = &self.structure {
            let (field, value) = structure.field(self.next)?;
            self.next = self.next.saturating_add(1);
            return Some(Field::new(Label::Text(field.name()), stored(value)));
        }
        while let Some(&entry) = self.entries.get(self.next) {
            self.next = self.next.saturating_add(1);
            if let Some((name, value)) = entry {
                return Some(Field::new(Label::Text(name), value));
            }
        }
        None
    }
}

fn stored(value: FieldValue<'_>) -> Value<'_> {
    match value {
        FieldValue::Unsigned { name: Some(name), .. } => Value::Text(Label::Text(name)),
        FieldValue::Unsigned { value, name: None } => number(value),
        FieldValue::Signed(value) => Value::Signed(value.into()),
        FieldValue::Float(value) => Value::Float(value.into()),
        FieldValue::Text(value) => text(value),
        FieldValue::Hash(hash) => Value::Text(Label::Hash(hash.value())),
        FieldValue::Padding(bytes) => Value::Bytes(bytes),
    }
}

fn of_token(value: TokenValue<'_>) -> [Entry<'_>; MOST] {
    match value {
        TokenValue::Timestamp { hz } => entries!("hz": number(hz)),
        TokenValue::ResourceUpdate { resource, subresource, resource_type, before, after } => entries!(
            "resource": number(resource),
            "subresource": number(subresource),
            "resource_type": named!(resource_type),
            "before": number(before),
            "after": number(after),
        ),
        TokenValue::PageTableUpdate {
            address,
            physical,
            pages,
            page_size,
            is_unmap,
            process,
            update,
            controller,
        } => entries!(
            "address": number(address),
            "physical": number(physical),
            "pages": number(pages),
            "page_size": named!(page_size),
            "is_unmap": Value::Bool(is_unmap),
            "process": number(process),
            "update": named!(update),
            "controller": number(controller),
        ),
        TokenValue::UserData(data) => of_user_data(data),
        TokenValue::Misc(event) => entries!("event": named!(event)),
        TokenValue::ResourceReference { is_evict, address, queue } => entries!(
            "is_evict": Value::Bool(is_evict),
            "address": number(address),
            "queue": number(queue),
        ),
        TokenValue::ResourceBind { address, size, is_system_memory, resource } => entries!(
            "address": number(address),
            "size": number(size),
            "is_system_memory": Value::Bool(is_system_memory),
            "resource": number(resource),
        ),
        TokenValue::ProcessEvent { process, change } => {
            entries!("process": number(process), "change": named!(change))
        }
        TokenValue::PageReference { page_size, is_compressed, state } => entries!(
            "page_size": named!(page_size),
            "is_compressed": Value::Bool(is_compressed),
            "state": number(state),
        ),
        TokenValue::CpuMap { address, is_unmap } => {
            entries!("address": number(address), "is_unmap": Value::Bool(is_unmap))
        }
        TokenValue::VirtualFree { address } => entries!("address": number(address)),
        TokenValue::VirtualAllocate { size, owner, address, heaps, heap_count, is_external } => {
            let [heap, ..] = heaps;
            entries!(
                "address": number(address),
                "size": number(size),
                "owner": named!(owner),
                "heap": named!(heap),
                "heap_count": number(heap_count),
                "is_external": Value::Bool(is_external),
            )
        }
        TokenValue::ResourceCreate { resource, owner, category, commit, resource_type, detail } => {
            let [a, b] = of_resource(detail);
            let [c, d, e, f, g, ..] = entries!(
                "resource": number(resource),
                "resource_type": named!(resource_type),
                "owner": named!(owner),
                "category": number(category),
                "commit": named!(commit),
            );
            [c, d, e, f, g, a, b, None]
        }
        TokenValue::TimeDelta { units } => entries!("units": number(units)),
        TokenValue::ResourceDestroy { resource } => entries!("resource": number(resource)),
        TokenValue::Reserved => entries!(),
    }
}

fn of_resource<'a>(detail: ResourceDetail) -> [Entry<'a>; 2] {
    match detail {
        ResourceDetail::Image(image) => {
            [Some(("size", number(image.bytes))), Some(("format", number(image.format)))]
        }
        ResourceDetail::Buffer { size, .. } | ResourceDetail::Heap { size, .. } => {
            [Some(("size", number(size))), None]
        }
        ResourceDetail::Pipeline { hash, .. } => {
            [Some(("hash", Value::Text(Label::Hash(hash.value())))), None]
        }
        ResourceDetail::DescriptorHeap { descriptors, .. } => {
            [Some(("descriptors", number(descriptors))), None]
        }
        _ => [None, None],
    }
}

fn of_user_data(data: UserData<'_>) -> [Entry<'_>; MOST] {
    let [a, b, ..] = match (data.name(), data.correlation()) {
        (Some((name, id)), _) => entries!("name": text(name), "id": number(id)),
        (_, Some((resource, id))) => entries!("resource": number(resource), "id": number(id)),
        _ => match (data.snapshot(), data.implicit()) {
            (Some(name), _) => entries!("name": text(name)),
            (_, Some(resource)) => entries!("resource": number(resource)),
            _ => entries!("bytes": Value::Bytes(data.payload())),
        },
    };
    let lag = data.lag().map(|lag| ("lag_ticks", number(lag)));
    [Some(("data", named!(data.kind()))), a, b, lag, None, None, None, None]
}

fn of_event<'a>(event: &contents::Event<'a>) -> [Entry<'a>; MOST] {
    match event.value() {
        Ok(EventValue::LargeDelta(delta)) => entries!("delta": number(delta)),
        Ok(EventValue::BufferState(state)) => entries!(
            "cmd_buffer": number(state.cmd_buffer()),
            "begin": number(state.begin()),
            "end": number(state.end()),
            "is_in_flight": Value::Bool(state.is_in_flight()),
        ),
        Ok(EventValue::MarkerBegin { cmd_buffer, marker, name }) => entries!(
            "cmd_buffer": number(cmd_buffer),
            "marker": number(marker.number()),
            "source": named!(marker.source()),
            "name": Value::Text(label(name)),
        ),
        Ok(EventValue::MarkerEnd { cmd_buffer, marker }) => entries!(
            "cmd_buffer": number(cmd_buffer),
            "marker": number(marker.number()),
            "source": named!(marker.source()),
        ),
        Ok(EventValue::MarkerInfo(info)) => {
            let kind = info.kind_name();
            let kind = kind.map_or(number(info.kind()), |name| Value::Text(Label::Text(name)));
            let [a, b, c] = match info.content() {
                MarkerStruct::PipelineBind(bind) => [Some(("api_hash", number(bind.api_hash()))), None, None],
                MarkerStruct::Draw(draw) => [
                    Some(("count", number(draw.count()))),
                    Some(("instances", number(draw.instances()))),
                    None,
                ],
                MarkerStruct::Dispatch(dispatch) => [
                    Some(("x", number(dispatch.x()))),
                    Some(("y", number(dispatch.y()))),
                    Some(("z", number(dispatch.z()))),
                ],
                _ => [None, None, None],
            };
            let (cmd_buffer, marker) = (number(info.cmd_buffer()), number(info.marker().number()));
            let head = [Some(("cmd_buffer", cmd_buffer)), Some(("marker", marker)), Some(("info", kind))];
            let [d, e, f] = head;
            [d, e, f, a, b, c, None, None]
        }
        Ok(EventValue::PageFault(fault)) => entries!(
            "address": number(fault.address()),
            "vm": number(fault.vm()),
            "pid": number(fault.pid()),
            "process": Value::Text(label(fault.process())),
        ),
        Ok(EventValue::ShaderWaves(waves)) => entries!(
            "hung": number(waves.fields().hung()),
            "active": number(waves.fields().active()),
            "bytes": Value::Bytes(event.payload()),
        ),
        _ => entries!("id": number(event.id()), "bytes": Value::Bytes(event.payload())),
    }
}
