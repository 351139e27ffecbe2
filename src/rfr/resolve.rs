//! From the id of a callsite to what it names, through a table in storage that the caller lends.

use super::callsite::{Callsite, Callsites};
use super::element::CALLSITE;
use super::read::Reader;
use super::site::Site;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::sort_by_key;

/// Callsites by their id.
#[derive(Clone, Copy, Debug)]
pub struct CallsiteTable<'a, 't> {
    /// In ascending order.
    sites: &'t [Site<'a>],
    error: Option<Error>,
    input: Reader<'a>,
}

impl<'a, 't> CallsiteTable<'a, 't> {
    /// A table of all callsites of a file.
    ///
    /// One that is damaged is left out if its end can be found; else the table has those before it.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of entries needed.
    pub fn build(callsites: &Callsites<'a>, storage: &'t mut [Site<'a>]) -> Result<Self> {
        let (mut callsites, input) = (callsites.clone(), callsites.reader());
        let (mut used, mut failed) = (0_usize, None);
        loop {
            match callsites.next_callsite() {
                Ok(Some(callsite)) => {
                    if let Some(slot) = storage.get_mut(used) {
                        *slot = Site::new(&callsite);
                    }
                    used = used.saturating_add(1);
                }
                Ok(None) => break,
                Err(error) => {
                    failed = failed.or(Some(error));
                    if callsites.recover().is_none() {
                        break;
                    }
                }
            }
        }
        let capacity = to_u64(storage.len());
        let Some(sites) = storage.get_mut(..used) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(used) };
            return Err(input.error(CALLSITE, kind));
        };
        let key = |site: Site<'a>| (site.id, site.offset);
        // Writers mostly count upwards.
        if !sites.is_sorted_by_key(|site| key(*site)) {
            sort_by_key(sites, key);
        }
        Ok(Self { sites, error: failed, input })
    }

    /// The details of the callsite with this id that records need; of the first in the file if there are several.
    #[inline]
    pub fn site(&self, id: u64) -> Option<&'t Site<'a>> {
        let first = self.sites.partition_point(|site| site.id < id);
        self.sites.get(first).filter(|site| site.id == id)
    }

    /// The callsite with this id; the first in the file if there are several.
    pub fn get(&self, id: u64) -> Option<Callsite<'a>> {
        Callsite::read(&mut self.input.seek(self.site(id)?.offset)).ok()
    }

    /// The first thing that kept a callsite from being read.
    pub const fn error(&self) -> Option<Error> {
        self.error
    }
}
