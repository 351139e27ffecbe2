//! From the metadata of a trace to its schema, whatever language it is written in.

use super::node::Node;
use super::schema::Schema;
use super::{json, tsdl};
use crate::ctf::metadata::{Language, MetadataStream};
use crate::error::Result;

impl<'a, 's> Schema<'a, 's> {
    /// Compiles the metadata of a trace into `nodes`.
    ///
    /// # Errors
    /// The errors of the metadata's packets and of its JSON. A text that describes no trace is refused at its offset:
    /// `Missing`, `Misplaced`, `Repeated`, `Unexpected`, `Invalid`, `OverLimit`, `TooDeep` and others.
    /// `CapacityExceeded` if there are too few nodes, with the number that suffices.
    pub fn compile(metadata: &MetadataStream<'a>, nodes: &'s mut [Node]) -> Result<Self> {
        match metadata.language() {
            Language::Json => json::compile(*metadata, nodes),
            Language::Tsdl => tsdl::with_workspace(|workspace| tsdl::compile(*metadata, nodes, workspace)),
        }
    }

    /// The number of nodes that [`Schema::compile`] needs, found in one pass that stores nothing.
    ///
    /// It is exact for metadata with up to 64 field class aliases, and a lower bound for more of them.
    ///
    /// # Errors
    /// As [`Schema::compile`], as far as one pass can tell.
    pub fn needed(metadata: &MetadataStream<'_>) -> Result<u64> {
        match metadata.language() {
            Language::Json => json::needed(*metadata),
            Language::Tsdl => tsdl::with_workspace(|workspace| {
                tsdl::needed(*metadata, workspace).map(|needed| needed.nodes)
            }),
        }
    }
}
