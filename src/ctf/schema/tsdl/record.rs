//! The blocks `stream` and `event`.

use super::attribute::Seen;
use super::block::{Item, unknown_type, word};
use super::class::Attribute;
use super::compiler::Compiler;
use super::element;
use super::emit::{Origin, shown};
use super::lexer::Token;
use super::parser::Parser;
use crate::ctf::schema::node::{ESCAPED, Node};
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::ClassSpec;
use crate::error::{Error, ErrorKind, Result};

// The facts about the events of a stream class, in the `roles` of its node of references until it has slots: the header
// says which event it is; there is an event; one has no identifier.
const HAS_ID: u16 = 1;
const HAS_EVENT: u16 = 1 << 1;
const LACKS_ID: u16 = 1 << 2;

impl<'a> Compiler<'a, '_, '_> {
    pub(super) fn stream_block(&mut self, token: Token<'a>) -> Result<()> {
        self.open_block(element::STREAM)?;
        let scope = self.enter_scope();
        let (mut seen, mut types) = (Seen::default(), Seen::default());
        let mut id = None;
        let front = self.tree.len();
        let mut roots = [None; 3];
        while let Some(item) = self.item(false)? {
            match item {
                Item::Value(Attribute { name, value, at, offset }) => {
                    if seen.once(&name, at, &["id"])? == "id" {
                        id = Some(value.unsigned(offset)?);
                    }
                }
                Item::Type { name, at, start } => {
                    let known = ["packet.context", "event.header", "event.context"];
                    let number = types.number(&name, at, &known)?;
                    let root = number.and_then(|number| roots.get_mut(number));
                    *root.ok_or_else(|| unknown_type(at))? = Some(start);
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
        self.facts.only_stream = self.add_stream(id.unwrap_or(0), roots, token.offset)?;
        self.tree.truncate(front);
        Ok(())
    }

    /// Emits a stream class.
    fn add_stream(&mut self, id: u64, roots: [Option<u32>; 3], offset: u64) -> Result<u32> {
        if self.builder.find_stream(id).is_some() {
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
        let facts = if origin.has_event_id { HAS_ID } else { 0 };
        self.builder.update(self.builder.stream_info(class), |info| info.roles = facts);
        Ok(class)
    }

    /// The stream class of an event.
    fn stream_of(&mut self, id: Option<u64>, token: Token<'a>) -> Result<u32> {
        if self.facts.streams == 0 {
            // One without anything in it.
            self.facts.streams = 1;
            self.facts.only_stream = self.add_stream(0, [None; 3], token.offset)?;
        }
        let found = match id {
            None if self.facts.streams > 1 => {
                return Err(token.error(element::EVENT, ErrorKind::Missing));
            }
            // A builder that counts knows no identifiers.
            Some(id) if !self.builder.counting => self.builder.find_stream(id),
            _ => Some(self.facts.only_stream),
        };
        found.ok_or_else(|| token.error(element::STREAM, ErrorKind::Undeclared))
    }

    pub(super) fn event(&mut self, token: Token<'a>) -> Result<()> {
        self.open_block(element::EVENT)?;
        let scope = self.enter_scope();
        let (mut seen, mut types) = (Seen::default(), Seen::default());
        let (mut name_of, mut id, mut stream_id) = (None, None, None);
        let mut roots = [None; 2];
        let front = self.tree.len();
        while let Some(item) = self.item(false)? {
            match item {
                Item::Value(Attribute { name, value, at, offset }) => {
                    match seen.once(&name, at, &["name", "id", "stream_id", "loglevel", "model.emf.uri"])? {
                        "name" => name_of = Some(word(&value, offset)?),
                        "id" => id = Some(value.unsigned(offset)?),
                        "stream_id" => stream_id = Some(value.unsigned(offset)?),
                        "loglevel" => {
                            let level = value.unsigned(offset)?;
                            if i64::try_from(level).is_err() {
                                return Err(value.unexpected(offset, "a log level"));
                            }
                        }
                        "model.emf.uri" => value.string(offset)?,
                        _ => {}
                    }
                }
                Item::Type { name, at, start } => {
                    let number = types.number(&name, at, &["context", "fields"])?;
                    let root = number.and_then(|number| roots.get_mut(number));
                    *root.ok_or_else(|| unknown_type(at))? = Some(start);
                }
            }
        }
        self.leave_scope(scope);
        let stream = self.stream_of(stream_id, token)?;
        let clock = if self.builder.counting { 0 } else { self.count_event(stream, id, token)? };
        let class = self.builder.begin()?;
        let mut origin = Origin { clock, has_event_id: false };
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
        self.builder.end_event(class, &spec, stream);
        self.tree.truncate(front);
        Ok(())
    }

    /// Counts an event of a stream class: only a single one needs neither an identifier nor a field for it. The index, plus
    /// one, of the clock of the class.
    fn count_event(&mut self, stream: u32, id: Option<u64>, token: Token<'a>) -> Result<u32> {
        let info = self.builder.stream_info(stream);
        let is_another = self.builder.node(info).roles & HAS_EVENT != 0;
        let seen = HAS_EVENT | if id.is_none() { LACKS_ID } else { 0 };
        self.builder.update(info, |info| info.roles |= seen);
        let Node { roles, a, .. } = self.builder.node(info);
        if is_another && roles & LACKS_ID != 0 {
            return Err(token.error(element::EVENT, ErrorKind::Missing));
        }
        if is_another && roles & HAS_ID == 0 {
            return Err(token.error(element::ROLE, ErrorKind::Missing));
        }
        Ok(a.wrapping_add(1))
    }
}
