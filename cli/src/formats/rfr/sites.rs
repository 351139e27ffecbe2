//! The callsites of a recording, and the names that are looked up with them.

use super::files::{Data, Files, Kind, Part};
use crate::status::Result;
use traceglass::rfr::{self, CallsiteTable, Callsites, NameSlot, RegistrySlot, Site};
use traceglass::{Error, ErrorKind};

/// The names of a chunk, or of a stream.
pub type Names<'a> = rfr::Names<'a, 'a, Vec<RegistrySlot>, Vec<NameSlot<'a>>>;

/// No names yet, but for those of callsites.
pub fn names<'a>(callsites: Option<CallsiteTable<'a, 'a>>) -> Names<'a> {
    let mut names = Names::new(Vec::new(), Vec::new());
    if let Some(callsites) = callsites {
        names.set_callsites(callsites);
    }
    names
}

/// The file of callsites, if there is one.
pub struct Sites<'a>(Option<Data<'a>>);

impl<'a> Sites<'a> {
    pub fn open(files: &Files<'a>) -> Result<Self> {
        files.of(Kind::Callsites).next().map(Part::data).transpose().map(Self)
    }

    /// A table of them, with as much room as it needs. Damage in them is reported where they are read for their own sake.
    pub fn table<'t>(
        &'t self,
        entries: &'t mut Vec<Site<'t>>,
    ) -> Result<Option<CallsiteTable<'t, 't>>, Error> {
        let Some(callsites) = self.0.as_ref().and_then(|data| Callsites::parse(data.bytes()).ok()) else {
            return Ok(None);
        };
        if let Err(error) = CallsiteTable::build(&callsites, entries) {
            let ErrorKind::CapacityExceeded { needed, .. } = error.kind() else { return Err(error) };
            entries.resize(usize::try_from(needed).unwrap_or(usize::MAX), Site::EMPTY);
        }
        CallsiteTable::build(&callsites, entries).map(Some)
    }
}
