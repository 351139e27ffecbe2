//! The nouns that errors name.

use crate::error::Element;

/// A [`FormatIdentifier`](super::FormatIdentifier).
pub const IDENTIFIER: Element = Element::new(&"RFR format identifier");
/// A [`Meta`](super::Meta).
pub const META: Element = Element::new(&"RFR meta");
/// A [`Callsite`](super::Callsite).
pub const CALLSITE: Element = Element::new(&"RFR callsite");
/// A [`ChunkHeader`](super::ChunkHeader).
pub const CHUNK_HEADER: Element = Element::new(&"RFR chunk header");
/// A whole [`Chunk`](super::Chunk).
pub const CHUNK: Element = Element::new(&"RFR chunk");
/// The number of sequences in a chunk.
pub const SEQUENCES: Element = Element::new(&"RFR list of sequences");
/// A [`SequenceHeader`](super::SequenceHeader).
pub const SEQUENCE: Element = Element::new(&"RFR sequence header");
/// The number of objects in a sequence.
pub const OBJECTS: Element = Element::new(&"RFR list of objects");
/// An [`Object`](super::Object).
pub const OBJECT: Element = Element::new(&"RFR object");
/// The kind of a [`Task`](super::Task).
pub const TASK_KIND: Element = Element::new(&"RFR task kind");
/// The number of records in a sequence.
pub const RECORDS: Element = Element::new(&"RFR list of records");
/// A [`Record`](super::Record) or a [`StreamRecord`](super::StreamRecord).
pub const RECORD: Element = Element::new(&"RFR record");
/// The time of a record.
pub const TIMESTAMP: Element = Element::new(&"RFR timestamp");
/// The context of a task or a waker.
pub const CONTEXT: Element = Element::new(&"RFR context");
/// A [`Parent`](super::Parent).
pub const PARENT: Element = Element::new(&"RFR parent");
/// A [`Field`](super::Field), or the name of one.
pub const FIELD: Element = Element::new(&"RFR field");
/// A [`FieldValue`](super::FieldValue).
pub const VALUE: Element = Element::new(&"RFR field value");
/// A [`Merge`](super::Merge).
pub const MERGE: Element = Element::new(&"RFR merge");
/// A lent [`Room`](super::Room) of the tasks, spans and callsites that have been met.
pub const NAMES: Element = Element::new(&"RFR names");
