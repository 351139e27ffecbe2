//! Names that are asked for.

use std::fmt::{Display, Write};
use wildmatch::WildMatch;

/// Patterns of names, in which `*` stands for any text and `?` for one character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(Vec<WildMatch>);

impl Names {
    /// The names that one of these patterns fits; all if there is none.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Self {
        Self(patterns.into_iter().map(WildMatch::new).collect())
    }

    /// True if all names are asked for.
    pub fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a name is among them.
    pub fn has(&self, name: impl Display) -> bool {
        if self.are_all() {
            return true;
        }
        let mut text = String::new();
        // A string takes all that is written to it.
        let _ = write!(text, "{name}");
        self.0.iter().any(|pattern| pattern.matches(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        let names = Names::new(["sched_*", "irq?", "größe"]);
        for (name, is_it) in [
            ("sched_", true),
            ("sched_switch", true),
            ("a_sched_x", false),
            ("irq", false),
            ("irq7", true),
            ("größe", true),
            ("gr", false),
        ] {
            assert_eq!(names.has(name), is_it, "{name}");
        }
        assert!(Names::default().has("anything") && Names::default().are_all() && !names.are_all());
    }

    #[test]
    fn a_hostile_pattern_takes_no_long() {
        // Backtracking into each star would never end.
        let pattern = "a*".repeat(60) + "b";
        assert!(!Names::new([pattern.as_str()]).has("a".repeat(5_000)));
    }
}
