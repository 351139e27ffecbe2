//! Fragments.

use super::super::element::{ALIAS, CLASS_ID, EXTENSION, FIELD_CLASS};
use super::super::node::{Kind, NONE, Place};
use super::super::scope::Scope;
use super::super::spec::{ClassSpec, ClockSpec, VariableSpec, Variables};
use super::compiler::{Compiler, Json};
use crate::ctf::element::{CLOCK_CLASS, FRAGMENT, PREAMBLE, TRACE_CLASS};
use crate::ctf::metadata::Uuid;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Event;

/// The facts from earlier fragments.
#[derive(Default)]
pub(super) struct State {
    pub(super) fragments: u64,
    has_trace: bool,
    /// The data stream class that was looked for last.
    stream: Option<(u64, u32)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Preamble,
    Alias,
    Trace,
    Clock,
    Stream,
    Event,
}

const TYPES: [(&str, Type); 6] = [
    ("preamble", Type::Preamble),
    ("field-class-alias", Type::Alias),
    ("trace-class", Type::Trace),
    ("clock-class", Type::Clock),
    ("data-stream-class", Type::Stream),
    ("event-record-class", Type::Event),
];

/// The members that are root structures.
const ROOTS: [(&str, Scope); 6] = [
    ("packet-header-field-class", Scope::PacketHeader),
    ("packet-context-field-class", Scope::PacketContext),
    ("event-record-header-field-class", Scope::EventHeader),
    ("event-record-common-context-field-class", Scope::CommonContext),
    ("specific-context-field-class", Scope::SpecificContext),
    ("payload-field-class", Scope::Payload),
];

/// The members of a fragment, whatever it is.
#[derive(Default)]
struct Found {
    kind: Option<Type>,
    version: Option<u64>,
    uuid: Option<Uuid>,
    name: Option<Place>,
    namespace: Option<Place>,
    id: Option<u64>,
    text_id: Option<Place>,
    stream_id: u64,
    clock: Option<Place>,
    frequency: Option<u64>,
    seconds: i64,
    cycles: u64,
    is_unix: bool,
    /// The scopes of which a root structure was read, as bits.
    roots: u8,
    has_class: bool,
    environment: Option<Variables>,
    extension: Option<u64>,
}

impl<'a, S: Json<'a>> Compiler<'_, '_, 'a, S> {
    pub(super) fn fragment(&mut self, state: &mut State) -> Result<()> {
        self.object(FRAGMENT)?;
        let offset = self.parser.event_offset();
        let begin = self.builder.begin()?;
        let mut found = Found::default();
        while let Some(key) = self.key()? {
            let at = self.parser.event_offset();
            if let Some((_, scope)) = ROOTS.iter().find(|(name, _)| key.is(name)) {
                self.root(*scope, at, &mut found)?;
            } else {
                self.member(key, at, &mut found)?;
            }
        }
        let Some(kind) = found.kind else { return Err(Error::new(offset, FRAGMENT, ErrorKind::Missing)) };
        let is_first = state.fragments == 0;
        state.fragments = state.fragments.saturating_add(1);
        if (kind == Type::Preamble) != is_first {
            let kind = if is_first { ErrorKind::Missing } else { ErrorKind::Repeated };
            return Err(Error::new(offset, PREAMBLE, kind));
        }
        let roots = match kind {
            Type::Trace => 0b1,
            Type::Stream => 0b1110,
            Type::Event => 0b11_0000,
            _ => 0,
        };
        if found.roots & !roots != 0 || (found.has_class && kind != Type::Alias) {
            return Err(Error::new(offset, FIELD_CLASS, ErrorKind::Misplaced));
        }
        match kind {
            Type::Preamble => self.preamble(offset, begin, &found),
            Type::Alias => self.alias(offset, begin, &found),
            Type::Trace => {
                if state.has_trace || self.builder.streams > 0 {
                    let kind = if state.has_trace { ErrorKind::Repeated } else { ErrorKind::Misplaced };
                    return Err(Error::new(offset, TRACE_CLASS, kind));
                }
                state.has_trace = true;
                if let Some(environment) = found.environment {
                    self.builder.environment = environment;
                }
                self.builder.end_trace(begin);
                Ok(())
            }
            Type::Clock => self.clock(offset, begin, &found),
            Type::Stream => self.stream(offset, begin, &found),
            Type::Event => self.event_class(offset, begin, &found, state),
        }
    }

    fn preamble(&mut self, offset: u64, begin: u32, found: &Found) -> Result<()> {
        self.builder.abandon(begin);
        if let Some(at) = found.extension {
            return Err(Error::new(at, EXTENSION, ErrorKind::UnsupportedExtension));
        }
        match found.version {
            None => return Err(Error::new(offset, PREAMBLE, ErrorKind::Missing)),
            Some(2) => {}
            Some(version) => {
                let kind = ErrorKind::UnsupportedVersion { found: version, supported: 2 };
                return Err(Error::new(offset, PREAMBLE, kind));
            }
        }
        self.builder.uuid = found.uuid;
        Ok(())
    }

    fn alias(&mut self, offset: u64, begin: u32, found: &Found) -> Result<()> {
        match found.name {
            Some(name) if found.has_class => {
                let stream = self.stream;
                self.builder.end_alias(&stream, begin, name)
            }
            _ => Err(Error::new(offset, ALIAS, ErrorKind::Missing)),
        }
    }

    fn clock(&mut self, offset: u64, begin: u32, found: &Found) -> Result<()> {
        let missing = Error::new(offset, CLOCK_CLASS, ErrorKind::Missing);
        let id = found.text_id.ok_or(missing)?;
        let frequency = found.frequency.ok_or(missing)?;
        if frequency == 0 {
            return Err(Error::new(offset, CLOCK_CLASS, ErrorKind::Invalid { value: 0 }));
        }
        if found.cycles >= frequency {
            let limit = frequency.saturating_sub(1);
            let kind = ErrorKind::OverLimit { value: found.cycles, limit };
            return Err(Error::new(offset, CLOCK_CLASS, kind));
        }
        let spec = ClockSpec {
            name: found.name,
            id: Some(id),
            frequency,
            seconds: found.seconds,
            cycles: found.cycles,
            is_unix: found.is_unix,
            offset,
        };
        let index = self.builder.end_clock(begin, &spec)?;
        let stream = self.stream;
        if !self.builder.add_clock(&stream, id, index) {
            return Err(Error::new(id.offset.into(), CLOCK_CLASS, ErrorKind::Repeated));
        }
        Ok(())
    }

    fn stream(&mut self, offset: u64, begin: u32, found: &Found) -> Result<()> {
        let clock = match found.clock {
            None => None,
            Some(_) if self.builder.counting => None,
            Some(id) => {
                let stream = self.stream;
                let missing = Error::new(id.offset.into(), CLOCK_CLASS, ErrorKind::Missing);
                Some(self.builder.find_clock(&stream, id).ok_or(missing)?)
            }
        };
        let spec = self.spec(offset, found)?;
        self.builder.end_stream(begin, &spec, clock)
    }

    fn event_class(&mut self, offset: u64, begin: u32, found: &Found, state: &mut State) -> Result<()> {
        let spec = self.spec(offset, found)?;
        let stream = match state.stream {
            Some((id, index)) if id == found.stream_id => index,
            _ if self.builder.counting => NONE,
            _ => {
                let missing = Error::new(offset, CLASS_ID, ErrorKind::NoSuchClass { id: found.stream_id });
                self.builder.find_stream(found.stream_id).ok_or(missing)?
            }
        };
        state.stream = Some((found.stream_id, stream));
        self.builder.end_event(begin, &spec, stream);
        Ok(())
    }

    fn spec(&self, offset: u64, found: &Found) -> Result<ClassSpec> {
        match found.text_id {
            Some(id) => {
                let kind = ErrorKind::Unexpected { byte: b'"', expected: "an integer" };
                Err(Error::new(id.offset.into(), CLASS_ID, kind))
            }
            None => Ok(ClassSpec {
                id: found.id.unwrap_or(0),
                name: found.name,
                namespace: found.namespace,
                offset,
            }),
        }
    }

    /// A root structure.
    fn root(&mut self, scope: Scope, at: u64, found: &mut Found) -> Result<()> {
        let bit = 1 << scope.number();
        if found.roots & bit != 0 {
            return Err(Error::new(at, FIELD_CLASS, ErrorKind::Repeated));
        }
        found.roots |= bit;
        let root = self.class()?;
        let is_structure = matches!(self.builder.node(root).kind, Kind::Structure);
        if !is_structure && !self.builder.counting {
            let kind = ErrorKind::Unexpected { byte: b'{', expected: "a structure" };
            return Err(Error::new(at, FIELD_CLASS, kind));
        }
        self.builder.root(root, scope);
        Ok(())
    }

    fn member(&mut self, key: crate::json::Str<S>, at: u64, found: &mut Found) -> Result<()> {
        let again = |is: bool| if is { Err(Error::new(at, FRAGMENT, ErrorKind::Repeated)) } else { Ok(()) };
        if key.is("type") {
            again(found.kind.is_some())?;
            let name = self.text(FRAGMENT)?;
            let known = TYPES.iter().find(|(known, _)| name.is(known)).map(|(_, kind)| *kind);
            found.kind = Some(known.ok_or_else(|| self.wrong(FRAGMENT, "a type that CTF 2 defines"))?);
        } else if key.is("version") {
            again(found.version.is_some())?;
            found.version = Some(self.unsigned(PREAMBLE)?);
        } else if key.is("uuid") {
            again(found.uuid.is_some())?;
            found.uuid = Some(self.uuid()?);
        } else if key.is("name") {
            again(found.name.is_some())?;
            found.name = Some(self.name(FRAGMENT)?);
        } else if key.is("namespace") {
            again(found.namespace.is_some())?;
            found.namespace = Some(self.name(FRAGMENT)?);
        } else if key.is("uid") || key.is("description") {
            self.text(FRAGMENT)?;
        } else if key.is("id") {
            again(found.id.is_some() || found.text_id.is_some())?;
            match self.event()? {
                Event::Number(number) => {
                    let wrong = self.wrong(CLASS_ID, "an integer of 64 bits, not negative");
                    found.id = Some(number.as_u64().ok_or(wrong)?);
                }
                Event::String(name) => found.text_id = Some(Self::place(name, CLASS_ID)?),
                _ => return Err(self.wrong(CLASS_ID, "an integer or a string")),
            }
        } else if key.is("data-stream-class-id") {
            found.stream_id = self.unsigned(CLASS_ID)?;
        } else if key.is("default-clock-class-id") {
            again(found.clock.is_some())?;
            found.clock = Some(self.name(CLOCK_CLASS)?);
        } else if key.is("frequency") {
            again(found.frequency.is_some())?;
            found.frequency = Some(self.unsigned(CLOCK_CLASS)?);
        } else if key.is("precision") || key.is("accuracy") {
            self.unsigned(CLOCK_CLASS)?;
        } else if key.is("offset-from-origin") {
            self.offset_from_origin(found)?;
        } else if key.is("origin") {
            self.origin(found)?;
        } else if key.is("field-class") {
            again(found.has_class)?;
            found.has_class = true;
            self.class()?;
        } else if key.is("environment") {
            again(found.environment.is_some())?;
            let before = core::mem::replace(&mut self.builder.environment, Variables::NONE);
            self.environment()?;
            found.environment = Some(core::mem::replace(&mut self.builder.environment, before));
        } else if key.is("extensions") {
            if !self.is_empty_object(EXTENSION)? {
                found.extension = Some(at);
            }
        } else {
            self.skip()?;
        }
        Ok(())
    }

    /// An array of 16 integers, each a byte.
    fn uuid(&mut self) -> Result<Uuid> {
        self.array(PREAMBLE)?;
        let mut bytes = [0; 16];
        for byte in &mut bytes {
            let value = self.unsigned(PREAMBLE)?;
            *byte = u8::try_from(value).map_err(|_| {
                Error::new(self.parser.event_offset(), PREAMBLE, ErrorKind::Invalid { value })
            })?;
        }
        match self.event()? {
            Event::ArrayEnd => Ok(Uuid::new(bytes)),
            _ => Err(self.wrong(PREAMBLE, "the end of 16 bytes")),
        }
    }

    fn offset_from_origin(&mut self, found: &mut Found) -> Result<()> {
        self.object(CLOCK_CLASS)?;
        while let Some(key) = self.key()? {
            if key.is("seconds") {
                found.seconds = self.signed(CLOCK_CLASS)?;
            } else if key.is("cycles") {
                found.cycles = self.unsigned(CLOCK_CLASS)?;
            } else {
                self.skip()?;
            }
        }
        Ok(())
    }

    fn origin(&mut self, found: &mut Found) -> Result<()> {
        match self.event()? {
            Event::String(name) if name.is("unix-epoch") => found.is_unix = true,
            Event::ObjectStart => {
                let offset = self.parser.event_offset();
                let (mut name, mut uid) = (false, false);
                while let Some(key) = self.key()? {
                    name |= key.is("name");
                    uid |= key.is("uid");
                    self.text(CLOCK_CLASS)?;
                }
                if !name || !uid {
                    return Err(Error::new(offset, CLOCK_CLASS, ErrorKind::Missing));
                }
            }
            _ => return Err(self.wrong(CLOCK_CLASS, "\"unix-epoch\" or an object")),
        }
        Ok(())
    }

    /// Integers and strings.
    fn environment(&mut self) -> Result<()> {
        self.object(TRACE_CLASS)?;
        while let Some(name) = self.key()? {
            let name = Self::place(name, TRACE_CLASS)?;
            let event = self.event()?;
            let value = match event {
                Event::String(text) => {
                    VariableSpec::Text(Self::text_place(text.raw(), text.has_escapes(), TRACE_CLASS)?)
                }
                Event::Number(number) => match number.as_i128() {
                    Some(value) if value.unsigned_abs() <= u64::MAX.into() => VariableSpec::Integer(value),
                    Some(_) => VariableSpec::Number(Self::text_place(number.text(), false, TRACE_CLASS)?),
                    None => return Err(self.wrong(TRACE_CLASS, "an integer or a string")),
                },
                _ => return Err(self.wrong(TRACE_CLASS, "an integer or a string")),
            };
            self.builder.variable(name, value)?;
        }
        Ok(())
    }
}
