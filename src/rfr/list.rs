//! Lists inside a record or an object.

use super::read::Reader;
use crate::error::Result;
use core::iter::FusedIterator;
use core::marker::PhantomData;

/// A list element.
pub(super) mod sealed {
    use super::{Reader, Result};

    pub trait Item<'a>: Sized {
        #[doc(hidden)]
        fn read(reader: &mut Reader<'a>) -> Result<Self>;
    }
}

/// A list inside a record, an object or a callsite: field values, fields or names.
///
/// Its elements are decoded one by one while it is iterated. They were checked together with the record or object that
/// they belong to, so none of them can fail.
pub struct List<'a, T> {
    reader: Reader<'a>,
    left: usize,
    items: PhantomData<fn() -> T>,
}

impl<'a, T: sealed::Item<'a>> List<'a, T> {
    /// `count` elements that have been checked and lie at the front of `reader`.
    pub(super) fn new(reader: Reader<'a>, count: u64) -> Self {
        // Each takes at least one byte, so their number fits; if it did not, reading would end.
        Self { reader, left: usize::try_from(count).unwrap_or(usize::MAX), items: PhantomData }
    }
}

impl<'a, T: sealed::Item<'a>> Iterator for List<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let item = T::read(&mut self.reader).ok();
        if item.is_none() {
            self.left = 0;
        }
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: sealed::Item<'a>> ExactSizeIterator for List<'a, T> {}
impl<'a, T: sealed::Item<'a>> FusedIterator for List<'a, T> {}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> core::fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} elements", self.left)
    }
}
