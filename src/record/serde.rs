//! A record that is kept, as a map.

use super::class::{Hint, Scope};
use super::told::{Entry, Told, ToldFact, ToldValue};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A map with the members that JSON has in the command: `kind`, `offset`, `time_ns`, `clock`, the other facts of the
/// class, and the fields. What has no number of 64 bits is a string; an address is one, too.
impl Serialize for Told {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let (Some(head), Some(class)) = (self.head, self.class()) else { return map.end() };
        let mut facts = class.facts.iter();
        if let Some((name, fact)) = facts.next() {
            fact_as(name, fact, &mut map)?;
        }
        map.serialize_entry("offset", &head.offset)?;
        let time = head.time.map(|time| time.ns());
        match time.map(|ns| (i64::try_from(ns), ns)) {
            Some((Ok(ns), _)) => map.serialize_entry("time_ns", &ns)?,
            Some((Err(_), ns)) => map.serialize_entry("time_ns", &format!("{ns}"))?,
            None => map.serialize_entry("time_ns", &())?,
        }
        map.serialize_entry("clock", &class.clock)?;
        facts.try_for_each(|(name, fact)| fact_as(name, fact, &mut map))?;
        members(self, 0..self.entries.len(), &mut map)?;
        map.end()
    }
}

fn fact_as<M: SerializeMap>(name: &str, fact: &ToldFact, map: &mut M) -> Result<(), M::Error> {
    match fact {
        ToldFact::Number(number) => map.serialize_entry(name, number),
        ToldFact::Text(text) => map.serialize_entry(name, text),
        ToldFact::Absent => map.serialize_entry(name, &()),
    }
}

/// Some entries as members of a map.
fn members<M: SerializeMap>(
    told: &Told,
    range: core::ops::Range<usize>,
    map: &mut M,
) -> Result<(), M::Error> {
    let mut at = range.start;
    while let Some(entry) = told.entries.get(at).filter(|_| at < range.end) {
        match &entry.value {
            // Its members stand beside the others.
            ToldValue::Scope(Scope::Fields, _) => at = at.saturating_add(1),
            ToldValue::Scope(scope, end) => {
                map.serialize_entry(
                    scope.name().unwrap_or_default(),
                    &Members(told, at.saturating_add(1)..*end),
                )?;
                at = *end;
            }
            ToldValue::Key(name) => {
                let value = at.saturating_add(1);
                at = member(told, told.text(name), value, map)?;
            }
            _ => at = member(told, told.name_of(entry.slot), at, map)?,
        }
    }
    Ok(())
}

/// A member, and what stands beside it: the labels of a number, the bytes of text that is not valid. Returns where the
/// next one begins.
fn member<M: SerializeMap>(told: &Told, name: &str, at: usize, map: &mut M) -> Result<usize, M::Error> {
    let Some(entry) = told.entries.get(at) else { return Ok(usize::MAX) };
    map.serialize_entry(name, &Value(told, at))?;
    if let ToldValue::Text(_, Some(stored)) = &entry.value {
        map.serialize_entry(&format!("{name}_hex"), &hex(told, stored))?;
    }
    let hint = told.field(entry.slot).map(|field| field.hint);
    let labels = labels(told, entry);
    if hint != Some(Hint::Label) && !labels.is_empty() {
        map.serialize_entry(&format!("{name}_labels"), &labels)?;
    }
    Ok(next(entry, at))
}

/// The index of the entry after one.
fn next(entry: &Entry, at: usize) -> usize {
    match entry.value {
        ToldValue::Scope(_, end) | ToldValue::Group(end) | ToldValue::List(end) => end,
        _ => at.saturating_add(1),
    }
}

fn labels<'t>(told: &'t Told, entry: &Entry) -> Vec<&'t str> {
    let value = match &entry.value {
        ToldValue::Unsigned(value) => Some(i128::from(*value)),
        ToldValue::Signed(value) => Some(i128::from(*value)),
        ToldValue::Wide(_, value) => *value,
        _ => None,
    };
    let labels = told.field(entry.slot).and_then(|field| field.labels.as_ref());
    labels.zip(value).map(|(labels, value)| labels.of(value)).unwrap_or_default()
}

fn hex(told: &Told, range: &core::ops::Range<usize>) -> String {
    let bytes = told.bytes.get(range.clone()).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Entries as a map.
struct Members<'t>(&'t Told, core::ops::Range<usize>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        members(self.0, self.1.clone(), &mut map)?;
        map.end()
    }
}

/// The value at a place.
struct Value<'t>(&'t Told, usize);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(told, at) = *self;
        let Some(entry) = told.entries.get(at) else { return to.serialize_unit() };
        let after = at.saturating_add(1);
        let hint = told.field(entry.slot).map_or(Hint::None, |field| field.hint);
        if hint == Hint::Label {
            let labels = labels(told, entry);
            if !labels.is_empty() {
                return to.serialize_str(&labels.join("|"));
            }
        }
        match &entry.value {
            ToldValue::Group(end) | ToldValue::Scope(_, end) => Members(told, after..*end).serialize(to),
            ToldValue::List(end) => {
                let mut list = to.serialize_seq(None)?;
                let mut at = after;
                while let Some(entry) = told.entries.get(at).filter(|_| at < *end) {
                    list.serialize_element(&Value(told, at))?;
                    at = next(entry, at);
                }
                list.end()
            }
            ToldValue::Unsigned(value) if hint == Hint::Address => to.serialize_str(&format!("{value:#x}")),
            ToldValue::Unsigned(value) => to.serialize_u64(*value),
            ToldValue::Signed(value) => to.serialize_i64(*value),
            ToldValue::Wide(text, _) => to.serialize_str(text),
            ToldValue::Boolean(value) => to.serialize_bool(*value),
            ToldValue::Float(value) if value.is_finite() => to.serialize_f64(*value),
            ToldValue::Float(value) => to.serialize_str(&format!("{value}")),
            ToldValue::Text(_, Some(_)) | ToldValue::Absent | ToldValue::Key(_) => to.serialize_unit(),
            ToldValue::Text(text, None) => to.serialize_str(told.text(text)),
            ToldValue::Bytes(bytes) => to.serialize_str(&hex(told, bytes)),
        }
    }
}
