//! The driver's events when a GPU crashed: markers of command buffers, page faults, shader waves.

mod kmd;
mod tell;
mod umd;

pub use kmd::{GprRegisters, PageFault, Registers, ShaderEngines, ShaderId, ShaderWaves, ShaderWavesFields};
pub use tell::EventRecord;
pub use umd::{
    BarrierBegin, BarrierEnd, BufferState, CmdBufferStart, Dispatch, Draw, DrawUserData, Marker, MarkerInfo,
    MarkerSource, MarkerStruct, NestedCmdBuffer, PipelineBind,
};

use super::api::supported;
use super::element::{DRIVER_EVENT, DRIVER_EVENTS, DRIVER_EVENTS_HEADER};
use super::layout::{layout, values};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use core::fmt;
use core::iter::FusedIterator;
use zerocopy::little_endian::{U16, U32, U64};

values! {
    /// The software that noted events.
    pub enum Provider: u32 {
        /// The driver in the process.
        Umd = 0x5043_4145 "umd",
        /// The driver in the kernel.
        Kmd = 0xe43c_9c8e "kmd",
    }
}

layout! {
    /// The header of a `DDEvent` chunk.
    pub struct DriverEventsFields, RawDriverEvents: 32 {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
        pad_version: (pad 4),
        /// The software that noted the events.
        provider: u32 = Provider,
        /// The unit of deltas, in units of 32 ticks.
        unit: u32,
        /// The time of the first event, in units of 32 CPU ticks.
        #[doc(alias = "baseTimestamp")]
        base: u64,
        /// Rate of the CPU ticks in Hz.
        hz: u64,
    }
}

/// The events of one driver: chunk `DDEvent`, version 1, one a [`Provider`].
///
/// # Layout
/// Header: [`DriverEventsFields`]. Data: `u16` 0, `u16` 1, the header again, and from 36 [events](Events).
///
/// # Units
/// The base is in CPU ticks ÷ 32, which the document does not say; [`Event::ticks`] is comparable with the times of
/// [`RmtData`](super::RmtData) and [`LoadEvents`](super::LoadEvents).
#[doc(alias = "DDEvent")]
#[derive(Clone, Copy, Debug)]
pub struct DriverEvents<'a> {
    fields: DriverEventsFields<'a>,
    header: &'a [u8],
    copy: &'a [u8; 32],
    version: (u16, u16),
    data: Bytes<'a>,
}

impl<'a> DriverEvents<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = DriverEventsFields::new(Bytes::new(header).view(DRIVER_EVENTS_HEADER)?);
        let whole = Bytes::new(data);
        let Some((mut head, data)) = whole.split(36) else {
            return Err(whole.truncated(DRIVER_EVENTS, 36));
        };
        let [major, minor] = head.view::<[U16; 2]>(DRIVER_EVENTS)?;
        let copy = head.array(DRIVER_EVENTS)?;
        Ok(Self { fields, header, copy, version: (major.get(), minor.get()), data })
    }

    /// The header.
    pub const fn fields(&self) -> DriverEventsFields<'a> {
        self.fields
    }

    /// Version of the events, major and minor; only 0.1 is read.
    pub const fn version(&self) -> (u16, u16) {
        self.version
    }

    /// The events.
    pub fn events(&self) -> Events<'a> {
        let (major, minor) = self.version;
        let fault = (self.version != (0, 1)).then(|| {
            let kind = ErrorKind::UnsupportedRevision { major: major.into(), minor: minor.into() };
            Error::new(0, DRIVER_EVENTS, kind)
        });
        Events {
            rest: self.data.as_slice(),
            end: self.data.end_offset(),
            provider: self.fields.provider(),
            base: self.fields.base(),
            unit: self.fields.unit().into(),
            large: 0,
            fault,
        }
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let header = self.header.iter().take(32);
        if let Some(at) = header.zip(self.copy).position(|(a, b)| a != b) {
            let stated = self.header.get(at).copied().unwrap_or_default().into();
            let found = self.copy.get(at).copied().unwrap_or_default().into();
            let at = to_u64(at).saturating_add(4);
            report(Finding::warning(Error::new(at, DRIVER_EVENTS, ErrorKind::Mismatch { stated, found })));
        }
        let mut last = 0;
        for event in self.events() {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    report(Finding::new(Severity::Error, error));
                    return;
                }
            };
            if let Err(error) = event.value() {
                report(Finding::new(Severity::Error, error));
            }
            // A large delta only says when the next event happened.
            match event.time() {
                _ if event.id() == 0 => {}
                Some(value) => {
                    if value < last {
                        let kind = ErrorKind::NotAscending { previous: last, value };
                        report(Finding::warning(Error::new(event.offset(), DRIVER_EVENT, kind)));
                    }
                    last = value;
                }
                None => {
                    let kind = ErrorKind::Overflow { value: event.delta() };
                    report(Finding::warning(Error::new(event.offset(), DRIVER_EVENT, kind)));
                }
            }
        }
    }
}

/// The events of a [`DriverEvents`].
///
/// # Layout
/// `u8` kind, `u8` delta, `u16` size, payload. A delta counts from the base, not from the event before; one over 255
/// stands in an event of kind 0 before the event it is for.
#[derive(Clone)]
pub struct Events<'a> {
    rest: &'a [u8],
    /// Offset after the last event.
    end: u64,
    provider: Provider,
    base: u64,
    unit: u64,
    /// The large delta for the next event.
    large: u64,
    fault: Option<Error>,
}

impl<'a> Events<'a> {
    /// Offset of the next event in the chunk's data.
    pub const fn offset(&self) -> u64 {
        // What is left lies before the end.
        self.end.wrapping_sub(to_u64(self.rest.len()))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset();
        if let Some(error) = self.fault.take() {
            self.rest = &[];
            return Some(Err(error));
        }
        if self.rest.is_empty() {
            return None;
        }
        // Functions that are called take values, not the iterator itself, so that it can stay in registers.
        let Some((&[id, small, low, high], after)) = self.rest.split_first_chunk() else {
            return Some(Err(self.end(4)));
        };
        let size = usize::from(u16::from_le_bytes([low, high]));
        let Some((payload, after)) = after.split_at_checked(size) else {
            return Some(Err(self.end(size.saturating_add(4))));
        };
        self.rest = after;
        let mut delta = u64::from(small);
        if id == 0 {
            // It is for the next event alone; a malformed one counts as 0.
            self.large = payload.first_chunk().map_or(0, |large| u64::from_le_bytes(*large));
            delta = self.large;
        } else {
            delta = delta.saturating_add(core::mem::take(&mut self.large));
        }
        let time = delta.checked_mul(self.unit).and_then(|ticks| ticks.checked_add(self.base));
        Some(Ok(Event { id, small, delta, time, offset, provider: self.provider, payload }))
    }
}

impl Events<'_> {
    /// Ends at an event of which `needed` bytes are needed.
    #[inline(always)]
    fn end(&mut self, needed: usize) -> Error {
        let offset = self.offset();
        truncated(Bytes::at(core::mem::take(&mut self.rest), offset), to_u64(needed))
    }
}

/// The error at an event of which `needed` bytes are needed, and not all are there.
#[cold]
#[inline(never)]
fn truncated(rest: Bytes<'_>, needed: u64) -> Error {
    rest.truncated(DRIVER_EVENT, needed)
}

impl FusedIterator for Events<'_> {}

impl fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Events").field(&Bytes::at(self.rest, self.offset())).finish()
    }
}

/// Something that a driver noted.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    id: u8,
    small: u8,
    delta: u64,
    time: Option<u64>,
    offset: u64,
    provider: Provider,
    payload: &'a [u8],
}

/// The value of an [`Event`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EventValue<'a> {
    /// The time of the next event.
    LargeDelta(u64),
    /// The last markers that the GPU noted in a command buffer.
    BufferState(BufferState),
    /// A marker begins.
    #[non_exhaustive]
    MarkerBegin {
        /// The command buffer.
        cmd_buffer: u32,
        /// The marker.
        marker: Marker,
        /// The name.
        name: &'a [u8],
    },
    /// A marker ends.
    #[non_exhaustive]
    MarkerEnd {
        /// The command buffer.
        cmd_buffer: u32,
        /// The marker.
        marker: Marker,
    },
    /// More about a marker.
    MarkerInfo(MarkerInfo<'a>),
    /// The GPU read or wrote an address that has no memory.
    PageFault(PageFault<'a>),
    /// The waves that were running.
    ShaderWaves(ShaderWaves<'a>),
    /// Shader engines.
    ShaderEngines(ShaderEngines<'a>),
    /// Registers of the GPU.
    GpuRegisters(Registers<'a>),
    /// Registers of a wave.
    WaveRegisters(Registers<'a>),
    /// General purpose registers of a wave.
    Gprs(GprRegisters<'a>),
    /// A kind that is not known.
    Unknown,
}

/// The name of a kind of events.
const fn kind_name(provider: Provider, id: u8) -> Option<&'static str> {
    match (provider, id) {
        (_, 0) => Some("large_delta"),
        (Provider::Umd, 16) => Some("marker_begin"),
        (Provider::Umd, 17) => Some("marker_end"),
        (Provider::Umd, 18) => Some("nop_data"),
        (Provider::Umd, 19) => Some("marker_info"),
        (Provider::Kmd, 16) => Some("page_fault"),
        (Provider::Kmd, 17) => Some("shader_waves"),
        (Provider::Kmd, 18) => Some("se_info"),
        (Provider::Kmd, 19) => Some("mmr_registers"),
        (Provider::Kmd, 20) => Some("wave_registers"),
        (Provider::Kmd, 21) => Some("gpr_registers"),
        _ => None,
    }
}

impl<'a> Event<'a> {
    /// Number of the kind, which the provider defines.
    pub const fn id(&self) -> u8 {
        self.id
    }

    /// The delta as stored in the event itself.
    pub const fn stored_delta(&self) -> u8 {
        self.small
    }

    /// The delta from the base, in the chunk's unit.
    pub const fn delta(&self) -> u64 {
        self.delta
    }

    /// The time, in units of 32 CPU ticks; `None` if that does not fit in 64 bits.
    pub(crate) const fn time(&self) -> Option<u64> {
        self.time
    }

    /// The time, in CPU ticks; `None` if they do not fit in 64 bits.
    pub const fn ticks(&self) -> Option<u64> {
        match self.time {
            Some(time) => time.checked_mul(32),
            None => None,
        }
    }

    /// Offset in the chunk's data.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The content.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The name of the kind; `None` if it is not known.
    pub const fn kind_name(&self) -> Option<&'static str> {
        kind_name(self.provider, self.id)
    }

    /// The software that noted it.
    pub const fn provider(&self) -> Provider {
        self.provider
    }

    /// The value of the event.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if the content is shorter than its kind, or a text or list in it
    /// is longer than what is there. The events after it can still be read.
    #[inline(always)]
    pub fn value(&self) -> Result<EventValue<'a>> {
        // What is read here stays in registers. Markers are most of the events.
        let mut bytes = Payload { rest: Bytes::new(self.payload), offset: self.offset };
        Ok(match (self.provider, self.id) {
            (Provider::Umd, 16) => {
                let [cmd_buffer, marker] = bytes.view::<[U32; 2]>()?;
                let name = bytes.text()?;
                let marker = Marker::from_stored(marker.get());
                EventValue::MarkerBegin { cmd_buffer: cmd_buffer.get(), marker, name }
            }
            (Provider::Umd, 17) => {
                let [cmd_buffer, marker] = bytes.view::<[U32; 2]>()?;
                let marker = Marker::from_stored(marker.get());
                EventValue::MarkerEnd { cmd_buffer: cmd_buffer.get(), marker }
            }
            _ => return other_value(self.provider, self.id, bytes.rest, bytes.offset),
        })
    }
}

/// The value of an event that is no marker. It takes values, not the event, so that this can stay in registers.
#[inline(never)]
fn other_value(provider: Provider, id: u8, rest: Bytes<'_>, offset: u64) -> Result<EventValue<'_>> {
    let bytes = &mut Payload { rest, offset };
    Ok(match (provider, id) {
        (_, 0) => EventValue::LargeDelta(bytes.view::<U64>()?.get()),
        (Provider::Umd, 18) => EventValue::BufferState(BufferState::parse(bytes)?),
        (Provider::Umd, 19) => EventValue::MarkerInfo(MarkerInfo::parse(bytes)?),
        (Provider::Kmd, 16) => EventValue::PageFault(PageFault::parse(bytes)?),
        (Provider::Kmd, 17) => EventValue::ShaderWaves(ShaderWaves::parse(bytes)?),
        (Provider::Kmd, 18) => EventValue::ShaderEngines(ShaderEngines::parse(bytes)?),
        (Provider::Kmd, 19) => EventValue::GpuRegisters(Registers::parse(bytes)?),
        (Provider::Kmd, 20) => EventValue::WaveRegisters(Registers::parse(bytes)?),
        (Provider::Kmd, 21) => EventValue::Gprs(GprRegisters::parse(bytes)?),
        _ => EventValue::Unknown,
    })
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("id", &self.id)
            .field("offset", &self.offset)
            .field("len", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// The content of an event while it is read. Errors are located at the event.
struct Payload<'a> {
    rest: Bytes<'a>,
    offset: u64,
}

impl<'a> Payload<'a> {
    #[inline(always)]
    fn view<T>(&mut self) -> Result<&'a T>
    where
        T: zerocopy::FromBytes + zerocopy::KnownLayout + zerocopy::Immutable + zerocopy::Unaligned,
    {
        let (value, rest) = self.rest.front().ok_or_else(|| self.short(to_u64(size_of::<T>())))?;
        self.rest = rest;
        Ok(value)
    }

    #[inline(always)]
    fn take(&mut self, len: u16) -> Result<&'a [u8]> {
        let (front, rest) = self.rest.split(len.into()).ok_or_else(|| self.short(len.into()))?;
        self.rest = rest;
        Ok(front.as_slice())
    }

    /// A text of as many bytes as stand before it.
    #[inline(always)]
    fn text(&mut self) -> Result<&'a [u8]> {
        let len = self.view::<U16>()?.get();
        self.take(len)
    }

    /// `count` records.
    fn list<T>(&mut self, count: u64) -> Result<&'a [T]>
    where
        T: zerocopy::FromBytes + zerocopy::KnownLayout + zerocopy::Immutable + zerocopy::Unaligned,
    {
        let all = self.rest.slice_of().0;
        usize::try_from(count).ok().and_then(|count| all.get(..count)).ok_or_else(|| {
            let kind = ErrorKind::CountTooLarge { claimed: count, max: to_u64(all.len()) };
            Error::new(self.offset, DRIVER_EVENT, kind)
        })
    }

    /// The error that `size` bytes are not there. It takes a copy, so that the content can stay in registers.
    #[inline(always)]
    fn short(&self, size: u64) -> Error {
        truncated(Bytes::at(self.rest.as_slice(), self.offset), size)
    }
}
