//! Lines of records on their way out: text or JSON.

use super::text::Text;
use super::{Buffer, Json, Names, Place};
use crate::output::Out;
use crate::status::Result;
use traceglass::record::{Record, Source};

/// Lines are written out when there are as many bytes of them.
const FULL: usize = 1 << 16;

/// The lines there are, and their form.
#[derive(Clone, Default)]
pub struct Shape {
    pub json: bool,
    /// The names of the records that are asked for.
    pub names: Names,
    /// True if each line has the time since the one before it.
    pub delta: bool,
    /// True if times are those of the zone of this computer.
    pub local: bool,
}

/// Records as lines: for people, or as JSON.
pub enum Lines {
    Text(Box<Text>),
    Json(Box<Json>),
}

impl Lines {
    pub fn new(shape: &Shape, out: &Out) -> Self {
        Self::with(shape, out.is_colored())
    }

    /// The same, to be written out elsewhere.
    pub fn with(shape: &Shape, is_colored: bool) -> Self {
        if shape.json {
            let mut json = Json::default();
            json.only(&shape.names);
            return Self::Json(Box::new(json));
        }
        let mut text = Text::new(is_colored);
        text.only(&shape.names);
        if shape.delta {
            text.tell_deltas();
        }
        if shape.local {
            text.tell_local_times();
        }
        Self::Text(Box::new(text))
    }

    /// Says where the next records come from.
    pub fn set_place(&mut self, place: &Place) {
        match self {
            Self::Text(text) => text.set_place(&place.shown),
            Self::Json(json) => json.set_place(&place.json),
        }
    }

    /// Spells a place, to be set often.
    pub fn spell_place(&self, place: &Place) -> Vec<u8> {
        match self {
            Self::Text(text) => text.spell_place(&place.shown),
            Self::Json(_) => place.json.clone(),
        }
    }

    /// As [`Self::set_place`], with what was spelled before.
    #[inline]
    pub fn set_spelled_place(&mut self, place: &[u8]) {
        match self {
            Self::Text(text) => text.set_spelled_place(place),
            Self::Json(json) => json.set_place(place),
        }
    }

    /// A record, whole or not at all.
    #[inline]
    pub fn record(&mut self, record: &impl Record) -> traceglass::Result<()> {
        match self {
            Self::Text(text) => record.tell(&mut **text),
            Self::Json(json) => record.tell(&mut **json),
        }
    }

    /// The next record of a source, whole or not at all.
    #[inline]
    pub fn next_of(&mut self, source: &mut impl Source) -> traceglass::Result<()> {
        match self {
            Self::Text(text) => source.tell(&mut **text),
            Self::Json(json) => source.tell(&mut **json),
        }
    }

    fn buffer(&mut self) -> &mut Buffer {
        match self {
            Self::Text(text) => &mut text.buffer,
            Self::Json(json) => &mut json.buffer,
        }
    }

    /// Moves all lines to the end of a text, which is not written out.
    pub fn move_to(&mut self, text: &mut Vec<u8>) {
        let buffer = self.buffer();
        text.extend_from_slice(buffer.text());
        buffer.clear();
    }

    /// Takes back the last line, which begins at a mark, to be [put](Self::put) later.
    pub fn cut(&mut self, mark: usize) -> Vec<u8> {
        let line = self.buffer().text().get(mark..).unwrap_or_default().to_vec();
        self.buffer().truncate(mark);
        line
    }

    /// Puts a line that was cut.
    pub fn put(&mut self, line: &[u8]) {
        self.buffer().put(line);
    }

    /// The length of what waits to be written.
    #[inline]
    pub fn mark(&self) -> usize {
        match self {
            Self::Text(text) => text.buffer.mark(),
            Self::Json(json) => json.buffer.mark(),
        }
    }

    /// Writes the lines out if they are many.
    #[inline]
    pub fn pass(&mut self, out: &mut Out) -> Result<()> {
        if self.mark() >= FULL { self.settle(out) } else { Ok(()) }
    }

    /// Writes all lines out: before a message, and at the end.
    pub fn settle(&mut self, out: &mut Out) -> Result<()> {
        match self {
            Self::Text(text) => {
                out.lines(text.buffer.text())?;
                text.buffer.clear();
            }
            Self::Json(json) => {
                out.json_text(json.buffer.text())?;
                json.buffer.clear();
            }
        }
        Ok(())
    }
}
