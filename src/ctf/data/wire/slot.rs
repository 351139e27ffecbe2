//! A place of a capture: a packet or a gap.

use super::kind::WireKind;

/// No slot, no track.
pub(super) const NONE: u32 = u32::MAX;

/// The key of packets that belong together: the place of their stream class, and the stream or the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) class: u32,
    /// 0: not known; 1: a stream; 2: a processor.
    pub(super) by: u8,
    pub(super) id: u64,
}

/// The state of the track that has the slot's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) session: u32,
    /// The slots that are its first, its last, and the one that was added last.
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) cursor: u32,
}

impl Chain {
    pub(super) const EMPTY: Self = Self { session: NONE, head: NONE, tail: NONE, cursor: NONE };
}

/// Room for a packet or a gap of a [`Capture`](super::Capture): 208 bytes at most.
#[derive(Clone, Copy, Debug)]
pub struct WireSlot {
    pub(super) kind: WireKind,
    /// Fill with which the capture ends.
    pub(super) is_last: bool,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// In bits: how far its records can be read.
    pub(super) content: u64,
    pub(super) records: u64,
    /// Of a packet with damage, the number of those that are right nevertheless.
    pub(super) certain: u64,
    /// These are only if the capture has no other damage: there is nothing but fill from the fault to its end.
    pub(super) in_fill: bool,
    /// The value of the clock before it.
    pub(super) clock: u64,
    pub(super) owner: Owner,
    pub(super) sequence: Option<u64>,
    /// The first and the last time, as they can be read from it alone; equal to 0 where it has none.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The time of its last record.
    pub(super) last: u64,
    /// The clock that it is in.
    pub(super) time_base: u32,
    /// The number of bits of the time it says; 0 if it says none.
    pub(super) width: u8,
    /// The packets of its track ascend from here on, and this is where they end.
    pub(super) rises: bool,
    pub(super) rest_end: u64,
    pub(super) is_restart: bool,
    /// The clock is known.
    pub(super) is_timed: bool,
    pub(super) is_settled: bool,
    pub(super) session: u32,
    pub(super) track: u32,
    /// The number in the track.
    pub(super) rank: u32,
    pub(super) before: u32,
    pub(super) after: u32,
    // Nothing to do with the packet, but kept in the same storage.
    pub(super) chain: Chain,
}

const _: () = assert!(size_of::<WireSlot>() <= 208);

impl WireSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        kind: WireKind::Bytes,
        is_last: false,
        offset: 0,
        len: 0,
        content: 0,
        records: 0,
        certain: 0,
        in_fill: false,
        clock: 0,
        owner: Owner { class: 0, by: 0, id: 0 },
        sequence: None,
        begin: 0,
        end: 0,
        last: 0,
        time_base: NONE,
        width: 0,
        rises: false,
        rest_end: 0,
        is_restart: false,
        is_timed: false,
        is_settled: true,
        session: 0,
        track: NONE,
        rank: NONE,
        before: NONE,
        after: NONE,
        chain: Chain::EMPTY,
    };

    /// The kind of these bytes.
    pub const fn kind(&self) -> WireKind {
        self.kind
    }

    /// Offset of its first byte in the capture.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes it takes.
    #[allow(clippy::len_without_is_empty)] // None is empty.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Offset of the first byte after it.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// The limit up to which its records can be read; 0 for a gap.
    ///
    /// # Units
    /// Bits, from its first one.
    pub const fn content_bits(&self) -> u64 {
        self.content
    }

    /// The number of records that can be read.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// The number of records, from the first one on, none of which can consist of two halves.
    ///
    /// If a packet has damage, these are its records up to the fault, where the next packet shows that no byte is
    /// missing: only the total length is wrong, or bytes were changed. A record that ends in fill is not one of them. In
    /// the only track of a capture without other damage, fill that follows its records is no sign of missing bytes.
    pub const fn certain_records(&self) -> u64 {
        if self.is_doubtful() { self.certain } else { self.records }
    }

    /// The value of the clock with which the packet is to be read: its upper bits are those that its own time stamps do
    /// not have.
    ///
    /// # Units
    /// Cycles of the clock of its stream class.
    pub const fn clock(&self) -> u64 {
        self.clock
    }

    /// The number of its session: how often the device had started anew before it.
    pub const fn session(&self) -> u32 {
        self.session
    }

    /// The number of its track, among those of all sessions; `None` for a gap, a packet that is a duplicate, and one
    /// without records.
    pub const fn track(&self) -> Option<u32> {
        if self.has_track() { Some(self.track) } else { None }
    }

    /// True if the device started anew before it.
    pub const fn is_restart(&self) -> bool {
        self.is_restart
    }

    /// False if packets that come later may change what is said of it: a packet with damage is compared with the next
    /// one of its stream.
    pub const fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// True if one of its records may consist of two halves.
    pub const fn is_doubtful(&self) -> bool {
        matches!(self.kind, WireKind::Damaged | WireKind::Open | WireKind::Cut)
    }

    /// True if it has bytes that should not be there, or lacks some. Fill at the end of the capture is no damage.
    pub const fn is_damage(&self) -> bool {
        !matches!(self.kind, WireKind::Packet | WireKind::Empty) && !self.is_erased()
    }

    /// True if it is what follows the last packet in memory that was erased.
    pub const fn is_erased(&self) -> bool {
        self.is_last
    }

    /// The range of bytes of which nothing is delivered, that are no padding.
    ///
    /// # Units
    /// Offsets in the capture: the first one, and the first one after it.
    pub const fn lost(&self) -> Option<(u64, u64)> {
        if !self.is_damage() {
            return None;
        }
        let start = self.offset.saturating_add(self.content.div_ceil(8));
        Some((if start < self.end() { start } else { self.offset }, self.end()))
    }

    /// The number in its track; 0 if it is in none.
    pub(in crate::ctf::data) fn number(&self) -> u64 {
        if self.has_track() { self.rank.into() } else { 0 }
    }

    /// It has a place in a track.
    pub(super) const fn has_track(&self) -> bool {
        self.rank != NONE
    }

    /// It is to be ordered: a packet with records.
    pub(super) const fn is_ordered(&self) -> bool {
        self.records > 0 && (self.is_doubtful() || self.is_certain())
    }

    /// Others are ordered by what its header says.
    pub(super) const fn is_certain(&self) -> bool {
        self.records > 0 && matches!(self.kind, WireKind::Packet)
    }
}

default_is_empty!(WireSlot);
