//! Interned names: each is written once, and referred to by a number from then on.

use super::message::Message;
use compact_str::CompactString;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The number of names of a kind that are interned; all others are written where they occur, so that memory stays flat.
const CAPACITY: usize = 1 << 14;

/// The names of a kind, such as those of events.
#[derive(Default)]
pub struct Names {
    numbers: HashMap<CompactString, u64, RandomState>,
    entry: Message,
}

impl Names {
    /// The number of a name, which is defined in `data` as `field` if it is new; `None` if there are too many.
    pub fn number(&mut self, name: &str, field: u32, data: &mut Message) -> Option<u64> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        if self.numbers.len() >= CAPACITY {
            return None;
        }
        // Zero is not a valid number.
        let number = (self.numbers.len() as u64).saturating_add(1);
        self.entry.clear();
        self.entry.uint(1, number).text(2, name);
        data.nested(field, self.entry.bytes());
        self.numbers.insert(CompactString::new(name), number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_defined_once_and_not_without_end() {
        let (mut names, mut data) = (Names::default(), Message::default());
        assert_eq!(names.number("poll", 2, &mut data), Some(1));
        assert_eq!(data.bytes(), b"\x12\x08\x08\x01\x12\x04poll");
        data.clear();
        assert_eq!(names.number("poll", 2, &mut data), Some(1));
        assert!(data.is_empty());
        for other in 0..CAPACITY as u64 - 1 {
            assert_eq!(names.number(&other.to_string(), 2, &mut data), Some(other + 2));
        }
        data.clear();
        assert_eq!(names.number("one more", 2, &mut data), None);
        assert!(data.is_empty());
        assert_eq!(names.number("poll", 2, &mut data), Some(1));
    }
}
