//! Queues of a GPU, and what was submitted to them.

use super::api::supported;
use super::element;
use super::hash::PciId;
use super::layout::{layout, values};
use crate::bytes::Bytes;
use crate::error::Result;

values! {
    /// The type of a queue.
    pub enum QueueType: u8 {
        Unknown = 0 "Unknown",
        Universal = 1 "Universal",
        Compute = 2 "Compute",
        Dma = 3 "Dma",
        Encode = 4 "Encode",
        Decode = 5 "Decode",
        Security = 6 "Security",
        Video = 7 "VideoProcessor",
    }
}

values! {
    /// The engine that a queue runs on.
    pub enum EngineType: u8 {
        Unknown = 0 "Unknown",
        Universal = 1 "Universal",
        Compute = 2 "Compute",
        ExclusiveCompute = 3 "ExclusiveCompute",
        Dma = 4 "Dma",
        Decode = 5 "Decode",
        Encode = 6 "Encode",
        HighPriorityUniversal = 7 "HighPriorityUniversal",
        HighPriorityGraphics = 8 "HighPriorityGraphics",
        Security = 9 "Security",
        Vpe = 10 "Vpe",
    }
}

layout! {
    /// A queue: chunk `QueueInfo`, version 1, one a queue.
    pub struct QueueInfo, RawQueueInfo: 26 {
        /// The GPU.
        pci: u32 = PciId [Hexadecimal],
        pad_pci: (pad 4),
        /// The number, by which events refer to it.
        #[doc(alias = "queueId")]
        queue: u64,
        /// The number in the operating system; 0 except in DirectX.
        context: u64 [Address],
        /// The type of the queue.
        queue_type: u8 = QueueType,
        /// The engine that the queue runs on.
        engine: u8 = EngineType,
    }
}

impl<'a> QueueInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        // Six bytes of filling follow that no reader needs.
        Ok(Self::new(Bytes::new(data).view(element::QUEUE_INFO)?))
    }
}

values! {
    /// The kind of an event on a queue.
    pub enum QueueEventKind: u32 {
        Submit = 0 "CmdBufSubmit",
        Signal = 1 "SignalSemaphore",
        Wait = 2 "WaitSemaphore",
        Present = 3 "Present",
    }
}

layout! {
    /// An event on a queue: chunk `QueueEvent`, version 1, one an event.
    pub struct QueueEvent, RawQueueEvent: 72 {
        /// The GPU.
        pci: u32 = PciId [Hexadecimal],
        pad_pci: (pad 4),
        /// The queue.
        #[doc(alias = "queueId")]
        queue: u64,
        /// The kind of the event.
        event: u32 = QueueEventKind,
        /// The command buffer's number in the thread trace; of a submission.
        #[doc(alias = "sqttCmdBufId")]
        sqtt_cmd_buffer: u32,
        /// Number of the frame; of a submission or a presentation.
        frame: u64,
        /// The number of the command buffer in a submission of several.
        sub_index: u32,
        pad_sub_index: (pad 4),
        /// The API's number of what was submitted.
        api_id: u64 [Address],
        /// The time of the submission, in CPU ticks.
        cpu_ticks: u64 [Ticks],
        /// The time of its begin, or of the event, in GPU ticks.
        gpu_begin: u64 [Ticks],
        /// The time of its end, in GPU ticks, of a submission; else 0.
        gpu_end: u64 [Ticks],
    }
}

impl<'a> QueueEvent<'a> {
    #[inline]
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        Ok(Self::new(Bytes::new(data).view(element::QUEUE_EVENT)?))
    }

    /// The time the GPU worked on a submission, in GPU ticks; `None` for other events, and where the end precedes the
    /// begin.
    pub const fn gpu_ticks(&self) -> Option<u64> {
        match self.event() {
            QueueEventKind::Submit => self.gpu_end().checked_sub(self.gpu_begin()),
            _ => None,
        }
    }
}
