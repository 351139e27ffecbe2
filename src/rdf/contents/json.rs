//! JSON in chunks: a value and what is in it, looked up by name.

use super::element;
use super::tell::{Said, after};
use crate::bytes::Bytes;
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::{Event, JsonString, Parser};
use crate::record::{self, Any, FieldInfo, Listener, Slot, Step};
use crate::text::Text;
use core::fmt;

/// A JSON value in a chunk, borrowed.
///
/// The text was checked when the chunk was opened; a lookup reads it again from the front, so a value of which many
/// members are needed is best read with [`members`](Self::members).
#[derive(Clone, Copy)]
pub struct Json<'a> {
    text: Bytes<'a>,
    element: Element,
}

impl<'a> Json<'a> {
    /// Checks `data`, which may end in NULs: some writers count the terminator of a C string.
    pub(super) fn parse(data: &'a [u8], element: Element) -> Result<Self> {
        let len = data.iter().rposition(|&byte| byte != 0).map_or(0, |last| last.saturating_add(1));
        let text = Bytes::new(data.get(..len).unwrap_or_default());
        let mut parser = Parser::new(text, element);
        let mut first = true;
        while let Some(event) = parser.next_event()? {
            if first && !matches!(event, Event::ObjectStart) {
                let byte = text.as_slice().first().copied().unwrap_or_default();
                let kind = ErrorKind::Unexpected { byte, expected: "an object" };
                return Err(Error::new(parser.event_offset(), element, kind));
            }
            if let Event::String(text) | Event::Key(text) = event {
                text.check_utf8()?;
            }
            first = false;
        }
        parser.finish()?;
        Ok(Self { text, element })
    }

    const fn part(&self, text: Bytes<'a>) -> Self {
        Self { text, element: self.element }
    }

    fn event(&self) -> Option<Event<Bytes<'a>>> {
        Parser::new(self.text, self.element).next_event().ok().flatten()
    }

    /// The text as it stands in the chunk.
    pub fn raw(&self) -> &'a [u8] {
        self.text.as_slice()
    }

    /// Offset of its first byte in the chunk's data.
    pub fn offset(&self) -> u64 {
        self.text.offset()
    }

    /// The member `name` of an object; the first of that name.
    pub fn get(&self, name: &str) -> Option<Self> {
        self.members().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub fn members(&self) -> impl Iterator<Item = (JsonString<Text<'a>>, Json<'a>)> + Clone + use<'a> {
        let this = *self;
        let mut parser = Parser::new(self.text, self.element);
        let object = matches!(parser.next_event(), Ok(Some(Event::ObjectStart)));
        let mut parser = object.then_some(parser);
        core::iter::from_fn(move || {
            let open = parser.as_mut()?;
            match open.next_event() {
                Ok(Some(Event::Key(key))) => {
                    let value = open.value_text().ok().flatten()?;
                    Some((string(key), this.part(value)))
                }
                _ => {
                    parser = None;
                    None
                }
            }
        })
    }

    /// The elements of an array; none of anything else.
    pub fn elements(&self) -> impl Iterator<Item = Json<'a>> + Clone + use<'a> {
        let this = *self;
        let mut parser = Parser::new(self.text, self.element);
        let array = matches!(parser.next_event(), Ok(Some(Event::ArrayStart)));
        let mut parser = array.then_some(parser);
        core::iter::from_fn(move || {
            let open = parser.as_mut()?;
            match open.value_text() {
                Ok(Some(value)) => Some(this.part(value)),
                _ => {
                    parser = None;
                    None
                }
            }
        })
    }

    /// The string.
    pub fn text(&self) -> Option<JsonString<Text<'a>>> {
        match self.event()? {
            Event::String(text) => Some(string(text)),
            _ => None,
        }
    }

    /// The integer, if it is written as one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i128().and_then(|value| value.try_into().ok())
    }

    /// The integer, if it is written as one and fits.
    pub fn as_i128(&self) -> Option<i128> {
        match self.event()? {
            Event::Number(number) => number.as_i128(),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self.event()? {
            Event::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// True if it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.event(), Some(Event::Null))
    }

    /// True if two scalars are the same value.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        match (self.event(), other.event()) {
            (Some(Event::String(a)), Some(Event::String(b))) => a.chars().eq(b.chars()),
            (Some(Event::Bool(a)), Some(Event::Bool(b))) => a == b,
            (Some(Event::Null), Some(Event::Null)) => true,
            (Some(Event::Number(a)), Some(Event::Number(b))) => match (a.as_i128(), b.as_i128()) {
                (Some(a), Some(b)) => a == b,
                _ => a.text().as_slice() == b.text().as_slice(),
            },
            (Some(_), Some(_)) => self.raw() == other.raw(),
            _ => false,
        }
    }
}

/// A map of its members, told without recursion: what is in it has the slot after its own, however deep.
impl Said for Json<'_> {
    const PLACES: u32 = 2;
    const KIND: record::Kind = record::Kind::Map;

    fn describe(field: FieldInfo<'_>, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Field(FieldInfo { kind: Self::KIND, ..field }));
        let slot = after(field.slot, 1);
        each(Step::Field(FieldInfo { slot, ..FieldInfo::unnamed(record::Kind::Any) }));
        each(Step::End);
    }

    fn say(self, slot: Slot, to: &mut Any<'_>) {
        let mut parser = Parser::new(self.text, self.element);
        let mut is_first = true;
        while let Ok(Some(event)) = parser.next_event() {
            let slot = if core::mem::take(&mut is_first) { slot } else { after(slot, 1) };
            match event {
                Event::ObjectStart => to.group(slot),
                Event::ObjectEnd => to.end_group(),
                Event::ArrayStart => to.list(slot, None),
                Event::ArrayEnd => to.end_list(),
                Event::Key(key) => with_text(key, |text| to.key(text)),
                Event::String(text) => with_text(text, |text| to.text(slot, text)),
                Event::Bool(value) => to.boolean(slot, value),
                Event::Null => to.absent(slot),
                Event::Number(number) => match (number.as_u64(), number.as_i64(), number.as_i128()) {
                    (Some(value), ..) => to.unsigned(slot, value),
                    (_, Some(value), _) => to.signed(slot, value),
                    (.., Some(value)) => {
                        let low = value.cast_unsigned();
                        to.wide(slot, record::Wide { low, words: &[], is_signed: true });
                    }
                    _ => {
                        let digits = core::str::from_utf8(number.text().as_slice()).ok();
                        match digits.and_then(|digits| digits.parse().ok()) {
                            Some(value) => to.float(slot, value),
                            None => to.absent(slot),
                        }
                    }
                },
            }
        }
    }
}

/// Lends a string as records have it.
fn with_text(string: JsonString<Bytes<'_>>, mut lend: impl FnMut(record::Text<'_>)) {
    match string.borrowed() {
        Some(text) => lend(record::Text::new(text)),
        None => {
            let stored = string.raw().as_slice();
            lend(record::Text::Other { text: &string, stored, is_valid: string.is_utf8() });
        }
    }
}

/// A string as it is for all formats.
fn string<'a>(string: JsonString<Bytes<'a>>) -> JsonString<Text<'a>> {
    string.with_source(|text| Text::new(text.as_slice(), text.offset()))
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Json").field(&self.text).finish()
    }
}

/// The driver's settings: chunk `DriverOverrides`, versions 1 to 3.
///
/// # Layout
/// JSON: `IsDriverExperiments`, and `Components` of `Structures` of settings.
#[derive(Clone, Copy, Debug)]
pub struct DriverOverrides<'a>(Json<'a>);

impl<'a> DriverOverrides<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        super::api::supported(version, 1..=3)?;
        Json::parse(data, element::DRIVER_OVERRIDES).map(Self)
    }

    /// The whole text.
    pub const fn json(&self) -> Json<'a> {
        self.0
    }

    /// True if they are experiments, and not settings of the user.
    pub fn is_experiments(&self) -> Option<bool> {
        self.0.get("IsDriverExperiments")?.as_bool()
    }

    /// The settings that differ from the default because the user asked for it.
    pub fn overridden(&self) -> impl Iterator<Item = Override<'a>> + use<'a> {
        let components = self.0.get("Components");
        components.into_iter().flat_map(|list| list.elements()).flat_map(|component| {
            let structures = component.get("Structures");
            structures.into_iter().flat_map(|all| all.members()).flat_map(move |(structure, settings)| {
                settings
                    .elements()
                    .filter_map(move |setting| Override::from_json(component, structure, setting))
            })
        })
    }
}

/// A setting of the driver that was overridden.
#[derive(Clone, Copy, Debug)]
pub struct Override<'a> {
    component: Json<'a>,
    structure: JsonString<Text<'a>>,
    setting: Json<'a>,
    value: Json<'a>,
}

impl<'a> Override<'a> {
    fn from_json(component: Json<'a>, structure: JsonString<Text<'a>>, setting: Json<'a>) -> Option<Self> {
        let supported = setting.get("Supported").and_then(|value| value.as_bool());
        let value = setting.get("UserOverride")?;
        let current = setting.get("Current")?;
        (supported != Some(false) && value.same_as(&current)).then_some(Self {
            component,
            structure,
            setting,
            value,
        })
    }

    /// Name of the component.
    pub fn component(&self) -> Option<JsonString<Text<'a>>> {
        self.component.get("Component")?.text()
    }

    /// Name of the group in it; AMD's tools show "Misc." for an empty one.
    pub const fn structure(&self) -> JsonString<Text<'a>> {
        self.structure
    }

    /// Name of the setting.
    pub fn name(&self) -> Option<JsonString<Text<'a>>> {
        self.setting.get("SettingName")?.text()
    }

    /// The value that the user asked for.
    pub const fn value(&self) -> Json<'a> {
        self.value
    }
}
