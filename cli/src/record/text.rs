//! A line for people, of a record of any format.

use super::{Buffer, Names, Spelling, Tables};
use crate::escape::{is_suspect, painted, push};
use crate::output::{DIM, HEADING, printable, push_start, shortened};
use crate::trace::Stamps;
use jiff::{Timestamp, tz::TimeZone};
use std::fmt::Write as _;
use traceglass::record::{self, Any, Class, Head, Hint, Listener, Record, Scope, Slot, Time, Wants, Wide};

/// The number of characters of a name that are shown with each record.
pub const SHOWN: usize = 80;

/// The most bytes of a record's row on a screen.
pub const ROW: usize = 4096;

/// The row of a record, without its name.
pub fn row(record: &impl Record, name: &str) -> String {
    let mut text = Text::rows(ROW);
    // What cannot be read says nothing.
    let _ = record.tell(&mut Any(&mut text));
    let line = String::from_utf8_lossy(text.buffer.text());
    line.strip_prefix(name).unwrap_or(&line).trim().to_owned()
}

/// The columns of a time that is no date.
const TIME: usize = 20;

/// The text in place of a time if there is none.
const NO_TIME: &[u8; TIME + 2] = b"                   -  ";

/// Writes `2026-11-21T01:41:54.003000000Z  cpu_0  battery  millivolts=3685`.
pub struct Text {
    pub buffer: Buffer,
    tables: Tables<Words>,
    stamps: Stamps,
    /// The text between the time and the name.
    place: Vec<u8>,
    /// The style of time and place: what begins it and what ends it.
    dim: (String, String),
    /// The start of the record, and that of the scope in it, in the buffer.
    start: usize,
    scope: usize,
    current: Option<Scope>,
    /// No more is asked for of a record whose line has as many bytes.
    limit: usize,
    /// True while the time is left out.
    is_without_time: bool,
    /// The time of the line before, if lines tell how long ago that was.
    delta: Option<Option<Time>>,
    /// True while a record is left out.
    is_left_out: bool,
    is_colored: bool,
    /// Used again for each odd time or text.
    scratch: String,
    /// The second whose text was made last, and that text up to the point and after the fraction.
    second: Option<(i64, bool)>,
    second_text: Vec<u8>,
    second_end: Vec<u8>,
    /// The zone of dates, if it is not UTC.
    zone: Option<TimeZone>,
}

/// The way names are written.
struct Words {
    heading: (String, String),
}

impl Spelling for Words {
    type Class = Vec<u8>;
    const VALUE: &'static str = "";
    const LABELS: fn(&str, &[&str]) -> Vec<u8> = labels;
    const LABEL: fn(&str, &[&str]) -> Vec<u8> = label;

    fn class(&mut self, class: &dyn Class, _: &[Scope]) -> Vec<u8> {
        let mut name = String::new();
        push_start(&mut name, class.name(), SHOWN);
        [self.heading.0.as_str(), &printable(&name), &self.heading.1].concat().into_bytes()
    }

    fn field(&mut self, name: &str) -> Vec<u8> {
        if name.is_empty() {
            return Vec::new();
        }
        (printable(&shortened(name, SHOWN)) + "=").into_bytes()
    }
}

/// Labels beside a number: `(RUNNING|IDLE)`.
fn labels(_: &str, labels: &[&str]) -> Vec<u8> {
    format!("({})", printable(&shortened(&labels.join("|"), SHOWN))).into_bytes()
}

/// Labels that stand for a number: `RUNNING`.
fn label(_: &str, labels: &[&str]) -> Vec<u8> {
    printable(&shortened(&labels.join("|"), SHOWN)).into_bytes()
}

/// The beginning and the end of a style, where colour is on.
fn style(style: anstyle::Style, is_colored: bool) -> (String, String) {
    let text = if is_colored { painted(style, "x") } else { "x".to_owned() };
    text.split_once('x').map(|(begin, end)| (begin.to_owned(), end.to_owned())).unwrap_or_default()
}

impl Text {
    /// For a screen with colours or without.
    pub fn new(is_colored: bool) -> Self {
        Self {
            buffer: Buffer::default(),
            tables: Tables::new(Words { heading: style(HEADING, is_colored) }),
            stamps: Stamps::default(),
            place: Vec::new(),
            dim: style(DIM, is_colored),
            start: 0,
            scope: 0,
            current: None,
            limit: usize::MAX,
            is_without_time: false,
            delta: None,
            is_left_out: false,
            is_colored,
            scratch: String::new(),
            second: None,
            second_text: Vec::new(),
            second_end: Vec::new(),
            zone: None,
        }
    }

    /// Without the time and the place, and no longer than some bytes, as in a row on a screen.
    pub fn rows(limit: usize) -> Self {
        Self { limit, is_without_time: true, ..Self::new(false) }
    }

    /// Leaves out records with other names.
    pub fn only(&mut self, names: &Names) {
        self.tables.only(names);
    }

    /// Begins to tell how long after the line before each one is.
    pub fn tell_deltas(&mut self) {
        self.delta = Some(None);
    }

    /// Gives dates in the zone of this computer.
    pub fn tell_local_times(&mut self) {
        self.zone = Some(TimeZone::system());
    }

    /// The time since the line before: `+0.000100000`; nothing is known of times of two kinds of clock.
    #[cold]
    fn since(&mut self, last: Option<Time>, time: Option<Time>) {
        let both = last.zip(time).filter(|(last, time)| last.is_absolute() == time.is_absolute());
        self.scratch.clear();
        match both.map(|(last, time)| time.ns().saturating_sub(last.ns())) {
            Some(ns) => {
                self.scratch.push(if ns < 0 { '-' } else { '+' });
                let ns = ns.unsigned_abs();
                let _ = write!(self.scratch, "{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            }
            None => self.scratch.push('-'),
        }
        let _ = write!(self.buffer, "{}{:>14}{}  ", self.dim.0, self.scratch, self.dim.1);
        // A line without a time is none to count from.
        self.delta = Some(time.or(last));
    }

    /// Sets what stands between the time and the name: columns with two spaces between them.
    pub fn set_place(&mut self, shown: &str) {
        self.place = self.spell_place(shown);
    }

    /// Spells a place as it stands in a line.
    pub fn spell_place(&self, shown: &str) -> Vec<u8> {
        let (begin, end) = &self.dim;
        let shown = printable(shown);
        if shown.is_empty() { Vec::new() } else { format!("{begin}{shown}{end}  ").into_bytes() }
    }

    /// As [`Self::set_place`], with what was spelled before.
    #[inline]
    pub fn set_spelled_place(&mut self, place: &[u8]) {
        self.place.clear();
        self.place.extend_from_slice(place);
    }

    #[inline(always)]
    fn time(&mut self, time: Option<Time>) {
        if self.is_colored {
            return self.odd_time(time);
        }
        let Some(time) = time else { return self.buffer.put(NO_TIME) };
        let Ok(ns) = i64::try_from(time.ns()) else { return self.odd_time(Some(time)) };
        let (second, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        let known = Some((second, time.is_absolute()));
        if self.second != known && !self.learn_second(time, known) {
            return self.odd_time(Some(time));
        }
        self.buffer.put(&self.second_text);
        self.buffer.nine(u32::try_from(rest).unwrap_or(0));
        self.buffer.put(&self.second_end);
    }

    /// Spells a time, for use at once.
    fn spell_time(&mut self, time: Time) {
        self.scratch.clear();
        let dated = Timestamp::from_nanosecond(time.ns()).ok().filter(|_| time.is_absolute());
        let local = self.zone.as_ref().zip(dated).and_then(|(zone, dated)| {
            let offset = zone.to_offset(dated).seconds();
            let ahead = i128::from(offset).saturating_mul(1_000_000_000);
            Some((offset, self.stamps.rfc3339(time.ns().saturating_add(ahead))?))
        });
        let Some((offset, text)) = local else {
            return self.stamps.push(&mut self.scratch, time.ns(), time.is_absolute());
        };
        self.scratch.push_str(text.trim_end_matches('Z'));
        let (sign, offset) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
        let (hours, minutes, seconds) = (offset / 3600, offset / 60 % 60, offset % 60);
        // Text takes all that is written to it.
        let _ = write!(self.scratch, "{sign}{hours:02}:{minutes:02}");
        // As zones were before there was a standard time.
        if seconds != 0 {
            let _ = write!(self.scratch, ":{seconds:02}");
        }
    }

    /// Makes the text of a second; false if its times are not the usual ones.
    #[cold]
    fn learn_second(&mut self, time: Time, second: Option<(i64, bool)>) -> bool {
        if time.ns() < 0 {
            return false;
        }
        self.spell_time(time);
        let Some((front, back)) = self.scratch.split_once('.') else { return false };
        let Some((_, end)) = back.split_at_checked(9) else { return false };
        let width = if time.is_absolute() { 0 } else { TIME - 10 };
        self.second_text = format!("{front:>width$}.").into();
        self.second_end = format!("{end}  ").into();
        self.second = second;
        true
    }

    #[cold]
    fn odd_time(&mut self, time: Option<Time>) {
        match time {
            Some(time) => self.spell_time(time),
            None => "-".clone_into(&mut self.scratch),
        }
        // A buffer takes all that is written to it.
        let _ = write!(self.buffer, "{}{:>TIME$}{}  ", self.dim.0, self.scratch, self.dim.1);
    }

    /// Ends a value, with what separates it from the next one.
    #[inline(always)]
    fn number(&mut self, slot: Slot, value: i128, put: impl FnOnce(&mut Buffer)) {
        let Some(field) = self.tables.field(slot) else { return };
        let buffer = &mut self.buffer;
        field.put(buffer);
        if let Some(labels) = &field.labels {
            let before = buffer.mark();
            if field.hint != Hint::Label {
                put(buffer);
                labels.put(value, buffer);
            } else {
                labels.put(value, buffer);
                if buffer.mark() == before {
                    put(buffer);
                }
            }
        } else {
            put(buffer);
        }
        buffer.byte(b' ');
    }

    fn other(&mut self, slot: Slot, put: impl FnOnce(&mut Buffer)) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        put(&mut self.buffer);
        self.buffer.byte(b' ');
    }
}

/// An unsigned integer as people read it.
#[inline(always)]
fn unsigned(hint: Hint, are_flags: bool, value: u64, to: &mut Buffer) {
    match hint {
        Hint::None | Hint::Label | Hint::Ticks if !are_flags => to.unsigned(value),
        // A buffer takes all that is written to it.
        Hint::Octal => drop(write!(to, "{value:#o}")),
        Hint::Binary => drop(write!(to, "{value:#b}")),
        Hint::Duration => to.put(crate::trace::duration(value.into()).as_bytes()),
        _ => to.address(value),
    }
}

// Inlined into each field of each record; a page would rather be small.
impl Listener for Text {
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn is_full(&self) -> bool {
        self.buffer.mark().wrapping_sub(self.start) >= self.limit
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        self.start = self.buffer.mark();
        let delta = self.delta;
        if !self.is_without_time {
            self.time(head.time);
            if let Some(last) = delta {
                self.since(last, head.time);
            }
            self.buffer.put(&self.place);
        }
        let name = self.tables.class(head.class, class);
        self.is_left_out = name.is_none();
        let Some(name) = name else {
            // It is no line to count from.
            self.delta = delta;
            self.buffer.truncate(self.start);
            return Wants::NOTHING;
        };
        self.buffer.put(name);
        Wants::ALL.without(Scope::Header)
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end(&mut self) {
        if self.is_left_out {
            return;
        }
        while self.buffer.last() == Some(b' ') {
            self.buffer.pop();
        }
        self.buffer.byte(b'\n');
    }

    fn abandon(&mut self) {
        self.buffer.truncate(self.start);
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn scope(&mut self, scope: Scope) {
        self.scope = self.buffer.mark();
        self.current = Some(scope);
        self.buffer.put(b"  ");
        if matches!(scope, Scope::CommonContext | Scope::SpecificContext) {
            self.buffer.put(self.dim.0.as_bytes());
            self.buffer.byte(b'{');
        }
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end_scope(&mut self) {
        if self.buffer.last() == Some(b' ') {
            self.buffer.pop();
        }
        if matches!(self.current, Some(Scope::CommonContext | Scope::SpecificContext)) {
            match self.buffer.last() {
                Some(b'{') => self.buffer.truncate(self.scope),
                _ => {
                    self.buffer.byte(b'}');
                    self.buffer.put(self.dim.1.as_bytes());
                }
            }
        }
    }

    fn group(&mut self, slot: Slot) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        self.buffer.byte(b'{');
    }

    fn end_group(&mut self) {
        self.buffer.close(b' ', b'}');
        self.buffer.byte(b' ');
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn list(&mut self, slot: Slot, _: Option<u64>) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        self.buffer.byte(b'[');
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end_list(&mut self) {
        self.buffer.close(b' ', b']');
        self.buffer.byte(b' ');
    }

    fn key(&mut self, name: record::Text<'_>) {
        self.scratch.clear();
        push_start(&mut self.scratch, name, SHOWN);
        self.buffer.put(printable(&self.scratch).as_bytes());
        self.buffer.byte(b'=');
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn unsigned(&mut self, slot: Slot, value: u64) {
        let (hint, are_flags) =
            self.tables.field(slot).map_or((Hint::None, false), |field| (field.hint, field.are_flags));
        if hint == Hint::Stamp {
            return;
        }
        self.number(slot, value.into(), |buffer| unsigned(hint, are_flags, value, buffer));
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn signed(&mut self, slot: Slot, value: i64) {
        let hint = self.tables.field(slot).map_or(Hint::None, |field| field.hint);
        self.number(slot, value.into(), |buffer| match hint {
            Hint::Duration => buffer.put(crate::trace::duration(value.into()).as_bytes()),
            _ => buffer.signed(value),
        });
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let hint = self.tables.field(slot).map_or(Hint::None, |field| field.hint);
        let write = |buffer: &mut Buffer| match (hint, value.words) {
            (Hint::Address, []) => drop(write!(buffer, "{:#x}", value.low)),
            _ => drop(write!(buffer, "{value}")),
        };
        match value.to_i128() {
            Some(known) => self.number(slot, known, write),
            None => self.other(slot, write),
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.other(slot, |buffer| buffer.put(if value { b"true" } else { b"false" }));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.other(slot, |buffer| {
            // A buffer takes all that is written to it.
            let _ = write!(buffer, "{value:?}");
        });
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn decimal(&mut self, slot: Slot, value: record::Decimal) {
        self.other(slot, |buffer| buffer.decimal(value));
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn text(&mut self, slot: Slot, value: record::Text<'_>) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        self.buffer.byte(b'"');
        match value {
            record::Text::Utf8(text) if !is_suspect(text) && !text.contains(&b'"') => self.buffer.put(text),
            _ => {
                let text = value.to_string();
                self.scratch.clear();
                push(&mut self.scratch, &text, |_| false);
                self.buffer.put(self.scratch.replace('"', "\\\"").as_bytes());
            }
        }
        self.buffer.put(b"\" ");
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.other(slot, |buffer| buffer.hex(value));
    }

    /// An element of a list has its place; a field without a value is left out.
    fn absent(&mut self, slot: Slot) {
        let field = self.tables.field(slot);
        if field.is_none_or(|field| field.is_element) || self.buffer.last() == Some(b'=') {
            self.buffer.put(b"- ");
        }
    }
}
