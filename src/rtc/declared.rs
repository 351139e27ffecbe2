//! What the Metas of a session declare, and which of them counts where they contradict each other.

use crate::ByteOrder;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::element::META;
use crate::rtc::frame::id;
use crate::rtc::lengths::Lengths;
use crate::rtc::prologue::Prologue;
use crate::rtc::unit::{CRC_SIZE, Unit};
use crate::rtc::value::platform_byte_order;
use crate::rtc::{CrcStatus, Meta, Stream, Streams, work};

/// The first byte of a frame of the Crc.
pub(super) const CRC_HEADER: u8 = 0x10;

/// How many times the size of the input may be read, in all, without being delivered: more than any damage takes.
const BUDGET: u64 = 4;

/// Finds out whether a frame continues a record: `rest::doubt`.
///
/// Only frames that are read from the middle on, or after damage, may be in doubt. Readers that begin there set the
/// pointer, so that the image of a program which reads from the start on has none of it.
pub(super) type Doubt<const N: usize> = for<'a> fn(&mut Declared<'a, N>, &Unit<'a>, u64, u64) -> bool;

/// The streams of a session, what follows from them for their frames, and what is known of where they come from.
#[derive(Clone)]
pub(super) struct Declared<'a, const N: usize> {
    pub(super) data: &'a [u8],
    pub(super) streams: Streams<'a, N>,
    pub(super) lengths: Lengths<N>,
    pub(super) order: ByteOrder,
    /// The last Meta or meta, while it is read and after that.
    pub(super) meta: Option<Meta<'a>>,
    /// What it said that contradicts what was known.
    pub(super) contradiction: Option<Error>,
    /// Whether it said anything that was not known, or that could not be read.
    pub(super) is_news: bool,
    /// The unit whose Meta the table was taken from.
    source: Option<Unit<'a>>,
    /// How many more bytes may be read that are not delivered then: of checksums and Metas elsewhere.
    pub(super) budget: u64,
    /// The units of which the Meta was read elsewhere last, and whether there was one.
    learned: [(u64, bool); 2],
    /// The largest id said to be free.
    next_id: u64,
    /// What is in doubt, if anything can be.
    pub(super) doubt: Option<Doubt<N>>,
}

impl<'a, const N: usize> Declared<'a, N> {
    #[inline(never)] // Made where it is to lie: inlined, it is made on the stack and copied.
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self {
            data,
            streams: Streams::new(),
            lengths: Lengths::new(),
            order: ByteOrder::Little,
            meta: None,
            contradiction: None,
            is_news: false,
            source: None,
            budget: to_u64(data.len()).saturating_mul(BUDGET).saturating_add(1 << 16),
            learned: [(u64::MAX, false); 2],
            next_id: 0,
            doubt: None,
        }
    }

    /// Another session begins: the ids have other meanings.
    pub(super) fn clear(&mut self) {
        self.streams.clear();
        (self.meta, self.next_id, self.source) = (None, 0, None);
        self.learned = [(u64::MAX, false); 2];
    }

    /// The writer's byte order, as its platform frame tells it.
    pub(super) fn platform(&mut self, payload: &[u8]) {
        self.order = platform_byte_order(payload).unwrap_or(self.order);
    }

    /// Takes the next piece of a Meta or meta of `unit`; objects that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// The table has no room for a stream.
    pub(super) fn read(
        &mut self,
        unit: Option<&Unit<'a>>,
        (payload, offset): (&'a [u8], u64),
        continues: bool,
        more: bool,
    ) -> Result<()> {
        if !continues || self.meta.is_none() {
            (self.contradiction, self.is_news) = (None, false);
            self.meta = Some(Meta::in_pieces(offset));
        }
        if let Some(meta) = &mut self.meta {
            meta.push(payload, offset, more);
        }
        let mut result = Ok(());
        let mut settled = None;
        while let Some(stream) = self.meta.as_mut().and_then(Meta::next_stream) {
            let Ok(stream) = stream else {
                self.is_news = true;
                continue;
            };
            if self.contradicted_by(&stream).is_some() {
                self.is_news = true;
                self.note_contradiction(&stream);
                // Damage costs its own unit: what a checksum proves counts, and else what the unit itself says.
                let counts = match settled {
                    Some(counts) => counts,
                    None => unit.is_some_and(|unit| self.is_proven(unit)) || !self.is_source_proven(),
                };
                settled = Some(counts);
                if counts {
                    self.replace(stream);
                }
            } else {
                self.is_news |= stream.damage().is_some() || self.streams.get(stream.id()).is_none();
                result = result.and(self.add(stream));
            }
        }
        if settled == Some(true) || self.source.is_none() {
            self.source = unit.copied();
        }
        if let Some(meta) = &self.meta {
            self.next_id = self.next_id.max(meta.next_id().unwrap_or(0));
            self.is_news |= !more && meta.check().is_err();
        }
        result
    }

    fn is_source_proven(&mut self) -> bool {
        let source = self.source;
        source.is_some_and(|source| self.is_proven(&source))
    }

    /// Takes the Meta of the unit at `at` into the table, where nothing else is known; gives whether there is one.
    ///
    /// # Errors
    ///
    /// The table has no room for a stream.
    pub(super) fn learn_at(&mut self, at: u64) -> Result<bool> {
        if let Some(&(_, is_there)) = self.learned.iter().find(|known| known.0 == at) {
            return Ok(is_there);
        }
        let mut budget = self.budget;
        let mut streams = Prologue::new(self.data, at, &mut budget);
        let mut result = Ok(());
        for stream in streams.by_ref() {
            if self.contradicted_by(&stream).is_none() {
                result = result.and(self.add(stream));
            }
        }
        let is_there = streams.meta().is_some();
        self.next_id = self.next_id.max(streams.meta().and_then(Meta::next_id).unwrap_or(0));
        if let Some(platform) = streams.platform {
            self.platform(platform);
        }
        self.budget = budget;
        let [last, _] = self.learned;
        self.learned = [(at, is_there), last];
        result.map(|()| is_there)
    }

    /// The number of streams the Meta of the unit at `at` declares as they are known, and how many in other words; `None` if
    /// there is no Meta.
    pub(super) fn compare(&mut self, at: u64) -> Option<(u32, u32)> {
        let mut budget = self.budget;
        let mut streams = Prologue::new(self.data, at, &mut budget);
        let (mut same, mut others) = (0_u32, 0_u32);
        for stream in streams.by_ref() {
            let Some(known) = self.streams.get(stream.id()) else { continue };
            let is_other = stream.contradicts(known);
            others = others.saturating_add(u32::from(is_other));
            same = same.saturating_add(u32::from(!is_other));
        }
        let is_there = streams.meta().is_some();
        self.budget = budget;
        is_there.then_some((same, others))
    }

    /// Puts what the Meta of a unit says in the place of what was known.
    pub(super) fn replace_by(&mut self, unit: &Unit<'a>) {
        let mut budget = self.budget;
        for stream in Prologue::new(self.data, unit.offset(), &mut budget) {
            if let Some(known) = self.contradicted_by(&stream).copied() {
                self.note_contradiction(&known);
                self.replace(stream);
            }
        }
        self.source = Some(*unit);
        self.budget = budget;
    }

    /// Enters a stream that an object must have declared which lost its id to damage, if `id` may be one.
    ///
    /// # Errors
    ///
    /// The table has no room for it.
    pub(super) fn add_unknown(&mut self, id: u64) -> Option<Result<()>> {
        let is_free = (id::USER..self.next_id).contains(&id) && self.streams.get(id).is_none();
        (is_free && self.streams.len() < N).then(|| self.streams.insert(Stream::unknown(id)))
    }

    /// Takes a stream that nothing speaks against.
    fn add(&mut self, stream: Stream<'a>) -> Result<()> {
        self.lengths.forget(stream.id());
        self.streams.insert(stream)
    }

    fn replace(&mut self, stream: Stream<'a>) {
        if let Some(slot) = self.streams.slot(stream.id()) {
            self.streams.replace(slot, stream);
            self.lengths.forget(stream.id());
        }
    }

    /// The known stream of the same id of which this one says something else.
    fn contradicted_by(&self, stream: &Stream<'a>) -> Option<&Stream<'a>> {
        self.streams.get(stream.id()).filter(|known| stream.contradicts(known))
    }

    /// The first one is kept.
    fn note_contradiction(&mut self, stream: &Stream<'a>) {
        let error = Error::new(stream.object().offset(), META, ErrorKind::Contradictory);
        self.contradiction = self.contradiction.or(Some(error));
    }

    /// True if the checksum of a unit is right; `false` if it is not known.
    ///
    /// In all, not much more than the input is read for that, however many units contradict each other.
    pub(super) fn is_proven(&mut self, unit: &Unit<'a>) -> bool {
        let to = usize::try_from(unit.end().saturating_sub(CRC_SIZE)).ok();
        to.is_some_and(|to| self.covers(unit, to))
    }

    /// True if the frame at `to` is a Crc that is right for the bytes since the unit's Index.
    pub(super) fn covers(&mut self, unit: &Unit<'a>, to: usize) -> bool {
        let Some(from) = usize::try_from(unit.origin()).ok() else { return false };
        let (Some(covered), Some([CRC_HEADER, stored @ ..])) =
            (self.data.get(from..to), self.data.get(to..).and_then(|rest| rest.first_chunk::<5>()))
        else {
            return false;
        };
        let Some(budget) = self.budget.checked_sub(to_u64(covered.len())) else { return false };
        self.budget = budget;
        work::count(covered.len());
        CrcStatus::without_tables(*stored, covered).is_right()
    }
}
