use super::packet::Packet;

/// Losses by the counters of a stream's packets: packets that are missing, event records that were discarded.
///
/// ```
/// # use traceglass::ctf::data::{Losses, Packets};
/// # fn read(packets: Packets<'_, '_>) -> traceglass::Result<()> {
/// let mut losses = Losses::default();
/// for packet in packets {
///     let lost = losses.observe(&packet?);
///     if lost.records() != Some(0) {
///         // Before this packet's end.
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    sequence: Option<u64>,
    discarded: Option<u64>,
}

/// The packets and records that are missing between two packets of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    packets: Option<u64>,
    records: Option<u64>,
}

impl Loss {
    /// The number of packets that are missing before this one; `None` if that is not known.
    pub const fn packets(&self) -> Option<u64> {
        self.packets
    }

    /// The number of event records that were discarded since the end of the packet before, up to the end of this one;
    /// `None` if that is not known.
    pub const fn records(&self) -> Option<u64> {
        self.records
    }

    /// The sum of both losses.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self { packets: sum(self.packets, other.packets), records: sum(self.records, other.records) }
    }

    /// True if anything is known to be missing.
    pub fn is_some(&self) -> bool {
        self.packets.unwrap_or(0) > 0 || self.records.unwrap_or(0) > 0
    }
}

impl Losses {
    /// Takes the next packet of the stream, and tells what is missing before its end.
    pub fn observe(&mut self, packet: &Packet<'_, '_>) -> Loss {
        let since = |now: Option<u64>, before: Option<u64>, expected: u64| {
            // A counter that goes back was set to 0.
            Some(now?.checked_sub(before?)?.saturating_sub(expected))
        };
        let (sequence, discarded) = (packet.sequence(), packet.discarded());
        // The records that were discarded before a stream's first packet ended are counted from 0. Reading may begin later.
        let before = self.discarded.or((packet.number() == 0).then_some(0));
        let loss = Loss { packets: since(sequence, self.sequence, 1), records: since(discarded, before, 0) };
        self.sequence = sequence.or(self.sequence);
        self.discarded = discarded.or(self.discarded);
        loss
    }
}
