//! The JSON of CTF 2, compiled into a schema.
//!
//! [`Schema::compile`] takes either language; a program that calls [`compile`] instead is without the other one's
//! compiler, which is most of its size.
//!
//! The text is read once, event by event, and nodes are emitted as they come: what an object is may be said at its end.

mod class;
mod compiler;
mod fragment;
mod stack;
mod value;

use super::builder::Builder;
use super::element::SCHEMA;
use super::node::Node;
use super::schema::Schema;
use crate::bytes::Bytes;
use crate::ctf::element::{FRAGMENT, PREAMBLE};
use crate::ctf::metadata::{FragmentKind, MetadataStream};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Parser;
use compiler::{Compiler, Json};
use fragment::State;
use stack::{FRAMES, Frame, Stack};

/// The number of aliases that are remembered in counting.
const ALIASES: usize = 64;
/// On bare metal, text in one piece is read in the way that text in several pieces needs: slower, but half the code.
const IS_SMALL: bool = cfg!(target_os = "none");

/// Compiles a text whose language is [JSON](crate::ctf::metadata::Language::Json).
///
/// # Errors
/// The errors of [`Schema::compile`]. A text in another language is no fragment.
pub fn compile<'a, 's>(stream: MetadataStream<'a>, nodes: &'s mut [Node]) -> Result<Schema<'a, 's>> {
    let mut builder = Builder::new(nodes);
    let compiled = emit(stream, &mut builder).and_then(|()| builder.finish(stream));
    compiled.map_err(|error| match error.kind() {
        ErrorKind::CapacityExceeded { capacity, needed } if error.element() == SCHEMA => {
            // With more aliases than are counted, it is a lower bound: then what is known is that one more is needed.
            let counted = self::needed(stream).unwrap_or(needed);
            let needed = if counted > capacity { counted } else { needed };
            Error::new(error.offset(), SCHEMA, ErrorKind::CapacityExceeded { capacity, needed })
        }
        _ => error,
    })
}

/// The number of nodes that [`compile`] needs, as [`Schema::needed`] tells it.
///
/// # Errors
/// As [`compile`], as far as one pass can tell.
#[cold]
#[inline(never)]
pub fn needed(stream: MetadataStream<'_>) -> Result<u64> {
    let mut scratch = [Node::EMPTY; ALIASES];
    let mut builder = Builder::counting(&mut scratch);
    emit(stream, &mut builder)?;
    Ok(builder.needed())
}

fn emit<'a>(stream: MetadataStream<'a>, builder: &mut Builder<'_>) -> Result<()> {
    let mut state = State::default();
    let mut frames = [Frame::EMPTY; FRAMES];
    for fragment in stream.fragments() {
        let fragment = fragment?;
        builder.offset = fragment.offset();
        let kind = fragment.kind()?;
        state.admit(&fragment, kind, builder)?;
        match kind {
            FragmentKind::Preamble => {
                fragment::preamble(builder, &fragment)?;
                continue;
            }
            FragmentKind::ClockClass => {
                fragment::clock(builder, &stream, &fragment)?;
                continue;
            }
            FragmentKind::TraceClass => fragment::environment(builder, &stream, &fragment)?,
            _ => {}
        }
        let together = fragment.text().borrowed().filter(|_| !IS_SMALL);
        let lent = (&mut state, &mut frames);
        if let Some(text) = together {
            let is_utf8 = core::str::from_utf8(text).is_ok();
            read(stream, builder, Bytes::at(text, fragment.offset()), is_utf8, kind, lent)?;
        } else {
            read(stream, builder, fragment.text(), false, kind, lent)?;
        }
    }
    if state.fragments == 0 {
        return Err(Error::new(stream.pieces().offset(), PREAMBLE, ErrorKind::Missing));
    }
    Ok(())
}

fn read<'a, S: Json<'a>>(
    stream: MetadataStream<'a>,
    builder: &mut Builder<'_>,
    text: S,
    is_utf8: bool,
    kind: FragmentKind<'_>,
    (state, frames): (&mut State, &mut [Frame; FRAMES]),
) -> Result<()> {
    let parser = Parser::new(text, FRAGMENT);
    let mut compiler = Compiler { builder, stream, parser, stack: Stack::new(frames), is_utf8 };
    compiler.fragment(kind, state)?;
    compiler.parser.finish()
}
