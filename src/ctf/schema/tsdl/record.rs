//! The blocks `stream` and `event`.

use super::attribute::Seen;
use super::block::{Item, unknown_type, word};
use super::class::Attribute;
use super::compiler::Compiler;
use super::element;
use super::emit::{Origin, shown};
use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Node, NodeKind};
use crate::ctf::schema::node::ESCAPED;
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::ClassSpec;
use crate::error::{Error, ErrorKind, Result};

impl<'a> Compiler<'a, '_, '_> {
    pub(super) fn stream_block(&mut self, token: Token<'a>) -> Result<()> {
        self.open_block(element::STREAM)?;
        let scope = self.enter_scope();
        let (mut seen, mut types) = (Seen::default(), Seen::default());
        let mut id = None;
        let record = self.tree.push(Node::of(NodeKind::Stream), token.offset)?;
        let mut roots = [None; 3];
        while let Some(item) = self.item(false)? {
            match item {
                Item::Value(Attribute { name, value, at, offset }) => {
                    if seen.once(&name, at, &["id"])? == "id" {
                        id = Some(value.unsigned(offset)?);
                    }
                }
                Item::Type { name, at, start } => {
                    let [context, header, common] = &mut roots;
                    let known = ["packet.context", "event.header", "event.context"];
                    let root = match types.once(&name, at, &known)? {
                        "packet.context" => context,
                        "event.header" => header,
                        "event.context" => common,
                        _ => return Err(unknown_type(at)),
                    };
                    *root = Some(start);
                }
            }
        }
        self.leave_scope(scope);
        if self.facts.streams > 1 {
            if id.is_none() {
                return Err(token.error(element::STREAM, ErrorKind::Missing));
            }
            if !self.facts.has_stream_id {
                return Err(token.error(element::ROLE, ErrorKind::Missing));
            }
        }
        self.add_stream(record, id.unwrap_or(0), roots, token.offset)
    }

    /// Emits a stream class.
    fn add_stream(&mut self, record: u32, id: u64, roots: [Option<u32>; 3], offset: u64) -> Result<()> {
        if self.stream_node(id).is_some() {
            return Err(Error::new(offset, element::STREAM, ErrorKind::Repeated));
        }
        self.imply_clock(&roots, offset)?;
        let class = self.builder.begin()?;
        let mut origin = Origin::default();
        let scopes = [Scope::PacketContext, Scope::EventHeader, Scope::CommonContext];
        for (root, scope) in roots.into_iter().zip(scopes) {
            if let Some(root) = root {
                self.emit_root(root, scope, &mut origin)?;
            }
        }
        let spec = ClassSpec { id, offset, ..ClassSpec::default() };
        self.builder.end_stream(class, &spec, origin.clock.checked_sub(1))?;
        if let Some(node) = self.tree.get_mut(record) {
            node.made = class;
            node.clock = origin.clock;
            node.signed = origin.has_event_id;
        }
        self.tree.truncate(record.saturating_add(1));
        self.facts.only_stream = Some(record);
        self.names.insert_stream(id, record, offset, &self.stream)
    }

    /// The node of the stream with this identifier.
    fn stream_node(&self, id: u64) -> Option<u32> {
        self.names.find_stream(id, &self.stream)
    }

    /// The stream class of an event.
    fn stream_of(&mut self, id: Option<u64>, token: Token<'a>) -> Result<u32> {
        if self.facts.streams == 0 {
            // One without anything in it.
            self.facts.streams = 1;
            let record = self.tree.push(Node::of(NodeKind::Stream), token.offset)?;
            self.add_stream(record, 0, [None; 3], token.offset)?;
        }
        let found = match id {
            None if self.facts.streams > 1 => {
                return Err(token.error(element::EVENT, ErrorKind::Missing));
            }
            None => self.facts.only_stream,
            Some(id) => self.stream_node(id),
        };
        found.ok_or_else(|| token.error(element::STREAM, ErrorKind::Undeclared))
    }

    pub(super) fn event(&mut self, token: Token<'a>) -> Result<()> {
        self.open_block(element::EVENT)?;
        let scope = self.enter_scope();
        let (mut seen, mut types) = (Seen::default(), Seen::default());
        let (mut name_of, mut id, mut stream_id) = (None, None, None);
        let mut roots = [None; 2];
        // A stream class that nothing declares stays.
        let mut front = self.tree.len();
        while let Some(item) = self.item(false)? {
            match item {
                Item::Value(Attribute { name, value, at, offset }) => {
                    match seen.once(&name, at, &["name", "id", "stream_id", "loglevel", "model.emf.uri"])? {
                        "name" => name_of = Some(word(&value, offset)?),
                        "id" => id = Some(value.unsigned(offset)?),
                        "stream_id" => stream_id = Some(value.unsigned(offset)?),
                        "loglevel" => {
                            if i64::try_from(value.unsigned(offset)?).is_err() {
                                return Err(value.unexpected(offset, "a log level"));
                            }
                        }
                        "model.emf.uri" => value.string(offset)?,
                        _ => {}
                    }
                }
                Item::Type { name, at, start } => {
                    let [context, fields] = &mut roots;
                    let root = match types.once(&name, at, &["context", "fields"])? {
                        "context" => context,
                        "fields" => fields,
                        _ => return Err(unknown_type(at)),
                    };
                    *root = Some(start);
                }
            }
        }
        self.leave_scope(scope);
        let implicit = self.facts.streams == 0;
        let stream = self.stream_of(stream_id, token)?;
        if implicit {
            front = self.tree.len();
        }
        self.count_event(stream, id, token)?;
        let class = self.builder.begin()?;
        let mut origin = Origin { clock: self.tree.get(stream).clock, has_event_id: false };
        for (root, scope) in roots.into_iter().zip([Scope::SpecificContext, Scope::Payload]) {
            if let Some(root) = root {
                self.emit_root(root, scope, &mut origin)?;
            }
        }
        let name = match name_of {
            Some((text, escaped)) => Some(shown(Parser::place(text)?, if escaped { ESCAPED } else { 0 })?),
            None => None,
        };
        let spec = ClassSpec { id: id.unwrap_or(0), name, namespace: None, offset: token.offset };
        self.builder.end_event(class, &spec, self.tree.get(stream).made);
        self.tree.truncate(front);
        Ok(())
    }

    /// Counts an event of a stream class: only a single one needs neither an identifier nor a field for it.
    fn count_event(&mut self, stream: u32, id: Option<u64>, token: Token<'a>) -> Result<()> {
        let Some(node) = self.tree.get_mut(stream) else { return Ok(()) };
        node.len = node.len.saturating_add(1);
        if id.is_none() {
            node.character = true;
        }
        if node.len > 1 {
            if node.character {
                return Err(token.error(element::EVENT, ErrorKind::Missing));
            }
            if !node.signed {
                return Err(token.error(element::ROLE, ErrorKind::Missing));
            }
        }
        Ok(())
    }
}
