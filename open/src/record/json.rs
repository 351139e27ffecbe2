//! A line of JSON, of a record of any format.

use super::buffer::Buffer;
use super::names::Names;
use super::spelled::{Spelling, Tables};
use crate::text::{NAME_MAX, needs_json_escape, push_start, quote};
use crate::time::Stamps;
use std::fmt::Write as _;
use traceglass::record::{self, Class, ClassId, Fact, Head, Hint, Listener, Scope, Slot, Time, Wants, Wide};

/// Writes `{"kind":"event","path":"cpu_0","offset":96, … ,"payload":{"irq":195}}`.
pub struct Json {
    pub buffer: Buffer,
    tables: Tables<Members>,
    stamps: Stamps,
    /// The members that say where the record comes from.
    place: Vec<u8>,
    /// The start of the record in the buffer.
    start: usize,
    class: ClassId,
    /// The next of the scopes of its class.
    next: usize,
    is_flat: bool,
    /// The start and the end in the buffer of the name of a map's member.
    key: (usize, usize),
    scratch: String,
    /// True if only the fields of records are written.
    is_bare: bool,
    /// True if fields of contexts are written beside the others.
    is_merged: bool,
    /// True if people read the values: those that are no decimal numbers for them are strings.
    is_for_people: bool,
    /// The second whose texts were made last; the date up to the point, and its digits, where there are these.
    second: Option<i64>,
    second_text: Vec<u8>,
    second_digits: Vec<u8>,
}

/// The way names are written.
struct Members;

/// The text for a class.
struct Written {
    /// `{"kind":"event"`
    begin: Vec<u8>,
    /// From the clock to the last fact, ending in a comma.
    facts: Vec<u8>,
    /// Each scope that its records have: what stands before its fields.
    scopes: Vec<(Scope, Vec<u8>)>,
    /// The text after the last one.
    end: Vec<u8>,
    has_bits: bool,
}

impl Spelling for Members {
    type Class = Written;
    const VALUE: &'static str = "value";
    const LABELS: fn(&str, &[&str]) -> Vec<u8> = labels;
    const LABEL: fn(&str, &[&str]) -> Vec<u8> = label;

    fn class(&mut self, class: &dyn Class, scopes: &[Scope]) -> Written {
        let mut begin = b"{".to_vec();
        let mut facts = b"\"clock\":".to_vec();
        match class.clock() {
            Some(clock) => facts.extend(quoted_start(clock)),
            None => facts.extend(b"null"),
        }
        facts.push(b',');
        class.facts(&mut |name, fact| {
            let to = if name == "kind" { &mut begin } else { &mut facts };
            to.extend(quoted(name));
            to.push(b':');
            match fact {
                Fact::Number(number) => to.extend(number.to_string().bytes()),
                Fact::Text(text) => to.extend(quoted_start(text)),
                _ => to.extend(b"null"),
            }
            if name != "kind" {
                to.push(b',');
            }
        });
        // A class of a format with scopes says of each whether it has it.
        let has_scopes = !scopes.contains(&Scope::Fields);
        let (mut written, mut before) = (Vec::new(), Vec::new());
        for scope in Scope::ALL {
            match scope.name() {
                None if scopes.contains(&scope) => written.push((scope, std::mem::take(&mut before))),
                Some(name) if scopes.contains(&scope) => {
                    before.extend(format!("\"{name}\":{{").bytes());
                    written.push((scope, std::mem::take(&mut before)));
                }
                Some(name) if has_scopes => before.extend(format!("\"{name}\":null,").bytes()),
                _ => {}
            }
        }
        Written { begin, facts, scopes: written, end: before, has_bits: has_scopes }
    }

    fn field(&mut self, name: &str) -> Vec<u8> {
        let mut text = quoted(name);
        text.push(b':');
        text
    }
}

/// The member beside a number: `"state_labels":["IDLE"],`.
fn labels(name: &str, labels: &[&str]) -> Vec<u8> {
    if name.is_empty() {
        return Vec::new();
    }
    let labels: Vec<_> = labels.iter().map(|label| quoted(label)).collect();
    [&quoted(&format!("{name}_labels"))[..], b":[", &labels.join(&b","[..]), b"],"].concat()
}

/// The label that stands for a number: `"IDLE",`.
fn label(_: &str, labels: &[&str]) -> Vec<u8> {
    let mut text = quoted(&labels.join("|"));
    text.push(b',');
    text
}

/// A JSON string.
fn quoted(text: &str) -> Vec<u8> {
    let mut quoted = Vec::new();
    quote(&mut quoted, text);
    quoted
}

/// The beginning of something long, as a JSON string.
fn quoted_start(text: &dyn std::fmt::Display) -> Vec<u8> {
    let mut start = String::new();
    push_start(&mut start, text, NAME_MAX);
    quoted(&start)
}

impl Default for Json {
    fn default() -> Self {
        Self {
            buffer: Buffer::default(),
            tables: Tables::new(Members),
            stamps: Stamps::default(),
            place: Vec::new(),
            start: 0,
            class: ClassId(0),
            next: 0,
            is_flat: false,
            key: (0, 0),
            scratch: String::new(),
            is_bare: false,
            is_merged: false,
            is_for_people: false,
            second: None,
            second_text: Vec::new(),
            second_digits: Vec::new(),
        }
    }
}

impl Json {
    /// Writes an object of what a record says, without the place, the time and the facts of its class; and no line feed
    /// after it.
    pub fn bare() -> Self {
        Self { is_bare: true, ..Self::default() }
    }

    /// Writes an object of the fields of all scopes, as [`Self::bare`] otherwise.
    pub fn merged() -> Self {
        Self { is_merged: true, ..Self::bare() }
    }

    /// Spells masks and codes in digits of their base, as lines for people have them.
    pub fn for_people(self) -> Self {
        Self { is_for_people: true, ..self }
    }

    /// Leaves out records with other names.
    pub fn only(&mut self, names: &Names) {
        self.tables.only(names);
    }

    /// Sets the members that say where records come from, each with a comma before it.
    pub fn set_place(&mut self, members: &[u8]) {
        self.place.clear();
        self.place.extend_from_slice(members);
    }

    #[inline(always)]
    fn time(&mut self, time: Option<Time>) {
        let Some(time) = time else { return self.buffer.put(b",\"time_ns\":null,\"time\":null,") };
        let Ok(ns) = i64::try_from(time.ns()) else { return self.odd_time(time) };
        let (second, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        if self.second != Some(second) {
            self.learn_second(time.ns(), second);
        }
        let rest = u32::try_from(rest).unwrap_or(0);
        self.buffer.put(b",\"time_ns\":");
        match self.second_digits.as_slice() {
            [] => self.buffer.signed(ns),
            digits => {
                self.buffer.put(digits);
                self.buffer.nine(rest);
            }
        }
        if !time.is_absolute() || self.second_text.is_empty() {
            return self.buffer.put(b",\"time\":null,");
        }
        self.buffer.put(&self.second_text);
        self.buffer.nine(rest);
        self.buffer.put(b"Z\",");
    }

    /// Makes the texts of a second.
    #[cold]
    fn learn_second(&mut self, ns: i128, second: i64) {
        let date = self.stamps.rfc3339(ns).and_then(|text| text.split_once('.'));
        self.second_text =
            date.map_or_else(Vec::new, |(front, _)| format!(",\"time\":\"{front}.").into_bytes());
        // Before the first second, there are fewer digits, or a sign.
        self.second_digits = if second > 0 { second.to_string().into_bytes() } else { Vec::new() };
        self.second = Some(second);
    }

    /// More than 64 bits: a string, but for what fits without a sign.
    #[cold]
    fn odd_time(&mut self, time: Time) {
        let ns = time.ns();
        let quote = if u64::try_from(ns).is_ok() { "" } else { "\"" };
        let date = self.stamps.rfc3339(ns).filter(|_| time.is_absolute());
        let date = date.map_or_else(|| "null".to_owned(), |date| format!("\"{date}\""));
        let _ = write!(self.buffer, ",\"time_ns\":{quote}{ns}{quote},\"time\":{date},");
    }

    /// Puts a number and its labels.
    #[inline(always)]
    fn number(&mut self, slot: Slot, value: i128, put: impl Fn(&mut Buffer, Hint)) {
        let Some(field) = self.tables.field(slot) else { return };
        let buffer = &mut self.buffer;
        field.put(buffer);
        let Some(labels) = &field.labels else {
            put(buffer, field.hint);
            return buffer.byte(b',');
        };
        let before = buffer.mark();
        if field.hint != Hint::Label {
            put(buffer, field.hint);
            buffer.byte(b',');
        }
        labels.put(value, buffer);
        if buffer.mark() == before {
            put(buffer, field.hint);
            buffer.byte(b',');
        }
    }

    #[inline(always)]
    fn other(&mut self, slot: Slot, put: impl FnOnce(&mut Buffer)) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        put(&mut self.buffer);
        self.buffer.byte(b',');
    }

    /// Text that is not valid: null, and its bytes in the member beside it, if it is a member.
    #[cold]
    fn broken(&mut self, slot: Slot, stored: &[u8]) {
        let key = (self.buffer.mark() == self.key.1).then_some(self.key);
        self.other(slot, |buffer| buffer.put(b"null"));
        let name = match (key, self.tables.field(slot)) {
            (Some((from, to)), _) => {
                let key = self.buffer.text().get(from..to).unwrap_or_default();
                let key = key.strip_suffix(b"\":").unwrap_or(key).to_vec();
                [&key[..], b"_hex\":\""].concat()
            }
            (None, Some(field)) if !field.name.is_empty() => {
                [&quoted(&format!("{}_hex", field.name))[..], b":\""].concat()
            }
            _ => return,
        };
        self.buffer.put(&name);
        self.buffer.hex(stored);
        self.buffer.put(b"\",");
    }

    /// Contexts are objects of their own; what the record is about is beside them.
    fn bare_scope(&mut self, scope: Scope) {
        let name = scope.name().filter(|_| matches!(scope, Scope::CommonContext | Scope::SpecificContext));
        let name = name.filter(|_| !self.is_merged);
        self.is_flat = name.is_none();
        if let Some(name) = name {
            // A buffer takes all that is written to it.
            let _ = write!(self.buffer, "\"{name}\":{{");
        }
    }

    fn quote(&mut self, text: &str) {
        if !needs_json_escape(text.as_bytes()) {
            self.buffer.byte(b'"');
            self.buffer.put(text.as_bytes());
            return self.buffer.byte(b'"');
        }
        // A buffer takes all that is written to it.
        let _ = serde_json::to_writer(&mut self.buffer, text);
    }
}

// Inlined into each field of each record; a page would rather be small.
impl Listener for Json {
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        self.start = self.buffer.mark();
        self.key = (usize::MAX, usize::MAX);
        (self.class, self.next) = (head.class, 0);
        let Some(written) = self.tables.class(head.class, class) else { return Wants::NOTHING };
        if self.is_bare {
            self.buffer.byte(b'{');
            return Wants::ALL.without(Scope::Header);
        }
        let has_bits = written.has_bits;
        self.buffer.put(&written.begin);
        self.buffer.put(&self.place);
        self.buffer.put(b",\"offset\":");
        self.buffer.unsigned(head.offset);
        if has_bits {
            self.buffer.put(b",\"bit\":");
            self.buffer.unsigned(head.bit.into());
        }
        if let Some(len) = head.len {
            self.buffer.put(b",\"len\":");
            self.buffer.unsigned(len);
        }
        self.time(head.time);
        if let Some(written) = self.tables.known(head.class) {
            self.buffer.put(&written.facts);
        }
        Wants::ALL
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end(&mut self) {
        if self.is_bare {
            return self.buffer.close(b',', b'}');
        }
        let Some(written) = self.tables.known(self.class) else { return };
        // The scopes that were not told: a source leaves out none, but what is damaged may have fewer.
        let skipped = written.scopes.get(self.next..).unwrap_or_default();
        for (scope, before) in skipped {
            self.buffer.put(before);
            if scope.name().is_some() {
                self.buffer.put(b"},");
            }
        }
        self.buffer.put(&written.end);
        self.buffer.close(b',', b'}');
        self.buffer.byte(b'\n');
    }

    fn abandon(&mut self) {
        self.buffer.truncate(self.start);
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn scope(&mut self, scope: Scope) {
        if self.is_bare {
            return self.bare_scope(scope);
        }
        let Some(written) = self.tables.known(self.class) else { return };
        while let Some((next, before)) = written.scopes.get(self.next) {
            self.buffer.put(before);
            self.next = self.next.wrapping_add(1);
            if *next == scope {
                break;
            }
            if next.name().is_some() {
                self.buffer.put(b"},");
            }
        }
        self.is_flat = scope.name().is_none();
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end_scope(&mut self) {
        if !self.is_flat {
            self.end_group();
        }
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn group(&mut self, slot: Slot) {
        if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        self.buffer.byte(b'{');
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn end_group(&mut self) {
        self.buffer.close(b',', b'}');
        self.buffer.byte(b',');
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
        self.buffer.close(b',', b']');
        self.buffer.byte(b',');
    }

    fn key(&mut self, name: record::Text<'_>) {
        let from = self.buffer.mark();
        let mut start = std::mem::take(&mut self.scratch);
        start.clear();
        push_start(&mut start, name, NAME_MAX);
        self.quote(&start);
        self.scratch = start;
        self.buffer.byte(b':');
        self.key = (from, self.buffer.mark());
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn unsigned(&mut self, slot: Slot, value: u64) {
        let is_for_people = self.is_for_people;
        self.number(slot, value.into(), |buffer, hint| match hint {
            Hint::None => buffer.unsigned(value),
            Hint::Address => {
                buffer.byte(b'"');
                buffer.address(value);
                buffer.byte(b'"');
            }
            _ if is_for_people => buffer.in_base_of(hint, value),
            _ => buffer.unsigned(value),
        });
    }

    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn signed(&mut self, slot: Slot, value: i64) {
        self.number(slot, value.into(), |buffer, _| buffer.signed(value));
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let write = |buffer: &mut Buffer, hint: Hint| match (hint, value.words) {
            (Hint::Address, []) => drop(write!(buffer, "\"{:#x}\"", value.low)),
            _ => drop(write!(buffer, "\"{value}\"")),
        };
        match value.to_i128() {
            Some(known) => self.number(slot, known, write),
            None => {
                let hint = self.tables.field(slot).map_or(Hint::None, |field| field.hint);
                self.other(slot, |buffer| write(buffer, hint));
            }
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.other(slot, |buffer| buffer.put(if value { b"true" } else { b"false" }));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.other(slot, |buffer| {
            // A buffer takes all that is written to it.
            let _ = match value.is_finite() {
                true => serde_json::to_writer(buffer, &value).map_err(drop),
                false => write!(buffer, "\"{value}\"").map_err(drop),
            };
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
        match value {
            record::Text::Utf8(text) if !needs_json_escape(text) && text.is_ascii() => {
                self.other(slot, |buffer| {
                    buffer.byte(b'"');
                    buffer.put(text);
                    buffer.byte(b'"');
                })
            }
            record::Text::Utf8(text) => match std::str::from_utf8(text) {
                Ok(text) => self.other(slot, |buffer| drop(serde_json::to_writer(buffer, text))),
                Err(_) => self.broken(slot, text),
            },
            record::Text::Other { text, is_valid: true, .. } => {
                let text = text.to_string();
                self.other(slot, |buffer| drop(serde_json::to_writer(buffer, &text)));
            }
            record::Text::Other { stored, .. } => self.broken(slot, stored),
            _ => self.absent(slot),
        }
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.other(slot, |buffer| {
            buffer.byte(b'"');
            buffer.hex(value);
            buffer.byte(b'"');
        });
    }

    fn absent(&mut self, slot: Slot) {
        self.other(slot, |buffer| buffer.put(b"null"));
    }
}
