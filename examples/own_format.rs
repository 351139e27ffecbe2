//! A format that traceglass does not know, as a source of events beside those that it does.
//!
//!     cargo run --example own_format
//!     cargo run --example own_format -- examples/data/sample.rtc
//!
//! The format is lines of text: `MICROSECONDS begin|end|count NAME [VALUE]`. Whatever takes a `Source` takes it: here, one
//! function that prints any trace. A line that cannot be read is a gap; reading goes on after it.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt::Write as _;
use traceglass::event::{Clock, Event, EventKind, Item, Label, Number, Source, Time, Trace};
use traceglass::event::{Track, TrackId, TrackKind, Window};
use traceglass::record::{Class, FieldInfo, Fixed, FixedClass, Head, Kind, Listener, Record};
use traceglass::record::{Decimal, Hint, Scope, Slot, Step, Text, Wants, Wide};
use traceglass::{Element, Error, ErrorKind, Gap};

const LINE: Element = Element::new(&"line");

const SAMPLE: &str = "\
100 begin frame
180 count triangles 3000
250 begin draw
oops
900 end draw
1000 end frame
";

/// What a line says besides its name and kind.
const FIELDS: Fixed = Fixed::new(
    "line",
    &[
        FieldInfo::new(&"micros", Kind::Unsigned { bits: 64 }).hint(Hint::Stamp),
        FieldInfo::new(&"value", Kind::Unsigned { bits: 64 }),
    ],
);

/// A line.
#[derive(Clone, Copy)]
struct Line<'a> {
    offset: usize,
    len: usize,
    micros: u64,
    kind: EventKind,
    name: &'a str,
    value: Option<u64>,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str, offset: usize) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let (micros, kind, name) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let value: Option<u64> = words.next().map(str::parse).transpose().ok()?;
        let kind = match (kind, value) {
            ("begin", _) => EventKind::Begin,
            ("end", _) => EventKind::End,
            ("count", Some(value)) => EventKind::Counter(Number::Integer(value.into())),
            _ => return None,
        };
        Some(Self { offset, len: text.len(), micros, kind, name, value })
    }

    fn time(&self) -> Time {
        Time::since_origin(i128::from(self.micros) * 1_000)
    }
}

impl Record for Line<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> traceglass::Result<()> {
        let class = FixedClass::new(0, &FIELDS);
        if to.begin(&class.head(Some(self.time()), self.offset as u64), &class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            to.unsigned(class.slot(0), self.micros);
            match self.value {
                Some(value) => to.unsigned(class.slot(1), value),
                None => to.absent(class.slot(1)),
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

/// The lines of a text, in order.
struct Log<'a> {
    text: &'a str,
    offset: usize,
    /// The track of all events, and that of the counter, once they are announced.
    announced: u64,
    window: Window,
    line: Option<Line<'a>>,
}

impl<'a> Log<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, offset: 0, announced: 0, window: Window::ALL, line: None }
    }
}

impl Source for Log<'_> {
    fn next_item(&mut self) -> traceglass::Result<Option<Item<'_>>> {
        let (steps, counter) = (TrackId::new(0), TrackId::new(1));
        if self.announced < 2 {
            let id = TrackId::new(self.announced);
            self.announced += 1;
            let track = if id == steps {
                Track::new(id, TrackKind::Thread, Label::Text("steps"))
            } else {
                Track::new(id, TrackKind::Counter { unit: None }, Label::Text("counts")).with_parent(steps)
            };
            return Ok(Some(Item::Track(track.with_clock(Clock::new(Some("monotonic"), false)))));
        }
        loop {
            let rest = &self.text[self.offset..];
            let Some(text) = rest.split('\n').next().filter(|_| !rest.is_empty()) else { return Ok(None) };
            let offset = self.offset;
            self.offset = (offset + text.len() + 1).min(self.text.len());
            let Some(line) = Line::parse(text, offset) else {
                let cause = Error::new(offset as u64, LINE, ErrorKind::Malformed);
                let gap = Gap::new(offset as u64, text.len() as u64, cause);
                let event = Event::new(steps, EventKind::Gap(gap), Label::Text("line"));
                let event = event.with_place(0, offset as u64, text.len() as u64);
                return Ok(Some(Item::Event(event)));
            };
            if !self.window.contains(Some(line.time())) {
                continue;
            }
            let line = &*self.line.insert(line);
            let track = if let EventKind::Counter(_) = line.kind { counter } else { steps };
            let event = Event::new(track, line.kind, Label::Text(line.name)).with_time(line.time());
            let event = event.with_place(0, line.offset as u64, line.len as u64).with_record(line);
            return Ok(Some(Item::Event(event)));
        }
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}

/// Prints any trace.
fn print(source: &mut dyn Source) -> traceglass::Result<()> {
    let (mut labels, mut fields) = (HashMap::new(), Fields::default());
    while let Some(item) = source.next_item()? {
        match item {
            Item::Track(track) => {
                labels.insert(track.id(), track.label().to_string());
            }
            Item::Event(event) => {
                let time = event.time().map_or_else(|| "?".to_owned(), |time| time.to_string());
                let track = labels.get(&event.track()).map_or("?", String::as_str);
                fields.line.clear();
                event.tell(&mut fields)?;
                match event.kind() {
                    EventKind::Gap(gap) => println!("{time}  {track}  {gap}"),
                    kind => println!("{time}  {track}  {} {}{}", kind.name(), event.name(), fields.line),
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A listener that writes numbers and text as ` name=value`.
#[derive(Default)]
struct Fields {
    names: HashMap<Slot, String>,
    line: String,
}

impl Fields {
    fn write(&mut self, slot: Slot, value: &dyn std::fmt::Display) {
        // A record that is one value has no name for it.
        let name = self.names.get(&slot).map_or_else(String::new, |name| format!("{name}="));
        write!(self.line, " {name}{value}").expect("a String grows");
    }
}

impl Listener for Fields {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        class.fields(&mut |step| {
            if let Step::Field(FieldInfo { slot, name: Some(name), .. }) = step {
                self.names.insert(slot, name.to_string());
            }
        });
        Wants::ALL
    }

    fn abandon(&mut self) {
        self.line.clear();
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.write(slot, &value);
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.write(slot, &value);
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        self.write(slot, &value);
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.write(slot, &value);
    }

    fn decimal(&mut self, slot: Slot, value: Decimal) {
        self.write(slot, &value.to_f64());
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        self.write(slot, &value);
    }
}

fn main() -> Result<(), Box<dyn StdError>> {
    let Some(path) = std::env::args_os().nth(1) else {
        return Ok(print(&mut Log::new(SAMPLE))?);
    };
    let file = std::fs::read(path)?;
    match traceglass::Format::detect(&file) {
        Some(_) => Ok(Trace::read(&[&file], |trace| print(trace))?),
        None => Ok(print(&mut Log::new(std::str::from_utf8(&file)?))?),
    }
}
