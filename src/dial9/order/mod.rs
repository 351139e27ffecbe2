//! The events of a recording in the order of time.

mod filled;
mod pools;
mod record;
mod rooms;
mod runs;

use super::annotation::{AnnotationEntries, Annotations, TAG as ANNOTATIONS_TAG};
use super::element::{CLASS, EVENT, ORDER};
use super::event::{Event, TAG as EVENT_TAG, TYPED};
use super::frame::{Frame, RESET_TAG, TimeReset};
use super::frames::Frames;
use super::pool::{STACK_TAG, STRING_TAG, StackPool, StringPool};
#[cfg(feature = "event")]
use super::schema::Plan;
use super::schema::{Schema, TAG as SCHEMA_TAG};
use super::storage::Storage;
use super::tell::Pools as _;
use super::value::Stack;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::Result;
use crate::gap::Gap;
use crate::sort::sort_by_key;
pub(crate) use filled::Filled;
pub(crate) use pools::PoolsAt;
use runs::Runs;

pub use pools::PoolPlace;
pub use record::OrderedRecord;
#[cfg(feature = "alloc")]
pub use rooms::OrderStorage;
pub use rooms::{Input, LayoutSlot, OrderRooms, TypeSlot};
#[cfg(feature = "event")]
pub(crate) use runs::Key;
pub use runs::Run;

/// The events of a recording in the order of time, and of the inputs where that is the same.
///
/// Batches overlap in time, and times go back within them: all frames are read once before the first event is known.
/// Of events it keeps where *runs* of them begin whose times do not go back, 24 bytes each; of a batch 16 bytes for each
/// schema, and 24 for each entry of a pool. The events are then read again, each from its run.
///
/// An event without a time of its own is when the one before it was.
///
#[cfg_attr(feature = "alloc", doc = "```")]
#[cfg_attr(not(feature = "alloc"), doc = "```ignore")]
/// use traceglass::dial9::{Frame, Order, OrderStorage};
/// # let file = b"TRC\0\x01\x01\x07\0\x0c\0PollEndEvent\x01\x01\0\x09\0worker_id\x09\
/// #     \x05\x40\x42\x0f\0\0\0\0\0\x02\x07\0\x05\0\0\x01";
///
/// let mut storage = OrderStorage::default();
/// let mut order = Order::new(storage.rooms());
/// order.add(0, file)?;
/// while let Some(frame) = order.next_frame()? {
///     println!("{}", frame.kind_name());
/// }
/// while let Some(event) = order.next_event() {
///     assert_eq!((event.nanoseconds(), event.event().name()), (1_000_005, "PollEndEvent"));
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
pub struct Order<'a, 't> {
    frames: Frames<'a, 't>,
    layouts: Filled<'t, LayoutSlot<'a>>,
    runs: Runs<'t>,
    types: Filled<'t, TypeSlot>,
    pools: Filled<'t, PoolPlace>,
    inputs: Filled<'t, Input<'a>>,
    /// The input that is read, and the number of classes of those before it.
    reading: usize,
    first_class: usize,
    /// The number of batches read, of the schemas of the last one, and of the entries of pools before it.
    batches: u32,
    schemas: usize,
    pools_before: usize,
    /// The time of the event read last, and true if that is its own.
    last: u64,
    is_timed: bool,
    state: State,
    noted: [TypeSlot; NOTED],
}

/// The part that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Frames,
    Events,
    /// A room was too small.
    Nothing,
}

/// The number of types of which it is noted of which class they are.
const NOTED: usize = 256;

/// An event of an [`Order`].
#[derive(Clone, Copy, Debug)]
pub struct OrderedEvent<'a> {
    event: Event<'a>,
    time: u64,
    class: u32,
    batch: u32,
    pools_before: u32,
}

impl<'a> OrderedEvent<'a> {
    /// The event.
    #[inline(always)]
    pub const fn event(&self) -> &Event<'a> {
        &self.event
    }

    /// The time that it has in the order, in nanoseconds.
    #[inline(always)]
    pub const fn nanoseconds(&self) -> u64 {
        self.time
    }

    /// The number of its class, as of [`Order::class`].
    #[inline(always)]
    pub const fn class(&self) -> u32 {
        self.class
    }

    /// The number of its batch, from 0, over all inputs.
    #[inline(always)]
    pub const fn batch(&self) -> u32 {
        self.batch
    }

    /// The place in the order.
    #[cfg(feature = "event")]
    #[inline(always)]
    pub(crate) const fn key(&self) -> Key {
        (self.time, self.batch, self.event.start())
    }
}

impl<'a, 't> Order<'a, 't> {
    /// An order of no input yet.
    pub fn new(rooms: OrderRooms<'a, 't>) -> Self {
        let OrderRooms { schemas, classes, layouts, runs, types, pools, inputs } = rooms;
        Self {
            frames: Frames::new(&[], Storage::new(schemas).classes(classes)),
            layouts: Filled::new(layouts),
            runs: Runs::new(Filled::new(runs)),
            types: Filled::new(types),
            pools: Filled::new(pools),
            inputs: Filled::new(inputs),
            reading: usize::MAX,
            first_class: 0,
            batches: 0,
            schemas: 0,
            pools_before: 0,
            last: 0,
            is_timed: false,
            state: State::Frames,
            noted: [TypeSlot { batch: u32::MAX, ..TypeSlot::EMPTY }; NOTED],
        }
    }

    /// Adds a segment, called `number`, before the first frame is read.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add(&mut self, number: usize, data: &'a [u8]) -> Result<()> {
        self.inputs.push(Input { number, data, first_batch: 0 }, 0, ORDER)
    }

    /// The next frame of all inputs, in the order in which they were added. Once all were read, there are
    /// [events](Self::next_event).
    ///
    /// # Errors
    /// As of [`Frames::next_frame`]: reading goes on after [`Self::recover`]. `CapacityExceeded` of a room: then there
    /// is nothing more.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        if self.state != State::Frames {
            return Ok(None);
        }
        loop {
            if self.reading == usize::MAX || self.frames.is_at_end() {
                self.reading = self.reading.wrapping_add(1);
                let batches = self.batches;
                let Some(input) = self.inputs.slots_mut().get_mut(self.reading) else {
                    self.order();
                    return Ok(None);
                };
                input.first_batch = batches;
                self.frames.restart(input.data);
                self.first_class = self.layouts.len();
                continue;
            }
            let frame = match self.frames.take_event() {
                Some(event) => Frame::Event(event),
                None => match self.frames.next_frame()? {
                    Some(frame) => frame,
                    None => continue,
                },
            };
            if let Err(error) = self.keep(&frame) {
                self.state = State::Nothing;
                return Err(error);
            }
            return Ok(Some(frame));
        }
    }

    /// After an error, goes on at the next batch: see [`Frames::recover`].
    pub fn recover(&mut self) -> Option<Gap> {
        self.frames.recover()
    }

    /// The number that the input has which is read.
    pub fn input(&self) -> usize {
        self.inputs.slots().get(self.reading).map_or(0, |input| input.number)
    }

    /// The number of the class of a schema of the frame that was read last: schemas of an input that have the same name
    /// and fields have the same class. Classes are counted from 0, over all inputs, as their schemas are met.
    #[inline]
    pub fn class(&self, type_id: u16) -> Option<u32> {
        let class = to_usize(self.frames.class(type_id)?);
        u32::try_from(self.first_class.saturating_add(class)).ok()
    }

    /// The schema of a class.
    pub fn schema(&self, class: u32) -> Option<Schema<'a>> {
        self.layouts.slots().get(to_usize(class)).map(|layout| layout.schema)
    }

    /// The plan by which the events of a class are skipped.
    #[cfg(feature = "event")]
    pub(crate) fn plan(&self, class: u32) -> Option<&Plan> {
        self.layouts.slots().get(to_usize(class)).map(|layout| &layout.plan)
    }

    /// The number of classes so far.
    #[cfg(feature = "event")]
    pub(crate) const fn class_count(&self) -> usize {
        self.layouts.len()
    }

    /// The place in the order of an event that was read as the last frame.
    #[cfg(feature = "event")]
    pub(crate) const fn last_key(&self, event: &Event<'a>) -> Key {
        (self.last, self.batches.saturating_sub(1), event.start())
    }

    /// The place in the order of the next event.
    #[cfg(feature = "event")]
    pub(crate) fn peek(&mut self) -> Option<Key> {
        self.runs.first().map(Run::key)
    }

    /// The number that the input of an event has.
    pub fn input_of(&self, event: &OrderedEvent<'_>) -> usize {
        self.input_of_batch(event.batch).map_or(0, |input| input.number)
    }

    /// The pooled text with this id, as an event sees it.
    pub fn string(&self, event: &OrderedEvent<'a>, id: u32) -> Option<&'a [u8]> {
        self.pools_at(event).string(id)
    }

    /// The pooled stack with this id, as an event sees it.
    pub fn stack(&self, event: &OrderedEvent<'a>, id: u32) -> Option<Stack<'a>> {
        self.pools_at(event).stack(id)
    }

    /// An event as a record, with what it refers to.
    #[inline]
    pub fn record<'r>(&'r self, event: &OrderedEvent<'r>) -> OrderedRecord<'r> {
        let layout = self.layouts.slots().get(to_usize(event.class)).unwrap_or(const { &LayoutSlot::EMPTY });
        OrderedRecord { event: event.event, pools: self.pools_at(event), class: event.class, layout }
    }

    /// The pools as an event sees them.
    pub(crate) fn pools_at<'e>(&self, event: &OrderedEvent<'e>) -> PoolsAt<'e, '_> {
        let (batch, pools_before) = (event.batch, to_usize(event.pools_before));
        let (data, before) = (event.event.input(), event.event.start());
        PoolsAt { data, pools: self.pools.slots(), pools_before, batch, before }
    }

    /// Keeps what is needed to find an event again.
    #[inline(always)]
    fn keep(&mut self, frame: &Frame<'a>) -> Result<()> {
        if let Frame::Event(event) = frame { self.keep_event(event) } else { self.keep_other(frame) }
    }

    #[inline(always)]
    fn keep_event(&mut self, event: &Event<'a>) -> Result<()> {
        let time = event.nanoseconds();
        // Where an event without a time stands, that of the next one does not follow from it.
        let joins = self.is_timed && time.is_some_and(|time| time >= self.last);
        self.is_timed = time.is_some();
        self.last = time.unwrap_or(self.last);
        if joins
            && let Some(run) = self.runs.found().slots_mut().last_mut()
            && let Some(left) = run.left.checked_add(1)
        {
            run.left = left;
            return Ok(());
        }
        let batch = self.batches.saturating_sub(1);
        let run = Run { time: self.last, at: event.start(), batch, left: 0 };
        self.runs.found().push(run, event.offset(), ORDER)
    }

    #[inline(never)]
    fn keep_other(&mut self, frame: &Frame<'a>) -> Result<()> {
        let batch = self.batches.saturating_sub(1);
        match frame {
            Frame::Header(_) => {
                self.batches = self.batches.saturating_add(1);
                (self.schemas, self.is_timed, self.pools_before) = (0, false, self.pools.len());
            }
            // The same schema again is not another one.
            Frame::Schema(schema) if self.frames.schema_count() > self.schemas => {
                self.schemas = self.frames.schema_count();
                let (type_id, offset) = (schema.type_id(), schema.offset());
                let class = self.class(type_id).unwrap_or(0);
                let pools_before = u32::try_from(self.pools_before).unwrap_or(u32::MAX);
                self.types.push(TypeSlot { batch, class, type_id, pools_before }, offset, ORDER)?;
                // Classes are counted in the order in which their first schemas are met.
                if to_usize(class) >= self.layouts.len() {
                    let fields_before = self.layouts.slots().last().map_or(0, LayoutSlot::fields_until);
                    let (schema, plan, annotations) = (*schema, schema.plan(), AnnotationEntries::NONE);
                    let layout = LayoutSlot { schema, plan, annotations, fields_before };
                    self.layouts.push(layout, offset, CLASS)?;
                }
            }
            Frame::Annotations(said) => {
                // Those of a type that the batch does not know say nothing.
                let class = u16::try_from(said.type_id()).ok().and_then(|id| self.class(id));
                let layout = class.and_then(|class| self.layouts.slots_mut().get_mut(to_usize(class)));
                if let Some(layout) = layout {
                    layout.annotations = said.entries();
                }
            }
            Frame::Strings(pool) => {
                let mut entries = pool.entries();
                while let Some((id, at)) = entries.next_place() {
                    self.pools.push(PoolPlace { batch, is_stack: false, id, at }, pool.offset(), ORDER)?;
                }
            }
            Frame::Stacks(pool) => {
                let mut entries = pool.entries();
                while let Some((id, at)) = entries.next_place() {
                    self.pools.push(PoolPlace { batch, is_stack: true, id, at }, pool.offset(), ORDER)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts everything in order. No two stand at one place.
    fn order(&mut self) {
        sort_by_key(self.pools.slots_mut(), |place| place);
        sort_by_key(self.types.slots_mut(), TypeSlot::key);
        self.runs.order();
        self.state = State::Events;
    }

    /// The next event in the order of time, once all frames were read.
    #[inline]
    pub fn next_event(&mut self) -> Option<OrderedEvent<'a>> {
        if self.state != State::Events {
            return None;
        }
        let run = self.runs.first()?;
        let input = self.input_of_batch(run.batch)?;
        let event = self.read(&input, run.time, run.at, run.batch)?;
        let next = run.left.checked_sub(1).and_then(|left| {
            let (time, at) = next_of(input.data, event.event.end(), run.time)?;
            Some(Run { time, at, left, ..run })
        });
        self.runs.replace_first(next);
        Some(event)
    }

    /// The event of a batch that stands at `at`.
    #[cfg(feature = "event")]
    pub(crate) fn event_at(&mut self, (time, batch, at): Key) -> Option<OrderedEvent<'a>> {
        let input = self.input_of_batch(batch)?;
        self.read(&input, time, at, batch)
    }

    #[inline(always)]
    fn read(&mut self, input: &Input<'a>, time: u64, at: usize, batch: u32) -> Option<OrderedEvent<'a>> {
        let &[_, low, high] = input.data.get(at..)?.first_chunk::<TYPED>()?;
        let TypeSlot { class, pools_before, .. } = self.type_of(batch, u16::from_le_bytes([low, high]))?;
        let layout = self.layouts.slots().get(to_usize(class))?;
        let event = Event::at(input.data, at, &layout.schema, &layout.plan, time)?;
        Some(OrderedEvent { event, time, class, batch, pools_before })
    }

    /// The slot of a batch's type.
    #[inline(always)]
    fn type_of(&mut self, batch: u32, type_id: u16) -> Option<TypeSlot> {
        let low = to_usize(batch).wrapping_mul(NOTED / 16).wrapping_add(type_id.into());
        let noted = self.noted.get_mut(low % NOTED)?;
        if (noted.batch, noted.type_id) != (batch, type_id) {
            *noted = find_type(self.types.slots(), batch, type_id)?;
        }
        Some(*noted)
    }

    /// The input of a batch.
    #[inline]
    fn input_of_batch(&self, batch: u32) -> Option<Input<'a>> {
        let inputs = self.inputs.slots();
        if let [input] = inputs {
            return Some(*input);
        }
        let next = inputs.partition_point(|input| input.first_batch <= batch);
        inputs.get(next.checked_sub(1)?).copied()
    }
}

#[inline(never)]
fn find_type(types: &[TypeSlot], batch: u32, type_id: u16) -> Option<TypeSlot> {
    let found = types.get(types.partition_point(|of| of.key() < (batch, type_id)))?;
    (found.key() == (batch, type_id)).then_some(*found)
}

/// The time of the next event of a run, and where it stands: all of them have times.
#[inline(always)]
fn next_of(data: &[u8], mut at: usize, mut base: u64) -> Option<(u64, usize)> {
    loop {
        let rest = data.get(at..)?;
        if let Some(&[EVENT_TAG, _, _, a, b, c]) = rest.first_chunk() {
            return Some((base.checked_add(u32::from_le_bytes([a, b, c, 0]).into())?, at));
        }
        (at, base) = pass_other(data, at, base)?;
    }
}

/// The end of a frame that is no event, and what times count from after it.
#[inline(never)]
fn pass_other(data: &[u8], at: usize, base: u64) -> Option<(usize, u64)> {
    let mut input = Bytes::at(data.get(at..)?, to_u64(at));
    let [tag] = *input.array(EVENT).ok()?;
    let mut base = base;
    match tag {
        SCHEMA_TAG => drop(Schema::read(&mut input, data).ok()?),
        STRING_TAG => drop(StringPool::read(&mut input, data).ok()?),
        STACK_TAG => drop(StackPool::read(&mut input, data).ok()?),
        RESET_TAG => base = TimeReset::read(&mut input).ok()?.nanoseconds(),
        ANNOTATIONS_TAG => drop(Annotations::read(&mut input).ok()?),
        _ => return None,
    }
    Some((data.len().saturating_sub(input.len()), base))
}

impl core::fmt::Debug for Order<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Order").field("inputs", &self.inputs.len()).finish_non_exhaustive()
    }
}
