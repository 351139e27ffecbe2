//! The fields of structures, tokens and events of drivers.

use crate::error::Result;
use crate::event::label::Label;
use crate::rdf::contents::rmt::TokenRecord;
use crate::rdf::contents::{self, ChunkRecord, EventRecord, MarkerOp, StructureRecord};
use crate::record::{Listener, Record};

/// The source of the fields of a track or an event.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RdfData<'a> {
    None,
    Structure(StructureRecord<'a>),
    Token(TokenRecord<'a>),
    /// An event that a driver noted, and the rate of its clock.
    Driver(contents::Event<'a>, u64),
    /// A marker of a command buffer, and the number of its string.
    Marker(MarkerOp, u32),
}

/// Text that may not be UTF-8.
pub(super) fn label(text: &[u8]) -> Label<'_> {
    core::str::from_utf8(text).map_or(Label::Bytes(text), Label::Text)
}

impl RdfData<'_> {
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
}
