//! The names of values: found at once, and no more of them than anybody reads.

use super::names::told;
use std::collections::{BTreeMap, HashMap};
use traceglass::ctf::data::{Field, Value};
use traceglass::ctf::schema::Mappings;

/// How many names of a value are told: each value may have all names that there are.
const MOST: usize = 8;

/// How many bits the flags of a bit map have at most.
const BITS: i128 = 128;

/// The names of the values of each class.
#[derive(Default)]
pub struct Labels(HashMap<u32, Known>);

impl Labels {
    /// The names of a field's value: mappings of an integer, flags of a bit map. After the first ones, `…` stands for all
    /// others.
    pub fn of(&mut self, field: &Field<'_, '_>) -> Vec<&str> {
        let class = field.class();
        if !class.has_labels() {
            return Vec::new();
        }
        let mappings = class.mappings();
        let known = &*self.0.entry(mappings.key()).or_insert_with(|| Known::new(mappings));
        match field.value() {
            Value::Unsigned(value) => known.find([value.into()]),
            Value::Signed(value) => known.find([value.into()]),
            Value::Bits(bits) => match bits.to_u128() {
                Some(bits) => known.find((0..BITS).filter(|at| bits >> at & 1 == 1)),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// The names of a class.
struct Known {
    names: Vec<String>,
    /// From which value on which names hold, up to the next such value: an end in `holding`.
    starts: Vec<(i128, usize)>,
    /// The first names that hold, and one more if there are others.
    holding: Vec<u32>,
}

impl Known {
    fn new(mappings: Mappings<'_, '_>) -> Self {
        let mut names = Vec::new();
        let mut changes = Vec::new();
        for (number, mapping) in (0_u32..).zip(mappings) {
            names.push(mapping.name().map(told).unwrap_or_default());
            for (first, last) in mapping.ranges().filter(|(first, last)| first <= last) {
                changes.extend([(first, number, true), (last + 1, number, false)]);
            }
        }
        changes.sort_unstable();
        let (mut starts, mut holding) = (Vec::new(), Vec::new());
        // How often each name holds: its ranges may overlap.
        let mut now: BTreeMap<u32, u32> = BTreeMap::new();
        for at in changes.chunk_by(|a, b| a.0 == b.0) {
            for &(_, number, begins) in at {
                let times = now.get(&number).copied().unwrap_or(0);
                match if begins { times + 1 } else { times.saturating_sub(1) } {
                    0 => now.remove(&number),
                    times => now.insert(number, times),
                };
            }
            holding.extend(now.keys().take(MOST + 1));
            starts.push((at[0].0, holding.len()));
        }
        Self { names, starts, holding }
    }

    /// The names that hold for any of some values.
    fn find(&self, values: impl IntoIterator<Item = i128>) -> Vec<&str> {
        let mut found: Vec<u32> = Vec::new();
        for value in values {
            let after = self.starts.partition_point(|(start, _)| *start <= value);
            let end_of =
                |at: usize| at.checked_sub(1).and_then(|at| self.starts.get(at)).map_or(0, |at| at.1);
            found.extend_from_slice(&self.holding[end_of(after.saturating_sub(1))..end_of(after)]);
        }
        found.sort_unstable();
        found.dedup();
        let name = |number: &u32| self.names.get(*number as usize).map(String::as_str);
        let mut names: Vec<&str> = found.iter().take(MOST).filter_map(name).collect();
        if found.len() > MOST {
            names.push("…");
        }
        names
    }
}
