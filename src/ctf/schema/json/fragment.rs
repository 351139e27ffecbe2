//! Fragments.

use super::super::builder::Builder;
use super::super::element::{ALIAS, CLASS_ID, EXTENSION, FIELD_CLASS};
use super::super::node::{Kind, NONE, Place};
use super::super::scope::Scope;
use super::super::spec::{ClassSpec, ClockSpec, VariableSpec};
use super::compiler::{Compiler, Json};
use super::value::{place, text_place};
use crate::ctf::element::{CLOCK_CLASS, FRAGMENT, PREAMBLE, TRACE_CLASS};
use crate::ctf::metadata::{ClockOrigin, EnvironmentValue, Fragment, FragmentKind, Members, MetadataStream};
use crate::error::{Error, ErrorKind, Result};

/// The facts from earlier fragments.
#[derive(Default)]
pub(super) struct State {
    pub(super) fragments: u64,
    has_trace: bool,
    /// The data stream class that was looked for last.
    stream: Option<(u64, u32)>,
}

impl State {
    /// Checks that a fragment may stand after those before it.
    pub(super) fn admit(
        &mut self,
        fragment: &Fragment<'_>,
        kind: FragmentKind<'_>,
        builder: &Builder<'_>,
    ) -> Result<()> {
        let is_first = self.fragments == 0;
        self.fragments = self.fragments.saturating_add(1);
        let (element, kind) = match kind {
            FragmentKind::Untyped => (FRAGMENT, ErrorKind::Missing),
            FragmentKind::Other(name) => {
                let kind = ErrorKind::Unexpected { byte: b'"', expected: "a type that CTF 2 defines" };
                return Err(Error::new(name.offset().saturating_sub(1), FRAGMENT, kind));
            }
            FragmentKind::Preamble if !is_first => (PREAMBLE, ErrorKind::Repeated),
            FragmentKind::Preamble => return Ok(()),
            _ if is_first => (PREAMBLE, ErrorKind::Missing),
            FragmentKind::TraceClass if self.has_trace => (TRACE_CLASS, ErrorKind::Repeated),
            FragmentKind::TraceClass if builder.streams > 0 => (TRACE_CLASS, ErrorKind::Misplaced),
            FragmentKind::TraceClass => {
                self.has_trace = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        Err(Error::new(fragment.offset(), element, kind))
    }
}

/// The preamble, which must be one of CTF 2 without extensions.
pub(super) fn preamble(builder: &mut Builder<'_>, fragment: &Fragment<'_>) -> Result<()> {
    fragment.check()?;
    for member in fragment.members() {
        let (name, value) = member?;
        if name == "extensions" && Members::new(value, EXTENSION).next().transpose()?.is_some() {
            let kind = ErrorKind::UnsupportedExtension;
            return Err(Error::new(name.offset().saturating_sub(1), EXTENSION, kind));
        }
    }
    let Some(preamble) = fragment.preamble()? else { return Ok(()) };
    let kind = match preamble.version() {
        Some(2) => {
            builder.uuid = preamble.uuid();
            return Ok(());
        }
        Some(found) => ErrorKind::UnsupportedVersion { found, supported: 2 },
        None => ErrorKind::Missing,
    };
    Err(Error::new(fragment.offset(), PREAMBLE, kind))
}

/// A clock class.
pub(super) fn clock(
    builder: &mut Builder<'_>,
    stream: &MetadataStream<'_>,
    fragment: &Fragment<'_>,
) -> Result<()> {
    fragment.check()?;
    let Some(clock) = fragment.clock_class()? else { return Ok(()) };
    let offset = fragment.offset();
    let missing = Error::new(offset, CLOCK_CLASS, ErrorKind::Missing);
    let id = place(clock.id().ok_or(missing)?, CLOCK_CLASS)?;
    let frequency = clock.frequency().ok_or(missing)?;
    if frequency == 0 {
        return Err(Error::new(offset, CLOCK_CLASS, ErrorKind::Invalid { value: 0 }));
    }
    let cycles = clock.offset_cycles();
    if cycles >= frequency {
        let limit = frequency.saturating_sub(1);
        return Err(Error::new(offset, CLOCK_CLASS, ErrorKind::OverLimit { value: cycles, limit }));
    }
    if let Some(ClockOrigin::Other(name)) = clock.origin() {
        let kind = ErrorKind::Unexpected { byte: b'"', expected: "\"unix-epoch\" or an object" };
        return Err(Error::new(name.offset().saturating_sub(1), CLOCK_CLASS, kind));
    }
    let spec = ClockSpec {
        name: clock.name().map(|name| place(name, CLOCK_CLASS)).transpose()?,
        id: Some(id),
        frequency,
        seconds: clock.offset_seconds(),
        cycles,
        is_unix: matches!(clock.origin(), Some(ClockOrigin::UnixEpoch)),
        offset,
    };
    let begin = builder.begin()?;
    let index = builder.end_clock(begin, &spec)?;
    if !builder.add_clock(stream, id, index) {
        return Err(Error::new(id.offset.into(), CLOCK_CLASS, ErrorKind::Repeated));
    }
    Ok(())
}

/// The environment of a trace class: integers and strings.
pub(super) fn environment(
    builder: &mut Builder<'_>,
    stream: &MetadataStream<'_>,
    fragment: &Fragment<'_>,
) -> Result<()> {
    fragment.check()?;
    let Some(trace) = fragment.trace_class()? else { return Ok(()) };
    let mut environment = trace.environment();
    while let Some(entry) = environment.next_entry() {
        let (name, value, text) = entry?;
        let value = match value {
            EnvironmentValue::String(text) => {
                VariableSpec::Text(text_place(text.raw(), text.has_escapes(), TRACE_CLASS)?)
            }
            EnvironmentValue::Integer(value) if value.unsigned_abs() <= u64::MAX.into() => {
                VariableSpec::Integer(value)
            }
            EnvironmentValue::Integer(_) => VariableSpec::Number(text_place(text, false, TRACE_CLASS)?),
            EnvironmentValue::Other(_) => {
                let byte = stream.byte_at(text.offset());
                let kind = ErrorKind::Unexpected { byte, expected: "an integer or a string" };
                return Err(Error::new(text.offset(), TRACE_CLASS, kind));
            }
        };
        builder.variable(place(name, TRACE_CLASS)?, value)?;
    }
    Ok(())
}

/// The members that are root structures.
const ROOTS: [(&str, Scope); 6] = [
    ("packet-header-field-class", Scope::PacketHeader),
    ("packet-context-field-class", Scope::PacketContext),
    ("event-record-header-field-class", Scope::EventHeader),
    ("event-record-common-context-field-class", Scope::CommonContext),
    ("specific-context-field-class", Scope::SpecificContext),
    ("payload-field-class", Scope::Payload),
];

/// The members of a fragment with field classes, whatever it is.
#[derive(Default)]
struct Found {
    has_type: bool,
    name: Option<Place>,
    namespace: Option<Place>,
    id: Option<u64>,
    stream_id: u64,
    clock: Option<Place>,
    /// The scopes of which a root structure was read, as bits.
    roots: u8,
    has_class: bool,
}

impl<'a, S: Json<'a>> Compiler<'_, '_, 'a, S> {
    /// A fragment with field classes.
    pub(super) fn fragment(&mut self, kind: FragmentKind<'_>, state: &mut State) -> Result<()> {
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
        let (roots, is_alias) = match kind {
            FragmentKind::TraceClass => (0b1, false),
            FragmentKind::DataStreamClass => (0b1110, false),
            FragmentKind::EventRecordClass => (0b11_0000, false),
            _ => (0, true),
        };
        if found.roots & !roots != 0 || (found.has_class && !is_alias) {
            return Err(Error::new(offset, FIELD_CLASS, ErrorKind::Misplaced));
        }
        match kind {
            FragmentKind::TraceClass => {
                self.builder.end_trace(begin);
                Ok(())
            }
            FragmentKind::DataStreamClass => self.stream(offset, begin, &found),
            FragmentKind::EventRecordClass => self.event_class(offset, begin, &found, state),
            _ => self.alias(offset, begin, &found),
        }
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
        let spec = Self::spec(offset, found);
        self.builder.end_stream(begin, &spec, clock)
    }

    fn event_class(&mut self, offset: u64, begin: u32, found: &Found, state: &mut State) -> Result<()> {
        let spec = Self::spec(offset, found);
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

    fn spec(offset: u64, found: &Found) -> ClassSpec {
        let Found { name, namespace, id, .. } = *found;
        ClassSpec { id: id.unwrap_or(0), name, namespace, offset }
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
            again(found.has_type)?;
            found.has_type = true;
            self.skip()?;
        } else if key.is("name") {
            again(found.name.is_some())?;
            found.name = Some(self.name(FRAGMENT)?);
        } else if key.is("namespace") {
            again(found.namespace.is_some())?;
            found.namespace = Some(self.name(FRAGMENT)?);
        } else if key.is("uid") {
            self.text(FRAGMENT)?;
        } else if key.is("id") {
            again(found.id.is_some())?;
            found.id = Some(self.unsigned(CLASS_ID)?);
        } else if key.is("data-stream-class-id") {
            found.stream_id = self.unsigned(CLASS_ID)?;
        } else if key.is("default-clock-class-id") {
            again(found.clock.is_some())?;
            found.clock = Some(self.name(CLOCK_CLASS)?);
        } else if key.is("field-class") {
            again(found.has_class)?;
            found.has_class = true;
            self.class()?;
        } else {
            self.skip()?;
        }
        Ok(())
    }
}
