//! What a format must say, and in which terms: verbs ask, formats answer.

#[cfg(feature = "view")]
mod browse;
mod content;
mod fields;
mod findings;
#[cfg(feature = "tables")]
mod lent;
mod options;
mod time;

#[cfg(feature = "view")]
pub use browse::{About, Browse, Depth, Each, FileEntry, Level, Marks, Node, OpenBrowse, Plain};
pub use content::{Events, Export, Growing, Outcome, Part, PartId, Parts, Target, no_events};
pub use fields::{Field, Fields};
pub use findings::Findings;
#[cfg(feature = "tables")]
pub use lent::{Lent, ReadTables};
pub use options::{Listing, RdfSelect, Reading, RfrSelect, Selection};
pub use time::{Time, Window, rfc3339};

use crate::input::Input;
use crate::output::Out;
use crate::status::{Result, Status, Unreadable};
use serde_json::{Map, Value};
use traceglass::Format;

/// A trace that has been opened.
pub trait Trace {
    fn format(&self) -> Format;

    /// What it is, and whether all of it can be read.
    fn info(&self) -> Result<Info>;

    /// Its parts, one a line.
    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status>;

    /// Its content, or the part selected.
    fn cat(&self, args: &Selection, out: &mut Out) -> Result<Status>;

    /// Reads and verifies everything.
    fn check(&self, findings: &mut Findings<'_>) -> Result<Status>;

    /// Hands out the fields in the range to be shown, in ascending order.
    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status>;

    /// How many bytes are read for what is exported.
    fn bytes(&self) -> u64;

    /// Its tracks and events, in the order of time.
    fn events(&self, _events: &mut dyn Events) -> Result<Outcome> {
        Err(no_events(self.format()))
    }

    /// Lends it out to be read as tables; `name` is that of a file that was named itself.
    #[cfg(feature = "tables")]
    fn tables(&self, _name: &str, _read: &mut ReadTables<'_>) -> Result<()> {
        Err(no_events(self.format()))
    }

    /// Its parts, with what is in them.
    fn extract(&self, _parts: &mut dyn Parts) -> Result<Outcome>;
}

/// How a trace of any format is opened.
pub type Open = for<'a> fn(&'a Input, Reading) -> Result<Box<dyn Trace + 'a>, Unreadable>;

/// What a format has to say about a file as a whole.
pub struct Info {
    /// The size in bytes; of a recording, of all its files.
    pub bytes: u64,
    /// Whether something is damaged, which `check` tells in full.
    pub status: Status,
    /// The format's own fields of the JSON object, between `bytes` and `verdict`.
    pub fields: Map<String, Value>,
    /// What the format is called in full, with its version.
    pub title: String,
    /// Label and value, one a line, for people.
    pub lines: Vec<(&'static str, String)>,
    /// What is wrong, one a line.
    pub damage: Vec<String>,
}
