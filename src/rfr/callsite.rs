//! Callsites: where in the source spans, events and tasks come from.

use super::element::{CALLSITE, FIELD};
use super::identifier::{self, FormatIdentifier, Variant};
use super::layout::{LayoutFields, Row, Table, Wire};
use super::list::{List, sealed::Item as _};
use super::read::Reader;
use super::value::{FIELD_FIELDS, Field, FieldValue, checked_list, skip_fields, skip_names};
use crate::error::{ErrorKind, Result};
use crate::gap::Gap;
use core::iter::FusedIterator;

/// The fields of [`Callsites`].
pub(super) const FILE_FIELDS: Table =
    &[Row::structure(CALLSITE, identifier::FIELDS), Row::new("", "", CALLSITE, Wire::ToEnd(FIELDS))];

/// The fields of a [`Callsite`].
pub(super) const FIELDS: Table = &[
    Row::new("callsite id", "callsite_id", CALLSITE, Wire::U64),
    Row::new("level", "level", CALLSITE, Wire::Byte(|number| Level::new(number).name())),
    Row::new("callsite kind", "kind", CALLSITE, Wire::Union(CallsiteKind::variant)),
    Row::new("const fields", "const_fields", FIELD, Wire::List(FIELD_FIELDS)),
    Row::new("field names", "split_field_names", FIELD, Wire::List(NAME_FIELDS)),
];

/// A name in a [`Callsite`].
const NAME_FIELDS: Table = &[Row::new("field name", "name", FIELD, Wire::Text)];

/// The importance of a callsite: 10 trace, 20 debug, 30 info, 40 warn, 50 error. Other numbers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// The level with this number.
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The number as stored.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The name, if it has one.
    pub const fn name(self) -> Option<&'static str> {
        match self.0 {
            10 => Some("trace"),
            20 => Some("debug"),
            30 => Some("info"),
            40 => Some("warn"),
            50 => Some("error"),
            _ => None,
        }
    }
}

/// The kind of records that a callsite makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallsiteKind {
    /// The writer did not know.
    Unknown,
    /// Events.
    Event,
    /// Spans, and the tasks that the runtime makes of some.
    Span,
}

impl CallsiteKind {
    /// The kind with this number.
    const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Unknown,
            1 => Self::Event,
            2 => Self::Span,
            _ => return None,
        })
    }

    fn variant(number: u32) -> Option<(&'static str, Table)> {
        Some((Self::from_number(number)?.name(), &[]))
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Event => "Event",
            Self::Span => "Span",
        }
    }
}

/// A place in the source.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | callsite id | `callsite_id` | `varint(u64)` |
/// | level | `level` | byte, see [`Level`] |
/// | callsite kind | `kind` | `varint(u32)`, 0 Unknown, 1 Event, 2 Span |
/// | const fields | `const_fields` | list of [`Field`]: those that are the same each time |
/// | field names | `split_field_names` | list of strings: the names of those that are not |
///
/// ```
/// use traceglass::rfr::Callsites;
///
/// let file = b"\x0crfr-cc/0.0.1\x07\x1e\x02\x02\x04name\x06\x04main\x04line\x02\x2a\x01\x07task.id";
/// for callsite in Callsites::parse(file)? {
///     let callsite = callsite?;
///     assert_eq!((callsite.id(), callsite.name(), callsite.line()), (7, Some("main"), Some(42)));
///     assert!(callsite.split_field_names().eq(["task.id"]));
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Callsite<'a> {
    offset: u64,
    id: u64,
    level: Level,
    kind: CallsiteKind,
    /// Both lists, checked.
    lists: Lists<'a>,
}

#[derive(Clone, Copy, PartialEq)]
struct Lists<'a>(&'a [u8]);

impl core::fmt::Debug for Lists<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'a> Callsite<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let offset = reader.offset();
        let (id, level, kind) = Self::read_head(reader)?;
        let start = *reader;
        skip_fields::<true>(reader)?;
        skip_names::<true>(reader)?;
        Ok(Self { offset, id, level, kind, lists: Lists(start.until(reader)) })
    }

    pub(super) fn skip(reader: &mut Reader<'a>) -> Result<()> {
        Self::read_head(reader)?;
        skip_fields::<false>(reader)?;
        skip_names::<false>(reader).map(drop)
    }

    fn read_head(reader: &mut Reader<'a>) -> Result<(u64, Level, CallsiteKind)> {
        let id = reader.u64(CALLSITE)?;
        let level = Level(reader.byte(CALLSITE)?);
        let start = *reader;
        let number = reader.u32(CALLSITE)?;
        let invalid = ErrorKind::Invalid { value: number.into() };
        let kind = CallsiteKind::from_number(number).ok_or_else(|| start.error(CALLSITE, invalid))?;
        Ok((id, level, kind))
    }

    /// Both lists, checked: the constant fields, then the names.
    pub(super) const fn lists(&self) -> Reader<'a> {
        Reader::new(self.lists.0)
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    #[doc(alias = "CallsiteId")]
    /// The id: an address, which means something within one recording only.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The importance of its records.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// The kind of records that it makes.
    pub const fn kind(&self) -> CallsiteKind {
        self.kind
    }

    /// The fields that are the same for all that it makes: name, target, and mostly module path, file and line.
    pub fn const_fields(&self) -> List<'a, Field<'a>> {
        checked_list(&mut Reader::new(self.lists.0))
    }

    /// The names of the values that its spans and events have in their
    /// [`split_field_values`](super::Event::split_field_values), in that order.
    pub fn split_field_names(&self) -> List<'a, &'a str> {
        let mut reader = Reader::new(self.lists.0);
        let fields = reader.u64(FIELD).unwrap_or(0);
        for _ in 0..fields {
            if Field::read(&mut reader).is_err() {
                break;
            }
        }
        checked_list(&mut reader)
    }

    /// The value of a constant field.
    pub fn const_field(&self, name: &str) -> Option<FieldValue<'a>> {
        self.const_fields().find(|field| field.name() == name).map(|field| field.value())
    }

    /// The name of the span, or `event FILE:LINE`.
    pub fn name(&self) -> Option<&'a str> {
        self.const_field("name")?.as_str()
    }

    /// The target: mostly the module path.
    pub fn target(&self) -> Option<&'a str> {
        self.const_field("target")?.as_str()
    }

    /// The path of the module.
    pub fn module_path(&self) -> Option<&'a str> {
        self.const_field("module_path")?.as_str()
    }

    /// The source file.
    pub fn file(&self) -> Option<&'a str> {
        self.const_field("file")?.as_str()
    }

    /// The line in the source file.
    pub fn line(&self) -> Option<u64> {
        self.const_field("line")?.as_u64()
    }
}

/// `callsites.rfr`: the callsites of a chunked recording.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | | `Format Identifier` | [`FormatIdentifier`] |
/// | | `Callsite` | [`Callsite`] after callsite to the end of the file |
///
/// The recorder appends to it; a file that is still being written, or was not finished, can end inside one. What is
/// whole comes first, then `UnexpectedEnd` at what is not.
#[derive(Clone, Debug)]
pub struct Callsites<'a> {
    identifier: FormatIdentifier<'a>,
    reader: Reader<'a>,
    failed: bool,
}

impl<'a> Callsites<'a> {
    /// Reads the identifier; the callsites are read while they are iterated.
    ///
    /// # Errors
    /// The errors of an identifier: `UnexpectedEnd`, `NotUtf8`, `Invalid`, `BadMagic` if it is that of something else,
    /// and `UnsupportedVersion` for versions other than 0.0.1.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let identifier = FormatIdentifier::expect(&mut reader, Variant::Callsites)?;
        Ok(Self { identifier, reader, failed: false })
    }

    /// The identifier.
    pub const fn identifier(&self) -> FormatIdentifier<'a> {
        self.identifier
    }

    /// The fields of the whole file, as they lie in it.
    pub const fn fields(&self) -> LayoutFields<'a> {
        LayoutFields::new(self.reader.data(), FILE_FIELDS)
    }

    /// The fields of the callsite that begins at `offset`.
    pub fn fields_at(&self, offset: u64) -> LayoutFields<'a> {
        LayoutFields::at(self.reader.data(), offset, FIELDS)
    }

    /// The next callsite, all of it checked.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`, and `Invalid` for an unknown kind or a byte that should be 0 or 1.
    pub fn next_callsite(&mut self) -> Result<Option<Callsite<'a>>> {
        if self.failed || self.reader.is_empty() {
            return Ok(None);
        }
        let mut reader = self.reader;
        let callsite = Callsite::read(&mut reader);
        match callsite {
            Ok(_) => self.reader = reader,
            Err(_) => self.failed = true,
        }
        callsite.map(Some)
    }

    /// After an error, skips the callsite that failed, if its end can be found, and says what was lost.
    ///
    /// `None` if nothing failed or the end cannot be found: then there are no more.
    pub fn recover(&mut self) -> Option<Gap> {
        if !self.failed {
            return None;
        }
        // Reading it again tells why it failed.
        let cause = Callsite::read(&mut self.reader.clone()).err()?;
        let mut end = self.reader;
        Callsite::skip(&mut end).ok()?;
        let gap = Gap::new(self.offset(), end.offset().saturating_sub(self.offset()), cause);
        self.reader = end;
        self.failed = false;
        Some(gap)
    }

    /// Offset of the next callsite, or of the one that failed: that many bytes are good.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    pub(super) const fn reader(&self) -> Reader<'a> {
        self.reader
    }
}

impl<'a> Iterator for Callsites<'a> {
    type Item = Result<Callsite<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_callsite().transpose()
    }
}

impl FusedIterator for Callsites<'_> {}
