//! The tasks and spans that ids stand for, and the places in the source that they come from.

use super::callsite::Callsite;
use super::chunk::ChunkHeader;
use super::element::NAMES;
use super::kind::{RecordData, RecordKind};
use super::life::{Identity, Known, Space, ViewId};
use super::named::Named;
use super::object::Object;
use super::record::Record;
use super::registry::Registry;
use super::resolve::CallsiteTable;
use super::site::Site;
use super::slot::RegistrySlot;
use super::streaming::{StreamData, StreamRecord};
use super::tell::{About, At, NamedRecord};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// Room for what is known of a task, a span, or a callsite of a stream.
#[derive(Clone, Copy, Debug)]
pub struct NameSlot<'a>(View<'a>);

impl NameSlot<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self(View::Free(usize::MAX));
}

default_is_empty!(NameSlot<'_>);

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // There is nowhere to box it.
enum View<'a> {
    /// The next free one.
    Free(usize),
    Object(Named<'a>),
    Site(Site<'a>),
}

/// A registry that is lent, or that goes with the names.
#[derive(Debug)]
enum Kept<'r, R, T> {
    Lent(&'r mut Registry<R, T>),
    Own(Registry<R, T>),
}

/// The names of what is read: tasks and spans by their instrumentation ids, callsites by theirs.
///
/// Instrumentation ids are addresses, which a later task or span may get again. An id names a task from one `NewTask` to
/// the next, or from the end of the one before it: so objects are to be [met](Self::meet), and records
/// [followed](Self::follow), in the order of time. Of several objects with one id, the first one is meant until the next
/// task begins.
///
/// A chunk has the objects of all its records: for each one, [clear](Self::clear) the names of the one before. In a
/// stream, objects and callsites lie between the records.
///
/// ```
/// use traceglass::rfr::{Chunk, Item, NameSlot, Names, RegistrySlot};
/// # let file = b"\x0brfr-c/0.0.2\0\0\x09\0\x09\x01\x01\0\x09\x01\x01\x05\x07\x63\x04main\0\0\x01\x04\x06\x05";
///
/// let mut names = Names::new([RegistrySlot::EMPTY; 16], [NameSlot::EMPTY; 16]);
/// for item in Chunk::parse(file)?.items() {
///     match item? {
///         Item::Object(object) => drop(names.meet(&object)?),
///         Item::Record(record) => {
///             let iid = record.iid().unwrap();
///             assert_eq!(names.get(iid).and_then(|named| named.task()), Some("main"));
///         }
///         _ => {}
///     }
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Debug)]
pub struct Names<'a, 'r, R, V, T = ()> {
    registry: Kept<'r, R, T>,
    views: V,
    /// The number of views that have ever been used.
    used: usize,
    free: usize,
    generation: u64,
    /// The number of lives that have ended since some were last forgotten.
    ended: u32,
    callsites: Option<CallsiteTable<'a, 'r>>,
}

/// After so many ends of lives, those that ended before are forgotten.
const ENDED: u32 = 1024;

impl<'a, R, V> Names<'a, '_, R, V>
where
    R: Room<RegistrySlot>,
    V: Room<NameSlot<'a>>,
{
    /// No names yet; room for the ids, and room for what they name.
    pub fn new(ids: R, views: V) -> Self {
        Self::with_registry(Registry::new(ids), views)
    }
}

impl<'a, 'r, R, V, T> Names<'a, 'r, R, V, T>
where
    R: Room<RegistrySlot<T>>,
    V: Room<NameSlot<'a>>,
    T: Copy + Default,
{
    /// No names yet, with a registry that outlives them: it knows which lives there were in other files.
    pub const fn lend(registry: &'r mut Registry<R, T>, views: V) -> Self {
        let generation = registry.new_generation();
        Self {
            registry: Kept::Lent(registry),
            views,
            used: 0,
            free: usize::MAX,
            generation,
            ended: 0,
            callsites: None,
        }
    }

    /// No names yet, with a registry of their own.
    pub const fn with_registry(mut registry: Registry<R, T>, views: V) -> Self {
        let generation = registry.new_generation();
        Self {
            registry: Kept::Own(registry),
            views,
            used: 0,
            free: usize::MAX,
            generation,
            ended: 0,
            callsites: None,
        }
    }

    pub(crate) const fn registry(&mut self) -> &mut Registry<R, T> {
        match &mut self.registry {
            Kept::Lent(registry) => registry,
            Kept::Own(registry) => registry,
        }
    }

    const fn known(&self) -> &Registry<R, T> {
        match &self.registry {
            Kept::Lent(registry) => registry,
            Kept::Own(registry) => registry,
        }
    }

    /// Looks up callsites in this table, too.
    pub const fn set_callsites(&mut self, callsites: CallsiteTable<'a, 'r>) {
        self.callsites = Some(callsites);
    }

    /// Forgets all names but those of the table of callsites.
    pub fn clear(&mut self) {
        self.registry().clear();
        (self.used, self.free) = (0, usize::MAX);
    }

    /// Records a task or span. Returns the number of its life, if it is the first object that describes it.
    ///
    /// # Errors
    /// `CapacityExceeded`, at the object.
    pub fn meet(&mut self, object: &Object<'a>) -> Result<Option<u64>> {
        let (iid, offset, generation) = (object.iid(), object.offset(), self.generation);
        let view = View::Object(Named { object: *object, site: self.site(object.callsite_id()).copied() });
        let identity = Identity::of(object);
        let (number, place) = self.registry().meet(iid, identity, offset)?;
        let is_one_too_many = place.is_none();
        let known = place.and_then(|place| *place).filter(|id| id.generation == generation);
        self.settle();
        if !is_one_too_many {
            let id = self.keep(known, view, offset)?;
            if let (_, Some(place)) = self.registry().meet(iid, identity, offset)? {
                *place = Some(id);
            }
        }
        Ok(number)
    }

    /// The same in a stream, which describes a task or span when it begins: an object that is another one is meant from
    /// now on.
    ///
    /// # Errors
    /// `CapacityExceeded`, at the object.
    pub fn meet_in_stream(&mut self, object: &Object<'a>) -> Result<Option<u64>> {
        let number = self.meet(object)?;
        self.registry().succeed(object.iid());
        self.settle();
        Ok(number)
    }

    /// Records a callsite of a stream. The first one with an id keeps it.
    ///
    /// # Errors
    /// `CapacityExceeded`, at the callsite.
    pub fn meet_callsite(&mut self, callsite: &Callsite<'a>) -> Result<()> {
        let (id, offset, generation) = (callsite.id(), callsite.offset(), self.generation);
        match self.registry().get(Space::Callsites, id) {
            Some(known) if known.life.view.is_some_and(|view| view.generation == generation) => return Ok(()),
            Some(_) => {}
            None => drop(self.registry().add(Space::Callsites, id, None, offset)?),
        }
        let view = self.keep(None, View::Site(Site::new(callsite)), offset)?;
        if let Some(known) = self.registry().get(Space::Callsites, id) {
            known.life.view = Some(view);
        }
        Ok(())
    }

    /// Records what a record says of ids, before it is told: a new task may have the id of one before it.
    #[inline]
    pub fn follow(&mut self, data: &RecordData<'_>) {
        self.follow_id(data.kind(), data.iid());
    }

    /// The same of a record of which the kind and the id are known.
    #[inline]
    pub fn follow_id(&mut self, kind: RecordKind, iid: Option<u64>) {
        let Some(iid) = iid.filter(|_| kind.begins_or_ends()) else { return };
        self.begin(kind, iid);
        self.end(kind, iid);
        while self.forget() {}
    }

    /// Records what a record says of when a life begins. Returns the number of the life, if no object describes it.
    #[inline]
    pub(crate) fn begin(&mut self, kind: RecordKind, iid: u64) -> Option<u64> {
        let begun = self.registry().begin(kind, iid);
        if begun.is_some() {
            self.registry().begin(kind, iid);
        }
        self.settle();
        begun
    }

    /// Records what a record says of when a life ends. After some ends, lives that ended before are to be forgotten.
    pub(crate) fn end(&mut self, kind: RecordKind, iid: u64) {
        if self.registry().end(kind, iid) {
            self.ended = self.ended.saturating_add(1);
            if self.ended >= ENDED {
                self.ended = 0;
                self.next_epoch();
            }
        }
    }

    /// Records what a record of a stream says of ids, before it is told.
    ///
    /// # Errors
    /// `CapacityExceeded`, at the record.
    pub fn follow_stream(&mut self, record: &StreamRecord<'a>) -> Result<()> {
        match record.data() {
            StreamData::Callsite(callsite) => self.meet_callsite(&callsite)?,
            StreamData::Span(span) => drop(self.meet_in_stream(&Object::Span(span))?),
            StreamData::Task(task) => drop(self.meet_in_stream(&Object::Task(task))?),
            StreamData::Record(data) => self.follow(&data),
            StreamData::End => {}
        }
        Ok(())
    }

    /// The object that an instrumentation id names at present.
    #[inline]
    pub fn get(&self, iid: u64) -> Option<&Named<'a>> {
        match self.view(self.known().peek(Space::Objects, iid)?) {
            Some(View::Object(named)) => Some(named),
            _ => None,
        }
    }

    /// The number of the life that an instrumentation id names at present: that of no other life, in no other file either
    /// if the registry [outlives](Self::lend) the names.
    pub fn life(&self, iid: u64) -> Option<u64> {
        self.known().peek(Space::Objects, iid).map(|known| known.life.number)
    }

    /// The callsite with this id.
    #[inline]
    pub fn site(&self, id: u64) -> Option<&Site<'a>> {
        if let Some(site) = self.callsites.and_then(|table| table.site(id)) {
            return Some(site);
        }
        match self.view(self.known().peek(Space::Callsites, id)?) {
            Some(View::Site(site)) => Some(site),
            _ => None,
        }
    }

    /// A record of a chunk with its names, to be [told](crate::record::Record::tell); it ends at `end` in its input.
    #[inline]
    pub fn record<'n>(
        &'n self,
        record: &Record<'a>,
        header: &ChunkHeader,
        seq_id: Option<u64>,
        end: u64,
    ) -> NamedRecord<'n, 'a> {
        let at = At::new(record.offset(), Some(end), seq_id, record.unix_micros(header).ok());
        self.data(at, &record.data())
    }

    /// A record of a stream with its names, to be told; it ends at `end` in its input.
    pub fn stream_record<'n>(&'n self, record: &StreamRecord<'a>, end: u64) -> NamedRecord<'n, 'a> {
        let at = At::new(record.offset(), Some(end), None, record.unix_micros().ok());
        match record.data() {
            StreamData::End => NamedRecord::new(at, About::End),
            StreamData::Callsite(callsite) => NamedRecord::new(at, About::Callsite(callsite)),
            StreamData::Span(span) => self.about(at, &Object::Span(span)),
            StreamData::Task(task) => self.about(at, &Object::Task(task)),
            StreamData::Record(data) => self.data(at, &data),
        }
    }

    /// An object of a chunk with its names, to be told.
    pub fn object<'n>(&'n self, object: &Object<'a>, seq_id: Option<u64>) -> NamedRecord<'n, 'a> {
        self.about(At::new(object.offset(), None, seq_id, None), object)
    }

    pub(crate) fn about<'n>(&'n self, at: At, object: &Object<'a>) -> NamedRecord<'n, 'a> {
        let site = self.site(object.callsite_id());
        let (about, context) = match *object {
            Object::Span(span) => (About::Span(span), span.parent().explicit()),
            Object::Task(task) => (About::Task(task), task.context()),
        };
        let context = context.and_then(|iid| self.get(iid));
        NamedRecord { site, context, ..NamedRecord::new(at, about) }
    }

    #[inline]
    pub(crate) fn data<'n>(&'n self, at: At, data: &RecordData<'a>) -> NamedRecord<'n, 'a> {
        if let Some(event) = data.event() {
            let site = self.site(event.callsite_id());
            let context = event.parent().explicit().and_then(|iid| self.get(iid));
            return NamedRecord { site, context, ..NamedRecord::new(at, About::Event(event)) };
        }
        let iid = data.iid().unwrap_or(0);
        let of = self.get(iid);
        let site = of.and_then(Named::site);
        match data.waker() {
            Some(waker) => {
                let context = waker.context().and_then(|iid| self.get(iid));
                NamedRecord { of, site, context, ..NamedRecord::new(at, About::Waker(data.kind(), waker)) }
            }
            None => NamedRecord { of, site, ..NamedRecord::new(at, About::Iid(data.kind(), iid)) },
        }
    }

    #[inline]
    fn view(&self, known: &Known<T>) -> Option<&View<'a>> {
        let id = known.life.view.filter(|id| id.generation == self.generation)?;
        self.views.slots().get(id.at).map(|slot| &slot.0)
    }

    /// Keeps a view, in the place of the one before it if there is one.
    fn keep(&mut self, known: Option<ViewId>, view: View<'a>, offset: u64) -> Result<ViewId> {
        let at = match (known, self.views.slots().get(self.free)) {
            (Some(known), _) => known.at,
            (None, Some(&NameSlot(View::Free(next)))) => core::mem::replace(&mut self.free, next),
            _ => {
                let (at, needed) = (self.used, self.used.saturating_add(1));
                let fits = at < self.views.slots().len() || self.views.grow(needed);
                if !fits || at >= self.views.slots().len() {
                    let (capacity, needed) = (to_u64(self.views.slots().len()), to_u64(needed));
                    return Err(Error::new(offset, NAMES, ErrorKind::CapacityExceeded { capacity, needed }));
                }
                self.used = needed;
                at
            }
        };
        if let Some(slot) = self.views.slots_mut().get_mut(at) {
            *slot = NameSlot(view);
        }
        Ok(ViewId { generation: self.generation, at })
    }

    /// Frees the view of a life that ended.
    pub(crate) fn settle(&mut self) {
        if let Some(id) = self.registry().take_freed() {
            let (generation, free) = (self.generation, &mut self.free);
            release(self.views.slots_mut(), free, generation, id);
        }
    }

    /// Lets what was dropped and has not been met lately be [forgotten](Self::forget).
    pub(crate) fn next_epoch(&mut self) {
        self.registry().next_epoch();
    }

    /// Forgets an object that is to be forgotten; false if there is none.
    fn forget(&mut self) -> bool {
        let registry = match &mut self.registry {
            Kept::Lent(registry) => &mut **registry,
            Kept::Own(registry) => registry,
        };
        let (views, generation, free) = (self.views.slots_mut(), self.generation, &mut self.free);
        registry.forget(|id| release(views, free, generation, id))
    }

    /// The number of a life that ended, if there is one since this was asked last; forgets what is to be forgotten.
    #[cfg(feature = "event")]
    pub(crate) fn take_ended(&mut self) -> Option<u64> {
        loop {
            let ended = self.registry().take_ended();
            if ended.is_some() || !self.forget() {
                return ended;
            }
        }
    }
}

/// Puts a view into the list of free ones.
fn release(views: &mut [NameSlot<'_>], free: &mut usize, generation: u64, id: ViewId) {
    if id.generation == generation
        && let Some(slot) = views.get_mut(id.at)
    {
        *slot = NameSlot(View::Free(*free));
        *free = id.at;
    }
}
