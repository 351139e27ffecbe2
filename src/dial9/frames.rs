//! The reader: one frame after the other.

use super::annotation::{Annotation, Annotations, TAG as ANNOTATIONS_TAG};
use super::element::{ANNOTATIONS, CLASS, EVENT, FRAME, SCHEMA, STACK_POOL, STRING_POOL};
use super::event::{self, Event, TAG as EVENT_TAG, TYPED};
use super::frame::{Frame, RESET_TAG, TimeReset};
use super::header::{Header, MAGIC, VERSION};
use super::layout::LayoutFields;
use super::pool::{STACK_TAG, STRING_TAG, StackPool, StringPool};
use super::schema::{Plan, Schema, TAG as SCHEMA_TAG};
use super::storage::{Batch, Storage};
use super::stretch::{Stretch, Told};
use super::value::{Stack, between};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::record::Listener;
use core::fmt;
use core::iter::FusedIterator;

/// The frames of a trace, in the order of the input.
///
/// It keeps the schemas and pools of the batch that it is in. What an event refers to is what the pools hold when it is
/// read: ask for it before the next frame.
pub struct Frames<'a, 's> {
    data: &'a [u8],
    at: usize,
    /// The time that others are counted from.
    base: u64,
    /// The number of headers read.
    batches: u64,
    /// True if the input has begun as it must.
    open: bool,
    /// True if it has, and nothing failed.
    is_ready: bool,
    /// The error at which reading stopped.
    failed: Option<Error>,
    batch: Batch<'s>,
}

impl<'a, 's> Frames<'a, 's> {
    /// The frames of a trace that may be damaged at its start; of any other, see
    /// [`Trace::parse`](super::Trace::parse).
    pub fn new(data: &'a [u8], storage: Storage<'s>) -> Self {
        let (open, is_ready, failed) = (false, false, None);
        Self { data, at: 0, base: 0, batches: 0, open, is_ready, failed, batch: Batch::new(storage) }
    }

    /// The frames from `offset` on, where a header begins a batch: batches have all that they need.
    pub fn at_batch(data: &'a [u8], offset: u64, storage: Storage<'s>) -> Self {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
        Self { at, ..Self::new(data, storage) }
    }

    /// The next frame, all of it checked.
    ///
    /// # Errors
    /// - `UnexpectedEnd` where the input ends inside a frame, or claims more than follows;
    /// - `BadMagic`, `UnsupportedVersion` of a header;
    /// - `Invalid` for an unknown frame, field type or type of a value in a list, `IntegerTooWide`, `TooDeep`;
    /// - `NotUtf8` of names and annotations;
    /// - `NoSuchClass` for an event without a schema, `Contradictory` for a second schema with the same number;
    /// - `Overflow` of a time that has more than 64 bits;
    /// - `CapacityExceeded` of lent storage.
    ///
    /// After an error there are no more frames, unless reading [recovers](Self::recover).
    pub fn next_frame(&mut self) -> Result<Option<Frame<'a>>> {
        if self.is_at(EVENT_TAG) {
            return match self.event() {
                Some(event) => Ok(Some(Frame::Event(event))),
                None => Err(self.failed_event()),
            };
        }
        self.next_other()
    }

    /// The next event; other frames are read and kept.
    ///
    /// # Errors
    /// As of [`Self::next_frame`].
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'a>>> {
        loop {
            if self.is_at(EVENT_TAG) {
                return match self.event() {
                    Some(event) => Ok(Some(event)),
                    None => Err(self.failed_event()),
                };
            }
            match self.next_other()? {
                None => return Ok(None),
                Some(Frame::Event(event)) => return Ok(Some(event)),
                Some(_) => {}
            }
        }
    }

    /// The next frame, if it is an event that can be read; else nothing is read, and [`Self::next_frame`] says what
    /// there is.
    ///
    /// Most frames are events: a loop that asks for them first is faster.
    #[inline]
    pub fn take_event(&mut self) -> Option<Event<'a>> {
        if self.is_at(EVENT_TAG) { self.event() } else { None }
    }

    /// Reads all events from here on, up to a frame that is none, or that cannot be read: [`Self::next_frame`] says what
    /// there is.
    ///
    /// For programs that look at little of each event: nothing is looked up or kept between them.
    #[inline]
    pub fn each_event(&mut self, mut each: impl FnMut(&Event<'a>)) {
        while self.is_at(EVENT_TAG) {
            let (slots, data) = (self.batch.schema_slots(), self.data);
            let (mut at, mut base) = (self.at, self.base);
            while let Some(&[EVENT_TAG, low, high]) =
                data.get(at..).and_then(|rest| rest.first_chunk::<TYPED>())
                && let Some(slot) = self.batch.noted(slots, u16::from_le_bytes([low, high]))
                && let Some(event) = Event::read(data, at, slot.place(), slot.plan(), base)
            {
                each(&event);
                at = event.end();
                base = if slot.place().timed() { event.raw_time() } else { base };
            }
            (self.at, self.base) = (at, base);
            // Its schema is not where it is looked for first, or there is no event.
            match self.take_event() {
                Some(event) => each(&event),
                None => return,
            }
        }
    }

    /// Reads the event here. `None` if that fails: [`Self::failed_event`] says why.
    #[inline(always)]
    fn event(&mut self) -> Option<Event<'a>> {
        let &[_, low, high] = self.data.get(self.at..)?.first_chunk::<TYPED>()?;
        let slot = self.batch.slot(u16::from_le_bytes([low, high]))?;
        let event = Event::read(self.data, self.at, slot.place(), slot.plan(), self.base)?;
        if slot.place().timed() {
            self.base = event.raw_time();
        }
        self.at = event.end();
        Some(event)
    }

    /// Why the event here cannot be read.
    #[cold]
    #[inline(never)]
    pub(super) fn failed_event(&mut self) -> Error {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let error = match rest.first_chunk::<TYPED>() {
            None => Bytes::at(rest, self.offset()).truncated(EVENT, to_u64(TYPED)),
            Some(&[_, low, high]) => {
                let type_id = u16::from_le_bytes([low, high]);
                match self.batch.slot(type_id) {
                    None => Error::new(self.offset(), EVENT, ErrorKind::NoSuchClass { id: type_id.into() }),
                    Some(slot) => Event::explain(self.data, self.at, slot.place(), self.base),
                }
            }
        };
        self.fail(error)
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: Error) -> Error {
        (self.failed, self.is_ready) = (Some(error), false);
        error
    }

    /// As [`Self::next_frame`], of frames that are no events.
    #[inline(never)]
    fn next_other(&mut self) -> Result<Option<Frame<'a>>> {
        // An empty input has no header.
        if self.failed.is_some() || (self.at >= self.data.len() && self.open) {
            return Ok(None);
        }
        let mut input = Bytes::at(self.data.get(self.at..).unwrap_or_default(), self.offset());
        match self.read(&mut input) {
            Ok(frame) => {
                self.at = self.data.len().saturating_sub(input.len());
                Ok(Some(frame))
            }
            Err(error) => {
                let error = self.with_need(error);
                Err(self.fail(error))
            }
        }
    }

    /// Reads a frame off the front, and keeps what must be remembered of it.
    fn read(&mut self, input: &mut Bytes<'a>) -> Result<Frame<'a>> {
        let start = *input;
        let tag = match start.as_slice().first() {
            Some(&tag) if self.open && Some(&tag) != MAGIC.first() => tag,
            _ => {
                let header = Header::read(input)?;
                self.batch.begin();
                self.base = 0;
                self.batches = self.batches.saturating_add(1);
                (self.open, self.is_ready) = (true, true);
                return Ok(Frame::Header(header));
            }
        };
        input.advance(1);
        Ok(match tag {
            SCHEMA_TAG => {
                let schema = Schema::read(input, self.data)?;
                self.batch.add_schema(self.data, &schema)?;
                Frame::Schema(schema)
            }
            STRING_TAG => {
                let pool = StringPool::read(input, self.data)?;
                self.batch.add_strings(&pool)?;
                Frame::Strings(pool)
            }
            STACK_TAG => {
                let pool = StackPool::read(input, self.data)?;
                self.batch.add_stacks(&pool)?;
                Frame::Stacks(pool)
            }
            RESET_TAG => {
                let reset = TimeReset::read(input)?;
                self.base = reset.nanoseconds();
                Frame::TimeReset(reset)
            }
            ANNOTATIONS_TAG => {
                let annotations = Annotations::read(input)?;
                self.batch.add_annotations(&annotations)?;
                Frame::Annotations(annotations)
            }
            tag => return Err(start.error(FRAME, ErrorKind::Invalid { value: tag.into() })),
        })
    }

    /// The error with the capacity that the rest of the batch needs, if it is one of capacity.
    #[cold]
    fn with_need(&mut self, error: Error) -> Error {
        let ErrorKind::CapacityExceeded { capacity, needed } = error.kind() else { return error };
        // What the frame here has put in is counted again, so that this is enough, and mostly too much.
        let used = to_u64(self.batch.used(error.element()));
        let more = self.count_rest(error.element());
        let needed = needed.max(used.saturating_add(more));
        Error::new(error.offset(), error.element(), ErrorKind::CapacityExceeded { capacity, needed })
    }

    /// The number of slots the frames from here on ask for, to the end of the batch or as far as can be told.
    fn count_rest(&mut self, element: Element) -> u64 {
        let (mut count, mut at) = (0_u64, self.at);
        // Each schema may be of a class of its own.
        let element = if element == CLASS { SCHEMA } else { element };
        loop {
            let mut input = Bytes::at(self.data.get(at..).unwrap_or_default(), to_u64(at));
            let Some((&tag, rest)) = input.as_slice().split_first() else { return count };
            if tag == EVENT_TAG {
                let type_id = rest.first_chunk().map(|id| u16::from_le_bytes(*id));
                let slot = type_id.and_then(|id| self.batch.slot(id));
                // Its time does not matter.
                match slot.and_then(|slot| Event::read(self.data, at, slot.place(), slot.plan(), 0)) {
                    Some(event) => at = event.end(),
                    None => return count,
                }
                continue;
            }
            input.advance(1);
            let found = match tag {
                SCHEMA_TAG => Schema::read(&mut input, self.data).map(|_| (SCHEMA, 1)),
                STRING_TAG => {
                    StringPool::read(&mut input, self.data).map(|pool| (STRING_POOL, pool.count().into()))
                }
                STACK_TAG => {
                    StackPool::read(&mut input, self.data).map(|pool| (STACK_POOL, pool.count().into()))
                }
                ANNOTATIONS_TAG => Annotations::read(&mut input).map(|_| (ANNOTATIONS, 1)),
                RESET_TAG => TimeReset::read(&mut input).map(|_| (FRAME, 0)),
                _ => return count,
            };
            match found {
                Ok((kind, slots)) if kind == element => count = count.saturating_add(slots),
                Ok(_) => {}
                Err(_) => return count,
            }
            at = self.data.len().saturating_sub(input.len());
        }
    }

    /// After an error, goes on at the next header that begins a batch, and says what was lost; without one, everything
    /// up to the end of the input was.
    ///
    /// Frames have no mark and no length: within a batch there is no way to find the next one. `None` if nothing
    /// failed.
    pub fn recover(&mut self) -> Option<Gap> {
        let cause = self.failed.take()?;
        let start = self.at;
        let mut at = start.saturating_add(1);
        let mut spent = 0_usize;
        let needle = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION];
        self.at = loop {
            let rest = self.data.get(at..).unwrap_or_default();
            let Some(found) = rest.windows(needle.len()).position(|window| window == needle) else {
                break self.data.len();
            };
            at = at.saturating_add(found);
            let (begins, looked) = begins_batch(self.data, at, LOOK_MIN.max(LOOK.saturating_sub(spent)));
            if begins {
                break at;
            }
            spent = spent.saturating_add(looked);
            // Each byte that is skipped pays for some that are looked at.
            spent = spent.saturating_sub(found.saturating_mul(LOOK_EACH));
            at = at.saturating_add(1);
        };
        (self.open, self.is_ready) = (true, true);
        Some(Gap::new(to_u64(start), between(start, self.at), cause))
    }

    /// Offset of the next frame, or of the one that failed: that many bytes are good.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// The number of headers read: batches are counted from 1.
    pub const fn batch(&self) -> u64 {
        self.batches
    }

    /// The pooled text with this id, as the batch has it now.
    ///
    /// `None` if there is none, or if no [storage for it](Storage::strings) was lent. It should be UTF-8.
    #[inline]
    pub fn string(&self, id: u32) -> Option<&'a [u8]> {
        self.batch.string_in(self.batch.string_slots(), self.data, id)
    }

    /// The pooled stack with this id, as the batch has it now.
    ///
    /// `None` if there is none, or if no [storage for it](Storage::stacks) was lent.
    #[inline]
    pub fn stack(&self, id: u32) -> Option<Stack<'a>> {
        self.batch.stack(self.data, id)
    }

    /// The schema with this number, if the batch has one now.
    pub fn schema(&self, type_id: u16) -> Option<Schema<'a>> {
        self.batch.find_schema(self.data, type_id)
    }

    /// The annotations of the fields of the schema with this number so far.
    ///
    /// Nothing, if no [storage for it](Storage::annotations) was lent.
    pub fn annotations(&self, type_id: u16) -> impl Iterator<Item = Annotation<'a>> + Clone + '_ {
        self.batch.annotations(self.data, type_id)
    }

    /// The number of a schema's class: schemas that have the same name and fields have the same class in all batches.
    ///
    /// Classes are counted from 0, as they are met. `None` if the schema is not known, or if no
    /// [storage for it](Storage::classes) was lent.
    pub fn class(&self, type_id: u16) -> Option<u32> {
        self.batch.class(type_id)
    }

    /// Tells an event.
    pub(super) fn tell_event<L: Listener>(&self, event: &Event<'a>, to: &mut L) -> Result<()> {
        let (at, delta) = event.at_and_delta();
        let base = event.raw_time().wrapping_sub(delta);
        match Stretch::new(self.data, &self.batch, at, base).tell(to) {
            Told::Whole => Ok(()),
            _ => {
                Err(Error::new(event.offset(), CLASS, ErrorKind::CapacityExceeded { capacity: 0, needed: 1 }))
            }
        }
    }

    /// The fields of one of its frames, as they lie in the input.
    pub fn fields(&self, frame: &Frame<'a>) -> LayoutFields<'a> {
        LayoutFields::new(self.data, frame)
    }

    /// Reads another input, with the same storage.
    pub(super) fn restart(&mut self, data: &'a [u8]) {
        (self.data, self.at, self.base) = (data, 0, 0);
        (self.open, self.is_ready, self.failed) = (false, false, None);
        self.batch.forget_classes();
    }

    /// True if all was read.
    #[inline(always)]
    pub(super) const fn is_at_end(&self) -> bool {
        self.is_ready && self.at >= self.data.len()
    }

    /// The number of schemas that the batch has now.
    pub(super) const fn schema_count(&self) -> usize {
        self.batch.schema_count()
    }

    /// True if the next frame can be read, and has this tag.
    #[inline(always)]
    pub(super) fn is_at(&self, tag: u8) -> bool {
        self.data.get(self.at) == Some(&tag) && self.is_ready
    }

    /// The plan by which the events of a schema are skipped, if the batch has the schema now.
    pub(super) fn plan(&self, schema: &Schema<'_>) -> Option<&Plan> {
        self.batch.find_slot(schema.type_id()).map(|slot| slot.plan())
    }

    /// The class and the time of the event here, if it can be read up to there: else [`Self::failed_event`] says why.
    #[inline]
    pub(super) fn event_head(&mut self) -> Option<(Option<u32>, Option<u64>)> {
        let rest = self.data.get(self.at..)?;
        let &[_, low, high] = rest.first_chunk::<TYPED>()?;
        let slot = self.batch.slot(u16::from_le_bytes([low, high]))?;
        let (_, time) = event::values(rest, self.at, slot.place(), self.base)?;
        Some((slot.class().map(|(class, _)| class), time))
    }

    /// The events from here on, up to what is none.
    #[inline(always)]
    pub(super) fn stretch(&self) -> Stretch<'a, '_, 's> {
        Stretch::new(self.data, &self.batch, self.at, self.base)
    }

    /// Goes on at `at`, up to where events were read.
    #[inline(always)]
    pub(super) const fn pass_events(&mut self, at: usize, base: u64) {
        (self.at, self.base) = (at, base);
    }
}

/// The number of bytes of frames that may be looked at before any is skipped. A frame is as long as it says, and may
/// hold bytes that look like headers: looking at each to its end would be work without bounds.
const LOOK: usize = 0x10_0000;

/// The number of bytes that may be looked at for each one that is skipped.
const LOOK_EACH: usize = 16;

/// The number of bytes of a frame that are always looked at. A longer frame is believed.
const LOOK_MIN: usize = 256;

/// True if a batch begins with the header at `at`: a whole frame that can stand there follows, or nothing. Also returns
/// how much was looked at, of at most `look` bytes.
fn begins_batch(data: &[u8], at: usize, look: usize) -> (bool, usize) {
    let start = at.saturating_add(Header::SIZE);
    let rest = data.get(start..).unwrap_or_default();
    let near = rest.get(..look).unwrap_or(rest);
    let mut input = Bytes::at(near, to_u64(start));
    let Some((&tag, _)) = near.split_first() else { return (true, 0) };
    let read = if Some(&tag) == MAGIC.first() {
        Header::read(&mut input).map(drop)
    } else {
        input.advance(1);
        let whole = near;
        match tag {
            SCHEMA_TAG => Schema::read(&mut input, whole).map(drop),
            STRING_TAG => StringPool::read(&mut input, whole).map(drop),
            STACK_TAG => StackPool::read(&mut input, whole).map(drop),
            RESET_TAG => TimeReset::read(&mut input).map(drop),
            ANNOTATIONS_TAG => Annotations::read(&mut input).map(drop),
            _ => return (false, 0),
        }
    };
    let begins = match read.map_err(|error| error.kind()) {
        Ok(()) => true,
        // What was looked at ends; the frame may go on.
        Err(ErrorKind::UnexpectedEnd { needed }) => needed <= between(near.len(), rest.len()),
        Err(_) => false,
    };
    (begins, near.len().saturating_sub(input.len()))
}

impl<'a> Iterator for Frames<'a, '_> {
    type Item = Result<Frame<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_frame().transpose()
    }
}

impl FusedIterator for Frames<'_, '_> {}

impl fmt::Debug for Frames<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames")
            .field("offset", &self.at)
            .field("batch", &self.batches)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
