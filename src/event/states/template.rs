//! Templates: text with places that are filled from an event.
//!
//! `irq {irq} {name|''}` is two texts and two places. A place has alternatives, the first of which that has a value
//! fills it; if none has, the template has no value.

use super::element::TABLE;
use super::lexer::Lexer;
use super::op::{Condition, Inner, Op, Ops, Source};
use super::table::Table;
use super::text::{Scratch, hash, split};
use super::value::{Texts, Value};
use crate::error::{Error, ErrorKind, Result};

/// Reads templates into a table.
pub(super) struct Compiler<'x, 't, 'r> {
    pub(super) table: &'x mut Table<'t, 'r>,
    /// The text, which locates errors.
    pub(super) lexer: &'x Lexer<'t>,
}

impl<'t> Compiler<'_, 't, '_> {
    fn error<T>(&self, piece: &str, expected: &'static str) -> Result<T> {
        let byte = piece.bytes().next().unwrap_or(b'"');
        let offset = self.lexer.offset_of(piece);
        Err(Error::new(offset, TABLE, ErrorKind::Unexpected { byte, expected }))
    }

    /// A template.
    pub(super) fn template(&mut self, text: &'t str) -> Result<Ops> {
        let first = self.table.op_count();
        let mut rest = text;
        while !rest.is_empty() {
            let (before, after) = split(rest, b'{').unwrap_or((rest, ""));
            if !before.is_empty() {
                self.table.push_op(Op::Text(before))?;
            }
            if before.len() == rest.len() {
                break;
            }
            let Some((inner, after)) = split(after, b'}') else {
                return self.error(after, "a } that ends the {");
            };
            self.place(inner)?;
            rest = after;
        }
        Ok(self.table.ops_since(first))
    }

    /// A template and a value, as in `{state} == 0`.
    pub(super) fn condition(&mut self, text: &'t str) -> Result<Condition<'t>> {
        let at = text.as_bytes().windows(4).position(|four| four == b" == ");
        let Some((template, value)) = at.and_then(|at| text.split_at_checked(at)) else {
            return self.error(text, "a condition such as {state} == 0");
        };
        let value = value.get(4..).unwrap_or_default().trim_ascii();
        let is_written = |number: &i64| {
            let mut digits = Scratch::<24>::EMPTY;
            Value::Signed(*number).put(&Texts::EMPTY, None, false, &mut digits);
            digits.text() == value
        };
        let number = value.parse().ok().filter(is_written);
        Ok(Condition { template: self.template(template)?, value, number })
    }

    /// An alternative of its own: an item of a list. None leads back to its list.
    pub(super) fn alternative(&mut self, list: &str, text: &'t str) -> Result<()> {
        if text.contains("$thread") || list == "cpu" && text.contains("$cpu") {
            return self.error(text, "what is found without this list");
        }
        let (source, mask) = self.source(text)?;
        self.table.push_op(Op::Try { source, mask, hex: false, more: 0 })
    }

    /// Reads a place in braces: alternatives, and how a number is written.
    fn place(&mut self, text: &'t str) -> Result<()> {
        let (alternatives, hex) = match text.strip_suffix(":x") {
            Some(front) => (front, true),
            None => (text, false),
        };
        let mut rest = alternatives;
        let mut more = u32::try_from(alternatives.bytes().filter(|&byte| byte == b'|').count()).unwrap_or(0);
        loop {
            let (one, after) = split(rest, b'|').unwrap_or((rest, ""));
            let (source, mask) = self.source(one)?;
            self.table.push_op(Op::Try { source, mask, hex, more })?;
            let Some(fewer) = more.checked_sub(1) else { return Ok(()) };
            (rest, more) = (after, fewer);
        }
    }

    /// An alternative.
    fn source(&mut self, text: &'t str) -> Result<(Source<'t>, Option<u64>)> {
        if let Some(rest) = text.strip_prefix('@') {
            let (map, inner) = self.looked_up(rest)?;
            let (inner, _) = self.inner(inner)?;
            return Ok((Source::Map(hash(0, map), inner), None));
        }
        if let Some(rest) = text.strip_prefix('#') {
            let (name, inner) = self.looked_up(rest)?;
            let Some(table) = self.table.find_values(name) else {
                return self.error(name, "the name of a table that was given above");
            };
            let (inner, mask) = self.inner(inner)?;
            return Ok((Source::Table(table, inner, mask), None));
        }
        let source = match text {
            "$cpu" => Source::Cpu,
            "packet_context.cpu_id" => Source::PacketCpu,
            "$thread" => Source::Thread,
            "$stream" => Source::Stream,
            "$event" => Source::Event,
            "$1" => Source::Star,
            "$key" => Source::Key,
            _ => {
                let (inner, mask) = self.inner(text)?;
                let source = match inner {
                    Inner::Field(name) => Source::Field(name),
                    Inner::Text(text) => Source::Text(text),
                    Inner::Cpu => Source::Cpu,
                };
                return Ok((source, mask));
            }
        };
        Ok((source, None))
    }

    /// A name and what is looked up in it.
    fn looked_up(&self, text: &'t str) -> Result<(&'t str, &'t str)> {
        let parts = text.strip_suffix(']').and_then(|front| split(front, b'['));
        match parts {
            Some(parts) => Ok(parts),
            None => self.error(text, "a name and [what is looked up]"),
        }
    }

    /// A field, perhaps with a mask, or a text.
    fn inner(&mut self, text: &'t str) -> Result<(Inner<'t>, Option<u64>)> {
        if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok((Inner::Text(quoted), None));
        }
        if text == "$cpu" {
            return Ok((Inner::Cpu, None));
        }
        let (name, mask) = match split(text, b'&') {
            None => (text, None),
            Some((name, digits)) => match digits.parse() {
                Ok(mask) => (name, Some(mask)),
                Err(_) => return self.error(digits, "a number as a mask"),
            },
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if name.is_empty() || !name.bytes().all(is_name) {
            return self.error(text, "a field, $cpu, @map[field], #table[field] or 'text'");
        }
        Ok((Inner::Field(self.table.name(name)?), mask))
    }
}
