//! The damage of a trace, as verbs tell it.

use crate::output::{Out, grouped, shown};
use crate::status::Status;
use std::fmt::Display;
use std::path::Path;
pub use traceglass_open::damage::Damage;

/// An error, in a file of a trace that has several.
pub fn in_file(path: Option<&Path>, error: impl Display) -> String {
    match path {
        Some(path) => format!("{}: {error}", shown(path)),
        None => error.to_string(),
    }
}

/// The ways to add damage and to tell it.
pub trait DamageExt {
    /// Adds an error, in a file of a trace that has several.
    fn add_in(&mut self, path: Option<&Path>, error: impl Display);

    /// The lines for people: the first ones, and how many more there are.
    fn lines(&self) -> Vec<String>;

    /// Says what is damaged, on stderr.
    fn tell(&self, path: &Path, out: &mut Out) -> Status;

    fn status(&self) -> Status;
}

impl DamageExt for Damage {
    fn add_in(&mut self, path: Option<&Path>, error: impl Display) {
        self.add(in_file(path, error));
    }

    fn lines(&self) -> Vec<String> {
        let more = Some(self.more()).filter(|more| *more > 0);
        let more = more.map(|more| format!("and {} more", grouped(more)));
        self.first().iter().cloned().chain(more).collect()
    }

    fn tell(&self, path: &Path, out: &mut Out) -> Status {
        self.lines().into_iter().for_each(|line| out.warn(path, line));
        self.status()
    }

    fn status(&self) -> Status {
        Status::damaged_if(self.count() > 0)
    }
}
