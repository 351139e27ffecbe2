//! The facts that must be known before types are compiled.

/// The facts that the first pass has found.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    pub(super) has_trace: bool,
    /// The number of blocks and declarations that the header of packets may need.
    pub(super) types: u32,
    /// The number of clocks and streams.
    pub(super) clocks: u32,
    pub(super) streams: u32,
    /// The index of the stream class that was emitted last.
    pub(super) only_stream: u32,
    /// True if LTTng has written the trace.
    pub(super) lttng: bool,
    /// The node of the packet header's root, plus one.
    pub(super) packet_header: u32,
    /// True if the header of packets says whose they are.
    pub(super) has_stream_id: bool,
    /// The clock of timestamps that name none: the only one, or one that is made when it is needed.
    pub(super) default_clock: Option<u32>,
}
