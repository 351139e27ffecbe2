//! Lives: what an instrumentation id means, from one beginning to the next.

use super::object::Object;

/// Spreads ids over all bits, one to one.
pub(super) const fn mix(id: u64) -> u64 {
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}

/// The kind of thing that an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Spans and tasks, by their iid.
    Objects,
    /// Sequences.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    Sequences,
    /// Callsites of a stream, by their id.
    Callsites,
}

/// The identity of an object: tells objects with the same instrumentation id apart.
///
/// Ids are addresses, and recur. Two objects with one id are the same task or span if they have the same identity, and
/// neither was dropped in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    is_task: bool,
    task_id: u64,
    callsite_id: u64,
    context: Option<u64>,
    /// A hash of a span's parent, values and fields.
    details: u64,
}

impl Identity {
    /// The identity of an object.
    pub fn of(object: &Object<'_>) -> Self {
        let callsite_id = object.callsite_id();
        match object {
            Object::Task(task) => {
                let (task_id, context) = (task.task_id(), task.context());
                Self { is_task: true, task_id, callsite_id, context, details: 0 }
            }
            Object::Span(span) => {
                let details = span.details().iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
                Self { is_task: false, task_id: 0, callsite_id, context: None, details }
            }
        }
    }

    /// The instrumentation id of the task that spawned it.
    #[cfg(feature = "event")]
    pub(crate) const fn context(&self) -> Option<u64> {
        self.context
    }
}

/// A place in a room of views that are lent for as long as the files are open: of that generation only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewId {
    pub generation: u64,
    pub at: usize,
}

/// A task or span from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// A number of its own.
    pub number: u64,
    /// The identity of its object, if one has been met.
    pub identity: Option<Identity>,
    pub view: Option<ViewId>,
    /// The chunk in which its object was last met.
    pub(super) described: u64,
}

/// The current meaning of an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<T> {
    pub life: Life,
    /// An object with the same iid, which takes over at the next `NewTask`.
    pub(super) successor: Option<Life>,
    /// True if its `NewTask` has been met.
    pub(super) is_born: bool,
    /// True if its `TaskDrop` or `SpanClose` has been met.
    pub(super) is_dropped: bool,
    /// The last time that it was met: the number of an opened chunk.
    pub(super) epoch: u64,
    /// The state that a follower of the lives keeps for this one.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub state: T,
}

impl<T: Default> Known<T> {
    pub(super) fn new(life: Life) -> Self {
        let state = T::default();
        Self { life, successor: None, is_born: false, is_dropped: false, epoch: 0, state }
    }
}
