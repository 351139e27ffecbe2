//! Sessions that are written: units on their grid, with indices, Meta and checksums.

use super::crc::WriterCrc;
use super::element::{META, PAYLOAD, STREAM, UNIT_SIZE};
use super::frame::{MAX_PAYLOAD, id};
use super::unit::{CRC_SIZE, LARGEST, MARKER_SIZE, SMALLEST};
use super::write::{MARKER, platform, stored};
use crate::ByteOrder;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::varint::{len_u64, write_u64};

/// A stream of a session that is to be written, and a slot for what a [`Writer`] has to know of it.
#[derive(Clone, Copy, Debug)]
pub struct NewStream<'a> {
    attributes: &'a str,
    /// The length of all its records; 0 if each one states its own.
    length: u64,
    target: Target,
}

impl<'a> NewStream<'a> {
    /// A stream with these members of its object in the Meta, such as `"name":"adc","format":"int16le"`. The writer adds
    /// `id` and `length`; nothing of it is judged.
    pub const fn new(attributes: &'a str) -> Self {
        Self { attributes, length: 0, target: Target { offset: 0, minor: 0 } }
    }

    /// The same with records that all have this length, so that it is not written with each; 0 for any length.
    #[must_use]
    pub const fn length(self, length: u64) -> Self {
        Self { length, ..self }
    }
}

/// The frame of a stream to which indices lead: the first one in its last minor unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Target {
    offset: u64,
    /// The number of the minor unit over all units, from 1 on; 0 if there is no such frame.
    minor: u64,
}

/// A writer of one session, without an allocator: into a page, a file or a socket.
///
/// The streams get the ids 9, 10 and so on, in their order. All declarations are known before: they stand in the Meta of
/// each unit, so that reading can begin anywhere. What a record takes is known before it is written, and a record that
/// could not be written as a whole leaves no trace in what follows.
///
/// ```
/// use traceglass::ByteOrder;
/// use traceglass::rtc::{NewStream, Records, StreamSlot, Writer};
///
/// let mut streams = [
///     NewStream::new(r#""name":"clk","clock":true,"format":"uint32le","gain":1e-6"#).length(4),
///     NewStream::new(r#""name":"log","clock":"clk","format":"utf-8""#),
/// ];
/// let mut writer = Writer::new(&mut streams, 8192, 2048, ByteOrder::Little)?;
/// let mut file = Vec::new();
/// let put = &mut |bytes: &[u8]| Ok::<_, std::convert::Infallible>(file.extend_from_slice(bytes));
/// writer.record(0, &1_500_000_u32.to_le_bytes())?.write(put).unwrap();
/// writer.record(1, b"pump on")?.write(put).unwrap();
/// writer.end(put).unwrap();
///
/// let mut buffer = [0; 64];
/// let mut records = Records::new(&file, [StreamSlot::EMPTY; 4], &mut buffer);
/// records.next_record()?;
/// let said = records.next_record()?.unwrap();
/// assert_eq!((said.bytes()?, said.time().unwrap().to_f64()), (&b"pump on"[..], 1.5));
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<'s, 'a> {
    streams: &'s mut [NewStream<'a>],
    sizes: Sizes,
    state: State,
}

impl<'s, 'a> Writer<'s, 'a> {
    /// The largest number of streams: an index of them fits in one frame.
    pub const STREAMS: usize = 64;

    /// A session of units of `major` bytes with minor units of `minor` bytes, from which on a reader can begin.
    ///
    /// # Errors
    /// - [`Invalid`](ErrorKind::Invalid): a minor unit is smaller than 2 KiB, or a unit is larger than 1 TiB;
    /// - [`NotMultiple`](ErrorKind::NotMultiple): a size is not a power of two;
    /// - [`UnderLimit`](ErrorKind::UnderLimit): a major unit is smaller than 4 KiB and four times the Meta;
    /// - [`CapacityExceeded`](ErrorKind::CapacityExceeded): there are more than [`STREAMS`](Self::STREAMS) streams.
    pub fn new(streams: &'s mut [NewStream<'a>], major: u64, minor: u64, order: ByteOrder) -> Result<Self> {
        let refused = |kind| Err(Error::new(0, UNIT_SIZE, kind));
        if streams.len() > Self::STREAMS {
            let kind = ErrorKind::CapacityExceeded {
                capacity: to_u64(Self::STREAMS),
                needed: to_u64(streams.len()),
            };
            return Err(Error::new(0, STREAM, kind));
        }
        if !(SMALLEST..=LARGEST).contains(&minor) {
            return refused(ErrorKind::Invalid { value: minor });
        }
        if major > LARGEST {
            return refused(ErrorKind::Invalid { value: major });
        }
        if let Some(value) = [major, minor].into_iter().find(|size| !size.is_power_of_two()) {
            let of = value.checked_next_power_of_two().unwrap_or(LARGEST);
            return refused(ErrorKind::NotMultiple { value, of });
        }
        streams.iter_mut().for_each(|stream| stream.target = Target::default());
        let least = 4096_u64.saturating_add(meta_len(streams).saturating_mul(4));
        if major < least {
            return Err(Error::new(0, META, ErrorKind::UnderLimit { value: major, limit: least }));
        }
        Ok(Self { streams, sizes: Sizes { major, minor, order }, state: State::default() })
    }

    /// The number of bytes written so far.
    pub const fn len(&self) -> u64 {
        self.state.at
    }

    /// True if nothing has been written.
    pub const fn is_empty(&self) -> bool {
        self.state.at == 0
    }

    /// A record that is to be written.
    ///
    /// # Errors
    /// - [`Missing`](ErrorKind::Missing): there is no stream of this number;
    /// - [`UnderLimit`](ErrorKind::UnderLimit): it is empty, which no frame can be;
    /// - [`SizeMismatch`](ErrorKind::SizeMismatch): it is not as long as all records of its stream.
    pub fn record<'w>(&'w mut self, stream: usize, payload: &'w [u8]) -> Result<NewRecord<'w, 's, 'a>> {
        let at = self.state.at;
        let missing = Error::new(at, STREAM, ErrorKind::Missing);
        let length = self.streams.get(stream).ok_or(missing)?.length;
        let found = to_u64(payload.len());
        if found == 0 {
            return Err(Error::new(at, PAYLOAD, ErrorKind::UnderLimit { value: 0, limit: 1 }));
        }
        if length > 0 && length != found {
            return Err(Error::new(at, PAYLOAD, ErrorKind::SizeMismatch { stated: length, found }));
        }
        Ok(NewRecord { writer: self, stream, payload })
    }

    /// Ends the session, with the checksum of the last unit if there is room for it.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again.
    pub fn end<E>(
        mut self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let mut pen = Pen { streams: self.streams, sizes: self.sizes, state: &mut self.state, put };
        pen.begin()?;
        if pen.room() >= CRC_SIZE { pen.crc() } else { Ok(()) }
    }
}

/// A record that is to be written.
#[derive(Debug)]
pub struct NewRecord<'w, 's, 'a> {
    writer: &'w mut Writer<'s, 'a>,
    stream: usize,
    payload: &'w [u8],
}

impl NewRecord<'_, '_, '_> {
    /// The number of bytes that it takes, with all that is due before it ends: indices, and the ends and beginnings of
    /// units. To find out takes as long as to write it.
    pub fn size(&self) -> u64 {
        let none = &mut |_: &[u8]| Ok::<_, core::convert::Infallible>(());
        let state = self.written(none).unwrap_or_else(|never| match never {});
        state.at.saturating_sub(self.writer.state.at)
    }

    /// Writes it.
    ///
    /// # Errors
    /// The first one of `put`, after which it is not called again. The writer is as it was before: once the bytes that
    /// were put are taken back, other records can follow.
    pub fn write<E>(
        self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let state = self.written(put)?;
        if let Some(stream) = self.writer.streams.get_mut(self.stream) {
            stream.target = state.target;
        }
        self.writer.state = state;
        Ok(())
    }

    /// The state of the writer after it.
    fn written<E>(
        &self,
        put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
    ) -> core::result::Result<State, E> {
        let (streams, sizes) = (&*self.writer.streams, self.writer.sizes);
        let of = streams.get(self.stream).copied().unwrap_or(NewStream::new(""));
        let mut state = State { current: self.stream, target: of.target, ..self.writer.state };
        let mut pen = Pen { streams, sizes, state: &mut state, put };
        pen.begin()?;
        let id = id::USER.saturating_add(to_u64(self.stream));
        pen.pieces(id, of.length == 0, Source::Bytes(self.payload))?;
        Ok(state)
    }
}

/// The part of a session that does not change.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    major: u64,
    minor: u64,
    order: ByteOrder,
}

/// All that changes but the targets of streams.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// From the start of the session, the offset of the next byte.
    at: u64,
    /// The offset of the Index of the unit.
    origin: u64,
    unit: u64,
    /// The number of the minor unit over all units, from 1 on.
    minor: u64,
    minor_index: Target,
    meta: Target,
    platform: Target,
    checksum: Target,
    /// The stream that is written, and its target.
    current: usize,
    target: Target,
    crc: WriterCrc<1>,
}

impl State {
    /// The target of a frame that begins here, in the place of an earlier one.
    fn targeted(&self, earlier: Target) -> Target {
        if earlier.minor == self.minor { earlier } else { Target { offset: self.at, minor: self.minor } }
    }

    /// The numbers in an index that begins here, as they are stored.
    fn each_number<E>(
        &self,
        streams: &[NewStream<'_>],
        major: Option<(u64, u64)>,
        put: &mut dyn FnMut(u64) -> core::result::Result<(), E>,
    ) -> core::result::Result<(), E> {
        let mut entry = |id: u64, distance: u64| {
            put(id.wrapping_shl(1) | 1)?;
            put(distance.wrapping_shl(1))
        };
        let defaults = [
            (id::MINOR_INDEX, self.minor_index),
            (id::META, self.meta),
            (id::PLATFORM, self.platform),
            (id::CRC, self.checksum),
        ];
        let targets = streams.iter().enumerate().map(|(number, stream)| {
            let target = if number == self.current { self.target } else { stream.target };
            (id::USER.saturating_add(to_u64(number)), target)
        });
        let targets = defaults.into_iter().chain(targets);
        let distance = |target: Target| self.at.saturating_sub(target.offset);
        let Some((major_size, minor_size)) = major else {
            entry(id::INDEX, self.at.saturating_sub(self.origin))?;
            let own = |(_, target): &(u64, Target)| target.minor > 0 && target.offset >= self.origin;
            return targets.filter(own).try_for_each(|(id, target)| entry(id, distance(target)));
        };
        entry(id::INDEX, major_size)?;
        entry(id::MINOR_INDEX, minor_size)?;
        let others = targets.filter(|(id, _)| *id != id::MINOR_INDEX);
        others
            .into_iter()
            .try_for_each(|(id, target)| entry(id, if target.minor > 0 { distance(target) } else { 0 }))
    }
}

/// The source of a frame's payload.
#[derive(Clone, Copy)]
enum Source<'p> {
    Bytes(&'p [u8]),
    /// The declarations of all streams.
    Meta,
}

/// A writer at work.
struct Pen<'w, 'a, P> {
    streams: &'w [NewStream<'a>],
    sizes: Sizes,
    state: &'w mut State,
    put: &'w mut P,
}

impl<E, P: FnMut(&[u8]) -> core::result::Result<(), E>> Pen<'_, '_, P> {
    fn raw(&mut self, bytes: &[u8]) -> core::result::Result<(), E> {
        (self.put)(bytes)?;
        self.state.crc.update(bytes);
        self.state.at = self.state.at.saturating_add(to_u64(bytes.len()));
        Ok(())
    }

    fn number(&mut self, value: u64) -> core::result::Result<(), E> {
        self.raw(write_u64(value, &mut [0; 10]))
    }

    /// Begins the session, if that has not been done.
    fn begin(&mut self) -> core::result::Result<(), E> {
        if self.state.at == 0 { self.begin_major() } else { Ok(()) }
    }

    /// The end of the major unit.
    fn end(&self) -> u64 {
        self.state.origin.saturating_sub(MARKER_SIZE).saturating_add(self.sizes.major)
    }

    /// The number of bytes up to the next index or Crc.
    fn room(&self) -> u64 {
        let (at, origin, minor) = (self.state.at, self.state.origin, self.sizes.minor);
        let done = at.saturating_sub(origin).checked_div(minor).unwrap_or(0);
        let next = origin.saturating_add(done.saturating_add(1).saturating_mul(minor));
        let end = self.end();
        let boundary = if next < end { next } else { end.saturating_sub(CRC_SIZE) };
        boundary.saturating_sub(at)
    }

    fn begin_major(&mut self) -> core::result::Result<(), E> {
        self.raw(&MARKER)?;
        self.state.origin = self.state.at;
        self.state.crc = WriterCrc::new();
        self.state.minor = self.state.minor.saturating_add(1);
        self.index(true)?;
        self.pieces(id::META, true, Source::Meta)?;
        self.state.platform = self.state.targeted(self.state.platform);
        self.raw(&platform(self.sizes.order))
    }

    fn begin_minor(&mut self) -> core::result::Result<(), E> {
        self.state.minor = self.state.minor.saturating_add(1);
        self.index(false)
    }

    /// An index: all of it is in one frame.
    fn index(&mut self, is_major: bool) -> core::result::Result<(), E> {
        let before = *self.state;
        let major = is_major.then_some((self.sizes.major, self.sizes.minor));
        let mut len = if is_major { len_u64(before.unit) } else { 0 };
        let counted = before.each_number(self.streams, major, &mut |number| {
            len = len.saturating_add(len_u64(number));
            Ok::<_, core::convert::Infallible>(())
        });
        counted.unwrap_or_else(|never| match never {});
        if is_major {
            self.number(id::INDEX << 1)?;
            self.number(len)?;
            self.number(before.unit)?;
        } else {
            self.state.minor_index = before.targeted(before.minor_index);
            self.number(id::MINOR_INDEX << 1)?;
            self.number(len)?;
        }
        before.each_number(self.streams, major, &mut |number| self.number(number))
    }

    fn crc(&mut self) -> core::result::Result<(), E> {
        let value = self.state.crc.value();
        self.state.checksum = self.state.targeted(self.state.checksum);
        self.number(id::CRC << 1)?;
        self.raw(&stored(value, self.sizes.order))
    }

    /// Writes what is due at the boundary that has been reached.
    fn cross(&mut self) -> core::result::Result<(), E> {
        if self.state.at.saturating_add(CRC_SIZE) < self.end() {
            return self.begin_minor();
        }
        self.crc()?;
        self.state.unit = self.state.unit.saturating_add(1);
        self.begin_major()
    }

    /// Fills up the few bytes before a boundary in which no frame fits.
    fn fill(&mut self) -> core::result::Result<(), E> {
        match self.room() {
            0 => Ok(()),
            1 => self.raw(&[0]),
            room => {
                let [len, ..] = room.saturating_sub(2).to_le_bytes();
                self.raw(&[2, len])?;
                (0..len).try_for_each(|_| self.raw(&[0]))
            }
        }
    }

    /// A frame, or as many as it takes.
    fn pieces(&mut self, id: u64, states_length: bool, source: Source<'_>) -> core::result::Result<(), E> {
        let total = match source {
            Source::Bytes(bytes) => to_u64(bytes.len()),
            Source::Meta => meta_len(self.streams),
        };
        let header = len_u64(id.wrapping_shl(1)).saturating_add(u64::from(states_length));
        let mut done = 0;
        while done < total {
            let room = self.room();
            if room <= header {
                self.fill()?;
                self.cross()?;
                continue;
            }
            let boundary = self.state.at.saturating_add(room);
            let left = total.saturating_sub(done);
            let free = room.saturating_sub(header);
            let mut len = left.min(MAX_PAYLOAD).min(free);
            if states_length && len > 0x7f {
                // A longer length takes another byte.
                len = len.min(free.saturating_sub(1)).max(0x7f);
            }
            if done == 0 {
                self.target(id);
            }
            self.number(id.wrapping_shl(1) | u64::from(len < left))?;
            if states_length {
                self.number(len)?;
            }
            self.part(source, done, len)?;
            done = done.saturating_add(len);
            if self.state.at == boundary {
                self.cross()?;
            }
        }
        Ok(())
    }

    /// A frame of this stream begins.
    fn target(&mut self, id: u64) {
        if id != id::META {
            self.state.target = self.state.targeted(self.state.target);
        } else if self.state.meta.minor == 0 {
            // Indices lead to the first one of the session.
            self.state.meta = self.state.targeted(self.state.meta);
        }
    }

    /// A part of a payload.
    fn part(&mut self, source: Source<'_>, from: u64, len: u64) -> core::result::Result<(), E> {
        let slice = |bytes: &[u8], from: u64, end: u64| {
            let range = usize::try_from(from).ok().zip(usize::try_from(end).ok());
            range.map_or((0, 0), |(from, end)| (from.min(bytes.len()), end.min(bytes.len())))
        };
        let end = from.saturating_add(len);
        match source {
            Source::Bytes(bytes) => {
                let (from, end) = slice(bytes, from, end);
                self.raw(bytes.get(from..end).unwrap_or_default())
            }
            Source::Meta => {
                let mut at = 0_u64;
                meta(self.streams, &mut |bytes| {
                    let (start, size) = (at, to_u64(bytes.len()));
                    at = at.saturating_add(size);
                    let (from, end) = slice(
                        bytes,
                        from.saturating_sub(start).min(size),
                        end.saturating_sub(start).min(size),
                    );
                    match bytes.get(from..end).filter(|part| !part.is_empty()) {
                        Some(part) => self.raw(part),
                        None => Ok(()),
                    }
                })
            }
        }
    }
}

/// The length of a Meta.
fn meta_len(streams: &[NewStream<'_>]) -> u64 {
    let mut len = 0_u64;
    let counted = meta(streams, &mut |bytes| {
        len = len.saturating_add(to_u64(bytes.len()));
        Ok::<_, core::convert::Infallible>(())
    });
    counted.unwrap_or_else(|never| match never {});
    len
}

/// The text of a Meta, piece by piece: an object for each stream, and the next id.
fn meta<E>(
    streams: &[NewStream<'_>],
    put: &mut impl FnMut(&[u8]) -> core::result::Result<(), E>,
) -> core::result::Result<(), E> {
    let mut digits = [0; 20];
    put(b"[")?;
    let mut next = id::USER;
    for stream in streams {
        put(br#"{"id":"#)?;
        put(decimal(next, &mut digits))?;
        if stream.length > 0 {
            put(br#","length":"#)?;
            put(decimal(stream.length, &mut digits))?;
        }
        if !stream.attributes.is_empty() {
            put(b",")?;
            put(stream.attributes.as_bytes())?;
        }
        put(b"},")?;
        next = next.saturating_add(1);
    }
    put(decimal(next, &mut digits))?;
    put(b"]")
}

/// A number as text.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        let [low, ..] = (number % 10).to_le_bytes();
        (*digit, first) = (low | b'0', place);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.get(first..).unwrap_or_default()
}
