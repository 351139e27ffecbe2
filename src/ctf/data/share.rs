//! Parts of a stream that can be checked at the same time.

use super::check::{Checked, check_some};
use super::loss::Losses;
use super::packets::Packets;
use super::program::Programs;
use super::stream::Stream;
use crate::error::Finding;

/// Splits a stream into [shares](Share), in order: threads may check these at the same time.
///
/// ```
/// use traceglass::ctf::data::{Packets, Programs, Shares, check};
/// # use traceglass::ctf::schema::Schema;
///
/// /// As [`check`]: findings come in the same order.
/// fn by_shares(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
///     let (mut records, mut last) = (0, None);
///     for share in Shares::new(Packets::new(data, schema), 1 << 20) {
///         // Of several threads, each would keep what it finds, and leave `last` to who puts that together.
///         let checked = share.check(Programs::NONE, last, &mut |finding| eprintln!("{finding}"));
///         last = checked.last().or(last);
///         records += checked.summary().records();
///     }
///     records
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Shares<'a, 's> {
    packets: Packets<'a, 's>,
    losses: Losses,
    size: u64,
    has_ended: bool,
}

impl<'a, 's> Shares<'a, 's> {
    /// Shares of so many bytes, or of one packet that has more.
    pub fn new(packets: Packets<'a, 's>, size: u64) -> Self {
        Self { packets, losses: Losses::default(), size, has_ended: false }
    }
}

/// Consecutive packets of a stream: see [`Shares`].
#[derive(Clone, Debug)]
pub struct Share<'a, 's> {
    packets: Packets<'a, 's>,
    /// The number of packets; the last one may be unreadable.
    count: u64,
    bytes: u64,
    /// The offset after the last one, unless that is unreadable.
    end: Option<u64>,
    /// The losses so far, by the counters of the packets before it.
    losses: Losses,
}

impl<'a, 's> Share<'a, 's> {
    /// The number of bytes that its packets take.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Checks its packets. `last` is the time that the share before it ends with; if that is not known yet,
    /// [`Checked::seam`] tells what is to be said of it.
    pub fn check(
        &self,
        programs: Programs<'_>,
        last: Option<u64>,
        report: &mut dyn FnMut(Finding),
    ) -> Checked {
        check_some(self.packets.clone(), self.count, self.losses, last, programs, report)
    }

    /// The event records. What is missing is counted from the packets before it; of what is missing before packets at
    /// its end that have no records, the stream still tells after the last one.
    pub fn stream<'t>(&self, programs: Programs<'t>) -> Stream<'a, 's, 't> {
        Stream::of_share(self.packets.first(self.count, self.end), self.losses, programs)
    }
}

impl<'a, 's> Iterator for Shares<'a, 's> {
    type Item = Share<'a, 's>;

    fn next(&mut self) -> Option<Share<'a, 's>> {
        let (packets, losses) = (self.packets.clone(), self.losses);
        let (mut count, mut bytes) = (0_u64, 0_u64);
        while bytes < self.size && !self.has_ended {
            match self.packets.next_packet() {
                Ok(Some(packet)) => {
                    let _ = self.losses.observe(&packet);
                    bytes = bytes.saturating_add(packet.end_offset().saturating_sub(packet.offset()));
                }
                Ok(None) => {
                    self.has_ended = true;
                    break;
                }
                Err(_) => self.has_ended = true,
            }
            count = count.saturating_add(1);
        }
        let end = Some(self.packets.offset()).filter(|_| !self.has_ended);
        (count > 0).then_some(Share { packets, count, bytes, end, losses })
    }
}

impl core::iter::FusedIterator for Shares<'_, '_> {}
