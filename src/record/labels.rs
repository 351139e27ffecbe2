//! The names of values: found at once, and no more of them than anybody reads.

use super::class::EachLabel;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Write};

/// The names of one value that are found: each value may have all names that there are.
const MAX: usize = 8;

/// The number of characters of a name that are kept.
const NAME_MAX: usize = 256;

/// The beginning of a text: so many characters, and a mark where there are more.
struct Start<'t>(&'t mut String, usize);

impl Write for Start<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for c in text.chars() {
            let Some(left) = self.1.checked_sub(1) else {
                self.0.push('…');
                return Err(core::fmt::Error);
            };
            self.1 = left;
            self.0.push(c);
        }
        Ok(())
    }
}

/// The labels of a field's values, or of its bits: made once for a field, or for all that share a set.
///
/// ```
/// use traceglass::record::Labels;
///
/// let states = Labels::new(&|each| {
///     each(&"RUNNING", 0, 0);
///     each(&"BLOCKED", 1, 9);
/// }, false);
/// assert_eq!(states.of(2), ["BLOCKED"]);
/// assert!(states.of(10).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Vec<String>,
    /// The values from which on other names hold, each with its end in `holding`.
    starts: Vec<(i128, usize)>,
    /// For each start the first names that hold, and one more if there are others.
    holding: Vec<u32>,
    are_of_bits: bool,
}

impl Labels {
    /// The labels that `each` hands out: of bits, as those of [`Kind::Flags`](super::Kind::Flags), or of values.
    pub fn new(each: EachLabel<'_>, are_of_bits: bool) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut changes = Vec::new();
        // A name with several ranges comes several times, one after the other.
        let mut add = |name: &dyn Display, first: i128, last: i128| {
            let mut text = String::new();
            // A name that is cut ends there.
            let _ = write!(Start(&mut text, NAME_MAX), "{name}");
            if names.last() != Some(&text) {
                names.push(text);
            }
            if let (true, Some(number)) = (first <= last, names.len().checked_sub(1)) {
                changes.extend([(first, number, true), (last.saturating_add(1), number, false)]);
            }
        };
        each(&mut add);
        changes.sort_unstable();
        let (mut starts, mut holding) = (Vec::new(), Vec::new());
        // The number of ranges in which each name holds now: they may overlap.
        let mut now: BTreeMap<usize, u32> = BTreeMap::new();
        for at in changes.chunk_by(|a, b| a.0 == b.0) {
            for &(_, number, begins) in at {
                let times = now.get(&number).copied().unwrap_or(0);
                match if begins { times.saturating_add(1) } else { times.saturating_sub(1) } {
                    0 => now.remove(&number),
                    times => now.insert(number, times),
                };
            }
            let first = now.keys().take(MAX.saturating_add(1));
            holding.extend(first.filter_map(|&number| u32::try_from(number).ok()));
            starts.extend(at.first().map(|(start, ..)| (*start, holding.len())));
        }
        Self { names, starts, holding, are_of_bits }
    }

    /// The names of a value. After the first ones, `…` stands for all others.
    pub fn of(&self, value: i128) -> Vec<&str> {
        let mut found = Vec::new();
        if self.are_of_bits {
            let bits = value.cast_unsigned();
            let is_set = |bit: &u32| bits.checked_shr(*bit).is_some_and(|bits| bits & 1 == 1);
            (0..u128::BITS).filter(is_set).for_each(|bit| self.find(bit.into(), &mut found));
        } else {
            self.find(value, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        let name = |number: &u32| self.names.get(usize::try_from(*number).ok()?).map(String::as_str);
        let mut names: Vec<&str> = found.iter().take(MAX).filter_map(name).collect();
        if found.len() > MAX {
            names.push("…");
        }
        names
    }

    fn find(&self, value: i128, found: &mut Vec<u32>) {
        let after = self.starts.partition_point(|(start, _)| *start <= value);
        let end_of = |at: Option<usize>| at.and_then(|at| self.starts.get(at)).map_or(0, |at| at.1);
        let (start, end) = (end_of(after.checked_sub(2)), end_of(after.checked_sub(1)));
        found.extend_from_slice(self.holding.get(start..end).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::ToOwned;
    use std::format;

    /// Against a look at each range, on random ranges of values and of bits.
    #[test]
    fn names_are_those_whose_ranges_hold() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for round in 0..200 {
            let are_of_bits = round % 2 == 1;
            let count = random(14);
            let mut ranges: Vec<(usize, i128, i128)> = Vec::new();
            for number in 0..count as usize {
                for _ in 0..=random(3) {
                    let first = i128::from(random(40)) - if are_of_bits { 0 } else { 20 };
                    ranges.push((number, first, first + i128::from(random(12)) - 1));
                }
            }
            let each = |each: &mut dyn FnMut(&dyn Display, i128, i128)| {
                for (number, first, last) in &ranges {
                    each(&format_args!("n{number}"), *first, *last);
                }
            };
            let labels = Labels::new(&|to| each(to), are_of_bits);
            for value in -25_i128..60 {
                let value = if are_of_bits { (value * 77_777_777) & 0xff_ffff_ffff } else { value };
                let holds = |(_, first, last): &&(usize, i128, i128)| match are_of_bits {
                    true => (*first..=*last).any(|bit| value >> bit & 1 == 1),
                    false => (*first..=*last).contains(&value),
                };
                let mut found: Vec<usize> = ranges.iter().filter(holds).map(|(number, ..)| *number).collect();
                found.dedup();
                let mut expected: Vec<String> = found.iter().take(MAX).map(|n| format!("n{n}")).collect();
                if found.len() > MAX {
                    expected.push("…".to_owned());
                }
                assert_eq!(labels.of(value), expected, "{value} in {ranges:?}");
            }
        }
    }
}
