//! The interface between a viewer and a trace: its files, and what lies in them from a place on.
//!
//! A viewer shows a screen of a file of any size, so that a format walks only a little at a time: from a place where
//! reading can begin, which is a [mark](Marks), up to where the viewer has seen enough. Marks are found by a pass in
//! the background; until that has come far enough, nothing is shown at places that only it can reach.

use super::{Field, Fields};
use std::path::Path;
use traceglass::event::Time;
use traceglass::{Format, Gap};

/// A trace that can be looked at piece by piece.
pub trait Browse: Sync {
    fn format(&self) -> Format;

    /// The files, in order.
    fn files(&self) -> &[FileEntry];

    /// The file that is shown first.
    fn first(&self) -> usize {
        0
    }

    /// The bytes of a file.
    fn data(&self, file: usize) -> Result<&[u8], String>;

    /// Hands out what lies in a file in ascending order: from somewhere at or before `from`, as near as reading can
    /// begin, until `each` has seen enough and returns false, or to the end.
    fn walk(&self, file: usize, from: u64, depth: Depth, each: Each<'_>);

    /// Looks for places where reading can begin, until `going`, which is told how far it has come, returns false.
    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool);

    /// The place to begin a walk for a time: everything at or after that time follows it. It may be early.
    fn near(&self, _file: usize, _ns: i128) -> u64 {
        0
    }

    /// The file that an event's input is, if that can be told.
    fn file_of_input(&self, input: usize) -> Option<usize> {
        (self.files().len() == 1 && input == 0).then_some(0)
    }

    /// The file of which a finding gives the path.
    fn file_of_path(&self, path: Option<&Path>) -> Option<usize> {
        match path {
            None => (self.files().len() == 1).then_some(0),
            Some(path) => self.files().iter().position(|file| Path::new(&file.path) == path),
        }
    }
}

/// Takes a node; true asks for the next one.
pub type Each<'e> = &'e mut dyn FnMut(&Node<'_>) -> bool;

/// A file of a trace.
pub struct FileEntry {
    pub path: std::path::PathBuf,
    pub size: u64,
    /// The times of its begin and its end in nanoseconds, if that stands in a header.
    pub times: Option<(i128, i128)>,
}

/// The depth to which the contents of a file are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Parts alone.
    Parts,
    /// Everything.
    All,
}

/// The kind of something in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A part: a unit, a packet, a chunk.
    Part,
    /// A part of the part before.
    Inner,
    /// A record, or what else happened.
    Record,
    /// Neither a part nor a record: headers, padding.
    Filling,
    /// Bytes that cannot be read.
    Gap,
    /// The bytes that follow, in which the next record takes long to find: a screen does without it.
    Unread,
}

impl Level {
    pub fn is_record(self) -> bool {
        matches!(self, Self::Record | Self::Gap | Self::Unread)
    }
}

/// Something that lies in a file.
pub struct Node<'n> {
    pub level: Level,
    pub offset: u64,
    /// The number among the records that stand at this offset, as those of decompressed data do: 0 for the first one.
    pub sub: u64,
    pub end: u64,
    pub time: Option<Time>,
    pub about: &'n dyn About,
}

impl<'n> Node<'n> {
    /// Something that lies in the file as it is, and has no time.
    pub fn new(level: Level, offset: u64, end: u64, about: &'n dyn About) -> Self {
        Self { level, offset, sub: 0, end, time: None, about }
    }

    /// The same, at a time.
    pub fn at(self, time: Option<Time>) -> Self {
        Self { time, ..self }
    }
}

/// The text of something, made when it is shown.
pub trait About {
    /// A name, and what else there is to say.
    fn text(&self) -> (String, String);

    /// The fields, of its own bytes.
    fn fields(&self, _fields: &mut Fields<'_, '_>) -> crate::status::Result<()> {
        Ok(())
    }
}

/// A name and a text, as one field.
pub struct Plain<'n> {
    pub name: &'n str,
    pub text: String,
    pub field: Option<Field>,
}

impl About for Plain<'_> {
    fn text(&self) -> (String, String) {
        (self.name.to_owned(), self.text.clone())
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> crate::status::Result<()> {
        self.field.iter().try_for_each(|field| fields.field(field))
    }
}

/// A range that could not be read.
pub struct Lost {
    gap: Gap,
    /// A word for the reason, besides its cause.
    reason: Option<&'static str>,
}

impl Lost {
    pub fn new(gap: Gap) -> Self {
        Self { gap, reason: None }
    }

    pub fn because(gap: Gap, reason: Option<&'static str>) -> Self {
        Self { gap, reason }
    }

    pub fn node(&self) -> Node<'_> {
        Node::new(Level::Gap, self.gap.offset(), self.gap.end(), self)
    }
}

impl About for Lost {
    fn text(&self) -> (String, String) {
        let cause = self.gap.cause();
        let text = self.reason.map_or_else(|| cause.to_string(), |reason| format!("{reason}: {cause}"));
        ("(lost)".to_owned(), text)
    }

    fn fields(&self, fields: &mut Fields<'_, '_>) -> crate::status::Result<()> {
        let (name, text) = self.text();
        fields.field(&Field::new(self.gap.offset(), self.gap.len(), name, text))
    }
}

/// Places at which reading can begin, with what it takes. When there are too many, every second one is dropped, so that
/// their number stays limited.
pub struct Marks<M> {
    /// Of which file they are.
    pub file: usize,
    places: Vec<(u64, M)>,
    spacing: u64,
    /// The offset up to which they have been looked for.
    pub done: u64,
}

impl<M> Marks<M> {
    const MOST: usize = 1 << 15;

    pub const fn new() -> Self {
        Self { file: usize::MAX, places: Vec::new(), spacing: 0, done: 0 }
    }

    /// Forgets all, for another file.
    pub fn reset(&mut self, file: usize) {
        *self = Self { file, ..Self::new() };
    }

    /// Keeps a place, unless it is near the last one; places come in ascending order.
    pub fn note(&mut self, offset: u64, mark: M) {
        self.done = offset;
        let due = self.places.last().is_none_or(|(last, _)| offset >= last.saturating_add(self.spacing));
        if !due || self.places.last().is_some_and(|(last, _)| *last == offset) {
            return;
        }
        self.places.push((offset, mark));
        if self.places.len() < Self::MOST {
            return;
        }
        let mut number = 0_usize;
        self.places.retain(|_| {
            number = number.wrapping_add(1);
            number % 2 == 1
        });
        let (first, last) = (self.places.first(), self.places.last());
        let span = first.zip(last).map_or(0, |(first, last)| last.0.saturating_sub(first.0));
        self.spacing = span.checked_div(Self::MOST as u64 / 2).unwrap_or(0).max(1);
    }

    /// The last place at or before an offset.
    pub fn before(&self, file: usize, offset: u64) -> Option<&(u64, M)> {
        let places = self.of(file);
        let next = places.partition_point(|(place, _)| *place <= offset);
        next.checked_sub(1).and_then(|place| places.get(place))
    }

    /// The places of a file that are known.
    pub fn of(&self, file: usize) -> &[(u64, M)] {
        if self.file == file { &self.places } else { &[] }
    }

    /// All places of a file, if none was dropped and the pass has come beyond `offset`.
    pub fn all(&self, file: usize, offset: u64) -> Option<&[(u64, M)]> {
        (self.file == file && self.spacing == 0 && self.done >= offset).then_some(&self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_few_and_near() {
        let mut marks = Marks::new();
        marks.reset(3);
        for offset in (0..10_000_000_u64).step_by(10) {
            marks.note(offset, offset / 10);
        }
        assert!(marks.places.len() < Marks::<u64>::MOST);
        assert!(marks.before(2, 5).is_none());
        for offset in [0, 9, 10, 4_999_999, 9_999_999, u64::MAX] {
            let &(place, mark) = marks.before(3, offset).unwrap();
            assert_eq!(place, mark * 10);
            assert!(place <= offset && offset.min(9_999_999) - place < 2000, "{place} {offset}");
        }
        assert!(marks.all(3, 0).is_none());
    }
}
