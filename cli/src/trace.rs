//! The interface between verbs and formats: verbs ask, formats answer.

#[cfg(feature = "view")]
mod browse;
mod content;
mod damage;
mod fields;
mod findings;
#[cfg(feature = "tables")]
mod lent;
mod options;
mod redact;
mod rewrite;
mod select;
mod stamps;
mod time;

#[cfg(feature = "view")]
pub use browse::{About, Browse, Depth, Each, FileEntry, Level, Lost, Marks, Node, Plain};
pub use content::{Events, Export, Outcome, Part, PartId, Parts, Target, no_events};
pub use damage::{Damage, DamageExt, in_file};
pub use fields::{Field, Fields};
pub use findings::Findings;
#[cfg(feature = "tables")]
pub use lent::{Lent, ReadTables, Whole};
pub use options::{Listing, Pairing, RdfSelect, Reading, Selection};
pub use redact::{Privacy, Private, Redaction, put_in_order};
pub use rewrite::{
    Anew, Append, By, Create, Digest, Merge, NewParts, NewTrace, Rewritten, Tally, Wanted, in_order_of_time,
};
pub use select::Select;
pub use stamps::{
    Stamps, aligned, duration, insert_span, push_aligned, rfc3339, shown_micros, shown_time, time_json,
};
pub use time::{Bounds, Extent, LookBack, Reference, Time, Window, begin_before, widen};
pub use traceglass_open::time::READ_WHOLE;

use crate::input::Input;
use crate::output::Out;
use crate::states::Pairs;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::table::Table;
use serde_json::{Map, Value};
use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use traceglass::{Error, Format};

impl Outcome {
    /// Adds the damage that no event tells of, if all of the trace was wanted.
    pub fn add_untold(&mut self, trace: &dyn Trace, window: traceglass::event::Window) -> Result<()> {
        if window == traceglass::event::Window::ALL {
            let mut damage = Damage::default();
            trace.untold(&mut |path, error| damage.add_in(path, error))?;
            self.status = self.status.max(damage.status());
            self.damage.append(damage);
        }
        Ok(())
    }
}

/// Takes damage that no event shows.
pub type Untold<'t> = dyn FnMut(Option<&Path>, Error) + 't;

/// A trace that has been opened.
pub trait Trace {
    fn format(&self) -> Format;

    /// The name of the format in JSON.
    fn format_name(&self) -> &'static str {
        self.format().name()
    }

    /// A description, and whether all of it can be read.
    fn info(&self, args: &Inquiry) -> Result<Info>;

    /// The parts, one a line.
    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status>;

    /// The content, or the part selected; of a trace that is followed, what has come since.
    fn cat(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status>;

    /// Reads and verifies everything.
    fn check(&self, findings: &mut Findings<'_>) -> Result<Status>;

    /// Hands out the fields in the range to be shown, in ascending order.
    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status>;

    /// The number of bytes that are read for what is exported.
    fn bytes(&self) -> u64;

    /// Has a viewer look at it, piece by piece; `path` is where it was found.
    #[cfg(feature = "view")]
    fn browse(&self, _path: &Path, _look: &mut dyn FnMut(&dyn Browse)) -> Result<()> {
        Err(Failure::unreadable(
            "view does not show this; `traceglass info` says what it is, and `traceglass ls` what is in it",
        ))
    }

    /// The tracks and events of a range of time, in the order of time; what lies outside of it is not read where the format
    /// has a way around it.
    fn events_in(&self, _window: traceglass::event::Window, _events: &mut dyn Events) -> Result<Outcome> {
        Err(no_events(self.format()))
    }

    /// The tracks and events, with the states and slices that a table of pairs finds in them.
    fn states_in(
        &self,
        window: traceglass::event::Window,
        pairs: &Pairs,
        events: &mut dyn Events,
    ) -> Result<Outcome> {
        self.events_in(traceglass::event::Window::new(pairs.since, window.to()), events)
    }

    /// True if it can have slices: something may be open when a range begins.
    fn has_slices(&self) -> bool {
        true
    }

    /// The time from which on its index has so many bytes before another time; `None` if it has fewer, or no index by
    /// which what lies before could be left out.
    fn time_before(&self, _time: i128, _bytes: u64) -> Option<i128> {
        None
    }

    /// Hands out the damage that its events do not show, each with the file of a trace of several.
    fn untold(&self, _tell: &mut Untold<'_>) -> Result<()> {
        Ok(())
    }

    /// The range that is asked for, in nanoseconds of its clock: the same for each verb.
    fn bounds(&self, _window: &Window) -> Result<Bounds> {
        Err(no_events(self.format()))
    }

    /// Lends it out to be read as tables; `name` is that of a file that was named itself.
    #[cfg(feature = "tables")]
    fn tables(&self, _name: &str, _pairs: &Pairs, _read: &mut ReadTables<'_>) -> Result<()> {
        Err(no_events(self.format()))
    }

    /// The description of its layout, as a table for devices.
    fn compile(&self) -> Result<Vec<u8>> {
        let name = self.format().name();
        Err(Failure::usage(format!("compile is for CTF, whose metadata describes a trace; this is {name}")))
    }

    /// True if a new trace of its kind is a folder.
    fn is_written_as_folder(&self) -> bool {
        false
    }

    /// True if several of its kind make a folder.
    fn is_merged_into_folder(&self) -> bool {
        self.is_written_as_folder()
    }

    // A page has no place to write to: formats leave out these three, and `compile`, there.

    /// Writes what is wanted of it, as a trace of the same format; all that can be read if everything is.
    fn rewrite(&self, wanted: &Wanted<'_>, _to: &mut dyn NewTrace) -> Result<Rewritten> {
        Err(wanted.unsupported(self.format_name()))
    }

    /// Tells where text is that is private: in files as they lie, so that as many bytes can stand in its place.
    fn private(&self, _private: &mut Private<'_>) -> Result<()> {
        let name = self.format_name();
        Err(Failure::usage(format!("--redact: {name} does not say what of its content is private")))
    }

    /// The parts, with what is in them.
    fn extract(&self, _parts: &mut dyn Parts) -> Result<Outcome> {
        Err(Failure::usage(format!("{} has no parts to be written as files", self.format_name())))
    }
}

/// Opens a trace of any format.
pub type Open = for<'a> fn(&'a Input, Reading) -> Result<Box<dyn Trace + 'a>, Unreadable>;

/// The description of a file as a whole.
pub struct Info {
    /// The size in bytes; of a recording, of all its files.
    pub bytes: u64,
    /// True if something is damaged, which `check` tells in full.
    pub status: Status,
    /// The format's own fields of the JSON object, between `bytes` and `verdict`.
    pub fields: Map<String, Value>,
    /// The full name of the format, with its version.
    pub title: String,
    /// Labels and values, one pair a line, for people.
    pub lines: Vec<(&'static str, String)>,
    /// More of the same, which does not fit into a line.
    pub tables: Vec<(&'static str, Table)>,
    pub damage: Damage,
    /// True if all of it was read.
    pub complete: bool,
}

/// Of more bytes than these, `info` reads only what it needs.
const LARGE: u64 = 256 << 20;

/// The options of `info`.
#[derive(Clone, Copy)]
pub struct Inquiry {
    /// Read everything, however large it is.
    pub full: bool,
    /// Say what each task did.
    pub tasks: bool,
}

impl Inquiry {
    /// True if all of an input of this many bytes is to be read.
    pub fn wants_all(self, bytes: u64) -> bool {
        self.full || bytes <= LARGE
    }
}

/// The position up to which a growing trace has been printed.
#[derive(Default)]
pub struct Cursor {
    /// True if more is to come: then what a file ends in is no damage.
    pub follows: bool,
    /// True if a pipe that is followed has ended: what it ends in is final.
    pub has_ended: bool,
    /// The offset in each file at which printing goes on.
    pub places: HashMap<PathBuf, u64>,
    /// The state that the format keeps besides.
    pub kept: Option<Box<dyn Any>>,
}
