//! The Trace Stream Description Language of CTF 1.8, compiled into a schema.
//!
//! TSDL is a small language like C: types with names, and blocks that say what the types are for. It follows CTF 1.8.3
//! (23 April 2020), and what the writers of that time made of it.
//!
//! ```text
//! /* CTF 1.8 */
//! typealias integer { size = 8; } := uint8_t;
//! trace { major = 1; minor = 8; byte_order = le; };
//! event { name = sample; fields := struct { uint8_t _count; uint8_t _values[_count]; }; };
//! ```
//!
//! The text is read several times: byte order, environment and clocks may follow what needs them, and an event
//! may stand before its stream. The name of a type has to be declared before it is used.
//!
//! # Limits
//!
//! - Structures and variants nest at most 32 deep in the text, and at most 60 when names are replaced by their types.
//! - Integers have at most 64 bits, floating-point numbers 32 or 64.
//! - Alignments of more than 2³¹ bits are refused.

mod attribute;
mod block;
mod class;
mod compiler;
mod declaration;
pub mod element;
mod emit;
mod facts;
mod keyword;
mod lexer;
mod names;
mod parser;
mod position;
mod record;
mod resolve;
mod spec;
mod tree;

use super::builder::Builder;
use super::schema::Schema;
use crate::ctf::element::PACKET_HEADER;
use crate::ctf::metadata::{MetadataStream, Text};
use crate::error::Result;
use compiler::Compiler;
use facts::Facts;
use names::Names;
use parser::Parser;
use tree::Tree;

pub use names::Name as NameEntry;
pub use position::{Position, position};
pub use tree::Node as TypeNode;

/// The memory of a compiler while it is at work: types and names. It is free again when the schema is complete.
///
/// As many nodes as the types of one event or one stream have, and those that have names; as many names as a structure and
/// those around it have members, and those of types in the scope at hand.
#[derive(Debug)]
pub struct Workspace<'w> {
    /// Types.
    pub nodes: &'w mut [TypeNode],
    /// Names.
    pub names: &'w mut [NameEntry],
}

/// The memory that the compilation of a text takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Nodes of the schema.
    pub nodes: u64,
    /// Nodes of the [`Workspace`].
    pub workspace_nodes: u32,
    /// Names of the [`Workspace`].
    pub workspace_names: u32,
}

/// Compiles a text whose language is [TSDL](crate::ctf::metadata::Language::Tsdl).
///
/// # Errors
///
/// `CapacityExceeded` with [`SCHEMA`](super::element::SCHEMA), [`element::NODES`] or [`element::NAMES`] if one of these is too
/// small; for what is wrong in the text, its place ([`position`] gives the line) and what was expected.
pub fn compile<'a, 's>(
    stream: MetadataStream<'a>,
    nodes: &'s mut [super::Node],
    workspace: Workspace<'_>,
) -> Result<Schema<'a, 's>> {
    let (builder, _) = run(stream, Builder::new(nodes), workspace)?;
    builder.finish(stream)
}

/// The storage needed to compile a text. The text is checked, except for its identifiers.
///
/// # Errors
///
/// The errors of [`compile`], except that no nodes of the schema are needed.
pub fn needed(stream: MetadataStream<'_>, workspace: Workspace<'_>) -> Result<Needed> {
    run(stream, Builder::counting(&mut []), workspace).map(|(_, needed)| needed)
}

/// As [`compile`] and [`needed`], with a workspace of 64 KiB on the stack.
#[inline(never)]
pub(super) fn with_workspace<T>(run: impl FnOnce(Workspace<'_>) -> T) -> T {
    let mut nodes = [TypeNode::default(); 512];
    let mut names = [NameEntry::default(); 768];
    run(Workspace { nodes: &mut nodes, names: &mut names })
}

/// The text of a stream. A few bytes after the last packet are no part of it.
pub(super) fn text_of(stream: MetadataStream<'_>) -> Result<Text<'_>> {
    match stream.text_until_error() {
        (text, None) => Ok(text),
        (text, Some(error)) if error.is_truncation() && error.element() == PACKET_HEADER => Ok(text),
        (_, Some(error)) => Err(error),
    }
}

fn run<'a, 's>(
    stream: MetadataStream<'a>,
    builder: Builder<'s>,
    workspace: Workspace<'_>,
) -> Result<(Builder<'s>, Needed)> {
    let text = text_of(stream)?;
    let mut compiler = Compiler {
        stream,
        parser: Parser::new(text)?,
        tree: Tree::new(workspace.nodes),
        names: Names::new(workspace.names),
        builder,
        facts: Facts::default(),
        frames: heapless::Vec::new(),
        scope: 0,
        big_endian: false,
    };
    compiler.run(text)?;
    let needed = Needed {
        nodes: compiler.builder.needed(),
        workspace_nodes: compiler.tree.used(),
        workspace_names: compiler.names.used(),
    };
    Ok((compiler.builder, needed))
}
