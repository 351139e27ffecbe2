//! Events of the driver in the process: markers of command buffers.

use super::Payload;
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::DRIVER_EVENT;
use crate::rdf::contents::layout::{layout, values};
use zerocopy::little_endian::U32;

values! {
    /// The software that set a marker.
    pub enum MarkerSource: u8 {
        Application = 0 "application",
        Api = 1 "api",
        Pal = 2 "pal",
        Hardware = 3 "hardware",
        System = 15 "system",
    }
}

/// A marker in a command buffer: who set it, and its number in that buffer.
///
/// # Layout
/// Bits 28 to 31 the source, bits 0 to 27 the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Marker(u32);

impl Marker {
    /// The marker of a number as stored.
    pub const fn from_stored(number: u32) -> Self {
        Self(number)
    }

    /// The number as stored.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The software that set it.
    pub const fn source(self) -> MarkerSource {
        MarkerSource::from_stored(self.0.to_le_bytes()[3] >> 4)
    }

    /// The number in the command buffer.
    pub const fn counter(self) -> u32 {
        self.0 & 0x0fff_ffff
    }
}

/// The GPU's progress in a command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferState {
    cmd_buffer: u32,
    begin: u32,
    end: u32,
}

impl BufferState {
    const NOT_STARTED: u32 = 0xffff_aaaa;
    const COMPLETED: u32 = 0xffff_bbbb;

    pub(super) fn parse(bytes: &mut Payload<'_>) -> Result<Self> {
        let [cmd_buffer, begin, end] = bytes.view::<[U32; 3]>()?;
        Ok(Self { cmd_buffer: cmd_buffer.get(), begin: begin.get(), end: end.get() })
    }

    /// The command buffer.
    pub const fn cmd_buffer(&self) -> u32 {
        self.cmd_buffer
    }

    /// The last marker that the GPU began, or a number that stands for a state.
    pub const fn begin(&self) -> u32 {
        self.begin
    }

    /// The last marker that the GPU ended, or a number that stands for a state.
    pub const fn end(&self) -> u32 {
        self.end
    }

    /// True if the GPU never saw it.
    pub const fn is_never_seen(&self) -> bool {
        self.begin == 0
    }

    /// True if the GPU saw it and had not started.
    pub const fn is_not_started(&self) -> bool {
        self.begin == Self::NOT_STARTED
    }

    /// True if the GPU completed it.
    pub const fn is_completed(&self) -> bool {
        self.end == Self::COMPLETED
    }

    /// True if the GPU was working on it.
    pub const fn is_in_flight(&self) -> bool {
        !self.is_never_seen() && !self.is_not_started() && !self.is_completed()
    }
}

layout! {
    /// A command buffer starts.
    pub struct CmdBufferStart, RawCmdBufferStart: 13 {
        /// The queue; in DirectX 12: 0 direct, 1 compute, 2 copy.
        queue: u8,
        /// The API's device.
        device: u64,
        /// Flags of the queue.
        queue_flags: u32,
    }
}

layout! {
    /// A pipeline is bound.
    pub struct PipelineBind, RawPipelineBind: 12 {
        /// 0 compute, 1 graphics.
        bind_point: u32,
        /// The pipeline's hash in the API, as in `PsoCorrelation`.
        api_hash: u64,
    }
}

layout! {
    /// A draw.
    pub struct Draw, RawDraw: 28 {
        /// Kind of draw.
        draw_type: u32,
        /// Vertices or indices.
        count: u32,
        /// Instances.
        instances: u32,
        /// First vertex or index.
        start: u32,
        /// Register of the first vertex.
        vertex_offset_reg: u32,
        /// Register of the first instance.
        instance_offset_reg: u32,
        /// Register of the draw's number.
        draw_id_reg: u32,
    }
}

layout! {
    /// The registers of a draw.
    pub struct DrawUserData, RawDrawUserData: 12 {
        /// Of the first vertex.
        vertex_offset_reg: u32,
        /// Of the first instance.
        instance_offset_reg: u32,
        /// Of the draw's number.
        draw_id_reg: u32,
    }
}

layout! {
    /// A dispatch.
    pub struct Dispatch, RawDispatch: 16 {
        /// Kind of dispatch.
        dispatch_type: u32,
        /// Groups in x.
        x: u32,
        /// Groups in y.
        y: u32,
        /// Groups in z.
        z: u32,
    }
}

layout! {
    /// A barrier begins.
    pub struct BarrierBegin, RawBarrierBegin: 9 {
        /// True if the driver set it on its own.
        internal: u8,
        /// Kind of barrier.
        kind: u32,
        /// Why.
        reason: u32,
    }
}

layout! {
    /// A barrier ends.
    pub struct BarrierEnd, RawBarrierEnd: 6 {
        /// Stalls of the pipeline.
        pipeline_stalls: u16,
        /// Changes of layouts.
        layout_transitions: u16,
        /// Caches.
        caches: u16,
    }
}

layout! {
    /// A command buffer within another one.
    pub struct NestedCmdBuffer, RawNestedCmdBuffer: 4 {
        /// The inner command buffer.
        cmd_buffer: u32,
    }
}

values! {
    /// The structure of a [`MarkerInfo`].
    pub enum InfoKind: u8 {
        CmdBufferStart = 1 "cmd_buf_start",
        PipelineBind = 2 "pipeline_bind",
        Draw = 3 "draw",
        DrawUserData = 4 "draw_user_data",
        Dispatch = 5 "dispatch",
        BarrierBegin = 6 "barrier_begin",
        BarrierEnd = 7 "barrier_end",
        NestedCmdBuffer = 8 "nested_cmd_buffer",
    }
}

/// The structure in a [`MarkerInfo`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum MarkerStruct<'a> {
    /// 1: a command buffer starts.
    CmdBufferStart(CmdBufferStart<'a>),
    /// 2: a pipeline is bound.
    PipelineBind(PipelineBind<'a>),
    /// 3: a draw.
    Draw(Draw<'a>),
    /// 4: what the registers of a draw hold.
    DrawUserData(DrawUserData<'a>),
    /// 5: a dispatch.
    Dispatch(Dispatch<'a>),
    /// 6: a barrier begins.
    BarrierBegin(BarrierBegin<'a>),
    /// 7: a barrier ends.
    BarrierEnd(BarrierEnd<'a>),
    /// 8: a command buffer within another one.
    NestedCmdBuffer(NestedCmdBuffer<'a>),
    /// A structure that is not known, or shorter than it should be.
    Other(&'a [u8]),
}

/// More about a marker.
#[derive(Clone, Copy, Debug)]
pub struct MarkerInfo<'a> {
    cmd_buffer: u32,
    marker: Marker,
    kind: u8,
    content: &'a [u8],
}

impl<'a> MarkerInfo<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let [cmd_buffer, marker] = bytes.view::<[U32; 2]>()?;
        let Some((&kind, content)) = bytes.text()?.split_first() else {
            let kind = ErrorKind::UnexpectedEnd { needed: 1 };
            return Err(Error::new(bytes.offset, DRIVER_EVENT, kind));
        };
        Ok(Self { cmd_buffer: cmd_buffer.get(), marker: Marker::from_stored(marker.get()), kind, content })
    }

    /// The command buffer.
    pub const fn cmd_buffer(&self) -> u32 {
        self.cmd_buffer
    }

    /// The marker.
    pub const fn marker(&self) -> Marker {
        self.marker
    }

    /// Number of the structure.
    pub const fn kind(&self) -> u8 {
        self.kind
    }

    /// Name of the structure; `None` if it is not known.
    pub const fn kind_name(&self) -> Option<&'static str> {
        InfoKind::from_stored(self.kind).name()
    }

    /// The structure.
    pub fn content(&self) -> MarkerStruct<'a> {
        let mut bytes = Bytes::new(self.content);
        macro_rules! view {
            ($name:ident) => {
                bytes.view(DRIVER_EVENT).map(|raw| MarkerStruct::$name($name::new(raw)))
            };
        }
        let known = match self.kind {
            1 => view!(CmdBufferStart),
            2 => view!(PipelineBind),
            3 => view!(Draw),
            4 => view!(DrawUserData),
            5 => view!(Dispatch),
            6 => view!(BarrierBegin),
            7 => view!(BarrierEnd),
            8 => view!(NestedCmdBuffer),
            _ => Ok(MarkerStruct::Other(self.content)),
        };
        known.unwrap_or(MarkerStruct::Other(self.content))
    }
}
