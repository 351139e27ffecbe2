//! Frames: what a trace consists of.

use super::annotation::Annotations;
use super::element::TIME_RESET;
use super::event::Event;
use super::header::Header;
use super::pool::{StackPool, StringPool};
use super::schema::Schema;
use crate::bytes::Bytes;
use crate::error::Result;

/// The tag of a time reset.
pub(super) const RESET_TAG: u8 = 5;

/// A part of a trace.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // Events are by far the most.
pub enum Frame<'a> {
    /// The header of a batch: schemas and pools are empty, the time base is 0.
    Header(Header),
    /// A schema, before the first event of its type.
    Schema(Schema<'a>),
    /// Something that happened.
    Event(Event<'a>),
    /// Text that events refer to.
    Strings(StringPool<'a>),
    /// Stacks that events refer to.
    Stacks(StackPool<'a>),
    /// A new time base.
    TimeReset(TimeReset),
    /// Annotations of the fields of a schema.
    Annotations(Annotations<'a>),
}

impl Frame<'_> {
    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        match self {
            Self::Header(header) => header.offset(),
            Self::Schema(schema) => schema.offset(),
            Self::Event(event) => event.offset(),
            Self::Strings(pool) => pool.offset(),
            Self::Stacks(pool) => pool.offset(),
            Self::TimeReset(reset) => reset.offset(),
            Self::Annotations(annotations) => annotations.offset(),
        }
    }

    /// The name of its kind.
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Header(_) => "header",
            Self::Schema(_) => "schema",
            Self::Event(_) => "event",
            Self::Strings(_) => "string pool",
            Self::Stacks(_) => "stack pool",
            Self::TimeReset(_) => "time reset",
            Self::Annotations(_) => "annotations",
        }
    }
}

/// A new time base: the time of the next event is this one and its delta.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x05` |
/// | 1 | time | `timestamp_ns` | `u64` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeReset {
    offset: u64,
    time: u64,
}

impl TimeReset {
    /// Reads what follows the tag.
    pub(super) fn read(input: &mut Bytes<'_>) -> Result<Self> {
        let offset = input.offset().saturating_sub(1);
        Ok(Self { offset, time: u64::from_le_bytes(*input.array(TIME_RESET)?) })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The time in nanoseconds.
    pub const fn nanoseconds(&self) -> u64 {
        self.time
    }
}
