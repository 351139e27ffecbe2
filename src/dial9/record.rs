//! Events as records: the one place that says what their fields are.

use super::class::EventClass;
use super::element::CLASS;
use super::event::TAG;
use super::frames::{EventHead, Frames};
use super::schema::Schema;
use super::storage::Storage;
use super::tell::{self, Pools, SLOTS};
use super::value::Stack;
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::record::{ClassId, Head, Listener, Scope, Source, Time};

/// The events of a trace as records, in the order of the input.
///
/// Their times count from the origin of the writer's monotonic clock. Pooled text and stacks are told as what they
/// refer to. A reference to nothing is text that says so, or an absent stack.
///
/// Each event is read once, while it is told. After damage it [recovers](Frames::recover).
///
/// ```
/// use traceglass::dial9::{ClassSlot, Records, SchemaSlot, Storage};
/// use traceglass::record::{Nobody, Source as _};
/// # let file = b"TRC\0\x01\x01\x07\0\x0c\0PollEndEvent\x01\x01\0\x09\0worker_id\x09\
/// #     \x05\x40\x42\x0f\0\0\0\0\0\x02\x07\0\x05\0\0\x01";
///
/// let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 64], [ClassSlot::EMPTY; 256]);
/// let mut records = Records::new(file, Storage::new(&mut schemas).classes(&mut classes));
/// while let Some(head) = records.peek()? {
///     assert_eq!(head.time.unwrap().ns(), 1_000_005);
///     records.tell(&mut Nobody)?;
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Debug)]
pub struct Records<'a, 's> {
    frames: Frames<'a, 's>,
    head: Option<(Head, EventHead)>,
    gap: Option<Gap>,
}

impl<'a, 's> Records<'a, 's> {
    /// The records of a trace. [Classes](Storage::classes) must be lent.
    pub fn new(data: &'a [u8], storage: Storage<'s>) -> Self {
        Self { frames: Frames::new(data, storage), head: None, gap: None }
    }

    /// The frames that it reads, with the schemas and pools as they are at the record whose head was seen last.
    pub const fn frames(&self) -> &Frames<'a, 's> {
        &self.frames
    }

    /// The gap that the last error left.
    pub fn take_gap(&mut self) -> Option<Gap> {
        self.gap.take()
    }

    /// Tells the next record, and returns whether there was one: for those who need not see heads first.
    ///
    /// # Errors
    /// As of [`peek`](Source::peek) and [`tell`](Source::tell).
    #[inline]
    pub fn tell_next<L: Listener>(&mut self, to: &mut L) -> Result<bool> {
        // Most of what follows an event is an event: nothing is put aside.
        if self.head.is_none()
            && self.frames.is_at(TAG)
            && let Some(event) = self.frames.event_head()
            && let Some(class) = event.class
        {
            let head = self.head_of(&event, class);
            return self.tell_event(&head, &event, class, to).map(|()| true);
        }
        if self.peek()?.is_none() {
            return Ok(false);
        }
        self.tell(to).map(|()| true)
    }

    #[inline(always)]
    fn head_of(&self, event: &EventHead, class: (u32, u32)) -> Head {
        let time = event.time.map(|ns| Time::since_origin(ns.into()));
        Head { class: ClassId(class.0), time, offset: self.frames.offset(), bit: 0, len: None }
    }

    /// Goes on after damage. Storage that is too small is no damage: what follows would need it, too.
    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.gap = self.frames.recover();
        }
        error
    }

    /// Reads up to the next event and its time.
    #[inline]
    fn next_head(&mut self) -> Result<Option<(Head, EventHead)>> {
        while !self.frames.is_at(TAG) {
            match self.frames.next_frame() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.failed(error)),
            }
        }
        let Some(event) = self.frames.event_head() else {
            let error = self.frames.failed_event();
            return Err(self.failed(error));
        };
        let Some(class) = event.class else {
            let kind = ErrorKind::CapacityExceeded { capacity: 0, needed: 1 };
            return Err(Error::new(self.frames.offset(), CLASS, kind));
        };
        Ok(Some((self.head_of(&event, class), event)))
    }

    #[inline(always)]
    fn tell_event<L: Listener>(
        &mut self,
        head: &Head,
        event: &EventHead,
        (_, fields_before): (u32, u32),
        to: &mut L,
    ) -> Result<()> {
        let schema = Schema::at(self.frames.data(), event.place);
        let first_slot = fields_before.wrapping_mul(SLOTS);
        let frames = &self.frames;
        let unit = |place| {
            let notes = frames.annotations(schema.type_id());
            notes.filter(|note| note.field() == place && note.key() == "unit").last().map(|note| note.value())
        };
        let class = EventClass { id: head.class, schema, first_slot, unit };
        let wants = to.begin(head, &class);
        let end = if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            let (frames, data) = (&self.frames, self.frames.data());
            match tell::fields(frames, data, &schema, &event.numbers, first_slot, event.values_at, to) {
                Some(_) if to.is_full() => self.frames.end_of_event(),
                end => end,
            }
        } else {
            self.frames.end_of_event()
        };
        let Some(end) = end.filter(|end| *end <= self.frames.data().len()) else {
            to.abandon();
            let error = self.frames.failed_event();
            return Err(self.failed(error));
        };
        self.frames.pass_event(end, event.time);
        if wants.has(Scope::Fields) {
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

impl Source for Records<'_, '_> {
    #[inline]
    fn peek(&mut self) -> Result<Option<&Head>> {
        if self.head.is_none() {
            self.head = self.next_head()?;
        }
        Ok(self.head.as_ref().map(|(head, _)| head))
    }

    #[inline]
    fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        match self.head.take() {
            Some((head, event)) => {
                let class = event.class.unwrap_or_default();
                self.tell_event(&head, &event, class, to)
            }
            None => Ok(()),
        }
    }
}

impl<'a> Pools<'a> for Frames<'a, '_> {
    #[inline(always)]
    fn string(&self, id: u32) -> Option<&'a [u8]> {
        Frames::string(self, id)
    }

    fn stack(&self, id: u32) -> Option<Stack<'a>> {
        Frames::stack(self, id)
    }
}
