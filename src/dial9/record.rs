//! Events as records: the one place that says what their fields are.

use super::element::CLASS;
use super::event::{Event, TAG, moment_of};
use super::frames::Frames;
use super::storage::Storage;
use super::stretch::Told;
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::record::{ClassId, Head, Listener, Record, Source, Time};

/// The events of a trace as records, in the order of the input.
///
/// Their times count from the origin of the writer's monotonic clock; symbols [have none](Event::moment). Pooled text
/// and stacks are told as what they refer to. A reference to nothing is text that says so, or an absent stack.
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
    head: Option<Head>,
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

    /// Tells all records that are left, up to damage: for those who need not see heads first. After an error, the next
    /// call goes on after it.
    ///
    /// # Errors
    /// As of [`peek`](Source::peek) and [`tell`](Source::tell).
    #[inline]
    pub fn tell_all<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        loop {
            if self.head.is_none() {
                self.tell_stretch(to)?;
            }
            if self.peek()?.is_none() {
                return Ok(());
            }
            self.tell(to)?;
        }
    }

    /// Tells the events from here on, as long as all is where it is looked for first.
    #[inline(always)]
    fn tell_stretch<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        if !self.frames.is_at(TAG) {
            return Ok(());
        }
        let mut stretch = self.frames.stretch();
        let told = loop {
            let told = stretch.tell(to);
            if told != Told::Whole {
                break told;
            }
        };
        let (at, base) = (stretch.at, stretch.base);
        self.frames.pass_events(at, base);
        if told == Told::Abandoned { Err(self.failed_event()) } else { Ok(()) }
    }

    /// Goes on after damage. Storage that is too small is no damage: what follows would need it, too.
    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.gap = self.frames.recover();
        }
        error
    }

    #[cold]
    fn failed_event(&mut self) -> Error {
        let error = self.frames.failed_event();
        self.failed(error)
    }

    /// Reads up to the next event and its time.
    #[inline]
    fn next_head(&mut self) -> Result<Option<Head>> {
        while !self.frames.is_at(TAG) {
            match self.frames.next_frame() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.failed(error)),
            }
        }
        let Some((class, time)) = self.frames.event_head() else { return Err(self.failed_event()) };
        let offset = self.frames.offset();
        let Some(class) = class else {
            let kind = ErrorKind::CapacityExceeded { capacity: 0, needed: 1 };
            return Err(Error::new(offset, CLASS, kind));
        };
        let time = moment_of(time).map(|ns| Time::since_origin(ns.into()));
        Ok(Some(Head { class: ClassId(class), time, offset, bit: 0, len: None }))
    }
}

impl Source for Records<'_, '_> {
    #[inline]
    fn peek(&mut self) -> Result<Option<&Head>> {
        if self.head.is_none() {
            self.head = self.next_head()?;
        }
        Ok(self.head.as_ref())
    }

    #[inline]
    fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        if self.head.take().is_none() {
            return Ok(());
        }
        let mut stretch = self.frames.stretch();
        let told = stretch.tell(to);
        let (at, base) = (stretch.at, stretch.base);
        if told != Told::Whole {
            return Err(self.failed_event());
        }
        self.frames.pass_events(at, base);
        Ok(())
    }
}

/// An event with what it refers to: a record, told as by [`Records`].
///
/// It is one of [frames](Frames::record) that have not gone on to another batch.
#[derive(Clone, Copy, Debug)]
pub struct NamedEvent<'f, 'a, 's> {
    frames: &'f Frames<'a, 's>,
    event: &'f Event<'a>,
}

impl<'a, 's> Frames<'a, 's> {
    /// An event of the batch that it is in, as a record. [Classes](Storage::classes) must be lent.
    pub const fn record<'f>(&'f self, event: &'f Event<'a>) -> NamedEvent<'f, 'a, 's> {
        NamedEvent { frames: self, event }
    }
}

impl Record for NamedEvent<'_, '_, '_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.frames.tell_event(self.event, crate::record::any_listener!(to))
    }
}
