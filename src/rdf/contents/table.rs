//! Records one after another, as many as a header says.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Finding, Severity};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The whole records of a chunk's data, held against the count that its header claims.
#[derive(Debug)]
pub(super) struct Table<'a, T> {
    pub(super) records: &'a [T],
    claimed: Option<u32>,
    /// Whole records in the data.
    fit: usize,
    size: usize,
}

impl<T> Clone for Table<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<'_, T> {}

impl<'a, T: FromBytes + KnownLayout + Immutable + Unaligned> Table<'a, T> {
    /// The records in `data`: those counted, or all where nothing counts them.
    pub(super) fn parse(claimed: Option<u32>, data: &'a [u8]) -> Self {
        let (all, _) = Bytes::new(data).slice_of::<T>();
        let counted = claimed.and_then(|count| all.get(..usize::try_from(count).ok()?));
        Self { records: counted.unwrap_or(all), claimed, fit: all.len(), size: data.len() }
    }

    /// Reports where count and data disagree; the count stands at `count_at` of the chunk's header.
    pub(super) fn check(
        &self,
        count_at: u64,
        header: Element,
        data: Element,
        report: &mut dyn FnMut(Finding),
    ) {
        let record = size_of::<T>();
        let whole = self.fit.saturating_mul(record);
        let rest = self.size.saturating_sub(whole);
        if rest > 0 {
            let needed = to_u64(record.saturating_sub(rest));
            let kind = ErrorKind::UnexpectedEnd { needed };
            report(Finding::new(Severity::Error, Error::new(to_u64(whole), data, kind)));
        }
        let Some(claimed) = self.claimed.map(u64::from) else { return };
        let max = to_u64(self.fit);
        if claimed > max {
            let kind = ErrorKind::CountTooLarge { claimed, max };
            report(Finding::new(Severity::Error, Error::new(count_at, header, kind)));
        } else if claimed < max {
            let read = self.records.len().saturating_mul(record);
            let kind = ErrorKind::TrailingBytes { count: to_u64(self.size.saturating_sub(read)) };
            report(Finding::warning(Error::new(to_u64(read), data, kind)));
        }
    }

    /// The claimed count, where there is one.
    pub(super) const fn claimed(&self) -> Option<u32> {
        self.claimed
    }
}
