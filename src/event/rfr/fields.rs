//! The fields of records and objects.

use crate::error::Result;
use crate::record::{FieldInfo, Fixed, FixedClass, Kind, Listener, Record, Scope, event_listener};
use crate::rfr::{NamedRecord, RecordKind};

/// The source of the fields of a track or an event.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RfrData<'a> {
    /// A sequence.
    Sequence(u64),
    /// A span or a task of which only its id is known.
    Unknown(u64),
    /// A record or an object.
    Record(NamedRecord<'a, 'a>),
}

/// The classes of what is no record: their numbers follow those of the kinds of records.
static SEQUENCE: Fixed = Fixed::new("sequence", &[FieldInfo::new(&"seq_id", Kind::Unsigned { bits: 64 })]);
static UNKNOWN: Fixed = Fixed::new("unknown", &[FieldInfo::new(&"iid", Kind::Unsigned { bits: 64 })]);

impl Record for RfrData<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let (number, fixed, id) = match self {
            Self::Sequence(id) => (0, &SEQUENCE, *id),
            Self::Unknown(iid) => (1, &UNKNOWN, *iid),
            Self::Record(record) => return record.tell(event_listener!(to)),
        };
        let records = u32::try_from(RecordKind::ALL.len()).unwrap_or(u32::MAX);
        let class = FixedClass::new(records.saturating_add(number), fixed);
        if to.begin(&class.head(None, 0), &class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            to.unsigned(class.slot(0), id);
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}
