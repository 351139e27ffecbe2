//! Rows that become a batch.

use crate::error::Result;
use crate::query::Query;
use crate::table::Table;
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, PrimitiveBuilder,
    StringBuilder, UInt64Builder,
};
use arrow_array::types::{Int32Type, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes of text in a batch, unless a single row has more.
const BYTES: usize = 32 << 20;

/// The rows of a table, column by column. What is given to a column that is not wanted is dropped.
pub(crate) struct Rows {
    columns: Vec<Column>,
    /// Of the columns that are wanted.
    schema: SchemaRef,
    rows: usize,
    rows_max: usize,
    /// The number of bytes of text.
    bytes: usize,
}

enum Column {
    Unwanted,
    U64(UInt64Builder),
    I64(Int64Builder),
    Moment(PrimitiveBuilder<TimestampNanosecondType>),
    F64(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Name(Box<Names>),
    List(Box<ListBuilder<StringBuilder>>),
}

/// The number of places for texts that were met lately.
const RECENT: usize = 32;

/// Text by number: each one stands once in a batch.
#[derive(Default)]
struct Names {
    keys: PrimitiveBuilder<Int32Type>,
    numbers: HashMap<Box<str>, Name, RandomState>,
    /// The names in the order of their numbers.
    names: StringBuilder,
    /// The names that were met last: each where its address in memory says, which few of the others share.
    recent: [Option<Name>; RECENT],
}

/// The number of a name, and where its text is among those of all names.
#[derive(Clone, Copy)]
struct Name {
    number: i32,
    begin: usize,
    end: usize,
}

impl Names {
    #[inline]
    fn push(&mut self, name: &str) {
        let address = name.as_ptr().addr();
        // The address of most names is that of the time before.
        let place = (address ^ (address >> 5) ^ name.len()) % RECENT;
        let recent = self.recent.get(place).copied().flatten();
        let is_it =
            |recent: &Name| self.names.values_slice().get(recent.begin..recent.end) == Some(name.as_bytes());
        let number = match recent.filter(is_it) {
            Some(recent) => recent.number,
            None => self.look_up(name, place),
        };
        self.keys.append_value(number);
    }

    #[inline(never)]
    fn look_up(&mut self, name: &str, place: usize) -> i32 {
        let known = match self.numbers.get(name) {
            Some(known) => *known,
            None => {
                let begin = self.names.values_slice().len();
                // No batch has that many rows.
                let number = i32::try_from(self.numbers.len()).unwrap_or(i32::MAX);
                let new = Name { number, begin, end: begin.saturating_add(name.len()) };
                self.numbers.insert(name.into(), new);
                self.names.append_value(name);
                new
            }
        };
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = Some(known);
        }
        known.number
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef> {
        let (keys, names): (_, StringArray) = (self.keys.finish(), self.names.finish());
        self.keys = PrimitiveBuilder::with_capacity(rows);
        self.numbers.clear();
        self.recent = Default::default();
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(names))?))
    }
}

impl Column {
    fn new(field: &Field) -> Self {
        match field.data_type() {
            // Without room at first: most of a thousand tables stay empty.
            DataType::UInt64 => Self::U64(UInt64Builder::with_capacity(0)),
            DataType::Int64 => Self::I64(Int64Builder::with_capacity(0)),
            DataType::Timestamp(..) => Self::Moment(PrimitiveBuilder::with_capacity(0).with_timezone("UTC")),
            DataType::Float64 => Self::F64(Float64Builder::with_capacity(0)),
            DataType::Boolean => Self::Bool(BooleanBuilder::with_capacity(0)),
            DataType::Binary => Self::Bytes(BinaryBuilder::with_capacity(0, 0)),
            DataType::Dictionary(..) => {
                let keys = PrimitiveBuilder::with_capacity(0);
                let names = StringBuilder::with_capacity(0, 0);
                Self::Name(Box::new(Names { keys, names, ..Names::default() }))
            }
            DataType::List(_) => {
                Self::List(Box::new(ListBuilder::with_capacity(StringBuilder::with_capacity(0, 0), 0)))
            }
            _ => Self::Text(StringBuilder::with_capacity(0, 0)),
        }
    }

    /// Puts nulls into the rows before `rows` that were given no value.
    fn fill(&mut self, rows: usize) {
        match self {
            Self::Unwanted => {}
            Self::U64(builder) => fill(builder, rows),
            Self::I64(builder) => fill(builder, rows),
            Self::Moment(builder) => fill(builder, rows),
            Self::F64(builder) => fill(builder, rows),
            Self::Bool(builder) => fill(builder, rows),
            Self::Text(builder) => fill(builder, rows),
            Self::Bytes(builder) => fill(builder, rows),
            Self::Name(names) => fill(&mut names.keys, rows),
            Self::List(builder) => fill(&mut **builder, rows),
        }
    }

    fn len(&self, rows: usize) -> usize {
        match self {
            Self::Unwanted => rows,
            Self::U64(builder) => builder.len(),
            Self::I64(builder) => builder.len(),
            Self::Moment(builder) => builder.len(),
            Self::F64(builder) => builder.len(),
            Self::Bool(builder) => builder.len(),
            Self::Text(builder) => builder.len(),
            Self::Bytes(builder) => builder.len(),
            Self::Name(names) => names.keys.len(),
            Self::List(builder) => builder.len(),
        }
    }

    /// Takes the values. The next ones have room for as many: without it, they would be moved again and again.
    fn finish(&mut self, rows: usize) -> Result<Option<ArrayRef>> {
        macro_rules! take {
            ($builder:expr, $new:expr) => {{
                let mut next = $new;
                std::mem::swap($builder, &mut next);
                Arc::new(next.finish())
            }};
        }
        Ok(Some(match self {
            Self::Unwanted => return Ok(None),
            Self::U64(builder) => take!(builder, UInt64Builder::with_capacity(rows)),
            Self::I64(builder) => take!(builder, Int64Builder::with_capacity(rows)),
            Self::Moment(builder) => {
                take!(builder, PrimitiveBuilder::with_capacity(rows).with_timezone("UTC"))
            }
            Self::F64(builder) => take!(builder, Float64Builder::with_capacity(rows)),
            Self::Bool(builder) => take!(builder, BooleanBuilder::with_capacity(rows)),
            Self::Text(builder) => {
                let bytes = builder.values_slice().len();
                take!(builder, StringBuilder::with_capacity(rows, bytes))
            }
            Self::Bytes(builder) => Arc::new(builder.finish()),
            Self::Name(names) => names.finish(rows)?,
            Self::List(builder) => Arc::new(builder.finish()),
        }))
    }
}

/// A builder of which rows without a value are filled.
trait Fill: ArrayBuilder {
    fn nulls(&mut self, count: usize);
}

macro_rules! fills {
    ($($type:ty)*) => {$(
        impl Fill for $type {
            fn nulls(&mut self, count: usize) {
                self.append_nulls(count);
            }
        }
    )*};
}

fills! {
    UInt64Builder Int64Builder Float64Builder PrimitiveBuilder<TimestampNanosecondType> PrimitiveBuilder<Int32Type>
    BooleanBuilder StringBuilder BinaryBuilder ListBuilder<StringBuilder>
}

/// Puts nulls up to a row. Most columns of most rows have a value.
#[inline(always)]
fn fill(builder: &mut impl Fill, rows: usize) {
    let missing = rows.saturating_sub(builder.len());
    if missing > 0 {
        builder.nulls(missing);
    }
}

/// The columns of a table that are wanted.
pub(crate) fn wanted(table: &Table, query: &Query) -> SchemaRef {
    let fields = table.schema().fields().iter().filter(|field| query.wants_column(field.name()));
    Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
}

macro_rules! push {
    ($(#[$doc:meta] $name:ident($variant:ident, $type:ty);)*) => {$(
        #[$doc]
        #[inline]
        pub(crate) fn $name(&mut self, at: usize, value: Option<$type>) {
            if let Some(Column::$variant(builder)) = self.columns.get_mut(at) {
                fill(builder, self.rows);
                builder.append_option(value);
            }
        }
    )*};
}

impl Rows {
    pub(crate) fn new(table: &Table, query: &Query) -> Self {
        let column = |field: &Arc<Field>| {
            if query.wants_column(field.name()) { Column::new(field) } else { Column::Unwanted }
        };
        Self {
            columns: table.schema().fields().iter().map(column).collect(),
            schema: wanted(table, query),
            rows: 0,
            rows_max: query.rows.clamp(1, 1 << 24),
            bytes: 0,
        }
    }

    /// True if a column is made.
    pub(crate) fn wants(&self, at: usize) -> bool {
        !matches!(self.columns.get(at), None | Some(Column::Unwanted))
    }

    push! {
        /// An id.
        u64(U64, u64);
        /// A signed integer.
        i64(I64, i64);
        /// A moment in UTC.
        moment(Moment, i64);
        /// A float.
        f64(F64, f64);
        /// A truth value.
        bool(Bool, bool);
    }

    /// Text, also as a name.
    pub(crate) fn text(&mut self, at: usize, value: Option<&str>) {
        match self.columns.get_mut(at) {
            Some(Column::Text(builder)) => {
                fill(builder, self.rows);
                builder.append_option(value);
                self.bytes = self.bytes.saturating_add(value.map_or(0, str::len));
            }
            Some(Column::Name(_)) => self.name(at, value),
            _ => {}
        }
    }

    pub(crate) fn blob(&mut self, at: usize, value: &[u8]) {
        if let Some(Column::Bytes(builder)) = self.columns.get_mut(at) {
            fill(builder, self.rows);
            builder.append_value(value);
            self.bytes = self.bytes.saturating_add(value.len());
        }
    }

    pub(crate) fn name(&mut self, at: usize, value: Option<&str>) {
        if let Some(Column::Name(names)) = self.columns.get_mut(at) {
            fill(&mut names.keys, self.rows);
            match value {
                Some(value) => names.push(value),
                None => names.keys.append_null(),
            }
            self.bytes = self.bytes.saturating_add(value.map_or(0, str::len));
        }
    }

    /// A list of names, which may have none.
    pub(crate) fn names(&mut self, at: usize, values: impl Iterator<Item: AsRef<str>>) {
        if let Some(Column::List(builder)) = self.columns.get_mut(at) {
            fill(&mut **builder, self.rows);
            let mut bytes = 0_usize;
            for value in values {
                bytes = bytes.saturating_add(value.as_ref().len());
                builder.values().append_value(value);
            }
            builder.append(true);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    /// A time: as a number in one column, and as a moment in the next one if it is absolute.
    pub(crate) fn time(&mut self, at: usize, ns: Option<i128>, is_absolute: bool) {
        let ns = ns.and_then(|ns| i64::try_from(ns).ok());
        self.i64(at, ns);
        if is_absolute {
            self.moment(at.saturating_add(1), ns);
        }
    }

    /// True if the row that has begun has a value in this column.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.columns.get(at).is_some_and(|column| column.len(self.rows) > self.rows)
    }

    /// Ends a row: what was given no value is null. Says whether the batch is full.
    pub(crate) fn end_row(&mut self) -> bool {
        self.rows = self.rows.saturating_add(1);
        self.rows >= self.rows_max || self.bytes >= BYTES
    }

    /// The rows so far; `None` if there is none.
    pub(crate) fn take(&mut self) -> Result<Option<RecordBatch>> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows == 0 {
            return Ok(None);
        }
        // The last batch of a table is seldom full.
        let room = if rows >= self.rows_max { rows } else { 0 };
        let columns = self.columns.iter_mut().filter_map(|column| {
            column.fill(rows);
            column.finish(room).transpose()
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        // A batch without columns still says how many rows it has.
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?))
    }
}
