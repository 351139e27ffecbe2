//! The names, clocks and gains of streams, looked up once.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::class::StreamClass;
use crate::rtc::element::META;
use crate::rtc::tell::NamedRecord;
use crate::rtc::{Record, Streams, Time};
use core::marker::PhantomData;

/// Room for what is known of a stream.
#[derive(Clone, Copy, Debug)]
pub struct NameSlot<'a>(Option<StreamClass<'a>>);

impl NameSlot<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self(None);
}

default_is_empty!(NameSlot<'_>);

/// The names, clocks and gains of the streams of a file. They stand in JSON, which is read once.
///
/// Each stream has a class of its own, with another number in each session.
///
/// ```
/// # fn read(data: &[u8]) -> traceglass::Result<()> {
/// use traceglass::record::{Nobody, Record};
/// use traceglass::rtc::{NameSlot, Names, Records, StreamSlot};
///
/// let mut buffer = [0; 4096];
/// let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
/// let mut names = Names::new([NameSlot::EMPTY; 64]);
/// while let Some(record) = records.next_record()? {
///     let record = names.record(&record)?;
///     println!("{:?} {}", record.time(), record.class());
///     record.tell(&mut Nobody)?; // or a listener of your own
/// }
/// # Ok(())
/// # }
/// # read(b"").unwrap_err();
/// ```
#[derive(Debug)]
pub struct Names<'a, R> {
    slots: R,
    /// The number of classes that have got a number.
    numbers: u32,
    /// The time that was converted last, and what it is: many records have one time.
    time: (Time, i128),
    names: PhantomData<&'a ()>,
}

impl<'a, R: Room<NameSlot<'a>>> Names<'a, R> {
    /// No names yet. A slot is needed for each stream of a session.
    pub const fn new(slots: R) -> Self {
        Self { slots, numbers: 0, time: (Time::ZERO, 0), names: PhantomData }
    }

    /// The number of classes so far.
    pub const fn count(&self) -> u32 {
        self.numbers
    }

    /// The class of the stream in a slot of the table; `None` if there is none.
    ///
    /// # Errors
    /// `CapacityExceeded`, with the number of slots that are needed.
    #[inline(always)]
    pub fn class(
        &mut self,
        slot: usize,
        session: u64,
        streams: Streams<'_, 'a>,
    ) -> Result<Option<&StreamClass<'a>>> {
        let is_known =
            |class: &StreamClass<'a>| class.revision == streams.revision() && class.session == session;
        if !self.known(slot).is_some_and(is_known) {
            self.learn(slot, session, streams)?;
        }
        Ok(self.known(slot))
    }

    /// A record, with what is known of its stream.
    ///
    /// # Errors
    /// As for [`class`](Self::class).
    #[inline(always)] // What it returns is large, and is copied otherwise.
    pub fn record<'r>(&'r mut self, record: &Record<'r, 'a>) -> Result<NamedRecord<'r, 'a>> {
        let (slot, mut time) = (record.slot(), self.time);
        self.class(slot, record.session(), record.streams())?;
        let in_ns = |asked: Time| {
            if asked != time.0 {
                time = (asked, asked.attoseconds().div_euclid(1_000_000_000));
            }
            time.1
        };
        let Self { slots, time: kept, .. } = self;
        let slots: &'r R = slots;
        match slots.slots().get(slot).and_then(|known| known.0.as_ref()) {
            Some(class) => {
                let named = NamedRecord::new(class, record, in_ns);
                *kept = time;
                Ok(named)
            }
            // Its stream is in the table.
            None => Err(Error::new(record.offset(), META, ErrorKind::Missing)),
        }
    }

    #[inline(always)]
    fn known(&self, slot: usize) -> Option<&StreamClass<'a>> {
        self.slots.slots().get(slot)?.0.as_ref()
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, slot: usize, session: u64, streams: Streams<'_, 'a>) -> Result<()> {
        let Some(mut class) = StreamClass::of(slot, session, streams) else {
            if let Some(known) = self.slots.slots_mut().get_mut(slot) {
                known.0 = None;
            }
            return Ok(());
        };
        let needed = slot.saturating_add(1);
        if self.slots.slots().len() < needed && !self.slots.grow(needed) {
            let (capacity, needed) = (to_u64(self.slots.slots().len()), to_u64(needed));
            let at = class.stream().object().offset();
            return Err(Error::new(at, META, ErrorKind::CapacityExceeded { capacity, needed }));
        }
        let Some(known) = self.slots.slots_mut().get_mut(slot) else { return Ok(()) };
        match &known.0 {
            // A table that has changed elsewhere, or memory that is not the same.
            Some(before) if before.is_same(&class) => class.number = before.number,
            _ => {
                self.numbers = self.numbers.saturating_add(1);
                class.number = self.numbers;
            }
        }
        known.0 = Some(class);
        Ok(())
    }
}
