//! The pools as each event sees them.

use crate::bytes::to_usize;
use crate::dial9::tell::Pools;
use crate::dial9::value::{Stack, stack_at, text_at};

/// An entry of a pool: whose it is, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolPlace {
    pub(super) batch: u32,
    pub(super) is_stack: bool,
    pub(super) id: u32,
    pub(super) at: usize,
}

impl PoolPlace {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { batch: 0, is_stack: false, id: 0, at: 0 };
}

default_is_empty!(PoolPlace);

/// The pools as an event sees them: of entries with its id, the last one that stands before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolsAt<'a, 't> {
    pub(super) data: &'a [u8],
    pub(super) pools: &'t [PoolPlace],
    /// The number of entries of the batches before.
    pub(super) pools_before: usize,
    pub(super) batch: u32,
    pub(super) before: usize,
}

impl<'a> PoolsAt<'a, '_> {
    /// The offset of the entry's length.
    fn find(&self, is_stack: bool, id: u32) -> Option<usize> {
        let is_it = |place: &&PoolPlace| {
            (place.batch, place.is_stack, place.id) == (self.batch, is_stack, id) && place.at < self.before
        };
        // Writers count ids from 0, and seldom use one again.
        let guess = self.pools_before.saturating_add(to_usize(id));
        let guessed = self.pools.get(guess).filter(is_it);
        if let Some(found) = guessed
            && self.pools.get(guess.saturating_add(1)).filter(is_it).is_none()
        {
            return Some(found.at);
        }
        let wanted = PoolPlace { batch: self.batch, is_stack, id, at: self.before };
        let next = self.pools.partition_point(|place| *place < wanted);
        self.pools.get(next.checked_sub(1)?).filter(is_it).map(|found| found.at)
    }
}

#[cfg(feature = "event")]
impl<'a> PoolsAt<'a, '_> {
    /// The name of the runtime that an event is about, with its length in front: no such name is the beginning of
    /// another.
    pub(crate) fn runtime_of(&self, event: &crate::dial9::Event<'a>) -> &'a [u8] {
        let entry = match event.get("runtime_name") {
            Some(crate::dial9::Value::PooledString(id)) => self.string_entry(id),
            _ => None,
        };
        entry.unwrap_or(&[0; 4])
    }

    /// Pooled text, with its length in front.
    fn string_entry(&self, id: u32) -> Option<&'a [u8]> {
        let at = self.find(false, id)?;
        let (_, end) = text_at(self.data, at)?;
        self.data.get(at..end)
    }
}

impl<'a> Pools<'a> for PoolsAt<'a, '_> {
    fn string(&self, id: u32) -> Option<&'a [u8]> {
        text_at(self.data, self.find(false, id)?).map(|(text, _)| text)
    }

    fn stack(&self, id: u32) -> Option<Stack<'a>> {
        stack_at(self.data, self.find(true, id)?).map(|(stack, _)| stack)
    }
}
