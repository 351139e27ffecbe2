//! The fields of structures, and a walk along them.

use super::read::Reader;
use crate::error::{Element, ErrorKind, Result};
use crate::layout::{LayoutField, LayoutValue};
use crate::varint::{zigzag64, zigzag128};
use core::iter::FusedIterator;

/// The fields of a structure, in their order.
pub(super) type Table = &'static [Row];

/// A field of a structure.
#[derive(Clone, Copy)]
pub(super) struct Row {
    name: &'static str,
    document_name: &'static str,
    element: Element,
    wire: Wire,
}

/// The encoding of a field.
#[derive(Clone, Copy)]
pub(super) enum Wire {
    /// An unsigned integer.
    U64,
    /// A shorter one.
    U32,
    /// A wide one.
    U128,
    /// A signed integer, in zigzag.
    I64,
    /// A wide one.
    I128,
    /// A byte, and the names of what it can stand for.
    Byte(fn(u8) -> Option<&'static str>),
    /// Eight bytes, little-endian.
    F64,
    /// A length and text.
    Text,
    /// The fields of another structure.
    Structure(Table),
    /// A byte, and the structure's fields if that is 1.
    Option(Table),
    /// A number and as many structures.
    List(Table),
    /// Structures up to the end of the file.
    ToEnd(Table),
    /// A number; what that is called, and which fields follow it.
    Union(fn(u32) -> Option<(&'static str, Table)>),
}

impl Row {
    pub(super) const fn new(
        name: &'static str,
        document_name: &'static str,
        element: Element,
        wire: Wire,
    ) -> Self {
        Self { name, document_name, element, wire }
    }

    /// A field without a name of its own: its structure's fields have theirs.
    pub(super) const fn structure(element: Element, table: Table) -> Self {
        Self::new("", "", element, Wire::Structure(table))
    }
}

/// The most levels of structures inside each other: the tables do not refer to themselves.
const DEPTH: usize = 8;

/// A structure that is being read.
#[derive(Clone, Copy)]
struct Level {
    table: Table,
    /// The field that comes next.
    next: usize,
    /// The number of such structures that follow.
    left: u64,
    /// True if they go on to the end of the file.
    to_end: bool,
}

/// The fields of a whole file, in the order in which they lie in it.
///
/// Each byte belongs to one of them, up to the first that cannot be read, or to the end of the last one.
///
/// ```
/// use traceglass::rfr::Chunk;
/// # let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x09\x01\x01\x04\x09\x01\x01\x05\x07\x63\x04main\0\0\x02\x04\x06\x05\x09\x07\x05";
///
/// let field = Chunk::parse(file)?.fields().nth(1).unwrap()?;
/// assert_eq!((field.name(), field.document_name()), ("base time, s", "base_time"));
/// assert_eq!((field.offset(), field.size(), field.value().to_string()), (12, 5, "1700000000".into()));
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone)]
pub struct LayoutFields<'a> {
    reader: Reader<'a>,
    levels: [Level; DEPTH],
    depth: usize,
}

impl<'a> LayoutFields<'a> {
    pub(super) const fn new(data: &'a [u8], table: Table) -> Self {
        let top = Level { table, next: 0, left: 0, to_end: false };
        Self { reader: Reader::new(data), levels: [top; DEPTH], depth: 1 }
    }

    /// The fields from `offset` on: those of a structure that begins there, and nothing after it.
    pub(super) fn at(data: &'a [u8], offset: u64, table: Table) -> Self {
        let fields = Self::new(data, table);
        Self { reader: fields.reader.seek(offset), ..fields }
    }

    /// The next field.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, and `Invalid` for an unknown kind. Text need not be UTF-8 here.
    pub fn next_field(&mut self) -> Result<Option<LayoutField<'a>>> {
        loop {
            let top = self.depth.checked_sub(1).and_then(|top| self.levels.get_mut(top));
            let Some(level) = top else { return Ok(None) };
            if let Some(row) = level.table.get(level.next) {
                level.next = level.next.saturating_add(1);
                match self.read(row) {
                    Ok(None) => {}
                    Ok(field) => return Ok(field),
                    Err(error) => {
                        self.depth = 0;
                        return Err(error);
                    }
                }
            } else if level.left > 0 {
                level.left = level.left.saturating_sub(1);
                level.next = 0;
            } else if level.to_end && !self.reader.is_empty() {
                level.next = 0;
            } else {
                self.depth = self.depth.saturating_sub(1);
            }
        }
    }

    /// Reads a field; `None` if only those that it consists of are fields.
    fn read(&mut self, row: &Row) -> Result<Option<LayoutField<'a>>> {
        let start = self.reader;
        let reader = &mut self.reader;
        let element = row.element;
        let mut inner = None;
        let value = match row.wire {
            Wire::U64 => LayoutValue::Number(reader.u64(element)?),
            Wire::U32 => LayoutValue::Number(reader.u32(element)?.into()),
            Wire::U128 => LayoutValue::Wide(reader.u128(element)?),
            Wire::I64 => LayoutValue::Signed(zigzag64(reader.u64(element)?)),
            Wire::I128 => LayoutValue::SignedWide(zigzag128(reader.u128(element)?)),
            Wire::Byte(name) => {
                let byte = reader.byte(element)?;
                name(byte)
                    .map_or(LayoutValue::Number(byte.into()), |name| LayoutValue::Named(byte.into(), name))
            }
            Wire::F64 => LayoutValue::Float(f64::from_le_bytes(*reader.array(element)?)),
            Wire::Text => LayoutValue::Utf8(reader.text(element)?),
            Wire::Structure(table) => {
                self.push(table, 1, false);
                return Ok(None);
            }
            Wire::Option(table) => {
                let some = reader.flag(element)?;
                inner = Some((table, some.into()));
                if some { LayoutValue::Named(1, "some") } else { LayoutValue::Named(0, "none") }
            }
            Wire::List(table) => {
                let count = reader.u64(element)?;
                inner = Some((table, count));
                LayoutValue::Number(count)
            }
            Wire::ToEnd(table) => {
                if !reader.is_empty() {
                    self.push(table, 1, true);
                }
                return Ok(None);
            }
            Wire::Union(variant) => {
                let number = reader.u32(element)?;
                let invalid = ErrorKind::Invalid { value: number.into() };
                let (name, table) = variant(number).ok_or_else(|| start.error(element, invalid))?;
                inner = Some((table, 1));
                LayoutValue::Named(number.into(), name)
            }
        };
        let (offset, size) = (start.offset(), self.reader.offset().saturating_sub(start.offset()));
        if let Some((table, count)) = inner {
            self.push(table, count, false);
        }
        let Row { name, document_name, .. } = *row;
        Ok(Some(LayoutField { name, document_name, offset, size, value }))
    }

    /// Goes into `count` structures.
    fn push(&mut self, table: Table, count: u64, to_end: bool) {
        if let (Some(left), Some(level)) = (count.checked_sub(1), self.levels.get_mut(self.depth)) {
            *level = Level { table, next: 0, left, to_end };
            self.depth = self.depth.saturating_add(1);
        }
    }

    /// Offset of the next field, or of the one that cannot be read.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }
}

impl core::fmt::Debug for LayoutFields<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LayoutFields").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl<'a> Iterator for LayoutFields<'a> {
    type Item = Result<LayoutField<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_field().transpose()
    }
}

impl FusedIterator for LayoutFields<'_> {}

#[cfg(test)]
mod tests {
    use super::super::{
        callsite, chunk, event, identifier, meta, object, record, sequence, streaming, value,
    };
    use super::*;
    use std::format;
    use std::string::String;

    /// Each structure's table, and the file in which that stands.
    const TABLES: &[(Table, &str)] = &[
        (identifier::FIELDS, include_str!("identifier.rs")),
        (chunk::FIELDS, include_str!("chunk.rs")),
        (chunk::HEADER_FIELDS, include_str!("chunk.rs")),
        (sequence::FIELDS, include_str!("sequence.rs")),
        (object::FIELDS, include_str!("object.rs")),
        (object::SPAN_FIELDS, include_str!("object.rs")),
        (object::TASK_FIELDS, include_str!("object.rs")),
        (record::FIELDS, include_str!("record.rs")),
        (event::FIELDS, include_str!("event.rs")),
        (event::WAKER_FIELDS, include_str!("event.rs")),
        (value::FIELDS, include_str!("value.rs")),
        (value::VALUE_FIELDS, include_str!("value.rs")),
        (value::FIELD_FIELDS, include_str!("value.rs")),
        (callsite::FIELDS, include_str!("callsite.rs")),
        (callsite::FILE_FIELDS, include_str!("callsite.rs")),
        (meta::FIELDS, include_str!("meta.rs")),
        (streaming::FIELDS, include_str!("streaming.rs")),
        (streaming::RECORD_FIELDS, include_str!("streaming.rs")),
    ];

    /// The tables of the documentation say what is read.
    #[test]
    fn the_documentation_has_each_field() {
        for (table, source) in TABLES {
            for row in table.iter().filter(|row| !row.name.is_empty()) {
                let wire = match row.wire {
                    Wire::U64 => "`varint(u64)`",
                    Wire::U32 => "`varint(u32)`",
                    Wire::U128 => "`varint(u128)`",
                    Wire::I64 => "zigzag `varint(u64)`",
                    Wire::I128 => "zigzag `varint(u128)`",
                    Wire::Byte(_) => "byte",
                    Wire::F64 => "8 bytes",
                    Wire::Text => "string",
                    Wire::Structure(_) | Wire::ToEnd(_) => "",
                    Wire::Option(_) => "option",
                    Wire::List(_) => "list of ",
                    Wire::Union(_) => "`varint(u32)`, ",
                };
                let said = format!("/// | {} | `{}` | {wire}", row.name, row.document_name);
                assert!(source.contains(&said), "the table has no row {said}");
            }
        }
    }

    /// The number of structures that lie in each other.
    fn depth(table: Table) -> usize {
        let deepest = |tables: &[Table]| tables.iter().map(|table| depth(table)).max().unwrap_or(0);
        let below = table.iter().map(|row| match row.wire {
            Wire::Structure(table) | Wire::Option(table) | Wire::List(table) | Wire::ToEnd(table) => {
                depth(table)
            }
            Wire::Union(variant) => {
                let tables: std::vec::Vec<Table> =
                    (0..99).filter_map(variant).map(|(_, table)| table).collect();
                deepest(&tables)
            }
            _ => 0,
        });
        1 + below.max().unwrap_or(0)
    }

    #[test]
    fn the_tables_are_no_deeper_than_there_is_room() {
        for (table, _) in TABLES {
            assert!(depth(table) <= DEPTH);
        }
    }

    #[test]
    fn a_walk_ends_at_the_first_thing_that_cannot_be_told_apart() {
        let file = b"\x0crfr-cm/0.0.1\x80\xe2\xcf\xaa\x06\x05\xff\xff\xff\xff\x0f\x0brfr-c/0.0.2\x05ab";
        let mut fields = LayoutFields::new(file, meta::FIELDS);
        let said: String = fields
            .by_ref()
            .map_while(Result::ok)
            .map(|field| format!("{} {} {}\n", field.offset(), field.name(), field.value()))
            .collect();
        assert_eq!(
            said,
            "0 identifier \"rfr-cm/0.0.1\"\n13 created, s 1700000000\n18 created, µs 5\n\
             19 formats 4294967295\n24 format \"rfr-c/0.0.2\"\n"
        );
        assert_eq!((fields.offset(), fields.next()), (36, None));
    }
}
