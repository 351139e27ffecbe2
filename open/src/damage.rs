//! The damage of a trace, as lines for people.

/// The first lines, and how many more there are: a trace may be damaged in more places than anyone reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    first: Vec<String>,
    last: String,
    count: u64,
}

impl Damage {
    /// The number of lines that are kept.
    pub const KEPT: usize = 12;

    /// Adds a line, unless it is one of the first or the last one again.
    pub fn add(&mut self, line: String) {
        if self.last == line || self.first.contains(&line) {
            return;
        }
        self.count = self.count.saturating_add(1);
        if self.first.len() < Self::KEPT {
            self.first.push(line.clone());
        }
        self.last = line;
    }

    /// Adds those of another part of the trace.
    pub fn append(&mut self, other: Self) {
        let more = other.more();
        other.first.into_iter().for_each(|line| self.add(line));
        self.count = self.count.saturating_add(more);
    }

    /// The number of lines, of those that are not kept, too.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The lines that are kept.
    pub fn first(&self) -> &[String] {
        &self.first
    }

    /// The number of lines that are not kept.
    pub const fn more(&self) -> u64 {
        self.count.saturating_sub(self.first.len() as u64)
    }
}

impl FromIterator<String> for Damage {
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        let mut damage = Self::default();
        lines.into_iter().for_each(|line| damage.add(line));
        damage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(numbers: impl IntoIterator<Item = u32>) -> Damage {
        numbers.into_iter().map(|number| number.to_string()).collect()
    }

    #[test]
    fn the_first_lines_are_kept_and_all_are_counted() {
        let lines = |damage: &Damage| (damage.first().join(" "), damage.more());
        let first = "0 1 2 3 4 5 6 7 8 9 10 11".to_owned();
        assert_eq!(lines(&Damage::default()), (String::new(), 0));
        assert_eq!(lines(&numbered(0..12)), (first.clone(), 0));
        assert_eq!(lines(&numbered(0..15)), (first.clone(), 3));
        // A line that comes again is not another one.
        assert_eq!(numbered([1, 1, 2, 1]).count(), 2);
        assert_eq!(numbered((0..14).chain([13, 0, 5])).count(), 14);
        let mut both = numbered(0..2);
        both.append(numbered(1..20));
        assert_eq!((both.count(), lines(&both)), (20, (first, 8)));
    }
}
