//! The columns of RDF's own tables: those in front, then the fields of the records, each name once.

use super::heard::{Heard, Value, is_text};
use crate::events::OWN;
use crate::row::each_member;
use crate::rows::Rows;
use crate::table::{self, Table};
use arrow_schema::{DataType, Field};
use traceglass::rdf::Identifier;
use traceglass::rdf::contents::rmt::{TokenKind, TokenRecord};
use traceglass::rdf::contents::{ChunkRecord, StructureRecord};
use traceglass::record::{Class, ClassId, FieldInfo, Head, Kind, Listener, Record as _, Slot, Wants};

pub(super) const MARKERS: usize = OWN;
pub(super) const QUEUES: usize = OWN + 1;
pub(super) const MEMORY: usize = OWN + 2;
pub(super) const RESOURCES: usize = OWN + 3;

/// The tables, in the order of their numbers.
pub(crate) fn tables() -> Vec<Table> {
    [(MARKERS, "markers"), (QUEUES, "queues"), (MEMORY, "memory"), (RESOURCES, "resources")]
        .map(|(number, name)| Table::new(name, Columns::of(number).fields))
        .into()
}

/// The columns that each table begins with.
pub(super) struct Front;

impl Front {
    /// The column of the kind of a record: of tokens.
    pub(super) const KIND: usize = 5;
    const END: usize = 5;
    /// The column of the number of slices that a marker lies in, or of the time of a submission.
    const MORE: usize = 8;

    fn fields(number: usize) -> Vec<Field> {
        let mut fields =
            vec![table::name("file"), table::id("offset"), table::id("track"), table::ns("time_ns")];
        fields.push(table::moment("time"));
        match number {
            MEMORY => fields.push(table::name("kind")),
            _ => {
                fields.extend([table::ns("end_time_ns"), table::moment("end_time"), table::ns("duration_ns")])
            }
        }
        match number {
            MARKERS => fields.push(table::id("depth")),
            QUEUES => fields.push(table::ns("cpu_time_ns")),
            _ => {}
        }
        fields
    }

    /// Begins a row.
    pub(super) fn begin(rows: &mut Rows, file: &str, track: u64, offset: u64, ns: Option<i128>) {
        rows.name(0, Some(file));
        rows.u64(1, Some(offset));
        rows.u64(2, Some(track));
        rows.time(3, ns, false);
    }

    /// The end of what lasts, if it is known.
    pub(super) fn end(rows: &mut Rows, begin: Option<i128>, end: Option<i128>) {
        rows.time(Self::END, end, false);
        let ns = begin.zip(end).map(|(begin, end)| end.saturating_sub(begin));
        rows.i64(Self::END.saturating_add(2), ns.and_then(|ns| i64::try_from(ns).ok()));
    }
}

/// The part that a class has in a table.
struct Part {
    class: ClassId,
    is_created: bool,
    is_destroyed: bool,
    /// The fields by which records are put together.
    resource: Option<Slot>,
    id: Option<Slot>,
    name: Option<Slot>,
    has_lag: bool,
    marker: Option<Slot>,
}

/// The fact that a token tells of a resource.
pub(super) struct Said {
    pub(super) resource: Option<u64>,
    pub(super) is_created: bool,
    pub(super) is_destroyed: bool,
    /// The number of its name.
    pub(super) name_id: Option<u64>,
    /// A name, and its number.
    pub(super) name: Option<(u64, String)>,
    /// True if that is the number of the resource, as in older files.
    pub(super) is_own_name: bool,
}

/// The columns of a table, made of classes.
pub(super) struct Columns {
    fields: Vec<Field>,
    parts: Vec<Part>,
    /// By the slots of fields.
    columns: Vec<Option<usize>>,
    name: Option<usize>,
    depth: Option<usize>,
    cpu_time: Option<usize>,
}

/// Calls `each` with the classes of a table's records.
fn each_class(number: usize, each: &mut dyn FnMut(&dyn Class)) {
    match number {
        MARKERS => ChunkRecord::each_marker_class(each),
        QUEUES => {
            let Some(identifier) = Identifier::new("QueueEvent") else { return };
            for record in StructureRecord::of_chunk(identifier, 1, &[], &[0; 72], None) {
                // All of it is there.
                let _ = record.tell(&mut Classes(each));
            }
        }
        _ => TokenRecord::each_class(each),
    }
}

/// Hears of a record only which class it has.
struct Classes<'e>(&'e mut dyn FnMut(&dyn Class));

impl Listener for Classes<'_> {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        (self.0)(class);
        Wants::NOTHING
    }
}

impl Columns {
    pub(super) fn of(number: usize) -> Self {
        let fields = Front::fields(number);
        let depth = (number == MARKERS).then_some(Front::MORE);
        let cpu_time = (number == QUEUES).then_some(Front::MORE);
        let (parts, columns) = (Vec::new(), Vec::new());
        let mut columns = Self { fields, parts, columns, name: None, depth, cpu_time };
        each_class(number, &mut |class| columns.add(number, class));
        columns
    }

    /// Adds the fields of a class.
    fn add(&mut self, number: usize, class: &dyn Class) {
        if self.part(class.id()).is_some() {
            return;
        }
        let called = class.name().to_string();
        let is = |kind: TokenKind| kind.name() == Some(called.as_str());
        let mut part = Part {
            class: class.id(),
            is_created: is(TokenKind::ResourceCreate),
            is_destroyed: is(TokenKind::ResourceDestroy),
            resource: None,
            id: None,
            name: None,
            has_lag: false,
            marker: None,
        };
        let mut fields = Vec::new();
        each_member(class, &mut |_, info| {
            let name = info.name.map(|name| name.to_string()).unwrap_or_default();
            match name.as_str() {
                "resource" => part.resource = Some(info.slot),
                "id" => part.id = Some(info.slot),
                "name" => part.name = Some(info.slot),
                "lag_ticks" => part.has_lag = true,
                "marker" => part.marker = Some(info.slot),
                _ => {}
            }
            fields.push((info.slot, name, column_type(info)));
        });
        if number == RESOURCES {
            let is_name = part.name.is_some() && part.id.is_some();
            // Changes of its use come often; they are rows of `memory`.
            if is(TokenKind::ResourceUpdate) || part.resource.is_none() && !is_name {
                return;
            }
            if is(TokenKind::UserData) {
                fields.retain(|(slot, ..)| Some(*slot) == part.name && is_name);
            }
        }
        self.parts.push(part);
        for (slot, name, kind) in fields {
            let known =
                self.fields.iter().position(|field| *field.name() == name && *field.data_type() == kind);
            let at = known.unwrap_or_else(|| {
                self.fields.push(Field::new(table::unused(name.clone(), &self.fields), kind, true));
                self.fields.len().saturating_sub(1)
            });
            if name == "name" {
                self.name = self.name.or(Some(at));
            }
            if self.columns.len() <= slot.index() {
                self.columns.resize(slot.index().saturating_add(1), None);
            }
            if let Some(column) = self.columns.get_mut(slot.index()) {
                *column = Some(at);
            }
        }
    }

    fn part(&self, class: ClassId) -> Option<&Part> {
        self.parts.iter().find(|part| part.class == class)
    }

    /// True if records of a class belong to the table.
    pub(super) fn has(&self, class: ClassId) -> bool {
        self.part(class).is_some()
    }

    /// The column of a field.
    pub(super) fn column(&self, slot: Slot) -> Option<usize> {
        self.columns.get(slot.index()).copied().flatten()
    }

    /// The column of names.
    pub(super) const fn name(&self) -> Option<usize> {
        self.name
    }

    /// The column of the number of slices that something lies in.
    pub(super) const fn depth(&self) -> Option<usize> {
        self.depth
    }

    /// The values of a record, by their columns.
    pub(super) fn told(&self, heard: &Heard) -> Vec<(usize, Value)> {
        let values = heard.values().iter();
        let values = values.filter_map(|(slot, value)| Some((self.column(*slot)?, value.clone())));
        // Work on a queue has two times: that of its submission, and that of the GPU.
        let ns = heard.ns().and_then(|ns| i64::try_from(ns).ok());
        let cpu_time = self.cpu_time.zip(ns).map(|(at, ns)| (at, Value::Signed(ns)));
        values.chain(cpu_time).collect()
    }

    /// The column and the value by which what is told of a marker belongs to it.
    pub(super) fn marker(&self, heard: &Heard) -> Option<(usize, Value)> {
        let slot = self.part(heard.class()?)?.marker?;
        Some((self.column(slot)?, heard.value(slot)?.clone()))
    }

    /// The fact that a token tells of a resource.
    pub(super) fn said(&self, heard: &Heard) -> Option<Said> {
        let part = self.part(heard.class()?)?;
        let number = |slot: Option<Slot>| match heard.value(slot?) {
            Some(Value::Unsigned(number)) => Some(*number),
            _ => None,
        };
        let (resource, id) = (number(part.resource), number(part.id));
        let name = match part.name.and_then(|slot| heard.value(slot)) {
            Some(Value::Text(name)) => id.map(|id| (id, name.to_string())),
            _ => None,
        };
        let Part { is_created, is_destroyed, has_lag, .. } = *part;
        Some(Said { resource, is_created, is_destroyed, name_id: id, name, is_own_name: !has_lag })
    }
}

/// The type of the column of a field.
fn column_type(info: &FieldInfo<'_>) -> DataType {
    let field = match info.kind {
        _ if is_text(info) => table::name(""),
        Kind::Boolean => table::truth(""),
        Kind::Bytes => return DataType::Binary,
        Kind::Float { .. } => table::float(""),
        Kind::Signed { .. } => table::ns(""),
        Kind::Unsigned { .. } | Kind::Flags { .. } => table::id(""),
        // Lists are JSON.
        _ => table::text(""),
    };
    field.data_type().clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceglass::record::Step;

    fn names(number: usize) -> String {
        Columns::of(number).fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn columns_are_what_records_tell() {
        assert_eq!(
            names(QUEUES),
            "file offset track time_ns time end_time_ns end_time duration_ns cpu_time_ns pci queue event \
             sqtt_cmd_buffer frame sub_index api_id cpu_ticks gpu_begin gpu_end"
        );
        assert_eq!(
            names(MARKERS),
            "file offset track time_ns time end_time_ns end_time duration_ns depth ticks cmd_buffer marker source name \
             info bytes queue device queue_flags bind_point api_hash draw_type count instances start \
             vertex_offset_reg instance_offset_reg draw_id_reg dispatch_type x y z internal barrier reason \
             pipeline_stalls layout_transitions caches nested_cmd_buffer op string"
        );
        assert_eq!(
            names(MEMORY),
            "file offset track time_ns time kind stream ticks resource subresource resource_type before after address \
             physical pages page_size is_unmap process update controller data name id bytes lag_ticks heap_type event \
             is_evict queue size is_system_memory change is_compressed state owner heaps heap_count is_external \
             category commit dimensions format mips slices create_flags usage_flags flags align segment hash stages \
             is_ngg descriptor_type is_shader_visible gpu_mask descriptors max_sets pools internal_kind"
        );
        assert_eq!(
            names(RESOURCES),
            "file offset track time_ns time end_time_ns end_time duration_ns name stream ticks address size \
             is_system_memory resource resource_type owner category commit dimensions format mips slices create_flags \
             usage_flags flags align segment hash stages is_ngg descriptor_type is_shader_visible gpu_mask descriptors \
             max_sets pools internal_kind"
        );
    }

    /// Lists of values are written as JSON, and nothing else that has parts is told.
    #[test]
    fn no_record_has_groups() {
        for number in [MARKERS, QUEUES, MEMORY, RESOURCES] {
            each_class(number, &mut |class| {
                class.fields(&mut |step| {
                    if let Step::Field(info) = step {
                        assert!(!matches!(info.kind, Kind::Group | Kind::Map | Kind::Any), "{info:?}");
                    }
                });
            });
        }
    }
}
