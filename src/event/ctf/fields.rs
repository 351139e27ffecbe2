//! The fields of an event record.

use crate::ctf::data;
use crate::error::Result;
use crate::record::Listener;

/// An event record.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) struct CtfData<'a> {
    pub(in crate::event) record: data::Record<'a, 'a, 'a>,
    /// The number of the first class and field of its trace.
    pub(super) base: u32,
    pub(super) programs: &'a data::Programs<'a>,
    /// True if the tracer discarded records before it.
    pub(in crate::event) follows_loss: bool,
}

impl CtfData<'_> {
    #[inline]
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.record.tell_from(self.base, self.programs, to)
    }
}
