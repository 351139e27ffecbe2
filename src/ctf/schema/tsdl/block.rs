//! The blocks that a trace is described with, and the order in which they are compiled.

use super::attribute::Seen;
use super::class::{Attribute, byte_order};
use super::compiler::{Compiler, Purpose};
use super::element;
use super::emit::{Origin, shown, text_place};
use super::keyword::{Keyword, says};
use super::lexer::{Kind, Token};
use super::names::{self, Key};
use super::parser::{Parser, Path, Value};
use crate::ctf::metadata::{Text, Uuid};
use crate::ctf::schema::node::ESCAPED;
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::{ClockSpec, VariableSpec};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::Source;

/// The passes over the blocks of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// The byte order of the trace, its environment and its clocks: they may follow what needs them.
    Facts,
    /// The names of types, and the header of packets.
    Trace,
    Streams,
    Events,
}

/// An attribute of a block: with a value, or with a type that has been read.
pub(super) enum Item<'a> {
    Value(Attribute<'a>),
    /// The path, and the node of the structure.
    Type {
        name: Path<'a>,
        at: u64,
        start: u32,
    },
}

impl<'a> Compiler<'a, '_, '_> {
    /// Compiles the whole text.
    pub(super) fn run(&mut self, text: Text<'a>) -> Result<()> {
        self.pass(text, Pass::Facts)?;
        if !self.facts.has_trace {
            return Err(Error::new(self.parser.ahead.offset, element::TRACE, ErrorKind::Missing));
        }
        if self.facts.lttng {
            self.date_clock();
        }
        self.pass(text, Pass::Trace)?;
        let trace = self.builder.begin()?;
        if let Some(root) = self.facts.packet_header.checked_sub(1) {
            self.emit_root(root, Scope::PacketHeader, &mut Origin::default())?;
        }
        self.tree.truncate(0);
        self.builder.end_trace(trace);
        self.pass(text, Pass::Streams)?;
        self.pass(text, Pass::Events)
    }

    fn pass(&mut self, text: Text<'a>, pass: Pass) -> Result<()> {
        self.parser = Parser::new(text)?;
        // Writers describe their events last: the passes for types and streams need not read them.
        let mut left = match pass {
            Pass::Facts | Pass::Events => u32::MAX,
            Pass::Trace => self.facts.types,
            Pass::Streams => self.facts.streams,
        };
        while left > 0 {
            self.builder.offset = self.parser.ahead.offset;
            let token = self.parser.ahead;
            match token.kind {
                Kind::End => return Ok(()),
                _ if token.is(b';') => {
                    self.parser.advance()?;
                }
                Kind::Keyword(
                    keyword @ (Keyword::Trace
                    | Keyword::Env
                    | Keyword::Clock
                    | Keyword::Stream
                    | Keyword::Event
                    | Keyword::Callsite),
                ) => {
                    self.parser.advance()?;
                    self.block(pass, keyword, token)?;
                    let counts = match pass {
                        Pass::Trace => keyword == Keyword::Trace,
                        Pass::Streams => keyword == Keyword::Stream,
                        Pass::Facts | Pass::Events => false,
                    };
                    left = left.saturating_sub(counts.into());
                }
                Kind::Keyword(
                    Keyword::Typealias
                    | Keyword::Typedef
                    | Keyword::Struct
                    | Keyword::Variant
                    | Keyword::Enum,
                ) => {
                    if pass == Pass::Trace {
                        self.type_declaration()?;
                        left = left.saturating_sub(1);
                    } else {
                        self.parser.skip_statement(element::TYPE)?;
                        if pass == Pass::Facts {
                            self.facts.types = self.facts.types.saturating_add(1);
                        }
                    }
                }
                _ => return Err(token.unexpected(element::BLOCK, "a block or the declaration of a type")),
            }
        }
        Ok(())
    }

    /// A block whose keyword has been read.
    fn block(&mut self, pass: Pass, keyword: Keyword, token: Token<'a>) -> Result<()> {
        match (pass, keyword) {
            (Pass::Facts, Keyword::Trace) => self.trace_facts(token),
            (Pass::Facts, Keyword::Env) => self.environment(),
            (Pass::Facts, Keyword::Clock) => self.clock(token),
            (Pass::Facts, Keyword::Stream) => {
                self.facts.streams = self.facts.streams.saturating_add(1);
                self.parser.skip_block(element::STREAM)
            }
            (Pass::Trace, Keyword::Trace) => self.trace_types(),
            (Pass::Streams, Keyword::Stream) => self.stream_block(token),
            (Pass::Events, Keyword::Event) => self.event(token),
            _ => self.parser.skip_block(element::BLOCK),
        }
    }

    /// The declaration of the name of a type, in a block or outside of all.
    fn type_declaration(&mut self) -> Result<()> {
        let start = self.tree.len();
        match self.parser.ahead.kind {
            Kind::Keyword(Keyword::Typealias | Keyword::Typedef) => self.statement(Purpose::Declaration)?,
            _ => self.begin(Purpose::Declaration)?,
        }
        self.bodies()?;
        self.tree.truncate(start);
        Ok(())
    }

    /// The next attribute of a block, past declarations; `None` after its end.
    pub(super) fn item(&mut self, skip_types: bool) -> Result<Option<Item<'a>>> {
        loop {
            let token = self.parser.ahead;
            match token.kind {
                Kind::Keyword(
                    Keyword::Typealias
                    | Keyword::Typedef
                    | Keyword::Struct
                    | Keyword::Variant
                    | Keyword::Enum,
                ) => {
                    if skip_types {
                        self.parser.skip_statement(element::TYPE)?;
                    } else {
                        self.type_declaration()?;
                    }
                    continue;
                }
                _ if token.is(b';') => {
                    self.parser.advance()?;
                    continue;
                }
                _ if token.is(b'}') => {
                    self.parser.advance()?;
                    self.parser.end(element::BLOCK)?;
                    return Ok(None);
                }
                _ => {}
            }
            let name =
                self.parser.path(element::ATTRIBUTE, "an attribute, the declaration of a type, or '}'")?;
            if self.parser.accept_assign()? {
                let start = self.tree.len();
                if skip_types {
                    self.parser.skip_statement(element::TYPE)?;
                } else {
                    self.begin(Purpose::Attribute)?;
                    self.bodies()?;
                }
                return Ok(Some(Item::Type { name, at: token.offset, start }));
            }
            self.parser.expect(b'=', element::ATTRIBUTE, "'=' or ':='")?;
            let (value, offset) = self.parser.value()?;
            self.parser.end(element::ATTRIBUTE)?;
            return Ok(Some(Item::Value(Attribute { name, value, at: token.offset, offset })));
        }
    }

    pub(super) fn open_block(&mut self, element: Element) -> Result<()> {
        self.parser.expect(b'{', element, "'{'").map(|_| ())
    }

    fn trace_facts(&mut self, token: Token<'a>) -> Result<()> {
        if self.facts.has_trace {
            return Err(token.error(element::TRACE, ErrorKind::Repeated));
        }
        self.facts.has_trace = true;
        self.facts.types = self.facts.types.saturating_add(1);
        self.open_block(element::TRACE)?;
        let mut seen = Seen::default();
        while let Some(item) = self.item(true)? {
            let Item::Value(Attribute { name, value, at, offset }) = item else { continue };
            match seen.once(&name, at, &["major", "minor", "byte_order", "uuid"])? {
                "major" => version(&value, offset, 1)?,
                "minor" => version(&value, offset, 8)?,
                "byte_order" => self.big_endian = byte_order(&value, offset)?,
                "uuid" => self.builder.uuid = Some(Uuid::new(value.uuid(offset)?)),
                _ => {}
            }
        }
        if seen.has_first(3) { Ok(()) } else { Err(token.error(element::TRACE, ErrorKind::Missing)) }
    }

    fn trace_types(&mut self) -> Result<()> {
        self.open_block(element::TRACE)?;
        let scope = self.enter_scope();
        let mut seen = Seen::default();
        while let Some(item) = self.item(false)? {
            if let Item::Type { name, at, start } = item {
                match seen.once(&name, at, &["packet.header"])? {
                    "" => return Err(unknown_type(at)),
                    _ => self.facts.packet_header = start.saturating_add(1),
                }
            }
        }
        self.leave_scope(scope);
        Ok(())
    }

    fn environment(&mut self) -> Result<()> {
        self.open_block(element::ENVIRONMENT)?;
        while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
            if name.words != 1 {
                return Err(Error::new(at, element::ENVIRONMENT, ErrorKind::Misplaced));
            }
            let mut key = Key::new(names::ENV, name.text);
            let place = Parser::place(name.text)?;
            let (number, value) = match value {
                Value::Integer(value) => (u64::try_from(value).ok(), VariableSpec::Integer(value)),
                Value::String { text, escaped } => {
                    if says(name.text, b"tracer_name") && says(text.limited(5), b"lttng") {
                        self.facts.lttng = true;
                    }
                    let escapes = if escaped { ESCAPED } else { 0 };
                    (None, VariableSpec::Text(text_place(Parser::place(text)?, escapes)?))
                }
                Value::Path(_) => return Err(value.unexpected(offset, "an integer or a string")),
            };
            // Values that cannot be lengths are not found as such.
            key.pointers = u16::from(number.is_none());
            self.add_name(&key, place, number.unwrap_or(0))?;
            self.builder.variable(shown(place, 0)?, value)?;
        }
        self.parser.end(element::ENVIRONMENT)
    }

    fn clock(&mut self, token: Token<'a>) -> Result<()> {
        self.open_block(element::CLOCK)?;
        let mut seen = Seen::default();
        let mut frequency = 1_000_000_000_u64;
        let (mut seconds, mut cycles) = (0_i128, 0_i128);
        let (mut name_text, mut is_unix, mut escaped) = (None, false, false);
        while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
            let integer = || match value {
                Value::Integer(value) if i64::try_from(value).is_ok() || value > 0 => Ok(value),
                _ => Err(value.unexpected(offset, "an integer")),
            };
            let known =
                ["name", "uuid", "description", "freq", "precision", "offset_s", "offset", "absolute"];
            match seen.once(&name, at, &known)? {
                "name" => {
                    let (text, escapes) = word(&value, offset)?;
                    (name_text, escaped) = (Some(text), escapes);
                }
                "uuid" => drop(value.uuid(offset)?),
                "description" => value.string(offset)?,
                "freq" => {
                    frequency = value.unsigned(offset)?;
                    if frequency == 0 {
                        return Err(value.unexpected(offset, "a frequency"));
                    }
                }
                "precision" => drop(value.unsigned(offset)?),
                "offset_s" => seconds = integer()?,
                "offset" => cycles = integer()?,
                "absolute" => is_unix = value.boolean(offset)?,
                _ => {}
            }
        }
        self.parser.end(element::CLOCK)?;
        let text = name_text.ok_or_else(|| token.error(element::CLOCK, ErrorKind::Missing))?;
        let frequency_wide = i128::from(frequency);
        let whole = cycles.checked_div_euclid(frequency_wide).unwrap_or(0);
        let cycles = cycles.checked_rem_euclid(frequency_wide).unwrap_or(0);
        let seconds = i64::try_from(seconds.saturating_add(whole)).map_err(|_| {
            let value = u64::try_from(seconds.saturating_add(whole)).unwrap_or(u64::MAX);
            token.error(element::CLOCK, ErrorKind::Overflow { value })
        })?;
        let place = shown(Parser::place(text)?, if escaped { ESCAPED } else { 0 })?;
        let clock = self.builder.begin()?;
        let spec = ClockSpec {
            name: Some(place),
            id: Some(place),
            frequency,
            seconds,
            cycles: u64::try_from(cycles).unwrap_or(0),
            is_unix,
            offset: token.offset,
        };
        let clock = self.builder.end_clock(clock, &spec)?;
        self.facts.clocks = self.facts.clocks.saturating_add(1);
        self.facts.default_clock = Some(clock);
        self.enter(&Key::new(names::CLOCK, text), clock.into(), element::CLOCK)
    }

    /// LTTng's clock `monotonic` counts from the Unix epoch, though it does not say so.
    fn date_clock(&mut self) {
        let key = Key::new(names::CLOCK, Text::from_piece(crate::bytes::Bytes::new(b"monotonic")));
        if let Some((_, clock)) = self.find(&key, u64::MAX)
            && let Ok(clock) = u32::try_from(clock)
        {
            self.builder.set_unix(clock);
        }
    }

    pub(super) fn enter_scope(&mut self) -> (u32, u32, u32) {
        let state = (self.scope, self.names.len(), self.tree.top());
        self.scope = self.names.len();
        state
    }

    pub(super) fn leave_scope(&mut self, (scope, names, top): (u32, u32, u32)) {
        self.scope = scope;
        self.names.truncate(names);
        self.tree.raise(top);
    }
}

#[cold]
pub(super) fn unknown_type(at: u64) -> Error {
    Error::new(at, element::ATTRIBUTE, ErrorKind::Misplaced)
}

/// A word or a string, and whether it has escapes.
pub(super) fn word<'a>(value: &Value<'a>, offset: u64) -> Result<(Text<'a>, bool)> {
    match *value {
        Value::String { text, escaped } => Ok((text, escaped)),
        Value::Path(path) => Ok((path.text, false)),
        Value::Integer(_) => Err(value.unexpected(offset, "a name")),
    }
}

fn version(value: &Value<'_>, offset: u64, supported: u64) -> Result<()> {
    let found = value.unsigned(offset)?;
    if found != supported {
        let kind = ErrorKind::UnsupportedVersion { found, supported };
        return Err(Error::new(offset, element::TRACE, kind));
    }
    Ok(())
}
