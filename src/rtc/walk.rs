//! Frames in file order.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::frame::{Frame, Parts, id};
use crate::rtc::lengths::Lengths;
use crate::rtc::queue::{Item, Queue};
use crate::rtc::{ByteOrder, Meta, Streams, UNIT, Unit, Verdict, search};
use core::fmt;
use core::iter::FusedIterator;

/// The frames of a container in file order, with at most `N` streams a session.
///
/// Every frame is delivered, those of the default streams included; [`Frame::is_user`] tells them apart. Together
/// with the [gaps](Gap) they tile the input.
///
/// **Errors.** An error says where reading could not go on, and `None` follows. [`resync`](Self::resync) then goes
/// on behind the damage and says what was lost:
///
/// ```
/// # fn read(data: &[u8]) {
/// use traceglass::rtc::Walk;
///
/// let mut walk = Walk::<64>::new(data);
/// loop {
///     while let Some(Ok(frame)) = walk.next_frame() {
///         // …
///         # let _ = frame;
///     }
///     let Some(gap) = walk.resync() else { break };
///     // Lost: gap.offset() to gap.end().
/// }
/// # }
/// # read(b"");
/// ```
///
/// **Proof before delivery.** A wrong length makes bytes look like frames that never were. So a frame is delivered
/// only once some more frames behind it were found where it ends, or a boundary; the last few frames before damage
/// are part of the gap. Nothing is held back where the input merely ends.
///
/// **Time.** Linear in the input. **Memory.** 4 KiB and 115 bytes a stream; on 32 bits, 2.4 KiB and 100 bytes.
#[derive(Clone)]
pub struct Walk<'a, const N: usize> {
    pub(super) data: &'a [u8],
    /// The next frame to be delivered.
    pub(super) pos: usize,
    /// How far the look ahead has come.
    pub(super) ahead: usize,
    /// What is there.
    pub(super) stop: Stop,
    pub(super) unit: Option<Unit<'a>>,
    /// The end of this minor unit, or of the input.
    pub(super) limit: usize,
    /// Where records of fixed length are cut.
    pub(super) boundary: u64,
    /// Whether only default streams were seen in this major unit.
    pub(super) prologue: bool,
    /// Whether units are known to end with a Crc.
    pub(super) has_crc: Option<bool>,
    pub(super) queue: Queue,
    /// Whether `limit` is a boundary, rather than where the input ends.
    pub(super) is_whole: bool,
    /// Up to here, frames were verified by other means.
    pub(super) verified: usize,
    /// From here on, nothing was lost.
    pub(super) since: usize,
    /// Whether, behind damage, it is not known how much is left of a record: up to the next boundary.
    pub(super) guessed: bool,
    /// Whether it was said that the table is too small.
    pub(super) overflowed: bool,
    /// Before this, no Marker is left to be found.
    pub(super) searched: u64,
    /// How many more frames and places may be looked at that are not read then.
    pub(super) looks: u64,
    pub(super) streams: Streams<'a, N>,
    pub(super) meta: Option<Meta<'a>>,
    /// The largest id said to be free.
    pub(super) next_id: u64,
    pub(super) lengths: Lengths<N>,
    pub(super) session: u64,
    /// The error that was delivered.
    stopped: Option<Error>,
    /// The last Crc, which lies before the unit if it has none, and where the padding before the last index begins.
    crc: Option<usize>,
    /// Where that Crc ends and the one before it did, whatever became of their units.
    crc_ends: (usize, usize),
    padding: Option<(usize, usize)>,
    stale: Option<usize>,
    order: ByteOrder,
}

/// Where a frame ends in the input.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // It lies in the input.
const fn item_end(frame: &Frame<'_>) -> usize {
    frame.payload_offset() as usize + frame.payload().len()
}

/// What the look ahead has met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stop {
    /// Nothing yet.
    Going,
    /// The next minor unit.
    Minor,
    /// A Marker, or where one is due.
    Major,
    /// The end of the input, at the end of a frame.
    End,
    /// Damage.
    Fault(Error),
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Begins at the start of the input.
    pub fn new(data: &'a [u8]) -> Self {
        Self::from(data, 0)
    }

    /// Begins at the Marker at `offset`, as another walk or a [`Grid`](crate::rtc::Grid) has found it.
    pub fn at_unit(data: &'a [u8], offset: u64) -> Self {
        Self::from(data, usize::try_from(offset).unwrap_or(data.len()).min(data.len()))
    }

    /// Begins at an index of `unit`, or at its Marker.
    pub(super) fn in_unit(data: &'a [u8], unit: Unit<'a>, at: u64) -> Self {
        let mut walk = Self::at_unit(data, at);
        walk.learn_at(unit.offset());
        // The unit may have had a meta, which the next one repeats.
        walk.learn_at(unit.end());
        walk.expect_rest(&unit);
        walk.enter(unit, walk.pos);
        walk
    }

    #[inline(never)] // See `Queue::new`.
    fn from(data: &'a [u8], pos: usize) -> Self {
        Self {
            data,
            pos,
            ahead: pos,
            stop: Stop::Major,
            unit: None,
            limit: pos,
            boundary: 0,
            prologue: true,
            has_crc: None,
            queue: Queue::new(),
            is_whole: false,
            verified: pos,
            since: pos,
            guessed: false,
            overflowed: false,
            searched: 0,
            looks: to_u64(data.len()).saturating_add(1 << 16),
            streams: Streams::new(),
            meta: None,
            next_id: 0,
            lengths: Lengths::new(),
            session: 0,
            stopped: None,
            crc: None,
            crc_ends: (0, 0),
            padding: None,
            stale: None,
            order: ByteOrder::Little,
        }
    }

    /// The next frame.
    ///
    /// **Errors**: whatever damage stands in the way; `None` follows until [`resync`](Self::resync) is called.
    #[inline]
    pub fn next_frame(&mut self) -> Option<Result<Frame<'a>>> {
        match self.queue.first() {
            Some(item) if item.flags & Item::DEFAULT == 0 => {
                let frame = self.frame(*item);
                self.queue.pop();
                self.pos = item_end(&frame);
                Some(Ok(frame))
            }
            Some(_) => self.next_default(),
            None => self.next_ahead(),
        }
    }

    /// The frame of an item.
    #[inline(always)]
    // The frame was looked at: it ends in the input.
    #[allow(clippy::arithmetic_side_effects)]
    fn frame(&self, item: Item) -> Frame<'a> {
        let start = item.start + usize::from(item.header);
        let payload = self.data.get(start..start + usize::from(item.len)).unwrap_or_default();
        let more = item.flags & Item::MORE != 0;
        let parts = Parts { id: item.id, more, header: item.header, payload };
        Frame::new(to_u64(item.start), parts, item.place, item.flags & Item::CONTINUES != 0)
    }

    /// The next frame, of a default stream.
    #[cold]
    fn next_default(&mut self) -> Option<Result<Frame<'a>>> {
        let item = *self.queue.first()?;
        let frame = if item.flags & Item::ZEROS != 0 {
            self.queue.pop_zero();
            self.frame(Item { len: 0, ..item })
        } else {
            self.queue.pop();
            self.frame(item)
        };
        self.pos = item_end(&frame);
        self.note(item.start, &frame);
        Some(Ok(frame))
    }

    /// Keeps in mind what the verdict on the checksum needs.
    fn note(&mut self, offset: usize, frame: &Frame<'a>) {
        match frame.id() {
            id::NUL | id::PADDING => {
                let start = self.padding.filter(|&(_, end)| end == offset).map_or(offset, |(start, _)| start);
                self.padding = Some((start, self.pos));
            }
            id::MINOR_INDEX if !frame.continues() => {
                let padding = self.padding.filter(|&(_, end)| end == offset);
                self.stale = Some(padding.map_or(offset, |(start, _)| start));
            }
            id::CRC => {
                self.crc = Some(offset);
                self.crc_ends = (self.pos, self.crc_ends.0);
            }
            id::PLATFORM => self.platform(frame.payload()),
            _ => {}
        }
    }

    /// The next frame, once the look ahead has gone on.
    #[cold]
    fn next_ahead(&mut self) -> Option<Result<Frame<'a>>> {
        loop {
            if self.stopped.is_some() {
                return None;
            }
            if self.queue.first().is_some() {
                return self.next_frame();
            }
            match self.stop {
                Stop::Going => self.look_ahead(),
                Stop::Minor => self.begin_minor(),
                Stop::Major => self.begin_major(),
                Stop::End => return None,
                Stop::Fault(error) => {
                    self.stopped = Some(error);
                    return Some(Err(error));
                }
            }
        }
    }

    /// Goes on behind damage: `None` if there was none, or if the input has ended.
    ///
    /// Reading goes on at the first frame behind the damage that is certain: at the next Marker, at the next index
    /// whose distance to its unit is right, or at a frame before either to which it leads.
    pub fn resync(&mut self) -> Option<Gap> {
        let cause = self.stopped.take()?;
        let from = self.pos;
        let reason = self.recover(cause);
        (self.crc, self.padding, self.stale) = (None, None, None);
        Some(Gap { offset: to_u64(from), len: to_u64(self.pos.saturating_sub(from)), cause, reason })
    }

    /// Offset of the next frame; once the frames have ended, how far reading came.
    ///
    /// Where a file is still growing, this is where to go on when it has more bytes.
    pub const fn offset(&self) -> u64 {
        to_u64(self.pos)
    }

    /// The input.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The major unit of the last frame.
    pub const fn unit(&self) -> Option<&Unit<'a>> {
        self.unit.as_ref()
    }

    /// The number of the session, from 0: how often the numbering of units has begun again.
    pub const fn session(&self) -> u64 {
        self.session
    }

    /// The streams of the session, as far as they have been declared.
    pub const fn streams(&self) -> &Streams<'a, N> {
        &self.streams
    }

    /// The writer's byte order, as far as its platform frame told.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// Reads a platform frame.
    pub(super) fn platform(&mut self, payload: &[u8]) {
        self.order = super::value::platform_byte_order(payload).unwrap_or(self.order);
    }

    /// The verdict on the checksum of this major unit, once its Crc was delivered.
    ///
    /// It reads the unit once if the checksum is right as deployed, else up to three times. `SLICES` is that of
    /// [`WriterCrc`](crate::rtc::WriterCrc).
    ///
    /// A unit that another Crc lies in is not complete: its beginning was lost, and it has no verdict. So however a file
    /// was made, no byte is covered twice.
    pub fn verdict<const SLICES: usize>(&self) -> Verdict {
        let stored = self.crc.and_then(|at| {
            let stored = self.data.get(at.checked_add(1)?..)?.first_chunk::<4>()?;
            let origin = usize::try_from(self.unit?.origin()).ok().filter(|&at| at >= self.crc_ends.1)?;
            let stale = self.stale.and_then(|stale| stale.checked_sub(origin));
            Some((*stored, self.data.get(origin..at)?, stale))
        });
        stored.map_or(Verdict::Missing, |(stored, covered, stale)| {
            Verdict::of::<SLICES>(stored, covered, stale)
        })
    }

    /// The bytes from `from` to `to`.
    pub(super) fn input(&self, from: usize, to: usize) -> Bytes<'a> {
        Bytes::at(self.data.get(from..to).unwrap_or_default(), to_u64(from))
    }

    /// The whole input.
    pub(super) fn whole(&self) -> Bytes<'a> {
        Bytes::new(self.data)
    }

    /// Frames were lost: what was open is not known any more.
    pub(super) fn interrupt(&mut self) {
        self.lengths.interrupt(&self.streams);
    }

    /// Says that the next record at `place` has `rest` bytes left.
    pub(super) fn expect(&mut self, place: usize, rest: u64) {
        self.lengths.expect(&self.streams, place, rest);
    }

    /// The stream table has changed.
    pub(super) fn streams_changed(&mut self) {
        self.lengths.refresh(&self.streams);
    }

    /// Another session begins: the ids have other meanings.
    pub(super) fn new_session(&mut self) {
        self.streams.clear();
        self.lengths.clear();
        (self.meta, self.next_id, self.has_crc) = (None, 0, None);
        self.overflowed = false;
    }
}

impl<'a, const N: usize> Iterator for Walk<'a, N> {
    type Item = Result<Frame<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_frame()
    }
}

impl<const N: usize> FusedIterator for Walk<'_, N> {}

impl<const N: usize> fmt::Debug for Walk<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk")
            .field("offset", &self.pos)
            .field("unit", &self.unit)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A range of the input that could not be read.
///
/// One of length 0 says that units or bytes are missing at that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    offset: u64,
    len: u64,
    cause: Error,
    reason: Reason,
}

impl Gap {
    /// Offset of the first lost byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes were lost.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Offset at which reading goes on.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// The error in front of it.
    pub const fn cause(&self) -> Error {
        self.cause
    }

    /// What sort of loss it is.
    pub const fn reason(&self) -> Reason {
        self.reason
    }
}

/// Why a range was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The input does not begin with a unit: its start is missing.
    HeadCut,
    /// The input ends within a frame.
    Truncated,
    /// A Marker is damaged.
    Marker,
    /// Frames are damaged.
    Frames,
    /// The numbers of units do not follow each other, or bytes are missing between two units.
    Units,
    /// The table has no room for all streams.
    Capacity,
}

impl Reason {
    /// A stable name in kebab case, as the `traceglass` command prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeadCut => "head-cut",
            Self::Truncated => "truncated",
            Self::Marker => "marker-damaged",
            Self::Frames => "frames-damaged",
            Self::Units => "units-missing",
            Self::Capacity => "capacity-exceeded",
        }
    }
}

/// Checks that something can be read.
///
/// **Errors**: no unit is in the input.
pub fn probe(data: &[u8]) -> Result<()> {
    let first = match Unit::parse(data, 0) {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    let whole = Bytes::new(data);
    if search::cut_marker(whole).is_some() || search::find(whole, 0, to_u64(data.len())).is_some() {
        return Ok(());
    }
    Err(match first.kind() {
        ErrorKind::BadMagic { .. } => Error::new(0, UNIT, ErrorKind::Missing),
        _ => first,
    })
}
