//! Files that are lent out to be read as tables, and the slices of all of them.

use super::Events;
use crate::states::Pairs;
use crate::status::{Failure, Result};
use traceglass::event::{Item, Window};
use traceglass_tables::{Bytes, Error, File, Lasting, Problem, TakeItems, Trace};

/// Takes a trace that can be read as tables.
pub type ReadTables<'r> = dyn FnMut(&Trace<'_>) -> Result<()> + 'r;

/// The bytes of a file, and the error that hides the rest of them.
type Opened<'l> = (Bytes<'l>, Option<traceglass::Error>);

type Open<'l> = dyn Fn() -> Result<Opened<'l>, String> + Sync + 'l;

/// A file, and how it is opened.
pub struct Lent<'l> {
    name: String,
    size: u64,
    open: Box<Open<'l>>,
}

impl<'l> Lent<'l> {
    pub fn new(name: String, size: u64, open: impl Fn() -> Result<Bytes<'l>, String> + Sync + 'l) -> Self {
        Self::part(name, size, move || Ok((open()?, None)))
    }

    /// A file of which some bytes may not be to be had.
    pub fn part(name: String, size: u64, open: impl Fn() -> Result<Opened<'l>, String> + Sync + 'l) -> Self {
        Self { name, size, open: Box::new(open) }
    }

    /// A file whose bytes are in memory.
    pub fn bytes(name: String, data: &'l [u8]) -> Self {
        Self::new(name, data.len() as u64, move || Ok(Box::new(data)))
    }
}

impl File for Lent<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn open(&self) -> Result<Bytes<'_>, String> {
        Ok((self.open)()?.0)
    }

    fn open_part(&self) -> Result<Opened<'_>, String> {
        (self.open)()
    }
}

/// A trace whose slices become a table.
pub struct Whole<'w> {
    pub trace: &'w (dyn super::Trace + Sync),
    /// The name of a file that was named itself.
    pub name: &'w str,
    pub pairs: &'w Pairs,
}

/// Passes items on, and keeps why they are not wanted any more.
struct Passing<'p> {
    to: &'p mut dyn TakeItems,
    failed: Option<Error>,
}

impl Events for Passing<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.to.item(item).map_err(|error| {
            self.failed = Some(error);
            Failure::Stopped
        })
    }

    fn advance(&mut self, _bytes: u64) {}
}

impl Lasting for Whole<'_> {
    fn items(&self, _window: Window, to: &mut dyn TakeItems) -> Result<(), Error> {
        let mut passing = Passing { to, failed: None };
        // Losses are told with the pieces. All is read: a slice may have begun before a window.
        let _ = self.trace.states_in(Window::ALL, self.pairs, &mut passing);
        passing.failed.map_or(Ok(()), Err)
    }

    fn untold(&self, tell: &mut dyn FnMut(Problem) -> Result<(), Error>) -> Result<(), Error> {
        let mut done = Ok(());
        // What cannot be opened is told with the pieces.
        let _ = self.trace.untold(&mut |path, error| {
            let file = path.map_or_else(|| self.name.to_owned(), |path| path.to_string_lossy().into_owned());
            let problem = Problem { file, message: error.to_string(), cause: Some(error) };
            if done.is_ok() {
                done = tell(problem);
            }
        });
        done
    }
}
