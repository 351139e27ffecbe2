//! The damage that was found while tables were made.

use crate::events::GAPS;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch};
use traceglass::rdf::element::CHUNK_VERSION;

/// The ranges that could not be read: the first messages, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    first: Vec<String>,
    count: u64,
}

impl Damage {
    /// The number of messages that are kept.
    pub const KEPT: usize = 12;

    /// Takes up the rows of a batch, if it is one of `gaps`. What a recorder discarded is no damage, nor is a chunk of RDF
    /// whose version is not known: its bytes are whole.
    pub fn observe(&mut self, table: usize, batch: &RecordBatch) {
        if table != GAPS {
            return;
        }
        let column = |name| batch.column_by_name(name);
        let names =
            |name| column(name)?.as_dictionary::<Int32Type>().downcast_dict::<arrow_array::StringArray>();
        let (Some(files), Some(elements), Some(messages)) =
            (names("file"), names("element"), column("message"))
        else {
            return;
        };
        let messages = messages.as_string::<i32>();
        for row in (0..batch.num_rows()).filter(|&row| messages.is_valid(row)) {
            use arrow_array::ArrayAccessor;
            if elements.is_valid(row) && elements.value(row) == CHUNK_VERSION.name() {
                continue;
            }
            self.count = self.count.saturating_add(1);
            if self.first.len() < Self::KEPT {
                let file = if files.is_valid(row) { files.value(row) } else { "" };
                let message = messages.value(row);
                let line = if file.is_empty() { message.to_owned() } else { format!("{file}: {message}") };
                self.first.push(line);
            }
        }
    }

    /// Takes up what another thread found.
    pub(crate) fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.first.extend(other.first);
        self.first.truncate(Self::KEPT);
    }

    /// The number of damaged places.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The first messages, each with its file.
    pub fn first(&self) -> &[String] {
        &self.first
    }
}
